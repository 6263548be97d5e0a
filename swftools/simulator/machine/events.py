"""The events that a predictor observes."""

from __future__ import annotations

from swftools.kernel import kernel  # noqa: F401 (its constants are compiled into kernels)

SUBMISSION, START, STOP, OUTLIVED, END = range(5)
"""A job is being submitted, has started, was stopped before it was done, runs on although it was expected to have ended
by now, has ended."""

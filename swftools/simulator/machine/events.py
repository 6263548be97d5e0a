# SPDX-License-Identifier: BSD-3-Clause
"""The events that a predictor observes."""

from __future__ import annotations

SUBMISSION, START, STOP, OUTLIVED, END = range(5)
"""A job is being submitted, has started, was stopped before it was done, runs on although it was expected to have ended
by now, has ended."""

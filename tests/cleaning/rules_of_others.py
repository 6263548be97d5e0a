# SPDX-License-Identifier: BSD-3-Clause
"""Cleaning rules as a user of the package might write them, right and wrong ones; used by the tests of cleaning."""

from __future__ import annotations

from typing import Any

from swftools.cleaning import Decision
from swftools.errors import ParameterError
from swftools.trace import Trace

LIMIT = 24


def long_runs(trace: Trace, hours: float = LIMIT) -> Decision:
    """Quarantine jobs that ran longer than some hours."""
    if hours <= 0:
        raise ParameterError(f"hours={hours} must be positive")
    return Decision(quarantine=trace.jobs["run_time"] > hours * 3600, reason=f"longer than {hours} hours")


def anything(trace: Trace, **parameters: Any) -> Decision:
    """Do nothing, and remark on the parameters."""
    return Decision(remark=str(parameters))


def no_trace() -> Decision:
    """Take no trace."""
    return Decision()


def fails(trace: Trace) -> Decision:
    """Look for a column that is not there."""
    return Decision(quarantine=trace.jobs["no_such_column"])


def refuses(trace: Trace) -> Decision:
    """Refuse a trace with jobs."""
    if len(trace):
        raise ParameterError("give me more jobs")
    return Decision()

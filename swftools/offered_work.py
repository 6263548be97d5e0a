# SPDX-License-Identifier: BSD-3-Clause
"""Offered load: the work that the jobs of a trace bring, over what the machine could do meanwhile."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from swftools.trace import Trace


def work_of_jobs(width: npt.NDArray[np.int64], run_time: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return width x run time of each job, processor-seconds; NaN for jobs without width (above 0) or run time."""
    return np.where(width > 0, width * run_time, np.nan)


def work_of(trace: Trace) -> float:
    """Return the sum of width x run time of the jobs that have both, processor-seconds."""
    work = work_of_jobs(trace.views.width, trace.views.run_time)
    return float(work[~np.isnan(work)].sum())


def span_of(submit_time: npt.NDArray[np.float64]) -> float:
    """Return the time from the first to the last submission, s; 0 without two."""
    return float(np.nanmax(submit_time) - np.nanmin(submit_time)) if np.isfinite(submit_time).any() else 0.0


def offered_load(trace: Trace, submit_time: npt.NDArray[np.float64] | None = None) -> float | None:
    """Return the offered load of a trace.

    Parameters
    ----------
    trace : Trace
        Jobs without width or run time count as no work.
    submit_time : array of float, shape (jobs,), optional
        Submission times to use instead of the trace's own, s; NaN is missing.

    Returns
    -------
    float or None
        Sum of width x run time over processors x (last minus first submission); None where the machine's size
        is not known or no time passes.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2], submit_time=[0, 100],
    ...                            run_time=[100, 100], requested_processors=[2, 1])
    >>> offered_load(trace), offered_load(trace, np.array([0.0, 50.0]))
    (0.75, 1.5)
    """
    span = span_of(trace.views.submit_time if submit_time is None else submit_time)
    return work_of(trace) / (trace.processors * span) if trace.processors and span else None

# SPDX-License-Identifier: BSD-3-Clause
"""How far what policies were told at submission is from the run times.

References
----------
Tsafrir, Etsion and Feitelson 2007, for the accuracy.
"""

from __future__ import annotations

import numpy as np

from swftools.simulator.schedule import Schedule


def prediction_errors(schedule: Schedule) -> dict[str, float]:
    """Return how far predictions are from run times, over the jobs of a schedule.

    Parameters
    ----------
    schedule : Schedule
        Its ``estimated_time``, the prediction at submission, and its ``run_time`` are used.

    Returns
    -------
    dict
        ``mean_absolute_error`` (s); ``relative_error``, the same divided by the mean run time; ``accuracy``, the mean
        of the smaller of both times / the larger, 1 if they are equal; ``underestimated``, the share of jobs that ran
        longer than predicted; ``correlation`` of both times. NaN without jobs; relative_error also if no job ran, and
        correlation if either time is the same for all jobs.

    Examples
    --------
    >>> from swftools import Trace
    >>> from swftools.simulator import simulate
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2], submit_time=[0, 1], run_time=[10, 30],
    ...     requested_time=[20, 40], requested_processors=[1, 1])
    >>> prediction_errors(simulate(trace, "easy"))["accuracy"]
    0.625
    """
    predicted = schedule.jobs["estimated_time"].to_numpy(dtype=np.float64)
    true = schedule.jobs["run_time"].to_numpy(dtype=np.float64)
    names = ("mean_absolute_error", "relative_error", "accuracy", "underestimated", "correlation")
    if len(true) == 0:
        return dict.fromkeys(names, float("nan"))
    error, larger = float(np.abs(predicted - true).mean()), np.maximum(predicted, true)
    accuracy = np.divide(np.minimum(predicted, true), larger, out=np.ones(len(true)), where=larger > 0)
    differ = np.ptp(predicted) > 0 and np.ptp(true) > 0
    values = (
        error,
        error / float(true.mean()) if true.mean() > 0 else float("nan"),
        float(accuracy.mean()),
        float((predicted < true).mean()),
        float(np.corrcoef(predicted, true)[0, 1]) if differ else float("nan"),
    )
    return dict(zip(names, values, strict=True))

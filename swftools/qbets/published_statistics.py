# SPDX-License-Identifier: BSD-3-Clause
"""Predicted waits in the figures that others publish, so that theirs can stand beside ours.

References
----------
Brown 2022, "Predicting batch queue job wait times for informed scheduling of urgent HPC workloads" (arXiv 2204.13543):
share within 1 and 10 minutes. Mila, slurm-queue-time-pred: the interval of wait over prediction that holds half of the
jobs. Hutchison 2023: share of right verdicts on whether a job starts before a deadline.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from swftools.by_job import in_one_order
from swftools.errors import ParameterError
from swftools.parameters import is_number

MINUTES = {"within_1_minute": 60.0, "within_10_minutes": 600.0}
RATIOS = {"ratio_p5": 0.05, "ratio_p25": 0.25, "ratio_p75": 0.75, "ratio_p95": 0.95}

DEADLINE = 3600.0
"""The deadline of verdicts if none is given, s."""


def prediction_figures(
    wait: npt.ArrayLike, predicted: npt.ArrayLike, deadline: float = DEADLINE
) -> Mapping[str, float | None]:
    """Return how good predicted waits are, by the measures of other publications.

    Parameters
    ----------
    wait, predicted : array_like of float, shape (jobs,)
        How long each job waited, and was predicted to wait, s. Jobs with either missing (NaN) do not count.
    deadline : float
        Deadline of the verdicts, s after the submission.

    Returns
    -------
    mapping of str to float or None
        None if no job counts.

        * within_1_minute, within_10_minutes: share of jobs whose wait differs from the prediction by at most that.
        * ratio_p5, ratio_p25, ratio_p75, ratio_p95: quantiles of wait / prediction, linear between two jobs. Half of
          the jobs lie between the second and third, 90 % between the first and last. Times below 1 s count as 1 s.
        * deadline: as given.
        * right_verdicts: share of jobs for which the prediction is right about the deadline: wait and prediction are
          both within it, or both beyond it.
        * best_constant: share of right verdicts if every verdict were the same. A share of right verdicts says little
          unless it is well above this.

    Raises
    ------
    ParameterError
        The deadline is not a number of 0 or more, or the lengths differ.

    Examples
    --------
    >>> figures = prediction_figures([0, 100, 700, 8000], [30, 200, 1400, 1000])
    >>> figures["within_1_minute"], figures["within_10_minutes"], figures["right_verdicts"], figures["best_constant"]
    (0.25, 0.5, 0.75, 0.75)
    """
    check_deadline(deadline)
    waits, told = (np.asarray(each, np.float64) for each in in_one_order(wait=wait, predicted=predicted))
    if waits.shape != told.shape or waits.ndim != 1:
        raise ParameterError(f"waits of shape {waits.shape} and predictions of {told.shape}; give one of each a job")
    known = ~np.isnan(waits) & ~np.isnan(told)
    waits, told = waits[known], told[known]
    if not len(waits):
        return {
            **dict.fromkeys((*MINUTES, *RATIOS)),
            "deadline": deadline,
            "right_verdicts": None,
            "best_constant": None,
        }
    error = np.abs(waits - told)
    ratio = np.maximum(waits, 1.0) / np.maximum(told, 1.0)
    starts = waits <= deadline
    share = float(starts.mean())
    return {
        **{name: float((error <= most).mean()) for name, most in MINUTES.items()},
        **{name: float(np.quantile(ratio, point)) for name, point in RATIOS.items()},
        "deadline": float(deadline),
        "right_verdicts": float((starts == (told <= deadline)).mean()),
        "best_constant": max(share, 1.0 - share),
    }


def check_deadline(deadline: float) -> None:
    """Raise ParameterError unless a deadline is one."""
    if not is_number(deadline, least=0):
        raise ParameterError(f"deadline={deadline!r} is not a number of 0 or more (s)")

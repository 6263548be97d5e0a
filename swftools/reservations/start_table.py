# SPDX-License-Identifier: BSD-3-Clause
"""The inverse of bounds of waits: with which probability a job starts within a time, in integer percent.

A bound of the p percent quantile that is no longer than the time says: at least p of 100 such jobs start within it. So
the probability is the largest p from 1 to 99 whose bound is within the time, and 0 where none is. More time never makes
it less, whatever the method of the bounds.

References
----------
Nurmi 2009, section 5.2.1: "an integer percentile estimate between 1 and 100 for a specific time bound". A bound of the
largest wait that there can be is none, so it ends at 99 here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray

MOST = 99
"""The largest percentile that is bounded."""

PERCENT = np.arange(1, MOST + 1)

_ROUNDING = 1e-9


class StartTable(NamedTuple):
    """Bounds of waits of the jobs of a group.

    ``ends`` has the largest value of the explanatory variable that belongs to each cluster, rising, the last infinite.
    ``seconds`` has a row a cluster: the bounds of the 1, 2, ... 99 percent quantiles, s, never falling; infinite where
    too few waits are known.
    """

    ends: FloatArray
    seconds: FloatArray


def rising(seconds: FloatArray) -> FloatArray:
    """Return bounds of rising quantiles that never fall; NaN, which is no bound, is infinite."""
    return np.maximum.accumulate(np.where(np.isnan(seconds), np.inf, seconds))


def least_percent(probability: float) -> int:
    """Return the least integer percent that is no less than a probability.

    Examples
    --------
    >>> [least_percent(probability) for probability in (0.5, 0.55, 0.951, 0.01)]
    [50, 55, 96, 1]
    """
    return max(int(np.ceil(100.0 * probability - _ROUNDING)), 1)


def clusters_of(table: StartTable, x: npt.ArrayLike) -> IntArray:
    """Return the cluster that each value of the explanatory variable belongs to."""
    return np.searchsorted(table.ends[:-1], x).astype(np.int64)


def percents_within(table: StartTable, x: npt.ArrayLike, seconds: npt.ArrayLike) -> IntArray:
    """Return with how many percent jobs of each value of the explanatory variable start within so many seconds.

    Parameters
    ----------
    table : StartTable
        Of their group.
    x, seconds : array_like of float, shape (n,)
        Of each.

    Examples
    --------
    >>> table = StartTable(np.array([100.0, np.inf]), np.array([PERCENT * 1.0, PERCENT * 10.0]))
    >>> percents_within(table, [100, 100, 101, 101], [0.5, 50, 50, 1e6]).tolist()
    [0, 50, 5, 99]
    """
    x, seconds = np.atleast_1d(np.asarray(x, np.float64)), np.atleast_1d(np.asarray(seconds, np.float64))
    cluster, percent = clusters_of(table, x), np.zeros(len(x), np.int64)
    for place in np.unique(cluster):
        own = cluster == place
        percent[own] = np.searchsorted(table.seconds[place], seconds[own], side="right")
    return percent


def latest_lead(
    table: StartTable, explain: Callable[[FloatArray], FloatArray], leads: FloatArray, percent: int
) -> tuple[int, IntArray]:
    """Return which of some leads to take, and with how many percent a job that is submitted with each starts in time.

    Parameters
    ----------
    table : StartTable
        Of the job's group.
    explain : callable
        Takes leads, and returns the explanatory variable of the job as it is submitted with each of them.
    leads : ndarray of float, shape (n,)
        Times from a submission until the start, s, falling.
    percent : int
        That must be met at least.

    Returns
    -------
    place : int
        The last that meets it; -1 if none does.
    percents : ndarray of int, shape (n,)
        Of all of them.
    """
    percents = percents_within(table, explain(leads), leads)
    met = np.flatnonzero(percents >= percent)
    return (int(met[-1]) if len(met) else -1), percents

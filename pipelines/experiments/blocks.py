# SPDX-License-Identifier: BSD-3-Clause
"""Intervals and p-values of what a change brings to the jobs of one log, by blocks of time.

Jobs that wait together do not wait independently: of a log the jobs are no sample, its weeks are one, about. So each
job is paired with itself under the change, differences are added up by week of submission, and weeks are drawn.

References
----------
Kuensch 1989, "The jackknife and the bootstrap for general stationary observations", Ann. Statist. 17 (blocks); Efron
1987, "Better bootstrap confidence intervals", JASA 82 (BCa); Cochran 1977, "Sampling techniques", section 6 (ratios of
sums); Tarone 1990, "A modified Bonferroni method for discrete data", Biometrics 46.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipelines.experiments.resampling import ALPHA, RESAMPLES, FloatArray, p_values

DAY = 86_400.0

LENGTHS = {"weeks": 7 * DAY, "days": DAY}
"""How long blocks are, s: the first that makes ``LEAST`` of them is taken."""

LEAST = 8
"""Blocks with jobs that it takes at least."""

LEAST_OF_GROUP = 6
"""Blocks in which a group of jobs must have some: with fewer no difference can be told apart (``least_pairs``)."""

GRID = 2_000
"""Waits at which quantiles are looked for, where there are more; those are quantiles of all waits themselves."""

QUANTILE_RESAMPLES = 2_000
"""Draws of blocks for the interval of a quantile, whose ends need no acceleration."""


EXACT = 13
"""Blocks up to which all ways to turn their signs round are looked at: 8,192."""

MOST_DRAWN = 200_000
"""Ways that are drawn of more blocks at most; with many comparisons a p-value must be told to many digits."""

_AT_ONCE = 4_096


class Blocks(NamedTuple):
    """The blocks of a log: what they are, of each job the number of its block, and when each begins, s."""

    name: str
    of_job: npt.NDArray[np.int64]
    begin: FloatArray


def blocks_of(submit: FloatArray) -> Blocks | None:
    """Return the blocks of time in which jobs were submitted, those without a job left out.

    Parameters
    ----------
    submit : ndarray of float64, shape (jobs,)
        When each job was submitted, s.

    Returns
    -------
    Blocks or None
        Weeks from the first submission on, or days where fewer than ``LEAST`` weeks have jobs; None where fewer than
        ``LEAST`` days have.

    Examples
    --------
    >>> blocks = blocks_of(np.arange(20) * 43_200.0)
    >>> blocks.name, blocks.of_job[:5].tolist(), len(blocks.begin)
    ('days', [0, 0, 1, 1, 2], 10)
    """
    if not len(submit):
        return None
    first = float(submit.min())
    for name, length in LENGTHS.items():
        there, of_job = np.unique(np.floor((submit - first) / length), return_inverse=True)
        if len(there) >= LEAST:
            return Blocks(name, of_job.astype(np.int64), first + there * length)
    return None


def ratio_interval(total: FloatArray, count: FloatArray) -> tuple[float, float]:
    """Return the 95 % interval of sum(total) / sum(count) where blocks are drawn, each with its total and its count.

    Parameters
    ----------
    total : ndarray of float64, shape (blocks,)
        Of each block the sum of the differences of its jobs.
    count : ndarray of float64, shape (blocks,)
        Its jobs; blocks without any do not count.

    Returns
    -------
    (float, float)
        By bootstrap (BCa), in the unit of the totals; the percentiles where its acceleration is not defined. NaN of
        fewer than ``LEAST_OF_GROUP`` blocks.

    Examples
    --------
    >>> ratio_interval(np.full(10, 6.0), np.full(10, 2.0))
    (3.0, 3.0)
    """
    from scipy import stats  # noqa: PLC0415 (it takes time to import)

    total, count = total[count > 0], count[count > 0]
    if len(total) < LEAST_OF_GROUP:
        return float("nan"), float("nan")
    if np.ptp(total / count) == 0:
        return float(total[0] / count[0]), float(total[0] / count[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the acceleration is not defined
        for method in ("BCa", "percentile"):
            found = stats.bootstrap(
                (total, count),
                _ratio,
                n_resamples=RESAMPLES,
                paired=True,
                vectorized=True,
                batch=max(1, (1 << 22) // len(total)),
                confidence_level=1 - ALPHA,
                method=method,
                rng=np.random.default_rng(0),
            ).confidence_interval
            if np.isfinite(found.low) and np.isfinite(found.high):
                break
    return float(found.low), float(found.high)


def _ratio(total: FloatArray, count: FloatArray, axis: int = -1) -> FloatArray:
    ratio: FloatArray = total.sum(axis=axis) / count.sum(axis=axis)
    return ratio


def quantile_intervals(
    waits: FloatArray, others: FloatArray, blocks: Blocks, shares: tuple[float, ...]
) -> list[tuple[float, float]]:
    """Return the 95 % intervals of how much quantiles of waits differ, where blocks are drawn, the same ones of both.

    Parameters
    ----------
    waits, others : ndarray of float64, shape (jobs,)
        Of the same jobs in two schedules, s.
    blocks : Blocks
        Of these jobs.
    shares : tuple of float
        .5 is the median.

    Returns
    -------
    list of (float, float)
        Percentiles of the bootstrap of quantile of ``waits`` - quantile of ``others``, s. A quantile is the least wait
        that as large a share of the jobs has at most; with more than ``GRID`` different waits it is looked for among
        ``GRID`` of them.
    """
    points = np.unique(np.concatenate([waits, others]))
    if len(points) > GRID:
        points = np.unique(np.quantile(np.concatenate([waits, others]), np.linspace(0, 1, GRID), method="higher"))
    count = len(blocks.begin)
    drawn = np.random.default_rng(0).integers(count, size=(QUANTILE_RESAMPLES, count))
    many = np.apply_along_axis(np.bincount, 1, drawn, minlength=count).astype(np.float64)
    found = []
    for values in (waits, others):
        place = np.searchsorted(points, values)
        table = np.bincount(blocks.of_job * len(points) + place, minlength=count * len(points))
        reached = np.cumsum(many @ table.reshape(count, -1), axis=1)
        need = reached[:, -1:] * np.array(shares)
        at = [(reached < need[:, [which]] * (1 - 1e-12)).sum(axis=1) for which in range(len(shares))]
        found.append(points[np.array(at)])
    low, high = np.quantile(found[0] - found[1], [ALPHA / 2, 1 - ALPHA / 2], axis=1)
    return [(float(one), float(other)) for one, other in zip(low, high, strict=True)]


def signed_p_values(totals: FloatArray, comparisons: int) -> FloatArray:
    """Return the two-sided p-values of sums over blocks, by turning the signs of blocks round.

    Parameters
    ----------
    totals : ndarray of float64, shape (groups, blocks)
        Of each group and block the sum of the differences of its jobs; 0 where the group has none.
    comparisons : int
        How many p-values there are in all: the more, the more ways are drawn.

    Returns
    -------
    ndarray of float64, shape (groups,)
        The share of ways whose sum is as far from 0; exact up to ``EXACT`` blocks that differ. Others are drawn, the
        same for all groups, where ``p_values`` would draw for each.

    Examples
    --------
    >>> signed_p_values(np.array([[1.0, 2, 0, 3], [0, 0, 0, 0]]), 1).tolist()
    [0.25, 1.0]
    """
    found = np.ones(len(totals))
    many = (totals != 0).sum(axis=1)
    few = np.flatnonzero((many <= EXACT) & (many > 0))
    found[few] = p_values([totals[place][totals[place] != 0] for place in few])
    others = np.flatnonzero(many > EXACT)
    if not len(others):
        return found
    scaled = totals[others] / np.abs(totals[others]).max(axis=1, keepdims=True)
    observed = np.abs(scaled.sum(axis=1)) * (1 - 1e-9)  # what is equal but for rounding is as far
    draws = min(MOST_DRAWN, max(RESAMPLES, 200 * comparisons))
    rng, beyond = np.random.default_rng(0), np.zeros(len(others))
    for begin in range(0, draws, _AT_ONCE):
        signs = 2.0 * rng.integers(0, 2, (min(_AT_ONCE, draws - begin), totals.shape[1])) - 1.0
        beyond += (np.abs(signs @ scaled.T) >= observed).sum(axis=0)
    found[others] = (beyond + 1) / (draws + 1)
    return found


def can_be_told_apart(least: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which of several comparisons could be more than noise, by the least p-value that each may have.

    Parameters
    ----------
    least : ndarray of float64
        2 / 2^n of n blocks that differ; NaN of what is not compared.

    Returns
    -------
    ndarray of bool
        The others need not be counted among the comparisons (Tarone 1990): with K the least number of which at most K
        may reach ALPHA / K, those that may.

    Examples
    --------
    >>> can_be_told_apart(np.array([2**-7, 2**-7, 2**-5, 1.0])).tolist()
    [True, True, False, False]
    """
    known = np.nan_to_num(least, nan=np.inf)
    for comparisons in range(1, len(known) + 1):
        may = known <= ALPHA / comparisons
        if may.sum() <= comparisons:
            return np.asarray(may)
    return np.zeros(len(known), np.bool_)

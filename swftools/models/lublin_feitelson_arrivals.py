# SPDX-License-Identifier: BSD-3-Clause
"""Arrivals of the Lublin-Feitelson model: independent streams, each with its daily cycle, and the alpha for a rate.

Times between arrivals are drawn in points (``daily_cycle.py``) by a stream of numbers keyed by the number of the
arrival, so that those of one alpha are those of another, longer or shorter: the time they take grows with alpha
almost without jumps, and an alpha for a given time can be solved for.

References
----------
Lublin and Feitelson 2003, "The workload on parallel supercomputers: modeling the characteristics of rigid jobs",
JPDC 63(11), and the authors' program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from swftools.kernel import kernel
from swftools.keyed_random import STATE_LENGTH, next_gamma, start_stream, step_key
from swftools.models.daily_cycle import BUCKET, clock_times, gamma_weights, points_at
from swftools.models.lublin_feitelson_types import LEAST_ACCEPTANCE, MAX_GAP_LOG, JobType, mean_gap

FloatArray = npt.NDArray[np.float64]

LEAST_FACTOR = 0.01
"""Least factor on alpha that is tried for a load; below it nearly all jobs arrive a second apart."""


def arrival_times(
    count: int, types: Mapping[str, JobType], *, seed: int, start: float = 0.0
) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Return arrivals of one or more independent streams.

    Parameters
    ----------
    count : int
        Arrivals wanted, of all streams together.
    types : mapping of str to JobType
        One a stream, with a name that keys its draws; of arrivals at one instant the earlier type comes first.
    seed : int
        From 0 to 2**64 - 1.
    start : float
        Time of the day at second 0, s.

    Returns
    -------
    times : array of float, shape (count,)
        Seconds since second 0, ascending, not rounded.
    kinds : array of int8, shape (count,)
        Position of each arrival's type in ``types``.
    """
    streams = []
    for name, job_type in types.items():
        weights = gamma_weights(job_type.anum, job_type.bnum)
        points = points_at(start, weights) + np.cumsum(_gaps(count, name, job_type, seed)) / BUCKET
        streams.append(clock_times(points, weights) - start)
    times = np.concatenate(streams)
    first = np.argsort(times, kind="stable")[:count] if len(types) > 1 else np.arange(count)
    return times[first], (first // max(count, 1)).astype(np.int8)


def _gaps(count: int, name: str, job_type: JobType, seed: int) -> FloatArray:
    """Return times between arrivals at an average time of day, s; the draws of one alpha are those of another."""
    gaps = np.empty(count)
    step = np.uint64(step_key(f"lublin-feitelson/arrival/{name}"))
    _draw_gaps(gaps, np.uint64(seed), step, job_type.aarr * job_type.arar, job_type.barr)
    return gaps


def types_meeting(
    target: float,
    measure: Callable[[FloatArray, npt.NDArray[np.int8]], float],
    count: int,
    types: Mapping[str, JobType],
    *,
    seed: int,
    start: float = 0.0,
) -> dict[str, JobType]:
    """Return types whose alphas are multiplied by one factor, so that arrivals meet a target.

    Parameters
    ----------
    target : float
        Positive.
    measure : callable
        Takes times and kinds of arrivals, as ``arrival_times`` returns them, and returns a positive number that
        grows with the time between them, such as the time that they take.
    count, types, seed, start
        As in ``arrival_times``; at least two arrivals.

    Returns
    -------
    dict of str to JobType
        With those alphas the target is met to one in a hundred thousand, or as near as single draws allow where jobs
        are few.

    Raises
    ------
    UnreachableError
        No factor reaches it; has the least and the greatest value that can be reached.
    """

    def scaled(logarithm: float) -> dict[str, JobType]:
        return {name: replace(each, aarr=each.aarr * math.exp(logarithm)) for name, each in types.items()}

    @cache
    def excess(logarithm: float) -> float:
        value = measure(*arrival_times(count, scaled(logarithm), seed=seed, start=start))
        return math.log(max(value, 1e-300)) - math.log(target)

    leasts, greatests = zip(*map(_factors, types.values()), strict=True)
    ends = max(leasts), min(greatests)
    # What the mean says is seldom off by more than a few percent, and a pass over the draws is dear near the ends:
    # the search begins at the mean and widens.
    low = high = _factor_for_mean(math.log(_mean_of(types.values(), 0.0)) - excess(0.0), types, ends)
    step = 0.01
    while excess(low) > 0 and low > ends[0]:
        low, step = max(low - step, ends[0]), 2 * step
    while excess(high) < 0 and high < ends[1]:
        high, step = min(high + step, ends[1]), 2 * step
    if not excess(low) <= 0 <= excess(high):
        least, greatest = (math.exp(math.log(target) + excess(end)) for end in ends)
        raise UnreachableError(least, greatest)
    return scaled(low if low == high else _root(excess, low, high))


class UnreachableError(Exception):
    """No alpha meets a target; ``least`` and ``greatest`` can be met."""

    def __init__(self, least: float, greatest: float) -> None:
        super().__init__(f"{least:.6g} to {greatest:.6g} can be reached")
        self.least, self.greatest = least, greatest


def _mean_of(types: Iterable[JobType], logarithm: float) -> float:
    """Return the mean time between arrivals of all streams together under a factor on alpha, s."""
    gaps = [mean_gap(each.aarr * each.arar * math.exp(logarithm), each.barr) for each in types]
    return 1 / sum(1 / gap for gap in gaps)


def _factor_for_mean(log_gap: float, types: Mapping[str, JobType], ends: tuple[float, float]) -> float:
    """Return the logarithm of the factor on alpha that gives a mean time between arrivals (ln s), or the nearer end."""

    def excess(logarithm: float) -> float:
        return math.log(_mean_of(types.values(), logarithm)) - log_gap

    for end, is_beyond in zip(ends, (excess(ends[0]) >= 0, excess(ends[1]) <= 0), strict=True):
        if is_beyond:
            return end
    return _root(excess, *ends)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes its sign."""
    from scipy.optimize import brentq  # noqa: PLC0415 (scipy on first use: importing swftools stays quick)

    return float(brentq(function, low, high, xtol=1e-6))


def _factors(job_type: JobType) -> tuple[float, float]:
    """Return the logarithms of the least and the greatest factor on alpha: that are tried, and that a type may have."""
    from scipy.special import gammainc  # noqa: PLC0415

    shape, limit = job_type.aarr * job_type.arar, MAX_GAP_LOG / job_type.barr

    def excess(logarithm: float) -> float:
        return float(gammainc(shape * math.exp(logarithm), limit)) - 1.01 * LEAST_ACCEPTANCE

    # A shape of 2 limit + 100 is beyond what is accepted.
    most = _root(excess, 0.0, math.log((2 * limit + 100) / shape)) if excess(0.0) > 0 else 0.0
    least, greatest = (math.log(end / job_type.aarr) for end in JobType.POSITIVE)
    return max(math.log(LEAST_FACTOR), min(least + 1e-9, 0.0)), min(most, max(greatest - 1e-9, 0.0))


@kernel
def _draw_gaps(gaps: FloatArray, seed: np.uint64, step: np.uint64, shape: float, scale: float) -> None:
    """Fill in times between arrivals: e^g, drawn again while g is above its limit."""
    state = np.zeros(STATE_LENGTH, np.uint64)
    for i in range(len(gaps)):
        start_stream(state, seed, step, i, 0)
        g = MAX_GAP_LOG + 1.0
        while g > MAX_GAP_LOG:
            g = scale * next_gamma(state, shape)
        gaps[i] = np.exp(g)

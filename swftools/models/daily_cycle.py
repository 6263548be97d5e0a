# SPDX-License-Identifier: BSD-3-Clause
"""The daily cycle of arrivals: how many arrivals each half hour of the day gets, and the clock that it drives.

Arrival processes here are stationary in *points* of time, of which each half hour of the day takes as many as its
weight; ``clock_times`` turns points into seconds. So any process with a steady rate gets a daily cycle, and a
half hour with twice the weight gets twice the arrivals.

References
----------
Lublin and Feitelson 2003, section on arrivals; the points are those of their program's "balance".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

BUCKETS = 48
"""Half hours of a day; bucket 0 begins at 00:00."""

BUCKET = 1800.0
"""Seconds of a bucket."""

DAY = BUCKETS * BUCKET


def gamma_weights(shape: float, scale: float, day_start: int = 11) -> FloatArray:
    """Return the weights of a day whose arrivals follow a gamma density.

    Parameters
    ----------
    shape, scale : float
        Of the density, over half hours since midnight; what lies beyond 48 is the next early morning.
    day_start : int
        The half hour in which the cycle is cut, after the quietest.

    Returns
    -------
    array of float, shape (48,)
        Mean 1. Bucket ``(i - 1) mod 48`` gets F(i + 0.5) - F(i - 0.5) for i from ``day_start`` on.

    Examples
    --------
    >>> weights = gamma_weights(8.1737, 3.9631)
    >>> int(weights.argmin()), int(weights.argmax())
    (10, 27)
    """
    from scipy.special import gammainc  # noqa: PLC0415 (scipy on first use: importing swftools stays quick)

    edges = np.arange(day_start, day_start + BUCKETS + 1) - 0.5
    weights = np.empty(BUCKETS)
    weights[np.arange(day_start - 1, day_start - 1 + BUCKETS) % BUCKETS] = np.diff(gammainc(shape, edges / scale))
    normalised: FloatArray = weights / weights.mean()
    return normalised


def fitted_weights(clock: FloatArray) -> FloatArray:
    """Return the weights of the day that arrivals show.

    Parameters
    ----------
    clock : array of float, shape (jobs,)
        Arrivals, seconds since some midnight.

    Returns
    -------
    array of float, shape (48,)
        Mean 1. Half an arrival is added to each half hour, so that none is impossible.
    """
    counts = np.bincount(((clock % DAY) // BUCKET).astype(np.int64), minlength=BUCKETS) + 0.5
    normalised: FloatArray = counts / counts.mean()
    return normalised


def points_at(clock: FloatArray | float, weights: FloatArray) -> FloatArray:
    """Return the points from midnight of day 0 to times of the clock, s; the inverse of ``clock_times``."""
    cumulative = np.concatenate(([0.0], np.cumsum(weights)))
    days, rest = np.divmod(np.asarray(clock, dtype=np.float64), DAY)
    bucket = np.minimum((rest // BUCKET).astype(np.int64), BUCKETS - 1)
    points: FloatArray = (
        days * cumulative[-1] + cumulative[bucket] + weights[bucket] * (rest - bucket * BUCKET) / BUCKET
    )
    return points


def clock_times(points: FloatArray, weights: FloatArray) -> FloatArray:
    """Return when the clock reaches given points.

    Parameters
    ----------
    points : array of float, shape (jobs,)
        Points since midnight of day 0.
    weights : array of float, shape (48,)
        Positive.

    Returns
    -------
    array of float, shape (jobs,)
        Seconds since midnight of day 0.

    Notes
    -----
    With c the cumulative weights: day = floor(points / c[48]), the rest r lies in bucket b with
    c[b] < r <= c[b + 1], and the time is 86400 day + 1800 (b + (r - c[b]) / w[b]). This is the closed form of
    walking through the buckets one by one.

    Examples
    --------
    >>> clock_times(np.array([0.5, 48.0]), np.ones(48)).tolist()
    [900.0, 86400.0]
    """
    cumulative = np.concatenate(([0.0], np.cumsum(weights)))
    days, rest = np.divmod(points, cumulative[-1])
    bucket = np.clip(np.searchsorted(cumulative, rest, side="left") - 1, 0, BUCKETS - 1)
    times: FloatArray = DAY * days + BUCKET * (bucket + (rest - cumulative[bucket]) / weights[bucket])
    return times

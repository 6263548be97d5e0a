# SPDX-License-Identifier: BSD-3-Clause
"""VARQ in the plainest way: Figure 5.3 step by step, each probability found by trying every percentile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from scipy.stats import binom


def bound_of(waits: list[float], percent: int, confidence: float) -> float | None:
    """Return the binomial bound of a percentile by its definition; None where there is none."""
    rank = _rank(len(waits), percent, confidence)
    return sorted(waits)[rank - 1] if rank else None


@cache
def _rank(count: int, percent: int, confidence: float) -> int:
    """Return the first rank whose value is no less than the percentile with the confidence; 0 where none is."""
    below = binom.cdf(range(count), count, percent / 100)
    return next((rank for rank in range(1, count + 1) if below[rank - 1] >= confidence), 0)


def percent_within(waits: list[float], seconds: float, confidence: float) -> int:
    """Return the largest percentile whose bound is within a time; 0 where none is."""
    best = 0
    for percent in range(1, 100):
        bound = bound_of(waits, percent, confidence)
        if bound is not None and bound <= seconds:
            best = percent
    return best


def walk_back(
    qbets: Callable[[float, float], int], wall_time: float, now: float, start: float, percent: int
) -> tuple[float, float, int] | None:
    """Return waitT, advWallTime and the probability, %, by the pseudocode of Figure 5.3 as the text means it.

    ``qbets`` takes a requested time and how long the job may wait, and returns a percentage.
    """
    vector = []
    time = now
    while time < start:
        vector.append((time, qbets(wall_time + (start - time), start - time)))
        time += 30
    for time, probability in reversed(vector):
        if probability >= percent:
            return time - now, wall_time + (start - time), probability
    return None

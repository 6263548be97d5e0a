# SPDX-License-Identifier: BSD-3-Clause
"""Which of so many waits is a bound of a quantile, of one number of waits: what ``bound_ranks`` says of all numbers.

It is for who asks once, and should not wait until scipy is loaded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from swftools.kernel import FloatArray

ROUNDING = 1e-11
"""Probabilities that are so close to the confidence are left to scipy: sums of some ten thousand terms are rounded."""

LARGE = 500
"""Above so many waits the normal approximation is used, where it is asked for: that of the binomial bound."""

STEPS = 24
"""Halvings that find a quantile: to 10^-7. Many more would come so close to the confidence that scipy must decide."""


@lru_cache(maxsize=16_384)  # a service is asked of the same numbers again and again, 40 times in a question
def upper_rank(waits: int, quantile: float, confidence: float, *, is_large: bool = False) -> int:
    """Return the rank, from 1, of the wait that is an upper bound of a quantile of so many waits; 0 where none is.

    The smallest k with P(Binomial(n, q) <= k - 1) >= C; ``is_large`` takes the normal approximation above ``LARGE``.

    Examples
    --------
    >>> [upper_rank(waits, 0.95, 0.95) for waits in (58, 59, 100, 200, 1000)]
    [0, 59, 99, 196, 962]
    """
    if waits < 1:
        return 0
    if is_large and waits > LARGE:
        middle = waits * quantile
        middle += NormalDist().inv_cdf(confidence) * math.sqrt(middle * (1.0 - quantile))
        rank = math.floor(middle + 0.5)
        return rank if 1 <= rank <= waits else 0
    first, below = _below(waits, quantile)
    place = int(np.searchsorted(below, confidence))
    if np.abs(below - confidence).min() < ROUNDING:
        from scipy.stats import binom  # noqa: PLC0415 (takes a second)

        place = int(binom.ppf(confidence, waits, quantile)) - first
    rank = first + place + 1
    return rank if rank <= waits else 0


def needed_waits(quantile: float, confidence: float) -> int:
    """Return how many waits an upper bound needs at least: the first n with 1 - q^n >= C.

    Examples
    --------
    >>> needed_waits(0.95, 0.95), needed_waits(0.5, 0.95)
    (59, 5)
    """
    waits = max(int(math.log1p(-confidence) / math.log(quantile)) - 1, 1)
    while upper_rank(waits, quantile, confidence) == 0:
        waits += 1
    return waits


def largest_quantile(is_within: Callable[[float], bool], steps: int = STEPS) -> float:
    """Return up to which quantile bounds are within something; they rise with the quantile. 0.0 where none is.

    Examples
    --------
    >>> round(largest_quantile(lambda quantile: 0 < upper_rank(100, quantile, 0.95) <= 99), 4)
    0.9534
    """
    low, high = 0.0, 1.0
    for _ in range(steps):
        middle = 0.5 * (low + high)
        if is_within(middle):
            low = middle
        else:
            high = middle
    return low


def _below(waits: int, quantile: float) -> tuple[int, FloatArray]:
    """Return a number of successes, and for it and each that follows the probability of at most so many.

    Terms far from the mean, which are smaller than rounding, are left out; each is found from its neighbour.
    """
    mean = waits * quantile
    reach = 40.0 + 10.0 * math.sqrt(mean * (1.0 - quantile))
    first, last = max(math.floor(mean - reach), 0), min(math.ceil(mean + reach), waits)
    middle = min(max(round(mean), first), last)
    odds = quantile / (1.0 - quantile)
    up = np.arange(middle, last)
    down = np.arange(middle, first, -1)
    above = np.cumprod((waits - up) / (up + 1.0) * odds)
    under = np.cumprod(down / ((waits - down + 1.0) * odds))
    terms = np.concatenate([under[::-1], [1.0], above])
    sums = np.cumsum(terms)
    return first, np.minimum(sums / sums[-1], 1.0)

# SPDX-License-Identifier: BSD-3-Clause
"""The binomial bound: an order statistic that is beyond the quantile with some confidence, whatever the distribution.

Of n independent waits the number that is below their q quantile is binomial. So the k-th smallest of them is an upper
bound of the quantile with confidence C for the smallest k with P(Binomial(n, q) <= k - 1) >= C. Fewer than the least n
with 1 - q^n >= C (59 for .95 and .95) bound nothing.

References
----------
Nurmi 2009, section 4.2.1. Equation 4.1 counts the waits above the quantile; its words, "the k-th value in a sorted set
... greater than or equal to the quantile", are what is computed here.

Differs from the public code
    That takes the k-1-st smallest, whose confidence is .80 instead of .95 at n = 59, .88 at 100 and .94 at 500.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import BoolArray, FloatArray, kernel
from swftools.qbets.bounds.registry import LOWER, TWO_SIDED, UPPER, Bound, check_fraction, check_side, register_bound

EXACT, LARGE_SAMPLE = APPROXIMATIONS = ("exact", "large-sample")

LARGE = 500
"""Above so many waits the normal approximation is used, where it is asked for, as by the public code."""

MARGIN = 1e-8
"""Probabilities so close to the confidence are computed anew, for the sums that lead to them are rounded."""

COUNT, BELOW = range(2)
"""Places in the state: waits, and how many of them are in the heap of the smallest; the heaps stand behind."""

HEAP = 2
"""Where the heap of the smallest begins, the largest of them first; that of the others grows from the end."""


@kernel(allocates=False)
def add_to_heaps(state: FloatArray, facts: FloatArray, wait: float) -> None:
    """Put a wait among those known, so that the heap of the smallest has as many as the facts say."""
    count, below = int(state[COUNT]) + 1, int(state[BELOW])
    state[COUNT] = count
    if below > 0 and wait < state[HEAP]:
        _sink_in(state, below, wait)
        below += 1
    else:
        _rise_in(state, count - 1 - below, wait)
    while below < facts[count]:
        _sink_in(state, below, _take_least(state, count - below))
        below += 1
    while below > facts[count]:
        below -= 1
        _rise_in(state, count - 1 - below, _take_largest(state, below + 1))
    state[BELOW] = below


@kernel(allocates=False)
def largest_below(state: FloatArray, facts: FloatArray) -> float:  # noqa: ARG001 (as all bounds)
    """Return the largest of the smallest; NaN where none is among them."""
    return state[HEAP] if state[BELOW] > 0 else np.nan


@kernel(allocates=False)
def _sink_in(state: FloatArray, count: int, wait: float) -> None:
    """Add to the heap of the smallest, of which there are ``count``."""
    place = count
    while place > 0 and state[HEAP + (place - 1) // 2] < wait:
        state[HEAP + place] = state[HEAP + (place - 1) // 2]
        place = (place - 1) // 2
    state[HEAP + place] = wait


@kernel(allocates=False)
def _rise_in(state: FloatArray, count: int, wait: float) -> None:
    """Add to the heap of the others, of which there are ``count``."""
    last = len(state) - 1
    place = count
    while place > 0 and state[last - (place - 1) // 2] > wait:
        state[last - place] = state[last - (place - 1) // 2]
        place = (place - 1) // 2
    state[last - place] = wait


@kernel(allocates=False)
def _take_largest(state: FloatArray, count: int) -> float:
    """Take the largest of the smallest out, of which there are ``count``."""
    largest, count = state[HEAP], count - 1
    wait, place = state[HEAP + count], 0
    while 2 * place + 1 < count:
        child = 2 * place + 1
        if child + 1 < count and state[HEAP + child + 1] > state[HEAP + child]:
            child += 1
        if state[HEAP + child] <= wait:
            break
        state[HEAP + place] = state[HEAP + child]
        place = child
    state[HEAP + place] = wait
    return largest


@kernel(allocates=False)
def _take_least(state: FloatArray, count: int) -> float:
    """Take the least of the others out, of which there are ``count``."""
    last = len(state) - 1
    least, count = state[last], count - 1
    wait, place = state[last - count], 0
    while 2 * place + 1 < count:
        child = 2 * place + 1
        if child + 1 < count and state[last - child - 1] < state[last - child]:
            child += 1
        if state[last - child] >= wait:
            break
        state[last - place] = state[last - child]
        place = child
    state[last - place] = wait
    return least


@register_bound
class BinomialBound(Bound):
    """An upper, lower or two-sided bound of a quantile at a confidence, whatever the distribution of the waits.

    Parameters
    ----------
    quantile, confidence : float
        Between 0 and 1, both excluded.
    side : {"upper", "lower", "two-sided"}
        Which bound; with two-sided, each of the two takes half of the error.
    approximation : {"exact", "large-sample"}
        How to compute the rank above ``LARGE`` waits: from the binomial distribution, or as nq + z sqrt(nq (1 - q)).

    Examples
    --------
    >>> waits = np.arange(1.0, 101.0)
    >>> BinomialBound(quantile=0.95, confidence=0.95).fit(waits).predict()
    99.0
    >>> BinomialBound(quantile=0.5, side="two-sided").fit(waits).predict()
    (40.0, 61.0)
    >>> BinomialBound().fit(waits[:58]).predict()
    nan
    """

    name: ClassVar[str] = "binomial"
    add: ClassVar[Any] = add_to_heaps
    bound: ClassVar[Any] = largest_below

    def __init__(
        self, quantile: float = 0.95, confidence: float = 0.95, side: str = UPPER, approximation: str = EXACT
    ) -> None:
        self.quantile = quantile
        self.confidence = confidence
        self.side = side
        self.approximation = approximation

    def check(self) -> None:
        """Refuse parameters outside their domains."""
        check_fraction("quantile", self.quantile)
        check_fraction("confidence", self.confidence)
        check_side(self.side)
        if self.approximation not in APPROXIMATIONS:
            raise ParameterError(f"approximation={self.approximation!r} is not one of: {', '.join(APPROXIMATIONS)}")

    def facts(self, waits: int) -> tuple[FloatArray, ...]:
        """Return the rank of the bound for each number of waits up to this; 0 where too few bound nothing."""
        confidence = (1.0 + self.confidence) / 2.0 if self.side == TWO_SIDED else self.confidence
        is_large = self.approximation == LARGE_SAMPLE
        ranks = []
        if self.side != UPPER:
            upper = bound_ranks(waits, 1.0 - self.quantile, confidence, is_large)
            ranks.append(np.where(upper > 0, np.arange(waits + 1) + 1 - upper, 0.0))
        if self.side != LOWER:
            ranks.append(bound_ranks(waits, self.quantile, confidence, is_large))
        return tuple(ranks)

    def places(self, waits: int) -> int:
        """Return the length of a state."""
        return HEAP + waits

    def resized(self, state: FloatArray, places: int) -> FloatArray:
        """Return a state of another length: the heap of the others stands at the end."""
        other = np.zeros(places)
        if len(state):
            below = HEAP + int(state[BELOW])
            others = int(state[COUNT]) - int(state[BELOW])
            other[:below] = state[:below]
            other[places - others :] = state[len(state) - others :]
        return other

    def check_state(self, state: FloatArray, waits: int) -> None:
        """Refuse heaps of other lengths than they say, or that are not in order."""
        super().check_state(state, waits)
        if state[COUNT] != waits or not 0 <= state[BELOW] <= waits or state[BELOW] != int(state[BELOW]):
            raise ValueError(f"heaps of {state[BELOW]:g} of {state[COUNT]:g} waits, where there are {waits:,}")
        kept, below = state[HEAP:], int(state[BELOW])
        if not (np.isfinite(kept).all() and (kept >= 0).all()):
            raise ValueError("a wait that is none")
        low, high = kept[:below], kept[below:]
        if (low[1:] > low[:-1]).any() or (high[1:] > high[:-1]).any() or low[:1].sum() > high.min(initial=np.inf):
            raise ValueError("heaps that are not in order")

    def settled(self, state: FloatArray, waits: int) -> FloatArray:
        """Return a state in which both heaps are sorted."""
        other = self.resized(state, self.places(waits))
        for heap in (other[HEAP : HEAP + int(other[BELOW])], other[HEAP + int(other[BELOW]) :]):
            heap[:] = np.sort(heap)[::-1]
        return other


def bound_ranks(waits: int, quantile: float, confidence: float, is_large: bool = False) -> FloatArray:
    """Return the rank, from 1, of the wait that is an upper bound, for 0 to ``waits`` waits; 0 where none is.

    ``is_large`` takes the normal approximation above ``LARGE`` waits.

    Examples
    --------
    >>> bound_ranks(1000, 0.95, 0.95)[[58, 59, 100, 200, 1000]].tolist()
    [0.0, 59.0, 99.0, 196.0, 962.0]
    """
    from scipy.stats import binom, norm  # noqa: PLC0415 (takes a second)

    number = np.arange(waits + 1)
    ranks = np.zeros(waits + 1)
    close = np.zeros(waits + 1, np.bool_)
    _fill_ranks(quantile, confidence, ranks, close)
    ranks[close] = binom.ppf(confidence, number[close], quantile) + 1.0
    if is_large:
        large = number[LARGE + 1 :]
        middle = large * quantile + norm.ppf(confidence) * np.sqrt(large * quantile * (1.0 - quantile))
        ranks[LARGE + 1 :] = np.floor(middle + 0.5)
    return np.where(ranks <= number, ranks, 0.0)


@kernel(allocates=False)
def _fill_ranks(quantile: float, confidence: float, ranks: FloatArray, close: BoolArray) -> None:
    """Fill in the rank for each number of waits; ``close`` says where rounding may have decided.

    From n to n + 1 the probability of at most j successes falls by q P(j of n), and j rises by one at most: which costs
    a thousandth of what the distribution function does.
    """
    odds = quantile / (1.0 - quantile)
    n = max(int(np.floor(np.log1p(-confidence) / np.log(quantile))) - 1, 1)
    while n < len(ranks) and 1.0 - quantile**n < confidence:
        close[n] = 1.0 - quantile**n > confidence - MARGIN
        n += 1
    j = n - 1
    below, exactly = 1.0 - quantile**n, n * quantile**j * (1.0 - quantile)  # at most j, just j of n
    while n < len(ranks):
        while below < confidence and j < n:
            exactly *= odds * (n - j) / (j + 1)
            j += 1
            below += exactly
        while j > 0 and below - exactly >= confidence:
            below -= exactly
            exactly *= j / (odds * (n - j + 1))
            j -= 1
        ranks[n] = j + 1
        close[n] = below - confidence < MARGIN or confidence - (below - exactly) < MARGIN
        below -= quantile * exactly
        exactly *= (1.0 - quantile) * (n + 1) / (n + 1 - j)
        n += 1


def least_waits(quantile: float, confidence: float) -> int:
    """Return how many waits an upper bound needs at least, whatever their distribution: the first n with 1 - q^n >= C.

    Examples
    --------
    >>> least_waits(0.95, 0.95), least_waits(0.95, 0.99), least_waits(0.5, 0.95)
    (59, 90, 5)
    """
    room = int(np.log1p(-confidence) / np.log(quantile)) + 3
    return int(np.argmax(bound_ranks(room, quantile, confidence) > 0))

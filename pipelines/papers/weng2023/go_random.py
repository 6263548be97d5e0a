# SPDX-License-Identifier: BSD-3-Clause
"""The random numbers of Go's package math/rand (before 1.20), by which the authors' program shuffles pods and nodes.

It is the additive generator of Mitchell and Reeds: y(n) = y(n - 607) + y(n - 273) modulo 2^64, whose first 607 numbers
are those of a seed xor a table. The table is the state of the same generator after 7.8 x 10^12 steps from seed 1, as
Go's source says. As the recurrence is linear, it is computed here: x^N modulo x^607 - x^334 - 1 tells the state N steps
on.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

LONG, SHORT = 607, 273
"""How far back the two numbers are of which the next one is the sum."""

_FEED = LONG - SHORT
_STEPS = 7_800_000_000_000
_MOST = (1 << 31) - 1
_BLOCK = 64 * SHORT


def _seeded(seed: int, *shifts: int) -> Words:
    """Return the numbers of a seed: three of Park and Miller's generator each, shifted."""
    x = seed % _MOST or 89_482_311
    for _ in range(20):
        x = 48_271 * x % _MOST
    found = np.empty(LONG, np.uint64)
    for place in range(LONG):
        number = 0
        for shift in (*shifts, 0):
            x = 48_271 * x % _MOST
            number ^= x << shift
        found[place] = number & (1 << 64) - 1
    return found


def _in_time(state: Words) -> Words:
    """Return a state, which is filled from its middle down, with the oldest number first; and the other way round."""
    return state[(_FEED - 1 - np.arange(LONG)) % LONG]


def _go_on(oldest_first: Words, count: int) -> Words:
    """Return so many more numbers."""
    found = np.empty(LONG + count, np.uint64)
    found[:LONG] = oldest_first
    for begin in range(LONG, len(found), SHORT):
        end = min(begin + SHORT, len(found))
        found[begin:end] = found[begin - LONG : end - LONG] + found[begin - SHORT : end - SHORT]
    return found[LONG:]


def _reduced(polynomial: Words) -> Words:
    """Return a polynomial modulo x^607 - x^334 - 1."""
    left, end = polynomial.copy(), len(polynomial)
    while end > LONG:
        begin = max(LONG, end - SHORT)
        top = left[begin:end].copy()
        left[begin - SHORT : end - SHORT] += top
        left[begin - LONG : end - LONG] += top
        end = begin
    return left[:LONG]


def _power(steps: int) -> Words:
    """Return x^steps modulo x^607 - x^334 - 1."""
    found = np.zeros(LONG, np.uint64)
    found[0] = 1
    for bit in f"{steps:b}":
        square = np.zeros(2 * LONG, np.uint64)
        for place in range(LONG):
            square[place : place + LONG] += found[place] * found
        found = _reduced(np.roll(square, 1) if bit == "1" else square)
    return found


@cache
def _table() -> Words:
    """Return the numbers with which those of a seed are mixed."""
    first = _in_time(_seeded(1, 20, 10))
    numbers = np.concatenate([first, _go_on(first, LONG)])
    power = _power(_STEPS)
    later = np.array([(power * numbers[place : place + LONG]).sum(dtype=np.uint64) for place in range(LONG)])
    # Step N writes where step N modulo 607 did.
    return np.roll(later, _STEPS % LONG)[(_FEED - 1 - np.arange(LONG)) % LONG]


class GoRandom:
    """A generator as ``rand.Seed`` leaves it."""

    def __init__(self, seed: int) -> None:
        self._newest = _in_time(_seeded(seed, 40, 20) ^ _table())
        self._block: list[int] = []
        self._place = 0

    def number(self) -> int:
        """Return the next number of 63 bits: ``Int63``."""
        if self._place == len(self._block):
            block = _go_on(self._newest, _BLOCK)
            self._newest, self._place = block[-LONG:], 0
            self._block = [each & (1 << 63) - 1 for each in block.tolist()]
        self._place += 1
        return self._block[self._place - 1]

    def below(self, limit: int) -> int:
        """Return a number below a limit: ``Intn``."""
        if limit & (limit - 1) == 0:
            return self.number() >> 32 & (limit - 1)
        most = _MOST - (1 << 31) % limit
        while (drawn := self.number() >> 32) > most:
            pass
        return drawn % limit

    def shuffle(self, values: list[int]) -> None:
        """Shuffle values where they are: ``Shuffle``."""
        for last in range(len(values) - 1, 0, -1):
            size = last + 1
            product = (self.number() >> 31) * size
            while product & 0xFFFFFFFF < size and product & 0xFFFFFFFF < (1 << 32) % size:
                product = (self.number() >> 31) * size
            other = product >> 32
            values[last], values[other] = values[other], values[last]

    def permutation(self, size: int) -> list[int]:
        """Return the numbers below a size in another order: ``Perm``."""
        found = [0] * size
        for place in range(size):
            other = self.below(place + 1)
            found[place] = found[other]
            found[other] = place
        return found

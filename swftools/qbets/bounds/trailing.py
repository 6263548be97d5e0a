# SPDX-License-Identifier: BSD-3-Clause
"""The quantile of the last waits: no bound, with no confidence; the floor that a method should do better than."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, kernel
from swftools.parameters import is_whole
from swftools.qbets.bounds.registry import Bound, check_fraction, register_bound

COUNT, NEXT, LISTS = range(3)
"""Places in the state: waits that it has, the place of the oldest among them, and where the two lists begin."""

QUANTILE, WINDOW = range(2)
"""Places in the facts."""


@kernel(allocates=False)
def add_to_window(state: FloatArray, facts: FloatArray, wait: float) -> None:
    """Put a wait in the place of the oldest; one list is in order of time, the other rises."""
    window, count, place = int(facts[WINDOW]), int(state[COUNT]), int(state[NEXT])
    rising = LISTS + window
    if count == window:
        old, i = state[LISTS + place], rising
        while state[i] != old:
            i += 1
        count -= 1
        for k in range(i, rising + count):
            state[k] = state[k + 1]
    i = rising + count
    while i > rising and state[i - 1] > wait:
        state[i] = state[i - 1]
        i -= 1
    state[i] = wait
    state[LISTS + place] = wait
    state[COUNT] = count + 1
    state[NEXT] = (place + 1) % window


@kernel(allocates=False)
def quantile_of_window(state: FloatArray, facts: FloatArray) -> float:
    """Return the quantile, between two waits in proportion."""
    count = int(state[COUNT])
    if count == 0:
        return np.nan
    place = facts[QUANTILE] * (count - 1)
    low = int(place)
    first = LISTS + int(facts[WINDOW]) + low
    if low + 1 >= count:
        return state[first]
    return state[first] + (place - low) * (state[first + 1] - state[first])


@register_bound
class TrailingQuantile(Bound):
    """The empirical quantile of the last waits.

    For independent waits it is too low about half of the time. It forgets by itself, so replay it without trimming.

    Parameters
    ----------
    quantile : float
        Between 0 and 1, both excluded.
    window : int
        How many of the last waits count.

    Examples
    --------
    >>> TrailingQuantile(quantile=0.5, window=3).fit([100, 1, 2, 4]).predict()
    2.0
    """

    name: ClassVar[str] = "trailing"
    add: ClassVar[Any] = add_to_window
    bound: ClassVar[Any] = quantile_of_window

    reads_any_quantile: ClassVar[bool] = True

    def __init__(self, quantile: float = 0.95, window: int = 500) -> None:
        self.quantile = quantile
        self.window = window

    def check(self) -> None:
        """Refuse parameters outside their domains."""
        check_fraction("quantile", self.quantile)
        if not is_whole(self.window, 1, 10**6):
            raise ParameterError(f"window={self.window!r} is not an integer from 1 to 1,000,000")

    def facts(self, waits: int) -> tuple[FloatArray, ...]:  # noqa: ARG002 (as all bounds)
        """Return quantile and window."""
        return (np.array([self.quantile, float(self.window)]),)

    def places(self, waits: int) -> int:  # noqa: ARG002 (as all bounds)
        """Return the length of a state, which does not grow."""
        return LISTS + 2 * self.window

    def check_state(self, state: FloatArray, waits: int) -> None:
        """Refuse a window whose two lists are not of the same waits."""
        super().check_state(state, waits)
        count, place = state[COUNT], state[NEXT]
        if not 0 <= count <= self.window or count != min(waits, self.window):
            raise ValueError(f"a window of {count:g} waits, where there are {waits:,}")
        if place != (int(place) if count == self.window and 0 <= place < self.window else count % self.window):
            raise ValueError(f"a window whose next place is {place:g}")
        listed = state[LISTS : LISTS + int(count)]
        rising = state[LISTS + self.window : LISTS + self.window + int(count)]
        if not (np.isfinite(listed).all() and (listed >= 0).all() and np.array_equal(np.sort(listed), rising)):
            raise ValueError("a window whose lists are not of the same waits")

    def settled(self, state: FloatArray, waits: int) -> FloatArray:  # noqa: ARG002 (as all bounds)
        """Return a state with nothing after its waits."""
        other, count = state.copy(), int(state[COUNT])
        other[LISTS + count : LISTS + self.window] = 0.0
        other[LISTS + self.window + count :] = 0.0
        return other

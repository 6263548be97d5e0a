# SPDX-License-Identifier: BSD-3-Clause
"""The least of some times, as many as are wanted: the latest of them is when as many have come."""

from __future__ import annotations

from swftools.kernel import FloatArray, kernel


@kernel(allocates=False)
def keep_least(least: FloatArray, time: float, count: int, most: int) -> int:
    """Put a time into a heap of the least ones, of which the latest is on top; return how many there are."""
    if count < most:
        place = count
        while place > 0 and least[(place - 1) >> 1] < time:
            least[place] = least[(place - 1) >> 1]
            place = (place - 1) >> 1
        least[place] = time
        return count + 1
    place = 0
    while 2 * place + 1 < count:
        child = 2 * place + 1
        if child + 1 < count and least[child + 1] > least[child]:
            child += 1
        if least[child] <= time:
            break
        least[place] = least[child]
        place = child
    least[place] = time
    return count

# SPDX-License-Identifier: BSD-3-Clause
"""Which processors a job might have had: schedules only say how many, and pictures show them side by side."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

SAME_TIME = 1e-6
"""Times that differ by no more than this, s, differ by rounding."""

Pieces = list[tuple[int, int]]
"""Processors, in pieces: from the first one to the one behind the last."""


def on_processors(
    starts: npt.NDArray[np.float64],
    ends: npt.NDArray[np.float64],
    widths: npt.NDArray[np.int64],
    processors: int,
) -> Iterator[tuple[int, Pieces]]:
    """Give each job of a plan processors of its own while it has them, side by side where it can be.

    Parameters
    ----------
    starts, ends : numpy.ndarray of float, shape (jobs,)
        From when to when each job has processors.
    widths : numpy.ndarray of int, shape (jobs,)
        How many.
    processors : int
        Size of the machine; a plan that takes more of them at once gets more.

    Yields
    ------
    tuple of (int, list of (int, int))
        A job, and the processors that it has, in pieces: from the first one to the one behind the last.

    Notes
    -----
    Jobs are taken by their starts, of those that start together the widest first. A job gets the first gap that it
    fits; where it fits none, the first processors that are free. Costs O(gaps) a job.

    Examples
    --------
    >>> starts, ends, widths = np.array([0.0, 0.0, 5.0]), np.array([5.0, 9.0, 9.0]), np.array([1, 1, 3])
    >>> list(on_processors(starts, ends, widths, 4))
    [(0, [(0, 1)]), (1, [(1, 2)]), (2, [(0, 1), (2, 4)])]
    """
    gaps = _Gaps(max(processors, int(widths.sum())))
    running: list[tuple[float, int, Pieces]] = []
    from_when, until, wide = starts.tolist(), ends.tolist(), widths.tolist()
    for job in np.lexsort((-widths, starts)).tolist():
        while running and running[0][0] <= from_when[job] + SAME_TIME:
            gaps.give_back(heapq.heappop(running)[2])
        pieces = gaps.take(wide[job], processors)
        heapq.heappush(running, (until[job], job, pieces))
        yield job, pieces


class _Gaps:
    """The processors that are free, as gaps in rising order that do not touch: where each begins and ends."""

    def __init__(self, processors: int) -> None:
        self._begin, self._end = [0], [processors]

    def take(self, width: int, processors: int) -> Pieces:
        """Return the first gap below ``processors`` that is wide enough, else as many as are needed from below."""
        for place, (begin, end) in enumerate(zip(self._begin, self._end, strict=True)):
            if end - begin >= width:
                if begin + width <= processors:
                    return [self._cut(place, width)] if width > 0 else []
                break  # those behind lie higher still
        pieces = []
        while width > 0:
            pieces.append(self._cut(0, min(width, self._end[0] - self._begin[0])))
            width -= pieces[-1][1] - pieces[-1][0]
        return pieces

    def _cut(self, place: int, width: int) -> tuple[int, int]:
        """Take the first processors of a gap."""
        begin = self._begin[place]
        if begin + width == self._end[place]:
            del self._begin[place], self._end[place]
        else:
            self._begin[place] += width
        return begin, begin + width

    def give_back(self, pieces: Pieces) -> None:
        """Let processors be free again, and join them with the gaps that they touch."""
        for begin, end in pieces:
            place = bisect_left(self._begin, begin)
            touches_below = place > 0 and self._end[place - 1] == begin
            touches_above = place < len(self._begin) and self._begin[place] == end
            if touches_below and touches_above:
                self._end[place - 1] = self._end[place]
                del self._begin[place], self._end[place]
            elif touches_below:
                self._end[place - 1] = end
            elif touches_above:
                self._begin[place] = begin
            else:
                self._begin.insert(place, begin)
                self._end.insert(place, end)

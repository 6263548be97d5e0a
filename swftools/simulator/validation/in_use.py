# SPDX-License-Identifier: BSD-3-Clause
"""How many processors are in use, from one start or end of a run to the next: what capacity is checked by.

Nothing here is shared with the engine.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray, IntArray, ShortArray, kernel


def most_in_use(start: FloatArray, end: FloatArray, processors: IntArray) -> int:
    """Return the most processors that are in use at any instant, at least 0; of runs as in ``processors_in_use``.

    Examples
    --------
    >>> most_in_use(np.array([0.0, 5.0]), np.array([5.0, 7.0]), np.array([2, 3]))
    3
    """
    return _most_in_use(start, end, processors, in_order(start), in_order(end))


def processors_in_use(start: FloatArray, end: FloatArray, processors: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the times of all starts and ends, and the processors in use from each until the next.

    Ends come before starts at one instant; runs that end no later than they start take nothing.

    Examples
    --------
    >>> times, used = processors_in_use(np.array([0.0, 5.0]), np.array([5.0, 7.0]), np.array([2, 3]))
    >>> times.tolist(), used.tolist()
    ([0.0, 5.0, 7.0], [2, 3, 0])
    """
    times, places = np.unique(np.concatenate([start, end]), return_inverse=True)
    taken = np.where(end > start, processors, 0)
    change = np.zeros(len(times), np.int64)
    np.add.at(change, places[: len(start)], taken)
    np.subtract.at(change, places[len(start) :], taken)
    return times, np.cumsum(change)


def in_order(values: FloatArray) -> ShortArray:
    """Return places by rising value; starts of runs mostly rise."""
    if (values[1:] >= values[:-1]).all():
        return np.arange(len(values), dtype=np.int32)
    return np.argsort(values, kind="stable").astype(np.int32)


@kernel(allocates=False)
def _most_in_use(
    start: FloatArray, end: FloatArray, processors: IntArray, by_start: ShortArray, by_end: ShortArray
) -> int:
    """Return the most processors in use at any instant; no run ends before it starts."""
    ended = used = most = 0
    for i in range(len(by_start)):
        run = by_start[i]
        if end[run] > start[run]:
            used += processors[run]
        now = start[run]
        if i + 1 < len(by_start) and start[by_start[i + 1]] == now:
            continue
        while ended < len(by_end) and end[by_end[ended]] <= now:
            if end[by_end[ended]] > start[by_end[ended]]:
                used -= processors[by_end[ended]]
            ended += 1
        most = max(most, used)
    return most

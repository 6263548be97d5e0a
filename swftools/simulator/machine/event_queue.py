# SPDX-License-Identifier: BSD-3-Clause
"""A binary heap of what is to happen, ordered by time and then by sequence: the order is total."""

from __future__ import annotations

from swftools.kernel import FloatArray, IntArray, ShortArray, kernel


@kernel(allocates=False)
def push(times: FloatArray, events: IntArray | ShortArray, count: int, time: float, event: int) -> None:
    """Add an event to a heap of ``count`` events; the caller guarantees the room."""
    place = count
    while place > 0:
        parent = (place - 1) >> 1
        if times[parent] < time or (times[parent] == time and events[parent] <= event):
            break
        times[place], events[place] = times[parent], events[parent]
        place = parent
    times[place], events[place] = time, event


@kernel(allocates=False)
def pop(times: FloatArray, events: IntArray | ShortArray, count: int) -> int:
    """Take the first event, of equal times the lowest, out of a heap of ``count``; the caller keeps the count."""
    first = events[0]
    count -= 1
    time, event = times[count], events[count]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        right = child + 1
        if right < count and (
            times[right] < times[child] or (times[right] == times[child] and events[right] < events[child])
        ):
            child = right
        if time < times[child] or (time == times[child] and event < events[child]):
            break
        times[place], events[place] = times[child], events[child]
        place = child
    times[place], events[place] = time, event
    return first

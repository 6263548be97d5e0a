"""Free processors over future time, as steps: what conservative backfilling plans on.

A profile is two arrays and a count: ``levels[i]`` processors are free from ``times[i]`` until ``times[i + 1]``, the
last without end. The first step begins no later than now.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel


@kernel(allocates=False)
def clear(times, levels, now, processors):  # type: ignore[no-untyped-def]
    """Make a profile of one step; return the number of steps."""
    times[0], levels[0] = now, processors
    return 1


@kernel(allocates=False)
def forget_past(times, levels, count, now):  # type: ignore[no-untyped-def]
    """Drop the steps that are over; return the number of steps."""
    past = 0
    while past + 1 < count and times[past + 1] <= now:
        past += 1
    if past > 0:
        for i in range(past, count):
            times[i - past], levels[i - past] = times[i], levels[i]
    times[0] = now
    return count - past


@kernel(allocates=False)
def add(times, levels, count, begin, end, processors):  # type: ignore[no-untyped-def]
    """Add processors (negative: take them) from ``begin`` to ``end``; return the number of steps.

    The caller guarantees times[0] <= begin, and room for two more steps.
    """
    if not begin < end:
        return count
    count = _split(times, levels, count, begin)
    if end < np.inf:
        count = _split(times, levels, count, end)
    i = _step_at(times, count, begin)
    first = i
    while i < count and times[i] < end:
        levels[i] += processors
        i += 1
    # Steps that no longer differ from the one before are joined, at the two ends only: nowhere else can they be new.
    if i < count and levels[i] == levels[i - 1]:
        count = _drop(times, levels, count, i)
    if first > 0 and levels[first] == levels[first - 1]:
        count = _drop(times, levels, count, first)
    return count


@kernel(allocates=False)
def earliest(times, levels, count, processors, duration):  # type: ignore[no-untyped-def]
    """Return the earliest time from which so many processors are free for a duration."""
    i = 0
    while True:
        while levels[i] < processors:
            i += 1
        begin = times[i]
        j = i + 1
        while j < count and times[j] < begin + duration:
            if levels[j] < processors:
                break
            j += 1
        if j == count or times[j] >= begin + duration:
            return begin
        i = j


@kernel(allocates=False)
def least(times, levels, count, end):  # type: ignore[no-untyped-def]
    """Return how many processors are free all the time from the first step until ``end``, which is after it."""
    fewest = levels[0]
    i = 1
    while i < count and times[i] < end:
        fewest = min(fewest, levels[i])
        i += 1
    return fewest


@kernel(allocates=False)
def _step_at(times, count, time):  # type: ignore[no-untyped-def]
    """Return the last step that begins no later than a time."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) >> 1
        if times[middle] <= time:
            low = middle
        else:
            high = middle
    return low


@kernel(allocates=False)
def _split(times, levels, count, time):  # type: ignore[no-untyped-def]
    """Let a step begin at a time; return the number of steps."""
    i = _step_at(times, count, time)
    if times[i] == time:
        return count
    for k in range(count, i + 1, -1):
        times[k], levels[k] = times[k - 1], levels[k - 1]
    times[i + 1], levels[i + 1] = time, levels[i]
    return count + 1


@kernel(allocates=False)
def _drop(times, levels, count, i):  # type: ignore[no-untyped-def]
    """Remove the beginning of a step; return the number of steps."""
    for k in range(i, count - 1):
        times[k], levels[k] = times[k + 1], levels[k + 1]
    return count - 1

# SPDX-License-Identifier: BSD-3-Clause
"""Free processors over future time, as steps: what reservations are planned on.

From the beginning of a step until that of the next so many processors are free; the last step has no end, and the first
begins no later than now. Steps stand in blocks of at most ``BLOCK``, and of each block the least and the most that is
free is known: a search leaves out what is too full to begin in, and what is free enough to go on in, and a change moves
the steps of one block only. Where there are many blocks it also leaves out those in which nothing is free for long
enough, which is found out when it is first asked for. With a hundred thousand steps both take microseconds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.instants import instant
from swftools.simulator.memory_transfer import check_sound

BLOCK = 64
"""Steps of a block at most. Two neighbours have more than half as many together, or they would be one."""

FEW = 8
"""So many blocks are searched step by step: to find out how long something is free in each would take longer."""

STEP_BY_STEP = -1
"""Stands for a power of two where blocks are few."""

CLASSES = 24
"""Of each block is kept how long 2 ** k processors are free at most, for each k below."""

ROUNDING = 1.0
"""What a time is longer than, s, by so much it is for certain, however the times of steps were rounded."""

BLOCKS, USED, SPARES = range(3)
"""Places in ``Profile.counts``: blocks, places for blocks that were ever used, and how many of them were given back."""


class Profile(NamedTuple):
    """Steps, in blocks of up to ``BLOCK`` places of ``times`` (s) and of ``levels``; the rest is of blocks.

    In order of time, of each block: when it begins, the place of its first step, how many steps it has, the least and
    the most processors that are free in it, and what is to be added to its levels. ``spare`` has the places of blocks
    that were given back. In order of the blocks' places: ``longest`` are ``CLASSES`` numbers of each, the longest time
    (s), from its first step until the last one begins, in which 2 ** k processors are free, or more than that; it is
    written where bit k of ``known`` is set.
    """

    times: FloatArray
    levels: IntArray
    begins: FloatArray
    first: IntArray
    size: IntArray
    low: IntArray
    high: IntArray
    offset: IntArray
    spare: IntArray
    known: IntArray
    longest: FloatArray
    counts: IntArray


def empty_profile(jobs: int) -> Profile:
    """Return a profile with room for the reservations of so many jobs; the first is to ``clear`` it.

    It is zeros, so the system hands the memory out when it is used: as reservations come to be.
    """
    blocks = 4 * (2 * jobs + 4) // BLOCK + 3
    steps = blocks * BLOCK
    whole = [np.zeros(blocks, np.int64) for _ in range(7)]
    longest, counts = np.zeros(blocks * CLASSES), np.zeros(SPARES + 1, np.int64)
    return Profile._make([np.zeros(steps), np.zeros(steps, np.int64), np.zeros(blocks), *whole, longest, counts])


@kernel(allocates=False)
def clear(profile: Profile, now: float, processors: int) -> None:
    """Make a profile of one step."""
    profile.times[0], profile.levels[0], profile.begins[0] = now, processors, now
    profile.first[0], profile.size[0], profile.offset[0], profile.known[profile.first[0] // BLOCK] = 0, 1, 0, 0
    profile.low[0] = profile.high[0] = processors
    profile.counts[BLOCKS], profile.counts[USED], profile.counts[SPARES] = 1, 1, 0


@kernel(allocates=False)
def copy_profile(source: Profile, target: Profile) -> None:
    """Make a profile, which has room enough, equal to another."""
    count = source.counts[BLOCKS]
    for block in range(count):
        old, new = source.first[block], block * BLOCK
        for i in range(source.size[block]):
            target.times[new + i], target.levels[new + i] = source.times[old + i], source.levels[old + i]
        target.begins[block], target.first[block], target.size[block] = source.begins[block], new, source.size[block]
        target.low[block], target.high[block] = source.low[block], source.high[block]
        target.offset[block], target.known[block] = source.offset[block], 0
    target.counts[BLOCKS], target.counts[USED], target.counts[SPARES] = count, count, 0


def carry_profile(source: Profile, target: Profile) -> None:
    """Make a profile that was not used yet, and has room for what is reserved, equal to another."""
    count = int(source.counts[BLOCKS])
    if count == 0:
        return
    size, first = source.size[:count], source.first[:count]
    ends = np.cumsum(size)
    at = np.arange(ends[-1]) + np.repeat(first - (ends - size), size)
    times, levels = source.times[at], source.levels[at] + np.repeat(source.offset[:count], size)
    steps, each = len(times), 3 * BLOCK // 4
    blocks = -(-steps // each)
    begins = np.arange(blocks) * each
    turn = np.arange(steps)
    place = turn + turn // each * (BLOCK - each)
    target.times[place], target.levels[place] = times, levels
    target.begins[:blocks], target.first[:blocks] = times[begins], np.arange(blocks) * BLOCK
    target.size[:blocks] = np.minimum(steps - begins, each)
    target.low[:blocks], target.high[:blocks] = np.minimum.reduceat(levels, begins), np.maximum.reduceat(levels, begins)
    target.offset[:blocks] = target.known[:blocks] = 0
    target.counts[BLOCKS], target.counts[USED], target.counts[SPARES] = blocks, blocks, 0


def check_profile(profile: Profile) -> None:
    """Refuse a profile of a saved state whose blocks are not in its room, by ValueError."""
    count = int(profile.counts[BLOCKS])
    check_sound(0 <= count <= len(profile.first), "a profile of more blocks than it has room for")
    first, size = profile.first[:count], profile.size[:count]
    check_sound(((size >= 1) & (size <= BLOCK)).all(), "a block of no length")
    check_sound(((first >= 0) & (first + size <= len(profile.times))).all(), "a block outside its room")


def steps_of(profile: Profile) -> tuple[FloatArray, IntArray]:
    """Return the times of the steps of a profile (s), rising, and how many processors are free from each on."""
    blocks = range(int(profile.counts[BLOCKS]))
    parts = [slice(profile.first[i], profile.first[i] + profile.size[i]) for i in blocks]
    times = np.concatenate([profile.times[part] for part in parts])
    levels = np.concatenate([profile.levels[part] + profile.offset[i] for i, part in enumerate(parts)])
    check_sound((times[1:] > times[:-1]).all(), "steps that are not in order")
    return times, levels


@kernel(allocates=False)
def forget_past(profile: Profile, now: float) -> None:
    """Drop the steps that are over by now."""
    times, levels, begins = profile.times, profile.levels, profile.begins
    while profile.counts[BLOCKS] > 1 and begins[1] <= now:
        _remove_block(profile, 0)
    first, size = profile.first[0], profile.size[0]
    past = 0
    while past + 1 < size and times[first + past + 1] <= now:
        past += 1
    if past > 0:
        for i in range(first, first + size - past):
            times[i], levels[i] = times[i + past], levels[i + past]
        profile.size[0] = size - past
        _bound(profile, 0)
        _unite(profile, 0)
    times[first] = begins[0] = now


@kernel(allocates=False)
def add(profile: Profile, begin: float, end: float, processors: int) -> None:
    """Add processors, which are not 0 (negative: take them), from ``begin`` to ``end``.

    The caller guarantees that the first step begins no later than ``begin``, and room for two more steps.
    """
    if not begin < end:
        return
    times, levels, begins = profile.times, profile.levels, profile.begins
    # Each kernel is called in one place, in a loop of two: what is compiled doubles with each call.
    block = i = 0
    for time in (end, begin):
        if time < np.inf:
            block = _block_at(profile, time)
            i = _step_at(profile, block, time)
            if times[i] < time:
                block, i = _insert(profile, block, i + 1, time)
    while block < profile.counts[BLOCKS] and begins[block] < end:
        next_begin = begins[block + 1] if block + 1 < profile.counts[BLOCKS] else np.inf
        profile.known[profile.first[block] // BLOCK] = 0
        if i == profile.first[block] and next_begin <= end:
            profile.offset[block] += processors
            profile.low[block] += processors
            profile.high[block] += processors
        else:
            behind = profile.first[block] + profile.size[block]
            while i < behind and times[i] < end:
                levels[i] += processors
                i += 1
            _bound(profile, block)
        block += 1
        if block < profile.counts[BLOCKS]:
            i = profile.first[block]
    # A step that no longer differs from the one before is dropped; only those at the two ends can have become such.
    for time in (end, begin):
        if time < np.inf:
            block = _block_at(profile, time)
            i = _step_at(profile, block, time)
            is_first = block == 0 and i == profile.first[0]
            if not is_first and _level_before(profile, block, i) == levels[i] + profile.offset[block]:
                _drop(profile, block, i)


@kernel(allocates=False)
def free_from(profile: Profile, time: float, processors: int) -> None:
    """Add processors from a time on without end: as ``add``, and at once where no step begins later."""
    last = profile.counts[BLOCKS] - 1
    i = profile.first[last] + profile.size[last] - 1
    if not profile.times[i] < time or profile.size[last] == BLOCK:
        add(profile, time, np.inf, processors)
        return
    profile.times[i + 1], profile.levels[i + 1] = time, profile.levels[i] + processors
    profile.size[last] += 1
    profile.known[profile.first[last] // BLOCK] = 0
    level = profile.levels[i + 1] + profile.offset[last]
    profile.low[last], profile.high[last] = min(profile.low[last], level), max(profile.high[last], level)


@kernel(allocates=False)
def earliest(profile: Profile, processors: int, duration: float, until: float) -> float:
    """Return the earliest time from which so many processors are free for a duration, or else until ``until``.

    That is ``until`` itself if there is none before it. So it is asked for a job whether it could begin before its
    reservation, which begins at ``until``: from there on it holds its processors itself.
    """
    times, levels = profile.times, profile.levels
    begin = stop = until  # ``begin`` is ``until`` as long as too few are free
    power = _power_below(processors) if profile.counts[BLOCKS] > FEW else STEP_BY_STEP
    for block in range(profile.counts[BLOCKS]):
        if profile.begins[block] >= stop:
            break
        if profile.low[block] >= processors if begin < until else profile.high[block] < processors:
            continue
        i, needed = profile.first[block], processors - profile.offset[block]
        behind = i + profile.size[block]
        while i < behind:
            if begin < until:
                while i < behind and times[i] < stop and levels[i] >= needed:
                    i += 1
                if i == behind:
                    break
                if times[i] >= stop:
                    return begin
                begin = stop = until
            if power != STEP_BY_STEP and times[behind - 1] < until and _is_short(profile, block, power, duration):
                # Whatever begins here goes on behind the last step, or is over too early.
                last = behind
                while last > i and levels[last - 1] >= needed:
                    last -= 1
                i = last
            while i < behind and levels[i] < needed:
                i += 1
            if i < behind:
                if times[i] >= until:
                    return until
                begin = times[i]
                stop = min(instant(begin + duration), until)
                i += 1
    return begin


@kernel(allocates=False)
def _power_below(processors: int) -> int:
    """Return the greatest k of those that are kept for which 2 ** k processors are no more than so many."""
    power = 0
    while power + 1 < CLASSES and 2 << power <= processors:
        power += 1
    return power


@kernel(allocates=False)
def _is_short(profile: Profile, block: int, power: int, duration: float) -> bool:
    """Whether 2 ** power processors are nowhere in a block, until its last step begins, free for a duration."""
    times, levels, first = profile.times, profile.levels, profile.first[block]
    place = first // BLOCK * CLASSES + power
    if profile.known[first // BLOCK] >> power & 1 == 0:
        needed = (1 << power) - profile.offset[block]
        last = first + profile.size[block] - 1
        longest, begin = 0.0, np.inf  # ``begin`` is infinite as long as too few are free
        for i in range(first, last):
            if levels[i] < needed:
                longest, begin = max(longest, times[i] - begin), np.inf
            elif begin == np.inf:
                begin = times[i]
        profile.longest[place] = max(longest, times[last] - begin)
        profile.known[first // BLOCK] |= 1 << power
    return profile.longest[place] + ROUNDING < duration


@kernel(allocates=False)
def least(profile: Profile, end: float) -> int:
    """Return how many processors are free all the time from the first step until ``end``, which is after it."""
    fewest = profile.high[0]
    for block in range(profile.counts[BLOCKS]):
        if profile.begins[block] >= end:
            break
        if profile.low[block] < fewest:
            i = profile.first[block]
            behind = i + profile.size[block]
            while i < behind and profile.times[i] < end:
                fewest = min(fewest, profile.levels[i] + profile.offset[block])
                i += 1
    return fewest


@kernel(allocates=False)
def most(profile: Profile, end: float) -> int:
    """Return how many processors are free at most at a time before ``end``, which is after the first step begins."""
    greatest = profile.low[0]
    for block in range(profile.counts[BLOCKS]):
        if profile.begins[block] >= end:
            break
        if profile.high[block] > greatest:
            i = profile.first[block]
            behind = i + profile.size[block]
            while i < behind and profile.times[i] < end:
                greatest = max(greatest, profile.levels[i] + profile.offset[block])
                i += 1
    return greatest


@kernel(allocates=False)
def free_at(profile: Profile, time: float) -> int:
    """Return how many processors are free at a time, which is not past."""
    block = _block_at(profile, time)
    return profile.levels[_step_at(profile, block, time)] + profile.offset[block]


@kernel(allocates=False)
def falls_below(profile: Profile, processors: int) -> float:
    """Return the first time at which fewer processors are free, infinity if there is none."""
    for block in range(profile.counts[BLOCKS]):
        if profile.low[block] < processors:
            first, needed = profile.first[block], processors - profile.offset[block]
            for i in range(first, first + profile.size[block]):
                if profile.levels[i] < needed:
                    return profile.times[i]
    return np.inf


@kernel(allocates=False)
def _block_at(profile: Profile, time: float) -> int:
    """Return the last block that begins no later than a time."""
    return _last_until(profile.begins, 0, profile.counts[BLOCKS], time)


@kernel(allocates=False)
def _step_at(profile: Profile, block: int, time: float) -> int:
    """Return the place of the last step of a block that begins no later than a time."""
    return _last_until(profile.times, profile.first[block], profile.size[block], time)


@kernel(allocates=False)
def _last_until(times: FloatArray, place: int, count: int, time: float) -> int:
    """Return the place of the last of so many rising times, from a place on, that is no later than a time."""
    while count > 1:  # as often whatever the answer, so that a processor need not guess
        half = count >> 1
        place = place + half if times[place + half] <= time else place
        count -= half
    return place


@kernel(allocates=False)
def _level_before(profile: Profile, block: int, i: int) -> int:
    """Return how many processors are free in the step before one that is not the first of all."""
    if i > profile.first[block]:
        return profile.levels[i - 1] + profile.offset[block]
    last = profile.first[block - 1] + profile.size[block - 1] - 1
    return profile.levels[last] + profile.offset[block - 1]


@kernel(allocates=False)
def _insert(profile: Profile, block: int, i: int, time: float) -> tuple[int, int]:
    """Let a step begin at a time, at a place in a block that is not its first; return its block and place."""
    if profile.size[block] == BLOCK:
        i -= profile.first[block]
        _halve(profile, block)
        if i > BLOCK // 2:
            block += 1
            i -= BLOCK // 2
        i += profile.first[block]
    times, levels = profile.times, profile.levels
    for k in range(profile.first[block] + profile.size[block], i, -1):
        times[k], levels[k] = times[k - 1], levels[k - 1]
    times[i], levels[i] = time, levels[i - 1]
    profile.size[block] += 1
    profile.known[profile.first[block] // BLOCK] = 0
    return block, i


@kernel(allocates=False)
def _drop(profile: Profile, block: int, i: int) -> None:
    """Remove a step, which is as high as the one before it."""
    times, levels, first = profile.times, profile.levels, profile.first[block]
    profile.size[block] -= 1
    profile.known[profile.first[block] // BLOCK] = 0
    if profile.size[block] == 0:
        _remove_block(profile, block)
        return
    for k in range(i, first + profile.size[block]):
        times[k], levels[k] = times[k + 1], levels[k + 1]
    profile.begins[block] = times[first]
    if i == first:
        _bound(profile, block)  # the one before it is of another block, so this one may lack its level now
    for other in range(block, max(block, 1) - 2, -1):
        _unite(profile, other)


@kernel(allocates=False)
def _bound(profile: Profile, block: int) -> None:
    """Find the least and the most that is free in a block."""
    levels, first = profile.levels, profile.first[block]
    low = high = levels[first]
    for i in range(first + 1, first + profile.size[block]):
        low, high = min(low, levels[i]), max(high, levels[i])
    profile.low[block], profile.high[block] = low + profile.offset[block], high + profile.offset[block]
    profile.known[profile.first[block] // BLOCK] = 0


@kernel(allocates=False)
def _halve(profile: Profile, block: int) -> None:
    """Make two blocks of a full one."""
    counts, half = profile.counts, BLOCK // 2
    for other in range(counts[BLOCKS], block + 1, -1):
        _move_block(profile, other - 1, other)
    counts[BLOCKS] += 1
    if counts[SPARES] > 0:
        counts[SPARES] -= 1
        new = profile.spare[counts[SPARES]]
    else:
        new = counts[USED] * BLOCK
        counts[USED] += 1
    old = profile.first[block]
    for i in range(half):
        profile.times[new + i], profile.levels[new + i] = profile.times[old + half + i], profile.levels[old + half + i]
    profile.begins[block + 1], profile.first[block + 1] = profile.times[new], new
    profile.offset[block + 1] = profile.offset[block]
    profile.size[block] = profile.size[block + 1] = half
    for other in range(block, block + 2):
        _bound(profile, other)


@kernel(allocates=False)
def _unite(profile: Profile, block: int) -> None:
    """Make one block of a block and the next, if they have few steps together."""
    if block + 1 >= profile.counts[BLOCKS] or profile.size[block] + profile.size[block + 1] > BLOCK // 2:
        return
    new, old = profile.first[block] + profile.size[block], profile.first[block + 1]
    difference = profile.offset[block + 1] - profile.offset[block]
    for i in range(profile.size[block + 1]):
        profile.times[new + i], profile.levels[new + i] = profile.times[old + i], profile.levels[old + i] + difference
    profile.size[block] += profile.size[block + 1]
    profile.low[block] = min(profile.low[block], profile.low[block + 1])
    profile.high[block] = max(profile.high[block], profile.high[block + 1])
    profile.known[profile.first[block] // BLOCK] = 0
    _remove_block(profile, block + 1)


@kernel(allocates=False)
def _remove_block(profile: Profile, block: int) -> None:
    """Take a block away, and give its places back."""
    counts = profile.counts
    profile.spare[counts[SPARES]] = profile.first[block]
    counts[SPARES] += 1
    counts[BLOCKS] -= 1
    for other in range(block, counts[BLOCKS]):
        _move_block(profile, other + 1, other)


@kernel(allocates=False)
def _move_block(profile: Profile, block: int, other: int) -> None:
    """Write what is kept of a block in the place of another."""
    profile.begins[other], profile.first[other] = profile.begins[block], profile.first[block]
    profile.size[other], profile.offset[other] = profile.size[block], profile.offset[block]
    profile.low[other], profile.high[other] = profile.low[block], profile.high[block]

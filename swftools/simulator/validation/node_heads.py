# SPDX-License-Identifier: BSD-3-Clause
"""When the first waiting job has room on nodes, by the naive formula; nothing here is shared with the engine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray, ShortArray, kernel

CORES, MEMORY, GPUS, USERS, EXCLUSIVE, COLUMNS = range(6)
"""What is counted by node, in columns; and how many there are."""


class NodeStarts(NamedTuple):
    """Jobs in order of the queue, each with its one run; times in s.

    The nodes that a job has are ``low`` to ``high`` at ``begin[job]`` to ``begin[job + 1]``. It needs ``nodes`` of one
    of the sets of its ``place``: ``first_set[place]`` to ``first_set[place + 1]``, whose nodes stand in ``members`` at
    ``set_begin[set]`` to ``set_begin[set + 1]``. ``has`` is what each node has, by columns.
    """

    submit: FloatArray
    start: FloatArray
    end: FloatArray
    expected: FloatArray
    nodes: IntArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    is_exclusive: BoolArray
    place: IntArray
    begin: IntArray
    low: IntArray
    high: IntArray
    first_set: IntArray
    set_begin: IntArray
    members: IntArray
    has: IntArray


class Room(NamedTuple):
    """What is kept at hand: what is used, by node and column; and of the sets of a first waiting job what fits it.

    ``sets_of`` has of each node a bit for each set that it is in, ``counts`` how many nodes of each set fit.
    """

    used: IntArray
    sets_of: IntArray
    counts: IntArray


@kernel(allocates=False)
def fits_on(jobs: NodeStarts, job: int, node: int, used: IntArray) -> bool:
    """Whether a job fits on a node beside what is used of it."""
    if used[node, EXCLUSIVE] > 0 or (jobs.is_exclusive[job] and used[node, USERS] > 0):
        return False
    return (
        used[node, CORES] + jobs.cores[job] <= jobs.has[node, CORES]
        and used[node, MEMORY] + jobs.memory[job] <= jobs.has[node, MEMORY]
        and used[node, GPUS] + jobs.gpus[job] <= jobs.has[node, GPUS]
    )


@kernel(allocates=False)
def change_use(jobs: NodeStarts, job: int, sign: int, head: int, room: Room) -> None:
    """Count what a job has as used, or as used no more; keep how many nodes of its sets fit the head, if it is seen."""
    used, sets_of, counts = room.used, room.sets_of, room.counts
    exclusive = sign if jobs.is_exclusive[job] else 0
    for place in range(jobs.begin[job], jobs.begin[job + 1]):
        for node in range(jobs.low[place], jobs.high[place] + 1):
            bits = sets_of[node]
            fitted = bits != 0 and fits_on(jobs, head, node, used)
            used[node, CORES] += sign * jobs.cores[job]
            used[node, MEMORY] += sign * jobs.memory[job]
            used[node, GPUS] += sign * jobs.gpus[job]
            used[node, USERS] += sign
            used[node, EXCLUSIVE] += exclusive
            if bits != 0:
                change = int(fits_on(jobs, head, node, used)) - int(fitted)
                number = 0
                while bits != 0:
                    if bits & 1:
                        counts[number] += change
                    bits >>= 1
                    number += 1


@kernel(allocates=False)
def look_at(jobs: NodeStarts, head: int, room: Room) -> int:
    """Count how many nodes of each set fit a head now; return how many sets there are."""
    used, sets_of, counts = room.used, room.sets_of, room.counts
    first = jobs.first_set[jobs.place[head]]
    sets = jobs.first_set[jobs.place[head] + 1] - first
    for number in range(sets):
        counts[number] = 0
        for place in range(jobs.set_begin[first + number], jobs.set_begin[first + number + 1]):
            node = jobs.members[place]
            sets_of[node] |= 1 << number
            counts[number] += int(fits_on(jobs, head, node, used))
    return sets


@kernel(allocates=False)
def look_away(jobs: NodeStarts, head: int, room: Room) -> None:
    """Forget which sets a head may use."""
    first, after = jobs.first_set[jobs.place[head]], jobs.first_set[jobs.place[head] + 1]
    for place in range(jobs.set_begin[first], jobs.set_begin[after]):
        room.sets_of[jobs.members[place]] = 0


@kernel(allocates=False)
def has_room(room: Room, sets: int, nodes: int) -> bool:
    """Whether some set has enough nodes that fit."""
    enough = False
    for number in range(sets):
        enough |= room.counts[number] >= nodes
    return enough


@kernel(allocates=False)
def first_rooms(
    jobs: NodeStarts,
    heads: IntArray,
    since: FloatArray,
    by_start: ShortArray,
    by_end: ShortArray,
    tolerance: float,
    room: Room,
    latest: FloatArray,
) -> None:
    """Fill ``latest`` with the first moment, before it starts, from which on each head fits for longer than tolerated.

    No head is the first before the one that stands before it has started. Ends come before starts at one instant; runs
    that end no later than they start take nothing.
    """
    started = ended = 0
    for i in range(len(heads)):
        head, now = heads[i], since[i]
        stop = jobs.start[head]
        sets, is_seen = 0, False
        while now < stop:
            while started < len(by_start) and jobs.start[by_start[started]] <= now:
                job = by_start[started]
                started += 1
                if jobs.end[job] > jobs.start[job]:
                    change_use(jobs, job, 1, head, room)
            while ended < len(by_end) and jobs.end[by_end[ended]] <= now:
                job = by_end[ended]
                ended += 1
                if jobs.end[job] > jobs.start[job]:
                    change_use(jobs, job, -1, head, room)
            if not is_seen:
                sets, is_seen = look_at(jobs, head, room), True
            following = min(stop, jobs.start[by_start[started]])  # there is one: the head's own, at least
            if ended < len(by_end):
                following = min(following, jobs.end[by_end[ended]])
            if following - now > tolerance and has_room(room, sets, jobs.nodes[head]):
                latest[i] = now
                break
            now = following
        if is_seen:
            look_away(jobs, head, room)


@kernel(allocates=False)
def reserve(
    jobs: NodeStarts,
    heads: IntArray,
    since: FloatArray,
    known: BoolArray,
    by_start: ShortArray,
    running: ShortArray,
    room: Room,
    latest: FloatArray,
) -> None:
    """Fill ``latest`` with the reservation of each head at a time; times must not fall.

    It is the earliest time at which enough nodes of a set fit if the jobs that run then end as expected. ``running``
    is room for the jobs that started no later than a time and did not end before, in order of expected end. Of times
    that are not ``known`` all that can have run counts.
    """
    count = begun = 0
    for i in range(len(heads)):
        head, now = heads[i], since[i]
        kept = 0
        for k in range(count):
            if jobs.end[running[k]] >= now:
                running[kept] = running[k]
                kept += 1
        count = kept
        while begun < len(by_start) and jobs.start[by_start[begun]] <= now:
            job = by_start[begun]
            begun += 1
            if jobs.end[job] < now:
                continue
            place = count
            while place > 0 and jobs.expected[running[place - 1]] > jobs.expected[job]:
                running[place] = running[place - 1]
                place -= 1
            running[place] = job
            count += 1
        room.used[:] = 0
        for k in range(count):
            if counts_then(jobs, running[k], head, now, known[i]):
                change_use(jobs, running[k], 1, head, room)
        sets = look_at(jobs, head, room)
        latest[i] = now
        k = 0
        while not has_room(room, sets, jobs.nodes[head]):
            if k == count:
                latest[i] = np.inf
                break
            job = running[k]
            k += 1
            if counts_then(jobs, job, head, now, known[i]):
                change_use(jobs, job, -1, head, room)
                latest[i] = max(jobs.expected[job], now)
        look_away(jobs, head, room)


@kernel(allocates=False)
def counts_then(jobs: NodeStarts, job: int, head: int, now: float, known: bool) -> bool:
    """Whether a job runs before the decision: not if it has just ended, or overtakes the head just now."""
    if not known:
        return True
    if jobs.start[job] == now:
        return job < head
    return jobs.end[job] > now

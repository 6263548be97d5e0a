# SPDX-License-Identifier: BSD-3-Clause
"""When each node of a partition has room for jobs of one shape, as running jobs end at their limits; kept in order.

So the nodes that have room by some time are the first ones of a list. A list is made when it is asked for, and what has
changed since on its nodes is put in when it is asked for again.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.slurm.holding import memory_on
from swftools.simulator.slurm.node_sets import BITS, copy_set, has_node, put_node
from swftools.simulator.slurm.state import (
    BEHIND_NODES,
    BEHIND_WORD,
    CHANGES,
    FIRST_NODE,
    LOW_WORD,
    ROOMY,
    STARTS_AND_ENDS,
    UNKNOWN,
    USABLE_CORES,
    USABLE_NODES,
    WORDS,
    Dynamic,
    Given,
)
from swftools.simulator.slurm.usable import Wanted, cores_for, free_before, wanted_of

BLOCK = 32
"""Nodes of a list by which the sets of its first nodes grow that are kept."""

TRIES = 4
"""Places in which a list may stand."""

_FACTOR = 0x5851F42D


@kernel(allocates=False)
def join_nodes(given: Given, state: Dynamic, job: int) -> None:
    """Put a job into the lists of who runs on its nodes, by the ends of their limits."""
    first, end = given.first_held[job], state.limit_end[job]
    for held in range(first, first + state.held_count[job]):
        node, before = state.held_node[held], UNKNOWN
        behind = state.first_on[node]
        while behind != UNKNOWN and goes_before(state, state.held_by[behind], end, job):
            before, behind = behind, state.next_on[behind]
        state.held_by[held], state.next_on[held] = job, behind
        if before == UNKNOWN:
            state.first_on[node] = held
        else:
            state.next_on[before] = held


@kernel(allocates=False)
def goes_before(state: Dynamic, other: int, end: float, job: int) -> bool:
    """Whether a running job ends before another one, by limits, then by numbers."""
    theirs = state.limit_end[other]
    return theirs < end or (theirs == end and other < job)


@kernel(allocates=False)
def leave_nodes(given: Given, state: Dynamic, job: int) -> None:
    """Take a job out of the lists of who runs on its nodes."""
    first = given.first_held[job]
    for held in range(first, first + state.held_count[job]):
        node, before = state.held_node[held], UNKNOWN
        place = state.first_on[node]
        while place != held:
            before, place = place, state.next_on[place]
        if before == UNKNOWN:
            state.first_on[node] = state.next_on[held]
        else:
            state.next_on[before] = state.next_on[held]


@kernel(allocates=False)
def room_on(given: Given, state: Dynamic, wanted: Wanted, node: int) -> float:
    """Return when a node has room for a job, -infinity if it has now, infinity if never."""
    now, end, held = state.now, -np.inf, state.first_on[node]
    cores, memory, gpus, jobs = now.cores[node], now.memory[node], now.gpus[node], now.jobs[node]
    while cores_for(wanted, cores, memory, gpus, jobs) == 0:
        if held == UNKNOWN:
            return np.inf
        runner = state.held_by[held]
        end = state.limit_end[runner]
        cores += state.held_cores[held]
        memory += memory_on(given, runner, state.held_cores[held])
        gpus += state.held_gpus[held]
        jobs -= 1
        held = state.next_on[held]
    return end


@kernel(allocates=False)
def list_rooms(given: Given, state: Dynamic, job: int, partition: int) -> int:
    """Return which list has the nodes of a partition by when they have room for such a job, as it is now."""
    lists, shape, oldest = len(state.room_after), given.shape[job], 0
    key = (shape * len(given.tier) + partition) * _FACTOR
    for attempt in range(TRIES):
        which = ((key >> 8) + attempt) % lists
        if state.room_shape[which] == shape and state.room_in[which] == partition:
            if state.counts[STARTS_AND_ENDS] - state.room_after[which] <= CHANGES:
                put_changes(given, state, job, partition, which)
                return which
            oldest = which
            break
        if attempt == 0 or state.room_after[which] < state.room_after[oldest]:
            oldest = which
    state.room_shape[oldest], state.room_in[oldest] = shape, partition
    state.room_after[oldest] = state.counts[STARTS_AND_ENDS]
    make_list(given, state, job, partition, oldest)
    return oldest


@kernel(allocates=False)
def make_list(given: Given, state: Dynamic, job: int, partition: int, which: int) -> None:
    """Make a list anew."""
    words, first, wanted = state.counts[WORDS], which * len(given.cores), wanted_of(given, job, partition)
    behind = first
    for word in range(words):
        members, node = given.partition_bits[partition * words + word], word * BITS
        while members != 0:
            if members & 1 != 0:
                state.room_node[behind], state.room_time[behind] = node, room_on(given, state, wanted, node)
                state.room_of[first + node] = state.room_time[behind]
                behind += 1
            members >>= 1
            node += 1
    state.room_count[which], state.room_known[which] = behind - first, 0
    gap = 1
    while gap < (behind - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for start in range(first + gap, behind):
            place, node, time = start, state.room_node[start], state.room_time[start]
            while place >= first + gap and is_later(state, place - gap, time, node):
                move(state, place - gap, place)
                place -= gap
            state.room_node[place], state.room_time[place] = node, time
        gap //= 3


@kernel(allocates=False)
def is_later(state: Dynamic, place: int, time: float, node: int) -> bool:
    """Whether a place has a node that stands behind another one."""
    return state.room_time[place] > time or (state.room_time[place] == time and state.room_node[place] > node)


@kernel(allocates=False)
def move(state: Dynamic, place: int, target: int) -> None:
    """Move a node of a list."""
    state.room_node[target], state.room_time[target] = state.room_node[place], state.room_time[place]


@kernel(allocates=False)
def put_changes(given: Given, state: Dynamic, job: int, partition: int, which: int) -> None:
    """Bring a list up to date: nodes on which jobs have begun or stopped go to where they belong now."""
    words, changes, wanted = state.counts[WORDS], state.counts[STARTS_AND_ENDS], wanted_of(given, job, partition)
    for word in range(words if state.room_after[which] < changes else 0):
        members, node = 0, word * BITS
        for change in range(state.room_after[which], changes):
            members |= state.changed_sets[change % CHANGES * words + word]
        members &= given.partition_bits[partition * words + word]
        while members != 0:
            if members & 1 != 0:
                put_anew(state, which, which * len(given.cores), node, room_on(given, state, wanted, node))
            members >>= 1
            node += 1
    state.room_after[which] = changes


@kernel(allocates=False)
def put_anew(state: Dynamic, which: int, first: int, node: int, time: float) -> None:
    """Put a node of a list to where it belongs by another time."""
    before, low, high = state.room_of[first + node], first, first + state.room_count[which]
    if time == before:
        return
    behind = high
    while low < high:
        middle = (low + high) // 2
        if is_later(state, middle, before, node):
            high = middle
        else:
            low = middle + 1
    place = low - 1
    while place + 1 < behind and not is_later(state, place + 1, time, node):
        move(state, place + 1, place)
        place += 1
    while place > first and is_later(state, place - 1, time, node):
        move(state, place - 1, place)
        place -= 1
    state.room_node[place], state.room_time[place], state.room_of[first + node] = node, time, time
    state.room_known[which] = min(state.room_known[which], (min(place, low - 1) - first) // BLOCK)


@kernel(allocates=False)
def note_roomy(given: Given, state: Dynamic, which: int, time: float) -> None:
    """Put the nodes of a list that have room by a time into ``state.roomy``, which has those of an earlier time.

    The first nodes of a list are kept as sets, of one block, two and so on, once they have been put there.
    """
    first, place, known, words = (
        which * len(given.cores),
        state.counts[ROOMY],
        state.room_known[which],
        state.counts[WORDS],
    )
    at = which * (len(given.cores) // BLOCK + 1) * words
    blocks = known
    while blocks * BLOCK > place and state.room_time[first + blocks * BLOCK - 1] > time:
        blocks -= 1
    if blocks * BLOCK > place:
        copy_set(state.room_sets, at + (blocks - 1) * words, state.roomy, 0, words)
        place = blocks * BLOCK
    while place < state.room_count[which] and state.room_time[first + place] <= time:
        put_node(state.roomy, 0, state.room_node[first + place])
        place += 1
        if place == (known + 1) * BLOCK:
            copy_set(state.roomy, 0, state.room_sets, at + known * words, words)
            known += 1
    state.counts[ROOMY], state.room_known[which] = place, known


@kernel(allocates=False)
def time_of_room(given: Given, state: Dynamic, job: int, which: int) -> float:
    """Return from when on as many available nodes have room as a job needs, by a list; infinity if never.

    These nodes are then in ``state.chosen``, the first ones of the list.
    """
    first, found = which * len(given.cores), 0
    for place in range(first, first + state.room_count[which]):
        if has_node(state.available, 0, state.room_node[place]):
            state.chosen[found] = state.room_node[place]
            found += 1
            if found >= given.min_nodes[job]:
                return state.room_time[place]
    return np.inf


@kernel(allocates=False)
def look_at_roomy(given: Given, state: Dynamic, job: int, wanted: Wanted, which: int, until: float, now: float) -> None:
    """Look at the chosen nodes that have room before a time, when who ends before it has left.

    They are the available ones that do, so nothing of the others can be used.
    """
    counts, free_cores = state.counts, state.free_cores
    for node in range(counts[LOW_WORD] * BITS, min(counts[BEHIND_WORD] * BITS, len(free_cores))):
        free_cores[node] = 0
    nodes = cores = behind = 0
    low, first = len(free_cores), which * len(given.cores)
    for i in range(given.min_nodes[job] - 1):
        node = state.chosen[i]
        if state.room_of[first + node] < until:
            free_cores[node] = free_before(given, state, wanted, node, until, False, now)
            low, behind = min(low, node), max(behind, node + 1)
            nodes += 1
            cores += free_cores[node]
    counts[FIRST_NODE], counts[BEHIND_NODES] = low, behind
    counts[USABLE_NODES], counts[USABLE_CORES] = nodes, cores

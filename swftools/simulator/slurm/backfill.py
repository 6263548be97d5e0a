# SPDX-License-Identifier: BSD-3-Clause
"""Backfill: jobs in order get a place in a plan of whole nodes; who can start now without touching it does.

The plan is a list of records: from when to when, and which nodes nobody has reserved then. Running jobs are not in it:
when a job could start is found by letting running jobs end, at their limits, one after the other.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.slurm.choosing import choose_nodes
from swftools.simulator.slurm.limits import NONE, why_not_after, why_not_before
from swftools.simulator.slurm.starting import begin_on_chosen, set_reason
from swftools.simulator.slurm.state import (
    BF_MIN_AGE,
    BF_MIN_PRIORITY,
    BF_PER_ARRAY,
    BF_PER_ASSOCIATION,
    BF_PER_PARTITION,
    BF_PER_USER,
    BF_RESOLUTION,
    BF_STARTS,
    BF_TESTS,
    BF_WINDOW,
    ENTRIES,
    LEFT_OUT,
    NO_ARRAYS,
    NO_PLANS,
    RECORDS,
    UNKNOWN,
    VERSION,
    WORDS,
    Dynamic,
    Given,
    copy_set,
    count_nodes,
)
from swftools.simulator.slurm.totals import put_totals
from swftools.simulator.slurm.will_run import will_run

MOST_TRIES = 10_000
"""Of one job in one cycle, so that a cycle always ends."""

FIRST_WITH_SUBSETS = 18.0
"""The version from which on a later try is skipped where no other nodes are free then."""

STARTED, PLANNED, NOWHERE = range(3)
"""What becomes of a job in a cycle."""


@kernel(allocates=False)
def run_backfill(given: Given, state: Dynamic, machine: Machine) -> None:
    """Run a cycle of backfill."""
    number, words, now = given.number, state.counts[WORDS], np.floor(machine.clock[NOW])
    resolution, out = number[BF_RESOLUTION], int(number[LEFT_OUT])
    state.begin[0] = np.floor(now / resolution) * resolution
    state.end[0] = np.floor((now + number[BF_WINDOW]) / resolution) * resolution
    state.next[0], state.counts[RECORDS] = 0, 1
    copy_set(state.up, 0, state.free, 0, words)
    for partition in range(len(state.tested)):
        state.tested[partition] = 0
    for user in range(len(state.tested_user)):
        state.tested_user[user] = 0
    for association in range(len(state.tested_association)):
        state.tested_association[association] = 0
    tests = starts = tasks = 0
    refused = refused_in = planned_array = UNKNOWN
    for place in range(state.counts[ENTRIES]):
        if tests >= number[BF_TESTS]:
            break
        job, partition = state.entry_job[place], state.entry_partition[place]
        if state.is_on[job] != 0 or why_not_before(given, state, job, partition) != NONE:
            continue
        array = given.array[job] if out != NO_ARRAYS else UNKNOWN
        if array != UNKNOWN:
            if array == refused and partition == refused_in:
                continue
            if array != planned_array:
                planned_array, tasks = array, 0
            elif tasks >= number[BF_PER_ARRAY]:
                continue
            refused, refused_in = array, partition  # unless it starts, or is planned
        if exceeds_counts(given, state, job, partition):
            continue
        only_now = (
            state.entry_priority[place] < number[BF_MIN_PRIORITY] or now - state.eligible[job] < number[BF_MIN_AGE]
        )
        became, tested = look_at(given, state, machine, job, partition, now, only_now)
        tests += tested
        if became != NOWHERE:
            refused = UNKNOWN
        if became == PLANNED:
            tasks += 1
        if became == STARTED:
            starts += 1
            if number[BF_STARTS] > 0.0 and starts >= number[BF_STARTS]:
                break
        if state.counts[RECORDS] + 2 >= len(state.begin):
            break


@kernel(allocates=False)
def exceeds_counts(given: Given, state: Dynamic, job: int, partition: int) -> bool:
    """Whether enough jobs of the partition, association or user were tested in this cycle; else count this one."""
    number, user, association = given.number, given.user[job], given.association[job]
    if number[BF_PER_PARTITION] > 0.0 and state.tested[partition] >= number[BF_PER_PARTITION]:
        return True
    by_association = number[BF_PER_ASSOCIATION] > 0.0 and association != UNKNOWN
    if by_association and state.tested_association[association] >= number[BF_PER_ASSOCIATION]:
        return True
    if number[BF_PER_USER] > 0.0 and state.tested_user[user] >= number[BF_PER_USER]:
        return True
    state.tested[partition] += 1
    state.tested_user[user] += 1
    if association != UNKNOWN:
        state.tested_association[association] += 1
    return False


@kernel(allocates=False)
def look_at(
    given: Given, state: Dynamic, machine: Machine, job: int, partition: int, now: float, only_now: bool
) -> tuple[int, int]:
    """Start a job, or plan it; return what became of it, and 1 if it was tested on nodes."""
    number, words, limit = given.number, state.counts[WORDS], given.limit[job]
    resolution, window, tested = number[BF_RESOLUTION], number[BF_WINDOW], 0
    later = now
    for _ in range(MOST_TRIES):
        from_then_on = later
        if from_then_on > state_end(state):
            return NOWHERE, tested
        later = find_available(given, state, job, partition, from_then_on, max(from_then_on, now) + limit)
        begin = np.inf
        if count_nodes(state.available, 0, words) >= given.min_nodes[job]:
            tested = 1
            begin = will_run(given, state, job, partition, now, from_then_on, only_now)
        if begin == np.inf:
            if later > 0.0 and not only_now:
                continue
            return NOWHERE, tested
        begin = max(begin, from_then_on)
        first = np.floor(begin / resolution) * resolution
        last = np.floor((begin + limit + resolution - 1.0) / resolution) * resolution
        if begin > now and overlaps(state, words, first, last):
            later = begin + resolution if from_then_on == begin else begin
            continue
        if begin <= now:
            count = choose_nodes(given, state, job, state.available, state.now)
            put_totals(given, state, job, partition, count, state.now)
            reason = why_not_after(given, state, job, partition)
            if reason != NONE:
                set_reason(state, machine, job, reason)
                return NOWHERE, tested
            begin_on_chosen(given, state, machine, job, partition, count, 2)
            return STARTED, tested
        if only_now:
            return NOWHERE, tested
        if later > 0.0 and begin > later:
            continue
        if begin > now + window or why_not_after(given, state, job, partition) != NONE:
            return NOWHERE, tested
        if int(number[LEFT_OUT]) != NO_PLANS:
            reserve(state, words, first, last, resolution)
        return PLANNED, tested
    return NOWHERE, tested


@kernel(allocates=False)
def state_end(state: Dynamic) -> float:
    """Return when the plan ends, s."""
    record = 0
    while state.next[record] != 0:
        record = state.next[record]
    return state.end[record]


@kernel(allocates=False)
def find_available(given: Given, state: Dynamic, job: int, partition: int, from_then_on: float, until: float) -> float:
    """Write the nodes into ``state.available`` that nobody has reserved from a time to another; return when to try next.

    0 stands for never.
    """
    words, available, before = state.counts[WORDS], state.available, state.before
    for word in range(words):
        available[word] = state.up[word] & given.partition_bits[partition * words + word]
        if given.nodes_allowed[job] != UNKNOWN:
            available[word] &= given.set_bits[given.nodes_allowed[job] * words + word]
        before[word] = available[word]
    later, record = 0.0, 0
    while True:
        behind = state.next[record]
        if state.end[record] > from_then_on and behind != 0 and later == 0.0:
            others = given.number[VERSION] < FIRST_WITH_SUBSETS
            for word in range(words):
                then = before[word] & state.free[behind * words + word]
                others |= then & ~(available[word] & state.free[record * words + word]) != 0
            if others:
                later = state.end[record]
        if state.end[record] > from_then_on:
            if state.begin[record] <= until:
                for word in range(words):
                    available[word] &= state.free[record * words + word]
            else:
                if later == 0.0 and behind != 0 and state.next[behind] != 0:
                    later = state.end[behind]
                break
        if behind == 0:
            break
        record = behind
    return later


@kernel(allocates=False)
def overlaps(state: Dynamic, words: int, first: float, last: float) -> bool:
    """Whether one of the picked nodes is reserved in a slot."""
    record = 0
    while True:
        if state.end[record] > first and state.begin[record] < last:
            for word in range(words):
                if state.picked[word] & ~state.free[record * words + word] != 0:
                    return True
        record = state.next[record]
        if record == 0:
            return False


@kernel(allocates=False)
def split(state: Dynamic, words: int, record: int, time: float) -> None:
    """Let a record end at a time, and another one go on from there."""
    new = state.counts[RECORDS]
    state.begin[new], state.end[new], state.end[record] = time, state.end[record], time
    state.next[new], state.next[record] = state.next[record], new
    copy_set(state.free, record * words, state.free, new * words, words)
    state.counts[RECORDS] += 1


@kernel(allocates=False)
def reserve(state: Dynamic, words: int, first: float, last: float, resolution: float) -> None:
    """Reserve the picked nodes for a slot."""
    first = max(first, state.begin[0])
    last = max(last, first + resolution)
    record, one_before, one_after, is_placed = 0, 0, UNKNOWN, False
    while True:
        if state.end[record] > first:
            split(state, words, record, first)
            is_placed = True
            break
        if state.end[record] == first:
            is_placed = True
            break
        one_before = record
        record = state.next[record]
        if record == 0:
            break
    while is_placed and state.next[record] != 0:
        record = state.next[record]
        if last < state.end[record]:
            split(state, words, record, last)
        for word in range(words):
            state.free[record * words + word] &= ~state.picked[word]
        if state.end[record] == last:
            if state.next[record] != 0:
                one_after = state.next[record]
            break
    record = one_before  # one record that is as the one before it is dropped
    while record != one_after:
        behind = state.next[record]
        if behind == 0:
            break
        same = True
        for word in range(words):
            same &= state.free[record * words + word] == state.free[behind * words + word]
        if same:
            state.end[record], state.next[record] = state.end[behind], state.next[behind]
            break
        record = behind

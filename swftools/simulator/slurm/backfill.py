# SPDX-License-Identifier: BSD-3-Clause
"""Backfill: jobs in order get a place in a plan of whole nodes; who can start now without touching it does.

The plan is a list of records: from when to when, and which nodes nobody has reserved then. Running jobs are not in it:
when a job could start is found by letting running jobs end, at their limits, one after the other.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.machine.waiting_queue import is_waiting
from swftools.simulator.slurm.absence import keep_off_reserved
from swftools.simulator.slurm.choosing import choose_nodes
from swftools.simulator.slurm.cleaning import keep_off_cleaning
from swftools.simulator.slurm.lightness import forget_light_of
from swftools.simulator.slurm.limits import (
    LACKS,
    NONE,
    TASKS,
    reaches_array_limit,
    why_not_after,
    why_not_before,
)
from swftools.simulator.slurm.merging import merge_queue, put_back
from swftools.simulator.slurm.preempting import choose_by_preempting, stop_victims
from swftools.simulator.slurm.starting import begin_on_chosen, set_reason
from swftools.simulator.slurm.state import (
    BACKFILL,
    BF_MIN_AGE,
    BF_MIN_PRIORITY,
    BF_PER_ARRAY,
    BF_PER_ASSOCIATION,
    BF_PER_PARTITION,
    BF_PER_USER,
    BF_PER_USER_PARTITION,
    BF_RESOLUTION,
    BF_STARTS,
    BF_TESTS,
    BF_WINDOW,
    CLEANS,
    ENTRIES,
    KEEPS_LIGHT,
    LEFT_OUT,
    LIMIT_STOPS,
    NO_ARRAYS,
    NO_PLANS,
    RECORDS,
    UNKNOWN,
    VERSION,
    VICTIMS,
    WORDS,
    Dynamic,
    Given,
    copy_set,
    count_nodes,
    put_node,
    rounded_down,
)
from swftools.simulator.slurm.totals import put_totals
from swftools.simulator.slurm.will_run import will_run

MOST_TRIES = 10_000
"""Of one job in one cycle, so that a cycle always ends."""

FIRST_WITH_SUBSETS = 17.12
"""The version from which on a later try is skipped where no other nodes are free then."""

AFTER_A_LIMIT = 500.0
"""s after which a job is thought to start that a limit keeps back, where such jobs stop others."""

STARTED, PLANNED, NOWHERE, KEEPS, LATER = range(5)
"""What becomes of a job in a cycle."""


@kernel(allocates=False)
def run_backfill(given: Given, state: Dynamic, machine: Machine) -> None:
    """Run a cycle of backfill."""
    number, now = given.number, np.floor(machine.clock[NOW])
    begin_cycle(given, state, now)
    partitions, has_arrays = len(given.tier), int(number[LEFT_OUT]) != NO_ARRAYS
    tests = starts = 0
    was_moved = merge_queue(given, state, machine)
    for place in range(state.counts[ENTRIES]):
        if tests >= number[BF_TESTS]:
            break
        job, partition = state.entry_job[place], state.entry_partition[place]
        if state.is_on[job] != 0 or not is_waiting(machine.queue, job):  # perhaps preempted at this very instant
            continue
        of_array = given.array[job] * partitions + partition if has_arrays and given.array[job] != UNKNOWN else UNKNOWN
        if number[LIMIT_STOPS] == 0.0:
            reason = why_not_before(given, state, job, partition)
            if reason != NONE:
                set_reason(state, machine, job, reason)
                refuse(state, of_array)
                continue
        if of_array != UNKNOWN and state.refused[of_array] != NONE:
            continue
        became = NOWHERE
        if may_be_tested(given, state, machine, job, partition):
            priority = state.entry_priority[place]
            is_young = now - np.floor(state.eligible[job]) < number[BF_MIN_AGE]
            only_now = is_young or 0.0 < number[BF_MIN_PRIORITY] > priority
            became, tested = look_at(given, state, machine, job, partition, priority, now, only_now)
            tests += tested
        if became == NOWHERE:
            refuse(state, of_array)
        elif became == STARTED:
            starts += 1
            if starts == number[BF_STARTS]:
                break
        elif of_array != UNKNOWN:
            state.planned_tasks[given.array[job]] += 1
        if state.counts[RECORDS] + 2 >= len(state.begin):
            break
    if was_moved:
        put_back(state)


@kernel(allocates=False)
def begin_cycle(given: Given, state: Dynamic, now: float) -> None:
    """Begin a plan in which nothing is reserved, and count anew."""
    resolution, words = given.number[BF_RESOLUTION], state.counts[WORDS]
    state.begin[0] = rounded_down(given, now, resolution)
    state.end[0] = rounded_down(given, now + given.number[BF_WINDOW], resolution)
    state.next[0], state.counts[RECORDS] = 0, 1
    copy_set(state.up, 0, state.free, 0, words)
    for some in (
        state.tested,
        state.tested_user,
        state.tested_user_partition,
        state.tested_association,
        state.planned_tasks,
        state.refused,
    ):
        for place in range(len(some)):
            some[place] = 0


@kernel(allocates=False)
def refuse(state: Dynamic, of_array: int) -> None:
    """Try no more tasks of an array in a partition."""
    if of_array != UNKNOWN:
        state.refused[of_array] = LACKS


@kernel(allocates=False)
def may_be_tested(given: Given, state: Dynamic, machine: Machine, job: int, partition: int) -> bool:
    """Whether no limit of a number of tests stands against a job; it is counted then."""
    number, user, association, array = given.number, given.user[job], given.association[job], given.array[job]
    if array != UNKNOWN and int(number[LEFT_OUT]) != NO_ARRAYS:
        if reaches_array_limit(given, state, job):
            set_reason(state, machine, job, TASKS)
            return False
        if state.planned_tasks[array] >= number[BF_PER_ARRAY]:
            return False
    of_user = user * len(given.tier) + partition
    if number[BF_PER_USER_PARTITION] > 0.0 and state.tested_user_partition[of_user] >= number[BF_PER_USER_PARTITION]:
        return False
    if number[BF_PER_PARTITION] > 0.0 and state.tested[partition] >= number[BF_PER_PARTITION]:
        return False
    if number[BF_PER_USER] > 0.0 and state.tested_user[user] >= number[BF_PER_USER]:
        return False
    if number[BF_PER_ASSOCIATION] > 0.0 and state.tested_association[association] >= number[BF_PER_ASSOCIATION]:
        return False
    state.tested_user_partition[of_user] += 1
    state.tested[partition] += 1
    state.tested_user[user] += 1
    state.tested_association[association] += 1
    return True


@kernel(allocates=False)
def look_at(
    given: Given,
    state: Dynamic,
    machine: Machine,
    job: int,
    partition: int,
    priority: float,
    now: float,
    only_now: bool,
) -> tuple[int, int]:
    """Start a job, or plan it; return what became of it, and 1 if it was tested on nodes."""
    words, limit, tested, later = state.counts[WORDS], given.limit[job], 0, now
    resolution = given.number[BF_RESOLUTION]
    for _ in range(MOST_TRIES):
        earliest = later
        later = find_available(given, state, job, partition, earliest, max(earliest, now) + limit, now)
        begin = np.inf
        if count_nodes(state.available, 0, words) >= given.min_nodes[job]:
            tested = 1
            latest = later if later >= now + 1.0 and not only_now else np.inf
            begin = will_run(given, state, job, partition, now, earliest, only_now, latest)
        if begin == np.inf:
            if later > 0.0 and not only_now:
                continue
            break
        state.has_time[job] = 1
        begin, keeps = max(begin, earliest), False
        if begin <= now:
            became = try_now(given, state, machine, job, partition, priority, now)
            if became in (STARTED, NOWHERE):
                return became, tested
            keeps = became == KEEPS
            if keeps:
                later = 0.0  # who leaves has time for it; the nodes are kept
            else:
                begin = later if later > 0.0 else now + AFTER_A_LIMIT
        if only_now and begin > now:
            break
        if later > 0.0 and begin > later:
            continue
        first = rounded_down(given, begin, resolution)
        last = rounded_down(given, begin + limit, resolution)
        is_near = begin <= now + given.number[BF_WINDOW]
        if is_near and not keeps and overlaps(state, words, first, last):
            later = begin + resolution if begin == earliest else begin
            continue
        if is_near and may_plan(given, state, machine, job, partition):
            if int(given.number[LEFT_OUT]) != NO_PLANS:
                reserve(state, words, first, last)
            return PLANNED, tested
        break
    return NOWHERE, tested


@kernel(allocates=False)
def try_now(
    given: Given, state: Dynamic, machine: Machine, job: int, partition: int, priority: float, now: float
) -> int:
    """Start a job now, if no limit stands against it; return what becomes of it.

    ``KEEPS``: its nodes are kept for it, as running jobs leave them soon; ``LATER``: a limit keeps it back for a while.
    """
    count = choose_now(given, state, job, partition, now)
    if count == 0:
        return NOWHERE
    reason = why_not_before(given, state, job, partition)
    if reason == NONE:
        reason = why_not_after(given, state, job, partition)
    if reason != NONE:
        set_reason(state, machine, job, reason)
        return LATER if given.number[LIMIT_STOPS] > 0.0 else NOWHERE
    if not stop_victims(given, state, machine):
        return KEEPS
    begin_on_chosen(given, state, machine, job, partition, count, BACKFILL, priority)
    return STARTED


@kernel(allocates=False)
def may_plan(given: Given, state: Dynamic, machine: Machine, job: int, partition: int) -> bool:
    """Whether a job may have a place in the plan, with what ``state.resources`` says that it would hold."""
    if given.number[LIMIT_STOPS] == 0.0:
        reason = why_not_after(given, state, job, partition)
        if reason != NONE:
            set_reason(state, machine, job, reason)
            return False
    return given.qos[job] == UNKNOWN or given.plans_nothing[given.qos[job]] == 0


@kernel(allocates=False)
def choose_now(given: Given, state: Dynamic, job: int, partition: int, now: float) -> int:
    """Choose the nodes again on which a job is to start now, as running ones go if it must be; return how many."""
    words, count = state.counts[WORDS], count_nodes(state.picked, 0, state.counts[WORDS])
    goes, keeps_light = state.counts[VICTIMS] > 0, given.number[KEEPS_LIGHT] > 0.0
    if goes or keeps_light or state.counts[CLEANS] != 0:
        keep_off_cleaning(state)
        forget_light_of(given, state, state.available)
        state.counts[VICTIMS] = count = 0
        if keeps_light or not goes:
            count = choose_nodes(given, state, job, partition, state.available, state.now)
        goes = count == 0
        if goes:
            count = choose_by_preempting(given, state, job, partition, state.available, now)
        for word in range(words):
            state.picked[word] = 0
        for i in range(count):
            put_node(state.picked, 0, state.chosen[i])
        if count > 0:
            put_totals(given, state, job, partition, count, state.then if goes else state.now)
    return count


@kernel(allocates=False)
def find_available(
    given: Given, state: Dynamic, job: int, partition: int, from_then_on: float, until: float, now: float
) -> float:
    """Write the nodes into ``state.available`` that nobody has reserved from a time to another.

    Returns when to try next; 0: never.
    """
    words, available, before = state.counts[WORDS], state.available, state.before
    for word in range(words):
        available[word] = state.up[word] & given.partition_bits[partition * words + word]
        if given.nodes_allowed[job] != UNKNOWN:
            available[word] &= given.set_bits[given.nodes_allowed[job] * words + word]
        before[word] = available[word]
    behind_reserved = keep_off_reserved(given, state, job, from_then_on, until, now)
    for word in range(words):
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
    if behind_reserved > 0.0 and (later == 0.0 or behind_reserved < later):
        later = behind_reserved
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
def reserve(state: Dynamic, words: int, first: float, last: float) -> None:
    """Reserve the picked nodes for a slot; the first record that is as the one before it becomes one with it."""
    if first >= last:
        return
    record = 0
    while True:
        if state.begin[record] < first < state.end[record]:
            split(state, words, record, first)
        if state.begin[record] < last < state.end[record]:
            split(state, words, record, last)
        if state.begin[record] >= first and state.end[record] <= last:
            for word in range(words):
                state.free[record * words + word] &= ~state.picked[word]
        record = state.next[record]
        if record == 0:
            break
    record = 0
    while state.next[record] != 0:
        behind, same = state.next[record], True
        for word in range(words):
            same &= state.free[record * words + word] == state.free[behind * words + word]
        if same:
            state.end[record], state.next[record] = state.end[behind], state.next[behind]
            break
        record = behind

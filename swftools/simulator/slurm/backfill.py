# SPDX-License-Identifier: BSD-3-Clause
"""Backfill: jobs in order get a place in a plan of whole nodes; who can start now without touching it does.

When a job could start is found by letting running jobs end, at their limits, one after the other; the plan has those
that wait (``plan.py``).
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.machine.waiting_queue import is_waiting
from swftools.simulator.slurm.choosing import choose_nodes
from swftools.simulator.slurm.cleaning import keep_off_cleaning
from swftools.simulator.slurm.cycle import begin_to_take_time, take_locks, takes_too_long
from swftools.simulator.slurm.lightness import forget_light_of, stays_light
from swftools.simulator.slurm.limits import (
    LACKS,
    NONE,
    TASKS,
    reaches_array_limit,
    why_not_after,
    why_not_before,
)
from swftools.simulator.slurm.merging import merge_queue, put_back
from swftools.simulator.slurm.node_sets import copy_set, count_nodes, put_node
from swftools.simulator.slurm.plan import are_too_few, find_available, has_no_room, look_anew, overlaps, reserve
from swftools.simulator.slurm.preemptable import NOBODY_PREEMPTS
from swftools.simulator.slurm.preempting import choose_by_preempting, stop_victims
from swftools.simulator.slurm.rooms import list_rooms
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
    CYCLE_ENTRIES,
    CYCLE_PLACE,
    CYCLE_STARTS,
    CYCLE_TESTS,
    ENTRIES,
    IS_TOO_LITTLE,
    KEEPS_LIGHT,
    LEFT_OUT,
    LIMIT_STOPS,
    NO_ARRAYS,
    NO_PLANS,
    PREEMPTS_BY,
    RECORDS,
    TEST_TIME,
    UNKNOWN,
    VICTIMS,
    WORDS,
    YIELD_INTERVAL,
    Dynamic,
    Given,
    rounded_down,
)
from swftools.simulator.slurm.totals import put_totals
from swftools.simulator.slurm.will_run import will_run

MOST_TRIES = 10_000
"""Of one job in one cycle, so that a cycle always ends."""

AFTER_A_LIMIT = 500.0
"""s after which a job is thought to start that a limit keeps back, where such jobs stop others."""

STARTED, PLANNED, NOWHERE, KEEPS, LATER = range(5)
"""What becomes of a job in a cycle."""


@kernel(allocates=False)
def run_backfill(given: Given, state: Dynamic, machine: Machine) -> None:
    """Run a cycle of backfill, or begin one that takes time."""
    counts = state.counts
    begin_cycle(given, state, np.floor(machine.clock[NOW]))
    was_moved = merge_queue(given, state, machine)
    counts[CYCLE_PLACE] = counts[CYCLE_TESTS] = counts[CYCLE_STARTS] = 0
    counts[CYCLE_ENTRIES] = counts[ENTRIES]
    if given.number[TEST_TIME] == 0.0:
        work_stretch(given, state, machine, state.entry_job, state.entry_partition, state.entry_priority)
    else:
        begin_to_take_time(state, machine)
        go_on(given, state, machine)
    if was_moved:
        put_back(state)


@kernel(allocates=False)
def go_on(given: Given, state: Dynamic, machine: Machine) -> None:
    """Go on with a cycle that takes time, until it lets locks go."""
    tests = state.counts[CYCLE_TESTS]
    is_over = work_stretch(given, state, machine, state.cycle_job, state.cycle_partition, state.cycle_priority)
    take_locks(given, state, machine, float(state.counts[CYCLE_TESTS] - tests) * given.number[TEST_TIME], is_over)


@kernel(allocates=False)
def work_stretch(
    given: Given, state: Dynamic, machine: Machine, jobs: IntArray, partitions: IntArray, priorities: FloatArray
) -> bool:
    """Look at the next entries of a cycle; return whether it is over, else it lets locks go for a while."""
    number, now, counts = given.number, np.floor(machine.clock[NOW]), state.counts
    many, has_arrays, test_time = len(given.tier), int(number[LEFT_OUT]) != NO_ARRAYS, number[TEST_TIME]
    before, tests, starts = counts[CYCLE_TESTS], counts[CYCLE_TESTS], counts[CYCLE_STARTS]
    for place in range(counts[CYCLE_PLACE], counts[CYCLE_ENTRIES]):
        if tests >= number[BF_TESTS]:
            break
        if test_time > 0.0:
            used = float(tests - before) * test_time
            if takes_too_long(given, state, machine.clock[NOW] + used):
                break
            if used >= number[YIELD_INTERVAL]:
                counts[CYCLE_PLACE], counts[CYCLE_TESTS], counts[CYCLE_STARTS] = place, tests, starts
                return False
        job, partition = jobs[place], partitions[place]
        if state.is_on[job] != 0 or not is_waiting(machine.queue, job):  # perhaps preempted at this very instant
            continue
        of_array = given.array[job] * many + partition if has_arrays and given.array[job] != UNKNOWN else UNKNOWN
        if number[LIMIT_STOPS] == 0.0:
            reason = why_not_before(given, state, job, partition)
            if reason != NONE:
                set_reason(state, machine, job, reason)
                refuse(state, of_array)
                continue
        if of_array != UNKNOWN and state.bf_refused[of_array] != NONE:
            continue
        became = NOWHERE
        if may_be_tested(given, state, machine, job, partition):
            priority = priorities[place]
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
        if counts[RECORDS] + 2 >= len(state.begin):
            break
    counts[CYCLE_TESTS] = tests
    return True


@kernel(allocates=False)
def begin_cycle(given: Given, state: Dynamic, now: float) -> None:
    """Begin a plan in which nothing is reserved, and count anew."""
    resolution, words = given.number[BF_RESOLUTION], state.counts[WORDS]
    state.begin[0] = rounded_down(given, now, resolution)
    state.end[0] = rounded_down(given, now + given.number[BF_WINDOW], resolution)
    state.next[0], state.counts[RECORDS] = 0, 1
    state.other_low[0] = state.other_behind[0] = 0
    copy_set(state.up, 0, state.free, 0, words)
    for some in (
        state.bf_tested,
        state.tested_user,
        state.tested_user_partition,
        state.tested_association,
        state.planned_tasks,
        state.bf_refused,
    ):
        for place in range(len(some)):
            some[place] = 0


@kernel(allocates=False)
def refuse(state: Dynamic, of_array: int) -> None:
    """Try no more tasks of an array in a partition."""
    if of_array != UNKNOWN:
        state.bf_refused[of_array] = LACKS


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
    if number[BF_PER_PARTITION] > 0.0 and state.bf_tested[partition] >= number[BF_PER_PARTITION]:
        return False
    if number[BF_PER_USER] > 0.0 and state.tested_user[user] >= number[BF_PER_USER]:
        return False
    if number[BF_PER_ASSOCIATION] > 0.0 and state.tested_association[association] >= number[BF_PER_ASSOCIATION]:
        return False
    state.tested_user_partition[of_user] += 1
    state.bf_tested[partition] += 1
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
    resolution, rooms, cuts = given.number[BF_RESOLUTION], UNKNOWN, UNKNOWN
    if not only_now and int(given.number[PREEMPTS_BY]) == NOBODY_PREEMPTS:
        rooms = list_rooms(given, state, job, partition)
        if state.has_time[job] != 0 and not stays_light(given, job):  # else it counts what a test finds
            cuts = rooms
    look_anew(given, state, job, partition)
    for _ in range(MOST_TRIES):
        earliest = later
        later = find_available(given, state, job, cuts, earliest, max(earliest, now) + limit, now, tested == 0)
        begin = np.inf
        if state.counts[IS_TOO_LITTLE] == 0 and not are_too_few(given, state, job):
            tested = 1
            begin = begin_by(given, state, job, partition, rooms, now, earliest, only_now, later)
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
            keeps = became == KEEPS  # who leaves has time for it
            if not keeps:
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
def begin_by(
    given: Given,
    state: Dynamic,
    job: int,
    partition: int,
    rooms: int,
    now: float,
    earliest: float,
    only_now: bool,
    later: float,
) -> float:
    """Return when a job could start on the available nodes; if that is later than the next try, any time that is."""
    latest = later if later > 0.0 else now + given.number[BF_WINDOW]  # who starts after the window is not planned
    if only_now or latest < now + 1.0 or state.has_time[job] == 0:
        latest = np.inf
    elif rooms != UNKNOWN and not stays_light(given, job) and has_no_room(given, state, job, rooms, latest):
        return np.inf
    return will_run(given, state, job, partition, rooms, now, earliest, only_now, latest)


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
    if not stop_victims(given, state, machine, job, partition, count):
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
    if state.counts[VICTIMS] > 0 or given.number[KEEPS_LIGHT] > 0.0 or state.counts[CLEANS] != 0:
        keep_off_cleaning(state)
        forget_light_of(given, state, state.available)
        state.counts[VICTIMS] = 0
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

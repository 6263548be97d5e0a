# SPDX-License-Identifier: BSD-3-Clause
"""A real run that is followed: what the rules would start in each state of it is tried, and undone."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import ENDED, NOW, Machine
from swftools.simulator.machine.verbs import start, wake_at
from swftools.simulator.machine.waiting_queue import is_waiting
from swftools.simulator.slurm.absence import let_leave, let_nodes_change, next_change
from swftools.simulator.slurm.backfill import run_backfill
from swftools.simulator.slurm.choosing import choose_nodes, place_tasks
from swftools.simulator.slurm.dues import (
    DEFAULT_PASS,
    FORCED_PASS,
    NO_PASS,
    due_of_main,
    is_backfill_due,
    is_tick,
    note_pass,
    start_period,
)
from swftools.simulator.slurm.holding import write_down
from swftools.simulator.slurm.main_pass import run_main
from swftools.simulator.slurm.queue import note_arrivals
from swftools.simulator.slurm.starting import ask_main, hold, let_go, list_as_running, note_ends, start_for_good
from swftools.simulator.slurm.state import (
    BACKFILL,
    CHANGED,
    ENTRIES,
    EVERY,
    HAS_BACKFILL,
    HAS_MAIN,
    LAST_BACKFILL,
    LAST_LOOK,
    LAST_TICK,
    LEFT_OUT,
    LOGGED,
    MAIN,
    NEXT_CALC,
    NO_BACKFILL,
    NO_MAIN,
    TICK,
    TRIALS,
    UNKNOWN,
    WORDS,
    Dynamic,
    Given,
    put_node,
)

MAYBE, IF_TRIED_BEFORE, SURE = range(3)
"""Whether what is tried would have happened: in one order of an instant's events; if also in another; in any."""

ON_ITS_NODES = 2
"""What a trial is worth that has a job on the nodes of the log; 1 if only the scheduler is that of the log."""


@kernel(allocates=False)
def follow(given: Given, state: Dynamic, machine: Machine) -> None:
    """Try what would start in the state that the log has now, then start what the log starts.

    It is tried when a pass or a cycle is due, and also where the log starts a job: then there was one. What the log has
    at one instant may have come in any order, as far as its seconds tell: it is tried before and after jobs end, and
    backfill also behind the starts of the main scheduler.
    """
    number, clock, now = given.number, state.clock, machine.clock[NOW]
    whole, out = np.floor(now - number[TICK]), int(number[LEFT_OUT])
    note_arrivals(given, state, machine)
    by_main, by_backfill = starts_now(given, state, machine)
    due, is_due, ticks = NO_PASS, False, is_tick(given, state, now)
    if ticks:
        clock[LAST_TICK] = now
        if clock[NEXT_CALC] <= whole:
            start_period(given, state, machine, whole)
        if number[EVERY] > 0.0 and now - clock[LAST_LOOK] >= number[EVERY]:
            clock[LAST_LOOK], by_main, by_backfill = now, True, True
        due, is_due = due_of_main(given, state, whole), is_backfill_due(given, state, whole)
    is_due |= by_backfill and number[HAS_BACKFILL] > 0.0 and out != NO_BACKFILL
    if by_main and due == NO_PASS and number[HAS_MAIN] > 0.0 and out != NO_MAIN:
        due = FORCED_PASS
    sure = SURE
    if machine.counts[ENDED] > 0:
        try_all(given, state, machine, due, is_due, MAYBE)
        note_ends(given, state, machine)
        sure = IF_TRIED_BEFORE
    let_nodes_change(given, state, machine)
    leave = let_leave(given, state, machine)
    if ticks and due == NO_PASS:  # what has just ended may ask for one
        due = due_of_main(given, state, whole)
    if due != NO_PASS:
        note_pass(state, whole, due)
    if is_due:
        clock[LAST_BACKFILL], state.counts[CHANGED] = whole, 0
    try_all(given, state, machine, due, is_due, sure)
    if sure == IF_TRIED_BEFORE:  # the pass may have been before they ended
        ask_main(given, state, machine)
    next_start = min(start_what_is_logged(given, state, machine, is_due), leave, next_change(given, state))
    if is_due:
        try_all(given, state, machine, NO_PASS, True, MAYBE)
        next_start = min(next_start, start_what_is_logged(given, state, machine, False))
    if state.counts[ENTRIES] > 0:
        wake_at(machine, min(np.floor(now - number[TICK]) + 1.0 + number[TICK], next_start))


@kernel(allocates=False)
def try_all(given: Given, state: Dynamic, machine: Machine, due: int, is_due: bool, sure: int) -> None:
    """Try a pass of the main scheduler, if any is due, and a cycle of backfill, if it is; nothing comes of it."""
    if due != NO_PASS:
        run_main(given, state, machine, due != DEFAULT_PASS)
        undo_trials(given, state, machine, sure)
    if is_due:
        run_backfill(given, state, machine)
        undo_trials(given, state, machine, sure)


@kernel(allocates=False)
def undo_trials(given: Given, state: Dynamic, machine: Machine, sure: int) -> None:
    """Let nobody have started or been preempted in a pass that was tried, the last one first.

    It is noted when each would first have started for sure, which is in either order of what happened at the instant;
    and how at last: as the log has it, if any trial of the instant did.
    """
    now = machine.clock[NOW]
    for i in range(state.counts[TRIALS] - 1, -1, -1):
        job = state.trial[i]
        if job < 0:  # it was preempted
            job = -1 - job
            state.is_on[job] = 1
            list_as_running(given, state, job, state.ran_in[job])
            continue
        let_go(given, state, job)
        is_sure = sure == SURE or (sure == IF_TRIED_BEFORE and state.might_time[job] == now)
        if sure == MAYBE:
            state.might_time[job] = now
        if is_sure and not state.would_time[job] >= 0.0:
            state.would_time[job] = now
        likeness = ON_ITS_NODES * int(is_as_logged(given, state, job)) + int(state.by[job] == given.logged_by[job])
        if state.would_last[job] != now or likeness >= state.would_like[job]:
            state.would_last[job], state.would_like[job] = now, likeness
            state.would_by[job], state.would_in[job] = state.by[job], state.ran_in[job]
            state.would_count[job], first = state.held_count[job], given.first_held[job]
            for j in range(first, first + state.held_count[job]):
                state.would_node[j], state.would_cores[j] = state.held_node[j], state.held_cores[j]
        state.by[job] = state.held_count[job] = 0
    state.counts[TRIALS] = 0


@kernel(allocates=False)
def is_as_logged(given: Given, state: Dynamic, job: int) -> bool:
    """Whether a job holds the nodes that the log says."""
    first, begin, behind = given.first_held[job], given.logged_first[job], given.logged_first[job + 1]
    if state.held_count[job] != behind - begin:
        return False
    for i in range(first, first + state.held_count[job]):
        is_there = False
        for j in range(begin, behind):
            is_there |= given.logged_node[j] == state.held_node[i]
        if not is_there:
            return False
    return True


@kernel(allocates=False)
def starts_now(given: Given, state: Dynamic, machine: Machine) -> tuple[bool, bool]:
    """Return whether the log starts a job now by its main scheduler, and by backfill; either, where it is not told."""
    by_main = by_backfill = False
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        if state.is_on[job] == 0 and given.logged_start[job] <= machine.clock[NOW] and is_waiting(machine.queue, job):
            by_main |= given.logged_by[job] != BACKFILL
            by_backfill |= given.logged_by[job] != MAIN
    return by_main, by_backfill


@kernel(allocates=False)
def start_what_is_logged(given: Given, state: Dynamic, machine: Machine, waits: bool) -> float:
    """Start the jobs that the log has started by now, and return when it starts the next one, s.

    Those that backfill started may wait for the others.
    """
    next_start = np.inf
    for place in range(state.counts[ENTRIES]):
        job, partition = state.entry_job[place], state.entry_partition[place]
        if state.is_on[job] != 0 or not is_waiting(machine.queue, job):
            continue
        at = given.logged_start[job]
        if state.has_left[job] != 0:  # for the event loop it runs a second, with nothing
            start(machine, job)
        elif at > machine.clock[NOW]:
            next_start = min(next_start, at)
        elif at <= machine.clock[NOW] and not (waits and given.logged_by[job] == BACKFILL):
            ran_in = given.logged_partition[job]
            state.ran_priority[job] = state.entry_priority[place]
            start_as_logged(given, state, machine, job, partition if ran_in == UNKNOWN else ran_in)
    return next_start


@kernel(allocates=False)
def start_as_logged(given: Given, state: Dynamic, machine: Machine, job: int, partition: int) -> None:
    """Start a job on the nodes on which the log says that it ran.

    Where the log does not say how many CPUs it had of each they are as they were tried, if it was tried there; else as
    the rule places them on these nodes alone, if it can; else evenly.
    """
    begin = given.logged_first[job]
    many = given.logged_first[job + 1] - begin
    is_told = many > 0 and given.logged_cores[begin] > 0
    if not is_told and state.would_last[job] == machine.clock[NOW] and state.would_like[job] >= ON_ITS_NODES:
        first = given.first_held[job]
        for i in range(many):
            state.chosen[i], state.got[i] = state.would_node[first + i], state.would_cores[first + i]
    elif is_told or not place_on_logged(given, state, job, partition, many):
        for i in range(many):
            state.chosen[i] = given.logged_node[begin + i]
            state.got[i] = given.logged_cores[begin + i] if is_told else -(-given.cpus[job] // many)
    write_down(given, state, job, many, state.now)
    hold(given, state, machine, job, partition, LOGGED)
    start_for_good(state, machine, job)


@kernel(allocates=False)
def place_on_logged(given: Given, state: Dynamic, job: int, partition: int, many: int) -> bool:
    """Let the rule place the tasks of a job on its nodes; return whether it can on all of them."""
    begin = given.logged_first[job]
    for word in range(state.counts[WORDS]):
        state.available[word] = 0
    for i in range(begin, begin + many):
        put_node(state.available, 0, given.logged_node[i])
    if choose_nodes(given, state, job, partition, state.available, state.now) != many:
        return False
    place_tasks(given, state, job, partition, many)
    return True

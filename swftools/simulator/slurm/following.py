# SPDX-License-Identifier: BSD-3-Clause
"""A real run that is followed: what the rules would start in each state of it is tried, and undone."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.machine.verbs import start, wake_at
from swftools.simulator.machine.waiting_queue import is_waiting
from swftools.simulator.slurm.absence import next_change
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
from swftools.simulator.slurm.starting import hold, start_for_good, undo_trials
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
    UNKNOWN,
    WORDS,
    Dynamic,
    Given,
    put_node,
)


@kernel(allocates=False)
def follow(given: Given, state: Dynamic, machine: Machine, leave: float) -> None:
    """Try what would start in the state that the log has now, then start what the log starts.

    It is tried when a pass or a cycle is due, and also where the log starts a job: then there was one.
    """
    number, clock, now = given.number, state.clock, machine.clock[NOW]
    whole, out = np.floor(now - number[TICK]), int(number[LEFT_OUT])
    by_main, by_backfill = starts_now(given, state, machine)
    due, is_due = NO_PASS, False
    if is_tick(given, state, now):
        clock[LAST_TICK] = now
        if clock[NEXT_CALC] <= whole:
            start_period(given, state, machine, whole)
        if number[EVERY] > 0.0 and now - clock[LAST_LOOK] >= number[EVERY]:
            clock[LAST_LOOK], by_main, by_backfill = now, True, True
        due, is_due = due_of_main(given, state, whole), is_backfill_due(given, state, whole)
    if by_main and due == NO_PASS and number[HAS_MAIN] > 0.0 and out != NO_MAIN:
        due = FORCED_PASS
    if due != NO_PASS:
        note_pass(state, whole, due)
        run_main(given, state, machine, due != DEFAULT_PASS)
        undo_trials(given, state, machine)
    if is_due or (by_backfill and number[HAS_BACKFILL] > 0.0 and out != NO_BACKFILL):
        clock[LAST_BACKFILL], state.counts[CHANGED] = whole, 0
        run_backfill(given, state, machine)
        undo_trials(given, state, machine)
    next_start = min(start_what_is_logged(given, state, machine), leave, next_change(given, state))
    if state.counts[ENTRIES] > 0:
        wake_at(machine, min(np.floor(now - number[TICK]) + 1.0 + number[TICK], next_start))


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
def start_what_is_logged(given: Given, state: Dynamic, machine: Machine) -> float:
    """Start the jobs that the log has started by now, and return when it starts the next one, s."""
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
        elif at <= machine.clock[NOW]:
            ran_in = given.logged_partition[job]
            state.ran_priority[job] = state.entry_priority[place]
            start_as_logged(given, state, machine, job, partition if ran_in == UNKNOWN else ran_in)
    return next_start


@kernel(allocates=False)
def start_as_logged(given: Given, state: Dynamic, machine: Machine, job: int, partition: int) -> None:
    """Start a job on the nodes on which the log says that it ran.

    Where the log does not say how many CPUs it had of each node they are as the rule places them, if it can.
    """
    begin = given.logged_first[job]
    many = given.logged_first[job + 1] - begin
    if many > 0 and given.logged_cores[begin] == 0:
        for word in range(state.counts[WORDS]):
            state.available[word] = 0
        for i in range(begin, begin + many):
            put_node(state.available, 0, given.logged_node[i])
        count = choose_nodes(given, state, job, partition, state.available, state.now)
        if count == many:
            place_tasks(given, state, job, partition, count)
            write_down(given, state, job, count, state.now)
            hold(given, state, machine, job, partition, LOGGED)
            start_for_good(state, machine, job)
            return
    for i in range(many):
        state.chosen[i] = given.logged_node[begin + i]
        cores = given.logged_cores[begin + i]
        state.got[i] = cores if cores > 0 else -(-given.cpus[job] // many)
    write_down(given, state, job, many, state.now)
    hold(given, state, machine, job, partition, LOGGED)
    start_for_good(state, machine, job)

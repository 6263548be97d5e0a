# SPDX-License-Identifier: BSD-3-Clause
"""When Slurm decides: its controller looks once a second whether a period, a backfill cycle or a pass is due."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import ENDED, FREE, NOW, Machine
from swftools.simulator.machine.verbs import wake_at
from swftools.simulator.machine.waiting_queue import is_waiting
from swftools.simulator.slurm.absence import let_leave, let_nodes_change, next_change
from swftools.simulator.slurm.backfill import run_backfill
from swftools.simulator.slurm.choosing import choose_nodes, place_tasks
from swftools.simulator.slurm.fair_share import find_fair_shares, work_period
from swftools.simulator.slurm.holding import write_down
from swftools.simulator.slurm.main_pass import run_main
from swftools.simulator.slurm.preempting import NOBODY_PREEMPTS, next_doom, stop_doomed
from swftools.simulator.slurm.queue import calculate, note_arrivals
from swftools.simulator.slurm.starting import hold, note_end, start_for_good, undo_trials
from swftools.simulator.slurm.state import (
    ASKED_AT,
    BACKFILL,
    BEGUN,
    BF_INTERVAL,
    CALC_PERIOD,
    CHANGED,
    DELAY,
    ENTRIES,
    EVERY,
    FIRST_PASS,
    FOLLOWS,
    HAS_BACKFILL,
    HAS_MAIN,
    INTERVAL,
    LAST_BACKFILL,
    LAST_FULL,
    LAST_LOOK,
    LAST_MAIN,
    LAST_TICK,
    LEFT_OUT,
    LOGGED,
    MAIN,
    MAIN_ASKED,
    NEXT_CALC,
    NO_BACKFILL,
    NO_MAIN,
    PREEMPTS_BY,
    RUNNERS,
    TICK,
    UNKNOWN,
    WORDS,
    Dynamic,
    Given,
    put_node,
)

NO_PASS, DEFAULT_PASS, FULL_PASS, FORCED_PASS = range(4)
"""Passes of the main scheduler: none, one of so many jobs, one of all, one that a log shows."""


@kernel(allocates=False)
def decide_as_slurm(machine: Machine, given: Given, state: Dynamic) -> None:
    """Note what happened, do what is due now, and ask to be woken when the next thing is."""
    now, counts, clock = machine.clock[NOW], state.counts, state.clock
    if counts[BEGUN] == 0:
        counts[BEGUN] = 1
        find_fair_shares(given, state)
    catch_up(given, state, np.ceil(now - given.number[TICK]))
    last = -1
    for _ in range(machine.counts[ENDED]):  # by their numbers
        job = -1
        for i in range(machine.counts[ENDED]):
            if machine.ended[i] > last and (job < 0 or machine.ended[i] < job):
                job = machine.ended[i]
        last = job
        if state.is_on[job] != 0:
            note_end(given, state, machine, job)
    if int(given.number[PREEMPTS_BY]) != NOBODY_PREEMPTS:
        stop_doomed(given, state, machine)
    let_nodes_change(given, state, machine)
    note_arrivals(given, state, machine)
    leave = let_leave(given, state, machine)
    if given.number[FOLLOWS] > 0.0:
        follow(given, state, machine, leave)
        return
    if is_tick(given, state, now):
        clock[LAST_TICK] = now
        whole = now - given.number[TICK]
        if clock[NEXT_CALC] <= whole:
            start_period(given, state, machine, whole)
        if is_backfill_due(given, state, whole):
            clock[LAST_BACKFILL], counts[CHANGED] = whole, 0
            run_backfill(given, state, machine)
        run_main_if_due(given, state, machine, whole)
    wake_for_next(given, state, machine, leave)


@kernel(allocates=False)
def is_tick(given: Given, state: Dynamic, now: float) -> bool:
    """Whether the controller looks now, and has not done so already."""
    whole = now - given.number[TICK]
    return whole == np.floor(whole) and state.clock[LAST_TICK] != now


@kernel(allocates=False)
def missed(last: float, every: float, whole: float) -> float:
    """Return by how much a time that comes again and again has moved on before a tick, s."""
    if every <= 0.0 or last + every >= whole:
        return 0.0
    return every * (np.ceil((whole - last) / every) - 1.0)


@kernel(allocates=False)
def catch_up(given: Given, state: Dynamic, whole: float) -> None:
    """Let periods, cycles and passes that were due at earlier ticks, when nobody waited, have happened."""
    clock, number = state.clock, given.number
    while clock[NEXT_CALC] < whole:
        work_period(given, state, clock[NEXT_CALC])
        if state.counts[RUNNERS] == 0:  # then usage only decays, as much in one step as in many
            clock[NEXT_CALC] += missed(clock[NEXT_CALC] + number[CALC_PERIOD], number[CALC_PERIOD], whole)
        clock[NEXT_CALC] += number[CALC_PERIOD]
    clock[LAST_BACKFILL] += missed(clock[LAST_BACKFILL], np.ceil(number[BF_INTERVAL]), whole)
    while number[HAS_MAIN] > 0.0:
        asked, full = np.inf, clock[LAST_FULL] + np.ceil(number[INTERVAL])
        if state.counts[MAIN_ASKED] != 0:
            asked = max(clock[ASKED_AT], clock[LAST_MAIN] + np.ceil(number[DELAY]), number[FIRST_PASS])
        elif number[INTERVAL] > 0.0:
            full += missed(full, np.ceil(number[INTERVAL]), whole)
        if min(full, asked) >= whole:
            break
        if full <= asked:
            clock[LAST_FULL] = full
        clock[LAST_MAIN] = min(full, asked)
        state.counts[MAIN_ASKED] = 0


@kernel(allocates=False)
def start_period(given: Given, state: Dynamic, machine: Machine, whole: float) -> None:
    """Count usage, and compute fair shares and priorities anew."""
    work_period(given, state, whole)
    calculate(given, state, machine)
    state.clock[NEXT_CALC] += given.number[CALC_PERIOD]
    state.counts[CHANGED] = 1


@kernel(allocates=False)
def is_backfill_due(given: Given, state: Dynamic, whole: float) -> bool:
    """Whether a cycle of backfill begins now; where nothing has changed it would do what the last one did."""
    number = given.number
    if number[HAS_BACKFILL] == 0.0 or int(number[LEFT_OUT]) == NO_BACKFILL:
        return False
    return state.counts[ENTRIES] > 0 and whole - state.clock[LAST_BACKFILL] >= number[BF_INTERVAL]


@kernel(allocates=False)
def due_of_main(given: Given, state: Dynamic, whole: float) -> int:
    """Return which pass of the main scheduler is due: ``FULL_PASS``, ``DEFAULT_PASS``, or ``NO_PASS``."""
    number, clock = given.number, state.clock
    if number[HAS_MAIN] == 0.0 or int(number[LEFT_OUT]) == NO_MAIN:
        return NO_PASS
    if whole - clock[LAST_FULL] >= number[INTERVAL]:
        return FULL_PASS
    is_asked = state.counts[MAIN_ASKED] != 0 and whole >= number[FIRST_PASS]
    return DEFAULT_PASS if is_asked and whole - clock[LAST_MAIN] >= number[DELAY] else NO_PASS


@kernel(allocates=False)
def run_main_if_due(given: Given, state: Dynamic, machine: Machine, whole: float) -> None:
    """Run the main scheduler, if it was asked for or its time has come."""
    due = due_of_main(given, state, whole)
    if due != NO_PASS:
        note_pass(state, whole, due)
        run_main(given, state, machine, due == FULL_PASS)


@kernel(allocates=False)
def note_pass(state: Dynamic, whole: float, due: int) -> None:
    """Note that a pass of the main scheduler begins."""
    state.clock[LAST_MAIN] = whole
    if due == FULL_PASS:
        state.clock[LAST_FULL] = whole
    state.counts[MAIN_ASKED] = 0


@kernel(allocates=False)
def wake_for_next(given: Given, state: Dynamic, machine: Machine, leave: float) -> None:
    """Ask for a decision when something is due next, if anybody waits, and when nodes change, if anybody runs."""
    number, clock, counts, now = given.number, state.clock, state.counts, machine.clock[NOW]
    change = min(next_change(given, state), leave)
    if int(number[PREEMPTS_BY]) != NOBODY_PREEMPTS:
        change = min(change, next_doom(state))
    if change < np.inf and counts[ENTRIES] + counts[RUNNERS] > 0:
        wake_at(machine, change)
    if counts[ENTRIES] == 0:
        return
    tick = number[TICK]
    due, out = clock[NEXT_CALC], int(number[LEFT_OUT])
    if number[HAS_MAIN] > 0.0 and out != NO_MAIN:
        due = min(due, clock[LAST_FULL] + number[INTERVAL])
        if counts[MAIN_ASKED] != 0:
            due = min(due, max(clock[LAST_MAIN] + number[DELAY], number[FIRST_PASS]))
    if number[HAS_BACKFILL] > 0.0 and out != NO_BACKFILL:
        due = min(due, clock[LAST_BACKFILL] + number[BF_INTERVAL])
    next_one = np.ceil(now - tick) + tick
    if next_one == clock[LAST_TICK]:
        next_one += 1.0
    wake = max(np.ceil(due) + tick, next_one)
    if wake > now:
        wake_at(machine, wake)
    else:
        wake_at(machine, now + 1.0)


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
        if at > machine.clock[NOW]:
            next_start = min(next_start, at)
        elif at <= machine.clock[NOW] and machine.requests.processors[job] <= machine.counts[FREE]:
            ran_in = given.logged_partition[job]
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

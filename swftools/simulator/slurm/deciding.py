# SPDX-License-Identifier: BSD-3-Clause
"""When Slurm decides: its controller looks once a second whether a period, a backfill cycle or a pass is due."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import ENDED, FREE, NOW, Machine
from swftools.simulator.machine.verbs import wake_at
from swftools.simulator.machine.waiting_queue import is_waiting
from swftools.simulator.slurm.backfill import run_backfill
from swftools.simulator.slurm.choosing import choose_nodes, place_tasks
from swftools.simulator.slurm.fair_share import find_fair_shares, use_up
from swftools.simulator.slurm.holding import write_down
from swftools.simulator.slurm.main_pass import run_main
from swftools.simulator.slurm.queue import calculate, note_arrivals
from swftools.simulator.slurm.starting import hold, note_end, start_for_good, undo_trials
from swftools.simulator.slurm.state import (
    BF_INTERVAL,
    CALC_PERIOD,
    CHANGED,
    DELAY,
    ENTRIES,
    EVERY,
    FOLLOWS,
    HAS_BACKFILL,
    HAS_MAIN,
    INTERVAL,
    LAST_BACKFILL,
    LAST_FULL,
    LAST_LOOK,
    LAST_MAIN,
    LEFT_OUT,
    LOGGED,
    MAIN_ASKED,
    NEXT_CALC,
    NO_BACKFILL,
    NO_MAIN,
    RUNNERS,
    TICK,
    WORDS,
    Dynamic,
    Given,
    put_node,
)


@kernel(allocates=False)
def decide_as_slurm(machine: Machine, given: Given, state: Dynamic) -> None:
    """Note what happened, do what is due now, and ask to be woken when the next thing is."""
    now, counts, clock = machine.clock[NOW], state.counts, state.clock
    catch_up(given, state, now)
    for i in range(machine.counts[ENDED]):
        job = machine.ended[i]
        if state.is_on[job] != 0:
            note_end(given, state, machine, job)
    note_arrivals(given, state, machine)
    if given.number[FOLLOWS] > 0.0:
        follow(given, state, machine)
        return
    if now == next_tick(given, now):
        if clock[NEXT_CALC] <= now:
            start_period(given, state, machine)
        if is_backfill_due(given, state, now):
            clock[LAST_BACKFILL], counts[CHANGED] = now, 0
            run_backfill(given, state, machine)
        run_main_if_due(given, state, machine)
    wake_for_next(given, state, machine)


@kernel(allocates=False)
def next_tick(given: Given, time: float) -> float:
    """Return the first time from a time on at which the controller looks."""
    tick = given.number[TICK]
    return np.ceil(time - tick) + tick


@kernel(allocates=False)
def catch_up(given: Given, state: Dynamic, now: float) -> None:
    """Let periods and passes that were due while nobody waited have happened."""
    clock, number = state.clock, given.number
    if clock[NEXT_CALC] < now:
        while clock[NEXT_CALC] < now:
            use_up(given, state, clock[NEXT_CALC])
            if state.counts[RUNNERS] == 0:  # then usage only decays, as much in one step as in many
                missed = np.floor((now - clock[NEXT_CALC]) / number[CALC_PERIOD])
                clock[NEXT_CALC] += max(missed - 1.0, 0.0) * number[CALC_PERIOD]
            clock[NEXT_CALC] += number[CALC_PERIOD]
        find_fair_shares(given, state)
    if number[INTERVAL] > 0.0 and clock[LAST_FULL] + number[INTERVAL] < now:
        missed = np.floor((now - clock[LAST_FULL]) / number[INTERVAL])
        if clock[LAST_FULL] + missed * number[INTERVAL] == now:
            missed -= 1.0  # which is due now
        if missed > 0.0:
            clock[LAST_FULL] += missed * number[INTERVAL]
            clock[LAST_MAIN] = max(clock[LAST_MAIN], clock[LAST_FULL])


@kernel(allocates=False)
def start_period(given: Given, state: Dynamic, machine: Machine) -> None:
    """Count usage, and compute fair shares and priorities anew."""
    use_up(given, state, machine.clock[NOW])
    find_fair_shares(given, state)
    calculate(given, state, machine)
    state.clock[NEXT_CALC] += given.number[CALC_PERIOD]
    state.counts[CHANGED] = 1


@kernel(allocates=False)
def is_backfill_due(given: Given, state: Dynamic, now: float) -> bool:
    """Whether a cycle of backfill begins now."""
    number = given.number
    if number[HAS_BACKFILL] == 0.0 or int(number[LEFT_OUT]) == NO_BACKFILL or state.counts[CHANGED] == 0:
        return False
    return state.counts[ENTRIES] > 0 and now - state.clock[LAST_BACKFILL] >= number[BF_INTERVAL]


@kernel(allocates=False)
def run_main_if_due(given: Given, state: Dynamic, machine: Machine) -> None:
    """Run the main scheduler, if it was asked for or its time has come."""
    number, clock, counts, now = given.number, state.clock, state.counts, machine.clock[NOW]
    if number[HAS_MAIN] == 0.0 or int(number[LEFT_OUT]) == NO_MAIN:
        return
    is_full = now - clock[LAST_FULL] >= number[INTERVAL]
    if not is_full and (counts[MAIN_ASKED] == 0 or now - clock[LAST_MAIN] < number[DELAY]):
        return
    clock[LAST_MAIN] = now
    if is_full:
        clock[LAST_FULL] = now
    counts[MAIN_ASKED] = 0
    run_main(given, state, machine, is_full)


@kernel(allocates=False)
def wake_for_next(given: Given, state: Dynamic, machine: Machine) -> None:
    """Ask for a decision when something is due next, if anybody waits."""
    number, clock, counts, now = given.number, state.clock, state.counts, machine.clock[NOW]
    if counts[ENTRIES] == 0:
        return
    due = clock[NEXT_CALC]
    has_main = number[HAS_MAIN] > 0.0 and int(number[LEFT_OUT]) != NO_MAIN
    if has_main:
        due = min(due, clock[LAST_FULL] + number[INTERVAL])
        if counts[MAIN_ASKED] != 0:
            due = min(due, clock[LAST_MAIN] + number[DELAY])
    if number[HAS_BACKFILL] > 0.0 and counts[CHANGED] != 0 and int(number[LEFT_OUT]) != NO_BACKFILL:
        due = min(due, clock[LAST_BACKFILL] + number[BF_INTERVAL])
    wake = next_tick(given, max(due, now))
    if wake <= now:
        wake = next_tick(given, now + 0.5)
    wake_at(machine, wake)


@kernel(allocates=False)
def follow(given: Given, state: Dynamic, machine: Machine) -> None:
    """Try what would start in the state that the log has now, then start what the log starts."""
    number, clock, now = given.number, state.clock, machine.clock[NOW]
    out = int(number[LEFT_OUT])
    if now == next_tick(given, now):
        if clock[NEXT_CALC] <= now:
            start_period(given, state, machine)
        if now - clock[LAST_LOOK] >= number[EVERY] and state.counts[ENTRIES] > 0:
            clock[LAST_LOOK] = now
            if number[HAS_MAIN] > 0.0 and out != NO_MAIN:
                run_main(given, state, machine, True)
                undo_trials(given, state, machine)
            if number[HAS_BACKFILL] > 0.0 and out != NO_BACKFILL:
                run_backfill(given, state, machine)
                undo_trials(given, state, machine)
    next_start = np.inf
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        if state.is_on[job] != 0 or not is_waiting(machine.queue, job):
            continue
        at = given.logged_start[job]
        if at > now:
            next_start = min(next_start, at)
        elif machine.requests.processors[job] <= machine.counts[FREE]:
            start_as_logged(given, state, machine, job, state.entry_partition[place])
    if state.counts[ENTRIES] > 0:
        wake_at(machine, min(next_tick(given, now + 0.5), next_start))


@kernel(allocates=False)
def start_as_logged(given: Given, state: Dynamic, machine: Machine, job: int, partition: int) -> None:
    """Start a job on the nodes on which the log says that it ran.

    Where the log does not say how many CPUs it had of each node they are as the rule places them, if it can.
    """
    first, begin = given.first_held[job], given.logged_first[job]
    many = given.logged_first[job + 1] - begin
    if many > 0 and given.logged_cores[begin] == 0:
        for word in range(state.counts[WORDS]):
            state.available[word] = 0
        for i in range(begin, begin + many):
            put_node(state.available, 0, given.logged_node[i])
        count = choose_nodes(given, state, job, state.available, state.now)
        if count == many:
            place_tasks(given, state, job, count, state.now)
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

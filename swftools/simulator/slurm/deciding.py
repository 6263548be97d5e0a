# SPDX-License-Identifier: BSD-3-Clause
"""When Slurm decides: its controller looks once a second whether a period, a backfill cycle or a pass is due."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.machine.verbs import wake_at
from swftools.simulator.slurm.absence import let_leave, let_nodes_change, next_change
from swftools.simulator.slurm.backfill import go_on, run_backfill
from swftools.simulator.slurm.cleaning import let_be_clean
from swftools.simulator.slurm.cycle import NO_CYCLE, holds_locks, lets_locks_go, wakes_up
from swftools.simulator.slurm.dues import (
    FULL_PASS,
    NO_PASS,
    due_of_main,
    is_backfill_due,
    is_tick,
    note_pass,
    start_period,
)
from swftools.simulator.slurm.fair_share import find_fair_shares, work_period
from swftools.simulator.slurm.following import follow
from swftools.simulator.slurm.hopeless import give_up, nothing_changes
from swftools.simulator.slurm.in_place import begin_in_place
from swftools.simulator.slurm.main_pass import run_main
from swftools.simulator.slurm.preemptable import NOBODY_PREEMPTS
from swftools.simulator.slurm.preempting import next_doom, stop_doomed
from swftools.simulator.slurm.queue import note_arrivals
from swftools.simulator.slurm.starting import note_ends
from swftools.simulator.slurm.state import (
    ASKED_AT,
    BEGUN,
    BF_INTERVAL,
    CALC_PERIOD,
    CHANGED,
    CLEANS,
    CLEANS_UNTIL,
    CYCLE,
    CYCLE_NEXT,
    DELAY,
    ENTRIES,
    FIRST_PASS,
    FOLLOWS,
    HAS_BACKFILL,
    HAS_MAIN,
    INTERVAL,
    IS_LATE,
    LAST_BACKFILL,
    LAST_FULL,
    LAST_MAIN,
    LAST_TICK,
    LEFT_OUT,
    MAIN_ASKED,
    NEXT_CALC,
    NO_BACKFILL,
    NO_MAIN,
    PREEMPTS_BY,
    RUNNERS,
    TICK,
    Dynamic,
    Given,
)
from swftools.simulator.slurm.suspending import let_go_on


@kernel(allocates=False, apart=True)
def decide_as_slurm(machine: Machine, given: Given, state: Dynamic) -> None:
    """Note what happened, do what is due now, and ask to be woken when the next thing is."""
    now, counts, clock = machine.clock[NOW], state.counts, state.clock
    begins = counts[BEGUN] == 0
    if begins:
        counts[BEGUN] = 1
        find_fair_shares(given, state)
    if not holds_locks(state):
        catch_up(given, state, np.ceil(now - given.number[TICK]))
    if given.number[FOLLOWS] > 0.0:
        follow(given, state, machine)
        return
    note_ends(given, state, machine)
    let_be_clean(given, state, machine, now)
    if int(given.number[PREEMPTS_BY]) != NOBODY_PREEMPTS:
        stop_doomed(given, state, machine)
    let_nodes_change(given, state, machine)
    let_go_on(given, state, machine)
    note_arrivals(given, state, machine)
    if begins and len(given.told_priority) > 0:
        begin_in_place(given, state, machine)
    leave = let_leave(given, state, machine)
    is_late = lets_locks_go(given, state, machine) and counts[IS_LATE] != 0
    is_looking = is_tick(given, state, now)
    if is_looking:
        clock[LAST_TICK] = now
    if holds_locks(state):
        counts[IS_LATE] = max(counts[IS_LATE], int(is_looking))
    else:
        look(given, state, machine, is_looking or is_late)
    if is_looking:
        let_go_on(given, state, machine)
    wake_for_next(given, state, machine, leave)


@kernel(allocates=False)
def look(given: Given, state: Dynamic, machine: Machine, is_looking: bool) -> None:
    """Do what is due at a tick, if it is one, and go on with a cycle of backfill, if there is one that can."""
    counts, clock, whole = state.counts, state.clock, np.floor(machine.clock[NOW])
    if is_looking:
        counts[IS_LATE] = 0
        if clock[NEXT_CALC] <= whole:
            start_period(given, state, machine, whole)
        if is_backfill_due(given, state, whole):
            clock[LAST_BACKFILL] = whole
            run_backfill(given, state, machine)
    if wakes_up(given, state, machine):
        go_on(given, state, machine)
    if is_looking:
        if holds_locks(state):
            counts[IS_LATE] = 1
        else:
            run_main_if_due(given, state, machine, whole)


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
def run_main_if_due(given: Given, state: Dynamic, machine: Machine, whole: float) -> None:
    """Run the main scheduler, if it was asked for or its time has come."""
    due = due_of_main(given, state, whole)
    if due != NO_PASS:
        note_pass(state, whole, due)
        state.counts[CHANGED] = max(state.counts[CHANGED], int(state.counts[ENTRIES] > 0))
        if run_main(given, state, machine, due == FULL_PASS) and nothing_changes(given, state, machine):
            give_up(state, machine)


@kernel(allocates=False)
def wake_for_next(given: Given, state: Dynamic, machine: Machine, leave: float) -> None:
    """Ask for a decision when something is due next, if anybody waits, and when nodes change, if anybody runs."""
    number, clock, counts, now = given.number, state.clock, state.counts, machine.clock[NOW]
    change = min(next_change(given, state), leave)
    if int(number[PREEMPTS_BY]) != NOBODY_PREEMPTS:
        change = min(change, next_doom(state))
    if change < np.inf and counts[ENTRIES] + counts[RUNNERS] > 0:
        wake_at(machine, change)
    if counts[CLEANS] != 0:
        wake_at(machine, clock[CLEANS_UNTIL])
    if counts[CYCLE] != NO_CYCLE:
        wake_at(machine, clock[CYCLE_NEXT])
    if counts[ENTRIES] == 0 and not holds_locks(state):
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
    if holds_locks(state):  # each tick that is missed is noted
        wake = next_one
    if wake > now:
        wake_at(machine, wake)
    else:
        wake_at(machine, now + 1.0)

# SPDX-License-Identifier: BSD-3-Clause
"""A real run that is followed: what the rules would start in each state of it is tried, and undone."""

from __future__ import annotations

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.simulator.machine.state import ENDED, NOW, Machine
from swftools.simulator.machine.verbs import start, wake_at
from swftools.simulator.machine.waiting_queue import is_waiting
from swftools.simulator.slurm.absence import let_leave, let_nodes_change, next_change
from swftools.simulator.slurm.asking import ask_main
from swftools.simulator.slurm.backfill import run_backfill
from swftools.simulator.slurm.cleaning import let_be_clean
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
from swftools.simulator.slurm.sampling import put_sampled
from swftools.simulator.slurm.starting import hold, let_go, list_as_running, note_ends, start_for_good
from swftools.simulator.slurm.state import (
    BACKFILL,
    BF_INTERVAL,
    CLEANS,
    CLEANS_UNTIL,
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
    NEXT_CYCLE,
    NO_BACKFILL,
    NO_MAIN,
    ORDER,
    TICK,
    TRIALS,
    UNKNOWN,
    Dynamic,
    Given,
)
from swftools.simulator.slurm.trying import NO_ORDER, ON_ITS_NODES, put_as_logged

HIDDEN = 2
"""In place of whether a job runs: it waits, but is thought not to have come yet."""


@kernel(allocates=False)
def follow(given: Given, state: Dynamic, machine: Machine) -> None:
    """Try what would start in the state that the log has now, then start what the log starts.

    It is tried when a pass or a cycle is due, and also where the log starts a job: then there was one. What the log has
    at one instant may have come in any order, as far as its seconds tell: it is tried before and after jobs end, with
    and without those that come, and backfill also behind the starts of the main scheduler.
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
        due = due_of_main(given, state, whole)
        is_due = is_backfill_due(given, state, whole) and may_have_cycle(given, state, now)
    put_sampled(given, state, machine)
    is_due |= by_backfill and number[HAS_BACKFILL] > 0.0 and out != NO_BACKFILL
    if by_main and due == NO_PASS and number[HAS_MAIN] > 0.0 and out != NO_MAIN:
        due = FORCED_PASS
    state.counts[ORDER] = 0
    has_ends = machine.counts[ENDED] > 0
    let_be_clean(given, state, machine, now)
    if has_ends:
        try_with_and_without(given, state, machine, due, is_due)
        note_ends(given, state, machine)
    let_nodes_change(given, state, machine)
    leave = let_leave(given, state, machine)
    if ticks and due == NO_PASS:  # what has just ended may ask for one
        due = due_of_main(given, state, whole)
    if due != NO_PASS:
        note_pass(state, whole, due)
    if is_due:
        clock[LAST_BACKFILL] = whole
    try_with_and_without(given, state, machine, due, is_due)
    if has_ends and state.counts[CLEANS] != 0:  # nodes may be clean within the second, or not yet
        let_be_clean(given, state, machine, np.floor(now) + 1.0)
        try_with_and_without(given, state, machine, due, is_due)
    note_sure(state, now)
    if has_ends:  # the pass may have been before they ended
        ask_main(given, state, machine)
    next_start = min(start_what_is_logged(given, state, machine, is_due), leave, next_change(given, state))
    if is_due:
        state.counts[ORDER] = NO_ORDER
        try_all(given, state, machine, NO_PASS, True)
        next_start = min(next_start, start_what_is_logged(given, state, machine, False))
    if state.counts[CLEANS] != 0:
        next_start = min(next_start, state.clock[CLEANS_UNTIL])
    if state.counts[ENTRIES] > 0:
        wake_at(machine, min(np.floor(now - number[TICK]) + 1.0 + number[TICK], next_start))


@kernel(allocates=False)
def may_have_cycle(given: Given, state: Dynamic, now: float) -> bool:
    """Whether a cycle of backfill may have begun now: not shortly before one that the log shows."""
    cycles, counts = given.logged_cycle, state.counts
    while counts[NEXT_CYCLE] < len(cycles) and cycles[counts[NEXT_CYCLE]] <= now:
        counts[NEXT_CYCLE] += 1
    place = counts[NEXT_CYCLE]
    return place == len(cycles) or cycles[place] - np.floor(now) >= given.number[BF_INTERVAL]


@kernel(allocates=False)
def try_with_and_without(given: Given, state: Dynamic, machine: Machine, due: int, is_due: bool) -> None:
    """Try with all jobs that wait, and without those that have just come and do not start now."""
    if due == NO_PASS and not is_due:
        return
    try_all(given, state, machine, due, is_due)
    state.counts[ORDER] += 1
    if hide_new(given, state, machine):
        try_all(given, state, machine, due, is_due)
        state.counts[ORDER] += 1
        show_hidden(state)


@kernel(allocates=False)
def hide_new(given: Given, state: Dynamic, machine: Machine) -> bool:
    """Hide jobs that have just come and do not start now; return whether there are any."""
    now, are_some = machine.clock[NOW], False
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        if state.is_on[job] == 0 and state.eligible[job] == now and not given.logged_start[job] <= now:
            state.is_on[job], are_some = HIDDEN, True
    return are_some


@kernel(allocates=False)
def show_hidden(state: Dynamic) -> None:
    """Let jobs be there again that were hidden."""
    for place in range(state.counts[ENTRIES]):
        if state.is_on[state.entry_job[place]] == HIDDEN:
            state.is_on[state.entry_job[place]] = 0


@kernel(allocates=False)
def note_sure(state: Dynamic, now: float) -> None:
    """Note who would start now for the first time, whatever the order of the instant's events."""
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        is_sure = state.might_time[job] == now and state.might_orders[job] == state.counts[ORDER]
        if is_sure and not state.would_time[job] >= 0.0:
            state.would_time[job] = now


@kernel(allocates=False)
def try_all(given: Given, state: Dynamic, machine: Machine, due: int, is_due: bool) -> None:
    """Try a pass of the main scheduler, if any is due, and a cycle of backfill, if it is; nothing comes of it."""
    if due != NO_PASS:
        run_main(given, state, machine, due != DEFAULT_PASS)
        undo_trials(given, state)
    if is_due:
        run_backfill(given, state, machine)
        undo_trials(given, state)


@kernel(allocates=False)
def undo_trials(given: Given, state: Dynamic) -> None:
    """Let nobody have started or been preempted in a pass that was tried, the last one first."""
    for i in range(state.counts[TRIALS] - 1, -1, -1):
        job = state.trial[i]
        if job < 0:  # it was preempted
            job = -1 - job
            state.is_on[job] = 1
            list_as_running(given, state, job, state.ran_in[job])
            continue
        let_go(given, state, job)
        state.by[job] = state.held_count[job] = 0
    state.counts[TRIALS] = 0


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
    next_start, many = np.inf, 0
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        if state.is_on[job] != 0 or not is_waiting(machine.queue, job):
            continue
        at = given.logged_start[job]
        if state.has_left[job] != 0:  # for the event loop it runs a second, with nothing
            start(machine, job)
        elif at > machine.clock[NOW]:
            next_start = min(next_start, at)
        elif at <= machine.clock[NOW] and not (waits and given.logged_by[job] == BACKFILL):
            if is_listed(state.together, many, job):
                continue
            ran_in = given.logged_partition[job]
            state.ran_in[job] = state.entry_partition[place] if ran_in == UNKNOWN else ran_in
            state.ran_priority[job] = state.entry_priority[place]
            state.together[many] = job
            many += 1
    put_in_order(given, state, machine, many)
    for i in range(many):
        put_on_its_nodes(given, state, machine, state.together[i])
        hold(
            given,
            state,
            machine,
            state.together[i],
            state.ran_in[state.together[i]],
            LOGGED,
            np.floor(machine.clock[NOW]),
        )
        start_for_good(given, state, machine, state.together[i])
    return next_start


@kernel(allocates=False)
def is_listed(some: IntArray, many: int, job: int) -> bool:
    """Whether a job is among the first of a list."""
    is_there = False
    for i in range(many):
        is_there |= some[i] == job
    return is_there


@kernel(allocates=False)
def put_in_order(given: Given, state: Dynamic, machine: Machine, many: int) -> None:
    """Put jobs that start at one instant into an order in which the rule can place each on its nodes, if it finds one.

    They are in the order of the queue. One that does not fit behind the others was before them.
    """
    for _ in range(many):
        failed = many
        for i in range(many):
            job = state.together[i]
            if not put_on_its_nodes(given, state, machine, job):
                failed = i
                break
            hold(given, state, machine, job, state.ran_in[job], LOGGED, np.floor(machine.clock[NOW]))
            state.trial[state.counts[TRIALS]] = job
            state.counts[TRIALS] += 1
        undo_trials(given, state)
        if failed in (0, many):
            return
        job = state.together[failed]
        for i in range(failed, 0, -1):
            state.together[i] = state.together[i - 1]
        state.together[0] = job


@kernel(allocates=False)
def put_on_its_nodes(given: Given, state: Dynamic, machine: Machine, job: int) -> bool:
    """Write down for a job what it has of the nodes of the log; return whether the rule can place it there.

    If it was tried there it has what it had then.
    """
    begin = given.logged_first[job]
    many = given.logged_first[job + 1] - begin
    is_tried = state.would_last[job] == machine.clock[NOW] and state.would_like[job] >= ON_ITS_NODES
    if not is_tried or (many > 0 and given.logged_cores[begin] > 0):
        return put_as_logged(given, state, job, state.ran_in[job])
    first, fits = given.first_held[job], True
    for i in range(many):
        state.chosen[i], state.got[i] = state.would_node[first + i], state.would_cores[first + i]
        fits &= state.got[i] <= state.now.cores[state.chosen[i]]
    if not fits:
        return put_as_logged(given, state, job, state.ran_in[job])
    write_down(given, state, job, many, state.now)
    return True

# SPDX-License-Identifier: BSD-3-Clause
"""When a job could start on some nodes: now, or when running jobs have ended, at their limits, one after the other."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.slurm.choosing import are_many, choose_of_usable
from swftools.simulator.slurm.found import AT_ONCE, is_kept, note_found, recall, slot_if_kept
from swftools.simulator.slurm.holding import give_back
from swftools.simulator.slurm.lightness import asks_gpus, note_light, stays_light
from swftools.simulator.slurm.preempting import find_victims
from swftools.simulator.slurm.state import (
    BF_LINEAR,
    FIRST_FROM,
    FIRST_UNTIL,
    GIVEN_BACK,
    IS_COPIED,
    IS_CUT,
    LEFT_OUT,
    NO_WINDOWS,
    NOT_BEFORE,
    RUNNERS,
    SECOND_FROM,
    SECOND_UNTIL,
    UNKNOWN,
    VERSION,
    VICTIMS,
    WORDS,
    Amounts,
    Dynamic,
    Given,
    copy_amounts,
    has_node,
    put_node,
    rounded_down,
)
from swftools.simulator.slurm.totals import put_totals
from swftools.simulator.slurm.usable import let_leave_nodes, look_at_nodes, wanted_of

WINDOW = 30.0
"""Seconds of the first window in which ends of jobs count together."""

FIRST_WITH_BARRIER = 22.05
"""The version from which on windows are counted from one time, a whole multiple of the first window since 1970."""

FIRST_FROM_THEN_ON = 23.11
"""The version from which on the machine as it is now is not tried for a later start."""


@kernel(allocates=False)
def will_run(
    given: Given, state: Dynamic, job: int, partition: int, now: float, earliest: float, only_now: bool, latest: float
) -> float:
    """Return when a job could start on the available nodes, infinity if never; any time after the latest if it is.

    ``state.picked`` are its nodes then, and ``state.resources`` what it would hold of them.
    """
    is_later = given.number[VERSION] >= FIRST_FROM_THEN_ON and earliest > now
    leaves_light = stays_light(given, job)
    if leaves_light:  # each test of it counts for others, so it is made
        latest = np.inf
    slot = UNKNOWN if only_now or is_later or leaves_light else slot_if_kept(given, state, job, partition, now)
    if slot != UNKNOWN and is_kept(given, state, slot, job, partition):
        if state.found_not_before[slot] > latest:
            return state.found_not_before[slot]
        found = state.found_begin[slot]
        if not np.isnan(found) and (
            found != AT_ONCE or earliest > now
        ):  # who starts at once needs more than what is kept
            recall(state, slot)
            return max(found, now)
    found = find_begin(given, state, job, partition, now, earliest, is_later, only_now, latest)
    if slot != UNKNOWN:
        note_found(given, state, slot, job, partition, AT_ONCE if found == now else found)
    return found


@kernel(allocates=False)
def find_begin(
    given: Given,
    state: Dynamic,
    job: int,
    partition: int,
    now: float,
    earliest: float,
    is_later: bool,
    only_now: bool,
    latest: float,
) -> float:
    """Return the same, looked for."""
    counts = state.counts
    counts[VICTIMS] = counts[GIVEN_BACK] = counts[IS_CUT] = 0
    note_no_span(state)
    state.clock[NOT_BEFORE] = -np.inf
    if not is_later and can_run(given, state, job, partition, state.now):
        return now
    if counts[IS_COPIED] == 0:
        copy_amounts(state.now, state.then)
        counts[IS_COPIED] = 1
    victims, place = find_victims(given, state, job, partition, state.available, now), 0
    for i in range(victims):
        let_end(given, state, state.victim[i])
        state.is_gone[state.victim[i]] = 1
    while is_later and place < counts[RUNNERS] and planned_end(state, place, now) < earliest:
        if state.is_gone[state.runner[place]] == 0 and touches(given, state, state.runner[place]):
            let_end(given, state, state.runner[place])
        place += 1
    found, is_other = np.inf, victims > 0 or is_later
    if is_other and can_run(given, state, job, partition, state.then):
        found, counts[VICTIMS] = now, victims
    elif not only_now:
        found = run_when_others_end(given, state, job, partition, now, place, latest)
    for i in range(victims):
        state.is_gone[state.victim[i]] = 0
    for i in range(counts[GIVEN_BACK]):
        take_back(given, state, state.given_back[i])
    return found


@kernel(allocates=False)
def let_end(given: Given, state: Dynamic, runner: int) -> None:
    """Let a running job be thought to have left its nodes."""
    give_back(given, state, runner, state.then)
    note_given_back(state, runner)


@kernel(allocates=False)
def note_given_back(state: Dynamic, runner: int) -> None:
    """Note that a running job is thought to have left nodes."""
    state.given_back[state.counts[GIVEN_BACK]] = runner
    state.counts[GIVEN_BACK] += 1


@kernel(allocates=False)
def take_back(given: Given, state: Dynamic, runner: int) -> None:
    """Let as much be thought to be free of a running job's nodes as is free now."""
    first, now, then = given.first_held[runner], state.now, state.then
    for i in range(first, first + state.held_count[runner]):
        node = state.held_node[i]
        then.cores[node], then.memory[node] = now.cores[node], now.memory[node]
        then.gpus[node], then.jobs[node] = now.gpus[node], now.jobs[node]


@kernel(allocates=False)
def run_when_others_end(
    given: Given, state: Dynamic, job: int, partition: int, now: float, place: int, latest: float
) -> float:
    """Return when a job could start as running jobs end, those from a place on; infinity if never.

    As long as too few nodes are free only those are looked at that end by the latest time; then any later time is
    returned, and ``IS_CUT`` is set.
    ``state.then`` is what is free before, and its nodes have been looked at.
    """
    linear, window, many = given.number[BF_LINEAR], WINDOW, state.counts[RUNNERS]
    has_windows, has_barrier = int(given.number[LEFT_OUT]) != NO_WINDOWS, given.number[VERSION] >= FIRST_WITH_BARRIER
    base, last, wanted = -1.0, -1.0, wanted_of(given, job, partition)
    before, is_enough, lacks = -np.inf, False, not are_many(given, state, job)
    place = past_gone(state, place)
    while place < many:
        if not has_barrier:
            base = -1.0
        last = -1.0
        while place < many:
            runner, end = state.runner[place], planned_end(state, place, now)
            if end > latest and lacks and not is_enough:
                state.counts[IS_CUT], state.clock[NOT_BEFORE] = 1, end
                return end
            place = past_gone(state, place + 1)
            if not let_leave_nodes(given, state, wanted, runner, state.then):
                continue
            note_given_back(state, runner)
            last = end
            if base < 0.0:
                base = rounded_down(given, end, WINDOW) + WINDOW if has_barrier else end
            if is_enough:
                narrow_span(state, end)
            elif are_many(given, state, job):
                is_enough = True
                if lacks:
                    state.clock[NOT_BEFORE] = end
                note_span(state, before, end, base, linear, has_windows and has_barrier)
            before = end
            if not has_windows or place == many or planned_end(state, place, now) > base + window:
                break
        if last < 0.0:
            break
        if pick_of_usable(given, state, job, partition, state.then):
            return last
        if is_enough:
            note_span_of_all(state)
        window = wider(window, linear)
        while has_barrier and place < many and planned_end(state, place, now) > base + window:
            window = wider(window, linear)
    if lacks and not is_enough:
        state.clock[NOT_BEFORE] = np.inf
    return np.inf


@kernel(allocates=False)
def wider(window: float, linear: float) -> float:
    """Return the window behind one, s."""
    return window + linear if linear > 0.0 else 2.0 * window


@kernel(allocates=False)
def note_no_span(state: Dynamic) -> None:
    """Note that jobs on other nodes do not matter, whenever their limits end."""
    state.clock[FIRST_FROM] = state.clock[SECOND_FROM] = np.inf
    state.clock[FIRST_UNTIL] = state.clock[SECOND_UNTIL] = -np.inf


@kernel(allocates=False)
def note_span_of_all(state: Dynamic) -> None:
    """Note that any job on other nodes may matter."""
    note_no_span(state)
    state.clock[FIRST_FROM], state.clock[FIRST_UNTIL] = -np.inf, np.inf


@kernel(allocates=False)
def note_span(state: Dynamic, before: float, end: float, base: float, linear: float, is_aligned: bool) -> None:
    """Note which jobs on other nodes matter, by the ends of their limits, where enough is free once a job has ended.

    ``before`` is the end of the one before it on these nodes. If a job on other nodes ends in a window between the two,
    it is tried as soon as the second of them has ended. Else it is tried when the window is over; a job on other nodes
    that ends in the window, after the last one on these nodes, moves that behind the next one on these. How windows
    before are cut does not matter: there is too little whatever has ended in them.
    """
    if not is_aligned:
        note_span_of_all(state)
        return
    begins, window = -np.inf, WINDOW
    while end > base + window:
        begins = base + window
        window = wider(window, linear)
    state.clock[FIRST_FROM], state.clock[FIRST_UNTIL] = before, begins
    state.clock[SECOND_FROM], state.clock[SECOND_UNTIL] = end, base + window


@kernel(allocates=False)
def narrow_span(state: Dynamic, end: float) -> None:
    """Note that a job on these nodes ends later in the same window: only who ends after it moves the window's end."""
    if end <= state.clock[SECOND_UNTIL]:
        state.clock[SECOND_FROM] = end


@kernel(allocates=False)
def past_gone(state: Dynamic, place: int) -> int:
    """Return the first place from one on whose job is not thought to be gone: those that are do not end a window."""
    while place < state.counts[RUNNERS] and state.is_gone[state.runner[place]] != 0:
        place += 1
    return place


@kernel(allocates=False)
def planned_end(state: Dynamic, place: int, now: float) -> float:
    """Return when a running job ends at its limit; one that is beyond it ends next."""
    end = state.limit_end[state.runner[place]]
    return end if end > now else now + 1.0


@kernel(allocates=False)
def touches(given: Given, state: Dynamic, runner: int) -> bool:
    """Whether a running job has one of the available nodes."""
    place = given.first_held[runner]
    behind = place + state.held_count[runner]
    while place < behind and not has_node(state.available, 0, state.held_node[place]):
        place += 1
    return place < behind


@kernel(allocates=False)
def can_run(given: Given, state: Dynamic, job: int, partition: int, amounts: Amounts) -> bool:
    """Whether the available nodes suffice for a job, of which so much is free; then they are picked."""
    look_at_nodes(state, wanted_of(given, job, partition), state.available, amounts)
    return pick_of_usable(given, state, job, partition, amounts)


@kernel(allocates=False)
def pick_of_usable(given: Given, state: Dynamic, job: int, partition: int, amounts: Amounts) -> bool:
    """Whether the nodes that were looked at suffice for a job; then they are picked."""
    if asks_gpus(given, job):
        note_light(given, state, job, partition, state.available, amounts)
    count = choose_of_usable(given, state, job, partition, amounts)
    if count == 0:
        return False
    for word in range(state.counts[WORDS]):
        state.picked[word] = 0
    for i in range(count):
        put_node(state.picked, 0, state.chosen[i])
    put_totals(given, state, job, partition, count, amounts)
    return True

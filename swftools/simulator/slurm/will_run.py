# SPDX-License-Identifier: BSD-3-Clause
"""When a job could start on some nodes: now, or when running jobs have ended, at their limits, one after the other."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.slurm.choosing import are_many, choose_of_usable
from swftools.simulator.slurm.found import AT_ONCE, is_kept, light_again, note_found, recall, slot_if_kept
from swftools.simulator.slurm.lightness import asks_gpus, note_light, stays_light
from swftools.simulator.slurm.node_sets import has_node, put_node
from swftools.simulator.slurm.preemptable import SUSPEND, mode_of
from swftools.simulator.slurm.preempting import find_victims
from swftools.simulator.slurm.rooms import look_at_roomy, time_of_room
from swftools.simulator.slurm.state import (
    BF_LINEAR,
    FIRST_FROM,
    FIRST_UNTIL,
    IS_CUT,
    LAST_TO_END,
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
    rounded_down,
)
from swftools.simulator.slurm.totals import put_totals
from swftools.simulator.slurm.usable import KEEPS_MEMORY, let_leave_nodes, look_before, wanted_of

WINDOW = 30.0
"""Seconds of the first window in which ends of jobs count together."""

FIRST_WITH_BARRIER = 22.05
"""The version from which on windows are counted from one time, a whole multiple of the first window since 1970."""

FIRST_FROM_THEN_ON = 23.11
"""The version from which on the machine as it is now is not tried for a later start."""


@kernel(allocates=False)
def will_run(
    given: Given,
    state: Dynamic,
    job: int,
    partition: int,
    rooms: int,
    now: float,
    earliest: float,
    only_now: bool,
    latest: float,
) -> float:
    """Return when a job could start on the available nodes, infinity if never; any time after the latest if it is.

    ``rooms`` is the list of when nodes have room for it, ``UNKNOWN`` where that is not known.
    ``state.picked`` are its nodes then, and ``state.resources`` what it would hold of them.
    """
    is_later = given.number[VERSION] >= FIRST_FROM_THEN_ON and earliest > now
    leaves_light = stays_light(given, job)
    if leaves_light:  # each test of it counts for others, so it is made
        latest = np.inf
    slot = UNKNOWN if only_now or is_later else slot_if_kept(given, state, job, partition, now)
    if slot != UNKNOWN and is_kept(given, state, slot, job, partition):
        if state.found_not_before[slot] > latest:
            return state.found_not_before[slot]
        found = state.found_begin[slot]
        if not np.isnan(found) and (
            found != AT_ONCE or earliest > now
        ):  # who starts at once needs more than what is kept
            recall(state, slot)
            if leaves_light:
                light_again(given, state, slot, job, partition)
            return max(found, now)
    from_then_on = earliest if is_later else -np.inf
    found = find_begin(given, state, job, partition, rooms, now, from_then_on, only_now, latest)
    if slot != UNKNOWN:
        note_found(given, state, slot, job, partition, AT_ONCE if found == now else found)
    return found


@kernel(allocates=False)
def find_begin(
    given: Given,
    state: Dynamic,
    job: int,
    partition: int,
    rooms: int,
    now: float,
    from_then_on: float,
    only_now: bool,
    latest: float,
) -> float:
    """Return the same, looked for: whoever ends before a time is gone at once, if it is not -infinity."""
    counts, is_later = state.counts, from_then_on > -np.inf
    counts[VICTIMS] = counts[IS_CUT] = 0
    note_no_span(state)
    state.clock[NOT_BEFORE] = roomy_from = -np.inf
    if rooms != UNKNOWN:
        roomy_from = time_of_room(given, state, job, rooms)
    has_gpus = asks_gpus(given, job)
    if roomy_from > latest or (roomy_from == np.inf and not has_gpus):
        counts[IS_CUT] = int(roomy_from < np.inf)
        state.clock[NOT_BEFORE] = roomy_from
        return roomy_from
    is_tried = not is_later and roomy_from == -np.inf
    if is_tried and can_run(given, state, job, partition, -np.inf, False, now):
        return now
    victims = find_victims(given, state, job, partition, state.available, now)
    for i in range(victims):
        runner = state.victim[i]
        state.is_gone[runner] = KEEPS_MEMORY if mode_of(given, state, runner) == SUSPEND else 1
    found, leap, is_found = np.inf, from_then_on, False
    if roomy_from > from_then_on and may_leap(given, state, now):
        leap = roomy_from
    if leap > from_then_on and not has_gpus:
        look_at_roomy(given, state, job, wanted_of(given, job, partition), rooms, leap, now)
    elif not is_tried or victims > 0:  # a test with GPUs leaves its mark on all nodes
        is_found = can_run(given, state, job, partition, leap, victims > 0, now)
    if is_found:
        found, counts[VICTIMS] = now, victims
    elif not only_now:
        found = run_when_others_end(given, state, job, partition, now, from_then_on, leap, latest)
    for i in range(victims):
        state.is_gone[state.victim[i]] = 0
    return found


@kernel(allocates=False)
def may_leap(given: Given, state: Dynamic, now: float) -> bool:
    """Whether what is found does not depend on how windows were cut before there is room."""
    has_windows = int(given.number[LEFT_OUT]) != NO_WINDOWS and given.number[VERSION] >= FIRST_WITH_BARRIER
    return has_windows and (state.counts[RUNNERS] == 0 or state.limit_end[state.runner[0]] > now)


@kernel(allocates=False)
def place_behind(state: Dynamic, time: float, now: float) -> int:
    """Return the first place of a running job that does not end before a time."""
    low, high = 0, state.counts[RUNNERS]
    while low < high:
        middle = (low + high) // 2
        if planned_end(state, middle, now) < time:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(allocates=False)
def run_when_others_end(
    given: Given,
    state: Dynamic,
    job: int,
    partition: int,
    now: float,
    from_then_on: float,
    leap: float,
    latest: float,
) -> float:
    """Return when a job could start as running jobs end, from some time on; infinity if never.

    Too few nodes are free before the time that it leaps to.

    As long as too few nodes are free only those are looked at that end by the latest time; then any later time is
    returned, and ``IS_CUT`` is set.
    ``state.then`` is what is free before, and its nodes have been looked at.
    """
    linear, many = given.number[BF_LINEAR], state.counts[RUNNERS]
    has_windows, has_barrier = int(given.number[LEFT_OUT]) != NO_WINDOWS, given.number[VERSION] >= FIRST_WITH_BARRIER
    last, wanted, is_enough, lacks = -1.0, wanted_of(given, job, partition), False, not are_many(given, state, job)
    base, before, window = window_behind(given, state, now, from_then_on, leap)
    place = past_gone(state, place_behind(state, leap, now))
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
            if not let_leave_nodes(given, state, wanted, runner):
                continue
            last, state.counts[LAST_TO_END] = end, runner
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
        if has_barrier:
            window = window_of(given, state, now, base, window, place)
    if lacks and not is_enough:
        state.clock[NOT_BEFORE] = np.inf
    return np.inf


@kernel(allocates=False)
def window_behind(
    given: Given, state: Dynamic, now: float, from_then_on: float, leap: float
) -> tuple[float, float, float]:
    """Return from when windows count, the last end before a time on the available nodes, and the window that follows.

    Before that time too few nodes have room. The window is then the first one in which the job ends that is behind the
    last one before that time, wherever it runs. Where none ends on these nodes windows have not begun: -1.
    """
    place, gone, window = place_behind(state, from_then_on, now), place_behind(state, leap, now) - 1, WINDOW
    while gone >= place and not touches(given, state, state.runner[gone]):
        gone -= 1
    if gone < place:
        return -1.0, -np.inf, window
    while not touches(given, state, state.runner[place]):
        place += 1
    base = rounded_down(given, planned_end(state, place, now), WINDOW) + WINDOW
    return base, planned_end(state, gone, now), window_of(given, state, now, base, window, gone + 1)


@kernel(allocates=False)
def window_of(given: Given, state: Dynamic, now: float, base: float, window: float, place: int) -> float:
    """Return a window, or the next one in which a running job ends, if there is such a job."""
    while place < state.counts[RUNNERS] and planned_end(state, place, now) > base + window:
        window = wider(window, given.number[BF_LINEAR])
    return window


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
def can_run(
    given: Given, state: Dynamic, job: int, partition: int, until: float, are_victims: bool, now: float
) -> bool:
    """Whether the available nodes suffice for a job when who ends before a time has left; then they are picked."""
    look_before(given, state, wanted_of(given, job, partition), until, are_victims, now)
    return pick_of_usable(given, state, job, partition, state.then)


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

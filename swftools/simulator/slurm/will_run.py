# SPDX-License-Identifier: BSD-3-Clause
"""When a job could start on some nodes: now, or when running jobs have ended, at their limits, one after the other."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.slurm.choosing import choose_nodes
from swftools.simulator.slurm.holding import give_back
from swftools.simulator.slurm.preempting import find_victims
from swftools.simulator.slurm.state import (
    BF_LINEAR,
    LEFT_OUT,
    NO_WINDOWS,
    RUNNERS,
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

WINDOW = 30.0
"""Seconds of the first window in which ends of jobs count together."""

FIRST_WITH_BARRIER = 22.05
"""The version from which on windows are counted from one time, a whole multiple of the first window since 1970."""

FIRST_FROM_THEN_ON = 23.11
"""The version from which on the machine as it is now is not tried for a later start."""


@kernel(allocates=False)
def will_run(
    given: Given, state: Dynamic, job: int, partition: int, now: float, earliest: float, only_now: bool
) -> float:
    """Return when a job could start on the available nodes, infinity if never.

    ``state.picked`` are its nodes then, and ``state.resources`` what it would hold of them.
    """
    is_new = given.number[VERSION] >= FIRST_FROM_THEN_ON
    state.counts[VICTIMS] = 0
    if (earliest <= now or not is_new) and can_run(given, state, job, partition, state.now):
        return now
    copy_amounts(state.now, state.then)
    victims, place, goes_on = (
        find_victims(given, state, job, partition, state.available, now),
        0,
        is_new and earliest > now,
    )
    for i in range(victims):
        give_back(given, state, state.victim[i], state.then)
        state.is_gone[state.victim[i]] = 1
    while goes_on and place < state.counts[RUNNERS] and planned_end(state, place, now) < earliest:
        if state.is_gone[state.runner[place]] == 0 and touches(given, state, state.runner[place]):
            give_back(given, state, state.runner[place], state.then)
        place += 1
    found = np.inf
    if (victims > 0 or goes_on) and can_run(given, state, job, partition, state.then):
        found, state.counts[VICTIMS] = now, victims
    elif not only_now:
        found = run_when_others_end(given, state, job, partition, now, place)
    for i in range(victims):
        state.is_gone[state.victim[i]] = 0
    return found


@kernel(allocates=False)
def run_when_others_end(given: Given, state: Dynamic, job: int, partition: int, now: float, place: int) -> float:
    """Return when a job could start as running jobs end, those from a place on; infinity if never.

    ``state.then`` is what is free before.
    """
    linear, window, many = given.number[BF_LINEAR], WINDOW, state.counts[RUNNERS]
    has_windows, has_barrier = int(given.number[LEFT_OUT]) != NO_WINDOWS, given.number[VERSION] >= FIRST_WITH_BARRIER
    base = last = -1.0
    place = past_gone(state, place)
    while place < many:
        if not has_barrier:
            base = -1.0
        last = -1.0
        while place < many:
            runner, end = state.runner[place], planned_end(state, place, now)
            place = past_gone(state, place + 1)
            if not touches(given, state, runner):
                continue
            give_back(given, state, runner, state.then)
            last = end
            if base < 0.0:
                base = rounded_down(given, end, WINDOW) + WINDOW if has_barrier else end
            if not has_windows or place == many or planned_end(state, place, now) > base + window:
                break
        if last < 0.0:
            return np.inf
        if can_run(given, state, job, partition, state.then):
            return last
        window = window + linear if linear > 0.0 else 2.0 * window
        while has_barrier and place < many and planned_end(state, place, now) > base + window:
            window = window + linear if linear > 0.0 else 2.0 * window
    return np.inf


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
    first = given.first_held[runner]
    is_there = False
    for i in range(first, first + state.held_count[runner]):
        is_there |= has_node(state.available, 0, state.held_node[i])
    return is_there


@kernel(allocates=False)
def can_run(given: Given, state: Dynamic, job: int, partition: int, amounts: Amounts) -> bool:
    """Whether the available nodes suffice for a job, of which so much is free; then they are picked."""
    count = choose_nodes(given, state, job, partition, state.available, amounts)
    if count == 0:
        return False
    for word in range(state.counts[WORDS]):
        state.picked[word] = 0
    for i in range(count):
        put_node(state.picked, 0, state.chosen[i])
    put_totals(given, state, job, partition, count, amounts)
    return True

# SPDX-License-Identifier: BSD-3-Clause
"""The time that a cycle of backfill takes: it holds locks while it tests jobs, and lets them go for a moment at times.

A cycle looks at the queue as it was when it began. It works in stretches. In each it tests jobs until they have taken
``bf_yield_interval``, and so long nothing else is done in the controller: what ends or comes then is seen when locks
are let go, and passes of the main scheduler that were due are made then. After ``bf_yield_sleep`` it goes on with the
plan that it has; without ``bf_continue`` only if nothing has changed meanwhile. It is over after ``bf_max_time`` at the
latest, and the next one begins ``bf_interval`` after its end.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.instants import instant
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.slurm.state import (
    BF_CONTINUES,
    BF_MOST_TIME,
    CHANGED,
    CYCLE,
    CYCLE_BEGAN,
    CYCLE_ENTRIES,
    CYCLE_NEXT,
    LAST_BACKFILL,
    TICK,
    YIELD_SLEEP,
    Dynamic,
    Given,
)

NO_CYCLE, HOLDS_LOCKS, HOLDS_LAST, SLEEPS = range(4)
"""What a cycle does: there is none; it tests jobs, also for the last time; locks are let go."""


@kernel(allocates=False)
def begin_to_take_time(state: Dynamic, machine: Machine) -> None:
    """Keep the queue as it is now for the stretches of a cycle."""
    state.clock[CYCLE_BEGAN] = np.floor(machine.clock[NOW])
    for place in range(state.counts[CYCLE_ENTRIES]):
        state.cycle_job[place], state.cycle_partition[place] = state.entry_job[place], state.entry_partition[place]
        state.cycle_priority[place] = state.entry_priority[place]


@kernel(allocates=False)
def takes_too_long(given: Given, state: Dynamic, time: float) -> bool:
    """Whether a cycle takes as long as it may, which is counted in whole seconds."""
    return np.floor(time) - state.clock[CYCLE_BEGAN] >= given.number[BF_MOST_TIME]


@kernel(allocates=False)
def take_locks(given: Given, state: Dynamic, machine: Machine, used: float, is_over: bool) -> None:
    """Hold locks for as long as a stretch takes, which begins now; what changes from now on counts as a change."""
    until = instant(machine.clock[NOW] + used)
    if until <= machine.clock[NOW]:  # nothing was tested
        end_cycle(given, state, machine)
        return
    state.counts[CYCLE] = HOLDS_LAST if is_over else HOLDS_LOCKS
    state.clock[CYCLE_NEXT] = until
    state.counts[CHANGED] = 0


@kernel(allocates=False)
def end_cycle(given: Given, state: Dynamic, machine: Machine) -> None:
    """Let a cycle be over."""
    state.counts[CYCLE] = NO_CYCLE
    state.clock[LAST_BACKFILL] = np.ceil(machine.clock[NOW] - given.number[TICK])


@kernel(allocates=False)
def holds_locks(state: Dynamic) -> bool:
    """Whether a cycle holds locks."""
    return state.counts[CYCLE] == HOLDS_LOCKS or state.counts[CYCLE] == HOLDS_LAST


@kernel(allocates=False)
def lets_locks_go(given: Given, state: Dynamic, machine: Machine) -> bool:
    """Let locks go, if it is time for it; return whether that is so."""
    if not holds_locks(state) or state.clock[CYCLE_NEXT] > machine.clock[NOW]:
        return False
    if state.counts[CYCLE] == HOLDS_LAST:
        end_cycle(given, state, machine)
    else:
        state.counts[CYCLE] = SLEEPS
        state.clock[CYCLE_NEXT] = instant(machine.clock[NOW] + given.number[YIELD_SLEEP])
    return True


@kernel(allocates=False)
def wakes_up(given: Given, state: Dynamic, machine: Machine) -> bool:
    """Return whether a cycle goes on now; where it must not, as something has changed, it is over."""
    if state.counts[CYCLE] != SLEEPS or state.clock[CYCLE_NEXT] > machine.clock[NOW]:
        return False
    if state.counts[CHANGED] != 0 and given.number[BF_CONTINUES] == 0.0:
        end_cycle(given, state, machine)
        return False
    return True

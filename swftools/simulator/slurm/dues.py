# SPDX-License-Identifier: BSD-3-Clause
"""What is due at a tick of the controller: a period of priorities, a cycle of backfill, a pass of main."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import Machine
from swftools.simulator.slurm.cycle import NO_CYCLE
from swftools.simulator.slurm.fair_share import work_period
from swftools.simulator.slurm.queue import calculate
from swftools.simulator.slurm.state import (
    BF_INTERVAL,
    CALC_PERIOD,
    CHANGED,
    CYCLE,
    DELAY,
    ENTRIES,
    FIRST_PASS,
    HAS_BACKFILL,
    HAS_MAIN,
    INTERVAL,
    IS_MULTIFACTOR,
    LAST_BACKFILL,
    LAST_FULL,
    LAST_MAIN,
    LAST_TICK,
    LEFT_OUT,
    MAIN_ASKED,
    NEXT_CALC,
    NO_BACKFILL,
    NO_MAIN,
    TICK,
    Dynamic,
    Given,
)

NO_PASS, DEFAULT_PASS, FULL_PASS, FORCED_PASS = range(4)
"""Passes of the main scheduler: none, one of so many jobs, one of all, one that a log shows."""


@kernel(allocates=False)
def is_tick(given: Given, state: Dynamic, now: float) -> bool:
    """Whether the controller looks now, and has not done so already."""
    whole = now - given.number[TICK]
    return whole == np.floor(whole) and state.clock[LAST_TICK] != now


@kernel(allocates=False)
def start_period(given: Given, state: Dynamic, machine: Machine, whole: float) -> None:
    """Count usage, and compute fair shares and priorities anew."""
    work_period(given, state, whole)
    calculate(given, state, machine)
    while state.clock[NEXT_CALC] <= whole:  # several, where a cycle of backfill was in the way
        state.clock[NEXT_CALC] += given.number[CALC_PERIOD]
    if given.number[IS_MULTIFACTOR] > 0.0 and state.counts[ENTRIES] > 0:
        state.counts[CHANGED] = 1


@kernel(allocates=False)
def is_backfill_due(given: Given, state: Dynamic, whole: float) -> bool:
    """Whether a cycle of backfill begins now."""
    number = given.number
    if number[HAS_BACKFILL] == 0.0 or int(number[LEFT_OUT]) == NO_BACKFILL:
        return False
    if state.counts[CYCLE] != NO_CYCLE:
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
def note_pass(state: Dynamic, whole: float, due: int) -> None:
    """Note that a pass of the main scheduler begins."""
    state.clock[LAST_MAIN] = whole
    if due == FULL_PASS:
        state.clock[LAST_FULL] = whole
    state.counts[MAIN_ASKED] = 0

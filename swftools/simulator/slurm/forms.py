# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's rules without what a site or a run does not use, which need not be compiled for it.

Jobs that are suspended, cycles of backfill that take time and jobs that a limit keeps back for good are of few sites,
and a real run is followed by few. A site that has one of the first three has all of them.
"""

from __future__ import annotations

from collections.abc import Callable

from swftools.kernel import IntArray, kernel
from swftools.kernel.twins import Twins
from swftools.simulator.machine.state import Machine
from swftools.simulator.slurm.backfill import go_on
from swftools.simulator.slurm.cycle import begin_to_take_time, holds_locks, lets_locks_go, takes_too_long, wakes_up
from swftools.simulator.slurm.following import follow
from swftools.simulator.slurm.hopeless import give_up, nothing_changes
from swftools.simulator.slurm.state import (
    FOLLOWS,
    KEEPS_USAGE,
    SUSPENDS,
    TEST_TIME,
    Dynamic,
    Given,
    SlurmMemory,
)
from swftools.simulator.slurm.suspending import choose_by_suspending, let_go_on, make_room


def without_unused(decide: Callable[..., None], memory: SlurmMemory) -> Callable[..., None]:
    """Return a function that decides as another one where a run begins with this memory, and may have less code."""
    number = memory.given.number
    if number[SUSPENDS] == number[TEST_TIME] == number[KEEPS_USAGE] == 0.0:
        decide = _USUAL.of(decide)
    return decide if number[FOLLOWS] > 0.0 else _UNFOLLOWED.of(decide)


@kernel(allocates=False)
def _do_nothing(given: Given, state: Dynamic, machine: Machine) -> None:
    """Do nothing."""


@kernel(allocates=False)
def _note_nothing(state: Dynamic, machine: Machine) -> None:
    """Do nothing."""


@kernel(allocates=False)
def _say_no(given: Given, state: Dynamic, machine: Machine) -> bool:  # noqa: ARG001 (as those in whose place it is)
    """Return False."""
    return False


@kernel(allocates=False)
def _hold_no_locks(state: Dynamic) -> bool:  # noqa: ARG001 (as above)
    """Return False."""
    return False


@kernel(allocates=False)
def _never_too_long(given: Given, state: Dynamic, time: float) -> bool:  # noqa: ARG001 (as above)
    """Return False."""
    return False


@kernel(allocates=False)
def _choose_none(given: Given, state: Dynamic, job: int, partition: int, available: IntArray, many: int) -> int:  # noqa: ARG001 (as above)
    """Return 0."""
    return 0


@kernel(allocates=False)
def _make_no_room(given: Given, state: Dynamic, machine: Machine, job: int, partition: int, count: int) -> None:
    """Do nothing."""


_USUAL = Twins(
    "usual",
    {
        choose_by_suspending: _choose_none,
        make_room: _make_no_room,
        let_go_on: _do_nothing,
        go_on: _do_nothing,
        begin_to_take_time: _note_nothing,
        holds_locks: _hold_no_locks,
        lets_locks_go: _say_no,
        wakes_up: _say_no,
        takes_too_long: _never_too_long,
        nothing_changes: _say_no,
        give_up: _note_nothing,
    },
)
_UNFOLLOWED = Twins("unfollowed", dict.fromkeys((follow, _USUAL.standing_for(follow)), _do_nothing))

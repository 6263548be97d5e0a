# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are written down for who looks from outside: those that wait, those of them that fit now."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from swftools.kernel import IntArray, kernel
from swftools.simulator.machine.state import WAITING
from swftools.simulator.machine.views import first_waiting, next_waiting
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.acts import could_start
from swftools.simulator.policy_abi import machine_at


def note_waiting(place: Any, jobs: IntArray) -> int:
    """Write the waiting jobs into an array, in the order of the queue; return how many: at most as many as it holds."""
    machine = machine_at(place)
    count = min(machine.counts[WAITING], len(jobs))
    job = first_waiting(machine)
    for i in range(count):
        jobs[i] = job
        job = next_waiting(machine, job)
    return count


def note_fitting(place: Any, jobs: IntArray) -> int:
    """Write the waiting jobs that fit now into an array, in the order of the queue; return how many they are.

    It is long enough for all that wait.
    """
    machine = machine_at(place)
    job, count = first_waiting(machine), 0
    while job != NOBODY:
        if could_start(machine, job):
            jobs[count] = job
            count += 1
        job = next_waiting(machine, job)
    return count


@cache
def note_waiting_kernel() -> Any:
    """Return ``note_waiting`` as a kernel."""
    return _noting(note_waiting)


@cache
def note_fitting_kernel() -> Any:
    """Return ``note_fitting`` as a kernel."""
    return _noting(note_fitting)


def _noting(function: Callable[..., int]) -> Any:
    """Return as a kernel what writes jobs of a machine into an array."""
    from numba import types  # noqa: PLC0415 (takes half a second, and is needed from here on)

    return kernel(types.int64(types.int64, types.int64[::1]), allocates=False)(function)

# SPDX-License-Identifier: BSD-3-Clause
"""The running jobs by expected end."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.machine.state import FREE, OVER, RUNNING, Machine


@kernel(allocates=False)
def expect_end(machine: Machine, job: int, end: float) -> None:
    """Put a job among the running ones, behind those that are expected to end no later."""
    machine.expected_end[job] = end
    place = machine.counts[RUNNING]
    running = machine.running
    while place > 0 and machine.expected_end[running[place - 1]] > end:
        running[place] = running[place - 1]
        place -= 1
    running[place] = job
    machine.counts[RUNNING] += 1


@kernel(allocates=False)
def forget_end(machine: Machine, job: int) -> None:
    """Take a job out of the running ones."""
    place = 0
    while machine.running[place] != job:
        place += 1
    machine.counts[RUNNING] -= 1
    if place < machine.counts[OVER]:
        machine.counts[OVER] -= 1
    for i in range(place, machine.counts[RUNNING]):
        machine.running[i] = machine.running[i + 1]


@kernel(allocates=False)
def release(machine: Machine, job: int) -> None:
    """Free the processors of a running job."""
    forget_end(machine, job)
    machine.counts[FREE] += machine.allocated[job]
    machine.allocated[job] = 0

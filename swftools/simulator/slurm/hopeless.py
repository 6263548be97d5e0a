# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a limit of usage keeps back for ever: usage does not decay, and nothing else is to happen."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import HELD, NOW, Machine
from swftools.simulator.machine.verbs import hold
from swftools.simulator.machine.waiting_queue import is_waiting
from swftools.simulator.slurm.absence import next_change
from swftools.simulator.slurm.state import (
    BEGIN,
    DEAD,
    ENTRIES,
    KEEPS_USAGE,
    LONG,
    PENDING,
    RUNNERS,
    SEEN,
    Dynamic,
    Given,
)


@kernel(allocates=False)
def nothing_changes(given: Given, state: Dynamic, machine: Machine) -> bool:
    """Whether no job runs or is to come, usage stays as it is, and so do nodes and reservations.

    A job that waits for another one comes when that has ended, so it does not by itself.
    """
    now, counts = machine.clock[NOW], state.counts
    if given.number[KEEPS_USAGE] == 0.0 or counts[RUNNERS] > 0 or counts[SEEN] < len(given.cpus):
        return False
    if machine.counts[HELD] > 0 and machine.held_until[0] - given.number[BEGIN] < LONG:
        return False
    for place in range(len(given.reserved_begin)):
        if given.reserved_begin[place] > now or now < given.reserved_end[place] < np.inf:
            return False
    return next_change(given, state) == np.inf


@kernel(allocates=False)
def give_up(state: Dynamic, machine: Machine) -> None:
    """Hold all jobs that wait back until everything is over, as those that were cancelled; they are left out then."""
    now = machine.clock[NOW]
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        if not is_waiting(machine.queue, job):  # it has an entry before
            continue
        state.gone[job] = now
        hold(machine, job, now + LONG)
        state.pending[state.counts[PENDING]] = job
        state.counts[PENDING] += 1
        state.counts[DEAD] += 1

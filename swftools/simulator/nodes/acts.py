# SPDX-License-Identifier: BSD-3-Clause
"""What is decided, and looked at, from outside on nodes, beside the verbs that policies have."""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray, kernel
from swftools.simulator.machine.faults import NO_NODES, fail
from swftools.simulator.machine.state import NOW as THE_TIME
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.views import fits
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.classes import may_start, note_found
from swftools.simulator.nodes.holding import copy_now_to_then
from swftools.simulator.nodes.planned import fits_as_planned, start_as_planned
from swftools.simulator.nodes.shadow import reserve
from swftools.simulator.nodes.state import HEAD, IS_FRESH, NodeMachine
from swftools.simulator.nodes.usable import NOW, has_shape
from swftools.simulator.nodes.verbs import start_on_nodes
from swftools.simulator.nodes.words import GUARD, cores_in


@kernel(allocates=False)
def could_start(machine: Machine, job: int) -> bool:
    """Whether a waiting job fits now."""
    return fits(machine, job)


@kernel(allocates=False)
def could_start_on_nodes(machine: NodeMachine, job: int) -> bool:
    """Whether enough nodes fit a waiting job now; a plan, which keeps the nodes of jobs, does not notice."""
    if not may_start(machine, job):
        return False
    sets, place = machine.places.sets, machine.asked.place[job]
    need, wanted, most = machine.asked.need[job], machine.asked.nodes[job], 0
    for group in range(sets[place], sets[place + 1]):
        got = min(count_now(machine, group, need), wanted)
        if got == wanted and not has_shape(machine, group, need, wanted, NOW, 0.0):
            got = wanted - 1
        most = max(most, got)
    note_found(machine, job, most)
    return most == wanted


@kernel(allocates=False)
def count_now(machine: NodeMachine, group: int, need: int) -> int:
    """Return how many nodes of a set fit now."""
    free, count = machine.nodes.free, 0
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(np.uint64(low[piece]), np.uint64(high[piece])):
            count += ((free[node] | GUARD) - need) & GUARD == GUARD
    return count


@kernel(allocates=False)
def start_there(machine: Machine, job: int, group: int) -> None:  # noqa: ARG001 (nodes need it)
    """End the simulation: a pool has no nodes that a job could be put on."""
    fail(machine, NO_NODES, job)


@kernel(allocates=False)
def run_there(machine: Machine, job: int, group: int) -> None:
    """Let a job that runs already go on on nodes; as ``start_there``."""
    start_there(machine, job, group)


@kernel(allocates=False)
def run_there_on_nodes(machine: NodeMachine, job: int, group: int) -> None:
    """Let a job that runs already go on on the nodes that are written down as its own, also where these are away."""
    begin_there(machine, job, group)


@kernel(allocates=False)
def start_there_on_nodes(machine: NodeMachine, job: int, group: int) -> None:
    """Start a waiting job on the nodes of a set that are written down as its own, if it fits there."""
    begin_there(machine, job, group)


@kernel(allocates=False)
def note_shadow(machine: Machine, job: int, found: FloatArray) -> None:  # noqa: ARG001 (nodes need them)
    """End the simulation: a pool tells it by counting processors."""
    fail(machine, NO_NODES, job)


@kernel(allocates=False)
def note_shadow_on_nodes(machine: NodeMachine, job: int, found: FloatArray) -> None:
    """Write from when on a waiting job could have nodes, s, and the cores that are left then; the machine is used up.

    Where it fits now it starts; else what it would have is reserved.
    """
    if could_start_on_nodes(machine, job):
        start_on_nodes(machine, job)
        copy_now_to_then(machine)
        found[0] = machine.clock[THE_TIME]
    else:
        found[0] = reserve(machine, job)
    found[1] = cores_left(machine) if found[0] < np.inf else 0.0


@kernel(allocates=False)
def cores_left(machine: NodeMachine) -> int:
    """Return how many cores are free at the reserved time, beside the job for which it is."""
    then, total = machine.nodes.then, 0
    for node in range(np.uint64(0), np.uint64(len(then))):
        total += cores_in(then[node])
    return total


@kernel(allocates=False)
def begin_there(machine: NodeMachine, job: int, group: int) -> None:
    """Do so, whether the nodes are there or not."""
    if not fits_as_planned(machine, job):
        fail(machine, NO_NODES, job)
    machine.nodes.group[job] = group
    start_as_planned(machine, job)
    machine.classes.counts[HEAD], machine.classes.counts[IS_FRESH] = NOBODY, 0

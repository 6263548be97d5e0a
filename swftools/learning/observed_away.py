# SPDX-License-Identifier: BSD-3-Clause
"""What is seen in another way on a machine whose nodes go away: nothing is free on nodes that are away."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.learning.observed_nodes import AMOUNTS, ObservedOnNodes, cores_then, free_cores, is_away
from swftools.simulator.machine.state import NOW
from swftools.simulator.nodes.away.exchange import OF_EVENTS, in_place_of
from swftools.simulator.nodes.away.presence import is_sought
from swftools.simulator.nodes.away.state import AwayMachine
from swftools.simulator.nodes.words import cores_in


@in_place_of(is_away, OF_EVENTS)
@kernel(allocates=False)
def is_away_now(machine: AwayMachine, node: int) -> bool:
    """Whether a node is down, drained or reserved now, for whomever."""
    outages, now = machine.outages, machine.clock[NOW]
    for row in range(outages.next[node], outages.behind[node]):
        if outages.begin[row] > now:
            return False  # and so do all behind it
        if outages.end[row] > now:
            return True
    return False


@in_place_of(free_cores, OF_EVENTS)
@kernel(allocates=False)
def free_cores_there(machine: AwayMachine, seen: ObservedOnNodes) -> int:  # noqa: ARG001 (it stands for one that asks it)
    """Return how many cores are free on nodes that are there, of what was counted last."""
    total = 0
    for group in range(len(seen.begins) - 1):
        total += seen.sums[group * AMOUNTS]
    return total


@in_place_of(cores_then, OF_EVENTS)
@kernel(allocates=False)
def cores_there_then(machine: AwayMachine) -> int:
    """Return the cores that will be free when the first job has what is reserved for it, on nodes that it could have.

    These are there as long as it would run.
    """
    total = 0
    for node in range(len(machine.nodes.then)):
        if is_sought(machine, node):
            total += cores_in(machine.nodes.then[node])
    return total

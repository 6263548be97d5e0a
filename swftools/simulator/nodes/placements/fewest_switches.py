# SPDX-License-Identifier: BSD-3-Clause
"""Fewest switches: a job's nodes are attached to as few switches as possible: best fit on a tree of two levels.

The switch with the fewest nodes that fit, of those where they suffice; where none does, the one with most, and so on
for the rest. So does Slurm with its tree topology.
"""

from __future__ import annotations

from swftools.kernel import ShortArray, kernel
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.choosing import choose_by_groups
from swftools.simulator.nodes.placement import placement
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.usable import FIRST, NOT, usable


@placement(
    "fewest-switches",
    chooses_again=True,
    when="Where jobs of several nodes talk much: their messages cross few switches. Descriptions name switches.",
)
@kernel(allocates=False)
def choose_switches(
    machine: NodeMachine, group: int, need: int, wanted: int, how: int, end: float, out: ShortArray, at: int
) -> None:
    """Write down nodes of a set that may be taken, of as few switches as possible."""
    nodes, switches = machine.nodes, 0
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(low[piece], high[piece]):
            kind, switch = usable(machine, node, need, how, end), nodes.switch[node]
            nodes.key[node] = NOBODY if kind == NOT else 2 * switch + (kind == FIRST)
            switches = max(switches, switch + 1)
    choose_by_groups(machine, group, wanted, switches, how, True, out, at)

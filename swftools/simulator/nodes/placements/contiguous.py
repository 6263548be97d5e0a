# SPDX-License-Identifier: BSD-3-Clause
"""Contiguous: a job's nodes have neighbouring numbers, and are of the shortest run of such nodes that suffices."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from swftools.kernel import ShortArray, kernel
from swftools.machines.asked import Asked
from swftools.machines.node_table import NodeTable
from swftools.parameters import truth
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.choosing import choose_by_groups
from swftools.simulator.nodes.placement import Placement, PlacementRule, placement
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.usable import FIRST, NOT, usable

NO_RUN = "asks for more neighbouring nodes than the machine has"


@kernel(allocates=False)
def has_run(machine: NodeMachine, group: int, need: int, wanted: int, how: int, end: float) -> bool:
    """Whether a set has so many neighbouring nodes that may be taken."""
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    for piece in range(ranges[group], ranges[group + 1]):
        length = 0
        for node in range(low[piece], high[piece]):
            length = 0 if usable(machine, node, need, how, end) == NOT else length + 1
            if length == wanted:
                return True
    return False


@dataclass(frozen=True)
class Contiguous(Placement):
    """Neighbouring nodes.

    Parameters
    ----------
    sparing : bool
        Whether of equally long runs that is taken which has most nodes that are to be taken sooner.
    must : bool
        Whether a job waits until there is a run for all of its nodes. If not, and there is none, it gets all of the
        longest, and so on for the rest.
    """

    must: bool = truth(True)

    @property
    def rule(self) -> PlacementRule:
        """The rule; as a must it has a name of its own, for its compiled code."""
        rule = super().rule
        return replace(rule, name=f"{rule.name}, a must", has_shape=has_run) if self.must else rule

    def able(self, asked: Asked, table: NodeTable) -> Asked:
        """Return what jobs ask for; as a must, who asks for more neighbours than there are is excluded."""
        if not self.must:
            return asked
        code = asked.code.copy()
        for row in np.flatnonzero((code == 0) & (asked.nodes > 1)):
            fits = (table.cores >= asked.cores[row]) & (table.memory >= asked.memory[row])
            fits &= table.gpus >= asked.gpus[row]
            longest = max(_longest_run(nodes[fits[nodes]]) for nodes in asked.places[asked.place[row]].nodes)
            if longest < asked.nodes[row]:
                code[row] = len(asked.reasons)
        return replace(asked, code=code, reasons=(*asked.reasons, NO_RUN))


def _longest_run(nodes: np.ndarray) -> int:
    """Return the length of the longest run of neighbouring numbers, which rise."""
    breaks = np.flatnonzero(np.diff(nodes) != 1) + 1
    return int(np.diff(np.concatenate(([0], breaks, [len(nodes)]))).max())


@placement(
    "contiguous",
    chooses_again=True,
    parameters=Contiguous,
    when="Where the network joins neighbours, as on a line, ring or torus, or where a job's nodes must be a partition.",
)
@kernel(allocates=False)
def choose_runs(
    machine: NodeMachine, group: int, need: int, wanted: int, how: int, end: float, out: ShortArray, at: int
) -> None:
    """Write down nodes of a set that may be taken, of as few runs as possible."""
    nodes, runs = machine.nodes, 0
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    for piece in range(ranges[group], ranges[group + 1]):
        was_usable = False
        for node in range(low[piece], high[piece]):
            kind = usable(machine, node, need, how, end)
            if kind != NOT and not was_usable:
                runs += 1
            was_usable = kind != NOT
            nodes.key[node] = 2 * (runs - 1) + (kind == FIRST) if was_usable else NOBODY
    choose_by_groups(machine, group, wanted, runs, how, False, out, at)

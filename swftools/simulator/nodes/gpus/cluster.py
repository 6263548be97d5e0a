# SPDX-License-Identifier: BSD-3-Clause
"""A machine whose GPUs are told apart, at an instant: who fits where, and who has which GPUs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import IntArray
from swftools.machines.node_table import NodeTable
from swftools.simulator.nodes.gpus.choosing import TIES, GpuPlacement
from swftools.simulator.nodes.gpus.inflation import Nodes, best_node, give_back, idle_nodes, look_at_gpus, take
from swftools.simulator.nodes.gpus.workload import Asks, Typical, gpu_nodes


class Held(NamedTuple):
    """What a job has: its class, its node, and the GPUs there, in bits."""

    kind: int
    node: int
    bits: int


class Cluster:
    """Nodes with GPUs on which jobs of one node begin and end.

    Parameters
    ----------
    machine : NodeTable
        The nodes; the first is taken of equal ones.
    placement : GpuPlacement
        Which node and GPUs a job gets.
    asks : Asks
        What jobs ask for, by class.
    typical : Typical
        By which fragments are told.
    """

    def __init__(self, machine: NodeTable, placement: GpuPlacement, asks: Asks, typical: Typical) -> None:
        rule = placement.rule
        ties = TIES[placement.ties or rule.ties]
        self._find, self._take = rule.made(best_node), rule.made(take)
        self.asks = asks
        self.gpus = gpu_nodes(machine, typical, exact=placement.exact, ties=ties, seed=placement.seed)
        self.nodes: Nodes = idle_nodes(machine, len(asks.cpu))
        for node in range(len(machine)):
            look_at_gpus(self.gpus, self.nodes, node)

    def copy(self) -> Cluster:
        """Return another one in the same state."""
        made = object.__new__(Cluster)
        made._find, made._take, made.asks = self._find, self._take, self.asks
        gpus = self.gpus
        made.gpus = gpus._replace(free=gpus.free.copy(), kinds=gpus.kinds.copy(), counts=gpus.counts.copy())
        made.nodes = Nodes._make([column.copy() for column in self.nodes])
        return made

    def find(self, kind: int) -> int:
        """Return the node that a job of a class would get now, or DROPPED."""
        return int(self._find(self.gpus, self.nodes, self.asks, kind))

    def begin(self, kind: int, node: int) -> Held:
        """Let a job of a class begin on a node that it fits."""
        return Held(kind, node, int(self._take(self.gpus, self.nodes, self.asks, node, kind)))

    def end(self, held: Held) -> None:
        """Let a job end."""
        give_back(self.gpus, self.nodes, self.asks, held.node, held.kind, held.bits)

    def fits(self, kind: int, node: int) -> bool:
        """Whether a job of a class fits a node."""
        number, milli = self.asks.number[kind], self.asks.milli[kind]
        if self.nodes.cpu[node] < self.asks.cpu[kind] or self.nodes.memory[node] < self.asks.memory[kind]:
            return False
        if number == 0:
            return True
        has_model = self.gpus.model[node] & self.asks.models[kind] != 0
        return bool(has_model and np.count_nonzero(self.free_of(node) >= milli) >= number)

    def free_of(self, node: int) -> IntArray:
        """Return what is free of each GPU of a node, thousandths; below 0 of those that it lacks."""
        width = len(self.gpus.free) // len(self.nodes.cpu)
        return self.gpus.free[node * width : (node + 1) * width]

    def hold(self, held: Held) -> bool:
        """Let a job have GPUs that it has elsewhere in time; return whether they, and the rest, are free."""
        free, milli = self.free_of(held.node), self.asks.milli[held.kind]
        chosen = [gpu for gpu in range(len(free)) if held.bits >> gpu & 1]
        self.nodes.cpu[held.node] -= self.asks.cpu[held.kind]
        self.nodes.memory[held.node] -= self.asks.memory[held.kind]
        free[chosen] -= milli
        look_at_gpus(self.gpus, self.nodes, held.node)
        self.nodes.version[held.node] += 1
        is_free = self.nodes.cpu[held.node] >= 0 and self.nodes.memory[held.node] >= 0
        return bool(is_free and (free[chosen] >= 0).all())

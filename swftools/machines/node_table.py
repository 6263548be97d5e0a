# SPDX-License-Identifier: BSD-3-Clause
"""A machine of nodes as arrays, numbered from 0: what the simulator, its checks and its measures take."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.machines.outages import NodeOutages
from swftools.machines.slurm_site import SlurmSite

GPU = 1000
"""Thousandths of a GPU, in which GPUs are counted."""


@dataclass(frozen=True)
class PartitionNodes:
    """A partition: some nodes of a machine, and the limits of jobs there.

    Parameters
    ----------
    name : str
        Its name.
    nodes : numpy.ndarray of int64
        Numbers of its nodes, rising.
    max_time : float
        The longest time that a job may request, s; infinite where there is no limit.
    min_nodes, max_nodes : int
        Fewest and most nodes of a job; 0 where there is no limit.
    max_cores : int
        Most cores of a job on each node; 0 where there is no limit.
    default_memory_per_core, max_memory_per_core : int
        MB a core: what a job has that asks for none, and the most it may ask for; 0 where it is not said.
    is_exclusive : bool
        Whether every job there has whole nodes.
    is_default : bool
        Whether jobs go there that name none.
    tier : int
        Priority of the partition among the others, as its batch system counts it.
    """

    name: str
    nodes: IntArray
    max_time: float = np.inf
    min_nodes: int = 0
    max_nodes: int = 0
    max_cores: int = 0
    default_memory_per_core: int = 0
    max_memory_per_core: int = 0
    is_exclusive: bool = False
    is_default: bool = False
    tier: int = 1


@dataclass(frozen=True)
class NodeTable:
    """The nodes of a machine, a number each.

    Parameters
    ----------
    names : tuple of str
        The name of each node.
    kind : numpy.ndarray of int64, shape (nodes,)
        The kind of each node, as a place in ``kinds``.
    kinds : tuple of str
        Names of the kinds.
    cores : numpy.ndarray of int64, shape (nodes,)
        Cores of each node.
    memory : numpy.ndarray of int64, shape (nodes,)
        Memory of each, MB.
    gpus : numpy.ndarray of int64, shape (nodes,)
        GPUs of each, of all types, in thousandths of one.
    weight : numpy.ndarray of int64, shape (nodes,)
        Nodes of lower weight are to be taken first, by the rules that look at it.
    partitions : tuple of PartitionNodes
        At least one.
    gpu_types, features : tuple of frozenset of str
        Of each kind: the types of its GPUs, and what else jobs may ask for by name.
    speed : numpy.ndarray of float64, shape (nodes,)
        Of each node, relative to the others; told, and not simulated.
    threads : numpy.ndarray of int64, shape (nodes,), or of no nodes
        Threads of each core, by node, where its batch system counts them as processors; of no nodes: 1. Cores are what
        the simulator counts; requests of logs that count threads become cores by it.
    switch : numpy.ndarray of int64, shape (nodes,), or of no nodes
        The switch to which each node is attached, as a place in ``switches``; -1 where it is not told. Of no nodes:
        it is told of none.
    switches : tuple of str
        Names of the switches, in the order of their first nodes.
    outages : NodeOutages
        When nodes are away.
    slurm : SlurmSite, optional
        How Slurm is configured there; None: it is not told.
    told : tuple of str
        What the description of the machine has that is not simulated, and what its reader assumed, a sentence each.
    """

    names: tuple[str, ...]
    kind: IntArray
    kinds: tuple[str, ...]
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    weight: IntArray
    partitions: tuple[PartitionNodes, ...]
    gpu_types: tuple[frozenset[str], ...] = ()
    features: tuple[frozenset[str], ...] = ()
    speed: FloatArray = field(default_factory=lambda: np.zeros(0))
    threads: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    switch: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    switches: tuple[str, ...] = ()
    outages: NodeOutages = field(default_factory=NodeOutages)
    slurm: SlurmSite | None = None
    told: tuple[str, ...] = field(default=(), compare=False)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def processors(self) -> int:
        """Cores of all nodes."""
        return int(self.cores.sum())

    @property
    def threads_by_node(self) -> IntArray:
        """Threads of each core, by node; 1 where the machine does not say it."""
        return self.threads if len(self.threads) else np.ones(len(self), np.int64)

    @property
    def switch_by_node(self) -> IntArray:
        """The switch of each node, as a place in ``switches``; -1 where the machine does not say it."""
        return self.switch if len(self.switch) else np.full(len(self), -1, np.int64)

# SPDX-License-Identifier: BSD-3-Clause
"""Whether jobs can run on nodes of a partition that is idle, within its limits: necessary, for every job at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.machines import fitting
from swftools.machines.fitting import FITS
from swftools.machines.node_table import GPU, NodeTable, PartitionNodes

ALL_CORES, ALL_GPUS = fitting.NODES + 1, fitting.NODES + 2
REASONS = {
    **fitting.REASONS,
    ALL_CORES: "asks for more cores than the nodes of its partition have on which it may run",
    ALL_GPUS: "asks for more GPUs than the nodes of its partition have on which it may run",
}
"""Why a job cannot run in a partition, by code."""

_AT_ONCE = 1 << 21
"""Jobs times sizes of nodes that are looked at together."""


class Sizes(NamedTuple):
    """How much jobs ask for, a row each, as ``SlurmJobs`` has it; and their time limits, s, NaN where not told."""

    cpus: IntArray
    cpus_per_task: IntArray
    min_nodes: IntArray
    max_nodes: IntArray
    tasks_per_node: IntArray
    memory_per_cpu: IntArray
    memory_per_node: IntArray
    gpus_per_node: IntArray
    gpus: IntArray
    requested_time: FloatArray

    def take(self, rows: IntArray) -> Sizes:
        """Return some of the rows."""
        taken: list[Any] = [column[rows] for column in self]
        return Sizes(*taken)


class Room:
    """The nodes of a partition on which some jobs may run, those that are alike together.

    Parameters
    ----------
    table : NodeTable
        The machine.
    nodes : numpy.ndarray of int64
        Numbers of nodes, at least one.
    partition : PartitionNodes
        Its limits count.
    """

    def __init__(self, table: NodeTable, nodes: IntArray, partition: PartitionNodes) -> None:
        sizes = np.stack([table.cores[nodes], table.memory[nodes], table.gpus[nodes] // GPU])
        if partition.max_cores:
            sizes[0] = np.minimum(sizes[0], partition.max_cores)
        self._sizes, self._count = np.unique(sizes, axis=1, return_counts=True)
        self._is_capped = partition.max_cores > 0 and bool((table.cores[nodes] > partition.max_cores).any())
        self._partition = partition

    def judge(self, asked: Sizes) -> IntArray:
        """Return ``FITS`` of each job, or why it can never run here: a key of ``REASONS``."""
        step = max(_AT_ONCE // len(self._count), 1)
        rows = np.arange(len(asked.cpus))
        parts = [self._judge(asked.take(rows[begin : begin + step])) for begin in range(0, len(rows), step)]
        return np.concatenate([np.zeros(0, np.int64), *parts])

    def _judge(self, asked: Sizes) -> IntArray:
        """Return what ``judge`` does, of a few jobs."""
        limits = self._partition
        has_most = asked.max_nodes > 0
        below = has_most & (asked.max_nodes < limits.min_nodes)
        least = np.maximum(asked.min_nodes, limits.min_nodes)
        above = (limits.max_nodes > 0) & (least > limits.max_nodes)
        most = np.where(has_most, asked.max_nodes, int(self._count.sum()))
        most = np.minimum(most, limits.max_nodes) if limits.max_nodes else most
        usable = self._usable(asked, most)
        held = (usable > 0) * self._count[:, None]
        nodes = held.sum(axis=0)
        lacks_cores = _largest(usable, held, most) < asked.cpus
        gpus = np.where(usable > 0, self._sizes[2][:, None], 0)
        lacks_gpus = _largest(gpus, held, most) < asked.gpus
        return np.select(
            [asked.requested_time > limits.max_time, below, above, nodes == 0, nodes < least, lacks_cores, lacks_gpus],
            [
                *(fitting.TOO_LONG, fitting.FEW_NODES, fitting.MANY_NODES, self._of_a_node(asked, most)),
                *(fitting.NODES, ALL_CORES, ALL_GPUS),
            ],
            FITS,
        ).astype(np.int64)

    def _usable(self, asked: Sizes, most: IntArray) -> IntArray:
        """Return the CPUs that each job can use of a node of each size, shape (sizes, jobs); 0: none."""
        cores, memory, gpus = (column[:, None] for column in self._sizes)
        usable = np.where(
            asked.memory_per_cpu > 0, np.minimum(cores, memory // np.maximum(asked.memory_per_cpu, 1)), cores
        )
        usable = np.where((asked.memory_per_node > memory) | (asked.gpus_per_node > gpus), 0, usable)
        usable = usable // asked.cpus_per_task * asked.cpus_per_task
        of_node = asked.tasks_per_node * asked.cpus_per_task
        usable = np.where(of_node > 0, np.where(usable >= of_node, of_node, 0), usable)
        is_one = most == 1
        return np.where(is_one & ((usable < asked.cpus) | (asked.gpus > gpus)), 0, usable)

    def _of_a_node(self, asked: Sizes, most: IntArray) -> IntArray:
        """Return what a job lacks that no node can hold."""
        cores, memory, gpus = self._sizes.max(axis=1)
        one = most == 1
        wanted = np.where(one, asked.cpus, np.maximum(asked.tasks_per_node, 1) * asked.cpus_per_task)
        lacks_memory = np.maximum(asked.memory_per_node, asked.memory_per_cpu) > memory
        lacks_gpus = np.maximum(asked.gpus_per_node, np.where(one, asked.gpus, 0)) > gpus
        of_cores = fitting.MANY_CORES if self._is_capped else fitting.CORES
        return np.select(
            [wanted > cores, lacks_memory, lacks_gpus], [of_cores, fitting.MEMORY, fitting.GPUS], fitting.TOGETHER
        )


def _largest(values: IntArray, held: IntArray, most: IntArray) -> IntArray:
    """Return the sums of the largest values of each job's nodes, over as many nodes as it may have."""
    order = np.argsort(-values, axis=0, kind="stable")
    values, held = np.take_along_axis(values, order, 0), np.take_along_axis(held, order, 0)
    before = np.cumsum(held, axis=0) - held
    taken = np.clip(most - before, 0, held)
    return np.asarray((values * taken).sum(axis=0))

# SPDX-License-Identifier: BSD-3-Clause
"""What partitions make of requests: fewest and most nodes of a job, and the most memory of a CPU and of a node."""

from __future__ import annotations

import numpy as np

from swftools.kernel import BoolArray, IntArray
from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmSite
from swftools.machines.told import Told
from swftools.simulator.slurm.amounts import Amounts

MORE_CPUS = "more CPUs a task, as each CPU would have more memory than the partition lets it have (MaxMemPerCPU)"
WIDEST = "partitions that differ in MinNodes or MaxNodes: jobs of several have the widest of their limits"
TOO_MUCH_MEMORY = "asks for more memory of each node than its partition lets a job have"

_ANY = 1 << 40


def with_memory_of_cpus(
    told: Told, amounts: Amounts, per_cpu: IntArray, table: NodeTable, partition: IntArray
) -> tuple[Amounts, IntArray]:
    """Return amounts where tasks have as many CPUs as their memory takes, and the memory of each CPU, MB.

    As Slurm does it: of a job whose CPUs would have k times what its partition lets them have, or somewhat less, tasks
    have k times as many, with a part of the memory each, rounded up.

    Parameters
    ----------
    partition : numpy.ndarray of int64
        The first of each job, whose limit counts; -1: none.
    """
    most = np.array([*(part.max_memory_per_core for part in table.partitions), 0], np.int64)[partition]
    times = np.where(most > 0, -(-per_cpu // np.maximum(most, 1)), 1)
    times = np.maximum(times, 1)
    told.assume(MORE_CPUS, times > 1)
    found = amounts._replace(cpus=amounts.cpus * times, cpus_per_task=amounts.cpus_per_task * times)
    return found, -(-per_cpu // times)


def has_too_much_memory(
    per_node: IntArray, row: IntArray, partition: IntArray, site: SlurmSite, table: NodeTable
) -> BoolArray:
    """Return which entries, a job and a partition each, ask for more memory of a node than their partition allows."""
    of_site = {part.name: part.max_memory_per_node for part in site.partitions}
    most = np.array([of_site.get(part.name, 0.0) for part in table.partitions], np.float64)[partition]
    return np.asarray((most > 0) & (per_node[row] > most))


def with_nodes_of_partitions(
    told: Told, amounts: Amounts, count: IntArray, partition: IntArray, table: NodeTable
) -> Amounts:
    """Return amounts with fewest and most nodes as the partitions of each job have them.

    A job of several partitions has the least of their MinNodes and the greatest of their MaxNodes.

    Parameters
    ----------
    count : numpy.ndarray of int64, shape (rows,)
        How many partitions each job has.
    partition : numpy.ndarray of int64
        These, one job after the other.
    """
    least = np.array([part.min_nodes for part in table.partitions], np.int64)
    most = np.array([part.max_nodes or _ANY for part in table.partitions], np.int64)
    if not least.any() and (most == _ANY).all():
        return amounts
    has_some = count > 0
    starts = (np.cumsum(count) - count)[has_some]
    low, high, lowest, highest = (np.zeros(len(count), np.int64) for _ in range(4))
    for found, of_partition, ufunc in (
        *((low, least, np.minimum), (highest, least, np.maximum)),
        *((high, most, np.maximum), (lowest, most, np.minimum)),
    ):
        if len(starts):
            found[has_some] = ufunc.reduceat(of_partition[partition], starts)
    told.assume(WIDEST, (low != highest) | (high != lowest))
    high[~has_some] = _ANY
    min_nodes = np.maximum(amounts.min_nodes, low)
    max_nodes = np.where(amounts.max_nodes > 0, np.minimum(amounts.max_nodes, high), np.where(high < _ANY, high, 0))
    wanted = np.maximum(amounts.wanted_nodes, min_nodes)
    wanted = np.where(max_nodes > 0, np.minimum(wanted, max_nodes), wanted)
    return amounts._replace(min_nodes=min_nodes, max_nodes=max_nodes, wanted_nodes=wanted)

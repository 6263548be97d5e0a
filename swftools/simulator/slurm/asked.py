# SPDX-License-Identifier: BSD-3-Clause
"""What jobs ask of Slurm: CPUs that may lie unevenly on nodes, limits of nodes, memory, GPUs, partitions, accounts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import BoolArray, FloatArray, IntArray


class SlurmJobs(NamedTuple):
    """What each job of a trace asks, a row a job of the trace, in its order.

    Parameters
    ----------
    cpus, cpus_per_task : numpy.ndarray of int64, shape (rows,)
        CPUs in all, and of each task; both at least 1.
    min_nodes, max_nodes, wanted_nodes : numpy.ndarray of int64, shape (rows,)
        Fewest nodes (at least 1), most (0: any), and as many as it is to have if it can.
    tasks_per_node : numpy.ndarray of int64, shape (rows,)
        0: not said.
    memory_per_cpu, memory_per_node : numpy.ndarray of int64, shape (rows,)
        MB; 0: not said. At most one of both is.
    gpus_per_node, gpus : numpy.ndarray of int64, shape (rows,)
        GPUs of each node, and in all; 0: none. At most one of both is.
    is_exclusive : numpy.ndarray of bool, shape (rows,)
        Whether it has its nodes alone, also by its partition.
    first_partition, partition : numpy.ndarray of int64, shape (rows + 1,) and (n,)
        The partitions of row i are those from ``partition[first_partition[i]]`` up to that of the next row, as places
        in ``NodeTable.partitions``.
    nodes_allowed : numpy.ndarray of int64, shape (rows,)
        By features: a row of ``sets``; -1: all nodes.
    sets : numpy.ndarray of bool, shape (sets, nodes)
        Sets of nodes.
    user, association, qos : numpy.ndarray of int64, shape (rows,)
        The user as a number from 0 on; places in ``SlurmSite.associations`` and ``SlurmSite.qos``; -1: none.
    nice : numpy.ndarray of float64, shape (rows,)
        What is taken from its priority.
    array, array_limit : numpy.ndarray of int64, shape (rows,)
        The number of its array, from 0 on, -1 if it is of none; most tasks of it that may run at once, 0: any.
    code : numpy.ndarray of int16, shape (rows,)
        Why it cannot run on this machine, as a place in ``reasons``; 0 where it can.
    reasons : tuple of str
        In words; the first is empty.
    ready_time : numpy.ndarray of float64, shape (rows,), or of no rows
        From when on it may start, s; NaN where it does not say so.
    assumed : tuple of str
        What was taken for what the log does not say, in words.
    """

    cpus: IntArray
    cpus_per_task: IntArray
    min_nodes: IntArray
    max_nodes: IntArray
    wanted_nodes: IntArray
    tasks_per_node: IntArray
    memory_per_cpu: IntArray
    memory_per_node: IntArray
    gpus_per_node: IntArray
    gpus: IntArray
    is_exclusive: BoolArray
    first_partition: IntArray
    partition: IntArray
    nodes_allowed: IntArray
    sets: npt.NDArray[np.bool_]
    user: IntArray
    association: IntArray
    qos: IntArray
    nice: FloatArray
    array: IntArray
    array_limit: IntArray
    code: npt.NDArray[np.int16]
    reasons: tuple[str, ...]
    ready_time: FloatArray
    assumed: tuple[str, ...] = ()

# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes the runs of a simulation had, and how much of each, in columns of a schedule's segments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from swftools.kernel import BoolArray, IntArray, ShortArray
from swftools.machines.node_table import NodeTable


def columns_of_parts(
    first: IntArray,
    node: IntArray,
    cores: IntArray,
    memory: IntArray,
    gpus: IntArray,
    table: NodeTable,
    partition: IntArray,
    is_exclusive: BoolArray,
) -> dict[str, Any]:
    """Return what runs had of nodes, as columns of ``Schedule.segments``.

    Parameters
    ----------
    first : numpy.ndarray of int64, shape (runs + 1,)
        The parts of run i are those from ``first[i]`` up to ``first[i + 1]``: one a node, at least one, in any order.
    node, cores, memory, gpus : numpy.ndarray of int64, shape (parts,)
        The number of the node, and what the run had of it: cores, MB, whole GPUs.
    table : NodeTable
        The machine.
    partition : numpy.ndarray of int64, shape (runs,)
        Places in ``table.partitions``.
    is_exclusive : numpy.ndarray of bool, shape (runs,)
        Who had its nodes alone, and so the whole of each.

    Returns
    -------
    dict of str to column
        As machines of nodes have them; also ``cores_by_node``, ``memory_by_node`` and ``gpus_by_node``, each where a
        run that shared its nodes had not the same on all of them.

    Examples
    --------
    >>> from swftools.machines.node_table import PartitionNodes
    >>> nodes = np.arange(3)
    >>> table = NodeTable(
    ...     ("n0", "n1", "n2"), np.zeros(3, np.int64), ("n",), np.full(3, 4), np.full(3, 9), np.zeros(3, np.int64),
    ...     np.ones(3, np.int64), (PartitionNodes("all", nodes),),
    ... )
    >>> none = np.zeros(3, np.int64)
    >>> columns = columns_of_parts(
    ...     np.array([0, 2, 3]), np.array([1, 0, 2]), np.array([4, 1, 2]), none, none, table, np.zeros(2, np.int64),
    ...     np.zeros(2, bool),
    ... )
    >>> [list(each) for each in columns["nodes"]], columns["cores_per_node"].tolist()
    ([[0, 1], [2, 2]], [4, 2])
    >>> columns["cores_by_node"].tolist()
    [[1, 4], <NA>]
    """
    size = np.diff(first)
    run = np.repeat(np.arange(len(size)), size)
    order = np.lexsort((node, run))
    node = node[order]
    begins = np.ones(len(node), bool)  # of a range
    begins[1:] = (node[1:] != node[:-1] + 1) | (run[1:] != run[:-1])
    ends = np.append(begins[1:], True)[: len(begins)]
    ranges = np.stack([node[begins], node[ends]], axis=1).astype(np.int32).ravel()
    offsets = np.concatenate([[0], np.cumsum(2 * np.bincount(run[begins], minlength=len(size)))])
    names = pa.array([each.name for each in table.partitions], pa.large_string())
    starts = first[:-1]
    columns: dict[str, Any] = {"nodes": _lists(offsets, ranges)}
    uneven: dict[str, Any] = {}
    for name, values in (("cores", cores[order]), ("memory", memory[order]), ("gpus", gpus[order])):
        most = np.maximum.reduceat(values, starts) if len(starts) else np.zeros(0, np.int64)
        least = np.minimum.reduceat(values, starts) if len(starts) else np.zeros(0, np.int64)
        columns[f"{name}_per_node"] = most.astype(np.float64) if name == "gpus" else most
        if (is_uneven := (most != least) & ~is_exclusive).any():
            told = is_uneven[run]
            offsets = np.concatenate([[0], np.cumsum(np.where(is_uneven, size, 0))])
            uneven[f"{name}_by_node"] = _lists(offsets, values[told], ~is_uneven)
    columns["is_exclusive"] = is_exclusive
    columns["partition"] = pd.array(names.take(pa.array(partition)), dtype="str")
    return columns | uneven


def _lists(offsets: IntArray, values: IntArray | ShortArray, missing: BoolArray | None = None) -> Any:
    """Return lists of whole numbers as a column, in which some may be missing."""
    mask = None if missing is None else pa.array(missing)
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values), mask=mask)
    return pd.array(lists, dtype=pd.ArrowDtype(lists.type))

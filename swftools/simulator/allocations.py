# SPDX-License-Identifier: BSD-3-Clause
"""What runs hold on the nodes of a machine, from the columns of a schedule: as arrays by run, and a row a node.

Measures and pictures take it from here. The validator does not: it is independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from swftools.errors import ParameterError
from swftools.fields.definition import INTEGERS
from swftools.kernel import BoolArray, FloatArray, IntArray, ShortArray
from swftools.machines.amounts import MOST_MEMORY
from swftools.machines.node_ranges import ranges_of, require_nodes
from swftools.machines.node_table import GPU, NodeTable
from swftools.simulator.schedule import Schedule, contiguous

NODE_COLUMNS = ("nodes", "cores_per_node", "memory_per_node", "gpus_per_node", "is_exclusive", "partition")
"""Columns of ``segments`` that a schedule has on a machine of nodes, and only there."""

BY_NODE = {"cores": "cores_by_node", "memory": "memory_by_node", "gpus": "gpus_by_node"}
"""Columns that it has beside them where a run has not the same on each of its nodes: a list a run, by node."""


class RunsOnNodes(NamedTuple):
    """The runs of a schedule, in the order of its segments, and what each holds on every one of its nodes.

    ``begins`` says where the ranges of each run begin among ``first`` and ``last``, with one entry more than there are
    runs. ``cores``, ``memory`` (MB) and ``gpus`` (thousandths) are what it asked for on a node, on that where it is
    most if ``BY_NODE`` tells them of each; a run with ``is_exclusive`` holds the whole of each. ``partition`` is a
    place in ``NodeTable.partitions``, -1 where its name is none of them. Times, s.
    """

    start: FloatArray
    end: FloatArray
    begins: IntArray
    first: ShortArray
    last: ShortArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    is_exclusive: BoolArray
    partition: IntArray


class Allocations(NamedTuple):
    """A row for each node of each run: by run, and of a run by node.

    ``run`` is a row of the segments. ``cores``, ``memory`` (MB) and ``gpus`` (thousandths) are what it holds there, of
    an exclusive run all that the node has: of one whose memory is not known 0 MB. Times, s.
    """

    run: IntArray
    node: IntArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    start: FloatArray
    end: FloatArray


def machine_of(schedule: Schedule) -> NodeTable:
    """Return the machine of a schedule on nodes.

    Raises
    ------
    ParameterError
        Its machine is a pool of processors.
    """
    if schedule.machine is None:
        raise ParameterError(
            "the machine of this schedule is a pool of processors, without nodes; simulate it with machine=, a "
            "description of its nodes"
        )
    return schedule.machine


def knows_memory(machine: NodeTable) -> BoolArray:
    """Return of which nodes the memory is known; others have so much that it never lacks."""
    return machine.memory < MOST_MEMORY


def runs_on_nodes(schedule: Schedule) -> RunsOnNodes:
    """Return what each run of a schedule on nodes holds.

    Raises
    ------
    ParameterError
        Its machine is a pool, the segments lack a column, or a run has a node that the machine has not.
    """
    machine, segments = machine_of(schedule), schedule.segments
    if missing := [name for name in NODE_COLUMNS if name not in segments]:
        raise ParameterError(f"schedule.segments has no columns {', '.join(missing)}, which runs on nodes have")
    begins, first, last = ranges_of(segments["nodes"])
    require_nodes(begins, first, last, len(machine))

    def whole(name: str) -> IntArray:
        return np.array(segments[name].to_numpy(dtype=np.int64, na_value=0))

    gpus = segments["gpus_per_node"].to_numpy(dtype=np.float64, na_value=0.0)
    names = pa.array([partition.name for partition in machine.partitions], pa.large_string())
    of_run = pc.index_in(pa.array(segments["partition"].astype("str").array).cast(pa.large_string()), value_set=names)
    return RunsOnNodes(
        contiguous(segments, "start_time"),
        contiguous(segments, "end_time"),
        begins,
        first,
        last,
        whole("cores_per_node"),
        whole("memory_per_node"),
        np.rint(gpus * GPU).astype(np.int64),
        np.array(segments["is_exclusive"].to_numpy(dtype=np.bool_, na_value=False)),
        np.array(pc.fill_null(of_run.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)),
    )


def allocations_of(schedule: Schedule) -> Allocations:
    """Return a row for each node of each run of a schedule.

    Parameters
    ----------
    schedule : Schedule
        On a machine of nodes.

    Returns
    -------
    Allocations
        By run, and of a run by node. Nothing is missing: what an exclusive run holds of memory that is not known is 0.

    Raises
    ------
    ParameterError
        Its machine is a pool, the segments lack a column, a run has a node that the machine has not, or a list of
        ``BY_NODE`` has not as many numbers as its run has nodes.
    """
    machine, runs = machine_of(schedule), runs_on_nodes(schedule)
    many = runs.last.astype(np.int64) - runs.first + 1
    of_range = np.repeat(np.arange(len(runs.start)), np.diff(runs.begins))
    run = np.repeat(of_range, many)
    # In a range each node is one more than the one before it.
    node = np.arange(len(run)) + np.repeat(runs.first - (np.cumsum(many) - many), many)
    is_whole = runs.is_exclusive[run]
    cores, memory, gpus = (_by_node(schedule, name, getattr(runs, name), run) for name in BY_NODE)
    return Allocations(
        run,
        node,
        np.where(is_whole, machine.cores[node], cores),
        np.where(is_whole, np.where(knows_memory(machine), machine.memory, 0)[node], memory),
        np.where(is_whole, machine.gpus[node], gpus),
        runs.start[run],
        runs.end[run],
    )


def uneven_runs(schedule: Schedule) -> IntArray:
    """Return the rows of the runs that have not the same on each of their nodes, as a column of ``BY_NODE`` tells.

    Runs that have their nodes alone are none of them: they hold the whole of each.
    """
    segments = schedule.segments
    is_uneven = np.zeros(len(segments), bool)
    for name in BY_NODE.values():
        if name in segments:
            is_uneven |= segments[name].notna().to_numpy(bool)
    if is_uneven.any():
        is_uneven &= ~segments["is_exclusive"].to_numpy(dtype=np.bool_, na_value=False)
    return np.flatnonzero(is_uneven)


def _by_node(schedule: Schedule, name: str, of_run: IntArray, run: IntArray) -> IntArray:
    """Return what each run has on each of its nodes: what its list says, else the same."""
    held, column = of_run[run], BY_NODE[name]
    if column not in schedule.segments:
        return held
    try:
        lists = pa.array(schedule.segments[column], INTEGERS, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise ParameterError(f"schedule.segments: {column} has no lists of whole numbers: {error}") from error
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    is_told = np.asarray(lists.is_valid())
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    if (wrong := is_told & (lengths != np.bincount(run, minlength=len(of_run)))).any():
        row = int(np.argmax(wrong))
        raise ParameterError(
            f"schedule.segments, row {row}: {column} has {lengths[row]} numbers, and the run has another number of "
            "nodes; write one a node, in the order of their numbers"
        )
    values = lists.flatten()
    if values.null_count:
        raise ParameterError(f"schedule.segments: a list of {column} lacks a number; write one a node")
    held[is_told[run]] = values.to_numpy(zero_copy_only=False) * (GPU if name == "gpus" else 1)
    return held

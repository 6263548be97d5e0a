# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes the runs of a simulation had, in columns of a schedule's segments."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.kernel import IntArray, ShortArray, kernel
from swftools.machines.node_table import GPU, NodeTable
from swftools.simulator.nodes.away.state import BESIDE_NODES, KEPT
from swftools.simulator.nodes.placement import Placement
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.nodes.words import amounts_of


class OnNodes(NamedTuple):
    """The nodes that jobs had on a machine, and what they asked of them, by job.

    ``need`` has what each asks of each node, in a word, ``held`` the nodes of each job, as places in the order of the
    placement: as many as ``size`` says, from ``first`` on. ``group`` is the group of nodes that each is of,
    ``partition`` the partition of each group. ``kept`` has the nodes of runs that were stopped, as ``Outages`` does.
    """

    table: NodeTable
    need: IntArray
    held: ShortArray
    first: IntArray
    size: ShortArray
    group: ShortArray
    partition: IntArray
    kept: ShortArray

    @classmethod
    def of(cls, machine: Any, table: NodeTable) -> Self:
        """Return those of a machine, whose arrays they are."""
        nodes, asked, outages = machine.nodes, machine.asked, getattr(machine, "outages", None)
        kept = np.zeros(0, np.int32) if outages is None else outages.kept[: outages.counts[KEPT]]
        return cls(table, asked.need, nodes.held, asked.first, asked.nodes, nodes.group, machine.places.partition, kept)


def columns_of_nodes(
    had: OnNodes, placement: str | Placement, log_job: npt.NDArray[np.int32], is_shown: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Return what runs had of nodes.

    Parameters
    ----------
    had : OnNodes
        What jobs had.
    placement : str or Placement
        The one that the simulation began with.
    log_job : numpy.ndarray of int32, shape (runs,)
        The job of each run.
    is_shown : numpy.ndarray of bool, shape (runs,)
        Of which runs.
    """
    table, held = had.table, had.held
    order = find_placement(placement).rule.order(table).astype(np.int32)
    job = log_job[is_shown]
    first, group = had.first[job], had.group[job]
    if len(had.kept):  # runs that were stopped had other nodes than the last one of the job
        of_log, group_of_log = had.first[log_job], had.group[log_job]
        _find_kept(had.kept, len(held), of_log, group_of_log)
        held = np.concatenate([held, had.kept])
        first, group = of_log[is_shown], group_of_log[is_shown]
    begins = np.zeros(len(job) + 1, np.int64)
    np.cumsum(had.size[job], out=begins[1:])
    own = np.empty(int(begins[-1]), np.int32)
    offsets = np.zeros(len(job) + 1, np.int32)
    _sort_nodes(held, order, first, begins, own, offsets)
    np.cumsum(offsets, out=offsets)
    ranges = np.empty(int(offsets[-1]), np.int32)
    _write_ranges(own, begins, ranges)
    del begins, own
    nodes = pa.ListArray.from_arrays(pa.array(offsets), pa.array(ranges))
    names = pa.array([partition.name for partition in table.partitions], pa.large_string())
    partition = had.partition[group].astype(np.int32, copy=False)
    cores, memory, gpus, is_whole = amounts_of(had.need[job])
    return {
        "nodes": pd.array(nodes, dtype=pd.ArrowDtype(pa.list_(pa.int32()))),
        "cores_per_node": cores,
        "memory_per_node": memory,
        "gpus_per_node": gpus / GPU,
        "is_exclusive": is_whole,
        "partition": pd.array(names.take(pa.array(partition)), dtype="str"),
    }


def _find_kept(kept: ShortArray, begin: int, first: IntArray, group: ShortArray) -> None:
    """Write where the nodes of each run that was stopped begin, of such runs one after the other, and their set."""
    place = 0
    while place < len(kept):
        run, its_group, nodes = kept[place : place + BESIDE_NODES].tolist()
        place += BESIDE_NODES
        first[run], group[run] = begin + place, its_group
        place += nodes


@kernel(allocates=False)
def _sort_nodes(
    held: ShortArray, order: ShortArray, first: IntArray, begins: IntArray, own: ShortArray, lengths: ShortArray
) -> None:
    """Write the nodes of runs by number, rising, and of each run how many numbers its ranges take, behind it."""
    for run in range(len(first)):
        begin, size = begins[run], begins[run + 1] - begins[run]
        for i in range(size):
            own[begin + i] = order[held[first[run] + i]]
        sort_numbers(own, begin, size)
        ranges = 0
        for place in range(begin, begin + size):
            if place == begin or own[place] != own[place - 1] + 1:
                ranges += 1
        lengths[run + 1] = 2 * ranges


@kernel(allocates=False)
def sort_numbers(numbers: ShortArray, begin: int, size: int) -> None:
    """Sort some numbers of an array: by insertion, unless that takes long, and then as a heap."""
    moved = 0
    for at in range(begin + 1, begin + size):
        number, place = numbers[at], at
        while place > begin and numbers[place - 1] > number:
            numbers[place] = numbers[place - 1]
            place -= 1
        numbers[place] = number
        moved += at - place
        if moved > 16 * size:
            _sort_as_heap(numbers, begin, size)
            return


@kernel(allocates=False)
def _sort_as_heap(numbers: ShortArray, begin: int, size: int) -> None:
    """Sort some numbers of an array by a heap whose largest is on top."""
    for top in range(size // 2 - 1, -1, -1):
        _sink(numbers, begin, top, size)
    for last in range(size - 1, 0, -1):
        numbers[begin], numbers[begin + last] = numbers[begin + last], numbers[begin]
        _sink(numbers, begin, 0, last)


@kernel(allocates=False)
def _sink(numbers: ShortArray, begin: int, top: int, size: int) -> None:
    """Let a number of a heap sink to where it belongs."""
    while 2 * top + 1 < size:
        child = 2 * top + 1
        if child + 1 < size and numbers[begin + child + 1] > numbers[begin + child]:
            child += 1
        if numbers[begin + top] >= numbers[begin + child]:
            return
        numbers[begin + top], numbers[begin + child] = numbers[begin + child], numbers[begin + top]
        top = child


@kernel(allocates=False)
def _write_ranges(own: ShortArray, begins: IntArray, ranges: ShortArray) -> None:
    """Write the first and last node of each range of runs."""
    at = 0
    for run in range(len(begins) - 1):
        for place in range(begins[run], begins[run + 1]):
            if place == begins[run] or own[place] != own[place - 1] + 1:
                ranges[at] = own[place]
                at += 2
            ranges[at - 1] = own[place]

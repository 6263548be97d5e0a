# SPDX-License-Identifier: BSD-3-Clause
"""Runs that have not the same of each of their nodes, in parts that have: a node each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import BoolArray, IntArray
from swftools.machines.node_table import GPU
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.node_runs import NodeRuns, read_lists

BY_NODE = ("cores", "memory", "gpus")
"""Of what ``segments`` may have a list a run, in columns such as ``cores_by_node``: a number for each of its nodes."""


class Parts(NamedTuple):
    """Runs in parts that have the same of each node: a run, or each node of one that has not.

    Parameters
    ----------
    run : numpy.ndarray of int64, shape (parts,)
        The run of each part, rising.
    held : NodeRuns
        What each part has.
    is_wrong : numpy.ndarray of bool, shape (runs,)
        Whose lists have not one number a node, or one that cannot be, or not as many at most as is told of a node.
    """

    run: IntArray
    held: NodeRuns
    is_wrong: BoolArray

    def sums_of(self, values: IntArray) -> IntArray:
        """Return the sums of what parts have, by run."""
        total = np.zeros(len(self.is_wrong), np.int64)
        np.add.at(total, self.run, values)
        return total

    def any_of(self, parts: BoolArray) -> BoolArray:
        """Return the runs of which some part is such."""
        return np.asarray(self.sums_of(parts.astype(np.int64)) > 0)


class _List(NamedTuple):
    """A list a run: which are told, and their numbers, one behind the other."""

    is_told: BoolArray
    lengths: IntArray
    values: IntArray


def parts_of_runs(schedule: Schedule, held: NodeRuns) -> Parts:
    """Return the runs of a schedule in parts.

    Raises
    ------
    ParameterError
        A column has no lists of numbers.
    """
    lists = {name: found for name in BY_NODE if (found := _list_of(schedule, name)) is not None}
    is_wrong, is_uneven = np.zeros(len(held.nodes), bool), np.zeros(len(held.nodes), bool)
    for name, found in lists.items():
        is_uneven |= found.is_told
        is_wrong |= found.is_told & _is_wrong(found, held.nodes, getattr(held, name), int(name == "cores"))
    is_uneven &= held.sound & ~is_wrong & ~held.is_exclusive
    if not is_uneven.any():
        return Parts(np.arange(len(held.nodes)), held, is_wrong)
    many = np.where(is_uneven, held.nodes, 1)
    run = np.repeat(np.arange(len(many)), many)
    ranges = np.diff(held.begin)
    splits = np.repeat(is_uneven, ranges)
    times = np.where(splits, held.high - held.low + 1, 1)
    place = np.repeat(np.arange(len(times)), times)
    step = np.arange(len(place)) - np.repeat(np.cumsum(times) - times, times)
    low = held.low[place] + np.where(splits[place], step, 0)
    parts = NodeRuns(
        np.concatenate([[0], np.cumsum(np.where(is_uneven, 1, ranges)[run])]),
        low,
        np.where(splits[place], low, held.high[place]),
        np.where(is_uneven, 1, held.nodes)[run],
        held.cores[run],
        held.memory[run],
        held.gpus[run],
        held.is_exclusive[run],
        held.partition[run],
        held.sound[run],
    )
    for name, found in lists.items():
        counts = is_uneven & found.is_told
        getattr(parts, name)[counts[run]] = found.values[np.repeat(counts, found.lengths)]
    return Parts(run, parts, is_wrong)


def _list_of(schedule: Schedule, name: str) -> _List | None:
    """Return the lists of a column; None where there is no such column."""
    column = f"{name}_by_node"
    if column not in schedule.segments:
        return None
    lengths, values = read_lists(schedule.segments[column])
    is_told = schedule.segments[column].notna().to_numpy(dtype=np.bool_)
    return _List(is_told, lengths, np.where(values < 0, -1, values * (GPU if name == "gpus" else 1)))


def _is_wrong(told: _List, nodes: IntArray, most: IntArray, least: int) -> BoolArray:
    """Return which lists are not such as they can be."""
    ends = np.cumsum(told.lengths)
    begins = ends - told.lengths
    run = np.repeat(np.arange(len(nodes)), told.lengths)
    is_less = np.concatenate([[0], np.cumsum(told.values < least)])
    largest = np.full(len(nodes), -1, np.int64)
    np.maximum.at(largest, run, told.values)
    return (told.lengths != nodes) | (is_less[ends] > is_less[begins]) | (largest != most)

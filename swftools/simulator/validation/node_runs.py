# SPDX-License-Identifier: BSD-3-Clause
"""What the runs of a schedule have of a machine of nodes, as arrays that the rules of nodes take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from swftools.errors import ParameterError
from swftools.kernel import BoolArray, IntArray
from swftools.machines.node_table import GPU, NodeTable
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.runs import floats, integers

COLUMNS = ("nodes", "cores_per_node", "memory_per_node", "gpus_per_node", "is_exclusive", "partition")
"""Columns that segments have on nodes."""

UNTOLD, UNKNOWN = -1, -2
"""Of the partition of a run: it is not said, or the machine has none of that name."""


class NodeRuns(NamedTuple):
    """What each run has, one element a run; ``begin`` has one more.

    The nodes of a run are those of its ranges, ``low`` to ``high`` at ``begin[run]`` to ``begin[run + 1]``. Cores,
    memory (MB) and GPUs (thousandths) are those of each node, -1 if missing; ``partition`` is a place in the
    machine's partitions. Of a run that is not ``sound`` the ranges are not numbers of different nodes that rise. Where
    a run has not the same of each node, its amounts are those of the node with most, and ``node_parts.py`` has all.
    """

    begin: IntArray
    low: IntArray
    high: IntArray
    nodes: IntArray
    cores: IntArray
    memory: IntArray
    gpus: IntArray
    is_exclusive: BoolArray
    partition: IntArray
    sound: BoolArray

    def any_range(self, wrong: BoolArray) -> BoolArray:
        """Return the runs of which some range is such."""
        count = np.concatenate([[0], np.cumsum(wrong)])
        return np.asarray(count[self.begin[1:]] > count[self.begin[:-1]])

    def sum_of(self, values: IntArray) -> IntArray:
        """Return the sums of what ranges have, by run."""
        total = np.concatenate([[0], np.cumsum(values)])
        return np.asarray(total[self.begin[1:]] - total[self.begin[:-1]])

    def numbers(self, run: int) -> IntArray:
        """Return the numbers of the nodes of a sound run."""
        ranges = range(self.begin[run], self.begin[run + 1])
        parts = [np.arange(self.low[place], self.high[place] + 1) for place in ranges]
        return np.concatenate([np.zeros(0, np.int64), *parts])


def read_node_runs(schedule: Schedule, table: NodeTable) -> NodeRuns:
    """Return what the rows of ``Schedule.segments`` have of a machine.

    Raises
    ------
    ParameterError
        A column is missing, or ``nodes`` has no lists of numbers.
    """
    segments = schedule.segments
    if missing := [name for name in COLUMNS if name not in segments]:
        raise ParameterError(f"schedule.segments has no columns {', '.join(missing)}, which runs on nodes have")
    lengths, values = read_lists(segments["nodes"])
    begin = np.concatenate([[0], np.cumsum(lengths // 2)])
    is_paired = lengths % 2 == 0
    if not is_paired.all():  # the last number of such a list is left out
        values = values[np.repeat(is_paired, lengths) | _all_but_last(lengths)]
    low, high = values[::2].copy(), values[1::2].copy()
    wrong = (low < 0) | (high < low) | (high >= len(table))
    follows = np.ones(len(low), np.bool_)
    follows[begin[:-1][np.diff(begin) > 0]] = False
    wrong[1:] |= follows[1:] & (low[1:] <= high[:-1])
    runs = NodeRuns(
        begin,
        low,
        high,
        np.zeros(0, np.int64),
        np.require(integers(segments, "cores_per_node"), np.int64, ["C", "W"]),
        np.require(integers(segments, "memory_per_node"), np.int64, ["C", "W"]),
        _thousandths(segments),
        np.require(segments["is_exclusive"].to_numpy(dtype=np.bool_, na_value=False), np.bool_, ["C", "W"]),
        _partitions(segments["partition"], table),
        np.zeros(0, np.bool_),
    )
    sound = ~runs.any_range(wrong) & (np.diff(begin) > 0) & is_paired
    return runs._replace(nodes=runs.sum_of(high - low + 1), sound=sound)


def read_lists(column: pd.Series) -> tuple[IntArray, IntArray]:
    """Return the lengths of the lists of a column, and what stands in all of them; -1 where a number is missing."""
    try:
        lists = pa.array(column.array, from_pandas=True)
        lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
        lists = lists.cast(pa.list_(pa.int64()))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise ParameterError(f"schedule.segments: {column.name} has no lists of numbers: {error}") from error
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return lengths, lists.flatten().fill_null(-1).to_numpy(zero_copy_only=False)


def _all_but_last(lengths: IntArray) -> BoolArray:
    """Return of all numbers of lists which are not the last of theirs."""
    keeps = np.ones(int(lengths.sum()), np.bool_)
    keeps[np.cumsum(lengths)[lengths > 0] - 1] = False
    return keeps


def _thousandths(segments: pd.DataFrame) -> IntArray:
    """Return GPUs a node in thousandths of one; -1 where it is no number that can be."""
    gpus = floats(segments, "gpus_per_node")
    can_be = (gpus >= 0) & (gpus < 2**40)
    return np.where(can_be, np.rint(np.where(can_be, gpus, 0.0) * GPU), -1).astype(np.int64)


def _partitions(column: pd.Series, table: NodeTable) -> IntArray:
    """Return the places of partitions by their names."""
    code, names = pd.factorize(column)
    place = {part.name: number for number, part in enumerate(table.partitions)}
    known = np.array([*(place.get(str(name), UNKNOWN) for name in names), UNTOLD], np.int64)
    return known[code]

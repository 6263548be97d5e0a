# SPDX-License-Identifier: BSD-3-Clause
"""Where runs lie on the nodes of a machine, for the picture of who runs when: a row a node, shared ones by shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.simulator.allocations import Allocations, allocations_of, machine_of
from swftools.simulator.metrics.over_time_on_nodes import nodes_of
from swftools.simulator.placement import on_processors
from swftools.simulator.schedule import Schedule

FEW = 24
"""Nodes that a picture shows each by its name."""


class ShownNodes(NamedTuple):
    """The nodes of a picture, rising, the row of each node of the machine, -1 of others; and how many were left out."""

    nodes: IntArray
    row: IntArray
    others: int


def shown_nodes(schedule: Schedule, kind: str | None, most: int) -> ShownNodes:
    """Return the first nodes of a kind, or of all, that a picture has room for.

    Raises
    ------
    ParameterError
        The machine is a pool of processors, or has no such kind.
    """
    machine = machine_of(schedule)
    chosen = np.flatnonzero(nodes_of(machine, kind, None))
    row = np.full(len(machine), -1, np.int64)
    row[chosen[:most]] = np.arange(len(chosen[:most]))
    return ShownNodes(chosen[:most], row, max(len(chosen) - most, 0))


def runs_on(schedule: Schedule, shown: ShownNodes) -> BoolArray:
    """Return which runs have any of the nodes that are shown."""
    held = allocations_of(schedule)
    is_there = np.zeros(len(schedule.segments), np.bool_)
    is_there[held.run[shown.row[held.node] >= 0]] = True
    return is_there


def blocks_on_nodes(schedule: Schedule, shown: ShownNodes) -> pd.DataFrame:
    """Return the blocks of the runs of a schedule: ``run``, a row of its segments, and where it lies.

    ``first_node`` is the row of the node, from 0 on, and of a shared node also the share of its cores that lies below;
    ``nodes`` is how many rows it is high: a share of one, or several neighbours that the run has whole; ``cores`` how
    many cores that are; and ``node`` the name of its first node. Where few nodes are shown, each has a block by itself.
    ``kind`` is the kind of its nodes, ``kind_low`` and ``kind_high`` are the rows from which and up to which neighbours
    have that kind.
    """
    machine, held = machine_of(schedule), allocations_of(schedule)
    is_shown = shown.row[held.node] >= 0
    held = Allocations._make(each[is_shown] for each in held)
    row, size = shown.row[held.node], machine.cores[held.node]
    is_whole = held.cores >= size
    kind = machine.kind[shown.nodes]
    band = np.concatenate(([0], np.flatnonzero(np.diff(kind)) + 1, [len(kind)]))  # the rows at which the kind changes
    of_row = np.repeat(np.arange(len(band) - 1), np.diff(band))
    of_run, low = held.run[is_whole], row[is_whole].astype(np.float64)
    begins = np.ones(len(of_run), np.bool_)
    if len(shown.nodes) > FEW:  # else neighbours that a run has whole are one block
        band_of = of_row[low.astype(np.int64)]
        begins[1:] = (of_run[1:] != of_run[:-1]) | (low[1:] != low[:-1] + 1.0) | (band_of[1:] != band_of[:-1])
    ends = np.append(begins[1:], True)[: len(begins)]
    parts = [(of_run[begins], low[begins], low[ends] + 1.0)]
    parts += _shared(held, row, size, np.flatnonzero(~is_whole))
    run, low, high = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((low, run))
    run, low, high = run[order], low[order], high[order]
    names = [machine.names[node] for node in shown.nodes[low.astype(np.int64)].tolist()]
    below = np.concatenate(([0], np.cumsum(machine.cores[shown.nodes])))  # cores of the rows below each row
    cores = np.interp(high, np.arange(len(below)), below) - np.interp(low, np.arange(len(below)), below)
    lies = {"run": run, "first_node": low, "nodes": high - low, "cores": cores}
    at = of_row[low.astype(np.int64)]
    kinds = pd.array([machine.kinds[each] for each in kind[band[at]].tolist()], dtype="str")
    bands = {"kind": kinds, "kind_low": band[at], "kind_high": band[at + 1]}
    return pd.DataFrame({**lies, "node": pd.array(names, dtype="str"), **bands})


def _shared(
    held: Allocations, row: IntArray, size: IntArray, rows: IntArray
) -> list[tuple[IntArray, FloatArray, FloatArray]]:
    """Return the blocks of runs that have a share of a node: beside each other, each where it stays until it ends."""
    found = []
    rows = rows[np.argsort(row[rows], kind="stable")]
    for of_node in np.split(rows, np.flatnonzero(np.diff(row[rows])) + 1):
        if not len(of_node):
            continue
        cores, node = int(size[of_node[0]]), int(row[of_node[0]])
        placed = on_processors(held.start[of_node], held.end[of_node], held.cores[of_node], cores)
        pieces = np.array([(run, *piece) for run, all_of in placed for piece in all_of], np.int64).reshape(-1, 3)
        low, high = (np.minimum(node + pieces[:, side] / cores, node + 1.0) for side in (1, 2))
        found.append((held.run[of_node[pieces[:, 0]]], low, high))
    return found

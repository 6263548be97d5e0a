# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are away, in the picture of who runs when: hatched behind the runs, a hatch a kind of outage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.machines.node_table import NodeTable
from swftools.machines.outages import KINDS
from swftools.output.amounts import number
from swftools.plots.gantt_on_nodes import FEW, ShownNodes
from swftools.simulator.allocations import machine_of
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HATCHES = dict(zip(KINDS, ("xxxx", "////", "...."), strict=True))
"""By kind of outage; they differ where there is no colour."""

WORDS = dict(zip(KINDS, ("down", "drained", "reserved"), strict=True))
"""What nodes are in an outage of each kind."""

_LOOK: dict[str, Any] = {"facecolor": "#F2F2F2", "edgecolor": "#7F7F7F", "linewidth": 0.0}


_WHOLE = ("job_number", "job_occurrence", "shade", "kind_low", "kind_high")
"""Columns of whole numbers of runs, which outages have not."""


def with_outages(
    table: pd.DataFrame, schedule: Schedule, shown: ShownNodes, window: tuple[float, float]
) -> pd.DataFrame:
    """Return a table of runs with a row for each outage in a window, s, and block of neighbours.

    ``outage`` is its kind, missing of runs; ``start`` and ``end`` are from when to when it is in the window, s.
    """
    away = _outages_on(machine_of(schedule), shown, window)
    if not len(away):
        return table
    whole = table.astype(dict.fromkeys(_WHOLE, "Int64"))
    return pd.concat([whole, away], ignore_index=True)


def _outages_on(machine: NodeTable, shown: ShownNodes, window: tuple[float, float]) -> pd.DataFrame:
    """Return the rows of outages."""
    outages = machine.outages
    row, start, end = shown.row[outages.node], outages.begin.clip(*window), outages.end.clip(*window)
    is_seen = (row >= 0) & (end > start)
    row, start, end, kind = row[is_seen], start[is_seen], end[is_seen], outages.kind[is_seen]
    order = np.lexsort((row, end, start, kind))
    row, start, end, kind = row[order], start[order], end[order], kind[order]
    begins = np.ones(len(row), np.bool_)
    same = (kind[1:] == kind[:-1]) & (start[1:] == start[:-1]) & (end[1:] == end[:-1])
    begins[1:] = ~same | (row[1:] > row[:-1] + 1) | (len(shown.nodes) <= FEW)
    first, last = np.flatnonzero(begins), np.flatnonzero(np.append(begins[1:], True)[: len(begins)])
    return pd.DataFrame(
        {
            "outage": pd.array([KINDS[each] for each in kind[first].tolist()], dtype="str"),
            "start": start[first],
            "end": end[first],
            "first_node": row[first].astype(np.float64),
            "nodes": (row[last] + 1 - row[first]).astype(np.float64),
            "node": pd.array([machine.names[each] for each in shown.nodes[row[first]].tolist()], dtype="str"),
        }
    )


def split_outages(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of a table that are of runs, and those that are of outages."""
    if "outage" not in table:
        return table, table.iloc[:0].assign(outage="")
    is_outage = table["outage"].notna()
    runs = table[~is_outage].reset_index(drop=True)
    whole = [name for name in _WHOLE if runs[name].notna().all()]  # beside nodes, a pool has no kinds of them
    return runs.astype(dict.fromkeys(whole, "int64")), table[is_outage].reset_index(drop=True)


def draw_outages(axes: Axes, paths: dict[str, Any]) -> list[tuple[Any, str]]:
    """Draw the outages of each kind, given as one path each; return what stands for them in a legend."""
    from matplotlib.collections import PathCollection  # noqa: PLC0415 (an extra)
    from matplotlib.patches import Patch  # noqa: PLC0415 (an extra)

    found = []
    for kind, path in paths.items():
        axes.add_collection(PathCollection([path], hatch=HATCHES[kind], zorder=0.5, **_LOOK), autolim=False)
        found.append((Patch(hatch=HATCHES[kind], **_LOOK), f"nodes {WORDS[kind]}"))
    return found


def told_of(outages: pd.DataFrame) -> list[str]:
    """Return how many node-hours of the picture each kind of outage has, in words."""
    if not len(outages):
        return []
    hours = (outages["end"] - outages["start"]) * outages["nodes"] / 3600.0
    totals = [(WORDS[str(kind)], float(of_one.sum())) for kind, of_one in hours.groupby(outages["outage"])]
    return [f"{number(total)} node-hours {word}" for word, total in totals]

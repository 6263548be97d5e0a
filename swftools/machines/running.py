# SPDX-License-Identifier: BSD-3-Clause
"""What jobs have of nodes on which they run already: they do, whatever limits a machine has for those that come."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from swftools.kernel import FloatArray, IntArray
from swftools.machines.asked import Asked, Place
from swftools.machines.node_table import GPU, NodeTable
from swftools.trace import Trace

AMOUNTS = ("cores", "memory", "gpus")

RUNS_ON = "runs_on"
"""Column of the list of the nodes on which a job runs when a simulation begins."""


def as_they_run(asked: Asked, trace: Trace, table: NodeTable) -> Asked:
    """Return what jobs ask for, where those of ``RUNS_ON`` have what their columns say, by partition, on any node.

    Parameters
    ----------
    asked : Asked
        By the limits of the machine.
    trace : Trace
        With ``requested_nodes``, ``requested_cores_per_node``, ``requested_memory_per_node`` (MB) and
        ``requested_gpus_per_node`` of each job that runs.
    table : NodeTable
        The machine.
    """
    rows = np.flatnonzero(trace.jobs[RUNS_ON].notna())
    jobs, names = trace.jobs.iloc[rows], trace.known_names.get("partition", {})
    has = [_numbers(jobs, f"requested_{what}") for what in ("nodes", *(f"{each}_per_node" for each in AMOUNTS))]
    nodes, cores, memory, gpus = has
    numbers = {each.name: number for number, each in enumerate(table.partitions)}
    of_row = [
        next((numbers[word] for word in names.get(number, "").split(",") if word in numbers), 0)
        for number in trace.views.partition_id[rows].tolist()
    ]
    told = jobs["is_exclusive"].to_numpy(bool, na_value=False) if "is_exclusive" in jobs else np.zeros(len(rows), bool)
    places, at = list(asked.places), {}
    for partition in sorted(set(of_row)):
        at[partition] = len(places)
        places.append(Place((table.partitions[partition].nodes,), (partition,)))
    whole = told | np.array([table.partitions[partition].is_exclusive for partition in of_row], bool)
    return replace(
        asked,
        nodes=_with(asked.nodes, rows, nodes),
        cores=_with(asked.cores, rows, cores),
        memory=_with(asked.memory, rows, np.floor(memory)),
        gpus=_with(asked.gpus, rows, np.round(gpus * GPU)),
        is_exclusive=_with(asked.is_exclusive, rows, whole),
        place=_with(asked.place, rows, np.array([at[partition] for partition in of_row])),
        places=tuple(places),
        code=_with(asked.code, rows, np.zeros(len(rows))),
    )


def _numbers(jobs: pd.DataFrame, name: str) -> FloatArray:
    """Return a column of numbers, 0 where it is not told."""
    return np.nan_to_num(jobs[name].to_numpy(np.float64, na_value=np.nan))


def _with(column: Any, rows: IntArray, values: Any) -> Any:
    """Return a column with other values in some rows."""
    changed = column.copy()
    changed[rows] = values
    return changed

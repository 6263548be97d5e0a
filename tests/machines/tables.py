# SPDX-License-Identifier: BSD-3-Clause
"""Machines of nodes as small tables of text.

A line a kind of node: name, how many, cores, memory (MB), GPUs, and behind them features and types of GPU, ``+fast``
and ``gpu:a100``, and ``threads:2`` of each core. A line a partition: name, kinds with commas between them, and limits
as ``max_nodes=2``; ``default`` and ``exclusive`` are marks. Lines end where they end, or at a slash between blanks.
Nodes are called by their kind and a number, ``thin0``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from swftools import Trace
from swftools.fields.definition import STRING
from swftools.fields.dictionary import table_fields
from swftools.machines.node_table import GPU, NodeTable, PartitionNodes
from swftools.tables import frame_of
from tests.drawn import rows_of

_SHORT = {f"node_{what}": f"requested_{what}_per_node" for what in ("cores", "memory", "gpus")}
_MARKS = {"default": "is_default", "exclusive": "is_exclusive"}


def machine(kinds: str, partitions: str = "") -> NodeTable:
    """Return a machine by its kinds of nodes and its partitions; without these it has one, ``all``, of all nodes."""
    rows = rows_of(kinds)
    counts = [int(row[1]) for row in rows]
    kind = np.repeat(np.arange(len(rows)), counts)
    amounts = [np.array([round(float(row[at]) * (GPU if at == 4 else 1)) for row in rows])[kind] for at in (2, 3, 4)]
    names = [row[0] for row in rows]
    parts = rows_of(partitions) or [["all", ",".join(names)]]
    return NodeTable(
        tuple(f"{names[each]}{number}" for each, count in enumerate(counts) for number in range(count)),
        kind,
        tuple(names),
        *amounts,
        np.ones(len(kind), np.int64),
        tuple(_partition(row, names, kind) for row in parts),
        tuple(frozenset(word[4:] for word in row[5:] if word.startswith("gpu:")) for row in rows),
        tuple(frozenset(word[1:] for word in row[5:] if word.startswith("+")) for row in rows),
        threads=np.array([next((int(w[8:]) for w in row[5:] if w.startswith("threads:")), 1) for row in rows])[kind],
    )


def _partition(row: list[str], names: list[str], kind: Any) -> PartitionNodes:
    """Return a partition by its line."""
    limits: dict[str, Any] = {}
    for word in row[2:]:
        name, _, value = word.partition("=")
        limits[_MARKS.get(name, name)] = float(value) if name == "max_time" else int(value or 1)
    inside = [names.index(each) for each in row[1].split(",")]
    limits |= {name: bool(limits[name]) for name in _MARKS.values() if name in limits}
    return PartitionNodes(row[0], np.flatnonzero(np.isin(kind, inside)), **limits)


def log_of(rows: Sequence[dict[str, Any]]) -> Trace:
    """Return a log by its jobs, each with columns that the log tells of it.

    ``partition`` and ``queue`` are names; ``node_cores``, ``node_memory`` and ``node_gpus`` stand for what is asked of
    each node.
    """
    swf = Trace.from_columns(job_number=np.arange(len(rows)) + 1, submit_time=np.zeros(len(rows)))
    columns: dict[str, list[Any]] = {}
    names = []
    for head in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(head) for row in rows]
        if head in ("partition", "queue"):
            numbers = {text: number for number, text in enumerate(dict.fromkeys(filter(None, values)), 1)}
            names += [(head, number, text) for text, number in numbers.items()]
            columns[f"{head}_id"] = [numbers.get(text) for text in values]
        else:
            columns[_SHORT.get(head, head)] = values
    told = pd.DataFrame(names, columns=["kind", "number", "name"]).astype({"number": "Int64"})
    given = frame_of("jobs", columns)
    return replace(swf, jobs=swf.jobs.assign(**{name: given[name] for name in given}), names=told)


def jobs(table: str) -> Trace:
    """Return a log by a table with headings that are columns of jobs, as ``log_of`` takes them; ``.`` is missing."""
    heads, *rows = rows_of(table)
    return log_of([{head: _value(head, row[at]) for at, head in enumerate(heads) if row[at] != "."} for row in rows])


def _value(head: str, word: str) -> Any:
    field = table_fields("jobs").get(_SHORT.get(head, head))
    return word if field is None or field.type == STRING else float(word)

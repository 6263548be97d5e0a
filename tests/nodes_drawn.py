# SPDX-License-Identifier: BSD-3-Clause
"""Machines of nodes and their jobs, drawn by hand or by lot: tables of text in, starts and nodes as text out.

A machine is a table of its nodes, numbered from 0, with headings of ``count``, ``cores``, ``memory``, ``gpus``,
``weight`` and ``switch``, and its partitions as ``p:0-3 q:0,2``; ``p:0-3:2:60`` allows 2 nodes a job and 60 s. Jobs are
a table as in ``tests.drawn``: ``job`` is a letter, a request is by default the run, ``partition`` has one or more
names, as ``q,p``; ``alone`` is ``x`` of an exclusive job. What came of them is a table of ``job``, ``start`` and
``nodes``.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swftools.machines.asked import Asked, Place
from swftools.machines.node_table import GPU, NodeTable, PartitionNodes
from tests.drawn import rows_of
from tests.naive.nodes import Job

TOO_LARGE = "asks for more than the machine has"


@dataclass(frozen=True)
class Workload:
    """What a simulation on nodes takes: a machine, what jobs ask of it, and when; in order of submission."""

    table: NodeTable
    asked: Asked
    submit: list[float]
    run: list[float]
    request: list[float]
    rank: list[int]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ask:
    """What one job asks for; ``sets`` has nodes by partition."""

    nodes: int = 1
    cores: int = 1
    memory: int = 0
    gpus: int = 0
    alone: bool = False
    sets: tuple[tuple[int, tuple[int, ...]], ...] = ()
    ready: float = np.nan
    request: float = 0.0


def numbers_of(ranges: str) -> list[int]:
    """Return the numbers that ranges name: of ``0-2,5`` 0, 1, 2 and 5."""
    numbers = []
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def ranges_of(numbers: Sequence[int]) -> str:
    """Return numbers as ranges."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else f"{part[0]}" for part in parts)


def draw_machine(nodes: str, partitions: str) -> NodeTable:
    """Read a machine."""
    headings, *rows = rows_of(nodes)
    kinds = [dict(zip(headings, map(int, row), strict=True)) for row in rows]
    each = [(place, kind) for place, kind in enumerate(kinds) for _ in range(kind.get("count", 1))]
    parts = [text.split(":") for text in partitions.split()]
    return NodeTable(
        tuple(f"n{number}" for number in range(len(each))),
        np.array([place for place, _ in each]),
        tuple(f"kind{place}" for place in range(len(kinds))),
        np.array([kind.get("cores", 1) for _, kind in each]),
        np.array([kind.get("memory", 0) for _, kind in each]),
        np.array([kind.get("gpus", 0) * GPU for _, kind in each]),
        np.array([kind.get("weight", 0) for _, kind in each]),
        tuple(_partition(*part) for part in parts),
        **_switches([kind.get("switch", -1) for _, kind in each]),
    )


def _switches(switch: Sequence[int]) -> dict[str, Any]:
    """Return what a table has of the switch of each node; -1: of none that is told."""
    if max(switch) < 0:
        return {}
    return {"switch": np.array(switch, np.int64), "switches": tuple(f"s{place}" for place in range(max(switch) + 1))}


def _partition(name: str, ranges: str, most: str = "0", time: str = "inf") -> PartitionNodes:
    return PartitionNodes(name, np.array(numbers_of(ranges)), max_nodes=int(most), max_time=float(time))


def draw_workload(nodes: str, partitions: str, jobs: str) -> Workload:
    """Read a machine and its jobs, which are given in order of submission."""
    table = draw_machine(nodes, partitions)
    places = {part.name: place for place, part in enumerate(table.partitions)}
    headings, *rows = rows_of(jobs)
    cells = [dict(zip(headings, row, strict=True)) for row in rows]
    asks = []
    for cell in cells:
        names = cell.get("partition", table.partitions[0].name).split(",")
        asks.append(
            Ask(
                int(cell.get("nodes", 1)),
                int(cell.get("cores", 1)),
                int(cell.get("memory", 0)),
                round(float(cell.get("gpus", 0)) * GPU),
                cell.get("alone", ".") == "x",
                tuple((places[name], tuple(table.partitions[places[name]].nodes.tolist())) for name in names),
                np.nan if cell.get("ready", ".") == "." else float(cell["ready"]),
                float(cell.get("request", cell["run"])),
            )
        )
    return Workload(
        table,
        asked_of(asks, table),
        [float(cell["submit"]) for cell in cells],
        [float(cell["run"]) for cell in cells],
        [float(cell.get("request", cell["run"])) for cell in cells],
        [int(cell.get("rank", "-1").replace(".", "-1")) for cell in cells],
        tuple(cell["job"] for cell in cells),
    )


def asked_of(asks: Sequence[Ask], table: NodeTable) -> Asked:
    """Return what jobs ask for as arrays; who can never run is excluded."""
    places: dict[tuple[tuple[int, tuple[int, ...]], ...], int] = {}
    place, code = [], []
    for ask in asks:
        enough = [
            (partition, nodes)
            for partition, nodes in ask.sets
            if sum(
                ask.cores <= table.cores[node] and ask.memory <= table.memory[node] and ask.gpus <= table.gpus[node]
                for node in nodes
            )
            >= ask.nodes
            and ask.nodes <= (table.partitions[partition].max_nodes or np.inf)
            and ask.request <= table.partitions[partition].max_time
        ]
        can_run = bool(enough) and ask.nodes > 0 and ask.cores > 0
        code.append(0 if can_run else 1)
        place.append(places.setdefault(tuple(enough), len(places)) if can_run else -1)
    return Asked(
        np.array([ask.nodes for ask in asks], np.int64),
        np.array([ask.cores for ask in asks], np.int64),
        np.array([ask.memory for ask in asks], np.int64),
        np.array([ask.gpus for ask in asks], np.int64),
        np.array([ask.alone for ask in asks], np.bool_),
        np.array(place, np.int64),
        tuple(
            Place(tuple(np.array(nodes, np.int64) for _, nodes in sets), tuple(partition for partition, _ in sets))
            for sets in places
        ),
        np.array(code, np.int8),
        ("", TOO_LARGE),
        np.array([ask.ready for ask in asks], np.float64),
    )


def outcome(workload: Workload, jobs: Sequence[Job]) -> list[list[str]]:
    """Return the rows of a table of what came of jobs; ``-`` where one cannot run."""
    found = {job.row: job for job in jobs}
    rows = [["job", "start", "nodes"]]
    for row, name in enumerate(workload.names):
        job = found.get(row)
        rows.append([name, "-", "-"] if job is None else [name, f"{job.start:g}", ranges_of(job.where)])
    return rows


def random_workload(seed: int, *, is_plain: bool = False, most_nodes: int = 8, most_jobs: int = 40) -> Workload:
    """Return a machine and its jobs by lot.

    ``is_plain``: each job has one partition, all nodes of it, whole GPUs and no time before which it may not start,
    and none runs longer than requested.
    """
    lot = random.Random(seed)
    table = _random_table(lot, most_nodes)
    width = lot.choice([0.4, 0.7, 1.0])  # of what its nodes have a job asks for at most so much
    span, alone = lot.choice([20, 60, 200, 400]), lot.choice([0.0, 0.15, 0.15, 0.5])
    asks, submit, run, request, rank = [], [], [], [], []
    for _ in range(lot.randint(3, most_jobs)):
        chosen = lot.sample(
            range(len(table.partitions)), 1 if is_plain else min(lot.choice([1, 1, 2, 3]), len(table.partitions))
        )
        sets = []
        for partition in chosen:
            nodes = table.partitions[partition].nodes.tolist()
            if not is_plain and lot.random() < 0.15:
                nodes = sorted(lot.sample(nodes, lot.randint(1, len(nodes))))
            sets.append((partition, tuple(nodes)))
        model = lot.choice(sets[0][1])
        most = max(len(nodes) for _, nodes in sets)
        gpus = int(table.gpus[model])
        asks.append(
            Ask(
                lot.choice([1, 1, lot.randint(1, most)]),
                lot.randint(1, max(1, int(table.cores[model] * width))),
                lot.choice([0, lot.randint(0, int(table.memory[model] * width))]),
                lot.choice([0, lot.randint(0, gpus // GPU) * GPU, 0 if is_plain else min(gpus, GPU // 4)]),
                lot.random() < alone,
                tuple(sets),
                lot.choice([5.0, 20.0, 40.0]) if not is_plain and lot.random() < 0.1 else np.nan,
            )
        )
        submit.append(float(lot.choice([0, lot.randint(0, 10), lot.randint(0, span), lot.randint(0, span)])))
        run.append(float(lot.choice([0, lot.randint(1, 5), lot.randint(1, 30)])))
        over = lot.choice([0, 0, lot.randint(0, 5), lot.randint(0, 40)])
        under = 0 if is_plain or lot.random() < 0.8 else lot.randint(0, int(run[-1]))
        request.append(max(run[-1] - under, 1.0) if under else run[-1] + over)
        rank.append(lot.choice([-1, 0, 1, 2]))
    turn = sorted(range(len(asks)), key=lambda place: submit[place])
    ordered = [[values[place] for place in turn] for values in (submit, run, request)]
    return Workload(
        table,
        asked_of([asks[place] for place in turn], table),
        *ordered,
        [rank[place] for place in turn],
        tuple(f"j{place}" for place in range(len(turn))),
    )


def _random_table(lot: random.Random, most_nodes: int) -> NodeTable:
    kinds = [
        (lot.choice([1, 2, 4, 8]), lot.choice([0, 4, 16]), lot.choice([0, 0, 1, 2])) for _ in range(lot.randint(1, 3))
    ]
    count = lot.randint(1, most_nodes)
    kind = sorted(lot.randrange(len(kinds)) for _ in range(count))
    parts = [range(count)] if lot.random() < 0.5 else []
    while len(parts) < 1 or (len(parts) < 4 and lot.random() < 0.6):
        low = lot.randrange(count)
        piece = range(low, lot.randint(low, count - 1) + 1)
        parts.append(piece if lot.random() < 0.6 else sorted(lot.sample(range(count), lot.randint(1, count))))
    lot.shuffle(parts)
    by_itself = random.Random(count)  # so that jobs are the same as without switches
    return NodeTable(
        tuple(f"n{number}" for number in range(count)),
        np.array(kind, np.int64),
        tuple(f"kind{place}" for place in range(len(kinds))),
        *(np.array([kinds[each][what] * (GPU if what == 2 else 1) for each in kind], np.int64) for what in range(3)),
        np.array([lot.randrange(3) for _ in range(count)], np.int64),
        tuple(PartitionNodes(f"p{place}", np.array(list(part), np.int64)) for place, part in enumerate(parts)),
        **_switches([by_itself.randrange(-1, 3) for _ in range(count)]),
    )

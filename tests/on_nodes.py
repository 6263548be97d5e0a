# SPDX-License-Identifier: BSD-3-Clause
"""Machines of nodes and schedules on them, drawn by hand as small tables of text, or by chance.

A machine has a line a kind: ``kind count cores`` and, if wanted, ``memory`` (MB), ``gpus`` and ``switch`` (a number);
its nodes are named by their kinds, ``big01`` and so on. Partitions are given by their names: ranges of node numbers.

A schedule has a line a job: ``job submit start run nodes cores`` and, if wanted, ``memory``, ``gpus``, ``partition``,
``exclusive`` (yes), ``request`` and ``ready``. Nodes are numbers from 0 on: ``0-2,5``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa

from swftools.fields.definition import RANGES
from swftools.machines.node_table import GPU, NodeTable, PartitionNodes
from swftools.simulator.schedule import Schedule
from tests.drawn import rows_of


def draw_machine(table: str, partitions: Mapping[str, str] | None = None) -> NodeTable:
    """Read a table of kinds of nodes; without partitions there is one of all nodes, ``all``."""
    headings, *rows = rows_of(table)
    kinds = [dict(zip(headings, row, strict=True)) for row in rows]
    counts = [int(each["count"]) for each in kinds]

    def column(name: str, factor: int = 1) -> np.ndarray:
        return np.repeat([round(float(each.get(name, 0)) * factor) for each in kinds], counts).astype(np.int64)

    names = [f"{each['kind']}{number:02}" for each in kinds for number in range(1, int(each["count"]) + 1)]
    whole = {"all": f"0-{len(names) - 1}"}
    return NodeTable(
        names=tuple(names),
        kind=np.repeat(np.arange(len(kinds)), counts).astype(np.int64),
        kinds=tuple(each["kind"] for each in kinds),
        cores=column("cores"),
        memory=column("memory"),
        gpus=column("gpus", GPU),
        weight=np.ones(len(names), np.int64),
        switch=column("switch") if "switch" in headings else np.zeros(0, np.int64),
        switches=tuple(sorted({each["switch"] for each in kinds})) if "switch" in headings else (),
        partitions=tuple(
            PartitionNodes(name, np.array([node for low, high in _ranges(said) for node in range(low, high + 1)]))
            for name, said in (partitions or whole).items()
        ),
    )


def draw_on_nodes(table: str, machine: NodeTable, policy: str = "easy") -> Schedule:
    """Read a table of jobs that each ran once on some nodes."""
    headings, *rows = rows_of(table)
    given = [dict(zip(headings, row, strict=True)) for row in rows]
    jobs = [
        {
            "submit": float(each["submit"]),
            "start": float(each["start"]),
            "run": float(each["run"]),
            "request": float(each.get("request", each["run"])),
            "ready": float(each.get("ready", each["submit"])),
            "nodes": [number for pair in _ranges(each["nodes"]) for number in pair],
            "cores": int(each["cores"]),
            "memory": int(each.get("memory", 0)),
            "gpus": float(each.get("gpus", 0)),
            "partition": each.get("partition", machine.partitions[0].name),
            "exclusive": each.get("exclusive") == "yes",
        }
        for each in given
    ]
    schedule = schedule_on_nodes(jobs, machine, policy)
    if "ready" not in headings:
        return schedule
    return replace(schedule, jobs=schedule.jobs.assign(ready_time=[each["ready"] for each in jobs]))


def schedule_on_nodes(jobs: list[dict], machine: NodeTable, policy: str = "easy") -> Schedule:
    """Make a schedule of jobs, numbered from 1, whose ``nodes`` are pairs of first and last."""
    held = []
    for each in jobs:
        nodes = [
            node
            for low, high in zip(each["nodes"][::2], each["nodes"][1::2], strict=True)
            for node in range(low, high + 1)
        ]
        held.append(int(machine.cores[nodes].sum()) if each["exclusive"] else each["cores"] * len(nodes))
    count = len(jobs)
    submit, start, run = (
        np.array([each[name] for each in jobs], dtype=np.float64) for name in ("submit", "start", "run")
    )
    keys = {
        "job_number": pd.array(np.arange(1, count + 1), dtype="Int64"),
        "job_occurrence": np.zeros(count, np.int64),
    }
    table = pd.DataFrame(
        keys
        | {
            "submit_time": submit,
            "start_time": start,
            "end_time": start + run,
            "wait_time": start - submit,
            "run_time": run,
            "requested_time": np.array([each["request"] for each in jobs], dtype=np.float64),
            "allocated_processors": pd.array(held, dtype="Int64"),
            "preemptions": pd.array(np.zeros(count, np.int64), dtype="Int64"),
            "is_backfilled": np.zeros(count, np.bool_),
        }
    )
    segments = pd.DataFrame(
        keys
        | {
            "start_time": start,
            "end_time": start + run,
            "allocated_processors": pd.array(held, dtype="Int64"),
            "work": run,
            "lost_work": np.zeros(count),
            "overhead": np.zeros(count),
            "ended_by": pd.array(["completed"] * count, dtype="str"),
            "nodes": pd.arrays.ArrowExtensionArray(
                pa.chunked_array([pa.array([each["nodes"] for each in jobs], RANGES)])
            ),
            "cores_per_node": pd.array([each["cores"] for each in jobs], dtype="Int64"),
            "memory_per_node": pd.array([each["memory"] for each in jobs], dtype="Int64"),
            "gpus_per_node": np.array([each["gpus"] for each in jobs], dtype=np.float64),
            "is_exclusive": np.array([each["exclusive"] for each in jobs], dtype=np.bool_),
            "partition": pd.array([each["partition"] for each in jobs], dtype="str"),
        }
    ).sort_values("start_time", kind="stable", ignore_index=True)
    excluded = table[["job_number", "job_occurrence"]][:0].assign(reason="")
    options = {"overrun": "run-on", "cancelled": "drop", "least_run_time": 0.0, "semantics": "instant"}
    return Schedule(table, segments, excluded, machine.processors, policy, options, machine=machine)


def _ranges(said: str) -> list[tuple[int, int]]:
    """Return ranges of numbers: ``0-2,5``."""
    ends = [part.split("-") for part in said.split(",")]
    return [(int(each[0]), int(each[-1])) for each in ends]


def random_on_nodes(seed: int, jobs: int = 12) -> Schedule:
    """Make a schedule on a machine of few nodes of two kinds and three partitions, in which every run has its room.

    Each job starts at a random one of the whole seconds at which as many nodes as it asks for are free throughout its
    run; so some wait in vain for room that is there, and others overtake them.
    """
    draw = np.random.default_rng(seed)
    machine = draw_machine(
        f"kind count cores memory gpus / thin 3 4 {draw.choice([0, 90])} 0 / fat 2 6 200 {draw.choice([0, 2])}",
        {"all": "0-4", "odd": "0,2-3", "fat": "3-4"},
    )
    placed: list[dict] = []
    for submit in sorted(draw.integers(0, 12, jobs).tolist()):
        partition = machine.partitions[draw.integers(3)]
        largest = {name: int(getattr(machine, name)[partition.nodes].min()) for name in ("cores", "memory", "gpus")}
        job = {
            "submit": float(submit),
            "run": float(draw.integers(0, 6)),
            "cores": int(draw.integers(1, largest["cores"] + 1)),
            "memory": int(draw.integers(largest["memory"] + 1)),
            "gpus": int(draw.integers(largest["gpus"] + 1)) / GPU,
            "partition": partition.name,
            "exclusive": bool(draw.random() < 0.25),
        }
        large = len(_room(job, submit, partition.nodes, [], machine))  # the nodes that have what it asks for
        many, start = int(draw.integers(1, large + 1)), submit + int(draw.integers(3))
        while len(room := _room(job, start, partition.nodes, placed, machine)) < many:
            start += 1
        chosen = np.sort(draw.permutation(room)[:many])
        low = chosen[np.diff(chosen, prepend=-2) > 1]
        high = chosen[np.diff(chosen, append=99) > 1]
        pairs = [int(number) for pair in zip(low, high, strict=True) for number in pair]
        placed.append(job | {"start": float(start), "request": job["run"] + 1, "nodes": pairs})
    return schedule_on_nodes(placed, machine)


def uneven(schedule: Schedule, seed: int) -> Schedule:
    """Return a schedule in which some runs have less on some of their nodes than on that where they have most."""
    draw = np.random.default_rng(seed)
    runs = schedule.segments.copy()
    for name in ("cores", "memory", "gpus"):
        lists: list[list[int] | None] = []
        for row, run in runs.iterrows():
            many = sum(run["nodes"][1::2]) - sum(run["nodes"][::2]) + len(run["nodes"]) // 2
            most = run[f"{name}_per_node"]
            if run["is_exclusive"] or most != int(most) or draw.random() < 0.4:
                lists.append(None)
                continue
            amounts = draw.integers(name == "cores", int(most) + 1, many)
            amounts[draw.integers(many)] = most
            lists.append(amounts.tolist())
            if name == "cores":
                runs.loc[row, "allocated_processors"] = int(amounts.sum())
        runs[f"{name}_by_node"] = pd.Series(lists, dtype=pd.ArrowDtype(pa.list_(pa.int64())))
    processors = runs.set_index("job_number")["allocated_processors"]
    jobs = schedule.jobs.assign(allocated_processors=schedule.jobs["job_number"].map(processors).astype("Int64"))
    return replace(schedule, jobs=jobs, segments=runs)


def _room(job: dict, start: int, nodes: np.ndarray, placed: list[dict], machine: NodeTable) -> np.ndarray:
    """Return the nodes on which a job has room from a whole second on, throughout its run."""
    return np.array(
        [
            node
            for node in nodes
            if all(
                _fits(job, int(node), [each for each in placed if _has(each, int(node), second)], machine)
                for second in range(start, start + max(int(job["run"]), 1))
            )
        ],
        dtype=np.int64,
    )


def _has(job: dict, node: int, second: float) -> bool:
    """Whether a job has a node in the second that begins then."""
    pairs = zip(job["nodes"][::2], job["nodes"][1::2], strict=True)
    is_there = any(low <= node <= high for low, high in pairs)
    return is_there and job["start"] <= second < job["start"] + job["run"]


def _fits(job: dict, node: int, others: list[dict], machine: NodeTable) -> bool:
    """Whether a job has room on a node beside others."""
    if others and (job["exclusive"] or any(each["exclusive"] for each in others)):
        return False
    sizes = {"cores": machine.cores[node], "memory": machine.memory[node], "gpus": machine.gpus[node] / GPU}
    return all(job[name] + sum(each[name] for each in others) <= size + 1e-9 for name, size in sizes.items())

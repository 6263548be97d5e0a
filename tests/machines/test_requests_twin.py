# SPDX-License-Identifier: BSD-3-Clause
"""What jobs ask of machines by lot is what the naive twin says, which looks at each job by itself."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swftools.machines.asked import Asked
from swftools.machines.node_table import GPU, NodeTable, PartitionNodes
from swftools.machines.requests import ask_of
from tests.examples import by_day
from tests.machines.tables import log_of
from tests.naive.asked import Ask, ask, counts_threads

_FEATURES = ("fast", "big", "old")
_CONSTRAINTS = ("fast", "fast&big", "fast|old", "(fast|big)&old", "fast|big&old", "none", "big&(old|fast)")
_NOT_OF_THE_LOG = {"partition": "p0", "requested_nodes": 2, "requested_processors": 7, "requested_gpus": 3}
"""A job by which widths count neither nodes nor GPUs, not all nodes are whole, and partitions are known."""


def _machine(lot: random.Random) -> NodeTable:
    """Return a machine by lot."""
    kinds = range(lot.randint(1, 4))
    count = lot.randint(1, 12)
    kind = np.array(sorted(lot.choice(kinds) for _ in range(count)), np.int64)
    cores = np.array([lot.choice([1, 2, 4, 6, 16]) for _ in kinds], np.int64)[kind]
    memory = np.array([lot.choice([0, 100, 1000, 4000]) for _ in kinds], np.int64)[kind]
    gpus = np.array([round(lot.choice([0, 1, 1.5, 2, 4]) * GPU) for _ in kinds], np.int64)[kind]
    parts = [
        PartitionNodes(
            f"p{number}",
            np.array(sorted(lot.sample(range(count), lot.randint(1, count))), np.int64),
            max_time=lot.choice([np.inf, np.inf, 100.0]),
            min_nodes=lot.choice([0, 0, 0, 2]),
            max_nodes=lot.choice([0, 0, 3]),
            max_cores=lot.choice([0, 0, 3]),
            default_memory_per_core=lot.choice([0, 0, 60]),
            max_memory_per_core=lot.choice([0, 0, 0, 300]),
            is_exclusive=lot.random() < 0.2,
            is_default=lot.random() < 0.2,
        )
        for number in range(lot.randint(1, 4))
    ]
    return NodeTable(
        tuple(f"n{number}" for number in range(count)),
        kind,
        tuple(f"kind{number}" for number in kinds),
        cores,
        memory,
        gpus,
        np.ones(count, np.int64),
        tuple(parts),
        tuple(frozenset(lot.sample(["a100", "v100"], lot.randint(0, 2)) or ["t4"]) for _ in kinds),
        tuple(frozenset(lot.sample(_FEATURES, lot.randint(0, 3)) or ["plain"]) for _ in kinds),
    )


def _job(lot: random.Random) -> dict[str, Any]:
    """Return a job by lot: any column may be missing."""
    chances: dict[str, tuple[float, Any]] = {
        "requested_nodes": (0.4, lambda: lot.choice([0, 1, 1, 2, 3, 5])),
        "requested_processors": (0.7, lambda: lot.choice([1, 2, 5, 7, 12, 16, 30, 60])),
        "requested_cores_per_node": (0.2, lambda: lot.choice([0.5, 1, 1.5, 2, 4, 6, 17])),
        "most_cores_per_node": (0.15, lambda: lot.choice([1, 2, 3])),
        "requested_memory": (0.4, lambda: lot.choice([1, 33, 100, 700]) * 1024 + lot.choice([0, 1, 511])),
        "requested_memory_per_node": (0.2, lambda: lot.choice([0, 99.5, 100, 500, 4000, 4001])),
        "requested_gpus_per_node": (0.2, lambda: lot.choice([0, 0.25, 0.3334, 1, 2, 3.5])),
        "requested_gpus": (0.3, lambda: lot.choice([0, 1, 2, 5])),
        "requested_time": (0.7, lambda: lot.choice([50.0, 100.0, 101.0])),
        "is_exclusive": (0.2, lambda: True),
        "partition": (0.6, lambda: lot.choice(["p0", "p1", "p2", "p2,p0", "p3,p1,p3", "p9", "p9,p1"])),
        "constraints": (0.2, lambda: lot.choice(_CONSTRAINTS)),
        "gpu_types": (0.15, lambda: lot.choice(["a100", "v100|t4", "h100"])),
    }
    job = {name: draw() for name, (chance, draw) in chances.items() if lot.random() < chance}
    if job.get("requested_gpus") == 1 and lot.random() < 0.5:
        job["exact_gpus"] = lot.choice([0.2, 0.5, 1.0])
    return job


def _row(asked: Asked, row: int) -> Ask:
    """Return what a job asks for as the twin has it."""
    if asked.code[row]:
        assert asked.reasons[asked.code[row]]
        assert asked.place[row] == -1
        return Ask()
    place = asked.places[asked.place[row]]
    sets = tuple(
        (partition, tuple(nodes.tolist())) for partition, nodes in zip(place.partitions, place.nodes, strict=True)
    )
    numbers = (int(each[row]) for each in (asked.nodes, asked.cores, asked.memory, asked.gpus))
    return Ask(*numbers, bool(asked.is_exclusive[row]), sets)


@pytest.mark.parametrize("seed", by_day(range(400), 40))
def test_asked_is_what_the_twin_says(seed: int) -> None:
    """Nodes, cores, memory, GPUs, exclusive, and the nodes of each partition in which a job may run."""
    _compare(seed)


@pytest.mark.parametrize("seed", by_day(range(400, 800), 40))
def test_threads_become_cores_as_the_twin_says(seed: int) -> None:
    """On machines with several threads a core, of logs of Slurm and of others."""
    _compare(seed, has_threads=True)


def test_requests_that_are_looked_at_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of many sizes of nodes has few requests looked at together, which changes nothing."""
    monkeypatch.setattr("swftools.machines.fitting._AT_ONCE", 5)
    for seed in range(3):
        _compare(seed)


def _compare(seed: int, *, has_threads: bool = False) -> None:
    """Assert that jobs by lot ask what the twin says."""
    lot = random.Random(seed)
    table = _machine(lot)
    rows = [_job(lot) for _ in range(60)] + [_NOT_OF_THE_LOG]
    log, is_of_slurm = log_of(rows), False
    if has_threads:
        threads = np.array([lot.choice([1, 2, 2, 4]) for _ in table.kinds], np.int64)[table.kind]
        table, is_of_slurm = replace(table, threads=threads), lot.random() < 0.7
        rows = [_given(lot, job) for job in rows if is_of_slurm or _is_small(job, table)]
        log = log_of(rows)
    if is_of_slurm:
        log = replace(log, provenance={"format": "slurm:time_zone=UTC"})
    is_in_threads = has_threads and (is_of_slurm or counts_threads(rows, table))
    asked = ask_of(log, table)
    for number, job in enumerate(rows):
        names = job["partition"].split(",") if "partition" in job else None
        told = {**job, "names": names} | (
            {"requested_memory_per_node": 0} if job.get("requested_memory_per_node") == 0 else {}
        )
        assert _row(asked, number) == ask(told, table, is_in_threads=is_in_threads), (number, job)


def _given(lot: random.Random, job: dict[str, Any]) -> dict[str, Any]:
    """Return a job that was given processors, if it asked for nodes too: others count what they were given."""
    if "requested_processors" not in job or "requested_nodes" not in job or lot.random() < 0.5:
        return job
    return {**job, "allocated_processors": math.ceil(job["requested_processors"] * lot.choice([0.5, 1, 1.5, 2, 3]))}


def _is_small(job: dict[str, Any], table: NodeTable) -> bool:
    """Whether no node would be too small for a job, if its processors are threads."""
    most = int((table.cores * table.threads).max())
    return max(job.get("requested_cores_per_node", 0), job.get("requested_processors", 0)) <= most

# SPDX-License-Identifier: BSD-3-Clause
"""Whether jobs can run on idle nodes, against a slow twin that looks at every node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swftools.machines.fitting import FITS
from swftools.machines.node_table import GPU, NodeTable, PartitionNodes
from swftools.simulator.slurm import fits
from swftools.simulator.slurm.fits import Room, Sizes
from tests.examples import by_day
from tests.machines.tables import machine

NOBODY_FITS = (6, 12, 16, 31, 34)
"""Seeds of partitions that allow fewer nodes than they, or the jobs, need."""


def naive_fits(table: NodeTable, part: PartitionNodes, nodes: list[int], job: dict[str, Any]) -> bool:
    """Return whether a job could run on some nodes of a partition if these were idle."""
    least, most = max(job["min_nodes"], part.min_nodes), job["max_nodes"] or 10**9
    if most < part.min_nodes:
        return False
    most = min(most, part.max_nodes or 10**9, len(nodes))
    if least > most or job["requested_time"] > part.max_time:
        return False
    usable = []
    for node in nodes:
        cores, gpus = int(table.cores[node]), int(table.gpus[node]) // GPU
        cores = min(cores, part.max_cores or cores)
        if job["memory_per_cpu"]:
            cores = min(cores, int(table.memory[node]) // job["memory_per_cpu"])
        tasks = cores // job["cpus_per_task"]
        if job["tasks_per_node"]:
            tasks = job["tasks_per_node"] if tasks >= job["tasks_per_node"] else 0
        has_room = job["memory_per_node"] <= table.memory[node] and job["gpus_per_node"] <= gpus
        if most == 1:
            has_room &= tasks * job["cpus_per_task"] >= job["cpus"] and job["gpus"] <= gpus
        if has_room and tasks:
            usable.append((tasks * job["cpus_per_task"], gpus))
    cpus = sum(sorted((each for each, _ in usable), reverse=True)[:most])
    gpus = sum(sorted((each for _, each in usable), reverse=True)[:most])
    return len(usable) >= least and cpus >= job["cpus"] and gpus >= job["gpus"]


@pytest.mark.parametrize("seed", by_day(range(40), 8))
def test_as_the_twin_says(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any machine, limits and jobs; however many are looked at together."""
    lot = np.random.default_rng(seed)
    monkeypatch.setattr(fits, "_AT_ONCE", int(lot.integers(1, 40)))
    kinds = " / ".join(
        f"k{at} {lot.integers(1, 4)} {lot.integers(1, 9)} {lot.integers(1, 9) * 1000} {lot.integers(0, 4)}"
        for at in range(3)
    )
    table = machine(kinds)
    nodes = np.flatnonzero(lot.random(len(table)) < 0.8)
    nodes = nodes if len(nodes) else np.arange(len(table))
    part = replace(
        table.partitions[0],
        min_nodes=int(lot.integers(0, 3)),
        max_nodes=int(lot.choice([0, 0, 1, 2, 4])),
        max_cores=int(lot.choice([0, 0, 3, 5])),
        max_time=100.0,
    )
    count = 60
    per_task = lot.choice([1, 1, 2, 3], count)
    least = lot.integers(1, 4, count)
    of_memory, of_gpus = lot.integers(0, 3, count), lot.integers(0, 3, count)
    asked = Sizes(
        cpus=np.maximum(lot.integers(1, 12, count), 1) * per_task,
        cpus_per_task=per_task,
        min_nodes=least,
        max_nodes=np.where(lot.random(count) < 0.5, 0, least + lot.integers(0, 2, count)),
        tasks_per_node=lot.choice([0, 0, 1, 2], count),
        memory_per_cpu=np.where(of_memory == 1, lot.integers(1, 5, count) * 700, 0),
        memory_per_node=np.where(of_memory == 2, lot.integers(1, 10, count) * 1000, 0),
        gpus_per_node=np.where(of_gpus == 1, lot.integers(1, 4, count), 0),
        gpus=np.where(of_gpus == 2, lot.integers(1, 9, count), 0),
        requested_time=np.where(lot.random(count) < 0.1, 101.0, 100.0),
    )
    jobs = [
        dict(zip(Sizes._fields, row, strict=True)) for row in zip(*(column.tolist() for column in asked), strict=True)
    ]
    expected = [naive_fits(table, part, nodes.tolist(), job) for job in jobs]
    assert (Room(table, nodes, part).judge(asked) == FITS).tolist() == expected
    assert set(expected) == ({False} if seed in NOBODY_FITS else {False, True})

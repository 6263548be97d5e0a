# SPDX-License-Identifier: BSD-3-Clause
"""The kernels choose the nodes that the naive twin does: on random nodes, networks and weights."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from swftools.machines.node_table import GPU, NodeTable, PartitionNodes
from swftools.machines.slurm_site import SlurmPartition, SlurmSite, SlurmSwitch
from swftools.simulator.slurm.choosing import choose_nodes, place_tasks
from swftools.simulator.slurm.memory import slurm_memory
from swftools.simulator.slurm.setting import Setting
from tests.naive.slurm_nodes import choose
from tests.naive.slurm_world import World, jobs_of
from tests.slurm_drawn import draw_asked

NODES, JOBS = 26, 30


def random_tree(lot: random.Random) -> tuple[SlurmSwitch, ...]:
    """Return leaves of one to seven nodes below two or three switches, below one top, or each a tree of its own."""
    leaves: list[tuple[int, ...]] = []
    node = 0
    while node < NODES - 2:  # the last ones are below no leaf
        size = lot.randint(1, 7)
        leaves.append(tuple(range(node, min(node + size, NODES - 2))))
        node += size
    number, middle = len(leaves), lot.randint(2, 3)
    above = [number + min(place * middle // number, middle - 1) for place in range(number)]
    if lot.random() < 0.5:
        lot.shuffle(above)
    has_top = lot.random() < 0.7
    below = {at: tuple(n for leaf, up in zip(leaves, above, strict=True) if up == at for n in leaf) for at in {*above}}
    switches = [SlurmSwitch(f"leaf{at}", above[at], True, leaf) for at, leaf in enumerate(leaves)]
    switches += [
        SlurmSwitch(f"switch{at}", number + middle if has_top else -1, False, below.get(at, ()))
        for at in range(number, number + middle)
    ]
    if has_top:
        switches.append(SlurmSwitch("top", -1, False, tuple(range(NODES - 2))))
    return tuple(switches)


def random_table(lot: random.Random) -> NodeTable:
    """Return nodes that have what is free of others: from one core to nine, and up to three GPUs."""
    cores = np.array([lot.choice([1, 1, 2, 4, 4, 5, 9]) for _ in range(NODES)], np.int64)
    gpus = np.array([lot.choice([0, 0, 1, 2, 3]) * GPU for _ in range(NODES)], np.int64)
    weight = np.array([lot.choice([1, 1, 1, 3]) for _ in range(NODES)], np.int64)
    partition = PartitionNodes("p", np.arange(NODES))
    names = tuple(f"n{node:02}" for node in range(NODES))
    return NodeTable(
        names, np.zeros(NODES, np.int64), ("kind",), cores, 1000 * cores, gpus, weight, (partition,), slurm=SlurmSite()
    )


def random_asks(lot: random.Random) -> str:
    """Return what jobs ask, as a table: CPUs, nodes, tasks a node, GPUs of each node or in all, memory, nodes alone."""
    rows = ["job cpus cpus_per_task nodes tasks_per_node gpus_per_node gpus memory_per_cpu alone"]
    for _ in range(JOBS):
        tasks, each = lot.randint(1, 16), lot.choice([1, 1, 1, 2])
        fewest = lot.randint(1, min(tasks, 5))
        nodes = lot.choice([".", ".", f"{fewest}", f"{fewest}-{lot.randint(fewest, 7)}", f"{fewest}-"])
        per_node = lot.choice([0, 0, 0, 0, 2]) if nodes == "." else 0
        gpus, in_all = lot.choice([(0, 0), (0, 0), (1, 0), (2, 0), (0, 2), (0, 4)])
        alone = lot.choice([".", ".", "x"])
        rows.append(f"a {tasks * each} {each} {nodes} {per_node} {gpus} {in_all} {lot.choice([0, 0, 700])} {alone}")
    return " / ".join(rows)


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize("seed", range(24))
def test_as_the_naive_twin(seed: int) -> None:
    """The same nodes with the same cores, or none; and nodes that are as light as before, or as it leaves them."""
    lot = random.Random(seed)
    table = random_table(lot)
    site = SlurmSite(partitions=(SlurmPartition("p"),), switches=random_tree(lot) if seed % 3 else ())
    table = replace(table, slurm=site)
    asked, _, _ = draw_asked(random_asks(lot), table)
    given, state = slurm_memory(Setting(table, asked, np.arange(JOBS), np.zeros(JOBS), np.ones(JOBS)), {}, JOBS)
    zeros = [0.0] * JOBS
    world = World(site, table, jobs_of(asked, NODES, zeros, [1.0] * JOBS, [1.0] * JOBS, zeros))
    found = 0
    for job in world.jobs:
        allowed = sorted(lot.sample(range(NODES), lot.randint(8, NODES)))
        bits = np.array([sum(1 << node for node in allowed)], np.int64)
        expected = choose(world, job, 0, allowed, [])
        many = choose_nodes(given, state, job.row, 0, bits & given.partition_bits, state.now)
        if many:
            place_tasks(given, state, job.row, 0, many)
        own = {int(state.chosen[i]): int(state.got[i]) for i in range(many)}
        assert own == ({} if expected is None else expected.cores), (seed, job.row)
        assert {node: light for node, light in enumerate(state.light.tolist()) if light} == world.light
        found += many > 1
    assert found > 5

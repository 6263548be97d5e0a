# SPDX-License-Identifier: BSD-3-Clause
"""What must hold of all runs of the naive twin on random sites, and what these sites are to have."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from itertools import pairwise

import pytest

from swftools.machines.node_table import GPU
from tests.examples import by_day
from tests.naive.slurm_policy import simulate_slurm
from tests.naive.slurm_random import Times, random_jobs, random_site
from tests.naive.slurm_world import World

SEEDS = by_day(range(60), 8)


@cache
def worked(seed: int) -> tuple[World, Times]:
    """Return a random site at its end; every other has preemption, every third times in parts of a second."""
    site, table = random_site(seed, with_preemption=seed % 2 == 0)
    asked, times = random_jobs(seed, site, table, 40, fractions=seed % 3 == 0)
    return simulate_slurm(site, table, asked, times.submit, times.run, times.limit, phase=seed % 20 / 20), times


@pytest.mark.parametrize("seed", SEEDS)
def test_all_jobs_run(seed: int) -> None:
    """Each job has one run to its end, or is cancelled; it starts at a tick, when it is eligible and not before."""
    world, times = worked(seed)
    ends = Counter(run.row for run in world.runs if run.preempted != "requeue")
    assert ends == Counter(range(len(times.submit)))
    ticks = {run.start % 1 for run in world.runs}
    assert len(ticks) == 1
    assert max(ticks) * 64 % 1 == 0
    for run in world.runs:
        assert run.start >= times.submit[run.row]
        assert run.by in ("main", "backfill")
        if not run.preempted:
            assert run.end == run.start + times.run[run.row]
    for job in world.jobs:
        runs = sorted((run for run in world.runs if run.row == job.row), key=lambda run: run.start)
        for before, after in pairwise(runs):
            assert after.start >= before.end + world.site.requeue_delay


@pytest.mark.parametrize("seed", SEEDS)
def test_nodes_have_room(seed: int) -> None:
    """At each start no node has more on it than it has, and each job what it asked for."""
    world, _ = worked(seed)
    jobs, table = {job.row: job for job in world.jobs}, world.table
    for run in world.runs:
        job = jobs[run.row]
        nodes = {node for node, _ in run.where}
        assert nodes <= world.nodes_of(run.partition) & job.nodes_allowed
        assert job.min_nodes <= len(nodes) <= (job.max_nodes or job.cpus)
        assert sum(cores for _, cores in run.where) >= job.cpus
        for node in nodes:
            here = [
                (jobs[other.row], cores, other)
                for other in world.runs
                for at, cores in other.where
                if at == node and other.start <= run.start < other.end
            ]
            assert sum(cores for _, cores, _ in here) <= table.cores[node]
            alone = [world.is_alone(other, each.partition) for other, _, each in here]
            assert not any(alone) or len(here) == 1
            if not any(alone):
                memory = [other.memory_per_cpu * cores + other.memory_per_node for other, cores, _ in here]
                assert sum(memory) <= table.memory[node]
            assert sum(other.gpus_per_node for other, _, _ in here) <= table.gpus[node] // GPU


@pytest.mark.parametrize("seed", SEEDS)
def test_arrays_and_numbers_of_jobs(seed: int) -> None:
    """No more tasks of an array and jobs of a group run at once than may."""
    world, _ = worked(seed)
    jobs = {job.row: job for job in world.jobs}
    is_limited = "limits" in world.site.enforce
    for run in world.runs:
        job = jobs[run.row]
        here = [(jobs[other.row], other) for other in world.runs if other.start <= run.start < other.end]
        if job.array >= 0 and job.array_limit:
            assert sum(other.array == job.array for other, _ in here) <= job.array_limit
        for association in world.line_of(job.association) if is_limited else []:
            most = world.site.associations[association].limits.grp_jobs
            below = sum(association in world.line_of(other.association) for other, _ in here)
            assert most is None or below <= most
        for qos in world.all_qos(job, run.partition)[:1] if is_limited else []:
            most = world.site.qos[qos].limits.max_jobs_pu
            own = sum(other.user == job.user and qos in world.all_qos(other, each.partition) for other, each in here)
            assert most is None or own <= most


@pytest.mark.parametrize("seed", SEEDS)
def test_reasons_are_those_of_a_wait(seed: int) -> None:
    """A reason is told when a job becomes eligible, and later only while it waits, and only where it changes."""
    world, _ = worked(seed)
    for job in world.jobs:
        told = [(time, reason) for row, time, reason in world.reasons if row == job.row]
        runs = sorted((run for run in world.runs if run.row == job.row), key=lambda run: run.start)
        assert told[0][1] == "Priority"
        assert told == sorted(told, key=lambda row: row[0])
        for time, reason in told:
            assert reason == "BeginTime" or not any(run.start < time < run.end for run in runs)
            assert time <= runs[-1].start
        assert all(first[1] != second[1] for first, second in pairwise(told))


@pytest.mark.slow
def test_what_the_sites_have() -> None:
    """Random sites have long queues, both schedulers start jobs, and the rules matter."""
    by: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    preempted: Counter[str] = Counter()
    waits = []
    for seed in range(60):
        world, _ = worked(seed)
        by.update(run.by for run in world.runs)
        reasons.update({reason for _, _, reason in world.reasons})
        preempted.update(run.preempted for run in world.runs)
        waits.append(sum(math.floor(job.start - job.submit) > 60 for job in world.jobs))
    assert min(by["main"], by["backfill"]) > 600
    assert sum(count > 10 for count in waits) > 40
    assert preempted["requeue"] > 10
    assert preempted["cancel"] > 3
    assert reasons["JobArrayTaskLimit"] > 25
    assert reasons["Resources"] > 50
    assert len([reason for reason in reasons if reason.startswith(("QOS", "Assoc", "Max"))]) > 15

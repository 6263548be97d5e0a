# SPDX-License-Identifier: BSD-3-Clause
"""Policy slurm beside its slow twin, on random small sites: the same starts, nodes, CPUs and schedulers; to the bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import swftools
from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmSite
from swftools.simulator.slurm import begin
from swftools.simulator.slurm.asked import SlurmJobs
from tests.naive.slurm_policy import simulate_slurm
from tests.naive.slurm_random import random_jobs, random_site

DAY, NIGHT = (*range(6), 7, 19, 26), range(6, 300)
"""By day 7 sees how old a job must be to close its partition, 19 the order of equal ends, 26 the depth of a pass."""


ORIGIN = 1_700_000_017
"""Second 0 of the logs, so that neither minutes nor windows of half a minute begin there."""


def ordered_by_qos(seed: int, site: SlurmSite) -> SlurmSite:
    """Return a site where QOS that may preempt go first, of every other seed; nobody has to leave."""
    if seed % 2 == 0:
        return site
    qos = tuple(replace(each, preempt_mode="off") for each in site.qos)
    return replace(site, preempt_type="qos", preempt_mode="off", qos=qos)


def phase_of(seed: int) -> float:
    """Return a phase."""
    return seed % 7 / 7 * 0.99


def schedule_of(
    monkeypatch: pytest.MonkeyPatch, table: NodeTable, asked: SlurmJobs, times: Any, **options: Any
) -> swftools.Schedule:
    """Return the schedule of some jobs whose requests are given."""
    monkeypatch.setattr(begin, "slurm_jobs_of", lambda trace, table: asked)
    trace = swftools.Trace.from_columns(
        swftools.SwfHeader.from_lines([f"; UnixStartTime: {ORIGIN}"]),
        job_number=np.arange(len(asked.cpus)),
        submit_time=times.submit,
        run_time=times.run,
        requested_time=times.limit,
        requested_processors=asked.cpus,
    )
    return swftools.simulate(trace, "slurm", machine=table, **options)


def runs_of(schedule: swftools.Schedule) -> dict[int, tuple[Any, ...]]:
    """Return what became of each job: start, end, CPUs of each node, who started it, and its partition."""
    found = {}
    segments = schedule.segments
    uneven = segments.get("cores_by_node")
    for place, row in enumerate(segments.itertuples(index=False)):
        pairs = list(row.nodes)
        nodes = [n for low, high in zip(pairs[::2], pairs[1::2], strict=True) for n in range(low, high + 1)]
        by_node = None if uneven is None or uneven.isna().iloc[place] else list(uneven.iloc[place])
        cores = by_node or [int(row.cores_per_node)] * len(nodes)
        if row.is_exclusive:
            cores = [int(schedule.machine.cores[node]) for node in nodes]
        found[int(row.job_number)] = (
            *(float(row.start_time), float(row.end_time), list(zip(nodes, cores, strict=True))),
            *(str(row.started_by), str(row.partition)),
        )
    return found


def check(monkeypatch: pytest.MonkeyPatch, seed: int, jobs: int, compiled: bool | str) -> None:
    """Compare one site."""
    site, table = random_site(seed)
    site = ordered_by_qos(seed, site)
    table = replace(table, slurm=site)
    asked, times = random_jobs(seed, site, table, jobs)
    phase = phase_of(seed)
    world = simulate_slurm(site, table, asked, times.submit, times.run, times.limit, phase=phase, origin=ORIGIN)
    names = [partition.name for partition in table.partitions]
    expected = {run.row: (run.start, run.end, run.where, run.by, names[run.partition]) for run in world.runs}
    schedule = schedule_of(monkeypatch, table, asked, times, phase=phase, compiled=compiled)
    assert runs_of(schedule) == expected, seed
    waits = schedule.notes["wait_reasons"]
    told = {row: [] for row in expected}
    for row, time, reason in world.reasons:
        told[row].append((time, reason))
    for row, of_job in waits.groupby("job_number"):
        start = expected[int(row)][0]
        assert of_job["end"].iloc[-1] == start
        assert (of_job["begin"].iloc[1:].to_numpy() == of_job["end"].iloc[:-1].to_numpy()).all()
        assert list(of_job["reason"])[-1] in {reason for _, reason in told[int(row)]}


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize("seed", DAY)
def test_as_the_slow_twin(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Some by day."""
    check(monkeypatch, seed, 40, compiled=False)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(NIGHT.start, NIGHT.stop, 49))
def test_as_the_slow_twin_compiled(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    """Many, compiled, at night."""
    for seed in range(first, min(first + 49, NIGHT.stop)):
        check(monkeypatch, seed, 60, compiled=True)

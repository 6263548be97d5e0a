# SPDX-License-Identifier: BSD-3-Clause
"""Policy slurm beside its slow twin, on random small sites: the same starts, nodes, CPUs and schedulers; to the bit."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import swftools
from swftools.errors import PolicyError
from swftools.machines.description import MachineDescription
from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmPartition, SlurmSite
from swftools.simulator.engine import loop
from swftools.simulator.slurm import begin, preempting
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.holders import partition_totals
from swftools.simulator.slurm.state import BILLING, RESOURCES
from swftools.simulator.validation.report import validate
from tests.naive import slurm_policy
from tests.naive.slurm_policy import simulate_slurm
from tests.naive.slurm_random import random_jobs, random_site, random_yields, suspending_site
from tests.simulator.slurm.site import table_of

DAY, NIGHT = (*range(6), 7, 19, 26, 45, 86), range(6, 300)
"""By day 7 sees how old a job must be to close its partition, 19 the order of equal ends, 26 the depth of a pass, 45
what a job counts for limits that is to have nodes alone, 86 what a refused job with GPUs leaves on nodes."""

PREEMPTED = (0, 2, 9, 18, 22, 27, 125, 128, 204)
"""Sites with preemption: 2 to 22 cancel jobs; 27 and 125 see whose ends close a window; in 0 the youngest go first, in
204 a job has to leave at the instant at which it started; in 128 nobody starts any more."""

SLOW_CYCLES = ((19, 0.25), (62, 2.5), (95, 0.375))
"""Sites, and how long a test takes, in which cycles let locks go some hundred times."""

SUSPENDED = (9, 24, 27, 40, 41, 52, 63, 86, 98)
"""Sites where jobs are suspended: by QOS in 41, 52 and 86, in 63 others are requeued."""

GIVE_UP, PATIENCE = 20_000, 2_000
"""Seconds, and then decisions, without an event after which it is said that nobody starts any more."""


ORIGIN = 1_700_000_017
"""Second 0 of the logs, so that neither minutes nor windows of half a minute begin there."""


def ordered_by_qos(seed: int, site: SlurmSite) -> SlurmSite:
    """Return a site where QOS that may preempt go first, of every other seed; nobody has to leave."""
    if seed % 2 == 0:
        return site
    qos = tuple(replace(each, preempt_mode="off") for each in site.qos)
    return replace(site, preempt_type="qos", preempt_mode="off", qos=qos)


def with_yields(
    seed: int, site: SlurmSite, table: NodeTable, parameters: dict[str, float]
) -> tuple[SlurmSite, NodeTable]:
    """Return a site, and its machine, where cycles that take time, if they do, let locks go at random."""
    if parameters.get("test_time"):
        site = replace(site, scheduler={**site.scheduler, **random_yields(random.Random(f"yields {seed}"))})
    return site, replace(table, slurm=site)


def phase_of(seed: int) -> float:
    """Return a phase."""
    return seed % 7 / 7 * 0.99


def schedule_of(
    monkeypatch: pytest.MonkeyPatch, table: NodeTable, asked: SlurmJobs, times: Any, **options: Any
) -> swftools.Schedule:
    """Return the schedule of some jobs whose requests are given."""
    monkeypatch.setattr(begin, "slurm_jobs_of", lambda trace, table, cancelled: asked)
    trace = swftools.Trace.from_columns(
        swftools.SwfHeader.from_lines([f"; UnixStartTime: {ORIGIN}"]),
        job_number=np.arange(len(asked.cpus)),
        submit_time=times.submit,
        run_time=times.run,
        requested_time=times.limit,
        requested_processors=asked.cpus,
    )
    return swftools.simulate(trace, "slurm", machine=table, **options)


def runs_of(schedule: swftools.Schedule) -> dict[int, list[tuple[Any, ...]]]:
    """Return the runs of each job: start, end, CPUs of each node, who started it, and its partition."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    segments = schedule.segments
    uneven = segments.get("cores_by_node")
    for place, row in enumerate(segments.itertuples(index=False)):
        pairs = list(row.nodes)
        nodes = [n for low, high in zip(pairs[::2], pairs[1::2], strict=True) for n in range(low, high + 1)]
        by_node = None if uneven is None or uneven.isna().iloc[place] else list(uneven.iloc[place])
        cores = by_node or [int(row.cores_per_node)] * len(nodes)
        if row.is_exclusive:
            cores = [int(schedule.machine.cores[node]) for node in nodes]
        found.setdefault(int(row.job_number), []).append(
            (
                *(float(row.start_time), float(row.end_time), list(zip(nodes, cores, strict=True))),
                *(str(row.started_by), str(row.partition)),
            )
        )
    return found


def check(
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    jobs: int,
    compiled: bool | str,
    scheduler: dict[str, float] | None = None,
    **more: float,
) -> None:
    """Compare one site, with ``scheduler`` among its parameters; more are parameters of the policy."""
    site, table = random_site(seed)
    site = ordered_by_qos(seed, site)
    site, table = with_yields(seed, site, table, more)
    site = replace(site, scheduler={**site.scheduler, **(scheduler or {})})
    table = replace(table, slurm=site)
    asked, times = random_jobs(seed, site, table, jobs)
    phase = phase_of(seed)
    own = {"phase": phase, **more}
    world = simulate_slurm(site, table, asked, times.submit, times.run, times.limit, origin=ORIGIN, **own)
    names = [partition.name for partition in table.partitions]
    expected = {run.row: [(run.start, run.end, run.where, run.by, names[run.partition])] for run in world.runs}
    schedule = schedule_of(monkeypatch, table, asked, times, compiled=compiled, **own)
    assert runs_of(schedule) == expected, seed
    waits = schedule.notes["wait_reasons"]
    told = {row: [] for row in expected}
    for row, time, reason in world.reasons:
        told[row].append((time, reason))
    for row, of_job in waits.groupby("job_number"):
        start = expected[int(row)][0][0]
        assert of_job["end"].iloc[-1] == start
        assert (of_job["begin"].iloc[1:].to_numpy() == of_job["end"].iloc[:-1].to_numpy()).all()
        assert list(of_job["reason"])[-1] in {reason for _, reason in told[int(row)]}


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize("seed", DAY)
def test_as_the_slow_twin(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Some by day."""
    check(monkeypatch, seed, 40, compiled=False)


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(("seed", "completing"), [(1, 0.5), (3, 7.0), (8, 9.0), (11, 40.0)])
def test_nodes_that_clean_up_as_the_slow_twin(monkeypatch: pytest.MonkeyPatch, seed: int, completing: float) -> None:
    """For less than a second, or for many."""
    check(monkeypatch, seed, 40, compiled=False, completing=completing)


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    ("seed", "test_time"),
    [*SLOW_CYCLES, *(pytest.param(seed, 0.25 * (1 + seed % 5), marks=pytest.mark.slow) for seed in range(100, 140))],
)
def test_cycles_that_take_time_as_the_slow_twin(monkeypatch: pytest.MonkeyPatch, seed: int, test_time: float) -> None:
    """They go on after they let locks go, or end, as a change is there."""
    check(monkeypatch, seed, 40, compiled=False, test_time=test_time)


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize("seed", [0, 8, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 60))])
def test_serial_jobs_at_the_end_as_the_slow_twin(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """With ``pack_serial_at_end`` jobs of one CPU have the last node."""
    check(monkeypatch, seed, 40, compiled=False, scheduler={"pack_serial_at_end": 1.0})


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(("seed", "test_time"), [(27, 1.0)])
def test_preemption_in_cycles_that_take_time(monkeypatch: pytest.MonkeyPatch, seed: int, test_time: float) -> None:
    """Whoever has to leave does so in a stretch of a cycle, or while it lets locks go."""
    check_site_with_preemption(monkeypatch, seed, test_time=test_time)


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    "seed", [*PREEMPTED, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(300) if seed not in PREEMPTED)]
)
def test_preemption_as_the_slow_twin(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """All runs of jobs that start again; those that are cancelled are left out, and have no run in the schedule."""
    check_site_with_preemption(monkeypatch, seed)


def check_site_with_preemption(monkeypatch: pytest.MonkeyPatch, seed: int, **more: float) -> None:
    """Compare one site with preemption; more are parameters of the policy."""
    site, table = random_site(seed, with_preemption=True)
    site, table = with_yields(seed, site, table, more)
    check_preemption(monkeypatch, seed, site, table, random_jobs(seed, site, table, 40, hopeless=0.1), **more)


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    "seed", [*SUSPENDED, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(300) if seed not in SUSPENDED)]
)
def test_suspending_as_the_slow_twin(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """All runs of jobs that stood for others, or of some, beside those that had to leave."""
    site, table = suspending_site(seed)
    jobs = random_jobs(seed, site, table, 40)
    table = replace(table, memory=table.memory * (2 + seed % 3))
    schedule = check_preemption(monkeypatch, seed, site, table, jobs)
    if schedule is not None:  # of nodes with fewer cores, whole ones are given to who asks more tasks of each
        assert set(validate(schedule).violations["rule"]) <= {"node-size"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SUSPENDED[:4])
def test_suspending_compiled(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Compiled as interpreted."""
    site, table = suspending_site(seed)
    jobs = random_jobs(seed, site, table, 40)
    table = replace(table, memory=table.memory * (2 + seed % 3))
    check_preemption(monkeypatch, seed, site, table, jobs, compiled=True)


def check_preemption(
    monkeypatch: pytest.MonkeyPatch,
    seed: int,
    site: SlurmSite,
    table: NodeTable,
    jobs: tuple[SlurmJobs, Any],
    *,
    compiled: bool = False,
    **more: float,
) -> swftools.Schedule | None:
    """Compare a site whose jobs may be preempted; return the schedule, if there is one."""
    asked, times = jobs
    own = {"phase": phase_of(seed), **more}
    monkeypatch.setattr(slurm_policy, "GIVE_UP", PATIENCE if seed == 128 else GIVE_UP)
    world = simulate_slurm(site, table, asked, times.submit, times.run, times.limit, origin=ORIGIN, **own)
    if world.waiting:  # the first of them is never planned, and nobody may go before it
        monkeypatch.setattr(loop, "PATIENCE", PATIENCE)
        with pytest.raises(PolicyError, match=f"leaves {len(world.waiting)} jobs? waiting on an idle machine, job "):
            schedule_of(monkeypatch, table, asked, times, compiled=compiled, **own)
        return None
    schedule = schedule_of(monkeypatch, table, asked, times, compiled=compiled, **own)
    cancelled = {
        run.row: f"taken out by preemption at {run.end:.10g} s" for run in world.runs if run.preempted == "cancel"
    }
    names, expected = [partition.name for partition in table.partitions], {}
    for run in world.runs:
        leaves_no_trace = bool(run.preempted) and run.start == run.end
        if run.row not in cancelled and not leaves_no_trace:
            told = (run.start, run.end, run.where, run.by, names[run.partition])
            expected.setdefault(run.row, []).append(told)
    assert runs_of(schedule) == expected
    out = schedule.excluded[schedule.excluded["reason"].str.startswith("taken out")]
    assert dict(zip(out["job_number"].tolist(), out["reason"].tolist(), strict=True)) == cancelled
    assert schedule.is_partial == bool(cancelled)
    waits = schedule.notes["wait_reasons"]
    assert waits["end"].max() < 1e9
    return schedule


@pytest.mark.usefixtures("interpreted_by_day")
def test_more_stops_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Are an error: which nodes the runs had would be wrong. It is so from one stop on, where there is no room."""
    site, table = random_site(0, with_preemption=True)
    asked, times = random_jobs(0, site, table, 40, hopeless=0.1)
    monkeypatch.setattr(preempting, "keep_past", lambda *_: None)
    with pytest.raises(PolicyError, match="is kept 0 times, and there were more stops; simulate fewer jobs"):
        schedule_of(monkeypatch, table, asked, times, phase=phase_of(0), compiled=False)


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(("select", "node"), [(["cr_core"], 2), (["linear"], 0)])
def test_serial_jobs_at_the_end_where_cores_are_given(select: list[str], node: int) -> None:
    """Not with ``select/linear``, which gives whole nodes."""
    machine = MachineDescription.from_mapping(
        {
            "nodes": [{"kind": "a", "count": 3, "cores": 4}],
            "slurm": {"select": select, "scheduler": {"pack_serial_at_end": 1}},
        }
    )
    trace = swftools.Trace.from_columns(
        job_number=[1], submit_time=[0], run_time=[9], requested_time=[9], requested_processors=[1]
    )
    schedule = swftools.simulate(trace, "slurm", machine=machine, compiled=False)
    assert [list(nodes) for nodes in schedule.segments["nodes"]] == [[node, node]]


@pytest.mark.usefixtures("interpreted_by_day")
def test_what_is_left_of_a_limit_has_no_error() -> None:
    """Three jobs of a core and 100 s are five minutes of running cores, as many as may be; others came and went."""
    machine = MachineDescription.from_mapping(
        {
            "nodes": [{"kind": "a", "count": 1, "cores": 64}],
            "slurm": {
                "enforce": ["limits"],
                "qos": [{"name": "normal", "grp_tres_run_mins": {"cpu": 5}}],
                "scheduler": {"batch_sched_delay": 1},
            },
        }
    )
    times = [7, 11, 13, 17, 19, 23, 29, 100, 100, 100]
    trace = swftools.Trace.from_columns(
        job_number=range(1, 11),
        submit_time=[0] * 7 + [100] * 3,
        run_time=times,
        requested_time=times,
        requested_processors=[1] * 10,
    )
    schedule = swftools.simulate(trace, "slurm", machine=machine, compiled=False)
    assert schedule.jobs["start_time"].tolist() == [0] * 7 + [100] * 3


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    ("flags", "most", "waits"), [([], 15, True), ([], 16, False), (["MAX_TRES"], 9, True), (["MAX_TRES"], 10, False)]
)
def test_what_is_billed(flags: list[str], most: int, waits: bool) -> None:
    """Cores of a job are 3 units, and its memory 5: 8 in all, 5 is the most. A QOS may have so many of two jobs."""
    machine = MachineDescription.from_mapping(
        {
            "nodes": [{"kind": "a", "count": 1, "cores": 64, "memory": 9000}],
            "partitions": [{"name": "p", "nodes": "a", "billing_weights": {"cpu": 1.0, "mem": 0.002}}],
            "slurm": {
                "enforce": ["limits"],
                "priority": {"flags": flags},
                "qos": [{"name": "normal", "grp_tres": {"billing": most}}],
                "scheduler": {"batch_sched_delay": 0, "bf_interval": 5, "bf_resolution": 1},
            },
        }
    )
    trace = swftools.Trace.from_columns(
        job_number=[1, 2],
        submit_time=[0, 0],
        run_time=[95, 95],
        requested_time=[95, 95],
        requested_processors=[3, 3],
    )
    trace = trace.with_jobs(trace.jobs.assign(requested_memory_per_node=[2500.0, 2500.0]))
    schedule = swftools.simulate(trace, "slurm", machine=machine, compiled=False)
    assert (schedule.jobs["start_time"] > 90).tolist() == [False, waits]


def test_what_a_partition_is_billed() -> None:
    """56 nodes of 16 cores and 64 GB: 896 and 3,584 units, the sum of both, or the most; without weights the cores."""
    rules = [SlurmPartition("batch", billing_weights={"cpu": 1.0, "mem": 0.001}), SlurmPartition("short"), None, None]
    for bills_most, billed in ((False, 4480.0), (True, 3584.0)):
        totals = partition_totals(table_of(), rules, bills_most=bills_most).reshape(4, RESOURCES)
        assert totals[:2, BILLING].tolist() == [billed, 1024.0]


@pytest.mark.usefixtures("interpreted_by_day")
def test_who_waits_for_a_job_that_is_cancelled() -> None:
    """Is left out: it could never start. All else goes on, and nothing happens in a thousand million seconds."""
    machine = MachineDescription.from_mapping(
        {
            "nodes": [{"kind": "a", "count": 1, "cores": 1}],
            "slurm": {
                "preempt_type": "qos",
                "preempt_mode": "cancel",
                "qos": [{"name": "low"}, {"name": "high", "preempt": ["low"]}],
            },
        }
    )
    trace = swftools.Trace.from_columns(
        job_number=[1, 2, 3, 4],
        submit_time=[0, 30, 40, 40],
        run_time=[100, 100, 10, 10],
        requested_time=[100, 100, 10, 10],
        requested_processors=[1] * 4,
        preceding_job_number=[-1, -1, 1, 2],
    )
    trace = trace.with_jobs(trace.jobs.assign(qos=pd.array(["low", "high", "low", "low"], "str")))
    schedule = swftools.simulate(trace, "slurm", machine=machine, compiled=False)
    assert schedule.jobs["job_number"].tolist() == [2, 4]
    reasons = dict(zip(schedule.excluded["job_number"].tolist(), schedule.excluded["reason"].tolist(), strict=True))
    assert reasons == {1: "taken out by preemption at 30 s", 3: "taken out: it waits for a job that never ends"}
    assert schedule.jobs["end_time"].max() < 1000
    assert validate(schedule, trace=trace).ok


@pytest.mark.usefixtures("interpreted_by_day")
def test_who_preempts_waits_until_nodes_are_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nodes of jobs that are stopped clean up before the job starts for which they were."""
    site, table = random_site(37, with_preemption=True)
    asked, times = random_jobs(37, site, table, 40)
    own = {"phase": phase_of(37), "completing": 9.0}
    world = simulate_slurm(site, table, asked, times.submit, times.run, times.limit, origin=ORIGIN, **own)
    schedule = schedule_of(monkeypatch, table, asked, times, compiled=False, **own)
    starts = {row: [run[0] for run in runs] for row, runs in runs_of(schedule).items()}
    expected: dict[int, list[float]] = {}
    for run in world.runs:
        expected.setdefault(run.row, []).append(run.start)
    assert any(run.preempted for run in world.runs)
    assert starts == expected


@pytest.mark.slow
@pytest.mark.parametrize("first", range(NIGHT.start, NIGHT.stop, 49))
def test_as_the_slow_twin_compiled(monkeypatch: pytest.MonkeyPatch, first: int) -> None:
    """Many, compiled, at night."""
    for seed in range(first, min(first + 49, NIGHT.stop)):
        check(monkeypatch, seed, 60, compiled=True)
        if seed % 3 == 0:
            check(monkeypatch, seed, 60, compiled=True, test_time=(0.25, 1.0, 0.0625, 2.5, 0.375)[seed // 3 % 5])

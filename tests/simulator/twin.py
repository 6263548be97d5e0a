# SPDX-License-Identifier: BSD-3-Clause
"""The same trace in the simulator and in its slow twin: the jobs of one as those of the other, and what they did."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from swftools import Trace
from swftools.parameters.run_option_table import RunOptions
from swftools.simulator.predictors.registry import find_predictor
from swftools.simulator.restart import Restart, find_restart_overhead
from swftools.simulator.schedule import Schedule
from swftools.simulator.workload import Workload, prepare
from tests.naive.dependencies import eligible, read_nodes
from tests.naive.simulator import Job, Observer, Policy, Run, last_model, observe_nothing, simulate_naively

Shown = tuple[int, float, float, int, float, float, str]
"""A run: job, start, end, processors, work, overhead, how it ended."""


def naive_runs(
    trace: Trace,
    policy: Policy,
    *,
    predictor: str = "request",
    observe: Observer | None = None,
    overrun: str = "extend",
    requests: str = "logged",
    restart_overhead: Any = 0.0,
    dependencies: str = "ignore",
    seed: int = 3,
) -> tuple[Workload, list[Job], list[Run]]:
    """Simulate a trace slowly; ``observe`` is the twin of a predictor that is not one of ours."""
    assert trace.processors is not None
    work = workload_of(trace, predictor=predictor, overrun=overrun, requests=requests, seed=seed)
    jobs = naive_jobs(work)
    restart = find_restart_overhead(restart_overhead).of(trace, work.coming.row)
    for job, seconds in zip(jobs, restart.of_job.tolist(), strict=False):
        job.restart = seconds
    if dependencies == "follow":
        let_wait(trace, work, jobs)
    observer = observe or observer_of(predictor)
    return work, jobs, simulate_naively(jobs, trace.processors, policy, observe=observer, overhead=overhead_of(restart))


def workload_of(
    trace: Trace, *, predictor: str = "request", overrun: str = "extend", requests: str = "logged", seed: int = 3
) -> Workload:
    """Return a trace as it is simulated, on its own machine, without the jobs that never ran."""
    assert trace.processors is not None
    run = RunOptions(overrun=overrun, requests=requests, seed=seed, dependencies="ignore")
    return prepare(trace, trace.processors, run, predictor=find_predictor(predictor))


def observer_of(predictor: str) -> Observer:
    """Return what the twin of one of our predictors sees."""
    return last_model() if find_predictor(predictor).name == "last-model" else observe_nothing


def overhead_of(restart: Restart) -> Callable[[Job, int], float]:
    """Return what a run begins with that goes on with work done before."""
    fixed, each = restart.seconds.tolist()
    return lambda job, processors: float(fixed + each * processors + job.restart)


def naive_jobs(work: Workload) -> list[Job]:
    """Return the jobs that are simulated, in order of submission; speedup curves are Downey's of sigma 0."""
    coming = work.coming
    jobs = []
    for number, row in enumerate(coming.row.tolist()):
        job = Job(
            float(coming.submit_time[row]),
            int(coming.processors[row]),
            float(coming.run_time[number]),
            float(coming.told[number]),
            float(coming.limit[number]),
            int(coming.user_id[row]),
            int(coming.priority_rank[row]) if len(coming.priority_rank) else -1,
        )
        if len(coming.checkpoint_interval):
            job.interval = float(coming.checkpoint_interval[row])
        if len(coming.speedup) and coming.speedup[row, 0] == 0:
            _, a, _, least, most = coming.speedup[row].tolist()
            job.parallelism = a
            widths = range(max(int(least), 1), int(most) + 1)
            job.stretches = {width: min(job.width, a) / min(width, a) for width in widths}
        jobs.append(job)
    return jobs


def let_wait(trace: Trace, work: Workload, jobs: list[Job]) -> None:
    """Let jobs wait for those that they depend on by their trace; for what is not simulated until its logged end."""
    of_row = dict(zip(work.coming.row.tolist(), jobs, strict=True))
    nodes, _ = read_nodes(trace)
    for node in nodes:
        if node.row in of_row:
            job = of_row[node.row]
            job.waits_for = [(of_row[other.row], node.think) for other in node.waits_for if other.row in of_row]
            job.not_before = eligible(node, dict.fromkeys(of_row, math.nan))


def naive_starts(trace: Trace, policy: Policy, predictor: str, overrun: str, requests: str = "logged") -> list[float]:
    """Return the starts of the jobs of a trace, in its order, in the slow simulator."""
    work, jobs, _ = naive_runs(trace, policy, predictor=predictor, overrun=overrun, requests=requests)
    return naive_starts_of(work, jobs)


def naive_starts_of(work: Workload, jobs: list[Job]) -> list[float]:
    """Return the starts of jobs in the order of their trace."""
    starts = dict(zip(work.coming.row.tolist(), [job.start for job in jobs], strict=True))
    return [starts[row] for row in sorted(starts)]


def shown_naive(trace: Trace, jobs: list[Job], runs: list[Run], work: Workload) -> list[Shown]:
    """Return the runs of the slow simulator; jobs by their row in the trace."""
    row = {id(job): row for job, row in zip(jobs, work.coming.row.tolist(), strict=True)}
    cut = {id(job): bool(is_cut) for job, is_cut in zip(jobs, work.is_cut, strict=True)}
    return [
        (
            row[id(run.job)],
            run.start,
            run.end,
            run.processors,
            run.work,
            run.overhead,
            "limit" if run.how == "completed" and cut[id(run.job)] else run.how,
        )
        for run in runs
    ]


def shown(trace: Trace, schedule: Schedule) -> list[Shown]:
    """Return the same of a schedule of a trace whose jobs have numbers of their own."""
    row = {number: place for place, number in enumerate(trace.jobs["job_number"])}
    return [
        (
            row[run.job_number],
            run.start_time,
            run.end_time,
            run.allocated_processors,
            run.work,
            run.overhead,
            run.ended_by,
        )
        for run in schedule.segments.itertuples()
    ]

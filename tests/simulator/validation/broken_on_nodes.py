# SPDX-License-Identifier: BSD-3-Clause
"""A sound schedule on nodes, what breaks it, and how it is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd

from swftools.machines.asked import Asked
from swftools.machines.node_table import NodeTable
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.report import ValidationReport, validate
from tests.naive.nodes import Job, jobs_of
from tests.node_schedules import simulated, trace_of, with_values
from tests.nodes_drawn import Workload, draw_workload

Change = Callable[[Schedule], Schedule]


def limited(table: NodeTable, **limits: Any) -> NodeTable:
    """Return a machine whose first partition has limits."""
    first, *rest = table.partitions
    return replace(table, partitions=(replace(first, **limits), *rest))


WORKLOAD = draw_workload(
    "count cores memory gpus / 2 8 16 0 / 2 8 16 2",
    "p:0-1:2 q:1-3:3:60",
    """job submit run request nodes cores memory gpus partition alone ready
       A 0 10 10 2 4 8 0 p . .
       B 0 20 20 1 4 8 1.5 q . .
       C 1 5 5 1 1 1 0 q x .
       D 2 30 30 2 8 16 0 p . .
       E 3 4 5 1 4 4 0 p . .
       F 4 50 50 1 1 4 0.5 q,p . .
       G 4 6 6 1 1 1 0 q . 45
       H 5 3 3 1 2 2 2 q . .
       I 5 3 3 4 2 2 2 q . .""",
)
"""Every job but the last can run, and the head of p waits from 2 s to 10 s."""


def sound(policy: str = "easy", heads: str = "partition") -> Schedule:
    """Return a schedule without fault."""
    return simulated(WORKLOAD, policy, heads=heads)


def check(
    schedule: Schedule, asked: Asked = WORKLOAD.asked, workload: Workload = WORKLOAD, **options: Any
) -> ValidationReport:
    """Validate a schedule of a workload against its trace."""
    return validate(schedule, trace=trace_of(workload), asked=asked, **options)


def broken(report: ValidationReport) -> set[str]:
    """Return the rules that are broken."""
    return set(report.violations["rule"])


def run_of(schedule: Schedule, job: str) -> int:
    """Return the row of segments that a job has."""
    return schedule.segments["job_number"].tolist().index(WORKLOAD.names.index(job) + 1)


def moved(job: str, **values: Any) -> Change:
    """Return what changes the run of a job."""
    return lambda schedule: with_values("segments", run_of(schedule, job), **values)(schedule)


def shifted(job: str, start: float, *, length: float | None = None) -> Change:
    """Return what lets a job start at another time, and everything in its rows agree with that."""

    def change(schedule: Schedule) -> Schedule:
        row = schedule.jobs["job_number"].tolist().index(WORKLOAD.names.index(job) + 1)
        run = float(schedule.jobs["run_time"][row]) if length is None else length
        times = {"start_time": start, "end_time": start + run}
        wait = {"wait_time": start - float(schedule.jobs["submit_time"][row]), "run_time": run}
        jobs = with_values("jobs", row, **times, **wait)(schedule)
        return with_values("segments", run_of(schedule, job), **times, work=run)(jobs)

    return change


def both(*changes: Change) -> Change:
    """Return one change after another."""

    def change(schedule: Schedule) -> Schedule:
        for each in changes:
            schedule = each(schedule)
        return schedule

    return change


def wider(job: str, processors: int, **values: Any) -> Change:
    """Return what changes the run of a job and its width in all tables."""

    def change(schedule: Schedule) -> Schedule:
        row = schedule.jobs["job_number"].tolist().index(WORKLOAD.names.index(job) + 1)
        jobs = with_values("jobs", row, allocated_processors=processors)(schedule)
        return moved(job, allocated_processors=processors, **values)(jobs)

    return change


def with_machine(**limits: Any) -> Change:
    """Return what gives the first partition limits."""
    return lambda schedule: replace(schedule, machine=limited(WORKLOAD.table, **limits))


def without_job(job: str, reason: str) -> Change:
    """Return what takes a job out of a schedule for a reason."""

    def change(schedule: Schedule) -> Schedule:
        number = WORKLOAD.names.index(job) + 1
        row = {"job_number": [number], "job_occurrence": [0], "reason": [reason]}
        return replace(
            schedule,
            jobs=schedule.jobs[schedule.jobs["job_number"] != number].reset_index(drop=True),
            segments=schedule.segments[schedule.segments["job_number"] != number].reset_index(drop=True),
            excluded=pd.concat([schedule.excluded, pd.DataFrame(row)], ignore_index=True),
        )

    return change


def jobs_in(schedule: Schedule, workload: Workload) -> list[Job]:
    """Return the jobs of the naive twin as a schedule has them."""
    jobs = jobs_of(workload.asked, workload.submit, workload.run, workload.request, workload.rank)
    starts = dict(zip(schedule.jobs["job_number"], schedule.jobs["start_time"], strict=True))
    nodes = dict(zip(schedule.segments["job_number"], schedule.segments["nodes"], strict=True))
    for job in jobs:
        job.start = float(starts[job.row + 1])
        job.end, job.expected_end = job.start + job.run, job.start + job.request
        ranges = list(nodes[job.row + 1])
        job.where = [node for low, high in zip(ranges[::2], ranges[1::2], strict=True) for node in range(low, high + 1)]
    return jobs

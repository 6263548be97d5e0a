# SPDX-License-Identifier: BSD-3-Clause
"""A sound schedule, the changes that break a rule each, and the rules that are broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from swftools.simulator import list_policies
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.report import validate
from tests.drawn import draw_schedule

PROMISES = {
    name: policy.promised({})
    for name, policy in list_policies().items()
    if policy.promised({}) and policy.decide.__module__.startswith("swftools.")
}
"""What the policies of the package promise, where they do."""


def broken(schedule: Schedule, **options: Any) -> dict[str, list[int]]:
    """Return the rules that a schedule breaks, with the jobs that are shown."""
    found = validate(schedule, **options).violations
    return {rule: rows["job_number"].fillna(-1).tolist() for rule, rows in found.groupby("rule", sort=False)}


SOUND = """
job submit width run request start backfilled
1   0      3     10  10      0     0
2   1      2     5   5       10    0
3   2      1     4   4       2     1
"""


def sound() -> Schedule:
    """Return a schedule without fault, of three jobs, the last of which goes ahead."""
    return draw_schedule(SOUND)


def with_job(row: int, **values: Any) -> Callable[[Schedule], Schedule]:
    """Return what changes a row of the jobs."""

    def change(schedule: Schedule) -> Schedule:
        jobs = schedule.jobs.copy()
        for name, value in values.items():
            jobs.loc[row, name] = value
        return replace(schedule, jobs=jobs)

    return change


def with_run(row: int, **values: Any) -> Callable[[Schedule], Schedule]:
    """Return what changes a row of the segments; they are in order of start."""

    def change(schedule: Schedule) -> Schedule:
        segments = schedule.segments.copy()
        for name, value in values.items():
            segments.loc[row, name] = value
        return replace(schedule, segments=segments)

    return change


def with_more_runs(**runs: list[Any]) -> Callable[[Schedule], Schedule]:
    """Return what adds segments."""

    def change(schedule: Schedule) -> Schedule:
        more = pd.DataFrame({"job_occurrence": 0, "overhead": 0.0, **runs})
        more["work"] = (more["end_time"] - more["start_time"]).clip(lower=0.0)
        more["lost_work"] = more["work"].where(more["ended_by"] == "killed", 0.0)
        return replace(schedule, segments=pd.concat([schedule.segments, more], ignore_index=True))

    return change


def moved(number: int, start: float, schedule: Schedule) -> Schedule:
    """Return a schedule with the only run of a job at another time, and all columns consistent."""
    jobs, segments = schedule.jobs.copy(), schedule.segments.copy()
    row, run = jobs["job_number"] == number, segments["job_number"] == number
    end = start + jobs.loc[row, "run_time"].iloc[0]
    jobs.loc[row, ["start_time", "end_time", "wait_time"]] = [start, end, start - jobs.loc[row, "submit_time"].iloc[0]]
    segments.loc[run, ["start_time", "end_time"]] = [start, end]
    return replace(schedule, jobs=jobs.drop(columns="is_backfilled", errors="ignore"), segments=segments)


CHANGES: dict[str, tuple[Callable[[Schedule], Schedule], dict[str, list[int]]]] = {
    "missing wait": (with_job(1, wait_time=np.nan), {"values": [2]}),
    "negative count": (with_job(1, preemptions=-1), {"values": [2]}),
    "endless estimate": (with_job(0, estimated_time=np.inf), {"values": [1]}),
    "missing run": (with_run(2, end_time=np.nan), {"values": [2], "once": [2]}),
    "never run": (lambda s: replace(s, segments=s.segments.iloc[:2]), {"once": [2]}),
    "run twice": (
        with_more_runs(
            job_number=[3], start_time=[50.0], end_time=[54.0], allocated_processors=[1], ended_by=["completed"]
        ),
        {"once": [3], "columns": [3, 3]},
    ),
    "run of no job": (
        with_more_runs(
            job_number=[9], start_time=[50.0], end_time=[54.0], allocated_processors=[1], ended_by=["killed"]
        ),
        {"once": [-1]},
    ),
    "two rows": (
        lambda s: replace(s, jobs=pd.concat([s.jobs, s.jobs.iloc[[0]]], ignore_index=True)),
        {"once": [1]},
    ),
    "before submission": (lambda s: moved(3, 1.0, s), {"submission": [3]}),
    "longer": (
        lambda s: with_run(2, end_time=16.0)(with_job(1, end_time=16.0)(s)),
        {"run-time": [2]},
    ),
    "shorter": (
        lambda s: with_run(2, end_time=14.0)(with_job(1, end_time=14.0)(s)),
        {"run-time": [2]},
    ),
    "backwards": (
        lambda s: with_run(2, end_time=5.0, work=0.0)(with_job(1, end_time=5.0, run_time=0.0)(s)),
        {"run-time": [2]},
    ),
    "preempted backwards": (
        lambda s: with_more_runs(
            job_number=[2], start_time=[8.0], end_time=[7.0], allocated_processors=[2], ended_by=["killed"]
        )(with_job(1, preemptions=1)(s)),
        {"run-time": [2]},
    ),
    "run after its end": (
        lambda s: with_more_runs(
            job_number=[2], start_time=[20.0], end_time=[26.0], allocated_processors=[2], ended_by=["killed"]
        )(with_job(1, preemptions=1)(s)),
        {"once": [2]},
    ),
    "overlap": (
        lambda s: with_more_runs(
            job_number=[2], start_time=[12.0], end_time=[13.0], allocated_processors=[2], ended_by=["killed"]
        )(with_job(1, preemptions=1)(s)),
        {"once": [2], "overlap": [2]},
    ),
    "narrower run": (with_run(1, allocated_processors=0), {"width": [3]}),
    "wider run": (with_run(2, allocated_processors=3), {"width": [2]}),
    "wider than the machine": (
        lambda s: with_run(2, allocated_processors=5)(with_job(1, allocated_processors=5)(s)),
        {"width": [2], "capacity": [2]},
    ),
    "too many at once": (lambda s: moved(2, 3.0, s), {"capacity": [2, 2]}),
    "too many for a second": (lambda s: moved(2, 9.0, s), {"capacity": [2]}),
    "other wait": (with_job(1, wait_time=8.0), {"columns": [2]}),
    "other start": (with_job(1, start_time=11.0, wait_time=10.0), {"columns": [2]}),
    "other end": (with_job(1, end_time=16.0), {"columns": [2]}),
    "never preempted": (with_job(1, preemptions=1), {"columns": [2]}),
    "not backfilled": (with_job(1, is_backfilled=True), {"columns": [2]}),
    "backfilled": (with_job(2, is_backfilled=False), {"columns": [3]}),
}

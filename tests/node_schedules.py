# SPDX-License-Identifier: BSD-3-Clause
"""Schedules on nodes that no engine made: of the naive twin, and with one thing in them changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from swftools import Trace
from swftools.machines.node_table import GPU
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.foreign_nodes import ranges_of
from tests.drawn import schedule_of
from tests.naive.nodes import DECISIONS, Job, Placement, jobs_of, simulate_on_nodes
from tests.nodes_drawn import Workload


def trace_of(workload: Workload) -> Trace:
    """Return the log of a workload, whose jobs are numbered from 1; what they ask of nodes it does not tell."""
    count = len(workload.submit)
    asked = workload.asked
    return Trace.from_columns(
        machine_processors=workload.table.processors,
        job_number=np.arange(1, count + 1),
        submit_time=workload.submit,
        run_time=workload.run,
        requested_time=workload.request,
        requested_processors=np.maximum(asked.nodes * asked.cores, 1),
    )


def simulated(
    workload: Workload, policy: str, placement: str = "first-fit", heads: str = "partition", *, sparing: bool = True
) -> Schedule:
    """Return what the naive twin makes of a workload, under a placement's name or text form."""
    jobs = jobs_of(workload.asked, workload.submit, workload.run, workload.request, workload.rank)
    chosen = replace(Placement.read(placement), sparing=sparing)
    simulate_on_nodes(jobs, workload.table, DECISIONS[policy], placement=chosen, heads=heads)
    schedule = schedule_on_nodes(workload, [job for job in jobs if job.start is not None], policy, heads)
    return replace(schedule, options={**schedule.options, "placement": placement})


def schedule_on_nodes(workload: Workload, jobs: Sequence[Job], policy: str, heads: str) -> Schedule:
    """Return a schedule in which jobs ran when and where they say."""
    rows = [
        {
            "job": job.row + 1,
            "submit": job.submit,
            "width": held_cores(workload, job),
            "request": job.request,
            "runs": [(job.start, job.end)],
        }
        for job in jobs
    ]
    schedule = schedule_of(rows, workload.table.processors, policy=policy.partition(":")[0])
    by_start = sorted(jobs, key=lambda job: job.start or 0.0)
    parts = workload.table.partitions
    used = [
        next(part for nodes, part in zip(job.sets, job.partitions, strict=True) if set(job.where) <= set(nodes))
        for job in by_start
    ]
    segments = schedule.segments.assign(
        nodes=lists([ranges_of(np.array(job.where)) for job in by_start]),
        cores_per_node=np.array([job.cores for job in by_start], np.int64),
        memory_per_node=np.array([job.memory for job in by_start], np.int64),
        gpus_per_node=np.array([job.gpus / GPU for job in by_start], np.float64),
        is_exclusive=np.array([job.is_exclusive for job in by_start], np.bool_),
        partition=pd.array([parts[part].name for part in used], dtype="str"),
    )
    assert segments["job_number"].tolist() == [job.row + 1 for job in by_start]
    out = np.flatnonzero(workload.asked.code)
    excluded = pd.DataFrame(
        {
            "job_number": pd.array(out + 1, dtype="Int64"),
            "job_occurrence": np.zeros(len(out), np.int64),
            "reason": pd.array([workload.asked.reasons[code] for code in workload.asked.code[out]], dtype="str"),
        }
    )
    options = {**schedule.options, "heads": heads}
    return replace(schedule, segments=segments, excluded=excluded, options=options, machine=workload.table)


def held_cores(workload: Workload, job: Job) -> int:
    """Return the cores that a job has in all."""
    return int(workload.table.cores[job.where].sum()) if job.is_exclusive else job.nodes * job.cores


def lists(values: Sequence[Sequence[int] | None]) -> Any:
    """Return a column of lists."""
    return pd.arrays.ArrowExtensionArray(pa.array(values, pa.list_(pa.int32())))


def with_values(table: str, row: int, **values: Any) -> Callable[[Schedule], Schedule]:
    """Return what changes a row of the jobs or the segments of a schedule."""

    def change(schedule: Schedule) -> Schedule:
        frame = getattr(schedule, table).copy()
        for name, value in values.items():
            column = frame[name].tolist()
            column[row] = value
            frame[name] = lists(column) if name == "nodes" else pd.array(column, dtype=frame[name].dtype)
        return replace(schedule, **{table: frame})

    return change

# SPDX-License-Identifier: BSD-3-Clause
"""Jobs and schedules drawn by hand: small tables of text in, small tables and pictures of text out.

A table has a line of headings and a line a job; a line ends where it ends, or at a slash between blanks. ``.`` is a
missing value. Jobs have a number or a letter; where they have letters, and without a column ``job``, they are numbered
from 1 in the order of their lines.

Jobs of a trace have any of ``HEADINGS``, and ``rank``, the priority rank. Jobs of a schedule have ``submit``, ``width``
and ``request`` and, if wanted, ``queue``, ``backfilled`` and ``occurrence``. When a job ran is told by ``start`` and
``run``, or by ``runs``: one with ``3-5,15-20`` was stopped at 5 s and began anew at 15 s.

A picture of a schedule has a row a processor and a column a second, each job under its letter. Which of its processors
a job gets is not said, so pictures are compared column by column, whatever the order of rows.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from swftools import Trace, read_swf
from swftools.fields.dictionary import SWF_NAMES
from swftools.simulator.schedule import Schedule

HEADINGS = {
    "job": "job_number",
    "submit": "submit_time",
    "wait": "wait_time",
    "run": "run_time",
    "width": "allocated_processors",
    "given": "allocated_processors",
    "cpu": "average_cpu_time",
    "asked": "requested_processors",
    "request": "requested_time",
    "status": "status",
    "user": "user_id",
    "group": "group_id",
    "queue": "queue_id",
    "after": "preceding_job_number",
    "think": "think_time",
    "extra": "extra_fields",
}
"""Columns that a table of jobs may have."""

CLEANED_HEADINGS = {**HEADINGS, "width": "width", "occurrence": "job_occurrence", "line": "line_number"}
"""Columns of a trace that is shown as a table; beside them ``flags``: those that a job has, without ``is_``."""


def rows_of(table: str) -> list[list[str]]:
    """Return the words of every line."""
    return [line.split() for line in table.replace(" / ", "\n").splitlines() if line.strip()]


def names_of(table: str) -> list[str]:
    """Return what the jobs of a table are called, in the order of their lines."""
    return [cells["job"] for cells in _cells_of(table)]


def draw_trace(table: str, *, processors: int | None = None, header: str = "") -> Trace:
    """Read a table of jobs as the log that it would be; its first line stands behind those of the header."""
    lines = [f"; {line}" for line in header.splitlines()]
    ranks = []
    for place, cells in enumerate(_cells_of(table), 1):
        extra = cells.pop("extra", ".")
        ranks.append(cells.pop("rank", "."))
        cells["job"] = _number(cells.get("job", ""), place)
        values = {HEADINGS[heading]: "-1" if cell == "." else cell for heading, cell in cells.items()}
        lines.append(" ".join([*(values.get(name, "-1") for name in SWF_NAMES), *([] if extra == "." else [extra])]))
    trace = read_swf(io.BytesIO("\n".join(lines).encode()))
    if "rank" in rows_of(table)[0]:
        known = pd.array([None if rank == "." else int(rank) for rank in ranks], dtype="Int64")
        trace = trace.with_jobs(trace.jobs.assign(priority_rank=known))
    return trace if processors is None else replace(trace, machine_processors=processors)


def table_of(trace: Trace, table: str) -> list[list[str]]:
    """Return the jobs of a trace as the rows of a table with the headings of another."""
    headings = rows_of(table)[0]
    return [headings, *([_shown(job, heading) for heading in headings] for _, job in trace.jobs.iterrows())]


def draw_schedule(table: str, processors: int = 4, *, policy: str = "", semantics: str | None = "instant") -> Schedule:
    """Read a table of a schedule, which jobs may have outlived their requests."""
    rows = []
    for place, cells in enumerate(_cells_of(table), 1):
        row: dict[str, Any] = {
            "job": int(_number(cells.pop("job", ""), place)),
            "runs": [tuple(map(float, run.split("-"))) for run in cells.pop("runs", "").split(",") if run],
        }
        if not row["runs"]:
            start = float(cells.pop("start"))
            row["runs"] = [(start, start + float(cells.pop("run")))]
        rows.append({name: None if cell == "." else float(cell) for name, cell in cells.items()} | row)
    return schedule_of(rows, processors, policy=policy, semantics=semantics)


def schedule_of(
    rows: list[dict[str, Any]],
    processors: int,
    *,
    policy: str = "",
    semantics: str | None = "instant",
) -> Schedule:
    """Make a schedule of jobs by the headings of a table, ``runs`` as (start, end); all but the last are killed."""
    jobs = pd.DataFrame(
        {
            "job_number": pd.array([row["job"] for row in rows], dtype="Int64"),
            "job_occurrence": np.array([row.get("occurrence", 0) for row in rows], dtype=np.int64),
            "submit_time": np.array([row["submit"] for row in rows], dtype=np.float64),
            "start_time": np.array([row["runs"][-1][0] for row in rows], dtype=np.float64),
            "end_time": np.array([row["runs"][-1][1] for row in rows], dtype=np.float64),
            "allocated_processors": pd.array([row["width"] for row in rows], dtype="Int64"),
            "requested_time": np.array([row["request"] for row in rows], dtype=np.float64),
            "preemptions": pd.array([len(row["runs"]) - 1 for row in rows], dtype="Int64"),
            "queue_id": pd.array([row.get("queue") for row in rows], dtype="Int64"),
        }
    )
    jobs["wait_time"] = jobs["start_time"] - jobs["submit_time"]
    jobs["run_time"] = jobs["end_time"] - jobs["start_time"]
    jobs["estimated_time"] = jobs["requested_time"]
    if all("backfilled" in row for row in rows):
        jobs["is_backfilled"] = np.array([row["backfilled"] for row in rows], dtype=np.bool_)
    runs = [(row, place, *run) for row in rows for place, run in enumerate(row["runs"])]
    segments = pd.DataFrame(
        {
            "job_number": pd.array([row["job"] for row, *_ in runs], dtype="Int64"),
            "job_occurrence": np.array([row.get("occurrence", 0) for row, *_ in runs], dtype=np.int64),
            "start_time": np.array([start for *_, start, _ in runs], dtype=np.float64),
            "end_time": np.array([end for *_, end in runs], dtype=np.float64),
            "allocated_processors": pd.array([row["width"] for row, *_ in runs], dtype="Int64"),
            "work": np.array([end - start for *_, start, end in runs], dtype=np.float64),
            "lost_work": np.array(
                [end - start if place < len(row["runs"]) - 1 else 0.0 for row, place, start, end in runs]
            ),
            "overhead": np.zeros(len(runs)),
            "ended_by": pd.array(
                ["killed" if place < len(row["runs"]) - 1 else "completed" for row, place, *_ in runs], dtype="str"
            ),
        }
    ).sort_values("start_time", kind="stable", ignore_index=True)
    excluded = jobs[["job_number", "job_occurrence"]][:0].assign(reason="")
    options = {"overrun": "run-on", "cancelled": "drop", "least_run_time": 0.0, "semantics": semantics}
    return Schedule(jobs, segments, excluded, processors, policy, options)


def picture_columns(picture: str) -> list[str]:
    """Return the jobs of each second of a picture, one letter for each processor, in alphabetical order."""
    rows = [row for [row] in rows_of(picture)]
    return ["".join(sorted("".join(column).replace(".", ""))) for column in zip(*rows, strict=True)]


def schedule_columns(schedule: Schedule, names: list[str]) -> list[str]:
    """Return the same of a schedule of jobs that are numbered from 1 and have these names."""
    jobs = schedule.jobs
    columns = [""] * int(jobs["end_time"].max())
    for job in jobs.itertuples():
        for second in range(int(job.start_time), int(job.end_time)):
            columns[second] += names[job.job_number - 1] * job.allocated_processors
    return ["".join(sorted(column)) for column in columns]


def _cells_of(table: str) -> list[dict[str, str]]:
    """Return the cells of every job by heading."""
    headings, *rows = rows_of(table)
    return [dict(zip(headings, row, strict=True)) for row in rows]


def _number(name: str, place: int) -> str:
    """Return the number of a job: its own, missing ones as they are, else its place."""
    return str(place) if name == "" or name.isalpha() else name


def _shown(job: pd.Series, heading: str) -> str:
    if heading == "flags":
        names = [name.removeprefix("is_") for name, value in job.items() if str(name).startswith("is_") and value]
        return ",".join(names) or "-"
    value = job[CLEANED_HEADINGS[heading]]
    return "." if pd.isna(value) else f"{value:g}" if isinstance(value, float) else str(value)

"""Schedules drawn by hand, and values of their measures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from swftools.simulator.schedule import Schedule


def schedule_of(rows: list[dict[str, Any]], processors: int) -> Schedule:
    """Make a schedule of jobs with ``runs`` as (start, end), of which the last one is not preempted."""
    jobs = pd.DataFrame(
        {
            "job_number": pd.array([row["job"] for row in rows], dtype="Int64"),
            "job_occurrence": np.array([row.get("occurrence", 0) for row in rows], dtype=np.int64),
            "submit_time": np.array([row["submit"] for row in rows], dtype=np.float64),
            "start_time": np.array([row["runs"][-1][0] for row in rows], dtype=np.float64),
            "end_time": np.array([row["runs"][-1][1] for row in rows], dtype=np.float64),
            "allocated_processors": pd.array([row["processors"] for row in rows], dtype="Int64"),
            "requested_time": np.array([row["request"] for row in rows], dtype=np.float64),
            "is_backfilled": np.array([row.get("backfilled", False) for row in rows], dtype=np.bool_),
            "preemptions": pd.array([len(row["runs"]) - 1 for row in rows], dtype="Int64"),
            "queue_id": pd.array([row.get("queue") for row in rows], dtype="Int64"),
        }
    )
    jobs["wait_time"] = jobs["start_time"] - jobs["submit_time"]
    jobs["run_time"] = jobs["end_time"] - jobs["start_time"]
    runs = [(row, place, *run) for row in rows for place, run in enumerate(row["runs"])]
    segments = pd.DataFrame(
        {
            "job_number": pd.array([row["job"] for row, *_ in runs], dtype="Int64"),
            "job_occurrence": np.array([row.get("occurrence", 0) for row, *_ in runs], dtype=np.int64),
            "start_time": np.array([start for *_, start, _ in runs], dtype=np.float64),
            "end_time": np.array([end for *_, end in runs], dtype=np.float64),
            "allocated_processors": pd.array([row["processors"] for row, *_ in runs], dtype="Int64"),
            "is_preempted": np.array([place < len(row["runs"]) - 1 for row, place, *_ in runs], dtype=np.bool_),
        }
    ).sort_values("start_time", kind="stable", ignore_index=True)
    return Schedule(jobs, segments, jobs[:0], processors, "drawn")


def draw(table: str, processors: int = 4) -> Schedule:
    """Read a drawn schedule: runs as 3-5,15-20, a dot for a missing queue."""
    headings, *lines = [line.split() for line in table.strip().splitlines()]
    rows = []
    for line in lines:
        cells: dict[str, Any] = dict(zip(headings, line, strict=True))
        runs = [tuple(map(float, run.split("-"))) for run in cells.pop("runs").split(",")]
        rows.append({name: None if cell == "." else int(cell) for name, cell in cells.items()} | {"runs": runs})
    return schedule_of(rows, processors)

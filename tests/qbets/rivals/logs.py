# SPDX-License-Identifier: BSD-3-Clause
"""Logs that tests of rivals share."""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools import Trace

SMALL = "trees=5,first_fit=40,refit_every=90,window=200,least_in_leaf=10"
"""Parameters by which a fit takes moments, and there are several in some hundred jobs."""


def crowded_log(jobs: int, seed: int, **columns: Any) -> Trace:
    """Return a log with jobs of every fate, several at one instant, of three queues and a few users."""
    rng = np.random.default_rng(seed)
    wait = np.where(rng.random(jobs) < 0.3, 0, rng.integers(0, 400, jobs)).astype(float)
    usual: dict[str, Any] = {
        "job_number": np.arange(1, jobs + 1),
        "submit_time": np.cumsum(rng.choice([0, 0, 1, 30, 200], jobs)),
        "wait_time": _some_missing(wait, rng),
        "run_time": _some_missing(rng.integers(0, 900, jobs), rng),
        "requested_time": _some_missing(rng.choice([0, 60, 600, 3600], jobs), rng),
        "requested_processors": _some_missing(rng.integers(1, 9, jobs), rng),
        "user_id": _some_missing(rng.integers(1, 6, jobs), rng),
        "queue_id": _some_missing(rng.integers(1, 4, jobs), rng),
    }
    return Trace.from_columns(**usual | columns)


def _some_missing(column: Any, rng: np.random.Generator) -> list[Any]:
    """Return a column of which one value in twenty is missing, the first not among them."""
    return [None if row > 0 and rng.random() < 0.05 else value for row, value in enumerate(column.tolist())]


def with_another_future(log: Trace, job: int, seed: int) -> Trace:
    """Return a log that is the same for all that can be known when a job, by its row, is submitted, and else another.

    The rows are in order of submission. Jobs that wait then wait otherwise, those that run end otherwise, and of those
    that come later everything is another.
    """
    rng = np.random.default_rng(seed)
    jobs = log.jobs.copy()
    now = float(jobs["submit_time"].iloc[job])
    submit, wait = (jobs[name].to_numpy(np.float64, na_value=np.nan) for name in ("submit_time", "wait_time"))
    run = jobs["run_time"].to_numpy(np.float64, na_value=np.nan)
    row = np.arange(len(jobs))
    waits = (row < job) & (submit + wait > now) | (row == job) & ~np.isnan(wait)
    runs = (row < job) & (submit + wait <= now) & (submit + wait + run > now)
    later = row > job
    new_wait = np.where(waits, np.maximum(now - submit, 0) + rng.integers(1, 5000, len(jobs)), wait)
    new_wait[job] = rng.integers(0, 5000) if waits[job] else wait[job]
    new_run = np.where(waits & ~np.isnan(run), rng.integers(0, 5000, len(jobs)), run)
    new_run = np.where(runs, now - submit - wait + rng.integers(1, 5000, len(jobs)), new_run)
    columns = {"wait_time": new_wait, "run_time": new_run}
    for name in ("requested_time", "requested_processors", "user_id", "queue_id"):
        columns[name] = jobs[name].to_numpy(np.float64, na_value=np.nan)
    for name, column in columns.items():
        columns[name] = np.where(later, rng.integers(1, 5000, len(jobs)), column)
    columns["submit_time"] = np.where(later, now + np.sort(rng.choice([0, 1, 50, 900], len(jobs))), submit)
    other = Trace.from_columns(
        log.header,
        job_number=jobs["job_number"],
        **{name: [None if np.isnan(value) else value for value in column] for name, column in columns.items()},
    )
    return other.with_jobs(other.jobs.head(len(jobs) - int(rng.integers(0, len(jobs) - job))))

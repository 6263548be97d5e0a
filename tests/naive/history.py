# SPDX-License-Identifier: BSD-3-Clause
"""A history kept by dictionaries: what the merging of records should come to, one record after the other."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]
"""A record by the names of its columns; missing is None."""


def has_ended(record: Record) -> bool:
    """Whether a job has ended."""
    return record["run_time"] is not None or record["status"] in (0, 1, 5)


def rank_of(record: Record) -> tuple[Any, ...]:
    """Return what decides which of two records of one run counts: the larger."""
    wait = -1.0 if record["wait_time"] is None else record["wait_time"]
    run = -1.0 if record["run_time"] is None else record["run_time"]
    told = [record[name] for name in ("wait_time", "run_time", "allocated_processors", "status")]
    known = sum(value is not None for value in told)
    return (has_ended(record), wait + run, known, *(float("-inf") if value is None else value for value in told))


def run_of(record: Record) -> tuple[Any, ...]:
    """Return what tells a run from the others of its job; nothing where it goes on, or never began."""
    if record["status"] in (2, 3, 4):
        return ("part", record["wait_time"], record["run_time"])
    if has_ended(record) and record["wait_time"] is not None:
        return ("run", record["wait_time"])
    return ()


def jobs_of(files: list[list[Record]]) -> list[Record]:
    """Return the jobs of files, in no order: what counts of all that they say."""
    runs: dict[tuple[Any, ...], dict[tuple[Any, ...], Record]] = {}
    for record in (record for file in files for record in file):
        known = runs.setdefault((record["submit_time"], record["job_number"]), {})
        old = known.get(run_of(record))
        if old is None or rank_of(record) > rank_of(old):
            known[run_of(record)] = record
    found = []
    for known in runs.values():
        any_ended = any(has_ended(record) for record in known.values())
        found += [record for record in known.values() if has_ended(record) or not any_ended]
    return found

"""A history kept by dictionaries: what the merging of records should come to, one record after the other."""

from __future__ import annotations

from collections import Counter
from typing import Any

Record = dict[str, Any]
"""A record by the names of its columns; missing is None."""


def has_ended(record: Record) -> bool:
    """Whether a job has ended."""
    return record["run_time"] is not None or record["status"] in (0, 1, 5)


def end_of(record: Record) -> float:
    """Return how long after its submission a job had ended; -1 for each part that is not known."""
    wait = -1.0 if record["wait_time"] is None else record["wait_time"]
    run = -1.0 if record["run_time"] is None else record["run_time"]
    return float(wait + run)


def identities(file: list[Record]) -> list[tuple[Any, ...]]:
    """Return what each record of a file is known by."""
    seen: Counter[tuple[Any, ...]] = Counter()
    found = []
    for record in file:
        known = (record["submit_time"], record["job_number"])
        if record["status"] in (2, 3, 4):
            known += (record["wait_time"], record["run_time"])
        found.append((*known, "again", seen[known]))
        seen[known] += 1
    return found


def history_of(files: list[list[Record]]) -> tuple[list[Record], list[tuple[int, int, int]]]:
    """Take files one by one; return the jobs in order, and how many of each file were new, merged and replaced."""
    known: dict[tuple[Any, ...], Record] = {}
    given: dict[tuple[Any, ...], int] = {}
    numbers: Counter[int] = Counter()
    counts = []
    for file in files:
        new = merged = replaced = 0
        before = dict(known)
        for identity, record in zip(identities(file), file, strict=True):
            old = before.get(identity)
            if old is None:
                known[identity] = record
                given[identity] = numbers[record["job_number"]]
                numbers[record["job_number"]] += 1
                new += 1
                continue
            merged += 1
            later = has_ended(record) if has_ended(record) != has_ended(old) else end_of(record) >= end_of(old)
            if later and record != old:
                known[identity] = record
                replaced += 1
        counts.append((new, merged, replaced))
    rows = [{**record, "job_occurrence": given[identity]} for identity, record in known.items()]
    rows.sort(key=lambda row: (row["submit_time"], row["job_number"], row["job_occurrence"]))
    return rows, counts

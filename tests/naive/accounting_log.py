# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of the records of an accounting log, slowly: the twin of the ledger, one record after the other."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from swftools.fields.definition import MAX_TIME
from swftools.fields.dictionary import JOBS
from swftools.trace import Trace

MAXIMA = {column.name: column.maximum for column in JOBS if column.maximum is not None}
TIMES = ("submit", "eligible", "start", "end")
WORDS = ("user", "group", "executable", "queue", "log_id", "logged_state", "dependency")
ANY_SIGN = ("exit_code", "status")
FRACTIONS = ("run_time", "cpu_time", "requested_time", "used_memory", "requested_memory")


@dataclass
class NaiveRecord:
    """A record: its line, what stands in it (None is missing), and why it is no job, if it is none."""

    line: int
    values: dict[str, Any]
    fault: str | None = None
    parts: list[int] = field(default_factory=list)


@dataclass
class NaiveTrace:
    """Jobs in the order of their lines, lines that are no jobs, and lines that became part of another."""

    jobs: list[dict[str, Any]]
    quarantined: list[int]
    merged: dict[int, int]


def decode(value: bytes) -> str | None:
    """Return a word: UTF-8, or else Latin-1; None for an empty one."""
    try:
        return value.decode() or None
    except UnicodeDecodeError:
        return value.decode("latin-1")


def number(value: bytes) -> float | None:
    """Return a number; raise ValueError if it is none that the readers know."""
    if not value:
        return None
    if not value.isascii() or not re.fullmatch(rb"[0-9.eE+-]+", value) or not math.isfinite(float(value)):
        raise ValueError(value)
    return float(value)


def settle(records: list[NaiveRecord], rejected: list[int]) -> NaiveTrace:
    """Judge every record."""
    jobs: list[dict[str, Any]] = []
    quarantined = list(rejected)
    merged: dict[int, int] = {}
    seen: dict[tuple[Any, ...], int] = {}
    for record in records:
        if record.fault or is_impossible(record.values):
            quarantined += [record.line, *record.parts]
            continue
        key = tuple(record.values.get(name) for name in ("log_id", *TIMES[:1], *TIMES[2:], "status"))
        key += (record.values.get("allocated_processors"),)
        into = seen.setdefault(key, record.line)
        if into != record.line:
            merged[record.line] = into
        else:
            jobs.append(record.values | {"line": record.line})
        for part in record.parts:
            merged[part] = into
    return NaiveTrace(jobs, sorted(quarantined), merged)


def is_impossible(values: dict[str, Any]) -> bool:
    """Whether no job can have such values."""
    submit, start, end = values.get("submit"), values.get("start"), values.get("end")
    for name in TIMES:
        time = values.get(name)
        if time is not None and not 0 <= time <= MAX_TIME:
            return True
    for first, second in ((submit, start), (start, end), (submit, end)):
        if first is not None and second is not None and second < first:
            return True
    for name, value in values.items():
        if name in TIMES or name in WORDS or value is None:
            continue
        if (value < 0 and name not in ANY_SIGN) or (value % 1 and name not in FRACTIONS):
            return True
        if abs(value) > MAXIMA.get(name, MAX_TIME):
            return True
    return run_time(values) is not None and run_time(values) > MAX_TIME


def run_time(values: dict[str, Any]) -> float | None:
    """Return the run time as given, or from start to end."""
    if values.get("run_time") is not None:
        return values["run_time"]
    if values.get("start") is None or values.get("end") is None:
        return None
    return values["end"] - values["start"]


def check(expected: NaiveTrace, trace: Trace) -> None:
    """Assert that a trace is what the slow reader found."""
    jobs = trace.jobs.sort_values("line_number")
    assert [job["line"] for job in expected.jobs] == jobs["line_number"].tolist()
    assert expected.quarantined == sorted(trace.quarantine["line_number"].tolist())
    assert expected.merged == dict(
        zip(trace.merged["line_number"].tolist(), trace.merged["into_line_number"].tolist(), strict=True)
    )
    submits = [job["submit"] for job in expected.jobs]
    origin = math.floor(min(submits, default=0))
    names = {(row.kind, row.number): row.name_ for row in trace.names.rename(columns={"name": "name_"}).itertuples()}
    for job, row in zip(expected.jobs, jobs.to_dict("records"), strict=True):
        procs, cpu = job.get("allocated_processors"), job.get("cpu_time")
        wanted = {
            "submit_time": job["submit"] - origin,
            "wait_time": None if job.get("start") is None else job["start"] - job["submit"],
            "run_time": run_time(job),
            "average_cpu_time": cpu / procs if cpu is not None and procs else None,
        }
        wanted |= {
            name: value for name, value in job.items() if name not in (*TIMES, *WORDS, "line", "run_time", "cpu_time")
        }
        for name, value in wanted.items():
            have = row.get(name)
            have = None if pd.isna(have) else float(have)
            same = have == value
            if not same and None not in (have, value):
                same = math.isclose(have, value, rel_tol=1e-12)  # the order of a sum may differ
            assert same, (job["line"], name, value, have)
        for kind in ("user", "group", "executable", "queue"):
            number = row[f"{kind}_id"]
            assert job.get(kind) == (None if pd.isna(number) else names[kind, number]), (job["line"], kind)
        for name in ("log_id", "logged_state", "dependency"):
            have = row.get(name)
            assert job.get(name) == (None if pd.isna(have) else have), (job["line"], name)

# SPDX-License-Identifier: BSD-3-Clause
"""What a trace says of its jobs, in the words of the naive reader; and sacct's text from tables in tests."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd

from swftools.formats.read_log import iter_log, read_log
from swftools.trace import Trace

NAMES = ("user", "group", "executable", "queue", "partition")
NUMBERS = (
    *("wait_time", "run_time", "allocated_processors", "requested_processors", "allocated_nodes", "average_cpu_time"),
    *("used_memory", "requested_memory", "requested_time", "status", "exit_code", "exit_signal", "array_number"),
    *("array_index", "allocated_gpus", "line_number"),
)


def read(text: str | bytes, **options: Any) -> Trace:
    """Read a text as Slurm's, in the zone UTC unless another is given."""
    data = text.encode() if isinstance(text, str) else text
    return read_log(io.BytesIO(data), "slurm", **{"time_zone": "UTC"} | options)


def told(trace: Trace) -> list[dict[str, Any]]:
    """Return what is said of each job, in the order of the lines; None where nothing is."""
    names = {(row.kind, row.number): row.name for row in trace.names.itertuples(index=False)}
    jobs = trace.jobs.sort_values("line_number", kind="stable")
    found = []
    for row in jobs.to_dict("records"):
        job = {name: None if pd.isna(row.get(name)) else float(row[name]) for name in NUMBERS}
        job["log_id"] = row["log_id"]
        job["submit"] = float(trace.header.unix_start_time + row["submit_time"])
        for name in NAMES:
            number = row[f"{name}_id"]
            job[name] = None if pd.isna(number) else names[name, number]
        found.append(job)
    return found


def one(text: str | bytes, **options: Any) -> dict[str, Any]:
    """Return what is said of the only job of a text, with its row of the jobs table behind it."""
    trace = read(text, **options)
    assert len(trace.jobs) == 1, trace.quarantine["reason"].tolist()
    return told(trace)[0] | {"row": trace.jobs.iloc[0]}


def reasons(trace: Trace) -> list[tuple[int, str]]:
    """Return line and reason of each line in the quarantine."""
    return list(zip(trace.quarantine["line_number"].tolist(), trace.quarantine["reason"].tolist(), strict=True))


def in_chunks(data: bytes, folder: Any, chunk_bytes: int, **options: Any) -> Trace:
    """Read a text in chunks; return all of them as one trace, its jobs by their numbers."""
    path = folder / "sacct.txt"
    path.write_bytes(data)
    parts = list(iter_log(path, "slurm", chunk_bytes=chunk_bytes, **{"time_zone": "UTC"} | options))
    jobs = pd.concat([part.jobs for part in parts]).sort_values("job_number", ignore_index=True)
    quarantine = pd.concat([part.quarantine for part in parts], ignore_index=True)
    merged = pd.concat([part.merged for part in parts], ignore_index=True)
    last = parts[-1]
    return Trace(last.header, jobs, quarantine, merged=merged, names=last.names)


def assert_same(one: Trace, other: Trace) -> None:
    """Assert that two traces say the same of everything."""
    assert told(one) == told(other)
    assert reasons(one) == reasons(other)
    assert one.quarantine["text"].tolist() == other.quarantine["text"].tolist()
    assert one.header.to_lines() == other.header.to_lines()
    for name in ("line_number", "job_number", "into_line_number"):
        assert one.merged[name].tolist() == other.merged[name].tolist()


HEADER = "JobID|User|Account|Partition|State|Submit|Start|End|NCPUS|JobName"


def row(**values: object) -> str:
    """Return a row of a completed job under ``HEADER``, with other values where they are given."""
    usual: dict[str, object] = {
        "JobID": "7",
        "User": "u1",
        "Account": "a1",
        "Partition": "batch",
        "State": "COMPLETED",
        "Submit": "2024-01-01T00:00:00",
    }
    usual |= {"Start": "2024-01-01T00:01:00", "End": "2024-01-01T00:11:00", "NCPUS": 4, "JobName": "name"}
    assert not set(values) - set(usual)
    return "|".join(str((usual | values)[name]) for name in HEADER.split("|"))


def table(columns: dict[str, object], *steps: dict[str, object], **more: object) -> str:
    """Return a text of one job, with further columns behind the usual ones; ``steps`` are values of its steps."""
    values = dict(zip(HEADER.split("|"), row(**more).split("|"), strict=True)) | columns
    lines = ["|".join(values), "|".join(map(str, values.values()))]
    for number, step in enumerate(steps):
        lines.append("|".join(str(({"JobID": f"{values['JobID']}.{number}"} | step).get(name, "")) for name in values))
    return "\n".join(lines) + "\n"

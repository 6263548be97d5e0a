# SPDX-License-Identifier: BSD-3-Clause
"""A slow reader of what ``sacct -P`` prints, written from the manual: one line after another."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

STATUS = {"COMPLETED": 1, "CANCELLED": 5, "PREEMPTED": 5, "REVOKED": 5, "REQUEUED": 5}
STATUS |= dict.fromkeys(["FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY"], 0)
NONE = ("", "Unknown", "None", "None assigned", "UNLIMITED", "Partition_Limit", "4294967294", "4294967295")
FREE = ("JobName", "Comment")
UNITS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}

Job = dict[str, object]


def seconds_of(text: str) -> float | None:
    """Return the seconds of ``[D-]HH:MM:SS[.mmm]`` or ``MM:SS.mmm``."""
    if text in NONE:
        return None
    days, _, clock = text.rpartition("-")
    total = 0.0
    for part in clock.split(":"):
        total = total * 60 + float(part)
    return total + 86400 * int(days or 0)


def time_of(text: str, zone: str) -> float | None:
    """Return seconds since 1970 of a time of a zone."""
    if text in NONE:
        return None
    if text.isdigit():
        return float(text)
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC).timestamp()


def bytes_of(text: str, unit: int) -> float | None:
    """Return the bytes of ``2.5G``; without a letter the number is of a unit."""
    found = re.fullmatch(r"([0-9.]+)([KMGT]?)", text)
    return float(found[1]) * (UNITS[found[2]] if found[2] else unit) if found else None


def tres_of(text: str) -> dict[str, str]:
    """Return the amounts of a list of TRES by name."""
    return dict(item.split("=") for item in text.split(",") if item)


def count_of(*texts: str) -> float | None:
    """Return the first number above 0."""
    return next((float(text) for text in texts if text not in NONE and float(text) > 0), None)


def requested_memory(row: dict[str, str], processors: float | None, nodes: float | None) -> float | None:
    """Return KB per processor."""
    text = row.get("ReqMem", "")
    scale = text[-1:] if text[-1:] in ("c", "n") else ""
    size = bytes_of(text.rstrip("cn"), 1024**2)
    if not size:
        size, scale = bytes_of(tres_of(row.get("ReqTRES", "")).get("mem", ""), 1024**2), ""
    if not size:
        return None
    if size >= 2**31 * 1024**2:
        return (size - 2**31 * 1024**2) / 1024
    if scale == "c":
        return size / 1024
    if scale == "n":
        return size / 1024 * nodes / processors if nodes and processors else None
    return size / 1024 / processors if processors else None


def job_of(row: dict[str, str], steps: list[dict[str, str]], zone: str) -> Job | None:
    """Return a job, None if the row is none that has ended."""
    state = row["State"].split(" ")[0]
    submit, start, end = (time_of(row[name], zone) for name in ("Submit", "Start", "End"))
    if state not in STATUS or submit is None or end is None:
        return None
    given, wanted = tres_of(row.get("AllocTRES", "")), tres_of(row.get("ReqTRES", ""))
    processors = count_of(row.get("NCPUS", ""), row.get("AllocCPUS", ""), given.get("cpu", ""))
    requested = count_of(row.get("ReqCPUS", ""), wanted.get("cpu", ""))
    nodes = count_of(row.get("NNodes", ""), given.get("node", ""))
    if start == end and "NodeList" in row and row["NodeList"] in NONE and not given and state != "COMPLETED":
        start = None
    run = None
    if start is not None:
        if processors is None:
            return None
        run = seconds_of(row.get("ElapsedRaw", row.get("Elapsed", "")))
        run = end - start if run is None else run
    cpu = seconds_of(row.get("TotalCPU", ""))
    of_steps = [each for each in (seconds_of(step.get("TotalCPU", "")) for step in steps) if each is not None]
    if not cpu and sum(of_steps) > 0:
        cpu = sum(of_steps)
    if run is None or (cpu == 0 and run > 10):
        cpu = None
    sizes = [bytes_of(each.get("MaxRSS", ""), 1) or 0.0 for each in [row, *steps]]
    limit = seconds_of(row.get("Timelimit", ""))
    if limit is None and row.get("TimelimitRaw", "") not in NONE:
        limit = 60 * float(row["TimelimitRaw"])
    array = re.fullmatch(r"([0-9]+)_([0-9]+)", row["JobID"])
    code, _, signal = row.get("ExitCode", "").partition(":")
    return {
        "log_id": row["JobID"],
        "submit": submit,
        "wait_time": None if start is None else start - submit,
        "run_time": run,
        "allocated_processors": None if start is None else processors,
        "requested_processors": requested,
        "allocated_nodes": None if start is None else nodes,
        "average_cpu_time": None if cpu is None or processors is None else cpu / processors,
        "used_memory": None if start is None or not max(sizes) else max(sizes) / 1024,
        "requested_memory": requested_memory(row, requested or processors, count_of(wanted.get("node", "")) or nodes),
        "requested_time": limit,
        "status": STATUS[state],
        "exit_code": float(code) if code else None,
        "exit_signal": float(signal) if signal else None,
        "array_number": float(array[1]) if array else None,
        "array_index": float(array[2]) if array else None,
        "allocated_gpus": None if start is None or "gres/gpu" not in given else float(given["gres/gpu"]),
        "user": row.get("User") or None,
        "group": row.get("Account") or None,
        "executable": row.get("JobName") or None,
        "queue": row.get("Partition") or None,
        "partition": row.get("Cluster") or None,
    }


def read_sacct(text: bytes, zone: str) -> tuple[list[Job], list[int], list[int]]:
    """Return the jobs in the order of the lines, the lines that are none, and the lines of steps within jobs."""
    header: list[str] = []
    found: list[tuple[int, dict[str, str], list[dict[str, str]], list[int]]] = []
    bad: list[int] = []
    is_open = False
    for number, line in enumerate(text.decode().splitlines(), start=1):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("|")]
        if {"jobid", "state"} <= {field.lower() for field in fields}:
            header, is_open = fields, False
            continue
        if header and header[-1] in FREE and len(fields) > len(header):
            fields = line.split("|", len(header) - 1)
        if not header or len(fields) != len(header) or not fields[header.index("JobID")][:1].isdigit():
            bad.append(number)
            continue
        row = dict(zip(header, fields, strict=True))
        job_id, point, _ = row["JobID"].partition(".")
        if not point:
            found.append((number, row, [], []))
            is_open = True
        elif is_open and found[-1][1]["JobID"] == job_id:
            found[-1][2].append(row)
            found[-1][3].append(number)
        else:
            bad.append(number)
    jobs, merged = [], []
    for number, row, steps, lines in found:
        job = job_of(row, steps, zone)
        if job is None:
            bad += [number, *lines]
        else:
            jobs.append(job | {"line_number": number})
            merged += lines
    return jobs, sorted(bad), sorted(merged)


_STRING = re.compile(rb'"((?:[^"\\\n]|\\[^\n])*)("?)\\?')
_REST_OF_LINE = re.compile(rb"[^\n]*")


def jobs_in_documents(text: bytes) -> list[bytes]:
    """Return the elements of the lists "jobs" of documents that are objects or lists, the last one unclosed perhaps."""
    found = []
    opened: list[int] = []
    last_string = b""
    is_list_of_jobs = False
    at = 0
    while at < len(text):
        character = text[at : at + 1]
        length = 1
        if not opened and character not in b"{ \t\r\n\xef\xbb\xbf":
            length = len(_REST_OF_LINE.match(text, at)[0])  # type: ignore[index]
        elif opened and character == b'"':
            string = _STRING.match(text, at)
            assert string
            closing = 1 if string[2] else 0
            length = 1 + len(string[1]) + closing + (0 if closing else len(string[0]) - 1 - len(string[1]))
            last_string = string[1] if closing else b""
        elif character in (b"{", b"["):
            opened.append(at)
            if len(opened) == 2:
                is_list_of_jobs = character == b"[" and last_string == b"jobs"
        elif opened and character in (b"}", b"]"):
            start = opened.pop()
            if len(opened) == 2 and is_list_of_jobs:
                found.append(text[start : at + 1])
        if len(opened) == 1 and character == b",":
            last_string = b""
        at += length
    return [*found, text[opened[2] :]] if len(opened) > 2 and is_list_of_jobs else found

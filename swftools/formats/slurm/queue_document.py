# SPDX-License-Identifier: BSD-3-Clause
"""What runs and waits at a moment, as ``squeue --json`` and ``sacct --json`` print it, whose shapes differ by version.

A number may stand by itself or as ``{"set": true, "infinite": false, "number": 4}``; a state as a word or a list of
words. Time limits are in minutes, times in seconds since 1970.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from swftools.errors import UnreadableLogError
from swftools.output.shown_text import shown

REMEDY = "give what squeue --json or sacct --json printed, whole"


def rows_of_document(text: str, path: str) -> list[tuple[str, dict[str, str]]]:
    """Return the jobs of a document as rows of ``squeue``'s text, each with the place that errors name.

    Raises
    ------
    UnreadableLogError
        It is no such document.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableLogError(f"{path}: it is not valid JSON ({error}); {REMEDY}") from error
    jobs = document.get("jobs") if isinstance(document, dict) else None
    if not isinstance(jobs, list):
        raise UnreadableLogError(f'{path}: it has no list "jobs"; {REMEDY}')
    known = [job for job in jobs if isinstance(job, Mapping)]
    if len(known) < len(jobs):
        raise UnreadableLogError(f'{path}: not all of the list "jobs" are jobs; {REMEDY}')
    now = _number(document.get("last_update")) or max((_latest(job) for job in known), default=0.0)
    rows = []
    for job in known:
        name = str(job.get("job_id", "?"))
        row = _row(job, now)
        rows += [(f"{path}, job {shown(name)}", {"JOBID": name, **row})] * _count(job)
    return rows


def _row(job: Mapping[str, Any], now: float) -> dict[str, str]:
    """Return what is known of a job, by the names and in the form of ``squeue``'s text."""
    times = job.get("time")
    if isinstance(times, Mapping):  # of sacct
        limit, submitted = times.get("limit"), _number(times.get("submission"))
        elapsed = _number(times.get("elapsed"))
        state = job.get("state")
        state = state.get("current") if isinstance(state, Mapping) else state
        width = _allocated(job) or _number(_inner(job, "required").get("CPUs"))
    else:
        limit, submitted = job.get("time_limit"), _number(job.get("submit_time"))
        started = _number(job.get("start_time"))
        state, elapsed = job.get("job_state"), max(now - started, 0.0) if started else 0.0
        width = _number(job.get("cpus"))
    word = str(state[0] if isinstance(state, list) and state else state or "")
    minutes = _number(limit)
    is_open = isinstance(limit, Mapping) and (limit.get("infinite") or limit.get("set") is False)
    return {
        "STATE": word,
        "CPUS": f"{width:.0f}" if width is not None else "",
        "TIME_LIMIT": "UNLIMITED" if is_open or minutes is None else f"0-00:{minutes:.0f}:00",
        "TIME": f"0-00:00:{elapsed or 0.0:.0f}",
        "SUBMITTED": f"{submitted:.0f}" if submitted else "",
    }


def _number(value: Any) -> float | None:
    """Return a number, in whichever shape; None if there is none."""
    if isinstance(value, Mapping):
        value = None if value.get("set") is False else value.get("number")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def _inner(job: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a part of a job; an empty one if it has none."""
    part = job.get(name)
    return part if isinstance(part, Mapping) else {}


def _allocated(job: Mapping[str, Any]) -> float | None:
    """Return the processors that sacct says a job holds; None or 0 where it holds none."""
    held = _inner(job, "tres").get("allocated")
    if not isinstance(held, list):
        return None
    of_kind = [_number(each.get("count")) for each in held if isinstance(each, Mapping) and each.get("type") == "cpu"]
    return of_kind[0] if of_kind else None


def _latest(job: Mapping[str, Any]) -> float:
    """Return the latest time that is past for certain: when a job was submitted, or started if it runs."""
    times = [_number(job.get("submit_time"))]
    state = job.get("job_state")
    if "RUNNING" in (state if isinstance(state, list) else [state]):
        times.append(_number(job.get("start_time")))
    return max((time for time in times if time), default=0.0)


def _count(job: Mapping[str, Any]) -> int:
    """Return for how many jobs a record stands: an array that waits has one, with all its tasks."""
    tasks = job.get("array_task_string")
    if not isinstance(tasks, str) or not tasks:
        return 1
    count = 0
    for part in tasks.partition("%")[0].split(","):
        found = re.fullmatch(r"\s*\[?(\d+)(?:-(\d+)(?::(\d+))?)?\]?\s*", part)
        if not found:
            return 1
        first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
        count += max((last - first) // max(step, 1) + 1, 0)
    return max(count, 1)

# SPDX-License-Identifier: BSD-3-Clause
"""What runs and waits at a moment, as ``squeue --json`` and ``sacct --json`` print it, whose shapes differ by version.

A number may stand by itself or as ``{"set": true, "infinite": false, "number": 4}``; a state as a word or a list of
words. Time limits are in minutes, times in seconds since 1970. Documents of Slurm before 23.02 do not say when they
were made; the latest time in them that is past for certain stands for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from swftools.errors import UnreadableLogError
from swftools.formats.slurm.queue_owners import owner_cells_of_document
from swftools.formats.slurm.queue_requests import cells_of_document
from swftools.formats.slurm.queue_states import ENDING, HELD, RUNNING, SUSPENDED, WAITING, word_of
from swftools.output.shown_text import shown

REMEDY = "give what squeue --json or sacct --json printed, whole"


def rows_of_document(text: str, path: str) -> tuple[list[tuple[str, dict[str, str]]], float]:
    """Return the jobs of a document as rows of ``squeue``'s text, each with its place for errors; and the present.

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
    if known and not any(state in job for job in known for state in ("job_state", "state")):
        raise UnreadableLogError(f"{path}: its jobs have no state, so it is not of Slurm; {REMEDY}")
    told = [_number(document.get(name)) or 0.0 for name in ("last_update", "last_backfill")]
    now = max([*told, *(_latest(job) for job in known)])
    rows = []
    for job in known:
        row = _of_sacct(job) if isinstance(job.get("time"), Mapping) else _of_squeue(job, now)
        place = f"{path}, job {shown(row['JOBID'])}"
        rows.append((place, row))
    return rows, now


def _of_squeue(job: Mapping[str, Any], now: float) -> dict[str, str]:
    """Return what is known of a job, by the names and in the form of ``squeue``'s text."""
    return {
        "JOBID": _name(job, "array_job_id", "array_task_id", "array_task_string"),
        "STATE": word_of(job.get("job_state")),
        "CPUS": _whole(_number(job.get("cpus"))),
        "TIME_LIMIT": _limit(job.get("time_limit")),
        "TIME": f"0-00:00:{_elapsed(job, now):.0f}",
        "SUBMIT_TIME": _whole(_number(job.get("submit_time"))),
        "START_TIME": _whole(_number(job.get("start_time"))),
        "PRIORITY": _whole(_number(job.get("priority"))),
        "REASON": str(job.get("state_reason") or ""),
        **cells_of_document(job, _number),
        **owner_cells_of_document(job, _number),
    }


def _of_sacct(job: Mapping[str, Any]) -> dict[str, str]:
    """Return the same of a job of ``sacct``."""
    times, array, state = _inner(job, "time"), _inner(job, "array"), job.get("state")
    told = state if isinstance(state, Mapping) else {"current": state}
    whole = {**job, "array_job_id": array.get("job_id"), "id": array.get("task_id"), "tasks": array.get("task")}
    return {
        "JOBID": _name(whole, "array_job_id", "id", "tasks"),
        "STATE": word_of(told.get("current")),
        "CPUS": _whole(_allocated(job) or _number(_inner(job, "required").get("CPUs"))),
        "TIME_LIMIT": _limit(times.get("limit")),
        "TIME": f"0-00:00:{_number(times.get('elapsed')) or 0.0:.0f}",
        "SUBMIT_TIME": _whole(_number(times.get("submission"))),
        "START_TIME": _whole(_number(times.get("start"))),
        "PRIORITY": _whole(_number(job.get("priority"))),
        "REASON": str(told.get("reason") or ""),
    }


def _name(job: Mapping[str, Any], array: str, task: str, tasks: str) -> str:
    """Return the id as ``squeue`` prints it: 7, 7_3 of an array, 7_[3-9%2] of tasks that wait, 7+1 of parts."""
    alone = _whole(_number(job.get("job_id"))) or "?"
    whole, index = _number(job.get(array)), _number(job.get(task))
    if whole and isinstance(job.get(tasks), str) and job[tasks]:
        return f"{whole:.0f}_[{job[tasks]}]"
    if whole and index is not None:
        return f"{whole:.0f}_{index:.0f}"
    leader, part = _number(job.get("het_job_id")), _number(job.get("het_job_offset"))
    return f"{leader:.0f}+{part or 0.0:.0f}" if leader else alone


def _limit(value: Any) -> str:
    """Return a time limit in minutes as ``squeue`` prints it."""
    minutes = _number(value)
    is_infinite = isinstance(value, Mapping) and value.get("infinite")
    return "UNLIMITED" if is_infinite or minutes is None else f"0-00:{minutes:.0f}:00"


def _elapsed(job: Mapping[str, Any], now: float) -> float:
    """Return how long a job has run, s: what it was suspended is left out, and it ended if the present is later."""
    started = _number(job.get("start_time"))
    if not started:
        return 0.0
    ran, since = _number(job.get("pre_sus_time")) or 0.0, _number(job.get("suspend_time"))
    if word_of(job.get("job_state")) in SUSPENDED:
        return ran
    end = min(now, _number(job.get("end_time")) or now) if word_of(job.get("job_state")) in ENDING else now
    return max(ran + end - since if since else end - started, 0.0)


def _whole(value: float | None) -> str:
    """Return a number as text; nothing where there is none."""
    return "" if value is None else f"{value:.0f}"


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
    """Return the latest time of a job that is past for certain."""
    past = [job.get(name) for name in ("submit_time", "last_sched_evaluation", "suspend_time")]
    word = word_of(job.get("job_state"))
    if word in RUNNING | SUSPENDED:
        past.append(job.get("start_time"))
    if word in ENDING or word not in RUNNING | SUSPENDED | WAITING | HELD:
        past.append(job.get("end_time"))
    times = _inner(job, "time")  # of sacct
    past += [times.get("submission"), times.get("end")]
    began = _number(times.get("start"))
    spent = [_number(times.get(name)) or 0.0 for name in ("elapsed", "suspended")]
    seconds = [*(_number(each) for each in past), began + sum(spent) if began else None]
    return max((each for each in seconds if each), default=0.0)

# SPDX-License-Identifier: BSD-3-Clause
"""What slurmrestd says of jobs and partitions, whose shapes differ by version.

A number may stand by itself or as ``{"set": true, "infinite": false, "number": 4}``; a state as a word or a list of
words. Limits are in minutes, times in s since 1970, 0 where there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipelines.service.sensors.documents import part_of
from pipelines.service.sensors.followed import Sighting
from pipelines.service.sensors.sensor import QueueLimits
from pipelines.service.sensors.slurm_records import GOES_ON, OUTCOMES, RUNS, WAITS, never_started, tasks_of


def of_queue(job: Mapping[str, Any]) -> Iterator[Sighting]:
    """Yield what slurmctld says of a job, or of the tasks of an array that wait together."""
    submit = number_of(job.get("submit_time"))
    states = states_of(job.get("job_state"))
    if not submit or not states:
        return
    start, end = number_of(job.get("start_time")), number_of(job.get("end_time"))
    is_waiting = any(each in WAITS for each in states)
    is_over = not is_waiting and not any(each in RUNS for each in states)
    if is_waiting or (is_over and never_started(states[0], start, end)):
        start = None  # expected only; or that of a job that left the queue, which is its end
    waits_in = text_of(job.get("partition"))
    for each in _names(job, job.get("array_job_id"), job.get("array_task_id"), job.get("array_task_string")):
        yield Sighting(
            *(each, submit, waits_in, text_of(job.get("user_name"))),
            processors=width_of(job.get("cpus")),
            requested_time=limit_of(job.get("time_limit")),
            eligible=number_of(job.get("eligible_time")),
            start=start,
            end=end if is_over else None,
            is_over=is_over,
            outcome=OUTCOMES.get(states[0]),
        )


def of_record(job: Mapping[str, Any]) -> Iterator[Sighting]:
    """Yield what slurmdbd says of a job, or of the tasks of an array that never started."""
    times, array = part_of(job, "time"), part_of(job, "array")
    told = job.get("state")
    states = states_of(told.get("current") if isinstance(told, Mapping) else told)
    submit = number_of(times.get("submission"))
    if not submit or not states:
        return
    start, end = number_of(times.get("start")), number_of(times.get("end"))
    is_over = states[0] not in GOES_ON or (states[0] == "REQUEUED" and bool(end))
    part = {
        **job,
        "het_job_id": part_of(job, "het").get("job_id"),
        "het_job_offset": part_of(job, "het").get("job_offset"),
    }
    for each in _names(part, array.get("job_id"), array.get("task_id"), array.get("task")):
        yield Sighting(
            *(each, submit, text_of(job.get("partition")), text_of(job.get("user"))),
            processors=width_of(part_of(job, "required").get("CPUs")),
            requested_time=limit_of(times.get("limit")),
            eligible=number_of(times.get("eligible")),
            start=None if never_started(states[0], start, end) else start,
            end=end,
            is_over=is_over,
            outcome=OUTCOMES.get(states[0]),
        )


def of_partition(told: Mapping[str, Any]) -> QueueLimits:
    """Return what a partition takes."""
    longest = told.get("max_time_limit", part_of(told, "maximums").get("time"))
    usual = told.get("default_time_limit", part_of(told, "defaults").get("time"))
    processors = width_of(told.get("total_cpus", part_of(told, "cpus").get("total")))
    flags = told.get("flags")
    is_default = isinstance(flags, list) and "DEFAULT" in [str(each).upper() for each in flags]
    return QueueLimits(is_default, limit_of(longest), limit_of(usual), processors)


def _names(job: Mapping[str, Any], array: Any, task: Any, tasks: Any) -> list[str]:
    """Return ids as squeue prints them: 7, 7_3 of an array, each of 7_[3-9%2] that wait, 7+1 of parts."""
    whole, index = number_of(array), number_of(task, least=0.0)
    if whole and isinstance(tasks, str) and tasks:
        return tasks_of(f"{whole:.0f}_[{tasks}]")
    if whole and index is not None:
        return [f"{whole:.0f}_{index:.0f}"]
    leader, part = number_of(job.get("het_job_id")), number_of(job.get("het_job_offset"), least=0.0)
    alone = number_of(job.get("job_id"))
    if leader:
        return [f"{leader:.0f}+{part or 0.0:.0f}"]
    return [f"{alone:.0f}"] if alone else []


def number_of(value: Any, least: float = 1.0) -> float | None:
    """Return a number, in whichever shape; None if there is none, or one below the least."""
    if isinstance(value, Mapping):
        value = None if value.get("set") is False or value.get("infinite") else value.get("number")
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < 1e12:
        return None
    return float(value)


def width_of(value: Any) -> int | None:
    """Return a number of processors; None if it is none."""
    number = number_of(value)
    return None if number is None else int(number)


def limit_of(value: Any) -> float | None:
    """Return a limit, s, of one in minutes; None where there is none: old versions write the largest number."""
    minutes = number_of(value)
    return None if minutes is None or minutes >= 0xFFFFFFFE else minutes * 60.0


def text_of(value: Any) -> str | None:
    """Return a text; None if it is none, or empty."""
    return value if isinstance(value, str) and value else None


def states_of(value: Any) -> list[str]:
    """Return the words of a state."""
    words = value if isinstance(value, list) else [value]
    return [each.upper() for each in words if isinstance(each, str) and each]

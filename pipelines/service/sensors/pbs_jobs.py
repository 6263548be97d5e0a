# SPDX-License-Identifier: BSD-3-Clause
"""What an OpenPBS says of a job: its attributes as qstat prints them, with times as those of UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from pipelines.service.sensors.followed import Sighting
from pipelines.service.sensors.task_lists import tasks_in
from swftools.formats.tables.collected import CANCELLED, COMPLETED, FAILED
from swftools.live.events import FARTHEST, LONGEST_TEXT, MOST_PROCESSORS
from swftools.parameters import is_number, is_whole
from swftools.parameters.durations import seconds_of

WAITS, RUNS, OVER = "QHWT", "RESU", "FXM"
"""States of jobs that wait, that run, and that are over (F finished, X of an array, M moved to another server)."""

LONGEST_SPAN = 40
"""Letters of a requested time; what has more is none."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DATE = re.compile(r"\w{3} +(\w{3}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})")
_COUNT = re.compile(r"\d{1,15}")
_STATUS = re.compile(r"-?\d{1,9}")
_ID = re.compile(r"\d{1,18}(?:\[\d{0,9}\])?(?:\.[\w.-]{1,255})?")
_ARRAY = re.compile(r"(\d+)\[(\d*)\](.*)", re.DOTALL)


def sightings_of(jobs: Mapping[str, Mapping[str, Any]], submitted: Mapping[str, float]) -> Iterator[Sighting]:
    """Yield what jobs are; an array is no job, its tasks are.

    Parameters
    ----------
    jobs : mapping of str to mapping
        Attributes by id.
    submitted : mapping of str to float
        When jobs were submitted that are known, s since 1970, by id: a task of an array keeps that, whatever the server
        says when it runs.
    """
    for number, told in jobs.items():
        if not _ID.fullmatch(number):
            continue
        of_array = _ARRAY.fullmatch(number)
        whole = jobs.get(f"{of_array[1]}[]{of_array[3]}", {}) if of_array else {}
        submit = submitted.get(number) if of_array else None
        if submit is None:
            submit = time_of(whole.get("ctime")) or time_of(told.get("ctime")) or time_of(told.get("qtime"))
        if submit is None:
            continue
        if not of_array or of_array[2]:
            yield from _sighting(number, submit, told)
        elif str(told.get("job_state")) not in OVER:
            for index in tasks_in(str(told.get("array_indices_remaining"))):
                task = f"{of_array[1]}[{index}]{of_array[3]}"
                if task not in jobs:
                    yield from _sighting(task, submitted.get(task, submit), {**told, "job_state": "Q", "stime": None})


def _sighting(number: str, submit: float, told: Mapping[str, Any]) -> Iterator[Sighting]:
    """Yield what a job is, if its state is one of a job."""
    state = str(told.get("job_state"))
    if len(state) != 1 or state not in WAITS + RUNS + OVER:
        return
    asked = told.get("Resource_List")
    requested = asked if isinstance(asked, Mapping) else {}
    start = None if state in WAITS + "M" else time_of(told.get("stime"))
    ends = (time_of(told.get(name)) for name in ("obittime", "history_timestamp", "mtime"))
    owner, queue = told.get("Job_Owner"), told.get("queue")
    yield Sighting(
        number,
        submit,
        queue=queue[:LONGEST_TEXT] if isinstance(queue, str) else None,
        user=owner.partition("@")[0][:LONGEST_TEXT] if isinstance(owner, str) else None,
        processors=width_of(requested),
        requested_time=span_of(requested.get("walltime")),
        eligible=time_of(told.get("etime")),
        start=start,
        end=next((each for each in ends if each), None) if state in OVER else None,
        is_over=state in OVER,
        outcome=_outcome(told.get("Exit_status")),
    )


def _outcome(status: Any) -> str | None:
    """Return how a job ended; 271 is SIGTERM, by which qdel ends one."""
    text = str(status)
    if not _STATUS.fullmatch(text):
        return None
    return COMPLETED if int(text) == 0 else CANCELLED if int(text) == 256 + 15 else FAILED


def width_of(asked: Mapping[str, Any]) -> int | None:
    """Return the processors that a job requests: its ncpus, else those of its chunks, else one for each node.

    Examples
    --------
    >>> width_of({"select": "2:ncpus=4:mem=8gb+1:mpiprocs=2"}), width_of({"ncpus": 8, "select": "1"}), width_of({})
    (9, 8, None)
    """
    if count := _count(asked.get("ncpus")):
        return count
    chunks = asked.get("select")
    if isinstance(chunks, str | int):
        total = 0
        for chunk in str(chunks).split("+"):
            parts = chunk.split(":")
            times = int(parts.pop(0)) if _COUNT.fullmatch(parts[0]) else 1
            total += times * next((int(part[6:]) for part in parts if re.fullmatch(r"ncpus=\d{1,15}", part)), 1)
        return _count(total)
    return _count(asked.get("nodect"))


def _count(value: Any) -> int | None:
    """Return a number from one on, also where it is a text."""
    if isinstance(value, str) and _COUNT.fullmatch(value):
        value = int(value)
    return value if is_whole(value, 1, MOST_PROCESSORS) else None


def span_of(value: Any) -> float | None:
    """Return a requested time, s: 04:00:00, or a number of seconds."""
    if isinstance(value, str) and len(value) <= LONGEST_SPAN:
        value = seconds_of(value)
    return float(value) if is_number(value, 0.0, FARTHEST) else None


def time_of(value: Any) -> float | None:
    """Return a time, s since 1970: of "Mon Nov 27 19:08:36 2026" in UTC, or a number; None if it is none."""
    if is_whole(value, 1, FARTHEST):
        return float(value)
    return _time_of(value) if isinstance(value, str) else None


@lru_cache(65_536)
def _time_of(text: str) -> float | None:
    if re.fullmatch(r"\d{1,12}", text) and int(text):
        return float(text)
    found = _DATE.fullmatch(text.strip())
    if not found or found[1] not in _MONTHS:
        return None
    try:
        day, hour, minute, second, year = map(int, found.groups()[1:])
        return datetime(year, _MONTHS.index(found[1]) + 1, day, hour, minute, min(second, 59), tzinfo=UTC).timestamp()
    except ValueError:
        return None

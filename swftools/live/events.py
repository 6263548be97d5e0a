# SPDX-License-Identifier: BSD-3-Clause
"""What happens to jobs, one event after the other: submitted, eligible, changed, started, cancelled, ended."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.formats.tables.collected import CANCELLED as OUTCOME_CANCELLED
from swftools.formats.tables.collected import COMPLETED, FAILED
from swftools.kernel import BoolArray, FloatArray
from swftools.parameters import is_number, is_whole
from swftools.qbets.log_columns import GROUPS, occurrences, read_submissions, read_width
from swftools.trace import Trace

STARTED, SUBMITTED, CANCELLED, ENDED, ELIGIBLE, CHANGED = KINDS = (
    *("started", "submitted", "cancelled", "ended"),
    *("eligible", "changed"),
)
"""What may happen to a job."""

OUTCOMES = (COMPLETED, FAILED, OUTCOME_CANCELLED)
"""How a job may have ended."""

NEVER_STARTED = (0, 5)
"""SWF statuses of jobs that, without a run time, left the queue without a start: failed and cancelled."""

LONGEST_TEXT = 1000
"""Letters that a text of an event has at most."""

MOST_PROCESSORS = 1 << 53
"""Processors that a job asks for at most: numbers that doubles hold."""

FARTHEST = 1e12
"""Seconds from its origin, before or behind, that a time has at most; a requested time too."""

_DIGITS = 19
"""A number in the name of a job has fewer digits; what has more is a text."""

_RANKS = {SUBMITTED: 0, ELIGIBLE: 1, CHANGED: 1, STARTED: 2, CANCELLED: 3, ENDED: 3}
"""In which order it happens."""


@dataclass(frozen=True)
class JobEvent:
    """One thing that happened to a job.

    Parameters
    ----------
    kind : str
        submitted, eligible (nothing but the queue holds it back from now on; told where that is after its submission),
        changed (its queue, width or limit was changed while it waits), started, cancelled (it left the queue without a
        start) or ended.
    time : float
        When, s; of all events from one origin.
    job : str
        Names the job among all of its cluster, also where numbers come again: an id with its submission, say.
    cluster : str
        The machine; empty where there is one.
    processors : int or None
        Requested. This and the following are said where the job is submitted or changed; None: not known.
    requested_time : float or None
        Requested run time, s.
    groups : mapping of str to object
        What jobs may be grouped by: queue, user, partition ...; the queue is that of the submission. Values are texts,
        numbers, bools or None.
    outcome : str or None
        Of an end: completed or failed, or cancelled for one that was cancelled while it ran; None: not known.

    Raises
    ------
    ParameterError
        One of them is none of these, a text has more than 1000 letters, or a number is beyond 1e12 s or 2**53
        processors.
    """

    kind: str
    time: float
    job: str
    cluster: str = ""
    processors: int | None = None
    requested_time: float | None = None
    groups: Mapping[str, object] = field(default_factory=dict)
    outcome: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"kind={self.kind!r:.100} is none of {', '.join(KINDS)}")
        if not is_number(self.time, -FARTHEST, FARTHEST):
            most = f"of at most {FARTHEST:g}"
            raise ParameterError(
                f"time={self.time!r:.100} of a job that is {self.kind} is not a number of seconds {most}"
            )
        if not isinstance(self.job, str) or not self.job or not isinstance(self.cluster, str):
            raise ParameterError(
                f"job={self.job!r:.100}, cluster={self.cluster!r:.100}: they are texts, and the job has one"
            )
        if len(self.job) > LONGEST_TEXT or len(self.cluster) > LONGEST_TEXT:
            raise ParameterError(f"job={self.job!r:.100}: it or its cluster has more than {LONGEST_TEXT} letters")
        if self.processors is not None and not is_whole(self.processors, 1, MOST_PROCESSORS):
            raise ParameterError(f"processors={self.processors!r:.100} is not an integer from 1 on, of at most 2**53")
        if self.requested_time is not None and not is_number(self.requested_time, 0.0, FARTHEST):
            raise ParameterError(
                f"requested_time={self.requested_time!r:.100} is not a number of seconds from 0 to {FARTHEST:g}"
            )
        for name, value in self.groups.items():
            if not _is_plain(value) or not isinstance(name, str) or len(name) > LONGEST_TEXT:
                raise ParameterError(
                    f"groups: {name!r:.100} is {value!r:.100}: that is no number and no text of {LONGEST_TEXT} letters"
                )
        if self.outcome not in (None, *OUTCOMES):
            raise ParameterError(f"outcome={self.outcome!r:.100} is none of {', '.join(OUTCOMES)}")
        self._make_texts_valid()

    def _make_texts_valid(self) -> None:
        """Replace names that cannot be written; an event is frozen for all others."""
        for name in ("job", "cluster"):
            said = getattr(self, name)
            if not said.isascii():
                object.__setattr__(self, name, valid_text(said))
        if any(isinstance(value, str) and not value.isascii() for value in self.groups.values()):
            groups = {key: valid_text(value) if isinstance(value, str) else value for key, value in self.groups.items()}
            object.__setattr__(self, "groups", groups)


def valid_text(said: str) -> str:
    """Return a text that can be written as UTF-8: half of a surrogate pair, which JSON may hold, by its number.

    Texts that differ stay different ones, unless a batch system has both of them.
    """
    return said.encode("utf-8", "backslashreplace").decode()


def _is_plain(value: object) -> bool:
    """Whether jobs may be grouped by a value: a text that is not too long, a number, or nothing."""
    return value is None or (isinstance(value, str | int | float) and len(str(value)) <= LONGEST_TEXT)


def in_order(events: Iterable[JobEvent]) -> list[JobEvent]:
    """Return events as they are taken in: by time; at one instant starts come first, then submissions by their jobs.

    So a job that is submitted knows of all that has started by then, as in a replay; what becomes eligible or changes
    at that instant stands before its start. What happens to a job at the instant of its submission comes right behind
    that. Jobs are in order of the numbers in their names: 7, 7.1, 10.
    """
    heard = list(events)
    submitted = {(event.cluster, event.job): event.time for event in heard if event.kind == SUBMITTED}

    def place(event: JobEvent) -> tuple[float, bool, tuple[tuple[int, int, str], ...], int]:
        own = submitted.get((event.cluster, event.job), -math.inf)  # what is told of a job before it is there waits
        is_later = event.kind not in (STARTED, ELIGIBLE, CHANGED) or own >= event.time
        return max(event.time, own), is_later, _numbers_of(event.job), _RANKS[event.kind]

    return sorted(heard, key=place)


def _numbers_of(job: str) -> tuple[tuple[int, int, str], ...]:
    """Return the name of a job, in parts that are compared as numbers where they are some."""
    return tuple(
        (0, int(part), "") if part.isdecimal() and len(part) < _DIGITS else (1, 0, part)
        for part in re.split(r"(\d+)", job)
        if part
    )


def log_events(log: Trace, by: Sequence[str] = ("queue",), cluster: str = "") -> Iterator[JobEvent]:
    """Yield what happened to the jobs of a log, in order.

    Parameters
    ----------
    log : Trace
        Jobs with their waits. One that failed or was cancelled, and has no run time, never started: its wait is that
        until it left the queue, and where that is not known either it leaves as soon as it comes. Of another one
        without a run time nothing is said but that it is submitted.
    by : sequence of str
        What jobs are grouped by: queue, partition, user, group, columns of the trace.
    cluster : str
        Of all of them.

    Yields
    ------
    JobEvent
        In order (``in_order``). A job is named by its number, and from the second of a number on by its occurrence too:
        ``7``, ``7.1``.
    """
    jobs = log.jobs
    columns = read_submissions(jobs, "requested_time", may_lack_waits=True)
    count, number = np.asarray(occurrences(jobs), np.int64), jobs["job_number"].to_numpy(np.int64)
    names = [
        f"{job}.{times}" if times else str(job) for job, times in zip(number.tolist(), count.tolist(), strict=True)
    ]
    run = jobs["run_time"].to_numpy(np.float64, na_value=np.nan) if "run_time" in jobs else np.full(len(jobs), np.nan)
    width = read_width(jobs)
    values = {name: jobs[GROUPS.get(name, name)] for name in by}
    groups = {name: each.astype(object).where(each.notna(), None).tolist() for name, each in values.items()}
    start = columns.submit + columns.wait
    until = np.nan_to_num(_raw_waits(jobs))  # of some it is not known when they left: they are no wait in any case
    gone = np.where(np.isnan(start) & _never_started(jobs, run), columns.submit + until, np.nan)
    made = []
    for kind, times in ((SUBMITTED, columns.submit), (STARTED, start), (ENDED, start + run), (CANCELLED, gone)):
        for row in np.flatnonzero(~np.isnan(times)).tolist():
            more: dict[str, Any] = {}
            if kind == SUBMITTED:
                asked = float(columns.x[row])
                more = {
                    "processors": None if np.isnan(width[row]) else int(width[row]),
                    "requested_time": asked if asked >= 0 else None,
                    "groups": {name: each[row] for name, each in groups.items()},
                }
            made.append(JobEvent(kind, float(times[row]), names[row], cluster, **more))
    yield from in_order(made)


def _never_started(jobs: pd.DataFrame, run: FloatArray) -> BoolArray:
    """Return which jobs failed or were cancelled without a run, as the cleaning rule never-started has it."""
    if "status" not in jobs:
        return np.zeros(len(jobs), np.bool_)
    return np.isnan(run) & jobs["status"].isin(NEVER_STARTED).to_numpy(np.bool_, na_value=False)


def _raw_waits(jobs: pd.DataFrame) -> FloatArray:
    """Return waits as the log has them, s; NaN where it has none, or one below 0."""
    waits = jobs["wait_time"].to_numpy(np.float64, na_value=np.nan)
    return np.where(waits >= 0.0, waits, np.nan)

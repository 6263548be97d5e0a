# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of a cluster that wait or run now, what each asked for, and which share of their request jobs use."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from swftools.live import JobEvent, ToldWait
from swftools.live.events import CANCELLED, CHANGED, ELIGIBLE, ENDED, STARTED, SUBMITTED
from swftools.live.job_files import id_of

SHARES = 1000
"""Jobs that ended last, of which it is known which share of their requested time they ran."""

OVER_FOR = 3600.0
"""Seconds for which a job that is over is remembered: a sensor that is started again may hear of it once more."""


@dataclass(slots=True)
class QueuedJob:
    """A job that waits or runs; what nobody said is None.

    Parameters
    ----------
    job : str
        Its name among all of the cluster.
    submit : float
        When it was submitted, s.
    processors : int or None
        Requested.
    requested_time : float or None
        Requested, s.
    groups : mapping of str to object
        Queue, user ... as they were said at its submission.
    told : ToldWait or None
        What it was told then.
    start : float or None
        When it started, s; None while it waits.
    end : float or None
        When it was over, s; None while it is not.
    eligible : float or None
        When nothing but the queue held it back, s; None: at its submission, or nobody said it.
    """

    job: str
    submit: float
    processors: int | None = None
    requested_time: float | None = None
    groups: Mapping[str, object] = field(default_factory=dict)
    told: ToldWait | None = None
    start: float | None = None
    end: float | None = None
    eligible: float | None = None

    @property
    def id(self) -> str:
        """Its id as the batch system prints it: without the submission that tells recycled ones apart."""
        return id_of(self.job)

    @property
    def queue(self) -> str | None:
        """Its queue, as it was said."""
        return _text(self.groups.get("queue"))

    @property
    def user(self) -> str | None:
        """Its user, as it was said."""
        return _text(self.groups.get("user"))

    def change(self, event: JobEvent) -> None:
        """Take over all that it asks for now; groups that are not said anew, and what it was told, stay."""
        self.processors, self.requested_time = event.processors, event.requested_time
        self.groups = {**self.groups, **event.groups}

    def events(self) -> Iterator[JobEvent]:
        """Yield what happened to it, as whoever hears it for the first time."""
        about: dict[str, Any] = {
            "processors": self.processors,
            "requested_time": self.requested_time,
            "groups": self.groups,
        }
        yield JobEvent(SUBMITTED, self.submit, self.job, "", **about)
        if self.eligible is not None:
            yield JobEvent(ELIGIBLE, self.eligible, self.job)
        if self.start is not None:
            yield JobEvent(STARTED, self.start, self.job)
        if self.end is not None:
            yield JobEvent(CANCELLED if self.start is None else ENDED, self.end, self.job)


class QueuedJobs:
    """The jobs that wait or run.

    Attributes
    ----------
    waiting, running : dict of str to QueuedJob
        By name; in the order in which they came, or started.
    shares : deque of float
        Which share of its requested time each of the last jobs ran that ended; above 0, 1 at most.
    """

    def __init__(self) -> None:
        self.waiting: dict[str, QueuedJob] = {}
        self.running: dict[str, QueuedJob] = {}
        self.shares: deque[float] = deque(maxlen=SHARES)
        self._over: deque[QueuedJob] = deque()
        self._of_id: dict[str, list[str]] = {}

    def take(self, events: Iterable[JobEvent], told: Mapping[str, ToldWait]) -> list[QueuedJob]:
        """Take in events, in order, and what jobs were told; return the jobs that started by them."""
        started = []
        for event in events:
            if event.kind == SUBMITTED and event.job not in self.waiting and event.job not in self.running:
                self._add(
                    QueuedJob(
                        event.job,
                        event.time,
                        event.processors,
                        event.requested_time,
                        event.groups,
                        told.get(event.job),
                    )
                )
            elif event.kind == STARTED and event.job in self.waiting:
                job = self.running[event.job] = self.waiting.pop(event.job)
                job.start = max(event.time, job.submit)
                started.append(job)
            elif event.kind == CHANGED and event.job in self.waiting:
                self.waiting[event.job].change(event)
            elif event.kind == ELIGIBLE and event.job in self.waiting:
                self.waiting[event.job].eligible = event.time
            elif event.kind in (CANCELLED, ENDED):
                self._leave(event)
        return started

    def find(self, of_id: str) -> QueuedJob | None:
        """Return the job of an id that waits or runs; of several the one that was submitted last."""
        names = self._of_id.get(of_id, ())
        found = [self.waiting.get(name) or self.running[name] for name in names]
        return max(found, key=lambda job: job.submit, default=None)

    def known(self) -> list[QueuedJob]:
        """Return all that wait, run or have been over for a short while."""
        return [*self._over, *self.running.values(), *self.waiting.values()]

    def _add(self, job: QueuedJob) -> None:
        """Know a job that waits or runs."""
        (self.waiting if job.start is None else self.running)[job.job] = job
        self._of_id.setdefault(job.id, []).append(job.job)

    def _leave(self, event: JobEvent) -> None:
        """Note that a job is over."""
        job = self.waiting.pop(event.job, None) or self.running.pop(event.job, None)
        if job is None:
            return
        names = self._of_id[job.id]
        names.remove(job.job)
        if not names:
            del self._of_id[job.id]
        job.end = event.time
        if job.start is not None and job.requested_time and event.time > job.start:
            self.shares.append(min((event.time - job.start) / job.requested_time, 1.0))
        self._over.append(job)
        while self._over[0].end is not None and self._over[0].end < event.time - OVER_FOR:
            self._over.popleft()

    # ------------------------------------------------------------ kept

    def to_mapping(self) -> dict[str, Any]:
        """Return all of it as JSON can say it."""
        return {"jobs": [_row(job) for job in self.known()], "shares": list(self.shares)}

    @classmethod
    def from_mapping(cls, told: Mapping[str, Any]) -> Self:
        """Return what another knew when it was told.

        Raises
        ------
        ValueError, TypeError, LookupError
            It is none of ``to_mapping``.
        """
        made = cls()
        for job, submit, processors, requested, groups, wait, start, end, eligible in told["jobs"]:
            known = QueuedJob(job, submit, processors, requested, dict(groups), _told(wait), start, end, eligible)
            if end is None:
                made._add(known)
            else:
                made._over.append(known)
        made.shares.extend(float(share) for share in told["shares"])
        return made


def _row(job: QueuedJob) -> list[Any]:
    """Return a job as JSON can say it."""
    told = None
    if job.told is not None:
        told = [job.told.group, None if math.isnan(job.told.bound) else job.told.bound, job.told.no_prediction]
    asked = job.processors, job.requested_time, dict(job.groups)
    return [job.job, job.submit, *asked, told, job.start, job.end, job.eligible]


def _told(row: list[Any] | None) -> ToldWait | None:
    """Return what a job was told."""
    if row is None:
        return None
    group, bound, reason = row
    return ToldWait(group, math.nan if bound is None else float(bound), reason)


def _text(value: object) -> str | None:
    return None if value is None else str(value)

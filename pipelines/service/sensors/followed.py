# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are followed: what each look at the queue, and each record, tells of them that is not known yet.

A job is known by its id and its submission, since ids come again. Who is missing in a look at the queue is gone only
when a record says so: queues are printed with gaps, and records come late. Whatever comes again, nothing is told twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from swftools.live import JobEvent
from swftools.live.events import CANCELLED, CHANGED, ELIGIBLE, ENDED, STARTED, SUBMITTED
from swftools.live.job_files import id_of

LOOKS, LONG = 10, 1800.0
"""A missing job counts as gone after this many polls and seconds without a record."""

NEVER_ASKED = 86_400.0
"""So does who is gone for so many seconds while records are not there at all."""

OVERLAP = 900.0
"""So many seconds further back than the last time but one records are looked for: they come late."""


def name_of(number: str, submit: float) -> str:
    """Return what a job is called: ids come again, an id with its submission does not; ``id_of`` takes it apart.

    Examples
    --------
    >>> name_of("7", 5.0)
    '7@5'
    """
    return f"{number}@{submit:.0f}"


class Sighting(NamedTuple):
    """What a batch system says of a job.

    The id, the submission, the queue, the user, the processors that it requested, the run time that it requested (s),
    when it became eligible, started and ended, whether it is over, and how it ended. Times are s since 1970; None: not
    said, or not yet. A start is one that happened, never an expected one.
    """

    number: str
    submit: float
    queue: str | None = None
    user: str | None = None
    processors: int | None = None
    requested_time: float | None = None
    eligible: float | None = None
    start: float | None = None
    end: float | None = None
    is_over: bool = False
    outcome: str | None = None

    @property
    def job(self) -> str:
        """What it is called."""
        return name_of(self.number, self.submit)

    @property
    def groups(self) -> dict[str, object]:
        """What it may be grouped by."""
        return {name: each for name, each in (("queue", self.queue), ("user", self.user)) if each is not None}


class _Asked(NamedTuple):
    """What a job asks for: its queue, processors and run time (s)."""

    queue: object
    processors: int | None
    requested_time: float | None


class _Known(NamedTuple):
    """A job that has not ended: its id, its submission, whether it runs, what it asks for, when it became eligible."""

    number: str
    submit: float
    runs: bool
    asked: _Asked
    eligible: float | None


class Gone(NamedTuple):
    """A job that is missing in the queue: its id, its submission, when it was seen last and missed first, how often."""

    number: str
    submit: float
    seen: float
    missed: float
    looks: int

    @property
    def job(self) -> str:
        """What it is called."""
        return name_of(self.number, self.submit)


class FollowedJobs:
    """The jobs of a cluster that have not ended, and what was told of them.

    Parameters
    ----------
    before : iterable of JobEvent
        What was told before, of a journal.

    Attributes
    ----------
    newest : float or None
        The latest time of which anything is known, s since 1970, by the batch system's clock.
    """

    def __init__(self, before: Iterable[JobEvent] = ()) -> None:
        self._known: dict[str, _Known] = {}
        self._gone: dict[str, Gone] = {}
        self._over: dict[str, float] = {}
        self.newest: float | None = None
        most = 1024
        for event in before:
            self.note([event])
            if len(self._over) > most:  # years of them, of which the last hours matter
                self.forget(event.time - 86_400.0)
                most = max(1024, 2 * len(self._over))

    # ------------------------------------------------------------ what is told

    def look(self, seen: Iterable[Sighting], now: float) -> Iterator[JobEvent]:
        """Yield what a look at the queue tells of jobs that are not over."""
        for each in seen:
            job = each.job
            known = self._known.get(job)
            if known is None:
                if job in self._over:  # it has left, whatever the queue still shows
                    continue
                yield from self._submitted(each, now)
            elif not known.runs and each.start is None:
                asked = _Asked(each.queue, each.processors, each.requested_time)
                if known.asked not in (asked, _Asked(None, None, None)):
                    # In whole seconds, as a batch system tells times: so it does not come behind an end of that second.
                    yield _asking(CHANGED, max(float(math.floor(now)), known.submit), each)
                yield from _eligible(each, known.eligible, now)
            elif not known.runs and each.start is not None:
                yield from _eligible(each, known.eligible, each.start)
                yield JobEvent(STARTED, max(each.start, known.submit), job)

    def miss(self, there: set[str], seen_before: float, now: float) -> list[Gone]:
        """Return the jobs that are missing in a look at the queue, and note that they are.

        Parameters
        ----------
        there : set of str
            Jobs that are not missing.
        seen_before, now : float
            When the last look was, and when this one is, s since 1970.
        """
        for job in [job for job in self._gone if job in there]:
            del self._gone[job]
        for job, known in self._known.items():
            if job in there:
                continue
            missed = self._gone.get(job) or Gone(known.number, known.submit, min(seen_before, now), now, 0)
            self._gone[job] = missed._replace(missed=min(missed.missed, now))
        return list(self._gone.values())

    def settle(self, records: Mapping[str, Sighting], now: float, *, were_asked: Iterable[Gone]) -> Iterator[JobEvent]:
        """Yield what records tell of jobs that are missing; who has none for long has left."""
        for gone in were_asked:
            job = gone.job
            record = records.get(job)
            if record is not None:
                yield from self._of_record(record, gone)
            if record is not None and record.is_over:
                continue
            self._gone[job] = gone._replace(looks=gone.looks + 1)
            if self._gone[job].looks >= LOOKS and now - gone.missed >= LONG:
                yield self._left(job, gone, has_started=record is not None and record.start is not None)

    def give_up(self, now: float) -> Iterator[JobEvent]:
        """Yield the ends of those who are missing for a day, and of whom nobody tells anything."""
        for job, gone in self._gone.items():
            if now - gone.missed >= NEVER_ASKED:
                yield self._left(job, gone)

    def catch_up(self, records: Iterable[Sighting], there: set[str], since: float) -> Iterator[JobEvent]:
        """Yield all of the jobs that ended since a moment and were never heard of.

        Parameters
        ----------
        records : iterable of Sighting
            Of jobs that were there since then.
        there : set of str
            Who is in the queue: that tells of them.
        since : float
            s since 1970.
        """
        for record in records:
            job = record.job
            is_known = job in self._known or job in self._over or job in there
            if is_known or not record.is_over or record.end is None or record.end < since:
                continue
            yield from self._submitted(record, record.end)
            yield _end_of(record, has_started=record.start is not None)

    def note(self, events: Iterable[JobEvent]) -> None:
        """Know what was told."""
        for event in events:
            job, known = event.job, self._known.get(event.job)
            if event.kind != CHANGED:  # that is told by our own clock, which may have been wrong
                self.newest = max(event.time, self.newest or event.time)
            if event.kind == SUBMITTED:
                asked = _Asked(event.groups.get("queue"), event.processors, event.requested_time)
                self._known[job] = _Known(id_of(job), event.time, runs=False, asked=asked, eligible=None)
            elif event.kind in (CANCELLED, ENDED):
                self._known.pop(job, None)
                self._gone.pop(job, None)
                self._over[job] = event.time
            elif known is not None and event.kind == STARTED:
                self._known[job] = known._replace(runs=True)
            elif known is not None and event.kind == ELIGIBLE:
                self._known[job] = known._replace(eligible=event.time)
            elif known is not None and event.kind == CHANGED:
                asked = _Asked(event.groups.get("queue"), event.processors, event.requested_time)
                self._known[job] = known._replace(asked=asked)

    def forget(self, before: float) -> None:
        """Forget who was over before a moment; records of that time must not be taken for new ones any more."""
        self._over = {job: time for job, time in self._over.items() if time >= before}

    # ------------------------------------------------------------ inside

    def _submitted(self, each: Sighting, now: float) -> Iterator[JobEvent]:
        """Yield that a job of which nothing was known is submitted, became eligible, and started."""
        yield _asking(SUBMITTED, each.submit, each)
        yield from _eligible(each, None, now if each.start is None else each.start)
        if each.start is not None:
            yield JobEvent(STARTED, max(each.start, each.submit), each.job)

    def _of_record(self, record: Sighting, gone: Gone) -> Iterator[JobEvent]:
        """Yield what a record tells of a job that is missing."""
        known = self._known[record.job]
        if record.start is not None and not known.runs:
            yield from _eligible(record, known.eligible, record.start)
            yield JobEvent(STARTED, max(record.start, known.submit), record.job)
        if record.is_over:
            ended = record if record.end is not None else record._replace(end=gone.missed)
            yield _end_of(ended, has_started=known.runs or record.start is not None)

    def _left(self, job: str, gone: Gone, *, has_started: bool = False) -> JobEvent:
        """Return that a job has left of which nobody says when: when it was missed first."""
        kind = ENDED if has_started or self._known[job].runs else CANCELLED
        return JobEvent(kind, max(gone.missed, gone.submit), job)


class Window:
    """When records are looked through for jobs of which nothing was heard, and from when on.

    Each time is looked at twice, and a little more, since records come late.

    Parameters
    ----------
    begin : float or None
        The latest time of which anything is known, s since 1970; None: what was before the first look is not asked for.
    every : float
        Seconds between two times.
    """

    def __init__(self, begin: float | None, every: float) -> None:
        self._last = self._before = begin
        self._first, self._every = -math.inf, every

    def since(self, now: float) -> float | None:
        """Return from when on records are looked through now, s since 1970; None: not yet."""
        if self._last is None or self._before is None:
            self._last = self._before = self._first = now
        elif now < self._last:  # the clock was moved
            self._last, self._before = now, min(self._before, now)
        return None if now - self._last < self._every else self.back(self._before)

    def looked(self, now: float) -> float:
        """Take in that records were looked through; return the moment before which nothing is looked at any more."""
        self._before, self._last = self._last, now
        return self.back(now if self._before is None else self._before)

    def back(self, time: float) -> float:
        """Return a moment somewhat before one, but not before anything was asked."""
        return max(time - OVERLAP, min(self._first, time))


def _asking(kind: str, time: float, each: Sighting) -> JobEvent:
    """Return an event that says what a job asks for."""
    return JobEvent(kind, time, each.job, "", each.processors, each.requested_time, each.groups)


def _eligible(each: Sighting, known: float | None, by: float) -> Iterator[JobEvent]:
    """Yield that a job became eligible, if it did so after its submission, by a moment, and that is not known."""
    time = each.eligible
    if time is not None and each.submit < time <= by and (known is None or not math.isclose(time, known, abs_tol=0.5)):
        yield JobEvent(ELIGIBLE, time, each.job)


def _end_of(record: Sighting, *, has_started: bool) -> JobEvent:
    """Return the end of a job of which a record says when."""
    end = record.submit if record.end is None else record.end
    if not has_started:
        return JobEvent(CANCELLED, max(end, record.submit), record.job)
    return JobEvent(ENDED, max(end, record.submit), record.job, outcome=record.outcome)

# SPDX-License-Identifier: BSD-3-Clause
"""What jobs were told of their waits, and what came of it: kept, broken, or still open."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

from swftools.live.events import CANCELLED, ENDED, STARTED, SUBMITTED, JobEvent, in_order
from swftools.live.predictor import ToldWait

DAY = 86_400.0


class ToldCounts(NamedTuple):
    """How many jobs were told a bound; of them those that started in time, that waited longer, and those still open."""

    told: int
    kept: int
    broken: int
    open: int

    @property
    def share(self) -> float:
        """Of those of which it is known, the share that was kept; NaN if it is of none."""
        known = self.kept + self.broken
        return self.kept / known if known else math.nan


class _Open(NamedTuple):
    """A job that was told a bound and has not started: its group, when it came, the bound (both s)."""

    group: str
    submit: float
    bound: float


class ToldLedger:
    """What jobs were told at their submission, written down before anybody knows their start.

    A bound is kept if the job starts within it. It is broken as soon as the job has waited longer, whether it has
    started or not: nobody waits for the end of a long wait to count it. A job that leaves the queue before its bound is
    over says nothing, and is not counted.

    Examples
    --------
    >>> ledger = ToldLedger()
    >>> told = {"a": ToldWait("1", 60.0, None), "b": ToldWait("1", 60.0, None), "c": ToldWait("1", 60.0, None)}
    >>> ledger.take([JobEvent("submitted", 0.0, job) for job in told], told)
    >>> ledger.take([JobEvent("started", 50.0, "a")], {})
    >>> ledger.counts(55.0)
    ToldCounts(told=3, kept=1, broken=0, open=2)
    >>> ledger.counts(61.0)
    ToldCounts(told=3, kept=1, broken=2, open=0)
    """

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._closed: dict[tuple[int, str], list[int]] = {}  # kept and broken, by day of submission and group

    def take(self, events: Iterable[JobEvent], told: Mapping[str, ToldWait]) -> None:
        """Take in events, and what the jobs were told that are submitted by them.

        Parameters
        ----------
        events : iterable of JobEvent
            Of one cluster, as a ``LivePredictor`` took them in; what became eligible or was changed is passed over.
        told : mapping of str to ToldWait
            What that returned.
        """
        for event in in_order(events):
            if event.kind == SUBMITTED and event.job in told:
                of_job = told[event.job]
                if not math.isnan(of_job.bound):
                    self._open[event.job] = _Open(of_job.group, event.time, of_job.bound)
            elif event.kind in (STARTED, CANCELLED, ENDED) and event.job in self._open:
                self._close(self._open.pop(event.job), event.time, has_started=event.kind == STARTED)

    def counts(self, now: float, days: float = math.inf, group: str | None = None) -> ToldCounts:
        """Return how many were kept and broken.

        Parameters
        ----------
        now : float
            s; jobs that wait longer than they were told by then are broken.
        days : float
            Of jobs submitted so many days before, at most; whole days from second 0 on.
        group : str, optional
            Of one group alone.
        """
        first = -math.inf if math.isinf(days) else math.floor((now - days * DAY) / DAY)
        kept = broken = still = 0
        for (day, of_group), (in_time, late) in self._closed.items():
            if day >= first and group in (None, of_group):
                kept, broken = kept + in_time, broken + late
        for job in self._open.values():
            if job.submit // DAY >= first and group in (None, job.group):
                is_late = now - job.submit > job.bound
                broken, still = broken + is_late, still + (not is_late)
        return ToldCounts(kept + broken + still, kept, broken, still)

    def to_mapping(self) -> dict[str, Any]:
        """Return all of it as JSON can say it."""
        return {
            "open": [[job, *each] for job, each in self._open.items()],
            "closed": [[day, group, *counts] for (day, group), counts in self._closed.items()],
        }

    @classmethod
    def from_mapping(cls, told: Mapping[str, Any]) -> Self:
        """Return a ledger that knows what another did when it was told.

        Raises
        ------
        ValueError, TypeError, LookupError
            It is none of ``to_mapping``.
        """
        made = cls()
        made._open = {
            str(job): _Open(str(group), float(submit), float(bound)) for job, group, submit, bound in told["open"]
        }
        made._closed = {(int(day), str(group)): [int(kept), int(broken)] for day, group, kept, broken in told["closed"]}
        return made

    def _close(self, job: _Open, time: float, *, has_started: bool) -> None:
        """Count a job that has left the queue."""
        is_late = time - job.submit > job.bound
        if has_started or is_late:
            self._closed.setdefault((int(job.submit // DAY), job.group), [0, 0])[is_late] += 1

# SPDX-License-Identifier: BSD-3-Clause
"""Waits of the last weeks, by group and day of submission: quartiles, in little room.

A wait is counted in one of a few hundred ranges, each five percent wide, so that a quartile is told to within three
percent however many jobs there were.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

WAIT_BUCKETS = (60.0, 300.0, 900.0, 3600.0, 14_400.0, 43_200.0, 86_400.0, 259_200.0)
"""Upper ends, s, of the histogram of waits that Prometheus reads."""

DAYS = 28
"""Days that are kept."""

DAY = 86_400.0

_WIDTH = math.log(1.05)


class DayOfWaits(NamedTuple):
    """Waits of the jobs that were submitted on a day and have started.

    Parameters
    ----------
    begin : float
        Of the day, s.
    waits : int
        How many.
    lower, middle, upper : float
        A quarter, half and three quarters of them were no longer, s.
    """

    begin: float
    waits: int
    lower: float
    middle: float
    upper: float


class RecentWaits:
    """Counts of waits.

    Parameters
    ----------
    origin : float
        Second of UTC's day at which second 0 was, s: days are those of UTC.

    Examples
    --------
    >>> waits = RecentWaits()
    >>> for wait in (0, 60, 60, 60, 3600):
    ...     waits.add("batch", 100.0, float(wait))
    >>> [(day.waits, round(day.middle)) for day in waits.days("batch", 86_399.0)]
    [(5, 59)]
    """

    def __init__(self, origin: float = 0.0) -> None:
        self.origin = origin % DAY
        self._counts: dict[tuple[str, int], dict[int, int]] = {}
        self._newest = -1

    def add(self, group: str, submit: float, wait: float) -> None:
        """Count a wait, s, of a job that was submitted at a time, s."""
        day = self._day(submit)
        if day > self._newest:
            self._newest = day
            self._counts = {key: counts for key, counts in self._counts.items() if key[1] > day - DAYS}
        if day <= self._newest - DAYS:
            return
        counts = self._counts.setdefault((group, day), {})
        place = round(math.log1p(max(wait, 0.0)) / _WIDTH)
        counts[place] = counts.get(place, 0) + 1

    def days(self, group: str, now: float) -> list[DayOfWaits]:
        """Return the days of a group of which waits are known, of the last four weeks before a time, s."""
        last = self._day(now)
        told = []
        for day in range(last - DAYS + 1, last + 1):
            counts = self._counts.get((group, day))
            if counts:
                parts = _quantile(counts, 0.25), _quantile(counts, 0.5), _quantile(counts, 0.75)
                told.append(DayOfWaits(day * DAY - self.origin, sum(counts.values()), *parts))
        return told

    def _day(self, time: float) -> int:
        return math.floor((time + self.origin) / DAY)

    def to_mapping(self) -> dict[str, Any]:
        """Return all of it as JSON can say it."""
        return {"counts": [[*key, sorted(counts.items())] for key, counts in self._counts.items()]}

    @classmethod
    def from_mapping(cls, told: Mapping[str, Any], origin: float = 0.0) -> Self:
        """Return what another counted when it was told.

        Raises
        ------
        ValueError, TypeError, LookupError
            It is none of ``to_mapping``.
        """
        made = cls(origin)
        for group, day, counts in told["counts"]:
            made._counts[str(group), int(day)] = {int(place): int(count) for place, count in counts}
            made._newest = max(made._newest, int(day))
        return made


def _quantile(counts: Mapping[int, int], share: float) -> float:
    """Return the wait, s, that a share of those that were counted do not exceed: of rank ceil(share * n)."""
    rank, passed = math.ceil(share * sum(counts.values())), 0
    for place in sorted(counts):
        passed += counts[place]
        if passed >= rank:
            return math.expm1(place * _WIDTH)
    return math.nan

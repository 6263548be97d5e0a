# SPDX-License-Identifier: BSD-3-Clause
"""Waits of the last weeks as numbers for a picture: a bar from quartile to quartile for each day, on a log scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipelines.service.recent_waits import DAY, DAYS, DayOfWaits
from swftools.output.amounts import duration
from swftools.parameters.durations import in_words

WIDTH, HEIGHT = 360.0, 200.0
LEFT, RIGHT, TOP, BOTTOM = 48.0, 352.0, 8.0, 172.0

TICKS = (60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0, 2_592_000.0)

LEAST = 60.0
"""Waits below are drawn as that, s: a minute or less is no wait."""


class Bar(NamedTuple):
    """What is drawn of a day, in units of the picture."""

    x: float
    y: float
    width: float
    height: float
    middle: float


class Tick(NamedTuple):
    """A line of a scale, and what stands there."""

    place: float
    text: str


class Picture(NamedTuple):
    """A picture, and what it shows in words."""

    bars: tuple[Bar, ...]
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    in_words: str


def picture_of(days: Sequence[DayOfWaits], now: float, date: Callable[[float], str | None]) -> Picture:
    """Return the picture of waits.

    Parameters
    ----------
    days : sequence of DayOfWaits
        In order of time.
    now : float
        Its right end is the day of that, s.
    date : callable
        Returns a moment, s, as a date; None where there are none.
    """
    first = _first_day(days, now)
    most = max((day.upper for day in days), default=0.0)
    top = next((tick for tick in TICKS if tick >= most), max(most, TICKS[-1]))
    top = max(top, 600.0)

    def height(seconds: float) -> float:
        part = math.log(max(seconds, LEAST) / LEAST) / math.log(top / LEAST)
        return BOTTOM - part * (BOTTOM - TOP)

    step = (RIGHT - LEFT) / DAYS
    bars = []
    for day in days:
        upper, lower = height(day.upper), height(day.lower)
        left = LEFT + round((day.begin - first) / DAY) * step
        bars.append(Bar(left + 0.15 * step, upper, 0.7 * step, max(lower - upper, 1.5), height(day.middle)))
    rows = tuple(Tick(height(tick), in_words(tick)) for tick in TICKS if tick <= top)
    columns = tuple(
        Tick(LEFT + (week + 0.5) * step, _day(date(first + week * DAY), week)) for week in range(0, DAYS, 7)
    )
    return Picture(tuple(bars), rows, columns, _told(days, date))


def _first_day(days: Sequence[DayOfWaits], now: float) -> float:
    """Return when the first day of the picture begins, s."""
    if not days:
        return now - (DAYS - 1) * DAY
    last = days[-1].begin + math.floor((now - days[-1].begin) / DAY) * DAY
    return last - (DAYS - 1) * DAY


def _day(date: str | None, number: int) -> str:
    """Return a day in short."""
    return f"{DAYS - 1 - number} d ago" if date is None else date[5:10]


def _told(days: Sequence[DayOfWaits], date: Callable[[float], str | None]) -> str:
    """Return what the picture shows."""
    if not days:
        return "No job of the last four weeks has started."
    longest, last = max(days, key=lambda day: day.middle), days[-1]

    def when(day: DayOfWaits) -> str:
        told = date(day.begin)
        return "a day" if told is None else told[:10]

    jobs = sum(day.waits for day in days)
    return (
        f"{jobs:,} {'job' if jobs == 1 else 'jobs'} of {len(days)} {'day' if len(days) == 1 else 'days'} of the last "
        f"four weeks. Half of those submitted on {when(last)}, the last of these days, waited {duration(last.middle)} "
        f"or less; the longest such wait of a day was {duration(longest.middle)}, on {when(longest)}. Days are those "
        "of UTC."
    )

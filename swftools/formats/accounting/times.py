# SPDX-License-Identifier: BSD-3-Clause
"""Times as logs print them, and the zones they are in: wall-clock times become seconds since 1970.

What is printed counts where it is plain (an offset from UTC, or an abbreviation that means one zone alone); else the
reader is told the zone. The hour that a zone repeats when daylight saving ends has two meanings, which are both kept
until the order of a job's times decides.
"""

from __future__ import annotations

from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import LogFormatError, ParameterError
from swftools.formats.accounting.dates import (
    DAY_MONTH_YEAR,
    MONTH_DAY_YEAR,
    MONTH_TABLE,
    YEAR_MONTH_DAY,
    Dates,
    fill_dates,
)
from swftools.formats.accounting.kernel import DOUBTFUL, PLAIN, StateArray
from swftools.formats.accounting.spans import Spans, texts
from swftools.kernel import BoolArray, FloatArray

_ZONES_OF_HOUR = {
    0: "UTC GMT WET",
    1: "WEST CET MET MEZ",
    2: "CEST MEST MESZ EET",
    3: "EEST MSK",
    8: "HKT AWST",
    9: "JST KST",
    10: "AEST",
    11: "AEDT",
    12: "NZST",
    13: "NZDT",
    -4: "EDT",
    -5: "EST CDT",
    -6: "MDT",
    -7: "MST PDT",
    -8: "PST AKDT",
    -9: "AKST",
    -10: "HST",
}
ZONES = {word: hour for hour, words in _ZONES_OF_HOUR.items() for word in words.split()}
"""Hours from UTC of abbreviations that batch systems print and that mean one zone alone; CST, IST and BST do not."""

ORDERS = {"dmy": DAY_MONTH_YEAR, "mdy": MONTH_DAY_YEAR, "ymd": YEAR_MONTH_DAY}
"""What the order of day, month and year is called in options."""

_DAY = 86400.0
_LAST_YEAR = 253_370_764_800.0
"""Where the year 9999 begins, s since 1970. It ends beyond the calendar in half of all zones, and who prints it means
that there is no such time."""


_SAME = 60.0
"""Seconds by which two durations may differ that mean the same; the hour that a zone repeats is longer."""


class Written(NamedTuple):
    """Dates with slashes, and what each tells of the order of day and month.

    Parameters
    ----------
    spans : Spans
        All dates.
    told : ndarray of uint8
        ``DAY_FIRST``, ``MONTH_FIRST``, ``EITHER``, ``SHORT_YEAR``, or 0 for those that tell nothing.
    """

    spans: Spans
    told: npt.NDArray[np.uint8]


class Moments(NamedTuple):
    """Times in seconds since 1970.

    Parameters
    ----------
    early, late : ndarray of float64
        The time, twice; in an hour that a zone repeats, both of its meanings. NaN where there is none.
    is_bad : ndarray of bool
        Where something is printed that is not a time.
    is_skipped : ndarray of bool
        Where the zone has no such time: it was skipped when daylight saving began.
    needs_zone : ndarray of bool
        Where nothing says which zone it is in.
    is_contradicted : ndarray of bool
        Where the zone that was given is not the one that is printed.
    written : Written, optional
        The dates, where some are written with slashes; see ``date_order.py``.
    """

    early: FloatArray
    late: FloatArray
    is_bad: BoolArray
    is_skipped: BoolArray
    needs_zone: BoolArray
    is_contradicted: BoolArray
    written: Written | None = None


def zone_named(name: str) -> ZoneInfo:
    """Return a zone of the tz database.

    Raises
    ------
    ParameterError
        There is none of that name.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ParameterError(
            f"time_zone={name!r} is not a zone of the tz database; names are like America/Los_Angeles, "
            "Europe/Berlin, UTC"
        ) from error


class PlainDates(NamedTuple):
    """Dates of which the plain ones have been read already.

    Parameters
    ----------
    seconds, offset : ndarray of float64
        Of those: the seconds on the wall's clock from 1970 on, and the offset from UTC, NaN where none is printed.
    state : ndarray of int8
        Which those are: ``PLAIN``.
    """

    seconds: FloatArray
    offset: FloatArray
    state: StateArray


def read_times(
    spans: Spans,
    time_zone: str | None,
    *,
    printed: str | None = None,
    plain: PlainDates | None = None,
    dates: str | None = None,
) -> Moments:
    """Return the times that are printed.

    Parameters
    ----------
    spans : Spans
        Dates, in any of the forms of ``dates.py``.
    time_zone : str, optional
        Name of the zone that they are in. It is over an abbreviation that is printed, which then only tells the two
        meanings of a repeated hour apart; an offset from UTC that is printed is over it.
    printed : str, optional
        The zone of times without any, where the format prints times of one zone.
    plain : PlainDates, optional
        Those of the dates that have been read; one whose span is absent counts as absent.
    dates : str, optional
        The order of dates with slashes or dashes whose year does not come first: dmy, mdy or ymd. Without it those
        with slashes have the month first, those with dashes the day.
    """
    order = ORDERS[dates] if dates else 0
    read = _read_dates(spans, order) if plain is None else _read_others(spans, plain, order)
    seconds, offset, zone, state, told = read
    state[seconds >= _LAST_YEAR] = DOUBTFUL
    seconds[seconds >= _LAST_YEAR] = np.nan
    early, late = seconds - offset, seconds - offset
    needs_zone = np.zeros(len(spans), bool)
    skipped = np.zeros(len(spans), bool)
    contradicted = np.zeros(len(spans), bool)
    is_open = np.isfinite(seconds) & ~np.isfinite(offset)
    if is_open.any():
        words = texts(zone).dictionary_encode()
        places = words.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        for place, word in enumerate([*words.dictionary.to_pylist(), None]):
            chosen = is_open & (places == (place if word is not None else -1))
            if not chosen.any():
                continue
            name = time_zone or (printed if word is None else None)
            if name is not None:
                early[chosen], late[chosen], skipped[chosen] = _in_zone(seconds[chosen], zone_named(name), word)
                if word is not None and word.upper() in ZONES:
                    printed_as = seconds - 3600.0 * ZONES[word.upper()]
                    contradicted |= chosen & (early != printed_as) & (late != printed_as)
            elif word is not None and word.upper() in ZONES:
                early[chosen] = late[chosen] = seconds[chosen] - 3600.0 * ZONES[word.upper()]
            else:
                needs_zone |= chosen
    # The beginning of 1970, in whatever zone, is how a time that never came is printed.
    never = np.abs(early) <= _DAY
    early[never] = late[never] = np.nan
    written = Written(spans, told) if told.any() else None
    return Moments(early, late, state == DOUBTFUL, skipped, needs_zone, contradicted, written)


_Read = tuple[FloatArray, FloatArray, Spans, StateArray, npt.NDArray[np.uint8]]


def _read_dates(spans: Spans, order: int) -> _Read:
    """Return of each date its seconds on the wall's clock, offset from UTC, zone's place, state, what it tells."""
    rows = len(spans)
    seconds, offset = np.empty(rows), np.empty(rows)
    zone = Spans(spans.text, np.empty(rows, np.int64), np.empty(rows, np.int64))
    state, told = np.empty(rows, np.int8), np.empty(rows, np.uint8)
    dates = Dates(seconds, offset, zone.start, zone.end, state, told)
    fill_dates(spans.text, spans.start, spans.end, MONTH_TABLE, order, dates)
    return seconds, offset, zone, state, told


def _read_others(spans: Spans, plain: PlainDates, order: int) -> _Read:
    """Return the same, where the plain ones have been read already."""
    is_left = (plain.state != PLAIN) | (spans.start < 0)
    left = np.flatnonzero(is_left)
    nowhere = np.full(len(spans), -1, np.int64)
    seconds, offset, zone, state = plain.seconds.copy(), plain.offset.copy(), nowhere, plain.state.copy()
    told = np.zeros(len(spans), np.uint8)
    if not len(left):
        return seconds, offset, Spans(spans.text, nowhere, nowhere), state, told
    end = nowhere.copy()
    seconds[left], offset[left], of_left, state[left], told[left] = _read_dates(spans.rows(left), order)
    zone[left], end[left] = of_left.start, of_left.end
    return seconds, offset, Spans(spans.text, zone, end), state, told


def moments_of(seconds: FloatArray, is_bad: BoolArray) -> Moments:
    """Return times that are told in seconds since 1970, or since whatever the log counts from."""
    nothing = np.zeros(len(seconds), bool)
    return Moments(seconds, seconds, is_bad, nothing, nothing, nothing)


def wall_clock(seconds: FloatArray, time_zone: str | None) -> Moments:
    """Return times of a clock on the wall, told in seconds as if it showed UTC.

    Parameters
    ----------
    seconds : ndarray of float64
        NaN where there is none.
    time_zone : str, optional
        The zone in which the clock hangs.
    """
    nothing = np.zeros(len(seconds), bool)
    is_told = np.isfinite(seconds)
    if time_zone is None:
        return Moments(seconds, seconds, nothing, nothing, is_told, nothing)
    early, late, skipped = seconds.copy(), seconds.copy(), nothing.copy()
    if time_zone != "UTC":
        early[is_told], late[is_told], skipped[is_told] = _in_zone(seconds[is_told], zone_named(time_zone), None)
    return Moments(early, late, nothing, skipped, nothing, nothing)


def _in_zone(seconds: FloatArray, zone: ZoneInfo, word: str | None) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return wall-clock times of a zone as seconds since 1970, in both meanings, and which the zone has skipped."""
    whole = np.floor(seconds)
    index = pd.DatetimeIndex(whole.astype("int64").astype("datetime64[s]"))
    stamps = [
        index.tz_localize(zone, ambiguous=np.full(len(index), is_summer), nonexistent="shift_forward")
        for is_summer in (True, False)
    ]
    summer, winter = (each.asi8.astype(np.float64) for each in stamps)
    late = winter + (seconds - whole)
    early = np.minimum(summer + (seconds - whole), late)
    late = np.maximum(summer + (seconds - whole), late)
    if word is not None and (early != late).any():
        rows = np.flatnonzero(early != late)
        for row in rows.tolist():
            names = [pd.Timestamp(value, unit="s", tz=zone).tzname() for value in (early[row], late[row])]
            if names[0] != names[1] and word in names:
                early[row] = late[row] = (early[row], late[row])[names.index(word)]
    # What is shifted out of the hour that a zone skips does not come back as it was.
    skipped = stamps[0].tz_localize(None).asi8 != index.asi8
    return early, late, skipped


def in_order(*moments: Moments, elapsed: FloatArray | None = None) -> tuple[list[FloatArray], BoolArray]:
    """Return times of one job, which follow each other, in seconds since 1970; and where one of them had two meanings.

    Of two meanings of a repeated hour the first is taken, unless that would be before the time that it follows.

    Parameters
    ----------
    *moments : Moments
        The last two are a start and an end.
    elapsed : ndarray of float64, optional
        How long each job was there, from its start to its end (s), which decides between their meanings.
    """
    if elapsed is not None:
        moments = (*moments[:-2], *_settled(moments[-2], moments[-1], elapsed))
    told: list[FloatArray] = []
    last = np.full(len(moments[0].early), -np.inf)
    had_two = np.zeros(len(last), bool)
    for each in moments:
        had_two |= each.late > each.early
        time = np.where(each.early < last, each.late, each.early)
        told.append(time)
        last = np.fmax(last, time)
    return told, had_two


def _settled(start: Moments, end: Moments, elapsed: FloatArray) -> tuple[Moments, Moments]:
    """Return starts and ends; of two meanings those alone that are as far apart as the job was there."""
    rows = np.flatnonzero(((start.late > start.early) | (end.late > end.early)) & np.isfinite(elapsed))
    if not len(rows):
        return start, end
    starts, ends = ((each.early[rows], each.late[rows]) for each in (start, end))
    fits: list[BoolArray] = []
    pairs = [(first, last) for first in starts for last in ends]
    for place, (first, last) in enumerate(pairs):
        is_new = np.ones(len(rows), bool)
        for earlier in pairs[:place]:
            is_new &= (earlier[0] != first) | (earlier[1] != last)
        fits.append((np.abs(last - first - elapsed[rows]) <= _SAME) & is_new)
    is_one = np.sum(fits, axis=0) == 1
    chosen = np.argmax(fits, axis=0)
    pick = np.arange(len(rows))
    result = []
    for each, side in ((start, 0), (end, 1)):
        value = np.array([pair[side] for pair in pairs])[chosen, pick]
        early, late = each.early.copy(), each.late.copy()
        early[rows[is_one]] = late[rows[is_one]] = value[is_one]
        result.append(each._replace(early=early, late=late))
    return result[0], result[1]


def require_zones(*moments: Moments) -> None:
    """Raise LogFormatError if a time is printed without a zone that is known, and none is given."""
    if any(each.needs_zone.any() for each in moments):
        raise LogFormatError(
            "times are printed without a zone, or with an abbreviation that several zones have (CST, "
            "IST); say which zone the batch system ran in by time_zone=America/Chicago (--format "
            "NAME:time_zone=America/Chicago), or whatever it was"
        )

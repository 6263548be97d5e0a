# SPDX-License-Identifier: BSD-3-Clause
"""Dates in the bytes of accounting logs: the wall-clock time that is printed, and the zone that is printed beside it.

Read are ``Tue Jul 24 10:19:37 CDT 2007``, ``Thu 04 Dec 2008 10:27:23 AM EST``, ``jeu. 04 déc. 2008 00:05:23 CET``,
``07/24/2007 10:19:37``, ``24.07.2007 10:19``, ``2007-07-24T10:19:37-05:00``: words in any order, months by the first
letters that they have in English, German, French, Spanish, Italian, Portuguese and Dutch. Whether the day or the month
comes first before ``/2007`` or ``-2007`` no date of a small day tells: ``date_order.py`` finds it out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.formats.accounting.kernel import ABSENT, DOUBTFUL, PLAIN, StateArray, read_number
from swftools.kernel import FloatArray, IntArray, kernel

_MONTHS = {
    1: "jan ene gen",
    2: "feb fev",
    3: "mar mrz mrt mae",
    4: "apr avr abr",
    5: "may mai mei mag",
    6: "jun giu",
    7: "jul lug",
    8: "aug aou ago",
    9: "sep set",
    10: "oct okt out ott",
    11: "nov",
    12: "dec dez dic",
}
DAY_MONTH_YEAR, MONTH_DAY_YEAR, YEAR_MONTH_DAY = 1, 2, 3
"""Orders in which the three numbers of a date stand; 0 where none is known."""

DAY_FIRST, MONTH_FIRST, EITHER, SHORT_YEAR = 1, 2, 4, 8
"""What a date tells of the order: the day comes first, or the month does, or it may be either; or its year has two
digits. A date that is the same in both orders tells nothing."""


class Dates(NamedTuple):
    """Dates that have been read, a value each.

    Parameters
    ----------
    seconds, offset : ndarray of float64
        On the wall's clock from 1970 on, s; the offset from UTC, NaN where none is printed.
    zone_start, zone_end : ndarray of int64
        Where the zone stands; -1 where none is printed.
    state : ndarray of int8
        What became of it.
    told : ndarray of uint8
        What it tells of the order of day and month.
    """

    seconds: FloatArray
    offset: FloatArray
    zone_start: IntArray
    zone_end: IntArray
    state: StateArray
    told: npt.NDArray[np.uint8]


_FRENCH_SUMMER = 13  # juin, juillet: told apart by the fourth letter


def _month_table() -> npt.NDArray[np.int8]:
    """Return the month of each three letters, five bits a letter; 0 for none."""
    table = np.zeros(1 << 15, np.int8)
    words = {word: month for month, line in _MONTHS.items() for word in line.split()} | {"jui": _FRENCH_SUMMER}
    for word, month in words.items():
        first, second, third = (ord(letter) & 31 for letter in word)
        table[first << 10 | second << 5 | third] = month
    return table


MONTH_TABLE = _month_table()


@kernel(allocates=False)
def _letter(text: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the letter at a place, small and without its accent, from 1 to 26 (0 for none), and the place behind."""
    byte = int(text[at])
    at += 1
    if byte == 0xC3 and at < end:  # UTF-8: the second byte is that of Latin-1, less 64
        byte = int(text[at]) + 64
        at += 1
    if 0xE0 <= byte <= 0xE5:
        return 1, at
    if 0xE8 <= byte <= 0xEB:
        return 5, at
    if 0xF9 <= byte <= 0xFC:
        return 21, at
    byte |= 32
    return (byte - 96 if 97 <= byte <= 122 else 0), at


@kernel(allocates=False)
def _month(text: bytes, start: int, end: int, table: npt.NDArray[np.int8]) -> int:
    """Return which month a word begins like; 0 for none."""
    at = start
    code = 0
    for _ in range(3):
        if at >= end:
            return 0
        letter, at = _letter(text, at, end)
        if letter == 0:
            return 0
        code = code << 5 | letter
    month = int(table[code])
    if month == 13:
        if at >= end:
            return 0
        letter, at = _letter(text, at, end)
        return 7 if letter == 12 else 6
    return month


@kernel(allocates=False)
def days_of(year: int, month: int, day: int) -> int:
    """Return the days from 1970-01-01 to a date of the Gregorian calendar."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@kernel(allocates=False)
def _whole(text: bytes, at: int, end: int) -> tuple[int, int]:
    """Return the number that digits at a place make (at most nine are taken), and the place behind them."""
    value = 0
    stop = min(end, at + 9)
    while at < stop and 48 <= text[at] <= 57:
        value = value * 10 + (text[at] - 48)
        at += 1
    return value, at


@kernel(allocates=False)
def _clock(text: bytes, hour: int, at: int, end: int) -> tuple[float, int]:
    """Return the seconds of ``hour:MM[:SS[.fff]]``, read from behind the first colon, and the place behind them."""
    minute, stop = _whole(text, at, end)
    if stop == at or minute > 59 or hour > 24:
        return np.nan, stop
    seconds = 0.0
    if stop < end and text[stop] == 58:
        at = stop + 1
        stop = at
        while stop < end and (48 <= text[stop] <= 57 or text[stop] == 46):
            stop += 1
        seconds, state = read_number(text, at, stop)
        if state != PLAIN or seconds >= 61.0:
            return np.nan, stop
    return hour * 3600.0 + minute * 60.0 + seconds, stop


@kernel(allocates=False)
def _is_day(year: int, month: int, day: int) -> bool:
    """Return whether the calendar has such a day."""
    if not 1 <= month <= 12 or not 1 <= day <= 31 or not 1000 <= year <= 9999:
        return False
    return bool(days_of(year, month, day) < days_of(year + month // 12, month % 12 + 1, 1))


@kernel(allocates=False)
def _order_told(first: int, second: int, year: int) -> int:
    """Return what the first two numbers of a date tell of the order of all dates."""
    day_first, month_first = _is_day(year, second, first), _is_day(year, first, second)
    if day_first and month_first:
        return EITHER if first != second else 0
    return DAY_FIRST if day_first else MONTH_FIRST if month_first else 0


@kernel(allocates=False)
def _whole_year(year: int) -> int:
    """Return the year that two digits mean: from 1969 to 2068, as POSIX has it."""
    return year + (1900 if year >= 69 else 2000)


@kernel(allocates=False)
def _is_short_day(first: int, second: int, third: int) -> bool:
    """Return whether three numbers of two digits are a day in any order."""
    year = _whole_year(third)
    return _is_day(year, first, second) or _is_day(year, second, first) or _is_day(_whole_year(first), second, third)


@kernel(allocates=False)
def _wall_clock(
    text: bytes, start: int, end: int, table: npt.NDArray[np.int8], order: int
) -> tuple[float, float, int, int, int, int]:
    """Return a date's wall-clock seconds from 1970 on, its offset from UTC (s) or NaN, its zone's place, and its state.

    The zone's start is -1 where none is printed. The last number is what the date tells of the order of dates with
    slashes or dashes and the year behind; without an order slashes have the month first, and dashes the day.
    """
    nothing = np.nan, np.nan, -1, -1
    told = 0
    if start < 0 or start == end:
        return *nothing, ABSENT, told
    year, month, day, zone_start, zone_end = 0, 0, 0, -1, -1
    clock, offset = np.nan, np.nan
    half = 0  # 1 before noon, 2 after
    at = start
    while at < end:
        byte = text[at]
        if byte == 32 or byte == 44 or byte == 9:
            at += 1
        elif 48 <= byte <= 57:
            first = at
            value, at = _whole(text, at, end)
            digits = at - first
            mark = int(text[at]) if at < end else 0
            follows = at + 1 < end and 48 <= text[at + 1] <= 57
            if mark == 58 and np.isnan(clock):
                clock, at = _clock(text, value, at + 1, end)
                if np.isnan(clock):
                    return *nothing, DOUBTFUL, 0
            elif (mark == 47 or mark == 45 or mark == 46) and follows and year == 0:
                second, at = _whole(text, at + 1, end)
                if at >= end or text[at] != mark:
                    return *nothing, DOUBTFUL, 0
                behind = at + 1
                third, at = _whole(text, behind, end)
                if digits == 4:
                    year, month, day = value, second, third
                elif at - behind == 2 and digits <= 2 and order > 0:
                    told = SHORT_YEAR if _is_short_day(value, second, third) else 0
                    if order == YEAR_MONTH_DAY:
                        year, month, day = _whole_year(value), second, third
                    elif order == MONTH_DAY_YEAR:
                        month, day, year = value, second, _whole_year(third)
                    else:
                        day, month, year = value, second, _whole_year(third)
                else:
                    if mark != 46:
                        told = _order_told(value, second, third)
                    if mark != 46 and (order == MONTH_DAY_YEAR or (order == 0 and mark == 47)):
                        month, day, year = value, second, third
                    elif order == YEAR_MONTH_DAY and mark != 46:
                        year = third  # and no month: the year is not in front
                    else:
                        day, month, year = value, second, third
                if at < end and text[at] | 32 == 116:  # T
                    at += 1
            elif digits == 4 and year == 0:
                year = value
            elif digits <= 2 and day == 0:
                day = value
                at += mark == 46
            else:
                return *nothing, DOUBTFUL, 0
        elif (byte == 43 or byte == 45) and not np.isnan(clock) and at + 1 < end and 48 <= text[at + 1] <= 57:
            value, stop = _whole(text, at + 1, end)
            minutes = 0
            if stop - at == 5:
                value, minutes = value // 100, value % 100
            elif stop < end and text[stop] == 58:
                minutes, stop = _whole(text, stop + 1, end)
            offset = (value * 3600.0 + minutes * 60.0) * (1.0 if byte == 43 else -1.0)
            at = stop
        else:
            first = at
            while at < end and text[at] != 32 and text[at] != 44 and text[at] != 9:
                at += 1
            if np.isnan(clock):
                found = _month(text, first, at, table)
                if found:
                    month = found
            elif at - first == 1 and text[first] | 32 == 122:  # Z
                offset = 0.0
            elif (
                at - first == 2 and text[first + 1] | 32 == 109 and (text[first] | 32 == 97 or text[first] | 32 == 112)
            ):
                half = 1 if text[first] | 32 == 97 else 2
            elif zone_start < 0:
                zone_start, zone_end = first, at
            else:
                return *nothing, DOUBTFUL, 0
    if np.isnan(clock):
        return *nothing, DOUBTFUL, 0
    if not _is_day(year, month, day):
        return *nothing, DOUBTFUL, told
    if half:
        if not 3600.0 <= clock < 46800.0:  # from 1 to 12 o'clock
            return *nothing, DOUBTFUL, 0
        if clock >= 43200.0:
            clock -= 43200.0
        if half == 2:
            clock += 43200.0
    elif clock >= 86401.0:
        return *nothing, DOUBTFUL, 0
    return days_of(year, month, day) * 86400.0 + clock, offset, zone_start, zone_end, PLAIN, told


@kernel(allocates=False)
def _two(text: bytes, at: int) -> int:
    """Return the number that two digits make; -100 or less if they are none."""
    tens, ones = int(text[at]) - 48, int(text[at + 1]) - 48
    return 10 * tens + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else -10_000


@kernel(allocates=False)
def plain_date(text: bytes, start: int, end: int) -> tuple[float, float]:
    """Return the wall-clock seconds and the offset of a plain date of ISO 8601, as nearly all tables have them.

    That is ``2007-07-24 10:19:37[.fff][Z|-05:00|-0500]``, with a blank or a T. The seconds are NaN for whatever else:
    ``_wall_clock``, which is several times as slow, judges it.
    """
    if start < 0 or end - start < 19:
        return np.nan, np.nan
    if text[start + 4] != 45 or text[start + 7] != 45 or text[start + 13] != 58 or text[start + 16] != 58:
        return np.nan, np.nan
    if text[start + 10] != 32 and text[start + 10] | 32 != 116:
        return np.nan, np.nan
    year = 100 * _two(text, start) + _two(text, start + 2)
    month, day = _two(text, start + 5), _two(text, start + 8)
    hour, minute, second = _two(text, start + 11), _two(text, start + 14), _two(text, start + 17)
    last = 28 if month == 2 else 31 - (month - 1) % 7 % 2
    if not (1000 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= last):
        return np.nan, np.nan
    if not (0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 59):
        return np.nan, np.nan
    seconds = float(second)
    at = start + 19
    if at < end and text[at] == 46:
        at += 1
        while at < end and 48 <= text[at] <= 57:
            at += 1
        seconds, state = read_number(text, start + 17, at)
        if state != PLAIN:
            return np.nan, np.nan
    offset = np.nan
    if at < end and text[at] | 32 == 122:
        offset = 0.0
        at += 1
    elif at < end and (text[at] == 43 or text[at] == 45):
        colon = end - at == 6 and text[at + 3] == 58
        if end - at != 5 + colon:
            return np.nan, np.nan
        hours, minutes = _two(text, at + 1), _two(text, at + 3 + colon)
        if hours < 0 or minutes < 0:
            return np.nan, np.nan
        offset = (hours * 3600.0 + minutes * 60.0) * (1.0 if text[at] == 43 else -1.0)
        at = end
    if at < end:
        return np.nan, np.nan
    return days_of(year, month, day) * 86400.0 + (hour * 3600.0 + minute * 60.0 + seconds), offset


@kernel(allocates=False)
def fill_dates(
    text: bytes, start: IntArray, end: IntArray, table: npt.NDArray[np.int8], order: int, dates: Dates
) -> None:
    """Read a date of each row."""
    for row in range(len(start)):
        seconds, offset = plain_date(text, start[row], end[row])
        zone_start, zone_end, state, told = -1, -1, PLAIN, 0
        if np.isnan(seconds):
            seconds, offset, zone_start, zone_end, state, told = _wall_clock(text, start[row], end[row], table, order)
        dates.seconds[row], dates.offset[row], dates.state[row], dates.told[row] = seconds, offset, state, told
        dates.zone_start[row], dates.zone_end[row] = zone_start, zone_end

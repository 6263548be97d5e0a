# SPDX-License-Identifier: BSD-3-Clause
"""Times as people write them: 90, 30m, 1h30m, 04:00:00, 1-12:00:00; and how they are printed."""

from __future__ import annotations

import math
import re

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

_NUMBER = r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+"
_PLAIN = re.compile(_NUMBER)
_WITH_UNITS = re.compile(rf"(?:(?:{_NUMBER})[smhdw])+")
_PART = re.compile(rf"({_NUMBER})([smhdw])")
_CLOCK = re.compile(r"(?:([0-9]+)-)?([0-9]+(?::[0-9]+){0,2})")


def seconds_of(text: str) -> float | None:
    """Return the seconds of a time; None if it is none.

    A number is of seconds; letters are units (s, m, h, d, w), several behind one another. With colons it is as Slurm
    has it: minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds; behind
    the first number minutes and seconds are below 60, and hours of a day below 24.

    Examples
    --------
    >>> [seconds_of(text) for text in ("90", "1.5h", "1h30m", "04:00:00", "1-12:00:00", "1-12", "5:30")]
    [90.0, 5400.0, 5400.0, 14400.0, 129600.0, 129600.0, 330.0]
    >>> seconds_of("4 hours"), seconds_of("1:75:00"), seconds_of("-5")
    (None, None, None)
    """
    text = text.strip().lower()
    if _PLAIN.fullmatch(text):
        return float(text)
    if _WITH_UNITS.fullmatch(text):
        return float(sum(float(number) * UNITS[unit] for number, unit in _PART.findall(text)))
    found = _CLOCK.fullmatch(text)
    if not found:
        return None
    days, parts = found[1], [int(part) for part in found[2].split(":")]
    if days is not None:
        hours, minutes, seconds = (*parts, 0, 0)[:3]
        most_hours = 24
    else:
        hours, minutes, seconds = (*(0, 0), *parts)[-3:]
        most_hours = hours + 1
    if hours >= most_hours or seconds >= 60 or (minutes >= 60 and (days is not None or len(parts) > 2)):
        return None
    return float(int(days or 0) * 86_400 + hours * 3600 + minutes * 60 + seconds)


def clock(seconds: float) -> str:
    """Return a time as a clock shows it, with days in front as Slurm has them; parts of a second count as one.

    Examples
    --------
    >>> clock(14400), clock(129600.5), clock(0)
    ('04:00:00', '1-12:00:01', '00:00:00')
    """
    whole = math.ceil(seconds)
    days, rest = divmod(whole, 86_400)
    shown = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{shown}" if days else shown


def in_words(seconds: float) -> str:
    """Return a time as it was meant, in the largest units that leave no rest; parts of a second as they are.

    Examples
    --------
    >>> in_words(240), in_words(5400), in_words(129600), in_words(0.5), in_words(0)
    ('4 min', '1 h 30 min', '1 d 12 h', '0.5 s', '0 s')
    """
    rest, told = seconds, []
    for name, unit in (("d", 86_400), ("h", 3600), ("min", 60)):
        count, rest = divmod(rest, unit)
        told += [f"{count:,.0f} {name}"] if count else []
    return " ".join([*told, *([f"{rest:.10g} s"] if rest or not told else [])])

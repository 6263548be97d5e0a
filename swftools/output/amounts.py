# SPDX-License-Identifier: BSD-3-Clause
"""How numbers are written for people: times, amounts with a unit, shares and counts.

Every text and report takes them from here; files and JSON have seconds, and numbers as they are.
"""

from __future__ import annotations

import math

_MOST = 1e9  # that is written with all its digits
_UNITS = (("d", 86_400.0), ("h", 3600.0), ("min", 60.0))


def duration(seconds: float, like: float | None = None) -> str:
    """Return a time as people say it: three digits, in the largest unit of which it has two.

    Parameters
    ----------
    seconds : float
        May be negative, as differences are; NaN is a time that nobody knows.
    like : float, optional
        Another time whose unit is taken, s: the largest of those that are compared.

    Examples
    --------
    >>> [duration(each) for each in (0, 1, 90, 7200, 53_135.5, 200_000, 9e8)]
    ['0 s', '1 s', '90 s', '2 h', '14.8 h', '2.31 d', '10,417 d']
    >>> duration(5126, like=46_224), duration(float("nan"))
    ('1.42 h', '?')
    """
    if math.isnan(seconds):
        return "?"
    for unit, length in _UNITS:
        if abs(seconds if like is None else like) >= 2 * length:
            return f"{number(seconds / length)} {unit}"
    return f"{seconds:.3g} s"


def number(value: float) -> str:
    """Return a number with three digits, or all of its whole part.

    Examples
    --------
    >>> [number(each) for each in (0, 0.12345, 29.19, 104_743.2, 9e12)]
    ['0', '0.123', '29.2', '104,743', '9e+12']
    """
    return f"{value:,.0f}" if 999.5 <= abs(value) < _MOST else f"{value:.3g}"


def amount(value: float, unit: str, like: float | None = None) -> str:
    """Return a number with its unit; a time in a unit that people use.

    Parameters
    ----------
    value : float
        The number.
    unit : str
        As tables have it: 1 for none.
    like : float, optional
        As for ``duration``.

    Examples
    --------
    >>> amount(53_135.5, "s"), amount(0.70384, "1"), amount(1234.5, "processors")
    ('14.8 h', '0.704', '1,234 processors')
    """
    if unit == "s":
        return duration(value, like)
    return number(value) if unit in ("1", "") else f"{number(value)} {unit}"


def difference(value: float, unit: str, like: float | None = None) -> str:
    """Return an amount with its sign; it takes what ``amount`` takes.

    Examples
    --------
    >>> difference(-3606, "s"), difference(0.25, "1"), difference(0, "jobs"), difference(3606, "s", like=9000)
    ('-60.1 min', '+0.25', '0 jobs', '+1 h')
    """
    return f"{'+' if value > 0 else ''}{amount(value, unit, like)}"


def percent(part: float, whole: float = 1.0, digits: int = 0) -> str:
    """Return a share in percent; all and nothing are said of nothing less.

    Parameters
    ----------
    part, whole : float
        It is part / whole.
    digits : int
        Behind the point.

    Examples
    --------
    >>> percent(5, 5), percent(99_999, 100_000), percent(1, 3), percent(1, 1000), percent(0, 3)
    ('100 %', '>99 %', '33 %', '<1 %', '0 %')
    >>> percent(0.6361, digits=1), percent(1e-5, digits=1), percent(1.0, digits=1)
    ('63.6 %', '<0.1 %', '100 %')
    """
    share, least = 100 * part / whole, 10.0**-digits
    if 0 < share < least or 100 - least < share < 100:
        return f"<{least:.{digits}f} %" if share < least else f">{100 - least:.{digits}f} %"
    return f"{share:.0f} %" if share in (0, 100) else f"{share:,.{digits}f} %"


def counted(number: int, what: str, nothing: str = "no") -> str:
    """Return a number with what it counts.

    Parameters
    ----------
    number : int
        How many there are.
    what : str
        One of them.
    nothing : str
        How none is written.

    Examples
    --------
    >>> counted(0, "job"), counted(1, "job"), counted(5000, "job"), counted(2, "policy"), counted(0, "line", "0")
    ('no jobs', '1 job', '5,000 jobs', '2 policies', '0 lines')
    """
    if number == 1:
        return f"1 {what}"
    several = f"{what[:-1]}ies" if what.endswith("y") and what[-2:-1] not in "aeiou" else f"{what}s"
    return f"{number:,} {several}" if number else f"{nothing} {several}"

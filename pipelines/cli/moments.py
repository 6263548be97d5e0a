# SPDX-License-Identifier: BSD-3-Clause
"""Moments of a command line: tomorrow 09:00, 2027-03-01 18:30, +6h; and how they are printed."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta, tzinfo

from swftools.errors import ParameterError
from swftools.parameters.durations import seconds_of

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_CLOCK = re.compile(
    r"(?:(?P<day>[a-z]+|\d{4}-\d{2}-\d{2})(?:\s+|t))?(?P<time>\d{1,2}:\d{2}(?::\d{2})?)(?P<zone>z|[+-]\d{2}:?\d{2})?"
)

FORMS = "tomorrow 09:00, friday 18:30, 09:00, 2027-03-01 09:00, 2027-03-01T09:00+01:00 or +6h"


def zone_of(name: str | None) -> tzinfo | None:
    """Return a zone by name; None, which is that of this machine, where there is none.

    Raises
    ------
    ParameterError
        There is no such zone.
    """
    if name is None:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ParameterError(f"zone {name!r} is not known; give one such as Europe/Berlin or UTC") from None


def moment_of(text: str, now: datetime, zone: tzinfo | None) -> datetime:
    """Return the moment that a text means, in UTC.

    Parameters
    ----------
    text : str
        A day (today, tomorrow, the name of a weekday to come, a date) and a time of day; a time of day alone is the
        next one of these; with a zone behind it it is of that zone; ``+6h`` is from now on.
    now : datetime
        With a zone.
    zone : tzinfo or None
        Of the text; None: that of this machine.

    Raises
    ------
    ParameterError
        It is no moment, or one that clocks do not show, or show twice, when daylight saving begins or ends.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> now = datetime(2026, 11, 25, 15, 0, tzinfo=UTC)
    >>> [moment_of(text, now, UTC).strftime("%a %H:%M") for text in ("tomorrow 09:00", "9:00", "+6h", "friday 8:30")]
    ['Thu 09:00', 'Thu 09:00', 'Wed 21:00', 'Fri 08:30']
    """
    said = " ".join(text.lower().split())
    if said.startswith("+") and (ahead := seconds_of(said[1:])) is not None:
        return (now + timedelta(seconds=ahead)).astimezone(UTC)
    found = _CLOCK.fullmatch(said)
    if not found:
        raise ParameterError(f"{text!r} is not a time such as {FORMS}")
    own = _offset(found["zone"]) or zone
    today = now.astimezone(own).date()
    day = found["day"]
    hours, minutes, seconds = (int(part) for part in f"{found['time']}:00".split(":")[:3])
    try:
        clock = time(hours, minutes, seconds)
        if day in (None, "today"):
            date = today
        elif day == "tomorrow":
            date = today + timedelta(days=1)
        elif day in DAYS:
            date = today + timedelta(days=(DAYS.index(day) - today.weekday() - 1) % 7 + 1)
        else:
            date = datetime.strptime(day, "%Y-%m-%d").date()
    except ValueError:
        raise ParameterError(f"{text!r} is not a time such as {FORMS}") from None
    moment = _in_utc(datetime.combine(date, clock), own, text)
    if day is None and moment <= now:
        moment = _in_utc(datetime.combine(date + timedelta(days=1), clock), own, text)
    return moment


def _offset(text: str | None) -> tzinfo | None:
    """Return a zone that is written as an offset."""
    if not text:
        return None
    return UTC if text == "z" else datetime.strptime(text, "%z").tzinfo


def _in_utc(local: datetime, zone: tzinfo | None, text: str) -> datetime:
    """Return the moment at which clocks of a zone show something; refuse what they never show, or twice."""
    both = [_as_of(local.replace(fold=fold), zone) for fold in (0, 1)]
    shown = [each.astimezone(zone).replace(tzinfo=None, fold=0) for each in both]
    if local not in shown:
        raise ParameterError(
            f"{text!r}: clocks do not show {local:%H:%M} on {local:%Y-%m-%d}, when daylight saving begins there; say "
            f"{shown[0]:%H:%M}, or give the offset: {local:%Y-%m-%dT%H:%M}{both[0].astimezone(zone):%z}"
        )
    if both[0] != both[1]:
        first, second = (each.astimezone(zone) for each in both)
        raise ParameterError(
            f"{text!r}: clocks show {local:%H:%M} twice on {local:%Y-%m-%d}, when daylight saving ends there; say "
            f"which by its offset: {first:%Y-%m-%dT%H:%M%z} or {second:%Y-%m-%dT%H:%M%z}"
        )
    return both[0]


def _as_of(local: datetime, zone: tzinfo | None) -> datetime:
    """Return in UTC what clocks of a zone show; None is that of this machine."""
    return (local if zone is None else local.replace(tzinfo=zone)).astimezone(UTC)


def shown_moment(moment: datetime, zone: tzinfo | None) -> str:
    """Return a moment as clocks of a zone show it, with the offset.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> shown_moment(datetime(2026, 11, 25, 15, 0, 30, tzinfo=UTC), UTC)
    'Wed 2026-11-25 15:00:30 +0000'
    """
    return f"{moment.astimezone(zone):%a %Y-%m-%d %H:%M:%S %z}"


def at_command(moment: datetime, command: str) -> str:
    """Return a line for a shell that has a command run at a moment.

    ``at`` counts in minutes, so the seconds are slept; and it reads its times by the clock of this machine, which is no
    help where that shows a time twice.

    Parameters
    ----------
    moment : datetime
        With a zone.
    command : str
        To be run.

    Raises
    ------
    ParameterError
        It has a single quote, or is of several lines.
    """
    if "'" in command or "\n" in command:
        raise ParameterError(f"command {command!r}: it goes between single quotes, so it has none, and is one line")
    local = moment.astimezone()
    twice = local.replace(tzinfo=None, fold=0).astimezone(UTC) != local.replace(tzinfo=None, fold=1).astimezone(UTC)
    when, front = (moment.astimezone(UTC), "TZ=UTC0 ") if twice else (local, "")
    sleep = f"sleep {when.second}; " if when.second else ""
    return f"echo '{sleep}{command}' | {front}at -t {when:%Y%m%d%H%M}"

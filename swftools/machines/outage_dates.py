# SPDX-License-Identifier: BSD-3-Clause
"""Dates of outages as seconds of a log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from swftools.header import SwfHeader, zone_of
from swftools.machines.parts import Moment, Outage


def in_log_time(outages: Sequence[Outage], header: SwfHeader) -> tuple[Outage, ...]:
    """Return outages whose dates are seconds of a log, counted from its UnixStartTime.

    A date without a zone is in the log's own (TimeZoneString), or else UTC. Of a log that does not say when it began,
    and of what is in seconds already, nothing changes.

    Parameters
    ----------
    outages : sequence of Outage
        With dates, seconds, or neither.
    header : SwfHeader
        Of the log.
    """
    start = header.unix_start_time
    if start is None:
        return tuple(outages)
    zone = zone_of(header)
    return tuple(
        replace(outage, begin=_seconds(outage.begin, start, zone), end=_seconds(outage.end, start, zone))
        if isinstance(outage.begin, str) or isinstance(outage.end, str)
        else outage
        for outage in outages
    )


def stretched(outages: Sequence[Outage], origin: float, factor: float) -> tuple[Outage, ...]:
    """Return outages with the seconds of a log, counted from a time (s), multiplied by a factor; dates stay."""

    def moved(moment: Any) -> Any:
        return origin + (moment - origin) * factor if isinstance(moment, float) else moment

    return tuple(
        replace(each, begin=moved(each.begin), end=moved(each.end), known=moved(each.known)) for each in outages
    )


BEFORE = -1.0
"""When an outage began that lasts already, s: before anything that is simulated, so that it stops nobody who runs."""


def from_now_on(outages: Sequence[Outage], present: float, now: float | None) -> tuple[Outage, ...]:
    """Return outages as they are for a queue at a moment: what has begun lasts, and what is over is left out.

    Parameters
    ----------
    outages : sequence of Outage
        With dates, or seconds from the moment on; or neither: of the moment.
    present : float
        What time it is in the simulation, s.
    now : float, optional
        The same in seconds since 1970; without it outages at dates stay as they are.
    """
    found = []
    for outage in outages:
        begin, end = (_from_now(moment, now) for moment in (outage.begin, outage.end))
        if isinstance(begin, str) or isinstance(end, str):
            found.append(outage)
        elif end is None or end > 0.0:
            since = BEFORE if begin is None or begin <= 0.0 else present + begin
            known = outage.known if not isinstance(outage.known, float) else present + outage.known
            found.append(replace(outage, begin=since, end=None if end is None else present + end, known=known))
    return tuple(found)


def _from_now(moment: Moment, now: float | None) -> Moment:
    """Return a date as seconds from now on, where it is known what time it is."""
    seconds = _seconds(moment, 0, UTC) if now is not None else moment
    return seconds - now if isinstance(moment, str) and isinstance(seconds, float) and now is not None else moment


def _seconds(moment: Moment, start: int, zone: tzinfo) -> Moment:
    """Return a date as seconds from a start on, which is in seconds since 1970."""
    if not isinstance(moment, str):
        return moment
    date = datetime.fromisoformat(moment)
    return (date.replace(tzinfo=zone) if date.tzinfo is None else date).timestamp() - start

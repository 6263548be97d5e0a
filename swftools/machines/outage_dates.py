# SPDX-License-Identifier: BSD-3-Clause
"""Dates of outages as seconds of a log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

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


def _seconds(moment: Moment, start: int, zone: tzinfo) -> Moment:
    """Return a date as seconds from a start on, which is in seconds since 1970."""
    if not isinstance(moment, str):
        return moment
    date = datetime.fromisoformat(moment)
    return (date.replace(tzinfo=zone) if date.tzinfo is None else date).timestamp() - start

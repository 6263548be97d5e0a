# SPDX-License-Identifier: BSD-3-Clause
"""A log's time zone: one rule, whoever asks for it."""

from __future__ import annotations

import pytest

from swftools import Trace
from swftools.header import SwfHeader
from swftools.models.arrivals import start_of_day
from swftools.selection import select_jobs

START = 956_700_003  # 2000-04-25 22:00:03 UTC
DAY = 86_400


def header(*lines: str) -> SwfHeader:
    """Make a header of a log that begins on 25 April 2000."""
    return SwfHeader.from_lines([f"; UnixStartTime: {START}", *lines])


@pytest.mark.parametrize(
    ("lines", "hours", "day"),
    [
        ((), 22, 25),
        (("; TimeZone: -28800",), 14, 25),
        (("; TimeZone: 19800",), 3.5, 26),  # half past three on the next day
        (("; TimeZone: -28800", "; TimeZoneString: US/Pacific"), 15, 25),  # summer time
        (("; TimeZone: 7200", "; TimeZoneString: Middle/Earth"), 0, 26),
        (("; TimeZone: 7200", "; TimeZoneString: America"), 0, 26),  # a folder of zones
        (("; TimeZone: 7200", f"; TimeZoneString: {'A' * 300}"), 0, 26),
        (("; TimeZone: 86399",), 22 - 1 / 3600, 26),
        (("; TimeZone: 86400",), 22, 25),  # no offset
        (("; TimeZone: 999999999999999",), 22, 25),
    ],
)
def test_dates_begin_when_the_day_does(lines: tuple[str, ...], hours: float, day: int) -> None:
    """The midnight from which jobs are selected is the one that the daily cycle of arrivals begins at."""
    begins = start_of_day(header(*lines))
    assert hours * 3600 + 3 == begins
    midnight = DAY - begins
    trace = Trace.from_columns(header(*lines), job_number=[1, 2], submit_time=[midnight - 1, midnight])
    assert [2] == select_jobs(trace, begin=f"2000-04-{day + 1}").jobs["job_number"].tolist()


def test_a_month_begins_by_the_offset() -> None:
    """Also where the header has an offset alone."""
    may = 5 * DAY + 10 * 3600 - 3  # from 14:00:03 on 25 April
    trace = Trace.from_columns(
        header("; TimeZone: -28800"), job_number=[1, 2, 3], submit_time=[may - 1, may, may + 31 * DAY]
    )
    assert [2] == select_jobs(trace, month="2000-05").jobs["job_number"].tolist()

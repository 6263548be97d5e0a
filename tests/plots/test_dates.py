# SPDX-License-Identifier: BSD-3-Clause
"""Axes of dates: by whose clock they are, and that their labels stand apart, at equal distances."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from matplotlib.dates import num2date
from matplotlib.figure import Figure

from swftools import simulate
from swftools.header import SwfHeader, local_start_of, zone_called, zone_of
from swftools.plots import data, plot, style
from swftools.plots.style import duration_axis, time_axis
from swftools.trace import Trace
from tests.examples import by_day

START = 956_700_003  # 2000-04-25 15:00:03 in California
HOUR = 3600


def of(*lines: str) -> Trace:
    """Return a trace of jobs over two days."""
    header = SwfHeader.from_lines([f"; UnixStartTime: {START}", "; MaxProcs: 4", *lines])
    many = np.arange(48)
    size = {"run_time": many + 60, "allocated_processors": many % 4 + 1}
    return Trace.from_columns(header, job_number=many + 1, submit_time=many * HOUR, wait_time=many, **size)


@pytest.mark.parametrize(
    ("lines", "zone"),
    [
        ((), "UTC"),
        (("; TimeZone: -28800",), "UTC-08:00"),
        (("; TimeZone: 19800",), "UTC+05:30"),
        (("; TimeZoneString: US/Pacific",), "US/Pacific"),
    ],
)
def test_the_zone_is_that_of_the_log(lines: tuple[str, ...], zone: str) -> None:
    """It is named below the dates, which are round by its clock, whatever they are of."""
    trace = of(*lines)
    schedule = simulate(trace, "easy")
    for subject, name in ((trace, "load"), (schedule, "utilization"), (schedule, "queue"), (schedule, "gantt")):
        axes = plot(subject, name)
        assert axes.get_xlabel().splitlines()[0] == zone
        ticks = num2date(axes.get_xticks(), tz=zone_called(zone))
        assert len(ticks) >= 2
        assert all((each.minute, each.second) == (0, 0) for each in ticks)
        assert any(each.hour == 0 for each in ticks)
    assert data(trace, "load")["date"].iloc[0].tzinfo == zone_of(trace.header)
    assert set(data(schedule, "gantt")["log_zone"]) == {zone}
    assert plot(trace, "arrivals").get_xlabel() == f"hour of the day, {zone}"
    assert plot(replace(schedule, origin=None), "queue").get_xlabel() == "days from the start of the log"


def test_a_schedule_knows_its_log_s_clock() -> None:
    """Second 0 is the same moment; a log that ends with the calendar is in UTC."""
    schedule = simulate(of("; TimeZoneString: US/Pacific"), "easy")
    assert schedule.origin == datetime(2000, 4, 25, 15, 0, 3, tzinfo=ZoneInfo("US/Pacific"))
    assert str(schedule.origin) == "2000-04-25 15:00:03-07:00"
    late = SwfHeader.from_lines(["; UnixStartTime: 253402300799", "; TimeZone: 3600"])
    assert local_start_of(late) == late.start


def test_arrivals_without_a_date() -> None:
    """Hours are then no hours of a day."""
    trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 7200])
    assert "from the start of the log" in plot(trace, "arrivals").get_xlabel()


SPANS = [0.02, 0.4, 1.5, 3, 8, 20, 45, 65, 120, 400, 900, 9000]
"""Days."""


@pytest.mark.parametrize(
    ("width", "spans"),
    by_day([(2.0, SPANS[::2]), (8.0, SPANS[1::2]), (2.0, SPANS[1::2]), (8.0, SPANS[::2])], 2),
)
def test_labels_of_dates_stand_apart(width: float, spans: list[float]) -> None:
    """Of spans from minutes to decades: none touches another, and two at least are seen."""
    for days in spans:
        with style("screen"):
            figure = Figure(figsize=(width, 1.5))
            axes = figure.add_axes((0.0, 0.3, 1.0, 0.6))
            axes.set_xlim(11_000.3, 11_000.3 + days)
            time_axis(axes, 0.0, "US/Pacific")
            figure.draw_without_rendering()
            shown = [each.get_window_extent() for each in axes.get_xticklabels() if each.get_text()]
            assert all(one.x1 < other.x0 for one, other in pairwise(shown)), days
            ticks = axes.get_xticks()
            assert len(ticks) >= 2, days
            gaps = np.diff(ticks)
            assert gaps.max() < 1.25 * gaps.min(), days  # months differ


@pytest.mark.parametrize(
    ("days", "width", "expected"),
    [
        (400.0, 1.0, ["2000-05-01 00:00", "2001-01-01 00:00"]),
        (0.1, 1.0, ["2000-02-13 00:00", "2000-02-13 01:30"]),
        (0.1, 2.0, ["2000-02-13 00:00", "2000-02-13 01:00"]),
    ],
)
def test_of_too_many_dates_the_roundest_stay(days: float, width: float, expected: list[str]) -> None:
    """The beginning of a year, a day or an hour among them."""
    with style("screen"):
        axes = Figure(figsize=(width, 1.5)).add_axes((0.0, 0.3, 1.0, 0.6))
        axes.set_xlim(11_000.3, 11_000.3 + days)
        time_axis(axes, 0.0, "US/Pacific")
        assert [f"{num2date(tick, tz='US/Pacific'):%Y-%m-%d %H:%M}" for tick in axes.get_xticks()] == expected


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (8.0, ["1 s", "10 s", "1 min", "10 min", "1 h", "10 h", "1 d", "7 d", "30 d"]),
        (2.7, ["1 s", "1 min", "1 h", "1 d", "30 d"]),
        (1.4, ["1 s", "1 h", "30 d"]),
    ],
)
def test_labels_of_durations_are_regular(width: float, expected: list[str]) -> None:
    """Where not all have room, those of every second or third unit."""
    with style("screen"):
        axes = Figure(figsize=(width, 1.5)).add_axes((0.0, 0.3, 1.0, 0.6))
        axes.set_xlim(1.0, 9e6)
        duration_axis(axes, "x")
        axes.figure.draw_without_rendering()  # type: ignore[union-attr]
        assert [each.get_text() for each in axes.get_xticklabels() if each.get_text()] == expected

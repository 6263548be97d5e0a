# SPDX-License-Identifier: BSD-3-Clause
"""Waits by the hour of submission: the cells by hand, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from swftools import Trace
from swftools.plots import caption, data, plot
from swftools.simulator import logged_schedule
from swftools.simulator.schedule import Schedule

HOUR = 3600.0


@pytest.fixture
def schedule() -> Schedule:
    """Return a log that begins on a Monday at six: jobs at 6:00, 6:30, 7:00 and on Sunday at 23:59."""
    trace = Trace.from_columns(
        machine_processors=4,
        submit_time=[0, 1800, HOUR, (6 * 24 + 17) * HOUR + 3540],
        wait_time=[0, 600, 7200, 60],
        run_time=[1, 1, 1, 1],
        requested_processors=[1, 1, 1, 1],
    )
    return replace(logged_schedule(trace), origin=datetime(2024, 1, 1, 6, tzinfo=UTC))


def test_cells(schedule: Schedule) -> None:
    """Jobs and median waits of each hour of the week."""
    table = data(schedule, "wait-by-hour")
    assert len(table) == 7 * 24
    known = table[table["jobs"] > 0]
    assert known[["weekday", "hour", "jobs", "wait"]].to_numpy().tolist() == [
        [0, 6, 2, 300],
        [0, 7, 1, 7200],
        [6, 23, 1, 60],
    ]
    assert table["wait"].notna().sum() == 3
    assert data(schedule, "wait-by-hour", statistic="mean")["wait"].max() == 7200


def test_what_is_said(schedule: Schedule) -> None:
    """The hours with the longest and the shortest waits; nothing where the log does not say when it begins."""
    told = caption(schedule, "wait-by-hour")
    assert "the longest, 2 h, on Mondays in the hour from 7:00" in told
    assert "the shortest, 60 s, on Sundays in the hour from 23:00" in told
    assert "no job whose hour of submission is known" in caption(replace(schedule, origin=None), "wait-by-hour")


def test_it_is_drawn(schedule: Schedule) -> None:
    """A cell for each hour of the week, Monday at the top."""
    axes = plot(schedule, "wait-by-hour")
    assert axes.collections[0].get_array().shape == (7, 24)  # type: ignore[union-attr]
    assert axes.get_yticklabels()[0].get_text() == "Mon"
    assert axes.get_ylim() == (6.5, -0.5)

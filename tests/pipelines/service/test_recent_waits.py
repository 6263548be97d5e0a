# SPDX-License-Identifier: BSD-3-Clause
"""Waits of the last weeks: quartiles as those of all waits, in little room, and the picture of them."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.service.picture import BOTTOM, LEFT, RIGHT, TOP, picture_of
from pipelines.service.recent_waits import DAY, DAYS, DayOfWaits, RecentWaits


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 40 * DAY), st.floats(0, 30 * DAY)), min_size=1, max_size=40),
    st.sampled_from([0.0, 3600.0, 946_684_800.0 + 80_000]),
)
def test_quartiles_are_those_of_all_waits(jobs: list[tuple[float, float]], origin: float) -> None:
    """To within three percent, of the days of UTC; of four weeks and no more, also when it is read again."""
    jobs.sort()
    recent = RecentWaits(origin)
    for submit, wait in jobs:
        recent.add("a", submit, wait)
    recent.add("b", jobs[-1][0], 1.0)
    now = jobs[-1][0]
    last = math.floor((now + origin) / DAY)
    expected = {}
    for submit, wait in jobs:
        day = math.floor((submit + origin) / DAY)
        if day > last - DAYS:
            expected.setdefault(day, []).append(wait)
    again = RecentWaits.from_mapping(json.loads(json.dumps(recent.to_mapping())), origin)
    found = recent.days("a", now)
    assert again.days("a", now) == found
    assert [round((day.begin + origin) / DAY) for day in found] == sorted(expected)
    assert len(recent._counts) <= 2 * DAYS
    for told, day in zip(found, sorted(expected), strict=True):
        waits = sorted(expected[day])
        assert told.waits == len(waits)
        for share, quartile in ((0.25, told.lower), (0.5, told.middle), (0.75, told.upper)):
            exact = waits[math.ceil(share * len(waits)) - 1]
            assert abs(quartile - exact) <= 0.026 * (exact + 1.0)


def test_what_is_late_is_counted_on_its_day() -> None:
    """A job may start days after others that came later; four weeks later its day is over."""
    recent = RecentWaits()
    recent.add("a", 5 * DAY, 10.0)
    recent.add("a", 3 * DAY, 10.0)
    assert [day.begin for day in recent.days("a", 5 * DAY)] == [3 * DAY, 5 * DAY]
    recent.add("a", (3 + DAYS) * DAY, 10.0)
    assert [day.begin for day in recent.days("a", (3 + DAYS) * DAY)] == [5 * DAY, (3 + DAYS) * DAY]
    recent.add("a", 3 * DAY, 10.0)
    assert len(recent._counts) == 2


def test_a_picture_is_drawn_by_hand() -> None:
    """Bars from quartile to quartile, on a log scale from a minute on, today at the right end."""
    days = [DayOfWaits(0.0, 4, 30.0, 60.0, 3600.0), DayOfWaits(27 * DAY, 2, 600.0, 600.0, 600.0)]
    picture = picture_of(days, 27 * DAY + 5, lambda time: f"2000-01-{1 + int(time // DAY):02}T00:00:00Z")
    step = (RIGHT - LEFT) / DAYS
    first, last = picture.bars
    assert first.x == pytest.approx(LEFT + 0.15 * step)
    assert last.x + last.width == pytest.approx(RIGHT - 0.15 * step)
    assert (first.y, first.y + first.height, first.middle) == pytest.approx((TOP, BOTTOM, BOTTOM))
    assert last.height == 1.5  # is seen though there is nothing between its quartiles
    assert last.middle == pytest.approx(BOTTOM - (BOTTOM - TOP) * math.log(10) / math.log(60))
    assert [tick.text for tick in picture.rows] == ["1 min", "10 min", "1 h"]
    assert [tick.text for tick in picture.columns] == ["01-01", "01-08", "01-15", "01-22"]
    assert "6 jobs of 2 days" in picture.in_words
    assert "on 2000-01-28, the last of these days, waited 10 min or less" in picture.in_words


def test_a_picture_of_nothing() -> None:
    """Says so; days without dates are counted back."""
    picture = picture_of([], 0.0, lambda _: None)
    assert (picture.bars, picture.in_words) == ((), "No job of the last four weeks has started.")
    assert [tick.text for tick in picture.columns] == ["27 d ago", "20 d ago", "13 d ago", "6 d ago"]


def test_long_waits_stay_inside() -> None:
    """Also those of years."""
    picture = picture_of([DayOfWaits(0.0, 1, 1e6, 1e7, 1e9)], 0.0, lambda _: None)
    assert picture.in_words.startswith("1 job of 1 day of ")
    (bar,) = picture.bars
    assert bar.y >= TOP - 1e-9
    assert bar.y + bar.height <= BOTTOM

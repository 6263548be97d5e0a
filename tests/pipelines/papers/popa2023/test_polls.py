# SPDX-License-Identifier: BSD-3-Clause
"""Rows, columns and days of the study: as its text and its data have them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pipelines.papers.popa2023 import polls
from pipelines.papers.popa2023.polls import (
    COLUMN_SETS,
    HONEST,
    KEYS,
    LEAKS,
    THEIRS,
    WITHOUT_RUN_TIME,
    columns_of,
    complete_rows,
    day_of,
    days_before,
    random_days,
    rows_of,
)
from tests.pipelines.papers.popa2023.polls import DAY, NOON, excerpt, polls_of


def dates(first: str, last: str) -> list[str]:
    """Return all dates from one to another."""
    return [str(day.date()) for day in pd.date_range(first, last)]


@pytest.mark.parametrize(
    ("last", "test", "valid"),
    [
        (
            "2021-07-07",
            "05-14 05-21 05-22 06-07 06-24 07-02 07-04",
            "05-23 06-05 06-12 06-16 06-25 07-03 07-06",
        ),
        (
            "2021-06-30",
            "05-15 05-21 06-06 06-18 06-24 06-25 06-27",
            "05-11 05-17 05-24 05-30 06-12 06-14 06-29",
        ),
    ],
    ids=["Cedar", "Graham"],
)
def test_days_at_random(last: str, test: str, valid: str) -> None:
    """Those that the study's seed draws: seven for tests, seven for validation, of 68 and of 61 days."""
    days = dates("2021-05-01", last)
    found = random_days(days[::-1])  # in whatever order the files are told
    assert found.test == [f"2021-{day}" for day in test.split()]
    assert found.valid == [f"2021-{day}" for day in valid.split()]
    assert found.train == [day for day in days if day not in {*found.test, *found.valid}]


def test_days_before_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifth of those before it, drawn with replacement, validates; the others are learnt from; none is later."""
    days = dates("2021-05-01", "2021-06-30")
    for place in (5, 20, 60):
        found = days_before(days, place)
        assert found.test == [days[place]]
        assert len(found.valid) == -(-place // 5)
        assert {*found.train, *found.valid} == set(days[:place])
        assert not {*found.train} & {*found.valid}
    monkeypatch.setattr(polls, "SEED", 0)  # with that of the study none of these is there twice
    drawn = [days_before(days, place).valid for place in range(20, 60)]
    assert any(len(set(valid)) < len(valid) for valid in drawn)


def test_columns_of_the_study() -> None:
    """76, among them the job's own run time; times as seconds; what it calls ground truth is not among them."""
    table = excerpt().table
    theirs = columns_of(table, THEIRS)
    assert theirs.shape == (480, 76)
    assert {*LEAKS, *KEYS} <= set(theirs)
    assert (theirs["elapsed_time"] == table["run_time"]).all()
    assert not {"requested_time", "time_limit", "wait_ahead", "poll_wait", "q_core_run_hours", "priority_x"} & set(
        theirs
    )
    assert theirs["poll_time"].iloc[0] == NOON
    assert (theirs["eligible_time"] >= theirs["submit_time"]).all()
    assert list(theirs.drop(columns="elapsed_time")) == list(columns_of(table, WITHOUT_RUN_TIME))


def test_columns_that_were_known() -> None:
    """Nothing of the future, no numbers of rows, and times as they are told from the poll on."""
    table = excerpt().table
    honest = columns_of(table, HONEST)
    assert not {*LEAKS, *KEYS, "submit_time", "poll_time", "eligible_time", "run_time", "wait_ahead"} & set(honest)
    assert not [name for name in honest if "run_hours" in name]
    assert {"requested_time", "waited", "eligible_for", "weekday", "processors", "partition"} <= set(honest)
    assert (honest["waited"] == table["poll_time"] - table["submit_time"]).all()
    assert honest["weekday"].iloc[0] == 5  # Saturday


def test_what_is_known_does_not_follow_from_the_future() -> None:
    """Another start, run time and end change nothing of the honest columns; an eligible time after the poll is 0."""
    table = excerpt().table
    before = columns_of(table, HONEST)
    other = table.assign(
        wait_ahead=1.0, run_time=7.0, elapsed_time=7, end_time="x", alloc_nodes=9, logged_state="FAILED"
    )
    pd.testing.assert_frame_equal(before, columns_of(other, HONEST))
    later = columns_of(table.assign(eligible_time="2022-01-01 00:00:00"), HONEST)
    assert (later["eligible_for"] == 0).all()
    assert (before["eligible_for"] > 0).any()


def test_complete_rows() -> None:
    """A row with a missing or an infinite value in any column is dropped, whether or not anything is learnt from it."""
    own = polls_of([[10.0, 100.0, 1000.0], [1.0]])
    own.table.loc[0, "level_fs_poll"] = np.inf
    own.table.loc[2, "priority_x"] = np.nan
    rows = complete_rows(own)
    assert rows.target.tolist() == [2.0, 0.0]
    assert rows.day.tolist() == [0, 1]
    assert len(rows_of(own, own.table).target) == 4


def test_rows_of_days() -> None:
    """By day, in the order of the days; twice of a day that is drawn twice; none of a day that is missing."""
    rows = complete_rows(polls_of([[1.0, 1.0], [1.0], [1.0]], missing=[1]))
    assert rows.days == ["2021-05-01", "2021-05-02", "2021-05-03"]
    assert rows.of(["2021-05-03", "2021-05-01", "2021-05-03"]).tolist() == [2, 0, 1, 2]
    assert rows.of(["2021-05-02"]).tolist() == []
    assert rows.of([]).tolist() == []


def test_waits_that_were_over() -> None:
    """At the poll of the next day: a wait that ends at that second is."""
    rows = complete_rows(polls_of([[DAY - 1.0, DAY, DAY + 1.0], [5.0]]))
    assert rows.known_by(NOON + DAY).tolist() == [True, True, False, False]


def test_dates_of_files() -> None:
    """The date in a name; else the name."""
    assert day_of("jobs_cedar_2021-05-01.csv.gz") == "2021-05-01"
    assert day_of("mine.csv") == "mine.csv"


def test_sets() -> None:
    """Each has fewer columns of the future than the one before."""
    table = excerpt().table
    leaks = [len(set(LEAKS) & set(columns_of(table, columns))) for columns in COLUMN_SETS]
    assert leaks == [6, 5, 0]

# SPDX-License-Identifier: BSD-3-Clause
"""What validation is made of in little memory: rules by blocks, keys looked up, histories of jobs that ran once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from swftools.simulator import Schedule, simulate, validate
from swftools.simulator.validation import runs as runs_module
from swftools.simulator.validation import work
from swftools.simulator.validation.runs import at, by_submission, places_of, read_runs, rows_of_runs
from tests.examples import by_day
from tests.strategies import crowded_trace


def broken(number: int = 0) -> Schedule:
    """Return a schedule that breaks many rules here and there."""
    schedule = simulate(crowded_trace(60, 8, seed=number), "easy")
    jobs, runs = schedule.jobs.copy(), schedule.segments.copy()
    runs.loc[[0, 7, 8, 59], "start_time"] += 3.0
    runs.loc[[15, 16], "allocated_processors"] += 1
    runs.loc[23, "job_number"] = 10**9
    runs.loc[31, "end_time"] = np.nan
    jobs.loc[[1, 17, 47, 59], "wait_time"] += 2.0
    jobs.loc[[0, 58], "preemptions"] = 1
    return replace(schedule, jobs=jobs, segments=runs)


@pytest.mark.parametrize("block", by_day([1, 2, 3, 7, 8, 59, 60, 61], 3))
def test_blocks_change_nothing(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report is the same in whatever portions jobs and runs are looked at."""
    expected = [validate(broken(number)) for number in range(3)]
    monkeypatch.setattr(runs_module, "BLOCK", block)
    for number, report in enumerate(expected):
        found = validate(broken(number))
        assert str(report) == str(found)
        assert len(found.violations) > 5
        pd.testing.assert_frame_equal(report.violations, found.violations)


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8, 9])
def test_places_of_blocks(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every place is asked about once, the first and last of each block among them."""
    monkeypatch.setattr(runs_module, "BLOCK", 4)
    is_wrong = np.arange(count) % 3 != 1
    assert np.flatnonzero(is_wrong).tolist() == places_of(count, is_wrong.__getitem__).tolist()


def test_nothing_at_nobody() -> None:
    """At the place -1 is what is missing, also where there are no values."""
    assert at(np.array([5.0, 6.0]), np.array([1, -1, 0]), 9.0).tolist() == [6.0, 9.0, 5.0]
    assert at(np.zeros(0), np.array([-1, -1]), 9.0).tolist() == [9.0, 9.0]
    assert at(np.array([True]), np.array([-1, 0]), False).tolist() == [False, True]


@pytest.mark.parametrize("gap", [1, 3, 2**33])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_rows_of_runs(gap: int, is_sorted: bool) -> None:
    """The row of each run's job, -1 where it has none: for numbers with gaps, beyond 32 bits, and in any order."""
    number = gap * np.arange(6, dtype=np.int64) + 5
    jobs = pd.DataFrame({"job_number": number if is_sorted else number[::-1], "job_occurrence": 0})
    runs = pd.DataFrame({"job_number": [*number, number[0] - 1, number[5] + 1, number[2]], "job_occurrence": 0})
    runs.loc[8, "job_occurrence"] = 1
    rows = list(range(6)) if is_sorted else list(range(5, -1, -1))
    assert [*rows, -1, -1, -1] == rows_of_runs(jobs, runs).tolist()


def test_jobs_that_ran_once_need_no_history(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told of them at once is what following their work tells."""
    schedule = simulate(crowded_trace(60, 8), "easy")
    fewer = replace(schedule, segments=schedule.segments.drop(index=[4, 9]).reset_index(drop=True))
    for one in (schedule, fewer):
        jobs, runs, _ = read_runs(one)
        quick = work.read_history(jobs, runs)
        with monkeypatch.context() as patch:
            patch.setattr(work.np, "bincount", lambda *a, _count=np.bincount, **named: _count(*a, **named) + 1)
            followed = work.read_history(jobs, runs)
        assert quick.order is None
        assert followed.order is not None
        names = ("before", "lost", "first", "last", "work")
        for name in names:
            assert np.array_equal(getattr(quick, name), getattr(followed, name), equal_nan=True) or name == "work"
        ends = np.isin(np.arange(len(one)), runs.job)
        assert ends.tolist() == quick.is_closed.tolist()
        assert np.array_equal(quick.work[ends], runs.work[quick.last[ends]])


def test_order_of_submission() -> None:
    """None stands for jobs that are in order; equal submissions go by number and occurrence."""
    jobs, _, _ = read_runs(simulate(crowded_trace(9, 8), "easy"))
    submit = np.array([0.0, 0, 1, 1, 1, 2, 2, 3, 4])
    assert by_submission(jobs._replace(submit=submit, number=np.array([1, 2, 1, 2, 3, 1, 2, 1, 1]))) is None
    for number in ([2, 1, 1, 2, 3, 1, 2, 1, 1], [1, 1, 1, 2, 3, 1, 2, 1, 1]):
        found = by_submission(jobs._replace(submit=submit, number=np.array(number)))
        assert found is not None
        assert found.tolist() == np.lexsort((jobs.occurrence, number, submit)).tolist()

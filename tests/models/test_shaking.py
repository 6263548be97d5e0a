# SPDX-License-Identifier: BSD-3-Clause
"""Shaken submissions: who is moved, by how much, and what stays as it was."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.dependencies import find_dependencies
from swftools.errors import ParameterError
from swftools.fields.definition import MAX_TIME
from swftools.models.shaking import shake_submissions
from swftools.selection import select_jobs
from swftools.simulator import simulate
from tests.examples import examples
from tests.naive.shaking import naive_shift
from tests.strategies import traces

KEY = ["job_number", "job_occurrence"]


def moved(trace: Trace, seed: int, seconds: int) -> pd.Series:
    """Return by how much each job came later, by key, in the order of the trace."""
    shaken = shake_submissions(trace, seed, seconds).jobs.set_index(KEY)["submit_time"]
    whole = select_jobs(trace).jobs.set_index(KEY)["submit_time"]
    return shaken.reindex(whole.index) - whole


def a_log(count: int = 1000) -> Trace:
    """Return jobs that come a second after each other, in bursts of three at once."""
    return Trace.from_columns(
        machine_processors=8,
        job_number=np.arange(1, count + 1),
        submit_time=np.arange(count) // 3,
        run_time=np.arange(count) % 7 + 1,
        requested_time=np.arange(count) % 7 + 3,
        wait_time=np.ones(count),
        requested_processors=np.arange(count) % 8 + 1,
        user_id=np.arange(count) % 5,
    )


@examples(0.5)
@given(traces(), st.integers(0, 2**64 - 1), st.integers(0, 10**6))
def test_each_job_is_moved_by_its_own_draw(trace: Trace, seed: int, seconds: int) -> None:
    """As numpy's Philox draws for its number and occurrence; nobody is lost, nothing else is moved."""
    nobody = pd.array([None] * len(trace), dtype="Int64")
    lines = pd.array(np.arange(len(trace)) + 1, dtype="Int64")
    trace = trace.with_jobs(trace.jobs.assign(line_number=lines, preceding_job_number=nobody))
    shaken = shake_submissions(trace, seed, seconds)
    assert list(range(1, len(trace) + 1)) == sorted(shaken.jobs["line_number"])
    for job in shaken.jobs.to_dict("records"):
        number = -1 if pd.isna(job["job_number"]) else int(job["job_number"])
        before = trace.jobs["submit_time"].iloc[job["line_number"] - 1]
        if not np.isnan(before):
            later = naive_shift(seed, number, int(job["job_occurrence"]), seconds)
            assert job["submit_time"] == min(before + later, MAX_TIME)
    assert shaken.jobs["submit_time"].isna().sum() == trace.jobs["submit_time"].isna().sum()
    known = shaken.jobs["submit_time"].dropna()
    assert known.is_monotonic_increasing
    for name in ("run_time", "requested_time", "user_id", "status"):
        assert sorted(shaken.jobs[name].dropna()) == sorted(trace.jobs[name].dropna())


def test_shifts_are_uniform_whole_seconds() -> None:
    """From 0 to the number of seconds, both among them, each as often as another."""
    shifts = moved(a_log(6000), 3, 5)
    assert set(range(6)) == set(shifts)
    counts = shifts.value_counts()
    assert ((counts - 1000) ** 2 / 1000).sum() < 20.5  # chi-square of 5 degrees, once in a thousand


def test_a_job_is_moved_alike_in_a_part_of_the_log() -> None:
    """In a window, and in another order, and in a log that has grown, each job draws what it drew."""
    log = a_log()
    whole = moved(log, 1, 300)
    part = select_jobs(log, lines=(400, 499))
    assert moved(part, 1, 300).equals(whole.reindex(moved(part, 1, 300).index))
    backwards = log.with_jobs(log.jobs[::-1].reset_index(drop=True))
    assert moved(backwards, 1, 300).sort_index().equals(whole.sort_index())


def test_seeds_shake_in_different_ways() -> None:
    """Each seed by other shifts; the same seed by the same."""
    log = a_log()
    assert moved(log, 1, 300).equals(moved(log, 1, 300))
    assert (moved(log, 1, 300) == moved(log, 2, 300)).mean() < 0.02


def test_no_seconds_move_nothing() -> None:
    """The schedule is that of the log."""
    log = a_log(200)
    shaken = shake_submissions(log, 5, 0)
    assert shaken.jobs["submit_time"].equals(log.jobs["submit_time"])
    columns = ["job_number", "start_time", "end_time"]
    assert simulate(shaken, "easy").jobs[columns].equals(simulate(log, "easy").jobs[columns])


def test_logged_waits_are_gone() -> None:
    """They belonged to the submissions as logged."""
    assert shake_submissions(a_log(), 1).jobs["wait_time"].isna().all()


def test_dependencies_stay() -> None:
    """Jobs wait for the same jobs as before, as long after their end, and come no earlier than these."""
    log = a_log()
    number = log.jobs["job_number"]
    log = log.with_jobs(log.jobs.assign(preceding_job_number=number - 1, think_time=number % 7 * 1.0))
    shaken = shake_submissions(log, 1, 10**6)
    jobs = shaken.jobs.set_index("job_number")
    same = ["preceding_job_number", "think_time"]
    assert jobs[same].sort_index().equals(log.jobs.set_index("job_number")[same].sort_index())
    came = jobs["submit_time"].to_dict()
    moved_alone = shake_submissions(a_log(), 1, 10**6).jobs.set_index("job_number")["submit_time"]
    for place, each in enumerate(sorted(came)[1:], start=1):
        assert came[each] == max(came[sorted(came)[place - 1]], moved_alone[each])
    assert find_dependencies(shaken).left_out == find_dependencies(log).left_out


def test_occurrences_stay_with_their_jobs() -> None:
    """Of two jobs of one number the one that stood first in the log keeps occurrence 0, wherever it comes to stand."""
    log = Trace.from_columns(job_number=[7] * 40, submit_time=np.arange(40), user_id=np.arange(40))
    shaken = shake_submissions(log, 1, 300).jobs
    assert (shaken["job_occurrence"] == shaken["user_id"]).all()
    assert not shaken["user_id"].is_monotonic_increasing


def test_no_time_beyond_the_last_of_a_log() -> None:
    """A job at the end of time stays there."""
    shaken = shake_submissions(Trace.from_columns(job_number=[1], submit_time=[MAX_TIME]), 1, 300)
    assert [MAX_TIME] == shaken.jobs["submit_time"].tolist()


@pytest.mark.parametrize(
    ("seed", "seconds", "message"),
    [
        (-1, 300, "seed=-1 is not an integer from 0"),
        (True, 300, "seed=True is not an integer"),
        (1, -5, "seconds=-5 is not an integer from 0"),
        (1, 0.5, "seconds=0.5 is not an integer from 0"),
    ],
)
def test_what_cannot_be_is_refused(seed: int, seconds: int, message: str) -> None:
    """Seeds and seconds are whole numbers."""
    with pytest.raises(ParameterError, match=message):
        shake_submissions(a_log(3), seed, seconds)

# SPDX-License-Identifier: BSD-3-Clause
"""Choosing the jobs of an experiment, and scaling their load."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swftools
from swftools.errors import ParameterError
from swftools.header import SwfHeader
from swftools.selection import scale_to_load, select_jobs
from tests.examples import examples

HEADER = SwfHeader.from_lines(["; UnixStartTime: 956700003", "; TimeZoneString: US/Pacific", "; MaxProcs: 8"])
DAY = 86_400


def trace(submit: list[float], **columns: Any) -> swftools.Trace:
    """Make a trace of jobs numbered from 11, submitted at given times."""
    numbers = np.arange(11, 11 + len(submit))
    return swftools.Trace.from_columns(HEADER, job_number=numbers, submit_time=submit, **columns)


def chosen(selected: swftools.Trace) -> tuple[list[int], list[int]]:
    """Return the numbers of the jobs kept, and of those measured."""
    jobs = selected.jobs
    return jobs["job_number"].tolist(), jobs.loc[jobs["is_measured"], "job_number"].tolist()


@pytest.mark.parametrize(
    ("conditions", "kept", "measured"),
    [
        ({}, [11, 12, 13, 14, 15], [11, 12, 13, 14, 15]),
        ({"lines": (1, 3)}, [12, 13, 14], [12, 13, 14]),
        ({"job_numbers": (12, 13)}, [12, 13], [12, 13]),
        ({"job_numbers": [15, 11]}, [11, 15], [11, 15]),
        ({"begin": 100, "end": 300}, [12, 13], [12, 13]),
        ({"begin": 100, "end": 300, "warm_up": 100}, [11, 12, 13], [12, 13]),
        ({"begin": 100, "end": 300, "warm_up": 99, "cool_down": 100}, [12, 13, 14], [12, 13]),
        ({"begin": 100, "end": 300, "cool_down": None}, [12, 13, 14, 15], [12, 13]),
        ({"lines": (0, 2), "begin": 200}, [13], [13]),
    ],
    ids=str,
)
def test_conditions(conditions: dict[str, Any], kept: list[int], measured: list[int]) -> None:
    """Jobs that meet all conditions are measured; those around them are kept."""
    assert (kept, measured) == chosen(select_jobs(trace([0, 100, 200, 300, 1000]), **conditions))


def test_dates_are_those_of_the_logs_zone() -> None:
    """Second 0 is 15:00:03 in San Diego: midnight is 8:59:57 later; a date with a zone is taken as it is."""
    midnight = 9 * 3600 - 3
    jobs = trace([midnight - 1, midnight, midnight + DAY - 1, midnight + DAY])
    assert [12, 13] == chosen(select_jobs(jobs, begin="2000-04-26", end="2000-04-27"))[1]
    begin = datetime(2000, 4, 26, 7, tzinfo=UTC)  # midnight in summer
    assert [12, 13, 14] == chosen(select_jobs(jobs, begin=begin))[1]


def test_a_month_is_of_the_logs_zone() -> None:
    """From its first midnight to that of the next month."""
    may = 5 * DAY + 9 * 3600 - 3
    jobs = trace([may - 1, may, may + 31 * DAY - 1, may + 31 * DAY])
    assert [12, 13] == chosen(select_jobs(jobs, month="2000-05"))[1]


@pytest.mark.parametrize(
    ("conditions", "complaint"),
    [
        ({"lines": (1,)}, r"lines=\(1,\) is not two integers"),
        ({"lines": 5}, "lines=5 is not two integers"),
        ({"job_numbers": (1, 2.5)}, "is not two integers"),
        ({"begin": "spring"}, "begin='spring' is neither a number of seconds nor a date"),
        ({"month": "2000-13"}, "month='2000-13' is not a month"),
        ({"month": 5}, "month=5 is not a month"),
        ({"month": "2000-05", "begin": 0}, "beside begin or end"),
        ({"warm_up": -1}, "warm_up=-1 is not a number of seconds"),
        ({"warm_up": None}, "warm_up=None is not a number of seconds"),
        ({"cool_down": "long"}, "cool_down='long' is not"),
        ({"begin": 5000}, r"none of 2 jobs \(submitted 0 to 100 s\) meets"),
    ],
    ids=str,
)
def test_mistakes(conditions: dict[str, Any], complaint: str) -> None:
    """Each names what is wrong."""
    with pytest.raises(ParameterError, match=complaint):
        select_jobs(trace([0, 100]), **conditions)


def test_a_date_needs_a_start() -> None:
    """A log that does not tell when it began has no dates."""
    jobs = swftools.Trace.from_columns(job_number=[1], submit_time=[0])
    with pytest.raises(ParameterError, match="no UnixStartTime; give seconds"):
        select_jobs(jobs, begin="2000-05-01")


def test_no_jobs_and_no_times() -> None:
    """Of an empty trace nothing can be chosen; jobs without submission can be chosen by line."""
    with pytest.raises(ParameterError, match=r"none of 0 jobs \(submitted no times\)"):
        select_jobs(trace([]))
    assert [11] == chosen(select_jobs(trace([-1, -1]), lines=(0, 0)))[0]


@examples(0.5)
@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=30).map(sorted),
    *(st.integers(0, 1000) for _ in range(4)),
)
def test_surroundings(submit: list[float], begin: int, length: int, warm_up: int, cool_down: int) -> None:
    """Kept are exactly the jobs from warm_up before the first measured one to cool_down after the last."""
    measured = [time for time in submit if begin <= time < begin + length]
    if not measured:
        return
    kept = [time for time in submit if measured[0] - warm_up <= time <= measured[-1] + cool_down]
    selected = select_jobs(trace(submit), begin=begin, end=begin + length, warm_up=warm_up, cool_down=cool_down)
    assert kept == selected.jobs["submit_time"].tolist()
    assert len(measured) == selected.jobs["is_measured"].sum()


def test_a_load_is_met(shipped_log: Path) -> None:
    """The offered load is the one asked for; all but the times stays."""
    log = swftools.read_swf(shipped_log)
    for load, processors in ((0.9, 1152), (0.3, 2000)):
        scaled = scale_to_load(log, load, processors)
        assert load == pytest.approx(swftools.offered_load(scaled), rel=1e-4)
        assert processors == scaled.processors
        assert log.jobs["run_time"].equals(scaled.jobs["run_time"])
        assert "model_submit_time" not in scaled.jobs
        assert scaled.jobs["wait_time"].isna().all()
    same = {"preceding_job_number": log.jobs["job_number"].shift(1), "think_time": 7.0}
    scaled = scale_to_load(log.with_jobs(log.jobs.assign(**same)), 0.9, 1152)
    assert all(scaled.jobs[name].equals(log.jobs.assign(**same)[name]) for name in same)


def test_a_load_needs_what_it_is_made_of() -> None:
    """Without run times there is no load."""
    with pytest.raises(ParameterError, match="jobs with width and run time"):
        scale_to_load(trace([0, 100]), 0.5)

# SPDX-License-Identifier: BSD-3-Clause
"""Offered load: work over capacity, by hand and for any trace."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import SwfHeader, Trace
from swftools.offered_work import offered_load, span_of, work_of
from tests.examples import examples
from tests.strategies import traces


def test_by_hand() -> None:
    """Two jobs of 300 and 200 processor-seconds in 50 s on 20 processors are half of what there is."""
    trace = Trace.from_columns(
        machine_processors=20,
        job_number=[1, 2],
        submit_time=[10, 60],
        run_time=[100, 200],
        requested_processors=[3, 1],
    )
    assert 500 == work_of(trace)
    assert 50 == span_of(trace.arrays.submit_time)
    assert 0.5 == offered_load(trace)


def test_width_is_allocated_where_known() -> None:
    """A job's width is allocated_processors where known and positive, else requested_processors."""
    trace = Trace.from_columns(
        job_number=[1, 2, 3], run_time=[10, 10, 10], allocated_processors=[4, 0, -1], requested_processors=[9, 2, 1]
    )
    assert 10 * (4 + 2 + 1) == work_of(trace)


def test_jobs_without_width_or_run_time_bring_no_work() -> None:
    """Nor do those that ran no time; but their submissions count."""
    trace = Trace.from_columns(
        machine_processors=1,
        job_number=[1, 2, 3, 4],
        submit_time=[0, 10, 20, 100],
        run_time=[50, -1, 7, 0],
        requested_processors=[1, 5, -1, 3],
    )
    assert 0.5 == offered_load(trace)


def test_other_submissions() -> None:
    """Given submissions stand in place of the trace's own, the missing ones aside, in any order."""
    trace = Trace.from_columns(
        machine_processors=2, job_number=[1, 2, 3], run_time=[10, 20, 30], requested_processors=[1, 1, 1]
    )
    assert 3.0 == offered_load(trace, np.array([20.0, math.nan, 10.0]))


@pytest.mark.parametrize("times", [[], [5], [5, 5], [-1], [-1, -1], [-1, 5]])
def test_without_time_there_is_no_load(times: list[float]) -> None:
    """None where no time passes between submissions, or none is known."""
    trace = Trace.from_columns(machine_processors=4, job_number=list(range(len(times))), submit_time=times)
    assert 0 == span_of(trace.arrays.submit_time)
    assert offered_load(trace) is None


def test_machine_of_the_header_and_none() -> None:
    """The machine is the trace's, else the header's; without one there is no load."""
    columns = {"job_number": [1, 2], "submit_time": [0, 10], "run_time": [5, 5], "requested_processors": [4, 4]}
    header = SwfHeader().with_entry("MaxProcs", "8")
    assert 0.5 == offered_load(Trace.from_columns(header, **columns))
    assert 1.0 == offered_load(Trace.from_columns(header, machine_processors=4, **columns))
    assert offered_load(Trace.from_columns(**columns)) is None


@examples(0.5)
@given(traces(utility=False), st.floats(0.1, 10))
def test_any_trace(trace: Trace, factor: float) -> None:
    """A load is never negative, nor NaN; half the time between jobs is twice the load."""
    load = offered_load(trace)
    times = trace.arrays.submit_time
    if load is None:
        assert not trace.processors or not span_of(times)
        return
    assert 0 <= load
    if span_of(times) > 1:
        assert load / factor == pytest.approx(offered_load(trace, factor * times), rel=1e-9)

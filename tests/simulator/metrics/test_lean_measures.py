# SPDX-License-Identifier: BSD-3-Clause
"""What measures are made of in little memory: sums by blocks, instants, keys looked up, and heads in any order."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.simulator import find_heads, measure, measure_jobs, over_time, simulate
from swftools.simulator.metrics import head_sweep, heads, job_classes
from swftools.simulator.metrics.columns import rows_of
from swftools.simulator.metrics.job_classes import ClassedValues
from swftools.simulator.metrics.step_functions import add_changes, instants_of
from swftools.simulator.schedule import Schedule, contiguous
from tests.examples import examples
from tests.interpreted import FORMS, all_interpreted
from tests.simulator.metrics.test_laws import schedules
from tests.strategies import crowded_trace

BLOCK = job_classes.BLOCK


@pytest.mark.parametrize("count", [0, 1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_blocks_are_those_of_one_pass(count: int, weighted: bool) -> None:
    """Bit for bit the sum of numpy.bincount, which adds one to the other from the first on."""
    draw = np.random.default_rng(count)
    values, weights = draw.exponential(1e5, count), draw.integers(1, 64, count) / 3
    nobody = np.zeros(count, np.int64)
    expected = np.bincount(nobody, values * weights if weighted else values, minlength=1)[0]
    of_all = np.bincount(nobody, weights, minlength=1)[0]
    mean = ClassedValues(values, nobody, 1).mean(weights if weighted else None)[0]
    divisor = of_all if weighted else count
    assert math.isnan(mean) if not count else mean == expected / divisor


@given(st.lists(st.integers(1, 2), max_size=4), st.integers(0, 30))
def test_one_class_is_as_one_of_two(counts: list[int], more: int) -> None:
    """A class is measured the same by itself and beside another, whose values are of no account."""
    values = np.array([*counts, *np.arange(more) / 7.0, math.nan])
    alone = ClassedValues(values, np.zeros(len(values), np.int64), 1)
    beside = ClassedValues(np.concatenate([values, [5.0]]), np.array([*[0] * len(values), 1]), 2)
    for told, expected in (
        (alone.total(), beside.total()),
        (alone.largest(), beside.largest()),
        (alone.mean(), beside.mean()),
        (alone.above_zero().jobs, beside.above_zero().jobs),
        *zip(alone.percentiles([0, 30, 98]), beside.percentiles([0, 30, 98]), strict=True),
    ):
        assert told.shape == (1,)
        assert np.array_equal(told, expected[:1], equal_nan=True)


times = st.lists(st.integers(0, 4).map(float) | st.just(math.nan) | st.just(math.inf), max_size=6)


@given(times, times)
def test_instants_and_changes_equal_counting(one: list[float], other: list[float]) -> None:
    """Each instant is there once, missing ones as the last; what changes at it is all added to it."""
    ours, theirs = np.sort(np.array(one)), np.sort(np.array(other))
    found = instants_of(ours, theirs)
    assert np.array_equal(found, np.unique(np.concatenate([ours, theirs])), equal_nan=True)
    for kernel in (add_changes, add_changes.py_func):
        total = np.ones(len(found))
        kernel(found, ours, np.arange(1.0, len(ours) + 1), -1.0, total)
        expected = [
            1 - sum(i + 1 for i, at in enumerate(ours) if at == now or (math.isnan(at) and math.isnan(now)))
            for now in found
        ]
        assert expected == total.tolist()


@pytest.mark.parametrize("gap", [1, 2, 3, 2**31 + 1, 2**40])
@pytest.mark.parametrize("first", [-(2**62), -1, 0, 2**31 - 2, 2**62])
def test_keys_are_found_whatever_the_numbers(gap: int, first: int) -> None:
    """Numbers with few gaps are looked up in a table, others searched; what is not there is told, with its number."""
    number = first + gap * np.arange(9, dtype=np.int64)
    jobs = pd.DataFrame({"job_number": number, "job_occurrence": 0})
    wanted = jobs.iloc[[8, 0, 3, 3]]
    assert rows_of(wanted, jobs).tolist() == [8, 0, 3, 3]
    for other in (number[0] - 1, number[8] + 1, *([] if gap == 1 else [number[4] + 1])):
        with pytest.raises(ParameterError, match=f"job {other}, occurrence 0, is not among"):
            rows_of(wanted.assign(job_number=other), jobs)
    with pytest.raises(ParameterError, match=f"job {number[3]}, occurrence 1, is not among"):
        rows_of(pd.DataFrame({"job_number": number[3:4], "job_occurrence": 1}), jobs)


def shuffled(schedule: Schedule, seed: int = 0) -> Schedule:
    """Return a schedule with the rows of its tables in another order."""
    draw = np.random.default_rng(seed)
    jobs, segments = (
        frame.iloc[draw.permutation(len(frame))].reset_index(drop=True) for frame in (schedule.jobs, schedule.segments)
    )
    return replace(schedule, jobs=jobs, segments=segments)


@examples(0.3)
@given(schedules(), st.integers(0, 99))
def test_the_order_of_rows_does_not_count(schedule: Schedule, seed: int) -> None:
    """Heads, steps and measures are the same of tables in any order; sums but for the last digits."""
    other = shuffled(schedule, seed)
    keys = ["job_number", "job_occurrence"]
    pd.testing.assert_frame_equal(
        *(find_heads(one).sort_values(keys, ignore_index=True) for one in (schedule, other)), check_exact=True
    )
    pd.testing.assert_frame_equal(over_time(schedule), over_time(other))
    pd.testing.assert_frame_equal(measure(schedule), measure(other))


@pytest.mark.parametrize("form", FORMS)
@examples(0.25)
@given(schedules(), st.integers(-40, 3))
def test_the_sweep_stays_in_its_room(form: str, schedule: Schedule, shift: int) -> None:
    """Also where jobs run side by side, again and again, and before their submission; compiled and interpreted."""
    segments = schedule.segments.assign(start_time=np.maximum(schedule.segments["start_time"] + shift, 0.0))
    moved = replace(schedule, segments=segments)
    heads_in_forms(moved, form)


def heads_in_forms(schedule: Schedule, form: str) -> pd.DataFrame:
    """Return the heads of a schedule, found compiled, and equal in another form."""
    compiled = find_heads(schedule)
    with pytest.MonkeyPatch.context() as patch, all_interpreted(form == "py_func"):
        for name in ("link_runs", "most_at_once", "expect_ends", "sweep"):
            patch.setattr(heads, name, getattr(getattr(head_sweep, name), form))
        pd.testing.assert_frame_equal(compiled, find_heads(schedule), check_exact=True)
    return compiled


@pytest.mark.parametrize("form", FORMS)
def test_jobs_that_ran_before_their_submission(form: str) -> None:
    """However many are submitted at once that had been started before, they wait for their next run."""
    rows = []
    for number in range(5):
        runs = [(0.0, 4.0, "suspended"), (20.0 + 5 * number, 25.0 + 5 * number, "completed")]
        rows += [(number, begin, end, 2, end - begin, 0.0, 0.0, how) for begin, end, how in runs]
    names = [
        "job_number",
        "start_time",
        "end_time",
        "allocated_processors",
        "work",
        "lost_work",
        "overhead",
        "ended_by",
    ]
    segments = pd.DataFrame(rows, columns=names).assign(job_occurrence=0)
    segments = segments.sort_values("start_time", kind="stable", ignore_index=True)
    jobs = pd.DataFrame({"job_number": range(5), "job_occurrence": 0, "submit_time": 10.0, "requested_time": 9.0})
    found = heads_in_forms(Schedule(jobs, segments, jobs[:0], 10, "drawn"), form)
    assert found["job_number"].tolist() == [0, 1, 2, 3, 4]
    assert found["blocked_since"].tolist() == [10.0, 20.0, 25.0, 30.0, 35.0]
    only = segments[segments["ended_by"] == "suspended"].assign(ended_by="completed").reset_index(drop=True)
    only.loc[4, "end_time"] = 30.0  # or nobody would look on until the others are submitted
    assert heads_in_forms(Schedule(jobs, only, jobs[:0], 10, "drawn"), form).empty


def test_no_delay_is_negative() -> None:
    """Who starts before its reservation, since others ended early, was not delayed."""
    trace = crowded_trace(200, 8)
    longer = trace.with_jobs(trace.jobs.assign(requested_time=3 * trace.jobs["run_time"]))
    schedule = simulate(longer, "easy")
    found, measured = find_heads(schedule), measure_jobs(schedule)
    assert (found["start_time"] < found["reservation"]).any()
    for name in ("head_delay", "head_delay_by_later", "reservation_violation", "slowdown_of_violation"):
        assert (measured[name] >= 0).all()


def test_columns_for_kernels() -> None:
    """What can be shared is; what cannot is converted, with NaN for missing, and all can be written to for numba."""
    frame = pd.DataFrame({"time": [1.0, 2.0], "count": pd.array([1, None], dtype="Int64"), "whole": [3, 4]})
    shared = contiguous(frame, "time")
    assert np.shares_memory(shared, np.asarray(frame["time"].array))
    assert np.array_equal(contiguous(frame, "count"), [1.0, math.nan], equal_nan=True)
    every = pd.DataFrame(np.arange(6.0).reshape(3, 2), columns=["a", "b"])
    for values in (shared, contiguous(frame, "count"), contiguous(frame, "whole"), contiguous(every, "b")):
        assert values.dtype == np.float64
        assert values.flags.writeable
        assert values.flags.c_contiguous


def test_measuring_writes_to_nothing() -> None:
    """A schedule is as it was, bit for bit, though kernels were lent its columns."""
    schedule = simulate(crowded_trace(200, 8), "easy")
    jobs, segments = schedule.jobs.copy(deep=True), schedule.segments.copy(deep=True)
    first = measure(schedule, trimmed=True, threshold=5.0)
    pd.testing.assert_frame_equal(first, measure(schedule, trimmed=True, threshold=5.0))
    pd.testing.assert_frame_equal(jobs, schedule.jobs, check_exact=True)
    pd.testing.assert_frame_equal(segments, schedule.segments, check_exact=True)

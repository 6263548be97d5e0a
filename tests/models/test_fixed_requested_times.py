# SPDX-License-Identifier: BSD-3-Clause
"""User estimates from what was fitted before: the model's own law for each job, whatever other jobs there are."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.logs.find import SHIPPED_LOG
from pipelines.logs.load import load_log
from swftools import Trace
from swftools.errors import ParameterError
from swftools.models import fixed_requested_times as module
from swftools.models.fixed_requested_times import (
    FixedRequestedTimes,
    draw_requested_times,
    fit_requested_times,
)
from swftools.models.requested_times import RequestedTimeParameters, _assign, generate_requested_times

COLUMN = "model_requested_time"


def trace_of(run_times: list[float], first: int = 1) -> Trace:
    """Return a trace of jobs with these run times."""
    return Trace.from_columns(job_number=range(first, first + len(run_times)), run_time=run_times)


def law(fitted: FixedRequestedTimes, run_time: float) -> np.ndarray:
    """Return the chance of each time for a job, by definition: none of the shorter ones that suffice, and this one."""
    chances = np.where(fitted.times >= run_time, fitted.chances, 0.0)
    return np.array([chances[k] * np.prod(1 - chances[:k]) for k in range(len(chances))])


def test_law_is_that_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand out the same estimates often: each job has each of them as often as the fitted chances say."""
    run_time = np.array([4000.0, 3600.0, 3000.0, 1000.0, 500.0, 500.0, 10.0, 0.0])
    estimates = np.array([7200.0, 7200.0, 3600.0, 3600.0, 3600.0, 900.0, 600.0, 600.0])
    monkeypatch.setattr(module, "handed_out", lambda *_: (run_time[::-1], estimates, None))
    fitted = fit_requested_times(trace_of([1]))
    assert fitted.times.tolist() == [600.0, 900.0, 3600.0, 7200.0]
    repeats, rng = 15_000, np.random.default_rng(1)
    counts = np.zeros((len(run_time), len(fitted.times)))
    for _ in range(repeats):
        given_out = estimates.copy()
        _assign(run_time, given_out, rng.random(len(run_time)))
        counts[np.arange(len(run_time)), np.searchsorted(fitted.times, given_out)] += 1
    expected = np.array([law(fitted, time) for time in run_time])
    assert np.allclose(expected.sum(axis=1), 1)
    assert np.allclose(expected.sum(axis=0), [2, 1, 3, 2])  # the numbers of jobs, in the mean
    errors = np.sqrt(expected * (1 - expected) / repeats)
    assert (abs(counts / repeats - expected) <= 5 * errors).all()
    assert (counts[expected == 0] == 0).all()


def test_draws_follow_the_law() -> None:
    """Twenty thousand jobs of one run time have each time as often as the chances say."""
    fitted = FixedRequestedTimes(np.array([60.0, 600.0, 3600.0, 7200.0]), np.array([0.5, 0.25, 0.5, 1.0]))
    for run_time in (30.0, 60.0, 61.0, 3600.0):
        drawn = draw_requested_times(trace_of([run_time] * 20_000), fitted, seed=3)[COLUMN]
        shares = np.array([(drawn == time).mean() for time in fitted.times])
        expected = law(fitted, run_time)
        assert (abs(shares - expected) <= 5 * np.sqrt(expected * (1 - expected) / 20_000)).all()


def test_real_jobs_have_the_models_estimates() -> None:
    """Of the shipped log: each popular time as often as the model gives it, within chance, and the same mean."""
    trace = load_log(SHIPPED_LOG).trace
    generated = generate_requested_times(trace)[COLUMN]
    drawn = draw_requested_times(trace, fit_requested_times(trace))[COLUMN]
    assert set(drawn) <= set(generated)
    for time, count in generated.value_counts().head(20).items():
        assert abs((drawn == time).sum() - count) <= 5 * np.sqrt(count)
    assert abs(drawn.mean() / generated.mean() - 1) < 0.03
    ranks = pd.DataFrame({"run": trace.jobs["run_time"], "one": generated, "other": drawn}).rank().corr()
    assert abs(ranks.loc["run", "one"] - ranks.loc["run", "other"]) < 0.05
    assert (drawn >= trace.jobs["run_time"].fillna(0)).all()


@given(st.lists(st.integers(0, 80_000), min_size=1, max_size=300), st.integers(0, 5))
def test_no_job_outlives_its_estimate(run_times: list[int], seed: int) -> None:
    """Also where so many run long that estimates are raised; the chances are chances."""
    trace = trace_of([float(time) for time in run_times])
    fitted = fit_requested_times(trace, RequestedTimeParameters(seed=seed))
    drawn = draw_requested_times(trace, fitted, seed=seed)[COLUMN]
    assert (drawn.to_numpy() >= trace.arrays.run_time).all()


def test_a_draw_is_the_jobs_own() -> None:
    """Other jobs, or another order of them, change nothing; another seed, number or occurrence does."""
    fitted = fit_requested_times(load_log(SHIPPED_LOG).trace)
    trace = trace_of([100.0] * 200)
    whole = draw_requested_times(trace, fitted)[COLUMN]
    some = trace.with_jobs(trace.jobs.iloc[[150, 3, 77]])
    assert draw_requested_times(some, fitted)[COLUMN].to_dict() == whole[[150, 3, 77]].to_dict()
    again = trace.with_jobs(trace.jobs.assign(job_occurrence=1))
    for other in (
        draw_requested_times(trace, fitted, seed=1),
        draw_requested_times(again, fitted),
        draw_requested_times(trace_of([100.0] * 200, first=1000), fitted),
    ):
        assert 20 < (other[COLUMN] != whole).sum() < 200


def test_jobs_that_are_longer_than_all_fitted() -> None:
    """Have the longest time; a job without run time may have any."""
    fitted = FixedRequestedTimes(np.array([600.0, 7200.0]), np.array([0.5, 1.0]))
    drawn = draw_requested_times(trace_of([7200.0, 7201.0, 1e9, np.nan, *[np.nan] * 50]), fitted)[COLUMN]
    assert drawn[:3].tolist() == [7200.0] * 3
    assert set(drawn[3:]) == {600.0, 7200.0}
    assert draw_requested_times(trace_of([]), fitted).dtypes.tolist() == [np.float64]


def test_interpreted_kernel_is_the_compiled_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel, interpreted, draws the same."""
    fitted, trace = fit_requested_times(load_log(SHIPPED_LOG).trace), trace_of([100.0] * 300)
    compiled = draw_requested_times(trace, fitted)
    monkeypatch.setattr(module, "_draw", module._draw.py_func)
    with np.errstate(over="ignore"):
        pd.testing.assert_frame_equal(draw_requested_times(trace, fitted), compiled)


def test_json_holds_it() -> None:
    """To the last bit."""
    fitted = fit_requested_times(load_log(SHIPPED_LOG).trace)
    back = FixedRequestedTimes.from_mapping(json.loads(json.dumps(fitted.to_mapping())))
    assert (back.times == fitted.times).all()
    assert (back.chances == fitted.chances).all()


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"times": [60], "chances": None},
        {"times": [], "chances": []},
        {"times": [60, 60], "chances": [0.5, 1]},
        {"times": [60, 600], "chances": [0, 1]},
        {"times": [60, 600], "chances": [0.5, 0.9]},
        {"times": [60, 600], "chances": [1.5, 1]},
        {"times": [60], "chances": [0.5, 1]},
    ],
)
def test_damage_is_told(content: dict[str, object]) -> None:
    """What is no distribution is not drawn from."""
    with pytest.raises(ParameterError, match="fit it again"):
        FixedRequestedTimes.from_mapping(content)


def test_no_job_to_be_fitted_to() -> None:
    """Is an error."""
    with pytest.raises(ParameterError, match="there is no job to be fitted to"):
        fit_requested_times(trace_of([]))

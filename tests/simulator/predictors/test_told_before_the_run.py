# SPDX-License-Identifier: BSD-3-Clause
"""What policies are told by predictors that know the run times before the run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swftools import Trace
from swftools.errors import ParameterError, PolicyError
from swftools.simulator import Predictor, find_predictor, foretold, simulate
from tests.strategies import crowded_trace


def told(trace: Trace, predictor: Any, **options: Any) -> np.ndarray[Any, Any]:
    """Return what policies are told of each job."""
    return simulate(trace, "fcfs", predictor=predictor, **options).jobs["estimated_time"].to_numpy(dtype=float)


def long_requests(jobs: int = 4000) -> Trace:
    """Return jobs that ask for a hundred times what they need."""
    trace = crowded_trace(jobs)
    jobs_ = trace.jobs[trace.jobs["run_time"] > 0]
    return trace.with_jobs(jobs_.assign(requested_time=100 * jobs_["run_time"]))


def test_request_and_exact() -> None:
    """The request, and the run time; never more than the limit, which a job may outlive under overrun="run-on"."""
    trace = crowded_trace()
    requested = trace.jobs["requested_time"].fillna(trace.jobs["run_time"]).to_numpy(dtype=float)
    requested = np.where(requested > 0, requested, trace.jobs["run_time"])
    run = trace.jobs["run_time"].to_numpy(dtype=float)
    assert (run > requested).any()
    np.testing.assert_array_equal(requested, told(trace, "request", overrun="run-on"))
    np.testing.assert_array_equal(np.minimum(run, requested), told(trace, "exact", overrun="run-on"))
    np.testing.assert_array_equal(run, told(trace, "exact"))


def test_virtual_errs_as_much_as_it_is_told_to() -> None:
    """The run time times 1 + U(-error, error): within the bounds, all of them used, and right on average."""
    trace = long_requests()
    run = trace.jobs["run_time"].to_numpy(dtype=float)
    for error in (0.1, 0.5, 1.0):
        off = told(trace, f"virtual:error={error}") / run - 1
        assert error >= np.abs(off).max() > 0.99 * error
        assert 0 == pytest.approx(off.mean(), abs=4 * error / np.sqrt(3 * len(off)))
        assert error / np.sqrt(3) == pytest.approx(off.std(), rel=0.05)
    np.testing.assert_array_equal(run, told(trace, "virtual:error=0"))


def test_virtual_draws_by_the_seed() -> None:
    """Another seed, other errors; the same seed, the same."""
    trace = long_requests(300)
    first = told(trace, "virtual", seed=1)
    np.testing.assert_array_equal(first, told(trace, "virtual:error=0.5", seed=1))
    assert (first != told(trace, "virtual", seed=2)).mean() > 0.99


@pytest.mark.parametrize("factor", [-1.0, 0.5, 1e9])
def test_one_of_ones_own(factor: float) -> None:
    """What it foretells counts from 0 to the limit."""
    mine = Predictor("mine", foretell=lambda run_time, limit: factor * run_time)
    trace = long_requests(300)
    run = trace.jobs["run_time"].to_numpy(dtype=float)
    np.testing.assert_array_equal(np.clip(factor * run, 0, 100 * run), told(trace, mine))


@pytest.mark.parametrize(
    ("foretell", "complaint"),
    [
        (lambda run_time, limit: run_time * np.nan, "'mine' returned NaN for 10 jobs; return a number for each"),
        (lambda run_time, limit: run_time[1:], r"returned an array of shape \(9,\) for 10 jobs"),
        (lambda run_time, limit: 5.0, r"returned an array of shape \(\) for 10 jobs"),
    ],
)
def test_what_is_foretold_is_a_number_for_each_job(foretell: Any, complaint: str) -> None:
    """Else the run would go astray later."""
    with pytest.raises(PolicyError, match=complaint):
        told(crowded_trace(10), Predictor("mine", foretell=foretell))


def test_wrong_arguments_are_refused_when_it_is_registered() -> None:
    """Before any run."""
    with pytest.raises(ParameterError, match=r"'odd' takes \(limit, run_time\); it must take \(run_time, limit\)"):

        @foretold("odd")
        def _(limit: Any, run_time: Any) -> Any:
            """Take them the other way round."""

    with pytest.raises(ParameterError, match="predictor 'odd' takes memory; a foretold predictor has none"):

        @foretold("odd")
        def _(run_time: Any, limit: Any, memory: Any) -> Any:
            """Ask for memory."""

    with pytest.raises(ParameterError, match="no predictor 'odd'"):
        find_predictor("odd")

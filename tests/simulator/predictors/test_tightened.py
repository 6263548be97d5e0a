# SPDX-License-Identifier: BSD-3-Clause
"""What policies are told if users tighten their requests."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.errors import ParameterError, PolicyError
from swftools.models.tightened_requests import tighten_requests
from swftools.simulator import simulate
from swftools.simulator.predictors.kinds import Keyed, Predictor
from swftools.simulator.predictors.registry import foretold
from swftools.trace import Trace
from tests.strategies import crowded_trace


def known() -> Trace:
    """Return jobs whose requests are known and not outlived."""
    trace = crowded_trace(200)
    kept = trace.arrays.requested_time >= trace.arrays.run_time
    return trace.with_jobs(trace.jobs[kept])


def test_policies_are_told_the_tightened_requests() -> None:
    """Those that ``tighten_requests`` draws with the same seed; the limit stays what was requested."""
    trace = known()
    schedule = simulate(trace, "easy", predictor="tightened:shortest=0,share=0.7", seed=3)
    drawn = tighten_requests(trace, 3, shortest=0, share=0.7).assign(number=trace.jobs["job_number"])
    told = schedule.jobs.set_index("job_number")
    expected = drawn.set_index("number")["tightened_time"].loc[told.index]
    assert (told["estimated_time"] == expected).all()
    assert (told["estimated_time"] < told["requested_time"]).mean() > 0.3
    asked = trace.jobs.set_index("job_number")["requested_time"].loc[told.index]
    assert (told["requested_time"] == asked).all()
    assert (told["run_time"] == trace.jobs.set_index("job_number")["run_time"].loc[told.index].clip(lower=1)).all()


def test_a_part_of_a_log_is_told_the_same() -> None:
    """Draws are keyed by job, so that who else is there changes nothing of what is told."""
    trace = known()
    part = trace.with_jobs(trace.jobs[50:120])
    whole, some, other = (
        simulate(each, "fcfs", predictor="tightened:shortest=0", seed=seed).jobs.set_index("job_number")
        for each, seed in ((trace, 0), (part, 0), (trace, 1))
    )
    assert (whole["estimated_time"].loc[some.index] == some["estimated_time"]).all()
    assert not whole["estimated_time"].equals(other["estimated_time"])


def test_what_is_foretold_may_be_keyed() -> None:
    """A predictor of one's own draws by the keys of jobs if it names ``keyed``; one that observes may not."""

    def halved(run_time: np.ndarray, limit: np.ndarray, keyed: Keyed) -> np.ndarray:
        return limit * keyed("halved", 1)[:, 0]

    trace = known()
    told = simulate(trace, "fcfs", predictor=Predictor("halved", foretell=halved)).jobs
    assert (told["estimated_time"] <= told["requested_time"]).all()
    assert told["estimated_time"].nunique() > 100

    def wrong(run_time: np.ndarray, limit: np.ndarray, keys: object) -> np.ndarray:
        return limit

    with pytest.raises(ParameterError, match="of parameters, memory, rng, keyed"):
        foretold("wrong")(wrong)
    with pytest.raises(PolicyError, match="halved"):
        Predictor("halved", foretell=halved).told(np.ones(1), np.ones(1), 0)

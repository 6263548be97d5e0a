# SPDX-License-Identifier: BSD-3-Clause
"""What users ask for: as logged, multiplied, or of the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.models.requested_times import (
    RequestedTimeParameters,
    apply_requested_times,
    generate_requested_times,
)
from swftools.simulator import simulate
from swftools.simulator.requested_times import find_requests
from tests.strategies import crowded_trace


def result(trace: Trace, **options: Any) -> list[list[float]]:
    """Return starts, requests and predictions."""
    jobs = simulate(trace, "easy", **options).jobs
    return [jobs[name].tolist() for name in ("start_time", "requested_time", "estimated_time")]


@pytest.mark.parametrize("overrun", ["extend", "run-on", "kill"])
@pytest.mark.parametrize("predictor", ["request", "last-model", "exact"])
def test_factor_is_a_log_with_longer_requests(overrun: str, predictor: str) -> None:
    """The limit of jobs and what predictors go by; a job without a request has its run time for it still."""
    trace = crowded_trace(200)
    assert trace.jobs["requested_time"].isna().any()
    longer = trace.with_jobs(trace.jobs.assign(requested_time=3 * trace.jobs["requested_time"]))
    options = {"overrun": overrun, "predictor": predictor}
    assert result(longer, **options) == result(trace, requests="factor:factor=3", **options)
    assert result(trace, **options) != result(longer, **options)
    assert result(trace, **options) == result(trace, requests="factor:factor=1", **options)


def test_tsafrir_fills_in_what_the_log_lacks() -> None:
    """As if the model's requests had been put into the log, by the seed."""
    trace = crowded_trace(300)
    trace = trace.with_jobs(trace.jobs.assign(requested_time=trace.jobs["requested_time"].where(lambda r: r > 40)))
    generated = generate_requested_times(trace, RequestedTimeParameters(seed=5))
    filled = apply_requested_times(trace.with_jobs(trace.jobs.join(generated)))
    assert result(filled) == result(trace, requests="tsafrir", seed=5)
    assert result(trace, requests="tsafrir", seed=6) != result(trace, requests="tsafrir", seed=5)
    known = trace.jobs["requested_time"].notna()
    asked = simulate(trace, "easy", requests="tsafrir", overrun="run-on").jobs["requested_time"]
    np.testing.assert_array_equal(asked[known], trace.jobs["requested_time"][known])


@pytest.mark.parametrize(
    ("text", "written"),
    [("logged", "logged"), ("factor", "factor:factor=2.0"), (" factor: factor = 3 ", "factor:factor=3")],
)
def test_what_a_schedule_records_leads_back(text: str, written: str) -> None:
    """Name and parameters."""
    assert written == simulate(crowded_trace(5), "fcfs", requests=text).options["requests"]
    assert written == find_requests(find_requests(text)).to_text()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("guessed", "no requests 'guessed'; there are: logged, factor, tsafrir"),
        ("faktor:factor=2", r"no requests 'faktor'; .*did you mean factor\?"),
        ("factor:factor=0", "factor: factor=0 is not a number"),
        ("factor:times=2", r"factor: unknown parameters \['times'\]"),
        ("logged:factor=2", r"logged: unknown parameters \['factor'\]; there are none"),
        (2, "requests=2 is neither a name nor one of logged, factor, tsafrir"),
    ],
)
def test_wrong_ones_are_refused(given: Any, complaint: str) -> None:
    """With what there is."""
    with pytest.raises(ParameterError, match=complaint):
        simulate(crowded_trace(5), "fcfs", requests=given)

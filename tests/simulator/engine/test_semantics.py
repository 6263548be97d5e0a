# SPDX-License-Identifier: BSD-3-Clause
"""Other simulators restated: what CQSim plans with, where requests are longer than runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import simulate, validate
from tests.naive.cqsim import Job, simulate_as_cqsim
from tests.strategies import crowded_trace

CQSIM: dict[str, Any] = {"semantics": "cqsim", "predictor": "exact"}


def four_jobs() -> Trace:
    """Return the jobs of docs/validation.md."""
    return Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3, 4],
        submit_time=[0, 0, 1, 2],
        requested_processors=[2, 2, 4, 2],
        run_time=[10, 10, 10, 2],
        requested_time=[10, 12, 10, 2],
    )


def crowd(seed: int) -> Trace:
    """Return a crowded trace: all jobs ask for a time, most for more than they need, some for less; some do nothing."""
    trace = crowded_trace(200, seed=seed)
    requested = trace.jobs["requested_time"].fillna(7.0).clip(lower=1.0)
    run = trace.jobs["run_time"].where(trace.jobs["job_number"] % 9 != 0, 0.0)
    return trace.with_jobs(trace.jobs.assign(requested_time=requested, run_time=run))


def as_cqsim(trace: Trace, *, conservative: bool) -> list[int | None]:
    """Return the starts of the twin."""
    arrays = trace.arrays
    columns = (arrays.submit_time, arrays.width, arrays.run_time, arrays.requested_time)
    jobs = [Job(*map(int, values)) for values in zip(*columns, strict=True)]
    return simulate_as_cqsim(jobs, trace.processors or 0, conservative=conservative)


def starts_by_row(trace: Trace, policy: str, **options: Any) -> list[float | None]:
    """Return the start of each job of a trace, None of one that is left out."""
    started = simulate(trace, policy, **options).jobs.set_index("job_number")["start_time"]
    return [None if np.isnan(start) else start for start in started.reindex(trace.jobs["job_number"]).astype(float)]


@pytest.mark.parametrize("policy", ["easy", "conservative-replanned"])
def test_the_four_jobs(policy: str, compiled: bool) -> None:
    """CQSim itself starts them then: job 2 is expected until 12, so job 3 loses two seconds that it could have had."""
    assert [0, 0, 12, 10] == simulate(four_jobs(), policy, compiled=compiled, **CQSIM).jobs["start_time"].tolist()
    assert [0, 0, 12, 10] == as_cqsim(four_jobs(), conservative=policy != "easy")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))])
@pytest.mark.parametrize("policy", ["easy", "conservative-replanned"])
def test_every_job_starts_as_in_the_twin(policy: str, seed: int) -> None:
    """Running jobs by request, waiting ones by run time; some are stopped at their request, some have no run time."""
    trace = crowd(seed)
    expected = as_cqsim(trace, conservative=policy != "easy")
    assert expected == starts_by_row(trace, policy, overrun="kill", **CQSIM)
    assert None in expected
    # Each part of that matters: how runs beyond the request are taken, and by what running jobs are planned.
    assert expected != starts_by_row(trace, policy, overrun="extend", **CQSIM)
    exact = np.minimum(trace.jobs["run_time"], trace.jobs["requested_time"])
    as_exact = trace.with_jobs(trace.jobs.assign(run_time=exact, requested_time=exact))
    assert expected != starts_by_row(as_exact, policy, **CQSIM)


@pytest.mark.parametrize("policy", ["easy", "conservative-replanned"])
def test_raised_requests_are_those_of_a_log_that_has_them(policy: str) -> None:
    """Under overrun="extend" the schedule is that of CQSim on a log where nobody runs longer than requested."""
    trace = crowd(1)
    raised = np.maximum(trace.jobs["run_time"], trace.jobs["requested_time"])
    raised_trace = trace.with_jobs(trace.jobs.assign(requested_time=raised))
    assert as_cqsim(raised_trace, conservative=policy != "easy") == starts_by_row(trace, policy, **CQSIM)


def test_jobs_of_no_run_time_are_left_out_and_said_so() -> None:
    """As there; here with the reason, and under no other semantics."""
    trace = four_jobs()
    trace = trace.with_jobs(trace.jobs.assign(run_time=[10.0, 10.0, 0.0, 2.0]))
    schedule = simulate(trace, "easy", **CQSIM)
    assert [("run_time 0 (semantics=cqsim)", 3)] == list(
        schedule.excluded[["reason", "job_number"]].itertuples(index=False, name=None)
    )
    assert simulate(trace, "easy").excluded.empty
    by_pyss = simulate(trace, "easy", semantics="pyss")
    assert by_pyss.excluded.empty
    assert (by_pyss.jobs["end_time"] - by_pyss.jobs["start_time"]).min() == 1.0  # where each runs for a second at least
    assert simulate(trace, "easy").jobs["run_time"].min() == 0.0


@pytest.mark.parametrize("policy", ["fcfs", "easy", "sjf-backfill", "conservative-replanned"])
@pytest.mark.parametrize("overrun", ["extend", "kill"])
def test_what_it_makes_is_valid(policy: str, overrun: str) -> None:
    """Promises that are made by other times than validation knows are not taken for broken."""
    trace = crowd(2)
    report = validate(simulate(trace, policy, overrun=overrun, **CQSIM), trace=trace)
    assert report.ok, str(report)


def test_validation_says_what_it_did_not_check() -> None:
    """With exact requests everything is checked; else the promises are not, and the note says why."""
    trace = crowd(2)
    jobs = trace.jobs[trace.jobs["run_time"] > 0]
    exact = trace.with_jobs(jobs.assign(requested_time=jobs["run_time"]))
    assert "head-reservation" in validate(simulate(exact, "easy", **CQSIM), trace=exact).checked
    report = validate(simulate(trace, "easy", **CQSIM), trace=trace)
    assert "head-reservation" not in report.checked
    assert "cqsim expects running jobs to run as long as requested" in str(report)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"predictor": "request"}, "needs predictor='exact', not 'request'"),
        ({"predictor": "virtual"}, "needs predictor='exact', not 'virtual'"),
        ({"predictor": "exact", "overrun": "run-on"}, "expects no job to outlive its request"),
    ],
)
def test_what_cqsim_cannot_do_is_refused(options: dict[str, Any], complaint: str) -> None:
    """It plans waiting jobs by their run times, and stops a job at its request."""
    with pytest.raises(ParameterError, match=complaint):
        simulate(four_jobs(), "easy", semantics="cqsim", **options)


@pytest.mark.parametrize("name", ["exact", "request"])
def test_a_predictor_in_python_is_not_taken_for_one_of_its_name(name: str) -> None:
    """What it says is not known before; so neither simulator is restated with it."""

    class Named:
        def __init__(self) -> None:
            self.name = name

        def learn(self, ended: list[dict[str, Any]]) -> None:
            """Learn nothing."""

        def predict(self, job: dict[str, Any], now: float) -> float:
            return float(job["requested_time"])

    for semantics in ("pyss", "cqsim"):
        with pytest.raises(ParameterError, match=f"semantics='{semantics}'"):
            simulate(four_jobs(), "easy", semantics=semantics, predictor=Named())


def test_the_schedule_does_not_depend_on_the_order_of_rows() -> None:
    """Jobs are taken by submission and number."""
    trace = crowd(3)
    turned = trace.with_jobs(trace.jobs.iloc[::-1])
    assert starts_by_row(trace, "easy", **CQSIM) == starts_by_row(turned, "easy", **CQSIM)[::-1]
    assert pd.Series(starts_by_row(trace, "easy", **CQSIM)).notna().any()

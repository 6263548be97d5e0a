# SPDX-License-Identifier: BSD-3-Clause
"""Prices of drawn traces: ``vcg`` beside a slow twin, and what holds of every mechanism."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swftools
from swftools import Trace
from tests.examples import examples
from tests.market.crowds import PROCESSORS, trace_of
from tests.naive.market import Bidder, worth

NO_MEMORY = ("fcfs", "easy", "sjf", "conservative")
"""Policies of which a run without some jobs is the run of a trace that lacks them."""

_falls = st.tuples(st.integers(1, 50), st.integers(1, 60)).map(lambda fall: ((0.0, float(fall[0])), (fall[1], 0.0)))
_steps = st.tuples(st.integers(1, 50), st.integers(1, 60)).map(
    lambda step: ((0.0, float(step[0])), (step[1], float(step[0])), (step[1] + 0.001, 0.0))
)
_jobs = st.lists(
    st.tuples(st.builds(Bidder, st.integers(1, PROCESSORS), st.integers(1, 12), _falls | _steps), st.integers(0, 20)),
    min_size=1,
    max_size=8,
)
_policies, _horizons = st.sampled_from(NO_MEMORY), st.sampled_from([("run", 0.0), ("5s", 5.0), ("24h", 86_400.0)])


def sorted_trace(drawn: list[tuple[Bidder, int]]) -> tuple[Trace, list[Bidder], list[float]]:
    """Return drawn jobs in order of submission."""
    ordered = sorted(drawn, key=lambda pair: pair[1])
    jobs, submit = [job for job, _ in ordered], [float(time) for _, time in ordered]
    return trace_of(jobs, submit), jobs, submit


def ends_of(trace: Trace, policy: str) -> dict[int, float]:
    """Return when each job ends, by number."""
    jobs = swftools.simulate(trace, policy).jobs
    return dict(zip(jobs["job_number"].tolist(), jobs["end_time"].tolist(), strict=True))


def lost_by(job: int, trace: Trace, jobs: list[Bidder], submit: list[float], policy: str, horizon: float) -> float:
    """Return what others lost by a job: of a trace that never had it, nor those behind the horizon."""
    ends = ends_of(trace, policy)
    last = ends[job] + horizon
    there = [other for other in ends if other != job and submit[other - 1] <= last]
    before = {other: ends[other] for other in there if ends[other] < submit[job - 1]}
    without = ends_of(trace.with_jobs(trace.jobs[trace.jobs["job_number"].isin(there)]), policy) if there else {}
    return sum(
        worth(jobs[other - 1].points, without[other] - submit[other - 1])
        - worth(jobs[other - 1].points, ends[other] - submit[other - 1])
        for other in there
        if other not in before
    )


@examples(0.25)
@given(_jobs, _policies, _horizons)
def test_vcg_is_as_its_slow_twin(drawn: list[tuple[Bidder, int]], policy: str, horizon: tuple[str, float]) -> None:
    """What goes on from a copy is what a whole run of the trace without those jobs gives."""
    trace, jobs, submit = sorted_trace(drawn)
    prices = swftools.price(swftools.simulate(trace, policy), f"vcg:floor=null,horizon={horizon[0]}", trace=trace).jobs
    expected = [lost_by(job, trace, jobs, submit, policy, horizon[1]) for job in prices["job_number"]]
    np.testing.assert_allclose(prices["price"], expected, atol=1e-6)


@examples(0.25)
@given(_jobs, st.sampled_from(["fixed", "queue", "first-price", "vcg"]), st.sampled_from(["easy", "genetic"]))
def test_what_holds_of_every_mechanism(drawn: list[tuple[Bidder, int]], mechanism: str, policy: str) -> None:
    """Prices are of all jobs, not below 0, the same each time, and sum up to the bill, in whatever order jobs stand."""
    trace, *_ = sorted_trace(drawn)
    schedule = swftools.simulate(trace, policy, **({"generations": 3} if policy == "genetic" else {}))
    prices = swftools.price(schedule, mechanism, trace=trace)
    assert len(prices) == len(trace)
    assert (prices.jobs["price"] >= 0).all()
    pd.testing.assert_frame_equal(prices.jobs, swftools.price(schedule, mechanism, trace=trace).jobs)
    for name in ("price", "utility_got", "processor_hours"):
        assert prices.bill()[name].sum() == pytest.approx(prices.jobs[name].sum())
    turned = trace.with_jobs(trace.jobs.iloc[::-1].reset_index(drop=True))
    again = swftools.price(swftools.simulate(turned, schedule.policy, **_own(schedule)), mechanism, trace=turned)
    np.testing.assert_allclose(again.jobs["price"][::-1], prices.jobs["price"])


def _own(schedule: swftools.Schedule) -> dict[str, object]:
    """Return the options of a schedule as ``simulate`` takes them."""
    return dict(schedule.options)


@examples(0.25)
@given(_jobs)
def test_first_prices_take_all(drawn: list[tuple[Bidder, int]]) -> None:
    """Who pays the utility got has nothing left; a horizon further away only adds jobs that may have lost."""
    trace, *_ = sorted_trace(drawn)
    prices = swftools.price(swftools.simulate(trace, "easy"), "first-price").jobs
    np.testing.assert_array_equal(prices["price"], prices["utility_got"])
    alone = swftools.price(swftools.simulate(trace, "easy"), "vcg", trace=trace).jobs
    if len(trace) == 1:
        assert alone["price"].tolist() == [0.0]  # nobody is harmed

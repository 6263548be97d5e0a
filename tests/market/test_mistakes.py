# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be priced is one clear error; what has no price says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import swftools
from swftools.errors import ParameterError
from swftools.market import find_mechanism, list_mechanisms, mechanism, registry
from swftools.parameters import Parameters
from swftools.simulator import Simulation
from tests.drawn import draw_schedule
from tests.market.crowds import crowd, trace_of, with_utility

TRACE = trace_of(crowd(2, 4))
SCHEDULE = swftools.simulate(TRACE, "easy")


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a test registers."""
    names = registry.MECHANISMS
    monkeypatch.setattr(names, "known", dict(names.known))
    monkeypatch.setattr(names, "_sources", dict(names._sources))


@pytest.mark.parametrize("name", ["vcg", "first-price"])
def test_without_utility(name: str) -> None:
    """The error names the augmentation."""
    plain = TRACE.with_jobs(TRACE.jobs.drop(columns="utility"))
    with pytest.raises(ParameterError, match=r"needs utility, .* lack; the augmentation utility makes it"):
        swftools.price(swftools.simulate(plain, "easy"), name, trace=plain)


def test_jobs_without_a_function() -> None:
    """They have no first price and count for nothing to others, but harm these, and so have a price by vcg."""
    trace = with_utility(trace_of(crowd(2, 2)), [[], [(0, 100), (100, 0)]])
    trace = trace.with_jobs(trace.jobs.assign(requested_processors=pd.array([4, 4], "Int64")))
    schedule = swftools.simulate(trace, "fcfs")
    first = swftools.price(schedule, "first-price").jobs
    assert first["no_price"].fillna("-").tolist() == ["no utility function", "-"]
    assert np.isnan(first["price"][0])
    vcg = swftools.price(schedule, "vcg", trace=trace).jobs
    assert vcg["price"].tolist() == [trace.jobs["run_time"][0], 0]
    assert swftools.price(schedule, "first-price").bill()["jobs"].tolist() == [1, 0]


def test_zero_utilities_cost_nothing() -> None:
    """Nobody can lose what is worth nothing."""
    trace = with_utility(TRACE, [[(0, 0), (9, 0)]] * 4)
    for policy in ("easy", "genetic"):
        prices = swftools.price(swftools.simulate(trace, policy), "vcg", trace=trace).jobs
        assert prices["price"].tolist() == [0.0] * 4


@pytest.mark.parametrize("name", sorted(list_mechanisms()))
def test_a_partial_schedule_is_refused(name: str) -> None:
    """What has not ended cannot be priced."""
    partial = Simulation(TRACE, "easy").run(until=1).schedule()
    with pytest.raises(ParameterError, match="partial"):
        swftools.price(partial, name, trace=TRACE)


def test_a_foreign_schedule() -> None:
    """Vcg does not know how to go on; others do not need to."""
    foreign = draw_schedule("submit width request start run\n0 1 5 0 5\n0 1 5 0 5")
    foreign = replace(foreign, jobs=foreign.jobs.assign(utility=TRACE.jobs["utility"].iloc[:2].array))
    with pytest.raises(ParameterError, match=r"policy=''.*take first-price"):
        swftools.price(foreign, "vcg", trace=TRACE)
    assert swftools.price(foreign, "first-price").jobs["price"].notna().all()
    assert "under another simulator" in repr(swftools.price(foreign, "fixed"))


def test_vcg_without_the_trace() -> None:
    """It has to simulate again."""
    with pytest.raises(ParameterError, match=r"trace="):
        swftools.price(SCHEDULE, "vcg")


def test_another_trace_than_that_of_the_schedule() -> None:
    """A job that ends otherwise is named; so is one that is not there."""
    other = TRACE.with_jobs(TRACE.jobs.assign(submit_time=[0.0, 50.0, 100.0, 150.0], run_time=3.5))
    late = swftools.simulate(other, "easy")
    changed = other.with_jobs(other.jobs.assign(run_time=2.5))
    with pytest.raises(ParameterError, match=r"job 1 ended at 3\.5 s, but at 2\.5 s"):
        swftools.price(late, "vcg", trace=changed)
    with pytest.raises(ParameterError, match="job 4, occurrence 0, is not among the jobs"):
        swftools.price(SCHEDULE, "vcg", trace=TRACE.with_jobs(TRACE.jobs.iloc[:3]))


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda _: [1.0], "returned shape"),
        (lambda _: 1.0, "returned shape"),
        (lambda sale: ["dear"] * len(sale), "not numbers"),
        (lambda sale: [np.inf] * len(sale), "infinite"),
    ],
)
@pytest.mark.usefixtures("known")
def test_a_mechanism_that_returns_something_else(returned: Any, message: str) -> None:
    """It is named."""

    @mechanism("mine")
    def mine(sale: Any, parameters: Any) -> Any:
        return returned(sale)

    with pytest.raises(ParameterError, match=f"'mine' .*{message}|{message}"):
        swftools.price(SCHEDULE, "mine")


@pytest.mark.usefixtures("known")
def test_nan_is_no_price() -> None:
    """And said to be none; a price below 0 is one."""

    @mechanism("mine")
    def mine(sale: Any, parameters: Any) -> Any:
        return [np.nan, -1.0, 0.0, 2.0]

    jobs = swftools.price(SCHEDULE, "mine").jobs
    assert jobs["no_price"].fillna("-").tolist() == ["the mechanism sets none", "-", "-", "-"]
    assert jobs["price"][1:].tolist() == [-1, 0, 2]


@pytest.mark.usefixtures("known")
def test_names_of_mechanisms() -> None:
    """By name, with parameters, of a module of one's own; none of one that there is not."""
    assert set(list_mechanisms()) >= {"fixed", "queue", "first-price", "vcg"}
    assert find_mechanism("vcg:horizon=24h")[1].to_text() == "vcg:horizon=24h,later=absent,floor=0.0"
    assert find_mechanism("swftools.market.vcg:vcg")[0].name == "vcg"
    for wrong, message in [
        ("vgc", "did you mean vcg"),
        ("vcg:horizon=soon", "not run, or a duration"),
        ("vcg:horizon=null", "not run, or a duration"),
        ("vcg:horizon=24", "not run, or a duration"),
        ("vcg:later=never", "not one of absent, present, nowhere"),
        ("fixed:price=1", "unknown parameters"),
        ("fixed:rate=-1", "not a number of 0 or more"),
        ("first-price:rate=1", "takes no parameters"),
        ("queue:multiples.high=dear", "mapping of queues to numbers"),
        ("queue:queues.high=1", "mapping of queue numbers"),
    ]:
        with pytest.raises(ParameterError, match=message):
            find_mechanism(wrong)
    with pytest.raises(ParameterError, match="given twice"):
        find_mechanism("fixed:rate=1", {"rate": 2})
    with pytest.raises(ParameterError, match="registered already"):
        mechanism("fixed")(lambda sale, parameters: None)
    with pytest.raises(ParameterError, match="version"):
        mechanism("new", version=0)


def test_queue_parameters_are_text_and_back() -> None:
    """As tasks write them down."""
    made = find_mechanism("queue:multiples.high=3,queues.4=high")[1]
    assert find_mechanism(made.to_text())[1] == made
    assert isinstance(made, Parameters)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": pd.DataFrame({"job_number": [99]})}, "job 99, occurrence 0"),
        ({"jobs": [1, 2]}, "not a frame with a column job_number"),
        ({"sample": 0}, "sample=0"),
        ({"sample": 2.0}, "sample=2.0"),
    ],
)
def test_jobs_that_cannot_be_chosen(options: dict[str, Any], message: str) -> None:
    """Keys of the schedule, or a number."""
    with pytest.raises(ParameterError, match=message):
        swftools.price(SCHEDULE, "fixed", **options)


def test_no_jobs() -> None:
    """An empty schedule costs nothing."""
    empty = TRACE.with_jobs(TRACE.jobs.iloc[:0])
    for name in list_mechanisms():
        prices = swftools.price(swftools.simulate(empty, "easy"), name, trace=empty)
        assert len(prices.bill()) == 0
        assert "no jobs" in repr(prices)

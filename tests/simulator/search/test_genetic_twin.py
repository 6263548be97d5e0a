# SPDX-License-Identifier: BSD-3-Clause
"""The genetic policies against their slow twin: the same generations from the same draws, the same starts and stops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.keyed_random import generator
from swftools.simulator.entry_points import simulate
from swftools.simulator.restart import find_restart_overhead
from tests.every_policy import with_all_columns
from tests.examples import examples
from tests.naive.genetic import Told, decide_by
from tests.naive.search_objectives import Objective, Term
from tests.naive.simulator import simulate_naively
from tests.simulator.search.compared import crowds, points_of, powers, with_utility
from tests.simulator.twin import naive_jobs, naive_starts_of, observer_of, overhead_of, workload_of
from tests.strategies import crowded_trace, lists_of

SEED = 3


def slow(
    trace: Trace, name: str, *, predictor: str = "request", overrun: str = "extend", overhead: Any = 0.0, **given: Any
) -> tuple[list[float], list[tuple[int, float, float, str]], list[Told]]:
    """Return what the twin does with a trace: starts in its order, runs, and what was bred."""
    assert trace.processors is not None
    work = workload_of(trace, predictor=predictor, overrun=overrun, seed=SEED)
    jobs = naive_jobs(work)
    restart = find_restart_overhead(overhead).of(trace, work.coming.row)
    if name == "genetic-checkpoint":
        given.setdefault("damping", "both")
    policy, bred = decide_by(points_of(trace, work, jobs), generator(SEED, f"simulate/{name}"), **given)
    overheads = overhead_of(restart)
    runs = simulate_naively(jobs, trace.processors, policy, observe=observer_of(predictor), overhead=overheads)
    numbers = trace.jobs["job_number"].iloc[work.coming.row].tolist()
    known = {id(job): number for job, number in zip(jobs, numbers, strict=True)}
    shown = sorted((known[id(run.job)], run.start, run.end, run.how) for run in runs)
    return naive_starts_of(work, jobs), shown, bred


def assert_same(
    trace: Trace, name: str, *, overhead: Any = 0.0, objective: Objective | None = None, **given: Any
) -> None:
    """Hold a policy's runs, and what it bred, against the twin's."""
    names = ("predictor", "overrun")
    told = {key: given.pop(key) for key in names if key in given}
    starts, runs, bred = slow(trace, name, overhead=overhead, objective=objective, **told, **given)
    if objective:
        given["objective"] = objective.to_text()
    schedule = simulate(trace, name, seed=SEED, restart_overhead=overhead, explain=True, **told, **given)
    assert schedule.jobs["start_time"].tolist() == starts
    segments = schedule.segments[["job_number", "start_time", "end_time", "ended_by"]]
    segments = segments.replace({"ended_by": {"limit": "completed"}})  # which the twin does not tell apart
    assert sorted(segments.itertuples(index=False, name=None)) == runs
    decisions = schedule.notes["decisions"]
    assert decisions["time"].tolist() == [each.now for each in bred]
    assert decisions["waiting"].tolist() == [each.competitors for each in bred]
    assert decisions["improvements"].tolist() == [each.bred.improvements for each in bred]
    orders = schedule.notes["orders"]
    assert orders["planned_start"].tolist() == [start for each in bred for start in each.starts]
    assert orders["heuristic_planned_start"].tolist() == [start for each in bred for start in each.first_starts]
    generations = schedule.notes["generations"]
    expected = [pair for each in bred for pair in each.bred.generations]
    means = [each.competitors for each in bred for _ in each.bred.generations]
    best, mean = generations["best"].to_numpy(), generations["mean"].to_numpy()
    if objective and objective.terms[0].name.startswith("avg"):
        best, mean = best / means, mean / means
    np.testing.assert_allclose(best, [pair[0] for pair in expected], rtol=1e-12)
    np.testing.assert_allclose(mean, [pair[1] for pair in expected], rtol=1e-12)


BREEDING = {
    "generations": st.integers(0, 4),
    "individuals": st.integers(1, 8),
    "mutation": st.sampled_from([0.0, 0.3, 1.0]),
    "warm_start": st.booleans(),
    "most_jobs": st.sampled_from([2, 4, 500]),
}


@examples(0.4)
@given(
    trace=with_utility(crowds(max_jobs=9)),
    given_=st.fixed_dictionaries({**BREEDING, "builder": st.sampled_from(["easy", "conservative"])}),
    plan_clock=st.sampled_from(["wait", "requested"]),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
    predictor=st.sampled_from(["request", "exact", "last-model"]),
)
def test_starts_and_generations_are_those_of_the_twin(
    trace: Trace, given_: dict[str, Any], plan_clock: str, overrun: str, predictor: str
) -> None:
    """For aggregate utility, whatever plans an order, by both clocks."""
    assert_same(trace, "genetic", plan_clock=plan_clock, overrun=overrun, predictor=predictor, **given_)


TERMS = st.sampled_from(["T_w", "maxW", "avgW", "avgX", "maxE"]).map(Term)


@examples(0.4)
@given(
    trace=crowds(max_jobs=8),
    given_=st.fixed_dictionaries({**BREEDING, "builder": st.sampled_from(["easy", "conservative"])}),
    model=st.sampled_from(["lexical", "tradeoff-a", "tradeoff-b"]),
    terms=st.lists(TERMS, min_size=2, max_size=2, unique=True).map(tuple),
)
def test_objectives_of_search(trace: Trace, given_: dict[str, Any], model: str, terms: tuple[Term, ...]) -> None:
    """Where measures are to be small an individual is as fit as many others are no better than it."""
    assert_same(trace, "genetic", objective=Objective(model, terms), **given_)


@st.composite
def with_checkpoints(draw: st.DrawFn, traces: st.SearchStrategy[Trace]) -> Trace:
    """Draw a trace some of whose jobs write checkpoints."""
    trace = draw(traces)
    intervals = draw(lists_of(_maybe_interval, len(trace)))
    return trace.with_jobs(trace.jobs.assign(checkpoint_interval=pd.array(intervals, dtype="Float64")))


_maybe_interval = st.none() | powers.filter(bool) | st.just(64.0)


@examples(0.4)
@given(
    trace=with_checkpoints(with_utility(crowds(max_jobs=9))),
    given_=st.fixed_dictionaries(BREEDING),
    plan_clock=st.sampled_from(["wait", "requested"]),
    damping=st.sampled_from(["both", "boost", "airline", "none"]),
    overhead=st.sampled_from([0.0, 1.0, 16.0]),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
)
def test_running_jobs_that_compete_again(
    trace: Trace, given_: dict[str, Any], plan_clock: str, damping: str, overhead: float, overrun: str
) -> None:
    """Who is stopped, what is lost, and when it goes on, is that of the twin."""
    assert_same(
        trace,
        "genetic-checkpoint",
        plan_clock=plan_clock,
        damping=damping,
        overhead=overhead,
        overrun=overrun,
        **given_,
    )


@pytest.mark.parametrize("name", ["genetic", "genetic-checkpoint"])
def test_interpreted(name: str) -> None:
    """It is the compiled schedule, bit for bit, and so is what was bred."""
    trace = with_all_columns(crowded_trace(30, seed=2))
    options: dict[str, Any] = {"generations": 2, "individuals": 6, "most_jobs": 10, "explain": True, "warm_start": True}
    plain, other = (simulate(trace, name, compiled=how, seed=1, **options) for how in (True, False))
    pd.testing.assert_frame_equal(plain.jobs, other.jobs, check_exact=True)
    pd.testing.assert_frame_equal(plain.segments, other.segments, check_exact=True)
    for table, rows in plain.notes.items():
        pd.testing.assert_frame_equal(rows, other.notes[table], check_exact=True)

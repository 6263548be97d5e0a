# SPDX-License-Identifier: BSD-3-Clause
"""The genetic policies by hand, and where there is little to breed, or much: no worth, one job, thousands, NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from swftools import Trace, validate
from swftools.errors import ParameterError, PolicyError
from swftools.simulator import (
    CHECKPOINT,
    RUNNING,
    Simulation,
    explain_decision,
    fits,
    preempt,
    recorded_search,
    simulate,
    start,
    waiting_jobs,
)
from swftools.simulator.registry import Policy
from swftools.simulator.search.population import choose, empty_population, mutate, shuffle, zip_orders
from tests.drawn import draw_trace
from tests.every_policy import with_all_columns
from tests.examples import examples
from tests.simulator.search.compared import crowds, registered, utility_column, with_utility
from tests.strategies import crowded_trace, workloads


class Drawn:
    """Stands for a generator: the numbers that it draws, one after the other."""

    def __init__(self, *numbers: float) -> None:
        self.left = list(numbers)

    def random(self) -> float:
        """Return the next number."""
        return self.left.pop(0)


def coins(text: str) -> float:
    """Return a number between 0 and 1 whose binary digits begin so."""
    return int(text.ljust(50, "0"), 2) / 2**50


# ---------------------------------------------------------------- how orders are bred


def test_the_papers_zipper() -> None:
    """Figure 3.3: jobs are taken from one parent and the other in turn; whom the child has already is passed over."""
    population = empty_population(4, 3)._replace(
        orders=np.array([2, 0, 3, 1, 0, 2, 1, 3, 9, 9, 9, 9]), is_taken=np.zeros(5, np.int64)
    )
    zip_orders.py_func(population, 0, 4, 8, 4, Drawn(coins("1010")))
    assert population.orders[8:].tolist() == [2, 0, 3, 1]
    zip_orders.py_func(population, 0, 4, 8, 4, Drawn(coins("0000")))
    assert population.orders[8:].tolist() == [0, 2, 1, 3]
    zip_orders.py_func(population, 0, 4, 8, 4, Drawn(coins("0110")))
    assert population.orders[8:].tolist() == [0, 2, 3, 1]


def test_more_jobs_than_coins() -> None:
    """Another number is drawn for the fifty-first job."""
    population = empty_population(60, 2)._replace(
        orders=np.array([*range(60), *reversed(range(60)), *[0] * 60]), is_taken=np.zeros(61, np.int64)
    )
    drawn = Drawn(coins("1" * 50), 0.0)
    zip_orders.py_func(population, 0, 60, 120, 60, drawn)
    assert population.orders[120:].tolist() == [*range(50), *reversed(range(50, 60))]
    assert not drawn.left


def test_parents_in_proportion_to_fitness() -> None:
    """Of 1, 0, 3 and 4 the first has an eighth, the second nothing; without the last, a quarter."""
    fitness = np.array([1.0, 0.0, 3.0, 4.0])
    drawn = [choose.py_func(fitness, 4, 8.0, -1, Drawn(x)) for x in (0.0, 0.124, 0.125, 0.49, 0.5, 0.999)]
    assert drawn == [0, 0, 2, 2, 3, 3]
    assert [choose.py_func(fitness, 4, 8.0, 3, Drawn(x)) for x in (0.24, 0.25, 0.999)] == [0, 2, 2]


def test_parents_where_nobody_is_worth_anything() -> None:
    """Each as often as any other, and never the one who was drawn already."""
    fitness = np.zeros(3)
    assert [choose.py_func(fitness, 3, 0.0, -1, Drawn(x)) for x in (0.0, 0.34, 0.99)] == [0, 1, 2]
    assert [choose.py_func(fitness, 3, 0.0, 1, Drawn(x)) for x in (0.0, 0.49, 0.5, 0.99)] == [0, 0, 2, 2]
    one = np.array([0.0, 5.0, 0.0])
    assert [choose.py_func(one, 3, 5.0, 1, Drawn(x)) for x in (0.0, 0.5)] == [0, 2]


def test_random_orders_and_mutation() -> None:
    """Fixed places stay; two others change places, which are never the same."""
    orders = np.zeros(5, np.int64)
    shuffle.py_func(orders, 0, 5, 2, Drawn(0.0, 0.99))
    assert orders.tolist() == [0, 1, 4, 3, 2]
    row = np.array([7, 8, 9])
    mutate.py_func(row, 0, 3, Drawn(0.34, 0.5))
    assert row.tolist() == [7, 9, 8]
    every = set()
    for left in (0.1, 0.4, 0.9):
        for right in (0.1, 0.9):
            row = np.array([7, 8, 9])
            mutate.py_func(row, 0, 3, Drawn(left, right))
            every.add(tuple(row.tolist()))
    assert every == {(8, 7, 9), (9, 8, 7), (7, 9, 8)}


# ---------------------------------------------------------------- drawn by hand


def valued(table: str, *functions: list[tuple[float, float]], processors: int = 4) -> Trace:
    """Return the jobs of a table with utility functions."""
    trace = draw_trace(table, processors=processors)
    return trace.with_jobs(trace.jobs.assign(utility=utility_column(list(functions))))


FLAT = [(0.0, 1.0), (1000.0, 1.0)]
URGENT = [(0.0, 50.0), (11.0, 50.0), (12.0, 0.0)]

BEHIND = valued(
    """
    job submit run width request
    A   0      10  4     10
    B   1      10  4     10
    C   2      5   4     5
    """,
    FLAT,
    FLAT,
    URGENT,
)
"""C, which comes last, is worth 50 if it starts by 13 s, when A has just ended; B can wait."""


@pytest.mark.parametrize("builder", ["easy", "conservative"])
def test_who_is_urgent_goes_first(builder: str, compiled: bool) -> None:
    """Of the two that wait C is worth more first; EASY would take B."""
    schedule = simulate(BEHIND, "genetic", builder=builder, compiled=compiled, explain=True)
    assert schedule.jobs["start_time"].tolist() == [0.0, 15.0, 10.0]
    decision = schedule.notes["decisions"].iloc[0]
    assert (decision["first_1"], decision["best_1"]) == (1.0, 51.0)
    told = str(explain_decision(schedule, time=10.0))
    assert "Job 3 went ahead of 2, and started; else it would in 10 s." in told
    assert "50 more (5,000" in told


def test_the_clock_of_a_plan() -> None:
    """By the end of what it asks for C comes too late either way, and the order of arrival is kept."""
    assert simulate(BEHIND, "genetic", plan_clock="requested").jobs["start_time"].tolist() == [0.0, 10.0, 20.0]


def test_one_individual_is_easy() -> None:
    """There is the order of arrival alone."""
    trace = with_all_columns(crowded_trace(200, seed=3))
    for options in ({}, {"overrun": "run-on", "predictor": "last-model"}, {"predictor": "exact"}):
        ours, easy = simulate(trace, "genetic", individuals=1, **options), simulate(trace, "easy", **options)
        assert ours.jobs["start_time"].equals(easy.jobs["start_time"])


@examples(0.4)
@given(trace=with_utility(crowds(max_jobs=9)))
def test_no_generation_is_easy_on_the_best_seed(trace: Trace) -> None:
    """With the four seeds alone the best of their plans is followed, decision by decision."""
    schedule = simulate(trace, "genetic", individuals=4, generations=0, explain=True)
    for row in schedule.notes["decisions"].itertuples():
        assert row.nodes == 4
        assert row.best_1 >= row.first_1


STOPPED = valued(
    """
    job submit run width request
    A   0      20  4     20
    B   6      5   4     5
    """,
    [(0.0, 1.0), (1000.0, 1.0)],
    [(0.0, 50.0), (1.0, 50.0), (2.0, 0.0)],
)


@pytest.mark.parametrize(
    ("interval", "runs"),
    [
        (5.0, [(1, 0.0, 6.0, 1.0), (2, 6.0, 11.0, 0.0), (1, 11.0, 28.0, 0.0)]),
        (6.0, [(1, 0.0, 6.0, 0.0), (2, 6.0, 11.0, 0.0), (1, 11.0, 27.0, 0.0)]),
        (100.0, [(1, 0.0, 6.0, 6.0), (2, 6.0, 11.0, 0.0), (1, 11.0, 31.0, 0.0)]),
        (None, [(1, 0.0, 20.0, 0.0), (2, 20.0, 25.0, 0.0)]),
    ],
)
def test_who_runs_makes_way(interval: float | None, runs: list[tuple[float, ...]], compiled: bool) -> None:
    """A did 6 s of 20: it goes on behind B from its last checkpoint, in 2 s; without checkpoints nobody stops it."""
    trace = STOPPED.with_jobs(STOPPED.jobs.assign(checkpoint_interval=pd.array([interval, None], dtype="Float64")))
    schedule = simulate(trace, "genetic-checkpoint", restart_overhead=2.0, compiled=compiled)
    found = schedule.segments[["job_number", "start_time", "end_time", "lost_work"]]
    assert list(found.itertuples(index=False, name=None)) == runs
    assert validate(schedule, trace=trace).ok


def test_nobody_is_stopped_twice() -> None:
    """A makes way for B, and when it runs again not for C."""
    trace = valued(
        """
        job submit run width request
        A   0      20  4     20
        B   6      5   4     5
        C   13     5   4     5
        """,
        FLAT,
        *[[(0.0, 50.0), (1.0, 50.0), (2.0, 0.0)]] * 2,
    )
    trace = trace.with_jobs(trace.jobs.assign(checkpoint_interval=pd.array([1.0, None, None], dtype="Float64")))
    schedule = simulate(trace, "genetic-checkpoint", damping="none")
    assert schedule.segments["ended_by"].tolist() == ["checkpointed", "completed", "completed", "completed"]
    assert schedule.jobs["start_time"].tolist()[2] == 25.0
    report = validate(schedule, trace=trace)
    assert report.ok
    assert "one-stop" in report.checked


def test_a_boost_keeps_who_runs() -> None:
    """A, worth 30 at its start, is worth 60 where it goes on: more than B's 50. Without the boost it makes way."""
    functions = [[(0.0, 30.0), (1.0, 0.0)], [(0.0, 50.0), (1.0, 50.0), (2.0, 0.0)]]
    trace = valued("job submit run width request / A 0 20 4 20 / B 6 5 4 5", *functions)
    trace = trace.with_jobs(trace.jobs.assign(checkpoint_interval=pd.array([1.0, None], dtype="Float64")))
    for damping, stops in (("none", 1), ("airline", 1), ("boost", 0), ("both", 0)):
        schedule = simulate(trace, "genetic-checkpoint", damping=damping)
        assert (schedule.segments["ended_by"] == "checkpointed").sum() == stops


# ---------------------------------------------------------------- little, much, and wrong


CROWD = valued("submit run width / 0 10 3 / 1 9 4 / 1 9 4 / 2 3 1", *[FLAT] * 4)
"""The last job fits beside the first, behind two that do not; it is worth as much as each, and is the shortest."""


@pytest.mark.parametrize("given", ["genetic", "genetic:builder=conservative", "genetic-checkpoint"])
def test_who_does_not_compete_goes_ahead_where_there_is_room(given: str) -> None:
    """Of three that wait two compete; the third starts at once on the processor that is free until then."""
    trace = CROWD.with_jobs(CROWD.jobs.assign(checkpoint_interval=pd.array([None] * 4, dtype="Float64")))
    trace = trace.with_jobs(trace.jobs.assign(utility=utility_column([[(0.0, 9.0), (99.0, 9.0)]] * 3 + [FLAT])))
    schedule = simulate(trace, f"{given}{',' if ':' in given else ':'}most_jobs=2")
    assert schedule.jobs["start_time"].tolist()[3] == 2.0
    assert validate(schedule, trace=trace).ok


@pytest.mark.parametrize("damping", ["airline", "none"])
def test_a_stopped_job_goes_first_whoever_else_is_worth_more(damping: str) -> None:
    """Job 1 is stopped for job 2; when that ends two others are worth far more, and only two compete."""
    table = "submit run width / 0 20 4 / 5 5 4 / 6 5 4 / 6 5 4 / 6 5 4"
    high, rest = [(0.0, 1000.0), (12.0, 1000.0), (13.0, 0.0)], [(0.0, 50.0), (900.0, 50.0)]
    trace = valued(table, FLAT, high, rest, rest, rest)
    intervals = pd.array([1.0, None, None, None, None], dtype="Float64")
    trace = trace.with_jobs(trace.jobs.assign(checkpoint_interval=intervals))
    schedule = simulate(trace, "genetic-checkpoint", damping=damping, most_jobs=2)
    assert schedule.segments["ended_by"].tolist()[0] == "checkpointed"
    again = schedule.segments[schedule.segments["job_number"] == 1]["start_time"].tolist()[1]
    assert (again == 10.0) is (damping == "airline")


@pytest.mark.parametrize("name", ["genetic", "genetic-checkpoint"])
@pytest.mark.parametrize("functions", [[(0.0, 0.0), (5.0, 0.0)], []])
def test_nobody_is_worth_anything(name: str, functions: list[tuple[float, float]]) -> None:
    """No utility above 0, or no function at all: EASY in order of arrival, and nobody is stopped."""
    trace = with_all_columns(crowded_trace(100, seed=4))
    trace = trace.with_jobs(trace.jobs.assign(utility=utility_column([functions] * len(trace))))
    easy = simulate(trace, "easy")
    assert simulate(trace, name, generations=3).jobs["start_time"].equals(easy.jobs["start_time"])


@examples(0.25)
@given(trace=workloads())
def test_schedules_are_possible(trace: Trace) -> None:
    """Of any crowd, whatever jobs are worth."""
    trace = with_all_columns(trace)
    for policy in (
        "genetic:generations=3",
        "genetic:builder=conservative",
        "genetic-checkpoint:generations=2",
    ):
        assert validate(simulate(trace, policy), trace=trace).ok


def test_columns_that_are_not_there() -> None:
    """Each is named with what makes it; an objective of waits needs none."""
    trace = draw_trace("submit run width request / 0 1 1 1", processors=2)
    with pytest.raises(ParameterError, match="'genetic' needs utility, which the trace lacks; let generate_utility"):
        simulate(trace, "genetic")
    with pytest.raises(ParameterError, match=r"needs checkpoint_interval, utility.*infer_checkpoints"):
        simulate(trace, "genetic-checkpoint")
    assert simulate(trace, "genetic:objective=lexical(T_w -> avgX)").jobs["start_time"].tolist() == [0.0]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"individuals": 0}, "individuals=0 is not"),
        ({"generations": -1}, "generations=-1 is not"),
        ({"mutation": 1.5}, "mutation=1.5 is not"),
        ({"most_jobs": 1}, "most_jobs=1 is not"),
        ({"builder": "fcfs"}, "builder='fcfs' is not"),
        ({"objective": "utility"}, "objective: there is no model 'utility'"),
        ({"damping": "both"}, "unknown parameters"),
    ],
)
def test_parameters_that_cannot_be(given: dict[str, Any], complaint: str) -> None:
    """They are refused before anything runs."""
    with pytest.raises(ParameterError, match=complaint):
        simulate(BEHIND, "genetic", **given)


def wrong(wait, time):  # type: ignore[no-untyped-def]
    """Cost what is no number."""
    return float("nan")


def test_a_measure_that_is_no_number() -> None:
    """The simulation ends, and names the job."""
    with registered({"wrong": (wrong, {"fold": "sum"})}), pytest.raises(PolicyError, match="cost"):
        simulate(BEHIND, "genetic", objective="lexical(wrong)")


def test_thousands_wait() -> None:
    """So many compete as are to; the others go ahead behind them."""
    jobs = 1500
    trace = Trace.from_columns(
        machine_processors=8,
        job_number=list(range(1, jobs + 1)),
        submit_time=[0.0] * jobs,
        run_time=[1.0 + i % 7 for i in range(jobs)],
        requested_time=[10.0 + i % 5 for i in range(jobs)],
        allocated_processors=[1 + i % 8 for i in range(jobs)],
    )
    schedule = simulate(with_all_columns(trace), "genetic", most_jobs=20, generations=1, individuals=5, explain=True)
    assert schedule.notes["decisions"]["waiting"].max() == 20
    assert validate(schedule, trace=with_all_columns(trace)).ok
    assert len(schedule) == jobs


@pytest.mark.parametrize("name", ["genetic", "genetic-checkpoint"])
def test_against_the_clock(name: str) -> None:
    """Made again from its notes, generation for generation."""
    trace = with_all_columns(crowded_trace(60, seed=5))
    schedule = simulate(trace, name, seconds=0.002, seed=9)
    assert simulate(trace, recorded_search(schedule), seed=9).segments.equals(schedule.segments)


def test_a_copy_breeds_the_same() -> None:
    """Stopped, copied and continued: the draws go on where they were."""
    trace = with_all_columns(crowded_trace(80, seed=6))
    whole = simulate(trace, "genetic", generations=3, seed=2)
    simulation = Simulation(trace, "genetic", generations=3, seed=2).run(until=float(trace.arrays.submit_time[40]))
    other = simulation.copy()
    assert simulation.run().schedule().jobs.equals(whole.jobs)
    assert other.run().schedule().jobs.equals(whole.jobs)


def stops_at_each_decision(machine):  # type: ignore[no-untyped-def]
    """Stop whoever runs at its checkpoint, and start whoever waits, the last one first."""
    for job in machine.running[: machine.counts[RUNNING]].copy():
        preempt(machine, job, CHECKPOINT)
    for job in waiting_jobs(machine)[::-1]:
        if fits(machine, job):
            start(machine, job)


@pytest.mark.parametrize(("interval", "wrong"), [(1.0, [1]), (None, [1])])
def test_other_stops_break_the_promise(interval: float | None, wrong: list[int]) -> None:
    """A job that is stopped twice, and one that is stopped though it writes no checkpoints, are told, each once."""
    jobs = "job submit run width request / A 0 20 4 20 / B 6 5 4 5"
    more = " / C 13 5 4 5" if interval else ""
    trace = draw_trace(jobs + more, processors=4)
    intervals = pd.array([interval, *[1.0] * (len(trace) - 1)], dtype="Float64")
    trace = trace.with_jobs(trace.jobs.assign(checkpoint_interval=intervals))
    schedule = simulate(trace, Policy("stops", stops_at_each_decision), compiled=False)
    report = validate(schedule, trace=trace, policy="genetic-checkpoint")
    found = report.violations
    assert found["rule"].unique().tolist() == ["one-stop"]
    assert found["job_number"].tolist() == wrong
    last = schedule.segments[(schedule.segments["job_number"] == 1) & (schedule.segments["ended_by"] == "checkpointed")]
    assert found["time"].tolist() == [last["end_time"].iloc[1 if interval else 0]]

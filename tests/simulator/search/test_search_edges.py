# SPDX-License-Identifier: BSD-3-Clause
"""The search where there is little to search, or much: empty queues, one job, equal ones, thousands of them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import PolicyError
from swftools.simulator import Simulation, simulate
from swftools.simulator.schedule import Schedule
from tests.drawn import draw_trace
from tests.examples import examples, pairs
from tests.simulator.search.compared import MODELS, NAMES, crowds, objectives, registered, utility_column
from tests.strategies import workloads

OBJECTIVES = [
    *(f"lexical({name})" for name in NAMES),
    *(f"{model}(T_w:avgX)" for model in MODELS[1:]),
    "strict-lexical(maxW -> avgX)",
]


def searched(table: str, processors: int = 4, **parameters: Any) -> Schedule:
    """Return the schedule and notes of a table of jobs."""
    return simulate(draw_trace(table, processors=processors), "search", explain=True, **parameters)


def of_decisions(schedule: Schedule, *names: str) -> list[tuple[Any, ...]]:
    """Return some columns of the decisions, row by row."""
    return list(schedule.notes["decisions"][list(names)].itertuples(index=False, name=None))


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_no_jobs_need_no_decision(objective: str) -> None:
    """Tables without rows have their columns all the same."""
    trace = Trace.from_columns(
        machine_processors=4, job_number=[], submit_time=[], run_time=[], requested_time=[], allocated_processors=[]
    )
    schedule = simulate(trace, "search", objective=objective, explain=True)
    assert len(schedule) == 0
    assert [len(table) for table in schedule.notes.values()] == [0, 0, 0]
    one = searched("submit width run request / 0 1 1 1", objective=objective)
    assert {name: list(table.columns) for name, table in one.notes.items()} == {
        name: list(table.columns) for name, table in schedule.notes.items()
    }


@pytest.mark.parametrize(
    ("objective", "search"), pairs(OBJECTIVES, [f"{name} {nodes}" for name in ("dds", "lds") for nodes in (0, 1, 4000)])
)
def test_one_job_is_one_visit(objective: str, search: str) -> None:
    """Its tree has one path, which is searched whole."""
    traversal, nodes = search.split(maxsplit=1)[0], int(search.split()[1])
    schedule = searched("submit width run request / 3 4 2 2", objective=objective, traversal=traversal, nodes=nodes)
    assert schedule.jobs["start_time"].tolist() == [3.0]
    shown = of_decisions(schedule, "time", "waiting", "nodes", "paths", "improvements", "is_exhausted", "started")
    assert shown == [(3.0, 1, 1, 1, 0, True, 1)]


def test_where_nobody_fits_nothing_is_decided() -> None:
    """Two come while the first has the machine but for a processor; the next decision is at its end."""
    schedule = searched(
        """
        submit width run request
        0      3     9   9
        1      2     3   3
        2      4     1   1
        """,
        branching="fcfs",
        nodes=0,
    )
    assert of_decisions(schedule, "time", "waiting", "started") == [(0.0, 1, 1), (9.0, 2, 1), (12.0, 1, 1)]


def test_a_job_that_fits_may_have_to_wait() -> None:
    """The third fits at once, but the second, ahead of it, needs all processors when the first ends."""
    schedule = searched(
        """
        submit width run request
        0      3     9   9
        1      4     3   3
        2      1     50  50
        """,
        branching="fcfs",
        nodes=0,
    )
    assert of_decisions(schedule, "time", "started") == [(0.0, 1), (2.0, 0), (9.0, 1), (12.0, 1)]
    assert schedule.jobs["start_time"].tolist() == [0.0, 9.0, 12.0]


@pytest.mark.parametrize("objective", ["lexical(T_w)", "lexical(T_w -> maxE -> maxW)", "tradeoff-c(T_w:maxW)"])
@pytest.mark.parametrize("traversal", ["dds", "lds"])
def test_where_nobody_waits_nothing_is_better(objective: str, traversal: str) -> None:
    """All start at once in the first order; of each other one the first job tells that it is no better."""
    schedule = searched(
        "submit width run request / 0 1 5 5 / 0 1 4 4 / 0 1 3 3 / 0 1 2 2", objective=objective, traversal=traversal
    )
    (row,) = of_decisions(schedule, "improvements", "paths", "is_exhausted", "started", "first_1", "best_1")
    assert row == (0, 1, True, 4, 0.0, 0.0)
    # Iteration by iteration the jobs with which its paths begin: four for dds but in the first, which has not the head.
    assert of_decisions(schedule, "nodes") == [(4 + (3 + 4 + 4 if traversal == "dds" else 4 + 4 + 3),)]


def copies_of(jobs: list[tuple[int, float]], copies: int) -> Trace:
    """Return so many jobs of each width and time, in turns, of users of their own, who all wait until 8 s."""
    rows = jobs * copies
    return Trace.from_columns(
        machine_processors=4,
        job_number=list(range(len(rows) + 1)),
        submit_time=[0.0] + [1.0] * len(rows),
        run_time=[8.0, *(time for _, time in rows)],
        requested_time=[8.0, *(time for _, time in rows)],
        allocated_processors=[4, *(width for width, _ in rows)],
        user_id=list(range(len(rows) + 1)),
    )


@examples(0.3)
@given(
    jobs=st.lists(st.tuples(st.integers(1, 4), st.sampled_from([0.0, 1.0, 4.0])), min_size=1, max_size=3),
    objective=objectives(models=["lexical"]),
    traversal=st.sampled_from(["dds", "lds"]),
    branching=st.sampled_from(["lxf", "fcfs", "widest"]),
)
def test_of_equal_jobs_one_order_is_enough(
    jobs: list[tuple[int, float]], objective: Any, traversal: str, branching: str
) -> None:
    """What is left of the tree has the best measures, too; of several such orders another may come first in it."""
    strict = replace(objective, is_strict=True).to_text()
    given = {"objective": strict, "traversal": traversal, "branching": branching, "nodes": 10**6, "explain": True}
    every, once = (
        simulate(copies_of(jobs, 2), "search", distinct=distinct, **given).notes["decisions"].iloc[1]
        for distinct in (False, True)
    )
    assert every["is_exhausted"]
    assert once["is_exhausted"]
    shown = [name for name in every.index if name.startswith(("first", "best", "time", "waiting"))]
    assert every[shown].equals(once[shown])


@pytest.mark.parametrize("traversal", ["dds", "lds"])
@pytest.mark.parametrize("objective", ["lexical(avgX)", "tradeoff-a(T_w:avgX)", "tradeoff-b(maxW:avgW)"])
def test_of_equal_jobs_one_order_takes_fewer_visits(traversal: str, objective: str) -> None:
    """Of three kinds with two jobs each, whose users are not looked at; jobs start alike."""
    trace = copies_of([(3, 4.0), (2, 1.0), (4, 2.0)], 2)
    every, once = (
        simulate(
            trace,
            "search",
            objective=objective,
            traversal=traversal,
            nodes=10**6,
            distinct=distinct,
            explain=True,
        )
        for distinct in (False, True)
    )
    assert once.jobs["start_time"].tolist() == every.jobs["start_time"].tolist()
    visits = [schedule.notes["decisions"]["nodes"].iloc[1] for schedule in (once, every)]
    assert visits[0] < visits[1]


def test_equal_jobs_leave_one_order() -> None:
    """Five jobs of one kind have one order; without being told so the search cuts all others at their last jobs."""
    table = "submit width run request user\n0 4 8 8 1\n" + "\n".join(f"1 3 2 2 {user}" for user in range(2, 7))
    assert of_decisions(searched(table, distinct=True, nodes=10**6), "waiting", "paths")[1] == (5, 1)
    assert of_decisions(searched(table, nodes=10**6), "waiting", "is_exhausted")[1] == (5, True)


def test_jobs_without_time_are_planned_for_a_second() -> None:
    """They are over at once, and whoever stands behind them in the plan starts at the same instant."""
    schedule = searched("submit width run request / 0 4 0 0 / 0 4 0 0 / 0 4 2 2", objective="lexical(avgW)")
    assert schedule.jobs["start_time"].tolist() == [0.0, 0.0, 0.0]
    assert of_decisions(schedule, "time", "waiting", "started") == [(0.0, 3, 1), (0.0, 2, 1), (0.0, 1, 1)]
    # Waits of 0, 1 and 2 s are planned.
    assert of_decisions(schedule, "best_1")[0] == (1.0,)


def test_a_running_job_that_outlived_its_request_may_end_at_any_moment() -> None:
    """At .6 s the first has outlived its .5 s: the plan, which has no least time, starts the second at once."""
    schedule = searched(
        """
        submit width run request
        0      2     1.5 0.5
        0.6    3     1   1
        0.6    1     1   1
        1.25   1     1   1
        """,
        3,
        overrun="run-on",
        branching="fcfs",
        nodes=0,
    )
    planned = schedule.notes["orders"].groupby("decision")["planned_start"].agg(list).tolist()
    assert planned == [[0.0], [0.6, 1.6], [1.25, 2.25, 2.25], [1.5, 2.5, 2.5], [2.5, 2.5]]
    assert schedule.jobs["start_time"].tolist() == [0.0, 1.5, 2.5, 2.5]


def test_jobs_as_wide_as_the_machine_go_one_by_one() -> None:
    """The shortest first, for the least mean wait."""
    schedule = searched(
        "submit width run request / 0 4 3 3 / 1 4 5 5 / 1 4 2 2 / 1 4 4 4 / 2 4 1 1", objective="lexical(avgW)"
    )
    assert schedule.jobs["start_time"].tolist() == [0.0, 10.0, 4.0, 6.0, 3.0]


@examples(0.3)
@given(
    trace=crowds(max_jobs=8),
    objective=objectives(),
    branching=st.sampled_from(["lxf", "fcfs", "widest"]),
    nodes=st.sampled_from([1, 9, 10, 50]),
)
def test_no_visits_are_those_of_the_heuristic_alone(trace: Trace, objective: Any, branching: str, nodes: int) -> None:
    """With 0 nodes the objective does not matter; and beyond the limit nothing is visited but the first order."""
    given = {"branching": branching, "objective": objective.to_text(), "explain": True}
    decisions = simulate(trace, "search", nodes=0, **given).notes["decisions"]
    assert (decisions["nodes"] == decisions["waiting"]).all()
    assert (decisions["paths"] == 1).all()
    assert (decisions["improvements"] == 0).all()
    assert (decisions["is_exhausted"] == (decisions["waiting"] == 1)).all()
    limited = simulate(trace, "search", nodes=nodes, **given).notes["decisions"]
    assert (limited["nodes"] <= np.maximum(limited["waiting"], nodes)).all()
    assert (limited["nodes"] >= limited["waiting"]).all()
    assert (limited["is_exhausted"] | (limited["nodes"] == np.maximum(limited["waiting"], nodes))).all()


def many(jobs: int) -> Trace:
    """Return jobs of many kinds that all wait for the first."""
    rng = np.random.default_rng(4)
    run = rng.integers(1, 5000, jobs).astype(float)
    return Trace.from_columns(
        machine_processors=64,
        job_number=list(range(jobs + 1)),
        submit_time=[0.0, *np.sort(rng.integers(1, 100, jobs)).astype(float)],
        run_time=[100.0, *run],
        requested_time=[100.0, *run],
        allocated_processors=[64, *rng.integers(1, 65, jobs)],
    )


@pytest.mark.parametrize(("traversal", "nodes"), [("dds", 2500), ("lds", 2500), ("dds", 100)])
def test_thousands_of_waiting_jobs_take_no_more_visits(traversal: str, nodes: int) -> None:
    """One order is planned whole, and then as many jobs placed as the limit says."""
    simulation = Simulation(many(2000), "search", traversal=traversal, nodes=nodes, explain=True)
    row = simulation.run(until=100.0).notes["decisions"].iloc[1]
    assert row["waiting"] == 2000
    assert row["nodes"] == max(nodes, 2000)
    assert not row["is_exhausted"]
    rows = simulation.notes["orders"].query("decision == 1")
    assert sorted(rows["chosen_place"]) == sorted(rows["heuristic_place"]) == list(range(2000))
    # Nobody is planned on processors that are taken: at each planned start they suffice.
    jobs = simulation.trace.jobs.set_index("job_number").loc[rows["job_number"]]
    begins, ends = rows["planned_start"].to_numpy(), rows["planned_start"].to_numpy() + jobs["run_time"].to_numpy()
    widths = jobs["allocated_processors"].to_numpy()
    assert max(widths[(begins <= moment) & (moment < ends)].sum() for moment in begins) <= 64


@examples(0.6)
@given(
    trace=workloads(),
    predictor=st.sampled_from(["request", "exact", "last-model", "virtual:error=0.9"]),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
)
def test_without_visits_and_in_order_of_submission_it_is_conservative_backfilling(
    trace: Trace, predictor: str, overrun: str
) -> None:
    """Each job planned as early as those before it leave, anew at each decision: ``conservative-replanned``."""
    given = {"predictor": predictor, "overrun": overrun, "seed": 3}
    ours = simulate(trace, "search", branching="fcfs", nodes=0, **given)
    theirs = simulate(trace, "conservative-replanned", **given)
    assert ours.jobs["start_time"].tolist() == theirs.jobs["start_time"].tolist()


def below_nothing(wait):  # type: ignore[no-untyped-def]
    """Cost less than nothing."""
    return -1.0


def no_number(wait):  # type: ignore[no-untyped-def]
    """Cost what is no number."""
    return wait * np.nan


@pytest.mark.parametrize("function", [below_nothing, no_number])
def test_a_wrong_cost_is_refused(function: Any) -> None:
    """A measure that is not 0 or more would let the search cut what is better."""
    with registered({"wrong": (function, {})}), pytest.raises(PolicyError, match="at 7 s"):
        searched("submit width run request / 7 4 3 3", objective="lexical(wrong)")


def test_each_pair_of_measures_can_be_traded() -> None:
    """Of all built-in measures but that of utility, in both orders: the same starts, since both count alike."""
    table = "submit width run request / 0 3 4 4 / 0 2 8 8 / 1 2 2 2 / 2 1 4 4 / 2 4 1 1 / 3 2 1 1"
    for place, (one, other) in enumerate(itertools.combinations(NAMES, 2)):
        for model in (MODELS[1 + place % 3], MODELS[1 + (place + 1) % 3]):
            starts = [
                searched(table, objective=f"{model}({x}:{y})", nodes=10**6).jobs["start_time"].tolist()
                for x, y in ((one, other), (other, one))
            ]
            assert starts[0] == starts[1]


SAME = [(0.0, 10.0), (100.0, 10.0)]
URGENT = [(0.0, 16.0), (16.0, 0.0)]


@pytest.mark.parametrize(
    ("objective", "second", "visits"),
    [
        ("lexical(lost-utility)", SAME, 2),
        ("lexical(lost-utility)", URGENT, 4),
        ("lexical(avgX)", URGENT, 2),
    ],
)
def test_jobs_are_equal_if_their_utility_is_where_that_counts(objective: str, second: Any, visits: int) -> None:
    """Two jobs alike but for their utility functions: both orders are tried if the objective looks at these."""
    trace = draw_trace("submit width run request user / 0 4 8 8 1 / 1 4 2 2 2 / 1 4 2 2 3", processors=4)
    trace = trace.with_jobs(trace.jobs.assign(utility=utility_column([SAME, SAME, second])))
    schedule = simulate(trace, "search", objective=objective, distinct=True, nodes=10**6, explain=True)
    assert of_decisions(schedule, "waiting", "nodes")[1] == (2, visits)
    # Both orders are tried, and the better one is taken; or one stands for both.
    assert schedule.jobs["start_time"].tolist() == ([0.0, 8.0, 10.0] if visits == 2 else [0.0, 10.0, 8.0])

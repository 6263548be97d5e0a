# SPDX-License-Identifier: BSD-3-Clause
"""The search against its slow twin: the same visits, the same improvements, the same starts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator.job_orders import ORDERS
from tests.examples import examples
from tests.naive.search_objectives import Measure, Objective, Term
from tests.simulator.search.compared import (
    NAMES,
    assert_notes_equal,
    crowds,
    fast,
    objectives,
    registered,
    slow,
    with_utility,
)
from tests.strategies import workloads

TRAVERSALS = ("dds", "lds")


def wide_wait(wait, time, processors, user, threshold):  # type: ignore[no-untyped-def]
    """Cost what a measure of one's own may look at; users are numbered as they come, from 0."""
    return processors * wait + 2.0 * max(user, 0.0) + max(wait + time - threshold, 0.0)


def late(wait, time):  # type: ignore[no-untyped-def]
    """Cost what a job takes beyond 12 s."""
    return max(wait + time - 12.0, 0.0)


OWN = {
    "wide-wait": Measure(
        lambda job, wait, time, threshold: job.width * wait + 2 * max(job.user, 0) + max(wait + time - threshold, 0),
        "mean",
        "lxf",
        of_job=lambda job: job.user,
    ),
    "late": Measure(
        lambda job, wait, time, threshold: max(wait + time - 12, 0),
        "max",
        "fcfs",
        is_excess=True,
        of_job=lambda job: job.user,
    ),
}
"""The twins of measures of one's own. What they are told of a job, though not asked for, might make a difference."""


@pytest.fixture(autouse=True, scope="module")
def own_measures() -> Iterator[None]:
    """Have the measures of one's own by their names."""
    with registered(
        {
            "wide-wait": (wide_wait, {"fold": "mean", "reference": "lxf"}),
            "late": (late, {"fold": "max", "is_often_zero": True}),
        }
    ):
        yield


def assert_same(trace: Trace, objective: Objective, *, exact: bool = True, **parameters: object) -> None:
    """Hold the policy's schedule and notes against the twin's; not ``exact``: measures but for rounding."""
    told = slow(trace, objective, measures=OWN, **parameters)
    schedule = fast(trace, objective, **parameters)
    assert_notes_equal(schedule.notes, told, exact=exact)
    assert schedule.jobs["start_time"].tolist() == told.starts


@pytest.mark.parametrize("traversal", TRAVERSALS)
@examples(0.3)
@given(
    trace=crowds(max_jobs=9),
    objective=objectives(names=[*NAMES, *OWN]),
    branching=st.sampled_from(ORDERS),
    nodes=st.sampled_from([0, 1, 2, 3, 5, 7, 8, 9, 10, 20, 50, 200]),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
)
def test_visits_and_starts_are_those_of_the_twin(
    traversal: str, trace: Trace, objective: Objective, branching: str, nodes: int, overrun: str
) -> None:
    """Decision by decision: how many nodes and orders, each improvement and its measures, and who starts."""
    assert_same(trace, objective, traversal=traversal, branching=branching, nodes=nodes, overrun=overrun)


@examples(0.5)
@given(
    trace=workloads(max_jobs=10),
    objective=objectives(names=[*NAMES, *OWN]),
    traversal=st.sampled_from(TRAVERSALS),
    branching=st.sampled_from(ORDERS),
    nodes=st.sampled_from([0, 6, 11, 40]),
    predictor=st.sampled_from(["request", "exact", "last-model"]),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
)
def test_starts_are_those_of_the_twin_whatever_is_estimated(
    trace: Trace, objective: Objective, traversal: str, branching: str, nodes: int, predictor: str, overrun: str
) -> None:
    """Times that are no powers of two, nor whole seconds, and estimates that are outlived."""
    assert_same(
        trace,
        objective,
        exact=False,
        traversal=traversal,
        branching=branching,
        nodes=nodes,
        predictor=predictor,
        overrun=overrun,
    )


# Two orders have the same product.
@example(
    jobs=[(1, 3.0, 2), (2, 3.0, 2), (2, 6.0, 1), (3, 6.0, 1), (8, 6.0, 2)],
    objective=Objective("tradeoff-b", (Term("avgX"), Term("avgW"))),
    traversal="dds",
    branching="lxf",
)
@examples(0.3)
@given(
    jobs=st.lists(
        st.tuples(st.integers(1, 8), st.sampled_from([3.0, 6.0, 10.0, 11.0]), st.integers(1, 2)),
        min_size=3,
        max_size=5,
    ),
    objective=objectives(names=["avgX", "T_w", "avgW"]),
    traversal=st.sampled_from(TRAVERSALS),
    branching=st.sampled_from(["lxf", "fcfs"]),
)
def test_orders_that_cost_alike_are_equal_however_their_sums_are_rounded(
    jobs: list[tuple[int, float, int]], objective: Objective, traversal: str, branching: str
) -> None:
    """Slowdowns of 3, 6, 10 and 11 s are no floats; the twin counts in fractions."""
    trace = Trace.from_columns(
        machine_processors=2,
        job_number=list(range(len(jobs) + 1)),
        submit_time=[0.0, *(float(submit) for submit, _, _ in jobs)],
        run_time=[9.0, *(run for _, run, _ in jobs)],
        requested_time=[9.0, *(run for _, run, _ in jobs)],
        allocated_processors=[2, *(width for _, _, width in jobs)],
    )
    assert_same(trace, objective, exact=False, traversal=traversal, branching=branching, nodes=10**6)


@examples(0.4)
@given(
    trace=with_utility(crowds(max_jobs=7)),
    objective=objectives(names=["lost-utility", "T_w", "avgX"]),
    traversal=st.sampled_from(TRAVERSALS),
    nodes=st.sampled_from([0, 8, 40]),
)
def test_lost_utility_is_that_of_the_twin(trace: Trace, objective: Objective, traversal: str, nodes: int) -> None:
    """Functions of few points, and jobs without one."""
    assert_same(trace, objective, traversal=traversal, nodes=nodes)


@examples(0.4)
@given(
    trace=crowds(least_jobs=4, max_jobs=9, kinds=2),
    objective=objectives(names=[*NAMES, *OWN]),
    traversal=st.sampled_from(TRAVERSALS),
    branching=st.sampled_from(ORDERS),
    nodes=st.sampled_from([0, 9, 30, 200]),
)
def test_with_equal_jobs_left_out_visits_and_starts_are_those_of_the_twin(
    trace: Trace, objective: Objective, traversal: str, branching: str, nodes: int
) -> None:
    """Crowds of few kinds of jobs, of which only the first that is left is tried."""
    assert_same(trace, objective, traversal=traversal, branching=branching, nodes=nodes, distinct=True)

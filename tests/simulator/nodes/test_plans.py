# SPDX-License-Identifier: BSD-3-Clause
"""Conservative backfilling on nodes does what its naive twin does, and is a pool's where nodes make no difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Schedule, Trace, simulate, validate
from swftools.errors import ParameterError
from swftools.simulator.nodes.kind import nodes_with
from swftools.simulator.registry import find_policy
from swftools.simulator.validation.report import ValidationReport
from tests.naive.node_plans import PLANS
from tests.naive.nodes import Placement, jobs_of, simulate_on_nodes
from tests.nodes_cases import Case
from tests.nodes_drawn import Workload, draw_workload, outcome, random_workload, ranges_of
from tests.simulator.nodes.test_engine import HEADS, Run, log_of, run, starts_and_nodes, with_requests
from tests.simulator.nodes.test_engine import PLACEMENTS as ALL_PLACEMENTS
from tests.simulator.nodes.test_like_a_pool import PROCESSORS, TOLD, busy, changes_its_mind, one_node

__all__ = ["changes_its_mind", "run"]

PLACEMENTS = [each for each in ALL_PLACEMENTS if not Placement.read(each).is_must]

BY_NIGHT = 40
"""Machines by lot of each policy and placement at night; each policy sees more than 500."""

ALL = " | ".join(PLANS)

CASES = [
    Case(
        "every waiting job has a reservation, which one that comes later may not delay",
        "count cores / 2 4",
        "p:0-1",
        "job submit run nodes cores / A 0 10 1 4 / B 0 20 1 4 / C 1 10 2 4 / D 2 5 1 4 / E 3 9 1 4 / F 4 16 1 4",
        {ALL: "A 0 0 / B 0 1 / C 20 0-1 / D 10 0 / E 30 0 / F 30 1"},
    ),
    Case(
        "an early end moves reservations forward, or not",
        "count cores / 1 4",
        "p:0",
        "job submit run request cores / A 0 4 10 4 / B 1 5 5 4 / C 2 3 3 4",
        {
            "conservative | conservative-replanned": "A 0 0 / B 4 0 / C 9 0",
            "conservative-fixed": "A 0 0 / B 10 0 / C 15 0",
        },
    ),
    Case(
        "who lacks several nodes begins when the last of them is free, however early and one by one they are",
        "count cores / 5 1",
        "p:0-4",
        "job submit run request nodes / A 0 5 90 1 / B 0 6 90 1 / C 0 7 90 1 / D 0 90 90 1 / E 1 10 10 4",
        {
            "conservative | conservative-replanned": "A 0 0 / B 0 1 / C 0 2 / D 0 3 / E 7 0-2,4",
            "conservative-fixed": "A 0 0 / B 0 1 / C 0 2 / D 0 3 / E 90 0-3",
        },
    ),
    Case(
        "whole nodes are no pool: a node that is free first and another one that is free then are no room",
        "count cores / 3 1",
        "p:0-2",
        "job submit run nodes / A 0 4 1 / B 0 6 2 / C 1 4 2 / D 2 6 1",
        {
            "conservative | conservative-fixed | conservative-replanned placement=first-fit:sparing=false": (
                "A 0 0 / B 0 1-2 / C 6 0-1 / D 6 2"
            ),
            "conservative-replanned": "A 0 0 / B 0 1-2 / C 6 1-2 / D 4 0",  # as on a pool of 3
        },
    ),
    Case(
        "with sparing, who is to begin later has nodes that are taken now, and the free one serves a long job",
        "count cores / 3 1",
        "p:0-2",
        "job submit run nodes / A 0 4 1 / B 0 10 2 / C 5 5 2 / D 6 20 1",
        {
            ALL: "A 0 0 / B 0 1-2 / C 10 1-2 / D 6 0",
            "conservative placement=first-fit:sparing=false": "A 0 0 / B 0 1-2 / C 10 0-1 / D 10 2",
        },
    ),
    Case(
        "the first partition that has room at the earliest time",
        "count cores / 2 1",
        "left:0 right:1",
        "job submit run partition / A 0 9 left / B 0 5 right / C 1 3 left,right / D 2 3 left,right",
        {ALL: "A 0 0 / B 0 1 / C 5 1 / D 8 1"},
    ),
    Case(
        "one that is to begin now has a free node, not one whose job should have ended",
        "count cores / 2 1",
        "p:0-1",
        "job submit run request / A 0 9 3 / B 0 4 4 / C 4 2 2 / D 5 1 1",
        {ALL: "A 0 0 / B 0 1 / C 4 1 / D 6 1"},
    ),
    Case(
        "a job that asks for no time has its node in the plan for a second",
        "count cores / 1 1",
        "p:0",
        "job submit run request / A 0 3 3 / B 1 0 0 / C 1 2 2",
        {
            "conservative | conservative-replanned": "A 0 0 / B 3 0 / C 3 0",
            "conservative-fixed": "A 0 0 / B 3 0 / C 4 0",
        },
    ),
    Case(
        "best fit goes by what will be free when a reservation begins, not by what is free now",
        "count cores / 2 4",
        "p:0-1",
        "job submit run nodes cores / A 0 10 1 4 / B 0 100 1 1 / C 0 10 1 2 / D 1 5 1 2",
        {" | ".join(f"{policy} placement=best-fit" for policy in PLANS): "A 0 0 / B 0 1 / C 0 1 / D 10 1"},
    ),
]


def told_naively(workload: Workload, policy: str, placement: str, heads: str) -> list[tuple[int, float, str]]:
    """Return job, start and nodes of each job of the naive twin."""
    jobs = jobs_of(workload.asked, workload.submit, workload.run, workload.request, workload.rank)
    simulate_on_nodes(jobs, workload.table, PLANS[policy], placement=Placement.read(placement), heads=heads)
    return sorted((job.row, float(job.start or 0.0), ranges_of(job.where)) for job in jobs)


def check_by_lot(run: Run, policy: str, placement: str, seed: int, *, is_long: bool = False, **options: Any) -> None:
    """Check that every start and every node is the twin's, on a machine by lot; ``is_long``: with many that wait."""
    size = {"most_jobs": 150, "most_nodes": 16, "is_plain": seed % 2 == 0} if is_long else {}
    workload = with_requests(random_workload(seed, **size))
    heads = HEADS[seed % 2]
    want = told_naively(workload, policy, placement, heads)
    assert starts_and_nodes(run(workload, policy, placement, heads, **options)) == want, (placement, seed)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_by_hand(case: Case, run: Run) -> None:
    """Starts and nodes are those that were worked out by hand, of the twin and of the engine."""
    workload = case.workload()
    for policy, placement, heads, rows in case.runs():
        jobs = jobs_of(workload.asked, workload.submit, workload.run, workload.request)
        simulate_on_nodes(jobs, workload.table, PLANS[policy], placement=Placement.read(placement))
        assert outcome(workload, jobs) == rows, (policy, placement)
        want = [(row, float(start), nodes) for row, (_, start, nodes) in enumerate(rows[1:])]
        assert starts_and_nodes(run(workload, policy, placement, heads, compiled=False)) == want, (policy, placement)


@pytest.mark.parametrize("policy", PLANS)
def test_as_the_naive_twin_interpreted(policy: str, run: Run) -> None:
    """Every start and every node of it is the twin's, under each placement."""
    for place, placement in enumerate(PLACEMENTS):
        for seed in range(place, 10, 5):
            check_by_lot(run, policy, placement, seed, compiled=False)


def test_neighbours_that_must_be_are_refused(run: Run) -> None:
    """A plan does not ask whether nodes lie together; as a wish it need not."""
    workload = draw_workload("count cores / 3 1", "p:0-2", "job submit run nodes / A 0 10 2 / B 1 10 2")
    with pytest.raises(
        ParameterError, match=r"'conservative' does not .* lie together.*contiguous:must=false\); .*: easy, "
    ):
        run(workload, "conservative", "contiguous", "partition", compiled=False)
    run(workload, "conservative", "contiguous:must=false", "partition", compiled=False)


def test_long_queues_as_the_naive_twin_interpreted(run: Run) -> None:
    """What need not be looked at again shows where many wait."""
    check_by_lot(run, "conservative", "first-fit", 104, is_long=True, compiled=False)


def test_what_is_told_of_many_freed_nodes_together(run: Run) -> None:
    """More nodes are freed between two looks at a job than are told of one by one: any of them may have room for it."""
    workload = random_workload(34, most_nodes=24, most_jobs=90)
    want = told_naively(workload, "conservative", "first-fit", "machine")
    assert starts_and_nodes(run(workload, "conservative", "first-fit", "machine", compiled=False)) == want


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("policy", PLANS)
def test_as_the_naive_twin_on_many_machines(policy: str, placement: str, run: Run) -> None:
    """So it is on 500 machines, and where queues are long, compiled."""
    first = BY_NIGHT * PLACEMENTS.index(placement)
    for seed in range(first, first + BY_NIGHT):
        check_by_lot(run, policy, placement, seed)
    for seed in range(first + 1000, first + 1012):
        check_by_lot(run, policy, placement, seed, is_long=True)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, "checked"])
@pytest.mark.parametrize("policy", PLANS)
def test_compiled_is_interpreted(policy: str, compiled: bool | str, run: Run) -> None:
    """To the last column, and no index is outside its array."""
    for seed in range(40, 60):
        workload = with_requests(random_workload(seed))
        placement = PLACEMENTS[seed % len(PLACEMENTS)]
        made, slowly = (run(workload, policy, placement, HEADS[0], compiled=each) for each in (compiled, False))
        pd.testing.assert_frame_equal(made.segments, slowly.segments)
        pd.testing.assert_frame_equal(made.jobs, slowly.jobs)


@pytest.mark.parametrize("policy", PLANS)
@pytest.mark.parametrize("options", TOLD, ids=str)
def test_one_node_is_a_pool(policy: str, options: dict[str, Any]) -> None:
    """Every start is that of a pool, whatever predictors say of the jobs meanwhile."""
    few = busy().with_jobs(busy().jobs.iloc[:100])
    pool = simulate(few, policy, processors=PROCESSORS, compiled=False, **options)
    node = simulate(few, policy, machine=one_node(), compiled=False, **options)
    assert node.jobs["start_time"].tolist() == pool.jobs["start_time"].tolist()
    assert pool.jobs["wait_time"].mean() > 10


@pytest.mark.slow
@pytest.mark.parametrize("policy", PLANS)
@pytest.mark.parametrize("options", [{}, {"predictor": "last-model"}, {"predictor": "exact"}], ids=str)
def test_a_long_log_on_one_node_is_a_pool(policy: str, options: dict[str, Any]) -> None:
    """So it is where many jobs wait."""
    lot = np.random.default_rng(8)
    run = lot.integers(1, 400, 4000)
    trace = Trace.from_columns(
        machine_processors=PROCESSORS,
        submit_time=np.sort(lot.integers(0, 200_000, 4000)),
        run_time=run,
        requested_time=run * lot.integers(1, 5, 4000),
        requested_processors=lot.choice([1, 1, 2, 4, 7, 16], 4000),
        user_id=lot.integers(1, 6, 4000),
    )
    pool = simulate(trace, policy, processors=PROCESSORS, **options)
    node = simulate(trace, policy, machine=one_node(), **options)
    assert node.jobs["start_time"].tolist() == pool.jobs["start_time"].tolist()
    assert pool.jobs["wait_time"].mean() > 100


def exact_workload(seed: int) -> Workload:
    """Return a machine and jobs by lot that take some time, and as long as they ask for."""
    workload = random_workload(seed, most_jobs=60)
    lasting = [max(each, 1.0) for each in workload.run]
    return replace(workload, run=lasting, request=lasting)


def report_on(workload: Workload, schedule: Schedule) -> ValidationReport:
    """Return what validation says of a schedule."""
    return validate(schedule, trace=log_of(workload), asked=workload.asked)


@pytest.mark.parametrize("policy", ["conservative", "conservative-fixed"])
def test_first_reservations_are_kept(policy: str, run: Run) -> None:
    """With exact estimates nobody starts later than was promised, which is recomputed from the schedule."""
    for seed in range(4):
        workload = exact_workload(seed)
        for placement in PLACEMENTS[seed % 2 :: 2]:
            schedule = run(workload, policy, placement, "partition", compiled=False)
            report = report_on(workload, schedule)
            assert report.ok, report.violations["message"].tolist()
            assert find_policy(policy).promises[0] in report.checked


def test_who_starts_late_is_found(run: Run) -> None:
    """EASY delays the second that waits; as a schedule of conservative backfilling that is told, with the promise."""
    case = "job submit run nodes / A 0 10 2 / B 1 10 2 / C 2 5 3 / D 3 100 1"
    workload = draw_workload("count cores / 3 1", "p:0-2", case)
    schedule = run(workload, "easy", "first-fit", "machine", compiled=False)
    assert [start for _, start, _ in starts_and_nodes(schedule)] == [0.0, 10.0, 103.0, 3.0]
    report = report_on(workload, replace(schedule, policy="conservative"))
    assert report.violations["message"].tolist() == [
        "job 2 starts at 103 s; at its submission it was promised 20 s at the latest"
    ]


def test_promises_of_who_ends_early_are_not_known(run: Run) -> None:
    """Reservations that moved do not show in a schedule, which the report says."""
    workload = draw_workload("cores / 1", "p:0", "job submit run request / A 0 4 9 / B 1 5 5")
    report = report_on(workload, run(workload, "conservative", "first-fit", "machine", compiled=False))
    assert report.ok
    assert "reservation" not in report.checked
    said = "reservation not checked: on nodes it is known only of jobs that end as estimated, and not at once"
    assert said in report.notes


def test_memory_on_nodes_is_told_of_them() -> None:
    """Who asks for the memory of a plan and does not say for which nodes is told so."""
    policy = find_policy("conservative").on(nodes_with("first-fit"))
    with pytest.raises(TypeError, match="give nodes="):
        policy.empty_memory(4, 8, policy.chosen({}))

# SPDX-License-Identifier: BSD-3-Clause
"""Plans beside outages: the engine does what the naive twin does, on machines by lot and in cases by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from swftools import validate
from swftools.errors import ParameterError
from swftools.machines.outages import DOWN, DRAIN, RESERVATION
from swftools.simulator.registry import find_policy
from tests.naive.node_plans import PLANS
from tests.naive.nodes_away import LOST, Rule
from tests.simulator.nodes.test_away import (
    ALWAYS,
    HEADS,
    ONE,
    SURPRISE,
    TWO,
    AwayCase,
    Engine,
    case_by_lot,
    check_by_lot,
    engine,
    naive_runs,
    runs_of,
    trace_of,
)
from tests.simulator.nodes.test_plans import PLACEMENTS

__all__ = ["engine"]

BY_NIGHT = 35
"""Machines by lot of each policy and placement at night; each policy sees more than 500."""

ALL = tuple(PLANS)
FIXED = ("conservative-fixed",)
KEPT = ("conservative", "conservative-fixed")
MOVED = ("conservative", "conservative-replanned")
ANEW = ("conservative-replanned",)

GOES_AT_4 = ((0, 4, 30, DOWN, SURPRISE, -1),)
FOUR = "job submit run / A 0 10 / B 0 12 / C 1 5 / D 2 5"
AWAY_AT_1 = ((1, 1, 6, DOWN, SURPRISE, -1),)
WIDE = "job submit run nodes / A 0 4 1 / B 1 5 2 / C 3 20 1 / D 3 6 1"

BY_HAND = [
    (
        ALL,
        AwayCase(
            "what is known stands in the plan from begin to end",
            ONE,
            ((0, 5, 8, DOWN, ALWAYS, -1),),
            "job submit run / A 0 6 / B 0 5",
            "B 0 5 0 / A 8 14 0",
        ),
    ),
    (
        ALL,
        AwayCase(
            "a job is promised nodes that are known to be back, and who fits in before that goes ahead",
            TWO,
            ((1, 0, 10, DOWN, ALWAYS, -1),),
            WIDE,
            "A 0 4 0 / D 4 10 0 / B 10 15 0-1 / C 15 35 0",
        ),
    ),
    (
        ALL,
        AwayCase(
            "so it is when the end becomes known later",
            TWO,
            ((1, 0, 10, DOWN, 3, -1),),
            WIDE,
            "A 0 4 0 / D 4 10 0 / B 10 15 0-1 / C 15 35 0",
        ),
    ),
    (
        ALL,
        AwayCase(
            "where nodes are not known to be back there is no reservation, and others go ahead",
            TWO,
            ((1, 0, 10, DOWN, SURPRISE, -1),),
            "job submit run nodes / A 0 4 1 / B 1 5 2 / C 3 20 1",
            "A 0 4 0 / C 4 24 0 / B 24 29 0-1",
        ),
    ),
    (
        ALL,
        AwayCase(
            "who has no reservation, as the node goes for good, has one when another ends early",
            ONE,
            ((0, 6, np.inf, DOWN, ALWAYS, -1),),
            "job submit run request / A 0 2 6 / B 1 2 2",
            "A 0 2 0 / B 2 4 0",
        ),
    ),
    (
        ALL,
        AwayCase(
            "jobs run into a drain, and none begins in it",
            ONE,
            ((0, 5, 8, DRAIN, ALWAYS, -1),),
            "job submit run / A 0 6 / B 1 1",
            "A 0 6 0 / B 8 9 0",
        ),
    ),
    (
        ALL,
        AwayCase(
            "a job that would end when a drain begins may begin later, and not in it",
            ONE,
            ((0, 5, 8, DRAIN, ALWAYS, -1),),
            "job submit run / A 0 4 / B 1 3 / C 1 3",
            "A 0 4 0 / B 4 7 0 / C 8 11 0",
        ),
    ),
    (
        ALL,
        AwayCase(
            "a node that is reserved for some is away for others only",
            ONE,
            ((0, 2, 10, RESERVATION, ALWAYS, 0),),
            "job submit run / A 0 3 / B 3 4",
            "B 3 7 0 / A 10 13 0",
        ),
    ),
    (
        ALL,
        AwayCase(
            "jobs that ask for the same, one of whom may use what is reserved",
            ONE,
            ((0, 4, 20, RESERVATION, ALWAYS, 0),),
            "job submit run / A 0 3 / B 1 3 / C 2 3",
            "A 0 3 0 / B 3 6 0 / C 20 23 0",
        ),
    ),
    (
        ALL,
        AwayCase(
            "when it becomes known that a node goes, who is planned there is planned anew",
            ONE,
            ((0, 8, 9, DOWN, 3, -1),),
            "job submit run / A 0 5 / B 1 5",
            "A 0 5 0 / B 9 14 0",
        ),
    ),
    (
        KEPT,
        AwayCase(
            "reservations on other nodes stay when a node goes by surprise; who was stopped is planned beside them",
            TWO,
            GOES_AT_4,
            FOUR,
            "A 0 4 0 x / B 0 12 1 / D 12 17 1 / A 17 27 1 / C 27 32 1",
        ),
    ),
    (
        ANEW,
        AwayCase(
            "or all are made anew, in order of the queue",
            TWO,
            GOES_AT_4,
            FOUR,
            "A 0 4 0 x / B 0 12 1 / A 12 22 1 / C 22 27 1 / D 27 32 1",
        ),
    ),
    (
        KEPT,
        AwayCase(
            "with a delay who was stopped is planned behind those that came before it came back",
            TWO,
            GOES_AT_4,
            FOUR,
            "A 0 4 0 x / B 0 12 1 / D 12 17 1 / C 17 22 1 / A 22 32 1",
            rule=Rule(delay=3.0),
        ),
    ),
    (
        KEPT,
        AwayCase(
            "who is lost leaves its room to others",
            TWO,
            GOES_AT_4,
            FOUR,
            "A 0 4 0 x / B 0 12 1 / D 12 17 1 / C 17 22 1",
            rule=Rule(LOST),
        ),
    ),
    (
        MOVED,
        AwayCase(
            "reservations move forward when a node is back",
            TWO,
            AWAY_AT_1,
            "job submit run / A 0 10 / B 2 5",
            "A 0 10 0 / B 6 11 1",
        ),
    ),
    (
        MOVED,
        AwayCase(
            "and when it becomes known that it will be",
            TWO,
            ((1, 1, 6, DOWN, 3, -1),),
            "job submit run / A 0 10 / B 2 5",
            "A 0 10 0 / B 6 11 1",
        ),
    ),
    (
        FIXED,
        AwayCase(
            "or stay",
            TWO,
            AWAY_AT_1,
            "job submit run / A 0 10 / B 2 5",
            "A 0 10 0 / B 10 15 0",
        ),
    ),
    (
        MOVED,
        AwayCase(
            "an idle node goes: who was planned on it and another leaves that one to a job behind it",
            TWO,
            ((1, 4, 50, DOWN, SURPRISE, -1),),
            "job submit run nodes / A 0 10 1 / B 1 5 2 / C 2 20 1",
            "A 0 10 0 / C 10 30 0 / B 50 55 0-1",
        ),
    ),
    (
        FIXED,
        AwayCase(
            "which begins no sooner where reservations stay",
            TWO,
            ((1, 4, 50, DOWN, SURPRISE, -1),),
            "job submit run nodes / A 0 10 1 / B 1 5 2 / C 2 20 1",
            "A 0 10 0 / C 15 35 0 / B 50 55 0-1",
        ),
    ),
    (
        ALL,
        AwayCase(
            "a wide job that is stopped leaves its other nodes to others",
            TWO,
            ((0, 5, 8, DOWN, SURPRISE, -1),),
            "job submit run nodes / A 0 20 2 / B 1 4 1",
            "A 0 5 0-1 x / B 5 9 1 / A 9 29 0-1",
        ),
    ),
    (
        MOVED,
        AwayCase(
            "so that a reservation there moves forward",
            TWO,
            ((1, 5, 8, DOWN, SURPRISE, -1),),
            "job submit run nodes / A 0 20 2 / B 1 4 1",
            "A 0 5 0-1 x / B 5 9 0 / A 9 29 0-1",
        ),
    ),
    (
        FIXED,
        AwayCase(
            "or stays, and who was stopped comes behind it",
            TWO,
            ((1, 5, 8, DOWN, SURPRISE, -1),),
            "job submit run nodes / A 0 20 2 / B 1 4 1",
            "A 0 5 0-1 x / B 20 24 0 / A 24 44 0-1",
        ),
    ),
    (
        ALL,
        AwayCase(
            "also while it is held back",
            TWO,
            ((0, 5, 8, DOWN, SURPRISE, -1),),
            "job submit run nodes / A 0 20 2 / B 1 4 1",
            "A 0 5 0-1 x / B 5 9 1 / A 12 32 0-1",
            rule=Rule(delay=7.0),
        ),
    ),
    (
        ALL,
        AwayCase(
            "who is due and waits for one that overstays does not begin when its node would go before its end",
            ONE,
            ((0, 15, 20, DOWN, ALWAYS, -1),),
            "job submit run request / A 0 12 8 / B 1 5 5",
            "A 0 12 0 / B 20 25 0",
        ),
    ),
    (
        ALL,
        AwayCase(
            "a sparing reservation takes the node that is away, and leaves the free one to a long job",
            "count cores / 3 1",
            ((2, 0, 6, DOWN, ALWAYS, -1),),
            "job submit run nodes / A 0 6 1 / B 1 5 2 / C 2 20 1",
            "A 0 6 0 / C 2 22 1 / B 6 11 0,2",
        ),
    ),
]


@pytest.mark.parametrize("own", BY_HAND, ids=lambda own: own[1].name)
def test_by_hand(own: tuple[tuple[str, ...], AwayCase], engine: Engine) -> None:
    """Runs are those that were worked out by hand, of the twin too, and valid."""
    policies, case = own
    workload, rule = case.workload(), case.rule or Rule()
    for policy in policies:
        assert naive_runs(workload, policy, rule) == case.expected(), policy
        schedule = engine.schedule(workload, policy, rule, compiled=False)
        assert runs_of(schedule) == case.expected(), policy
        report = validate(schedule, trace=trace_of(workload, rule), asked=workload.asked)
        assert report.ok, (policy, report)


@pytest.mark.parametrize("policy", PLANS)
def test_as_the_naive_twin_interpreted(policy: str, engine: Engine) -> None:
    """All runs are the twin's, in turn under all placements."""
    first = 7 * ALL.index(policy)
    for turn in range(7):
        placement = PLACEMENTS[turn % len(PLACEMENTS)]
        check_by_lot(engine, policy, placement, HEADS[turn % 2], first + turn, compiled=False)


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("policy", PLANS)
def test_as_the_naive_twin_on_many_machines(policy: str, placement: str, engine: Engine) -> None:
    """So it is compiled, and where queues are long; jobs are stopped on some."""
    first = 2000 + BY_NIGHT * PLACEMENTS.index(placement)
    sizes = [(seed, 60) for seed in range(first, first + BY_NIGHT)]
    sizes += [(seed, 150) for seed in range(first + 4, first + BY_NIGHT, 5)]
    assert sum(check_by_lot(engine, policy, placement, HEADS[seed % 2], seed, size) for seed, size in sizes) > 10


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, "checked"])
@pytest.mark.parametrize("policy", PLANS)
def test_compiled_is_interpreted(policy: str, compiled: bool | str, engine: Engine) -> None:
    """To the last column; no index is outside its array."""
    for seed in range(50, 65):
        workload, rule = case_by_lot(seed)
        slowly = engine.schedule(workload, policy, rule, compiled=False)
        made = engine.schedule(workload, policy, rule, compiled=compiled)
        pd.testing.assert_frame_equal(made.segments, slowly.segments)
        pd.testing.assert_frame_equal(made.jobs, slowly.jobs)


def test_neighbours_that_must_be_are_refused(engine: Engine) -> None:
    """A plan does not ask whether nodes lie together, with outages as without."""
    workload = BY_HAND[1][1].workload()
    for policy in ("conservative", "conservative-replanned"):
        with pytest.raises(ParameterError, match=r"lie together, as the placement must .* these do: easy, "):
            engine.schedule(workload, policy, placement="contiguous", compiled=False)
    engine.schedule(workload, policy, placement="contiguous:must=false", compiled=False)


# ---------------------------------------------------------------- promises


@pytest.mark.parametrize("policy", KEPT)
def test_first_reservations_are_kept(policy: str, engine: Engine) -> None:
    """With exact estimates and known outages nobody starts later than was promised, which is recomputed."""
    promised = 0
    for seed in range(200, 208):
        workload, _ = case_by_lot(seed, known=True)
        lasting = [max(each, 1.0) for each in workload.run]
        workload = replace(workload, run=lasting, request=lasting)
        schedule = engine.schedule(workload, policy, placement=PLACEMENTS[seed % 2], compiled=False)
        report = validate(schedule, trace=trace_of(workload, Rule()), asked=workload.asked)
        assert report.ok, (seed, report)
        promised += find_policy(policy).promises[0] in report.checked
    assert promised > 4


PROMISED = [
    ("a node is back at 10 s", TWO, ((1, 0, 10, DOWN, ALWAYS, -1),), "nodes / A 0 4 1 / B 1 5 2", 10),
    ("it is away before the end", ONE, ((0, 8, 20, DOWN, ALWAYS, -1),), "/ A 0 4 / B 1 5", 20),
    ("it ends when its node goes", ONE, ((0, 9, 20, DOWN, ALWAYS, -1),), "/ A 0 4 / B 1 5", 4),
    ("it runs into a drain", ONE, ((0, 8, 20, DRAIN, ALWAYS, -1),), "/ A 0 4 / B 1 5", 4),
    ("not in it", ONE, ((0, 4, 20, DRAIN, ALWAYS, -1),), "/ A 0 4 / B 1 5", 20),
    ("a node is reserved for it", ONE, ((0, 8, 20, RESERVATION, ALWAYS, 0),), "/ A 0 4 / B 1 5", 4),
    ("for others", ONE, ((0, 8, 20, RESERVATION, ALWAYS, 0),), "/ A 0 4 / C 90 1 / B 1 5", 20),
]


@pytest.mark.parametrize("own", PROMISED, ids=lambda own: own[0])
def test_who_starts_late_is_found(
    own: tuple[str, str, tuple[tuple[object, ...], ...], str, int], engine: Engine
) -> None:
    """With the time that was promised; who starts just then is fine."""
    name, nodes, outages, jobs, promised = own
    workload = AwayCase(name, nodes, outages, f"job submit run {jobs}", "").workload()
    schedule = engine.schedule(workload, "conservative", compiled=False)
    row = workload.names.index("B")
    given = {"trace": trace_of(workload, Rule()), "asked": workload.asked}
    assert schedule.jobs["start_time"][row] == promised
    report = validate(schedule, **given)
    assert report.ok
    assert "reservation" in report.checked
    late = schedule.jobs.copy(), schedule.segments.copy()
    for table in late:
        of_b = table["job_number"] == row
        for column in {"start_time", "end_time", "wait_time"} & set(table.columns):
            table.loc[of_b, column] += 100
    broken = validate(replace(schedule, jobs=late[0], segments=late[1]), **given).violations
    said = broken.loc[broken["rule"] == "reservation", "message"].tolist()
    assert said == [
        f"job {row} starts at {promised + 100} s; at its submission it was promised {promised} s at the latest"
    ]


def test_surprises_promise_nothing(engine: Engine) -> None:
    """Where not all outages are known from the beginning, the report says that promises are not checked."""
    case = replace(BY_HAND[1][1], outages=((1, 0, 10, DOWN, SURPRISE, -1),))
    schedule = engine.schedule(case.workload(), "conservative", compiled=False)
    report = validate(schedule, trace=trace_of(case.workload(), Rule()), asked=case.workload().asked)
    assert report.ok
    assert "reservation" not in report.checked
    assert any("away of which that was not known" in note for note in report.notes)
    assert np.isfinite(schedule.jobs["start_time"]).all()

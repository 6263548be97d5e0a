# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that wait for nodes that never come back: they are left out and counted, and all else goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import validate
from swftools.errors import PolicyError
from swftools.machines.outages import DOWN, DRAIN, RESERVATION
from swftools.simulator import Simulation, Stepper
from tests.interpreted import all_interpreted
from tests.naive.nodes_away import LOST, Rule
from tests.simulator.nodes.test_away import (
    ALWAYS,
    HEADS,
    INF,
    SURPRISE,
    TWO,
    AwayCase,
    Engine,
    engine,  # noqa: F401 (a fixture)
    naive_runs,
    runs_of,
    trace_of,
)

NEVER_BACK = [
    AwayCase(
        "who needs a node that is down for good never starts; the others go ahead",
        TWO,
        ((0, 5, INF, DOWN, SURPRISE, -1),),
        "job submit run nodes / A 0 10 1 / B 6 4 2 / C 7 20 1",
        "A 0 5 0 x / A 5 15 1 / C 15 35 1",
    ),
    AwayCase(
        "one that ran there is left out, with the run that was stopped",
        TWO,
        ((0, 5, INF, DOWN, SURPRISE, -1),),
        "job submit run nodes / A 0 10 2 / C 7 20 1",
        "C 7 27 1",
    ),
    AwayCase(
        "where nobody may go ahead, the others go on when nothing else is to happen",
        TWO,
        ((0, 5, INF, DRAIN, ALWAYS, -1), (1, 40, 50, DRAIN, ALWAYS, -1)),
        "job submit run nodes / A 0 10 1 / B 6 4 2 / C 7 20 1 / D 8 1 2 / E 9 1 1",
        "A 0 10 0 / C 50 70 1 / E 70 71 1",
        policy="fcfs",
    ),
    AwayCase(
        "who is not of the users for whom nodes are reserved without end",
        TWO,
        ((0, 0, INF, RESERVATION, ALWAYS, 0), (1, 0, INF, RESERVATION, ALWAYS, 0)),
        "job submit run / A 0 10 / B 1 4 / C 2 1",
        "B 1 5 0",
    ),
]


@pytest.mark.parametrize("heads", HEADS)
@pytest.mark.parametrize("case", NEVER_BACK, ids=lambda case: case.name)
def test_nodes_that_never_come_back(case: AwayCase, heads: str, engine: Engine) -> None:  # noqa: F811
    """Who waits for them is left out and counted, with the reason; all else is as it was, and valid."""
    workload = case.workload()
    assert naive_runs(workload, case.policy, heads=heads) == case.expected()
    schedule = engine.schedule(workload, case.policy, heads=heads, compiled=False)
    assert runs_of(schedule) == case.expected()
    stuck = sorted(set(range(len(workload.names))) - {run[0] for run in case.expected()})
    assert schedule.excluded["job_number"].tolist() == stuck
    assert set(schedule.excluded["reason"]) == {"needs nodes that never come back"}
    many = f"{len(stuck)} job{'s' * (len(stuck) > 1)}"
    assert f"left out: {many}, needs nodes that never come back" in schedule.assumptions
    assert not schedule.is_partial
    assert validate(schedule, trace=trace_of(workload, Rule()), asked=workload.asked).ok


def test_a_lost_job_needs_no_node(engine: Engine) -> None:  # noqa: F811
    """It is over, and is no job that never starts."""
    case = NEVER_BACK[1]
    schedule = engine.schedule(case.workload(), "easy", Rule(LOST), compiled=False)
    assert schedule.jobs["job_number"].tolist() == [0, 1]
    assert not len(schedule.excluded)


def stepper_of(engine: Engine, case: AwayCase, on_outage: str = "requeue", **columns: Any) -> Stepper:  # noqa: F811
    """Return a stepper of a case, whose jobs may have more columns."""
    workload = case.workload()
    engine.asks(workload)
    trace = trace_of(workload, Rule())
    jobs = trace.jobs.assign(**columns)
    return Stepper(trace.with_jobs(jobs), machine=workload.table, on_outage=on_outage, compiled=False)


@pytest.mark.parametrize("before", [1, 2])
def test_who_waits_for_such_a_job_waits_no_more(before: int, engine: Engine) -> None:  # noqa: F811
    """As for one that could never run: from when it left, and a think time later."""
    case = replace(NEVER_BACK[0], jobs="job submit run nodes / A 0 10 1 / B 6 4 2 / D 6 4 2 / C 7 20 1")
    columns = {
        "preceding_job_number": pd.array([None, None, None, before], dtype="Int64"),
        "think_time": pd.array([None, None, None, 3.0], dtype="Float64"),
    }
    with all_interpreted():
        stepper = stepper_of(engine, case, **columns)
        schedule = stepper.finish()
    assert runs_of(schedule) == [(0, 0.0, 5.0, "0", True), (0, 5.0, 15.0, "1", False), (3, 18.0, 38.0, "1", False)]
    trace = stepper._simulation.trace
    assert validate(schedule, trace=trace, asked=case.workload().asked).ok
    for wrong in (6.0, 19.0):
        other = replace(schedule, jobs=schedule.jobs.assign(ready_time=[0.0, wrong]))
        assert not validate(other, trace=trace, asked=case.workload().asked).ok


def test_it_waits_as_long_as_there_may_be_more(engine: Engine) -> None:  # noqa: F811
    """Up to a time it waits; in the end it has left, and its start is said to be at infinity."""
    with all_interpreted():
        stepper = stepper_of(engine, NEVER_BACK[0])
        stepper.run(until=50.0)
        assert stepper.waiting.tolist() == [1]
        assert stepper.first_start(0) == 0.0
        assert np.isnan(stepper.first_start(1))
        assert not stepper.is_over
        fork = stepper.fork().run()
        assert fork.first_start(0) == INF
        simulation = Simulation.copy(stepper._simulation)
        assert stepper.schedule().excluded["reason"].tolist() == ["not ended by 35 s"]
        assert simulation.run().schedule().excluded["reason"].tolist() == ["needs nodes that never come back"]
        assert stepper.submit(None, 4.0, requested_nodes=1) == 3
        schedule = stepper.finish()
    assert stepper.is_over
    assert stepper.first_start(1) == INF
    assert schedule.excluded["job_number"].tolist() == [1]


@pytest.mark.parametrize(("on_outage", "job", "start"), [("lost", 0, 22.0), ("requeue", 0, 49.0), ("requeue", 1, 32.0)])
def test_a_job_that_is_submitted_may_wait_for_such_a_one(
    on_outage: str,
    job: int,
    start: float,
    engine: Engine,  # noqa: F811
) -> None:
    """For one that was lost a think time from then on; one that runs again from its end on; one that left none."""
    outages = ((0, 5, INF, DOWN, SURPRISE, -1), (1, 0, 2, DOWN, SURPRISE, -1))
    case = AwayCase("", TWO, outages, "job submit run nodes / A 0 20 1 / B 1 4 2 / C 3 9 1", "")
    nobody = pd.array([None] * 3, dtype="Int64")
    with all_interpreted():
        stepper = stepper_of(engine, case, on_outage=on_outage, preceding_job_number=nobody, think_time=nobody)
        stepper.run(until=np.inf if job == 1 else 20.0)
        assert stepper.is_over == (job == 1)
        new = stepper.submit(1, 3.0, at=20.0 if job == 0 else None, preceding_job_number=job, think_time=17.0)
        assert stepper.run().first_start(new) == start


def test_step_by_step(engine: Engine) -> None:  # noqa: F811
    """A queue may wait for nodes that come back, and for those that do not; who fits in the end must be started."""
    outages = ((0, 0, 9, DOWN, SURPRISE, -1), (1, 0, 7, DOWN, ALWAYS, -1))
    jobs = "job submit run nodes / A 0 2 1"
    with all_interpreted():
        stepper, seen = stepper_of(engine, AwayCase("", TWO, outages, jobs, "")), []
        with pytest.raises(PolicyError, match="at 9 s 1 jobs wait on an idle machine"):  # noqa: PT012 (what it saw)
            while stepper.advance(to="event"):
                seen.append((stepper.now, stepper.fitting.tolist()))
        assert seen == [(0.0, []), (7.0, [0]), (9.0, [0])]
        assert runs_of(stepper.start(0).finish()) == [(0, 9.0, 11.0, "0", False)]
        gone = AwayCase("", TWO, (*outages, (0, 8, INF, DOWN, SURPRISE, -1)), jobs + " / B 1 2 2", "")
        stepper, seen = stepper_of(engine, gone), []
        while stepper.advance(to="event"):
            seen.append((stepper.now, stepper.fitting.tolist()))
            if stepper.now == 9.0:
                stepper.start(0)
        assert seen == [(0.0, []), (1.0, []), (7.0, [0]), (8.0, [0]), (9.0, [0]), (11.0, [])]
        assert stepper.schedule().excluded["job_number"].tolist() == [1]


def test_nobody_is_left_out_in_vain(engine: Engine) -> None:  # noqa: F811
    """A job of which it is said, and for which enough nodes come back, is found."""
    case = NEVER_BACK[0]
    schedule = engine.schedule(case.workload(), "easy", compiled=False)
    for outages, is_fine in (
        (case.outages, True),
        (((0, 5, 100, DOWN, SURPRISE, -1),), False),
        (((0, 5, INF, RESERVATION, SURPRISE, 1),), False),
        (((0, 5, INF, RESERVATION, SURPRISE, 0),), False),
        (((0, 5, INF, RESERVATION, SURPRISE, -1),), True),
        (((0, 5, INF, DRAIN, SURPRISE, -1),), True),
    ):
        workload = replace(case, outages=outages).workload()
        report = validate(
            replace(schedule, machine=workload.table), trace=trace_of(workload, Rule()), asked=workload.asked
        )
        said = [text for text in report.violations["message"] if "is excluded" in text]
        assert said == (
            [] if is_fine else ["job 1 is excluded (needs nodes that never come back), and can run on this machine"]
        ), outages

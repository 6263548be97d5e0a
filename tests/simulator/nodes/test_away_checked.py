# SPDX-License-Identifier: BSD-3-Clause
"""Schedules of machines with outages are valid, what is wrong in one is found, and measures count what is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Schedule, Trace, measure, validate
from swftools.errors import ParameterError
from swftools.machines.outages import DOWN, DRAIN, RESERVATION
from swftools.simulator import Simulation
from tests.naive.node_plans import PLANS
from tests.naive.nodes import DECISIONS
from tests.naive.nodes_away import CHECKPOINT, LOST, Rule
from tests.nodes_drawn import Workload
from tests.simulator.nodes.test_away import (
    ALWAYS,
    BY_HAND,
    HEADS,
    SURPRISE,
    TWO,
    AwayCase,
    Engine,
    case_by_lot,
    engine,  # noqa: F401 (a fixture)
    trace_of,
)

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

POLICIES = [*DECISIONS, *PLANS]


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in range(1, 8))])
def test_what_comes_of_it_is_valid(first: int, engine: Engine) -> None:  # noqa: F811
    """On machines by lot, under each policy."""
    checked = 0
    for seed in range(10 * first, 10 * first + 10):
        workload, rule = case_by_lot(seed)
        options = {"heads": HEADS[seed % 2], "compiled": False}
        schedule = engine.schedule(workload, POLICIES[seed % len(POLICIES)], rule, **options)
        report = validate(schedule, trace=trace_of(workload, rule), asked=workload.asked)
        assert report.ok, (seed, rule, report)
        assert {"outages", "foresight"} <= set(report.checked)
        checked += 1 + len(schedule.excluded)
    assert checked > 10


@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: case.name)
def test_cases_by_hand_are_valid(case: AwayCase, engine: Engine) -> None:  # noqa: F811
    """Also where somebody did not know what was to come."""
    rule = case.rule or Rule()
    schedule = engine.schedule(case.workload(), case.policy, rule, compiled=False)
    report = validate(schedule, trace=trace_of(case.workload(), rule), asked=case.workload().asked)
    assert report.ok, report


CASE = AwayCase(
    "",
    TWO,
    ((0, 5, 8, DOWN, SURPRISE, -1), (0, 20, 30, DRAIN, ALWAYS, -1), (1, 40, 50, RESERVATION, ALWAYS, 0)),
    "job submit run / A 0 10 / B 0 4 / C 20 5 / D 31 9",
    "A 0 5 0 x / B 0 4 1 / A 5 15 1 / C 20 25 1 / D 31 40 0",
)


def shifted(schedule: Schedule, job: int, time: float) -> Schedule:
    """Return a schedule in which the last run of a job is at another time."""
    jobs, segments = schedule.jobs.copy(), schedule.segments.copy()
    run = segments.index[segments["job_number"] == job][-1]
    for name in ("start_time", "end_time"):
        segments.loc[run, name] += time
        jobs.loc[jobs["job_number"] == job, name] += time
    jobs["wait_time"] = jobs["start_time"] - jobs["submit_time"]
    return replace(schedule, jobs=jobs, segments=segments)


def moved(schedule: Schedule, job: int, node: int) -> Schedule:
    """Return a schedule in which the last run of a job is on another node."""
    segments = schedule.segments.copy()
    nodes = segments["nodes"].tolist()
    nodes[np.flatnonzero(segments["job_number"] == job)[-1]] = [node, node]
    return replace(schedule, segments=segments.assign(nodes=pd.array(nodes, dtype=segments["nodes"].dtype)))


def without_outage(schedule: Schedule) -> Schedule:
    """Return a schedule whose machine does not go down."""
    assert schedule.machine is not None
    outages = schedule.machine.outages
    return replace(schedule, machine=replace(schedule.machine, outages=outages.of(outages.kind != DOWN)))


@pytest.mark.parametrize(
    ("change", "rule", "message"),
    [
        (lambda own: moved(own, 0, 0), "outages", "a run of job 0 from 5 s on starts on node n0, which is away (down)"),
        (
            lambda own: moved(own, 2, 0),
            "outages",
            "job 2 from 20 s on starts on node n0, which is away (drain) from 20",
        ),
        (lambda own: shifted(moved(own, 1, 0), 1, 4), "outages", "job 1 from 4 s on runs on on node n0, which is away"),
        (lambda own: moved(own, 3, 1), "", ""),
        (
            lambda own: shifted(moved(own, 3, 1), 3, 1),
            "foresight",
            "job 3 from 32 s on is expected to last 9 s, on node",
        ),
        (lambda own: shifted(moved(own, 3, 1), 3, 9), "outages", "job 3 from 40 s on starts on node n1, which is away"),
        (without_outage, "outages", "job 0 from 0 s on ends at 5 s by an outage, and no node of it goes down then"),
    ],
)
def test_what_is_wrong_is_found(
    change: Callable[[Schedule], Schedule],
    rule: str,
    message: str,
    engine: Engine,  # noqa: F811
) -> None:
    """One sentence, that names job, node and time."""
    workload = CASE.workload()
    schedule = engine.schedule(workload, "easy", compiled=False)
    report = validate(change(schedule), trace=trace_of(workload, Rule()), asked=workload.asked)
    found = report.violations[report.violations["rule"].isin(["outages", "foresight"])]
    assert found["rule"].tolist() == ([rule] if rule else [])
    assert all(message in text for text in found["message"])


@pytest.mark.parametrize(("rule", "wrong"), [(Rule(), 4.0), (Rule(CHECKPOINT, 0.0, 2.0), 5.0), (Rule(LOST), 0.0)])
def test_lost_work_is_checked(rule: Rule, wrong: float, engine: Engine) -> None:  # noqa: F811
    """By what becomes of jobs: all, what was done since the last checkpoint, all of a job that is over."""
    workload = BY_HAND[1].workload()
    schedule = engine.schedule(workload, "easy", rule, compiled=False)
    trace = trace_of(workload, rule)
    assert validate(schedule, trace=trace, asked=workload.asked).ok
    segments = schedule.segments.copy()
    segments.loc[segments["ended_by"] == "outage", "lost_work"] = wrong
    broken = validate(replace(schedule, segments=segments), trace=trace, asked=workload.asked)
    assert "work" in broken.violations["rule"].tolist()


def test_checkpoints_must_be_known(engine: Engine) -> None:  # noqa: F811
    """A log that tells none is refused with what to do."""
    with pytest.raises(
        ParameterError, match=r"^on_outage='checkpoint' needs checkpoint_interval, which the trace lack"
    ):
        engine.schedule(BY_HAND[1].workload(), "easy", Rule(CHECKPOINT), compiled=False)


KNOWN = AwayCase(
    "",
    TWO,
    ((1, 0, 10, DOWN, ALWAYS, -1), (0, 12, 14, DRAIN, ALWAYS, -1), (0, 36, 37, RESERVATION, ALWAYS, 0)),
    "job submit run nodes / A 0 4 1 / B 1 5 2 / C 3 20 1 / D 3 6 1",
    "",
)


def test_promises_beside_outages_that_are_known(engine: Engine) -> None:  # noqa: F811
    """The head is promised 10 s, when a node is back; who overtakes it for longer breaks that promise."""
    workload = KNOWN.workload()
    schedule = engine.schedule(workload, "easy", compiled=False)
    assert schedule.segments["start_time"].tolist() == [0, 4, 10, 15]
    given: dict[str, Any] = {"trace": trace_of(workload, Rule()), "asked": workload.asked}
    report = validate(schedule, **given)
    assert report.ok
    assert {"head-reservation", "backfilling"} <= set(report.checked)
    assert any("no-idle-head not checked: it is not known on nodes that are away" in note for note in report.notes)
    late = validate(shifted(shifted(schedule, 1, 1), 2, 1), **given)
    found = late.violations.set_index("rule")["message"]
    assert "10 s" in found["head-reservation"]
    # Had the node not been known to be back, nothing would have been promised.
    never = replace(KNOWN, outages=((1, 0, np.inf, DOWN, ALWAYS, -1),))
    gone = replace(schedule, machine=never.workload().table)
    assert "head-reservation" not in validate(gone, **given).violations["rule"].tolist()


@pytest.mark.parametrize("heads", HEADS)
def test_promises_are_kept(heads: str, engine: Engine) -> None:  # noqa: F811
    """By EASY and its orders, on machines by lot whose outages are known."""
    promised = 0
    for seed in range(100, 112):
        workload, _ = case_by_lot(seed, known=True)
        policy = ["easy", "sjf-backfill", "lxf-backfill", "fcfs"][seed % 4]
        schedule = engine.schedule(workload, policy, heads=heads, compiled=False)
        report = validate(schedule, trace=trace_of(workload, Rule()), asked=workload.asked)
        assert report.ok, (seed, policy, report)
        promised += "head-reservation" in report.checked
    assert promised > 3


# ---------------------------------------------------------------- measures


def measured(schedule: Schedule, **options: Any) -> dict[tuple[str, str], float]:
    """Return values by measure and statistic."""
    return measure(schedule, **options).set_index(["measure", "statistic"])["value"].to_dict()


def test_what_is_there_is_counted(engine: Engine) -> None:  # noqa: F811
    """By hand: of two cores for 40 s one is away for 3 s, and one is drained for 10 s."""
    values = measured(engine.schedule(CASE.workload(), "easy", compiled=False))
    busy = 5 + 4 + 10 + 5 + 9
    assert values["utilization", "time_mean"] == pytest.approx(busy / 80)
    assert values["away", "time_mean"] == pytest.approx(13 / 80)
    assert values["available_utilization", "time_mean"] == pytest.approx(busy / (80 - 13))


def test_a_drained_node_counts_while_it_is_used_and_overlaps_count_once(engine: Engine) -> None:  # noqa: F811
    """A job runs on until 6 s on a node that is drained from 5 s on, and down from 7 s to 9 s as well."""
    case = replace(
        CASE,
        outages=((0, 5, 8, DRAIN, ALWAYS, -1), (0, 7, 9, DOWN, SURPRISE, -1)),
        jobs="job submit run / A 0 6 / B 0 10",
    )
    schedule = engine.schedule(case.workload(), "easy", compiled=False)
    values = measured(schedule)
    assert values["away", "time_mean"] == pytest.approx(3 / 20)
    assert values["available_utilization", "time_mean"] == pytest.approx(16 / 17)
    in_window = measured(schedule, window=(5.0, 8.0))
    assert in_window["away", "time_mean"] == pytest.approx(2 / 6)
    assert in_window["available_utilization", "time_mean"] == pytest.approx(4 / 4)


def test_without_outages_nothing_is_said_of_them(engine: Engine) -> None:  # noqa: F811
    """Neither measures nor options."""
    workload = CASE.workload()
    plain = replace(workload, table=replace(workload.table, outages=workload.table.outages.of(np.zeros(0, np.int64))))
    schedule = engine.schedule(plain, "easy", compiled=False)
    assert not {"away", "available_utilization"} & {name for name, _ in measured(schedule)}
    assert "on_outage" not in schedule.options


# ---------------------------------------------------------------- stopped on the way, copied, and with fewer jobs


def simulation_of(engine: Engine, workload: Workload, policy: str, rule: Rule) -> Simulation:  # noqa: F811
    """Return a simulation before its first event."""
    engine.asks(workload)
    on_outage = rule.on_outage + (f":delay={rule.delay:g}" if rule.delay else "")
    return Simulation(
        trace_of(workload, rule),
        policy,
        machine=workload.table,
        on_outage=on_outage,
        restart_overhead=rule.overhead,
        overrun="run-on",
        compiled=False,
    )


@pytest.mark.parametrize("policy", ["fcfs", "easy", "easy:reservations=2", *PLANS])
def test_a_copy_goes_on_as_the_one_that_runs_through(policy: str, engine: Engine) -> None:  # noqa: F811
    """Wherever it is copied, also between outages; the other is not changed by it."""
    for seed in (8, 33):
        workload, rule = case_by_lot(seed, known=False)
        whole = simulation_of(engine, workload, policy, rule).run()
        halfway = simulation_of(engine, workload, policy, rule).run(until=whole.now / 2)
        other = halfway.copy().run()
        for each in (other, halfway.run()):
            pd.testing.assert_frame_equal(each.schedule().segments, whole.schedule().segments)
            pd.testing.assert_frame_equal(each.schedule().jobs, whole.schedule().jobs)


def test_without_some_jobs_the_others_go_on_as_alone(engine: Engine) -> None:  # noqa: F811
    """From the beginning: those that are left have the schedule of a trace of them only."""
    case = replace(CASE, jobs="job submit run / A 0 10 / B 0 4 / C 2 5 / D 31 9")
    fewer = replace(CASE, jobs="job submit run / A 0 10 / B 0 4 / D 31 9")
    workload = case.workload()
    simulation = simulation_of(engine, workload, "easy", Rule()).run(until=3)
    assert simulation.waiting["job_number"].tolist() == [2]
    left = simulation.without(simulation.waiting).run().schedule().segments
    alone = engine.schedule(fewer.workload(), "easy", compiled=False).segments
    for name in ("start_time", "end_time", "ended_by", "nodes"):
        assert left[name].tolist() == alone[name].tolist()


def test_a_job_may_be_taken_out_that_was_stopped(engine: Engine) -> None:  # noqa: F811
    """It waits, or is held back, and none of its runs is left."""
    for rule in (Rule(), Rule(delay=7.0)):
        simulation = simulation_of(engine, BY_HAND[1].workload(), "easy", rule).run(until=5)
        out = pd.DataFrame({"job_number": [0]})
        schedule = simulation.without(out).run().schedule()
        assert schedule.excluded["reason"].tolist() == ["taken out at 5 s"]
        assert schedule.segments["job_number"].tolist() == [1, 2]
        assert len(schedule.segments["nodes"]) == 2


def test_a_trace_of_users(engine: Engine) -> None:  # noqa: F811
    """Nobody of the log is one for whom nodes are reserved: that is told."""
    case = replace(CASE, outages=((0, 5, 8, RESERVATION, ALWAYS, 0),), jobs="job submit run / A 0 4")
    schedule = engine.schedule(case.workload(), "easy", compiled=False)
    assert "no job of the log is of those for whom nodes are reserved: 1" in schedule.assumptions
    assert isinstance(trace_of(case.workload(), Rule()), Trace)

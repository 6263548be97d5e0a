# SPDX-License-Identifier: BSD-3-Clause
"""Blocked heads: drawn by hand, against a slow twin, and what cannot be told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import Policy, Simulation, find_heads, simulate
from swftools.simulator.machine.verbs import hold, start, wake_at
from swftools.simulator.machine.views import first_waiting, fits, next_waiting, now
from swftools.simulator.metrics.head_sweep import Heads
from swftools.simulator.metrics.of_jobs import measure_jobs
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.foreign_schedules import schedule_from_table
from tests.drawn import draw_schedule, draw_trace
from tests.examples import examples
from tests.naive.heads import naive_heads
from tests.simulator.metrics.drawings import EMPTY
from tests.simulator.metrics.test_laws import schedules
from tests.simulator.restless import RESTLESS
from tests.simulator.stopped import drawn, resizes, scripted, starts
from tests.simulator.test_work_twin import traces_with_work
from tests.strategies import crowded_trace, workloads


def told(schedule: Schedule) -> dict[int, tuple[float, ...]]:
    """Return the heads by job: since when, start, alone, without later ones, reservation."""
    heads = find_heads(schedule)
    return {row.job_number: tuple(row[3:]) for row in heads.itertuples()}


# ---------------------------------------------------------------- drawn by hand; machines of four processors


def test_a_head_that_is_delayed_by_a_later_job() -> None:
    """B should begin at 4, when A ends; C, of which 2 s are expected, holds it up until 7 (the paper's figure 1c)."""
    schedule = draw_schedule("""
        job submit width start run request
        A   0      2     0     4   4
        B   1      4     7     1   1
        C   2      1     2     5   2
    """)
    assert told(schedule) == {2: (1.0, 7.0, 4.0, 4.0, 4.0)}
    measured = measure_jobs(schedule)
    assert measured["is_blocked"].tolist() == [0.0, 1.0, 0.0]
    assert measured["head_delay"].tolist() == [0.0, 3.0, 0.0]
    assert measured["head_delay_by_later"].tolist() == [0.0, 3.0, 0.0]
    assert measured["reservation_violation"].tolist() == [0.0, 3.0, 0.0]
    assert measured["slowdown_of_violation"].tolist() == [0.0, 0.3, 0.0]
    assert measure_jobs(schedule, bound=0.5)["slowdown_of_violation"].tolist() == [0.0, 3.0, 0.0]


def test_the_two_senses_differ_where_a_lower_job_ran_before() -> None:
    """C runs since 1, before B is the head at 2: alone B begins at 3 with the end of X; with C there, at 6."""
    schedule = draw_schedule("""
        job submit width start run request
        X   0      2     0     3   3
        A   0      2     0     1   1
        G   0      1     2     1   1
        B   1      4     8     1   1
        C   1      1     1     5   5
        D   3      1     3     5   5
    """)
    # At 1 A ends and G is the head; it starts at 2 only, and C, which is behind B, has overtaken both.
    assert told(schedule) == {3: (0.0, 2.0, 1.0, 1.0, 1.0), 4: (2.0, 8.0, 3.0, 6.0, 6.0)}
    measured = measure_jobs(schedule)
    assert measured["head_delay"].tolist() == [0.0, 0.0, 1.0, 5.0, 0.0, 0.0]
    assert measured["head_delay_by_later"].tolist() == [0.0, 0.0, 1.0, 2.0, 0.0, 0.0]


def test_a_reservation_violated_by_a_job_of_higher_priority_is_benign() -> None:
    """A outlives its request: B's reservation is 2, it starts at 4, and nobody of lower priority is to blame."""
    schedule = draw_schedule("""
        job submit width start run request
        A   0      4     0     4   2
        B   1      4     4     1   1
    """)
    assert told(schedule) == {2: (1.0, 4.0, 4.0, 4.0, 2.0)}
    assert measure_jobs(schedule)["reservation_violation"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("estimate", "reservation"), [(1.0, 6.0), (3.0, 3.0), (2.0, 6.0), (1.5, 6.0)])
def test_who_outlived_the_estimate_is_expected_to_run_to_the_request(estimate: float, reservation: float) -> None:
    """B is the head from 2 on; A, of which so many seconds are estimated and 6 requested, runs until 4."""
    schedule = draw_schedule("job submit width start run request / A 0 4 0 4 6 / B 2 4 4 1 1")
    schedule.jobs["estimated_time"] = [estimate, 1.0]
    assert told(schedule) == {2: (2.0, 4.0, 4.0, 4.0, reservation)}
    schedule.jobs["requested_time"] = [1.9, 1.0]
    now_or_later = reservation if estimate > 2 else 2.0
    assert told(schedule) == {2: (2.0, 4.0, 4.0, 4.0, now_or_later)}


def test_what_starts_at_the_instant_counts_by_its_priority() -> None:
    """At 2 A ends; B of higher priority starts, D of lower does too, and C is the head that waits for B alone."""
    schedule = draw_schedule("""
        job submit width start run request
        A   0      4     0     2   2
        B   1      3     2     2   2
        C   1      2     7     1   1
        D   1      1     2     5   5
    """)
    assert told(schedule) == {2: (1.0, 2.0, 2.0, 2.0, 2.0), 3: (2.0, 7.0, 4.0, 4.0, 4.0)}


def test_who_starts_at_submission_or_with_a_completion_then_was_never_blocked() -> None:
    """Completions, submissions and starts of one instant all happen before one looks."""
    schedule = draw_schedule(
        "job submit width start run request / A 0 4 0 2 2 / B 2 4 2 1 1 / C 3 1 3 0 0 / D 3 4 3 2 2"
    )
    assert told(schedule) == {}
    assert find_heads(schedule).dtypes.tolist() == [pd.Int64Dtype(), np.dtype(np.int64), *[np.dtype(np.float64)] * 5]


def test_runs_of_no_length_hold_nothing() -> None:
    """C runs at 1 for no time; B waits for A only."""
    schedule = draw_schedule("job submit width start run request / A 0 3 0 4 4 / B 1 2 4 1 1 / C 1 1 1 0 5")
    assert told(schedule) == {2: (1.0, 4.0, 4.0, 4.0, 4.0)}


def test_who_is_stopped_stands_where_it_stood() -> None:
    """B runs beside A, is stopped at 3 for D, and is then the head in the place of C."""
    schedule = draw_schedule("""
        job submit width runs      request
        A   0      2     0-5       5
        B   0      2     0-3,6-8   2
        C   1      3     8-9       1
        D   3      2     3-6       3
    """)
    # B is the head from 3 on: at that instant D, which is of lower priority, has just started.
    assert told(schedule) == {2: (3.0, 6.0, 3.0, 3.0, 5.0), 3: (6.0, 8.0, 8.0, 8.0, 8.0)}
    measured = measure_jobs(schedule)
    assert measured["head_delay"].tolist() == [0.0, 3.0, 0.0, 0.0]


def test_the_last_stint_counts() -> None:
    """B is the head from 1, starts at 2, is killed at 4, and is the head anew until 5."""
    schedule = draw_schedule("job submit width runs request / A 0 4 0-2 2 / B 1 2 2-4,5-9 4 / C 4 4 4-5 1")
    assert told(schedule) == {2: (4.0, 5.0, 4.0, 4.0, 5.0)}


def test_a_killed_job_that_starts_again_at_once_does_not_wait() -> None:
    """Its runs touch; C is the head all the time."""
    schedule = draw_schedule("job submit width runs request / A 0 2 0-2,2-6 4 / C 1 4 6-7 1")
    assert told(schedule) == {2: (1.0, 6.0, 2.0, 2.0, 4.0)}


def test_a_resized_job_goes_on() -> None:
    """A shrinks from four to two at 2 and grows again at 3: B on three must wait for its end, on two it could at 2."""
    script = {0.0: [starts(0, 4)], 2.0: [resizes(0, 2)], 3.0: [resizes(0, 4)]}
    wide, narrow = (
        scripted(
            drawn(f"job submit run width request / A 0 16 1 16 / B 1 1 {width} 1"), {**script, 7.0: [starts(1, width)]}
        )
        for width in (3, 2)
    )
    assert wide.jobs["end_time"].tolist() == [4.5, 8.0]
    assert told(wide) == {2: (1.0, 7.0, 4.5, 4.5, 4.0)}  # as it is at 1, A should be over at 4
    assert told(narrow) == {2: (1.0, 7.0, 2.0, 2.0, 4.0)}


def test_equal_submissions_stand_by_number_and_occurrence() -> None:
    """The table need not be in that order; its rows are."""
    schedule = draw_schedule("""
        job occurrence submit width start run request
        7   1          1      4     5     1   1
        7   0          1      4     4     1   1
        3   0          0      4     0     4   4
    """)
    assert find_heads(schedule)[["job_occurrence", "blocked_since", "start_alone"]].values.tolist() == [
        [1.0, 4.0, 5.0],
        [0.0, 1.0, 4.0],
    ]


# ---------------------------------------------------------------- any schedule


def assert_as_the_twin(schedule: Schedule) -> None:
    """Compare all heads with those of the slow twin."""
    expected = naive_heads(schedule)
    heads = find_heads(schedule)
    keys = list(zip(heads["job_number"], heads["job_occurrence"], strict=True))
    assert set(keys) == set(expected)
    for key, row in zip(keys, heads[list(Heads._fields)].values.tolist(), strict=True):
        twin = [np.nan if time is None else time for time in expected[key]]
        assert row == pytest.approx(twin, rel=1e-12, nan_ok=True), key


@examples(1)
@given(schedules())
def test_equal_to_the_twin(schedule: Schedule) -> None:
    """Of schedules that nobody made: jobs overtake, are killed and wait for nothing."""
    assert_as_the_twin(schedule)


@examples(0.6)
@given(
    trace=traces_with_work(),
    seed=st.integers(0, 9999),
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
    predictor=st.sampled_from(["request", "last-model", "virtual:error=0.9"]),
    restart_overhead=st.sampled_from([0.0, 3.0]),
)
def test_equal_to_the_twin_whatever_is_done_to_jobs(
    trace: Trace, seed: int, overrun: str, predictor: str, restart_overhead: float
) -> None:
    """Jobs are stopped in all ways, resized and held back by lot."""
    schedule = simulate(
        trace, RESTLESS, overrun=overrun, predictor=predictor, seed=seed, restart_overhead=restart_overhead, acts=60
    )
    assert_as_the_twin(schedule)


@examples(0.4)
@given(
    trace=workloads(max_jobs=20),
    policy=st.sampled_from(["easy", "conservative", "sjf", "prio-fifo"]),
    predictor=st.sampled_from(["request", "last-model", "virtual:error=0.9"]),
    overrun=st.sampled_from(["extend", "run-on"]),
)
def test_equal_to_the_twin_under_policies(trace: Trace, policy: str, predictor: str, overrun: str) -> None:
    """Also where jobs run no time, and outlive what was expected."""
    assert_as_the_twin(simulate(trace, policy, predictor=predictor, overrun=overrun))


@pytest.mark.parametrize("overrun", ["extend", "run-on"])
@pytest.mark.parametrize("predictor", ["request", "last-model", "virtual:error=0.9"])
def test_reservations_are_what_the_machine_expects(predictor: str, overrun: str) -> None:
    """What find_heads works out of the runs is what the simulation expected at that instant of those that ran."""
    trace = crowded_trace(100, 16, seed=3)
    schedule = simulate(trace, "easy", predictor=predictor, overrun=overrun)
    simulation = Simulation(trace, "easy", predictor=predictor, overrun=overrun)
    heads = find_heads(schedule).sort_values("blocked_since")
    assert len(heads) > 20
    for head in heads.itertuples():
        simulation.run(until=head.blocked_since)
        first = simulation.waiting.iloc[0]
        assert (first["job_number"], first.get("job_occurrence", 0)) == tuple(head[1:3])
        running, free, time = simulation.running, simulation.processors, head.blocked_since
        free -= int(running["allocated_processors"].sum())
        for job in running.itertuples():
            if free >= first["processors"]:
                break
            free += job.allocated_processors
            time = max(job.expected_end, head.blocked_since)
        assert time == head.reservation


@examples(0.5)
@given(workloads(max_jobs=20), st.sampled_from(["easy", "conservative", "fcfs", "sjf-backfill", "prio-fifo"]))
def test_nobody_starts_before_it_could_alone(trace: Trace, policy: str) -> None:
    """blocked_since <= start_alone <= start_without_later <= start; under FCFS nobody is delayed."""
    heads = find_heads(simulate(trace, policy))
    assert (heads["blocked_since"] <= heads["start_alone"]).all()
    assert (heads["start_alone"] <= heads["start_without_later"]).all()
    assert (heads["start_without_later"] <= heads["start_time"]).all()
    if policy == "fcfs":
        assert (heads["start_alone"] == heads["start_time"]).all()


# ---------------------------------------------------------------- what cannot be told, and what others say


def test_a_partial_schedule_is_refused() -> None:
    """One does not see who still runs, so nothing is told; the measures are missing."""
    trace = draw_trace("job submit run width request / A 0 9 2 9 / B 1 1 4 1 / C 2 1 2 1", processors=4)
    partial = Simulation(trace, "easy").run(until=4).schedule()
    with pytest.raises(ParameterError, match=r"find_heads: the schedule is partial.*run the simulation to its end"):
        find_heads(partial)
    names = ["is_blocked", "head_delay", "head_delay_by_later", "reservation_violation", "slowdown_of_violation"]
    assert measure_jobs(partial)[names].isna().all(axis=None)
    assert measure_jobs(partial)["wait"].tolist() == [0.0]


def test_no_jobs_have_no_heads() -> None:
    """The columns are there all the same."""
    assert find_heads(EMPTY).columns.tolist() == ["job_number", "job_occurrence", *Heads._fields]
    assert len(find_heads(EMPTY)) == 0
    assert len(measure_jobs(EMPTY)) == 0


def test_a_job_that_is_held_back_counts_as_waiting() -> None:
    """A schedule does not say that A, though there is room, was not in the queue until 3."""

    def holding(machine: Any) -> None:
        if now(machine) == 0.0:
            hold(machine, first_waiting(machine), 3.0)
            wake_at(machine, 3.0)
        job = first_waiting(machine)
        while fits(machine, job):
            start(machine, job)
            job = next_waiting(machine, job)

    trace = draw_trace("job submit run width request / A 0 2 2 2 / B 1 1 2 1", processors=4)
    schedule = simulate(trace, Policy("holding", holding), compiled=False)
    assert schedule.holds == 1
    assert told(schedule) == {1: (0.0, 3.0, 0.0, 0.0, 0.0)}


def test_a_schedule_of_another_simulator() -> None:
    """Starts and a trace are enough; an estimate of its own counts."""
    trace = draw_trace("job submit run width request / A 0 4 3 6 / B 1 1 4 1", processors=4)
    table = pd.DataFrame({"job_number": [1, 2], "start_time": [0.0, 4.0]})
    assert told(schedule_from_table(table, trace)) == {2: (1.0, 4.0, 4.0, 4.0, 6.0)}
    table["estimated_time"] = [5.0, 1.0]
    assert told(schedule_from_table(table, trace)) == {2: (1.0, 4.0, 4.0, 4.0, 5.0)}
    schedule = schedule_from_table(table, trace)
    without = replace(schedule, jobs=schedule.jobs.drop(columns="estimated_time"))
    assert told(without) == {2: (1.0, 4.0, 4.0, 4.0, 6.0)}
    silent = replace(schedule, jobs=schedule.jobs.assign(estimated_time=[np.nan, 1.0], requested_time=[np.nan, 1.0]))
    assert told(silent)[2][:4] == (1.0, 4.0, 4.0, 4.0)
    assert np.isnan(told(silent)[2][4])  # nobody said how long A takes


def test_a_schedule_that_cannot_be_is_told_all_the_same() -> None:
    """B is wider than the machine, C starts before its submission, D and A overload it: nothing breaks."""
    schedule = draw_schedule("""
        job submit width start run request
        A   0      4     0     9   9
        B   1      5     9     1   1
        C   2      1     1     9   9
        D   3      3     4     1   1
    """)
    heads = told(schedule)
    assert heads[2][:2] == (1.0, 9.0)
    assert np.isnan(heads[2][2:]).all()
    measured = measure_jobs(schedule)
    assert measured["is_blocked"].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert measured["head_delay"].isna().tolist() == [False, True, False, False]


def test_missing_times_are_refused() -> None:
    """The error names the column."""
    trace = draw_trace("job submit run width request / A 0 4 3 6 / B 1 1 4 1", processors=4)
    table = pd.DataFrame({"job_number": [1, 2], "start_time": [0.0, np.nan], "end_time": [4.0, np.nan]})
    schedule = schedule_from_table(table, trace)
    with pytest.raises(ParameterError, match=r"start_time is missing in schedule\.segments"):
        find_heads(schedule)
    assert measure_jobs(schedule)["is_blocked"].isna().all()
    sound = draw_schedule("job submit width start run request / A 0 4 0 4 6")
    silent = replace(sound, segments=sound.segments.drop(columns="allocated_processors"))
    with pytest.raises(ParameterError, match=r"allocated_processors is missing in schedule\.segments"):
        find_heads(silent)

# SPDX-License-Identifier: BSD-3-Clause
"""The rules on jobs that are stopped and resized: schedules of the engine pass, and each change of one is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import CHECKPOINT, KILL, SUSPEND
from swftools.simulator.schedule import ENDS, Schedule
from swftools.simulator.validation import work
from swftools.simulator.validation.report import validate
from swftools.simulator.validation.runs import read_runs
from swftools.simulator.validation.work import read_history
from tests.examples import examples
from tests.naive.validation import naive_lost_work
from tests.simulator.stopped import disturbed, drawn, resizes, scripted, starts, stops, with_curves
from tests.simulator.validation.faults import broken, with_job, with_run
from tests.strategies import crowded_trace, workloads

OVERHEADS = [0.0, 1.5, "uniform:seconds=1,per_processor=0.5", "column:name=cost_of_going_on"]


@pytest.mark.parametrize("overhead", OVERHEADS)
@examples(0.25)
@given(trace=workloads(), seed=st.integers(0, 1000), overrun=st.sampled_from(["extend", "kill", "run-on"]))
def test_schedules_of_the_engine_pass(overhead: float | str, trace: Trace, seed: int, overrun: str) -> None:
    """Whatever is stopped, resized and gone on with at random is valid, with the trace and without."""
    whole = with_curves(trace)
    schedule = disturbed(whole, seed, restart_overhead=overhead, overrun=overrun)
    for report in (validate(schedule, trace=whole), validate(schedule)):
        assert report.ok, str(report)


def test_a_busy_machine_passes() -> None:
    """All ways of stopping occur but outages, which are of nodes, and nothing is found."""
    whole = with_curves(crowded_trace(60, 8))
    schedule = disturbed(whole, 3, restart_overhead=1.5, overrun="kill")
    assert set(ENDS) - {"outage"} == set(schedule.segments["ended_by"])
    assert validate(schedule, trace=whole).ok


@examples(0.3)
@given(trace=workloads(), seed=st.integers(0, 1000))
def test_lost_work_equals_the_slow_twin(trace: Trace, seed: int) -> None:
    """What is lost of each run is what a pile of work says from whose top is taken."""
    schedule = disturbed(with_curves(trace), seed, restart_overhead=0.5)
    jobs, runs, _ = read_runs(schedule)
    history = read_history(jobs, runs)
    for job in range(len(jobs.number)):
        own = np.flatnonzero(runs.job == job)
        told = [(runs.work[run], ENDS[runs.how[run]]) for run in own]
        assert naive_lost_work(told, jobs.interval[job]) == pytest.approx(history.lost[own].tolist(), abs=1e-9)
        assert history.lost[own].tolist() == runs.lost[own].tolist()
        assert jobs.run[job] >= history.work[job] or jobs.is_moldable[job]


def test_the_walk_over_work_is_the_same_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled as interpreted."""
    jobs, runs, _ = read_runs(disturbed(with_curves(crowded_trace(40, 8)), 1))
    compiled = read_history(jobs, runs)
    monkeypatch.setattr(
        "swftools.simulator.validation.work._follow_work",
        work._follow_work.py_func,
    )
    for ours, theirs in zip(compiled, read_history(jobs, runs), strict=True):
        np.testing.assert_array_equal(ours, theirs)


# ---------------------------------------------------------------- each rule is broken


def traced() -> Trace:
    """Return the trace of ``stopped``: the third job is rigid, the others have curves; the first writes checkpoints."""
    return drawn("submit run width / 0 10 2 / 0 6 2 / 0 8 2")


def stopped() -> Schedule:
    """Return a schedule in which each way of stopping occurs once; overhead is 1 s.

    By rows of segments: job 1 until its checkpoint at 4 (0), job 2 until it is suspended at 5 (1), job 3 until it is
    killed at 7 (2), job 1 from 5, resized at 9 (3), job 1 on one processor, 8 s of it for 4 s of work (4), job 3 (5),
    and job 2 (6).
    """
    return scripted(
        traced(),
        {
            0: [starts(0, 2), starts(1, 2)],
            4: [stops(0, CHECKPOINT)],
            5: [starts(0, 2), stops(1, SUSPEND), starts(2, 2)],
            7: [stops(2, KILL)],
            9: [resizes(0, 1)],
            10: [starts(2, 2)],
            20: [starts(1, 2)],
        },
        restart_overhead=1.0,
    )


def test_the_drawn_schedule_is_sound() -> None:
    """Its runs are as drawn, and no rule is broken."""
    schedule = stopped()
    names = [
        "job_number",
        "start_time",
        "end_time",
        "allocated_processors",
        "work",
        "lost_work",
        "overhead",
        "ended_by",
    ]
    assert [
        [1, 0, 4, 2, 4, 1, 0, "checkpointed"],
        [2, 0, 5, 2, 5, 0, 0, "suspended"],
        [1, 5, 9, 2, 3, 0, 1, "resized"],
        [3, 5, 7, 2, 2, 2, 0, "killed"],
        [1, 9, 18, 1, 4, 0, 1, "completed"],
        [3, 10, 18, 2, 8, 0, 0, "completed"],
        [2, 20, 22, 2, 1, 0, 1, "completed"],
    ] == schedule.segments[names].to_numpy().tolist()
    assert {} == broken(schedule, trace=traced())
    assert {} == broken(schedule)


def both(*changes: Callable[[Schedule], Schedule]) -> Callable[[Schedule], Schedule]:
    """Return several changes, one after the other."""

    def change(schedule: Schedule) -> Schedule:
        for each in changes:
            schedule = each(schedule)
        return schedule

    return change


def with_option(**options: Any) -> Callable[[Schedule], Schedule]:
    """Return what changes an option of the run."""
    return lambda schedule: replace(schedule, options={**schedule.options, **options})


CHANGES: dict[str, tuple[Callable[[Schedule], Schedule], dict[str, list[int]]]] = {
    "work below zero": (with_run(3, work=-2.0), {"values": [3], "columns": [3]}),
    "missing overhead": (with_run(2, overhead=np.nan), {"values": [1], "columns": [1], "trace": [1]}),
    "unknown end": (
        with_run(1, ended_by="vanished"),
        {"values": [2], "overhead": [2], "columns": [2] * 3, "trace": [2]},
    ),
    "missing end": (with_run(3, ended_by=None), {"values": [3], "columns": [3]}),
    "never to its end": (with_run(5, ended_by="killed", lost_work=8.0), {"once": [3], "columns": [3]}),
    "two ends": (with_run(3, ended_by="completed"), {"once": [3], "columns": [3] * 3}),
    "less work than time": (with_run(5, work=7.0), {"run-time": [3], "columns": [3], "trace": [3]}),
    "overhead instead of work": (with_run(3, work=1.0, lost_work=1.0, overhead=1.0), {"overhead": [3]}),
    "no overhead": (with_run(6, work=2.0, overhead=0.0), {"overhead": [2], "trace": [2]}),
    "shorter by the overhead": (
        both(with_run(6, end_time=21.0, overhead=0.0), with_job(1, end_time=21.0, run_time=6.0)),
        {"overhead": [2]},
    ),
    "another option": (with_option(restart_overhead="uniform:per_processor=0.5"), {"overhead": [1]}),
    "more is lost": (with_run(0, lost_work=2.0), {"work": [1]}),
    "less is lost": (with_run(0, lost_work=0.0), {"work": [1]}),
    "a kill that loses nothing": (with_run(3, lost_work=0.0), {"work": [3]}),
    "suspended instead of killed": (
        with_run(3, ended_by="suspended"),
        {"work": [3], "overhead": [3], "columns": [3, 3], "trace": [3]},
    ),
    "killed instead of suspended": (
        with_run(1, ended_by="killed", lost_work=5.0),
        {"work": [2], "overhead": [2], "columns": [2, 2], "trace": [2]},
    ),
    "more work than the job has": (
        with_run(3, start_time=0.0, end_time=9.0, work=9.0, lost_work=9.0),
        {"work": [3], "capacity": [3]},
    ),
    "resized and late": (
        both(with_run(4, start_time=9.5, end_time=18.5), with_job(0, end_time=18.5)),
        {"overlap": [1]},
    ),
    "two at a time": (with_run(3, start_time=9.5, end_time=11.5), {"overlap": [3], "capacity": [3]}),
    "rigid and resized": (
        with_run(3, allocated_processors=1),
        {"width": [3]},
    ),
    "another width than the last run's": (with_job(0, allocated_processors=2), {"width": [1]}),
    "preempted by a resize": (with_job(0, preemptions=2), {"columns": [1]}),
    "start of the run that was lost": (
        with_job(2, start_time=5.0, wait_time=5.0, run_time=10.0),
        {"columns": [3, 3]},
    ),
    "not backfilled": (with_job(2, is_backfilled=True), {"columns": [3]}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_rule_is_broken(name: str) -> None:
    """A fault is found by its rule, at its job."""
    change, expected = CHANGES[name]
    found = broken(change(stopped()), trace=traced())
    assert {rule: sorted(jobs) for rule, jobs in expected.items()} == {r: sorted(jobs) for r, jobs in found.items()}


def test_widths_are_held_against_the_curve() -> None:
    """A width beyond the bounds, and a time that is not the curve's, are found where the trace is given."""
    schedule = stopped()
    bounded = traced().with_jobs(traced().jobs.assign(minimum_processors=pd.array([2, 2, 2], dtype="Int64")))
    assert {"trace": [1, 1]} == broken(schedule, trace=bounded)
    slower = both(with_run(4, end_time=19.0), with_job(0, end_time=19.0, run_time=18.0))(schedule)
    assert {"trace": [1]} == broken(slower, trace=traced())
    rigid = traced().with_jobs(traced().jobs.assign(speedup_curve=pd.array([None] * 3, dtype="str")))
    assert {"trace": [1, 1]} == broken(schedule, trace=rigid)


def test_a_checkpoint_keeps_whole_intervals() -> None:
    """Under another interval, or where the job writes none, other work is lost."""
    schedule = stopped()
    for interval, is_sound in ((3.0, True), (1.5, True), (2.0, False), (np.nan, False)):
        changed = with_job(0, checkpoint_interval=interval)(schedule)
        assert is_sound == ("work" not in broken(changed))


def test_an_overhead_by_a_column_that_is_not_there_is_told() -> None:
    """The column may be in the trace only; where it is nowhere, the message says what to pass."""
    schedule = disturbed(with_curves(crowded_trace(20, 8)), 1, restart_overhead="column:name=cost_of_going_on")
    bare = replace(schedule, jobs=schedule.jobs.drop(columns="cost_of_going_on"))
    assert validate(bare, trace=with_curves(crowded_trace(20, 8))).ok
    with pytest.raises(ParameterError, match=r"column:name=cost_of_going_on.*pass trace="):
        validate(bare)


def test_promises_are_not_checked_where_a_job_was_resized() -> None:
    """A resize changes what others were promised, as a stop does."""
    trace = drawn("submit run width / 0 10 2")
    schedule = scripted(trace, {0: [starts(0, 2)], 4: [resizes(0, 4)]})
    report = validate(schedule, trace=trace, policy="easy")
    assert (True, ("promises not checked: jobs were stopped or resized",)) == (report.ok, report.notes)


def test_messages() -> None:
    """They name the job, the run and what it would be."""
    text = str(validate(both(with_run(0, lost_work=0.0), with_run(6, work=2.0, overhead=0.0))(stopped())))
    assert "job 1: lost_work of the run from 0 s on is 0, and would be 1" in text
    assert "job 2: overhead of the run from 20 s on is 0, and would be 1" in text
    late = both(with_run(4, start_time=9.5, end_time=18.5), with_job(0, end_time=18.5))(stopped())
    assert "job 1, which was resized, goes on only at 9.5 s" in str(validate(late))
    gone = with_run(1, ended_by="vanished")(stopped())
    assert "a run of job 2 has ended_by='vanished', which is none of killed, checkpointed" in str(validate(gone))

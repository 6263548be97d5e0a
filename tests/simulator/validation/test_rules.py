# SPDX-License-Identifier: BSD-3-Clause
"""The validator: each rule is broken on purpose, and a sound schedule passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest

from swftools import Trace
from swftools.simulator.entry_points import simulate
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.report import EXAMPLES, validate
from swftools.simulator.validation.rules import RULES
from tests.drawn import draw_schedule, draw_trace
from tests.every_policy import with_all_columns
from tests.simulator.validation.faults import CHANGES, PROMISES, broken, sound, with_job, with_more_runs, with_run


def test_sound_schedule_passes() -> None:
    """A schedule without fault is valid, and the report says what was checked."""
    report = validate(sound())
    assert report.ok
    assert report.violations.empty
    assert [rule for rule in RULES if rule not in ("trace", "dependencies")] == list(report.checked)
    assert "3 jobs on 4 processors: valid" in str(report)


def test_schedule_without_jobs_passes() -> None:
    """No jobs are nothing wrong, under any policy."""
    trace = with_all_columns(Trace.from_columns(machine_processors=4))
    for policy in PROMISES:
        report = validate(simulate(trace, policy), trace=trace)
        assert report.ok
        assert set(PROMISES[policy]) <= set(report.checked)
    assert validate(pd.DataFrame({"job_number": [], "start": []}), trace=trace).ok


@pytest.mark.parametrize("name", CHANGES)
def test_each_rule_is_broken(name: str) -> None:
    """A fault is found by its rule, at its job, and by no other rule."""
    change, expected = CHANGES[name]
    assert expected == broken(change(sound()))


def test_preempted_job_passes() -> None:
    """A job that was stopped, and began anew, is as it should be; its promises are not checked."""
    more = with_more_runs(
        job_number=[2], start_time=[6.0], end_time=[8.0], allocated_processors=[1], ended_by=["killed"]
    )
    width = with_job(1, preemptions=1, allocated_processors=1)
    schedule = with_run(2, allocated_processors=1)(width(more(sound())))
    report = validate(schedule, policy="easy")
    assert report.ok
    assert (
        "not checked against a trace: none is given",
        "promises not checked: jobs were stopped or resized",
    ) == report.notes


def test_ends_come_before_starts() -> None:
    """A job may start where another ends, and runs of no length take nothing."""
    assert {} == broken(draw_schedule("submit width run request start / 0 4 5 5 0 / 0 4 5 5 5 / 1 4 0 5 3"))


def test_capacity_at_an_instant() -> None:
    """The report names the instant, how many processors were in use, and by whom."""
    report = validate(draw_schedule("submit width run request start / 0 3 10 10 0 / 0 2 10 10 4 / 0 1 1 1 20"))
    row = report.violations.iloc[0]
    assert ("capacity", 4.0, 2, 1) == (row["rule"], row["time"], row["job_number"], row["count"])
    assert "5 of 4 processors in use from 4 s on, by jobs 1, 2" in str(report)


def test_first_violations_are_shown() -> None:
    """Of many violations the first by time are shown, and all are counted."""
    lines = "\n".join(["submit width run request start", *(f"{20 - i} 1 1 1 {19 - i}" for i in range(20))])
    found = validate(draw_schedule(lines)).violations
    assert [0.0, 1.0, 2.0, 3.0, 4.0] == found["time"].tolist()
    assert {20} == set(found["count"])
    assert len(found) == EXAMPLES


# ---------------------------------------------------------------- against the trace


def traced() -> tuple[Schedule, Trace]:
    """Return the sound schedule and its trace, in which one more job has no width."""
    trace = draw_trace(
        """
        job submit run request asked
        1   0      10  10      3
        2   1      5   5       2
        3   2      4   4       1
        4   3      1   1       .
        """,
        processors=4,
    )
    return simulate(trace, "easy"), trace


TRACE_CHANGES: dict[str, tuple[Callable[[Schedule], Schedule], list[int]]] = {
    "job lost": (
        lambda s: replace(s, jobs=s.jobs.iloc[:2], segments=s.segments[s.segments["job_number"] != 3]),
        [3],
    ),
    "exclusion lost": (lambda s: replace(s, excluded=s.excluded.iloc[:0]), [4]),
    "excluded, too": (lambda s: replace(s, excluded=s.excluded.assign(job_number=[3])), [3, 4]),
    "excluded, unknown": (
        lambda s: replace(s, excluded=pd.concat([s.excluded, s.excluded.assign(job_number=[9])])),
        [9],
    ),
    "unknown": (
        lambda s: replace(
            s, jobs=s.jobs.replace({"job_number": {3: 7}}), segments=s.segments.replace({"job_number": {3: 7}})
        ),
        [7, 3],
    ),
    "earlier submission": (with_job(1, submit_time=0.0, wait_time=10.0), [2]),
    "narrower": (lambda s: with_run(2, allocated_processors=1)(with_job(1, allocated_processors=1)(s)), [2]),
    "shorter": (lambda s: with_run(2, end_time=14.0, work=4.0)(with_job(1, end_time=14.0, run_time=4.0)(s)), [2]),
}


@pytest.mark.parametrize("name", TRACE_CHANGES)
def test_trace_rule_is_broken(name: str) -> None:
    """What differs from the trace is found, at its job."""
    change, jobs = TRACE_CHANGES[name]
    schedule, trace = traced()
    assert {} == broken(schedule, trace=trace)
    found = broken(change(schedule), trace=trace, policy="")
    assert {"trace"} == set(found)
    assert sorted(jobs) == sorted(found["trace"])


@pytest.mark.parametrize("semantics", ["instant", "pyss"])
@pytest.mark.parametrize("overrun", ["extend", "kill"])
@pytest.mark.parametrize("cancelled", ["drop", "end-at-once", "full-request"])
def test_options_of_the_simulation_are_known(semantics: str, overrun: str, cancelled: str) -> None:
    """Run times that options change are held against the trace as changed."""
    trace = draw_trace(
        """
        job submit run request asked
        1   0      10  5       3
        2   1      .   6       2
        3   2      0   4       1
        4   3      7   9       4
        """,
        processors=4,
    )
    schedule = simulate(trace, "easy", overrun=overrun, cancelled=cancelled, semantics=semantics)
    assert {} == broken(schedule, trace=trace)

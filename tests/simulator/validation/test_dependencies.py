# SPDX-License-Identifier: BSD-3-Clause
"""Whether jobs wait for those that they depend on: faults by hand, what is a note only, and plain loops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import simulate
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.report import ValidationReport, validate
from tests.drawn import draw_trace
from tests.examples import examples
from tests.naive.dependencies import eligible, read_nodes

TRACE = """job submit wait run width request after think
             1    0    0   10   1      10     .     .
             2    1    0   20   1      20     1     5
             3    2    0    5   1       5     2     .
             4    3    9   30   9      30     .     .
             5    4    0    5   1       5     4     2"""
"""Job 4 is wider than the machine, and ended at 42 by its log."""

ELIGIBLE = {1: 0.0, 2: 15.0, 3: 35.0, 5: 44.0}


def check(starts: dict[int, float], *, follow: bool = True, **options: Any) -> ValidationReport:
    """Check a table of starts."""
    made = pd.DataFrame({"job_number": list(starts), "start_time": list(starts.values())})
    trace = draw_trace(TRACE, processors=4)
    return validate(made, trace=trace, dependencies="follow" if follow else None, **options)


def told(report: ValidationReport) -> dict[int, str]:
    """Return what is said of each job that starts too early."""
    broken = report.violations
    broken = broken[broken["rule"] == "dependencies"]
    return dict(zip(broken["job_number"].tolist(), broken["message"].tolist(), strict=True))


def test_a_schedule_that_waits_is_valid() -> None:
    """At the very time; the rule is among those that were checked."""
    report = check(ELIGIBLE)
    assert report.ok
    assert "dependencies" in report.checked
    assert not [note for note in report.notes if "depend" in note]


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (2, "job 2 starts at 14.5 s; it waits for job 1, which ends at 10 s, and 5 s more"),
        (3, "job 3 starts at 34.5 s; it waits for job 2, which ends at 35 s"),
        (5, "job 5 starts at 43.5 s; it waits for job 4, which ends at 42 s, and 2 s more"),
    ],
)
def test_a_start_too_early(job: int, words: str) -> None:
    """Named are what it waits for and until when; a job outside the simulation ended by its log."""
    report = check(ELIGIBLE | {job: ELIGIBLE[job] - 0.5})
    assert told(report)[job] == words


def test_without_being_asked_it_is_a_note() -> None:
    """How many are too early, of how many; the schedule is valid."""
    report = check(ELIGIBLE | {2: 14.5, 3: 2.0}, follow=False)
    note = "dependencies not followed: 2 of 3 jobs that wait for others start before these have ended"
    assert (report.ok, note in report.notes) == (True, True)
    assert "dependencies" not in report.checked
    assert not [
        note for note in validate(simulate(Trace.from_columns(machine_processors=4), "fcfs")).notes if "dep" in note
    ]


def test_what_the_run_says_counts() -> None:
    """Unless it is said otherwise; what is neither is refused."""
    trace = draw_trace(TRACE, processors=4)
    schedule = simulate(trace, "fcfs", dependencies="ignore")
    follows = replace(schedule, options={**schedule.options, "dependencies": "follow"})
    ignores = replace(schedule, options={**schedule.options, "dependencies": "ignore"})
    assert list(told(validate(follows, trace=trace))) == [2, 3, 5]
    assert validate(ignores, trace=trace).ok
    assert validate(follows, trace=trace, dependencies="ignore").ok
    assert not validate(ignores, trace=trace, dependencies="follow").ok
    with pytest.raises(ParameterError, match="dependencies='no' is not one of follow, ignore"):
        validate(schedule, trace=trace, dependencies="no")


def test_a_table_that_says_when_jobs_were_eligible() -> None:
    """What simulate wrote is checked as it was made, its promises too, unless it is to be told otherwise."""
    trace = draw_trace(TRACE, processors=4)
    schedule = simulate(trace, "easy")
    table = schedule.jobs[["job_number", "start_time", "ready_time"]]
    report = validate(table, trace=trace, policy="easy")
    assert report.ok
    assert "dependencies" in report.checked
    for other in (validate(table, trace=trace, dependencies="ignore"), validate(table.iloc[:, :2], trace=trace)):
        assert "dependencies" not in other.checked
        assert any("dependencies not followed" in note for note in other.notes)
    early = table.assign(start_time=table["start_time"].where(table["job_number"] != 3, 2.0))
    assert "dependencies" in set(validate(early, trace=trace).violations["rule"])


def with_reasons(schedule: Schedule, job: int, reason: str) -> Schedule:
    """Return a schedule without a job, which is excluded for a reason."""
    out = schedule.jobs["job_number"] == job
    runs = schedule.segments["job_number"] == job
    more = schedule.jobs.loc[out, ["job_number", "job_occurrence"]].assign(reason=reason)
    excluded = pd.concat([schedule.excluded, more], ignore_index=True)
    jobs, segments = (
        table[~is_it].reset_index(drop=True) for table, is_it in ((schedule.jobs, out), (schedule.segments, runs))
    )
    return replace(schedule, jobs=jobs, segments=segments, excluded=excluded, is_partial=True)


@pytest.mark.parametrize(
    ("reason", "words"), [("not ended by 40 s", "which has not ended"), ("taken out at 3 s", None)]
)
def test_of_a_simulation_that_is_not_over(reason: str, words: str | None) -> None:
    """What has not ended keeps others waiting; what was taken out does not."""
    trace = draw_trace(TRACE, processors=4)
    schedule = with_reasons(simulate(trace, "fcfs", dependencies="ignore"), 2, reason)
    found = told(validate(schedule, trace=trace, dependencies="follow"))
    assert (3 in found) == (words is not None)
    assert words is None or words in found[3]


def test_columns_of_eligibility() -> None:
    """They are what they should be: ready_time by the trace, ready_wait by that."""
    trace = draw_trace(TRACE, processors=4)
    schedule = simulate(trace, "fcfs", dependencies="ignore")
    ready = schedule.jobs.assign(ready_time=schedule.jobs["submit_time"], ready_wait=schedule.jobs["wait_time"])
    alone = trace.with_jobs(trace.jobs.assign(preceding_job_number=pd.array([None] * 5, "Int64")))
    assert validate(replace(schedule, jobs=ready), trace=alone).ok
    wrong = ready.assign(ready_wait=ready["ready_wait"] + 1)
    found = validate(replace(schedule, jobs=wrong), trace=alone).violations
    assert found["message"].iloc[0] == "job 1: ready_wait is 1, and would be 0"
    found = validate(replace(schedule, jobs=ready), trace=trace, dependencies="follow").violations
    assert "job 2: ready_time is 1, and would be 15" in found["message"].tolist()


def test_promises_are_those_of_the_queue() -> None:
    """Who is not yet eligible is not the head, and overtakes nobody."""
    trace = draw_trace(
        """job submit run width request after
             1    0    10   4      10     .
             2    1     5   4       5     1
             3    1     5   4       5     .
             4    2     5   4       5     .""",
        processors=4,
    )
    made = pd.DataFrame({"job_number": [1, 2, 3, 4], "start_time": [0.0, 20.0, 10.0, 15.0]})
    fine = validate(made, trace=trace, policy="fcfs", semantics="instant", dependencies="follow")
    assert fine.ok, str(fine)
    assert not validate(made, trace=trace, policy="fcfs", semantics="instant").ok
    # At 10 jobs 2 and 3 of one submission are eligible: job 4, which came later, before them is out of order.
    other = made.assign(start_time=[0.0, 15.0, 20.0, 10.0])
    wrong = validate(other, trace=trace, policy="fcfs", semantics="instant", dependencies="follow")
    assert "order" in set(wrong.violations["rule"])


@pytest.mark.parametrize(("starts", "is_fine"), [([0.0, 10.0, 15.0], True), ([0.0, 15.0, 10.0], False)])
def test_who_is_eligible_together_stands_in_order_of_submission(starts: list[float], is_fine: bool) -> None:
    """Not of the numbers."""
    table = "job submit run width request after\n1 0 10 4 10 .\n9 1 5 4 5 1\n2 2 5 4 5 1"
    trace = draw_trace(table, processors=4)
    made = pd.DataFrame({"job_number": [1, 9, 2], "start_time": starts})
    report = validate(made, trace=trace, policy="fcfs", semantics="instant", dependencies="follow")
    assert report.ok == is_fine
    assert is_fine or report.violations["job_number"].tolist() == [2], "it is named by its own number"


_job = st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(0, 5), st.integers(0, 20))


@examples(0.4)
@given(jobs=st.lists(_job, min_size=1, max_size=8), unique=st.booleans())
def test_twin(jobs: list[tuple[int, int, int, int]], unique: bool) -> None:
    """Those are named that start before plain loops say; numbers may repeat."""
    trace = Trace.from_columns(
        machine_processors=100,
        job_number=[place if unique else job[0] for place, job in enumerate(jobs, 1)],
        submit_time=[job[1] for job in jobs],
        run_time=[4.0] * len(jobs),
        requested_processors=[1] * len(jobs),
        preceding_job_number=[job[2] or -1 for job in jobs],
        think_time=[place % 3 - 1 for place in range(len(jobs))],
    )
    starts = [float(max(job[1], job[3])) for job in jobs]
    table = pd.DataFrame({"job_number": trace.jobs["job_number"], "start_time": starts})
    nodes, _ = read_nodes(trace)
    ends = {row: start + 4.0 for row, start in enumerate(starts)}
    early = sum(starts[node.row] < eligible(node, ends) - 1e-6 for node in nodes)
    found = validate(table, trace=trace, dependencies="follow").violations
    counts = found.loc[found["rule"] == "dependencies", "count"]
    assert (counts.iloc[0] if len(counts) else 0) == early

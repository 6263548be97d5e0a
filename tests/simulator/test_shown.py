# SPDX-License-Identifier: BSD-3-Clause
"""What schedules and reports of validation print, and what a notebook shows of them."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from swftools import Schedule, Trace, simulate, validate
from swftools.output.shown_html import _width

TRACE = Trace.from_columns(
    machine_processors=4,
    job_number=[1, 2, 3, 4],
    submit_time=[0, 1, 2, 3],
    run_time=[10, 10, 5, -1],
    requested_time=[10, 10, 5, 5],
    requested_processors=[3, 4, 1, 1],
)

EVIL = "<script>x</script>\u202e\n"


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    """Three jobs, of which the last overtakes the second; a fourth never ran."""
    return simulate(TRACE, "easy", compiled=False)


def test_a_schedule(schedule: Schedule) -> None:
    """Policy, jobs, machine and length; waits; what was left out and why."""
    assert repr(schedule) == (
        "Schedule: easy, 3 jobs on 4 processors, 20 s\n"
        "mean wait 3 s, backfilled 33 %, 3 runs\n"
        "excluded: no run_time (cancelled=drop) 1"
    )
    page = schedule._repr_html_()
    assert page.count("<tr>") == 4
    assert ">yes</td>" in page
    assert "rows" not in page


def test_a_schedule_without_jobs(schedule: Schedule) -> None:
    """Also a partial one, of no policy that is known."""
    empty = Schedule(schedule.jobs[:0], schedule.segments[:0], schedule.excluded[:0], 1, "", is_partial=True)
    assert repr(empty) == (
        "Schedule: another simulator, no jobs on 1 processor\nis partial, no runs\nexcluded: no jobs"
    )
    assert "<table>" not in empty._repr_html_()


def test_a_schedule_with_few_columns(schedule: Schedule) -> None:
    """What is not there is not told."""
    lean = replace(schedule, jobs=schedule.jobs.drop(columns=["is_backfilled", "preemptions"]))
    assert "mean wait 3 s, 3 runs" in repr(lean)
    assert "is_backfilled" not in lean._repr_html_()


def test_a_hostile_schedule(schedule: Schedule) -> None:
    """Names of policies and reasons are text."""
    excluded = schedule.excluded.assign(reason=EVIL)
    evil = replace(schedule, policy=EVIL, excluded=excluded)
    assert repr(evil).startswith("Schedule: <script>x</script>\\u202e\\n, 3 jobs")
    assert len(repr(evil).split("\n")) == 3
    assert "<script" not in evil._repr_html_()
    assert "\u202e" not in evil._repr_html_()


def test_a_report(schedule: Schedule) -> None:
    """Verdict, what is broken, what was checked: cut on a terminal, whole in a notebook."""
    told = repr(validate(schedule))
    assert told.startswith(
        "ValidationReport: schedule of easy, 3 jobs on 4 processors: valid\nbroken: nothing\nchecked: values, once, "
    )
    assert max(map(_width, told.split("\n"))) <= 100
    assert "not checked against a trace: none is given" in validate(schedule)._repr_html_()


def test_a_report_of_faults() -> None:
    """Each rule with how often it is broken; the violations as a table."""
    report = validate(pd.DataFrame({"job_number": [1, 2, 3], "start_time": [0, 5, 0]}), trace=TRACE)
    verdict, broken, checked = repr(report).split("\n")
    assert verdict == "ValidationReport: schedule, 3 jobs on 4 processors: NOT VALID, 2 of 11 rules broken"
    assert broken == "broken: submission 1 time, capacity 1 time"
    assert checked.startswith("checked: values, once")
    assert report._repr_html_().count("<tr>") == 1 + len(report.violations)
    assert str(report).count("\n") > 3

# SPDX-License-Identifier: BSD-3-Clause
"""What a run begins with that goes on with work done before, as the option says."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import KILL, RUNNING, SUSPEND, Policy, Schedule, first_waiting, fits, preempt, simulate, start
from swftools.simulator.restart import find_restart_overhead


def short_first(machine: Any) -> None:
    """Let the second job go ahead of the first, which is suspended."""
    job = first_waiting(machine)
    if job == 1 and machine.counts[RUNNING] > 0:
        preempt(machine, 0, SUSPEND)
        start(machine, 1)
    elif fits(machine, job):
        start(machine, job)


def short_first_killing(machine: Any) -> None:
    """Do the same, and lose the work."""
    job = first_waiting(machine)
    if job == 1 and machine.counts[RUNNING] > 0:
        preempt(machine, 0, KILL)
        start(machine, 1)
    elif fits(machine, job):
        start(machine, job)


def two_jobs() -> Trace:
    """Return a long job, a short one that comes while it runs, and one without a run time, which is left out."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3],
        submit_time=[0, 4, 5],
        run_time=[10, 3, None],
        requested_time=[10, 3, 3],
        requested_processors=[4, 4, 1],
    )
    return trace.with_jobs(trace.jobs.assign(mine=pd.array([1.5, 0.0, None], dtype="Float64"), colour="red"))


def run(overhead: Any, *, compiled: bool = True, kills: bool = False) -> Schedule:
    """Simulate the two jobs."""
    policy = Policy("short-first-killing", short_first_killing) if kills else Policy("short-first", short_first)
    return simulate(two_jobs(), policy, restart_overhead=overhead, compiled=compiled)


@pytest.mark.parametrize(
    ("given", "seconds", "recorded"),
    [
        (0, 0, "uniform:seconds=0.0,per_processor=0.0"),
        (5, 5, "uniform:seconds=5.0,per_processor=0.0"),
        (" 2.5 ", 2.5, "uniform:seconds=2.5,per_processor=0.0"),
        ("uniform:per_processor=0.5", 2, "uniform:seconds=0.0,per_processor=0.5"),
        ("uniform:seconds=3,per_processor=0.5", 5, "uniform:seconds=3,per_processor=0.5"),
        ("column:name=mine", 1.5, "column:name=mine"),
    ],
)
def test_the_run_that_goes_on_has_it(given: Any, seconds: float, recorded: str, compiled: bool) -> None:
    """Job 1 runs 4 s, is suspended for 3, and ends its last 6 s behind the overhead; no other run has any."""
    schedule = run(given, compiled=compiled)
    assert [13 + seconds, 7] == schedule.jobs["end_time"].tolist()
    assert [0, 0, seconds] == schedule.segments["overhead"].tolist()
    assert recorded == schedule.options["restart_overhead"]
    assert recorded == find_restart_overhead(recorded).to_text()


def test_a_run_that_begins_anew_has_none() -> None:
    """What was killed goes on with nothing."""
    schedule = run(5, kills=True)
    assert [17, 7] == schedule.jobs["end_time"].tolist()
    assert [0, 0, 0] == schedule.segments["overhead"].tolist()


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (-1, "uniform: seconds=-1.0 is not a number of 0 or more"),
        ("-1", "uniform: seconds=-1.0 is not a number of 0 or more"),
        (float("nan"), "restart_overhead=nan is neither seconds nor one of uniform, column"),
        ("uniform:speed=2", r"uniform: unknown parameters \['speed'\]; there are: seconds, per_processor"),
        ("colum:name=mine", r"no restart_overhead 'colum'; .*did you mean column\?"),
        ("column:name=mind", r"the jobs have no column 'mind'; did you mean mine\?"),
        ("column", "the jobs have no column ''"),
        ("column:name=colour", "column 'colour' is not of numbers"),
        (None, "restart_overhead=None is neither seconds"),
    ],
)
def test_wrong_ones_are_refused(given: Any, complaint: str) -> None:
    """With what there is, before anything runs."""
    with pytest.raises(ParameterError, match=complaint):
        run(given)


@pytest.mark.parametrize("value", [None, -1.0, float("inf")])
def test_a_column_says_it_of_every_job_that_is_simulated(value: float | None) -> None:
    """A missing one is no 0; the job is named. Of jobs that are left out it does not matter."""
    trace = two_jobs()
    trace = trace.with_jobs(trace.jobs.assign(mine=pd.array([1.5, value, None], dtype="Float64")))
    with pytest.raises(ParameterError, match=r"column 'mine' is \S+ for job 2 \(and 0 others\); give seconds of 0 or"):
        simulate(trace, "fcfs", restart_overhead="column:name=mine")

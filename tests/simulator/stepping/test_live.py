"""Queues that are followed: what is submitted, ends, is cancelled or goes away while it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.simulator import Schedule, Stepper, simulate, validate
from tests.every_policy import OURS, light, with_all_columns
from tests.strategies import crowded_trace

POLICIES = [*map(light, OURS), "pv-easy:order=lxf,preemption=suspend", "genetic:generations=1,individuals=6"]
OTHERS = (
    *("priority_rank", "checkpoint_interval", "utility", "speedup_curve", "downey_a", "downey_sigma"),
    *("minimum_processors", "maximum_processors"),
)
"""Columns that a job is submitted with, beside those that ``submit`` names."""


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs that queue, with whatever any policy needs, and requests that none exceeds."""
    made = crowded_trace(40, seed=4)
    requested = np.fmax(made.jobs["requested_time"], made.jobs["run_time"])
    return with_all_columns(made.with_jobs(made.jobs.assign(requested_time=requested)))


def opened(trace: Trace, policy: str, **options: Any) -> Stepper:
    """Return a machine for the jobs of a trace, none of which is there."""
    return Stepper(trace.with_jobs(trace.jobs.iloc[:0]), policy, trace.processors, **options)


def submit(stepper: Stepper, job: Any, *, knows: bool = True, **more: Any) -> int:
    """Submit a row of a trace."""

    def known(name: str) -> Any:
        value = getattr(job, name)
        return None if value is pd.NA else value

    others = {name: getattr(job, name) for name in OTHERS if name in job._fields}
    return stepper.submit(
        int(job.allocated_processors if job.allocated_processors is not pd.NA else job.requested_processors),
        known("requested_time"),
        job.run_time if knows else None,
        at=job.submit_time,
        job_number=int(job.job_number),
        user=known("user_id"),
        queue=known("queue_id"),
        **others | more,
    )


def assert_same(ours: Schedule, theirs: Schedule) -> None:
    """The same runs of the same jobs, bit for bit."""
    pd.testing.assert_frame_equal(ours.segments, theirs.segments, check_exact=True)
    names = ["job_number", "submit_time", "start_time", "end_time", "wait_time", "run_time", "allocated_processors"]
    pd.testing.assert_frame_equal(ours.jobs[names], theirs.jobs[names], check_exact=True)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_queue_that_is_followed_is_the_whole(trace: Trace, policy: str) -> None:
    """Jobs that are submitted when they come are scheduled as those of a trace that has them all, by every policy."""
    stepper = opened(trace, policy, seed=3)
    for job in trace.jobs.itertuples():
        stepper.run(before=job.submit_time)
        submit(stepper, job)
    plain = simulate(trace, policy, seed=3)
    ours = stepper.finish()
    assert_same(ours, plain)
    assert ours.policy == plain.policy
    assert validate(ours).ok


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "lxf-backfill", "fixed", "search", "pv-easy"])
def test_nobody_knows_how_long_jobs_run(trace: Trace, policy: str) -> None:
    """Jobs are submitted without run times, and told to end when they do: the same schedule."""
    plain = simulate(trace, policy)
    runs = plain.segments[plain.segments["ended_by"] == "completed"]
    happens = [(job.submit_time, 1, job) for job in trace.jobs.itertuples()]
    happens += [(run.end_time, 0, run) for run in runs.itertuples()]
    stepper, numbers = opened(trace, policy), {}
    for time, is_submission, what in sorted(happens, key=lambda each: each[:2]):
        stepper.run(before=time)
        if is_submission:
            numbers[what.job_number] = submit(stepper, what, knows=False)
        else:
            stepper.end(numbers[what.job_number], at=time)
    assert_same(stepper.finish(), plain)


def test_it_goes_on_as_forks_do(trace: Trace) -> None:
    """Forks of a queue that is followed, and jobs submitted in these, beside copies of it."""
    stepper = opened(trace, "conservative")
    for job in trace.jobs.itertuples():
        stepper.run(before=job.submit_time)
        submit(stepper, job)
        fork, copy = stepper.fork(None), stepper.copy()
        for other in (fork, copy):
            other.submit(2, 50.0, 20.0, job_number=1000)
        ours, whole = (
            dict(zip(each.jobs["job_number"], each.jobs["start_time"], strict=True))
            for each in (fork.finish(), copy.finish())
        )
        assert 1000 in ours
        assert ours.items() <= whole.items()
    assert_same(stepper.finish(), simulate(trace, "conservative"))

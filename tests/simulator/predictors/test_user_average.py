# SPDX-License-Identifier: BSD-3-Clause
"""``user-average``: what policies are told is the mean run time of the user's last finished jobs."""

from __future__ import annotations

from typing import Any

import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import Simulation, simulate
from tests.drawn import draw_trace
from tests.naive.predictors import user_average
from tests.naive.simulator import TWINS
from tests.simulator.twin import naive_runs, naive_starts_of
from tests.strategies import crowded_trace

JOBS = """
    submit run request width user
    0       4      20     1    1
    0      10      20     1    1
    1       3       9     1    2
    5       7      20     1    1
    10      1      20     1    1
    11      1       5     1    1
    12      1      20     1    1
    12      6      30     1    .
    12      6      30     1    .
    20      6      30     1    .
    20      2      30     1    2
"""


@pytest.mark.parametrize(
    ("predictor", "told"),
    [
        # Job 4 comes when one has ended, job 5 at the very second at which the second does (4 and 10: 7); job 6 asks
        # for less than (10 + 1) / 2, job 7 comes as jobs 4 (5 to 12) and 6 (11 to 12) end, of which 4 began first.
        ("user-average", [20, 20, 9, 20, 7, 5, 4, 30, 30, 30, 30]),
        ("user-average:jobs=1", [20, 20, 9, 4, 10, 1, 1, 30, 30, 30, 3]),
        ("user-average:jobs=3", [20, 20, 9, 20, 20, 5, 3, 30, 30, 30, 30]),
        ("user-average:jobs=1000", [20, 20, 9, 20, 20, 5, 20, 30, 30, 30, 30]),
    ],
)
def test_by_hand(predictor: str, told: list[float], compiled: bool) -> None:
    """Ended by the second of submission, in order of end; never more than the request; unknown users as they say."""
    schedule = simulate(draw_trace(JOBS, processors=16), "fcfs", predictor=predictor, compiled=compiled)
    assert told == schedule.jobs["estimated_time"].tolist()
    assert schedule.jobs["submit_time"].equals(schedule.jobs["start_time"])


def test_the_order_is_that_of_ends() -> None:
    """A long job that was submitted first and ends last is the last one."""
    trace = draw_trace(
        """
        submit run request width user
        0      50     100     1    1
        1       2     100     1    1
        2       6     100     1    1
        60      1     100     1    1
        """,
        processors=4,
    )
    assert [100, 100, 100, 28] == simulate(trace, "fcfs", predictor="user-average").jobs["estimated_time"].tolist()


def told_and_started(trace: Trace, policy: str, predictor: str, **options: Any) -> list[list[float]]:
    """Return predictions and starts."""
    jobs = simulate(trace, policy, predictor=predictor, **options).jobs
    return [jobs["estimated_time"].tolist(), jobs["start_time"].tolist()]


@pytest.mark.parametrize(
    ("name", "count", "overrun"),
    [  # by day each two of these together
        pytest.param(name, count, overrun, marks=() if (i + j + k) % 3 == 0 else (pytest.mark.slow,))
        for i, name in enumerate(["easy", "sjf-backfill", "conservative-replanned"])
        for j, count in enumerate([1, 2, 5])
        for k, overrun in enumerate(["extend", "kill", "run-on"])
    ],
)
def test_as_the_slow_simulator(name: str, count: int, overrun: str) -> None:
    """Job by job, where many wait and predictions are outlived all the time; compiled and interpreted."""
    twin = next(twin for known, parameters, twin in TWINS if known == name and set(parameters.values()) <= {"fcfs", 1})
    trace = crowded_trace(60, seed=count)
    work, jobs, _ = naive_runs(trace, twin, observe=user_average(count), overrun=overrun)
    found = told_and_started(trace, name, f"user-average:jobs={count}", overrun=overrun)
    assert naive_starts_of(work, jobs) == found[1]
    assert found == told_and_started(trace, name, f"user-average:jobs={count}", overrun=overrun, compiled=False)
    assert found != told_and_started(trace, name, "request", overrun=overrun)


def test_a_copy_goes_on_by_itself() -> None:
    """What the memory has is copied with the simulation."""
    trace = crowded_trace(200)
    whole = simulate(trace, "easy", predictor="user-average:outlived=increments").jobs
    first = Simulation(trace, "easy", predictor="user-average:outlived=increments").run(until=500)
    other = first.copy().run()
    assert whole.equals(other.schedule().jobs)
    assert whole.equals(first.run().schedule().jobs)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("user-average:jobs=0", "user-average: jobs=0 is not an integer from 1 to 1000"),
        ("user-average:jobs=1001", "jobs=1001 is not an integer"),
        ("user-average:jobs=2.0", "jobs=2.0 is not an integer"),
        ("user-average:outlived=never", "user-average: outlived='never' is not one of limit, increments"),
        ("last-model:outlived=1", "last-model: outlived=1 is not one of limit, increments"),
        ("last-model:outlive=limit", "did you mean outlived"),
    ],
)
def test_wrong_parameters_are_refused(text: str, complaint: str) -> None:
    """By name, before anything runs."""
    with pytest.raises(ParameterError, match=complaint):
        simulate(crowded_trace(3), "fcfs", predictor=text)

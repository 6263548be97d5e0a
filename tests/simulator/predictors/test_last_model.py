# SPDX-License-Identifier: BSD-3-Clause
"""``last-model``: what policies are told follows from how much of its request the user's last finished job used."""

from __future__ import annotations

import numpy as np
import pytest

from swftools import Trace
from swftools.simulator import simulate
from tests.drawn import draw_trace
from tests.examples import pairs
from tests.naive.simulator import TWINS, Job, Policy, last_model, simulate_naively
from tests.strategies import crowded_trace

JOBS = """
    submit run request width user
    0        5      20     1    1
    5       40      40     1    1
    6        2       8     1    2
    10       6      12     1    1
    50       6      12     1    1
    60       9      30     1    .
    60       9     100     1    2
    70      50      20     1    3
    125      9      20     1    3
"""


def test_by_hand(compiled: bool) -> None:
    """What has ended at the very second of a submission counts; of what ended, the last end; unknown users are as said.

    Job 2 comes as job 1 ends, having used a quarter. Job 4 comes while job 2 runs. Job 5 comes after job 2, which used
    all, ended later than job 4, which used half. Job 6 has no user. Job 8 outlives its request: that counts as all.
    """
    trace = draw_trace(JOBS, processors=16)
    schedule = simulate(trace, "fcfs", predictor="last-model", overrun="run-on", compiled=compiled)
    assert [20, 10, 8, 3, 12, 30, 25, 20, 20] == schedule.jobs["estimated_time"].tolist()
    assert schedule.jobs["submit_time"].equals(schedule.jobs["start_time"])


def naive_starts(trace: Trace, policy: Policy, overrun: str) -> list[float | None]:
    """Return the starts of the slow simulator."""
    arrays = trace.arrays
    limit = np.where(arrays.requested_time > 0, arrays.requested_time, arrays.run_time)
    if overrun == "extend":
        limit = np.maximum(limit, arrays.run_time)
    ranks = trace.jobs["priority_rank"].fillna(-1).astype(int)
    columns = (arrays.submit_time, arrays.width, arrays.run_time, limit, limit, arrays.user_id, ranks)
    jobs = [Job(*values) for values in zip(*(column.tolist() for column in columns), strict=True)]
    simulate_naively(jobs, trace.processors or 0, policy, observe=last_model())
    return [job.start for job in jobs]


@pytest.mark.parametrize(
    ("name", "overrun"),
    pairs(
        ["fcfs", "easy", "sjf-backfill", "lxf", "conservative", "conservative-replanned"], ["extend", "run-on"], each=1
    ),
)
def test_as_the_slow_simulator(name: str, overrun: str) -> None:
    """Job by job, where predictions are outlived all the time."""
    twin = next(twin for known, parameters, twin in TWINS if known == name and set(parameters.values()) <= {"fcfs", 1})
    for seed in (0, 1):
        trace = crowded_trace(70, seed=seed)
        schedule = simulate(trace, name, predictor="last-model", overrun=overrun)
        assert naive_starts(trace, twin, overrun) == schedule.jobs["start_time"].tolist()
        if name not in ("fcfs", "conservative"):
            assert (
                schedule.jobs["start_time"].tolist()
                != simulate(trace, name, overrun=overrun).jobs["start_time"].tolist()
            )

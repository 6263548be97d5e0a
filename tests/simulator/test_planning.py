# SPDX-License-Identifier: BSD-3-Clause
"""Planning an order of jobs on a profile: against intervals in a list, and taken back."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.simulator import RUNNING, Simulation, capacity, expected_time, now, waiting_jobs, width
from swftools.simulator.planning import empty_plan, hold_running, place_in_order, planned_end, unplace
from swftools.simulator.profile import copy_profile, empty_profile, least
from tests.strategies import crowded_trace

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

Interval = tuple[float, float, int]


def in_use(intervals: list[Interval], begin: float, end: float) -> int:
    """Return the most processors that are in use from one time until another."""
    moments = [begin, *(since for since, _, _ in intervals if begin < since < end)]
    return max(sum(held for since, until, held in intervals if since <= moment < until) for moment in moments)


@pytest.mark.parametrize("seed", range(4))
def test_an_order_is_placed_job_by_job(seed: int) -> None:
    """Each job begins as early as those before it in the order leave; taking all out leaves the running jobs."""
    rng = np.random.default_rng(seed)
    simulation = Simulation(crowded_trace(120, seed=seed), "fcfs")
    simulation.run(until=600)
    machine, plan = simulation._machine, empty_plan(120)
    jobs = rng.permutation(waiting_jobs(machine))
    assert len(jobs) > 5
    present, processors = now(machine), capacity(machine)
    hold_running(machine, plan.profile, 1.0)
    before = empty_profile(120)
    copy_profile(plan.profile, before)
    place_in_order(machine, plan, jobs)
    running = machine.running[: machine.counts[RUNNING]]
    held = [(present, planned_end(machine, job, 1.0), int(machine.allocated[job])) for job in running]
    for job in jobs:
        time, needed = expected_time(machine, job) or 1.0, width(machine, job)
        moments = sorted({present, *(until for _, until, _ in held if until > present)})
        begin = next(each for each in moments if in_use(held, each, each + time) + needed <= processors)
        assert (begin, begin + time) == (plan.begin[job], plan.end[job])
        held.append((begin, begin + time, int(needed)))
    for job in rng.permutation(jobs):
        unplace(plan, job, width(machine, job))
    assert not plan.is_placed.any()
    for end in np.unique([until for _, until, _ in held]) + 0.5:
        assert least(plan.profile, end) == least(before, end)

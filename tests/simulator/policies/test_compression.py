# SPDX-License-Identifier: BSD-3-Clause
"""Compression of conservative reservations: they are left alone where none can move, which changes no schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator import Policy, Simulation, simulate
from swftools.simulator.policies.conservative import FEW, MOVED, decide_by_plan, plan_memory
from tests.examples import by_day, examples
from tests.naive.simulator import TWINS
from tests.simulator.twin import naive_starts
from tests.strategies import crowded_trace, workloads


def looks_always(machine: Any, memory: Any) -> None:
    """Look at every reservation at each completion."""
    memory.counts[MOVED] = 1
    decide_by_plan(machine, memory, True)


TWIN_OF = {name: twin for name, _, twin in TWINS}
LOOKS_ALWAYS = Policy("looks-always", looks_always, memory=plan_memory)


def starts(trace: Trace, policy: str | Policy, **options: Any) -> list[float]:
    """Return when jobs start."""
    return list(simulate(trace, policy, **options).jobs["start_time"])


@examples(0.5)
@given(workloads(max_jobs=30), st.sampled_from(["request", "exact", "last-model"]), st.sampled_from(["extend", "kill"]))
def test_only_what_can_move_is_looked_at(trace: Trace, predictor: str, overrun: str) -> None:
    """With requests under, over and as long as the run times."""
    options = {"predictor": predictor, "overrun": overrun}
    assert starts(trace, LOOKS_ALWAYS, **options, compiled=False) == starts(trace, "conservative", **options)


@pytest.mark.parametrize("seed", by_day(range(6), 2))
@pytest.mark.parametrize("late", [0.0, 0.02, 0.2])
def test_seldom_early_ends(late: float, seed: int) -> None:
    """A share of the jobs ends before its plan does, so that most completions free nothing, and others set many off."""
    trace = crowded_trace(300, seed=seed)
    rng = np.random.default_rng(seed)
    longer = trace.arrays.run_time * np.where(rng.random(300) < late, 3.0, 1.0)
    trace = trace.with_jobs(trace.jobs.assign(requested_time=longer))
    assert starts(trace, LOOKS_ALWAYS, compiled=False) == starts(trace, "conservative")


@pytest.mark.parametrize(
    ("policy", "early", "overrun"),
    [
        pytest.param("conservative", 0.0, "extend", marks=pytest.mark.slow),
        pytest.param("conservative", 0.05, "extend", marks=pytest.mark.slow),
        ("conservative", 0.05, "run-on"),
        ("conservative-fixed", 0.0, "extend"),
        pytest.param("conservative-fixed", 0.05, "run-on", marks=pytest.mark.slow),
        ("conservative-replanned", 0.05, "extend"),
    ],
)
def test_a_long_queue_is_served_as_by_the_twin(policy: str, early: float, overrun: str) -> None:
    """So many wait that who is due stands in the agenda, which ends and outlived requests make useless at times."""
    jobs, later = FEW + 22, 7
    trace = crowded_trace(jobs, seed=4)
    rng = np.random.default_rng(4)
    factor = np.where(rng.random(jobs) < early, 0.5 if overrun == "run-on" else 2.0, 1.0)
    submit_time = np.where(np.arange(jobs) < jobs - later, 0.0, trace.arrays.submit_time)
    run_time = np.ceil(trace.arrays.run_time / 80) * 80  # so that many end together, which spares the twin decisions
    longer = np.ceil(run_time * factor)
    trace = trace.with_jobs(trace.jobs.assign(submit_time=submit_time, run_time=run_time, requested_time=longer))
    assert len(Simulation(trace, policy, overrun=overrun).run(until=0).waiting) > FEW
    assert starts(trace, policy, overrun=overrun) == naive_starts(trace, TWIN_OF[policy], "request", overrun)


def test_jobs_that_are_due_at_once_start_in_order_of_the_queue(compiled: bool) -> None:
    """Those of the agenda, and those that came just now behind them."""
    jobs = FEW + 40
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=np.arange(jobs) + 1,
        submit_time=np.where(np.arange(jobs) < jobs - 2, 0, 20),
        run_time=np.where(np.arange(jobs) == 0, 5, 10),
        requested_time=np.full(jobs, 10),
        allocated_processors=np.where(np.arange(jobs) == 0, 4, 1),
    )
    schedule = simulate(trace, "conservative-fixed", compiled=compiled)
    assert schedule.segments["job_number"].tolist() == list(range(1, jobs + 1))
    assert schedule.jobs["start_time"].tolist() == [0.0, *(10.0 * (1 + i // 4) for i in range(jobs - 1))]


def test_who_would_be_delayed_from_behind_a_full_time_is_not_planned(compiled: bool) -> None:
    """Job 4 could begin now if job 3 did not wait; job 5 may: it is done before job 3 begins, which takes all."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3, 4, 5, 6],
        submit_time=[0, 0, 1, 1, 1, 1],
        run_time=[1, 4, 3, 4, 3, 3],
        requested_time=[1, 4, 3, 4, 3, 3],
        allocated_processors=[1, 1, 4, 2, 2, 1],
    )
    schedule = simulate(trace, "conservative-replanned", compiled=compiled)
    assert schedule.jobs["start_time"].tolist() == [0.0, 0.0, 4.0, 7.0, 1.0, 1.0]


def test_who_stands_before_one_that_moved_follows_at_the_next_completion(compiled: bool) -> None:
    """What the last of the queue gives back is too late for job 3, at 5; at 6 all end as planned, and it has it."""
    trace = Trace.from_columns(
        machine_processors=3,
        job_number=[1, 2, 3, 4],
        submit_time=[0, 0, 1, 1],
        run_time=[5, 1, 2, 1],
        requested_time=[6, 1, 2, 1],
        allocated_processors=[3, 1, 3, 2],
    )
    simulation = Simulation(trace, "conservative", compiled=compiled)
    planned, moved = [], []
    for until in (4, 5, 6):
        simulation.run(until=until)
        memory = simulation._driver.decider.memory
        planned.append(memory.plan.begin.tolist())
        moved.append(memory.counts[MOVED])
    assert [[0.0, 6.0, 7.0, 6.0], [0.0, 5.0, 7.0, 5.0], [0.0, 5.0, 6.0, 5.0]] == planned
    assert [0, 2, 1] == moved

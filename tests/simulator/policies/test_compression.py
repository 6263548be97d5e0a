"""Compression of conservative reservations: they are left alone where none can move, which changes no schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator import Policy, Simulation, simulate
from swftools.simulator.policies.conservative import MOVED, decide_by_plan, plan_memory
from tests.strategies import crowded_trace, workloads


def looks_always(machine: Any, memory: Any) -> None:
    """Look at every reservation at each completion."""
    memory.counts[MOVED] = 1
    decide_by_plan(machine, memory, True)


LOOKS_ALWAYS = Policy("looks-always", looks_always, memory=plan_memory)


def starts(trace: Trace, policy: str | Policy, **options: Any) -> list[float]:
    """Return when jobs start."""
    return list(simulate(trace, policy, **options).jobs["start_time"])


@settings(max_examples=100)
@given(workloads(max_jobs=30), st.sampled_from(["request", "exact", "last-model"]), st.sampled_from(["extend", "kill"]))
def test_only_what_can_move_is_looked_at(trace: Trace, predictor: str, overrun: str) -> None:
    """With requests under, over and as long as the run times."""
    options = {"predictor": predictor, "overrun": overrun}
    assert starts(trace, LOOKS_ALWAYS, **options) == starts(trace, "conservative", **options)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("late", [0.0, 0.02, 0.2])
def test_seldom_early_ends(late: float, seed: int) -> None:
    """A share of the jobs ends before its plan does, so that most completions free nothing, and others set many off."""
    trace = crowded_trace(300, seed=seed)
    rng = np.random.default_rng(seed)
    longer = trace.arrays.run_time * np.where(rng.random(300) < late, 3.0, 1.0)
    trace = trace.with_jobs(trace.jobs.assign(requested_time=longer))
    assert starts(trace, LOOKS_ALWAYS) == starts(trace, "conservative")


@pytest.mark.parametrize("compiled", [True, False])
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

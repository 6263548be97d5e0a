# SPDX-License-Identifier: BSD-3-Clause
"""Counterfactuals by simulation: by hand, and against what is worked out of the schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import (
    Policy,
    Simulation,
    delays_at_heads,
    delays_from_submission,
    find_heads,
    list_policies,
    now,
    resize,
    simulate,
    start_on,
    wake_at,
)
from swftools.simulator.questions.fairness import _running_since_before
from tests.drawn import draw_trace
from tests.examples import examples, pairs
from tests.simulator.restless import RESTLESS
from tests.simulator.stopped import drawn
from tests.strategies import crowded_trace, workloads

STARTS_HEADS = ["fcfs", "easy", "easy:reservations=3", "sjf-backfill", "conservative"] + [
    name for name in ("pv-easy", "pv-easy:preemption=suspend", "pv-easy:venture=false") if "pv-easy" in list_policies()
]
"""Policies of the order of submission, which start the head whenever it fits."""

OF_SENSE = {"A": "start_alone", "B": "start_without_later"}

SHADOWS = draw_trace(
    """
    job submit run width request
    A   0      4   2     9
    C   0      8   1     8
    B   1      1   4     1
    D   2      7   1     7
    """,
    processors=4,
)
"""B is the blocked head from 1 on. C is ahead of it; D goes ahead, for A should run until 9, and ends at 9."""


def test_a_head_by_hand() -> None:
    """Without D, B would begin with the end of C, at 8."""
    for sense in "AB":
        delays = delays_at_heads(SHADOWS, "easy", sense=sense)
        assert delays.values.tolist() == [[3, 0, 1.0, 9.0, 8.0, 1.0]]


def test_the_senses_differ_by_who_runs_already() -> None:
    """E, behind B, runs since 1; B is the head from 3 on, when G starts. Alone it begins at 4, with E at 6."""
    trace = draw_trace(
        """
        job submit run width request
        A   0      3   3     3
        G   1      1   3     1
        B   1      1   4     1
        E   1      5   1     2
        """,
        processors=4,
    )
    for sense, start in (("A", 4.0), ("B", 6.0)):
        delays = delays_at_heads(trace, "easy", sense=sense, overrun="run-on")
        assert delays.values.tolist() == [[2, 0, 1.0, 3.0, 3.0, 0.0], [3, 0, 3.0, 6.0, start, 6.0 - start]]


def test_from_submission_by_hand() -> None:
    """C, which is submitted with A but behind it, is no later job of B; D is."""
    delays = delays_from_submission(SHADOWS, "easy")
    assert delays.values.tolist() == [[3, 0, 1.0, 9.0, 8.0, 1.0]]
    together = draw_trace("job submit run width request / A 0 4 3 9 / B 1 1 4 1 / D 1 7 1 7", processors=4)
    assert delays_from_submission(together, "easy")["delay"].tolist() == [4.0]


def test_a_job_may_gain_by_later_ones() -> None:
    """What later jobs let the policy do otherwise may bring a start forward: delays have either sign."""
    gains = [delays_from_submission(crowded_trace(60, 8, seed=seed), "easy")["delay"].min() for seed in range(6)]
    assert min(gains) < 0


@examples(0.25)
@given(
    trace=workloads(max_jobs=20),
    policy=st.sampled_from(STARTS_HEADS),
    predictor=st.sampled_from(["request", "last-model", "virtual:error=0.9"]),
    overrun=st.sampled_from(["extend", "run-on", "kill"]),
    sense=st.sampled_from(sorted(OF_SENSE)),
    compiled=st.booleans(),
)
def test_at_heads_it_is_what_the_schedule_says(
    trace: Trace, policy: str, predictor: str, overrun: str, sense: str, compiled: bool
) -> None:
    """The start that find_heads works out is that of the simulation."""
    options = {"predictor": predictor, "overrun": overrun, "compiled": compiled}
    heads = find_heads(simulate(trace, policy, **options)).set_index(["job_number", "job_occurrence"])
    delays = delays_at_heads(trace, policy, sense=sense, sample=None, **options)
    delays = delays.set_index(["job_number", "job_occurrence"]).loc[heads.index]
    assert delays["start_without"].tolist() == heads[OF_SENSE[sense]].tolist()
    assert delays["start_time"].tolist() == heads["start_time"].tolist()


@pytest.mark.parametrize(("policy", "predictor"), pairs(STARTS_HEADS, ["last-model", "virtual:error=0.9"], each=1))
def test_on_a_busy_machine_too(policy: str, predictor: str) -> None:
    """Long queues, and estimates that are wrong."""
    trace = crowded_trace(80, 16, seed=5)
    options = {"predictor": predictor, "overrun": "run-on"}
    heads = find_heads(simulate(trace, policy, **options)).set_index("job_number")
    differ = 0
    for sense, name in OF_SENSE.items():
        delays = delays_at_heads(trace, policy, sense=sense, sample=None, **options).set_index("job_number")
        assert delays["start_without"].tolist() == heads.loc[delays.index, name].tolist()
        differ += int((delays["delay"] > 0).sum())
    assert differ > 0 or policy in ("fcfs", "conservative") or policy.startswith("pv-easy"), "a trace without delays"


@examples(0.4)
@given(workloads(max_jobs=16), st.sampled_from(["fcfs", "conservative-fixed"]))
def test_nobody_is_delayed_where_nobody_can_be(trace: Trace, policy: str) -> None:
    """Under FCFS a job starts as if nobody came later; under fixed reservations too, where nobody outlives them."""
    delays = delays_from_submission(trace, policy, sample=None)
    assert (delays["delay"] == 0).all()


def test_samples_are_drawn_by_seed() -> None:
    """Of equal seeds the same jobs, in order; no more than there are."""
    trace = crowded_trace(80, 8, seed=1)
    every = delays_from_submission(trace, "easy", sample=None)
    few = delays_from_submission(trace, "easy", sample=10, seed=3)
    assert few.equals(delays_from_submission(trace, "easy", sample=10, seed=3))
    assert not few.equals(delays_from_submission(trace, "easy", sample=10, seed=4))
    both = every.merge(few, how="right")
    assert len(few) == 10
    assert both["delay"].tolist() == few["delay"].tolist()
    assert few["submit_time"].is_monotonic_increasing
    assert delays_from_submission(trace, "easy", sample=10_000).equals(every)
    heads = delays_at_heads(trace, "easy", sense="A", sample=5)
    assert len(heads) == 5
    assert heads["blocked_since"].is_monotonic_increasing


def test_progress_is_told() -> None:
    """At the end at least, also where nothing is to do."""
    told: list[tuple[int, int, float]] = []
    delays_at_heads(SHADOWS, "easy", sense="A", progress=lambda *given: told.append(given))
    assert told[-1] == (1, 1, 1.0)
    delays_from_submission(SHADOWS.with_jobs(SHADOWS.jobs[:0]), "easy", progress=lambda *given: told.append(given))
    assert told[-1] == (0, 0, -np.inf)


def test_resized_jobs_have_run_since_their_start() -> None:
    """A runs since 0, and is resized at 2, when B starts, and at 3."""

    def resizing(machine: Any) -> None:
        if now(machine) == 0.0:
            start_on(machine, 0, 4)
            wake_at(machine, 2.0)
        if now(machine) == 2.0:
            resize(machine, 0, 2)
            start_on(machine, 1, 1)
            wake_at(machine, 3.0)
        if now(machine) == 3.0:
            resize(machine, 0, 1)

    trace = drawn("job submit run width request / A 0 16 1 16 / B 1 9 1 9")
    simulation = Simulation(trace, Policy("resizing", resizing), compiled=False).run(until=2)
    assert _running_since_before(simulation, 2.0).tolist() == [0]
    assert sorted(_running_since_before(simulation.run(until=3), 3.0).tolist()) == [0, 1]


def test_any_policy_will_do() -> None:
    """Under one that stops and resizes by lot both senses are told of all heads."""
    trace = crowded_trace(60, 16, seed=4)
    a, b = (delays_at_heads(trace, RESTLESS, sense=sense, sample=None, acts=60, restart_overhead=1.0) for sense in "AB")
    assert len(a) == len(b) > 5
    assert (a["start_without"] >= a["blocked_since"]).all()
    assert (b["start_without"] >= b["blocked_since"]).all()


def test_mistakes() -> None:
    """Wrong samples and senses are refused."""
    with pytest.raises(ParameterError, match="sense='C' is not one of A, B"):
        delays_at_heads(SHADOWS, "easy", sense="C")
    with pytest.raises(ParameterError, match="sample=0 is neither an integer of 1 or more nor None"):
        delays_from_submission(SHADOWS, "easy", sample=0)
    with pytest.raises(ParameterError, match="unknown"):
        delays_from_submission(SHADOWS, "easy", reservation=2)

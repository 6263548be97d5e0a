# SPDX-License-Identifier: BSD-3-Clause
"""PV-EASY beside its slow twin, compiled and interpreted, in other orders, and in cases that could end badly."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError, PolicyError
from swftools.simulator import (
    SUBMISSION,
    Policy,
    Predictor,
    Simulation,
    find_policy,
    first_waiting,
    hold,
    next_waiting,
    simulate,
)
from swftools.simulator.policies.pv_easy import Manner, PvEasyParameters, by_key, decide_pv_easy, no_shadow
from swftools.simulator.predictors.registry import foretold
from swftools.simulator.schedule import Schedule
from tests.examples import examples
from tests.interpreted import all_interpreted
from tests.naive import pv_easy as naive
from tests.simulator.twin import naive_jobs, workload_of
from tests.strategies import crowded_trace, workloads

RANKS: dict[str, Callable[[naive.Job, int], float]] = {
    "fcfs": lambda job, rank: 0.0,
    "sjf": lambda job, rank: job.predicted,
    "ljf": lambda job, rank: -job.predicted,
    "widest": lambda job, rank: -job.width,
    "narrowest": lambda job, rank: job.width,
    "rank": lambda job, rank: rank if rank >= 0 else math.inf,
}
"""Orders in which no priority changes with time, as ranks."""

BY_TIME = ("sjf", "ljf")
"""Of these, those in which it changes where work is kept: less is left to do."""

VARIANTS = st.fixed_dictionaries(
    {
        "slp": st.booleans(),
        "venture": st.booleans(),
        "victims": st.sampled_from(["lowest", "spare-needless"]),
        "order": st.sampled_from([*["fcfs"] * 5, *RANKS]),
        "preemption": st.sampled_from(["kill", "kill", "checkpoint", "suspend"]),
    }
).filter(lambda given: given["preemption"] == "kill" or given["order"] not in BY_TIME)
PREDICTORS = st.sampled_from(["request", "exact", "last-model", "virtual:error=0.9"])


def twins_of(trace: Trace, order: str, overrun: str, told: list[float]) -> list[naive.Job]:
    """Return the jobs of a trace as the twin takes them, in order of submission, with what is predicted of each."""
    work = workload_of(trace, overrun=overrun)
    twins = []
    for number, (job, predicted) in enumerate(zip(naive_jobs(work), told, strict=True)):
        twin = naive.Job(number, job.submit, job.run, job.width, job.limit, predicted, job.interval)
        twin.rank = RANKS[order](twin, job.rank)
        twins.append(twin)
    return twins


def check_against_twin(trace: Trace, parameters: dict[str, Any], predictor: str, overrun: str) -> Schedule:
    """Simulate, and compare with the twin run by run."""
    schedule = simulate(
        trace, "pv-easy", predictor=predictor, overrun=overrun, restart_overhead=1, seed=3, **parameters
    )
    jobs = schedule.jobs.sort_values(["submit_time", "job_number", "job_occurrence"], kind="stable")
    twins = twins_of(trace, parameters["order"], overrun, jobs["estimated_time"].tolist())
    rest = {name: value for name, value in parameters.items() if name != "order"}
    outcomes, runs = naive.simulate_pv_easy(twins, schedule.processors, restart_seconds=1.0, **rest)
    keys = list(zip(jobs["job_number"], jobs["job_occurrence"], strict=True))
    ran = schedule.segments
    ours = zip(ran["job_number"], ran["job_occurrence"], ran["start_time"], ran["end_time"], strict=True)
    assert sorted((*keys[run.number], run.start, run.end) for run in runs) == sorted(ours)
    assert [outcome.kills for outcome in outcomes.values()] == jobs["preemptions"].tolist()
    if parameters["order"] == "fcfs" and parameters["preemption"] == "kill":
        assert [outcome.was_backfilled for outcome in outcomes.values()] == jobs["is_backfilled"].tolist()
    return schedule


def with_intervals(trace: Trace, seed: int = 0) -> Trace:
    """Return a trace some of whose jobs write checkpoints."""
    interval = np.random.default_rng(seed).choice([np.nan, 1.0, 3.0, 40.0], len(trace))
    return trace.with_jobs(trace.jobs.assign(checkpoint_interval=interval))


@examples(1)
@given(
    trace=workloads(),
    parameters=VARIANTS,
    predictor=PREDICTORS,
    overrun=st.sampled_from(["extend", "kill", "run-on"]),
)
def test_runs_are_those_of_the_twin(trace: Trace, parameters: dict[str, Any], predictor: str, overrun: str) -> None:
    """Run by run on small crowds, whatever is predicted, in every order."""
    check_against_twin(with_intervals(trace), parameters, predictor, overrun)


@pytest.mark.parametrize(
    ("order", "preemption"),
    [(order, how) for order in RANKS for how in ("kill", "suspend") if how == "kill" or order not in BY_TIME],
)
@pytest.mark.parametrize("victims", ["lowest", "spare-needless"])
def test_runs_on_a_busy_machine_are_those_of_the_twin(order: str, preemption: str, victims: str) -> None:
    """Run by run on a machine that is full, with many to choose victims from."""
    trace = crowded_trace(120, 40, seed=5)
    parameters = {"slp": True, "venture": True, "order": order, "victims": victims, "preemption": preemption}
    schedule = check_against_twin(trace, parameters, "last-model", "extend")
    assert (schedule.segments["ended_by"] != "completed").sum() > 5 or order == "narrowest"


VARIED: list[dict[str, Any]] = [
    *({"order": order} for order in ("fcfs", "sjf", "lxf", "widest", "narrowest", "ljf", "rank")),
    *({"preemption": preemption} for preemption in ("checkpoint", "suspend")),
    *({"victims": "spare-needless", "order": order} for order in ("fcfs", "lxf")),
    *({name: False, "order": order} for name in ("slp", "venture") for order in ("fcfs", "lxf")),
]


@pytest.mark.parametrize("compiled", [False, pytest.param("checked", marks=pytest.mark.slow)])
@pytest.mark.parametrize("parameters", VARIED, ids=str)
def test_compiled_is_interpreted(parameters: dict[str, Any], compiled: Any) -> None:
    """Bit for bit, on a busy machine; and no index is outside its array."""
    trace = with_intervals(crowded_trace(200 if compiled else 100, seed=2))
    first = simulate(trace, "pv-easy", predictor="last-model", **parameters)
    with all_interpreted(not compiled):
        other = simulate(trace, "pv-easy", predictor="last-model", compiled=compiled, **parameters)
    pd.testing.assert_frame_equal(first.jobs, other.jobs)
    pd.testing.assert_frame_equal(first.segments, other.segments)


@pytest.mark.parametrize(
    ("order", "policy"), [("fcfs", "easy"), ("lxf", "lxf-backfill"), ("rank", "prio-fifo")], ids=str
)
@pytest.mark.parametrize("predictor", ["request", "last-model"])
def test_with_neither_half_it_is_easy_in_that_order(order: str, policy: str, predictor: str) -> None:
    """What is left without preemption and venture are policies that stand elsewhere."""
    trace = crowded_trace(400, seed=4)
    plain = simulate(trace, policy, predictor=predictor)
    neither = simulate(trace, "pv-easy", predictor=predictor, order=order, slp=False, venture=False)
    pd.testing.assert_frame_equal(plain.jobs, neither.jobs)


# An order of one's own


class OfQueue(PvEasyParameters):
    """Those of PV-EASY, by another name."""

    NAME = "lowest-queue-first"


def lowest_queue_first(machine: Any, parameters: Any, memory: Any) -> None:
    """Serve the jobs of the lowest queue first."""
    job = first_waiting(machine)
    while job >= 0:
        memory.key[job] = machine.requests.queue_id[job]
        job = next_waiting(machine, job)
    manner = Manner(parameters.slp, parameters.venture, parameters.victims, parameters.preemption)
    decide_pv_easy(machine, manner, memory, by_key())


OF_QUEUE = Policy("lowest-queue-first", lowest_queue_first, OfQueue, no_shadow, allocates=False)


def test_an_order_of_ones_own(compiled: bool) -> None:
    """Keys in the memory are ranks: queues as ranks give the same schedule, also without venture."""
    trace = crowded_trace(60, seed=6)
    ranked = trace.with_jobs(trace.jobs.assign(priority_rank=trace.jobs["queue_id"]))
    for venture in (True, False):
        ours = simulate(ranked, OF_QUEUE, compiled=compiled, venture=venture)
        by_rank = simulate(ranked, "pv-easy", order="rank", venture=venture)
        pd.testing.assert_frame_equal(ours.jobs, by_rank.jobs)


# What could end badly


@foretold("test-as-in-the-column")
def _as_told(run_time: Any, limit: Any) -> Any:
    """Foretell 0, too much and too little, in turn."""
    told = np.array(limit, dtype=float)
    told[::3], told[1::3], told[2::3] = 0.0, 1e12, run_time[2::3] / 7
    return told


def test_predictions_of_nothing_and_beyond_the_request() -> None:
    """0 is outlived at once, then the request counts; more than the request is the request."""
    trace = crowded_trace(150, seed=7)
    parameters = {"slp": True, "venture": True, "order": "fcfs", "victims": "lowest", "preemption": "kill"}
    schedule = check_against_twin(trace, parameters, "test-as-in-the-column", "extend")
    assert (schedule.jobs["estimated_time"] <= schedule.jobs["requested_time"]).all()
    assert (schedule.jobs["estimated_time"] == 0).any()


class Failing:
    """Predicts until it does not."""

    name = "failing"

    def __init__(self, answer: Callable[[int], float]) -> None:
        self.answer, self.asked = answer, 0

    def learn(self, ended: list[dict[str, Any]]) -> None:
        """Learn nothing."""

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return the answer to so many questions."""
        self.asked += 1
        return self.answer(self.asked)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda asked: math.nan if asked == 9 else 5.0, "predictor 'failing', at .* predicted NaN"),
        (
            lambda asked: 5.0 / (9 - asked),
            "predictor 'failing', at .* raised ZeroDivisionError: float division by zero",
        ),
    ],
    ids=["NaN", "raises"],
)
def test_a_predictor_that_fails_is_named(answer: Callable[[int], float], said: str) -> None:
    """Time and reason among it."""
    with pytest.raises(PolicyError, match=said):
        simulate(crowded_trace(50), "pv-easy", predictor=Failing(answer))


def test_equal_submissions_are_served_in_order_of_their_numbers() -> None:
    """Whatever the order of the rows."""
    trace = crowded_trace(60, seed=8)
    at_once = trace.with_jobs(trace.jobs.assign(submit_time=0.0))
    turned = at_once.with_jobs(at_once.jobs.iloc[::-1].reset_index(drop=True))
    first, other = (simulate(each, "pv-easy").jobs.sort_values("job_number") for each in (at_once, turned))
    assert first["start_time"].tolist() == other["start_time"].tolist()


def test_a_job_as_wide_as_the_machine_is_not_starved() -> None:
    """Narrow jobs stream past it for ever; it starts when those end that were there before, and stops the others."""
    stream = 500
    trace = Trace.from_columns(
        machine_processors=10,
        job_number=list(range(stream + 1)),
        submit_time=[5.5, *map(float, range(stream))],
        run_time=[4.0, *[20.0] * stream],
        requested_time=[4.0, *[20.0] * stream],
        allocated_processors=[10, *[1] * stream],
    )
    jobs = simulate(trace, "pv-easy").jobs.set_index("job_number")
    assert jobs.loc[0, "start_time"] == 25.0  # job 6 runs from 5 s to 25 s
    assert jobs["preemptions"].max() == 1
    assert simulate(trace, "pv-easy", slp=False).jobs["start_time"].iloc[0] > 400


def test_a_storm_of_preemptions_is_bounded_and_counted() -> None:
    """Every other wide job stops dozens of narrow ones; no job is stopped by the same one twice."""
    wide = 30
    trace = Trace.from_columns(
        machine_processors=100,
        job_number=list(range(wide + 99)),
        submit_time=[*[0.0] * wide, *[0.5] * 99],
        run_time=[*[10.0] * wide, *[1e4] * 99],
        requested_time=[*[10.0] * wide, *[1e4] * 99],
        allocated_processors=[*[51, 90] * (wide // 2), *[1] * 99],
    )
    schedule = simulate(trace, "pv-easy")
    stops = (schedule.segments["ended_by"] == "killed").sum()
    assert 400 < stops == schedule.jobs["preemptions"].sum()
    assert schedule.jobs["preemptions"].max() <= wide
    assert len(schedule.segments) == stops + len(schedule.jobs)


@pytest.mark.parametrize(
    ("parameters", "column"),
    [({"order": "rank"}, "priority_rank"), ({"preemption": "checkpoint"}, "checkpoint_interval")],
)
def test_a_column_that_a_parameter_needs(parameters: dict[str, Any], column: str) -> None:
    """Without it the schedule would be another one, in silence."""
    trace = crowded_trace(20)
    trace = trace.with_jobs(trace.jobs.drop(columns="priority_rank"))
    with pytest.raises(ParameterError, match=f"policy 'pv-easy' needs {column}, which the trace lacks; let "):
        simulate(trace, "pv-easy", **parameters)
    simulate(trace, "pv-easy")
    assert find_policy("pv-easy").needed(parameters) == (column,)


def four_jobs() -> Trace:
    """Return jobs of which the second is blocked behind the first, and the fourth by its width alone."""
    return Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3, 4],
        submit_time=[0, 1, 2, 3],
        run_time=[20, 5, 4, 3],
        requested_time=[20, 5, 4, 3],
        requested_processors=[3, 4, 1, 2],
    )


def test_the_blocked_job_starts_when_what_blocks_it_is_taken_out(compiled: bool) -> None:
    """Nobody came, and nobody ended; the queue was disturbed."""
    trace = four_jobs()
    simulation = Simulation(trace, "pv-easy", compiled=compiled).run(until=8)
    assert simulation.waiting["job_number"].tolist() == [2, 4]
    without = simulation.copy().without(trace.jobs.iloc[:1]).run().schedule().jobs.set_index("job_number")
    assert without["start_time"].to_dict() == {2: simulation.now, 3: 2.0, 4: simulation.now + 5.0}


def hold_the_third(event: int, machine: Any, job: int) -> None:
    """Hold the third job back until 7 s."""
    if event == SUBMISSION and job == 2:
        hold(machine, job, 7.0)


def test_who_was_held_back_goes_ahead_when_it_comes(compiled: bool) -> None:
    """It was submitted before the last one, and is no submission then."""
    jobs = simulate(four_jobs(), "pv-easy", predictor=Predictor("holding", hold_the_third), compiled=compiled).jobs
    assert jobs["start_time"].tolist() == [0.0, 20.0, 7.0, 25.0]

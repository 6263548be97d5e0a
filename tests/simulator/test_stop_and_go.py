# SPDX-License-Identifier: BSD-3-Clause
"""Simulations that are stopped, looked at, copied and continued: all of that changes nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError, PolicyError
from swftools.simulator import Predictor, Schedule, Simulation, simulate
from swftools.simulator.machine.events import SUBMISSION
from swftools.simulator.machine.verbs import predict
from tests.drawn import draw_trace
from tests.examples import examples, pairs
from tests.simulator.engine.test_loop import draws_lots
from tests.simulator.restless import FICKLE, RESTLESS, fickle
from tests.simulator.test_work_twin import with_work
from tests.strategies import crowded_trace


class MeanOfUser:
    """A predictor in Python: the mean run time of the user's jobs that ended; without one what was requested."""

    name = "mean-of-user"

    def __init__(self) -> None:
        self.times: dict[Any, list[float]] = {}
        self.learned: list[int] = []

    def learn(self, ended: Sequence[Mapping[str, Any]]) -> None:
        """Take jobs in."""
        for job in ended:
            self.times.setdefault(job["user_id"], []).append(job["run_time"])
            self.learned.append(job["job_number"])

    def predict(self, job: Mapping[str, Any], now: float) -> float:
        """Return the mean."""
        assert now == job["submit_time"]
        times = self.times.get(job["user_id"])
        return float(np.mean(times)) if times else math.inf


def halves_and_learns(event, machine, job, memory):  # type: ignore[no-untyped-def]
    """Predict half of what was predicted, or three quarters, in turn: what it is told must be the request."""
    if event == SUBMISSION:
        memory[0][0] += 1
        predict(machine, job, machine.requests.requested_time[job] * (2 + memory[0][0] % 2) / 4)


HALVES = Predictor("halves", halves_and_learns, memory=lambda jobs, processors: (np.zeros(1, np.int64),))

TRACE = with_work(crowded_trace(50, 8, seed=3), np.random.default_rng(2))

KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "memory and draws": lambda: {"policy": RESTLESS, "acts": 200, "restart_overhead": 2, "overrun": "run-on"},
    "a predictor with a memory": lambda: {"policy": RESTLESS, "predictor": FICKLE, "overrun": "run-on"},
    "a predictor that reads what is predicted": lambda: {"policy": "sjf-backfill", "predictor": HALVES},
    "a heap": lambda: {"policy": "sjf", "predictor": FICKLE, "overrun": "run-on"},
    "a profile": lambda: {"policy": "conservative", "predictor": "last-model"},
    "ranks": lambda: {"policy": "weighted-priority", "rank_weight": 2, "predictor": "virtual"},
    "Python": lambda: {"policy": "easy", "predictor": MeanOfUser()},
    "pyss": lambda: {"policy": "conservative", "semantics": "pyss"},
    "cqsim": lambda: {"policy": "conservative-replanned", "semantics": "cqsim", "predictor": "exact"},
}
"""What goes along when a simulation is copied, and the three orders of events."""


def assert_equal(first: Schedule, second: Schedule) -> None:
    """Compare all tables and options."""
    for name in ("jobs", "segments", "excluded"):
        pd.testing.assert_frame_equal(getattr(first, name), getattr(second, name), check_exact=True)
    assert first.options == second.options


@pytest.mark.parametrize(("kind", "compiled"), pairs(list(KINDS), [True, False], 1))
@examples(0.12)
@given(data=st.data())
def test_stopping_copying_and_going_on_change_nothing(kind: str, compiled: bool, data: st.DataObject) -> None:
    """At random times, by turns in the original and its copies, each of which ends as one that was never stopped."""
    whole = simulate(TRACE, compiled=compiled, **KINDS[kind]())
    last = float(whole.jobs["end_time"].max())
    simulations = [Simulation(TRACE, compiled=compiled, **KINDS[kind]())]
    steps = st.tuples(st.integers(0, 3), st.floats(-1, last + 1), st.booleans())
    for which, until, copies in data.draw(st.lists(steps, min_size=2, max_size=6)):
        simulation = simulations[which % len(simulations)]
        assert simulation.run(until=until) is simulation
        simulation.schedule()
        if copies:
            simulations.append(simulation.copy())
    for simulation in simulations:
        assert_equal(whole, simulation.run().schedule())
        assert simulation.is_over


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"pyss", "cqsim"}))
def test_without_later_jobs_is_the_trace_cut_there(kind: str) -> None:
    """Who was submitted by then runs as if nobody came any more; the simulation that was copied goes on."""
    whole = simulate(TRACE, **KINDS[kind]())
    running = Simulation(TRACE, **KINDS[kind]())
    for until in np.quantile(TRACE.arrays.submit_time, [0.0, 0.2, 0.5, 0.9]):
        running.run(until=until)
        alone = running.copy().without_later_jobs().run()
        cut = TRACE.with_jobs(TRACE.jobs[TRACE.arrays.submit_time <= until].reset_index(drop=True))
        if kind == "ranks":  # its draws are for all jobs at once
            assert set(cut.jobs["job_number"]) == set(alone.schedule().jobs["job_number"])
            continue
        expected = simulate(cut, **KINDS[kind]())
        if kind == "memory and draws":
            assert len(expected.jobs) < 8 or len(expected.segments) > len(expected.jobs)
        pd.testing.assert_frame_equal(expected.jobs, alone.schedule().jobs, check_exact=True)
        pd.testing.assert_frame_equal(expected.segments, alone.schedule().segments, check_exact=True)
        assert len(TRACE) - len(cut) == len(alone.schedule().excluded)
        assert alone.is_over
    assert_equal(whole, running.run().schedule())


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_schedule_is_the_beginning_of_the_whole(kind: str) -> None:
    """Jobs that ended are as they are in the end, but for what only later starts tell; the others are excluded."""
    whole = simulate(TRACE, **KINDS[kind]()).jobs.set_index("job_number")
    simulation = Simulation(TRACE, **KINDS[kind]())
    assert (-math.inf, False, 0) == (simulation.now, simulation.is_over, len(simulation.schedule()))
    assert [TRACE.jobs["job_number"].tolist()] == [simulation.schedule().excluded["job_number"].tolist()]
    ended = 0
    for until in np.linspace(-1.0, float(whole["end_time"].max()), 5):
        half = simulation.run(until=until).schedule()
        assert simulation.now <= until
        assert (half.jobs["end_time"] <= until).all()
        assert set(half.jobs["job_number"]) == set(whole.index[whole["end_time"] <= until])
        there = sorted([*half.jobs["job_number"], *half.excluded["job_number"]])
        assert TRACE.jobs["job_number"].tolist() == there
        assert set(half.excluded["reason"]) <= {f"not ended by {simulation.now:.10g} s"}
        jobs = half.jobs.set_index("job_number")
        if "restless" not in half.policy:  # there a job that is killed begins again, later
            pd.testing.assert_frame_equal(whole.loc[jobs.index], jobs, check_exact=True)
        assert set(half.segments["job_number"]) == set(jobs.index)
        in_sight = {*simulation.waiting["job_number"], *simulation.running["job_number"], *jobs.index}
        submitted = TRACE.jobs["job_number"][TRACE.arrays.submit_time <= until]
        if "predictor" not in half.options or half.options["predictor"] != "fickle":  # which holds jobs back
            assert in_sight == set(submitted)
        assert ended <= len(jobs)
        ended = len(jobs)
    assert simulation.is_over


def test_a_time_twice_and_times_that_are_over() -> None:
    """Nothing happens; a later time goes on from there."""
    trace = draw_trace("submit run width / 0 5 1 / 3 5 1 / 3 5 1", processors=1)
    simulation = Simulation(trace, "fcfs")
    assert -math.inf == simulation.run(until=-7).now
    assert -math.inf == simulation.run(until=-math.inf).now
    for until in (3, 3, 3.0, 1, np.float64(4.9), np.int64(2)):
        assert [1] == simulation.run(until=until).running["job_number"].tolist()
        assert 3.0 >= simulation.now
        assert 3.0 == simulation.now or until == 1
    assert [2, 3] == simulation.waiting["job_number"].tolist()
    assert (5.0, [2], [3]) == (
        simulation.run(until=5).now,
        simulation.running["job_number"].tolist(),
        simulation.waiting["job_number"].tolist(),
    )
    assert [5.0, 10.0, 15.0] == simulation.run(until=math.inf).schedule().jobs["end_time"].tolist()
    assert simulation.is_over
    assert [5.0, 10.0, 15.0] == simulation.run().run(until=2).schedule().jobs["end_time"].tolist()


@pytest.mark.parametrize("until", [math.nan, np.float64("nan"), "5", [5], True])
def test_times_that_there_are_not(until: Any) -> None:
    """A simulation does not run to the end because of a mistake."""
    simulation = Simulation(draw_trace("submit run width / 0 5 1", processors=1), "fcfs")
    with pytest.raises(ParameterError, match=r"until=.* is neither a time"):
        simulation.run(until=until)
    assert -math.inf == simulation.now


def test_no_jobs() -> None:
    """There is nothing to do, and it is over at once."""
    empty = Trace.from_columns(machine_processors=4, job_number=[], submit_time=[], run_time=[])
    simulation = Simulation(empty, "easy")
    assert (True, 0, 0) == (simulation.is_over, len(simulation.schedule()), len(simulation.run(until=3).schedule()))


def test_a_predictor_in_python_learns_jobs_once_and_in_order() -> None:
    """Of those that ended, all that had at the last submission, in order of end, also across stops and copies."""
    trace = replace(crowded_trace(60, 8), machine_processors=8)
    simulation = Simulation(trace, "easy", predictor=MeanOfUser())
    told: Any = simulation.predictor  # of its own: what was given begins afresh in each simulation
    copy = simulation.run(until=100).copy()
    jobs = simulation.run().schedule().jobs.sort_values("end_time", kind="stable")
    known = jobs[jobs["end_time"] <= trace.arrays.submit_time.max()]
    assert len(known) > 10
    assert set(told.learned) == set(known["job_number"])
    ends = jobs.set_index("job_number")["end_time"]
    assert len(told.learned) == len(known)
    assert ends[told.learned].is_monotonic_increasing
    learned = list(told.learned)
    copy.run()
    assert learned == told.learned  # the copy has a predictor of its own
    assert "mean-of-user" == simulation.schedule().options["predictor"]
    assert simulation.predictor_seconds > 0


class Wrong:
    """A predictor in Python that is wrong."""

    name = "wrong"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def learn(self, ended: Sequence[Mapping[str, Any]]) -> None:
        """Take nothing in."""

    def predict(self, job: Mapping[str, Any], now: float) -> float:
        """Return the answer, or raise it."""
        if isinstance(self.answer, Exception):
            raise self.answer
        answer: float = self.answer
        return answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (math.nan, r"predictor 'wrong', at 4 s, job 1 \(which is being submitted\): predicted NaN"),
        (KeyError("user"), r"predictor 'wrong', at 4 s, job 1 \(which is being submitted\): raised KeyError: 'user'"),
        (None, r"predictor 'wrong', at 4 s, job 1 \(which is being submitted\): raised TypeError"),
        ("soon", r"predictor 'wrong', at 4 s, job 1 \(which is being submitted\): raised ValueError"),
    ],
)
def test_mistakes_of_predictors_in_python(answer: Any, message: str, compiled: bool) -> None:
    """They are told apart from those of the policy."""
    trace = draw_trace("submit run width request / 4 5 1 9", processors=1)
    with pytest.raises(PolicyError, match=message):
        simulate(trace, "easy", predictor=Wrong(answer), compiled=compiled)


@pytest.mark.parametrize(("answer", "estimated"), [(-5.0, 0.0), (3, 3.0), (99.0, 9.0), (math.inf, 9.0)])
def test_answers_of_predictors_in_python_are_bounded(answer: float, estimated: float) -> None:
    """No less than nothing, and no more than the limit."""
    trace = draw_trace("submit run width request / 4 5 1 9", processors=1)
    jobs = simulate(trace, "easy", predictor=Wrong(answer)).jobs
    assert [estimated] == jobs["estimated_time"].tolist()
    assert [4.0] == jobs["start_time"].tolist()


def raises_at_once(event, machine, job):  # type: ignore[no-untyped-def]
    """Make a mistake of its own."""
    raise KeyError("a mistake of its own")


def test_mistakes_of_predictors_that_observe(compiled: bool) -> None:
    """They end the simulation too, and tell the time."""
    trace = draw_trace("submit run width / 4 5 1", processors=1)
    with pytest.raises(
        PolicyError,
        match=r"predictor 'wrong', at 4 s, job 1 \(submitted at 4 s\): raised KeyError: 'a mistake of its own'",
    ):
        simulate(trace, "easy", predictor=Predictor("wrong", raises_at_once), compiled=compiled)


def test_what_a_copy_shares() -> None:
    """Draws, memories and predictions are its own: nothing that one does is seen by the other."""
    made = Simulation(TRACE, RESTLESS, predictor=replace(FICKLE, observe=fickle), overrun="run-on")
    made.run(until=60)
    before = made.schedule()
    waiting, running = made.waiting, made.running
    made.copy().run()
    assert_equal(before, made.schedule())
    pd.testing.assert_frame_equal(waiting, made.waiting)
    pd.testing.assert_frame_equal(running, made.running)


def test_draws_of_a_copy_go_on() -> None:
    """It does not begin with the first draw again, and does not take draws from the other."""
    from swftools.simulator import Policy  # noqa: PLC0415

    trace, lots = crowded_trace(100), Policy("lots", draws_lots)
    whole = simulate(trace, lots, seed=5)
    made = Simulation(trace, lots, seed=5).run(until=50)
    copies = [made.copy(), made.copy()]
    for until in (100, 200, 400):
        for copy in copies:
            copy.run(until=until)
    for copy in [*copies, made]:
        assert_equal(whole, copy.run().schedule())

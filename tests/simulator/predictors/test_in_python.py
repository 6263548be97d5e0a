# SPDX-License-Identifier: BSD-3-Clause
"""Predictors in Python beside the engine: when they are asked, what they are told, what they may say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swftools import Trace
from swftools.errors import PolicyError
from swftools.fields.dictionary import known_later
from swftools.simulator import (
    KILL,
    RUNNING,
    Policy,
    Simulation,
    first_waiting,
    fits,
    now,
    preempt,
    simulate,
    start,
)
from swftools.simulator.run import python_predictor_adapter
from tests.strategies import crowded_trace


class Listening:
    """Predicts half the request, and keeps what it hears, and when."""

    name = "listening"

    def __init__(self) -> None:
        self.ended: list[dict[str, Any]] = []
        self.asked: list[tuple[float, dict[str, Any], int]] = []

    def learn(self, ended: list[dict[str, Any]]) -> None:
        """Keep them."""
        assert ended, "there was nothing to learn"
        self.ended += ended

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return half of what was asked for."""
        self.asked.append((now, job, len(self.ended)))
        return float(job["requested_time"]) / 2


class LastModel:
    """What last-model does, once more."""

    name = "last-model in Python"

    def __init__(self) -> None:
        self.accuracy: dict[int, float] = {}

    def learn(self, ended: list[dict[str, Any]]) -> None:
        """Keep how much of its request each used."""
        for job in ended:
            self.accuracy[job["user_id"]] = min(job["run_time"] / max(job["requested_time"], 1e-9), 1.0)

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return so much of the request."""
        return float(job["requested_time"] * self.accuracy.get(job["user_id"], 1.0))


class Regression:
    """The logarithm of the run time as a linear function of features, fitted anew every so many completions."""

    name = "regression"

    def __init__(self, every: int = 25) -> None:
        self.every, self.fits = every, 0
        self.features: list[list[float]] = []
        self.times: list[float] = []
        self.weights: Any = None

    def learn(self, ended: list[dict[str, Any]]) -> None:
        """Fit if enough is new."""
        before = len(self.times)
        self.features += [self._features(job) for job in ended]
        self.times += [np.log1p(job["run_time"]) for job in ended]
        if before // self.every != len(self.times) // self.every:
            self.weights = np.linalg.lstsq(np.array(self.features), np.array(self.times), rcond=None)[0]
            self.fits += 1

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return what is fitted, before that the request."""
        if self.weights is None:
            return float(job["requested_time"])
        return float(np.expm1(np.array(self._features(job)) @ self.weights))

    def _features(self, job: dict[str, Any]) -> list[float]:
        return [1.0, np.log1p(job["requested_time"]), np.log(job["width"]), float(job["user_id"] % 2)]


def columns(trace: Trace, policy: str | Policy, **options: Any) -> list[list[float]]:
    """Return starts and predictions."""
    jobs = simulate(trace, policy, **options).jobs
    return [jobs["start_time"].tolist(), jobs["estimated_time"].tolist()]


def listened(trace: Trace, policy: str | Policy = "easy", **options: Any) -> tuple[Simulation, Listening]:
    """Run a simulation, and return what its predictor heard."""
    simulation = Simulation(trace, policy, predictor=Listening(), **options).run()
    heard = simulation.predictor
    assert isinstance(heard, Listening)
    return simulation, heard


def test_it_is_asked_once_at_each_submission() -> None:
    """In their order, at their time; and what it says is what policies are told."""
    trace = crowded_trace(200)
    simulation, heard = listened(trace)
    assert trace.jobs["submit_time"].tolist() == [time for time, _, _ in heard.asked]
    assert trace.jobs["job_number"].tolist() == [job["job_number"] for _, job, _ in heard.asked]
    jobs = simulation.schedule().jobs
    assert (jobs["requested_time"] / 2).tolist() == jobs["estimated_time"].tolist()


def test_it_learns_what_has_ended_and_nothing_else() -> None:
    """By the very second of each question: all of it, each job once, in order of end; of a job, what is known of it."""
    simulation, heard = listened(crowded_trace(200))
    jobs = simulation.schedule().jobs
    ends = np.sort(jobs["end_time"].to_numpy())
    assert [int((ends <= time).sum()) for time, _, _ in heard.asked] == [count for _, _, count in heard.asked]
    assert heard.ended[-1]["end_time"] <= heard.asked[-1][0]
    assert [job["end_time"] for job in heard.ended] == ends[: len(heard.ended)].tolist()
    numbers = [job["job_number"] for job in heard.ended]
    assert len(set(numbers)) == len(numbers)
    true = jobs.set_index("job_number")["run_time"].loc[numbers]
    assert true.tolist() == [job["run_time"] for job in heard.ended]


def test_what_it_is_told_of_a_job() -> None:
    """Not how it went on in the log, nor own columns; time and width as simulated; what is missing is None."""
    trace = crowded_trace(50)
    known = trace.jobs["run_time"].where(trace.jobs["job_number"] != 3)
    mine = trace.jobs.assign(run_time=known, status=1, used_memory=5.0, group_id=None, colour="red", wait_time=3.0)
    trace = trace.with_jobs(mine)
    _, heard = listened(trace, requests="factor:factor=3", overrun="run-on", cancelled="end-at-once")
    for time, job, _ in heard.asked:
        assert known_later(job) == ["width"]  # as simulated
        assert "colour" not in job
        assert (time, None) == (job["submit_time"], job["group_id"])
    row = trace.jobs.iloc[10]
    told = heard.asked[10][1]
    assert 3 * row["requested_time"] == told["requested_time"]
    assert (row["allocated_processors"], row["user_id"]) == (told["width"], told["user_id"])
    assert {int} == {type(told["width"]), type(told["user_id"])}
    assert 1.0 == next(job["run_time"] for job in heard.ended if job["job_number"] == 3)  # as simulated


def test_rows_of_a_trace_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """And of which some are left out; the rows are made some at a time."""
    monkeypatch.setattr(python_predictor_adapter, "AT_ONCE", 7)
    trace = crowded_trace(100)
    widths = trace.jobs["allocated_processors"].where(trace.jobs["job_number"] % 10 != 0, 99)
    trace = trace.with_jobs(trace.jobs.assign(allocated_processors=widths).iloc[::-1])
    simulation, heard = listened(trace, overrun="extend")
    jobs = simulation.schedule().jobs.set_index("job_number")
    assert 90 == len(heard.asked) == len(jobs)
    for _, job, _ in heard.asked:
        row = jobs.loc[job["job_number"]]
        told = [job[name] for name in ("submit_time", "requested_time", "width", "queue_id")]
        assert told == [row[name] for name in ("submit_time", "requested_time", "allocated_processors", "queue_id")]
    true = jobs["run_time"].loc[[job["job_number"] for job in heard.ended]]
    assert true.tolist() == [job["run_time"] for job in heard.ended]


@pytest.mark.parametrize("policy", ["easy", "sjf-backfill", "conservative"])
@pytest.mark.parametrize("overrun", ["extend", "run-on"])
def test_the_same_as_a_compiled_one(policy: str, overrun: str) -> None:
    """last-model in Python makes the schedules of last-model; compiled and interpreted."""
    trace = crowded_trace(100, seed=5)
    expected = columns(trace, policy, predictor="last-model", overrun=overrun)
    assert expected == columns(trace, policy, predictor=LastModel(), overrun=overrun)
    assert expected == columns(trace, policy, predictor=LastModel(), overrun=overrun, compiled=False)
    assert expected != columns(trace, policy, overrun=overrun)


def test_a_regression_learns_in_the_course_of_the_log() -> None:
    """Users of odd number need a tenth of what they ask for: it is nearer to that than the requests."""
    trace = crowded_trace(600, seed=2)
    requested = trace.jobs["requested_time"].fillna(60.0).clip(lower=10.0)
    share = np.where(trace.jobs["user_id"] % 2 == 1, 0.1, 0.8)
    trace = trace.with_jobs(trace.jobs.assign(requested_time=requested, run_time=np.ceil(requested * share)))
    simulation = Simulation(trace, "easy", predictor=Regression()).run()
    jobs = simulation.schedule().jobs
    late = jobs.iloc[len(jobs) // 2 :]
    off = [(late[name] - late["run_time"]).abs().mean() for name in ("estimated_time", "requested_time")]
    assert off[0] < 0.3 * off[1]
    assert isinstance(simulation.predictor, Regression)
    assert 10 < simulation.predictor.fits <= 600 // 25
    starts = simulate(trace, "easy", predictor=Regression(), compiled=False).jobs["start_time"]
    assert starts.equals(jobs["start_time"])


def test_each_simulation_begins_with_what_it_knew() -> None:
    """What one learned is not known to the next, or to the object that was passed; a copy goes on by itself."""
    trace = crowded_trace(200)
    given = LastModel()
    first = Simulation(trace, "easy", predictor=given).run()
    assert {} == given.accuracy
    assert isinstance(first.predictor, LastModel)
    assert first.predictor.accuracy
    again = Simulation(trace, "easy", predictor=given).run(until=500)
    copies = [again.copy(), again.copy(), again]
    for copy in copies:
        assert copy.run().schedule().jobs.equals(first.schedule().jobs)
    assert Simulation(trace, "easy").predictor is None


def stop_once(machine: Any, memory: Any) -> None:
    """Start in order; kill the first job once, at 5 s or later."""
    if machine.counts[RUNNING] > 0 and memory[0][0] == 0 and now(machine) >= 5:
        memory[0][0] = 1
        preempt(machine, 0, KILL)
    job = first_waiting(machine)
    while fits(machine, job):
        start(machine, job)
        job = first_waiting(machine)


def test_a_job_that_was_stopped_is_learned_when_it_has_ended() -> None:
    """Once, at the end of the run that ended it."""
    trace = Trace.from_columns(
        machine_processors=1,
        job_number=[1, 2, 3, 4],
        submit_time=[0, 5, 12, 40],
        run_time=[10, 3, 2, 1],
        requested_time=[10, 3, 2, 1],
        requested_processors=[1, 1, 1, 1],
    )
    policy = Policy("stop-once", stop_once, memory=lambda jobs, processors: (np.zeros(1, np.int64),))
    _, heard = listened(trace, policy, compiled=False)
    assert [(1, 15.0), (2, 18.0), (3, 20.0)] == [(job["job_number"], job["end_time"]) for job in heard.ended]
    assert [0, 0, 0, 3] == [count for _, _, count in heard.asked]


class Saying(Listening):
    """Says what it is told to."""

    name = "saying"

    def __init__(self, words: Any, fails_to_learn: bool = False) -> None:
        super().__init__()
        self.words, self.fails_to_learn = words, fails_to_learn

    def learn(self, ended: list[dict[str, Any]]) -> None:
        """Fail, if it is to."""
        if self.fails_to_learn:
            raise KeyError("lesson")

    def predict(self, job: dict[str, Any], now: float) -> float:
        """Return it."""
        if isinstance(self.words, Exception):
            raise self.words
        return self.words  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("predictor", "complaint"),
    [
        (Saying(float("nan")), r"predictor 'saying', at \d+ s, job \d+ .*: predicted NaN"),
        (Saying(None), r"predictor 'saying', at \d+ s, job \d+ .*: raised TypeError"),
        (Saying(ZeroDivisionError("by zero")), r"'saying', at \d+ s, job \d+ .*: raised ZeroDivisionError: by zero"),
        (Saying(5, fails_to_learn=True), r"'saying', at \d+ s, job \d+ .*: raised KeyError: 'lesson'"),
    ],
)
def test_its_mistakes_are_told(predictor: Saying, complaint: str, compiled: bool) -> None:
    """By name, time and what it was."""
    with pytest.raises(PolicyError, match=complaint):
        simulate(crowded_trace(60), "easy", predictor=predictor, compiled=compiled)


def test_what_it_says_counts_from_nothing_to_the_limit() -> None:
    """As of every predictor."""
    trace = crowded_trace(60)
    limit = simulate(trace, "fcfs").jobs["requested_time"].tolist()
    assert limit == columns(trace, "easy", predictor=Saying(float("inf")))[1]
    assert [0.0] * 60 == columns(trace, "easy", predictor=Saying(-3))[1]


def test_what_it_takes_is_reported() -> None:
    """Its own time, not that of the engine."""
    simulation, _ = listened(crowded_trace(100))
    assert 0 < simulation.predictor_seconds < 5
    assert 0 == Simulation(crowded_trace(5), "easy").run().predictor_seconds

# SPDX-License-Identifier: BSD-3-Clause
"""``gradient-boosting``: what it knows of jobs, what it is fitted to and when, and that nothing else decides."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import KILL, RUNNING, Policy, Simulation, find_predictor, preempt, simulate, start, waiting_jobs
from swftools.simulator.predictors.gradient_boosting import (
    FEATURES,
    GradientBoosting,
    GradientBoostingParameters,
    UserHistory,
)
from tests.examples import by_day, pairs
from tests.naive.predictors import Boosting
from tests.strategies import crowded_trace

FEW = "gradient-boosting:every=20,window=60,trees=10,least_in_leaf=3"
DAY = 86_400


def with_executables(trace: Trace) -> Trace:
    """Return a trace of several days, in which users, queues and executables are unknown now and then."""
    rng = np.random.default_rng(len(trace))
    jobs = trace.jobs
    times = {name: jobs[name] * 23.0 for name in ("submit_time", "run_time", "requested_time")}
    executables = pd.array(rng.integers(1, 4, len(jobs)), dtype="Int64")
    executables[rng.random(len(jobs)) < 0.2] = pd.NA
    users = jobs["user_id"].where(rng.random(len(jobs)) > 0.1)
    queues = jobs["queue_id"].where(rng.random(len(jobs)) > 0.2)
    return trace.with_jobs(jobs.assign(executable_id=executables, user_id=users, queue_id=queues, **times))


def told(trace: Trace, predictor: Any, policy: str = "easy", **options: Any) -> list[list[float]]:
    """Return predictions and starts."""
    jobs = simulate(trace, policy, predictor=predictor, **options).jobs
    return [jobs["estimated_time"].tolist(), jobs["start_time"].tolist()]


CASES = [("easy", 20, 60, 0.5), ("sjf-backfill", 15, 30, 0.8), ("conservative", 30, 1000, 0.3), ("easy", 27, 24, 0.5)]


@pytest.mark.parametrize(("case", "overrun"), pairs(CASES, ["extend", "run-on"], each=1))
def test_as_the_slow_one(case: tuple[str, int, int, float], overrun: str) -> None:
    """Prediction by prediction; its features are looked up in lists, and it fits to the jobs that ended last."""
    policy, every, window, quantile = case
    trace = with_executables(crowded_trace(max(100, 4 * every), seed=every))  # enough for several fits
    trees = {"max_iter": 4, "max_leaf_nodes": 8, "min_samples_leaf": 3, "learning_rate": 0.3}
    slow = Boosting(every=every, window=window, quantile=quantile, **trees)
    text = (
        f"gradient-boosting:every={every},window={window},quantile={quantile},trees=4,leaves=8,least_in_leaf=3,"
        "learning_rate=0.3"
    )
    with threadpool_limits(limits=1, user_api="openmp"):  # more of them wait for one another
        first = Simulation(trace, policy, predictor=slow, overrun=overrun).run()
    second = Simulation(trace, policy, predictor=text, overrun=overrun).run()
    assert isinstance(first.predictor, Boosting)
    assert isinstance(second.predictor, GradientBoosting)
    assert first.predictor.fits == second.predictor.fits > 1
    pd.testing.assert_frame_equal(first.schedule().jobs, second.schedule().jobs, check_exact=True)
    early = told(trace, "last-model", policy, overrun=overrun)
    assert early[0] != second.schedule().jobs["estimated_time"].tolist()


def job_of(**columns: Any) -> dict[str, Any]:
    """Return a job as a predictor in Python is told of it."""
    missing = {"user_id": None, "queue_id": None, "executable_id": None}
    return {"job_number": 1, "submit_time": 0.0, "requested_time": 100.0, "width": 2, **missing, **columns}


def test_features_by_hand() -> None:
    """Of the second user's fourth job, on the third day of the second week."""
    history = UserHistory()
    now = 9 * DAY + 3600.0
    mine = [job_of(user_id=2, executable_id=kind, width=width) for kind, width in ((7, 2), (8, 2), (7, 4))]
    for number, job in enumerate(mine):
        history.submit(job, 10.0 * number)
        history.submit(job_of(user_id=3), 5000.0)
    for run_time, end_time, job in [(40.0, 60.0, mine[2]), (30.0, 70.0, mine[0])]:
        history.end({**job, "run_time": run_time, "end_time": end_time})
    history.end({**job_of(user_id=3), "run_time": 1.0, "end_time": 6000.0})
    row = dict(zip(FEATURES, history.submit(job_of(user_id=2, queue_id=5, executable_id=8, width=4), now), strict=True))
    expected = {
        "request": 100,
        "width": 4,
        "queue": 5,
        "time_of_day": 3600,
        "day_of_week": 2,
        "last_run_time": 30,
        "run_time_before": 40,
        "run_time_before_that": None,
        "last_accuracy": 0.3,
        "accuracy_before": 0.4,
        "since_last_end": now - 70,
        "since_last_submission": now - 20,
        "jobs_not_ended": 1,
        "jobs_ended": 2,
        "run_time_of_same_request": 40,
        "run_time_of_same_executable": None,
    }
    assert expected == {name: None if np.isnan(value) else value for name, value in row.items()}


def test_nothing_is_known_of_unknown_users() -> None:
    """They are not one user: no past, whatever others did; also those that are told by a negative number."""
    for user in (None, -1):
        history = UserHistory()
        first = history.submit(job_of(user_id=user, executable_id=3), 5.0)
        history.end({**job_of(user_id=user, executable_id=3), "run_time": 5.0, "end_time": 10.0})
        second = history.submit(job_of(user_id=user, executable_id=3), 20.0)
        assert np.isnan(second[5:]).all()
        assert np.isnan(first[5:]).all()
    assert [0, 0] == UserHistory().submit(job_of(user_id=1), 5.0)[12:14].tolist()


def test_before_the_first_fit_it_is_the_last_model() -> None:
    """Until as many jobs have ended as it waits for."""
    trace = with_executables(crowded_trace(200))
    assert told(trace, "last-model") == told(trace, "gradient-boosting:every=200")
    some = simulate(trace, "easy", predictor="gradient-boosting:every=100,trees=2").jobs
    plain = simulate(trace, "easy", predictor="last-model").jobs
    fitted = np.sort(plain["end_time"].to_numpy())[99]
    is_early = (plain["submit_time"] < fitted).to_numpy()
    assert some["estimated_time"][is_early].equals(plain["estimated_time"][is_early])
    assert not some["estimated_time"].equals(plain["estimated_time"])


def test_it_finds_what_decides() -> None:
    """Jobs of queue 1 take a tenth of what they ask for: it is nearer to that than the requests and the last job."""
    trace = crowded_trace(500, seed=2)
    requested = trace.jobs["requested_time"].fillna(60.0).clip(lower=10.0)
    share = np.where(trace.jobs["queue_id"] == 1, 0.1, 0.8)
    trace = trace.with_jobs(trace.jobs.assign(requested_time=requested, run_time=np.ceil(requested * share)))
    errors = []
    for predictor in ("gradient-boosting:every=50", "last-model", "request"):
        jobs = simulate(trace, "easy", predictor=predictor).jobs.iloc[300:]
        errors.append(float((jobs["estimated_time"] - jobs["run_time"]).abs().mean()))
    assert errors[0] < 0.2 * min(errors[1:])


def test_quantiles_are_those_of_run_times() -> None:
    """Run times drawn without regard to anything: the share that was underestimated is one less the quantile."""
    rng = np.random.default_rng(1)
    count = 2000
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=list(range(count)),
        submit_time=np.cumsum(rng.integers(200, 400, count)).astype(float).tolist(),
        run_time=np.floor(rng.uniform(0, 1000, count)).tolist(),
        requested_time=[1000.0] * count,
        requested_processors=[1] * count,
        user_id=rng.integers(1, 5, count).tolist(),
    )
    for quantile in (0.25, 0.9):
        predictor = f"gradient-boosting:quantile={quantile},every=1000,trees=10,least_in_leaf=200"
        jobs = simulate(trace, "easy", predictor=predictor).jobs.iloc[1000:]
        share = (jobs["run_time"] <= jobs["estimated_time"]).mean()
        assert abs(share - quantile) < 0.05


@pytest.mark.parametrize("policy", by_day(["easy", "conservative", "sjf-backfill"], 2))
def test_compiled_interpreted_and_again(policy: str) -> None:
    """And whatever the number of threads, and the seed of the run."""
    trace = with_executables(crowded_trace(100, seed=3))
    expected = told(trace, FEW, policy)
    assert expected == told(trace, FEW, policy, compiled=False)
    with threadpool_limits(limits=2, user_api="openmp"):
        assert expected == told(trace, FEW, policy, seed=9)


def test_copies_learn_by_themselves() -> None:
    """Each ends as one that was never stopped, whichever goes on first; what was passed has learned nothing."""
    trace = with_executables(crowded_trace(150))
    given = GradientBoosting(GradientBoostingParameters(every=20, window=60, trees=10, least_in_leaf=3))
    whole = simulate(trace, "easy", predictor=given).jobs
    assert 0 == given.fits
    going = Simulation(trace, "easy", predictor=given).run(until=float(trace.arrays.submit_time[70]))
    copies = [going.copy(), going.copy()]
    others = copies[0].copy().without_later_jobs().run()
    for simulation in (copies[0], going, copies[1]):
        assert simulation.run().schedule().jobs.equals(whole)
    assert others.schedule().jobs["start_time"].notna().all()


def test_a_copy_shares_nothing_that_changes() -> None:
    """A job that one is asked about, and one that it learns of, are not known to the other."""
    first = GradientBoosting(GradientBoostingParameters(every=2, window=4, trees=2, least_in_leaf=1))
    jobs = [job_of(job_number=number, user_id=1, submit_time=float(number)) for number in range(6)]
    for job in jobs[:4]:
        first.predict(job, job["submit_time"])
    ended = [{**job, "run_time": 10.0 * job["job_number"], "end_time": 50.0} for job in jobs]
    first.learn(ended[:2])
    known, other = copy.deepcopy(first)._history.submit(jobs[5], 70.0), copy.deepcopy(first)
    np.testing.assert_array_equal(known, copy.deepcopy(first)._history.submit(jobs[5], 70.0))
    other.learn(ended[2:4])
    other.predict(jobs[4], 60.0)
    twin = copy.deepcopy(first)
    assert (1, 2, 1) == (first.fits, other.fits, twin.fits)
    assert first.predict(jobs[5], 70.0) == twin.predict(jobs[5], 70.0)
    first.learn(ended[2:4])
    assert first.predict(jobs[5], 70.0) != twin.predict(jobs[5], 70.0)


def kill_once(machine: Any, memory: Any) -> None:
    """Start in order; stop what runs at every tenth decision."""
    memory[0][0] += 1
    if memory[0][0] % 10 == 0 and machine.counts[RUNNING] > 0:
        preempt(machine, machine.running[0], KILL)
    for job in waiting_jobs(machine):
        if machine.requests.processors[job] <= machine.counts[0]:
            start(machine, job)


def test_jobs_that_were_killed_end_once() -> None:
    """They are learned of when they have ended; none is left over at the end, and the twin says the same."""
    trace = with_executables(crowded_trace(100, seed=8))
    policy = Policy("kill-once", kill_once, memory=lambda jobs, processors: (np.zeros(1, np.int64),))
    trees = {"max_iter": 10, "max_leaf_nodes": 31, "min_samples_leaf": 3, "learning_rate": 0.2}
    slow = Boosting(every=20, window=60, quantile=0.5, **trees)
    simulation = Simulation(trace, policy, predictor=FEW).run()
    jobs = simulation.schedule().jobs
    assert jobs["preemptions"].sum() > 5
    with threadpool_limits(limits=1, user_api="openmp"):
        assert jobs.equals(simulate(trace, policy, predictor=slow).jobs)


def test_a_trace_that_says_little() -> None:
    """Numbers that stand twice, without occurrences; no queue, no executable, no user is known."""
    columns = {name: crowded_trace(120).jobs[name].tolist() for name in ("submit_time", "run_time", "requested_time")}
    plain = Trace.from_columns(machine_processors=16, job_number=[1, 2] * 60, allocated_processors=[3] * 120, **columns)
    plain = plain.with_jobs(plain.jobs.drop(columns="job_occurrence", errors="ignore"))
    simulation = Simulation(plain, "easy", predictor=FEW).run()
    assert isinstance(simulation.predictor, GradientBoosting)
    assert simulation.predictor.fits > 2
    assert 120 == len(simulation.schedule().jobs)


def test_a_fit_to_two_jobs() -> None:
    """The fewest that can be."""
    jobs = simulate(crowded_trace(30), "easy", predictor="gradient-boosting:every=2,window=2,least_in_leaf=1").jobs
    assert jobs["estimated_time"].between(0, jobs["requested_time"]).all()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("gradient-boosting:every=1", "gradient-boosting: every=1 is not an integer of 2 or more"),
        ("gradient-boosting:window=200001", "window=200001 is not an integer from 2 to 200,000"),
        ("gradient-boosting:quantile=1", "quantile=1 is not a number above 0"),
        ("gradient-boosting:quantile=0", "quantile=0 is not a number above 0"),
        ("gradient-boosting:tree=5", "did you mean trees"),
        ("gradient-boostin", "did you mean gradient-boosting"),
    ],
)
def test_wrong_parameters_are_refused(text: str, complaint: str) -> None:
    """By name, before anything runs."""
    with pytest.raises(ParameterError, match=complaint):
        find_predictor(text)

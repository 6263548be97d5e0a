# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that wait for others, in the engine: against the slow simulator, in forks, from bytes, taken out, added."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError, StateError
from swftools.simulator import Simulation, Stepper, simulate, validate
from swftools.simulator.engine.dependents import COMES
from swftools.simulator.engine.replay import DEPENDENT
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.stepping.state_checks import check_parts
from tests.naive.simulator import KEYS, Policy, conservative, easy, strict
from tests.simulator.twin import naive_runs
from tests.strategies import crowded_trace

TWINS: dict[str, Policy] = {
    "fcfs": strict("fcfs"),
    "easy": easy(),
    "sjf-backfill": easy(backfill=KEYS["sjf"]),
    "conservative": conservative(compress=True),
}


def dependent_trace(seed: int, jobs: int = 70) -> Trace:
    """Return jobs in bursts of which half wait for others: one or several, with think times, or 0 s."""
    trace, rng = crowded_trace(jobs, seed=seed), np.random.default_rng(seed)
    named: list[int | None] = [None]
    several: list[list[int] | None] = [None]
    for job in range(1, jobs):
        few = sorted({int(number) for number in rng.integers(max(job - 9, 0), job, rng.integers(1, 4)) + 1})
        named.append(few[0] if rng.random() < 0.5 else None)
        several.append(few if named[-1] is not None and len(few) > 1 else None)
    think = np.where(rng.random(jobs) < 0.5, 0, rng.integers(0, 200, jobs))
    return trace.with_jobs(
        trace.jobs.assign(
            preceding_job_number=pd.array(named, "Int64"),
            preceding_job_numbers=pd.Series(several, dtype=object),
            think_time=pd.array(think, "Float64"),
        )
    )


def starts(schedule: Any) -> dict[int, float]:
    """Return when each job starts."""
    return dict(zip(schedule.jobs["job_number"].tolist(), schedule.jobs["start_time"].tolist(), strict=True))


@pytest.mark.parametrize("policy", TWINS)
def test_as_the_slow_simulator(policy: str, compiled: bool) -> None:
    """Starts are equal, and jobs eligible when all that they wait for has ended; validate agrees."""
    for seed in range(6 if compiled else 2):
        trace = dependent_trace(seed)
        schedule = simulate(trace, policy, compiled=compiled)
        _, jobs, _ = naive_runs(trace, TWINS[policy], dependencies="follow")
        assert schedule.jobs["start_time"].tolist() == [job.start for job in jobs]
        assert schedule.jobs["ready_time"].tolist() == [job.ready() for job in jobs]
        assert (schedule.jobs["ready_wait"] == schedule.jobs["start_time"] - schedule.jobs["ready_time"]).all()
        assert validate(schedule, trace=trace).ok
        assert starts(schedule) != starts(simulate(trace, policy, dependencies="ignore"))


def test_by_hand() -> None:
    """The third waits for the second and 5 s; the fourth for none, and goes ahead of it."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3, 4],
        submit_time=[0, 10, 20, 30],
        run_time=[100, 50, 10, 7],
        requested_time=[100, 50, 10, 7],
        requested_processors=[3, 4, 1, 1],
        preceding_job_number=[-1, -1, 2, -1],
        think_time=[-1, -1, 5, -1],
    )
    schedule = simulate(trace, "easy")
    assert schedule.jobs["start_time"].tolist() == [0.0, 100.0, 155.0, 30.0]
    assert schedule.jobs["ready_time"].tolist() == [0.0, 10.0, 155.0, 30.0]
    assert schedule.jobs["wait_time"].tolist() == [0.0, 90.0, 135.0, 0.0]
    assert schedule.options["dependencies"] == "follow"
    assert any("1 of 4 jobs wait for others" in told for told in schedule.assumptions)


def test_who_is_not_simulated_counts_by_the_log() -> None:
    """One that cancelled=drop leaves out has ended by the log, or at once; other simulators know no dependencies."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3],
        submit_time=[0, 10, 20],
        wait_time=[0, 90, 0],
        run_time=[100, -1, 10],
        requested_time=[100, 50, 10],
        requested_processors=[3, 9, 1],
        preceding_job_number=[-1, -1, 2],
        think_time=[-1, -1, 5],
    )
    assert simulate(trace, "easy").jobs["start_time"].tolist() == [0.0, 20.0]
    known = trace.with_jobs(trace.jobs.assign(run_time=pd.array([100, 30, 10], "Float64")))
    assert simulate(known, "easy").jobs["start_time"].tolist() == [0.0, 135.0]
    assert simulate(known, "easy", semantics="pyss").jobs["start_time"].tolist() == [0.0, 20.0]
    assert simulate(known, "easy", semantics="pyss").options["dependencies"] == "ignore"


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_forks_copies_and_bytes_know_it(policy: str, compiled: bool) -> None:
    """Wherever the simulation stands, each of them goes on to the same starts."""
    trace = dependent_trace(7, 40)
    wanted = starts(simulate(trace, policy))
    stepper, decisions, waited, coming = Stepper(trace, policy, compiled=compiled), 0, 0, 0
    while stepper.skip():
        decisions += 1
        if decisions % (8 if compiled else 12):
            continue
        waited += int(stepper._replay_counts[DEPENDENT])
        fork = stepper.fork(later=None)
        was, came = (each._simulation._replay.dependents.listed_at == COMES for each in (stepper, fork))
        assert (came[: len(fork.width)] == was[fork.origin]).all()
        coming += int(came.sum())
        others = [fork, stepper.copy(), fork.fork(later=None), fork.copy()]
        if compiled:
            others += [Stepper.from_bytes(stepper.to_bytes()), Stepper.from_bytes(fork.to_bytes())]
        for other in others:
            found = starts(other.finish())
            assert found == {job: wanted[job] for job in found}
            assert len(found) >= len(stepper.waiting)
    assert waited > 5
    assert coming > 0


def test_jobs_taken_out_before_the_first_event(compiled: bool) -> None:
    """The others wait for whom they waited, whatever their numbers are now, as where the jobs never were in the log."""
    for seed in range(3):
        whole = dependent_trace(seed, 40)
        whole = whole.with_jobs(whole.jobs.assign(think_time=0.0))
        out = whole.jobs["job_number"] % 5 == seed
        left = whole.with_jobs(whole.jobs[~out].reset_index(drop=True))
        simulation = Simulation(whole, "easy", compiled=compiled).without(whole.jobs[out][["job_number"]])
        assert starts(simulation.run().schedule()) == starts(simulate(left, "easy"))


def test_a_fork_without_later_jobs() -> None:
    """Whoever waits for a job that is not taken along waits no more; everybody starts."""
    trace = dependent_trace(7, 40)
    stepper = Stepper(trace, "easy")
    while stepper.skip():
        fork = stepper.fork()
        jobs = len(fork.width)
        assert len(fork.finish().jobs) == jobs


def test_who_waits_for_a_job_that_is_taken_out(compiled: bool) -> None:
    """It may start at once, but for its think time, whether the other waits, runs, or is to come."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3, 4, 5],
        submit_time=[0, 10, 20, 30, 200],
        run_time=[100, 50, 10, 7, 20],
        requested_time=[100, 50, 10, 7, 20],
        requested_processors=[3, 4, 1, 1, 1],
        preceding_job_number=[-1, -1, 2, 3, -1],
        think_time=[-1, -1, 5, 0, -1],
    )
    for out, wanted in ((2, {1: 0.0, 3: 35.0, 4: 45.0, 5: 200.0}), (3, {1: 0.0, 2: 100.0, 4: 30.0, 5: 200.0})):
        simulation = Simulation(trace, "easy", compiled=compiled).run(until=40)
        simulation.without(pd.DataFrame({"job_number": [out]}))
        assert starts(simulation.run().schedule()) == wanted
    late = Simulation(trace, "easy", compiled=compiled).run(until=15)
    late.without(pd.DataFrame({"job_number": [3]}))  # which is to come
    assert starts(late.run().schedule()) == {1: 0.0, 2: 100.0, 4: 30.0, 5: 200.0}


def test_a_job_that_is_submitted_meanwhile() -> None:
    """It takes its place among those to come, which keep waiting for whom they waited."""
    trace = dependent_trace(11, 40)
    is_free = trace.jobs["preceding_job_number"].isna()
    added = int(np.flatnonzero(is_free)[is_free[is_free].index.searchsorted(30)])
    job = trace.jobs.iloc[added]
    named = trace.jobs["preceding_job_number"] == job["job_number"]
    others = trace.with_jobs(
        trace.jobs.assign(preceding_job_number=trace.jobs["preceding_job_number"].mask(named)).drop(
            columns="preceding_job_numbers"
        )
    )
    whole = simulate(others, "easy")
    stepper = Stepper(others.with_jobs(others.jobs.drop(index=added).reset_index(drop=True)), "easy")
    stepper.run(before=float(job["submit_time"]) / 2)
    stepper.submit(
        int(job["allocated_processors"]),
        float(job["requested_time"]),
        float(job["run_time"]),
        at=float(job["submit_time"]),
        user=int(job["user_id"]),
        queue=int(job["queue_id"]),
        job_number=int(job["job_number"]),
    )
    assert starts(stepper.finish()) == starts(whole)


def test_a_job_that_is_submitted_may_wait(compiled: bool) -> None:
    """For one that waits, runs, is to come, or has ended; forks and bytes know it, and so do jobs that come between."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2],
        submit_time=[0, 10],
        run_time=[100, 50],
        requested_time=[100, 50],
        requested_processors=[3, 4],
    )
    stepper = Stepper(trace, "easy", compiled=compiled)
    stepper.run(until=20)
    stepper.submit(1, 10.0, at=20.0, job_number=3, preceding_job_number=1, think_time=5.0)  # that runs
    stepper.submit(1, 10.0, at=30.0, job_number=4, preceding_job_number=3)  # that is to come
    stepper.submit(1, 7.0, at=25.0, job_number=5)
    assert {3: 150.0, 4: 160.0, 5: 25.0, 2: 100.0, 1: 0.0} == starts(stepper.copy().finish())
    if compiled:
        assert starts(Stepper.from_bytes(stepper.to_bytes()).finish())[4] == 160.0
    stepper.run(until=120)
    stepper.submit(1, 3.0, at=140.0, job_number=6, preceding_job_number=1, think_time=60.0)  # that has ended
    assert starts(stepper.fork(later=None).finish())[6] == 160.0
    stepper.submit(1, 2.0, at=139.0, job_number=7, preceding_job_number=6)  # that comes later
    ended = stepper.copy().finish()
    assert starts(ended) == {1: 0.0, 2: 100.0, 3: 150.0, 4: 160.0, 5: 25.0, 6: 160.0, 7: 163.0}
    for wrong in ({"preceding_job_number": 77}, {"preceding_job_number": 1, "think_time": -1.0}):
        with pytest.raises(ParameterError, match="preceding_job_number="):
            stepper.submit(1, 3.0, at=150.0, **wrong)
    ignoring = Stepper(trace, "easy", dependencies="ignore")
    ignoring.run(until=20)
    ignoring.submit(1, 10.0, at=20.0, job_number=3, preceding_job_number=1)
    assert starts(ignoring.finish())[3] == 20.0


def test_edges_of_jobs_that_have_ended_are_used_again(compiled: bool) -> None:
    """A chain that grows as long as the machine runs needs no more of them than jobs wait at a time."""
    trace = Trace.from_columns(
        machine_processors=4, job_number=[1], submit_time=[0], run_time=[10], requested_processors=[1]
    )
    stepper, known = Stepper(trace, "easy", compiled=compiled), set()
    for job in range(2, 152):
        for again in range(2):  # two that wait for the same one, the first of which goes on
            number = job + 1000 * again
            stepper.submit(
                1, 10.0, at=10.0 * (job - 2), job_number=number, preceding_job_number=job - 1, think_time=3.0
            )
        if job % 50 == 0:
            stepper = stepper.fork(later=None) if job % 100 else Stepper.from_bytes(stepper.to_bytes())
            known.add(int(stepper._simulation._replay.dependents.edges[0]))
        stepper.run(before=10.0 * (job - 1))
    assert len(known) > 1
    assert max(known) <= 200
    found = starts(stepper.finish())
    assert all(found[number] == 13.0 * (number % 1000 - 1) for number in found)


@pytest.mark.parametrize(
    ("array", "place", "value"),
    [("free", 0, 0), ("next", -1, 0), ("edge", 0, 1), ("edges", 0, 99), ("successor", 0, 9)],
)
def test_edges_that_somebody_forged(array: str, place: int, value: int) -> None:
    """Each edge is free or of one job, once, and leads to a job that there is."""
    trace = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3, 4],
        submit_time=[0, 1, 2, 3],
        run_time=[10, 10, 10, 10],
        requested_processors=[1, 1, 1, 1],
        preceding_job_number=[-1, 1, 2, 2],
    )
    driver = Simulation(trace, "fcfs").run(until=15)._driver
    parts = driver.coming, driver.machine, driver.replay, driver.jobs, driver.options
    check_parts(*parts)
    dependents = driver.replay.dependents
    assert (int(dependents.free[0]), int(dependents.edges[0])) == (0, 3)
    getattr(dependents, array)[place] = value or (NOBODY if array == "free" else 0)
    with pytest.raises(StateError, match="dependents"):
        check_parts(*parts)


def test_logs_without_such_jobs_have_no_such_columns() -> None:
    """Nothing is said of eligibility, and nothing kept."""
    trace = crowded_trace(20, seed=1)
    simulation = Simulation(trace, "easy")
    assert len(simulation._replay.dependents.pending) == 0
    assert "ready_time" not in simulation.run().schedule().jobs

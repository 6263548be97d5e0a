# SPDX-License-Identifier: BSD-3-Clause
"""``outlived="increments"``: a job that outlives its prediction is expected to need a little more each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from swftools import Trace
from swftools.simulator import (
    CHECKPOINT,
    KILL,
    SUSPEND,
    Policy,
    Simulation,
    first_waiting,
    fits,
    now,
    preempt,
    simulate,
    start,
    wake_at,
)
from tests.drawn import draw_trace
from tests.examples import by_day
from tests.naive.predictors import MINUTES, user_average, with_increments
from tests.naive.simulator import TWINS, last_model
from tests.simulator.restless import RESTLESS, naive_restless
from tests.simulator.test_work_twin import OVERHEADS, with_work
from tests.simulator.twin import naive_runs, naive_starts_of, shown, shown_naive
from tests.strategies import crowded_trace

TWO_USERS = """
    submit     run request width user
    0           10 1000000     1    1
    0           10    1000     1    2
    100     900000 1000000     1    1
    100        800    1000     1    2
"""


def expected_ends(trace: Trace, predictor: str, times: list[float], **options: Any) -> list[float]:
    """Return when the third job is expected to end, at some times, before the decision of any of them."""
    simulation = Simulation(trace, "fcfs", predictor=predictor, **options)
    found = []
    for time in times:
        running = simulation.run(until=time).running.set_index("job_number")
        found.append(float(running.loc[3, "expected_end"]))
    return found


@pytest.mark.parametrize("predictor", ["last-model", "user-average:jobs=1"])
def test_one_increment_after_the_other(predictor: str, compiled: bool) -> None:
    """At the very second at which it should have ended, and not before; behind the last comes the request."""
    trace = draw_trace(TWO_USERS, processors=4)
    ends = 110 + 60.0 * np.cumsum([0, *MINUTES])  # the first is what was predicted
    text = f"{predictor}{',' if ':' in predictor else ':'}outlived=increments"
    assert ends.tolist() == expected_ends(trace, text, [100.0, *ends[:-1].tolist()], compiled=compiled)
    before = np.nextafter(ends, 0)
    assert ends.tolist() == expected_ends(trace, text, before.tolist(), compiled=compiled)
    assert [1000100.0] == expected_ends(trace, text, [float(ends[-1])], compiled=compiled)
    assert [1000100.0] == expected_ends(trace, predictor, [110.0], compiled=compiled)
    assert ends[-1] < 900000


def test_never_more_than_the_request() -> None:
    """Job 4 is expected to take 10 s, 70, 370, and then not 1,270 but the 1,000 that it asked for."""
    trace = draw_trace(TWO_USERS, processors=4)
    simulation = Simulation(trace, "fcfs", predictor="user-average:jobs=1,outlived=increments")
    found = [
        float(simulation.run(until=time).running.set_index("job_number").loc[4, "expected_end"])
        for time in (100, 110, 170, 470)
    ]
    assert [110, 170, 470, 1100] == found


def test_who_runs_beyond_his_request_may_end_at_any_moment() -> None:
    """Raised to the request, then beyond it; nothing is said anew, and the job ends."""
    trace = draw_trace(
        """
        submit run request width user
        0       10     100     1    1
        50     500     100     1    1
        60       5      10     1    .
        61      50      10     1    .
        """,
        processors=4,
    )
    simulation = Simulation(trace, "fcfs", predictor="last-model:outlived=increments", overrun="run-on")
    ends = [float(simulation.run(until=time).running["expected_end"].max()) for time in (50, 60, 120, 130, 140, 200)]
    assert [60, 120, 150, 150, 150, 150] == ends
    assert [10, 550, 65, 111] == simulation.run().schedule().jobs["end_time"].tolist()


def test_what_it_changes(compiled: bool) -> None:
    """Job 2 outlives its 100 s at 150 s: job 4 may go ahead of job 3 if that counts on the 1,000 s asked for.

    If it counts on 160 s, job 3 is expected to start at 210 s, which job 4 would delay; then, on 460 s, at 510 s.
    """
    trace = draw_trace(
        """
        submit run request width user
        0       10     100     1    1
        50     500    1000     1    1
        55      10      20     2    2
        151    100     100     1    3
        """,
        processors=2,
    )
    limit, raised = (
        simulate(trace, "easy", predictor=f"last-model:outlived={way}", compiled=compiled).jobs["start_time"].tolist()
        for way in ("limit", "increments")
    )
    assert [0, 50, 550, 151] == limit
    assert [0, 50, 550, 210] == raised


def stopping(how: int, at: float = 500.0) -> Any:
    """Return a policy that starts in order, and stops the third job once, at 500 s or another time, for 100 s."""

    def decide(machine: Any, memory: Any) -> None:
        """Start, stop, and start again."""
        if now(machine) < at:
            wake_at(machine, at)
        elif memory[0][0] == 0:
            memory[0][0] = 1
            preempt(machine, 2, how)
        if at <= now(machine) < at + 100:
            wake_at(machine, at + 100)
            return
        job = first_waiting(machine)
        while fits(machine, job):
            start(machine, job)
            job = first_waiting(machine)

    return Policy("stopping", decide, memory=lambda jobs, processors: (np.zeros(1, np.int64),))


@pytest.mark.parametrize(
    ("how", "begun_before"),
    [(KILL, 0.0), (SUSPEND, 400.0), (CHECKPOINT, 300.0)],
    ids=["kill", "suspend", "checkpoint"],
)
@pytest.mark.parametrize("overhead", [0, 7])
def test_what_was_raised_stays_so(how: int, begun_before: float, overhead: int) -> None:
    """Stopped at 500 s, when it was told 10 + 60 + 300 + 900: from 600 s on it needs what is left, then 1,800 more."""
    trace = draw_trace(TWO_USERS, processors=4)
    trace = trace.with_jobs(trace.jobs.assign(checkpoint_interval=150.0))
    simulation = Simulation(
        trace,
        stopping(how),
        predictor="last-model:outlived=increments",
        restart_overhead=overhead,
        compiled=False,
    ).run(until=550)
    simulation.run(until=600)
    paid = overhead if begun_before else 0

    def end() -> float:
        return float(simulation.running.set_index("job_number").loc[3, "expected_end"])

    first = 600 + paid + 1270 - begun_before
    assert first == end()
    simulation.run(until=first - 1)
    assert first == end()
    simulation.run(until=first)
    assert first + 1800 == end()


def test_behind_the_last_increment_a_job_that_was_killed_needs_its_request() -> None:
    """And no longer the sum of all increments, by which it is known not to end."""
    at = 110 + 60.0 * sum(MINUTES) + 5
    simulation = Simulation(
        draw_trace(TWO_USERS, processors=4),
        stopping(KILL, at),
        predictor="last-model:outlived=increments",
        compiled=False,
    ).run(until=at)
    assert [3] == simulation.waiting["job_number"].tolist()
    assert [1000000] == simulation.waiting["estimated_time"].tolist()


SLOWER = 37.0
"""By which times of drawn traces are longer here, so that increments are between predictions and requests."""


def slow_trace(jobs: int, processors: int, seed: int) -> Trace:
    """Return crowded jobs of minutes and hours, requests of up to six times as long."""
    trace = crowded_trace(jobs, processors, seed=seed)
    times = {name: trace.jobs[name] * SLOWER for name in ("submit_time", "run_time", "requested_time")}
    return trace.with_jobs(trace.jobs.assign(**times))


OBSERVERS = {
    "last-model": last_model,
    "user-average:jobs=2": user_average,
}


def with_way(predictor: str, way: str) -> str:
    """Return a predictor with what it does when it is outlived."""
    return f"{predictor}{',' if ':' in predictor else ':'}outlived={way}"


@pytest.mark.parametrize(
    ("name", "overrun", "predictor"),
    [  # by day each two of these together
        pytest.param(name, overrun, predictor, marks=() if (i + j + k) % 2 == 0 else (pytest.mark.slow,))
        for i, name in enumerate(["easy", "sjf-backfill", "conservative", "conservative-replanned"])
        for j, overrun in enumerate(["extend", "run-on"])
        for k, predictor in enumerate(OBSERVERS)
    ],
)
def test_as_the_slow_simulator(name: str, overrun: str, predictor: str) -> None:
    """Job by job, both ways; compiled and interpreted; and the ways differ."""
    twin = next(twin for known, parameters, twin in TWINS if known == name and set(parameters.values()) <= {"fcfs", 1})
    trace = slow_trace(50, 16, seed=7)
    starts = []
    for way in ("limit", "increments"):
        observer = OBSERVERS[predictor]()
        observer = with_increments(observer) if way == "increments" else observer
        work, jobs, _ = naive_runs(trace, twin, observe=observer, overrun=overrun)
        options: dict[str, Any] = {"predictor": with_way(predictor, way), "overrun": overrun}
        for compiled in (True, False):
            found = simulate(trace, name, compiled=compiled, **options).jobs["start_time"].tolist()
            assert naive_starts_of(work, jobs) == found
        starts.append(found)
    if name != "conservative":
        assert starts[0] != starts[1]


@pytest.mark.parametrize("predictor", OBSERVERS)
@pytest.mark.parametrize("restart_overhead", OVERHEADS)
@pytest.mark.parametrize("seed", by_day(range(4), 1))
def test_runs_are_those_of_the_twin(predictor: str, restart_overhead: Any, seed: int) -> None:
    """Where jobs are killed, suspended, resized and held by lot, and go on with work that was done."""
    trace = with_work(slow_trace(40, 8, seed), np.random.default_rng(seed))
    work, jobs, runs = naive_runs(
        trace,
        naive_restless(len(trace), seed, 300),
        observe=with_increments(OBSERVERS[predictor]()),
        overrun="run-on",
        restart_overhead=restart_overhead,
    )
    schedule = simulate(
        trace,
        RESTLESS,
        predictor=with_way(predictor, "increments"),
        overrun="run-on",
        restart_overhead=restart_overhead,
        seed=seed,
        acts=300,
    )
    assert shown_naive(trace, jobs, runs, work) == shown(trace, schedule)
    if predictor == "last-model":
        plain = simulate(
            trace, RESTLESS, predictor="last-model", overrun="run-on", restart_overhead=restart_overhead, acts=300
        )
        assert len(plain.segments) > len(trace)

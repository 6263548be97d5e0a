"""Stretches of a simulation: stopping and going on changes nothing, progress is told, and an interrupt ends it."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import PolicyError
from swftools.models import lublin_feitelson
from swftools.simulator import Policy, Simulation, engine, list_policies, now, simulate, wake_at
from swftools.simulator import simulation as stretches
from swftools.simulator.replay import COMING, DONE, LEFT

JOBS = 300


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs that queue, with all that policies need."""
    made = lublin_feitelson.generate(JOBS, processors=64, load=0.95, seed=3)
    return made.with_jobs(made.jobs.assign(priority_rank=pd.array(np.arange(JOBS) % 3, dtype="Int64")))


@pytest.fixture
def by_instants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop after every instant, and tell of each."""
    monkeypatch.setattr(stretches, "FIRST", 1)
    monkeypatch.setattr(stretches, "STRETCH", 0.0)
    monkeypatch.setattr(stretches, "PAUSE", 0.0)


@pytest.mark.parametrize("options", [{}, {"predictor": "last-model"}, {"overrun": "run-on"}], ids=str)
@pytest.mark.parametrize("policy", sorted(name for name in list_policies() if not name.startswith("example")))
def test_where_it_stops_changes_nothing(
    trace: Trace, policy: str, options: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    """Every policy, stopped after each instant: the schedule is the same, bit for bit."""
    at_once = simulate(trace, policy, **options)
    request.getfixturevalue("by_instants")
    told: list[float] = []
    stopping = simulate(trace, policy, progress=lambda done, jobs, now: told.append(now), **options)
    assert len(told) > JOBS
    pd.testing.assert_frame_equal(stopping.jobs, at_once.jobs, check_exact=True)
    pd.testing.assert_frame_equal(stopping.segments, at_once.segments, check_exact=True)


@pytest.mark.parametrize("compiled", [True, False])
def test_progress(trace: Trace, by_instants: None, compiled: bool) -> None:
    """Jobs that ended, jobs, and the simulated time: they rise to the end, which is told once."""
    told: list[tuple[int, int, float]] = []
    schedule = simulate(trace, "easy", compiled=compiled, progress=lambda *step: told.append(step))
    done, jobs, now = (np.array(column) for column in zip(*told, strict=True))
    assert set(jobs) == {JOBS}
    assert (np.diff(done) >= 0).all()
    assert (np.diff(now[:-1]) > 0).all()
    assert (done[-1], now[-1]) == (JOBS, schedule.jobs["end_time"].max())
    assert list(done).count(JOBS) == 1
    ends = np.sort(schedule.jobs["end_time"])
    assert (done == np.searchsorted(ends, now, side="right")).all()


def test_no_jobs() -> None:
    """The end is told there too."""
    told: list[tuple[int, int, float]] = []
    empty = Trace.from_columns(machine_processors=4, job_number=[], submit_time=[], run_time=[])
    simulate(empty, "easy", progress=lambda *step: told.append(step))
    assert [step[:2] for step in told] == [(0, 0)]


class Clock:
    """A clock that goes on by itself at each look, and by what the work takes."""

    def __init__(self) -> None:
        self.time = 100.0

    def perf_counter(self) -> float:
        """Return the time, s."""
        self.time += 1e-6
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """In place of the module's clock."""
    clock = Clock()
    monkeypatch.setattr(stretches, "time", clock)
    return clock


class Worker(Simulation):
    """A simulation that ends a job an instant, each of which takes some time; it notes how much it was asked for."""

    def __init__(self, clock: Clock, seconds: Iterator[float], jobs: int) -> None:
        super().__init__(Trace.from_columns(machine_processors=4, job_number=[], submit_time=[], run_time=[]), "fcfs")
        self._replay.counts[COMING] = jobs
        self.clock, self.seconds = clock, seconds
        self.asked: list[int] = []

    def _run_some(self) -> None:
        counts = self._replay.counts
        self.asked.append(int(counts[LEFT]))
        for _ in range(min(int(counts[LEFT]), int(counts[COMING] - counts[DONE]))):
            self.clock.time += next(self.seconds)
            counts[DONE] += 1
            counts[LEFT] -= 1


def test_stretches_are_short(clock: Clock) -> None:
    """After the first, each is about as long as it is meant to be, however long an instant takes."""
    seconds = itertools.chain(itertools.repeat(1e-6, 400_000), itertools.repeat(1e-3))
    asked = Worker(clock, seconds, 500_000).run().asked
    assert asked[0] == 64
    assert max(asked) <= 1.1 * stretches.STRETCH / 1e-6
    assert 45 <= asked[-2] <= 55  # 50 of 1 ms each
    assert len(asked) < 2_200


def test_progress_is_told_ten_times_a_second(clock: Clock) -> None:
    """No more often, and not much less often."""
    told: list[float] = []
    worker = Worker(clock, itertools.repeat(1e-3), 10_000)
    worker.run(progress=lambda done, jobs, now: told.append(clock.time))
    gaps = np.diff(told)[:-1]
    assert gaps.min() >= 0.1
    assert gaps.max() < 0.2
    assert 50 < len(told) <= 101


class StopError(Exception):
    """Raised by who is told."""


@pytest.mark.parametrize("error", [StopError, KeyboardInterrupt])
@pytest.mark.parametrize("compiled", [True, False])
def test_who_is_told_may_stop_it(trace: Trace, by_instants: None, compiled: bool, error: type[BaseException]) -> None:
    """What is raised comes out as it is, and not as a mistake of the policy."""

    def stop(done: int, jobs: int, now: float) -> None:
        if done >= 10:
            raise error(f"after {done} jobs")

    with pytest.raises(error, match=r"after 1[0-9] jobs"):
        simulate(trace, "easy", compiled=compiled, progress=stop)


def raises_late(machine):  # type: ignore[no-untyped-def]
    """Do nothing, until it is too late."""
    if now(machine) > 0:
        raise ValueError("too late")


def test_mistakes_of_policies_are_told_as_before(trace: Trace, by_instants: None) -> None:
    """In a later stretch too."""
    with pytest.raises(PolicyError, match=r"policy 'late', at .* s: raised ValueError: too late"):
        simulate(trace, Policy("late", raises_late), compiled=False)


def wakes_for_ever(machine):  # type: ignore[no-untyped-def]
    """Ask for a decision on and on."""
    wake_at(machine, now(machine) + 1.0)


def test_patience_outlasts_a_stretch(trace: Trace, by_instants: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions in vain are counted on from one stretch to the next."""
    monkeypatch.setattr(engine, "PATIENCE", 20)
    last = float(trace.arrays.submit_time.max())

    def count(done: int, jobs: int, now: float) -> None:
        assert now < last + 100.0, "it goes on for ever"

    few = trace.with_jobs(trace.jobs.head(3))
    with pytest.raises(PolicyError, match=r"leaves . jobs? waiting|decides on and on"):
        simulate(few, Policy("wakes", wakes_for_ever), compiled=False, progress=count)


INTERRUPTED = """
import signal
from swftools.models import lublin_feitelson
from swftools.simulator import simulate
trace = lublin_feitelson.generate(5000, processors=64, load=1.2, seed=3)
simulate(trace, "conservative")
signal.signal(signal.SIGALRM, signal.default_int_handler)
for _ in range(20):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        while True:
            simulate(trace, "conservative")
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_interrupts_are_heard() -> None:
    """A signal while compiled code runs ends it by its exception, as in Python, and does not end the process."""
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "interrupted\n" * 20

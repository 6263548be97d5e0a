# SPDX-License-Identifier: BSD-3-Clause
"""Stretches of a simulation: stopping and going on changes nothing, progress is told, and an interrupt ends it."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import PolicyError
from swftools.models import lublin_feitelson
from swftools.simulator import Policy, now, simulate, simulation, wake_at
from swftools.simulator.engine import loop
from swftools.simulator.run import driver, interruptible_thread
from tests.every_policy import OURS, light, with_all_columns
from tests.examples import pairs
from tests.folders import ROOT
from tests.forked import PIPELINE

JOBS = 300


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs that queue, with all that policies need."""
    made = lublin_feitelson.generate(JOBS, processors=64, load=0.95, seed=3)
    ranked = made.with_jobs(made.jobs.assign(priority_rank=pd.array(np.arange(JOBS) % 3, dtype="Int64")))
    return with_all_columns(ranked)


@pytest.fixture
def by_instants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop after every instant, and tell of each."""
    monkeypatch.setattr(driver, "FEW", 1)
    monkeypatch.setattr(driver, "MANY", 1)
    monkeypatch.setattr(simulation, "PAUSE", 0.0)


@pytest.mark.parametrize(
    ("policy", "options"),
    pairs([light(name) for name in OURS], [{}, {"predictor": "last-model"}, {"overrun": "run-on"}], each=1),
)
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


def test_progress_is_told_ten_times_a_second(trace: Trace, monkeypatch: pytest.MonkeyPatch, compiled: bool) -> None:
    """No more often, however short the stretches are."""
    monkeypatch.setattr(driver, "FEW", 1)
    monkeypatch.setattr(driver, "MANY", 1)
    told: list[float] = []
    simulate(trace, "easy", compiled=compiled, progress=lambda done, jobs, now: told.append(time.perf_counter()))
    assert (np.diff(told)[:-1] >= simulation.PAUSE).all()
    assert len(told) < JOBS


def test_long_stretches_are_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled engine is asked to stop, so that who waits is told while it runs."""
    monkeypatch.setattr(interruptible_thread, "PAUSE", 0.001)
    monkeypatch.setattr(simulation, "PAUSE", 0.0)
    many = lublin_feitelson.generate(20_000, processors=64, load=0.95, seed=3)
    told: list[int] = []
    schedule = simulate(many, "conservative", progress=lambda done, jobs, now: told.append(done))
    assert len(told) > 5
    assert sorted(told) == told
    pd.testing.assert_frame_equal(schedule.jobs, simulate(many, "conservative").jobs, check_exact=True)


class StopError(Exception):
    """Raised by who is told."""


@pytest.mark.parametrize("error", [StopError, KeyboardInterrupt])
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
    monkeypatch.setattr(loop, "PATIENCE", 20)
    last = float(trace.arrays.submit_time.max())

    def count(done: int, jobs: int, now: float) -> None:
        assert now < last + 100.0, "it goes on for ever"

    few = trace.with_jobs(trace.jobs.head(3))
    with pytest.raises(PolicyError, match=r"leaves . jobs? waiting|decides on and on"):
        simulate(few, Policy("wakes", wakes_for_ever), compiled=False, progress=count)


INTERRUPTED = """
import faulthandler, signal
faulthandler.dump_traceback_later(300, exit=True)
from swftools.models import lublin_feitelson
from swftools.simulator import simulate
from tests.every_policy import OURS, light, with_all_columns
trace = lublin_feitelson.generate(5000, processors=64, load=1.2, seed=3)
simulate(trace, "conservative")
signal.signal(signal.SIGALRM, signal.default_int_handler)
for i in range(TIMES):
    try:
        # Again and again: what is raised while numpy compares types of pandas, numpy takes for a no.
        signal.setitimer(signal.ITIMER_REAL, 0.04 * (i + 1) / TIMES, 1.0)
        while True:
            simulate(trace, "conservative")
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        print("interrupted")
"""


@pytest.mark.parametrize("times", [15, pytest.param(200, marks=pytest.mark.slow)])
def test_interrupts_are_heard(times: int) -> None:
    """A signal ends the simulation by its exception, as in Python, and does not end the process, whenever it comes."""
    command = [sys.executable, "-c", INTERRUPTED.replace("TIMES", str(times))]
    run = PIPELINE.run(command, ROOT, dict(os.environ))
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "interrupted\n" * times

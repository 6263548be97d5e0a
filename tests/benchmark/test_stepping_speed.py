# SPDX-License-Identifier: BSD-3-Clause
"""How long a step takes whose decision comes from outside, a copy, and a job that comes while it runs.

pytest tests/benchmark/test_stepping_speed.py --benchmark-enable --benchmark-only -p no:xdist
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from swftools import Trace
from swftools.models import lublin_feitelson
from swftools.simulator import Simulation, Stepper, what_if

pytestmark = pytest.mark.benchmark(group="stepping")


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Jobs of which a few dozen wait."""
    return lublin_feitelson.generate(10_000, processors=128, load=0.8, seed=1)


def test_skip(benchmark: BenchmarkFixture, trace: Trace) -> None:
    """The policy decides, from the first decision to the last."""

    def run() -> int:
        stepper, steps = Stepper(trace, "easy"), 1
        stepper.advance()
        while stepper.skip():
            steps += 1
        return steps

    steps = benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    benchmark.extra_info["us a step"] = round(1e6 * benchmark.stats.stats.min / steps, 2)


def test_first_come_first_served(benchmark: BenchmarkFixture, trace: Trace) -> None:
    """A loop over the waiting jobs in Python."""

    def run() -> int:
        stepper, steps = Stepper(trace, "easy"), 0
        while stepper.advance():
            steps += 1
            width = stepper.width
            for job in stepper.waiting:
                if width[job] > stepper.free:
                    break
                stepper.start(job)
        return steps

    steps = benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    benchmark.extra_info["us a step"] = round(1e6 * benchmark.stats.stats.min / steps, 2)


def test_run_until(benchmark: BenchmarkFixture, trace: Trace) -> None:
    """A few events of a simulation by ``run(until=)``."""
    simulation = Simulation(trace, "easy").run(until=float(trace.jobs["submit_time"].iloc[3000]))
    moment = [simulation.now]

    def run() -> None:
        moment[0] += 50.0
        simulation.run(until=moment[0])

    benchmark.pedantic(run, rounds=5000, warmup_rounds=10)


@pytest.fixture(scope="module", params=["easy", "conservative"])
def crowded(request: pytest.FixtureRequest) -> Stepper:
    """A moment at which 100 jobs wait and 100 run, of 10,000 jobs."""
    rng, jobs = np.random.default_rng(1), 10_000
    time = rng.integers(10, 2000, jobs) * 60.0
    trace = Trace.from_columns(
        machine_processors=512,
        job_number=np.arange(1, jobs + 1),
        submit_time=300.0 * np.arange(jobs),
        run_time=time * rng.uniform(0.1, 1.0, jobs),
        requested_time=time,
        requested_processors=rng.integers(1, 10, jobs),
    )
    stepper = Stepper(trace, request.param)
    stepper.advance()
    while min(len(stepper.waiting), len(stepper.running)) < 100:
        stepper.skip()
    return stepper


def test_fork(benchmark: BenchmarkFixture, crowded: Stepper) -> None:
    """A light copy, one after the other."""
    benchmark.pedantic(crowded.fork, rounds=2000, warmup_rounds=10)


def test_fork_and_step(benchmark: BenchmarkFixture, crowded: Stepper) -> None:
    """And the first decision in it."""
    benchmark.pedantic(lambda: crowded.fork().skip(), rounds=2000, warmup_rounds=10)


def test_forks_that_are_kept(benchmark: BenchmarkFixture, crowded: Stepper) -> None:
    """Of which each needs room of its own."""
    kept: list[Stepper] = []
    benchmark.pedantic(lambda: kept.append(crowded.fork()), rounds=500, warmup_rounds=10)


def test_would_start(benchmark: BenchmarkFixture, crowded: Stepper) -> None:
    """When a job would start that is submitted now: a fork, and its run to the end of all that is there."""
    benchmark.pedantic(lambda: crowded.would_start(64, 3600.0), rounds=500, warmup_rounds=10)


def test_to_bytes(benchmark: BenchmarkFixture, crowded: Stepper) -> None:
    """A fork as bytes, and back."""
    fork = crowded.fork()
    benchmark.pedantic(lambda: Stepper.from_bytes(fork.to_bytes()), rounds=50, warmup_rounds=2)


def test_submit(benchmark: BenchmarkFixture) -> None:
    """Jobs that come one by one, decided on as they come."""
    rng = np.random.default_rng(0)
    stepper = Stepper(Trace.from_columns(machine_processors=512, job_number=[]), "easy")
    moment = [0.0]

    def submit() -> None:
        moment[0] += 360.0
        stepper.run(before=moment[0])
        time = 60.0 * float(rng.integers(10, 2000))
        stepper.submit(int(rng.integers(1, 10)), time, 0.5 * time, at=moment[0])

    benchmark.pedantic(submit, rounds=5000, warmup_rounds=10)


def test_copy(benchmark: BenchmarkFixture, trace: Trace) -> None:
    """All that a simulation of 10,000 jobs knows."""
    stepper = Stepper(trace, "easy")
    for _ in range(3000):
        stepper.advance()
        stepper.decide()
    benchmark.pedantic(stepper.copy, rounds=200, warmup_rounds=10)


def test_what_if_of_a_long_queue(benchmark: BenchmarkFixture) -> None:
    """When a job starts behind 10,000 that wait."""
    rng = np.random.default_rng(0)
    running = pd.DataFrame({"processors": [4] * 100, "requested_time": [3600.0] * 100, "elapsed": [60.0] * 100})
    waiting = pd.DataFrame(
        {
            "processors": rng.integers(1, 64, 10_000),
            "requested_time": 60.0 * rng.integers(10, 2000, 10_000),
            "waited": np.arange(10_000, 0, -1, np.float64),
        }
    )
    asked = [{"processors": 16, "requested_time": 3600.0}]
    benchmark.pedantic(what_if, (running, waiting, asked, 512, ["easy"]), rounds=5, warmup_rounds=1)

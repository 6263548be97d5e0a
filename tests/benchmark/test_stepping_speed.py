"""How long a step takes whose decision comes from outside, and a copy.

pytest tests/benchmark/test_stepping_speed.py --benchmark-enable --benchmark-only -p no:xdist
"""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from swftools import Trace
from swftools.models import lublin_feitelson
from swftools.simulator import Simulation, Stepper

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


def test_fork(benchmark: BenchmarkFixture, trace: Trace) -> None:
    """What there is of them at a moment."""
    stepper = Stepper(trace, "easy")
    for _ in range(3000):
        stepper.advance()
        stepper.skip()
    benchmark.pedantic(stepper.fork, rounds=2000, warmup_rounds=10)


def test_fork_and_step(benchmark: BenchmarkFixture, trace: Trace) -> None:
    """And the first decision in it."""
    stepper = Stepper(trace, "easy")
    for _ in range(3000):
        stepper.advance()
        stepper.skip()
    benchmark.pedantic(lambda: stepper.fork().skip(), rounds=2000, warmup_rounds=10)


def test_copy(benchmark: BenchmarkFixture, trace: Trace) -> None:
    """All that a simulation of 10,000 jobs knows."""
    stepper = Stepper(trace, "easy")
    for _ in range(3000):
        stepper.advance()
        stepper.skip()
    benchmark.pedantic(stepper.copy, rounds=200, warmup_rounds=10)

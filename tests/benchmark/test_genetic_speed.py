# SPDX-License-Identifier: BSD-3-Clause
"""How long the genetic scheduler takes: the paper's window of 5,000 jobs, and how that grows.

SWFTOOLS_SHARED=... pytest tests/benchmark/test_genetic_speed.py --benchmark-enable --benchmark-only -p no:xdist
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.simulator import Schedule, simulate
from tests.benchmark.conftest import BLUE
from tests.every_policy import with_all_columns
from tests.strategies import crowded_trace

pytestmark = pytest.mark.benchmark(group="genetic")

QUEUES = {2: 0, 0: 1, 3: 2, 1: 3, 4: 4, 5: 5}
"""Ranks of the queues that meet the paper's table best, the catalogue's ``over-fitted``."""


@pytest.fixture(scope="module")
def window(shared: Path) -> swftools.Trace:
    """The paper's jobs, which are worth something."""
    log = swftools.read_swf(shared / "traces" / BLUE)
    jobs = log.with_jobs(log.jobs.iloc[5000:10_000].reset_index(drop=True))
    parameters = swftools.UtilityParameters(queue_ranks=QUEUES, default_rank=2)
    return jobs.with_jobs(jobs.jobs.join(swftools.generate_utility(jobs, parameters)))


def orders_of(schedule: Schedule) -> int:
    """Return how many orders were bred."""
    return int(schedule.notes["decisions"]["nodes"].sum())


@pytest.mark.parametrize("generations", [10, 100])
def test_window(benchmark: BenchmarkFixture, window: swftools.Trace, generations: int) -> None:
    """20 individuals; the paper took 8,900 s for 100 generations."""
    options = {"generations": generations, "cancelled": "end-at-once", "explain": True}
    schedule = benchmark.pedantic(simulate, (window, "genetic", 1152), options, rounds=2, warmup_rounds=1)
    benchmark.extra_info["ns an order"] = round(1e9 * benchmark.stats.stats.min / orders_of(schedule))


def test_window_with_checkpoints(benchmark: BenchmarkFixture, window: swftools.Trace) -> None:
    """Four jobs in ten write checkpoints; no more than three times as long."""
    intervals = with_all_columns(window).jobs["checkpoint_interval"] * 60
    trace = window.with_jobs(window.jobs.assign(checkpoint_interval=intervals))
    options = {"cancelled": "end-at-once", "restart_overhead": 60.0, "explain": True}
    schedule = benchmark.pedantic(simulate, (trace, "genetic-checkpoint", 1152), options, rounds=1, warmup_rounds=1)
    benchmark.extra_info["ns an order"] = round(1e9 * benchmark.stats.stats.min / orders_of(schedule))


@pytest.mark.parametrize("jobs", [100, 200, 400])
def test_growth(benchmark: BenchmarkFixture, jobs: int) -> None:
    """A crowd three times as much as the machine can do: more and more of them wait."""
    trace = with_all_columns(crowded_trace(jobs, 64, seed=1))
    schedule = benchmark.pedantic(
        simulate, (trace, "genetic"), {"generations": 20, "explain": True}, rounds=2, warmup_rounds=1
    )
    benchmark.extra_info["ns an order"] = round(1e9 * benchmark.stats.stats.min / orders_of(schedule))
    benchmark.extra_info["mean waiting"] = round(schedule.notes["decisions"]["waiting"].mean(), 1)

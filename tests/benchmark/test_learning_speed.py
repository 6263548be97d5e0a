# SPDX-License-Identifier: BSD-3-Clause
"""How many steps a second an environment makes, alone and among many, and how long a new episode takes: CPU time.

pytest tests/benchmark/test_learning_speed.py --benchmark-enable --benchmark-only -p no:xdist
"""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from swftools import Trace
from swftools.learning import EpisodeLog, Network, SchedulingEnv, SchedulingVectorEnv, network_policy
from swftools.models import lublin_feitelson
from swftools.simulator import list_policies, simulate
from tests.benchmark.generated_nodes import Yardstick

pytestmark = pytest.mark.benchmark(group="learning", timer=time.process_time)

K = 128


@pytest.fixture(scope="module")
def log() -> EpisodeLog:
    """200,000 jobs, of which more than a hundred wait at times."""
    trace = lublin_feitelson.generate(200_000, processors=128, load=0.95, seed=1)
    return EpisodeLog(trace.with_jobs(trace.jobs.assign(requested_time=trace.jobs["run_time"] * 2)))


@pytest.mark.parametrize("jobs", [256, 2000])
def test_a_step(benchmark: BenchmarkFixture, log: EpisodeLog, jobs: int) -> None:
    """Of one environment that observes 128 jobs, by what Gymnasium calls; in longer episodes more jobs wait."""
    env = SchedulingEnv(log, k=K, jobs=jobs)
    _, info = env.reset(seed=1)

    def run() -> None:
        nonlocal info
        for _ in range(10_000):
            _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
            if over:
                _, info = env.reset()

    benchmark.pedantic(run, rounds=5, warmup_rounds=1)
    benchmark.extra_info["steps a second"] = round(10_000 / benchmark.stats.stats.min)


@pytest.mark.parametrize("choice", ["fits", "reserve"])
@pytest.mark.parametrize("jobs", [256, 2000])
def test_a_step_on_nodes(
    benchmark: BenchmarkFixture, shared: Path, tmp_path_factory: pytest.TempPathFactory, jobs: int, choice: str
) -> None:
    """The same on 1,000 nodes of four kinds in 20 partitions that overlap."""
    made = Yardstick(shared, tmp_path_factory.mktemp("nodes")).generate()
    env = SchedulingEnv(EpisodeLog(made.trace, machine=made.machine, heads="machine"), k=K, jobs=jobs, choice=choice)
    _, info = env.reset(seed=1)

    def run() -> None:
        nonlocal info
        for _ in range(5000):
            _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
            if over:
                _, info = env.reset()

    benchmark.pedantic(run, rounds=5, warmup_rounds=1)
    benchmark.extra_info["steps a second"] = round(5000 / benchmark.stats.stats.min)


@pytest.mark.parametrize("jobs", [256, 2000])
@pytest.mark.parametrize("copies", [True, False])
def test_a_step_of_many(benchmark: BenchmarkFixture, log: EpisodeLog, copies: bool, jobs: int) -> None:
    """Of 64 environments at once."""
    envs = SchedulingVectorEnv(64, log, k=K, jobs=jobs, copies=copies)
    _, info = envs.reset(seed=1)

    def run() -> None:
        nonlocal info
        for _ in range(1000):
            info = envs.step(info["action_mask"].argmax(axis=1))[4]

    benchmark.pedantic(run, rounds=5, warmup_rounds=1)
    benchmark.extra_info["steps a second"] = round(64_000 / benchmark.stats.stats.min)


@pytest.mark.parametrize("warm_up", [0, 64])
def test_a_new_episode(benchmark: BenchmarkFixture, log: EpisodeLog, warm_up: int) -> None:
    """256 jobs from anywhere in the log; jobs of the warm-up are simulated."""
    env = SchedulingEnv(log, k=K, jobs=256, warm_up=warm_up)
    env.reset(seed=1)
    benchmark.pedantic(env.reset, rounds=10, iterations=500, warmup_rounds=10)


def test_memory_of_many(benchmark: BenchmarkFixture, log: EpisodeLog) -> None:
    """Of 64 environments on one log, beside the log."""
    of_log = sum(column.nbytes for column in log.coming)
    tracemalloc.start()
    envs = benchmark.pedantic(lambda: SchedulingVectorEnv(64, log, k=K), rounds=1)
    envs.reset(seed=1)
    of_all = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    benchmark.extra_info |= {"MB of the log": of_log / 1e6, "MB of 64 environments": of_all / 1e6}


def test_a_network_decides(benchmark: BenchmarkFixture, log: EpisodeLog) -> None:
    """A whole log of 20,000 jobs, by a network as a compiled policy."""
    part: Trace = log.trace.with_jobs(log.trace.jobs.iloc[:20_000])
    network_policy("speed-of-a-network", Network.random(16, seed=1), k=32)
    schedule = benchmark.pedantic(lambda: simulate(part, "speed-of-a-network"), rounds=3, warmup_rounds=1)
    list_policies().pop("speed-of-a-network")
    assert np.isfinite(schedule.jobs["start_time"]).all()

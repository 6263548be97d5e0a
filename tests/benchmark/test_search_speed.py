# SPDX-License-Identifier: BSD-3-Clause
"""Search: nanoseconds a visit of a node, its growth with the limit, a month of a log, and long queues."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.selection import scale_to_load, select_jobs
from swftools.simulator import Simulation, simulate

pytestmark = pytest.mark.benchmark(group="search")

PROCESSORS, RUNNING, DECISIONS = 128, 20, 300
BEGIN = 20_000.0
"""When the first of the jobs comes that make the scheduler decide, s."""

OBJECTIVES = ["tradeoff-a(T_w:avgX)", "lexical(T_w -> avgX)", "lexical(maxW -> avgX)", "tradeoff-c(maxW:avgW)"]


def crowd(waiting: int, decisions: int = DECISIONS) -> swftools.Trace:
    """So many jobs that wait behind long runs, and narrow short ones, each of which makes the scheduler decide."""
    draws = np.random.default_rng(1)
    held = draws.multinomial(PROCESSORS - 1 - RUNNING, np.ones(RUNNING) / RUNNING) + 1
    long = np.round(np.exp(draws.normal(11, 1, RUNNING))) + BEGIN + 20 * decisions
    wide = np.minimum(2 ** draws.integers(1, 7, waiting), PROCESSORS)
    take = np.round(np.exp(draws.normal(8, 1.5, waiting))) + 1
    submit = [np.zeros(RUNNING), np.sort(draws.integers(1, BEGIN, waiting)), BEGIN + 10.0 * np.arange(decisions)]
    run_time = np.concatenate([long, take, np.ones(decisions)])
    return swftools.Trace.from_columns(
        machine_processors=PROCESSORS,
        job_number=np.arange(1, len(run_time) + 1),
        submit_time=np.concatenate(submit),
        run_time=run_time,
        requested_time=run_time,
        requested_processors=np.concatenate([held, wide, np.ones(decisions, np.int64)]),
    )


def seconds_a_visit(
    benchmark: BenchmarkFixture, waiting: int, decisions: int = DECISIONS, rounds: int = 5, **parameters: object
) -> float:
    """Benchmark decisions with so many waiting jobs; return seconds for each node visited, of the best round."""
    before = Simulation(crowd(waiting, decisions), "search", explain=True, **parameters).run(until=BEGIN - 1)
    last = BEGIN + 10.0 * (decisions - 1)

    def decide() -> Simulation:
        return before.copy().run(until=last)

    done = benchmark.pedantic(decide, rounds=rounds, warmup_rounds=1).notes["decisions"].tail(decisions)
    assert (done["waiting"] == waiting + 1).all()
    benchmark.extra_info["ms a decision"] = round(1e3 * benchmark.stats.stats.min / decisions, 2)
    each = benchmark.stats.stats.min / float(done["nodes"].sum())
    benchmark.extra_info["ns a visit"] = round(1e9 * each, 1)
    return each


@pytest.mark.parametrize("traversal", ["dds", "lds"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_visit(benchmark: BenchmarkFixture, objective: str, traversal: str) -> None:
    """A visit with 30 waiting jobs, of 4,000 a decision."""
    seconds_a_visit(benchmark, 30, objective=objective, traversal=traversal)


@pytest.mark.parametrize("nodes", [250, 1000, 4000, 16_000, 64_000])
def test_limit(benchmark: BenchmarkFixture, nodes: int) -> None:
    """The same by the limit: as many times the visits, as many times the time."""
    seconds_a_visit(benchmark, 30, decisions=50, nodes=nodes)


@pytest.mark.parametrize("objective", ["tradeoff-a(T_w:avgX)", "tradeoff-c(T_w:avgX)"])
@pytest.mark.parametrize("waiting", [300, 2000])
def test_long_queue(benchmark: BenchmarkFixture, waiting: int, objective: str) -> None:
    """A decision with many waiting jobs."""
    seconds_a_visit(benchmark, waiting, decisions=20, rounds=2, objective=objective)


def test_month(benchmark: BenchmarkFixture, shared: Path) -> None:
    """A month of SDSC-SP2 at load 0.9 and L = 4,000, with a week before it and a week after it."""
    cleaned, _ = swftools.clean(swftools.read_swf(shared / "traces" / "SDSC-SP2-1998-4.2-cln.swf.gz"))
    month = scale_to_load(select_jobs(cleaned, month="1999-03", warm_up=7 * 86400, cool_down=7 * 86400), 0.9)
    benchmark.pedantic(simulate, (month, "search"), {"predictor": "exact"}, rounds=5, warmup_rounds=1)
    benchmark.extra_info["jobs"] = len(month)

# SPDX-License-Identifier: BSD-3-Clause
"""How long the schedulers of moldable jobs take: the workloads of Barsanti and Sodan 2006, and how that grows.

pytest tests/benchmark/test_moldable_speed.py --benchmark-enable --benchmark-only -p no:xdist
"""

from __future__ import annotations

from functools import cache

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from pipelines.papers.barsanti2006.workloads import ALPHAS, WorkloadOfPaper, made
from swftools import Trace
from swftools.simulator import simulate

pytestmark = pytest.mark.benchmark(group="moldable")

POLICIES = ("fixed", "scojo-p", "scojo-p:resize=true", "cirne-berman")


@cache
def workload(name: str, jobs: int = 10_000) -> Trace:
    """Return a workload of the paper."""
    return made(WorkloadOfPaper(alpha=ALPHAS[name], jobs=jobs), 1)


@pytest.mark.parametrize("name", ALPHAS)
@pytest.mark.parametrize("policy", POLICIES)
def test_workload(benchmark: BenchmarkFixture, policy: str, name: str) -> None:
    """10,000 jobs, compiled already."""
    schedule = benchmark.pedantic(simulate, (workload(name), policy, 128), rounds=5, warmup_rounds=1)
    assert len(schedule.jobs) == 10_000


@pytest.mark.parametrize(("policy", "jobs"), [("fixed", 10**6), ("scojo-p", 10**6), ("cirne-berman", 10**5)])
def test_growth(benchmark: BenchmarkFixture, policy: str, jobs: int) -> None:
    """Ten or a hundred times as many jobs of the lighter workload."""
    schedule = benchmark.pedantic(simulate, (workload("W1", jobs), policy, 128), rounds=1, warmup_rounds=1)
    benchmark.extra_info["us a job"] = round(1e6 * benchmark.stats.stats.min / jobs, 2)
    assert len(schedule.jobs) == jobs

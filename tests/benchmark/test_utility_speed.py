# SPDX-License-Identifier: BSD-3-Clause
"""Utility functions: jobs a second, generated and evaluated, from ten thousand to a million."""

from __future__ import annotations

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.utility.functions import UtilityFunctions

pytestmark = pytest.mark.benchmark(group="utility")

SIZES = [10**4, 10**5, 10**6]


def trace_of(jobs: int) -> swftools.Trace:
    """Return a trace of random jobs."""
    random = np.random.default_rng(1)
    return swftools.Trace.from_columns(
        job_number=np.arange(1, jobs + 1),
        submit_time=np.arange(jobs) * 100.0,
        wait_time=random.integers(0, 100_000, jobs),
        run_time=random.integers(1, 100_000, jobs),
        requested_time=random.integers(100, 100_000, jobs),
        requested_processors=random.integers(1, 512, jobs),
        queue_id=random.integers(0, 6, jobs),
    )


@pytest.mark.parametrize("jobs", SIZES)
def test_generate(benchmark: BenchmarkFixture, jobs: int) -> None:
    """Functions of all three kinds, with their evaluation at the logged turnaround."""
    parameters = swftools.UtilityParameters(queue_ranks={2: 0, 1: 1, 3: 2, 4: 3, 5: 4, 0: 5})
    trace = trace_of(jobs)
    assert jobs == len(trace.arrays.width)
    benchmark.pedantic(swftools.generate_utility, (trace, parameters), rounds=5, warmup_rounds=1)
    benchmark.extra_info["jobs/s"] = round(jobs / benchmark.stats.stats.min)


@pytest.mark.parametrize("jobs", SIZES)
def test_evaluate(benchmark: BenchmarkFixture, jobs: int) -> None:
    """Every function at a time of its own."""
    trace = trace_of(jobs)
    functions = UtilityFunctions.from_arrow(swftools.generate_utility(trace)["utility"].array)
    benchmark.pedantic(functions.evaluate, (trace.arrays.run_time,), rounds=5, warmup_rounds=1)
    benchmark.extra_info["jobs/s"] = round(jobs / benchmark.stats.stats.min)

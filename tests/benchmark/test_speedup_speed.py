# SPDX-License-Identifier: BSD-3-Clause
"""Speedup: jobs a second given curves and choices, and run times a second on many widths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.models.moldability import MODELS, SpeedupParameters, generate_speedup
from swftools.models.speedup import downey_speedup, run_time

pytestmark = pytest.mark.benchmark(group="speedup")

SIZES = [10**4, 10**5, 10**6]
WIDTHS = np.arange(1, 21)[None, :] * 50


def trace_of(jobs: int) -> swftools.Trace:
    """Return a trace of random jobs."""
    random = np.random.default_rng(1)
    return swftools.Trace.from_columns(
        machine_processors=1024,
        job_number=np.arange(1, jobs + 1),
        run_time=random.integers(1, 100_000, jobs),
        requested_processors=random.integers(1, 513, jobs),
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("jobs", SIZES)
def test_generate(benchmark: BenchmarkFixture, jobs: int, model: Any) -> None:
    """Curves, bounds, optimum and choices."""
    trace = trace_of(jobs)
    assert jobs == len(trace.arrays.width)
    benchmark.pedantic(generate_speedup, (trace, SpeedupParameters(model=model)), rounds=5, warmup_rounds=1)
    benchmark.extra_info["jobs/s"] = round(jobs / benchmark.stats.stats.min)


@pytest.mark.parametrize("jobs", SIZES)
def test_run_times(benchmark: BenchmarkFixture, jobs: int) -> None:
    """The run time of every job on 20 widths, from the published columns."""
    trace = trace_of(jobs)
    columns = trace.jobs.join(generate_speedup(trace)).assign(width=trace.arrays.width)
    benchmark.pedantic(run_time, (WIDTHS, columns), rounds=5, warmup_rounds=1)
    benchmark.extra_info["run times/s"] = round(jobs * WIDTHS.size / benchmark.stats.stats.min)


@pytest.mark.parametrize("jobs", SIZES)
def test_speedups(benchmark: BenchmarkFixture, jobs: int) -> None:
    """Downey's curve of every job on 20 widths."""
    random = np.random.default_rng(2)
    a, sigma = 1 + 999 * random.random((jobs, 1)), 3 * random.random((jobs, 1))
    benchmark.pedantic(downey_speedup, (WIDTHS, a, sigma), rounds=5, warmup_rounds=1)
    benchmark.extra_info["speedups/s"] = round(jobs * WIDTHS.size / benchmark.stats.stats.min)

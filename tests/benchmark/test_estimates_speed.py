# SPDX-License-Identifier: BSD-3-Clause
"""User estimates: jobs a second, from ten thousand to a million."""

from __future__ import annotations

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.models.distribution_of_requests import requested_time_distribution
from swftools.models.requested_times import RequestedTimeParameters, generate_requested_times

pytestmark = pytest.mark.benchmark(group="estimates")

SIZES = [10**4, 10**5, 10**6]


def trace_of(jobs: int) -> swftools.Trace:
    """Return a trace of random jobs, in no order of their run times."""
    random = np.random.default_rng(1)
    return swftools.Trace.from_columns(
        job_number=np.arange(1, jobs + 1),
        submit_time=np.arange(jobs) * 100.0,
        run_time=np.floor(np.exp(random.uniform(0, np.log(100_000), jobs))),
        requested_processors=random.integers(1, 512, jobs),
    )


@pytest.mark.parametrize("jobs", SIZES)
def test_generate(benchmark: BenchmarkFixture, jobs: int) -> None:
    """Distribution and assignment."""
    trace = trace_of(jobs)
    assert jobs == len(trace.arrays.width)
    benchmark.pedantic(
        generate_requested_times, (trace, RequestedTimeParameters(maximum=129_600)), rounds=5, warmup_rounds=1
    )
    benchmark.extra_info["jobs/s"] = round(jobs / benchmark.stats.stats.min)


@pytest.mark.parametrize("jobs", SIZES)
def test_distribution(benchmark: BenchmarkFixture, jobs: int) -> None:
    """The distribution alone; its cost grows with the number of distinct estimates, which is bounded."""
    random = np.random.default_rng(1)
    benchmark(requested_time_distribution, jobs, 129_600.0, rng=random)
    benchmark.extra_info["jobs/s"] = round(jobs / benchmark.stats.stats.min)

# SPDX-License-Identifier: BSD-3-Clause
"""Workload models: jobs a second of Lublin-Feitelson workloads, and other arrivals for the whole of SDSC-BLUE."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.models.arrivals import ArrivalParameters, generate_arrivals
from swftools.models.lublin_feitelson import generate

pytestmark = pytest.mark.benchmark(group="models")

SIZES = [10**4, 10**5, 10**6]
WORKLOADS: dict[str, dict[str, Any]] = {
    "all": {"types": "all"},
    "mix": {"types": "mix"},
    "all-with-load": {"types": "all", "load": 0.8},
    "mix-with-load": {"types": "mix", "load": 0.8},
}
ARRIVALS = {
    "lublin-feitelson": ArrivalParameters(),
    "lublin-feitelson-mix": ArrivalParameters(types="mix"),
    "lublin-feitelson-load": ArrivalParameters(load=0.8),
    "poisson": ArrivalParameters(model="poisson"),
    "bootstrap": ArrivalParameters(model="bootstrap"),
    "scaled": ArrivalParameters(model="scaled", load=0.8),
}


@pytest.mark.parametrize("jobs", SIZES)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_lublin_feitelson(benchmark: BenchmarkFixture, workload: str, jobs: int) -> None:
    """A whole trace; with a load, several passes over the arrivals to solve for alpha."""
    benchmark.pedantic(generate, (jobs,), {"seed": 1, **WORKLOADS[workload]}, rounds=3, warmup_rounds=1)
    benchmark.extra_info["jobs/s"] = round(jobs / benchmark.stats.stats.min)


@pytest.mark.parametrize("model", ARRIVALS)
def test_arrivals_of_blue(benchmark: BenchmarkFixture, blue: Path, model: str) -> None:
    """New submissions for every job of the log."""
    trace = swftools.read_swf(blue)
    assert len(trace) == len(trace.arrays.width)
    benchmark.pedantic(generate_arrivals, (trace, ARRIVALS[model]), rounds=3, warmup_rounds=1)
    benchmark.extra_info["jobs/s"] = round(len(trace) / benchmark.stats.stats.min)

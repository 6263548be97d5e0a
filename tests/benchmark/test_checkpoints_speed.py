# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints: jobs a second, inferred from a survey and surveyed, from ten thousand to a million; and SDSC-BLUE."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import swftools
from swftools.checkpoints.inference import infer_checkpoints, read_checkpoints, write_checkpoints
from swftools.checkpoints.synthetic_survey import CheckpointSurveyParameters, generate_checkpoint_survey

pytestmark = pytest.mark.benchmark(group="checkpoints")

SIZES = [10**4, 10**5, 10**6]
MANY = CheckpointSurveyParameters(answers=10**9)
"""A quarter of the jobs answered: the survey grows with the trace."""


def trace_of(jobs: int) -> swftools.Trace:
    """Return a trace of random jobs: heavy-tailed work, few users with many jobs."""
    random = np.random.default_rng(1)
    return swftools.Trace.from_columns(
        job_number=np.arange(1, jobs + 1),
        submit_time=np.arange(jobs) * 100.0,
        run_time=np.round(random.lognormal(6, 2, jobs)),
        requested_processors=2 ** random.integers(0, 9, jobs),
        user_id=np.minimum(random.zipf(1.5, jobs), jobs // 20),
    )


@pytest.mark.parametrize("jobs", SIZES)
def test_infer(benchmark: BenchmarkFixture, jobs: int) -> None:
    """Answers matched, pooled and drawn from, for a quarter of the jobs answered."""
    trace = trace_of(jobs)
    assert jobs == len(trace.arrays.width)
    survey = generate_checkpoint_survey(trace, MANY)
    benchmark.pedantic(infer_checkpoints, (trace, survey), rounds=3, warmup_rounds=1)
    benchmark.extra_info["jobs/s"] = round(jobs / benchmark.stats.stats.min)


@pytest.mark.parametrize("jobs", SIZES)
def test_generate(benchmark: BenchmarkFixture, jobs: int) -> None:
    """A synthetic survey of a quarter of the jobs."""
    trace = trace_of(jobs)
    assert jobs == len(trace.arrays.width)
    benchmark.pedantic(generate_checkpoint_survey, (trace, MANY), rounds=3, warmup_rounds=1)
    benchmark.extra_info["jobs/s"] = round(jobs / benchmark.stats.stats.min)


@pytest.mark.parametrize("what", ["generate", "infer", "write", "read"])
def test_blue(benchmark: BenchmarkFixture, blue: Path, tmp_path: Path, what: str) -> None:
    """The whole of SDSC-BLUE with a survey of the published size: survey, inference, side file."""
    trace = swftools.clean(swftools.read_swf(blue))[0]
    survey = generate_checkpoint_survey(trace)
    jobs = trace.jobs.join(infer_checkpoints(trace, survey).columns)
    write_checkpoints(jobs, tmp_path / "side.csv")
    calls = {
        "generate": (generate_checkpoint_survey, (trace,)),
        "infer": (infer_checkpoints, (trace, survey)),
        "write": (write_checkpoints, (jobs, tmp_path / "side.csv")),
        "read": (read_checkpoints, (tmp_path / "side.csv",)),
    }
    benchmark.pedantic(*calls[what], rounds=3, warmup_rounds=1)
    benchmark.extra_info["jobs/s"] = round(len(trace) / benchmark.stats.stats.min)

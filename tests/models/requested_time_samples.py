# SPDX-License-Identifier: BSD-3-Clause
"""Distributions of user estimates, and jobs to hand them out to, that the tests share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from swftools import SwfHeader, Trace
from swftools.models.distribution_of_requests import RequestedTimeDistribution, requested_time_distribution
from swftools.models.requested_times import COLUMN, RequestedTimeParameters, generate_requested_times

DAY = 86_400.0


def drawn(jobs: int, maximum: float, seed: int = 0, **options: Any) -> RequestedTimeDistribution:
    """Generate a distribution from a seed."""
    return requested_time_distribution(jobs, maximum, rng=np.random.default_rng(seed), **options)


def as_pairs(distribution: RequestedTimeDistribution) -> list[tuple[float, int]]:
    """Return a distribution as (time, count)."""
    return list(zip(distribution.times.tolist(), distribution.counts.tolist(), strict=True))


def jobs_of(*run_times: float, header: SwfHeader | None = None, **columns: Any) -> Trace:
    """Make jobs with these run times, numbered from 1."""
    numbers = {"job_number": range(1, len(run_times) + 1)}
    return Trace.from_columns(header, run_time=run_times, **numbers | columns)


def random_jobs(count: int, seed: int = 0) -> Trace:
    """Make jobs of log-uniform run times from a second to a day, some missing, some numbers given twice."""
    rng = np.random.default_rng(seed)
    run_time = np.floor(np.exp(rng.uniform(0, math.log(DAY), count)))
    run_time[rng.random(count) < 0.1] = -1
    return Trace.from_columns(job_number=rng.integers(1, 2 * count, count), run_time=run_time)


def estimates_of(trace: Trace, **parameters: Any) -> list[float]:
    """Return the generated estimates."""
    estimates: list[float] = generate_requested_times(trace, RequestedTimeParameters(**parameters))[COLUMN].tolist()
    return estimates

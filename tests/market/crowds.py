# SPDX-License-Identifier: BSD-3-Clause
"""Crowds of jobs that are all there at once, with utility functions: as a trace, and as the naive twin has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from swftools import Trace, UtilityFunctions
from tests.naive.market import Bidder

PROCESSORS = 4


def with_utility(trace: Trace, functions: Sequence[Sequence[tuple[float, float]]]) -> Trace:
    """Return a trace whose jobs have these functions; an empty one is missing."""
    column = pd.Series(pd.arrays.ArrowExtensionArray(UtilityFunctions.from_points(functions).to_arrow()))
    return trace.with_jobs(trace.jobs.assign(utility=column))


def trace_of(jobs: Sequence[Bidder], submit: Sequence[float] | None = None, **columns: Any) -> Trace:
    """Return jobs as a trace, numbered from 1, whose requests are exact."""
    made = Trace.from_columns(
        machine_processors=PROCESSORS,
        job_number=list(range(1, len(jobs) + 1)),
        submit_time=[0.0] * len(jobs) if submit is None else list(submit),
        run_time=[job.run for job in jobs],
        requested_time=[job.run for job in jobs],
        requested_processors=[job.width for job in jobs],
        user_id=list(range(len(jobs))),
        **columns,
    )
    return with_utility(made, [job.points for job in jobs])


def crowd(seed: int, size: int) -> list[Bidder]:
    """Draw a crowd: widths of 1 to 4, runs of 1 to 8 s, functions that fall in a line to 0 within 3 to 30 s."""
    rng = np.random.default_rng(seed)
    return [
        Bidder(
            int(rng.integers(1, PROCESSORS + 1)),
            float(rng.integers(1, 9)),
            ((0.0, float(rng.integers(1, 11))), (float(rng.integers(3, 31)), 0.0)),
        )
        for _ in range(size)
    ]

# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of several widths that crowd a small machine, as exact in floats as the twins want them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from swftools import Trace

PROCESSORS = 16


def dense_crowd(seed: int) -> Trace:
    """Return up to 24 jobs that come within a minute, most of them moldable between a few widths and the machine.

    Times and widths are powers of two or small whole numbers, curves are of Downey without variation: floats are exact.
    """
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 25))
    run = 2.0 ** rng.integers(-1, 7, count)
    run[rng.random(count) < 0.05] = 0.0
    trace = Trace.from_columns(
        machine_processors=PROCESSORS,
        job_number=list(range(1, count + 1)),
        submit_time=np.sort(rng.integers(0, rng.choice([2, 16, 64]), count)).astype(float).tolist(),
        run_time=run.tolist(),
        requested_time=(run * rng.choice([1.0, 1.0, 2.0, 4.0, 0.5], count)).tolist(),
        allocated_processors=rng.choice([1, 2, 3, 4, 6, 8, 12, 16], count).tolist(),
        user_id=rng.integers(1, 4, count).tolist(),
    )
    moldable_share = rng.choice([0.5, 0.9, 1.0])
    a = 2.0 ** rng.integers(0, 6, count)
    least, most = rng.choice([1, 1, 2, 3, 4], count), rng.choice([4, 8, 12, 16, 99], count)
    curves = [
        (a[i], int(least[i]), int(most[i])) if is_moldable else None
        for i, is_moldable in enumerate(rng.random(count) < moldable_share)
    ]
    return with_curves(trace, curves)


dense_crowds: st.SearchStrategy[Trace] = st.integers(0, 2**32 - 1).map(dense_crowd)


def with_curves(trace: Trace, curves: list[Any]) -> Trace:
    """Return a trace whose jobs have A, least and largest width; None is rigid."""
    width = trace.jobs["allocated_processors"].tolist()
    bounds = [(own, own) if each is None else each[1:] for own, each in zip(width, curves, strict=True)]
    return trace.with_jobs(
        trace.jobs.assign(
            is_moldable=[each is not None for each in curves],
            speedup_curve=pd.array([None if each is None else "downey" for each in curves], dtype="string"),
            downey_a=np.array([np.nan if each is None else each[0] for each in curves], dtype=float),
            downey_sigma=np.array([np.nan if each is None else 0.0 for each in curves], dtype=float),
            minimum_processors=pd.array([least for least, _ in bounds], dtype="Int64"),
            maximum_processors=pd.array([most for _, most in bounds], dtype="Int64"),
        )
    )


def rigid(trace: Trace) -> Trace:
    """Return a trace none of whose jobs is moldable."""
    return with_curves(trace, [None] * len(trace))

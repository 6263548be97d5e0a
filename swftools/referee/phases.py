# SPDX-License-Identifier: BSD-3-Clause
"""The policy left to itself beside a real run, over phases: whether its waits are like the real ones.

A batch system looks at its queue in cycles, and when a cycle comes beside a submission is chance. So two real runs of
the same jobs differ; and so a simulation is run several times, each with its cycles begun at another time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from swftools.kernel import FloatArray
from swftools.keyed_random import count_occurrences
from swftools.machines.node_table import NodeTable
from swftools.referee.followed import Followed
from swftools.referee.forced import POLICY
from swftools.simulator.entry_points import simulate
from swftools.trace import Trace

QUANTILES = {"median": 0.5, "quantile_90": 0.9, "longest": 1.0}


def waits_over_phases(
    trace: Trace,
    table: NodeTable,
    followed: Followed,
    phases: int,
    told: Callable[[int], None] | None = None,
    *,
    compiled: bool = True,
) -> FloatArray:
    """Return the waits of a simulation under each phase, s from when jobs could start.

    Jobs come when they could start in the real run, and do not wait for each other besides.

    Returns
    -------
    numpy.ndarray of float64, shape (phases, rows)
        NaN of jobs that were not simulated or did not end.
    """
    jobs = trace.jobs.assign(submit_time=followed.eligible_time)
    moved, waits = replace(trace, jobs=jobs), np.full((phases, len(trace)), np.nan)
    keys = pd.MultiIndex.from_arrays([jobs["job_number"], count_occurrences(jobs)])
    for phase in range(phases):
        if told:
            told(phase)
        options: dict[str, Any] = {"dependencies": "ignore", "overrun": "run-on"}
        schedule = simulate(moved, POLICY, machine=table, phase=phase / phases, compiled=compiled, **options).jobs
        own = pd.MultiIndex.from_frame(schedule[["job_number", "job_occurrence"]])
        waits[phase, keys.get_indexer(own)] = schedule["wait_time"]
    return waits


def compared(waits: FloatArray, real: FloatArray) -> dict[str, float]:
    """Return what two runs' waits have to do with each other, over the jobs of both.

    Returns
    -------
    dict of str to float
        ``mean`` wait, ``QUANTILES``, the rank correlation ``rank`` with the real waits, and the Euclidean ``distance``
        from them, s.

    Examples
    --------
    >>> found = compared(np.array([0.0, 2.0, 10.0]), np.array([0.0, 1.0, 7.0]))
    >>> found["mean"], found["rank"], round(found["distance"], 2)
    (4.0, 1.0, 3.16)
    """
    both = np.isfinite(waits) & np.isfinite(real)
    own, other = waits[both], real[both]
    found = {"jobs": float(both.sum()), "mean": float(own.mean()) if len(own) else np.nan}
    for name, part in QUANTILES.items():
        found[name] = float(np.quantile(own, part)) if len(own) else np.nan
    ranks = pd.Series(own).rank().corr(pd.Series(other).rank())
    return found | {"rank": float(ranks), "distance": float(np.sqrt(((own - other) ** 2).sum()))}


def bands(waits: FloatArray, real: FloatArray) -> pd.DataFrame:
    """Return each figure of ``compared`` of the real waits, and the least, the median and the most over phases."""
    own = compared(real, real)
    found = pd.DataFrame([compared(each, real) for each in waits])
    return pd.DataFrame(
        [(name, own[name], found[name].min(), found[name].median(), found[name].max()) for name in own],
        columns=["measure", "real", "least", "median", "most"],
    )


def scatter(others: list[FloatArray], real: FloatArray) -> pd.DataFrame:
    """Return the same of repeated real runs, whose jobs are those of the first in the order of their submissions."""
    return bands(np.stack(others), real)

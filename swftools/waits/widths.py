# SPDX-License-Identifier: BSD-3-Clause
"""On how many nodes jobs ran first: what waits are weighed by."""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray
from swftools.simulator.allocations import allocations_of, machine_of
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.schedule import Schedule


def first_runs_of(schedule: Schedule) -> tuple[FloatArray, FloatArray]:
    """Return the start of the first run of each job, s, and its width.

    Parameters
    ----------
    schedule : Schedule
        On nodes, or on a pool.

    Returns
    -------
    start, width : ndarray of float64, shape (jobs,)
        The width is in nodes, of which a part of one counts as its share of the cores; on a pool in processors.
    """
    row = rows_of(schedule.segments, schedule.jobs) if len(schedule.jobs) else np.zeros(0, np.int64)
    first = np.zeros(len(schedule.jobs), np.int64)
    first[row[::-1]] = np.arange(len(row))[::-1]
    return column_of(schedule.segments, "start_time")[first], _widths(schedule, len(row))[first]


def _widths(schedule: Schedule, runs: int) -> FloatArray:
    """Return the width of each run."""
    if schedule.machine is None:
        return column_of(schedule.segments, "allocated_processors")
    held = allocations_of(schedule)
    whole = machine_of(schedule).cores[held.node].astype(np.float64)
    share = np.divide(held.cores, whole, out=np.ones(len(whole)), where=whole > 0)
    return np.bincount(held.run, share, runs).astype(np.float64)

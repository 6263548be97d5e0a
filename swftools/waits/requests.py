# SPDX-License-Identifier: BSD-3-Clause
"""What jobs asked for beside what they used: time, memory, processors."""

from __future__ import annotations

import numpy as np
import pandas as pd

from swftools.kernel import FloatArray
from swftools.simulator.schedule import Schedule

USED = {"memory": "used_memory", "processors": "average_cpu_time"}
"""Columns of logs that say what a job used."""

_FEW = 20
"""Of fewer jobs, one value may be what each of them used."""


def uses_of_requests(schedule: Schedule) -> pd.DataFrame:
    """Return how much of what jobs asked for they used, as far as the log tells it.

    Parameters
    ----------
    schedule : Schedule
        Its jobs; ``requested_time`` with ``run_time``, ``requested_memory`` with ``used_memory`` (KB a processor), and
        ``average_cpu_time`` (s a processor) of the log are used where they are there.

    Returns
    -------
    pandas.DataFrame
        A row for each of time, memory and processors of which the log tells both: ``resource``, ``jobs`` of which both
        are known, ``used`` (in sum, over what was asked for in sum, each weighed by processors, memory and processors
        by run time too), ``median`` of each job's share, ``half_unused`` (the share of jobs that used less than half)
        and ``used_all`` (of those that used all of it or more). Columns of ``columns_of_one_value`` count as not there.
    """
    empty = columns_of_one_value(schedule)
    width = _column(schedule, "allocated_processors")
    run = _column(schedule, "run_time")
    memory = _column(schedule, "requested_memory")
    rows = {
        "time": (run, _column(schedule, "requested_time"), width),
        "memory": (_column(schedule, USED["memory"]), np.where(memory > 0, memory, np.nan), width * run),
        "processors": (_column(schedule, USED["processors"]), np.where(run > 0, run, np.nan), width),
    }
    found = []
    for resource, (used, asked, weight) in rows.items():
        is_known = np.isfinite(used) & (asked > 0) & np.isfinite(weight)
        if not is_known.any() or USED.get(resource) in empty:
            continue
        share = used[is_known] / asked[is_known]
        of_all = float((asked * weight)[is_known].sum())
        found.append(
            {
                "resource": resource,
                "jobs": int(is_known.sum()),
                "used": float((used * weight)[is_known].sum()) / of_all if of_all > 0 else np.nan,
                "median": float(np.median(share)),
                "half_unused": float((share < 0.5).mean()),
                "used_all": float((share >= 1.0).mean()),
            }
        )
    return pd.DataFrame(found, columns=["resource", "jobs", "used", "median", "half_unused", "used_all"])


def columns_of_one_value(schedule: Schedule) -> dict[str, float]:
    """Return the columns of use that say the same of all jobs, at least 20, and what: nobody measured that."""
    found = {}
    for name in USED.values():
        known = _column(schedule, name)
        known = known[np.isfinite(known)]
        if len(known) >= _FEW and (known == known[0]).all():
            found[name] = float(known[0])
    return found


def _column(schedule: Schedule, name: str) -> FloatArray:
    """Return a column as numbers, NaN where it is absent or missing."""
    if name not in schedule.jobs:
        return np.full(len(schedule.jobs), np.nan)
    return schedule.jobs[name].to_numpy(dtype=np.float64, na_value=np.nan)

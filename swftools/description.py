# SPDX-License-Identifier: BSD-3-Clause
"""What a log holds, in figures: the table behind ``swftools describe``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from swftools.fields.dictionary import SWF_NAMES, generated_columns
from swftools.named import with_number
from swftools.offered_work import offered_load, span_of
from swftools.trace import Trace

DAY = 86_400.0


def describe(trace: Trace) -> dict[str, Any]:
    """Describe a trace in figures: plain values, ready for JSON.

    Parameters
    ----------
    trace : Trace
        As read or cleaned.

    Returns
    -------
    dict
        Jobs, quarantined lines, lines merged into others if there are any, machine, period, users, offered load,
        medians of the main times, jobs by queue and status, which columns are generated if any are, and how many values
        each SWF field lacks. Figures that cannot be computed are None. If the compressed file had no checksum,
        ``unverified`` says so.

    Notes
    -----
    Times are seconds.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2], submit_time=[0, 100],
    ...                            run_time=[100, 100], requested_processors=[2, 1])
    >>> describe(trace)["offered_load"]
    0.75
    """
    arrays, jobs = trace.views, trace.jobs
    submit = arrays.submit_time[~np.isnan(arrays.submit_time)]
    span = span_of(arrays.submit_time)
    load = offered_load(trace)
    queues = trace.known_names.get("queue", {})
    return {
        "name": trace.provenance.get("name"),
        "sha256": trace.provenance.get("sha256"),
        **{name: note for name, note in trace.provenance.items() if name in ("format", "unverified")},
        "computer": trace.header.computer,
        "installation": trace.header.installation,
        "acknowledgement": list(trace.header.acknowledgements),
        "jobs": len(trace),
        "quarantined_lines": len(trace.quarantine),
        **({"merged_lines": len(trace.merged)} if len(trace.merged) else {}),
        "processors": trace.processors,
        **({"anomalies": trace.provenance["anomalies"]} if "anomalies" in trace.provenance else {}),
        "start": trace.header.start.isoformat() if trace.header.start else None,
        "days": round(span / DAY, 2),
        "users": int(jobs["user_id"].nunique()),
        "offered_load": None if load is None else round(load, 4),
        "cancelled": int((arrays.status == 5).sum()),
        "without_run_time": int(np.isnan(arrays.run_time).sum()),
        "over_request": int((arrays.run_time > arrays.requested_time).sum()),
        "mean_width": _rounded(np.mean, arrays.width[arrays.width > 0]),
        "median_interarrival_time": _rounded(np.median, np.diff(np.sort(submit))),
        "median_wait_time": _rounded(np.median, arrays.wait_time),
        "median_run_time": _rounded(np.median, arrays.run_time),
        "median_requested_time": _rounded(np.median, arrays.requested_time),
        "jobs_by_queue": {with_number(queue, queues): n for queue, n in _counted(jobs["queue_id"])},
        "jobs_by_status": {str(status): n for status, n in _counted(jobs["status"])},
        **({"generated_columns": generated} if (generated := generated_columns(jobs)) else {}),
        "missing_values": {name: int(jobs[name].isna().sum()) for name in SWF_NAMES},
    }


def _counted(column: pd.Series[Any]) -> list[tuple[int, int]]:
    """Return each value of an integer column that is not missing, in order, with its number of jobs."""
    values, counts = np.unique(column.dropna().to_numpy(dtype=np.int64), return_counts=True)
    return list(zip(values.tolist(), counts.tolist(), strict=True))


def _rounded(measure: Any, values: Any) -> float | None:
    """Return a measure of the values that are not missing, to two decimals; None of none."""
    known = values[~np.isnan(values)]
    return round(float(measure(known)), 2) if len(known) else None

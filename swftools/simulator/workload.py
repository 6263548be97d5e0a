"""Which jobs of a trace are simulated, and how: what each is missing is decided here, before the first event."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.keyed_random import count_occurrences
from swftools.models.speedup import CURVES, NO_CURVE
from swftools.simulator.interface import Requests
from swftools.simulator.options import reasons_to_exclude
from swftools.simulator.predictors import Predictor
from swftools.trace import Trace

AT_ONCE = 1.0
"""Seconds that a job without a run time runs under ``cancelled="end-at-once"``."""


class Workload(NamedTuple):
    """The jobs to simulate in order of submission: their rows in the trace, run times and requests; and the others.

    ``excluded`` has the columns row and reason.
    """

    row: npt.NDArray[np.int64]
    run_time: npt.NDArray[np.float64]
    requests: Requests
    excluded: pd.DataFrame


def prepare(
    trace: Trace, processors: int, *, overrun: str, cancelled: str, predictor: Predictor, seed: int, least: float
) -> Workload:
    """Decide what is simulated of a trace.

    Parameters
    ----------
    trace : Trace
        Its key, submission, width, run time, requested time, user, queue and, if there, priority_rank and speedup curve
        are used.
    processors : int
        Of the machine.
    overrun : {"extend", "kill", "run-on"}
        Of a job that ran longer than requested: raise the request, cut the run, or leave both.
    cancelled : {"drop", "end-at-once", "full-request"}
        A job without a run time: leave it out, let it run 1 s, or as long as it requested.
    predictor : Predictor
        What is requested, and what policies are told.
    seed : int
        For predictors that draw.
    least : float
        Shorter run times are as long as this, s.

    Returns
    -------
    Workload
        Jobs of equal submission in order of (job_number, job_occurrence). A missing requested time (or 0) is the run
        time. Jobs without submission or width, wider than the machine, or dropped for want of a run time are excluded.
    """
    arrays = trace.arrays
    run, request = arrays.run_time.copy(), np.array(predictor.request(trace, seed), dtype=np.float64)
    request[~(request > 0)] = np.nan
    unknown = np.isnan(run)
    if cancelled == "end-at-once":
        run[unknown] = AT_ONCE
    elif cancelled == "full-request":
        run[unknown] = request[unknown]
    reason = reasons_to_exclude(arrays, processors, run, "" if cancelled == "full-request" else "drop")
    kept = np.flatnonzero(reason == "")
    occurrence = count_occurrences(trace.jobs)
    row = kept[np.lexsort((occurrence[kept], arrays.job_number[kept], arrays.submit_time[kept]))]
    run_time = np.maximum(run[row], least)
    limit = np.where(np.isnan(request[row]), run_time, request[row])
    if overrun == "extend":
        limit = np.maximum(limit, run_time)
    elif overrun == "kill":
        run_time = np.minimum(run_time, limit)
    told = np.minimum(np.array(predictor.predict(run_time, limit, seed), dtype=np.float64), limit)
    users = np.unique(arrays.user_id[row])
    rank = np.full(len(row), -1, np.int64)
    if "priority_rank" in trace.jobs:
        rank = trace.jobs["priority_rank"].iloc[row].to_numpy(dtype=np.int64, na_value=-1, copy=True)
    requests = Requests(
        arrays.submit_time[row],
        arrays.width[row],
        told,
        limit,
        np.where(arrays.user_id[row] < 0, -1, np.searchsorted(users, arrays.user_id[row])),
        arrays.queue_id[row],
        rank,
        _speedup(trace, row, processors),
    )
    others = np.flatnonzero(reason != "")
    return Workload(row, run_time, requests, pd.DataFrame({"row": others, "reason": reason[others]}))


def _speedup(trace: Trace, row: npt.NDArray[np.int64], processors: int) -> npt.NDArray[np.float64]:
    """Return the speedup curves of jobs, as ``Requests`` has them; no rows where the trace has no such columns."""
    names = ["speedup_curve", "downey_a", "downey_sigma", "minimum_processors", "maximum_processors"]
    if not set(names) <= set(trace.jobs.columns):
        return np.zeros((0, 5))
    jobs = trace.jobs[names].iloc[row]
    numbers = jobs[names[1:]].to_numpy(dtype=np.float64, na_value=np.nan)
    numbered = {name: number for number, name in enumerate(CURVES)}
    curve = jobs["speedup_curve"].map(numbered).fillna(NO_CURVE).to_numpy(dtype=np.float64)
    columns = np.column_stack((curve, numbers))
    columns[:, 4] = np.fmin(columns[:, 4], processors)
    return np.ascontiguousarray(np.nan_to_num(columns))

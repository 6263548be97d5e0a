"""What a simulation did, in the columns of a schedule's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.keyed_random import count_occurrences
from swftools.simulator.machine.state import CHECKPOINT, KILL, RESIZE, SUSPEND, Requests
from swftools.simulator.replay import COMPLETED, Log
from swftools.simulator.schedule import Schedule
from swftools.simulator.workload import Workload
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

LIMIT = COMPLETED + 1
ENDED_BY = {
    KILL: "killed",
    CHECKPOINT: "checkpointed",
    SUSPEND: "suspended",
    RESIZE: "resized",
    COMPLETED: "completed",
    LIMIT: "limit",
}
"""How a run may end, in words."""


def schedule_of(
    trace: Trace,
    workload: Workload,
    requests: Requests,
    log: Log,
    is_over: npt.NDArray[np.bool_],
    unfinished: str,
    processors: int,
    policy: str,
    options: Mapping[str, Any],
) -> Schedule:
    """Return the schedule of the jobs that ended.

    Parameters
    ----------
    trace : Trace
        Its jobs.
    workload : Workload
        What is simulated of it.
    requests : Requests
        What is known of the jobs that were submitted.
    log : Log
        Their runs.
    is_over : numpy.ndarray of bool, shape (jobs simulated,)
        Which jobs have ended; the others are excluded.
    unfinished : str
        The reason for which they are.
    processors : int
        Of the machine.
    policy : str
        Name of the policy.
    options : mapping
        Of the run.
    """
    coming, runs = workload.coming, int(log.size[0])
    keys = {"job_number": trace.jobs["job_number"].array, "job_occurrence": count_occurrences(trace.jobs)}
    every = is_over.all()
    log_job = log.job[:runs]
    run = np.arange(runs) if every else np.flatnonzero(is_over[log_job])
    job = log_job[run]
    over = np.flatnonzero(is_over)
    columns, segments = _columns(workload, requests, log, run, slice(None) if every else over)
    order = np.argsort(coming.row[over], kind="stable")
    rows = coming.row[over[order]]
    rest = trace.jobs.drop(columns=[*columns, *keys], errors="ignore")
    rest = rest if len(rows) == len(trace) else rest.iloc[rows]  # all of them: no copy
    table = {name: column[rows] for name, column in keys.items()}
    table |= {name: column[order] for name, column in columns.items()}
    jobs = pd.concat([pd.DataFrame(table, copy=False), rest.reset_index(drop=True)], axis=1)
    row = coming.row[job]
    segment = pd.DataFrame({name: column[row] for name, column in keys.items()} | segments, copy=False)
    left = coming.row[np.flatnonzero(~is_over)]
    out = np.concatenate([workload.excluded["row"].to_numpy(dtype=np.int64), left])
    reasons = [*workload.excluded["reason"], *([unfinished] * len(left))]
    order = np.argsort(out, kind="stable")
    excluded = pd.DataFrame({name: column[out[order]] for name, column in keys.items()})
    excluded["reason"] = pd.array(reasons, dtype="str")[order]
    return Schedule(jobs, segment, excluded, processors, policy, dict(options))


def _columns(
    workload: Workload, requests: Requests, log: Log, run: IntArray, over: IntArray | slice
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of the jobs that are over, in order of submission, and of their runs, by row of the log."""
    coming = workload.coming
    run_time, is_cut, width = coming.run_time[over], workload.is_cut[over], requests.processors[over]
    # Jobs are numbered among those that are over.
    jobs: int = len(run_time)
    job: Any = log.job[run] if isinstance(over, slice) else np.searchsorted(over, log.job[run])
    start, end = log.start[run], log.end[run]
    processors, how = log.processors[run], log.ended_by[run]
    before, overhead = log.before[run], log.overhead[run]
    last: Any = np.zeros(jobs, np.int64)
    last[job] = np.arange(len(run))
    first, time = last, run_time
    if len(run) > jobs or (processors != width[job]).any():
        begins = before == 0.0
        first = np.zeros(jobs, np.int64)
        first[job[begins]] = np.flatnonzero(begins)  # the last run that began the job, or began it anew
        counts = np.arange(len(run)) >= first[job]
        time = np.asarray(np.bincount(job[counts], weights=(end - start)[counts], minlength=jobs), dtype=np.float64)
        is_plain = (first == last) & (processors[last] == width)
        time = np.where(is_plain, run_time, time)
    is_end = how == COMPLETED
    work = np.where(is_end, run_time[job] - before, log.work[run])
    how = np.where(is_end & is_cut[job], LIMIT, how)
    stopped = (how != COMPLETED) & (how != LIMIT)
    waits = stopped & (how != RESIZE)
    if overhead.any():
        overhead = np.minimum(overhead, end - start)  # of a run that was stopped before it was over
    begin, submit = start[first], requests.submit_time[over]
    columns = {
        "submit_time": submit,
        "start_time": begin,
        "end_time": end[last],
        "wait_time": begin - submit,
        "run_time": time,
        "allocated_processors": _whole(processors[last]),
        "requested_time": requests.limit[over],
        "estimated_time": coming.told[over],
        "is_backfilled": _is_backfilled(begin if isinstance(over, slice) else _begins(log, len(coming.row)))[over],
        "preemptions": _whole(np.bincount(job[waits], minlength=jobs)),
    }
    segments = {
        "start_time": start,
        "end_time": end,
        "allocated_processors": _whole(processors),
        "work": work,
        "lost_work": _lost(job, before, work) if stopped.any() else np.zeros(len(run)),
        "overhead": overhead,
        "ended_by": _words(how),
    }
    return columns, segments


def _lost(job: npt.NDArray[np.int32], before: FloatArray, work: FloatArray) -> FloatArray:
    """Return how much of the work of each run was lost, at its end or later: what was done last is lost first."""
    backwards = pd.Series(before[::-1]).groupby(job[::-1]).cummin()
    least = backwards.groupby(job[::-1]).shift(fill_value=np.inf).to_numpy()[::-1]  # that a later run begins with
    return np.clip(before + work - least, 0.0, work)


def _is_backfilled(begin: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which jobs, in order of submission, begin before one that was submitted earlier, by instant."""
    return begin < np.maximum.accumulate(begin) if len(begin) else np.zeros(0, np.bool_)


def _begins(log: Log, jobs: int) -> FloatArray:
    """Return when each job began so far, also those that have not ended; infinity where it has not."""
    runs = int(log.size[0])
    begins = np.full(jobs, np.inf)
    is_first = log.before[:runs] == 0.0
    begins[log.job[:runs][is_first]] = log.start[:runs][is_first]  # the last of them counts
    return begins


def _whole(values: npt.NDArray[Any]) -> pd.arrays.IntegerArray:
    """Return whole numbers, none of them missing, as a column."""
    return pd.arrays.IntegerArray(values.astype(np.int64), np.zeros(len(values), np.bool_))


def _words(how: npt.NDArray[Any]) -> Any:
    """Return how runs ended, in words, as a column."""
    words = pa.array([ENDED_BY[number] for number in sorted(ENDED_BY)])
    return pd.array(words.take(pa.array(how.astype(np.int64))), dtype="str")

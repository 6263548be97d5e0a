"""What a simulation did, in the columns of a schedule's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

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


class Done(NamedTuple):
    """What a schedule is made of: of jobs, in order of submission; their runs; and the jobs that are left out.

    ``told`` is what was predicted of jobs at submission; ``log`` has no more rows than runs.
    """

    row: IntArray
    run_time: FloatArray
    told: FloatArray
    submit_time: FloatArray
    processors: IntArray
    limit: FloatArray
    is_cut: npt.NDArray[np.bool_]
    log: Log
    excluded: pd.DataFrame


def what_was_done(workload: Workload, requests: Requests, log: Log, *, copies: bool) -> Done:
    """Return what a schedule is made of, and nothing else, so that the rest can be forgotten.

    ``copies``: of its own, since the simulation goes on; else they are the simulation's.
    """
    coming, runs = workload.coming, int(log.size[0])
    own = np.copy if copies else np.asarray
    run_time, told = own(coming.run_time), own(coming.told)
    return Done(
        coming.row,
        run_time,
        told.copy() if np.may_share_memory(run_time, told) else told,  # two columns must not be one
        own(requests.submit_time),
        requests.processors,
        own(requests.limit),
        workload.is_cut,
        Log._make([*(own(column[:runs]) for column in log[:-1]), log.size]),
        workload.excluded,
    )


def schedule_of(
    trace: Trace,
    done: Done,
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
    done : Done
        What was done of it; its arrays become columns.
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
    row, excluded = done.row, done.excluded
    keys = {"job_number": trace.jobs["job_number"].array, "job_occurrence": count_occurrences(trace.jobs)}
    every = bool(is_over.all())
    run: Any = slice(None) if every else np.flatnonzero(is_over[done.log.job])
    job = done.log.job[run]
    jobs, segments = _columns(done, run, job)
    segments = {name: column[row[job]] for name, column in keys.items()} | segments
    del done, job
    # Jobs stand in the order of the trace; where that is the order of submission nothing is moved.
    if not (every and (row[1:] > row[:-1]).all()):
        over = np.flatnonzero(is_over)
        over = over[np.argsort(row[over], kind="stable")]
        jobs = {name: column[over] for name, column in jobs.items()}
        row, left = row[over], row[~is_over]
    else:
        left = row[:0]
    rest = trace.jobs.drop(columns=[*jobs, *keys], errors="ignore")
    rest = rest if len(row) == len(trace) else rest.iloc[row]  # all of them: no copy
    table = pd.DataFrame({name: column[row] for name, column in keys.items()} | jobs, copy=False)
    out = np.concatenate([excluded["row"].to_numpy(dtype=np.int64), left])
    reasons = [*excluded["reason"], *([unfinished] * len(left))]
    order = np.argsort(out, kind="stable")
    others = pd.DataFrame({name: column[out[order]] for name, column in keys.items()})
    others["reason"] = pd.array(reasons, dtype="str")[order]
    return Schedule(
        pd.concat([table, rest.reset_index(drop=True)], axis=1),
        pd.DataFrame(segments, copy=False),
        others,
        processors,
        policy,
        dict(options),
    )


def _columns(done: Done, run: Any, job: npt.NDArray[np.int32]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of jobs, in order of submission, and of some of the runs, whose jobs are given."""
    log, jobs = done.log, len(done.row)
    start, end = log.start[run], log.end[run]
    processors, how = log.processors[run], log.ended_by[run]
    before = log.before[run]
    last = np.zeros(jobs, np.int32)
    last[job] = np.arange(len(job), dtype=np.int32)
    first, time = last, done.run_time
    if len(job) > jobs or (processors != done.processors[job]).any():
        begins = before == 0.0
        first = np.zeros(jobs, np.int32)
        first[job[begins]] = np.flatnonzero(begins)  # the last run that began the job, or began it anew
        counts = np.arange(len(job)) >= first[job]
        time = np.asarray(np.bincount(job[counts], weights=(end - start)[counts], minlength=jobs), dtype=np.float64)
        is_plain = (first == last) & (processors[last] == done.processors)
        time = np.where(is_plain, done.run_time, time)
    is_end = how == COMPLETED
    work = np.where(is_end, done.run_time[job] - before, log.work[run])
    how = np.where(is_end & done.is_cut[job], LIMIT, how).astype(np.int8, copy=False)
    stopped = (how != COMPLETED) & (how != LIMIT)
    waits = stopped & (how != RESIZE)
    begin = start[first]
    latest = np.maximum.accumulate(begin) if len(begin) else begin
    columns = {
        "submit_time": done.submit_time,
        "start_time": begin,
        "end_time": end[last],
        "wait_time": begin - done.submit_time,
        "run_time": time,
        "allocated_processors": _whole(processors[last]),
        "requested_time": done.limit,
        "estimated_time": done.told,
        # By instant: whoever was submitted earlier and starts later was left waiting.
        "is_backfilled": begin < latest,
        "preemptions": _whole(np.bincount(job[waits], minlength=jobs)),
    }
    segments = {
        "start_time": start,
        "end_time": end,
        "allocated_processors": _whole(processors),
        "work": work,
        "overhead": log.overhead[run],
        "ended_by": _words(how),
        "is_preempted": stopped,
    }
    return columns, segments


def _whole(values: npt.NDArray[Any]) -> pd.arrays.IntegerArray:
    """Return whole numbers, none of them missing, as a column."""
    return pd.arrays.IntegerArray(values.astype(np.int64), np.zeros(len(values), np.bool_))


def _words(how: npt.NDArray[Any]) -> Any:
    """Return how runs ended, in words, as a column."""
    words = pa.array([ENDED_BY[number] for number in sorted(ENDED_BY)], pa.large_string())
    return pd.array(words.take(pa.array(how)), dtype="str")

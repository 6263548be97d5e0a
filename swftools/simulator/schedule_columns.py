# SPDX-License-Identifier: BSD-3-Clause
"""What a simulation did, in the columns of a schedule's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.kernel import kernel, untouched_zeros
from swftools.keyed_random import count_occurrences
from swftools.simulator.engine.replay import COMPLETED, OUTAGE, RunLog
from swftools.simulator.machine.state import CHECKPOINT, KILL, RESIZE, SUSPEND, Requests
from swftools.simulator.schedule import Schedule
from swftools.simulator.workload import Workload
from swftools.tables import compacted
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]
ShortArray = npt.NDArray[np.int32]
FloatArray = npt.NDArray[np.float64]

LIMIT = COMPLETED + 1
ENDED_BY = {
    KILL: "killed",
    CHECKPOINT: "checkpointed",
    SUSPEND: "suspended",
    RESIZE: "resized",
    COMPLETED: "completed",
    LIMIT: "limit",
    OUTAGE: "outage",
}
"""How a run may end, in words."""


MANY = 1 << 16
"""Runs of which the ends are put into words at once."""


NEVER_BACK = "needs nodes that never come back"
"""Why a job is left out that waits until nothing else is to happen."""


OF_ALL = ("taken_out", "log", "excluded", "why_out")
"""What of ``Done`` is no column of jobs."""


class Done(NamedTuple):
    """What a schedule is made of: of jobs, in order of submission; their runs; and the jobs that are left out.

    ``told`` is what was predicted of jobs at submission; ``taken_out`` when they were taken out, s, NaN where they were
    not, and has no rows where nobody was; ``why_out`` says why, where the policy took them out; ``log`` has no more
    rows than runs.
    """

    row: ShortArray
    run_time: FloatArray
    told: FloatArray
    submit_time: FloatArray
    processors: IntArray
    limit: FloatArray
    is_cut: npt.NDArray[np.bool_]
    taken_out: FloatArray
    log: RunLog
    excluded: pd.DataFrame
    why_out: tuple[str, ...] = ()


def what_was_done(workload: Workload, requests: Requests, log: RunLog, taken_out: FloatArray, *, copies: bool) -> Done:
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
        taken_out,
        RunLog._make([*(own(column[:runs]) for column in log[:-1]), log.size]),
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
    ready_time: FloatArray | None = None,
    is_stuck: npt.NDArray[np.bool_] | None = None,
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
        The reason for which those are that were not taken out.
    processors : int
        Size of the machine.
    policy : str
        Name of the policy.
    options : mapping
        Of the run.
    ready_time : numpy.ndarray of float64, shape (jobs simulated,), optional
        When each job was eligible, s, where dependencies were followed.
    is_stuck : numpy.ndarray of bool, shape (jobs simulated,), optional
        Which of those that have not ended never could start; it counts as if they had never come.
    """
    excluded, left = done.excluded, done.row[~is_over]
    keys = {"job_number": trace.jobs["job_number"].array, "job_occurrence": count_occurrences(trace.jobs)}
    never = np.zeros(len(is_over), np.bool_) if is_stuck is None else is_stuck
    is_backfilled = _is_backfilled(np.where(never, -np.inf, _begins(done)))[is_over]
    unended = _reasons(done, np.flatnonzero(~is_over), unfinished, never)
    if len(left):
        done = _of_some(done, np.flatnonzero(is_over))
        ready_time = None if ready_time is None else ready_time[is_over]
    row = done.row
    jobs, segments = _columns(done, is_backfilled)
    if ready_time is not None:
        jobs |= {"ready_time": ready_time, "ready_wait": jobs["start_time"] - ready_time}
    segments = _taken(keys, row[done.log.job]) | segments
    del done
    # Jobs stand in the order of the trace; where that is the order of submission nothing is moved.
    if not (row[1:] > row[:-1]).all():
        order = np.argsort(row, kind="stable")
        jobs = {name: column[order] for name, column in jobs.items()}
        row = row[order]
    rest = trace.jobs.drop(columns=[*jobs, *keys, "ready_time", "ready_wait"], errors="ignore")
    rest = rest if len(row) == len(trace) else rest.iloc[row]  # all of them: no copy
    table = pd.DataFrame(_taken(keys, row) | jobs, copy=False)
    del jobs
    if len(row) == len(trace):
        table = compacted(table, trace.jobs)  # many a column is as it was logged
    out = np.concatenate([excluded["row"].to_numpy(dtype=np.int64), left])
    reasons = pd.concat([excluded["reason"], pd.Series(unended, dtype="str")]) if unended else excluded["reason"]
    order = np.argsort(out, kind="stable")
    others = pd.DataFrame({name: column[out[order]] for name, column in keys.items()})
    others["reason"] = reasons.array[order]
    return Schedule(
        pd.concat([table, rest.reset_index(drop=True)], axis=1),
        pd.DataFrame(segments, copy=False),
        others,
        processors,
        policy,
        dict(options),
    )


def _taken(keys: dict[str, Any], row: ShortArray) -> dict[str, Any]:
    """Return keys at rows, apart from the trace's. Zeros are made anew: they take no memory till someone writes."""
    number, occurrence = keys["job_number"], keys["job_occurrence"]
    return {
        "job_number": number[row],
        "job_occurrence": occurrence[row] if occurrence.any() else untouched_zeros(len(row), np.int64),
    }


def _reasons(done: Done, left: IntArray, unfinished: str, never: npt.NDArray[np.bool_]) -> list[str]:
    """Return why each of the jobs that did not end is not in the schedule."""
    reasons = [NEVER_BACK if is_stuck else unfinished for is_stuck in never[left].tolist()]
    for place, time in enumerate(done.taken_out[left].tolist() if len(done.taken_out) else ()):
        if not np.isnan(time):
            reasons[place] = done.why_out[left[place]] if done.why_out else _taken_out(time)
    return reasons


def _taken_out(time: float) -> str:
    """Return when a job was taken out, in words."""
    return "taken out before the first event" if np.isinf(time) else f"taken out at {time:.10g} s"


def _of_some(done: Done, jobs: IntArray) -> Done:
    """Return what was done of some of the jobs, which are numbered among these from here on."""
    is_one = np.zeros(len(done.row), np.bool_)
    is_one[jobs] = True
    run = np.flatnonzero(is_one[done.log.job])
    log = RunLog._make([*(column[run] for column in done.log[:-1]), done.log.size])
    log = log._replace(job=np.searchsorted(jobs, log.job).astype(np.int32))
    columns = {name: getattr(done, name)[jobs] for name in Done._fields if name not in OF_ALL}
    return done._replace(**columns, log=log)


def _columns(done: Done, is_backfilled: npt.NDArray[np.bool_]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the columns of jobs, in order of submission, and of their runs."""
    log, jobs, job = done.log, len(done.row), done.log.job
    start, end, before, overhead = log.start, log.end, log.before, log.overhead
    processors, how = log.processors, log.ended_by
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
    is_lost = how[last] == OUTAGE  # its last run was stopped, and the job is over
    if is_lost.any():
        time = np.where(is_lost, (end - start)[last], time)
    is_end = how == COMPLETED
    work = done.run_time[job]
    if before.any():
        work -= before
    if not is_end.all():
        work = np.where(is_end, work, log.work)
    if done.is_cut.any():
        how = np.where(is_end & done.is_cut[job], LIMIT, how).astype(np.int8, copy=False)
    stopped = (how != COMPLETED) & (how != LIMIT)
    if overhead.any():
        overhead = np.minimum(overhead, end - start)  # of a run that was stopped before it was over
    begin = start[first]
    columns = {
        "submit_time": done.submit_time,
        "start_time": begin,
        "end_time": end[last],
        "wait_time": begin - done.submit_time,
        "run_time": time,
        "allocated_processors": _whole(processors[last]),
        "requested_time": done.limit,
        "estimated_time": done.told,
        "is_backfilled": is_backfilled,
        "preemptions": _whole(_counted(job[stopped & (how != RESIZE)], jobs) - is_lost),
    }
    segments = {
        "start_time": start,
        "end_time": end,
        "allocated_processors": _whole(processors),
        "work": work,
        "lost_work": _lost(job, before, work, is_lost) if stopped.any() else untouched_zeros(len(job)),
        "overhead": overhead,
        "ended_by": _words(how),
    }
    return columns, segments


def _lost(
    job: npt.NDArray[np.int32], before: FloatArray, work: FloatArray, is_lost: npt.NDArray[np.bool_]
) -> FloatArray:
    """Return how much of the work of each run was lost, at its end or later: what was done last is lost first.

    Of a job that was lost, by job in ``is_lost``, all of it.
    """
    lost = np.empty(len(job))
    _find_lost(job, before, work, np.where(is_lost, 0.0, np.inf), lost)
    return lost


@kernel(allocates=False)
def _find_lost(job: Any, before: Any, work: Any, least: Any, lost: Any) -> None:
    """Fill in ``lost`` by run; ``least`` is, by job, the least that a later run begins with.

    At first it is infinite, or 0 of a job that is lost.
    """
    for run in range(len(job) - 1, -1, -1):
        kept = before[run] + work[run] - least[job[run]]
        lost[run] = min(max(kept, 0.0), work[run])
        least[job[run]] = min(least[job[run]], before[run])


def _is_backfilled(begin: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which jobs, in order of submission, begin before one that was submitted earlier, by instant."""
    return begin < np.maximum.accumulate(begin) if len(begin) else np.zeros(0, np.bool_)


def _begins(done: Done) -> FloatArray:
    """Return when each job began so far, also those that have not ended; infinity where it has not.

    Whoever was taken out waited until then, if it did not run.
    """
    begins = np.full(len(done.row), np.inf)
    is_first = done.log.before == 0.0
    begins[done.log.job[is_first]] = done.log.start[is_first]  # the last of them counts
    return np.fmin(begins, done.taken_out) if len(done.taken_out) else begins


def _counted(job: ShortArray, jobs: int) -> IntArray:
    """Return how often each job is there; zeros that nobody wrote to take no memory."""
    return np.bincount(job, minlength=jobs) if len(job) else untouched_zeros(jobs, np.int64)


def _whole(values: npt.NDArray[Any]) -> pd.arrays.IntegerArray:
    """Return whole numbers, none of them missing, as a column."""
    return pd.arrays.IntegerArray(values.astype(np.int64, copy=False), untouched_zeros(len(values), np.bool_))


def _words(how: npt.NDArray[Any]) -> Any:
    """Return how runs ended, in words, as a column; the same words of many runs in a row are there once in memory."""
    words = pa.array([ENDED_BY[number] for number in sorted(ENDED_BY)], pa.large_string())
    alike: dict[int, Any] = {}
    parts = []
    for begin in range(0, len(how), MANY):
        part = how[begin : begin + MANY]
        first = int(part[0])
        if len(part) == MANY and (part == first).all():
            parts.append(alike.setdefault(first, words.take(pa.array(part))))
        else:
            parts.append(words.take(pa.array(part)))
    return pd.array(pa.chunked_array(parts, pa.large_string()), dtype="str")

# SPDX-License-Identifier: BSD-3-Clause
"""Blocked heads of the queue: since when, and when they would have started without jobs of lower priority.

References
----------
Yuan, Yang, Wu and Zheng 2010, sections 3.1 (strict fairness, Table 1) and 3.2 (reservation violation, Table 2).
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray, ShortArray
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.metrics.head_sweep import (
    NOBODY,
    Heads,
    PrioritizedJobs,
    RunsByStart,
    SweepMemory,
    expect_ends,
    link_runs,
    most_at_once,
    sweep,
)
from swftools.simulator.schedule import Schedule, contiguous, ends_of

COMPLETED = 4
"""The place in ``ENDS`` of runs with which a job is done."""


def find_heads(schedule: Schedule) -> pd.DataFrame:
    """Return the jobs that were ever the blocked head of the queue, and when they could have started.

    Priority is the order of submission, and for equal submissions of (job_number, job_occurrence). A job is the blocked
    head at an instant if it is the first waiting job after everything that happened then. A job waits from its
    submission to its first run, and from each stop to the next run; a stopped job keeps its place. If a job was the
    head several times, the last time counts.

    Parameters
    ----------
    schedule : Schedule
        A schedule of any policy or simulator; its jobs, segments and processors are used.

    Returns
    -------
    pandas.DataFrame
        One row for each job that was the blocked head, in the order of ``schedule.jobs``:

        * job_number, job_occurrence: the key.
        * blocked_since: when it became the head for the last time, s.
        * start_time: its start after that, s: the start in the schedule, unless it was stopped later.
        * start_alone: when it would have started, s, if all jobs of lower priority had been absent from
          ``blocked_since`` on: the first time at which the jobs of higher priority, by their actual ends, leave enough
          processors.
        * start_without_later: the same, s, if only the jobs of lower priority that start at ``blocked_since`` or later
          had been absent.
        * reservation: when EASY expects to start it, s, as seen at ``blocked_since``: the first time at which enough
          processors are free if the running jobs end by their ``estimated_time`` (``requested_time`` without that
          column). A job that has outlived its estimate ends by its ``requested_time``; a job that has outlived both may
          end at any moment, so it counts as ending at ``blocked_since``.

        start_alone, start_without_later and reservation are missing for a job that is wider than the machine. The
        reservation is also missing if it depends on a missing estimate.

    Raises
    ------
    ParameterError
        The schedule is partial, so that it is unknown which other jobs ran and waited; a submission, start, end or
        width is missing; or a segment belongs to an unknown job.

    Notes
    -----
    A stopped run ends there, even if it has higher priority; a resized run continues on its other width. A job that its
    policy held back is not in the queue, but a schedule does not show that: it counts as waiting.

    Cost: sorting, and for each head the jobs that run then.

    Examples
    --------
    >>> jobs = pd.DataFrame({"job_number": [1, 2, 3], "job_occurrence": 0, "submit_time": [0.0, 1.0, 2.0],
    ...     "start_time": [0.0, 12.0, 2.0], "end_time": [9.0, 20.0, 12.0], "requested_time": [9.0, 8.0, 7.0],
    ...     "allocated_processors": [2, 4, 1]})
    >>> runs = jobs[["job_number", "job_occurrence", "start_time", "end_time", "allocated_processors"]]
    >>> runs = runs.assign(work=[9.0, 8.0, 10.0], lost_work=0.0, overhead=0.0, ended_by="completed")
    >>> heads = find_heads(Schedule(jobs, runs, jobs[:0], 4, "easy"))
    >>> heads[["job_number", "blocked_since", "start_time", "start_alone", "reservation"]].values.tolist()
    [[2.0, 1.0, 12.0, 9.0, 9.0]]
    """
    if reason := why_unknown(schedule):
        raise ParameterError(f"find_heads: {reason}")
    row, heads = heads_of(schedule)
    found = schedule.jobs[["job_number", "job_occurrence"]].iloc[row].reset_index(drop=True)
    return found.assign(**heads._asdict())


def why_unknown(schedule: Schedule) -> str:
    """Return why the heads of a schedule cannot be told, and what helps; empty if they can."""
    if schedule.is_partial:
        return "the schedule is partial, and says nothing of jobs that had not ended; run the simulation to its end"
    if schedule.machine is not None:
        return "it ran on a machine of nodes, and the blocked head of a queue is that of a pool of processors"
    for name, frame, columns in (
        ("jobs", schedule.jobs, ("submit_time",)),
        ("segments", schedule.segments, ("start_time", "end_time", "allocated_processors")),
    ):
        for column in columns:
            if column not in frame or not np.isfinite(column_of(frame, column)).all():
                return f"{column} is missing in schedule.{name}; leave such jobs out"
    return ""


def heads_of(schedule: Schedule) -> tuple[IntArray, Heads]:
    """Return the rows of the jobs that ``find_heads`` tells of, rising, and what it says of them, if it can be told.

    Raises
    ------
    ParameterError
        A segment is of a job that is not there.
    """
    order = _by_priority(schedule.jobs)
    jobs, runs, by_start, waits_again = _swept(schedule, order)
    by_end = _in_order(runs.end)
    expect_ends(jobs, runs)
    count, at_once = len(jobs.submit), most_at_once(runs.start, runs.end, by_start, by_end)
    found = Heads(*(np.empty(count) for _ in Heads._fields))  # what nobody writes to takes no memory
    room = _room(jobs, runs, at_once + 1, waits_again + 1)
    sweep(jobs, runs, by_start, by_end, schedule.processors, room, found)
    of_job = room.number
    if order is not None:
        of_job = np.empty(count, np.int32)
        of_job[order] = room.number
    row = np.flatnonzero(of_job != NOBODY)
    return row, Heads(*(values[of_job[row]] for values in found))


def _by_priority(jobs: pd.DataFrame) -> IntArray | None:
    """Return the rows of jobs in order of submission, job number and occurrence; None if, as mostly, they are."""
    submit = column_of(jobs, "submit_time")
    if (submit[1:] > submit[:-1]).all():
        return None
    number, occurrence = (jobs[name].to_numpy(dtype=np.int64, na_value=-1) for name in ("job_number", "job_occurrence"))
    if ((submit[1:] > submit[:-1]) | ((submit[1:] == submit[:-1]) & (number[1:] > number[:-1]))).all():
        return None
    return np.lexsort((occurrence, number, submit))


def _swept(schedule: Schedule, order: IntArray | None) -> tuple[PrioritizedJobs, RunsByStart, ShortArray, int]:
    """Return jobs and runs as the sweep takes them, the runs by start, and how often a job may wait again at most.

    Columns that are as the sweep takes them are not copied: it does not write to them.
    """
    jobs, segments = schedule.jobs, schedule.segments
    job = rows_of(segments, jobs).astype(np.int32)
    if order is not None:
        priority = np.empty(len(jobs), np.int32)
        priority[order] = np.arange(len(jobs), dtype=np.int32)
        job = priority[job]

    def of_run(name: str) -> FloatArray:
        return contiguous(segments, name) if name in segments else np.zeros(len(segments))

    def of_job(name: str) -> FloatArray:
        return contiguous(jobs, name) if order is None else column_of(jobs, name)[order]

    def known(name: str, otherwise: FloatArray | None) -> FloatArray:
        otherwise = np.full(len(jobs), np.inf) if otherwise is None else otherwise
        values = of_job(name) if name in jobs else otherwise
        lacks = np.isnan(values)
        return np.where(lacks, otherwise, values) if lacks.any() else values

    def whole(name: str) -> IntArray:
        processors = segments[name]
        lacks = processors.isna().any() or processors.dtype != "Int64"
        made = of_run(name).astype(np.int64) if lacks else processors.to_numpy(dtype=np.int64, copy=False)
        return np.require(made, np.int64, ["C", "W"])

    start, end, submit = of_run("start_time"), of_run("end_time"), of_job("submit_time")
    by_start = _in_order(start)
    first, following = np.full(len(jobs), NOBODY, np.int32), np.empty(len(job), np.int32)
    waits_again = link_runs(job, by_start, start, submit, first, following)
    is_several = bool((following != NOBODY).any())
    requested = known("requested_time", None)
    return (
        PrioritizedJobs(
            submit,
            first,
            known("estimated_time", requested),
            requested,
            of_job("checkpoint_interval") if "checkpoint_interval" in jobs else np.zeros(0),
        ),
        RunsByStart(
            job,
            following,
            start,
            np.maximum(end, start) if (end < start).any() else end,
            whole("allocated_processors"),
            ends_of(segments) if is_several else np.full(len(job), COMPLETED, np.int8),
            of_run("work"),
            of_run("lost_work"),
            of_run("overhead"),
            np.empty(len(job)) if is_several else start,  # each run began its job: what is filled in is there
            np.empty(len(job)),
            np.empty(len(job)),
        ),
        by_start,
        waits_again,
    )


def _room(jobs: PrioritizedJobs, runs: RunsByStart, at_once: int, waits_again: int) -> SweepMemory:
    """Return room for the sweep."""
    return SweepMemory(
        next_run=jobs.first_run.copy(),
        active=np.zeros(len(jobs.submit), np.int32),
        is_head=np.zeros(len(jobs.submit), np.int8),
        running=np.empty(at_once, np.int32),
        place=np.empty(len(runs.job), np.int32),
        keys=np.empty(waits_again),
        again=np.empty(waits_again, np.int32),
        times=np.empty(at_once),
        ending=np.empty(at_once, np.int32),
        number=np.full(len(jobs.submit), NOBODY, np.int32),
        heads=np.zeros(1, np.int64),
    )


def _in_order(values: FloatArray) -> ShortArray:
    """Return places by rising value; starts mostly are in that order."""
    if (values[1:] >= values[:-1]).all():
        return np.arange(len(values), dtype=np.int32)
    return np.argsort(values, kind="stable").astype(np.int32)

"""Blocked heads of the queue: since when, and when they would have started without jobs of lower priority.

References
----------
Yuan, Yang, Wu and Zheng 2010, sections 3.1 (strict fairness, Table 1) and 3.2 (reservation violation, Table 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.simulator.metrics.columns import FloatArray, IntArray, column_of, rows_of
from swftools.simulator.metrics.head_sweep import Heads, Jobs, Room, Runs, expect_ends, sweep
from swftools.simulator.schedule import Schedule, ends_of

COMPLETED = 4
"""The place in ``ENDS`` of runs with which a job is done."""


def find_heads(schedule: Schedule) -> pd.DataFrame:
    """Return the jobs that were ever the blocked head of the queue, and what kept them waiting.

    Priority is order of submission, of equal submissions of (job_number, job_occurrence). A job is the blocked head at
    an instant if it is the first of the waiting jobs after all that happened then. It waits from its submission to its
    first run, and from each stop to the next run; who is stopped stands where it stood. Of several stints as the head
    the last counts.

    Parameters
    ----------
    schedule : Schedule
        Of any policy or simulator; its jobs, segments and processors are used.

    Returns
    -------
    pandas.DataFrame
        One row a job that was the blocked head, in the order of ``schedule.jobs``:

        * job_number, job_occurrence: the key.
        * blocked_since: when its last stint as the head began, s.
        * start_time: when it started after that, s. That is the start of the schedule, unless it was stopped later.
        * start_alone: when it would have, s, if from ``blocked_since`` on all jobs of lower priority were absent: the
          first time at which those of higher priority, whose runs end when they do, leave enough processors.
        * start_without_later: the same, s, if only those of lower priority were absent that start at ``blocked_since``
          or later.
        * reservation: when EASY expects to start it, s, as seen at ``blocked_since``: the first time at which enough is
          free if all that run then end by their ``estimated_time`` (``requested_time`` without that column); who
          outlived that by the ``requested_time``; who outlived both at any moment, which is ``blocked_since``.

        start_alone, start_without_later and reservation are missing for a job that is wider than the machine, the
        reservation also where it depends on an estimate that is.

    Raises
    ------
    ParameterError
        The schedule is partial, so that one does not see who ran and waited beside those that ended; lacks submissions,
        starts, ends or widths, or one of them; or has a segment of a job that is not there.

    Notes
    -----
    A run that is stopped ends there, also one of higher priority; a resized one goes on on its other width. A job that
    its policy held back is not in the queue, but that is not seen in a schedule: it counts as waiting.

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
    jobs, heads = schedule.jobs, heads_of(schedule)
    row = np.flatnonzero(~np.isnan(heads.blocked_since))
    found = jobs[["job_number", "job_occurrence"]].iloc[row].reset_index(drop=True)
    return found.assign(**{name: values[row] for name, values in heads._asdict().items()})


def why_unknown(schedule: Schedule) -> str:
    """Return why the heads of a schedule cannot be told, and what helps; empty if they can."""
    if schedule.is_partial:
        return "the schedule is partial, and says nothing of jobs that had not ended; run the simulation to its end"
    for name, frame, columns in (
        ("jobs", schedule.jobs, ("submit_time",)),
        ("segments", schedule.segments, ("start_time", "end_time", "allocated_processors")),
    ):
        for column in columns:
            if column not in frame or not np.isfinite(column_of(frame, column)).all():
                return f"{column} is missing in schedule.{name}; leave such jobs out"
    return ""


def heads_of(schedule: Schedule) -> Heads:
    """Return what ``find_heads`` says of each job of a schedule of which it can be told; NaN for those never blocked.

    Raises
    ------
    ParameterError
        A segment is of a job that is not there.
    """
    order = _by_priority(schedule.jobs)
    jobs, runs, by_start = _swept(schedule, order)
    expect_ends(jobs, runs)
    count = len(jobs.submit)
    found = Heads(*(np.full(count, np.nan) for _ in Heads._fields))
    sweep(jobs, runs, by_start, _in_order(runs.end), schedule.processors, _room(jobs, runs), found)
    heads = Heads(*(np.empty(count) for _ in Heads._fields))
    for by_row, by_priority in zip(heads, found, strict=True):
        by_row[order] = by_priority
    return heads


def _by_priority(jobs: pd.DataFrame) -> IntArray:
    """Return the rows of jobs in order of submission, job number and occurrence; most tables are in that order."""
    submit = column_of(jobs, "submit_time")
    if (submit[1:] > submit[:-1]).all():
        return np.arange(len(jobs))
    number, occurrence = (jobs[name].to_numpy(dtype=np.int64, na_value=-1) for name in ("job_number", "job_occurrence"))
    if ((submit[1:] > submit[:-1]) | ((submit[1:] == submit[:-1]) & (number[1:] > number[:-1]))).all():
        return np.arange(len(jobs))
    return np.lexsort((occurrence, number, submit))


def _swept(schedule: Schedule, order: IntArray) -> tuple[Jobs, Runs, IntArray]:
    """Return jobs and runs as the sweep takes them, and the runs by start."""
    jobs, segments = schedule.jobs, schedule.segments
    priority = np.empty(len(jobs), np.int64)
    priority[order] = np.arange(len(jobs))
    job = priority[rows_of(segments, jobs)]
    # Segments are in order of start, mostly, and so is what is sorted here: that costs little.
    by_start = _in_order(column_of(segments, "start_time"))
    by_job = by_start[_in_order(job[by_start])]
    place = np.empty(len(job), np.int64)
    place[by_job] = np.arange(len(job))
    counts = np.bincount(job, minlength=len(jobs))

    def of_run(name: str) -> FloatArray:
        return column_of(segments, name)[by_job] if name in segments else np.zeros(len(by_job))

    start = of_run("start_time")
    how = np.full(len(job), COMPLETED) if counts.max(initial=0) <= 1 else ends_of(segments)[by_job]

    def of_job(name: str, otherwise: FloatArray) -> FloatArray:
        values = column_of(jobs, name)[order] if name in jobs else otherwise
        return np.where(np.isnan(values), otherwise, values)

    requested = of_job("requested_time", np.full(len(jobs), np.inf))
    return (
        Jobs(
            column_of(jobs, "submit_time")[order],
            np.concatenate([[0], np.cumsum(counts)]),
            of_job("estimated_time", requested),
            requested,
            column_of(jobs, "checkpoint_interval")[order] if "checkpoint_interval" in jobs else np.zeros(0),
        ),
        Runs(
            job[by_job],
            start,
            np.maximum(of_run("end_time"), start),
            of_run("allocated_processors").astype(np.int64),
            how,
            of_run("work"),
            of_run("lost_work"),
            of_run("overhead"),
            np.empty(len(job)),
            np.empty(len(job)),
            np.empty(len(job)),
        ),
        place[by_start],
    )


def _room(jobs: Jobs, runs: Runs) -> Room:
    """Return room for the sweep."""
    count, both = len(runs.job), len(runs.job) + len(jobs.submit)
    return Room(
        next_run=jobs.first_run[:-1].copy(),
        active=np.zeros(len(jobs.submit), np.int64),
        is_head=np.zeros(len(jobs.submit), np.int64),
        running=np.empty(count + 1, np.int64),
        place=np.empty(count + 1, np.int64),
        keys=np.empty(both),
        again=np.empty(both, np.int64),
        times=np.empty(count + 1),
        ending=np.empty(count + 1, np.int64),
    )


def _in_order(values: npt.NDArray[Any]) -> IntArray:
    """Return places by rising value."""
    return np.argsort(values, kind="stable")

# SPDX-License-Identifier: BSD-3-Clause
"""What a user could know of a log at a submission: who waits and runs, what is asked for, and the last waits.

A sweep over submissions, starts and ends in order of time. A job is described before it enters the queue; what the
description is made of has happened by then, at the same instant at the latest. Jobs of one instant come by number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.fields.dictionary import known_at_submission
from swftools.header import SwfHeader, zone_of
from swftools.kernel import BoolArray, FloatArray, IntArray, kernel
from swftools.qbets.log_columns import group_labels, occurrences, read_column, read_submissions, read_width
from swftools.simulator.machine.event_queue import pop, push
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace, submit_timestamps

COLUMNS = (
    *("requested_time", "processors", "requested_work"),
    *("waiting_jobs", "waiting_processors", "waiting_work"),
    *("running_jobs", "running_processors", "running_work"),
    *("group_waiting_jobs", "group_waiting_work", "group_longest_waiting", "group_since_start"),
    *("group_last_wait", "group_mean_wait", "group_longest_wait"),
    *("user_waiting_jobs", "user_last_wait", "user_mean_wait", "user_longest_wait"),
    *("hour", "weekday", "group"),
)
"""What is known of a job at its submission; ``features_at_submission`` says of each what it is."""

LAST_WAITS = 10
"""Of so many jobs that started last, of a group or user, the mean wait and the longest are taken."""


class Submitted(NamedTuple):
    """Jobs in order of submission, an element each; NaN where a value is missing.

    ``leave`` is when a job leaves the queue, to start or cancelled, ``end`` when one that started ends, s; ``wait`` is
    that of jobs that start. ``group`` is a number from 0 on.
    """

    submit: FloatArray
    leave: FloatArray
    wait: FloatArray
    end: FloatArray
    requested_time: FloatArray
    processors: FloatArray
    user: FloatArray
    hour: FloatArray
    weekday: FloatArray
    group: IntArray


def features_at_submission(log: Trace | Schedule, by: str | Sequence[str] | None = "queue") -> pd.DataFrame:
    """Return what was known at the submission of each job, from the log alone.

    Parameters
    ----------
    log : Trace or Schedule
        Jobs with their waits and run times.
    by : str, sequence of str or None
        What jobs are grouped by, as in ``replay``.

    Returns
    -------
    pandas.DataFrame
        A row for each job, in the order of the log; columns of float but the last, NaN where nothing is known:

        - ``requested_time`` (s), ``processors`` (allocated ones where requested ones are missing), and their product
          ``requested_work`` (processor-seconds);
        - ``waiting_jobs``, ``waiting_processors``, ``waiting_work``: of earlier jobs that still wait, without this one;
          their work is what they request;
        - ``running_jobs``, ``running_processors``, ``running_work``: of running jobs; their work is what is left of
          their requests, 0 for a job that has outrun its own;
        - ``group_waiting_jobs``, ``group_waiting_work``: the same for jobs that wait in its group;
          ``group_longest_waiting`` (s): how long the first of them has waited, 0 if none waits;
          ``group_since_start`` (s): time since the last start of a job of the group;
        - ``group_last_wait``, ``group_mean_wait``, ``group_longest_wait`` (s): the last wait of a started job of the
          group, and mean and longest of the last ten;
        - ``user_waiting_jobs``, ``user_last_wait``, ``user_mean_wait``, ``user_longest_wait``: the same for its user;
        - ``hour`` (0 to 24, with minutes) and ``weekday`` (0 is Monday) in the log's time zone;
        - ``group``: its name.

        Unknown processors count as 0 in sums. A cancelled job waits until it was cancelled; if the log does not say
        when, it does not count as waiting. A job with an unknown run time does not count as running.

    Raises
    ------
    ParameterError
        The log has no waits, a submission is missing, or there is no such column.

    Examples
    --------
    >>> log = Trace.from_columns(job_number=[1, 2, 3], submit_time=[0, 10, 20], wait_time=[0, 30, 5],
    ...     run_time=[40, 1, 1], requested_time=[60, 10, 10], requested_processors=[4, 2, 1])
    >>> known = features_at_submission(log, by=None)
    >>> known.loc[2, ["waiting_work", "running_jobs", "running_work", "group_longest_waiting"]].tolist()
    [20.0, 1.0, 160.0, 10.0]
    """
    labels = group_labels(log.jobs, (by,) if isinstance(by, str) else tuple(by or ()))
    order = submission_order(log.jobs)
    names: list[str] = []
    submit = read_submissions(log.jobs, "requested_time").submit
    rows = np.empty((len(order), len(COLUMNS)))
    rows[order] = describe(read_submitted(log, order, submit, labels, names))
    return pd.DataFrame(rows, columns=list(COLUMNS)).assign(group=pd.Series(labels, dtype="str"))


def submission_order(jobs: pd.DataFrame) -> IntArray:
    """Return the rows of jobs in order of submission, jobs of one instant by number."""
    return np.lexsort((occurrences(jobs), jobs["job_number"], read_column(jobs, "submit_time")))


def read_submitted(
    log: Trace | Schedule, order: IntArray, submit: FloatArray, labels: Sequence[str], names: list[str]
) -> Submitted:
    """Return the jobs of a log, which were submitted at these times; groups are numbered by ``names``, new ones added.

    Parameters
    ----------
    order : ndarray of int
        The rows in order of submission.
    submit : ndarray of float
        When each row was submitted, s, counted from anywhere.
    labels : sequence of str
        The group of each row.
    names : list of str
        Groups that were met before; those that are not are added, by submission.
    """
    jobs = log.jobs
    asked = jobs[known_at_submission(jobs)]  # of the job itself; what is known later is of those that started or ended
    header = log.header if isinstance(log, Trace) else SwfHeader()
    known = read_submissions(jobs, "requested_time", may_lack_waits=True)  # who asks has looked
    stay = read_column(jobs, "wait_time")
    if "end_time" in jobs:  # of a schedule, whose jobs may have been stopped on the way
        end = submit + read_column(jobs, "end_time") - read_column(jobs, "submit_time")
    else:
        end = submit + known.wait + read_column(jobs, "run_time")
    stamps = submit_timestamps(jobs["submit_time"], header).dt.tz_convert(zone_of(header)).dt
    hour = stamps.hour + stamps.minute / 60.0 + stamps.second / 3600.0
    codes = {name: code for code, name in enumerate(names)}
    words = np.asarray(labels, dtype=object)[order]
    group = np.array([codes.setdefault(word, len(codes)) for word in words], dtype=np.int64)
    names[:] = list(codes)
    columns = {
        "submit": submit,
        "leave": submit + np.where(stay >= 0, stay, np.nan),
        "wait": known.wait,
        "end": np.where(np.isnan(known.wait), np.nan, end),
        "requested_time": _not_negative(read_column(asked, "requested_time")),
        "processors": read_width(jobs),
        "user": read_column(asked, "user_id"),
        "hour": hour.to_numpy(dtype=np.float64, na_value=np.nan),
        "weekday": stamps.day_of_week.to_numpy(dtype=np.float64, na_value=np.nan),
    }
    return Submitted(**{name: np.ascontiguousarray(column[order]) for name, column in columns.items()}, group=group)


def _not_negative(column: FloatArray) -> FloatArray:
    """Return a column in which what is negative is missing."""
    return np.where(column >= 0, column, np.nan)


def describe(jobs: Submitted) -> FloatArray:
    """Return what is known of each job at its submission, of shape (jobs, ``COLUMNS``); the group as its number."""
    count = len(jobs.submit)
    known = ~np.isnan(jobs.user)
    user = np.full(count, -1, dtype=np.int64)
    user[known] = np.unique(jobs.user[known], return_inverse=True)[1]
    rows = np.empty((count, len(COLUMNS)))
    _sweep(jobs, user, _empty_machine(count, int(jobs.group.max(initial=-1)) + 1, int(user.max(initial=-1)) + 1), rows)
    return rows


class LastWaits(NamedTuple):
    """Of each group, or user: jobs that wait, the work that they request, the last waits, how many there were."""

    jobs: FloatArray
    work: FloatArray
    waits: FloatArray
    known: IntArray


class QueueHeaps(NamedTuple):
    """Three heaps of jobs, by when they leave the queue, outrun their requests, and end; ``sizes`` of them.

    ``totals`` are of the machine. Of each group: the job that came first of those that wait, -1 if none does, the last
    that came, and when one started last; of each job, the one that comes behind it in its group, whether it has left
    the queue, and whether it counts in what is left of requests.
    """

    leaving: FloatArray
    leaving_jobs: IntArray
    due: FloatArray
    due_jobs: IntArray
    ends: FloatArray
    end_jobs: IntArray
    sizes: IntArray
    totals: FloatArray
    first: IntArray
    last: IntArray
    started: FloatArray
    behind: IntArray
    has_left: BoolArray
    counts: BoolArray
    groups: LastWaits
    users: LastWaits


LEAVING, DUE, ENDS = range(3)
"""Places in ``QueueHeaps.sizes``."""

WAITING, WAITING_PROCESSORS, WAITING_WORK, RUNNING, RUNNING_PROCESSORS, DUE_WORK, DUE_PROCESSORS, DUE_JOBS = range(8)
"""Places in ``QueueHeaps.totals``: of jobs that wait and run, and of those within their requests the sums of processors
times when the request ends, of processors, and their number."""


def _empty_machine(jobs: int, groups: int, users: int) -> QueueHeaps:
    """Return a machine without jobs, with room for so many."""
    heaps = [np.zeros(jobs, kind) for _ in range(3) for kind in (np.float64, np.int64)]
    nobody = np.full((2, groups), -1, dtype=np.int64)
    has_left, counts = np.zeros((2, jobs), np.bool_)
    of_groups, of_users = (
        LastWaits(np.zeros(size), np.zeros(size), np.zeros((size, LAST_WAITS)), np.zeros(size, np.int64))
        for size in (groups, users)
    )
    sizes, totals, started, behind = np.zeros(3, np.int64), np.zeros(8), np.full(groups, np.nan), np.full(jobs, -1)
    return QueueHeaps._make([*heaps, sizes, totals, *nobody, started, behind, has_left, counts, of_groups, of_users])


@kernel(allocates=False)
def _sweep(jobs: Submitted, user: IntArray, queue: QueueHeaps, rows: FloatArray) -> None:
    """Describe each job, and let it wait; ``user`` is a number of each job's user, -1 if that is not known."""
    for job in range(len(jobs.submit)):
        _leave_until(jobs, user, queue, jobs.submit[job])
        _end_until(jobs, queue, jobs.submit[job])
        _describe_job(jobs, user, queue, job, rows[job])
        if jobs.leave[job] < np.inf:  # not NaN
            _wait(jobs, user, queue, job)


@kernel(allocates=False)
def _wait(jobs: Submitted, user: IntArray, queue: QueueHeaps, job: int) -> None:
    """Let a job enter the queue."""
    push(queue.leaving, queue.leaving_jobs, queue.sizes[LEAVING], jobs.leave[job], job)
    queue.sizes[LEAVING] += 1
    _count_waiting(jobs, user, queue, job, 1.0)
    group = jobs.group[job]
    if queue.first[group] < 0:
        queue.first[group] = job
    else:
        queue.behind[queue.last[group]] = job
    queue.last[group] = job


@kernel(allocates=False)
def _count_waiting(jobs: Submitted, user: IntArray, queue: QueueHeaps, job: int, sign: float) -> None:
    """Count a job among those that wait, or by a sign of -1 no more."""
    work = _work(jobs, job)
    queue.totals[WAITING] += sign
    queue.totals[WAITING_PROCESSORS] += sign * _processors(jobs, job)
    queue.totals[WAITING_WORK] += sign * work
    queue.groups.jobs[jobs.group[job]] += sign
    queue.groups.work[jobs.group[job]] += sign * work
    if user[job] >= 0:
        queue.users.jobs[user[job]] += sign


@kernel(allocates=False)
def _leave_until(jobs: Submitted, user: IntArray, queue: QueueHeaps, now: float) -> None:
    """Let the jobs leave the queue that do by now: what they waited is known, and they run, unless cancelled."""
    while queue.sizes[LEAVING] > 0 and queue.leaving[0] <= now:
        start = queue.leaving[0]
        job = pop(queue.leaving, queue.leaving_jobs, queue.sizes[LEAVING])
        queue.sizes[LEAVING] -= 1
        _count_waiting(jobs, user, queue, job, -1.0)
        queue.has_left[job] = True
        group = jobs.group[job]
        while queue.first[group] >= 0 and queue.has_left[queue.first[group]]:
            queue.first[group] = queue.behind[queue.first[group]]
        if np.isnan(jobs.wait[job]):
            continue
        _learn(queue.groups, group, jobs.wait[job])
        queue.started[group] = start
        if user[job] >= 0:
            _learn(queue.users, user[job], jobs.wait[job])
        if np.isnan(jobs.end[job]):
            continue
        push(queue.ends, queue.end_jobs, queue.sizes[ENDS], jobs.end[job], job)
        queue.sizes[ENDS] += 1
        queue.totals[RUNNING] += 1.0
        queue.totals[RUNNING_PROCESSORS] += _processors(jobs, job)
        if _work(jobs, job) > 0.0:
            due = start + jobs.requested_time[job]
            push(queue.due, queue.due_jobs, queue.sizes[DUE], due, job)
            queue.sizes[DUE] += 1
            queue.counts[job] = True
            _count_due(jobs, queue, job, due, 1.0)


@kernel(allocates=False)
def _count_due(jobs: Submitted, queue: QueueHeaps, job: int, due: float, sign: float) -> None:
    """Count a job among those within their requests, or by a sign of -1 no more."""
    queue.totals[DUE_WORK] += sign * jobs.processors[job] * due
    queue.totals[DUE_PROCESSORS] += sign * jobs.processors[job]
    queue.totals[DUE_JOBS] += sign


@kernel(allocates=False)
def _end_until(jobs: Submitted, queue: QueueHeaps, now: float) -> None:
    """Let the jobs end that do by now, and those be out of their requests that are."""
    while queue.sizes[DUE] > 0 and queue.due[0] <= now:
        due = queue.due[0]
        job = pop(queue.due, queue.due_jobs, queue.sizes[DUE])
        queue.sizes[DUE] -= 1
        if queue.counts[job]:
            queue.counts[job] = False
            _count_due(jobs, queue, job, due, -1.0)
    while queue.sizes[ENDS] > 0 and queue.ends[0] <= now:
        job = pop(queue.ends, queue.end_jobs, queue.sizes[ENDS])
        queue.sizes[ENDS] -= 1
        queue.totals[RUNNING] -= 1.0
        queue.totals[RUNNING_PROCESSORS] -= _processors(jobs, job)
        if queue.counts[job]:
            queue.counts[job] = False
            _count_due(jobs, queue, job, jobs.leave[job] + jobs.requested_time[job], -1.0)


@kernel(allocates=False)
def _learn(known: LastWaits, place: int, wait: float) -> None:
    """Put a wait in the place of the oldest one of a group or user."""
    known.waits[place, known.known[place] % LAST_WAITS] = wait
    known.known[place] += 1


@kernel(allocates=False)
def _describe_job(jobs: Submitted, user: IntArray, queue: QueueHeaps, job: int, row: FloatArray) -> None:
    """Fill in what is known of a job that is being submitted, in the order of ``COLUMNS``."""
    now, group, totals = jobs.submit[job], jobs.group[job], queue.totals
    row[0], row[1] = jobs.requested_time[job], jobs.processors[job]
    row[2] = row[0] * row[1]
    row[3], row[4], row[5] = totals[WAITING], totals[WAITING_PROCESSORS], totals[WAITING_WORK]
    row[6], row[7] = totals[RUNNING], totals[RUNNING_PROCESSORS]
    row[8] = max(totals[DUE_WORK] - now * totals[DUE_PROCESSORS], 0.0) if totals[DUE_JOBS] > 0.0 else 0.0
    row[9], row[10] = queue.groups.jobs[group], queue.groups.work[group]
    row[11] = now - jobs.submit[queue.first[group]] if queue.first[group] >= 0 else 0.0
    row[12] = now - queue.started[group]
    _describe_waits(queue.groups, group, row, 13)
    row[16] = queue.users.jobs[user[job]] if user[job] >= 0 else np.nan
    _describe_waits(queue.users, user[job], row, 17)
    row[20], row[21], row[22] = jobs.hour[job], jobs.weekday[job], float(group)


@kernel(allocates=False)
def _describe_waits(known: LastWaits, place: int, row: FloatArray, column: int) -> None:
    """Fill in the last wait of a group or user, the mean and the longest of the last ones; NaN where there are none."""
    count = min(known.known[place], LAST_WAITS) if place >= 0 else 0
    if count == 0:
        row[column] = row[column + 1] = row[column + 2] = np.nan
        return
    row[column] = known.waits[place, (known.known[place] - 1) % LAST_WAITS]
    total = longest = 0.0
    for i in range(count):
        total += known.waits[place, i]
        longest = max(longest, known.waits[place, i])
    row[column + 1], row[column + 2] = total / count, longest


@kernel(allocates=False)
def _processors(jobs: Submitted, job: int) -> float:
    """Return the processors of a job; 0 where they are not known."""
    return 0.0 if np.isnan(jobs.processors[job]) else jobs.processors[job]


@kernel(allocates=False)
def _work(jobs: Submitted, job: int) -> float:
    """Return the work that a job requests; 0 where that is not known."""
    work = jobs.processors[job] * jobs.requested_time[job]
    return 0.0 if np.isnan(work) else work

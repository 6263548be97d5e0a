# SPDX-License-Identifier: BSD-3-Clause
"""The rules that hold for every schedule, whoever made it: what ``validate`` checks before the promises.

Each check yields findings: the violations of a rule, with what to say of them, which is put into words for the first
few only. Nothing here is shared with the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.in_use import most_in_use, processors_in_use
from swftools.simulator.validation.runs import (
    RESIZED,
    FoundViolations,
    SoundJobs,
    SoundRuns,
    at,
    by_submission,
    floats,
    margin_of,
    of_jobs,
    of_runs,
    places_of,
)
from swftools.simulator.validation.work import RunHistory

OfRuns = tuple[Callable[[slice], FloatArray], Callable[[slice], FloatArray], BoolArray]

RULES = {
    "values": "no time or count is missing, infinite or negative",
    "once": "every job has one row, and one run to its end, the last",
    "submission": "no run starts before the submission",
    "run-time": "a run lasts as long as its overhead and work take",
    "work": "work that is kept is the job's, and lost work is what the ends of runs lose",
    "overhead": "runs that go on with work done before begin with the overhead of the options, and no others",
    "overlap": "runs of one job do not overlap",
    "width": "every run has at least 1 processor, no more than the machine, and those of its job if that cannot change",
    "capacity": "no more processors are in use than there are",
    "columns": "columns that follow from others do",
    "trace": "jobs, submissions, widths and work are those of the trace",
    "dependencies": "no job starts before those that it waits for have ended",
}
"""What holds for every schedule; the last two only where the trace is given, dependencies if they are followed."""


def check_once(schedule: Schedule, jobs: SoundJobs, runs: SoundRuns, history: RunHistory) -> Iterator[FoundViolations]:
    """Check that every job has one row, and one run to its end, the last."""
    rises = bool((jobs.number[1:] > jobs.number[:-1]).all())
    keys = schedule.jobs[["job_number", "job_occurrence"]]
    repeated = np.zeros(len(keys), np.bool_) if rises else keys.duplicated().to_numpy()
    yield of_jobs("once", repeated, jobs.start, jobs, lambda i: f"job {jobs.number[i]} has more than one row")
    known = runs.job >= 0
    done = history.is_closed.astype(np.int64)
    if history.order is not None:
        done = np.bincount(runs.job[known & ~runs.stopped], minlength=len(jobs.number))
    yield of_jobs(
        "once",
        (done != 1) & jobs.sound & ~repeated,
        jobs.start,
        jobs,
        lambda i: f"job {jobs.number[i]} was run to its end {done[i]} times",
    )
    yield of_jobs(
        "once",
        (done == 1) & ~history.is_closed & jobs.sound & ~repeated,
        jobs.start,
        jobs,
        lambda i: f"job {jobs.number[i]} runs again after its end at {runs.end[history.last[i]]:.10g} s",
    )
    unknown = np.flatnonzero(~known)
    say = "a run belongs to no row of schedule.jobs"
    missing = np.broadcast_to(np.int64(-1), len(runs.job))
    yield FoundViolations(
        "once", unknown, runs.start, missing, missing, lambda i: f"{say}; it starts at {runs.start[i]:.10g} s"
    )


def check_runs(
    jobs: SoundJobs, runs: SoundRuns, history: RunHistory, processors: int, tolerance: float, *, on_nodes: bool = False
) -> Iterator[FoundViolations]:
    """Check each run by itself, and against the run of the same job before.

    ``on_nodes``: runs of one job may have nodes of different sizes, each of which another rule looks at.
    """

    def number(run: int) -> int:
        return int(jobs.number[runs.job[run]])

    yield of_runs(
        "submission",
        lambda part: runs.start[part] < at(jobs.submit, runs.job[part]) - tolerance,
        jobs,
        runs,
        lambda i: (
            f"job {number(i)} starts at {runs.start[i]:.10g} s, before its submission at "
            f"{jobs.submit[runs.job[i]]:.10g} s"
        ),
    )

    def is_too_long(part: slice) -> BoolArray:
        """Whether runs do not last as long as they take; those on other widths, not as long as their overhead."""
        length, margin = runs.end[part] - runs.start[part], margin_of(runs.end[part], tolerance)
        wrong: BoolArray = np.abs(length - (runs.overhead[part] + runs.work[part])) > margin
        may_stretch = at(jobs.is_moldable, runs.job[part], False)
        return np.where(may_stretch, length < runs.overhead[part] - margin, wrong)

    yield of_runs(
        "run-time",
        is_too_long,
        jobs,
        runs,
        lambda i: (
            f"job {number(i)} runs {runs.end[i] - runs.start[i]:.10g} s from {runs.start[i]:.10g} s on; its overhead "
            f"is {runs.overhead[i]:.10g} s, and its work {runs.work[i]:.10g} s"
        ),
    )
    if history.order is not None:
        yield from _check_overlap(history.order, jobs, runs, tolerance)
    is_last = np.zeros(len(runs.job), np.bool_)
    is_last[history.last[history.last >= 0]] = True

    def has_wrong_width(part: slice) -> BoolArray:
        """Whether a machine, or a job that must have its own width, has not these processors."""
        job, width = runs.job[part], runs.processors[part]
        wrong = (width != at(jobs.processors, job, 0)) & (
            is_last[part] | ~(at(jobs.is_moldable, job, False) | on_nodes)
        )
        wrong |= (width < 1) | (width > processors)
        return wrong & at(jobs.sound, job, False)

    yield of_runs(
        "width",
        has_wrong_width,
        jobs,
        runs,
        lambda i: (
            f"a run of job {number(i)} has {runs.processors[i]} processors; the job has "
            f"{jobs.processors[runs.job[i]]}, the machine {processors}"
        ),
    )


def _check_overlap(order: IntArray, jobs: SoundJobs, runs: SoundRuns, tolerance: float) -> Iterator[FoundViolations]:
    """Check that a job runs once at a time, and that one that was resized goes on."""
    before, after = order[:-1], order[1:]
    same = runs.job[after] == runs.job[before]
    overlap, late = np.zeros(len(runs.job), np.bool_), np.zeros(len(runs.job), np.bool_)
    overlap[after] = same & (runs.start[after] < runs.end[before] - tolerance)
    late[after] = same & (runs.how[before] == RESIZED) & (runs.start[after] > runs.end[before] + tolerance)
    yield of_runs(
        "overlap",
        overlap,
        jobs,
        runs,
        lambda i: f"job {jobs.number[runs.job[i]]} starts at {runs.start[i]:.10g} s, while it runs",
    )
    yield of_runs(
        "overlap",
        late,
        jobs,
        runs,
        lambda i: f"job {jobs.number[runs.job[i]]}, which was resized, goes on only at {runs.start[i]:.10g} s",
    )


def check_capacity(jobs: SoundJobs, runs: SoundRuns, processors: int, tolerance: float) -> Iterator[FoundViolations]:
    """Check that no more processors are in use than there are, at any instant; named is who started last and runs."""
    end = np.where(runs.end > runs.start, np.maximum(runs.end - tolerance, runs.start), runs.start)
    if most_in_use(runs.start, end, runs.processors) <= processors:
        return
    uses = np.flatnonzero(end > runs.start)  # a run of no length takes nothing: it is no culprit, and no event
    times, used = processors_in_use(runs.start[uses], end[uses], runs.processors[uses])
    wrong = np.flatnonzero(used > processors)
    by_start = uses[np.argsort(runs.start[uses], kind="stable")]
    last = by_start[np.searchsorted(runs.start[by_start], times[wrong], side="right") - 1]
    number, occurrence = np.full(len(times), -1), np.full(len(times), -1)
    number[wrong], occurrence[wrong] = at(jobs.number, runs.job[last], -1), at(jobs.occurrence, runs.job[last], -1)

    def say(i: int) -> str:
        running = np.flatnonzero((runs.start <= times[i]) & (end > times[i]))
        names = [str(name) for name in at(jobs.number, runs.job[running], -1)]
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        whose = ", ".join(names[:10]) + more
        return f"{used[i]} of {processors} processors in use from {times[i]:.10g} s on, by jobs {whose}"

    yield FoundViolations("capacity", wrong, times, number, occurrence, say)


def check_columns(
    schedule: Schedule, jobs: SoundJobs, runs: SoundRuns, history: RunHistory, tolerance: float
) -> Iterator[FoundViolations]:
    """Check the columns that follow from others."""
    if history.order is None:
        run_time, preemptions, ran = _of_one_run(jobs, runs, history)
    else:
        run_time, preemptions, ran = _of_all_runs(jobs, runs, history)
    expected: dict[str, Callable[[slice], FloatArray]] = {
        "start_time": lambda part: at(runs.start, history.first[part]),
        "end_time": lambda part: at(runs.end, history.last[part]),
        "wait_time": lambda part: jobs.start[part] - jobs.submit[part],
        "response_time": lambda part: jobs.end[part] - jobs.submit[part],
        "ready_wait": lambda part: jobs.start[part] - floats(schedule.jobs, "ready_time")[part],
        "run_time": run_time,
        "preemptions": preemptions,
    }
    for name, value in expected.items():
        if name not in schedule.jobs or (name == "ready_wait" and "ready_time" not in schedule.jobs):
            continue  # tables from elsewhere may have response times, ours have not
        values = floats(schedule.jobs, name)

        def differs(
            part: slice, values: FloatArray = values, value: Callable[[slice], FloatArray] = value
        ) -> BoolArray:
            off = np.abs(values[part] - value(part)) > margin_of(jobs.end[part], tolerance)
            return jobs.sound[part] & ran[part] & off

        def say(
            i: int, name: str = name, values: FloatArray = values, value: Callable[[slice], FloatArray] = value
        ) -> str:
            return f"job {jobs.number[i]}: {name} is {values[i]:.10g}, and would be {value(slice(i, i + 1))[0]:.10g}"

        yield of_jobs("columns", places_of(len(jobs.number), differs), jobs.start, jobs, say)
    if "is_backfilled" in schedule.jobs and jobs.sound.all():
        yield _check_backfilled(schedule, jobs)


def _of_one_run(jobs: SoundJobs, runs: SoundRuns, history: RunHistory) -> OfRuns:
    """Return the run time, stops and presence of jobs that were run once, to their end, or not at all."""

    def run_time(part: slice) -> FloatArray:
        # Of work that is done on other widths than the job's own, the time is known from the run alone.
        run = history.last[part]
        length, takes = at(runs.end, run) - at(runs.start, run), at(runs.overhead, run) + at(runs.work, run)
        return np.where(jobs.is_moldable[part], length, takes)

    return run_time, lambda part: np.zeros(len(jobs.number[part])), history.is_closed


def _of_all_runs(jobs: SoundJobs, runs: SoundRuns, history: RunHistory) -> OfRuns:
    """Return the run time, stops and presence of jobs by all their runs."""
    start, count = np.append(runs.start, np.nan), len(jobs.number)
    takes = np.where(np.append(jobs.is_moldable, True)[runs.job], runs.end - runs.start, runs.overhead + runs.work)
    known = runs.job >= 0
    counts = known & (runs.start >= start[history.first][runs.job]) & (runs.start <= start[history.last][runs.job])
    run_time = np.where(history.last < 0, np.nan, np.bincount(runs.job[counts], takes[counts], minlength=count))
    preemptions = np.bincount(runs.job[known & runs.stopped & (runs.how != RESIZED)], minlength=count)
    return (
        lambda part: run_time[part],
        lambda part: preemptions[part].astype(np.float64),
        np.isin(np.arange(count), runs.job),
    )


def _check_backfilled(schedule: Schedule, jobs: SoundJobs) -> FoundViolations:
    """Check is_backfilled: whether a job that was submitted earlier starts at a later instant."""
    said = schedule.jobs["is_backfilled"].to_numpy(dtype=np.bool_, na_value=False)
    order = by_submission(jobs)
    if order is None:
        latest = np.maximum.accumulate(jobs.start)
    else:
        latest = np.empty(len(order))
        latest[order] = np.maximum.accumulate(jobs.start[order])
    wrong = said != (latest > jobs.start)
    if schedule.is_partial:
        wrong &= ~said  # who waits still is not in the schedule
    return of_jobs(
        "columns",
        wrong,
        jobs.start,
        jobs,
        lambda i: (
            f"job {jobs.number[i]}: is_backfilled is {said[i]}, but {'no' if said[i] else 'a'} job that was "
            "submitted earlier starts later"
        ),
    )

"""The rules that hold for every schedule, whoever made it: what ``validate`` checks before the promises.

Each check yields findings: the violations of a rule, with what to say of them, which is put into words for the first
few only. Nothing here is shared with the engine.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swftools.kernel import FloatArray
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.promises import processors_in_use
from swftools.simulator.validation.runs import RESIZED, Finding, Jobs, Runs, floats, of_jobs, of_runs
from swftools.simulator.validation.work import History

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
}
"""What holds for every schedule; the last only where the trace is given."""


def check_once(schedule: Schedule, jobs: Jobs, runs: Runs, history: History) -> Iterator[Finding]:
    """Check that every job has one row, and one run to its end, the last."""
    repeated = schedule.jobs.duplicated(["job_number", "job_occurrence"]).to_numpy()
    yield of_jobs("once", repeated, jobs.start, jobs, lambda i: f"job {jobs.number[i]} has more than one row")
    known = runs.job >= 0
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
    missing = np.full(len(runs.job), -1)
    yield Finding(
        "once", unknown, runs.start, missing, missing, lambda i: f"{say}; it starts at {runs.start[i]:.10g} s"
    )


def check_runs(jobs: Jobs, runs: Runs, history: History, processors: int, tolerance: float) -> Iterator[Finding]:
    """Check each run by itself, and against the run of the same job before."""

    def number(run: int) -> int:
        return int(jobs.number[runs.job[run]])

    submit = np.append(jobs.submit, np.nan)[runs.job]
    yield of_runs(
        "submission",
        runs.start < submit - tolerance,
        jobs,
        runs,
        lambda i: f"job {number(i)} starts at {runs.start[i]:.10g} s, before its submission at {submit[i]:.10g} s",
    )
    length = runs.end - runs.start
    margin = tolerance + 4 * np.spacing(np.abs(runs.end))
    takes, may_stretch = runs.overhead + runs.work, np.append(jobs.is_moldable, False)[runs.job]
    yield of_runs(
        "run-time",
        np.where(may_stretch, length < runs.overhead - margin, np.abs(length - takes) > margin),
        jobs,
        runs,
        lambda i: (
            f"job {number(i)} runs {length[i]:.10g} s from {runs.start[i]:.10g} s on; its overhead is "
            f"{runs.overhead[i]:.10g} s, and its work {runs.work[i]:.10g} s"
        ),
    )
    before, after = history.order[:-1], history.order[1:]
    same = runs.job[after] == runs.job[before]
    overlap, late = np.zeros(len(runs.job), np.bool_), np.zeros(len(runs.job), np.bool_)
    overlap[after] = same & (runs.start[after] < runs.end[before] - tolerance)
    late[after] = same & (runs.how[before] == RESIZED) & (runs.start[after] > runs.end[before] + tolerance)
    yield of_runs(
        "overlap",
        overlap,
        jobs,
        runs,
        lambda i: f"job {number(i)} starts at {runs.start[i]:.10g} s, while it runs",
    )
    yield of_runs(
        "overlap",
        late,
        jobs,
        runs,
        lambda i: f"job {number(i)}, which was resized, goes on only at {runs.start[i]:.10g} s",
    )
    width = np.append(jobs.processors, 0)[runs.job]
    is_last = np.zeros(len(runs.job), np.bool_)
    is_last[history.last[history.last >= 0]] = True
    wrong = (runs.processors != width) & (is_last | ~may_stretch)
    wrong |= (runs.processors < 1) | (runs.processors > processors)
    yield of_runs(
        "width",
        wrong & np.append(jobs.sound, False)[runs.job],
        jobs,
        runs,
        lambda i: (
            f"a run of job {number(i)} has {runs.processors[i]} processors; the job has {width[i]}, "
            f"the machine {processors}"
        ),
    )


def check_capacity(jobs: Jobs, runs: Runs, processors: int, tolerance: float) -> Iterator[Finding]:
    """Check that no more processors are in use than there are, at any instant."""
    end = np.where(runs.end > runs.start, np.maximum(runs.end - tolerance, runs.start), runs.start)
    times, used = processors_in_use(runs.start, end, runs.processors)
    wrong = np.flatnonzero(used > processors)
    by_start = np.argsort(runs.start, kind="stable")
    last = by_start[np.searchsorted(runs.start[by_start], times[wrong], side="right") - 1]
    number, occurrence = np.full(len(times), -1), np.full(len(times), -1)
    number[wrong], occurrence[wrong] = (
        np.append(jobs.number, -1)[runs.job[last]],
        np.append(jobs.occurrence, -1)[runs.job[last]],
    )

    def say(i: int) -> str:
        running = np.flatnonzero((runs.start <= times[i]) & (end > times[i]))
        names = [str(np.append(jobs.number, -1)[job]) for job in runs.job[running]]
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        whose = ", ".join(names[:10]) + more
        return f"{used[i]} of {processors} processors in use from {times[i]:.10g} s on, by jobs {whose}"

    yield Finding("capacity", wrong, times, number, occurrence, say)


def check_columns(schedule: Schedule, jobs: Jobs, runs: Runs, history: History, tolerance: float) -> Iterator[Finding]:
    """Check the columns that follow from others."""
    start, end = np.append(runs.start, np.nan), np.append(runs.end, np.nan)
    # Of work that is done on other widths than the job's own, the time is known from the run alone.
    takes = np.where(np.append(jobs.is_moldable, True)[runs.job], runs.end - runs.start, runs.overhead + runs.work)
    known, count = runs.job >= 0, len(jobs.number)
    counts = known & (runs.start >= start[history.first][runs.job]) & (runs.start <= start[history.last][runs.job])
    expected = {
        "start_time": start[history.first],
        "end_time": end[history.last],
        "wait_time": jobs.start - jobs.submit,
        "run_time": np.where(history.last < 0, np.nan, np.bincount(runs.job[counts], takes[counts], minlength=count)),
        "preemptions": np.bincount(runs.job[known & runs.stopped & (runs.how != RESIZED)], minlength=count),
    }
    ran = np.isin(np.arange(count), runs.job)
    for name, value in expected.items():
        values = floats(schedule.jobs, name)
        wrong = jobs.sound & ran & (np.abs(values - value) > tolerance + 4 * np.spacing(np.abs(jobs.end)))

        def say(i: int, name: str = name, values: FloatArray = values, value: FloatArray = value) -> str:
            return f"job {jobs.number[i]}: {name} is {values[i]:.10g}, and would be {value[i]:.10g}"

        yield of_jobs("columns", wrong, jobs.start, jobs, say)
    if "is_backfilled" in schedule.jobs and jobs.sound.all():
        yield _check_backfilled(schedule, jobs)


def _check_backfilled(schedule: Schedule, jobs: Jobs) -> Finding:
    """Check is_backfilled: whether a job that was submitted earlier starts at a later instant."""
    said = schedule.jobs["is_backfilled"].to_numpy(dtype=np.bool_, na_value=False)
    order = np.lexsort((jobs.occurrence, jobs.number, jobs.submit))
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

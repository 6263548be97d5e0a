# SPDX-License-Identifier: BSD-3-Clause
"""The work of jobs that were stopped: what each end of a run keeps, and whether a schedule's runs tell the same.

Work is counted in seconds on the job's own width. A killed job loses all that it has done, one that is checkpointed
what it did since its last checkpoint, one that is suspended or resized nothing. What was done last is lost first. A job
that is lost by an outage loses all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray, TinyArray, kernel
from swftools.parameters.as_text import read_entry
from swftools.simulator.instants import instant, whole_times
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.runs import (
    CHECKPOINTED,
    KILLED,
    OUTAGE,
    BoolArray,
    FoundViolations,
    SoundJobs,
    SoundRuns,
    at,
    floats,
    of_runs,
)
from swftools.trace import Trace


class RunHistory(NamedTuple):
    """The runs in the order of their jobs and of time; None where each is the one run of its job, to its end.

    Of each run: ``before``, the work that was done before it and kept, and ``lost``, what was lost of its own, at its
    end or later. Of each job: ``first``, the last run that began it from nothing; ``last``, its last run to its end
    (both -1: it has none); ``is_closed``, whether no other does, and none follows; and ``work``, what it had done then,
    else NaN, also of a job that was lost.
    """

    order: IntArray | None
    before: FloatArray
    lost: FloatArray
    first: IntArray
    last: IntArray
    is_closed: BoolArray
    work: FloatArray


def read_history(jobs: SoundJobs, runs: SoundRuns) -> RunHistory:
    """Return what became of the work of jobs, by their runs."""
    count, known = len(jobs.number), runs.job >= 0
    is_whole = not runs.stopped.any() and not (runs.how == OUTAGE).any()
    if known.all() and is_whole and np.bincount(runs.job, minlength=1).max() <= 1:
        return _of_whole_runs(count, runs)
    order = np.lexsort((runs.end, runs.start, runs.job))
    before, lost = np.zeros(len(order)), np.zeros(len(order))
    _follow_work(order, runs.job, runs.work, runs.how, np.append(jobs.interval, np.nan), before, lost)
    own = order[known[order]]
    first, last = np.full(count, -1), np.full(count, -1)
    final = last.copy()
    final[runs.job[own]] = own
    ending = own[~runs.stopped[own]]
    last[runs.job[ending]] = ending
    begins = own[before[own] == 0.0]
    first[runs.job[begins]] = begins
    ends = np.bincount(runs.job[known & ~runs.stopped], minlength=count)
    is_closed = (ends == 1) & (final == last)
    done = np.append(np.where(runs.how == OUTAGE, np.nan, before + runs.work), np.nan)[last]
    return RunHistory(order, before, lost, first, last, is_closed, np.where(is_closed, done, np.nan))


def _of_whole_runs(count: int, runs: SoundRuns) -> RunHistory:
    """Return the history of jobs that were run once, to their end, or not at all."""
    last = np.full(count, -1)
    last[runs.job] = np.arange(len(runs.job))
    nothing = np.broadcast_to(0.0, len(runs.job))
    return RunHistory(None, nothing, nothing, last, last, last >= 0, at(runs.work, last))


@kernel(allocates=False)
def _follow_work(
    order: IntArray,
    job: IntArray,
    work: FloatArray,
    how: TinyArray,
    interval: FloatArray,
    before: FloatArray,
    lost: FloatArray,
) -> None:
    """Follow the work of each job from run to run, then back: into ``before`` and ``lost``.

    The caller guarantees that ``order`` has the runs of a job one behind the other; an interval for each job, and one
    for none, -1.
    """
    runs, done = len(order), 0.0
    for i in range(runs):
        run = order[i]
        if i == 0 or job[order[i - 1]] != job[run]:
            done = 0.0
        before[run] = done
        done = instant(done + work[run])
        if how[run] == KILLED:
            done = 0.0
        elif how[run] == CHECKPOINTED:
            between = interval[job[run]]
            done = instant(whole_times(done, between) * between) if between > 0.0 else 0.0
    least = np.inf  # that a later run of the job begins with
    for i in range(runs - 1, -1, -1):
        run = order[i]
        if i == runs - 1 or job[order[i + 1]] != job[run]:
            least = 0.0 if how[run] == OUTAGE else np.inf
        lost[run] = min(max(before[run] + work[run] - least, 0.0), work[run])
        least = min(least, before[run])


def check_work(
    jobs: SoundJobs, runs: SoundRuns, history: RunHistory, tolerance: float, *, is_fixed: bool = True
) -> Iterator[FoundViolations]:
    """Check that the work that runs keep is the job's, and that what they lose is what their ends lose.

    ``is_fixed``: a job takes as long whenever it starts, so no run did more work than the job has.
    """
    if history.order is None and not runs.lost.any():
        return
    margin = tolerance + 4 * np.spacing(np.abs(runs.end))
    is_closed = np.append(history.is_closed, False)[runs.job]
    yield of_runs(
        "work",
        is_closed & (np.abs(runs.lost - history.lost) > margin),
        jobs,
        runs,
        lambda i: (
            f"job {jobs.number[runs.job[i]]}: lost_work of the run from {runs.start[i]:.10g} s on is "
            f"{runs.lost[i]:.10g}, and would be {history.lost[i]:.10g}"
        ),
    )
    whole = np.append(history.work, np.nan)[runs.job]
    done = history.before + runs.work
    yield of_runs(
        "work",
        is_fixed & (done > whole + margin),
        jobs,
        runs,
        lambda i: (
            f"job {jobs.number[runs.job[i]]} has done {done[i]:.10g} s of work by {runs.end[i]:.10g} s, "
            f"more than the {whole[i]:.10g} s at its end"
        ),
    )


def check_overhead(
    schedule: Schedule,
    jobs: SoundJobs,
    runs: SoundRuns,
    history: RunHistory,
    trace: Trace | None,
    row: IntArray,
    tolerance: float,
) -> Iterator[FoundViolations]:
    """Check the overhead of runs that go on with work done before, by the option ``restart_overhead`` of the schedule.

    A column is that of the trace where it is given (``row``: of each job in it), else that of the schedule. A run that
    is stopped within its overhead has only that part of it.
    """
    if not (history.before.any() or runs.overhead.any()):
        return
    seconds, per_processor, of_job = _overhead_option(schedule, trace, row)
    of_run = np.append(of_job, np.nan)[runs.job]
    whole = np.where(history.before > 0.0, seconds + per_processor * runs.processors + of_run, 0.0)
    expected = np.where(runs.stopped, np.minimum(whole, np.maximum(runs.end - runs.start, 0.0)), whole)
    wrong = np.abs(runs.overhead - expected) > tolerance + 4 * np.spacing(np.abs(runs.end))
    yield of_runs(
        "overhead",
        wrong & np.append(history.is_closed, False)[runs.job],
        jobs,
        runs,
        lambda i: (
            f"job {jobs.number[runs.job[i]]}: overhead of the run from {runs.start[i]:.10g} s on is "
            f"{runs.overhead[i]:.10g}, and would be {expected[i]:.10g}"
        ),
    )


def _overhead_option(schedule: Schedule, trace: Trace | None, row: IntArray) -> tuple[float, float, FloatArray]:
    """Return the overhead of a run in seconds, in seconds a processor, and in seconds of each job."""
    option = schedule.options.get("restart_overhead", 0.0)
    nothing = np.zeros(len(schedule.jobs))
    if not isinstance(option, str):
        return float(option), 0.0, nothing
    name, given = read_entry(option)
    if name == "uniform":
        return float(given.get("seconds", 0.0)), float(given.get("per_processor", 0.0)), nothing
    column = given.get("name")
    frame = schedule.jobs if trace is None else trace.jobs
    if name != "column" or column not in frame:
        raise ParameterError(
            f"restart_overhead={option!r} of the schedule is neither seconds nor uniform:seconds=,per_processor= nor "
            "column:name= of a column of the jobs; pass trace= if the trace has it"
        )
    values = floats(frame, str(column))
    return 0.0, 0.0, values if trace is None else np.append(values, np.nan)[row]

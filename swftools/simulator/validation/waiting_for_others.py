# SPDX-License-Identifier: BSD-3-Clause
"""Whether jobs wait for the end of those that they depend on, by the trace; nothing here is shared with the engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from swftools.dependencies import Dependencies, find_dependencies, logged_ends, ready_times
from swftools.kernel import FloatArray, IntArray
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.runs import (
    BoolArray,
    FoundViolations,
    SoundJobs,
    SoundRuns,
    at,
    floats,
    margin_of,
    of_jobs,
    of_runs,
)
from swftools.trace import Trace

NOT_ENDED, TAKEN_OUT, NEVER_BACK = "not ended", "taken out", "needs nodes that never come back"
"""How the reasons begin for which jobs are not in a schedule that could have been: the first keeps others waiting."""


class Waiting(NamedTuple):
    """The jobs of a trace that wait for others, and when each job of a schedule may start by that.

    ``row`` has the trace's row of each job of the schedule, ``end`` when each job of the trace ended, ``ready`` when
    each job of the schedule is eligible, infinite if what it waits for has not ended; all in s. ``is_later`` tells
    which of these may be eligible later, as what they wait for left the queue some time.
    """

    found: Dependencies
    row: IntArray
    end: FloatArray
    ready: FloatArray
    is_later: BoolArray

    @property
    def is_dependent(self) -> BoolArray:
        """Which jobs of the schedule wait for others."""
        waits = np.zeros(len(self.end) + 1, np.bool_)
        waits[self.found.waiting] = waits[self.found.gone] = True
        return waits[self.row]


def find_waiting(
    schedule: Schedule, jobs: SoundJobs, trace: Trace, row: IntArray, row_of_rest: IntArray
) -> Waiting | None:
    """Return which jobs wait for others; None where none does.

    Parameters
    ----------
    row, row_of_rest : numpy.ndarray of int
        The trace's row of each job of the schedule, and of each that is excluded; -1 for none.
    """
    found = find_dependencies(trace)
    if not len(found.waiting) and not len(found.gone):
        return None
    end = logged_ends(trace)
    left = np.zeros(len(end), np.bool_)
    if "reason" in schedule.excluded:
        reason = schedule.excluded["reason"].astype("str")
        for begin, otherwise in ((NOT_ENDED, np.inf), (TAKEN_OUT, np.nan), (NEVER_BACK, np.nan)):
            is_such = reason.str.startswith(begin).to_numpy(dtype=bool) & (row_of_rest >= 0)
            end[row_of_rest[is_such]] = otherwise
            left[row_of_rest[is_such]] = begin != NOT_ENDED
    known = row >= 0
    end[row[known]] = jobs.end[known]
    submit = trace.views.submit_time
    is_later = np.zeros(len(end) + 1, np.bool_)
    is_later[found.waiting[left[found.before]]] = True
    return Waiting(found, row, end, np.fmax(at(ready_times(found, submit, end), row), jobs.submit), is_later[row])


def check_dependencies(
    waiting: Waiting, schedule: Schedule, jobs: SoundJobs, runs: SoundRuns, trace: Trace, tolerance: float
) -> Iterator[FoundViolations]:
    """Check that no run starts before its job is eligible, and what the schedule says of that."""
    found, ready = waiting.found, waiting.ready

    def say(run: int) -> str:
        job = runs.job[run]
        what = f"job {jobs.number[job]} starts at {runs.start[run]:.10g} s"
        of_job = np.flatnonzero(found.waiting == waiting.row[job])
        until = waiting.end[found.before[of_job]] + found.think_time[of_job]
        if not (until >= ready[job] - tolerance).any():
            return f"{what}, and may not before {ready[job]:.10g} s: it waits for a job that was put aside"
        last = of_job[np.nanargmax(until)]
        number, end = trace.views.job_number[found.before[last]], waiting.end[found.before[last]]
        if end == np.inf:
            return f"{what}; it waits for job {number}, which has not ended"
        think = f", and {found.think_time[last]:.10g} s more" if found.think_time[last] else ""
        return f"{what}; it waits for job {number}, which ends at {end:.10g} s{think}"

    yield of_runs(
        "dependencies",
        lambda part: runs.start[part] < at(ready, runs.job[part]) - margin_of(runs.start[part], tolerance),
        jobs,
        runs,
        say,
    )
    if "ready_time" in schedule.jobs:
        told, margin = floats(schedule.jobs, "ready_time"), margin_of(jobs.end, tolerance)
        is_right = np.where(
            waiting.is_later, (told >= ready - margin) & (told <= jobs.start + margin), np.abs(told - ready) <= margin
        )
        yield of_jobs(
            "dependencies",
            jobs.sound & ~is_right,
            jobs.start,
            jobs,
            lambda i: f"job {jobs.number[i]}: ready_time is {told[i]:.10g}, and would be {ready[i]:.10g}",
        )


def note_of(waiting: Waiting, jobs: SoundJobs, tolerance: float) -> str:
    """Return in words how far a schedule keeps to dependencies that it need not keep to."""
    early = int((jobs.start < waiting.ready - margin_of(jobs.start, tolerance)).sum())
    dependent = int((waiting.is_dependent & jobs.sound).sum())
    few = f"{early:,} of {dependent:,} jobs that wait for others start"
    return f"dependencies not followed: {few} before these have ended"

# SPDX-License-Identifier: BSD-3-Clause
"""Whether a schedule is of a trace: its jobs, submissions, widths and work."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.keyed_random import count_occurrences
from swftools.simulator.requested_times import find_requests
from swftools.simulator.schedule import Schedule, rows_by_number
from swftools.simulator.validation.runs import (
    BoolArray,
    FoundViolations,
    SoundJobs,
    SoundRuns,
    at,
    codes_of,
    floats,
    integers,
    margin_of,
    of_jobs,
    of_runs,
    places_of,
)
from swftools.simulator.validation.widths import stretch_on
from swftools.simulator.validation.work import RunHistory
from swftools.trace import Trace

YEARS = 3 * 365 * 86_400.0
"""No machine lets all its jobs wait as long as this, s."""

_AT_ONCE = 1.0  # run time of cancelled jobs under cancelled="end-at-once", s


def check_jobs(schedule: Schedule, jobs: SoundJobs, trace: Trace) -> tuple[IntArray, IntArray, list[FoundViolations]]:
    """Return the trace's row of each job, and of each that is excluded, -1 if none, and what is wrong with that."""
    number, occurrence = trace.views.job_number, count_occurrences(trace.jobs)
    row, row_of_rest, times_in = _places(number, occurrence, schedule)

    def say_times(i: int) -> str:
        is_lost = times_in[i] == 0
        where = "neither in the schedule nor excluded" if is_lost else "in the schedule more than once"
        return f"job {number[i]} of the trace is {where}"

    places = np.flatnonzero(times_in != 1)
    rest = integers(schedule.excluded, "job_number")
    return (
        row,
        row_of_rest,
        [
            FoundViolations("trace", places, trace.views.submit_time, number, occurrence, say_times),
            of_jobs("trace", row < 0, jobs.start, jobs, lambda i: f"job {jobs.number[i]} is not in the trace"),
            FoundViolations(
                "trace",
                np.flatnonzero(row_of_rest < 0),
                np.full(len(rest), np.nan),
                rest,
                integers(schedule.excluded, "job_occurrence"),
                lambda i: f"job {rest[i]}, excluded, is not in the trace",
            ),
        ],
    )


def _places(number: IntArray, occurrence: IntArray, schedule: Schedule) -> tuple[IntArray, IntArray, IntArray]:
    """Return the rows of scheduled and excluded jobs among keys, -1 if none; and how often each key is there."""
    tables = schedule.jobs, schedule.excluded
    if len(number) and (number[1:] > number[:-1]).all():  # as in most logs: no number repeats
        rows = [_rows_in(number, occurrence, table) for table in tables]
        size = len(number)
        times_in = sum((np.bincount(row[row >= 0], minlength=size) for row in rows), np.zeros(size, np.int64))
        return rows[0], rows[1], times_in
    keys = pd.DataFrame({"job_number": number, "job_occurrence": occurrence})
    of_trace, of_schedule, of_rest = codes_of(keys, *tables)
    size = max(int(codes.max(initial=-1)) for codes in (of_trace, of_schedule, of_rest)) + 1
    inside = np.full(size, -1)
    times_of_code = np.bincount(of_schedule, minlength=size) + np.bincount(of_rest, minlength=size)
    inside[of_trace] = np.arange(len(keys))
    return inside[of_schedule], inside[of_rest], times_of_code[of_trace]


def _rows_in(number: IntArray, occurrence: IntArray, table: pd.DataFrame) -> IntArray:
    """Return where the jobs of a table are among keys whose numbers rise; -1 where they are not."""
    wanted = integers(table, "job_number")
    row = rows_by_number(number, wanted)
    is_it = (number[row] == wanted) & (occurrence[row] == integers(table, "job_occurrence"))
    return row if is_it.all() else np.where(is_it, row, -1)


def check_trace(
    schedule: Schedule,
    jobs: SoundJobs,
    runs: SoundRuns,
    history: RunHistory,
    trace: Trace,
    row: IntArray,
    tolerance: float,
) -> Iterator[FoundViolations]:
    """Check that submissions, work, widths, and the times that runs take on them, are those of the trace."""
    options = schedule.options
    yield _differing("submit_time", at(trace.views.submit_time, row), jobs.submit, jobs, tolerance)
    if "requested_processors" in schedule.jobs and "requested_processors" in trace.jobs:
        yield _check_processors(schedule, jobs, trace, row, tolerance)
    run = at(trace.views.run_time, row)
    if options.get("cancelled") == "end-at-once":
        run = np.where(np.isnan(run), _AT_ONCE, run)
    run = np.maximum(run, options.get("least_run_time", 1.0 if options.get("semantics") == "pyss" else 0.0))
    yield from _check_requests(schedule, jobs, trace, row, run, tolerance)
    if options.get("overrun") == "kill":
        run = np.minimum(run, jobs.requested)
    yield _differing("work", run, history.work, jobs, tolerance)
    del run
    yield _times_elsewhere(jobs)
    may_not = stretch_on(trace, row, jobs.processors) == 0.0
    if schedule.machine is None and may_not.any():  # on nodes the rule "asked" says what a job is to have
        of_job = np.where(may_not, at(trace.views.width, row, -1), jobs.processors).astype(np.float64)
        yield _differing("allocated_processors", of_job, jobs.processors.astype(np.float64), jobs, tolerance)
    if not jobs.is_moldable.any():
        return  # all runs have the width of their job, or break the rule "width"
    row_of_run = np.append(row, -1)[runs.job]
    stretch = stretch_on(trace, row_of_run, runs.processors)
    width = np.append(trace.views.width, -1)[row_of_run]
    others = runs.processors != np.append(jobs.processors, 0)[runs.job]
    yield of_runs(
        "trace",
        (stretch == 0.0) & others & np.append(jobs.is_moldable, False)[runs.job],
        jobs,
        runs,
        lambda i: (
            f"job {jobs.number[runs.job[i]]}: a run has {runs.processors[i]} processors; of the trace the job has "
            f"{width[i]}, and no speedup curve that allows others"
        ),
    )
    length = runs.end - runs.start
    takes = runs.overhead + runs.work * np.where(stretch == 0.0, 1.0, stretch)
    wrong = np.abs(length - takes) > tolerance + 4 * np.spacing(np.abs(runs.end))
    yield of_runs(
        "trace",
        wrong & np.append(jobs.is_moldable, False)[runs.job],
        jobs,
        runs,
        lambda i: (
            f"job {jobs.number[runs.job[i]]} runs {length[i]:.10g} s from {runs.start[i]:.10g} s on; by its speedup "
            f"curve it would run {takes[i]:.10g} s"
        ),
    )


def _check_requests(
    schedule: Schedule, jobs: SoundJobs, trace: Trace, row: IntArray, run: FloatArray, tolerance: float
) -> Iterator[FoundViolations]:
    """Check that what jobs asked for is what the trace says, as the options change it; ``run`` has their run times."""
    options = schedule.options
    try:
        requests = find_requests(options.get("requests", "logged"))
    except ParameterError:  # of one's own: of such the schedule has the name only
        return
    asked = at(np.asarray(requests.request(trace, options.get("seed", 0)), np.float64), row)
    is_asked = asked > 0
    np.copyto(asked, run, where=~is_asked)  # without a request a job was taken to ask for its run time
    logged = asked
    if options.get("overrun", "extend") == "extend":
        expected = np.fmax(logged, run, out=None if "least_run_time" in options else logged)
    else:
        expected = logged
    if "least_run_time" in options:  # a table from elsewhere may tell the request as it was, or as it was raised
        for fine in (logged, np.fmax(logged, run)):
            expected = np.where(np.abs(jobs.requested - fine) <= tolerance, jobs.requested, expected)
        if not is_asked.any():
            return  # the log has no requests at all, so those of a table contradict nothing
    remedy = "; if requests were changed on purpose, say how by requests= (--requests)"
    yield _differing("requested_time", expected, jobs.requested, jobs, tolerance, remedy)


def _check_processors(
    schedule: Schedule, jobs: SoundJobs, trace: Trace, row: IntArray, tolerance: float
) -> FoundViolations:
    """Check that the processors that jobs asked for are those of the trace."""
    wanted = at(floats(trace.jobs, "requested_processors"), row)
    wanted[~(wanted > 0)] = np.nan
    return _differing("requested_processors", wanted, floats(schedule.jobs, "requested_processors"), jobs, tolerance)


def _times_elsewhere(jobs: SoundJobs) -> FoundViolations:
    """Return the first job where all jobs start years after they came: the times count from another instant."""
    wait = np.where(jobs.sound, jobs.start - jobs.submit, np.inf)
    first = np.zeros(len(wait), np.bool_)
    if len(wait) and YEARS < wait.min() < np.inf:
        first[np.argmin(wait)] = True
    return of_jobs(
        "trace",
        first,
        jobs.start,
        jobs,
        lambda i: (
            f"job {jobs.number[i]} starts at {jobs.start[i]:.10g} s, {wait[i]:.10g} s after its submission, and no job "
            "waits less: these times do not count from the begin of the log; subtract what they count from "
            "(UnixStartTime, if they are seconds since 1970)"
        ),
    )


def _differing(
    name: str, value: FloatArray, values: FloatArray, jobs: SoundJobs, tolerance: float, remedy: str = ""
) -> FoundViolations:
    """Return where a value differs from the trace; what the trace does not know is not compared."""

    def is_wrong(part: slice) -> BoolArray:
        margin = margin_of(jobs.end[part], tolerance)
        return np.asarray(jobs.sound[part] & (np.abs(values[part] - value[part]) > margin))

    return of_jobs(
        "trace",
        places_of(len(values), is_wrong),
        jobs.start,
        jobs,
        lambda i: f"job {jobs.number[i]}: {name} is {values[i]:.10g}, of the trace {value[i]:.10g}{remedy}",
    )

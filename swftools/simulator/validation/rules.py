"""The rules that hold for every schedule, whoever made it: what ``validate`` checks before the promises.

Each check yields findings: the violations of a rule, with what to say of them, which is put into words for the first
few only. Nothing here is shared with the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.keyed_random import count_occurrences
from swftools.models.speedup import run_time
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.promises import processors_in_use
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

RULES = {
    "values": "no time or count is missing, infinite or negative",
    "once": "every job has one row, and one run that was not preempted",
    "submission": "no run starts before the submission",
    "run-time": "that run lasts the job's run time, a preempted one no longer",
    "overlap": "runs of one job do not overlap",
    "width": "every run has its job's processors, at least 1 and no more than the machine",
    "capacity": "no more processors are in use than there are",
    "columns": "columns that follow from others do",
    "trace": "jobs, submissions, widths and run times are those of the trace",
}
"""What holds for every schedule; the last only where the trace is given."""

_TIMES = ("submit_time", "start_time", "end_time", "wait_time", "run_time", "requested_time", "estimated_time")
_COUNTS = ("job_number", "job_occurrence", "allocated_processors", "preemptions")
_AT_ONCE = 1.0  # run time of cancelled jobs under cancelled="end-at-once", s


class Runs(NamedTuple):
    """The runs of a schedule, sound ones only; ``job`` is the row of ``Schedule.jobs``."""

    job: IntArray
    start: FloatArray
    end: FloatArray
    processors: IntArray
    preempted: BoolArray


class Jobs(NamedTuple):
    """What is used of the jobs of a schedule, one element a row; of what is not sound, NaN or 0."""

    number: IntArray
    occurrence: IntArray
    submit: FloatArray
    start: FloatArray
    end: FloatArray
    run: FloatArray
    requested: FloatArray
    estimated: FloatArray
    processors: IntArray
    sound: BoolArray


class Finding(NamedTuple):
    """Violations of a rule: which, when, by which job, and what to say of one."""

    rule: str
    places: IntArray
    time: FloatArray
    number: IntArray
    occurrence: IntArray
    say: Callable[[int], str]


def require_columns(schedule: Schedule) -> None:
    """Refuse a schedule whose tables lack columns."""
    segment = ("job_number", "job_occurrence", "start_time", "end_time", "allocated_processors", "is_preempted")
    tables = {
        "jobs": (schedule.jobs, (*_TIMES, *_COUNTS)),
        "segments": (schedule.segments, segment),
        "excluded": (schedule.excluded, ("job_number", "job_occurrence")),
    }
    for table, (frame, names) in tables.items():
        if missing := [name for name in names if name not in frame]:
            raise ParameterError(f"schedule.{table} has no columns {', '.join(missing)}")


def _floats(frame: pd.DataFrame, name: str) -> FloatArray:
    return np.asarray(frame[name].to_numpy(dtype=np.float64, na_value=np.nan))


def _integers(frame: pd.DataFrame, name: str) -> IntArray:
    values = frame[name]
    if values.dtype.kind == "f":
        values = values.fillna(-1).replace([np.inf, -np.inf], -1)
    return np.asarray(values.to_numpy(dtype=np.int64, na_value=-1))


def _codes(*frames: pd.DataFrame) -> list[IntArray]:
    """Return the keys of jobs, in several tables, as numbers from 0."""
    columns = [
        np.concatenate([_integers(frame, name) for frame in frames]) for name in ("job_number", "job_occurrence")
    ]
    number, occurrence = (pd.factorize(column)[0] for column in columns)
    code = pd.factorize(number * (occurrence.max(initial=0) + 1) + occurrence)[0]
    return np.split(code, np.cumsum([len(frame) for frame in frames])[:-1])


def read_runs(schedule: Schedule) -> tuple[Jobs, Runs, list[Finding]]:
    """Return the jobs and sound runs of a schedule, and its values that are not sound."""
    table, segments = schedule.jobs, schedule.segments
    number, occurrence = _integers(table, "job_number"), _integers(table, "job_occurrence")
    findings = []
    sound = np.ones(len(table), np.bool_)
    for name in (*_TIMES, *_COUNTS[1:]):
        values = _floats(table, name)
        least = -np.inf if name == "wait_time" else 0.0  # a negative wait is the business of "submission"
        wrong = ~((values >= least) & (np.abs(values) < np.inf))
        sound &= ~wrong

        def say_value(i: int, name: str = name, values: FloatArray = values) -> str:
            return f"job {number[i]}: {name} is {values[i]:.10g}"

        findings.append(
            Finding("values", np.flatnonzero(wrong), _floats(table, "start_time"), number, occurrence, say_value)
        )
    times = {name: np.where(sound, _floats(table, name), np.nan) for name in _TIMES}
    jobs = Jobs(
        number,
        occurrence,
        times["submit_time"],
        times["start_time"],
        times["end_time"],
        times["run_time"],
        times["requested_time"],
        times["estimated_time"],
        np.where(sound, _integers(table, "allocated_processors"), 0),
        sound,
    )
    start, end = _floats(segments, "start_time"), _floats(segments, "end_time")
    width = _floats(segments, "allocated_processors")
    wrong = ~((start >= 0) & (end >= 0) & (width >= 0) & (start < np.inf) & (end < np.inf) & (width < np.inf))
    numbers = _integers(segments, "job_number")
    say = _saying(
        lambda i: f"a run of job {numbers[i]}: start {start[i]:.10g}, end {end[i]:.10g}, processors {width[i]:.10g}"
    )
    findings.append(
        Finding("values", np.flatnonzero(wrong), start, numbers, _integers(segments, "job_occurrence"), say)
    )
    of_jobs, of_runs = _codes(table, segments)
    row = np.full(max(of_jobs.max(initial=-1), of_runs.max(initial=-1)) + 1, -1)
    row[of_jobs[::-1]] = np.arange(len(table))[::-1]
    fine = ~wrong
    runs = Runs(
        row[of_runs[fine]],
        start[fine],
        end[fine],
        width[fine].astype(np.int64),
        segments["is_preempted"].to_numpy(dtype=np.bool_, na_value=False)[fine],
    )
    return jobs, runs, findings


def _saying(say: Callable[[int], str]) -> Callable[[int], str]:
    return say


def _of_jobs(rule: str, wrong: BoolArray, time: FloatArray, jobs: Jobs, say: Callable[[int], str]) -> Finding:
    """Return violations by jobs."""
    return Finding(rule, np.flatnonzero(wrong), time, jobs.number, jobs.occurrence, say)


def _of_runs(rule: str, wrong: BoolArray, jobs: Jobs, runs: Runs, say: Callable[[int], str]) -> Finding:
    """Return violations by runs; those of unknown jobs are left to "once"."""
    places = np.flatnonzero(wrong & (runs.job >= 0))
    number, occurrence = np.append(jobs.number, -1)[runs.job], np.append(jobs.occurrence, -1)[runs.job]
    return Finding(rule, places, runs.start, number, occurrence, say)


def check_once(schedule: Schedule, jobs: Jobs, runs: Runs) -> Iterator[Finding]:
    """Check that every job has one row, and one run that was not preempted."""
    repeated = schedule.jobs.duplicated(["job_number", "job_occurrence"]).to_numpy()
    yield _of_jobs("once", repeated, jobs.start, jobs, lambda i: f"job {jobs.number[i]} has more than one row")
    known = runs.job >= 0
    done = np.bincount(runs.job[known & ~runs.preempted], minlength=len(jobs.number))
    yield _of_jobs(
        "once",
        (done != 1) & jobs.sound & ~repeated,
        jobs.start,
        jobs,
        lambda i: f"job {jobs.number[i]} was run to its end {done[i]} times",
    )
    unknown = np.flatnonzero(~known)
    say = "a run belongs to no row of schedule.jobs"
    missing = np.full(len(runs.job), -1)
    yield Finding(
        "once", unknown, runs.start, missing, missing, lambda i: f"{say}; it starts at {runs.start[i]:.10g} s"
    )


def check_runs(jobs: Jobs, runs: Runs, processors: int, tolerance: float) -> Iterator[Finding]:
    """Check each run by itself, and against the run of the same job before."""

    def number(run: int) -> int:
        return int(jobs.number[runs.job[run]])

    submit, run_time = np.append(jobs.submit, np.nan)[runs.job], np.append(jobs.run, np.nan)[runs.job]
    yield _of_runs(
        "submission",
        runs.start < submit - tolerance,
        jobs,
        runs,
        lambda i: f"job {number(i)} starts at {runs.start[i]:.10g} s, before its submission at {submit[i]:.10g} s",
    )
    length = runs.end - runs.start
    margin = tolerance + 4 * np.spacing(np.abs(runs.end))
    wrong = (length < -margin) | (length > run_time + margin) | (~runs.preempted & (length < run_time - margin))
    yield _of_runs(
        "run-time",
        wrong,
        jobs,
        runs,
        lambda i: (
            f"job {number(i)} runs {length[i]:.10g} s from {runs.start[i]:.10g} s on; "
            f"its run time is {run_time[i]:.10g} s"
        ),
    )
    order = np.lexsort((runs.end, runs.start, runs.job))
    same = runs.job[order[1:]] == runs.job[order[:-1]]
    overlap = np.zeros(len(order), np.bool_)
    overlap[order[1:]] = same & (runs.start[order[1:]] < runs.end[order[:-1]] - tolerance)
    yield _of_runs(
        "overlap",
        overlap,
        jobs,
        runs,
        lambda i: f"job {number(i)} starts at {runs.start[i]:.10g} s, while it runs",
    )
    width = np.append(jobs.processors, 0)[runs.job]
    wrong = (runs.processors != width) | (runs.processors < 1) | (runs.processors > processors)
    yield _of_runs(
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


def check_columns(schedule: Schedule, jobs: Jobs, runs: Runs, tolerance: float) -> Iterator[Finding]:
    """Check the columns that follow from others."""
    count = len(jobs.number)
    done = np.flatnonzero((runs.job >= 0) & ~runs.preempted)
    start, end = np.full(count, np.nan), np.full(count, np.nan)
    start[runs.job[done]], end[runs.job[done]] = runs.start[done], runs.end[done]
    preemptions = np.bincount(runs.job[(runs.job >= 0) & runs.preempted], minlength=count).astype(np.float64)
    expected = {
        "start_time": start,
        "end_time": end,
        "wait_time": jobs.start - jobs.submit,
        "preemptions": preemptions,
    }
    for name, value in expected.items():
        values = _floats(schedule.jobs, name)
        wrong = jobs.sound & (np.abs(values - value) > tolerance + 4 * np.spacing(np.abs(jobs.end)))

        def say(i: int, name: str = name, values: FloatArray = values, value: FloatArray = value) -> str:
            return f"job {jobs.number[i]}: {name} is {values[i]:.10g}, and would be {value[i]:.10g}"

        yield _of_jobs("columns", wrong, jobs.start, jobs, say)
    if "is_backfilled" in schedule.jobs and jobs.sound.all():
        yield _check_backfilled(schedule, jobs, bool(runs.preempted.any()))


def _check_backfilled(schedule: Schedule, jobs: Jobs, any_preempted: bool) -> Finding:
    """Check is_backfilled; one decision may leave a job waiting that the next one of the same instant starts."""
    said = schedule.jobs["is_backfilled"].to_numpy(dtype=np.bool_, na_value=False)
    order = np.lexsort((jobs.occurrence, jobs.number, jobs.submit))
    latest = np.full(len(order), -np.inf)
    latest[order[1:]] = np.maximum.accumulate(jobs.start[order])[:-1]
    wrong = (said & (latest < jobs.start)) | (~said & (latest > jobs.start) & (not any_preempted))
    return _of_jobs(
        "columns",
        wrong,
        jobs.start,
        jobs,
        lambda i: (
            f"job {jobs.number[i]}: is_backfilled is {said[i]}, but {'no' if said[i] else 'a'} job that was "
            f"submitted earlier {'waits' if said[i] else 'is left waiting'} at its start"
        ),
    )


def check_trace(schedule: Schedule, jobs: Jobs, trace: Trace, tolerance: float) -> Iterator[Finding]:
    """Check that jobs, submissions, widths and run times are those of the trace."""
    keys = pd.DataFrame({"job_number": trace.arrays.job_number, "job_occurrence": count_occurrences(trace.jobs)})
    of_trace, of_jobs, of_rest = _codes(keys, schedule.jobs, schedule.excluded)
    size = max(int(codes.max(initial=-1)) for codes in (of_trace, of_jobs, of_rest)) + 1
    inside, times_in = np.full(size, -1), np.bincount(of_jobs, minlength=size) + np.bincount(of_rest, minlength=size)
    inside[of_trace] = np.arange(len(keys))
    number, occurrence = _integers(keys, "job_number"), _integers(keys, "job_occurrence")
    yield Finding(
        "trace",
        np.flatnonzero(times_in[of_trace] != 1),
        trace.arrays.submit_time,
        number,
        occurrence,
        lambda i: (
            f"job {number[i]} of the trace is "
            + (
                "neither in the schedule nor excluded"
                if times_in[of_trace[i]] == 0
                else "in the schedule more than once"
            )
        ),
    )
    row = inside[of_jobs]
    yield _of_jobs("trace", row < 0, jobs.start, jobs, lambda i: f"job {jobs.number[i]} is not in the trace")
    rest = _integers(schedule.excluded, "job_number")
    nowhere = np.full(len(rest), np.nan)
    yield Finding(
        "trace",
        np.flatnonzero(inside[of_rest] < 0),
        nowhere,
        rest,
        _integers(schedule.excluded, "job_occurrence"),
        lambda i: f"job {rest[i]}, excluded, is not in the trace",
    )
    processors = jobs.processors.astype(np.float64)
    width = np.append(trace.arrays.width.astype(np.float64), np.nan)[row]
    stretch = _stretch(trace, row, width, processors)
    yield _differing("submit_time", np.append(trace.arrays.submit_time, np.nan)[row], jobs.submit, jobs, tolerance)
    yield _differing("allocated_processors", np.where(stretch > 0, processors, width), processors, jobs, tolerance)
    options = schedule.options
    run = np.append(trace.arrays.run_time, np.nan)[row]
    if options.get("cancelled") == "end-at-once":
        run = np.where(np.isnan(run), _AT_ONCE, run)
    run = np.maximum(run, options.get("least_run_time", 1.0 if options.get("semantics") == "pyss" else 0.0))
    if options.get("overrun") == "kill":
        run = np.minimum(run, jobs.requested)
    yield _differing("run_time", np.where(stretch > 0, run * stretch, run), jobs.run, jobs, tolerance)


def _stretch(trace: Trace, row: IntArray, width: FloatArray, processors: FloatArray) -> FloatArray:
    """Return by what run times are multiplied of moldable jobs on another width than their own; 0 for the others."""
    stretch = np.zeros(len(row))
    if "speedup_curve" not in trace.jobs:
        return stretch
    places = np.flatnonzero((row >= 0) & (width != processors) & (processors >= 1) & (width >= 1))
    columns = trace.jobs.iloc[row[places]].assign(run_time=1.0, sequential_run_time=1.0, width=width[places])
    least, most = _floats(columns, "minimum_processors"), _floats(columns, "maximum_processors")
    fits = columns["is_moldable"].to_numpy(dtype=bool) & (least <= processors[places]) & (processors[places] <= most)
    places, columns = places[fits], columns[fits]
    stretch[places] = run_time(processors[places], columns) / run_time(width[places], columns)
    return stretch


def _differing(name: str, value: FloatArray, values: FloatArray, jobs: Jobs, tolerance: float) -> Finding:
    """Return where a column differs from the trace; what the trace does not know is not compared."""
    wrong = jobs.sound & (np.abs(values - value) > tolerance + 4 * np.spacing(np.abs(jobs.end)))
    say = _saying(lambda i: f"job {jobs.number[i]}: {name} is {values[i]:.10g}, of the trace {value[i]:.10g}")
    return _of_jobs("trace", wrong, jobs.start, jobs, say)

"""The jobs and runs of a schedule as the rules take them, and what is found wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray, TinyArray
from swftools.simulator.schedule import ENDS, Schedule, ends_of
from swftools.simulator.validation.widths import moldable_jobs

BoolArray = npt.NDArray[np.bool_]

_TIMES = ("submit_time", "start_time", "end_time", "wait_time", "run_time", "requested_time", "estimated_time")
_COUNTS = ("job_number", "job_occurrence", "allocated_processors", "preemptions")
_OF_RUNS = ("start_time", "end_time", "allocated_processors", "work", "lost_work", "overhead")
KILLED, CHECKPOINTED, SUSPENDED, RESIZED, COMPLETED, LIMIT = range(6)


class Runs(NamedTuple):
    """The runs of a schedule, sound ones only; ``job`` is the row of ``Schedule.jobs``, ``how`` the end by ``ENDS``."""

    job: IntArray
    start: FloatArray
    end: FloatArray
    processors: IntArray
    work: FloatArray
    lost: FloatArray
    overhead: FloatArray
    how: TinyArray

    @property
    def stopped(self) -> BoolArray:
        """Which runs ended before the job was done."""
        return self.how < COMPLETED


class Jobs(NamedTuple):
    """What is used of the jobs of a schedule, one element a row; of what is not sound, NaN or 0.

    ``interval`` is the work between two checkpoints of a job, NaN if it writes none; ``is_moldable`` tells which jobs
    have a speedup curve, and so may run on other widths than their own.
    """

    number: IntArray
    occurrence: IntArray
    submit: FloatArray
    start: FloatArray
    end: FloatArray
    run: FloatArray
    requested: FloatArray
    estimated: FloatArray
    processors: IntArray
    interval: FloatArray
    is_moldable: BoolArray
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
    segment = ("job_number", "job_occurrence", "ended_by", *_OF_RUNS)
    tables = {
        "jobs": (schedule.jobs, (*_TIMES, *_COUNTS)),
        "segments": (schedule.segments, segment),
        "excluded": (schedule.excluded, ("job_number", "job_occurrence")),
    }
    for table, (frame, names) in tables.items():
        if missing := [name for name in names if name not in frame]:
            raise ParameterError(f"schedule.{table} has no columns {', '.join(missing)}")


def floats(frame: pd.DataFrame, name: str) -> FloatArray:
    """Return a column of numbers; NaN is missing."""
    return np.asarray(frame[name].to_numpy(dtype=np.float64, na_value=np.nan))


def integers(frame: pd.DataFrame, name: str) -> IntArray:
    """Return a column of whole numbers; -1 is missing or infinite."""
    values = frame[name]
    if values.dtype.kind == "f":
        values = values.fillna(-1).replace([np.inf, -np.inf], -1)
    return np.asarray(values.to_numpy(dtype=np.int64, na_value=-1))


def codes_of(*frames: pd.DataFrame) -> list[IntArray]:
    """Return the keys of jobs, in several tables, as numbers from 0."""
    columns = [np.concatenate([integers(frame, name) for frame in frames]) for name in ("job_number", "job_occurrence")]
    number, occurrence = (pd.factorize(column)[0] for column in columns)
    code = pd.factorize(number * (occurrence.max(initial=0) + 1) + occurrence)[0]
    return np.split(code, np.cumsum([len(frame) for frame in frames])[:-1])


def read_runs(schedule: Schedule) -> tuple[Jobs, Runs, list[Finding]]:
    """Return the jobs and sound runs of a schedule, and its values that are not sound."""
    table, segments = schedule.jobs, schedule.segments
    number, occurrence = integers(table, "job_number"), integers(table, "job_occurrence")
    findings = []
    sound = np.ones(len(table), np.bool_)
    for name in (*_TIMES, *_COUNTS[1:]):
        values = floats(table, name)
        least = -np.inf if name == "wait_time" else 0.0  # a negative wait is the business of "submission"
        wrong = ~((values >= least) & (np.abs(values) < np.inf))
        sound &= ~wrong

        def say_value(i: int, name: str = name, values: FloatArray = values) -> str:
            return f"job {number[i]}: {name} is {values[i]:.10g}"

        findings.append(
            Finding("values", np.flatnonzero(wrong), floats(table, "start_time"), number, occurrence, say_value)
        )
    times = {name: np.where(sound, floats(table, name), np.nan) for name in _TIMES}
    jobs = Jobs(
        number,
        occurrence,
        times["submit_time"],
        times["start_time"],
        times["end_time"],
        times["run_time"],
        times["requested_time"],
        times["estimated_time"],
        np.where(sound, integers(table, "allocated_processors"), 0),
        floats(table, "checkpoint_interval") if "checkpoint_interval" in table else np.full(len(table), np.nan),
        moldable_jobs(table),
        sound,
    )
    columns = {name: floats(segments, name) for name in _OF_RUNS}
    how = ends_of(segments)
    numbers = integers(segments, "job_number")
    wrong = np.zeros(len(segments), np.bool_)
    for values in columns.values():
        wrong |= ~((values >= 0) & (values < np.inf))

    def say_run(i: int) -> str:
        told = ", ".join(f"{name} {values[i]:.10g}" for name, values in columns.items())
        return f"a run of job {numbers[i]}: {told}"

    def say_end(i: int) -> str:
        word = segments["ended_by"].iloc[i]
        return f"a run of job {numbers[i]} has ended_by={word!r}, which is none of {', '.join(ENDS)}"

    for places, say in ((np.flatnonzero(wrong), say_run), (np.flatnonzero(how < 0), say_end)):
        occurrence_of_run = integers(segments, "job_occurrence")
        findings.append(Finding("values", places, columns["start_time"], numbers, occurrence_of_run, say))
    code_of_job, code_of_run = codes_of(table, segments)
    row = np.full(max(code_of_job.max(initial=-1), code_of_run.max(initial=-1)) + 1, -1)
    row[code_of_job[::-1]] = np.arange(len(table))[::-1]
    fine = ~wrong & (how >= 0)
    runs = Runs(
        row[code_of_run[fine]],
        columns["start_time"][fine],
        columns["end_time"][fine],
        columns["allocated_processors"][fine].astype(np.int64),
        columns["work"][fine],
        columns["lost_work"][fine],
        columns["overhead"][fine],
        how[fine],
    )
    return jobs, runs, findings


def of_jobs(rule: str, wrong: BoolArray, time: FloatArray, jobs: Jobs, say: Callable[[int], str]) -> Finding:
    """Return violations by jobs."""
    return Finding(rule, np.flatnonzero(wrong), time, jobs.number, jobs.occurrence, say)


def of_runs(rule: str, wrong: BoolArray, jobs: Jobs, runs: Runs, say: Callable[[int], str]) -> Finding:
    """Return violations by runs; those of unknown jobs are left to "once"."""
    places = np.flatnonzero(wrong & (runs.job >= 0))
    number, occurrence = np.append(jobs.number, -1)[runs.job], np.append(jobs.occurrence, -1)[runs.job]
    return Finding(rule, places, runs.start, number, occurrence, say)

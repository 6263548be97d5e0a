# SPDX-License-Identifier: BSD-3-Clause
"""The jobs and runs of a schedule as the rules take them, and what is found wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray, TinyArray
from swftools.simulator.schedule import ENDS, Schedule, contiguous, ends_of, rows_by_number
from swftools.simulator.validation.widths import moldable_jobs

BoolArray = npt.NDArray[np.bool_]

_TIMES = ("submit_time", "start_time", "end_time", "wait_time", "run_time", "requested_time", "estimated_time")
_COUNTS = ("job_number", "job_occurrence", "allocated_processors", "preemptions")
_OF_RUNS = ("start_time", "end_time", "allocated_processors", "work", "lost_work", "overhead")

BLOCK = 1 << 16
"""Runs, or jobs, that are looked at at once."""

KILLED, CHECKPOINTED, SUSPENDED, RESIZED, COMPLETED, LIMIT, OUTAGE = range(7)


class SoundRuns(NamedTuple):
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


class SoundJobs(NamedTuple):
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


class FoundViolations(NamedTuple):
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


def rows_of_runs(jobs: pd.DataFrame, runs: pd.DataFrame) -> IntArray:
    """Return the first row of the job of each run, -1 where it has none."""
    number, wanted = integers(jobs, "job_number"), integers(runs, "job_number")
    if len(number) and (number[1:] > number[:-1]).all():  # as in most logs: no number repeats
        row = rows_by_number(number, wanted)
        is_it = (number[row] == wanted) & (integers(jobs, "job_occurrence")[row] == integers(runs, "job_occurrence"))
        return row if is_it.all() else np.where(is_it, row, -1)
    code_of_job, code_of_run = codes_of(jobs, runs)
    row = np.full(max(code_of_job.max(initial=-1), code_of_run.max(initial=-1)) + 1, -1)
    row[code_of_job[::-1]] = np.arange(len(jobs))[::-1]
    return row[code_of_run]


def _as_kept(how: TinyArray, schedule: Schedule) -> TinyArray:
    """Return ends of which those by an outage are by what is kept of the work, unless the job is over then."""
    rule = str(schedule.options.get("on_outage", "requeue")).partition(":")[0]
    kept = {"requeue": KILLED, "checkpoint": CHECKPOINTED}.get(rule, OUTAGE)
    return how if kept == OUTAGE else np.where(how == OUTAGE, kept, how).astype(np.int8)


def read_runs(schedule: Schedule) -> tuple[SoundJobs, SoundRuns, list[FoundViolations]]:
    """Return the jobs and sound runs of a schedule, and its values that are not sound."""
    table, segments = schedule.jobs, schedule.segments
    number, occurrence = integers(table, "job_number"), integers(table, "job_occurrence")
    findings = []
    sound = np.ones(len(table), np.bool_)
    for name in (*_TIMES, *_COUNTS[1:]):
        values = floats(table, name)
        least = -np.inf if name == "wait_time" else 0.0  # a negative wait is the business of "submission"
        wrong = np.flatnonzero(~((values >= least) & (np.abs(values) < np.inf)))
        sound[wrong] = False

        def say_value(i: int, name: str = name, values: FloatArray = values) -> str:
            return f"job {number[i]}: {name} is {values[i]:.10g}"

        findings += broken_of(
            [FoundViolations("values", wrong, floats(table, "start_time"), number, occurrence, say_value)]
        )
    # Columns that are as they are to be are not copied: nothing here writes to them.
    whole = bool(sound.all())
    times = {name: contiguous(table, name) for name in _TIMES}
    if not whole:
        times = {name: np.where(sound, values, np.nan) for name, values in times.items()}
    width = integers(table, "allocated_processors")
    jobs = SoundJobs(
        number,
        occurrence,
        times["submit_time"],
        times["start_time"],
        times["end_time"],
        times["run_time"],
        times["requested_time"],
        times["estimated_time"],
        width if whole else np.where(sound, width, 0),
        floats(table, "checkpoint_interval") if "checkpoint_interval" in table else np.full(len(table), np.nan),
        moldable_jobs(table),
        sound,
    )
    columns = {name: contiguous(segments, name) for name in _OF_RUNS}
    how = _as_kept(ends_of(segments), schedule)
    wrong_run = np.zeros(len(segments), np.bool_)
    for values in columns.values():
        wrong_run |= ~((values >= 0) & (values < np.inf))

    def say_run(i: int) -> str:
        told = ", ".join(f"{name} {values[i]:.10g}" for name, values in columns.items())
        return f"a run of job {numbers[i]}: {told}"

    def say_end(i: int) -> str:
        word = segments["ended_by"].iloc[i]
        return f"a run of job {numbers[i]} has ended_by={word!r}, which is none of {', '.join(ENDS)}"

    fine = ~wrong_run & (how >= 0)
    row = rows_of_runs(table, segments)
    if not fine.all():
        numbers, occurrences = integers(segments, "job_number"), integers(segments, "job_occurrence")
        for places, say in ((np.flatnonzero(wrong_run), say_run), (np.flatnonzero(how < 0), say_end)):
            findings += broken_of([FoundViolations("values", places, columns["start_time"], numbers, occurrences, say)])
    some = slice(None) if fine.all() else fine
    processors = columns["allocated_processors"][some].astype(np.int64)
    start, end, work, lost, overhead = (
        columns[name][some] for name in ("start_time", "end_time", "work", "lost_work", "overhead")
    )
    return jobs, SoundRuns(row[some], start, end, processors, work, lost, overhead, how[some]), findings


def broken_of(findings: Iterable[FoundViolations]) -> list[FoundViolations]:
    """Return the findings of which there are any; what the others hold to speak of them is forgotten at once."""
    return [finding for finding in findings if len(finding.places)]


def places_of(count: int, is_wrong: Callable[[slice], BoolArray]) -> IntArray:
    """Return where something is wrong, of which one asks for ``BLOCK`` places at once: so it takes little memory."""
    parts = [slice(begin, min(begin + BLOCK, count)) for begin in range(0, count, BLOCK)]
    return np.concatenate([np.zeros(0, np.int64), *(np.flatnonzero(is_wrong(part)) + part.start for part in parts)])


def at(values: npt.NDArray[Any], place: IntArray, missing: float = np.nan) -> npt.NDArray[Any]:
    """Return values at places; at -1, which is none, what is missing."""
    is_one = place >= 0
    return values[place] if is_one.all() else np.append(values, missing)[np.where(is_one, place, len(values))]


def margin_of(times: FloatArray, tolerance: float) -> FloatArray:
    """Return by how much what follows from times may be off: the tolerance, and what is rounded off."""
    return np.asarray(tolerance + 4 * np.spacing(np.abs(times)))


def by_submission(jobs: SoundJobs) -> IntArray | None:
    """Return the rows of jobs in order of submission, job number and occurrence; None if, as mostly, they are."""
    later, same = jobs.submit[1:] > jobs.submit[:-1], jobs.submit[1:] == jobs.submit[:-1]
    if (later | (same & (jobs.number[1:] > jobs.number[:-1]))).all():
        return None
    return np.lexsort((jobs.occurrence, jobs.number, jobs.submit))


def in_queue(jobs: SoundJobs, ready: FloatArray) -> SoundJobs:
    """Return jobs as they enter the queue when eligible: in that order those eligible together as they were submitted.

    Their submissions are the times at which they enter, and their numbers are none but for that order.
    """
    turn = np.empty(len(ready), np.int64)
    turn[np.lexsort((jobs.occurrence, jobs.number, jobs.submit))] = np.arange(len(ready))
    return jobs._replace(submit=ready, number=turn, occurrence=np.zeros_like(turn))


def of_jobs(
    rule: str, wrong: BoolArray | IntArray, time: FloatArray, jobs: SoundJobs, say: Callable[[int], str]
) -> FoundViolations:
    """Return violations by jobs: a mask of them, or their rows."""
    places = np.flatnonzero(wrong) if wrong.dtype == np.bool_ else wrong.astype(np.int64, copy=False)
    return FoundViolations(rule, places, time, jobs.number, jobs.occurrence, say)


def of_runs(
    rule: str,
    wrong: BoolArray | Callable[[slice], BoolArray],
    jobs: SoundJobs,
    runs: SoundRuns,
    say: Callable[[int], str],
) -> FoundViolations:
    """Return violations by runs: a mask of them, or what tells it of some; those of unknown jobs are left to "once"."""
    is_wrong = wrong if callable(wrong) else wrong.__getitem__
    places = places_of(len(runs.job), lambda part: is_wrong(part) & (runs.job[part] >= 0))
    if not len(places):
        return FoundViolations(rule, places, runs.start, jobs.number, jobs.occurrence, say)
    return FoundViolations(
        rule, places, runs.start, at(jobs.number, runs.job, -1), at(jobs.occurrence, runs.job, -1), say
    )


def violations_of(findings: list[FoundViolations], examples: int) -> pd.DataFrame:
    """Return the table of violations, with so many examples of each rule at most."""
    rows = []
    for rule in dict.fromkeys(finding.rule for finding in findings):
        own = [finding for finding in findings if finding.rule == rule]
        count = sum(len(finding.places) for finding in own)
        first = []
        for finding in own:
            order = finding.places[np.argsort(finding.time[finding.places], kind="stable")[:examples]]
            first += [(finding.time[i], finding.number[i], finding.occurrence[i], finding.say(i)) for i in order]
        first.sort(key=lambda row: (np.isnan(row[0]), row[0]))
        rows += [(rule, *row, count) for row in first[:examples]]
    types = {
        "rule": "str",
        "time": "float64",
        "job_number": "Int64",
        "job_occurrence": "Int64",
        "message": "str",
        "count": "int64",
    }
    table = pd.DataFrame(rows, columns=list(types)).astype(types)
    for name in ("job_number", "job_occurrence"):
        table[name] = table[name].mask(table[name] < 0)
    return table

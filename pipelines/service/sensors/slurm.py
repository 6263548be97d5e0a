# SPDX-License-Identifier: BSD-3-Clause
"""Hears of a Slurm what happens to its jobs: squeue at each poll, and sacct where that does not tell it.

One call of squeue tells who waits and who runs. What is gone since the last poll has started and ended meanwhile, has
ended, or has left the queue without a start: sacct knows which, and is asked for these jobs by their ids. Every five
minutes it is asked for all that ended in that time, since jobs come and go between two polls. Its database may lag, so
a job of which it does not know yet is asked for again.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from pipelines.service.sensors.sensor import Machine, SensorError
from swftools.live import JobEvent
from swftools.live.events import CANCELLED, ENDED, STARTED, SUBMITTED
from swftools.output.shown_text import shown
from swftools.parameters.durations import seconds_of

QUEUE = (
    "squeue",
    "--array",
    "--noheader",
    "--states=PENDING,RUNNING,SUSPENDED,COMPLETING",
    "--format=%i|%T|%P|%u|%C|%l|%V|%S",
)
"""What is asked at each poll: id, state, partition, user, processors, limit, submission, start."""

RECORDS = ("sacct", "--allusers", "--allocations", "--duplicates", "--noheader", "--parsable2")
COLUMNS = "--format=JobID,Submit,Start,End,State,Partition,User,ReqCPUS,TimelimitRaw"

SECONDS = 30.0
"""A command that takes longer is ended."""

RECORDS_EVERY, OVERLAP = 300.0, 120.0
"""Seconds after which sacct is asked although nothing is gone; and so much further back than the last time."""

AT_ONCE = 500
"""Jobs of which sacct is asked in a call."""

PATIENCE = 10
"""Polls after which a job that sacct does not know of has left the queue."""

GOES_ON = ("PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING")
"""States in which a job is not over; all others are ends."""


Run = Callable[[tuple[str, ...]], str]


def run_command(command: tuple[str, ...]) -> str:
    """Return what a command of Slurm prints; times are seconds since 1970, and read as UTC.

    Raises
    ------
    SensorError
        It is not there, takes too long, or ends with an error.
    """
    environment = {**os.environ, "SLURM_TIME_FORMAT": "%s", "TZ": "UTC", "LC_ALL": "C"}
    try:
        done = subprocess.run(  # noqa: S603 (our own words, and ids that Slurm printed)
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS, env=environment, check=False
        )
    except FileNotFoundError as error:
        raise SensorError(f"{command[0]} is not there: run it where Slurm's commands are") from error
    except subprocess.TimeoutExpired as error:
        raise SensorError(f"{command[0]} did not answer within {SECONDS:.0f} s") from error
    if done.returncode:
        raise SensorError(f"{command[0]} ended with {done.returncode}: {shown(done.stderr.strip()[:200])}")
    return done.stdout


class _Known(NamedTuple):
    """A job that has not ended: its id, when it was submitted (s since 1970), and whether it runs."""

    number: str
    submit: float
    runs: bool


class SlurmSensor:
    """Hears of the Slurm whose commands are here.

    Parameters
    ----------
    run : callable
        Runs a command and returns what it prints.
    before : iterable of JobEvent
        What was heard before, of a journal: who waits and runs by it and is gone now is asked for.
    """

    def __init__(self, run: Run = run_command, before: Iterable[JobEvent] = ()) -> None:
        self._run = run
        self._known: dict[str, _Known] = {}
        self._asked: dict[str, int] = {}
        self._over: dict[str, float] = {}
        self._since: float | None = None
        for event in before:
            self._note(event)
            self._since = max(event.time, self._since or event.time)

    def poll(self, now: float) -> list[JobEvent]:
        """Return what happened since the last call.

        Raises
        ------
        SensorError
            Slurm does not answer; nothing is lost, and the next call tells it.
        """
        there: set[str] = set()
        heard = [event for line in self._run(QUEUE).splitlines() for event in self._of_line(line, there)]
        since = now if self._since is None else self._since
        heard += self._of_gone([job for job in self._known if job not in there], now)
        if now - since >= RECORDS_EVERY:
            heard += self._of_missed({*there, *self._known}, since - OVERLAP, now)
            since = now
        for event in heard:
            self._note(event)
        self._since = since
        self._over = {job: time for job, time in self._over.items() if time >= since - 2 * OVERLAP}
        return heard

    def machine(self) -> Machine:
        """Return what the machine and its queues are now: not asked for yet."""
        return Machine()

    def _of_line(self, line: str, there: set[str]) -> Iterator[JobEvent]:
        """Yield what a line of the queue tells that is not known yet."""
        parts = line.strip().split("|")
        if len(parts) != 8:
            return
        number, state, partition, user, width, limit, submitted, started = parts
        submit, start = _moment(submitted), _moment(started)
        if submit is None:
            return
        job = _name(number, submit)
        there.add(job)
        if job not in self._known:
            groups = {"queue": partition, "user": user}
            yield JobEvent(SUBMITTED, submit, job, "", _width(width), seconds_of(limit), groups)
        is_running = state != "PENDING" and start is not None
        if is_running and not (job in self._known and self._known[job].runs):
            yield JobEvent(STARTED, max(start or submit, submit), job)

    def _of_gone(self, gone: list[str], now: float) -> Iterator[JobEvent]:
        """Yield what became of jobs that are gone from the queue."""
        for begin in range(0, len(gone), AT_ONCE):
            part = gone[begin : begin + AT_ONCE]
            asked = [self._known[job] for job in part]
            numbers = ",".join(each.number for each in asked)
            records = self._records(min(each.submit for each in asked) - 1.0, f"--jobs={numbers}")
            for job in part:
                yield from self._of_record(job, self._known[job], records.get(job), now)

    def _of_missed(self, heard_of: set[str], since: float, now: float) -> Iterator[JobEvent]:
        """Yield all of the jobs that ended since a moment and were never heard of."""
        for job, record in self._records(since).items():
            _, _, ended, state, partition, user, width, minutes = record
            end = _moment(ended)
            if job in heard_of or job in self._over or end is None or end < since or state in GOES_ON:
                continue
            number, _, submitted = job.partition("@")
            known = _Known(number, float(submitted), runs=False)
            limit = int(minutes) * 60.0 if minutes.isdecimal() else None
            yield JobEvent(SUBMITTED, known.submit, job, "", _width(width), limit, {"queue": partition, "user": user})
            yield from self._of_record(job, known, record, now)

    def _records(self, since: float, *which: str) -> dict[str, list[str]]:
        """Return what sacct says of jobs that were there since a moment: the other columns, by job."""
        begin = f"--starttime={datetime.fromtimestamp(since, UTC):%Y-%m-%dT%H:%M:%S}"
        records: dict[str, list[str]] = {}
        for line in self._run((*RECORDS, COLUMNS, begin, *which)).splitlines():
            number, *record = line.strip().split("|")
            if len(record) == COLUMNS.count(",") and (submit := _moment(record[0])) is not None:
                records[_name(number, submit)] = record
        return records

    def _of_record(self, job: str, known: _Known, record: list[str] | None, now: float) -> Iterator[JobEvent]:
        """Yield what a record tells of a job that is gone; nothing yet if it is not over by it."""
        _, started, ended, state, *_ = record or ("", "", "", "PENDING")
        start, end = _moment(started), _moment(ended)
        if start is not None and not known.runs:
            yield JobEvent(STARTED, max(start, known.submit), job)
        if state not in GOES_ON:
            kind = ENDED if known.runs or start is not None else CANCELLED
            yield JobEvent(kind, max(now if end is None else end, known.submit), job)
            return
        self._asked[job] = self._asked.get(job, 0) + 1
        if self._asked[job] >= PATIENCE:
            yield JobEvent(ENDED if known.runs else CANCELLED, max(now, known.submit), job)

    def _note(self, event: JobEvent) -> None:
        """Know what happened."""
        if event.kind == SUBMITTED:
            number, _, _ = event.job.partition("@")
            self._known[event.job] = _Known(number, event.time, runs=False)
        elif event.kind == STARTED and event.job in self._known:
            self._known[event.job] = self._known[event.job]._replace(runs=True)
        elif event.kind in (CANCELLED, ENDED):
            self._known.pop(event.job, None)
            self._asked.pop(event.job, None)
            self._over[event.job] = event.time


def _name(number: str, submit: float) -> str:
    """Return what a job is called: ids come again, an id with its submission does not."""
    return f"{number}@{submit:.0f}"


def _moment(text: str) -> float | None:
    """Return seconds since 1970; None of N/A, Unknown and None."""
    return float(text) if text.isdecimal() else None


def _width(text: str) -> int | None:
    """Return a number of processors; None if it is none."""
    return int(text) if text.isdecimal() and int(text) > 0 else None

# SPDX-License-Identifier: BSD-3-Clause
"""Asks sacct what became of jobs: of some by their ids, or of all in a span of time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from pipelines.service.sensors.commands import Run
from pipelines.service.sensors.followed import OVERLAP, Gone, Sighting
from pipelines.service.sensors.sensor import SensorError
from pipelines.service.sensors.task_lists import tasks_in
from swftools.formats.tables.collected import CANCELLED, COMPLETED, FAILED

RECORDS = (
    *("sacct", "--local", "--allusers", "--allocations", "--duplicates", "--noheader", "--parsable2"),
    "--format=JobID,Submit,Eligible,Start,End,State,Partition,User,ReqCPUS,TimelimitRaw",
)

AT_ONCE = 500
"""Jobs of which sacct is asked in a call."""

TOO_WIDE = "Too wide of a date range"
"""What sacct says of a span that is longer than the MaxQueryTimeRange of the database."""

NARROWEST = 600.0
"""Seconds of a span that is not halved any more."""

WAITS = ("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT")
RUNS = ("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "RESIZING", "SIGNALING", "STAGE_OUT", "STOPPED")
"""States of jobs that wait, and of those that started and are not over."""

GOES_ON = ("PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "RESIZING")
"""States of records of jobs that are not over; all others are ends."""

OUTCOMES = {
    "COMPLETED": COMPLETED,
    "CANCELLED": CANCELLED,
    **dict.fromkeys(("FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "DEADLINE", "BOOT_FAIL", "PREEMPTED"), FAILED),
}
"""How jobs ended, by state."""

REVOKED = "REVOKED"
"""The state of a job that started on another cluster of its federation: here it has left."""


class SlurmRecords:
    """What sacct knows.

    Parameters
    ----------
    run : callable
        Runs a command and returns what it prints.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def of_jobs(self, gone: Sequence[Gone], now: float) -> Iterator[tuple[Sequence[Gone], dict[str, Sighting]]]:
        """Yield parts of the jobs, each with the records that there are, by job.

        Parameters
        ----------
        gone : sequence of Gone
            Who is missing: the record says that it was there since it was seen last.
        now : float
            s since 1970.

        Raises
        ------
        SensorError
            sacct does not answer.
        """
        for begin in range(0, len(gone), AT_ONCE):
            part = gone[begin : begin + AT_ONCE]
            since = min(*(each.seen for each in part), now) - OVERLAP
            # By a task that never started sacct finds nothing: its record is that of the array.
            numbers = ",".join(dict.fromkeys(each.number.partition("_")[0] for each in part))
            yield part, self._between(since, now + OVERLAP, (f"--jobs={numbers}",))

    def since(self, begin: float, now: float) -> dict[str, Sighting]:
        """Return the records of all jobs that were there since a moment, by job.

        Raises
        ------
        SensorError
            sacct does not answer.
        """
        return self._between(begin, now, ())

    def _between(self, begin: float, end: float, which: tuple[str, ...]) -> dict[str, Sighting]:
        """Return records of a span of time; where that is too long for the database, those of its halves."""
        span = (f"--starttime={_date(begin)}", f"--endtime={_date(end)}")
        try:
            printed = self._run((*RECORDS, *span, *which))
        except SensorError as error:
            if TOO_WIDE not in str(error) or end - begin < NARROWEST:
                raise
            half = (begin + end) / 2
            return one_of_each([*self._between(begin, half, which).values(), *self._between(half, end, which).values()])
        return one_of_each([each for line in printed.splitlines() for each in _of_record(line)])


def one_of_each(records: Iterable[Sighting]) -> dict[str, Sighting]:
    """Return one record of each job, the one that says most: a resized job has several, a federation revoked ones."""
    joined: dict[str, Sighting] = {}
    for each in records:
        other = joined.get(each.job)
        if other is None or _weight(each) >= _weight(other):
            joined[each.job] = each
    return joined


def _weight(record: Sighting) -> tuple[bool, float]:
    """Return how much a record says: that of a start, and the later one of several."""
    return record.start is not None, record.end or 0.0


def _of_record(line: str) -> Iterator[Sighting]:
    """Yield the jobs of a line: one, or the tasks of an array that never started."""
    number, *record = line.strip().split("|")
    if len(record) != RECORDS[-1].count(","):
        return
    submitted, eligible, started, ended, told, partition, user, width, minutes = record
    submit, start, end = moment(submitted), moment(started), moment(ended)
    if submit is None:
        return
    state = told.partition(" ")[0].rstrip("+")
    is_over = state not in GOES_ON or (state == "REQUEUED" and end is not None)
    if never_started(state, start, end):
        start = None
    for each in tasks_of(number):
        yield Sighting(
            *(each, submit, partition, user, width_of(width)),
            requested_time=int(minutes) * 60.0 if minutes.isdecimal() else None,
            eligible=moment(eligible),
            start=start,
            end=end,
            is_over=is_over,
            outcome=OUTCOMES.get(state),
        )


def never_started(state: str, start: float | None, end: float | None) -> bool:
    """Whether a job that is over left the queue: of an array that was cancelled there, Slurm says a start as well."""
    return state == REVOKED or (state == "CANCELLED" and start == end)


def tasks_of(number: str) -> list[str]:
    """Return the ids that stand behind one as Slurm prints it: 9_[1-3,7%2] are the tasks 9_1, 9_2, 9_3 and 9_7.

    What is cut off at the end is not guessed.
    """
    found = re.fullmatch(r"(\d+)_\[([0-9,:-]+)(?:%\d+)?(?:\.\.\.)?\]?", number)
    if not found:
        return [number]
    return [f"{found[1]}_{task}" for task in tasks_in(found[2])]


def moment(text: str) -> float | None:
    """Return seconds since 1970; None of N/A, Unknown and None."""
    return float(text) if re.fullmatch(r"\d{1,12}", text) and int(text) else None


def width_of(text: str) -> int | None:
    """Return a number of processors; None if it is none."""
    return int(text) if re.fullmatch(r"\d{1,15}", text) and int(text) > 0 else None


def _date(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%S}"

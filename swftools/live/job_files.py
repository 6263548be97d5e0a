# SPDX-License-Identifier: BSD-3-Clause
"""What was heard of jobs, written into files that a history takes: one now and then, closed when it appears.

A file has each job that started, ended or left the queue since the file before, whole: so a job that runs for long is
in two files, and one that waits in none. A history takes files in any order, and twice. So after a crash the last file
may be written again with more, and nothing is lost or counted twice.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.tables.collected import CANCELLED as WAS_CANCELLED
from swftools.formats.tables.collected import HEADER
from swftools.live.events import CANCELLED, ENDED, STARTED, SUBMITTED, JobEvent
from swftools.live.journal import Journal, read_journal
from swftools.live.predictor import ToldWait
from swftools.output.whole_files import create_file
from swftools.parameters import is_number

GROUPS = ("queue", "partition", "user", "account")


@dataclass
class _Job:
    """What is known of a job."""

    submitted: JobEvent
    times: dict[str, float] = field(default_factory=dict)
    outcome: str | None = None
    told: float = math.nan


class JobFiles:
    """Files of jobs, for the inbox of a history.

    What is known of jobs that go on is written beside the journal with each file (``JOURNAL.files``), so that a restart
    reads only what came behind it. Without it, or where the journal is shorter, all is written again: it does no harm.

    Parameters
    ----------
    folder : path
        Where they appear; it is there.
    cluster : str
        What the machine is called; a part of their names.
    every : float
        Seconds between two files; they are closed at multiples of it.
    journal : Journal
        What was heard; what is in no file yet is taken from it.
    told : mapping of str to ToldWait, optional
        What jobs were told that were submitted since the last file.

    Raises
    ------
    ParameterError
        The folder is none, or the time is none.

    Examples
    --------
    >>> import tempfile
    >>> heard = [JobEvent("submitted", 5.0, "7@5", groups={"queue": "batch"}), JobEvent("started", 9.0, "7@5")]
    >>> with tempfile.TemporaryDirectory() as folder, Journal(f"{folder}/.journal") as journal:
    ...     files = JobFiles(folder, "blue", 60.0, journal)
    ...     files.take(journal.append(heard))
    ...     first, second = files.write(59.0), files.write(60.0)
    ...     print(first, second.name, second.read_text().splitlines()[1])
    None blue-19700101T000100Z.csv 7,blue,batch,,,,,,5,,9,,,
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        cluster: str,
        every: float,
        journal: Journal,
        told: Mapping[str, ToldWait] | None = None,
    ) -> None:
        if not is_number(every, 1.0):
            raise ParameterError(f"a file every {every!r} s: that is not a number of seconds, 1 or more")
        self.folder, self.cluster, self.every = Path(folder), cluster, float(every)
        if not self.folder.is_dir():
            raise ParameterError(f"{self.folder}: is no folder; make it, or name another")
        self._journal, self._mark = journal, journal.path.with_name(f"{journal.path.name}.files")
        self._changed: dict[str, None] = {}
        self._next = -math.inf
        begin, self._jobs = _read_mark(self._mark, journal.mark.bytes)
        self.take(read_journal(journal.path, begin), told)

    def take(self, events: Iterable[JobEvent], told: Mapping[str, ToldWait] | None = None) -> None:
        """Know what happened.

        Parameters
        ----------
        events : iterable of JobEvent
            That the journal has since the last call, in its order.
        told : mapping of str to ToldWait, optional
            What jobs that are submitted were told.
        """
        for event in events:
            self._take(event)
            if event.kind == SUBMITTED and told and event.job in told:
                self._jobs[event.job].told = told[event.job].bound

    def _take(self, event: JobEvent) -> None:
        """Know an event."""
        if event.kind == SUBMITTED:
            self._jobs.setdefault(event.job, _Job(event))
            return
        job = self._jobs.get(event.job)
        if job is None:
            return
        job.times.setdefault(ENDED if event.kind == CANCELLED else event.kind, event.time)
        if event.kind in (CANCELLED, ENDED):
            job.outcome = event.outcome or (WAS_CANCELLED if STARTED not in job.times else None)
        if event.kind in (STARTED, CANCELLED, ENDED):
            self._changed[event.job] = None

    def _forget(self) -> None:
        """Forget what files have: jobs that ended, and which changed."""
        for name in self._changed:
            if ENDED in self._jobs[name].times:
                del self._jobs[name]
        self._changed.clear()

    def write(self, now: float, *, at_once: bool = False) -> Path | None:
        """Write a file if it is time and something happened; return it.

        Parameters
        ----------
        now : float
            The time, s since 1970.
        at_once : bool
            Do not wait until it is time: it ends.

        Raises
        ------
        StorageError
            It cannot be written: the next call tries again, and has what came meanwhile too.
        """
        if math.isinf(self._next):
            self._next = self._behind(now)
        if not self._changed or (now < self._next and not at_once):
            self._next = max(self._next, self._behind(now) if now >= self._next else self._next)
            return None
        moment = datetime.fromtimestamp(math.floor(now), UTC)
        name = f"{_plain(self.cluster)}-{moment:%Y%m%dT%H%M%SZ}"
        path = next(path for path in self._paths(name) if not path.exists())  # one of a moment before stays
        with create_file(path) as file:
            file.write(self._text().encode())
        self._forget()
        with create_file(self._mark) as file:
            file.write(_mark_of(self._journal.mark.bytes, self._jobs))
        self._next = self._behind(now)
        return path

    def _paths(self, name: str) -> Iterator[Path]:
        """Yield paths of a name."""
        yield self.folder / f"{name}.csv"
        for number in count(2):
            yield self.folder / f"{name}-{number}.csv"

    def _behind(self, now: float) -> float:
        """Return when the next file is due."""
        return (math.floor(now / self.every) + 1) * self.every

    def _text(self) -> str:
        """Return the rows of the jobs that changed, by submission."""
        text = io.StringIO()
        rows = csv.DictWriter(text, HEADER, lineterminator="\n")
        rows.writeheader()
        for name in sorted(self._changed, key=lambda name: (self._jobs[name].submitted.time, name)):
            rows.writerow(self._row(name, self._jobs[name]))
        return text.getvalue()

    def _row(self, name: str, job: _Job) -> dict[str, Any]:
        """Return the row of a job."""
        known = job.submitted
        times = {"submitted": known.time, **job.times}
        return {
            "job": id_of(name),
            "cluster": self.cluster,
            **{group: known.groups.get(group) for group in GROUPS},
            "processors": known.processors,
            "requested_time": _number(known.requested_time),
            **{kind: _number(times.get(kind)) for kind in ("submitted", "eligible", "started", "ended")},
            "outcome": job.outcome,
            "told": _number(None if math.isnan(job.told) else job.told),
        }


def id_of(job: str) -> str:
    """Return the id of a job, as its batch system counts: without the submission that is put into its name."""
    return job.partition("@")[0]


def _number(value: float | None) -> str | None:
    """Return a number as it is written; parts of a second only where there are some."""
    return None if value is None else repr(int(value)) if value == int(value) else repr(value)


def _plain(name: str) -> str:
    """Return a name as a part of names of files."""
    return "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name) or "jobs"


def _mark_of(end: int, jobs: Mapping[str, _Job]) -> bytes:
    """Return what a restart needs: how far the journal is in files, and the jobs that go on."""
    rows = [
        [asdict(job.submitted), job.times, job.outcome, None if math.isnan(job.told) else job.told]
        for job in jobs.values()
    ]
    return json.dumps({"bytes": end, "jobs": rows}, separators=(",", ":")).encode()


def _read_mark(path: Path, size: int) -> tuple[int, dict[str, _Job]]:
    """Return how far a journal of some bytes is in files, and the jobs that go on; nothing if that is not sure."""
    try:
        told = json.loads(path.read_bytes())
        jobs = [
            _Job(JobEvent(**submitted), dict(times), outcome, math.nan if bound is None else float(bound))
            for submitted, times, outcome, bound in told["jobs"]
        ]
        end = int(told["bytes"])
    except (OSError, ValueError, TypeError, LookupError, ParameterError):
        return 0, {}
    return (end, {job.submitted.job: job for job in jobs}) if end <= size else (0, {})

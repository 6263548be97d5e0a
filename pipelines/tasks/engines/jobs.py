# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of a batch system that are the workers of an experiment: submitted, watched, replaced, and ended.

The batch system is asked how its jobs are. One that ended while work is left is replaced. A job that ends before a cell
is finished was in vain: after ``TRIES`` of them no other is submitted until one is of use again; so nothing is
submitted without an end. Jobs that wait in the queue are waited for.
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.tasks.engines.job_commands import CommandError, said_by, submit, uninterrupted
from pipelines.tasks.engines.job_file import JobFile
from pipelines.tasks.engines.job_kinds import CANNOT_START, ENDED, RUNS, WAITS, Listed
from swftools.errors import ClusterError
from swftools.output.amounts import counted, duration

progress = logging.getLogger("pipelines")

TRIES = 3
"""Jobs that may end in vain, one after the other."""

ASK_EVERY = 10.0
"""Seconds between two questions to the batch system; at once, where workers are gone."""

SAY_EVERY = 300.0
"""Seconds after which it is said again that jobs wait; the first time after a tenth of it."""

REACHED_WITHIN = 300.0
"""Seconds in which a worker of a job that runs must be here, and in which a batch system must answer."""

ENDED_WITHIN = 30.0
"""Seconds in which jobs end whose work is done; then they are cancelled."""

TAIL = 3
"""Lines of a job's log that are shown."""


@dataclass
class SubmittedJob:
    """A job that was submitted.

    Parameters
    ----------
    number : str
        By which the batch system knows it.
    name : str
        With which the names of its workers begin.
    listed : Listed
        What the batch system said of it last.
    """

    number: str
    name: str
    listed: Listed = field(default_factory=lambda: Listed(WAITS, ""))
    runs_since: float | None = None
    left_at_join: int | None = None
    """Cells that were left when its first worker came; None: none has come."""
    unlisted: int = 0
    """Times in succession that it was not listed."""


class SubmittedJobs:
    """The jobs of one run.

    Parameters
    ----------
    file : JobFile
        What each of them asks for.
    data_root : str
        Whose work folder their logs are in.
    scheduler : str
        Address of Dask's scheduler.
    """

    def __init__(self, file: JobFile, data_root: str, scheduler: str) -> None:
        self.file, self.data_root, self.scheduler = file, data_root, scheduler
        self.alive: list[SubmittedJob] = []
        self._submitted = 0
        self._in_vain = 0
        self._last_words = ""
        self._answered = time.monotonic()
        self._asked = self._answered - 0.7 * ASK_EVERY
        self._said_waiting, self._waiting = self._answered - 0.9 * SAY_EVERY, ""
        self._is_deaf = False
        self._lost: set[str] = set()

    def start(self, left: int) -> None:
        """Submit the jobs for so many cells.

        Raises
        ------
        ClusterError
            Not one is taken.
        """
        self._fill(left)
        numbers = ", ".join(job.number for job in self.alive)
        progress.info(
            "%s of %s: %s; their logs are in %s",
            *(counted(len(self.alive), "job"), self.file.kind.name, numbers, self.file.logs(self.data_root)),
        )

    def look(self, workers: Iterable[str], left: int) -> None:
        """Ask how the jobs are, where it is time to, and replace those that ended.

        Parameters
        ----------
        workers : iterable of str
            Names of those that are here.
        left : int
            Cells that are.

        Raises
        ------
        ClusterError
            No worker is here, and none will come.
        """
        now, here = time.monotonic(), self._owners(workers)
        for job in self.alive:
            if job.name in here and job.left_at_join is None:
                job.left_at_join = left
        lost = {job.name for job in self.alive if job.left_at_join is not None and job.name not in here}
        if now - self._asked < (0.2 if lost - self._lost else 1.0) * ASK_EVERY:
            return
        self._asked, self._lost = now, lost
        if self._ask(now, is_alone=not here):
            for job in [each for each in self.alive if each.listed.phase == ENDED]:
                self._bury(job, left)
        self._fill(left)
        self._check(now, here)

    def end(self) -> None:
        """Wait shortly for the jobs whose workers were told to go, and cancel what is left."""
        self._cancel(job for job in self.alive if job.left_at_join is None)
        end = time.monotonic() + ENDED_WITHIN
        while self.alive and time.monotonic() < end:
            try:
                self._list()
            except CommandError:
                break
            self.alive = [job for job in self.alive if job.listed.phase != ENDED]
            time.sleep(1.0 if self.alive else 0.0)
        self.cancel()

    def cancel(self) -> None:
        """Cancel all jobs."""
        self._cancel(self.alive)

    def _owners(self, workers: Iterable[str]) -> set[str]:
        """Return the names of the jobs of some workers: a worker's begins with its job's."""
        return {re.sub(r"^(\D*\d+).*", r"\1", worker) for worker in workers}

    def _fill(self, left: int) -> None:
        """Submit jobs until there are as many as are wanted, and as are of use for what is left."""
        wanted = min(self.file.jobs, math.ceil(left / self.file.cores))
        while len(self.alive) < wanted and self._in_vain < TRIES:
            is_first = self._submitted < self.file.jobs
            try:
                with uninterrupted():  # else a job may be there whose number nobody knows
                    self.alive.append(self._submit())
                if not is_first:
                    progress.info("job %s is submitted in its place", self.alive[-1].number)
            except CommandError as error:
                self._last_words = f"{error}; look at the file, and at --dry-run, which shows the job's script"
                if not self._submitted:
                    raise ClusterError(f"{self.file.path}: {self._last_words}") from error
                self._in_vain += not self.alive
                progress.warning("%s: %s", self.file.path, error)
                return

    def _submit(self) -> SubmittedJob:
        """Submit a job."""
        name = f"job{self._submitted}"
        made = self.file.job(self.data_root, self.scheduler, name)
        number = submit(made, made.job_script())
        self._submitted += 1
        return SubmittedJob(number, name)

    def _ask(self, now: float, *, is_alone: bool) -> bool:
        """Ask how the jobs are; return whether there was an answer.

        Raises
        ------
        ClusterError
            There was none for long, and no worker is here.
        """
        try:
            self._list()
        except CommandError as error:
            if is_alone and now - self._answered > REACHED_WITHIN:
                raise ClusterError(f"{self.file.path}: for {duration(REACHED_WITHIN)} {error}") from error
            if not self._is_deaf:
                progress.warning("%s; it is asked again", error)
            self._is_deaf = True
            return False
        self._answered, self._is_deaf = now, False
        for job in self.alive:
            if job.listed.phase != RUNS:
                job.runs_since = None
            elif job.runs_since is None:
                job.runs_since = now
        return True

    def _list(self) -> None:
        """Take what the batch system says of each job; one that is not listed twice in succession has ended."""
        listed = self.file.kind.read(said_by(self.file.kind.lists))
        for job in self.alive:
            job.unlisted = 0 if job.number in listed else job.unlisted + 1
            gone = Listed(ENDED, "not listed any more") if job.unlisted > 1 else job.listed
            job.listed = listed.get(job.number, gone)

    def _bury(self, job: SubmittedJob, left: int) -> None:
        """Note that a job ended, and say what became of it."""
        self.alive.remove(job)
        is_of_use = job.left_at_join is not None and left < job.left_at_join
        self._in_vain = 0 if is_of_use else self._in_vain + 1
        self._last_words = f"job {job.number} ended: {self._end_of(job)}"
        vain = f". {counted(self._in_vain, 'job')} in succession ended before a cell was finished; {TRIES} may"
        progress.warning("%s; %s left%s", self._last_words, counted(left, "cell"), "" if is_of_use else vain)

    def _end_of(self, job: SubmittedJob) -> str:
        """Return what became of a job, in the words of the batch system, and how its log ends."""
        kind = self.file.kind
        words = f"{kind.lists[0]}: {job.listed.words}"
        try:
            told = kind.read_end(said_by([*kind.tells, job.number]))
        except CommandError:
            told = ""  # sites may keep no accounts; what the list said must do
        return f"{words}{f'; {kind.tells[0]}: {told}' if told else ''}; {self._log_of(job)}"

    def _log_of(self, job: SubmittedJob) -> str:
        """Return where a job's log is, and how it ends."""
        folder = self.file.logs(self.data_root)
        files = [path for path in folder.glob("*") if re.search(rf"(?<!\d){job.number}(?!\d)", path.name)]
        lines = {path: _last_lines(path) for path in sorted(files)}
        told = [f'{path} ends: "{" | ".join(last)}"' for path, last in lines.items() if last]
        return " and ".join(told) or (f"its log {files[0]} is empty" if files else f"it left no log in {folder}")

    def _check(self, now: float, here: set[str]) -> None:
        """Raise ClusterError where no worker is here and none will come; say now and then that jobs wait."""
        if here:
            return
        if not self.alive and self._in_vain >= TRIES:
            raise ClusterError(
                f"{self.file.path}: no job is left, and after {self._in_vain} in vain no other is submitted. "
                f"{self._last_words}. Mend that and run the same command again; what was finished is kept"
            )
        stuck = [job for job in self.alive if job.listed.phase == CANNOT_START]
        if stuck and len(stuck) == len(self.alive):
            raise ClusterError(
                f"{self.file.path}: {self.file.kind.name} will not start job {stuck[0].number} as it is: "
                f"{self.file.kind.lists[0]}: {stuck[0].listed.words}. Mend the file and run again"
            )
        silent = [job for job in self.alive if job.runs_since and now - job.runs_since > REACHED_WITHIN]
        if silent:
            raise ClusterError(
                f"{self.file.path}: job {silent[0].number} has run for {duration(REACHED_WITHIN)}, and no worker of it "
                f"is here: can the nodes reach {self.scheduler}? The key interface names another network. "
                f"{self._log_of(silent[0])}"
            )
        self._say_waiting(now)

    def _say_waiting(self, now: float) -> None:
        """Say what jobs wait for."""
        waiting = [job for job in self.alive if job.listed.phase != RUNS and job.listed.words]
        if not waiting:
            return
        words = f"{counted(len(waiting), 'job')} in the queue: {self.file.kind.lists[0]}: {waiting[0].listed.words}"
        pause = 0.1 * SAY_EVERY if words != self._waiting else SAY_EVERY
        if now - self._said_waiting >= pause:
            self._said_waiting, self._waiting = now, words
            progress.info("%s; no worker is here yet. Ctrl-C cancels them", words)

    def _cancel(self, jobs: Iterable[SubmittedJob]) -> None:
        """Cancel jobs, and forget them."""
        chosen = list(jobs)
        if not chosen:
            return
        made = self.file.job(self.data_root)
        with uninterrupted(), suppress(CommandError):  # it fails for those that ended meanwhile
            said_by([*made.cancel_command.split(), *(job.number for job in chosen)])
        self.alive = [job for job in self.alive if job not in chosen]


def _last_lines(path: Path) -> list[str]:
    """Return the last lines of a file that hold something."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    lines = [line.strip()[:300] for line in text.splitlines() if line.strip()]
    # What Dask says of its daily work is of no help where something else is said.
    return ([line for line in lines if " - INFO - " not in line] or lines)[-TAIL:]

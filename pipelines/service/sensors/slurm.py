# SPDX-License-Identifier: BSD-3-Clause
"""Hears of a Slurm by its commands: squeue at each poll, and sacct where that does not tell it.

One call of squeue tells who waits and who runs. What is gone since the last poll has started and ended meanwhile, has
ended, or has left the queue without a start: sacct knows which, and is asked for these jobs by their ids. Every five
minutes it is asked for all that were there in that time, since jobs come and go between two polls. Its database may
lag, so a job of which it does not know yet is asked for again. Where sacct does not answer, what squeue tells is told.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial

from pipelines.service.sensors.commands import CommandSettings, Run, counted, run_command
from pipelines.service.sensors.followed import FollowedJobs, Gone, Sighting, Window
from pipelines.service.sensors.patient import Patience
from pipelines.service.sensors.sensor import Cost, Machine, SensorError
from pipelines.service.sensors.slurm_machine import read_machine, read_notice
from pipelines.service.sensors.slurm_records import RUNS, WAITS, SlurmRecords, moment, width_of
from swftools.live import JobEvent
from swftools.output.shown_text import shown
from swftools.parameters.durations import seconds_of

_LOG = logging.getLogger("pipelines.service")

COLUMNS = (
    *("JobArrayID", "State", "Partition", "UserName", "NumCPUs"),
    *("TimeLimit", "SubmitTime", "EligibleTime", "StartTime"),
)

QUEUE = (
    *("squeue", "--local", "--array", "--noheader", f"--states={','.join([*WAITS, *RUNS])}"),
    "--Format=" + ",".join(f"{name}:0|" for name in COLUMNS),
)
"""What is asked at each poll; a width of 0 cuts nothing off."""

REMEDY = "run it where Slurm's commands are, or say in which folder they are"

ENVIRONMENT = {"SLURM_TIME_FORMAT": "%s", "SLURM_BITSTR_LEN": "0"}
"""Times as seconds since 1970; lists of array tasks whole."""


class SlurmSettings(CommandSettings):
    """How a Slurm is asked by its commands."""

    conf: str = ""
    """Its slurm.conf; default: as the commands find it."""

    def runner(self) -> Run:
        """Return what runs its commands."""
        told = {**ENVIRONMENT, **({"SLURM_CONF": self.conf} if self.conf else {})}
        return partial(run_command, environment=told, folder=self.folder, seconds=self.timeout, remedy=REMEDY)


class SlurmSensor:
    """Hears of the Slurm whose commands are here.

    Parameters
    ----------
    run : callable, optional
        Runs a command and returns what it prints; default: as the settings say.
    before : iterable of JobEvent
        What was heard before, of a journal: who waits and runs by it and is gone now is asked for.
    settings : SlurmSettings, optional
        How it is asked.
    patience : Patience, optional
        When sacct is asked again that failed.
    """

    def __init__(
        self,
        run: Run | None = None,
        before: Iterable[JobEvent] = (),
        settings: SlurmSettings | None = None,
        patience: Patience | None = None,
    ) -> None:
        chosen = settings or SlurmSettings()
        self.costs: dict[str, Cost] = {}
        self._run = counted(run or chosen.runner(), self.costs)
        self._records, self._patience = SlurmRecords(self._run), patience or Patience()
        self._jobs = FollowedJobs(before)
        self._window = Window(self._jobs.newest, chosen.records_every)
        self._seen = self._jobs.newest
        self._lines: dict[str, str] = {}
        self._restricted: str | None = None
        self._trouble: str | None = None

    @property
    def notice(self) -> str | None:
        """What users should know of what is heard: whose jobs are not seen, and that ends are not known."""
        return "; ".join(each for each in (self._restricted, self._trouble) if each) or None

    def poll(self, now: float) -> list[JobEvent]:
        """Return what happened since the last call.

        Raises
        ------
        SensorError
            squeue does not answer; nothing is lost, and the next call tells it.
        """
        lines, seen = self._look(self._run(QUEUE).splitlines(), now)
        there = set(lines.values())
        heard = list(self._jobs.look(seen, now))
        gone = self._jobs.miss(there, now if self._seen is None else self._seen, now)
        since = self._window.since(now)
        if gone or since is not None:
            heard += self._of_records(gone, there, since, now)
        self._jobs.note(heard)
        self._lines, self._seen = lines, now
        return heard

    def machine(self) -> Machine:
        """Return what the machine and its partitions are now.

        Raises
        ------
        SensorError
            Slurm does not answer.
        """
        told = read_notice(self._run)
        if told is not None and told != self._restricted:
            _LOG.warning("%s", told)
        self._restricted = told
        return read_machine(self._run)

    def _look(self, printed: list[str], now: float) -> tuple[dict[str, str], list[Sighting]]:
        """Return the jobs of a queue by their lines, and what those say that were not there the last time."""
        lines: dict[str, str] = {}
        seen: list[Sighting] = []
        wrong = ""
        for line in printed:
            if job := self._lines.get(line):
                lines[line] = job
                continue
            each = _of_line(line)
            if each is None:
                wrong = wrong or line.strip()
                continue
            seen.append(each)
            is_to_come = each.eligible is not None and each.eligible > now
            lines[f"{line}|" if is_to_come else line] = each.job  # that line tells something later
        if wrong and not lines:
            raise SensorError(f"squeue prints what is not understood: {shown(wrong[:100])}")
        return lines, seen

    def _of_records(self, gone: list[Gone], there: set[str], since: float | None, now: float) -> list[JobEvent]:
        """Return what sacct tells; where it does not answer that is said once, and who is missing too long has left."""
        heard: list[JobEvent] = []
        try:
            with self._patience.asking():
                for part, records in self._records.of_jobs(gone, now):
                    heard += self._jobs.settle(records, now, were_asked=part)
                if since is not None:
                    heard += self._jobs.catch_up(self._records.since(since, now).values(), there, since)
                    self._jobs.forget(self._window.looked(now))
        except SensorError as error:
            if self._trouble is None:
                _LOG.warning("ends of jobs are not known, and told later: %s", error)
            self._trouble = "sacct does not answer: ends of jobs are told later"
            told = {event.job for event in heard}
            return heard + [event for event in self._jobs.give_up(now) if event.job not in told]
        self._trouble = None
        return heard


def _of_line(line: str) -> Sighting | None:
    """Return what a line of the queue says; None if it is none."""
    parts = line.strip().split("|")
    if len(parts) != len(COLUMNS) + 1:
        return None
    number, state, partition, user, width, limit, submitted, eligible, started, _ = parts
    submit = moment(submitted)
    if submit is None or not number:
        return None
    start = None
    if state not in WAITS:  # squeue prints when a job that waits may start: it has not
        start = moment(started) or submit
    asked = partition, user, width_of(width), seconds_of(limit)
    return Sighting(number, submit, *asked, eligible=moment(eligible), start=start)

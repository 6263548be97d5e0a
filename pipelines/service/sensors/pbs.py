# SPDX-License-Identifier: BSD-3-Clause
"""Hears of an OpenPBS or PBS Professional by its commands: qstat at each poll, by ids where somebody is missing.

qstat leaves out jobs that are there, in some versions all but the first. So who is missing is asked for by its id, also
in the history of the server, and is gone only if the answer says so. Every five minutes qselect, which prints ids only,
tells who is there that qstat left out, and whose end was not seen.
"""

from __future__ import annotations

import getpass
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pipelines.service.sensors.commands import CommandSettings, Run, counted, run_command
from pipelines.service.sensors.documents import part_of
from pipelines.service.sensors.followed import FollowedJobs, Gone, Sighting, Window, name_of
from pipelines.service.sensors.patient import Patience
from pipelines.service.sensors.pbs_jobs import sightings_of, span_of
from pipelines.service.sensors.pbs_json import read_jobs, read_json
from pipelines.service.sensors.sensor import Cost, Machine, QueueLimits, SensorError
from swftools.live import JobEvent
from swftools.live.events import CANCELLED, ENDED, SUBMITTED
from swftools.live.job_files import id_of
from swftools.output.shown_text import shown

_LOG = logging.getLogger("pipelines.service")

QUEUE = ("qstat", "-t", "-f", "-F", "json")
"""What is asked at each poll: all jobs that are not over, and the tasks of arrays."""

BY_ID = ("qstat", "-x", *QUEUE[1:])
"""What is asked with ids behind it: jobs that may be over."""

THERE, ENDED_SINCE = ("qselect", "-T"), ("qselect", "-H", "-T")
NODES = ("pbsnodes", "-a", "-F", "json")
QUEUES, SERVER = ("qstat", "-Q", "-f", "-F", "json"), ("qstat", "-B", "-f", "-F", "json")

UNKNOWN_JOB, IS_HISTORY = 153, 35
"""Statuses with which qstat ends that does not know one of the jobs, or knows it as one that is over."""

AT_ONCE, ALONE = 100, 20
"""Jobs that qstat is asked for in a call; and, of those that it left out even so, by themselves at a poll."""

RESTRICTED = (
    "PBS shows this service only the jobs of its own account (query_other_jobs of the server): waits of others are not "
    "learnt; let it run as an operator, or set it (qmgr -c 'set server query_other_jobs = True')"
)
"""What is said where others' jobs are not seen."""

REMEDY = "run it where the commands of PBS are, or say in which folder they are"


class PbsSettings(CommandSettings):
    """How a PBS is asked by its commands."""

    server: str = ""
    """Its name; default: the commands' own."""

    def runner(self) -> Run:
        """Return what runs its commands."""
        told = {"PBS_DEFAULT": self.server, "PBS_SERVER": self.server} if self.server else {}
        return partial(
            run_command,
            environment=told,
            folder=self.folder,
            seconds=self.timeout,
            remedy=REMEDY,
            allowed=(UNKNOWN_JOB, IS_HISTORY),
        )


class PbsSensor:
    """Hears of the PBS whose commands are here.

    Parameters
    ----------
    run : callable, optional
        Runs a command and returns what it prints; default: as the settings say.
    before : iterable of JobEvent
        What was heard before, of a journal.
    settings : PbsSettings, optional
        How it is asked.
    patience : Patience, optional
        When ids are asked for again after that failed.
    """

    def __init__(
        self,
        run: Run | None = None,
        before: Iterable[JobEvent] = (),
        settings: PbsSettings | None = None,
        patience: Patience | None = None,
    ) -> None:
        chosen = settings or PbsSettings()
        self.costs: dict[str, Cost] = {}
        self._run, self._patience = counted(run or chosen.runner(), self.costs), patience or Patience()
        self._submitted: dict[str, float] = {}
        self._jobs = FollowedJobs(self._remember(event) for event in before)
        self._window = Window(self._jobs.newest, chosen.records_every)
        self._seen = self._jobs.newest
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
            qstat does not answer; nothing is lost, and the next call tells it.
        """
        printed = self._run(QUEUE)
        jobs = read_jobs(printed)
        if not jobs and printed.strip() and "{" not in printed:
            raise SensorError(f"qstat prints what is not understood: {shown(printed.strip()[:100])}")
        seen = {each.job: each for each in sightings_of(jobs, self._submitted)}
        heard = self._of_ids(seen, now)
        self._jobs.note(self._remember(event) for event in heard)
        self._seen = now
        return heard

    def machine(self) -> Machine:
        """Return what the machine and its queues are now.

        Raises
        ------
        SensorError
            PBS does not answer.
        """
        nodes, queues, servers = (read_json(self._run(each)) or {} for each in (NODES, QUEUES, SERVER))
        restricted = RESTRICTED if any(map(_is_restricted, part_of(servers, "Server").values())) else None
        if restricted and restricted != self._restricted:
            _LOG.warning("%s", restricted)
        self._restricted = restricted
        total = sum(
            _whole(part_of(node, "resources_available").get("ncpus")) for node in part_of(nodes, "nodes").values()
        )
        defaults = {_text(each, "default_queue") for each in part_of(servers, "Server").values()}
        return Machine(
            total or None,
            {
                name: QueueLimits(
                    is_default=name in defaults,
                    longest=span_of(part_of(told, "resources_max").get("walltime")),
                    default_time=span_of(part_of(told, "resources_default").get("walltime")),
                )
                for name, told in part_of(queues, "Queue").items()
                if _text(told, "enabled") != "False"
            },
        )

    def _of_ids(self, seen: dict[str, Sighting], now: float) -> list[JobEvent]:
        """Return what a look at the queue tells, and what is told of those who are missing in it.

        Parameters
        ----------
        seen : dict of str to Sighting
            By job; who is found by its id, and is there, is added.
        now : float
            s since 1970.
        """
        since = self._window.since(now)
        records = {job: each for job, each in seen.items() if each.is_over}
        heard: list[JobEvent] = []
        try:
            with self._patience.asking():
                more = self._left_out(seen, since)
                missing = [gone for gone in self._missing(seen, now) if gone.job not in records]
                by_looks = [gone.number for gone in sorted(missing, key=lambda gone: gone.looks)]
                found, asked = self._by_id(list(dict.fromkeys([*by_looks, *more])))
                for each in found:
                    (records if each.is_over else seen)[each.job] = each
                still = [gone for gone in self._missing(seen, now) if gone.number in asked or gone.job in records]
                heard += self._jobs.settle(records, now, were_asked=still)
                if since is not None:
                    heard += self._jobs.catch_up(records.values(), set(), since)
                    self._jobs.forget(self._window.looked(now))
        except SensorError as error:
            if self._trouble is None:
                _LOG.warning("ends of jobs are not known, and told later: %s", error)
            self._trouble = "PBS does not answer what became of jobs: ends are told later"
            self._missing(seen, now)
            heard += self._jobs.give_up(now)
        else:
            self._trouble = None
        return [*self._jobs.look([each for each in seen.values() if not each.is_over], now), *heard]

    def _missing(self, seen: dict[str, Sighting], now: float) -> list[Gone]:
        """Return who is missing among those that are there."""
        there = {job for job, each in seen.items() if not each.is_over}
        return self._jobs.miss(there, now if self._seen is None else self._seen, now)

    def _left_out(self, seen: dict[str, Sighting], since: float | None) -> list[str]:
        """Return ids, from time to time, of jobs that qstat left out, and of those that ended since a moment."""
        if since is None:
            return []
        known = {each.number for each in seen.values()}
        after = f"-tm.ge.{datetime.fromtimestamp(since, UTC):%Y%m%d%H%M.%S}"
        there, ended = self._run(THERE).split(), self._run((*ENDED_SINCE, after)).split()
        return [each for each in [*there, *ended] if each[:1].isdecimal() and "[]" not in each and each not in known]

    def _by_id(self, numbers: Sequence[str]) -> tuple[list[Sighting], set[str]]:
        """Return what jobs are, asked for by their ids, and of whom that is known.

        Those that are left out of an answer are asked for by themselves, so many at a poll.
        """
        found: dict[str, Any] = {}
        for begin in range(0, len(numbers), AT_ONCE):
            found |= self._asked_for(numbers[begin : begin + AT_ONCE])
        alone = [number for number in numbers if number not in found][:ALONE]
        for number in alone if len(numbers) > 1 else ():
            found |= self._asked_for([number])
        return list(sightings_of(found, self._submitted)), {*alone, *found}

    def _asked_for(self, numbers: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return what qstat prints of some ids, and of their arrays: what it prints beside is none of its own."""
        jobs = read_jobs(self._run((*BY_ID, *numbers)))
        asked = {*numbers, *(re.sub(r"\[\d+\]", "[]", number) for number in numbers)}
        return {number: job for number, job in jobs.items() if number in asked}

    def _remember(self, event: JobEvent) -> JobEvent:
        """Remember when jobs were submitted that are there; return the event."""
        number = id_of(event.job)
        if event.kind == SUBMITTED:
            self._submitted[number] = event.time
        elif event.kind in (ENDED, CANCELLED) and name_of(number, self._submitted.get(number, -1.0)) == event.job:
            del self._submitted[number]
        return event


def _is_restricted(server: Any) -> bool:
    """Whether a server shows who runs this only the own jobs."""
    privileged = {
        each.strip().partition("@")[0] for name in ("managers", "operators") for each in _text(server, name).split(",")
    }
    return _text(server, "query_other_jobs") == "False" and getpass.getuser() not in {"root", *privileged}


def _text(told: Any, name: str) -> str:
    return str(told.get(name)) if isinstance(told, dict) else ""


def _whole(value: Any) -> int:
    text = str(value)
    return int(text) if text.isdecimal() else 0

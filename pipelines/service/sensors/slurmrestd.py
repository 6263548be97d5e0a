# SPDX-License-Identifier: BSD-3-Clause
"""Hears of a Slurm by slurmrestd: where no command of Slurm is installed, or on another machine.

Each poll asks for the jobs that slurmctld knows, also those that ended in the last minutes (MinJobAge). Who is gone
from there is asked for by its id in the database, and from time to time all that ended in a span of time.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from pipelines.service.sensors.followed import FollowedJobs, Gone, Sighting, Window
from pipelines.service.sensors.patient import Patience
from pipelines.service.sensors.sensor import Cost, Machine, SensorError
from pipelines.service.sensors.slurm_records import one_of_each
from pipelines.service.sensors.slurmrestd_client import RestClient
from pipelines.service.sensors.slurmrestd_jobs import of_partition, of_queue, of_record, width_of
from swftools.live import JobEvent

_LOG = logging.getLogger("pipelines.service")

AT_ONCE = 50
"""Ids that are asked for at a poll, each in a call."""

Ask = Callable[..., dict[str, Any]]


class RestSettings(BaseModel):
    """How a slurmrestd is asked."""

    model_config = ConfigDict(extra="forbid")

    url: str
    """As http://HOST:6820, https://HOST/PREFIX, or unix:///PATH."""
    user: str = ""
    """Whose token it is; default: none is said."""
    token_file: str = ""
    """A file with the token, which is read at each call; default: none is sent, as a Unix socket may do without."""
    timeout: Annotated[float, Field(gt=0, le=600)] = 30.0
    """An answer that takes longer is not waited for, s."""
    records_every: Annotated[float, Field(ge=60, le=3600)] = 600.0
    """Seconds after which the database is asked although nobody is gone."""

    @field_validator("url")
    @classmethod
    def _is_one(cls, url: str) -> str:
        try:
            told = urlsplit(url)
            is_one = bool(told.path) if told.scheme == "unix" else bool(told.hostname) and told.port != 0
        except ValueError:
            is_one, told = False, urlsplit("")
        if told.username is not None or told.password is not None:
            raise ValueError("it names a user: put that into user and token_file")
        if not is_one or told.scheme not in ("unix", "http", "https"):
            raise ValueError(f"{url!r:.80} is none of http://HOST:PORT, https://HOST and unix:///PATH")
        return url


class RestSensor:
    """Hears of the Slurm of a slurmrestd.

    Parameters
    ----------
    settings : RestSettings
        How it is asked.
    before : iterable of JobEvent
        What was heard before, of a journal.
    ask : callable, optional
        Asks for a path, with a place for the version, and a query; default: as the settings say.
    patience : Patience, optional
        When the database is asked again that failed.
    """

    def __init__(
        self,
        settings: RestSettings,
        before: Iterable[JobEvent] = (),
        ask: Ask | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.costs: dict[str, Cost] = {}
        told = {"user": settings.user, "token": settings.token_file, "seconds": settings.timeout}
        self._ask: Ask = ask or RestClient(settings.url, **told, costs=self.costs).ask  # type: ignore[arg-type]
        self._patience = patience or Patience()
        self._jobs = FollowedJobs(before)
        self._window = Window(self._jobs.newest, settings.records_every)
        self._seen = self._jobs.newest
        self.notice: str | None = None

    def poll(self, now: float) -> list[JobEvent]:
        """Return what happened since the last call.

        Raises
        ------
        SensorError
            slurmrestd does not answer; nothing is lost, and the next call tells it.
        """
        seen = [each for job in _rows(self._ask("slurm/{}/jobs"), "jobs") for each in of_queue(job)]
        there = {each.job for each in seen if not each.is_over}
        since = self._window.since(now)
        over = {each.job: each for each in seen if each.is_over}
        before = now if self._seen is None else min(self._seen, now)
        heard = list(self._jobs.look([each for each in seen if not each.is_over], now))
        gone = self._jobs.miss(there, before, now)
        heard += self._jobs.settle(over, now, were_asked=[each for each in gone if each.job in over])
        heard += self._jobs.catch_up(over.values(), there, self._window.back(before))
        heard += self._of_records([each for each in gone if each.job not in over], {*there, *over}, since, now)
        self._jobs.note(heard)
        self._seen = now
        return heard

    def machine(self) -> Machine:
        """Return what the machine and its partitions are now.

        Raises
        ------
        SensorError
            slurmrestd does not answer.
        """
        partitions = _rows(self._ask("slurm/{}/partitions"), "partitions")
        nodes = _rows(self._ask("slurm/{}/nodes"), "nodes")
        total = sum(width_of(node.get("cpus")) or 0 for node in nodes)
        return Machine(
            total or None,
            {each["name"]: of_partition(each) for each in partitions if isinstance(each.get("name"), str)},
        )

    def _of_records(self, gone: list[Gone], there: set[str], since: float | None, now: float) -> list[JobEvent]:
        """Return what the database tells of jobs that slurmctld does not know any more, or never showed."""
        if not gone and since is None:
            return []
        heard: list[JobEvent] = []
        try:
            with self._patience.asking():
                few = sorted(gone, key=lambda each: each.looks)[:AT_ONCE]
                found: dict[str, Sighting] = {}
                for number in dict.fromkeys(re.split(r"[_+]", each.number)[0] for each in few):
                    found |= _by_job(self._ask(f"slurmdb/{{}}/job/{number}"))
                heard += self._jobs.settle(found, now, were_asked=few)
                if since is not None:
                    span = {"start_time": f"uts{since:.0f}", "end_time": f"uts{now:.0f}"}
                    records = _by_job(self._ask("slurmdb/{}/jobs", **span)).values()
                    heard += self._jobs.catch_up(records, there, since)
                    self._jobs.forget(self._window.looked(now))
        except SensorError as error:
            if self.notice is None:
                _LOG.warning("ends of jobs are not known, and told later: %s", error)
            self.notice = "Slurm's database does not answer: ends of some jobs are told later"
            told = {event.job for event in heard}
            return heard + [event for event in self._jobs.give_up(now) if event.job not in told]
        self.notice = None
        return heard


def _rows(told: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    """Yield what is listed under a name."""
    rows = told.get(name)
    if not isinstance(rows, list):
        raise SensorError(f"slurmrestd answers without a list {name!r}")
    return (each for each in rows if isinstance(each, Mapping))


def _by_job(told: Mapping[str, Any]) -> dict[str, Sighting]:
    """Return the records of an answer, by job; of several the one that says most."""
    return one_of_each(each for job in _rows(told, "jobs") for each in of_record(job))

# SPDX-License-Identifier: BSD-3-Clause
"""What a service knows of a cluster: what happens to its jobs, bounds of their waits, and what came of promises."""

from __future__ import annotations

import bisect
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.service.clocks import Clock
from pipelines.service.kept import Kept
from pipelines.service.memory import Learnt, Memory, write_memory
from pipelines.service.queued_jobs import QueuedJob, QueuedJobs
from pipelines.service.recent_waits import WAIT_BUCKETS, RecentWaits
from pipelines.service.sensors.replay import ReplaySensor
from pipelines.service.sensors.sensor import NOT_SAID, Cost, Machine, Sensor
from swftools.errors import ParameterError
from swftools.live import (
    JobEvent,
    JobFiles,
    Journal,
    LivePredictor,
    ToldCounts,
    ToldFile,
    ToldLedger,
    ToldWait,
    read_journal,
    read_told,
)
from swftools.live.events import in_order, valid_text
from swftools.named import named_groups
from swftools.output.amounts import duration
from swftools.qbets import WaitAnswer, WaitPredictor, predict_wait

STALE = 5
"""So many polls without an answer, and what is known is too old to be told."""

MACHINE_EVERY = 3600.0
"""Seconds after which it is asked again what the machine and its queues are."""

SAVE_EVERY = 600.0
"""Seconds of the clock after which what is known is written down again."""

MONTH = 30.0
"""Days of which it is told how often answers were kept."""

MOST_ANSWERS = 4096
"""That are remembered until something is heard."""

NOT_TOLD = ToldWait("", math.nan, "not-kept")
"""Of a job of which the ledger does not say what it was told."""


class Cluster:
    """A cluster of a service.

    Parameters
    ----------
    name : str
        By which users call it.
    predictor : WaitPredictor
        How waits are bounded; its names stand behind the numbers of queues, and its start makes dates of seconds.
    sensor : Sensor
        Hears of its jobs.
    clock : Clock
        Of the service.
    every : float
        Seconds of the clock between two polls.
    journal : Journal, optional
        Keeps what is heard; what it has already is learnt first.
    ledger : str or path, optional
        File that keeps what jobs were told; then what it says was told counts, and nothing that it does not have.
    policy : str, optional
        How the centre orders its queue, as ``simulate`` takes it, such as easy; without it no start is simulated.
    memory : Memory, optional
        What was known when it was written down; then only what the journal has behind that is learnt.

    Attributes
    ----------
    tick : float
        Seconds of this machine between two polls; by default as many as of the clock.
    """

    def __init__(
        self,
        name: str,
        predictor: WaitPredictor,
        sensor: Sensor,
        clock: Clock,
        every: float,
        *,
        journal: Journal | None = None,
        ledger: str | os.PathLike[str] | None = None,
        policy: str | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.name, self.predictor, self.every, self.policy = valid_text(name), predictor, every, policy
        self.tick = every
        self.machine, self._heard_machine, self._machine_until = NOT_SAID, NOT_SAID, -math.inf
        self.live, self.ledger = LivePredictor(predictor), ToldLedger()
        self._sensor, self._clock = sensor, clock
        self._kept = None if journal is None else Kept(journal)
        self.heard_at = -math.inf
        self.calls, self.events = 0, 0
        self.waits = [0] * (len(WAIT_BUCKETS) + 1)
        self.waited = 0.0
        self.jobs, self.recent = QueuedJobs(), RecentWaits(predictor.start or 0.0)
        self._told: dict[str, ToldWait] | None = None
        self._told_file: ToldFile | None = None
        self._untold: dict[str, ToldWait] = {}
        self._counted: tuple[tuple[int, int], dict[str | None, ToldCounts]] = (-1, -1), {}
        self._saved = (-math.inf, -1)
        self._answers: tuple[object, dict[Any, WaitAnswer]] = None, {}
        self._called: tuple[list[str], object, dict[str, str]] = [], None, {}
        if memory is not None:
            self._remember(memory)
        if ledger is not None:
            self._told = read_told(ledger, memory.told_bytes if memory else 0)
        if journal is not None:
            self._learn(list(read_journal(journal.path, memory.mark.bytes if memory else 0)))
        self._told, self._told_file = None, None if ledger is None else ToldFile(ledger)
        self._untold.clear()

    # ------------------------------------------------------------ what happens

    def poll(self) -> None:
        """Hear what happened, and learn from it."""
        self.learn(*self.hear())

    def hear_by(self, sensor: Sensor) -> None:
        """Hear of its jobs by another sensor from now on."""
        self._sensor = sensor

    def write_files(self, folder: str | os.PathLike[str], every: float) -> None:
        """Write files of jobs from now on, for the inbox of a history; of what the journal has.

        Parameters
        ----------
        folder : str or path
            Where they appear.
        every : float
            Seconds between two of them.

        Raises
        ------
        ParameterError
            The folder is none, or there is no journal.
        """
        if self._kept is None:
            raise ParameterError(f"cluster {self.name}: files of its jobs need a journal, lest a restart lose some")
        journal = self._kept.journal
        told = None if self._told_file is None else read_told(self._told_file.path)
        self._kept = Kept(journal, JobFiles(folder, self.name, every, journal, told))

    def hear(self) -> tuple[float, list[JobEvent]]:
        """Return what time it is, and what happened; this may take a while, and changes nothing that is told."""
        self.calls += 1
        now = self._clock.now()
        if now >= self._machine_until:
            self._heard_machine = machine = self._sensor.machine()
            self._machine_until = now + (self.every if machine == NOT_SAID else MACHINE_EVERY)
        return now, self._sensor.poll(now)

    def learn(self, now: float, heard: Iterable[JobEvent]) -> None:
        """Learn from what was heard, of which the journal keeps what is new.

        Raises
        ------
        StorageError
            The journal cannot be written: nothing is learnt, and the next call has it too.
        """
        new = list(heard) if self._kept is None else self._kept.keep(heard)
        told = self._learn(new)
        if self._kept is not None:
            self._kept.note(new, told)
        self.heard_at, self.machine = now, _valid(self._heard_machine)
        self._write_told()

    def settle(self) -> None:
        """Write down what is known, if it is time.

        Raises
        ------
        StorageError
            It cannot be written; it is tried again.
        """
        self.save_at_times()

    def write(self) -> None:
        """Write a file for a history, if it is time.

        Raises
        ------
        StorageError
            It cannot be written; it is tried again.
        """
        if self._kept is not None:
            self._kept.write(self.now)

    def finish(self) -> None:
        """Write down what is not yet: it ends.

        Raises
        ------
        StorageError
            It cannot be written; the journal has it.
        """
        self.save()
        if self._kept is not None:
            self._kept.write(self.now, at_once=True)

    def _learn(self, events: Iterable[JobEvent]) -> dict[str, ToldWait]:
        """Learn from events; return what jobs are told."""
        heard = in_order(events)
        told = self.live.take(heard)
        if self._told is not None:  # what was told then counts, not what would be told now
            told = {job: self._told.get(job, NOT_TOLD._replace(group=each.group)) for job, each in told.items()}
        else:
            self._untold |= told
        self.ledger.take(heard, told)
        for job in self.jobs.take(heard, told):
            wait = (job.submit if job.start is None else job.start) - job.submit
            self.waits[bisect.bisect_left(WAIT_BUCKETS, wait)] += 1
            self.waited += wait
            if job.told is not None:
                self.recent.add(job.told.group, job.submit, wait)
        self.events += len(heard)
        return told

    def _write_told(self) -> None:
        """Write down what jobs were told, behind all else; what cannot be written is written by the next call."""
        if self._told_file is not None:
            self._told_file.write(self._untold.items())
        self._untold.clear()

    def _remember(self, memory: Memory) -> None:
        """Know what was written down."""
        self.live = memory.live
        self.ledger, self.jobs, self.recent, self.waits, self.waited, self.events = memory.rest

    def save(self) -> None:
        """Write down what is known, beside the journal, so that a restart is quick; nothing where there is none.

        Raises
        ------
        StorageError
            It cannot be written.
        """
        if self._kept is None:
            return
        rest = Learnt(self.ledger, self.jobs, self.recent, self.waits, self.waited, self.events)
        journal = self._kept.journal
        told_bytes = 0 if self._told_file is None else self._told_file.size
        write_memory(journal.path, Memory(self.live, journal.mark, told_bytes, rest), self.predictor)
        self._saved = self._clock.now(), self.events

    def close(self) -> None:
        """Close its files; nothing is heard any more."""
        if self._kept is not None:
            self._kept.journal.close()
        if self._told_file is not None:
            self._told_file.close()

    def save_at_times(self) -> None:
        """Write down what is known if that was not done for a while, and something happened.

        Raises
        ------
        StorageError
            It cannot be written.
        """
        if self.events != self._saved[1] and self._clock.now() >= self._saved[0] + SAVE_EVERY:
            self.save()

    @property
    def costs(self) -> Mapping[str, Cost]:
        """What the calls of the batch system have cost, by command."""
        return self._sensor.costs

    @property
    def age(self) -> float:
        """How old what is known is, s."""
        return max(self._clock.now() - self.heard_at, 0.0)

    @property
    def silence(self) -> str:
        """For how long nothing was heard, in words."""
        heard = "yet" if math.isinf(self.age) else f"for {duration(self.age)}"
        return f"nothing was heard of {self.name} {heard}"

    @property
    def is_stale(self) -> bool:
        """Whether it is too old to be told."""
        return self.age > STALE * self.every

    # ------------------------------------------------------------ what is known

    @property
    def waiting(self) -> int:
        """Jobs that wait."""
        return len(self.jobs.waiting)

    @property
    def running(self) -> int:
        """Jobs that run."""
        return len(self.jobs.running)

    @property
    def now(self) -> float:
        """The time, s."""
        return self._clock.now()

    @property
    def names_users(self) -> bool:
        """Whether its groups have users' names in theirs; logs of archives have numbers."""
        is_played = isinstance(self._sensor, ReplaySensor) and not self.predictor.names.get("user")
        return "user" in self.predictor.by and not is_played

    @property
    def notice(self) -> str | None:
        """What the sensor says of its view, that all should know; None: nothing."""
        return getattr(self._sensor, "notice", None)

    def kept(self, group: str | None = None) -> ToldCounts:
        """Return what came of what the jobs of the last month were told; of a group, or of all.

        It is counted again when something happened, or the next second began.
        """
        version = self.events, math.floor(self.now)
        if self._counted[0] != version:
            self._counted = version, {}
        counts = self._counted[1]
        if group not in counts:
            counts[group] = self.ledger.counts(self.now, MONTH, group)
        return counts[group]

    def date(self, time: float) -> str | None:
        """Return a moment as a date in UTC; None where nobody says when second 0 was."""
        if self.predictor.start is None or not math.isfinite(time):
            return None
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=self.predictor.start + time)
        return moment.isoformat(timespec="seconds").replace("+00:00", "Z")

    def groups(self) -> dict[str, str]:
        """Return the groups of jobs, and what each is called."""
        labels, names = self.live.groups, self.predictor.names
        if labels != self._called[0] or names is not self._called[1]:  # asked for at each answer
            self._called = labels, names, dict(named_groups(labels, list(self.predictor.by), names))
        return self._called[2]

    def queue_of(self, job: QueuedJob) -> str | None:
        """Return what the queue of a job is called; None where nobody says."""
        return self._named("queue", job.queue)

    def user_of(self, job: QueuedJob) -> str | None:
        """Return what the user of a job is called; None where nobody says."""
        return self._named("user", job.user)

    def _named(self, kind: str, said: str | None) -> str | None:
        """Return the name behind a number, where there are some."""
        names = self.predictor.names.get(kind, {})
        return names.get(int(said), said) if said is not None and said.isdecimal() and len(said) < 10 else said

    def answer(self, group: str, **asked: Any) -> WaitAnswer:
        """Return what a job is told that is submitted now.

        Raises
        ------
        ParameterError
            There is no such group, or something that is needed is missing.
        """
        state = self.live.state()
        if self._answers[0] is not state or len(self._answers[1]) >= MOST_ANSWERS:
            self._answers = state, {}
        found, key = self._answers[1], (group, *sorted(asked.items()))
        if key not in found:
            found[key] = predict_wait(state, group=group, **asked)
        return found[key]


def _valid(machine: Machine) -> Machine:
    """Return a machine with names of queues as events have them."""
    return replace(machine, queues={valid_text(name): limits for name, limits in machine.queues.items()})

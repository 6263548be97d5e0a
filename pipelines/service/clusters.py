# SPDX-License-Identifier: BSD-3-Clause
"""What a service knows of a cluster: what happens to its jobs, bounds of their waits, and what came of promises."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pipelines.service.clocks import Clock, ReplayClock
from pipelines.service.sensors.replay import ReplaySensor
from pipelines.service.sensors.sensor import NOT_SAID, Cost, Machine, Sensor
from swftools.live import JobEvent, Journal, LivePredictor, ToldLedger, log_events, read_journal
from swftools.live.events import CHANGED, ELIGIBLE, STARTED, SUBMITTED, in_order
from swftools.named import named_groups
from swftools.output.amounts import duration
from swftools.qbets import WaitAnswer, WaitPredictor
from swftools.trace import Trace

STALE = 5
"""So many polls without an answer, and what is known is too old to be told."""

MACHINE_EVERY = 3600.0
"""Seconds after which it is asked again what the machine and its queues are."""

WAIT_BUCKETS = (60.0, 300.0, 900.0, 3600.0, 14_400.0, 43_200.0, 86_400.0, 259_200.0)
"""Upper ends, s, of the histogram of waits."""


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
    ) -> None:
        self.name, self.predictor, self.every = name, predictor, every
        self.machine, self._machine_until = NOT_SAID, -math.inf
        self.live, self.ledger = LivePredictor(predictor), ToldLedger()
        self._sensor, self._clock, self._journal = sensor, clock, journal
        self.heard_at = -math.inf
        self.calls, self.events = 0, 0
        self.waits = [0] * (len(WAIT_BUCKETS) + 1)
        self.waited = 0.0
        self._unkept: list[JobEvent] = []
        self._submitted: dict[str, float] = {}
        self._running: set[str] = set()
        if journal is not None:
            self._learn(list(read_journal(journal.path)))

    # ------------------------------------------------------------ what happens

    def poll(self) -> None:
        """Hear what happened, and learn from it."""
        self.learn(*self.hear())

    def hear(self) -> tuple[float, list[JobEvent]]:
        """Return what time it is, and what happened; this may take a while, and changes nothing that is told."""
        self.calls += 1
        now = self._clock.now()
        if now >= self._machine_until:
            self.machine = self._sensor.machine()
            self._machine_until = now + (self.every if self.machine == NOT_SAID else MACHINE_EVERY)
        return now, self._sensor.poll(now)

    def learn(self, now: float, heard: Iterable[JobEvent]) -> None:
        """Learn from what was heard, of which the journal keeps what is new.

        Raises
        ------
        StorageError
            The journal cannot be written: nothing is learnt, and the next call has it too.
        """
        if self._journal is None:
            self._learn(heard)
        else:
            self._unkept += heard
            self._learn(self._journal.append(in_order(self._unkept)))
            self._unkept.clear()
        self.heard_at = now

    def _learn(self, events: Iterable[JobEvent]) -> None:
        """Learn from events."""
        heard = in_order(events)
        told = self.live.take(heard)
        self.ledger.take(heard, told)
        for event in heard:
            if event.kind == SUBMITTED:
                self._submitted[event.job] = event.time
            elif event.kind in (ELIGIBLE, CHANGED):
                continue
            elif (submit := self._submitted.pop(event.job, None)) is not None and event.kind == STARTED:
                self.waits[bisect.bisect_left(WAIT_BUCKETS, event.time - submit)] += 1
                self.waited += event.time - submit
                self._running.add(event.job)
            else:
                self._running.discard(event.job)
        self.events += len(heard)

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
        return len(self._submitted)

    @property
    def running(self) -> int:
        """Jobs that run."""
        return len(self._running)

    @property
    def now(self) -> float:
        """The time, s."""
        return self._clock.now()

    def date(self, time: float) -> str | None:
        """Return a moment as a date in UTC; None where nobody says when second 0 was."""
        if self.predictor.start is None or not math.isfinite(time):
            return None
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=self.predictor.start + time)
        return moment.isoformat(timespec="seconds").replace("+00:00", "Z")

    def groups(self) -> dict[str, str]:
        """Return the groups of jobs, and what each is called."""
        labels = self.live.groups
        return dict(named_groups(labels, list(self.predictor.by), self.predictor.names)) if labels else {}

    def answer(self, group: str, **asked: Any) -> WaitAnswer:
        """Return what a job is told that is submitted now.

        Raises
        ------
        ParameterError
            There is no such group, or something that is needed is missing.
        """
        return self.live.predict(group=group, **asked)


def replayed(
    name: str,
    log: Trace,
    predictor: WaitPredictor,
    *,
    clock_of: Callable[[float], ReplayClock],
    every: float,
    begin: float,
) -> Cluster:
    """Return a cluster that plays a log, from a share of its submissions on.

    Parameters
    ----------
    name : str
        Of the cluster.
    log : Trace
        Jobs with their waits.
    predictor : WaitPredictor
        How waits are bounded.
    clock_of : callable
        Makes the clock, of the second where the play begins; it runs from when that is learnt.
    every : float
        Seconds of the log between two polls.
    begin : float
        Share of the submissions that are learnt before it begins, 0 to 1.
    """
    events = list(log_events(log, predictor.by))
    predictor.names, predictor.start = log.known_names, log.header.unix_start_time
    submitted = [event.time for event in events if event.kind == SUBMITTED]
    first = submitted[min(int(begin * len(submitted)), len(submitted) - 1)] if submitted else 0.0
    clock = clock_of(first)
    cluster = Cluster(name, predictor, ReplaySensor(events, Machine(log.processors)), clock, every)
    cluster.poll()
    clock.start()
    return cluster

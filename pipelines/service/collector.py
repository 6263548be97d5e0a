# SPDX-License-Identifier: BSD-3-Clause
"""Hears of a cluster and keeps what it hears, for services and histories; it answers nobody."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from pipelines.service.clocks import Clock, SystemClock
from pipelines.service.kept import Kept
from pipelines.service.listening import listen
from pipelines.service.sensors.sensor import Sensor
from swftools.live import JobEvent


class Collector:
    """Hears of a cluster.

    Parameters
    ----------
    name : str
        Of the cluster.
    sensor : Sensor
        Hears of its jobs.
    kept : Kept
        Where that goes.
    every : float
        Seconds between two polls.
    clock : Clock, optional
        By default that of this machine.
    """

    def __init__(self, name: str, sensor: Sensor, kept: Kept, every: float, clock: Clock | None = None) -> None:
        self.name, self.tick = name, every
        self._sensor, self._kept, self._clock = sensor, kept, clock or SystemClock()
        self.events = 0

    def hear(self) -> tuple[float, list[JobEvent]]:
        """Return what time it is, and what happened."""
        now = self._clock.now()
        return now, self._sensor.poll(now)

    def learn(self, now: float, heard: Iterable[JobEvent]) -> None:  # noqa: ARG002 (as listeners have it)
        """Keep what was heard.

        Raises
        ------
        StorageError
            It cannot be kept: the next call keeps it too.
        """
        new = self._kept.keep(heard)
        self._kept.note(new)
        self.events += len(new)

    def settle(self) -> None:
        """Do nothing: the journal has it already."""

    def write(self) -> None:
        """Write a file, if it is time.

        Raises
        ------
        StorageError
            It cannot be written: the next call tries again.
        """
        self._kept.write(self._clock.now())

    def poll(self) -> None:
        """Hear what happened, and keep it."""
        self.learn(*self.hear())
        self.write()

    def finish(self) -> None:
        """Write what is in no file yet."""
        self._kept.write(self._clock.now(), at_once=True)


def collect(collectors: Sequence[Collector], say: Callable[[], None]) -> None:
    """Hear of clusters until it is ended by Ctrl-C or SIGTERM; then write what is in no file yet.

    Parameters
    ----------
    collectors : sequence of Collector
        Each is polled by itself.
    say : callable
        Called when it may be ended.

    Raises
    ------
    StorageError
        That cannot be written; it is in the journal, and the next start writes it.
    """

    async def until_ended() -> None:
        listening = asyncio.create_task(listen(collectors))
        for each in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(each, listening.cancel)
        say()
        with suppress(asyncio.CancelledError):
            await listening

    asyncio.run(until_ended())
    for each in collectors:
        each.finish()

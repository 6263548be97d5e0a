# SPDX-License-Identifier: BSD-3-Clause
"""Asks a batch system that does not answer less often, and never twice at once."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from pipelines.service.sensors.sensor import NOT_SAID, Cost, Machine, Sensor, SensorError
from swftools.live import JobEvent
from swftools.output.amounts import duration

_LOG = logging.getLogger("pipelines.service")

FIRST, LONGEST = 60.0, 900.0
"""Seconds after the second failure in a row for which nothing is asked; they double each time, up to the longest."""


class Patience:
    """When something that failed is asked again.

    After one failure: at once, since most are over by then. After more: after a while that doubles, of which a random
    part of up to a half is taken off, so that many who wait do not ask together. After an answer all is as before.

    Parameters
    ----------
    ticks : callable, optional
        Seconds that rise, whatever the clock does.
    draw : callable, optional
        Draws a number from 0 to 1.
    """

    def __init__(self, ticks: Callable[[], float] = time.monotonic, draw: Callable[[], float] = random.random) -> None:
        self._ticks, self._draw = ticks, draw
        self._failures, self._until, self._why = 0, -1.0, ""

    def check(self) -> None:
        """Refuse to ask too early.

        Raises
        ------
        SensorError
            It failed, and is not asked again yet.
        """
        left = self._until - self._ticks()
        if self._failures > 1 and left > 0:
            raise SensorError(f"{self._why}; it is asked again in {duration(left)}")

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask within this: whether that fails is noted.

        Raises
        ------
        SensorError
            It failed before, and is not asked again yet; or what is done within raises it.
        """
        self.check()
        try:
            yield
        except SensorError as error:
            self._failed(error)
            raise
        self._failures = 0

    def _failed(self, error: SensorError) -> None:
        """Take in that it failed."""
        self._failures += 1
        self._why = str(error)
        wait = min(FIRST * 2.0 ** min(self._failures - 2, 20), LONGEST)
        self._until = self._ticks() + wait * (1.0 - 0.5 * self._draw())


class PatientSensor:
    """A sensor that is asked less often while it fails, and never twice at once.

    Parameters
    ----------
    sensor : Sensor
        Asks the batch system.
    patience : Patience, optional
        When it is asked again.
    """

    def __init__(self, sensor: Sensor, patience: Patience | None = None) -> None:
        self.sensor, self._patience = sensor, patience or Patience()
        self._machine, self._silent = NOT_SAID, ""
        self._lock = threading.Lock()

    @property
    def notice(self) -> str | None:
        """What users should know of what is heard, as a sentence."""
        return self.sensor.notice

    @property
    def costs(self) -> Mapping[str, Cost]:
        """What the calls have cost, by command."""
        return self.sensor.costs

    def poll(self, now: float) -> list[JobEvent]:
        """Return what happened since the last call.

        Raises
        ------
        SensorError
            The batch system does not answer, or is not asked yet; nothing is lost, and a later call tells it.
        """
        with _alone(self._lock), self._patience.asking():
            return self.sensor.poll(now)

    def machine(self) -> Machine:
        """Return what the machine and its queues are now; what was said last, where that does not answer.

        Jobs are still followed when the machine's size is not known.

        Raises
        ------
        SensorError
            Another call still runs.
        """
        with _alone(self._lock):
            try:
                self._patience.check()
                self._machine = self.sensor.machine()
            except SensorError as error:
                if str(error) != self._silent:
                    _LOG.warning("what the machine is cannot be asked: %s", error)
                self._silent = str(error)
            return self._machine


@contextmanager
def _alone(lock: threading.Lock) -> Iterator[None]:
    """Hold a lock, and refuse where another one has it."""
    if not lock.acquire(blocking=False):
        raise SensorError("the last call still runs")
    try:
        yield
    finally:
        lock.release()

# SPDX-License-Identifier: BSD-3-Clause
"""Hears of a log that is over, as if it ran now."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence

from pipelines.service.sensors.sensor import NOT_SAID, Cost, Machine
from swftools.live import JobEvent


class ReplaySensor:
    """Hears of a log that is over what happened up to now.

    Parameters
    ----------
    events : sequence of JobEvent
        In order of time.
    machine : Machine, optional
        Of the log.
    """

    def __init__(self, events: Sequence[JobEvent], machine: Machine = NOT_SAID) -> None:
        self._machine = machine
        self.notice: str | None = None
        self.costs: Mapping[str, Cost] = {}
        self._events, self._times, self._done = events, [event.time for event in events], 0

    def poll(self, now: float) -> list[JobEvent]:
        """Return what happened since the last call, up to now."""
        begin, self._done = self._done, max(self._done, bisect.bisect_right(self._times, now))
        return list(self._events[begin : self._done])

    def machine(self) -> Machine:
        """Return what the log says of its machine."""
        return self._machine

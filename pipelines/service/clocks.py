# SPDX-License-Identifier: BSD-3-Clause
"""What time it is: the one clock of a service, from which every "now" comes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """Says what time it is."""

    def now(self) -> float:
        """Return the time, s of the log or of the journal."""


class SystemClock:
    """The clock of this machine: seconds since 1970."""

    def now(self) -> float:
        """Return the time, s since 1970."""
        return time.time()


class ReplayClock:
    """The clock of a log that is played faster than it was.

    Parameters
    ----------
    begin : float
        Where it stands first, s of the log.
    speed : float
        Seconds of the log in a second.
    ticks : callable, optional
        Seconds that rise.
    """

    def __init__(self, begin: float, speed: float, ticks: Callable[[], float] = time.monotonic) -> None:
        self.begin, self.speed = begin, speed
        self._ticks, self._first = ticks, ticks()

    def start(self) -> None:
        """Stand at the beginning again: what is learnt first takes a while."""
        self._first = self._ticks()

    def now(self) -> float:
        """Return the time, s of the log."""
        return self.begin + (self._ticks() - self._first) * self.speed

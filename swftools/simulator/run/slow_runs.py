# SPDX-License-Identifier: BSD-3-Clause
"""Saying, while a run goes on, that its policy takes long where many jobs wait, and what to take instead."""

from __future__ import annotations

import logging
import time

from swftools.simulator.registry import Policy

_LOG = logging.getLogger("swftools")

LONG = 10.0
"""Seconds of a run after which it is said, once in a process for each policy."""

MANY = 1000
"""Waiting jobs from which on it is for them that the run takes long."""

_SAID: set[str] = set()


class SlowRun:
    """A run whose policy may take long; it is looked at from time to time, and tells the logger ``swftools``."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._begin = time.perf_counter()

    @property
    def is_to_be_watched(self) -> bool:
        """Whether there is something to say that was not said before."""
        return bool(self._policy.takes_long) and self._policy.name not in _SAID

    def look(self, done: int, jobs: int, waiting: int) -> None:
        """Warn if the run has taken long, and many jobs wait; so many of all jobs have ended."""
        seconds = time.perf_counter() - self._begin
        if self.is_to_be_watched and seconds >= LONG and waiting >= MANY:
            _SAID.add(self._policy.name)
            _LOG.warning(
                "policy %r takes long while %s jobs wait (%s of %s ended in %.0f s): %s",
                *(self._policy.name, f"{waiting:,}", f"{done:,}", f"{jobs:,}", seconds, self._policy.takes_long),
            )

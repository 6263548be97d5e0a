"""A bell beside the engine: it ends stretches that take longer than they were meant to.

The engine stops after a number of instants, which was right for the ones before. Where a queue suddenly is long, an
instant may take a thousand times what it took; Ctrl-C would not be heard, nor progress told, for minutes.
"""

from __future__ import annotations

import threading
from typing import Self

from swftools.kernel import IntArray
from swftools.simulator.replay import LEFT

PATIENCE = 0.2
"""Seconds after which a stretch is ended, up to twice that. One decision is not interrupted."""


class Bell:
    """Ends stretches from another thread; it writes one number, and where a stretch ends changes nothing.

    Parameters
    ----------
    counts : numpy.ndarray of int64
        ``Replay.counts``, whose ``LEFT`` it sets to zero.
    """

    def __init__(self, counts: IntArray) -> None:
        self._counts = counts
        self._stretch = 0
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        if self._thread:
            self._thread.join()

    def begin_stretch(self) -> None:
        """Watch a new stretch; the first, of a few instants, is over before a thread has begun."""
        self._stretch += 1
        if self._stretch == 2:
            self._thread = threading.Thread(target=self._watch, name="swftools-bell", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        seen = self._stretch
        while not self._over.wait(PATIENCE):
            # The engine counts down too, so that a zero may be overwritten: it is written again.
            if self._stretch == seen:
                self._counts[LEFT] = 0
            seen = self._stretch

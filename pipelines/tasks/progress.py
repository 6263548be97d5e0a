"""What is said while tasks run: which stage begins, the how-manyth of how many, and how long it took."""

from __future__ import annotations

import logging
import mmap
import multiprocessing
import sys
from time import monotonic
from typing import Any

from tqdm import tqdm

from swftools.shown_text import shown

logger = logging.getLogger("pipelines")

OFTEN = 10.0
"""Seconds between two lines that say how far a stage is."""


class SharedCount:
    """A count that processes forked from this one go on with.

    Anonymous memory, which ``multiprocessing.Value`` is not: that makes a file for it, which a full disk refuses.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)
        self._lock = multiprocessing.Lock()

    @property
    def value(self) -> int:
        """How many there are."""
        return int.from_bytes(self._memory[:], "little")

    def next(self) -> int:
        """Count one more, and return how many there are then."""
        with self._lock:
            value = self.value + 1
            self._memory[:] = value.to_bytes(8, "little")
        return value


class StageProgress:
    """Counts the stages of a run: a bar on a terminal, elsewhere a line of the log when one begins and when it ends.

    Luigi finds out what there is to do before it does the first of it: ``expect`` is told of each stage then. With
    several worker processes, which are forked, the stages begin in these; so the count of those that have begun lies in
    shared memory, and lines are written in place of the bar.
    """

    def __init__(self) -> None:
        self._expected: set[str] = set()
        self._begun = SharedCount()
        self._numbers: dict[str, int] = {}
        self._is_over = False
        self._bar: tqdm[Any] | None = None
        self._told = monotonic()

    def expect(self, stage: str) -> None:
        """Count a stage, by its identifier, among those there are to do; the first after a run begins another."""
        if self._is_over or self._begun.value >= len(self._expected) > 0:
            self.finish()
            self._expected.clear()
            self._numbers.clear()
            self._begun = SharedCount()
            self._is_over = False
        self._expected.add(stage)

    def begin(self, stage: str, label: str) -> None:
        """Say that a stage begins."""
        self._numbers[stage] = self._begun.next()
        self._told = monotonic()
        label = shown(label)
        if self._is_on_terminal():
            if self._bar is None:
                self._bar = tqdm(total=len(self._expected), unit="stage", leave=False)
            self._bar.set_description(label)
        else:
            logger.info("%s begins", self._numbered(stage, label))

    def tell(self, stage: str, label: str, done: int, total: int) -> None:
        """Say how far a stage is: on the bar, or in a line, ``OFTEN`` seconds after the last one at the earliest."""
        share = f"{shown(label)}: {done / total if total else 1:.0%}"
        if self._bar is not None:
            self._bar.set_description(share)
        elif monotonic() - self._told >= OFTEN and done < total:
            self._told = monotonic()
            logger.info("%s", self._numbered(stage, share))

    def end(self, stage: str, label: str, seconds: float) -> None:
        """Say that a stage is done, and how many seconds it took."""
        if self._bar is not None:
            self._bar.update()
        if self._numbers.get(stage, 0) >= len(self._expected):
            self.finish()
        logger.info("%s: %.1f s", self._numbered(stage, label), seconds)

    def fail(self) -> None:
        """Count anew in the next run: after a stage that failed, what was to follow may never begin."""
        self._is_over = True
        self.finish()

    def finish(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _numbered(self, stage: str, label: str) -> str:
        """Return a label with the stage's number; without it where the count is not known, as in a spawned process."""
        number = self._numbers.get(stage, 0)
        return f"[{number} of {len(self._expected)}] {label}" if 0 < number <= len(self._expected) else label

    @staticmethod
    def _is_on_terminal() -> bool:
        """Whether a bar can be shown: this is the only process, a person looks on, and wants to."""
        is_alone = multiprocessing.parent_process() is None
        return is_alone and sys.stderr.isatty() and logger.isEnabledFor(logging.INFO)

# SPDX-License-Identifier: BSD-3-Clause
"""What is said while tasks run: which stage begins, the how-manyth of how many, how far it is, how long it took."""

from __future__ import annotations

import logging
import mmap
import multiprocessing
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Any

from tqdm import tqdm

from swftools.output.amounts import percent
from swftools.output.shown_text import shown

logger = logging.getLogger("pipelines")

OFTEN = 10.0
"""Seconds between two lines that say how far a stage is."""

LEAST_SHARE = 0.02
"""Of the work; before so much is done, nothing is said of the time that is left."""

_BAR = "{percentage:3.0f}%|{bar:10}| {elapsed}<{remaining} {desc}"
"""Numbers first: what a narrow terminal cuts off is the end of a label."""


class SharedCount:
    """A count that processes forked from this one go on with.

    Anonymous memory, which ``multiprocessing.Value`` is not: that makes a file for it, which a full disk refuses.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)
        self._lock = multiprocessing.get_context("fork").Lock()

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


class SharedShares:
    """How much of each stage is done, from 0 to 1, by its place; forked processes share it."""

    MOST = 1 << 17
    """Places; the memory is there once it is written to. What is behind them is not followed."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8 * self.MOST)

    def __getitem__(self, place: int) -> float:
        """Return what is done of a stage."""
        share: float = struct.unpack_from("d", self._memory, 8 * place)[0] if place < self.MOST else 0.0
        return share

    def __setitem__(self, place: int, share: float) -> None:
        if place < self.MOST:
            struct.pack_into("d", self._memory, 8 * place, share)


class Parts:
    """The progress of one stage whose parts take so much of its time each.

    Parameters
    ----------
    tell : callable
        Takes how much of how much is done of the stage.
    weights : mapping of str to float
        By part, what it takes beside the others.
    """

    def __init__(self, tell: Callable[[int, int], None], weights: Mapping[str, float]) -> None:
        self._tell, self._weights = tell, weights
        self._shares = dict.fromkeys(weights, 0.0)

    def tell(self, part: str, done: int, total: int) -> None:
        """Say how much of a part is done; what is done stays so."""
        self._shares[part] = max(self._shares[part], min(1.0, done / total if total else 1.0))
        share = sum(self._weights[name] * each for name, each in self._shares.items()) / sum(self._weights.values())
        self._tell(int(1000 * share), 1000)


class StageProgress:
    """Counts the stages of a run: a bar on a terminal, elsewhere a line of the log when one begins and when it ends.

    Luigi finds out what there is to do before it does the first of it: ``expect`` is told of each stage then. With
    several worker processes, which are forked, the stages begin in these; so the count of those that have begun lies in
    shared memory, and lines are written in place of the bar. So does what is done of each stage, from which follows
    how much of the work is done, and the time that is left: stages count by the work that they are.
    """

    def __init__(self) -> None:
        self._expected: dict[str, tuple[int, float]] = {}
        self._begun = SharedCount()
        self._shares = SharedShares()
        self._since = monotonic()
        self._numbers: dict[str, int] = {}
        self._is_over = False
        self._bar: tqdm[Any] | None = None
        self._told = monotonic()
        self._is_silent = False

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Say nothing within a with block of how far a stage is: whoever runs many of them says how many are done."""
        was, self._is_silent = self._is_silent, True
        try:
            yield
        finally:
            self._is_silent = was

    def expect(self, stage: str, work: float = 1.0) -> None:
        """Count a stage, by its identifier, among those there are to do; the first after a run begins another.

        ``work`` says how long it takes beside the others.
        """
        if self._is_over or self._begun.value >= len(self._expected) > 0:
            self.finish()
            self._expected.clear()
            self._numbers.clear()
            self._begun = SharedCount()
            self._shares = SharedShares()
            self._is_over = False
        if not self._expected:
            self._since = monotonic()
        place, _ = self._expected.get(stage, (len(self._expected), work))
        self._expected[stage] = place, work

    @property
    def share(self) -> float:
        """How much of the work of all stages is done, from 0 to 1."""
        total = sum(work for _, work in self._expected.values())
        done = sum(work * self._shares[place] for place, work in self._expected.values())
        return done / total if total else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes if it goes on as so far; None while that cannot be said."""
        share = self.share
        return (monotonic() - self._since) * (1 - share) / share if share >= LEAST_SHARE else None

    def begin(self, stage: str, label: str) -> None:
        """Say that a stage begins."""
        self._numbers[stage] = self._begun.next()
        self._told = monotonic()
        label = shown(label)
        if self._is_on_terminal():
            if self._bar is None:
                self._bar = tqdm(total=1.0, initial=self.share, leave=False, smoothing=0, bar_format=_BAR)
            self._show(stage, label)
        else:
            logger.info("%s begins", self._numbered(stage, label))

    def tell(self, stage: str, label: str, done: int, total: int, words: str = "") -> None:
        """Say how far a stage is: on the bar, or in a line, ``OFTEN`` seconds after the last one at the earliest.

        As a share, unless there are other words for it.
        """
        if self._is_silent:
            return
        share = done / total if total else 1.0
        if stage in self._expected:
            self._shares[self._expected[stage][0]] = share
        told = f"{shown(label)}: {words or percent(share)}"
        if self._bar is not None:
            self._show(stage, told)
        elif monotonic() - self._told >= OFTEN and done < total:
            self._told = monotonic()
            logger.info("%s%s", self._numbered(stage, told), self._of_all())

    def end(self, stage: str, label: str, seconds: float) -> None:
        """Say that a stage is done, and how many seconds it took."""
        if stage in self._expected:
            self._shares[self._expected[stage][0]] = 1.0
        self._show(stage, label)
        if self._numbers.get(stage, 0) >= len(self._expected):
            self.finish()
        if self._bar is not None:
            self._bar.clear()  # or the line would stand behind it
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

    def _show(self, stage: str, label: str) -> None:
        """Show on the bar what is at work, and how much of all work is done."""
        if self._bar is not None:
            self._bar.set_description_str(self._numbered(stage, label), refresh=False)
            self._bar.n = self.share
            self._bar.refresh()

    def _of_all(self) -> str:
        """Return how much of all work is done, and the time that is left; nothing of a single stage's share."""
        left = self.seconds_left
        if left is None:
            return ""
        all_of_it = f"all: {percent(self.share)}, " if len(self._expected) > 1 else ""
        return f" ({all_of_it}{tqdm.format_interval(left)} left)"

    def _numbered(self, stage: str, label: str) -> str:
        """Return a label with the stage's number; without it where the count is not known, as in a spawned process."""
        number = self._numbers.get(stage, 0)
        return f"[{number} of {len(self._expected)}] {label}" if 0 < number <= len(self._expected) else label

    @staticmethod
    def _is_on_terminal() -> bool:
        """Whether a bar can be shown: this is the only process, a person looks on, and wants to."""
        is_alone = multiprocessing.parent_process() is None
        return is_alone and sys.stderr.isatty() and logger.isEnabledFor(logging.INFO)

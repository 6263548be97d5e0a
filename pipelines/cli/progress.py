# SPDX-License-Identifier: BSD-3-Clause
"""What a user sees while something takes long: a bar on a terminal, at most a line elsewhere. All on stderr."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click
from tqdm import tqdm

from pipelines.tasks.progress import OFTEN
from swftools.kernel import watch_compiling
from swftools.kernel.compiling import LONG

COMPILING = "compiling kernels, once after a change ('swftools warm-up' does it ahead)"


class Bar:
    """A bar that appears at its first step, and only on a terminal; not if told to be quiet."""

    def __init__(self, what: str, unit: str) -> None:
        self.what, self.unit = what, unit
        self._bar: tqdm[Any] | None = None

    def show(self, done: int, total: int | None = None, note: str = "") -> None:
        """Show how much of how much is done, and what is next or how far it is."""
        is_wanted = sys.stderr.isatty() and logging.getLogger("pipelines").level <= logging.INFO
        if not is_wanted or (self._bar is None and done == total):
            return
        if self._bar is None:
            options: Any = {"total": total, "initial": done, "unit": self.unit}
            self._bar = tqdm(desc=self.what, leave=False, file=sys.stderr, **options)
        self._bar.set_postfix_str(note, refresh=False)
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


@contextmanager
def compiling_shown() -> Iterator[Callable[[], None]]:
    """Show that kernels are compiled within a with block, where that happens; yield what takes the bar away.

    Without a terminal it is one line, once it has taken ``LONG`` seconds.
    """
    bar = Bar("compiling kernels, once", " kernels")
    begin = 0.0
    said = False

    def report(count: int, name: str) -> None:
        nonlocal begin, said
        begin = begin or time.perf_counter()
        bar.show(count, note=name.rpartition(".")[2])
        if not said and not sys.stderr.isatty() and time.perf_counter() - begin > LONG:
            said = True
            click.echo(COMPILING, err=True)

    with watch_compiling(report):
        try:
            yield bar.close
        finally:
            bar.close()


@contextmanager
def simulation_shown() -> Iterator[Callable[[int, int, float], None]]:
    """Show how far a simulation is: yield what ``simulate`` takes as ``progress``."""
    bar = Bar("simulating", " jobs")

    def progress(done: int, total: int, now: float) -> None:
        end_compiling()
        bar.show(done, total, f"day {now / 86_400:,.1f}")

    with compiling_shown() as end_compiling:
        try:
            yield progress
        finally:
            bar.close()


@contextmanager
def warm_up_shown() -> Iterator[Callable[[int, int, str], None]]:
    """Show how far the compiling of all kernels is: yield what ``warm_up`` takes as ``progress``.

    Without a terminal it is a line every ``OFTEN`` seconds.
    """
    bar = Bar("compiling kernels", " steps")
    said = time.perf_counter()

    def progress(done: int, total: int, name: str) -> None:
        nonlocal said
        bar.show(done, total, name)
        is_due = time.perf_counter() - said > OFTEN
        if is_due and not sys.stderr.isatty() and logging.getLogger("pipelines").level <= logging.INFO:
            said = time.perf_counter()
            click.echo(f"compiling kernels: {done} of {total} steps done, {name}", err=True)

    try:
        yield progress
    finally:
        bar.close()

# SPDX-License-Identifier: BSD-3-Clause
"""Who is told that kernels are compiled, which takes a while after an installation or a change, and then no more."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

_LOG = logging.getLogger("swftools")
LONG = 1.0
"""Seconds of compiling after which it is said once in the log."""

_KERNELS: WeakSet[Callable[..., Any]] = WeakSet()


def note_kernel(function: Callable[..., Any]) -> None:
    """Count a function among the kernels."""
    _KERNELS.add(function)


def is_kernel(function: Callable[..., Any]) -> bool:
    """Whether a function is the source of a kernel, and not something else that numba compiles in this process."""
    return function in _KERNELS


class Watch:
    """How many kernels were compiled in this process, and for how long; calls those who want to know.

    The logger ``swftools`` gets one message, of level INFO, when it has taken ``LONG``.
    """

    def __init__(self) -> None:
        self.count = 0
        self.seconds = 0.0
        self.reports: list[Callable[[int, str], None]] = []
        self._depth = 0
        self._since = 0.0
        self._said = False

    def begin(self, function: Callable[..., Any]) -> None:
        """Note that a kernel begins to be compiled, maybe within another one."""
        if self._depth == 0:
            self._since = time.perf_counter()
        self._depth += 1
        self.count += 1
        self._say()
        for report in self.reports:
            report(self.count, f"{function.__module__}.{function.__qualname__}")

    def end(self) -> None:
        """Note that it is compiled."""
        self._say()
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._since

    def _say(self) -> None:
        if not self._said and self.seconds + time.perf_counter() - self._since > LONG:
            self._said = True
            _LOG.info(
                "compiling kernels, once after an installation or a change; swftools.kernel.rehearsals() does it ahead"
            )


WATCH = Watch()


@contextmanager
def watch_compiling(report: Callable[[int, str], None]) -> Iterator[None]:
    """Call ``report`` whenever a kernel is compiled within a with block; loading from the cache does not count.

    Parameters
    ----------
    report : callable
        Takes the number of kernels compiled in this process so far, this one with them, and the name of this one.
        It is called in the thread that compiles.

    Examples
    --------
    >>> from swftools.kernel import kernel
    >>> triple = kernel(lambda x: 3 * x)
    >>> names = []
    >>> with watch_compiling(lambda count, name: names.append(name)):
    ...     nine = triple(3)
    >>> len(names)
    1
    """
    WATCH.reports.append(report)
    try:
        yield
    finally:
        WATCH.reports.remove(report)

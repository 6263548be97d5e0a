# SPDX-License-Identifier: BSD-3-Clause
"""Who is told that kernels are compiled: watchers always, the log once and only when it takes long, else nobody."""

from __future__ import annotations

import logging
import os
import sys

import pytest

from swftools.kernel import compiling, kernel, watch_compiling
from tests.folders import ROOT
from tests.forked import NUMBA

needs_jit = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")


class Clock:
    """A clock that stands still unless it is moved."""

    time = 50.0

    def perf_counter(self) -> float:
        """Return the time, s."""
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """In place of the module's clock."""
    clock = Clock()
    monkeypatch.setattr(compiling, "time", clock)
    return clock


def named(x):  # type: ignore[no-untyped-def]
    """Stand for a kernel."""
    return x


def test_the_log_is_told_once_and_late(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """Not before it took a second in all, nested kernels counted once, and never again."""
    caplog.set_level(logging.INFO, "swftools")
    watch = compiling.Watch()
    for step in (0.6, 0.3):
        watch.begin(named)
        watch.begin(named)
        clock.time += step
        watch.end()
        watch.end()
        clock.time += 100.0  # no time of compiling
    assert watch.seconds == pytest.approx(0.9)
    assert caplog.records == []
    for _ in range(2):
        watch.begin(named)
        clock.time += 0.2
        watch.end()
    assert watch.count == 6
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("swftools", logging.INFO)
    assert "compiling kernels" in record.message


@needs_jit
def test_watchers_are_told_of_each() -> None:
    """A kernel is told before those within it, with a count, and only within the block."""
    inner = kernel(lambda x: x + 1)
    outer = kernel(lambda x: inner(x) + 1)
    told: list[tuple[int, str]] = []
    with watch_compiling(lambda count, name: told.append((count, name))):
        assert outer(1) == 3
        assert outer(1) == 3
    assert outer(1.0) == 3.0
    (first, name), (second, _) = told
    assert second == first + 1
    assert name.startswith(f"{__name__}.test_watchers")


@needs_jit
def test_watchers_go_with_an_error() -> None:
    """Also if the block raises."""
    told: list[str] = []
    with pytest.raises(ValueError, match="mine"), watch_compiling(lambda count, name: told.append(name)):
        raise ValueError("mine")
    kernel(lambda x: x)(1)
    assert told == []


@needs_jit
def test_functions_of_others_are_not_told() -> None:
    """What a program compiles for itself is its own affair."""
    from numba import njit  # noqa: PLC0415

    told: list[str] = []
    with watch_compiling(lambda count, name: told.append(name)):
        assert njit(lambda x: x + 2)(1) == 3
    assert told == []


SILENT = """
import time
from swftools.kernel import compiling, kernel
compiling.LONG = 0.0
{configure}
@kernel
def one(x):
    return x
one(1)
"""


@needs_jit
def test_nothing_is_printed_unless_it_is_asked_for() -> None:
    """A program that imports swftools decides on its log."""
    for configure, lines in [("", 0), ("import logging; logging.basicConfig(level=logging.INFO)", 1)]:
        text = SILENT.format(configure=configure)
        run = NUMBA.run([sys.executable, "-c", text], ROOT, dict(os.environ))
        assert (run.returncode, run.stdout) == (0, "")
        assert run.stderr.count("compiling kernels") == len(run.stderr.splitlines()) == lines

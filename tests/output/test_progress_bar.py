# SPDX-License-Identifier: BSD-3-Clause
"""Bars of progress that users pass to long calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tqdm.auto

import swftools
import swftools.output.progress_bar as module
from swftools.output.progress_bar import progress_bar


class _Bar:
    """Stands for a bar of tqdm, and keeps what it is told."""

    made: list[_Bar]

    def __init__(self, **options: Any) -> None:
        self.options, self.n, self.note, self.is_closed = options, 0, "", False
        self.made.append(self)

    def update(self, more: int) -> None:
        self.n += more

    def set_postfix_str(self, note: str, refresh: bool) -> None:
        self.note = note

    def close(self) -> None:
        self.is_closed = True


def screen(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> None:
    """Let standard error be a terminal, or a file, for bars only: pytest has one of its own."""
    stderr = SimpleNamespace(isatty=lambda: is_terminal)
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=stderr, modules=sys.modules))


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[_Bar]:
    """The bars that are made, by a terminal that is there."""
    _Bar.made = []
    monkeypatch.setattr(tqdm.auto, "tqdm", _Bar)
    screen(monkeypatch, is_terminal=True)
    return _Bar.made


def test_a_bar(bars: list[_Bar]) -> None:
    """It begins at the first call, is full and closed at the last, and the next call begins another."""
    bar = progress_bar("EASY\x1b[2J")
    bar(2, 10, 172_800.0)
    (first,) = bars
    assert first.options == {"desc": r"EASY\x1b[2J", "total": 10, "disable": False, "unit": " jobs"}
    assert (first.n, first.note, first.is_closed) == (2, "day 2.0", False)
    bar(7, 10, "night\n")
    assert (first.n, first.note) == (7, r"night\n")
    bar(10, 10)
    assert (first.n, first.is_closed) == (10, True)
    bar(10, 10)
    assert len(bars) == 1
    bar(1, 4)
    bar(3, 4)
    bar(1, 4)  # another call: what is done does not shrink
    assert [(each.n, each.is_closed) for each in bars[1:]] == [(3, True), (1, False)]


def test_what_is_over_at_once_has_no_bar(bars: list[_Bar]) -> None:
    """As a simulation of few jobs."""
    progress_bar()(5, 5)
    assert bars == []


def test_bytes_of_a_pipe(bars: list[_Bar]) -> None:
    """No total, units that grow; closed by the with block, also when the call fails."""

    def read() -> None:
        with progress_bar("reading", "bytes") as bar:
            bar(100, None)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        read()
    assert bars[0].options | {"unit": "B", "unit_scale": True, "unit_divisor": 1024, "total": None} == bars[0].options
    assert bars[0].is_closed


@pytest.mark.parametrize(("config", "is_seen"), [({"IPKernelApp": {}}, True), ({}, False)])
def test_in_a_notebook(
    bars: list[_Bar], monkeypatch: pytest.MonkeyPatch, config: dict[str, Any], is_seen: bool
) -> None:
    """A kernel of Jupyter shows it though its standard error is no terminal; IPython in a pipe does not."""
    screen(monkeypatch, is_terminal=False)
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(config=config))
    monkeypatch.setitem(sys.modules, "IPython", shell)  # type: ignore[misc]
    progress_bar()(1, 2)
    assert bars[0].options["disable"] is not is_seen


def test_without_a_terminal_nothing_is_written(capfd: pytest.CaptureFixture[str]) -> None:
    """By the true tqdm, in a script whose output goes to a file."""
    bar = progress_bar("x")
    for done in range(1, 4):
        bar(done, 3)
    assert capfd.readouterr() == ("", "")


def test_what_the_long_functions_take(bars: list[_Bar], shipped_log: Path) -> None:
    """A reader tells bytes, a simulation jobs and time, a replay jobs; each ends with a full bar, or none."""
    trace = swftools.read_log(shipped_log, progress=swftools.progress_bar("reading", "bytes"))
    assert bars
    assert all(bar.is_closed and bar.n == bar.options["total"] for bar in bars)
    swftools.simulate(trace, "fcfs", progress=swftools.progress_bar())
    assert all(bar.is_closed for bar in bars)


def test_importing_loads_no_tqdm() -> None:
    """Nor what else is for notebooks only."""
    code = "import sys, swftools; swftools.progress_bar(); print('tqdm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"

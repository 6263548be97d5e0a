# SPDX-License-Identifier: BSD-3-Clause
"""What the console shows while something takes long: a bar on a terminal, else at most a line, all on stderr."""

from __future__ import annotations

import importlib
import io
import re
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from click.testing import CliRunner

import swftools.kernel_warm_up  # noqa: F401 (or it would come when a test has put its own rehearsals in place)
from pipelines.cli import progress
from pipelines.cli.main import main
from swftools.kernel import kernel, rehearsals
from swftools.simulator import simulation
from swftools.simulator.run import driver


class Terminal(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def test_a_simulation_on_a_terminal() -> None:
    """Jobs done of all, and the day it is; the bar is taken away at the end."""
    with redirect_stderr(Terminal()) as terminal, progress.simulation_shown() as told:
        told(10, 40, 86_400.0)
        told(30, 40, 172_800.0)
    shown = terminal.getvalue()
    assert "10/40" in shown
    assert re.search(r"simulating: +75%.* 30/40 .*day 2\.0", shown)
    assert shown.endswith("\r")
    assert "\n" not in shown


def test_a_short_simulation_shows_nothing() -> None:
    """Its only news is that it is done."""
    with redirect_stderr(Terminal()) as terminal, progress.simulation_shown() as told:
        told(40, 40, 86_400.0)
    assert terminal.getvalue() == ""


def test_elsewhere_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Into a file or pipe goes no bar."""
    with progress.simulation_shown() as told:
        told(10, 40, 86_400.0)
    with progress.warm_up_shown() as steps:
        steps(1, 20, "policy easy")
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of the module; what is appended is the time."""
    times = [5.0]

    class Clock:
        perf_counter = staticmethod(lambda: times[-1])

    monkeypatch.setattr(progress, "time", Clock)
    return times


needs_jit = pytest.mark.skipif(not hasattr(kernel(lambda x: x).compiled, "overloads"), reason="NUMBA_DISABLE_JIT")


@needs_jit
def test_compiling_elsewhere_is_one_line(times: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    """Once it takes long, and once only."""
    with progress.compiling_shown():
        for seconds in (0.0, 0.9, 1.1, 2.0):
            assert capsys.readouterr().err == ""
            times.append(5.0 + seconds)
            kernel(lambda x: x + 1)(1)
            if seconds == 1.1:
                assert capsys.readouterr().err == progress.COMPILING + "\n"
    kernel(lambda x: x + 1)(1)
    assert capsys.readouterr() == ("", "")


@needs_jit
def test_compiling_on_a_terminal() -> None:
    """The kernel's name and how many; gone when the simulation has news."""
    with redirect_stderr(Terminal()) as terminal, progress.simulation_shown() as told:
        kernel(lambda x: x + 1)(1)
        assert "compiling kernels, once" in terminal.getvalue()
        assert "<lambda>" in terminal.getvalue()
        told(1, 2, 0.0)
        rest = terminal.getvalue().rpartition("compiling")[2]
        assert re.search(r"\r +\r\rsimulating: ", rest)


def test_simulate_tells_its_progress(monkeypatch: pytest.MonkeyPatch, shipped_log: Path) -> None:
    """The command passes it on; what is printed on stdout is the same."""
    monkeypatch.setattr(simulation, "PAUSE", 0.0)
    monkeypatch.setattr(driver, "MANY", 100)
    told = []

    class Heard(progress.Bar):
        def show(self, done: int, total: int | None = None, note: str = "") -> None:
            told.append((self.what, done, total))

    monkeypatch.setattr(progress, "Bar", Heard)
    result = CliRunner().invoke(main, ["simulate", str(shipped_log), "--policy", "fcfs"])
    assert result.exit_code == 0, result.output
    jobs = [step for step in told if step[0] == "simulating"]
    assert len(jobs) > 1
    assert jobs[-1][1] == jobs[-1][2] == 4784


@needs_jit
def test_warm_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command says how many kernels it compiled; the second time, none."""
    (tmp_path / "kernel_of_a_rehearsal.py").write_text(
        "from swftools.kernel import kernel\n\n@kernel\ndef one():\n    return 1\n\n"
        "@kernel\ndef two():\n    return one() + one()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("kernel_of_a_rehearsal")
    monkeypatch.setattr(rehearsals, "_REHEARSALS", [lambda: [("two", module.two), ("nothing", lambda: None)]])
    for expected in ("kernels compiled: 2\n", "every kernel is in the cache already\n"):
        result = CliRunner().invoke(main, ["warm-up"])
        assert result.exit_code == 0, result.output
        assert result.stdout == expected

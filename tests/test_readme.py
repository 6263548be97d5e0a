# SPDX-License-Identifier: BSD-3-Clause
"""README is read in a minute, and what it shows is what comes out."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.folders import ROOT
from tests.pages import README, blocks_of
from tests.pipelines.luigi_runs import SWFTOOLS, run

TEXT = README.read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ swftools (.+)\n((?:(?!\$ |```).*\n)*)", TEXT, re.MULTILINE)


def test_it_is_short() -> None:
    """A page that takes longer than a minute is not read."""
    assert len(TEXT.encode()) < 4000
    assert len(COMMANDS) == 3


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[command.split()[0] for command, _ in COMMANDS])
def test_commands(command: str, shown: str, tmp_path: Path) -> None:
    """Each prints what is shown below it; "..." stands for lines that are left out."""
    result = run([*SWFTOOLS, *command.split()], tmp_path, COLUMNS="80")
    assert result.returncode == 0, result.stderr
    assert len(shown.splitlines()) > 2
    assert doctest.OutputChecker().check_output(shown, result.stdout, doctest.ELLIPSIS), result.stdout


def test_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines of Python run where the checkout begins."""
    monkeypatch.chdir(ROOT)
    [(_, block)] = blocks_of(README)
    assert len([line for line in block.splitlines() if line]) == 6
    exec(compile(block, README.name, "exec"), {})

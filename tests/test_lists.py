# SPDX-License-Identifier: BSD-3-Clause
"""The tables of measures and policies on the pages are those that are declared; ``make lists`` writes them."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path

import pytest

from swftools.simulator.measure_definitions import MEASURES, Measure
from tests.folders import ROOT

sys.path.append(str(ROOT / "docs"))
MAKE = runpy.run_path(str(ROOT / "docs" / "make_lists.py"))


def test_pages_are_as_declared() -> None:
    """Run ``make lists`` after a change of a measure or a policy."""
    assert MAKE["main"](["--check"]) == 0


def test_every_measure_has_a_row() -> None:
    """With its unit and its meaning."""
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert all(f"\n| `{name}` | {each.unit} | {each.meaning} |\n" in page for name, each in MEASURES.items())


def test_a_policy_says_what_it_needs() -> None:
    """By its default parameters, too; and what stands in the way of a table is escaped."""
    page = (ROOT / "docs" / "simulator.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| `genetic` |"))
    assert "; needs `utility` | If users say" in row
    assert MAKE["of_measures"]({"odd": Measure("1", "higher", "a | b")}).endswith("| `odd` | 1 | a \\| b |\n")


def test_what_differs_is_written_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The check names the page and what to run, and leaves it; other text of a page stays."""
    for name in MAKE["TABLES"]:
        shutil.copy(ROOT / "docs" / name, tmp_path)
    monkeypatch.setitem(MAKE["main"].__globals__, "DOCS", tmp_path)
    page = tmp_path / "metrics.md"
    text = page.read_text(encoding="utf-8")
    wrong = text.replace("| `wait` | s |", "| `wait` | h |")
    page.write_text(wrong, encoding="utf-8")
    assert MAKE["main"](["--check"]) == 1
    assert capsys.readouterr().out == "metrics.md: differs; run make lists\n"
    assert page.read_text(encoding="utf-8") == wrong != text
    assert MAKE["main"]([]) == 0
    assert page.read_text(encoding="utf-8") == text
    with pytest.raises(ValueError, match="has no table behind"):
        MAKE["written"]("simulator.md", "## Policies\n\nnone\n")

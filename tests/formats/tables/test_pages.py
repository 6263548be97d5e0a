# SPDX-License-Identifier: BSD-3-Clause
"""The pages of formats of tables are those that their classes make, and say what a reader needs."""

from __future__ import annotations

import runpy

from tests.folders import ROOT
from tests.formats.tables.made import TABLES

MAKE = runpy.run_path(str(ROOT / "docs" / "make_format_pages.py"))


def test_pages_are_as_they_are_made() -> None:
    """Run ``make format-pages`` after a change of a format."""
    assert MAKE["main"](["--check"]) == 0


def test_each_format_says_what_a_page_needs() -> None:
    """What a job is, its width, its machine, on what it was tried, and whose the rows are."""
    assert len(TABLES) >= 15
    for kind in TABLES.values():
        for told in (kind.JOB, kind.WIDTH, kind.MACHINE, kind.TRIED, kind.LICENCE):
            assert told.endswith((".", "`")), kind.NAME


def test_a_page_that_differs_is_told(capsys) -> None:  # type: ignore[no-untyped-def]
    """The check fails where a page is not what the class says."""
    path, _ = next(iter(MAKE["pages"]().items()))
    before = path.read_text(encoding="utf-8")
    try:
        path.write_text(before + "more", encoding="utf-8")
        assert MAKE["main"](["--check"]) == 1
        assert f"{path.name}: not as it would be written" in capsys.readouterr().out
    finally:
        path.write_text(before, encoding="utf-8")

# SPDX-License-Identifier: BSD-3-Clause
"""Tests stand in the rooms of what they test, and are found where the pages say that they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.folders import ROOT
from tests.pages import DOCS

OTHERS = {"benchmark", "corpus", "mutants", "naive", "real_slurm", "slurm_runs", "reference"}
"""Folders that are no rooms: timings, strangers' inputs, planted changes, slow twins, real Slurms, published values."""

_PATH = re.compile(r"\btests/[\w/]+(?:\.py|\.txt)?")


def test_every_folder_of_tests_is_a_room() -> None:
    """``tests/a/b`` is for ``swftools/a/b``, and ``tests/pipelines/a`` for ``pipelines/a``."""
    top = ROOT / "tests"
    folders = [path.relative_to(top).parent for path in top.rglob("*.py") if path.parent != top]
    rooms = {folder for folder in folders if folder.parts[0] not in OTHERS}
    assert len(rooms) > 10
    homes = {folder: ROOT if folder.parts[0] == "pipelines" else ROOT / "swftools" for folder in rooms}
    assert [] == sorted(str(folder) for folder, home in homes.items() if not (home / folder).is_dir())


@pytest.mark.parametrize("page", [*sorted(DOCS.glob("*.md")), ROOT / "README.md"], ids=lambda page: page.stem)
def test_tests_named_on_pages_are_there(page: Path) -> None:
    """A page that names a test, or a folder of tests, names one that there is."""
    named = _PATH.findall(page.read_text(encoding="utf-8"))
    assert [] == [path for path in named if not (ROOT / path).exists()]

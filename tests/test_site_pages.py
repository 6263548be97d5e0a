# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the site that are made from tables of papers, and addresses of pages that moved."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from pipelines.papers import find_paper, list_papers
from tests.folders import ROOT
from tests.pages import DOCS, PAGES

sys.path.append(str(DOCS))

from site_pages import moved, reproduction

TABLES = sorted(reproduction.TABLES.glob("*.csv"), key=lambda path: path.stem)


def test_each_paper_of_the_makefile_has_its_table() -> None:
    """And no other has one; each is in the list of pages."""
    names = re.search(r"^PAPERS = (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert names is not None
    assert sorted(names[1].split()) == [path.stem for path in TABLES]
    listed = re.findall(
        r"^made/reproduction/(.*)$", (DOCS / "reproduction.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(listed) == [path.stem for path in TABLES]
    assert {path.stem for path in TABLES} <= set(list_papers())


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_table_is_read_as_it_was_written(path: Path, tmp_path: Path) -> None:
    """To the byte; its page shows every place of the paper that it has, and every picture."""
    cells = reproduction.read_table(path)
    reproduction.write_table(cells, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == path.read_bytes()
    paper = find_paper(path.stem)
    assert set(cells["place"]) <= {table.place for table in paper.tables}
    page = reproduction.page_of(paper, path)
    assert page.startswith(f"# {path.stem}\n")
    assert page.count("\n## ") == cells["place"].nunique()
    assert reproduction.NOTHING not in page
    assert re.findall(r"\]\(\.\./\.\./(pictures/.*\.svg)\)", page) == [
        f"pictures/{paper.name}_{name}.svg" for name in paper.pictures
    ]
    assert all((DOCS / "pictures" / reproduction.picture_file(paper, name)).exists() for name in paper.pictures)


def test_what_is_missing_stays_missing(tmp_path: Path) -> None:
    """An empty text is no missing one where a column always has one; numbers have the digits that pages show."""
    row = {"place": "Table 1", "row": "", "column": "a", "unit": "s", "reading": "", "is_chosen": True, "printed": None}
    row |= {"ours": 1 / 3, "spread": float("nan"), "rule": None, "is_reproduced": None, "definition": "", "note": None}
    cells = pd.DataFrame([row, row | {"printed": "NA", "is_reproduced": False, "note": "none"}])
    reproduction.write_table(cells.assign(paper="x", ratio=2.0), tmp_path / "x.csv")
    found = reproduction.read_table(tmp_path / "x.csv")
    assert found["row"].tolist() == ["", ""]
    assert found["printed"].isna().tolist() == [True, False]
    assert found["printed"].iloc[1] == "NA"
    assert found["is_reproduced"].isna().tolist() == [True, False]
    assert found["note"].tolist()[1] == "none"
    assert found["ours"].tolist() == [0.333333333333] * 2
    assert found["is_chosen"].tolist() == [True, True]


def test_addresses_that_moved(tmp_path: Path) -> None:
    """Each leads to a page and a heading that is there, and is none itself."""
    (tmp_path / "made").mkdir()
    (tmp_path / "new.html").write_text('<section id="part">')
    (tmp_path / "made" / "x.html").write_text("")
    good = {"old": "new.html#part", "older": "new.html", "papers/x": "../made/x.html"}
    assert list(moved.faults(good, {"new"}, tmp_path)) == []
    bad = {"old": "new.html#gone", "older": "gone.html", "new": "new.html", "papers/x": "made/x.html"}
    assert list(moved.faults(bad, {"new"}, tmp_path)) == [
        "old leads to new.html#gone, which has no such heading",
        "older leads to gone.html, which is not there",
        "new is a page",
        "papers/x leads to made/x.html, which is not there",
    ]


def test_pages_that_were_joined_are_led_to_where_they_are() -> None:
    """Of all that had an address with version 1.0.0."""
    known = set(yaml.safe_load((DOCS / "redirects.yaml").read_text(encoding="utf-8")))
    assert {"whatif", "bounds", "rivals", "operation", "pipeline", "data_dictionary", "reproduction/lee2009"} <= known
    assert known.isdisjoint(page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES)

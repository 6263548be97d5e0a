# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the documentation: their Python blocks, and the tables on them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.folders import ROOT

DOCS = ROOT / "docs"
README = ROOT / "README.md"

PAGES = sorted(page for page in DOCS.rglob("*.md") if "made" not in page.relative_to(DOCS).parts)
"""What people wrote; ``docs/made`` is made when the site is."""

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks_of(page: Path) -> Iterator[tuple[int, str]]:
    """Yield the Python blocks of a page, with the number of the line before each."""
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        yield text[: match.start(1)].count("\n"), match[1]


def tables_on_page(page: str, heading: str) -> list[dict[str, list[str]]]:
    """Return the rows of each table with a heading, by the name in their first cell."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = []
    for match in re.finditer(rf"^\| {re.escape(heading)} \|", text, re.MULTILINE):
        lines = text[match.start() :].split("\n\n")[0].splitlines()[2:]
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        found.append({row[0].strip("`"): row[1:] for row in cells if row[0]})
    return found


def table_on_page(page: str, heading: str) -> dict[str, list[str]]:
    """Return the first of them."""
    return tables_on_page(page, heading)[0]

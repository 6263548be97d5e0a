"""The pages of the documentation, and the tables on them."""

from __future__ import annotations

from tests.folders import ROOT

DOCS = ROOT / "docs"


def table_on_page(page: str, heading: str) -> dict[str, list[str]]:
    """Return the rows of the table with a heading, by the name in their first cell."""
    text = (DOCS / page).read_text(encoding="utf-8")
    lines = text[text.index(f"| {heading} |") :].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in cells if row[0]}

# SPDX-License-Identifier: BSD-3-Clause
"""The pages of papers: what ``make reproduction`` committed as a table, PAPER.csv, each cell beside its definition."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pipelines.papers import Paper, find_paper
from pipelines.papers.report import as_markdown
from site_pages.written import write_pages

TABLES = Path(__file__).parents[1] / "reproduction"

COLUMNS = {
    **dict.fromkeys(("place", "row", "column", "unit", "reading"), "str"),
    "is_chosen": "bool",
    "printed": "str",
    **dict.fromkeys(("ours", "spread"), "float64"),
    "rule": "str",
    "is_reproduced": "boolean",
    **dict.fromkeys(("definition", "note"), "str"),
}
"""Of the table ``reproduction``, those from which the others follow, with their types."""

NOTHING = ": nothing to compare with"
"""Ends the line of a table of which the paper prints no number; a page does without these lines."""


def write(folder: Path) -> None:
    """Write a page for each table."""
    write_pages(
        folder, {f"{path.stem}.md": page_of(find_paper(path.stem), path) for path in sorted(TABLES.glob("*.csv"))}
    )


def page_of(paper: Paper, path: Path) -> str:
    """Return the page of a paper, with its pictures."""
    told = as_markdown(paper, paper.tables, read_table(path)).splitlines(keepends=True)
    parts = ["".join(line for line in told if not line.endswith(f"{NOTHING}\n"))]
    parts += [f"![{paper.name}: {name}](../../pictures/{picture_file(paper, name)})\n" for name in paper.pictures]
    return "\n".join(parts)


def picture_file(paper: Paper, name: str) -> str:
    """Return the name of the file of a picture of a paper."""
    return f"{paper.name}_{name}.svg"


def write_table(cells: pd.DataFrame, path: Path) -> None:
    """Write the table ``reproduction`` but for what follows from others; a page shows fewer than twelve digits."""
    cells[list(COLUMNS)].to_csv(path, index=False, float_format="%.12g", lineterminator="\n")


def read_table(path: Path) -> pd.DataFrame:
    """Return what ``write_table`` wrote; an empty text is a text only in columns that always have one."""
    cells = pd.read_csv(path, dtype=COLUMNS, keep_default_na=False, na_values={name: [""] for name in _MAY_LACK})
    return cells[list(COLUMNS)]


_MAY_LACK = ("printed", "ours", "spread", "rule", "is_reproduced", "note")

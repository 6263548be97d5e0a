# SPDX-License-Identifier: BSD-3-Clause
"""Write docs/reproduction/PAPER.md, and pictures, from what ``swftools reproduce`` published: ``make reproduction``.

These pages are made by this and by nothing else; equal data sets and library versions give equal files.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from make_pictures import PICTURES

from pipelines.papers import Paper, find_paper
from pipelines.papers.report import as_markdown
from pipelines.store.data_root import DataRoot
from swftools.plots import style
from swftools.tables import to_pandas

PAGES = Path(__file__).parent / "reproduction"

NOTHING = ": nothing to compare with"
"""Ends the line of a table of which the paper prints no number; a page does without these lines."""


def main(data_root: str, *names: str) -> None:
    """Write the pages of papers from a data root where all of them are published."""
    root = DataRoot.open(data_root)
    PAGES.mkdir(exist_ok=True)
    for name in names:
        paper = find_paper(name)
        data_set = f"{paper.name}-reproduction"
        told = as_markdown(paper, paper.tables, read(root, data_set, "reproduction")).splitlines(keepends=True)
        parts = ["".join(line for line in told if not line.endswith(f"{NOTHING}\n"))]
        parts += [draw(paper, picture, read(root, data_set, "measurements")) for picture in paper.pictures]
        (PAGES / f"{name}.md").write_text("\n".join(parts), encoding="utf-8")
        sys.stdout.write(f"docs/reproduction/{name}.md\n")


def read(root: DataRoot, data_set: str, table: str) -> pd.DataFrame:
    """Return a table of the latest version of a data set."""
    return to_pandas(root.read_table(data_set, table), table)


def draw(paper: Paper, name: str, measurements: pd.DataFrame) -> str:
    """Draw a picture of a paper, and return what shows it on the page."""
    file = f"{paper.name}_{name}.svg"
    with style():
        paper.pictures[name](measurements).savefig(PICTURES / file, metadata={"Date": None})
    sys.stdout.write(f"docs/pictures/{file}\n")
    return f"![{paper.name}: {name}](../pictures/{file})\n"


if __name__ == "__main__":
    main(*sys.argv[1:])

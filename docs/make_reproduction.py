# SPDX-License-Identifier: BSD-3-Clause
"""Write docs/reproduction/PAPER.csv, and pictures, from what ``swftools reproduce`` published: ``make reproduction``.

These tables are made by this and by nothing else; equal data sets and library versions give equal files. The site makes
pages of them.
"""

from __future__ import annotations

import sys

import pandas as pd
from make_pictures import PICTURES
from site_pages.reproduction import TABLES, picture_file, write_table

from pipelines.papers import Paper, find_paper
from pipelines.store.data_root import DataRoot
from swftools.plots import style
from swftools.tables import to_pandas


def main(data_root: str, *names: str) -> None:
    """Write the tables of papers from a data root where all of them are published."""
    root = DataRoot.open(data_root)
    for name in names:
        paper = find_paper(name)
        data_set = f"{paper.name}-reproduction"
        write_table(read(root, data_set, "reproduction"), TABLES / f"{name}.csv")
        sys.stdout.write(f"docs/reproduction/{name}.csv\n")
        for picture in paper.pictures:
            draw(paper, picture, read(root, data_set, "measurements"))


def read(root: DataRoot, data_set: str, table: str) -> pd.DataFrame:
    """Return a table of the latest version of a data set."""
    return to_pandas(root.read_table(data_set, table), table)


def draw(paper: Paper, name: str, measurements: pd.DataFrame) -> None:
    """Draw a picture of a paper."""
    file = picture_file(paper, name)
    with style():
        paper.pictures[name](measurements).savefig(PICTURES / file, metadata={"Date": None})
    sys.stdout.write(f"docs/pictures/{file}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Write docs/reproduction.md, and its pictures, from what ``swftools reproduce`` published: ``make reproduction``.

The page is made by this and by nothing else; equal data sets and library versions give equal files.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from make_pictures import PICTURES

from pipelines.papers import Paper, list_papers
from pipelines.papers.report import as_markdown
from pipelines.store.data_root import DataRoot
from swftools.plots import style
from swftools.tables import to_pandas

PAGE = Path(__file__).parent / "reproduction.md"
HEADING = """\
# Papers' tables, made anew

What papers on this subject print, beside what comes out here, of the same logs. This page is made by `make
reproduction` from the data sets that the commands below publish, and is not edited by hand. Nothing is tuned to hit
a printed number: where a paper can be read in several ways, the reading is named, and others stand beside it; what
does not come out is shown as such.

```
swftools reproduce chiang2008 --workers 2
swftools reproduce chiang2008-large --workers 2
swftools reproduce lee2009 --workers 2
swftools reproduce nurmi2009 --workers 2
swftools reproduce yuan2010 --workers 2
```

`chiang2008-large` has what takes searches of more than 4,000 nodes, and most of the time. That paper's own log, of the
IA-64 cluster at NCSA, is not public: its figures and statements stand here beside the two logs that it names as
qualitatively the same, months of SDSC-SP2 and KTH-SP2, and no number of it can be compared. What can be is an
independent program that was written by the same rules (`--table other-program`).

`lee2009` takes its window of SDSC-BLUE from the shipped excerpt. What it does with a survey of users and the log of
those weeks, neither of which is public, is done with a made-up survey and an earlier log of that machine.

The logs are those of the cards in `data_catalog.yaml`, fetched from their archive, or found in the directories of
`log_path` (`SWFTOOLS_LOG_PATH=~/traces`). `--table 4.1` makes one table, `--logs my.swf` the same of your own log,
`--quick` all of it from the shipped excerpt in seconds, which shows that it runs, and nothing of the papers. Each
experiment is a task: what is finished is not computed again.

The data set has two tables. `reproduction` has a row a cell and reading: place, row, column, unit, reading, the value
as printed and as a number, ours with its standard error, difference, ratio, the rule by which it counts as
reproduced, whether it does, the definition, and what is known of why it does not. `measurements` has all that the
experiments measured, curves too. [Add a paper](add_a_paper.md) says how another is made.
"""


def main(data_root: str) -> None:
    """Write the page from a data root."""
    root = DataRoot.open(data_root)
    parts = [HEADING]
    for _, paper in sorted(list_papers().items()):
        data_set = f"{paper.name}-reproduction"
        parts.append(as_markdown(paper, paper.tables, read(root, data_set, "reproduction"), "##"))
        parts += [draw(paper, name, read(root, data_set, "measurements")) for name in paper.pictures]
    PAGE.write_text("\n".join(parts), encoding="utf-8")
    sys.stdout.write("docs/reproduction.md\n")


def read(root: DataRoot, data_set: str, table: str) -> pd.DataFrame:
    """Return a table of the latest version of a data set."""
    return to_pandas(root.read_table(data_set, table), table)


def draw(paper: Paper, name: str, measurements: pd.DataFrame) -> str:
    """Draw a picture of a paper, and return what shows it on the page."""
    file = f"{paper.name}_{name}.svg"
    with style():
        paper.pictures[name](measurements).savefig(PICTURES / file, metadata={"Date": None})
    sys.stdout.write(f"docs/pictures/{file}\n")
    return f"![{paper.name}: {name}](pictures/{file})\n"


if __name__ == "__main__":
    main(*sys.argv[1:])

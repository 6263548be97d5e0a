# SPDX-License-Identifier: BSD-3-Clause
"""The table ``reproduction``: what a paper prints beside what we measured, and whether that is the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isnan
from typing import Any

import pandas as pd

from pipelines.papers.paper import Measurements, Paper, PaperTable
from swftools.fields.dictionary import table_fields


def compare(paper: Paper, tables: Iterable[PaperTable], found: Measurements, *, quick: bool = False) -> pd.DataFrame:
    """Return the cells of tables: published, ours, and whether it reproduces.

    Parameters
    ----------
    paper : Paper
        Whose tables they are.
    tables : iterable of PaperTable
        Those that are wanted.
    found : Measurements
        What the experiments measured that they plan.
    quick : bool
        The experiments were to be quick.

    Returns
    -------
    pandas.DataFrame
        The table ``reproduction`` of the column dictionary, in the order of the tables.
    """
    rows = [row for table in tables for row in _rows(paper, table, found, quick)]
    frame = pd.DataFrame(rows, columns=list(table_fields("reproduction")))
    numbers = [name for name, field in table_fields("reproduction").items() if str(field.type) == "double"]
    return frame.astype(dict.fromkeys(numbers, "float64") | {"is_reproduced": "boolean", "is_chosen": "bool"})


def _rows(paper: Paper, table: PaperTable, found: Measurements, quick: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table."""
    for cell in table.cells(found, table.printed, quick):
        published = _number(cell.printed)
        compared = cell.rule is not None and not isnan(published) and not isnan(cell.ours)
        verdict = cell.reproduces
        if cell.rule is not None and compared:
            verdict = cell.rule.holds(cell.ours, published)
        yield {
            "paper": paper.name,
            "place": table.place,
            "row": cell.row,
            "column": cell.column,
            "unit": cell.unit,
            "reading": cell.reading,
            "is_chosen": cell.is_chosen,
            "printed": cell.printed,
            "published": published,
            "ours": cell.ours,
            "spread": cell.spread,
            "difference": cell.ours - published,
            "ratio": cell.ours / published if published else float("nan"),
            "rule": cell.rule.text if cell.rule is not None and compared else None,
            "is_reproduced": verdict,
            "definition": cell.definition,
            "note": cell.note or (cell.why if verdict is False else None),
        }


def _number(printed: str | None) -> float:
    """Return what is printed as a number; NaN if it is none."""
    try:
        return float(printed) if printed is not None else float("nan")
    except ValueError:
        return float("nan")

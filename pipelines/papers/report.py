# SPDX-License-Identifier: BSD-3-Clause
"""A reproduction in words: each table with published and ours side by side, and every value that is another."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Any

import pandas as pd

from pipelines.papers.paper import AS_WRITTEN, OURS, Paper, PaperTable

MARK = "✗"
"""Stands behind a value that is not reproduced."""

FRACTIONAL = ("1", "%", "min", "h", "processors")
"""Units whose values are shown with digits behind the point."""


def as_markdown(paper: Paper, tables: Sequence[PaperTable], cells: pd.DataFrame, heading: str = "#") -> str:
    """Return a reproduction as Markdown.

    Parameters
    ----------
    paper : Paper
        Whose it is.
    tables : sequence of PaperTable
        Those that were made.
    cells : pandas.DataFrame
        The table ``reproduction``.
    heading : str
        Of the paper; its tables have one ``#`` more.
    """
    sections = [
        f"{heading} {paper.name}",
        _ended(paper.citation),
        "\n".join(f"* {line}" for line in summary_lines(tables, cells)),
        f"Each value is published / ours; {MARK} stands behind one that is not reproduced. A value alone is ours, of a "
        "log, queue or measure of which the paper prints none."
        + (" Behind ± is the standard error of ours." if paper.tells_errors else ""),
    ]
    if not paper.tells_errors:
        cells = cells.assign(spread=nan)
    for table in tables:
        rows = cells[cells["place"] == table.place]
        if rows.empty:
            continue
        sections += [f"{heading}# {_title(table.place, table.title)}"]
        chosen = rows[rows["is_chosen"]]
        sections += [_list(chosen)] if table.is_list else [_grid(chosen), *_explained(chosen)]
        for reading, part in rows[~rows["is_chosen"]].groupby("reading", sort=False):
            sections += [_ended(f"Another reading: {reading}"), _grid(part)]
    return "\n\n".join(sections) + "\n"


def summary_lines(tables: Iterable[PaperTable], cells: pd.DataFrame) -> list[str]:
    """Return a line a table: how many of the values that can be compared are reproduced, by the chosen readings."""
    lines = []
    for table in tables:
        rows = cells[(cells["place"] == table.place) & cells["is_chosen"]]
        compared = rows["is_reproduced"].dropna()
        if not len(rows):
            told = "not of these logs, or they have too few jobs"
        elif not len(compared):
            told = "nothing to compare with"
        else:
            what = "statements hold" if table.is_list else "values reproduce"
            told = f"{int(compared.sum())} of {len(compared)} {what}"
        lines.append(f"{_title(table.place, table.title)}: {told}")
    return lines


def _title(place: str, title: str) -> str:
    """Return the heading of a table."""
    return title if place.startswith(OURS) else f"{place}. {title}"


def _grid(rows: pd.DataFrame) -> str:
    """Return cells as a Markdown table, published / ours in each."""
    columns = list(dict.fromkeys(rows["column"]))
    lines = [["", *(_with_unit(name, rows[rows["column"] == name]) for name in columns)]]
    lines.append(["---", *("---:" for _ in columns)])
    texts = {(row["row"], row["column"]): _pair(row) for row in rows.to_dict("records")}
    lines += [[row, *(texts.get((row, column), "") for column in columns)] for row in dict.fromkeys(rows["row"])]
    return _table(lines)


def _with_unit(column: str, rows: pd.DataFrame) -> str:
    """Return a heading with the unit of what stands below it, where that is one and has a name."""
    (unit, *others) = rows["unit"].unique()
    is_said = bool(others) or unit == "1" or f" {column}".endswith((f" {unit}", f"({unit})"))
    return column if is_said else f"{column}, {unit}"


def _list(rows: pd.DataFrame) -> str:
    """Return cells a line."""
    lines = [["statement", "published", "ours", "which is", "holds"], ["---", "---", "---:", "---", "---"]]
    for row in rows.to_dict("records"):
        holds = "" if _is_null(row["is_reproduced"]) else "yes" if row["is_reproduced"] else "no"
        told = row["definition"] if _is_null(row["note"]) else f"{row['definition']}; {row['note']}"
        lines.append([row["column"], row["printed"], _ours(row), told, holds])
    return _table(lines)


def _explained(rows: pd.DataFrame) -> Iterator[str]:
    """Yield what is measured and when it counts as reproduced; which readings were chosen; and what is not, and why."""
    defined = rows.drop_duplicates("column")
    for definition, part in defined.groupby("definition", sort=False):
        rules = rows.loc[rows["definition"] == definition, "rule"].dropna()
        reproduced = f"; reproduced {rules.iloc[0]}" if len(rules) else ""
        yield _ended(f"{', '.join(part['column'])}: {definition}{reproduced}")
    for reading, part in rows[rows["reading"] != AS_WRITTEN].groupby("reading", sort=False):
        yield _ended(f"Reading chosen for {_places(part, rows)}: {reading}")
    for why, part in rows.groupby("note", sort=False):
        if part["is_reproduced"].eq(False).fillna(False).any():
            yield _ended(f"Not reproduced, {why}: {_places(part, rows)}")
        else:
            yield _ended(f"Not compared, since {why}: {_places(part, rows)}")


def _ended(text: str) -> str:
    """Return a text with a full stop, one that ends with one as it is: "act." is the head of a column."""
    return text if text.endswith(".") else f"{text}."


def _places(part: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Return where some of the cells of a table stand: in whole columns, in whole rows, or each by itself."""
    for name in ("column", "row"):
        if len(part) == rows[name].isin(part[name]).sum():
            return ", ".join(dict.fromkeys(part[name]))
    return ", ".join(f"{row} {column}" for row, column in zip(part["row"], part["column"], strict=True))


def _pair(row: Mapping[Hashable, Any]) -> str:
    """Return a cell in words."""
    ours = _ours(row)
    if _is_null(row["printed"]):
        return ours
    missed = not _is_null(row["is_reproduced"]) and not row["is_reproduced"]
    return f"{row['printed']} / {ours or 'none'}{f' {MARK}' if missed else ''}"


def _ours(row: Mapping[Hashable, Any]) -> str:
    """Return our value in words, a share or the like with four digits behind the point below 10; nothing for none.

    Its standard error, where that is told, has as many digits behind the point.
    """
    value, error = row["ours"], row["spread"]
    if isnan(value):
        return ""
    digits = 0 if row["unit"] not in FRACTIONAL else 4 if abs(value) < 10 else 2
    return f"{value:.{digits}f}" if isnan(error) else f"{value:.{digits}f} ± {error:.{digits}f}"


def _is_null(value: Any) -> bool:
    """Whether a value of a column of words or truth values is missing."""
    return bool(pd.isna(value))


def _table(lines: list[list[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)

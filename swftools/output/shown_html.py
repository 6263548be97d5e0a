# SPDX-License-Identifier: BSD-3-Clause
"""How our objects show themselves: three lines where text is printed, and in a notebook the same above a small table.

An object says what it is in lines of plain text, and gives its first rows; here both become text or HTML. Whatever
comes from a log is escaped here, once, and nowhere else: the text by ``shown``, and on top of it the HTML. There is no
script, nothing is fetched, and no colour is set, so that the page's own are used, dark or light.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from swftools.output.shown_text import shown

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 100
"""Columns that a line of text has at most."""

LINES = 3
"""Lines of text that an object has at most."""

ROWS = 5
"""Rows of a table that are shown, if the object does not say otherwise."""

_CELL = 60
_MISSING = "-"
_MORE = ", ..."


class ShowsItself:
    """What prints as three lines, and shows itself in a notebook; a subclass says what stands there."""

    def _lines(self) -> Sequence[str]:
        """Return at most three lines, the first one with the name of the class; text of logs as it is."""
        raise NotImplementedError

    def _rows(self) -> tuple[pd.DataFrame, int]:
        """Return the first rows of a table in its chief columns, and how many rows there are in all."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return as_text(self._lines())

    def _repr_html_(self) -> str:
        return as_html(self._lines(), *self._rows())


def as_text(lines: Sequence[str]) -> str:
    r"""Return lines as a terminal shows them: at most ``LINES``, each of at most ``WIDTH`` columns.

    Examples
    --------
    >>> print(as_text(["Trace: night\nrun, 2 jobs", "missing: " + ", ".join(f"column_{i} 100 %" for i in range(18))]))
    Trace: night\nrun, 2 jobs
    missing: column_0 100 %, column_1 100 %, column_2 100 %, column_3 100 %, column_4 100 %, ...
    """
    return "\n".join(_fitted(shown(line)) for line in lines[:LINES])


def as_html(lines: Sequence[str], table: pd.DataFrame, rows: int) -> str:
    """Return lines and the first rows of a table as HTML for a notebook.

    Parameters
    ----------
    lines : sequence of str
        Shown whole, the first one bold.
    table : pandas.DataFrame
        All its rows are shown; it is left out if it has none.
    rows : int
        That there are in all.

    Examples
    --------
    >>> import pandas as pd
    >>> print(as_html(["a <b>"], pd.DataFrame(), 0))
    <div><p><b>a &lt;b&gt;</b></p></div>
    """
    first, *rest = (_escaped(line) for line in lines)
    text = "<br>".join([f"<b>{first}</b>", *rest])
    return f"<div><p>{text}</p>{_table(table, rows) if len(table) else ''}</div>"


def _table(table: pd.DataFrame, rows: int) -> str:
    """Return rows as a table, with how many there are if these are not all."""
    aligned = ["right" if dtype.kind in "iuf" else "left" for dtype in table.dtypes]
    head = "".join(
        f'<th style="text-align: {side}">{_escaped(name)}</th>' for side, name in zip(aligned, table, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align: {side}">{_escaped(_cell(value))}</td>'
            for side, value in zip(aligned, row, strict=True)
        )
        + "</tr>"
        for row in table.itertuples(index=False, name=None)
    )
    more = f"<p><small>the first {len(table):,} of {rows:,} rows</small></p>" if rows > len(table) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _escaped(text: object) -> str:
    """Return a text that a page shows and does not obey."""
    from html import escape  # noqa: PLC0415 (its table of entities is for notebooks only)

    return escape(shown(text))


def _cell(value: object) -> str:
    """Return a value of a table as people write it; missing is a dash."""
    import numpy as np  # noqa: PLC0415 (who has a table has loaded both; who prints a line need not)
    import pandas as pd  # noqa: PLC0415

    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return _MISSING
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    return str(int(value)) if isinstance(value, Integral) else shortened(value, _CELL)


def shortened(text: object, columns: int = 40) -> str:
    """Return a text as ``shown`` does, cut to so many columns.

    Examples
    --------
    >>> shortened("a name that somebody made long", 12)
    'a name th...'
    """
    whole = shown(text)
    return whole if _width(whole) <= columns else _head(whole, columns - 3) + "..."


def chief_columns(table: pd.DataFrame, names: Iterable[str], rows: int = ROWS) -> pd.DataFrame:
    """Return the first rows of a table in those of its columns that are named."""
    return table.loc[:, [name for name in names if name in table]].iloc[:rows]


def _fitted(line: str) -> str:
    """Return a line that fits; of one that is too long the last items are left out."""
    if _width(line) <= WIDTH:
        return line
    part = _head(line, WIDTH - len(_MORE))
    whole, comma, _ = part.rpartition(", ")
    return (whole if comma else part) + _MORE


def _head(text: str, columns: int) -> str:
    """Return as much of the beginning of a text as fits."""
    end = columns
    while _width(text[:end]) > columns:
        end -= 1
    return text[:end]


def _width(text: str) -> int:
    """Return the columns that a text takes: letters of the East take two."""
    return len(text) if text.isascii() else sum(1 + (east_asian_width(letter) in "WF") for letter in text)

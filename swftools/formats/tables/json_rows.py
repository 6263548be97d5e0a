# SPDX-License-Identifier: BSD-3-Clause
"""Rows of JSON: objects, a line each or in a list, in which values may stand deeper (``a.b``)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from swftools.formats.accounting.records import Reject, Stretch
from swftools.formats.accounting.spans import Spans, decode
from swftools.formats.tables.columns import Declaration
from swftools.formats.tables.kernel import find_objects
from swftools.formats.tables.rows import Sheet
from swftools.formats.tables.values import ColumnValues, TextValues

Row = dict[str, Any]
_NO_JSON = "no sound JSON"


class JsonRows:
    """Reads one file of JSON, stretch by stretch.

    Lines of objects are told by their lines. In a list objects are counted, since a list may be one line.

    Parameters
    ----------
    declaration : Declaration
        Which columns are asked for.
    is_list : bool
        Whether the file is a list.
    first : int
        Number of the first row.
    """

    def __init__(self, declaration: Declaration, *, is_list: bool, first: int = 1) -> None:
        self._declaration, self._is_list, self._next = declaration, is_list, first
        self._state = np.zeros(4, np.int64)
        self._seen: set[str] = set()

    def take(self, stretch: Stretch) -> tuple[Sheet, int, int, list[Row]]:
        """Return the rows of a stretch; the place from which it has to be given again; the line there; the objects."""
        spans, stop, rejects = self._of_list(stretch) if self._is_list else self._of_lines(stretch)
        text = stretch.text
        rows: list[Row] = []
        places: list[tuple[int, int, int]] = []
        for line, begin, end in spans:
            try:
                row = json.loads(decode(text[begin:end]))
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                rejects.append(Reject(line, begin, end, _NO_JSON))
                continue
            rows.append(row)
            places.append((line, begin, end))
        self._seen.update(name for row in rows for name in row)
        deep = [name for name in self._declaration.wanted() if "." in name]
        self._seen.update(name for name in deep if any(_value(row, name) is not None for row in rows))
        lines, begins, ends = np.array(places, np.int64).reshape(-1, 3).T.copy()
        declared = self._declaration.columns.values()
        columns: dict[str, ColumnValues] = {
            each.names[0]: column_of([_first(row, each.names) for row in rows]) for each in declared
        }
        for name in {*self._declaration.further, *(name for each in declared for name in each.times)}:
            columns[name] = column_of([_value(row, name) for row in rows])
        sheet = Sheet(columns, lines, begins, ends, text, rejects)
        behind = stretch.first_line + text.count(b"\n", 0, stop)
        if stretch.is_last and text and not text.endswith(b"\n"):
            behind += 1  # the last line lacks its end, and is a line
        return sheet, stop, behind, rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The keys of all objects so far."""
        return tuple(sorted(self._seen))

    def _of_list(self, stretch: Stretch) -> tuple[list[tuple[int, int, int]], int, list[Reject]]:
        text = stretch.text
        room = text.count(b"{") + 1
        begin, end = np.empty(room, np.int64), np.empty(room, np.int64)
        found, open_at = find_objects(text, self._state, begin, end)
        spans = [
            (self._next + number, int(at), int(stop))
            for number, (at, stop) in enumerate(zip(begin[:found], end[:found], strict=True))
        ]
        self._next += found
        rejects = []
        if open_at >= 0 and stretch.is_last:
            rejects.append(Reject(self._next, int(open_at), len(text), "the list ends within this object"))
            self._next += 1
        return spans, int(open_at) if open_at >= 0 and not stretch.is_last else len(text), rejects

    def _of_lines(self, stretch: Stretch) -> tuple[list[tuple[int, int, int]], int, list[Reject]]:
        spans = []
        at, line = 0, stretch.first_line
        for words in stretch.text.split(b"\n"):
            if words.strip():
                spans.append((line, at, at + len(words)))
            at += len(words) + 1
            line += 1
        return spans, len(stretch.text), []


def _value(row: Row, name: str) -> Any:
    """Return the value of a name, which may lead deeper by dots."""
    if name in row or "." not in name:
        return row.get(name)
    value: Any = row
    for word in name.split("."):
        value = value.get(word) if isinstance(value, dict) else None
    return value


def _first(row: Row, names: tuple[str, ...]) -> Any:
    """Return the value of the first of some names that has one."""
    return next((value for name in names if (value := _value(row, name)) is not None), None)


def column_of(values: list[Any]) -> ColumnValues:
    """Return a column of values as JSON has them."""
    return TextValues(_spans([None if value is None else _word(value) for value in values]))


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(_word(each) for each in value)
    return "" if isinstance(value, dict) else json.dumps(value)


def _spans(words: list[str | None]) -> Spans:
    array = pa.array(
        [None if word is None else word.strip().encode("utf-8", "surrogatepass") for word in words], pa.large_binary()
    )
    _, offsets, letters = array.buffers()
    places = np.frombuffer(offsets, np.int64)[: len(array) + 1] if len(array) else np.zeros(1, np.int64)
    absent = array.is_null().to_numpy(zero_copy_only=False)
    return Spans(letters.to_pybytes() if letters else b"", np.where(absent, -1, places[:-1]), places[1:].copy())

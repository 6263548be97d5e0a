# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a text, whatever it is in: CSV, lines of JSON, or a list of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from swftools.formats.accounting.records import Records, Stretch
from swftools.formats.tables.column_reader import Filler
from swftools.formats.tables.columns import Declaration
from swftools.formats.tables.csv_rows import CsvRows
from swftools.formats.tables.json_rows import JsonRows, Row
from swftools.formats.tables.rows import Sheet

Adapt = Callable[[Sheet, Records, Sequence[Row]], None]


class TextReader:
    """Reads one text, stretch by stretch.

    Parameters
    ----------
    beginning : bytes
        Of the text.
    first : int
        Number of its first line.
    declaration : Declaration
        What is declared of its columns.
    filler : Filler
        Fills the records.
    comment : str
        With which letter lines begin that are no rows.
    adapt : callable, optional
        Adds to the records what columns cannot declare; see ``TableFormat.adapt``.
    """

    def __init__(
        self,
        beginning: bytes,
        first: int,
        declaration: Declaration,
        filler: Filler,
        comment: str = "",
        adapt: Adapt | None = None,
    ) -> None:
        self._filler, self._adapt = filler, adapt
        begin = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        self._is_list = begin == b"["
        self._last_row = first - 1
        self._is_checked = False
        self._rows: CsvRows | JsonRows
        if begin in (b"{", b"["):
            self._rows = JsonRows(declaration, is_list=self._is_list, first=first)
        else:
            self._rows = CsvRows(declaration, declaration.headless, comment)

    def take(self, stretch: Stretch) -> tuple[Records, int, int]:
        """Return the records of a stretch, how far it was read, and the line there."""
        rows: list[Row] = []
        is_csv = isinstance(self._rows, CsvRows)
        if isinstance(self._rows, CsvRows):
            sheet, stop, line = self._rows.take(stretch)
        else:
            sheet, stop, line, rows = self._rows.take(stretch)
        columns = self._rows.columns
        if isinstance(self._rows, CsvRows) and stretch.is_last and not columns and stretch.text.strip():
            self._rows.require_header("the table")
        if columns and not self._is_checked and (is_csv or stretch.is_last):
            self._filler.require_columns(columns)
            self._is_checked = True
        if len(sheet):
            self._last_row = int(sheet.line[-1])
        records = self._filler.fill(sheet)
        if self._adapt is not None:
            self._adapt(sheet, records, rows)
        return records, stop, line

    def behind(self, line: int) -> int:
        """Return the number of what comes behind."""
        return self._last_row + 1 if self._is_list else line

# SPDX-License-Identifier: BSD-3-Clause
"""Rows of CSV: values between separators, in quotation marks where they hold one, a line end, or a mark themselves.

pyarrow reads CSV as fast, but says neither where a row stands nor what was wrong with it, and a stray quotation mark
takes all that follows with it. So rows are found here, each with its line, and a damaged one costs that line alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from swftools.errors import LogFormatError
from swftools.formats.accounting.last_record import CUT_OFF, Endings
from swftools.formats.accounting.records import TIMES, Stretch
from swftools.formats.accounting.spans import Spans
from swftools.formats.tables.columns import EXPECTED, NUMBERS_TOLD, TEXT, WAIT, Declaration
from swftools.formats.tables.heads import SEPARATORS, split_line
from swftools.formats.tables.kernel import DATES, DOUBLED, NUMBERS, UNCLOSED, WORDS, scan_rows
from swftools.formats.tables.rows import Sheet, find_columns
from swftools.formats.tables.values import ColumnValues, ParsedValues, TextValues
from swftools.kernel import BoolArray, IntArray, TinyArray

_MARK = b"\xef\xbb\xbf"
_LONGEST = 1 << 20
"""Bytes of a row beyond which no closing quotation mark is waited for."""
_UNCLOSED = "a quotation mark that is not closed"
_WRONG_COUNT = "another number of values than the header has"


def _kinds(declaration: Declaration) -> dict[str, int]:
    """Return as what the columns of a table are read, of those that are no words; of two ways the first."""
    kinds: dict[str, int] = {}
    for name, each in declaration.columns.items():
        if name in (*TIMES, WAIT, EXPECTED, *NUMBERS_TOLD) and not each.every:
            is_text = declaration.unit_of(name) == TEXT
            kind = NUMBERS if not is_text else DATES if name in (*TIMES, EXPECTED) else WORDS
            for told in each.names:
                kinds.setdefault(told, kind)
            for told in each.times:
                kinds.setdefault(told, NUMBERS)
    return kinds


class CsvRows:
    """Reads one file of CSV, stretch by stretch.

    Parameters
    ----------
    declaration : Declaration
        Which columns are asked for.
    known : sequence of str
        The names of all columns, where the file has no header; else empty.
    comment : str
        With which letter lines begin that are no rows.
    """

    def __init__(self, declaration: Declaration, known: Sequence[str] = (), comment: str = "") -> None:
        self._declaration = declaration
        self._comment = ord(comment) if comment else -1
        self.columns: tuple[str, ...] = tuple(known)
        self._separator = declaration.separator or ("," if known else "")
        self._header = b""
        self._endings = Endings()
        self._places: dict[str, int] | None = None
        self._kinds = np.empty(0, np.int8)

    def take(self, stretch: Stretch) -> tuple[Sheet, int, int]:
        """Return the rows of a stretch; the place in it from which it has to be given again; and the line there.

        Raises
        ------
        LogFormatError
            The header has a column twice.
        """
        text, at, line = stretch.text, 0, stretch.first_line
        if not self._header and not self.columns:
            at, line = self._read_header(stretch)
            if not self._header:
                nothing = np.empty(0, np.int64)
                done = len(text) if stretch.is_last else 0
                return Sheet({}, nothing, nothing, nothing, text), done, line
        if self._places is None:
            self._places = find_columns(self.columns, self._declaration.wanted())
            kinds = _kinds(self._declaration)
            self._kinds = np.array([kinds.get(name, WORDS) for name in self._places], np.int8)
        body = text[at:] if at else text
        room = int(np.count_nonzero(np.frombuffer(body, np.uint8) == ord("\n"))) + 2  # faster than count of bytes
        width = len(self.columns)
        slots = np.full(width, -1, np.int64)
        for slot, place in enumerate(self._places.values()):
            slots[place] = slot
        lines, begin, end, fields = (np.empty(room, np.int64) for _ in range(4))
        state = np.empty(room, np.int8)
        shape = (len(self._places), room)
        starts, ends = np.empty(shape, np.int64), np.empty(shape, np.int64)
        value, offset, value_state = np.empty(shape), np.empty(shape), np.empty(shape, np.int8)
        rows, stop, line = scan_rows(
            body,
            line,
            stretch.is_last,
            ord(self._separator or ","),
            self._comment,
            _LONGEST,
            slots,
            self._kinds,
            *(lines, begin, end, fields, state, starts, ends, value, offset, value_state),
        )
        is_header = self._repeats(body, begin[:rows], end[:rows])
        chosen: Any = np.flatnonzero(~is_header) if is_header.any() else slice(rows)
        lines, begin, end, fields, state = (each[chosen] for each in (lines, begin, end, fields, state))
        starts, ends, value, offset = starts[:, chosen], ends[:, chosen], value[:, chosen], offset[:, chosen]
        value_state = value_state[:, chosen]
        body = self._without_doubled(body, state, starts, ends)
        columns: dict[str, ColumnValues] = {}
        for slot, name in enumerate(self._places):
            kind = int(self._kinds[slot])
            found = ParsedValues(kind, value[slot], offset[slot], value_state[slot]) if kind != WORDS else None
            columns[name] = TextValues(Spans(body, starts[slot], ends[slot]), found)
        sheet = Sheet(columns, lines, begin + at, end + at, text, repeated_headers=int(is_header.sum()))
        is_unclosed = state == UNCLOSED
        is_wrong = (fields != width) & ~is_unclosed
        forms = np.where(is_unclosed | is_wrong, -1, fields)
        if self._endings.is_cut_off(Stretch(text, 1, stretch.is_last), end + at, forms):
            sheet.faults.append((np.arange(len(lines)) == len(lines) - 1, CUT_OFF))
        sheet.faults += [(is_unclosed, _UNCLOSED), (is_wrong, _WRONG_COUNT)]
        return sheet, at + stop, line

    def _read_header(self, stretch: Stretch) -> tuple[int, int]:
        """Read the line with the names of the columns; return the place and the line behind it."""
        text, line = stretch.text, stretch.first_line
        at = len(_MARK) if text.startswith(_MARK) else 0
        while at < len(text):
            stop = text.find(b"\n", at)
            if stop < 0 and not stretch.is_last:
                return at, line
            stop = len(text) if stop < 0 else stop + 1
            words = text[at:stop].strip()
            at, line = stop, line + 1
            is_note = self._comment >= 0 and words[:1] == bytes([self._comment])
            if not words or (is_note and not self._looks_like_header(words)):
                continue
            self._header = words
            told = words.lstrip(bytes([self._comment])) if is_note else words
            if not self._separator:
                self._separator = max(SEPARATORS, key=lambda each: told.count(each.encode()))
            self.columns = tuple(name.strip() for name in split_line(told, self._separator))
            return at, line
        return at, line

    def _looks_like_header(self, words: bytes) -> bool:
        """Whether a line of notes has the names of columns that are asked for."""
        told = words.lower()
        needed = [each for each in self._declaration.columns.values() if each.is_needed]
        return bool(needed) and all(any(name.lower().encode() in told for name in each.names) for each in needed)

    def _repeats(self, text: bytes, begin: IntArray, end: IntArray) -> BoolArray:
        """Return which rows are the header again, as in files that were put behind each other."""
        found = np.zeros(len(begin), bool)
        at = text.find(self._header) if self._header else -1
        while at >= 0:
            row = int(np.searchsorted(begin, at, "right")) - 1
            if row >= 0 and text[begin[row] : end[row]].strip() == self._header:
                found[row] = True
            at = text.find(self._header, at + len(self._header))
        return found

    @staticmethod
    def _without_doubled(text: bytes, state: TinyArray, starts: IntArray, ends: IntArray) -> bytes:
        """Put values in which quotation marks are doubled behind the text, with one each, and return that text."""
        added: list[bytes] = []
        size = len(text)
        for row in np.flatnonzero(state == DOUBLED).tolist():
            for slot in range(len(starts)):
                at, stop = int(starts[slot, row]), int(ends[slot, row])
                if at > 0 and text[at - 1 : at] == b'"' and b'""' in text[at:stop]:
                    value = text[at:stop].replace(b'""', b'"')
                    starts[slot, row], ends[slot, row] = size, size + len(value)
                    added.append(value)
                    size += len(value)
        return text + b"".join(added) if added else text

    def require_header(self, name: str) -> None:
        """Raise LogFormatError if no line with names of columns has come."""
        if not self.columns:
            raise LogFormatError(f"{name} has no line with the names of its columns")

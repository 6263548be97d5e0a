# SPDX-License-Identifier: BSD-3-Clause
"""Lines in the bytes of accounting logs: where they end, fields, digits and blanks in them, and those of no record.

The scanners of all formats are made of these kernels. What a field means is for ``kernel.py`` and ``spans.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import numpy as np

from swftools.formats.accounting.records import Reject
from swftools.kernel import IntArray, kernel

_TAB, _NEWLINE, _RETURN, _BLANK, _POINT, _ZERO = 9, 10, 13, 32, 46, 48
_Rows = TypeVar("_Rows", bound=NamedTuple)


class Strays(NamedTuple):
    """Lines that belong to no record, a row each, and why."""

    line: IntArray
    begin: IntArray
    end: IntArray
    why: IntArray


def room_for(kind: type[_Rows], rows: int, **absent: tuple[int, ...]) -> _Rows:
    """Return a named tuple of arrays with room for so many rows, zeros but for some.

    Parameters
    ----------
    kind : type
        The named tuple.
    rows : int
        Rows for which there is room.
    **absent : tuple of int
        Fields filled with -1, and the shape that each has for a row: ``(3,)`` for three columns.
    """
    return kind._make(
        np.full((*absent[name], rows), -1, np.int64) if name in absent else np.zeros(rows, np.int64)
        for name in kind._fields
    )


def rejects_of(strays: Strays, count: int, reasons: Mapping[int, str], moved: int = 0) -> list[Reject]:
    """Return the first lines of no record, with their reasons in words, as of a text that begins so much earlier."""
    rows = zip(*(column[:count].tolist() for column in strays), strict=True)
    return [Reject(line, begin + moved, end + moved, reasons[why]) for line, begin, end, why in rows]


@kernel(allocates=False)
def note_stray(strays: Strays, row: int, line: int, begin: int, end: int, why: int) -> int:
    """Note a line of no record in a row, and return the next one."""
    strays.line[row], strays.begin[row], strays.end[row], strays.why[row] = line, begin, end, why
    return row + 1


@kernel(allocates=False)
def line_end(text: bytes, at: int) -> int:
    """Return where the line ends that a place stands in: at its newline, or at the end of the text."""
    size = len(text)
    while at < size and text[at] != _NEWLINE:
        at += 1
    return at


@kernel(allocates=False)
def mark_line(text: bytes, at: int, mark: int, marks: IntArray) -> tuple[int, int]:
    """Note where a byte stands in the line that begins at a place; return where the line ends, and how often it does.

    Nearly always one byte separates fields, in no quotation marks: then this one pass over the bytes is enough. It is
    counted also beyond the room for it.
    """
    count = 0
    size = len(text)
    room = len(marks)
    while at < size:
        byte = text[at]
        if byte == mark:
            if count < room:
                marks[count] = at
            count += 1
        elif byte == _NEWLINE:
            break
        at += 1
    return at, count


@kernel(allocates=False)
def trimmed(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return where a stretch of text begins and ends without blanks and tabs around it, nor a line end of Windows."""
    while begin < end and (text[begin] == _BLANK or text[begin] == _TAB):
        begin += 1
    while end > begin and (text[end - 1] == _BLANK or text[end - 1] == _TAB or text[end - 1] == _RETURN):
        end -= 1
    return begin, end


@kernel(allocates=False)
def without_blanks(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return where a stretch of text begins and ends without blanks around it; tabs stay."""
    while begin < end and text[begin] == _BLANK:
        begin += 1
    while end > begin and text[end - 1] == _BLANK:
        end -= 1
    return begin, end


@kernel(allocates=False)
def find_byte(text: bytes, at: int, end: int, byte: int) -> int:
    """Return where a byte stands next; the end if it does not."""
    while at < end and text[at] != byte:
        at += 1
    return at


@kernel(allocates=False)
def is_digit(byte: int) -> bool:
    """Whether a byte is a decimal digit."""
    return 48 <= byte <= 57


@kernel(allocates=False)
def past_digits(text: bytes, at: int, end: int) -> int:
    """Return the place behind the digits that stand at a place."""
    while at < end and 48 <= text[at] <= 57:
        at += 1
    return at


@kernel(allocates=False)
def read_digits(text: bytes, at: int, end: int, most: int) -> tuple[int, int]:
    """Return the number that digits at a place make, and the place behind them; -1 if there are none, or too many.

    Of too many the place is behind the first ``most``, which is 18 at most.
    """
    value = 0
    first = at
    while at < end and 48 <= text[at] <= 57:
        if at - first == most:
            return -1, at
        value = value * 10 + (text[at] - _ZERO)
        at += 1
    return (value if at > first else -1), at


@kernel(allocates=False)
def whole_number(text: bytes, begin: int, end: int, most: int) -> int:
    """Return the number that a stretch of text is: digits, ``most`` of them and fewer; -1 if it is none."""
    if begin == end or end - begin > most:
        return -1
    value = 0
    for at in range(begin, end):
        if not 48 <= text[at] <= 57:
            return -1
        value = value * 10 + (text[at] - _ZERO)
    return value


@kernel(allocates=False)
def has_form(text: bytes, at: int, form: bytes) -> bool:
    """Whether a text goes on at a place as a form does, which has 0 for any digit; the text has as many bytes."""
    for offset in range(len(form)):
        byte = text[at + offset]
        if not (48 <= byte <= 57 if form[offset] == _ZERO else byte == form[offset]):
            return False
    return True


@kernel(allocates=False)
def is_word_of_any_case(text: bytes, begin: int, end: int, word: bytes) -> bool:
    """Whether a stretch of text is a word in letters of any size, which is given in small ones."""
    if end - begin != len(word):
        return False
    for offset in range(len(word)):
        if text[begin + offset] | 32 != word[offset]:
            return False
    return True

# SPDX-License-Identifier: BSD-3-Clause
"""Where rows and values stand in the text of a table: of CSV with quotation marks, and of JSON objects in a list.

Compiled, since a trace has gigabytes of such text. What a value means is for ``values.py``; but plain numbers and dates
are read where they are found, since to come back to them later, when they have left the processor's caches, takes
several times as long as to read them.
"""

from __future__ import annotations

import numpy as np

from swftools.formats.accounting.dates import plain_date
from swftools.formats.accounting.kernel import ABSENT, DOUBTFUL, PLAIN, read_number
from swftools.formats.accounting.lines import line_end
from swftools.kernel import FloatArray, IntArray, TinyArray, kernel

_TAB, _NEWLINE, _RETURN, _BLANK, _QUOTE, _BACKSLASH = 9, 10, 13, 32, 34, 92
_OPEN_LIST, _CLOSE_LIST, _OPEN, _CLOSE = 91, 93, 123, 125

SOUND, DOUBLED, UNCLOSED = 0, 1, 2
"""What became of a row: read; read, with quotation marks in a value that stand for one each; or with a quotation mark
that nothing closes, so that the row is taken to end with its line."""

WORDS, NUMBERS, DATES = 0, 1, 2
"""What the values of a column are read as where they are found."""

DEPTH, IN_STRING, ESCAPED, OPENED = range(4)
"""What is known at a byte of JSON: how many objects are open, whether it stands in a string and behind a backslash
there, and whether anything but blanks has come."""


@kernel(allocates=False)
def _closing(text: bytes, at: int) -> tuple[int, bool, int]:
    """Return where a quoted value is closed (-1: nowhere), whether marks in it are doubled, and its lines."""
    doubled = False
    lines = 0
    while at < len(text):
        byte = text[at]
        if byte == _QUOTE:
            if at + 1 < len(text) and text[at + 1] == _QUOTE:
                doubled = True
                at += 1
            else:
                return at, doubled, lines
        elif byte == _NEWLINE:
            lines += 1
        at += 1
    return -1, doubled, lines


@kernel(allocates=False)
def scan_rows(
    text: bytes,
    first_line: int,
    is_last: bool,
    separator: int,
    comment: int,
    longest: int,
    slots: IntArray,
    kinds: TinyArray,
    row_line: IntArray,
    row_begin: IntArray,
    row_end: IntArray,
    row_fields: IntArray,
    row_state: TinyArray,
    start: IntArray,
    end: IntArray,
    value: FloatArray,
    offset: FloatArray,
    value_state: TinyArray,
) -> tuple[int, int, int]:
    """Find the rows of a text, and the values of some columns in each.

    Parameters
    ----------
    text : bytes
        Whole lines, or the end of the text.
    first_line : int
        Number of the first.
    is_last : bool
        Whether no more text comes.
    separator : int
        The byte between values; a blank stands for any number of blanks and tabs.
    comment : int
        The byte with which lines begin that are no rows; -1 for none.
    longest : int
        Bytes of a row beyond which a quotation mark is not waited for.
    slots : ndarray of int64, shape (columns,)
        The row of ``start`` and ``end`` that each column goes to; -1 for one that nobody asks for.
    kinds : ndarray of int8, shape (columns asked for,)
        What the values of each are read as.
    row_line, row_begin, row_end, row_fields, row_state : ndarray, shape (rows,)
        To be filled: of each row its line, its place in the text, how many values it has, and what became of it.
    start, end : ndarray of int64, shape (columns asked for, rows)
        To be filled; -1 where a row is too short.
    value, offset : ndarray of float64, shape (columns asked for, rows)
        To be filled where a column has numbers or dates: the number; or the seconds of the date, and its offset. What
        is neither plain nor absent is left, for who knows more about it.
    value_state : ndarray of int8, shape (columns asked for, rows)
        To be filled likewise: what became of the value.

    Returns
    -------
    tuple of int
        How many rows there are, the place where reading has to go on with more text, and the line there.
    """
    rows = 0
    at = 0
    line = first_line
    size = len(text)
    while at < size:
        begin, begin_line = at, line
        if text[at] == comment:
            at = min(line_end(text, at) + 1, size)
            line += 1
            continue
        for slot in range(len(start)):
            start[slot, rows] = -1
            end[slot, rows] = -1
            if kinds[slot] != WORDS:
                value[slot, rows] = np.nan
                value_state[slot, rows] = ABSENT
        fields = 0
        state = SOUND
        is_empty = True
        while True:
            while at < size and (text[at] == _BLANK or (text[at] == _TAB and separator != _TAB)):
                at += 1
            first = at
            is_quoted = at < size and text[at] == _QUOTE
            if is_quoted:
                closed, doubled, lines = _closing(text, at + 1)
                behind = closed + 1
                while closed >= 0 and behind < size and text[behind] == _BLANK and separator != _BLANK:
                    behind += 1
                while closed >= 0 and behind < size and text[behind] == _RETURN:
                    behind += 1
                if closed < 0 and not is_last and size - begin < longest:
                    return rows, begin, begin_line
                if closed < 0 or (
                    behind < size
                    and text[behind] != separator
                    and text[behind] != _NEWLINE
                    and not (separator == _BLANK and text[behind] == _TAB)
                ):
                    state = UNCLOSED
                    at = min(line_end(text, begin) + 1, size)
                    line = begin_line + 1
                    break
                if doubled:
                    state = DOUBLED
                line += lines
                first, last, at = at + 1, closed, behind
                is_empty = False
            else:
                while at < size and text[at] != _NEWLINE:
                    if text[at] == separator or (separator == _BLANK and text[at] == _TAB):
                        break
                    at += 1
                last = at
                while last > first and (
                    text[last - 1] == _BLANK or text[last - 1] == _RETURN or text[last - 1] == _TAB
                ):
                    last -= 1
                is_empty = is_empty and last == first
            is_at_end = at >= size or text[at] == _NEWLINE
            # Behind the last blank of a line nothing stands, not an empty value.
            if not (separator == _BLANK and first == last and is_at_end and not is_quoted):
                if fields < len(slots) and slots[fields] >= 0:
                    slot = slots[fields]
                    start[slot, rows] = first
                    end[slot, rows] = last
                    if kinds[slot] == NUMBERS:
                        value[slot, rows], value_state[slot, rows] = read_number(text, first, last)
                    elif kinds[slot] == DATES:
                        value[slot, rows], offset[slot, rows] = plain_date(text, first, last)
                        is_plain = not np.isnan(value[slot, rows])
                        value_state[slot, rows] = PLAIN if is_plain else ABSENT if first == last else DOUBTFUL
                fields += 1
            if is_at_end:
                at = min(at + 1, size)
                line += 1
                break
            at += 1
        if fields <= 1 and is_empty and state == SOUND:
            continue
        row_line[rows] = begin_line
        row_begin[rows] = begin
        row_end[rows] = at
        row_fields[rows] = fields
        row_state[rows] = state
        rows += 1
    return rows, at, line


@kernel(allocates=False)
def find_objects(text: bytes, state: IntArray, begin: IntArray, end: IntArray) -> tuple[int, int]:
    """Find the outermost objects of a text; return how many, and where one is open at its end (-1: none).

    Parameters
    ----------
    text : bytes
        Goes on where the last one ended, or at the object that it left open.
    state : ndarray of int64, shape (4,)
        What is known at its beginning; becomes what is known at its end, or where an object is left open.
    begin, end : ndarray of int64
        To be filled.
    """
    found = 0
    open_at = -1
    for at in range(len(text)):
        byte = text[at]
        if state[IN_STRING]:
            if state[ESCAPED]:
                state[ESCAPED] = 0
            elif byte == _BACKSLASH:
                state[ESCAPED] = 1
            elif byte == _QUOTE:
                state[IN_STRING] = 0
        elif byte == _QUOTE:
            state[IN_STRING] = 1 if state[DEPTH] > 0 else 0
        elif byte == _OPEN:
            if state[DEPTH] == 0:
                open_at = at
            state[DEPTH] += 1
        elif byte == _CLOSE and state[DEPTH] > 0:
            state[DEPTH] -= 1
            if state[DEPTH] == 0:
                begin[found] = open_at
                end[found] = at + 1
                found += 1
                open_at = -1
    if open_at >= 0:
        state[DEPTH] = 0
        state[IN_STRING] = 0
        state[ESCAPED] = 0
    return found, open_at

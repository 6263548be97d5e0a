# SPDX-License-Identifier: BSD-3-Clause
"""What a line of ``sacct -P`` is: a header, a row of fields between separators, the id of a job or a step in it.

The separator is a bar, or whatever ``--delimiter`` named: the header shows it.
"""

from __future__ import annotations

from swftools.formats.accounting.kernel import begins_with, is_same
from swftools.formats.accounting.lines import (
    find_byte,
    is_word_of_any_case,
    line_end,
    mark_line,
    trimmed,
    without_blanks,
)
from swftools.kernel import IntArray, kernel

_TAB, _RETURN, _BLANK, _QUOTE, _COMMA, _POINT, _COLON, _EQUAL = 9, 13, 32, 34, 44, 46, 58, 61
_UNDERSCORE, _OPEN, _CLOSE, _BRACE = 95, 91, 93, 123
NO_COLUMN, NO_VALUE = -2, -1
"""In place of where a value begins: the text has no such column; the row has none there."""

ALL = 1 << 62
"""As many separators as there are."""

_MOST_LINES = 64
"""Lines that one row may take."""


@kernel(allocates=False)
def whole_line(text: bytes, begin: int, end: int, has_tabs: bool) -> tuple[int, int]:
    """Return where a line begins and ends without blanks around it, and without the mark of UTF-8 before it.

    Where tabs separate its fields, only the line end is taken off.
    """
    if end - begin >= 3 and text[begin] == 0xEF and text[begin + 1] == 0xBB and text[begin + 2] == 0xBF:
        begin += 3
    if not has_tabs:
        return trimmed(text, begin, end)
    while end > begin and text[end - 1] == _RETURN:
        end -= 1
    return begin, end


@kernel(allocates=False)
def _is_of_name(byte: int) -> bool:
    """Whether a byte may stand in the name of a column, or in the quotation marks around it."""
    return 97 <= byte | 32 <= 122 or 48 <= byte <= 57 or byte == _UNDERSCORE or byte == _QUOTE


@kernel(allocates=False)
def find_header(text: bytes, begin: int, end: int) -> tuple[int, int, int]:
    """Return which field of a header line is the job's id (JobID, else JobIDRaw), and where its first separator stands.

    A header line is one of words that begin with letters, State among them, with the same characters between all of
    them that are of no word. The first number is -1 if it is no header line.
    """
    nothing = -1, 0, 0
    begin, end = whole_line(text, begin, end, False)
    mark = begin
    while mark < end and _is_of_name(text[mark]):
        mark += 1
    mark_end = mark
    while mark_end < end and not _is_of_name(text[mark_end]):
        mark_end += 1
    if mark == begin:
        return nothing
    mark, mark_end = without_blanks(text, mark, mark_end)  # what is left is the separator, perhaps a tab
    width = mark_end - mark
    field = 0
    number, raw = -1, -1
    has_state = False
    while begin <= end:
        stop = begin
        while stop < end and not (width > 0 and is_same(text, stop, min(stop + width, end), mark, mark_end)):
            stop += 1
        first, last = unquoted(text, *trimmed(text, begin, stop))
        if first < last:
            if not 97 <= text[first] | 32 <= 122:
                return nothing
            if number < 0 and is_word_of_any_case(text, first, last, b"jobid"):
                number = field
            if raw < 0 and is_word_of_any_case(text, first, last, b"jobidraw"):
                raw = field
            has_state = has_state or is_word_of_any_case(text, first, last, b"state")
        field += 1
        begin = stop + max(width, 1)
    if not has_state:
        return nothing
    return (number if number >= 0 else raw), mark, mark_end


@kernel(allocates=False)
def unquoted(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return where a value stands without quotation marks around it."""
    if end - begin >= 2 and text[begin] == _QUOTE and text[end - 1] == _QUOTE:
        return trimmed(text, begin + 1, end - 1)
    return begin, end


@kernel(allocates=False)
def _closing(text: bytes, begin: int, end: int, separator: bytes) -> int:
    """Return where the quotation mark stands that closes a field; where it begins if none does."""
    at = begin + 1
    while at < end:
        if text[at] == _QUOTE:
            if at + 1 < end and text[at + 1] == _QUOTE:
                at += 1
            elif at + 1 >= end or text[at + 1] == _RETURN or begins_with(text, at + 1, end, separator):
                return at
        at += 1
    return begin


@kernel(allocates=False)
def mark_fields(text: bytes, begin: int, end: int, separator: bytes, is_csv: bool, marks: IntArray, most: int) -> int:
    """Note where the separators of a line stand, and return how many there are: also beyond the room, up to ``most``.

    In CSV those in quotation marks are none. Nor are commas within brackets (``n[1,3]``), nor those between the items
    of a list of TRES, the names of which sacct puts in order (``cpu=4,mem=8G``).
    """
    count = 0
    at = begin
    width = len(separator)
    brackets = 0
    is_start = True
    while at < end:
        byte = text[at]
        if is_csv and is_start and byte == _QUOTE:
            at = _closing(text, at, end, separator)
        elif is_csv and byte == _OPEN:
            brackets += 1
        elif is_csv and byte == _CLOSE and brackets > 0:
            brackets -= 1
        is_start = False
        if byte == separator[0] and (width == 1 or begins_with(text, at, end, separator)):
            if is_csv and byte == _COMMA and (brackets > 0 or _goes_on(text, begin, at, end)):
                at += 1
                continue
            if count < len(marks):
                marks[count] = at
            count += 1
            if count == most:
                break
            at += width
            is_start = True
            brackets = 0
            continue
        at += 1
    return count


@kernel(allocates=False)
def _goes_on(text: bytes, begin: int, comma: int, end: int) -> bool:
    """Whether a comma stands between two items of a list of TRES."""
    last = comma - 1
    while last >= begin and text[last] != _COMMA:
        last -= 1
    first, item = last + 1, comma + 1
    at = 0
    while item + at < end and first + at < comma and text[first + at] == text[item + at] and text[item + at] != _EQUAL:
        at += 1
    if first + at >= comma or item + at >= end:
        return False
    is_later = text[item + at] > text[first + at]
    if text[first + at] == _EQUAL:  # gres/gpu=4,gres/gpu:a100=4
        is_later = text[item + at] == _COLON
    elif text[item + at] == _EQUAL:
        is_later = text[first + at] == _COLON
    return is_later and _is_item(text, first, comma) and _is_item(text, item, end)


@kernel(allocates=False)
def _is_item(text: bytes, begin: int, end: int) -> bool:
    """Whether a text begins with an item of a list of TRES: a name in small letters, an equality sign, a number."""
    at = begin
    while at < end and text[at] != _EQUAL and text[at] != _COMMA and text[at] != _BLANK:
        at += 1
    return at > begin and at + 1 < end and text[at] == _EQUAL and 97 <= text[begin] <= 122 and 48 <= text[at + 1] <= 57


@kernel(allocates=False)
def is_id(text: bytes, begin: int, end: int) -> bool:
    """Whether a text is the id of a job, of elements or of a step: a digit, and no blank behind it."""
    if begin >= end or not 48 <= text[begin] <= 57:
        return False
    for at in range(begin, end):
        if text[at] == _BLANK or text[at] == _EQUAL:
            return False
    return True


@kernel(allocates=False)
def join_lines(
    text: bytes, begin: int, stop: int, id_field: int, fields: int, separator: bytes, is_csv: bool, marks: IntArray
) -> tuple[int, int, int]:
    """Return how many separators a row has with the lines that follow it, where the last of these ends, and how many.

    A row that has too few fields goes on in the next line if a value of it holds a line end. The first number is -1 if
    there are not as many fields before the next row or header.
    """
    has_tabs = len(separator) == 1 and separator[0] == _TAB
    lines = 1
    while stop < len(text) and lines < _MOST_LINES:
        start = stop + 1
        stop = line_end(text, start)
        lines += 1
        first, last = whole_line(text, start, stop, has_tabs)
        if first == last:
            continue
        count = mark_fields(text, first, last, separator, is_csv, marks, id_field + 1)
        if find_header(text, first, last)[0] >= 0:
            break
        if count > id_field:
            begins = first if id_field == 0 else marks[id_field - 1] + len(separator)
            if is_id(text, *trimmed(text, begins, marks[id_field])):
                break
        count = mark_fields(text, begin, last, separator, is_csv, marks, ALL)
        if count + 1 >= fields:
            return count, stop, lines
    return -1, stop, lines


@kernel(allocates=False)
def value_of(
    text: bytes, begin: int, end: int, field: int, fields: int, width: int, is_csv: bool, marks: IntArray
) -> tuple[int, int]:
    """Return where the value of a field stands, in a line whose separators are known."""
    if field < 0:
        return NO_COLUMN, NO_COLUMN
    first = begin if field == 0 else marks[field - 1] + width
    first, last = trimmed(text, first, end if field == fields - 1 else marks[field])
    if is_csv:
        first, last = unquoted(text, first, last)
    return first, last


@kernel(allocates=False)
def last_start(
    text: bytes, begin_at: int, id_field: int, separator: bytes, is_csv: bool, marks: IntArray
) -> tuple[int, int, bool]:
    """Return where the last job behind a place begins, -1 for none; where the next header does; whether a document.

    Parameters
    ----------
    text : bytes
        Whole lines.
    begin_at : int
        The place.
    id_field : int
        The field of the id there; -1 before the first header.
    separator, is_csv : bytes, bool
        As in ``columns.RowLayout``.
    marks : ndarray of int64
        Room for as many separators as stand before and behind the id.
    """
    last = -1
    at = begin_at
    size = len(text)
    width = len(separator)
    has_tabs = width == 1 and separator[0] == _TAB
    mark = -1 if is_csv or width != 1 else int(separator[0])
    while at < size:
        start = at
        at, count = mark_line(text, at, mark, marks)
        begin, end = whole_line(text, start, at, has_tabs)
        at += 1
        if begin == end:
            continue
        first, stop = begin, begin
        if id_field >= 0:
            if mark < 0:
                count = mark_fields(text, begin, end, separator, is_csv, marks, id_field + 1)
            if count >= id_field:
                first, stop = value_of(text, begin, end, id_field, count + 1, width, is_csv, marks)
        if first == stop or not 48 <= text[first] <= 57:
            if find_header(text, begin, end)[0] >= 0:
                return last, start, False
            if id_field < 0:
                if text[begin] == _BRACE:
                    return start, -1, True
                last = start
            continue
        if not is_id(text, first, stop):
            continue
        if find_byte(text, first, stop, _POINT) == stop:
            last = start
    return last, -1, False

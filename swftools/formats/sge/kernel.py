# SPDX-License-Identifier: BSD-3-Clause
"""The compiled scanner of Grid Engine's accounting files: where the fields of each line stand.

A line's fields are parted by colons, which names of jobs and the text of what was asked for may hold too. So fields
are found from what stands around them: the numbers from the priority to the last of getrusage's, the parallel
environment with numbers behind it, and behind the category the numbers of memory and reservation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import IntArray, kernel

COLUMNS = (
    *("qname", "group", "owner", "job_name", "job_number", "submission_time", "start_time", "end_time", "failed"),
    *("exit_status", "ru_wallclock", "project", "department", "slots", "task_number", "cpu", "category", "maxvmem"),
    "qdel_info",
)
"""What is read of a line, by the names of accounting(5)."""

JOB, PART, SHORT, ASTRAY = 0, 1, 2, 3
"""What a line is: of a job, of a task that a parallel job started on a host, too short, or with fields elsewhere."""

FEWEST_FIELDS = 43
"""Up to maxvmem, which all versions have."""

COLONS = 1024
"""Colons of a line that are looked at."""

_NEWLINE, _RETURN, _COLON, _HASH, _EQUALS, _BLANK, _AT, _POINT = 10, 13, 58, 35, 61, 32, 64, 46
_PLAIN_FIELDS = ((0, 0), (1, 2), (2, 3))
_NUMBERED_FIELDS = (
    (5, 8),
    (6, 9),
    (7, 10),
    (8, 11),
    (9, 12),
    (10, 13),
    (11, 31),
    (12, 32),
    (13, 34),
    (14, 35),
    (15, 36),
)
_NAME, _JOB_NUMBER, _CATEGORY, _MEMORY, _DELETED = 3, 4, 16, 17, 18


class Lines(NamedTuple):
    """What the scanner fills, a row for each line that is no comment."""

    line: IntArray
    begin: IntArray
    end: IntArray
    kind: IntArray
    behind: IntArray  # how many fields stand behind maxvmem, -1 where that was not found
    value_begin: IntArray  # (columns, lines), -1 where there is none
    value_end: IntArray


def find_lines(text: bytes, first_line: int) -> tuple[Lines, int]:
    """Return the lines of a text that are no comments, and how many there are.

    Parameters
    ----------
    text : bytes
        Whole lines.
    first_line : int
        Number of the first.
    """
    rows = text.count(b"\n") + 1
    behind = [np.full(rows, -1, np.int64)]
    absent = (np.full((len(COLUMNS), rows), -1, np.int64) for _ in range(2))
    lines = Lines(*(np.zeros(rows, np.int64) for _ in range(4)), *behind, *absent)
    return lines, scan(text, first_line, np.empty(COLONS, np.int64), lines)


@kernel(allocates=False)
def scan(text: bytes, first_line: int, colons: IntArray, out: Lines) -> int:
    """Fill ``out`` with the lines of a text, and return how many there are.

    The caller gives room for every line and ``COLONS`` colons, and ``value_begin`` filled with -1.
    """
    row = 0
    line = first_line - 1
    at = 0
    size = len(text)
    while at < size:
        begin = at
        count = 0
        while at < size and text[at] != _NEWLINE:
            if text[at] == _COLON and count < len(colons):
                colons[count] = at
                count += 1
            at += 1
        end = at
        at += 1
        line += 1
        while end > begin and text[end - 1] == _RETURN:
            end -= 1
        # Empty lines and those of one character say nothing, by accounting(5).
        if end - begin <= 1 or text[begin] == _HASH:
            continue
        out.line[row], out.begin[row], out.end[row] = line, begin, end
        out.kind[row] = _read_line(text, begin, end, colons, count, out, row)
        row += 1
    return row


@kernel(allocates=False)
def _read_line(text: bytes, begin: int, end: int, colons: IntArray, count: int, out: Lines, row: int) -> int:
    """Find the fields of a line, and return what it is."""
    fields = count + 1
    if fields < FEWEST_FIELDS:
        return SHORT
    number = -1
    shift = 0
    while shift + FEWEST_FIELDS <= fields:
        number = _job_number(text, begin, end, colons, count, shift)
        if number >= 0:
            break
        shift += 1
    if number < 0:
        return ASTRAY
    more = 0
    while not _ends_category(text, begin, end, colons, count, shift + more):
        more += 1
        if shift + more + FEWEST_FIELDS > fields:
            return ASTRAY
    for column, field in _PLAIN_FIELDS:
        _note(begin, end, colons, count, field, field, out, row, column)
    _note(begin, end, colons, count, 4, number - 1, out, row, _NAME)
    _note(begin, end, colons, count, number, number, out, row, _JOB_NUMBER)
    for column, field in _NUMBERED_FIELDS:
        _note(begin, end, colons, count, field + shift, field + shift, out, row, column)
    _note(begin, end, colons, count, 39 + shift, 39 + shift + more, out, row, _CATEGORY)
    shift += more
    _note(begin, end, colons, count, 42 + shift, 42 + shift, out, row, _MEMORY)
    out.behind[row] = fields - 43 - shift
    if fields > 46 + shift:
        left, right = _field(begin, end, colons, count, 46 + shift)
        for at in range(left, right):
            if text[at] == _AT:
                _note(begin, end, colons, count, 46 + shift, 46 + shift, out, row, _DELETED)
                break
    left, right = _field(begin, end, colons, count, 41 + shift)
    return JOB if _is_none(text, left, right) else PART


@kernel(allocates=False)
def _field(begin: int, end: int, colons: IntArray, count: int, field: int) -> tuple[int, int]:
    """Return where a field of a line stands."""
    left = begin if field == 0 else colons[field - 1] + 1
    right = colons[field] if field < count else end
    return left, right


@kernel(allocates=False)
def _note(
    begin: int, end: int, colons: IntArray, count: int, first: int, last: int, out: Lines, row: int, column: int
) -> None:
    """Note that a column is the text of fields that follow each other."""
    out.value_begin[column, row] = _field(begin, end, colons, count, first)[0]
    out.value_end[column, row] = _field(begin, end, colons, count, last)[1]


@kernel(allocates=False)
def _job_number(text: bytes, begin: int, end: int, colons: IntArray, count: int, shift: int) -> int:
    """Return the field of the job number if the numbers of a line stand so many fields further right; -1 if not."""
    for field in range(7, 31):
        left, right = _field(begin, end, colons, count, field + shift)
        if field == 11 or field == 12:
            if not _is_count(text, left, right, 6):
                return -1
        elif not _is_number(text, left, right):
            return -1
    left, right = _field(begin, end, colons, count, 33 + shift)
    if _is_number(text, left, right):
        return -1
    for field in range(34, 39):
        left, right = _field(begin, end, colons, count, field + shift)
        if not (_is_count(text, left, right, 9) if field < 36 else _is_number(text, left, right)):
            return -1
    # An account with a colon in it is rarer than a name: the last number before one field is the job's.
    for field in range(5 + shift, 4, -1):
        left, right = _field(begin, end, colons, count, field)
        if _is_count(text, left, right, 10):
            return field
    return -1


@kernel(allocates=False)
def _ends_category(text: bytes, begin: int, end: int, colons: IntArray, count: int, shift: int) -> bool:
    """Whether behind field 39 + shift the fields are those behind a category."""
    left, right = _field(begin, end, colons, count, 40 + shift)
    if not _is_number(text, left, right):
        return False
    left, right = _field(begin, end, colons, count, 41 + shift)
    if left == right:
        return False
    for at in range(left, right):
        if text[at] == _EQUALS or text[at] == _BLANK:
            return False
    left, right = _field(begin, end, colons, count, 42 + shift)
    if not _is_number(text, left, right):
        return False
    for field in range(43 + shift, min(45 + shift, count + 1)):
        left, right = _field(begin, end, colons, count, field)
        if not _is_count(text, left, right, 18):
            return False
    return True


@kernel(allocates=False)
def _is_number(text: bytes, left: int, right: int) -> bool:
    """Whether a field looks like a number: digits, perhaps with a sign, a point, an exponent."""
    digits = 0
    for at in range(left, right):
        byte = text[at]
        if 48 <= byte <= 57:
            digits += 1
        elif not (byte == _POINT or byte == 45 or byte == 43 or ((byte | 32) == 101 and digits > 0)):
            return False
    return digits > 0


@kernel(allocates=False)
def _is_count(text: bytes, left: int, right: int, most: int) -> bool:
    """Whether a field is some digits, and no more than ``most``."""
    if right == left or right - left > most:
        return False
    for at in range(left, right):
        if not 48 <= text[at] <= 57:
            return False
    return True


@kernel(allocates=False)
def _is_none(text: bytes, left: int, right: int) -> bool:
    """Whether a field is NONE, in letters of any size."""
    if right - left != 4:
        return False
    return (
        (text[left] | 32) == 110
        and (text[left + 1] | 32) == 111
        and (text[left + 2] | 32) == 110
        and (text[left + 3] | 32) == 101
    )

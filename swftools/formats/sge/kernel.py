# SPDX-License-Identifier: BSD-3-Clause
"""The compiled scanner of Grid Engine's accounting files: where the fields of each line stand.

A line's fields are parted by colons, which names of jobs and the text of what was asked for may hold too. So fields
are found from what stands around them: the numbers from the priority to the last of getrusage's, the parallel
environment with numbers behind it, and behind the category the numbers of memory and reservation.

Before the first field there may stand what the file ``reporting`` has there, a time and ``acct``, or what grep puts
there: the name of a file, the number of a line. The address of a host (IPv6) holds colons too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.formats.accounting.kernel import begins_with, is_word
from swftools.formats.accounting.spans import line_ends
from swftools.kernel import IntArray, kernel

COLUMNS = (
    *("qname", "group", "owner", "job_name", "job_number", "submission_time", "start_time", "end_time", "failed"),
    *("exit_status", "ru_wallclock", "project", "department", "slots", "task_number", "cpu", "category", "maxvmem"),
    "qdel_info",
)
"""What is read of a line, by the names of accounting(5)."""

JOB, PART, SHORT, ASTRAY, JSON, OTHER = range(6)
"""What a line is: of a job, of a task that a parallel job started on a host, too short, with fields elsewhere, written
in JSON, or one of ``reporting`` that tells of something else."""

FEWEST_FIELDS = 43
"""Up to maxvmem, which all versions have."""

COLONS = 1024
"""Colons of a line that are looked at."""

_NEWLINE, _RETURN, _COLON, _HASH, _EQUALS, _BLANK, _AT, _POINT = 10, 13, 58, 35, 61, 32, 64, 46
_SLASH, _OPEN, _CLOSE, _BRACE = 47, 91, 93, 123
_GROUPS = 8  # of an IPv6 address
_MOST_NUMBER = 7  # digits of job numbers, which begin again at 1 from 10 million on
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


def find_lines(text: bytes, first_line: int) -> tuple[Lines, int, int]:
    """Return the lines of a text that are no comments, how many there are, and how many tell of no job.

    Parameters
    ----------
    text : bytes
        Whole lines.
    first_line : int
        Number of the first.
    """
    rows = line_ends(text) + 1
    behind = [np.full(rows, -1, np.int64)]
    absent = (np.full((len(COLUMNS), rows), -1, np.int64) for _ in range(2))
    lines = Lines(*(np.zeros(rows, np.int64) for _ in range(4)), *behind, *absent)
    return lines, *scan(text, first_line, np.empty(COLONS, np.int64), lines)


@kernel(allocates=False)
def scan(text: bytes, first_line: int, colons: IntArray, out: Lines) -> tuple[int, int]:
    """Fill ``out`` with the lines of a text, and return how many there are, and how many of reporting tell of no job.

    The caller gives room for every line and ``COLONS`` colons, and ``value_begin`` filled with -1.
    """
    row = 0
    others = 0
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
        kind = _read_line(text, begin, end, colons, count, out, row)
        if kind == OTHER:
            others += 1
            continue
        out.line[row], out.begin[row], out.end[row], out.kind[row] = line, begin, end, kind
        row += 1
    return row, others


@kernel(allocates=False)
def _read_line(text: bytes, begin: int, end: int, colons: IntArray, count: int, out: Lines, row: int) -> int:
    """Find the fields of a line, and return what it is."""
    if text[begin] == _BRACE:
        return JSON
    first = _first_field(text, begin, end, colons, count)
    if first < 0:
        return OTHER
    kind = _read_fields(text, begin, end, colons, count, first, out, row)
    if kind == ASTRAY and first > 0:
        kind = _read_fields(text, begin, end, colons, count, 0, out, row)
    return kind


@kernel(allocates=False)
def _read_fields(
    text: bytes, begin: int, end: int, colons: IntArray, count: int, first: int, out: Lines, row: int
) -> int:
    """Find the fields of a line whose queue is the field ``first``, and return what it is."""
    fields = count + 1
    if fields < FEWEST_FIELDS:
        return SHORT
    number = -1
    host = 0
    shift = first
    most = _address(text, begin, end, colons, count, first)
    while shift + FEWEST_FIELDS <= fields:
        if _has_numbers(text, begin, end, colons, count, shift):
            host = min(most, shift - first)
            while host >= 0:
                number = _job_number(text, begin, end, colons, count, first + host + 5, shift + 5)
                if number >= 0:
                    break
                host -= 1
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
        place = first + field + (host if field > 0 else 0)
        _note(begin, end, colons, count, place, place, out, row, column)
    _note(begin, end, colons, count, first + host + 4, number - 1, out, row, _NAME)
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
def _first_field(text: bytes, begin: int, end: int, colons: IntArray, count: int) -> int:
    """Return the field of the queue: 0, or behind what grep or the file reporting put before it; -1 for no job."""
    for field in range(min(3, count)):
        left, right = _field(begin, end, colons, count, field)
        if right - left >= 9 and _is_count(text, left, right, 17):
            left, right = _field(begin, end, colons, count, field + 1)
            if is_word(text, left, right, b"acct"):
                return field + 2
            if _tells_of_no_job(text, left, right):
                return -1
    if count < 2:
        return 0
    left, right = _field(begin, end, colons, count, 0)
    after, stop = _field(begin, end, colons, count, 1)
    is_path = begins_with(text, left, right, b"accounting") or begins_with(text, left, right, b"reporting")
    is_path |= _ends_queue(text, after, stop)
    is_path &= not _ends_queue(text, left, right)
    is_path |= _is_count(text, left, right, 17)
    for at in range(left, right):
        is_path |= text[at] == _SLASH
    if not is_path:
        return 0
    return 2 if _is_count(text, after, stop, 9) else 1


@kernel(allocates=False)
def _tells_of_no_job(text: bytes, left: int, right: int) -> bool:
    """Whether a field is a type of record of the file reporting that is not of a job that ended."""
    return (
        is_word(text, left, right, b"new_job")
        or is_word(text, left, right, b"job_log")
        or is_word(text, left, right, b"queue")
        or is_word(text, left, right, b"queue_consumable")
        or is_word(text, left, right, b"host")
        or is_word(text, left, right, b"host_consumable")
        or is_word(text, left, right, b"sharelog")
        or is_word(text, left, right, b"new_ar")
        or is_word(text, left, right, b"ar_attribute")
        or is_word(text, left, right, b"ar_log")
        or is_word(text, left, right, b"ar_acct")
    )


@kernel(allocates=False)
def _ends_queue(text: bytes, left: int, right: int) -> bool:
    """Whether a field ends as names of queues usually do."""
    return right - left > 2 and text[right - 2] == _POINT and text[right - 1] == 113


@kernel(allocates=False)
def _address(text: bytes, begin: int, end: int, colons: IntArray, count: int, first: int) -> int:
    """Return how many fields a host takes beyond the first, at most: 0 unless it is an address of IPv6."""
    groups = 0
    is_short = False  # some groups are left out, by two colons
    while first + 1 + groups <= count and groups < _GROUPS:
        left, right = _field(begin, end, colons, count, first + 1 + groups)
        if left < right and text[left] == _OPEN:
            left += 1
        ends = left < right and text[right - 1] == _CLOSE
        if ends:
            right -= 1
        if not _is_group(text, left, right):
            break
        is_short |= left == right
        groups += 1
        if ends:
            break
    return groups - 1 if groups == _GROUPS or (groups > 1 and is_short) else 0


@kernel(allocates=False)
def _is_group(text: bytes, left: int, right: int) -> bool:
    """Whether a field may be a part of an address: up to four hexadecimal digits, four numbers with points."""
    points = 0
    for at in range(left, right):
        byte = text[at]
        if byte == _POINT:
            points += 1
        elif not (48 <= byte <= 57 or 97 <= (byte | 32) <= 102):
            return False
    return (points == 0 and right - left <= 4) or points == 3


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
def _has_numbers(text: bytes, begin: int, end: int, colons: IntArray, count: int, shift: int) -> bool:
    """Whether the numbers of a line stand so many fields further right."""
    for field in range(7, 31):
        left, right = _field(begin, end, colons, count, field + shift)
        if field == 11 or field == 12:
            if not _is_count(text, left, right, 6):
                return False
        elif not _is_number(text, left, right):
            return False
    left, right = _field(begin, end, colons, count, 33 + shift)
    if _is_number(text, left, right):
        return False
    for field in range(34, 39):
        left, right = _field(begin, end, colons, count, field + shift)
        if not (_is_count(text, left, right, 9) if field < 36 else _is_number(text, left, right)):
            return False
    return True


@kernel(allocates=False)
def _job_number(text: bytes, begin: int, end: int, colons: IntArray, count: int, least: int, most: int) -> int:
    """Return which of some fields is the job number; -1 if none is a number.

    Of several numbers one is the job's, the others are parts of its name or account: ``run:4`` or ``7:proj``. It is
    the last one, unless one before it is larger and short enough.
    """
    found = -1
    largest = 0
    for field in range(most, least - 1, -1):
        left, right = _field(begin, end, colons, count, field)
        if not _is_count(text, left, right, 10):
            continue
        value = 0
        for at in range(left, right):
            value = value * 10 + (text[at] - 48)
        if found < 0 or (value > largest and right - left <= _MOST_NUMBER):
            found, largest = field, value
    return found


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

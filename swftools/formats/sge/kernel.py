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
from swftools.formats.accounting.lines import is_word_of_any_case, mark_line, room_for, whole_number
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

COLONS = 1024 + 2
"""Room for the colons of a line that are looked at, and for its beginning and end."""

_NO_JOB = (
    *(b"new_job", b"job_log", b"queue", b"queue_consumable", b"host", b"host_consumable", b"sharelog"),
    *(b"new_ar", b"ar_attribute", b"ar_log", b"ar_acct"),
)
"""Types of records of the file reporting that are not of a job that ended."""

_RETURN, _COLON, _HASH, _EQUALS, _BLANK, _AT, _POINT = 13, 58, 35, 61, 32, 64, 46
_SLASH, _OPEN, _CLOSE, _BRACE = 47, 91, 93, 123
_GROUPS = 8  # of an IPv6 address
_MOST_NUMBER = 7  # digits of job numbers, which begin again at 1 from 10 million on
_PLAIN_FIELDS = ((0, 0), (1, 2), (2, 3))
_NUMBERED_FIELDS = tuple(zip(range(5, 16), (8, 9, 10, 11, 12, 13, 31, 32, 34, 35, 36), strict=True))
"""Columns, and the fields that they are."""

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
    places = (len(COLUMNS),)
    lines = room_for(Lines, line_ends(text) + 1, behind=(), value_begin=places, value_end=places)
    return lines, *scan(text, first_line, np.empty(COLONS, np.int64), lines)


@kernel(allocates=False)
def scan(text: bytes, first_line: int, bounds: IntArray, out: Lines) -> tuple[int, int]:
    """Fill ``out`` with the lines of a text, and return how many there are, and how many of reporting tell of no job.

    The caller gives room for every line and ``COLONS`` bounds of fields, and ``value_begin`` filled with -1.
    """
    row = 0
    others = 0
    line = first_line - 1
    at = 0
    while at < len(text):
        begin = at
        end, colons = mark_line(text, begin, _COLON, bounds)
        at = end + 1
        line += 1
        while end > begin and text[end - 1] == _RETURN:
            end -= 1
        # Empty lines and those of one character say nothing, by accounting(5).
        if end - begin <= 1 or text[begin] == _HASH:
            continue
        fields = min(colons, len(bounds) - 2) + 1
        # The last place of the room stands for the colon in front of the first field, which has the index -1.
        bounds[fields - 1], bounds[-1] = end, begin - 1
        kind = JSON if text[begin] == _BRACE else _read_line(text, bounds, fields, out, row)
        if kind == OTHER:
            others += 1
            continue
        out.line[row], out.begin[row], out.end[row], out.kind[row] = line, begin, end, kind
        row += 1
    return row, others


@kernel(allocates=False)
def _read_line(text: bytes, bounds: IntArray, fields: int, out: Lines, row: int) -> int:
    """Find the fields of a line, and return what it is."""
    first = _first_field(text, bounds, fields)
    if first < 0:
        return OTHER
    kind = _read_fields(text, bounds, fields, first, out, row)
    if kind == ASTRAY and first > 0:
        kind = _read_fields(text, bounds, fields, 0, out, row)
    return kind


@kernel(allocates=False)
def _read_fields(text: bytes, bounds: IntArray, fields: int, first: int, out: Lines, row: int) -> int:
    """Find the fields of a line whose queue is the field ``first``, and return what it is."""
    if fields < FEWEST_FIELDS:
        return SHORT
    number = -1
    host = 0
    shift = first
    most = _address(text, bounds, fields, first)
    while shift + FEWEST_FIELDS <= fields:
        if _has_numbers(text, bounds, shift):
            host = min(most, shift - first)
            while host >= 0:
                number = _job_number(text, bounds, first + host + 5, shift + 5)
                if number >= 0:
                    break
                host -= 1
        if number >= 0:
            break
        shift += 1
    if number < 0:
        return ASTRAY
    more = 0
    while not _ends_category(text, bounds, fields, shift + more):
        more += 1
        if shift + more + FEWEST_FIELDS > fields:
            return ASTRAY
    for column, field in _PLAIN_FIELDS:
        place = first + field + (host if field > 0 else 0)
        _note(bounds, place, place, out, row, column)
    _note(bounds, first + host + 4, number - 1, out, row, _NAME)
    _note(bounds, number, number, out, row, _JOB_NUMBER)
    for column, field in _NUMBERED_FIELDS:
        _note(bounds, field + shift, field + shift, out, row, column)
    _note(bounds, 39 + shift, 39 + shift + more, out, row, _CATEGORY)
    shift += more
    _note(bounds, 42 + shift, 42 + shift, out, row, _MEMORY)
    out.behind[row] = fields - 43 - shift
    if fields > 46 + shift:
        left, right = _field(bounds, 46 + shift)
        for at in range(left, right):
            if text[at] == _AT:
                _note(bounds, 46 + shift, 46 + shift, out, row, _DELETED)
    left, right = _field(bounds, 41 + shift)
    return JOB if is_word_of_any_case(text, left, right, b"none") else PART


@kernel(allocates=False)
def _first_field(text: bytes, bounds: IntArray, fields: int) -> int:
    """Return the field of the queue: 0, or behind what grep or the file reporting put before it; -1 for no job."""
    for field in range(min(3, fields - 1)):
        left, right = _field(bounds, field)
        if right - left >= 9 and whole_number(text, left, right, 17) >= 0:
            left, right = _field(bounds, field + 1)
            if is_word(text, left, right, b"acct"):
                return field + 2
            for word in _NO_JOB:
                if is_word(text, left, right, word):
                    return -1
    if fields < 3:
        return 0
    left, right = _field(bounds, 0)
    after, stop = _field(bounds, 1)
    is_path = begins_with(text, left, right, b"accounting") or begins_with(text, left, right, b"reporting")
    is_path |= _ends_queue(text, after, stop)
    is_path &= not _ends_queue(text, left, right)
    is_path |= whole_number(text, left, right, 17) >= 0
    for at in range(left, right):
        is_path |= text[at] == _SLASH
    if not is_path:
        return 0
    return 2 if whole_number(text, after, stop, 9) >= 0 else 1


@kernel(allocates=False)
def _ends_queue(text: bytes, left: int, right: int) -> bool:
    """Whether a field ends as names of queues usually do."""
    return right - left > 2 and text[right - 2] == _POINT and text[right - 1] == 113


@kernel(allocates=False)
def _address(text: bytes, bounds: IntArray, fields: int, first: int) -> int:
    """Return how many fields a host takes beyond the first, at most: 0 unless it is an address of IPv6."""
    groups = 0
    is_short = False  # some groups are left out, by two colons
    while first + 1 + groups < fields and groups < _GROUPS:
        left, right = _field(bounds, first + 1 + groups)
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
def _field(bounds: IntArray, field: int) -> tuple[int, int]:
    """Return where a field of a line stands."""
    return bounds[field - 1] + 1, bounds[field]


@kernel(allocates=False)
def _note(bounds: IntArray, first: int, last: int, out: Lines, row: int, column: int) -> None:
    """Note that a column is the text of fields that follow each other."""
    out.value_begin[column, row], out.value_end[column, row] = bounds[first - 1] + 1, bounds[last]


@kernel(allocates=False)
def _has_numbers(text: bytes, bounds: IntArray, shift: int) -> bool:
    """Whether the numbers of a line stand so many fields further right."""
    for field in range(7, 31):
        if not (
            _is_count(text, bounds, field + shift, 6) if 11 <= field <= 12 else _is_number(text, bounds, field + shift)
        ):
            return False
    if _is_number(text, bounds, 33 + shift):
        return False
    for field in range(34, 39):
        if not (_is_count(text, bounds, field + shift, 9) if field < 36 else _is_number(text, bounds, field + shift)):
            return False
    return True


@kernel(allocates=False)
def _job_number(text: bytes, bounds: IntArray, least: int, most: int) -> int:
    """Return which of some fields is the job number; -1 if none is a number.

    Of several numbers one is the job's, the others are parts of its name or account: ``run:4`` or ``7:proj``. It is
    the last one, unless one before it is larger and short enough.
    """
    found = -1
    largest = 0
    for field in range(most, least - 1, -1):
        left, right = _field(bounds, field)
        value = whole_number(text, left, right, 10)
        if value >= 0 and (found < 0 or (value > largest and right - left <= _MOST_NUMBER)):
            found, largest = field, value
    return found


@kernel(allocates=False)
def _ends_category(text: bytes, bounds: IntArray, fields: int, shift: int) -> bool:
    """Whether behind field 39 + shift the fields are those behind a category."""
    if not _is_number(text, bounds, 40 + shift) or not _is_number(text, bounds, 42 + shift):
        return False
    left, right = _field(bounds, 41 + shift)
    if left == right:
        return False
    for at in range(left, right):
        if text[at] == _EQUALS or text[at] == _BLANK:
            return False
    for field in range(43 + shift, min(45 + shift, fields)):
        if not _is_count(text, bounds, field, 18):
            return False
    return True


@kernel(allocates=False)
def _is_number(text: bytes, bounds: IntArray, field: int) -> bool:
    """Whether a field looks like a number: digits, perhaps with a sign, a point, an exponent."""
    digits = 0
    for at in range(bounds[field - 1] + 1, bounds[field]):
        byte = text[at]
        if 48 <= byte <= 57:
            digits += 1
        elif not (byte == _POINT or byte == 45 or byte == 43 or ((byte | 32) == 101 and digits > 0)):
            return False
    return digits > 0


@kernel(allocates=False)
def _is_count(text: bytes, bounds: IntArray, field: int, most: int) -> bool:
    """Whether a field is some digits, and no more than ``most``."""
    return whole_number(text, bounds[field - 1] + 1, bounds[field], most) >= 0

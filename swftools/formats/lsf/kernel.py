# SPDX-License-Identifier: BSD-3-Clause
"""The compiled scanner of LSF's lsb.acct: where the fields of each record stand.

Fields are parted by blanks; a string stands in quotation marks, with those within doubled. Two lists of hosts stand
among the fields, each behind its length, and shift all that follows; further lists stand behind field 76.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.formats.accounting.kernel import is_same, is_word
from swftools.formats.accounting.lines import (
    line_end,
    room_for,
    trimmed,
    whole_number,
)
from swftools.formats.accounting.spans import line_ends
from swftools.kernel import IntArray, kernel

COLUMNS = (
    *("event time", "jobId", "numProcessors", "submitTime", "beginTime", "startTime", "userName", "queue"),
    *("dependCond", "jStatus", "jobName", "command", "ru_utime", "ru_stime", "projectName", "exitStatus"),
    *("maxNumProcessors", "idx", "maxRMem", "exitInfo", "chargedSAAP", "app", "runLimit"),
)
"""What is read of a JOB_FINISH, by the names of lsb.acct(5)."""

FINISH, RESIZE, RESERVATION, OTHER, SHORT, UNENDED, LISTS, ASTRAY = 0, 1, 2, 3, 4, 5, 6, 7
"""What a line is: a job that finished, a change of its hosts, a reservation, or something else; and what is wrong."""

_JOB_ID, _IDX = 1, 17
_BEFORE_HOSTS = 22
_LAST_NEEDED = 54  # maxRMem, the last field that all versions have
_LISTS = 77

_TAB, _BLANK, _QUOTE, _STAR, _PLUS, _MINUS, _POINT = 9, 32, 34, 42, 43, 45, 46
_MOST_DIGITS = 10  # of how many there are of something
_RUN_LIMIT = 22


COLUMN_OF_FIELD = np.full(_LISTS, -1)
"""Which column each field of a JOB_FINISH is, counted without the lists of hosts; -1 for none."""

COLUMN_OF_FIELD[[2, 3, 6, 7, 8, 10, 11, 12, 14, 24, 26, 27, 28, 29, 48, 49, 50, 53, 54, 62, 65, 67]] = np.arange(22)
_STRINGS = [0, 1, *range(11, 22), 26, 27, 47, 48, 51, 52, *range(56, 60), 61, 63, *range(65, 69), 70, 71, 73, 75, 76]
IS_STRING = np.isin(np.arange(_LISTS), _STRINGS)
"""Which fields are strings; the others are numbers."""


class Lines(NamedTuple):
    """What the scanner fills, a row for each line that is not empty."""

    line: IntArray
    begin: IntArray
    end: IntArray
    kind: IntArray
    value_begin: IntArray  # (columns, lines), -1 where there is none; strings without their quotation marks
    value_end: IntArray
    slots: IntArray  # of all hosts that it ran on
    hosts: IntArray  # how many these are
    unread: IntArray  # fields behind the memory that are not those of lsb.acct(5)
    reach: IntArray  # how many fields were found, lists not counted, and one more for the run limit behind them


def find_lines(text: bytes, first_line: int) -> tuple[Lines, int]:
    """Return the lines of a text that are not empty, and how many there are.

    Parameters
    ----------
    text : bytes
        Whole lines.
    first_line : int
        Number of the first.
    """
    lists = (len(COLUMNS),)
    lines = room_for(Lines, line_ends(text) + 1, value_begin=lists, value_end=lists)
    return lines, scan(text, first_line, COLUMN_OF_FIELD, IS_STRING, lines)


@kernel(allocates=False)
def scan(text: bytes, first_line: int, column_of_field: IntArray, is_string: npt.NDArray[np.bool_], out: Lines) -> int:
    """Fill ``out`` with the lines of a text, and return how many there are.

    The caller gives room for every line, and ``value_begin`` filled with -1.
    """
    row = 0
    line = first_line - 1
    at = 0
    size = len(text)
    while at < size:
        stop = line_end(text, at)
        begin, end = trimmed(text, at, stop)
        at = stop + 1
        line += 1
        if begin == end:
            continue
        out.line[row], out.begin[row], out.end[row] = line, begin, end
        out.kind[row] = _read_line(text, begin, end, column_of_field, is_string, out, row)
        row += 1
    return row


@kernel(allocates=False)
def _read_line(
    text: bytes,
    begin: int,
    end: int,
    column_of_field: IntArray,
    is_string: npt.NDArray[np.bool_],
    out: Lines,
    row: int,
) -> int:
    """Find the fields of a line, and return what it is."""
    left, right, at = _next(text, begin, end)
    if is_word(text, left, right, b"JOB_RESIZE"):
        return _read_resize(text, at, end, out, row)
    if is_word(text, left, right, b"EVENT_ADRSV_FINISH"):
        return RESERVATION
    if not is_word(text, left, right, b"JOB_FINISH"):
        return OTHER
    field = 1
    while field < _LISTS:
        out.reach[row] = field
        left, right, at = _next(text, at, end)
        if left < 0:
            if at < 0:
                return UNENDED
            return FINISH if field > _LAST_NEEDED else SHORT
        if field == _BEFORE_HOSTS:
            at = _skip(text, at, end, whole_number(text, left, right, _MOST_DIGITS))
        elif field == _BEFORE_HOSTS + 1:
            at = _count_hosts(text, at, end, whole_number(text, left, right, _MOST_DIGITS), out, row)
        elif (at > right) != is_string[field] or (
            column_of_field[field] < 0 and at == right and not _is_number(text, left, right)
        ):
            if field <= _LAST_NEEDED:
                return ASTRAY
            out.unread[row] = 1
            return FINISH
        elif column_of_field[field] >= 0:
            column = column_of_field[field]
            out.value_begin[column, row], out.value_end[column, row] = left, right
        if at < 0:
            return LISTS
        field += 1
    _read_limit(text, at, end, out, row)
    out.reach[row] = _LISTS + (out.value_begin[_RUN_LIMIT, row] >= 0)
    return FINISH


@kernel(allocates=False)
def _read_resize(text: bytes, at: int, end: int, out: Lines, row: int) -> int:
    """Find the job of a JOB_RESIZE: its number and index are fields 3 and 4."""
    for field in range(1, 5):
        left, right, at = _next(text, at, end)
        if left < 0:
            return SHORT if at >= 0 else UNENDED
        if field >= 3:
            if whole_number(text, left, right, _MOST_DIGITS) < 0:
                return OTHER
            column = _JOB_ID if field == 3 else _IDX
            out.value_begin[column, row], out.value_end[column, row] = left, right
    return RESIZE


@kernel(allocates=False)
def _next(text: bytes, at: int, end: int) -> tuple[int, int, int]:
    """Return where the next field stands, without quotation marks around it, and where to go on behind it.

    Its beginning is -1 if there is none, and the place behind it too if a string does not end. Behind a string that
    place is one further than its end, since there is a mark.
    """
    while at < end and (text[at] == _BLANK or text[at] == _TAB):
        at += 1
    if at >= end:
        return -1, -1, end
    if text[at] != _QUOTE:
        left = at
        while at < end and text[at] != _BLANK and text[at] != _TAB:
            at += 1
        return left, at, at
    at += 1
    left = at
    while at < end:
        if text[at] == _QUOTE:
            if at + 1 < end and text[at + 1] == _QUOTE:
                at += 1
            else:
                return left, at, at + 1
        at += 1
    return -1, -1, -1


@kernel(allocates=False)
def _skip(text: bytes, at: int, end: int, count: int) -> int:
    """Return the place behind so many fields; -1 if there are not as many, or no number says how many."""
    if count < 0:
        return -1
    for _ in range(count):
        left, _right, at = _next(text, at, end)
        if left < 0:
            return -1
    return at


@kernel(allocates=False)
def _count_hosts(text: bytes, at: int, end: int, count: int, out: Lines, row: int) -> int:
    """Count slots and hosts of a list such as ``"16*host1" "16*host2"`` or ``"host1" "host1" "host2"``."""
    if count < 0:
        return -1
    last, last_end = -1, -1
    for _ in range(count):
        left, right, at = _next(text, at, end)
        if left < 0:
            return -1
        star = left
        while star < right and 48 <= text[star] <= 57:
            star += 1
        slots = 1
        if left < star < right and text[star] == _STAR:
            slots = whole_number(text, left, star, _MOST_DIGITS)
            if slots < 0:
                return -1
            left = star + 1
        out.slots[row] += slots
        if last < 0 or not is_same(text, left, right, last, last_end):
            out.hosts[row] += 1
        last, last_end = left, right
    return at


@kernel(allocates=False)
def _read_limit(text: bytes, at: int, end: int, out: Lines, row: int) -> None:
    """Find the run limit: behind a list of keys with values and one of use by host, either of which may be empty.

    It is taken only if what follows it, too, is what follows it in LSF 9 and 10: two numbers and a string.
    """
    left, right, at = _next(text, at, end)
    if left < 0:
        return
    at = _skip(text, at, end, 2 * whole_number(text, left, right, _MOST_DIGITS))
    if at < 0:
        return
    left, right, at = _next(text, at, end)
    if left < 0:
        return
    hosts = whole_number(text, left, right, _MOST_DIGITS)
    if hosts < 0:
        return
    for fields in range(2):  # a host has five fields, and behind them mostly a list of keys with values
        place = at
        for _ in range(hosts):
            place = _skip(text, place, end, 5)
            if place >= 0 and fields == 0:
                left, right, place = _next(text, place, end)
                place = _skip(text, place, end, 2 * whole_number(text, left, right, _MOST_DIGITS)) if left >= 0 else -1
            if place < 0:
                break
        if place >= 0:
            left, right, place = _next(text, place, end)
            if left >= 0 and place == right and _is_whole(text, left, right) and _goes_on(text, place, end):
                out.value_begin[_RUN_LIMIT, row], out.value_end[_RUN_LIMIT, row] = left, right
                return


@kernel(allocates=False)
def _goes_on(text: bytes, at: int, end: int) -> bool:
    """Whether two whole numbers and a string follow."""
    for _ in range(2):
        left, right, at = _next(text, at, end)
        if left < 0 or at > right or not _is_whole(text, left, right):
            return False
    left, right, at = _next(text, at, end)
    return left >= 0 and at > right


@kernel(allocates=False)
def _is_number(text: bytes, left: int, right: int) -> bool:
    """Whether a field looks like a number: digits, perhaps with a sign, a point, an exponent."""
    for at in range(left, right):
        byte = text[at]
        if not (48 <= byte <= 57 or byte == _MINUS or byte == _POINT or byte == _PLUS or (byte | 32) == 101):
            return False
    return True


@kernel(allocates=False)
def _is_whole(text: bytes, left: int, right: int) -> bool:
    """Whether a field is a whole number, perhaps with a minus."""
    if left < right and text[left] == _MINUS:
        left += 1
    if left == right:
        return False
    for at in range(left, right):
        if not 48 <= text[at] <= 57:
            return False
    return True

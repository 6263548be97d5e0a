# SPDX-License-Identifier: BSD-3-Clause
"""The lines of PBS's accounting logs: what each says in front of its message, and which are not lines of jobs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.formats.accounting.lines import Strays, has_form, is_digit, line_end, room_for
from swftools.formats.accounting.spans import line_ends
from swftools.kernel import IntArray, kernel

NO_RECORD, NO_JOB, ARRAY, CUT = 1, 2, 3, 4
"""Why a line is not one of a job."""

REASONS = {
    NO_RECORD: "not a record of PBS",
    NO_JOB: "a record of a reservation or of licences, not of a job",
    ARRAY: "a record of an array as a whole; the jobs are its elements",
    CUT: "the log is cut off within this line",
}

_DATE = b"00/00/0000 00:00:00"
_TAB, _RETURN, _BLANK, _COLON, _SEMICOLON = 9, 13, 32, 58, 59
_OPEN, _CLOSE, _POINT, _EQUALS = 91, 93, 46, 61
_OTHER, _OF_RESERVATION = ord("z"), ord("Y")
_OF_NO_JOB = b"LUYBFKk"
"""Types of records of licences (L), and of reservations: they enter, are confirmed, begin, finish, are removed."""


class Lines(NamedTuple):
    """Records in order, a row each: places in the text, -1 in those of jobs that are only remembered."""

    line: IntArray
    begin: IntArray
    end: IntArray
    kind: IntArray  # the letter
    time: IntArray  # where the date begins, of 19 bytes
    id_begin: IntArray
    id_end: IntArray
    message: IntArray  # where it begins; it goes to the end
    key: IntArray  # a hash of the id

    def take(self, rows: npt.NDArray[np.int64]) -> Lines:
        """Return some rows."""
        return Lines(*(column[rows] for column in self))

    def moved(self, distance: npt.NDArray[np.int64] | int) -> Lines:
        """Return the same with other places in a text."""
        places = ("begin", "end", "time", "id_begin", "id_end", "message")
        return self._replace(**{name: getattr(self, name) + distance for name in places})

    @staticmethod
    def joined(parts: list[Lines]) -> Lines:
        """Return the rows of several, one behind the other."""
        return Lines(*(np.concatenate([part[column] for part in parts]) for column, _ in enumerate(Lines._fields)))


def find_lines(text: bytes, first_line: int, *, is_cut: bool) -> tuple[Lines, Strays]:
    """Return the records of jobs in a text, and its other lines.

    Parameters
    ----------
    text : bytes
        Whole lines, the last of which may lack its end.
    first_line : int
        Number of the first.
    is_cut : bool
        Whether a last line without an end is one that was cut off.
    """
    rows = line_ends(text) + 1
    lines, strays = room_for(Lines, rows), room_for(Strays, rows)
    found, stray = scan(text, first_line, is_cut, lines, strays)
    return Lines(*(column[:found] for column in lines)), Strays(*(column[:stray] for column in strays))


@kernel(allocates=False)
def scan(text: bytes, first_line: int, is_cut: bool, lines: Lines, strays: Strays) -> tuple[int, int]:
    """Fill ``lines`` with the records of jobs and ``strays`` with other lines; return how many there are.

    The caller gives room for every line.
    """
    found = 0
    stray = 0
    number = first_line - 1
    at = 0
    while at < len(text):
        begin = at
        end = line_end(text, at)
        has_end = end < len(text)
        at = end + 1
        number += 1
        while end > begin and is_empty(text[end - 1]):
            end -= 1
        if begin == end:
            continue
        why = _read_line(text, begin, end, lines, found)
        if is_cut and not has_end and why == NO_RECORD:
            why = CUT
        if why == 0:
            if text[lines.time[found] - 1] == 0 and lines.time[found] > begin:
                begin = lines.time[found]  # zeros that a crash left stand before the record, not in it
            lines.line[found], lines.begin[found], lines.end[found] = number, begin, end
            found += 1
        else:
            strays.line[stray], strays.begin[stray], strays.end[stray], strays.why[stray] = number, begin, end, why
            stray += 1
    return found, stray


@kernel(allocates=False)
def is_empty(byte: int) -> bool:
    """Whether a byte says nothing: a blank, a tab, a carriage return, or a zero as crashes leave them."""
    return byte == _BLANK or byte == _TAB or byte == _RETURN or byte == 0


@kernel(allocates=False)
def hashed(text: bytes, begin: int, end: int) -> int:
    """Return a hash of a stretch of text, of 62 bits: two polynomials modulo 2**31 - 1."""
    one = 17
    other = 29
    for at in range(begin, end):
        byte = int(text[at])
        one = (one * 1000003 + byte) % 2147483647
        other = (other * 16777619 + byte) % 2147483647
    return one << 31 | other


@kernel(allocates=False)
def _read_line(text: bytes, begin: int, end: int, lines: Lines, row: int) -> int:
    """Fill a row from a line ``[PREFIX:]DATE;TYPE;ID;MESSAGE``; return why it is none of a job, 0 if it is one."""
    first = begin
    while first < end and text[first] != _SEMICOLON:
        first += 1
    kind_end = first + 2
    if kind_end < end and _is_of_cobalt(text[first + 1], text[kind_end]):
        kind_end += 1
    if kind_end >= end or text[kind_end] != _SEMICOLON:
        return NO_RECORD
    date = first - len(_DATE)
    if date < begin or not has_form(text, date, _DATE):
        return NO_RECORD
    if date > begin and text[date - 1] != _COLON and not is_empty(text[date - 1]):
        return NO_RECORD
    kind = int(text[first + 1])
    if not (65 <= kind <= 90 or 97 <= kind <= 122):
        return NO_RECORD
    is_of_job = True
    if kind_end == first + 3:
        is_of_job = kind != _OF_RESERVATION
        kind = _OTHER
    id_begin = kind_end + 1
    id_end = id_begin
    bracket = -1
    is_number = True  # the server's name behind the first dot may hold brackets too
    while id_end < end and text[id_end] != _SEMICOLON:
        if text[id_end] == _POINT:
            is_number = False
        elif text[id_end] == _OPEN and bracket < 0 and is_number:
            bracket = id_end
        id_end += 1
    if id_end == end:
        return NO_RECORD
    lines.kind[row], lines.time[row], lines.message[row] = kind, date, id_end + 1
    while id_begin < id_end and is_empty(text[id_begin]):
        id_begin += 1
    while id_end > id_begin and is_empty(text[id_end - 1]):
        id_end -= 1
    for letter in _OF_NO_JOB:
        if kind == letter:
            return NO_JOB
    if not is_of_job or id_begin == id_end or not is_digit(text[id_begin]):
        return NO_JOB
    if bracket >= 0:
        at = bracket + 1
        while at < id_end and is_digit(text[at]):
            at += 1
        if at == bracket + 1 or at >= id_end or text[at] != _CLOSE:
            return ARRAY
    lines.id_begin[row], lines.id_end[row] = id_begin, id_end
    lines.key[row] = hashed(text, id_begin, id_end)
    return 0


@kernel(allocates=False)
def _is_of_cobalt(one: int, two: int) -> bool:
    """Whether two letters are a type of Cobalt's: TS and TE of tasks, HA and HR of holds, QA and YA of changes."""
    if two == 65:
        return one == 72 or one == 81 or one == 89
    return (one == 84 and (two == 83 or two == 69)) or (one == 72 and two == 82)


@kernel(allocates=False)
def fill_last_keys(text: bytes, begin: IntArray, end: IntArray, key_begin: IntArray, key: IntArray) -> None:
    """Find the last word with ``=`` in it of each message, and the hash of the key in front; -1 where there is none."""
    for row in range(len(begin)):
        key_begin[row], key[row] = -1, -1
        equals = -1
        at = end[row] - 1
        while at >= begin[row]:
            if text[at] == _EQUALS:
                equals = at
            if equals >= 0 and (at == begin[row] or text[at - 1] == _BLANK or text[at - 1] == _TAB):
                key_begin[row], key[row] = at, hashed(text, at, equals)
                break
            at -= 1

# SPDX-License-Identifier: BSD-3-Clause
"""The compiled scanner of ``sacct -P``: where the values of each job stand, and which lines are steps of it.

It knows lines and fields: headers, jobs, steps that follow their job, and what is none of these. What the values mean
is the business of the readers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.formats.accounting.kernel import Labels, find_label, is_same
from swftools.kernel import IntArray, kernel

END, HEADER, DOCUMENT = 0, 1, 2
"""Where the scanner stopped: at the end, at a header line, at a line that begins a JSON document."""

TOO_FEW, TOO_MANY, NO_JOB, NO_ROW, NO_HEADER = range(5)
"""Why a line is no part of a record."""

NO_COLUMN, NO_VALUE = -2, -1
"""In place of where a value begins: the text has no such column; the row has none there."""

ELEMENTS = -2
"""In place of an array index: several elements, in brackets."""

_TAB, _NEWLINE, _RETURN, _BLANK, _PLUS, _POINT, _BAR = 9, 10, 13, 32, 43, 46, 124
_UNDERSCORE, _OPEN, _BRACE = 95, 91, 123
_LONGEST_WORD = 16


class Rows(NamedTuple):
    """What the scanner fills: a row for each job, step and stray line."""

    line: IntArray
    begin: IntArray
    end: IntArray  # of the last of its steps
    value_begin: IntArray  # (columns, jobs), NO_COLUMN or NO_VALUE where there is none
    value_end: IntArray
    array_number: IntArray  # -1 where the job is no element
    array_index: IntArray
    step_line: IntArray
    step_into: IntArray  # the row of its job
    rss_begin: IntArray
    rss_end: IntArray
    cpu_begin: IntArray
    cpu_end: IntArray
    stray_line: IntArray
    stray_begin: IntArray
    stray_end: IntArray
    stray_why: IntArray


class Place(NamedTuple):
    """How far the scanner is, each an array of one, which it moves on."""

    at: IntArray
    line: IntArray
    jobs: IntArray
    steps: IntArray
    strays: IntArray


def room_for(lines: int, columns: int) -> Rows:
    """Return room for so many lines; pages that are not written to take no memory."""
    values = {name: np.empty(lines, np.int64) for name in Rows._fields if not name.startswith("value")}
    return Rows(
        value_begin=np.empty((columns, lines), np.int64), value_end=np.empty((columns, lines), np.int64), **values
    )


@kernel(allocates=False)
def _trimmed(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return where a stretch of text begins and ends without blanks around it."""
    while begin < end and (text[begin] == _BLANK or text[begin] == _TAB):
        begin += 1
    while end > begin and (text[end - 1] == _BLANK or text[end - 1] == _TAB or text[end - 1] == _RETURN):
        end -= 1
    return begin, end


@kernel(allocates=False)
def _line(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return where a line begins and ends without blanks around it, and without the mark of UTF-8 before it."""
    if end - begin >= 3 and text[begin] == 0xEF and text[begin + 1] == 0xBB and text[begin + 2] == 0xBF:
        begin += 3
    return _trimmed(text, begin, end)


@kernel(allocates=False)
def _is_word(text: bytes, begin: int, end: int, word: bytes) -> bool:
    """Whether a stretch of text is a word, which is given in small letters."""
    if end - begin != len(word):
        return False
    for offset in range(len(word)):
        if text[begin + offset] | 32 != word[offset]:
            return False
    return True


@kernel(allocates=False)
def header_id_position(text: bytes, begin: int, end: int) -> int:
    """Return which field of a header line is the job's id (JobID, else JobIDRaw); -1 if it is no header line.

    A header line is one of words that begin with letters, State among them.
    """
    begin, end = _line(text, begin, end)
    field = 0
    number, raw = -1, -1
    has_state = False
    while begin <= end:
        stop = begin
        while stop < end and text[stop] != _BAR:
            stop += 1
        first, last = _trimmed(text, begin, stop)
        if first < last:
            if not 97 <= text[first] | 32 <= 122:
                return -1
            if number < 0 and _is_word(text, first, last, b"jobid"):
                number = field
            if raw < 0 and _is_word(text, first, last, b"jobidraw"):
                raw = field
            has_state = has_state or _is_word(text, first, last, b"state")
        field += 1
        begin = stop + 1
    if not has_state:
        return -1
    return number if number >= 0 else raw


@kernel(allocates=False)
def _field(text: bytes, begin: int, end: int, field: int) -> tuple[int, int]:
    """Return where a field of a line stands; empty where it has not as many."""
    for _ in range(field):
        while begin < end and text[begin] != _BAR:
            begin += 1
        if begin == end:
            return end, end
        begin += 1
    stop = begin
    while stop < end and text[stop] != _BAR:
        stop += 1
    return _trimmed(text, begin, stop)


@kernel(allocates=False)
def last_start(text: bytes, id_position: int) -> tuple[int, int, bool]:
    """Return where the last job or header of a text begins, the field of the id there, and if a document does.

    Parameters
    ----------
    text : bytes
        Whole lines.
    id_position : int
        The field of the id at its beginning; -1 before the first header.
    """
    last, position = 0, id_position
    at = 0
    size = len(text)
    while at < size:
        start = at
        while at < size and text[at] != _NEWLINE:
            at += 1
        begin, end = _line(text, start, at)
        at += 1
        if begin == end:
            continue
        first, stop = begin, begin
        if id_position >= 0:
            first, stop = _field(text, begin, end, id_position)
        if id_position < 0 or first == stop or not 48 <= text[first] <= 57:
            found = header_id_position(text, begin, end)
            if found >= 0:
                last, position = start, id_position
                id_position = found
            elif id_position < 0:
                last, position = start, id_position
                if text[begin] == _BRACE:
                    return last, position, True
            continue
        while first < stop and text[first] != _POINT:
            first += 1
        if first == stop:
            last, position = start, id_position
    return last, position, False


@kernel(allocates=False)
def scan(
    text: bytes,
    position: IntArray,
    fields: int,
    has_tail: bool,
    is_open: bool,
    takes_none: npt.NDArray[np.bool_],
    none_words: Labels,
    marks: IntArray,
    out: Rows,
    place: Place,
) -> int:
    """Fill ``out`` from a place of a text on, until a header or a document; return which, and ``place`` is before it.

    The caller gives room for every line, and ``marks`` for a separator a field and one more. No fields means that no
    header was seen.
    """
    size = len(text)
    at, line = place.at[0], place.line[0]
    row, step, stray = place.jobs[0] - 1, place.steps[0], place.strays[0]
    has_job = False
    stopped = END
    while at < size:
        start = at
        bars = 0
        while at < size and text[at] != _NEWLINE:
            if text[at] == _BAR:
                if bars < len(marks):
                    marks[bars] = at
                bars += 1
            at += 1
        stop = at
        at += 1
        begin, end = _line(text, start, stop)
        if begin == end:
            line += 1
            continue
        first, last = begin, begin
        if fields > 0 and position[0] <= bars:
            first = begin if position[0] == 0 else marks[position[0] - 1] + 1
            first, last = _trimmed(text, first, marks[position[0]] if position[0] < bars else end)
        why = -1
        if first == last or not 48 <= text[first] <= 57:
            if header_id_position(text, begin, end) >= 0:
                stopped, at = HEADER, start
                break
            if fields == 0 and text[begin] == _BRACE:
                stopped, at = DOCUMENT, start
                break
            why = NO_ROW if fields > 0 else NO_HEADER
        else:
            point = first
            while point < last and text[point] != _POINT:
                point += 1
            if bars + 1 < fields + has_tail or (has_tail and text[end - 1] != _BAR):
                why = TOO_FEW
            elif bars + 1 > fields + has_tail and not is_open:
                why = TOO_MANY
            if point == last:
                has_job = why < 0
            elif (why < 0 and not has_job) or (
                why < 0 and not is_same(text, first, point, out.value_begin[0, row], out.value_end[0, row])
            ):
                why = NO_JOB
            if why < 0:
                end -= has_tail
                if point == last:
                    row += 1
                    out.line[row], out.begin[row], out.end[row] = line, start, stop
                    _take_fields(text, begin, end, position, fields, takes_none, none_words, marks, out, row)
                    out.array_number[row], out.array_index[row] = _array_of(text, first, last)
                else:
                    out.step_line[step], out.step_into[step], out.end[row] = line, row, stop
                    out.rss_begin[step], out.rss_end[step] = _value(text, begin, end, position[1], fields, marks)
                    out.cpu_begin[step], out.cpu_end[step] = _value(text, begin, end, position[2], fields, marks)
                    step += 1
        if why >= 0:
            out.stray_line[stray], out.stray_begin[stray], out.stray_end[stray] = line, start, stop
            out.stray_why[stray] = why
            stray += 1
        line += 1
    place.at[0], place.line[0] = min(at, size), line
    place.jobs[0], place.steps[0], place.strays[0] = row + 1, step, stray
    return stopped


@kernel(allocates=False)
def _value(text: bytes, begin: int, end: int, field: int, fields: int, marks: IntArray) -> tuple[int, int]:
    """Return where the value of a field stands, in a line whose separators are known."""
    if field < 0:
        return NO_COLUMN, NO_COLUMN
    first = begin if field == 0 else marks[field - 1] + 1
    return _trimmed(text, first, end if field == fields - 1 else marks[field])


@kernel(allocates=False)
def _take_fields(
    text: bytes,
    begin: int,
    end: int,
    position: IntArray,
    fields: int,
    takes_none: npt.NDArray[np.bool_],
    none_words: Labels,
    marks: IntArray,
    out: Rows,
    row: int,
) -> None:
    """Note where the values of a job stand."""
    for column in range(len(position)):
        first, last = _value(text, begin, end, position[column], fields, marks)
        if (first >= 0 and first == last) or (
            first >= 0
            and takes_none[column]
            and last - first <= _LONGEST_WORD
            and not 48 <= text[first] <= 57
            and find_label(text, first, last, none_words) >= 0
        ):
            first = NO_VALUE
        out.value_begin[column, row], out.value_end[column, row] = first, last


@kernel(allocates=False)
def _array_of(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return the array that an id ``N_k`` is of, and the index; ELEMENTS for ``N_[...]``, -1 for ids of no array."""
    number = 0
    at = begin
    while at < end and 48 <= text[at] <= 57 and at - begin < 18:
        number = number * 10 + (text[at] - 48)
        at += 1
    if at + 1 >= end or text[at] != _UNDERSCORE:
        return -1, -1
    at += 1
    if text[at] == _OPEN:
        return number, ELEMENTS
    index = 0
    first = at
    while at < end and 48 <= text[at] <= 57 and at - first < 18:
        index = index * 10 + (text[at] - 48)
        at += 1
    if at < end:
        return -1, -1
    return number, index

# SPDX-License-Identifier: BSD-3-Clause
"""The compiled scanner of ``sacct -P``: where the values of each job stand, and which lines are steps of it.

It knows lines and fields: headers, jobs, steps behind their job and steps elsewhere, and what is none of these. What
the values mean is the business of the readers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.formats.accounting.kernel import Labels, begins_with, find_label, is_same
from swftools.formats.accounting.lines import is_digit, mark_line, past_digits, read_digits
from swftools.formats.slurm.lines import (
    ALL,
    NO_COLUMN,
    NO_VALUE,
    find_header,
    is_id,
    join_lines,
    mark_fields,
    value_of,
    whole_line,
)
from swftools.kernel import IntArray, kernel

END, HEADER, DOCUMENT = 0, 1, 2
"""Where the scanner stopped: at the end, at a header line, at a line that begins a JSON document."""

TOO_FEW, TOO_MANY, NO_ROW, NO_HEADER = range(4)
"""Why a line is no part of a record."""

ELEMENTS = -2
"""In place of an array index: several elements, in brackets."""

NO_LINES, SOME_LINES, LAST_LINES = 0, 1, 2
"""Whether values may hold line ends: none, some, the last one of a row too."""

_NOTHING, _JOB, _STEP, _LOOSE = range(4)
_TAB, _PLUS, _POINT, _UNDERSCORE, _OPEN, _BRACE = 9, 43, 46, 95, 91, 123
_LONGEST_WORD = 16
_MOST_DIGITS = 18


class Rows(NamedTuple):
    """What the scanner fills: a row for each job, step, loose step and stray line."""

    line: IntArray
    begin: IntArray
    end: IntArray  # of the last of its steps
    value_begin: IntArray  # (columns, jobs), NO_COLUMN or NO_VALUE where there is none
    value_end: IntArray
    array_number: IntArray  # -1 where the job is no element
    array_index: IntArray
    step_line: IntArray  # also of lines on which a value of a row goes on
    step_into: IntArray  # the row of its job
    rss_begin: IntArray
    rss_end: IntArray
    cpu_begin: IntArray
    cpu_end: IntArray
    loose_line: IntArray  # of steps that do not stand behind their job
    loose_begin: IntArray
    loose_end: IntArray
    loose_value_begin: IntArray  # (columns of loose steps, steps): the id of the job for JobID
    loose_value_end: IntArray
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
    loose: IntArray
    strays: IntArray


def room_for(lines: int, columns: int, of_loose: int) -> Rows:
    """Return room for so many lines; pages that are not written to take no memory."""
    values = {name: np.empty(lines, np.int64) for name in Rows._fields if "value" not in name}
    both = {name: np.empty((columns, lines), np.int64) for name in ("value_begin", "value_end")}
    loose = {name: np.empty((of_loose, lines), np.int64) for name in ("loose_value_begin", "loose_value_end")}
    return Rows(**both, **loose, **values)


@kernel(allocates=False)
def scan(
    text: bytes,
    position: IntArray,
    fields: int,
    has_tail: bool,
    is_open: bool,
    separator: bytes,
    is_csv: bool,
    takes_lines: int,
    takes_none: npt.NDArray[np.bool_],
    none_words: Labels,
    of_loose: IntArray,
    marks: IntArray,
    out: Rows,
    place: Place,
) -> int:
    """Fill ``out`` from a place of a text on, until a header or a document; return which, and ``place`` is before it.

    The caller gives room for every line, and ``marks`` for a separator a field and one more. No fields means that no
    header was seen. ``of_loose`` has the columns that are noted of steps that do not stand behind their job.
    """
    size = len(text)
    at, line = place.at[0], place.line[0]
    row, step, loose, stray = place.jobs[0] - 1, place.steps[0], place.loose[0], place.strays[0]
    has_job = False
    before = _NOTHING  # what stands in front of a line, on which it may go on
    stopped = END
    width = len(separator)
    has_tabs = width == 1 and separator[0] == _TAB
    mark = -1 if is_csv or width != 1 else int(separator[0])
    while at < size:
        start = at
        at, bars = mark_line(text, at, mark, marks)
        stop = at
        at += 1
        begin, end = whole_line(text, start, stop, has_tabs)
        if begin == end:
            line += 1
            continue
        if mark < 0 and fields > 0:
            bars = mark_fields(text, begin, end, separator, is_csv, marks, ALL)
        first, last = begin, begin
        if fields > 0 and position[0] <= bars:
            first, last = value_of(text, begin, end, position[0], bars + 1, width, is_csv, marks)
        why, lines = -1, 1
        is_row = first < last and is_digit(text[first])
        if is_row and takes_lines == LAST_LINES and before != _NOTHING:
            is_row = bars > position[0] and is_id(text, first, last)
        if not is_row:
            if find_header(text, begin, end)[0] >= 0:
                stopped, at = HEADER, start
                break
            if fields == 0 and text[begin] == _BRACE:
                stopped, at = DOCUMENT, start
                break
            if takes_lines == LAST_LINES and before != _NOTHING and not begins_with(text, begin, end, b"sacct: "):
                if before == _LOOSE:
                    _go_on(out, of_loose, loose, line, start, stop)
                    loose += 1
                else:
                    out.end[row] = stop
                    if before == _JOB:
                        for column in range(len(position)):
                            if position[column] == fields - 1:
                                out.value_end[column, row] = end
                    out.step_line[step], out.step_into[step] = line, row
                    out.rss_begin[step] = out.rss_end[step] = out.cpu_begin[step] = out.cpu_end[step] = NO_COLUMN
                    step += 1
                line += 1
                continue
            why = NO_ROW if fields > 0 else NO_HEADER
        else:
            point = first
            while point < last and text[point] != _POINT:
                point += 1
            if takes_lines != NO_LINES and bars + 1 < fields + has_tail:
                count, join_stop, join_count = join_lines(
                    text, begin, stop, position[0], fields + has_tail, separator, is_csv, marks
                )
                if count >= 0:
                    bars, stop, lines, at = count, join_stop, join_count, join_stop + 1
                    end = whole_line(text, begin, stop, has_tabs)[1]
            if bars + 1 < fields + has_tail or (has_tail and not _ends_with(text, begin, end, separator)):
                why = TOO_FEW
            elif bars + 1 > fields + has_tail and not is_open:
                why = TOO_MANY
            if point == last:
                has_job = why < 0
        if why >= 0:
            out.stray_line[stray], out.stray_begin[stray], out.stray_end[stray] = line, start, stop
            out.stray_why[stray] = why
            stray += 1
            before = _NOTHING
            for further in range(1, lines):
                out.stray_line[stray], out.stray_begin[stray], out.stray_end[stray] = line + further, stop, stop
                out.stray_why[stray] = why
                stray += 1
            line += lines
            continue
        end -= has_tail * width
        if point == last:
            row += 1
            before = _JOB
            out.line[row], out.begin[row], out.end[row] = line, start, stop
            _take_fields(text, begin, end, position, fields, width, is_csv, takes_none, none_words, marks, out, row)
            out.array_number[row], out.array_index[row] = _array_of(text, first, last)
        elif has_job and _is_step_of(
            text, begin, end, first, point, position[of_loose[-1]], of_loose[-1], fields, width, is_csv, marks, out, row
        ):
            before = _STEP
            out.step_line[step], out.step_into[step], out.end[row] = line, row, stop
            out.rss_begin[step], out.rss_end[step] = value_of(
                text, begin, end, position[1], fields, width, is_csv, marks
            )
            out.cpu_begin[step], out.cpu_end[step] = value_of(
                text, begin, end, position[2], fields, width, is_csv, marks
            )
            step += 1
        else:
            before = _LOOSE
            out.loose_line[loose], out.loose_begin[loose], out.loose_end[loose] = line, start, stop
            for each in range(len(of_loose)):
                out.loose_value_begin[each, loose], out.loose_value_end[each, loose] = value_of(
                    text, begin, end, position[of_loose[each]], fields, width, is_csv, marks
                )
            out.loose_value_end[0, loose] = point
            loose += 1
        for further in range(1, lines):
            if before == _LOOSE:
                _go_on(out, of_loose, loose, line + further, stop, stop)
                loose += 1
            else:
                out.step_line[step], out.step_into[step] = line + further, row
                out.rss_begin[step] = out.rss_end[step] = out.cpu_begin[step] = out.cpu_end[step] = NO_COLUMN
                step += 1
        line += lines
    _leave_out(position, place.jobs[0], row + 1, out)
    place.at[0], place.line[0] = min(at, size), line
    place.jobs[0], place.steps[0], place.loose[0], place.strays[0] = row + 1, step, loose, stray
    return stopped


@kernel(allocates=False)
def _is_step_of(
    text: bytes,
    begin: int,
    end: int,
    first: int,
    point: int,
    field: int,
    column: int,
    fields: int,
    width: int,
    is_csv: bool,
    marks: IntArray,
    out: Rows,
    row: int,
) -> bool:
    """Whether a step is one of the job before it: by the id, and by the cluster where both tell it."""
    if not is_same(text, first, point, out.value_begin[0, row], out.value_end[0, row]):
        return False
    at, stop = value_of(text, begin, end, field, fields, width, is_csv, marks)
    if at < 0 or at == stop or out.value_begin[column, row] < 0:
        return True
    return is_same(text, at, stop, out.value_begin[column, row], out.value_end[column, row])


@kernel(allocates=False)
def _ends_with(text: bytes, begin: int, end: int, separator: bytes) -> bool:
    """Whether a stretch of text ends with the separator."""
    return end - begin >= len(separator) and begins_with(text, end - len(separator), end, separator)


@kernel(allocates=False)
def _go_on(out: Rows, of_loose: IntArray, loose: int, line: int, begin: int, end: int) -> None:
    """Note a further line of the loose step before: it belongs to the same job, and says nothing itself."""
    out.loose_line[loose], out.loose_begin[loose], out.loose_end[loose] = line, begin, end
    for each in range(len(of_loose)):
        is_known = of_loose[each] != 1 and of_loose[each] != 2  # MaxRSS and TotalCPU, which would count twice
        out.loose_value_begin[each, loose] = out.loose_value_begin[each, loose - 1] if is_known else NO_VALUE
        out.loose_value_end[each, loose] = out.loose_value_end[each, loose - 1] if is_known else NO_VALUE


@kernel(allocates=False)
def _take_fields(
    text: bytes,
    begin: int,
    end: int,
    position: IntArray,
    fields: int,
    width: int,
    is_csv: bool,
    takes_none: npt.NDArray[np.bool_],
    none_words: Labels,
    marks: IntArray,
    out: Rows,
    row: int,
) -> None:
    """Note where the values of a job stand, of the columns that there are."""
    for column in range(len(position)):
        if position[column] < 0:
            continue
        first, last = value_of(text, begin, end, position[column], fields, width, is_csv, marks)
        if (first >= 0 and first == last) or (
            first >= 0
            and takes_none[column]
            and last - first <= _LONGEST_WORD
            and not is_digit(text[first])
            and find_label(text, first, last, none_words) >= 0
        ):
            first = NO_VALUE
        out.value_begin[column, row], out.value_end[column, row] = first, last


@kernel(allocates=False)
def _leave_out(position: IntArray, begin: int, end: int, out: Rows) -> None:
    """Note of jobs that they have no values of the columns that there are not: column by column, which is faster."""
    for column in range(len(position)):
        if position[column] < 0:
            out.value_begin[column, begin:end] = NO_COLUMN
            out.value_end[column, begin:end] = NO_COLUMN


@kernel(allocates=False)
def _array_of(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return the array that an id ``N_k`` is of, and the index; ELEMENTS for ``N_[...]``, -1 for ids of no array."""
    number, at = read_digits(text, begin, end, _MOST_DIGITS)
    if at + 1 >= end or text[at] != _UNDERSCORE:
        return -1, -1
    at += 1
    if text[at] == _OPEN:
        return number, ELEMENTS
    index, at = read_digits(text, at, end, _MOST_DIGITS)
    if at + 1 < end and text[at] == _PLUS:  # a component of a heterogeneous job of that element
        at = past_digits(text, at + 1, end)
    if at < end or index < 0:
        return -1, -1
    return number, index

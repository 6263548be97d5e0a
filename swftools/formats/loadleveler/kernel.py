# SPDX-License-Identifier: BSD-3-Clause
"""The compiled scanner of LoadLeveler's long listings: where each step's values stand, by their labels.

It knows lines: headers of jobs and steps, labels and values, hosts, the part about nodes, and what is none of these.
What the values mean is the business of ``reader.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.formats.accounting.kernel import PLAIN, Labels, begins_with, find_label, is_same, is_word, read_number
from swftools.formats.accounting.lines import (
    Strays,
    find_byte,
    is_digit,
    line_end,
    note_stray,
    past_digits,
    room_for,
    trimmed,
    without_blanks,
)
from swftools.kernel import IntArray, kernel

JOB, STEP, DETAIL, RULE, OTHER = 1, 2, 3, 4, 0
"""What a line of signs announces: a job, a step, use by machine and event, nothing, or something else."""

NODE_LABELS = (
    b"Node minimum",
    b"Node maximum",
    b"Node actual",
    b"Total Tasks",
    b"Num Task Inst",
    b"Allocated Hosts",
    b"Executable",
)
"""Labels of the part about nodes, which repeat."""

NODE_MINIMUM, NODE_MAXIMUM, NODE_ACTUAL, TOTAL_TASKS, TASKS, HOSTS = range(6)
_EXECUTABLE = 6
COUNTS = 6
"""Columns of the counts that the scanner makes: those of ``NODE_LABELS`` but the last."""

NO_NODES, NODES, MASTER_TASK, TASK = 0, 1, 2, 3
MESSAGE = 0
REASONS = {MESSAGE: "a message, not a record"}
"""Why a line belongs to no step."""

_BLANK, _NEWLINE, _PLUS, _MINUS, _COLON, _EQUALS = 32, 10, 43, 45, 58, 61


class Steps(NamedTuple):
    """What the scanner fills, a row for each step."""

    line: IntArray
    begin: IntArray
    end: IntArray
    id_begin: IntArray
    id_end: IntArray
    value_begin: IntArray  # (labels, steps), -1 where there is none
    value_end: IntArray
    repeated: IntArray  # how often one of them stands again with another value
    counts: IntArray  # (COUNTS, steps), -1 where nothing says it
    hosts_begin: IntArray  # the lines that name its hosts
    hosts_end: IntArray
    host_lines: IntArray
    details: IntArray  # blocks of use by machine and event


def find_steps(
    text: bytes,
    first_line: int,
    labels: Labels,
    inherited: npt.NDArray[np.bool_],
    node_labels: Labels,
    executable: int,
) -> tuple[Steps, Strays, int, int]:
    """Find the steps of a text; return them and the lines that belong to nothing, and how many of each there are.

    Parameters
    ----------
    text : bytes
        Whole lines.
    first_line : int
        Number of the first.
    labels : Labels
        What is wanted of each step, "Allocated Host" first.
    inherited : ndarray of bool
        Which labels a step takes from its job where it does not have them.
    node_labels : Labels
        The table of ``NODE_LABELS``.
    executable : int
        The label that takes the Executable of the part about nodes.
    """
    rows, lines = count_steps(text)
    wanted = len(labels.begin)
    places = (wanted,)
    steps = room_for(Steps, rows, value_begin=places, value_end=places, counts=(COUNTS,))
    strays = room_for(Strays, lines)
    job_begin, job_end = np.full(wanted, -1, np.int64), np.full(wanted, -1, np.int64)
    found, stray = scan(text, first_line, labels, inherited, node_labels, executable, steps, strays, job_begin, job_end)
    return steps, strays, found, stray


@kernel(allocates=False)
def header_of(text: bytes, begin: int, end: int) -> tuple[int, int, int]:
    """Return what a line of signs announces, and where the words between the signs stand.

    The line is ``text[begin:end]``, without blanks around it.
    """
    sign = text[begin]
    left = begin
    while left < end and text[left] == sign:
        left += 1
    if left == end:
        return RULE, left, left
    right = end
    while right > left and text[right - 1] == sign:
        right -= 1
    if left - begin < 3 or end - right < 3 or text[left] != _BLANK:
        return OTHER, left, right
    left, right = without_blanks(text, left, right)
    kind = OTHER
    if begins_with(text, left, right, b"Job Step "):
        kind, left = STEP, left + 9
    elif begins_with(text, left, right, b"Step "):
        kind, left = STEP, left + 5
    elif begins_with(text, left, right, b"Job "):
        kind, left = JOB, left + 4
    elif begins_with(text, left, right, b"Detail "):
        kind = DETAIL
    left, right = without_blanks(text, left, right)
    return kind, left, right


@kernel(allocates=False)
def last_header(text: bytes) -> int:
    """Return where the line of the last header of a job begins, else of a step; 0 where there is neither.

    It takes the same lines for headers as ``scan``, so that a text that is parted there is read as it is in one piece.
    """
    of_step = 0
    stop = len(text)
    while stop > 0:
        start = stop - 1  # the last byte of a line: its end, or at the end of the text any
        while start > 0 and text[start - 1] != _NEWLINE:
            start -= 1
        # A stretch of this pass holds its line end, unless the text ends without one.
        begin, end = trimmed(text, start, stop - (text[stop - 1] == _NEWLINE))
        if begin < end and (text[begin] == _EQUALS or text[begin] == _MINUS):
            kind, _left, _right = header_of(text, begin, end)
            if kind == JOB:
                return start
            if kind == STEP and of_step == 0:
                of_step = start
        stop = start
    return of_step


@kernel(allocates=False)
def count_steps(text: bytes) -> tuple[int, int]:
    """Return how many headers of steps a text has at most, and how many lines."""
    lines = 0
    headers = 0
    at = 0
    while at < len(text):
        begin = at
        at = line_end(text, begin)
        headers += (
            at - begin > 8 and (text[begin] == _EQUALS or text[begin] == _MINUS) and text[begin + 2] == text[begin]
        )
        lines += 1
        at += 1
    return headers, lines


@kernel(allocates=False)
def scan(
    text: bytes,
    first_line: int,
    labels: Labels,
    inherited: npt.NDArray[np.bool_],
    node_labels: Labels,
    executable: int,
    out: Steps,
    strays: Strays,
    job_begin: IntArray,
    job_end: IntArray,
) -> tuple[int, int]:
    """Fill ``out`` with the steps of a text and ``strays`` with lines of none; return how many there are.

    The caller gives room for every step and line, ``value_begin``, ``counts`` and ``job_begin`` filled with -1.
    """
    wanted = len(labels.begin)
    row = -1
    found_strays = 0
    in_job = False
    in_detail = False
    place = NO_NODES
    lists_hosts = False
    line = first_line - 1
    at = 0
    while at < len(text):
        start = at
        stop = line_end(text, start)
        at = stop + 1
        line += 1
        begin, end = trimmed(text, start, stop)
        if begin == end:
            continue
        byte = text[begin]
        if byte == _EQUALS or byte == _MINUS:
            kind, left, right = header_of(text, begin, end)
            if kind == RULE:
                lists_hosts = False
                continue
            if kind == JOB or kind == STEP:
                if row >= 0 and out.end[row] < 0:  # behind a job without steps the step before has its own job's
                    _inherit(out, row, inherited, job_begin, job_end)
                    out.end[row] = start
                in_job = kind == JOB
                in_detail = False
                place = NO_NODES
                lists_hosts = False
                if kind == JOB:
                    for label in range(wanted):
                        job_begin[label] = -1
                else:
                    row += 1
                    out.line[row] = line
                    out.begin[row] = start
                    out.end[row] = -1
                    out.id_begin[row], out.id_end[row] = left, right
                    out.hosts_begin[row] = -1
                continue
            if kind == DETAIL and row >= 0:
                in_detail = True
                lists_hosts = False
                out.details[row] += 1
                continue
        if (row < 0 and not in_job) or in_detail:
            continue
        if in_job:
            colon = find_byte(text, begin, end, _COLON)
            if colon < end:
                left, right = without_blanks(text, begin, colon)
                label = find_label(text, left, right, labels)
                if label >= 0:
                    job_begin[label], job_end[label] = without_blanks(text, colon + 1, end)
            continue
        if byte == _PLUS and lists_hosts:
            out.counts[HOSTS, row] += 1
            out.hosts_end[row] = end
            continue
        colon = find_byte(text, begin, end, _COLON)
        if colon == end:
            if is_word(text, begin, end, b"Node"):
                place, lists_hosts = NODES, False
            elif is_word(text, begin, end, b"Master Task"):
                place = MASTER_TASK
            elif is_word(text, begin, end, b"Task"):
                place = TASK
            elif lists_hosts and begin > start:
                out.host_lines[row] += 1
                out.hosts_end[row] = end
            elif not _is_footer(text, begin, end):
                found_strays = note_stray(strays, found_strays, line, start, stop, MESSAGE)
            continue
        name_end = without_blanks(text, begin, colon)[1]
        value = without_blanks(text, colon + 1, end)[0]
        if begin == start and _is_message(text, begin, name_end, value, end):
            found_strays = note_stray(strays, found_strays, line, start, stop, MESSAGE)
            continue
        lists_hosts = False
        if place != NO_NODES:
            which = find_label(text, begin, name_end, node_labels)
            if which == _EXECUTABLE:
                if out.value_begin[executable, row] < 0 and value < end:
                    out.value_begin[executable, row], out.value_end[executable, row] = value, end
                continue
            if which == HOSTS:
                lists_hosts = True
                out.counts[HOSTS, row] = max(out.counts[HOSTS, row], 0) + (value < end)
                if out.hosts_begin[row] < 0:
                    out.hosts_begin[row] = value
                out.hosts_end[row] = end
                continue
            if which >= 0:
                amount, state = read_number(text, value, end)
                if state == PLAIN and not (which == TASKS and place == MASTER_TASK):
                    out.counts[which, row] = max(out.counts[which, row], 0) + int(amount)
                continue
        label = find_label(text, begin, name_end, labels)
        if label < 0:
            continue
        if out.value_begin[label, row] < 0:
            out.value_begin[label, row], out.value_end[label, row] = value, end
        elif place == NO_NODES and not is_same(
            text, out.value_begin[label, row], out.value_end[label, row], value, end
        ):
            out.repeated[row] += 1
        if label == 0:  # Allocated Host
            lists_hosts = True
            out.host_lines[row] = value < end
            out.hosts_begin[row], out.hosts_end[row] = value, end
    if row >= 0 and out.end[row] < 0:
        _inherit(out, row, inherited, job_begin, job_end)
        out.end[row] = len(text)
    return row + 1, found_strays


@kernel(allocates=False)
def _inherit(out: Steps, row: int, inherited: npt.NDArray[np.bool_], job_begin: IntArray, job_end: IntArray) -> None:
    """Give a step what its job says and it does not."""
    for label in range(len(inherited)):
        if inherited[label] and out.value_begin[label, row] < 0 and job_begin[label] >= 0:
            out.value_begin[label, row], out.value_end[label, row] = job_begin[label], job_end[label]


@kernel(allocates=False)
def _is_message(text: bytes, begin: int, name_end: int, value: int, end: int) -> bool:
    """Whether a line is a message of a command of LoadLeveler's: ``llsummary: 2512-301 ...``."""
    if name_end - begin < 3 or text[begin] != 108 or text[begin + 1] != 108:
        return False
    for at in range(begin, name_end):
        if not (97 <= text[at] <= 122 or text[at] == 95):
            return False
    return end - value > 4 and is_digit(text[value]) and text[value + 4] == _MINUS


@kernel(allocates=False)
def _is_footer(text: bytes, begin: int, end: int) -> bool:
    """Whether a line is the sum at the end of a listing: ``4 job step(s) in query, 1 waiting, ...``."""
    at = past_digits(text, begin, end)
    return at > begin and begins_with(text, at, end, b" job step(s) in q")

# SPDX-License-Identifier: BSD-3-Clause
"""Where the jobs of ``sacct --json`` stand: the objects in the list "jobs" of one document after another.

Documents grow to gigabytes, so they are taken apart here, in pieces of any size, and each job is read by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import IntArray, kernel

_NEWLINE, _QUOTE, _COMMA, _BACKSLASH = 10, 34, 44, 92
_OPEN_LIST, _CLOSE_LIST, _OPEN, _CLOSE = 91, 93, 123, 125
_KEY = b"jobs"
DEPTH, IN_STRING, ESCAPED, MATCHED, IS_KEY, IN_JOBS, LISTS = range(7)
"""What is known at a byte: how deep it stands, whether in a string and behind a backslash there, how many letters of
the last string of a document are those of "jobs" (-1 once they are not), whether it was that, whether the list of jobs
is open, and how many such lists there were."""


class DocumentPlaces(NamedTuple):
    """Where things stand in a piece of text: a row for each job, and a row for each line outside of all documents."""

    begin: IntArray
    end: IntArray
    stray_begin: IntArray
    stray_end: IntArray
    open_at: int  # where a job begins that does not end; -1 if there is none


def new_state() -> npt.NDArray[np.int64]:
    """Return what is known at the beginning of a log."""
    return np.zeros(7, np.int64)


def find_jobs(text: bytes, state: npt.NDArray[np.int64]) -> DocumentPlaces:
    """Find the jobs in a piece of text; ``state`` becomes what is known at its end, or where a job is left open.

    Parameters
    ----------
    text : bytes
        Goes on where the last piece ended, or at the job that it left open.
    state : ndarray of int64
        As ``new_state`` or the last call left it.
    """
    room = text.count(b"{") + 1
    lines = text.count(b"\n") + 1
    begin, end = np.empty(room, np.int64), np.empty(room, np.int64)
    strays = np.empty(lines, np.int64), np.empty(lines, np.int64)
    found, stray, open_at = _find(text, state, begin, end, *strays)
    if open_at >= 0:
        state[[DEPTH, IN_STRING, ESCAPED, MATCHED, IS_KEY, IN_JOBS]] = 2, 0, 0, -1, 0, 1
    return DocumentPlaces(begin[:found], end[:found], strays[0][:stray], strays[1][:stray], int(open_at))


@kernel(allocates=False)
def _find(
    text: bytes,
    state: IntArray,
    begin: IntArray,
    end: IntArray,
    stray_begin: IntArray,
    stray_end: IntArray,
) -> tuple[int, int, int]:
    """Fill in where jobs and strays stand; return how many, and where a job is open at the end."""
    found, stray = 0, 0
    open_at = -1
    at = 0
    size = len(text)
    while at < size:
        byte = text[at]
        at += 1
        if state[IN_STRING] and byte != _NEWLINE:
            if state[ESCAPED]:
                state[ESCAPED] = 0
            elif byte == _BACKSLASH:
                state[ESCAPED] = 1
                state[MATCHED] = -1
            elif byte == _QUOTE:
                state[IN_STRING] = 0
                state[IS_KEY] = state[DEPTH] == 1 and state[MATCHED] == len(_KEY)
            elif 0 <= state[MATCHED] < len(_KEY) and byte == _KEY[state[MATCHED]]:
                state[MATCHED] += 1
            else:
                state[MATCHED] = -1
        elif state[IN_STRING]:  # a string ends with its line, so that damage to one does not spread
            state[IN_STRING] = state[ESCAPED] = 0
        elif state[DEPTH] == 0 and byte != _OPEN:
            if byte > 32 and byte != 0xEF and byte != 0xBB and byte != 0xBF:  # the mark of UTF-8
                start = at - 1
                while at < size and text[at] != _NEWLINE:
                    at += 1
                stray_begin[stray], stray_end[stray] = start, at
                stray += 1
        elif byte == _QUOTE:
            state[IN_STRING], state[MATCHED] = 1, 0
        elif byte == _OPEN or byte == _OPEN_LIST:
            state[DEPTH] += 1
            if state[DEPTH] == 2:
                state[IN_JOBS] = byte == _OPEN_LIST and state[IS_KEY]
                state[LISTS] += state[IN_JOBS]
            elif state[DEPTH] == 3 and state[IN_JOBS]:
                open_at = at - 1
        elif byte == _CLOSE or byte == _CLOSE_LIST:
            state[DEPTH] -= 1
            if state[DEPTH] == 2 and open_at >= 0:
                begin[found], end[found] = open_at, at
                found += 1
                open_at = -1
        elif byte == _COMMA and state[DEPTH] == 1:
            state[IS_KEY] = 0
    return found, stray, open_at

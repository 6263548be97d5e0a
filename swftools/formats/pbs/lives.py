# SPDX-License-Identifier: BSD-3-Clause
"""Which records of a PBS log are of one job: from its first to the one that decides what became of it.

Ids come again: a job is run again after it ended, and servers begin anew. So the records of an id are followed in the
order of the log. An E record ends a job. A D or A record ends one that waits, unless an E record follows soon: logs
from which the S records were taken have those of jobs that were deleted while they ran.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.formats.accounting.kernel import is_same
from swftools.formats.pbs.lines import Lines
from swftools.kernel import IntArray, kernel

WINDOW = 1 << 16
"""Lines of the log for which a job is remembered after it ended, and a deletion waits for an E record."""

OPEN, ENDED, IN_QUEUE, NOT_ENDED, CAME_AGAIN = range(5)
"""What became of a job: it goes on, it ended, it was deleted or aborted before it started; the log ends before it did;
or its id came again before it did."""

REMEMBERED = 0
"""The kind of a row that stands for a job that has ended, with the line where it did."""

ENDED_KIND = ord("E")
"""The kind of the record that says everything of a job."""

NEVER = 1 << 62
_QUEUED, _STARTED, _RESTARTED, _RERUN, _ENDED, _DELETED, _ABORTED = (ord(letter) for letter in "QSTREDA")


class Lives(NamedTuple):
    """Jobs, a row each."""

    record: IntArray  # the row of the record that decides, else of the last start, else of the first record
    queued: IntArray  # the row of its first Q record, -1 for none
    outcome: IntArray
    decided: IntArray  # at which line
    restarts: IntArray
    deleted: IntArray  # whether a D record stands before the end, 0 or 1
    life_of: IntArray  # of each record: the job, -1 for one that ended in an earlier stretch
    late_into: IntArray  # of each record: the line at which that ended

    def chosen(self, lines: Lines) -> IntArray:
        """Return the rows of jobs that do not go on, in the order in which that was decided, which no piece changes."""
        rows = np.flatnonzero(self.outcome != OPEN)
        return rows[np.lexsort((lines.line[self.record[rows]], self.decided[rows]))]


_OF_JOBS = ("record", "queued", "outcome", "decided", "restarts", "deleted")


def follow_lives(text: bytes, lines: Lines, last_line: int, *, is_last: bool, window: int) -> Lives:
    """Return the jobs that records are of.

    Parameters
    ----------
    text : bytes
        What the places in ``lines`` are of.
    lines : Lines
        Rows of jobs that are remembered, then records in the order of the log.
    last_line : int
        Number of the last line that was read.
    is_last : bool
        Whether the log ends there.
    window : int
        ``WINDOW``.
    """
    rows = len(lines.line)
    lives = Lives(*(np.full(rows, -1, np.int64) for _ in Lives._fields))
    order = np.argsort(lines.key, kind="stable")
    found = follow(text, order, lines, last_line, is_last, window, lives)
    return lives._replace(**{name: getattr(lives, name)[:found] for name in _OF_JOBS})


@kernel(allocates=False)
def follow(
    text: bytes,
    order: IntArray,
    lines: Lines,
    last_line: int,
    is_last: bool,
    window: int,
    lives: Lives,
) -> int:
    """Fill ``lives``, which the caller gives room for a job of each record, with -1 in it; return how many there are.

    ``order`` has the rows by their keys, those of one key in the order of the log.
    """
    key, kind, line = lines.key, lines.kind, lines.line
    found = 0
    life = -1  # the job that goes on or ended last, -1 for one of an earlier stretch
    goes_on = False
    is_known = False  # whether one ended not long ago
    ended_line = 0
    runs = False
    deleted_line = 0  # where a job that waits was deleted or aborted, 0 for nowhere
    has_starts = False  # whether the log tells of this job's starts
    rerun = -1  # its last R record, -1 for none
    for place in range(len(order)):
        at = order[place]
        this, here = kind[at], line[at]
        if place == 0 or key[at] != key[order[place - 1]]:
            if goes_on:
                _leave(lives, life, runs, deleted_line, last_line, is_last, window)
            life, goes_on, is_known = -1, False, False
        if goes_on and deleted_line > 0 and here - deleted_line >= window:
            lives.outcome[life], lives.decided[life] = IN_QUEUE, deleted_line + window
            goes_on = False
        if is_known and here - ended_line >= window:
            is_known = False
        if this == REMEMBERED:
            life, is_known, ended_line = -1, True, here
            continue
        if goes_on and this == _QUEUED and (runs or deleted_line > 0):
            lives.outcome[life], lives.decided[life] = CAME_AGAIN if runs else IN_QUEUE, here
            goes_on = False
        if not goes_on:
            if is_known and this != _QUEUED and this != _STARTED and this != _ENDED:
                lives.life_of[at], lives.late_into[at] = life, ended_line
                continue
            life, goes_on, is_known = found, True, False
            found += 1
            runs, deleted_line, has_starts, rerun = False, 0, False, -1
            lives.record[life], lives.outcome[life], lives.restarts[life], lives.deleted[life] = at, OPEN, 0, 0
        lives.life_of[at] = life
        if this == _QUEUED:
            if lives.queued[life] < 0:
                lives.queued[life] = at
        elif this == _STARTED or this == _RESTARTED:
            runs, deleted_line, has_starts = True, 0, True
            lives.record[life] = at
        elif this == _RERUN:
            # Some servers write the record of one rerun twice.
            is_told = not runs and rerun >= 0
            if is_told and not has_starts:
                is_told = is_same(text, lines.message[rerun], lines.end[rerun], lines.message[at], lines.end[at])
            if not is_told:
                lives.restarts[life] += 1
            runs, deleted_line, rerun = False, 0, at
            lives.deleted[life] = 0
        elif this == _DELETED or this == _ABORTED:
            if this == _DELETED:
                lives.deleted[life] = 1
            if not runs and deleted_line == 0:
                deleted_line = here
                lives.record[life] = at
        elif this == _ENDED:
            lives.record[life], lives.outcome[life], lives.decided[life] = at, ENDED, here
            goes_on, is_known, ended_line = False, True, here
    if goes_on:
        _leave(lives, life, runs, deleted_line, last_line, is_last, window)
    return found


@kernel(allocates=False)
def _leave(lives: Lives, life: int, runs: bool, deleted_line: int, last_line: int, is_last: bool, window: int) -> None:
    """Say what became of a job of which no more records are there."""
    if deleted_line > 0 and not runs and (is_last or last_line - deleted_line >= window):
        lives.outcome[life], lives.decided[life] = IN_QUEUE, deleted_line + window
    elif is_last:
        lives.outcome[life], lives.decided[life] = NOT_ENDED, NEVER

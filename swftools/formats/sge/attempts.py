# SPDX-License-Identifier: BSD-3-Clause
"""Lines of Grid Engine that are of one job: starts that failed, and runs after which it was started again.

A start that fails (``failed`` is not 0, no start_time) leaves a line, and the job waits again. So it is no job of its
own: it is merged into the next line of the job. Only where none follows it is the job's: one that never ran.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from swftools.formats.accounting.parts_of_jobs import KeyArray, is_among
from swftools.kernel import BoolArray, FloatArray, IntArray

WINDOW = 1 << 16
"""Lines for which a start that failed waits for the next line of its job."""

LONGEST_WAIT = 7 * 86400.0
"""Seconds after a run within which the job is submitted again; later its number is another job's."""


class Followed(NamedTuple):
    """What became of the lines of a piece.

    Parameters
    ----------
    into : ndarray of int64, shape (rows,)
        The row that each became part of; its own number for one that stands for itself.
    waits : ndarray of bool
        Which ones may still become part of a line to come.
    order : ndarray of int64
        Rows that stand for themselves, in the order in which that was decided, which no piece changes.
    """

    into: IntArray
    waits: BoolArray
    order: IntArray


def follow_attempts(
    key: KeyArray,
    owner: pa.LargeStringArray,
    line: IntArray,
    is_attempt: BoolArray,
    last_line: int,
    *,
    is_last: bool,
    window: int,
) -> Followed:
    """Return which lines are starts that failed, of a job that a later line is of.

    Parameters
    ----------
    key, owner, line : arrays, shape (rows,)
        The job, its owner and the line of each, in the order of lines.
    is_attempt : ndarray of bool
        Which are starts that failed.
    last_line : int
        The last line that was read.
    is_last : bool
        Whether the log ends there.
    window : int
        ``WINDOW``.
    """
    into = np.arange(len(key))
    waits = np.zeros(len(key), bool)
    decided = line.copy()
    before: dict[tuple[int, str | None], int] = {}
    among = np.flatnonzero(is_among(key, key[is_attempt]))
    for row, who in zip(among.tolist(), owner.take(pa.array(among)).to_pylist(), strict=True):
        job = (int(key[row]), who)
        earlier = before.pop(job, None)
        if earlier is not None and line[row] - line[earlier] < window:
            into[earlier] = row
        if is_attempt[row]:
            before[job] = row
    for row in among[::-1].tolist():
        into[row] = into[into[row]]
    is_open = is_attempt & (into == np.arange(len(key)))
    decided[is_open] += window
    if not is_last:
        waits = (is_open & (last_line - line < window))[into]
    own = np.flatnonzero((into == np.arange(len(key))) & ~waits)
    order: npt.NDArray[np.int64] = own[np.lexsort((line[own], decided[own]))]
    return Followed(into, waits, order)


def no_attempts(rows: int) -> Followed:
    """Return the same where no line is a start that failed: all stand for themselves."""
    every = np.arange(rows)
    return Followed(every, np.zeros(rows, bool), every)


class Reruns:
    """How often jobs ran before: each time that one is started again it is submitted anew, with the same number."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[float, float, int]] = {}

    def count(
        self, key: KeyArray, submit: FloatArray, end: FloatArray, is_followed: BoolArray
    ) -> tuple[FloatArray, BoolArray]:
        """Return how many runs of each record's job stand before it (NaN: none), and if it has their submission.

        Parameters
        ----------
        key : ndarray of uint64, shape (records,)
            Which job.
        submit, end : ndarray of float64
            When it was submitted, and when it ended.
        is_followed : ndarray of bool
            Whether the record is of a run after which the job is started again.
        """
        runs = np.full(len(key), np.nan)
        is_same = np.zeros(len(key), bool)
        known = np.fromiter(self._seen, np.uint64, len(self._seen))
        for row in np.flatnonzero(is_followed | is_among(key, np.append(known, key[is_followed]))).tolist():
            at, ended, before = self._seen.pop(int(key[row]), (np.nan, np.nan, 0))
            came = float(submit[row])
            if before and (came == at or at < came <= ended + LONGEST_WAIT):
                runs[row], is_same[row] = before, came == at
            else:
                before = 0
            if is_followed[row]:
                self._seen[int(key[row])] = (came, max(came, float(end[row])), before + 1)
        return runs, is_same

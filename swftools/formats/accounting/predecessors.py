# SPDX-License-Identifier: BSD-3-Clause
"""Which job another one waited for, where the id that it names stands for several records.

Ids come again: batch systems begin anew, and a job that is queued again keeps its id. So the job that was meant is the
one of that id that had been submitted last when the other one was, and of its lives the last one before the other one
started. A job that came after the other one had started, or had left the queue, was not meant.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray, kernel

KeyArray = npt.NDArray[np.uint64]

_SAME_JOB = 600.0
"""Seconds after the end of a life in which another life of the same job may be submitted; Slurm takes a second."""

_MOST_LIVES = 1000
"""Lives of a job that are followed."""


def find_predecessors(
    id_key: KeyArray, submit: FloatArray, start: FloatArray, end: FloatArray, kept: IntArray, asked: KeyArray
) -> IntArray:
    """Return the record that each record waited for; -1 where it names none, or none that can be meant.

    Parameters
    ----------
    id_key : ndarray of uint64, shape (records,)
        Hash of the id of each record.
    submit, start, end : ndarray of float64, shape (records,)
        Its times, s; NaN where there is none.
    kept : ndarray of int64
        Records that are jobs, none that repeats another.
    asked : ndarray of uint64, shape (records,)
        Hash of the id that each waits for, 0 for none.
    """
    found = np.full(len(id_key), -1, np.int64)
    waiting = np.flatnonzero(asked)
    order = kept[np.lexsort((kept, end[kept], submit[kept], id_key[kept]))]
    ids = id_key[order]
    first, last = (np.searchsorted(ids, asked[waiting], side) for side in ("left", "right"))
    _find(waiting, first.astype(np.int64), last.astype(np.int64), order, submit, start, end, found)
    return found


@kernel(allocates=False)
def _find(
    waiting: IntArray,
    first: IntArray,
    last: IntArray,
    order: IntArray,
    submit: FloatArray,
    start: FloatArray,
    end: FloatArray,
    found: IntArray,
) -> None:
    """Fill in the record before each that waits; those of its id stand in order from ``first`` to ``last``."""
    for place in range(len(waiting)):
        row = waiting[place]
        started = not np.isnan(start[row])
        until = start[row] if started else end[row]
        if np.isnan(until):
            until = submit[row]
        at, beyond = first[place], last[place]
        while at < beyond:  # to the first that was submitted later
            middle = (at + beyond) // 2
            if submit[order[middle]] <= submit[row]:
                at = middle + 1
            else:
                beyond = middle
        chosen = -1
        if at > first[place]:
            chosen = order[at - 1]
            if chosen == row:
                chosen = order[at - 2] if at - 1 > first[place] else -1
        for later in range(at, min(at + _MOST_LIVES, last[place])):
            each = order[later]
            if each == row or not submit[each] <= until or (started and end[each] > until):
                break
            if chosen >= 0 and not submit[each] <= end[chosen] + _SAME_JOB:
                break
            chosen = each
        found[row] = chosen

# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs another one waited for, where the id that it names stands for several records.

Ids come again: batch systems begin anew, and a job that is queued again keeps its id. So the job that was meant is the
one of that id that had been submitted last when the other one was, and of its lives the last one before the other one
started. A job that came after the other one had started, or had left the queue, was not meant. An id that no record has
may be that of an array: then all its elements were meant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.formats.accounting.dependencies import ALTERNATIVE, BADLY, NAMESAKES, WELL, Dependencies, spread
from swftools.kernel import FloatArray, IntArray, TinyArray, kernel

KeyArray = npt.NDArray[np.uint64]

_SAME_JOB = 600.0
"""Seconds after the end of a life in which another life of the same job may be submitted; Slurm takes a second."""

_MOST_LIVES = 1000
"""Lives of a job that are followed."""

_COMPLETED = 1.0
"""The status of a job that ended well."""


class RecordedLives(NamedTuple):
    """What the records of a log say, a row each: hash of the id, times (s, NaN where there is none), status, groups."""

    id_key: KeyArray
    submit: FloatArray
    start: FloatArray
    end: FloatArray
    status: FloatArray
    groups: dict[str, KeyArray]


def find_predecessors(
    told: RecordedLives, kept: IntArray, waits: Dependencies, *, any_order: bool = False
) -> tuple[IntArray, IntArray]:
    """Return pairs of records, one that waited and one that it waited for, in order.

    Parameters
    ----------
    told : RecordedLives
        The records of the log.
    kept : ndarray of int64
        Records that are jobs, none that repeats another.
    waits : Dependencies
        What they name.
    any_order : bool
        Whether the one record of an id is meant whenever it was submitted.
    """
    order = kept[np.lexsort((kept, told.end[kept], told.submit[kept], told.id_key[kept]))]
    ids = told.id_key[order]
    named = Dependencies(*(each[waits.mark & NAMESAKES == 0] for each in waits))
    named = _with_elements(told, kept, ids, named)
    first, last = (np.searchsorted(ids, named.key, side).astype(np.int64) for side in ("left", "right"))
    found = np.full(len(named.row), -1, np.int64)
    _find(named.row, first, last, order, told.submit, told.start, told.end, found)
    if any_order:
        is_only = (found < 0) & (last - first == 1)
        found[is_only] = order[first[is_only]]
    is_found = found >= 0
    row, before = _first_of_alternatives(told, named.row[is_found], found[is_found], named.mark[is_found])
    own, earlier = _namesakes(told, kept, waits.row[waits.mark & NAMESAKES > 0])
    row, before = np.append(row, own), np.append(before, earlier)
    turn = np.lexsort((before, row))
    row, before = row[turn], before[turn]
    is_new = np.append(True, (row[1:] != row[:-1]) | (before[1:] != before[:-1]))[: len(row)]
    return row[is_new], before[is_new]


def _with_elements(told: RecordedLives, kept: IntArray, ids: KeyArray, named: Dependencies) -> Dependencies:
    """Return what is waited for, with the elements of an array in place of its id, which no record has."""
    if "array" not in told.groups or not len(named.row):
        return named
    at = np.minimum(np.searchsorted(ids, named.key), len(ids) - 1)
    is_of_array = ids[at] != named.key
    array = told.groups["array"][kept]
    order = np.argsort(array, kind="stable")
    first, last = (np.searchsorted(array[order], named.key[is_of_array], side) for side in ("left", "right"))
    place, owner = spread(first, last)
    row, mark = named.row[is_of_array][owner], named.mark[is_of_array][owner]
    key = told.id_key[kept[order[place]]]
    turn = np.lexsort((key, row))  # of the lives of an element one is enough
    is_new = np.append(True, (np.diff(row[turn]) != 0) | (key[turn][1:] != key[turn][:-1]))[: len(row)]
    chosen = turn[is_new]
    own = Dependencies(*(each[~is_of_array] for each in named))
    return Dependencies(
        np.append(own.row, row[chosen]), np.append(own.key, key[chosen]), np.append(own.mark, mark[chosen])
    )


def _first_of_alternatives(
    told: RecordedLives, row: IntArray, before: IntArray, mark: TinyArray
) -> tuple[IntArray, IntArray]:
    """Return pairs of which only the first that ended is left where one is enough; by its status, where that counts."""
    is_one = mark & ALTERNATIVE > 0
    if not is_one.any():
        return row, before
    status, end = told.status[before], told.end[before]
    fits = np.isfinite(end) & ~((mark & WELL > 0) & ~np.isnan(status) & (status != _COMPLETED))
    fits &= ~((mark & BADLY > 0) & (status == _COMPLETED))
    some = np.flatnonzero(is_one & fits)
    some = some[np.lexsort((end[some], row[some]))]
    some = some[np.append(True, np.diff(row[some]) != 0)[: len(some)]]
    return np.append(row[~is_one], row[some]), np.append(before[~is_one], before[some])


def _namesakes(told: RecordedLives, kept: IntArray, waiting: IntArray) -> tuple[IntArray, IntArray]:
    """Return pairs of those that wait for all earlier namesakes, and these.

    They need to wait only for those since the last one that waited so itself, and for that. Who never ran is left out.
    """
    nothing = np.empty(0, np.int64)
    if not len(waiting) or "namesake" not in told.groups:
        return nothing, nothing
    ran = kept[np.isfinite(told.start[kept])]
    waits = np.zeros(len(told.submit), np.bool_)
    waits[waiting] = True
    name = told.groups["namesake"]
    order = ran[np.lexsort((ran, told.submit[ran], name[ran]))]
    is_first = np.append(True, name[order][1:] != name[order][:-1])[: len(order)]
    place = np.arange(len(order))
    # Where the pairs of each begin: at the last that waited so before it, or at the first of the name.
    begins = np.maximum.accumulate(np.where(is_first | waits[order], place, 0)) if len(order) else nothing
    asks = np.flatnonzero(waits[order] & ~is_first & (name[order] != 0))
    at, owner = spread(begins[asks - 1], asks)
    return order[asks[owner]], order[at]


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
        found[place] = chosen

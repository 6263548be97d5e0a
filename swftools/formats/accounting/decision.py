# SPDX-License-Identifier: BSD-3-Clause
"""What all records of a log together decide: its second 0, the numbers of jobs, which records repeat another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.formats.accounting.dependencies import Dependencies
from swftools.formats.accounting.predecessors import RecordedLives, find_predecessors
from swftools.kernel import BoolArray, FloatArray, IntArray


class LogDecision(NamedTuple):
    """What all records of a log together decide.

    Parameters
    ----------
    origin : int
        Second 0 of the log, in seconds since 1970.
    number : ndarray of int64
        The job number of each record, by submission, from 1 on; 0 for one that repeats another.
    into : ndarray of int64
        The line of the record that it repeats; 0 for none.
    waiting, before : ndarray of int64
        Records that waited for others, in order, and the job number of each that they waited for.
    is_listed : ndarray of bool
        Whether SWF's field does not say it all: they waited for several, or for one that was submitted later.
    """

    origin: int
    number: IntArray
    into: IntArray
    waiting: IntArray
    before: IntArray
    is_listed: BoolArray

    def of(self, begin: int, end: int) -> LogDecision:
        """Return what is decided of the records from one to before another."""
        first, last = np.searchsorted(self.waiting, (begin, end))
        number, into = self.number[begin:end], self.into[begin:end]
        pairs = slice(first, last)
        waiting = self.waiting[pairs] - begin
        return LogDecision(self.origin, number, into, waiting, self.before[pairs], self.is_listed[pairs])


class Known(NamedTuple):
    """What the records of a whole log are decided by, a row each.

    Parameters
    ----------
    submit, start, end : ndarray of float64
        Times; NaN where there is none.
    line : ndarray of int64
    key, id_key : ndarray of uint64
    waits : Dependencies, optional
    groups : dict of str to ndarray of uint64
        As in ``Part``.
    status : ndarray of float64
        NaN where there is none.
    any_order : bool
        Whether a job may wait for one that is submitted later, as a task of a workflow.
    into : dict of int to int
        Rows that are pieces of the job of another row.
    """

    submit: FloatArray
    start: FloatArray
    end: FloatArray
    line: IntArray
    key: npt.NDArray[np.uint64]
    id_key: npt.NDArray[np.uint64]
    waits: Dependencies | None
    groups: dict[str, npt.NDArray[np.uint64]]
    status: FloatArray
    into: dict[int, int]
    any_order: bool = False


def decide(known: Known) -> LogDecision:
    """Give the records of a whole log numbers by submission, none to those that repeat another or are a piece of it."""
    submit, line, key = known.submit, known.line, known.key
    into = np.broadcast_to(np.int64(0), len(key))  # of no memory, while none repeats another
    kept: Any = slice(None)  # all: nothing is copied
    ordered = np.sort(key)  # which takes less memory than a table of hashes, and mostly is all
    if (ordered[1:] == ordered[:-1]).any() or known.into:
        is_same = pd.Series(key).duplicated().to_numpy(copy=True)
        order = np.argsort(key, kind="stable")
        first = order[np.searchsorted(key[order], key)]
        for row, whole in known.into.items():
            is_same[row] = True
            first[row] = first[whole]
        first = first[first]  # what repeats a piece is of the job that has the piece
        into = np.zeros(len(key), np.int64)
        into[is_same] = line[first[is_same]]
        kept = np.flatnonzero(~is_same)
        submit = submit[kept]
    del ordered
    number = np.zeros(len(key), np.int64)
    if (submit[1:] >= submit[:-1]).all():
        number[kept] = np.arange(1, len(submit) + 1)
    else:
        order = np.argsort(submit, kind="stable")
        number[order if isinstance(kept, slice) else kept[order]] = np.arange(1, len(order) + 1)
    earliest = np.fmin.reduce(submit, initial=np.inf)
    waiting = before = np.empty(0, np.int64)
    is_listed = np.empty(0, np.bool_)
    if known.waits is not None and len(known.waits.row):
        told = RecordedLives(known.id_key, known.submit, known.start, known.end, known.status, known.groups)
        waiting, found = find_predecessors(told, np.arange(len(key))[kept], known.waits, any_order=known.any_order)
        before = number[found]
        is_listed = np.zeros(len(key), np.bool_)
        is_listed[waiting[1:][waiting[1:] == waiting[:-1]]] = True
        is_listed[waiting[known.submit[found] > known.submit[waiting]]] = True
        is_listed = is_listed[waiting]
    origin = int(np.floor(earliest)) if np.isfinite(earliest) else 0
    return LogDecision(origin, number, into, waiting, before, is_listed)

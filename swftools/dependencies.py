# SPDX-License-Identifier: BSD-3-Clause
"""Which job of a trace waits for the end of which: what the columns say, without what cannot be.

SWF has a place for one job to wait for (field 17, ``preceding_job_number``) and for the time from its end on (field 18,
``think_time``); further ones stand in ``preceding_job_numbers``. Some logs fill the fields with a number that means
nothing. What is left out here is counted, so that every user of it can say so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from swftools.fields.definition import INTEGERS
from swftools.kernel import kernel
from swftools.keyed_random import count_occurrences
from swftools.trace import Trace

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

SEVERAL = "preceding_job_numbers"
"""The column of all that a job waits for, where field 17 cannot say it: several, or one that is submitted later."""

ITSELF = "name the job itself"
ABSENT = "name a job that is not there"
LATER = "name a job that is submitted later"
CIRCLE = "lead in a circle"
"""Why what a row names is nothing to wait for, said of some of the rows."""


class Dependencies(NamedTuple):
    """An element for each pair of a job that waits and a job that it waits for, in the order of the rows that wait.

    Parameters
    ----------
    waiting, before : numpy.ndarray of int64
        Rows of the trace: the job that waits, and the one that must end before.
    think_time : numpy.ndarray of float64
        s from that end until the job may start; 0 where the log does not say it.
    gone, gone_end, gone_think_time : numpy.ndarray
        Rows that wait for a job that cleaning has put aside, when that ended by the log (s), and the think time.
    left_out : dict of str to int
        How many names of jobs mean nothing, by why.
    dummy : int, optional
        The number that all rows of the trace name alike, which means nothing.
    """

    waiting: IntArray
    before: IntArray
    think_time: FloatArray
    gone: IntArray
    gone_end: FloatArray
    gone_think_time: FloatArray
    left_out: dict[str, int]
    dummy: int | None = None


def find_dependencies(trace: Trace) -> Dependencies:
    """Return which job of a trace waits for which.

    Parameters
    ----------
    trace : Trace
        Its ``preceding_job_number``, ``preceding_job_numbers`` if there, ``think_time``, submission and key are used;
        of the jobs that cleaning has put aside the text.

    Returns
    -------
    Dependencies
        Where a number repeats, the last job of that number that was submitted before, or with, the one that waits. Left
        out, and counted, are jobs that wait for themselves, for one that is not in the trace, for one that field 17
        names though it is submitted later, and those that wait for one another. If all jobs of a trace, two or more,
        name one and the same number, that says nothing at all.

    Examples
    --------
    >>> trace = Trace.from_columns(job_number=[1, 2, 3], submit_time=[0, 5, 9], preceding_job_number=[-1, 1, 7])
    >>> found = find_dependencies(trace)
    >>> found.waiting, found.before, found.left_out
    (array([1]), array([0]), {'name a job that is not there': 1})
    """
    waiting, number, is_listed, dummy = _named(trace.jobs)
    if not len(waiting):
        return _without(dummy)
    arrays = trace.views
    left_out: dict[str, int] = {}

    def keep(is_kept: BoolArray, why: str) -> BoolArray:
        """Count what is not kept."""
        if lost := int((~is_kept).sum()):
            left_out[why] = lost
        return is_kept

    kept = keep(number != arrays.job_number[waiting], ITSELF)
    waiting, number, is_listed = waiting[kept], number[kept], is_listed[kept]
    submit = arrays.submit_time
    before = _last_of(number, submit[waiting], arrays.job_number, submit)
    lost = before < 0
    gone = _put_aside(trace, number[lost])
    is_gone = np.isfinite(gone)
    kept = keep(~lost | _placed(is_gone, lost), ABSENT) & ~lost
    gone_row, gone_end = waiting[lost][is_gone], gone[is_gone]
    waiting, before, is_listed = waiting[kept], before[kept], is_listed[kept]
    kept = keep(is_listed | ~(submit[before] > submit[waiting]), LATER)
    waiting, before = waiting[kept], before[kept]
    kept = keep(~_in_circles(trace, waiting, before), CIRCLE)
    waiting, before = waiting[kept], before[kept]
    think = np.maximum(np.nan_to_num(arrays.think_time), 0.0)
    return Dependencies(waiting, before, think[waiting], gone_row, gone_end, think[gone_row], left_out, dummy)


def logged_ends(trace: Trace) -> FloatArray:
    """Return when each job of a trace ended by its log, s; NaN where that is not known."""
    arrays = trace.views
    return np.asarray(arrays.submit_time + arrays.wait_time + arrays.run_time)


def latest_of(rows: int, waiting: IntArray, times: FloatArray) -> FloatArray:
    """Return the latest of the times that stand beside each of some rows, which rise; 0 where none does.

    Examples
    --------
    >>> latest_of(3, np.array([1, 1, 2]), np.array([7.0, 9.0, 4.0])).tolist()
    [0.0, 9.0, 4.0]
    """
    latest = np.zeros(rows)
    if len(waiting):
        first = np.flatnonzero(np.append(True, waiting[1:] != waiting[:-1]))
        latest[waiting[first]] = np.maximum.reduceat(times, first)
    return latest


def ready_times(found: Dependencies, submit: FloatArray, end: FloatArray) -> FloatArray:
    """Return when each job of a trace is eligible: at its submission, or when what it waits for is over, if later.

    Parameters
    ----------
    found : Dependencies
        Of the trace.
    submit, end : numpy.ndarray of float64, shape (jobs,)
        Submission and end of each, s; a job whose end is NaN keeps nobody waiting.
    """
    rows = len(submit)
    until = end[found.before] + found.think_time
    ready = np.fmax(submit, latest_of(rows, found.waiting, np.where(np.isnan(until), 0.0, until)))
    return np.fmax(ready, latest_of(rows, found.gone, found.gone_end + found.gone_think_time))


def _named(jobs: pd.DataFrame) -> tuple[IntArray, IntArray, BoolArray, int | None]:
    """Return rows that name a job, what they name, and whether in a list, each pair once; and the number of a dummy."""
    column = jobs["preceding_job_number"]
    waiting, number, dummy = np.empty(0, np.int64), np.empty(0, np.int64), None
    if column.notna().any():
        numbers = column.to_numpy(dtype=np.int64, na_value=-1)
        if len(numbers) > 1 and numbers[0] >= 0 and (numbers == numbers[0]).all():
            dummy = int(numbers[0])
        else:
            waiting = np.flatnonzero(numbers >= 0)
            number = numbers[waiting]
    is_listed = np.zeros(len(waiting), np.bool_)
    if SEVERAL in jobs and jobs[SEVERAL].notna().any():
        lists = pa.array(jobs[SEVERAL], INTEGERS, from_pandas=True)
        lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
        rows = np.append(waiting, np.asarray(pc.list_parent_indices(lists), np.int64))
        number = np.append(number, np.asarray(pc.list_flatten(lists), np.int64))
        is_listed = np.arange(len(rows)) >= len(waiting)
        order = np.lexsort((~is_listed, number, rows))
        waiting, number, is_listed = rows[order], number[order], is_listed[order]
        is_new = np.append(True, (waiting[1:] != waiting[:-1]) | (number[1:] != number[:-1]))
        waiting, number, is_listed = waiting[is_new], number[is_new], is_listed[is_new]
    return waiting, number, is_listed, dummy


def _without(dummy: int | None) -> Dependencies:
    """Return what there is where nobody waits."""
    rows, times = np.empty(0, np.int64), np.empty(0)
    return Dependencies(rows, rows, times, rows, times, times, {}, dummy)


def _last_of(number: IntArray, until: FloatArray, numbers: IntArray, submit: FloatArray) -> IntArray:
    """Return the row of each number that is asked for: the last of those submitted until a time, else the first.

    -1 where there is none of that number.
    """
    rises = bool((numbers[1:] > numbers[:-1]).all())
    order = np.arange(len(numbers)) if rises else np.lexsort((submit, numbers))
    ordered = numbers[order]
    first = np.searchsorted(ordered, number)
    at = np.minimum(first, len(ordered) - 1)
    is_there = ordered[at] == number
    if not rises and (ordered[1:] == ordered[:-1]).any():
        # Behind each of the jobs, sorted, stand the questions that it answers.
        both = np.append(ordered, number)
        when = np.append(submit[order], until)
        asks = np.append(np.zeros(len(ordered), np.bool_), np.ones(len(number), np.bool_))
        turn = np.lexsort((asks, when, both))
        place = np.maximum.accumulate(np.where(asks[turn], -1, turn))  # in ``ordered``, where it rises with ``turn``
        answer = np.empty(len(both), np.int64)
        answer[turn] = place
        last = answer[len(ordered) :]
        at = np.where((last >= 0) & (ordered[last] == number), last, at)
    return np.where(is_there, order[at], -1)


def _placed(values: BoolArray, mask: BoolArray) -> BoolArray:
    """Return values at the places of a mask, False elsewhere."""
    placed = np.zeros(len(mask), np.bool_)
    placed[mask] = values
    return placed


def _put_aside(trace: Trace, number: IntArray) -> FloatArray:
    """Return when jobs ended, by number, that cleaning has put aside as lines of SWF; NaN where that is not known."""
    ends = np.full(len(number), np.nan)
    if not len(number) or not len(trace.quarantine) or "log_id" in trace.jobs:  # those are numbered anew
        return ends
    aside = trace.quarantine
    texts = aside["text"][(aside["rule"] != "read").to_numpy(dtype=bool) & aside["text"].notna().to_numpy()]
    known: dict[int, float] = {}
    for text in texts:
        try:
            first, submit, wait, run = (float(word) for word in str(text).split(None, 4)[:4])
        except ValueError:  # no line of SWF
            continue
        if min(submit, wait, run) >= 0:
            known[int(first)] = submit + wait + run
    if not known:
        return ends
    last = np.nanmax(logged_ends(trace), initial=0.0) if len(trace) else 0.0
    ends[:] = [known.get(each, np.nan) for each in number.tolist()]
    return np.where(ends <= last, ends, np.nan)  # else its times count from elsewhere


def _in_circles(trace: Trace, waiting: IntArray, before: IntArray) -> BoolArray:
    """Return which pairs are part of a circle: mostly of jobs that were submitted together, since no other can be."""
    found = np.zeros(len(waiting), np.bool_)
    submit = trace.views.submit_time
    is_later = submit[before] > submit[waiting]
    together = np.flatnonzero((submit[waiting] == submit[before]) | is_later.any())
    if not len(together):
        return found
    rows, ends = np.unique(np.append(waiting[together], before[together]), return_inverse=True)
    number, occurrence = trace.views.job_number[rows], count_occurrences(trace.jobs)[rows]
    turn = np.argsort(np.lexsort((occurrence, number)))
    own, other = turn[ends[: len(together)]], turn[ends[len(together) :]]
    if (other < own).all():  # as nearly everywhere: each stands behind what it waits for
        return found
    order = np.argsort(own, kind="stable")
    first = np.searchsorted(own[order], np.arange(len(rows) + 1))
    ring = np.full(len(rows), -1)
    room: IntArray = np.zeros((5, len(rows)), np.int64)
    _find_rings(first.astype(np.int64), other[order].astype(np.int64), ring, *room)
    found[together] = ring[own] == ring[other]
    return found


@kernel(allocates=False)
def _find_rings(
    first: IntArray,
    target: IntArray,
    ring: IntArray,
    entered: IntArray,
    lowest: IntArray,
    path: IntArray,
    stack: IntArray,
    seen: IntArray,
) -> None:
    """Give nodes that lead to one another the same number in ``ring``, which holds -1 (Tarjan 1972, without recursion).

    ``first`` has where the targets of each node begin. The rest is room for as many numbers as there are nodes, 0 in
    ``entered``; ``lowest`` of a node has the least that it reaches so far, ``seen`` which of its targets comes next.
    """
    count = on_stack = rings = 0
    for root in range(len(ring)):
        if entered[root]:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            node = path[depth]
            if entered[node] == 0:
                count += 1
                entered[node] = lowest[node] = count
                seen[node] = first[node]
                stack[on_stack] = node
                on_stack += 1
            while seen[node] < first[node + 1] and entered[target[seen[node]]] > 0:
                other = target[seen[node]]
                if ring[other] < 0:
                    lowest[node] = min(lowest[node], lowest[other])
                seen[node] += 1
            if seen[node] < first[node + 1]:
                depth += 1
                path[depth] = target[seen[node]]
                continue
            if lowest[node] == entered[node]:
                while True:
                    on_stack -= 1
                    member = stack[on_stack]
                    ring[member] = rings
                    if member == node:
                        break
                rings += 1
            depth -= 1

# SPDX-License-Identifier: BSD-3-Clause
"""What several lines of sacct have to do with one job: its lives, its pieces, and steps that stand elsewhere.

A job that is queued again has a line for each life, with another submission. One that is resized has a line for each
size: Slurm gives the rest the moment of the change for its submission and its start, so it has no wait. ``sacct -T``
cuts a life at the edges of what was asked for, so that daily files have a piece each: they are put together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from swftools.formats.accounting.late_facts import FILL, LARGER, SET, Settled, loose_lines, whole_column
from swftools.formats.accounting.ledger import Ledger, LooseLines, Part
from swftools.kernel import FloatArray, IntArray

RESIZED, QUEUED_AGAIN = 1.0, 2.0
"""What followed a life: another size of the same job, or another life."""

NO_JOB = "a step that follows no line of its job"
_OTHER_LIFE = "a step of a job with several lines, which ran at the times of none of them"
_REST = "the rest of a job that was resized, which did not wait"
_CUT = "pieces of a job that sacct -T cut in two: put together"
_DELAYED = "queued again: the wait holds the delay before it could start, which ended at eligible_time"
_TIMES = ("submit", "eligible", "start", "end", "run_time", "life")
_NEXT = 600.0
"""Seconds after the end of a life in which the next one is submitted."""


def settle_jobs(parts: list[Part], ledger: Ledger) -> Settled:
    """Return what the records of a log change of each other."""
    settled = Settled()
    loose = loose_lines(parts)
    id_key = np.concatenate([part.id_key for part in parts])
    ordered = np.sort(id_key)
    comes_again = bool((ordered[1:] == ordered[:-1]).any()) or bool(ledger.cut)
    if not comes_again and loose is None:
        return settled
    times = {name: whole_column(parts, name) for name in _TIMES}
    if comes_again:
        key = np.concatenate([part.key for part in parts])
        _settle_lives(settled, key, id_key, times, ledger.cut)
    if loose is not None:
        order = np.lexsort((times["start"], times["submit"], id_key))
        _settle_steps(settled, loose, order, id_key[order], times, ledger)
    ledger.anomalies.update(settled.anomalies)
    return settled


def _settle_lives(
    settled: Settled,
    key: npt.NDArray[np.uint64],
    id_key: npt.NDArray[np.uint64],
    times: dict[str, FloatArray],
    cut: list[dict[str, npt.NDArray[np.generic]]],
) -> None:
    """Find the pieces and the rests of jobs, in the order of their submissions and starts.

    The last piece of a job is the job, since it tells how it ended; what still ran when it was cut is no record, and
    stands behind the records here.
    """
    records = len(key)
    ids = np.concatenate([id_key, *(each["id_key"] for each in cut)])
    every = {
        name: np.concatenate([column, *(each.get(name, np.full(len(each["id_key"]), np.nan)) for each in cut)])
        for name, column in times.items()
    }
    submit, start, end, run, life = (every[name] for name in ("submit", "start", "end", "run_time", "life"))
    order = np.lexsort((np.arange(len(ids)), start, submit, ids))
    is_again = np.flatnonzero(ids[order][1:] == ids[order][:-1]) + 1
    pieces: dict[int, list[int]] = {}  # by the last one, in order
    rests = []
    first_of: dict[int, int] = {}  # of records that stand several times
    for place in is_again.tolist():
        before, row = int(order[place - 1]), int(order[place])
        before = first_of.get(before, before)
        is_same = (start[before], end[before], submit[before]) == (start[row], end[row], submit[row])
        if is_same and (max(before, row) >= records or key[before] == key[row]):
            first_of[row] = before
        elif submit[row] == submit[before]:
            if start[row] == end[before] > start[before]:
                pieces[row] = [*pieces.pop(before, [before]), row]
        elif before >= records or row >= records:
            continue
        elif life[before] == RESIZED and submit[row] == end[before] == start[row]:
            rests.append(row)
        elif life[before] == QUEUED_AGAIN and end[before] <= submit[row] <= end[before] + _NEXT:
            settled.anomalies[_DELAYED] += int(every["eligible"][row] > submit[row])
    pieces = {last: rows for last, rows in pieces.items() if last < records}
    if pieces:
        lasts = np.array(list(pieces), np.int64)
        settled.changes["run_time"] = lasts, np.array([float(run[rows].sum()) for rows in pieces.values()]), SET
        settled.into = {row: last for last, rows in pieces.items() for row in rows[:-1] if row < records}
        settled.anomalies[_CUT] += len(pieces)
    starts = {last: float(start[rows[0]]) for last, rows in pieces.items()} | dict.fromkeys(rests, np.nan)
    if starts:
        settled.changes["start"] = np.array(list(starts), np.int64), np.array(list(starts.values())), SET
    if rests:
        settled.anomalies[_REST] += len(rests)
    settled.anomalies += type(settled.anomalies)()  # without what was counted 0 times


def _settle_steps(
    settled: Settled,
    loose: LooseLines,
    order: IntArray,
    ids: npt.NDArray[np.uint64],
    times: dict[str, FloatArray],
    ledger: Ledger,
) -> None:
    """Find the job of each step that does not stand behind it: of several lines of it, that of the life it ran in."""
    first, last = (np.searchsorted(ids, loose.key, side) for side in ("left", "right"))
    into = np.full(len(loose.line), -1, np.int64)
    is_one = last - first == 1
    into[is_one] = order[first[is_one]]
    for step in np.flatnonzero(last - first > 1).tolist():
        rows = order[first[step] : last[step]]
        ran = (times["start"][rows] <= loose.time[step]) & (loose.time[step] <= times["end"][rows])
        if ran.any():
            into[step] = rows[np.flatnonzero(ran)[-1]]
    lines, texts = loose.line.tolist(), loose.text
    for step in np.flatnonzero(into < 0).tolist():
        why = NO_JOB if last[step] == first[step] else _OTHER_LIFE
        if (at := ledger.refused_ids.get(int(loose.key[step]))) is not None and why == NO_JOB:
            why = f"belongs to the record of line {at}, which is no job"
        settled.rejected[lines[step]] = why, texts[step]
    found = np.flatnonzero(into >= 0)
    settled.merged.update(zip(loose.line[found].tolist(), into[found].tolist(), strict=True))
    has_memory = found[loose.used_memory[found] > 0]
    if len(has_memory):
        settled.changes["used_memory"] = into[has_memory], loose.used_memory[has_memory], LARGER
    has_cpu = found[loose.cpu_time[found] > 0]
    if len(has_cpu):
        rows, place = np.unique(into[has_cpu], return_inverse=True)
        sums = np.zeros(len(rows))
        np.add.at(sums, place, loose.cpu_time[has_cpu])
        settled.changes["cpu_time"] = rows, sums, FILL

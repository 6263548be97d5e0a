# SPDX-License-Identifier: BSD-3-Clause
"""What all records of a log together decide, against a walk through them one after the other."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swftools.formats.accounting.decision import Known, decide
from swftools.formats.accounting.dependencies import Dependencies

some_time = st.sampled_from([3.0, 5.0, 5.5, 9.0, 700.0, 2000.0, math.nan])
record = st.tuples(some_time, st.integers(1, 6), st.integers(0, 8), some_time, some_time)
Row = tuple[float, int, int, float, float]


def naive_before(rows: list[Row], kept: list[int], row: int) -> int | None:
    """Return which record a record waits for: of those of the id the last life of the job that was meant."""
    submit, _, waits, start, end = rows[row]
    until = next((time for time in (start, end, submit) if not math.isnan(time)), math.nan)
    there = [each for each in kept if rows[each][1] == waits]
    there.sort(key=lambda each: [(math.isnan(time), time) for time in (rows[each][0], rows[each][4])] + [(False, each)])
    known = [each for each in there if rows[each][0] <= submit]
    meant = next((each for each in reversed(known[-2:]) if each != row), None)
    for each in there[len(known) :]:
        its_submit, its_end = rows[each][0], rows[each][4]
        if each == row or not its_submit <= until or (not math.isnan(start) and its_end > until):
            break
        if meant is not None and not its_submit <= rows[meant][4] + 600:
            break
        meant = each
    return meant


def naive_decide(rows: list[Row], pieces: dict[int, int]) -> tuple[list[int], list[int], list[float], int]:
    """Return the number of each record, the line that it repeats, the job before it, and second 0 of the log.

    A record is its submission, its key, which is also its id, the id that it waits for, 0 for none, start and end.
    """
    first: dict[int, int] = {}
    for row, (_, key, *_) in enumerate(rows):
        first.setdefault(key, row)
    whole = {row: first[key] for row, (_, key, *_) in enumerate(rows)}
    whole = {row: pieces.get(at, at) for row, at in whole.items()}
    kept = [row for row in range(len(rows)) if whole[row] == row]
    kept.sort(key=lambda row: (math.isnan(rows[row][0]), rows[row][0], row))
    number = {row: place for place, row in enumerate(kept, 1)}
    numbers = [number.get(row, 0) for row in range(len(rows))]
    into = [0 if row in number else 10 * whole[row] for row in range(len(rows))]
    meant = [naive_before(rows, kept, row) if rows[row][2] else None for row in range(len(rows))]
    before = [math.nan if each is None else float(number[each]) for each in meant]
    told = [rows[row][0] for row in kept if not math.isnan(rows[row][0])]
    return numbers, into, before, math.floor(min(told, default=0))


@given(rows=st.lists(record, max_size=9), is_sorted=st.booleans(), data=st.data())
def test_as_decided_one_by_one(rows: list[Row], is_sorted: bool, data: st.DataObject) -> None:
    """In the order of submission or in another, with repeats, with pieces, and with jobs that wait for others."""
    rows = sorted(rows) if is_sorted else rows
    submit, key, waits, start, end = (np.array([row[place] for row in rows]) for place in range(5))
    lines = 10 * np.arange(len(rows), dtype=np.int64)
    keys = key.astype(np.uint64)
    firsts = [row for row in range(len(rows)) if row == key.tolist().index(key[row])]
    pieces = {firsts[-1]: firsts[0]} if len(firsts) > 1 and data.draw(st.booleans()) else {}
    times = [each.astype(np.float64) for each in (submit, start, end)]
    asks = np.flatnonzero(waits)
    named = Dependencies(asks, waits[asks].astype(np.uint64), np.zeros(len(asks), np.int8))
    found = decide(Known(*times, lines, keys, keys, named, {}, np.full(len(rows), np.nan), pieces))
    numbers, into, before, origin = naive_decide(rows, pieces)
    assert found.number.tolist() == numbers
    assert found.into.tolist() == into
    assert found.waiting.tolist() == [row for row, each in enumerate(before) if not math.isnan(each)]
    assert found.before.tolist() == [each for each in before if not math.isnan(each)]
    assert found.origin == origin

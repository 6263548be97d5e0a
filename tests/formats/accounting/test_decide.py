# SPDX-License-Identifier: BSD-3-Clause
"""What all records of a log together decide, against a walk through them one after the other."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swftools.formats.accounting.ledger import decide

record = st.tuples(st.sampled_from([3.0, 5.0, 5.5, 9.0, math.nan]), st.integers(1, 6), st.integers(0, 8))


def naive_decide(rows: list[tuple[float, int, int]]) -> tuple[list[int], list[int], list[float], int]:
    """Return the number of each record, the line that it repeats, the job before it, and second 0 of the log.

    A record is its submission, its key, which is also its id, and the id that it waits for, 0 for none.
    """
    first: dict[int, int] = {}
    for row, (_, key, _) in enumerate(rows):
        first.setdefault(key, row)
    kept = sorted(first.values(), key=lambda row: (math.isnan(rows[row][0]), rows[row][0], row))
    number = {row: place for place, row in enumerate(kept, 1)}
    numbers = [number.get(row, 0) for row in range(len(rows))]
    into = [0 if row in number else 10 * first[key] for row, (_, key, _) in enumerate(rows)]
    before = [float(number[first[waits]]) if waits in first else math.nan for _, _, waits in rows]
    told = [rows[row][0] for row in kept if not math.isnan(rows[row][0])]
    return numbers, into, before, math.floor(min(told, default=0))


@given(rows=st.lists(record, max_size=9), is_sorted=st.booleans())
def test_as_decided_one_by_one(rows: list[tuple[float, int, int]], is_sorted: bool) -> None:
    """In the order of submission or in another, with repeats and with jobs that wait for others."""
    rows = sorted(rows) if is_sorted else rows
    submit, key, waits = (np.array([row[place] for row in rows]) for place in range(3))
    lines = 10 * np.arange(len(rows), dtype=np.int64)
    keys = key.astype(np.uint64)
    found = decide(submit.astype(np.float64), lines, keys, keys, waits.astype(np.uint64))
    numbers, into, before, origin = naive_decide(rows)
    assert found.number.tolist() == numbers
    assert found.into.tolist() == into
    np.testing.assert_array_equal(found.preceding, before)
    assert found.origin == origin

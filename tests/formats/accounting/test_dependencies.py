# SPDX-License-Identifier: BSD-3-Clause
"""What records name as what they waited for, and which records are meant: by hand, and one after the other."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.formats.accounting.dependencies import (
    ALTERNATIVE,
    BADLY,
    NAMESAKES,
    WELL,
    Dependencies,
    group_keys,
    groups_together,
    read_waits,
    together,
)
from swftools.formats.accounting.identity import id_keys
from swftools.formats.accounting.predecessors import RecordedLives, find_predecessors
from swftools.formats.accounting.records import Records
from tests.formats.accounting.test_decide import Row, naive_before, some_time


def records_of(**words: list[str | None]) -> Records:
    """Return records with words."""
    count = len(next(iter(words.values())))
    found = Records(*(np.arange(count) for _ in range(3)))
    found.words = {name: pa.array(each, pa.large_string()) for name, each in words.items()}
    return found


def test_words() -> None:
    """Ids with blanks between them, with the marks of what is enough; a star is for all of a name."""
    found = read_waits(records_of(preceding=["17 host.1-2.0", None, "", "|=3  |!4 |5", "*", "6 *"]))
    assert found is not None
    assert found.row.tolist() == [0, 0, 3, 3, 3, 4, 5, 5]
    ids = id_keys(pa.array(["17", "host.1-2.0", "3", "4", "5", None, "6", None], pa.large_string()), None, 8)
    assert found.key.tolist() == ids.tolist()
    marks = [0, 0, ALTERNATIVE | WELL, ALTERNATIVE | BADLY, ALTERNATIVE, NAMESAKES, 0, NAMESAKES]
    assert found.mark.tolist() == marks
    some = found.of(np.array([False, True, True, True, False, True]))
    assert (some.row.tolist(), some.mark.tolist()) == ([2, 2, 2, 3, 3], marks[2:5] + marks[6:])


def test_of_several_parts() -> None:
    """Rows count on; a part that says nothing is none, and all of them are."""
    assert read_waits(records_of(log_id=["1"])) is None
    nobody, one = (read_waits(records_of(preceding=[None, word])) for word in (None, "1"))
    assert nobody is not None
    assert len(nobody.row) == 0
    whole = together([None, one, nobody, one], [3, 2, 2, 2])
    assert whole is not None
    assert whole.row.tolist() == [4, 8]
    assert together([None, None], [1, 1]) is None
    groups = group_keys(records_of(array=["7", None], namesake=[None, None]))
    assert list(groups) == ["array"]
    assert groups["array"].astype(bool).tolist() == [True, False]
    both = groups_together([{}, groups], [1, 2])
    assert both["array"].astype(bool).tolist() == [False, True, False]


def found_in(waits: list[tuple[int, int, int]], **columns: list[float]) -> list[tuple[int, int]]:
    """Return who waited for whom; records have ids from 1 on, and come, start and end one after the other."""
    rows = len(columns["status"])
    place = np.arange(rows, dtype=np.float64)
    start = np.array(columns.get("start", place + 10))
    groups = {"namesake": np.array(columns["name"], np.uint64)} if "name" in columns else {}
    ids = np.array(columns.get("id", place + 1), np.uint64)
    told = RecordedLives(ids, place, start, start + 10, np.array(columns["status"]), groups)
    row, key, mark = (np.array([wait[part] for wait in waits], np.int64) for part in range(3))
    named = Dependencies(row, key.astype(np.uint64), mark.astype(np.int8))
    pairs = find_predecessors(told, np.arange(rows), named)
    return list(zip(*(each.tolist() for each in pairs), strict=True))


@pytest.mark.parametrize(
    ("marks", "before"),
    [
        ((0, 0, 0), [0, 1, 2]),
        ((ALTERNATIVE, ALTERNATIVE, ALTERNATIVE), [0]),
        ((ALTERNATIVE | WELL, ALTERNATIVE | WELL, ALTERNATIVE), [1]),
        ((ALTERNATIVE | WELL, ALTERNATIVE | BADLY, ALTERNATIVE | WELL), [2]),
        ((ALTERNATIVE | BADLY, ALTERNATIVE | BADLY, ALTERNATIVE | BADLY), [0]),
        ((ALTERNATIVE | WELL, ALTERNATIVE | BADLY, ALTERNATIVE | BADLY), [2]),
    ],
)
def test_one_of_several(marks: tuple[int, int, int], before: list[int]) -> None:
    """The first that ended as it was to; how the first ended is failed, the second well, the third not known."""
    waits = [(3, number, mark) for number, mark in enumerate(marks, start=1)]
    assert found_in(waits, status=[0.0, 1.0, np.nan, 1.0]) == [(3, row) for row in before]


def test_namesakes() -> None:
    """Those since the last one that waited so itself, and that; who never ran counts for nothing, nor does no name."""
    name = [7, 8, 7, 7, 7, 7, 0, 0]
    start = [10.0, 11.0, 12.0, 13.0, np.nan, 15.0, 16.0, 17.0]
    waits = [(row, 0, NAMESAKES) for row in (3, 4, 5, 7)]
    assert found_in(waits, status=[1.0] * 8, start=start, name=name) == [(3, 0), (3, 2), (5, 3)]


Wait = tuple[int, int, int]
_marks = st.sampled_from([0, 0, ALTERNATIVE, ALTERNATIVE | WELL, ALTERNATIVE | BADLY, NAMESAKES])
_records = st.tuples(some_time, st.integers(1, 5), st.just(0), some_time, some_time)
_known = st.tuples(_records, st.integers(0, 2), st.integers(0, 2), st.sampled_from([0.0, 1.0, math.nan]))


def naive_pairs(
    rows: list[Row], array: list[int], name: list[int], status: list[float], waits: list[Wait]
) -> set[tuple[int, int]]:
    """Return who waited for whom, one wait after the other."""
    every = list(range(len(rows)))
    in_turn = sorted((row for row in every if not math.isnan(rows[row][3])), key=lambda row: _turn(rows, row))
    cuts = {row for row, _, mark in waits if mark == NAMESAKES}
    pairs, alternatives = set(), {}
    for row, key, mark in waits:
        if mark == NAMESAKES:
            if row not in in_turn or not name[row]:
                continue
            earlier = [each for each in in_turn[: in_turn.index(row)] if name[each] == name[row]]
            last = max((place for place, each in enumerate(earlier) if each in cuts), default=0)
            pairs |= {(row, each) for each in earlier[last:]}
            continue
        ids = {rows[each][1] for each in every}
        meant = [key] if key in ids else sorted({rows[each][1] for each in every if array[each] == key - 9})
        for each_id in meant:
            asked = [(*other[:2], each_id, *other[3:]) for other in rows]
            before = naive_before(asked, every, row)
            if before is None:
                continue
            if not mark & ALTERNATIVE:
                pairs.add((row, before))
            elif not math.isnan(rows[before][4]):
                is_well = status[before] == 1.0
                fits = (is_well or math.isnan(status[before])) if mark & WELL else not (mark & BADLY and is_well)
                if fits:
                    alternatives.setdefault(row, []).append((rows[before][4], before))
    first = {row: min(end for end, _ in found) for row, found in alternatives.items()}
    chosen = {(row, tuple(sorted(b for end, b in found if end == first[row]))) for row, found in alternatives.items()}
    return pairs | {(row, before[0]) if len(before) == 1 else (row, -1) for row, before in chosen}


def _turn(rows: list[Row], row: int) -> tuple[bool, float, int]:
    submit = rows[row][0]
    return math.isnan(submit), 0.0 if math.isnan(submit) else submit, row


@given(records=st.lists(_known, min_size=1, max_size=8), data=st.data())
def test_as_found_one_by_one(records: list[tuple[Row, int, int, float]], data: st.DataObject) -> None:
    """Ids that come again or not, those of arrays, one of several, namesakes."""
    rows, array, name, status = ([record[place] for record in records] for place in range(4))
    asked = st.tuples(st.integers(0, len(rows) - 1), st.sampled_from([1, 2, 3, 4, 5, 6, 10, 11]), _marks)
    waits = sorted(data.draw(st.lists(asked, max_size=8)))
    submit, ids, _, start, end = (np.array([row[place] for row in rows], np.float64) for place in range(5))
    # Hashes of arrays are those of ids that no record has.
    groups = {
        "array": np.array([each + 9 if each else 0 for each in array], np.uint64),
        "namesake": np.array(name, np.uint64),
    }
    told = RecordedLives(ids.astype(np.uint64), submit, start, end, np.array(status), groups)
    row, key, mark = (np.array([wait[place] for wait in waits], np.int64) for place in range(3))
    named = Dependencies(row, np.where(mark == NAMESAKES, 0, key).astype(np.uint64), mark.astype(np.int8))
    found = set(zip(*(each.tolist() for each in find_predecessors(told, np.arange(len(rows)), named)), strict=True))
    expected = naive_pairs(rows, array, name, status, waits)
    open_rows = {row for row, before in expected if before == -1}  # several ended first: any of them
    assert {pair for pair in found if pair[0] not in open_rows} == {
        pair for pair in expected if pair[0] not in open_rows
    }
    assert {row for row, _ in found} == {row for row, _ in expected}

# SPDX-License-Identifier: BSD-3-Clause
"""Nodes of runs as ranges of numbers, and as hostlists."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError
from swftools.fields.definition import RANGES
from swftools.machines.node_ranges import hostlists_of, ranges_of

LISTS = [[0, 3], [5, 5, 7, 9], None, [], [2, 2]]


def as_arrow(lists: object) -> pd.Series:
    """Return lists as a schedule has them, in several chunks."""
    chunks = [pa.array(part, RANGES) for part in (lists[:1], lists[1:])]  # type: ignore[index]
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array(chunks)))


@pytest.mark.parametrize("column", [pd.Series(LISTS), as_arrow(LISTS)], ids=["objects", "Arrow"])
def test_ranges(column: pd.Series) -> None:
    """As arrays that can be written to; also of some rows, and of none."""
    begins, first, last = ranges_of(column)
    assert begins.tolist() == [0, 1, 3, 3, 3, 4]
    assert (first.tolist(), last.tolist()) == ([0, 5, 7, 2], [3, 5, 9, 2])
    assert (begins.dtype, first.dtype, last.dtype) == (np.int64, np.int32, np.int32)
    assert all(each.flags.writeable and each.flags.c_contiguous for each in (begins, first, last))
    some = ranges_of(column.iloc[[4, 1]])
    assert [each.tolist() for each in some] == [[0, 1, 3], [2, 5, 7], [2, 5, 9]]
    assert [each.tolist() for each in ranges_of(column[:0])] == [[0], [], []]


@pytest.mark.parametrize(
    ("lists", "words"),
    [
        ([[0, 1], [0, 1, 2]], "row 1: 3 numbers are no pairs of first and last"),
        (["n[1-2]"], "lists of pairs of whole numbers"),
        ([[0, 2**40]], "lists of pairs of whole numbers"),
    ],
)
def test_what_are_no_ranges(lists: list, words: str) -> None:
    """It is said of which row."""
    with pytest.raises(ParameterError, match=words):
        ranges_of(pd.Series(lists))


@pytest.mark.parametrize("lists", [[[0, 1], [1, 3]], [[0, 1], [-1, 0]], [[0, 1], [2, 1]]])
def test_nodes_that_there_are_not(lists: list) -> None:
    """Behind the last, before the first, or the wrong way round."""
    first, last = lists[1]
    words = f"nodes of runs, row 1: {first} to {last}, and the machine has 3 nodes, from 0 on"
    with pytest.raises(ParameterError, match=words):
        hostlists_of(pd.Series(lists), ["a", "b", "c"])


NAMES = ["n08", "n09", "n10", "n12", "m", "m1", "m2", "gpu-1-ib", "n99", "n100", "12", "13"]


@given(st.lists(st.booleans(), min_size=len(NAMES), max_size=len(NAMES)))
def test_names_come_back(taken: list[bool]) -> None:
    """A hostlist has the names of the nodes in their order, and those that count on in brackets."""
    nodes = np.flatnonzero(taken)
    low, high = nodes[np.diff(nodes, prepend=-2) > 1], nodes[np.diff(nodes, append=99) > 1]
    pairs = [int(each) for pair in zip(low, high, strict=True) for each in pair]
    [told] = hostlists_of(pd.Series([pairs]), NAMES)
    assert naive_names(told) == [NAMES[node] for node in nodes]


def test_as_people_write_them() -> None:
    """Digits are kept; where their number changes, or a name has none at its end, another item begins."""
    assert hostlists_of(as_arrow([[0, 11], [0, 0, 2, 3], []]), NAMES)[1:] == ["n[08,10,12]", ""]


def naive_names(told: str) -> list[str]:
    """Return the names of a hostlist with at most one bracket an item."""
    names = []
    for item in items_of(told):
        stem, bracket, inside = item.partition("[")
        inside, _, behind = inside.partition("]")
        for part in inside.split(",") if bracket else [""]:
            low, _, high = part.partition("-")
            numbers = [f"{number:0{len(low)}}" for number in range(int(low), int(high or low) + 1)] if bracket else [""]
            names += [f"{stem}{number}{behind}" for number in numbers]
    return [name for name in names if name]


def items_of(told: str) -> list[str]:
    """Return what stands between the commas outside of brackets."""
    items, depth = [""], 0
    for letter in told:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and not depth:
            items.append("")
        else:
            items[-1] += letter
    return items

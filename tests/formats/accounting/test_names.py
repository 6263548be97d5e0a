# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of names: by first appearance, whether words come one by one or as a dictionary."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.formats.accounting import names
from swftools.formats.accounting.names import NameBook
from tests.examples import examples

WORDS = st.sampled_from(["a", "b", "interactive", "", "ä", "c", None])
pieces = st.lists(st.lists(WORDS, max_size=8), max_size=6)


def naive_numbers(kind: str, parts: list[list[str | None]]) -> tuple[list[list[float]], dict[int, str]]:
    """Return the numbers of words, and the names by number, one word after the other."""
    known: dict[str, int] = {}
    told = []
    for part in parts:
        for word in part:
            if word is not None and word not in known:
                is_zero = kind == "queue" and word == "interactive"
                known[word] = 0 if is_zero else 1 + sum(number > 0 for number in known.values())
        told.append([np.nan if word is None else known[word] for word in part])
    return told, {number: word for word, number in sorted(known.items(), key=lambda item: item[1])}


@pytest.mark.parametrize("many", [0, 1, 4])
@pytest.mark.parametrize("kind", ["queue", "user"])
@pytest.mark.parametrize("is_dictionary", [False, True])
@examples(0.5)
@given(parts=pieces)
def test_as_counted_one_by_one(is_dictionary: bool, kind: str, many: int, parts: list[list[str | None]]) -> None:
    """Of a dictionary only the words that rows have count, in the order of the rows; none is no name."""
    book = NameBook()
    before, names._MANY = names._MANY, many
    try:
        for part, expected in zip(parts, naive_numbers(kind, parts)[0], strict=True):
            words = pa.array(part, pa.large_string())
            if is_dictionary:  # sorted the other way, with words that no row has, and with none as a word
                known = [*sorted({word for word in part if word is not None}, reverse=True), "z", None]
                places = [known.index(word) for word in part]
                words = pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), pa.array(known, pa.large_string()))
            np.testing.assert_array_equal(book.numbers(kind, words), expected)
    finally:
        names._MANY = before
    assert book.named(kind) == naive_numbers(kind, parts)[1]

# SPDX-License-Identifier: BSD-3-Clause
"""Utility functions as text: what stands behind the 18 fields of an extended SWF line."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swftools import UtilityFunctions
from swftools.utility.tuples import format_tuples, parse_tuples
from tests.naive.swf import naive_points

Points = list[tuple[float, float]]


@st.composite
def functions(draw: st.DrawFn) -> Points:
    """Draw a utility function of any numbers, none now and then."""
    count = draw(st.sampled_from([0, 2, 3, 6]))
    times = draw(st.lists(st.floats(5e-324, 1e308), min_size=count, max_size=count, unique=True))
    values = draw(st.lists(st.floats(0, 1e308), min_size=count, max_size=count))
    return list(zip([0.0, *sorted(times)][:count], sorted(values, reverse=True), strict=True))


def points_of(functions: UtilityFunctions) -> list[Points]:
    """Return the points of each function."""
    return [list(zip(*(part.tolist() for part in functions[i]), strict=True)) for i in range(len(functions))]


def parse(*texts: str | None) -> tuple[list[Points], dict[int, str]]:
    """Parse texts to points and faults."""
    functions, faults = parse_tuples(pa.array(texts, pa.string()))
    return points_of(functions), faults


def test_numbers_alternate_between_time_and_value() -> None:
    """Times and values alternate; null and blank are a missing function."""
    expected = [[(0.0, 8.5), (60.0, 2.0), (61.0, 0.001)], [], [], [], [(0.0, 1.0), (5.0, 0.0)]]
    assert (expected, {}) == parse("0 8.5 60 2 61 1e-3", None, "", " \t ", "0 1 5 0")


def test_any_blanks_and_spellings() -> None:
    """Tabs, several blanks, signs, bare points and exponents are read."""
    assert ([[(0.0, 8.0), (5.0, 0.5), (100.0, 0.0)]], {}) == parse("  +0\t8.   5. .5  1E+2 -0 ")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("0 8 60", "has a time without a value"),
        ("0", "has a time without a value"),
        ("0 8", "has only one point; at least two are needed"),
        ("1 8 60 2", "does not begin at time 0"),
        ("0 8 60 2 60 1", "has times that do not increase"),
        ("0 8 60 9", "has values that increase"),
        ("0 8 60 -2", "has a negative value"),
        ("0 8 60 two", "has a time or value that is not a finite number"),
        ("0 8 6_0 2", "has a time or value that is not a finite number"),
        ("0 8 60 nan", "has a time or value that is not a finite number"),
        ("0 inf 60 1", "has a time or value that is not a finite number"),
        ("0 8 1e999 1", "has a time or value that is not a finite number"),
        ("0 8 0x9 1", "has a time or value that is not a finite number"),
        ("0 8 ٣ 1", "has a time or value that is not a finite number"),
        ("0, 8, 60, 2", "has a time or value that is not a finite number"),
    ],
)
def test_a_wrong_text_is_told_and_spoils_no_other(text: str, fault: str) -> None:
    """A wrong function is missing, its fault stands by its position, and its neighbours are read."""
    good = [(0.0, 8.0), (60.0, 2.0)]
    assert ([good, [], [], good], {1: fault}) == parse("0 8 60 2", text, None, "0 8 60 2")


def test_faults_are_in_order() -> None:
    """Faults of any kind come in the order of the texts."""
    assert [0, 2, 3, 5] == list(parse("0 1 2", "0 1 2 0", "a b", "7", None, "0 1 2 3")[1])


def test_no_texts() -> None:
    """No texts are no functions."""
    assert ([], {}) == parse()
    assert [] == format_tuples(UtilityFunctions.from_points([])).to_pylist()


def test_format() -> None:
    """Numbers are written in the fewest digits; a missing function is null."""
    functions = UtilityFunctions.from_points([[(0, 8), (60, 2.5), (1e20, 0.1)], [], [(0, 1), (0.30000000000000004, 0)]])
    assert ["0 8 60 2.5 1e+20 0.1", None, "0 1 0.30000000000000004 0"] == format_tuples(functions).to_pylist()


@given(st.lists(functions(), max_size=5))
@example([[(0.0, 1e308), (5e-324, 123456789012345680.0), (1e15, 0.1), (1e22, 0.0)]])
def test_text_and_back(many: list[Points]) -> None:
    """What is written reads back exactly."""
    texts = format_tuples(UtilityFunctions.from_points(many))
    back, faults = parse_tuples(texts)
    assert (many, {}) == (points_of(back), faults)
    assert many == [naive_points(text) if text else [] for text in texts.to_pylist()]


words = st.sampled_from([*"0001", "5.5", "60", "1e3", "-1", "nan", "x", "1e999", "1_0"]) | st.floats(0, 100).map(repr)


@given(st.lists(st.none() | st.lists(words, max_size=6).map(" ".join), max_size=6))
def test_texts_are_judged_as_the_naive_reader_does(texts: list[str | None]) -> None:
    """A text has a function where the slow reader finds one, and a fault where it finds none."""
    parsed, faults = parse(*texts)

    def slow(text: str | None) -> Any:
        if not text or not text.strip():
            return []
        if "_" in text:  # Python's spelling, not a number of the format
            return None
        try:
            return naive_points(text)
        except ValueError:
            return None

    expected = [slow(text) for text in texts]
    assert [points or [] for points in expected] == parsed
    assert [index for index, points in enumerate(expected) if points is None] == list(faults)
    assert not any(math.isnan(value) for points in parsed for _, value in points)

# SPDX-License-Identifier: BSD-3-Clause
"""The compiled writer of fields against Arrow's own words, padded: the same bytes, compiled or interpreted."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swftools.fields.definition import FLOAT64, INT64
from swftools.formats.swf import words, writer
from swftools.formats.swf.words import end_lines, join_fields, words_of

KERNELS = ["_split", "_put_numbers", "_put_text", "_join"]


@pytest.fixture(params=["compiled", "interpreted"], autouse=True, scope="module")
def _kind(request: pytest.FixtureRequest) -> Any:
    """Run every test with compiled kernels, and with the same interpreted."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "interpreted":
            for name in KERNELS:
                patch.setattr(words, name, getattr(words, name).py_func)
        yield


def slow_lines(columns: list[pa.ChunkedArray], tails: list[str]) -> bytes:
    """Return lines as they were joined before there was a kernel: by words of Arrow, padded to equal width."""
    fields = []
    for column in columns:
        texts = ["-1" if text is None else text for text in column.cast(pa.string()).to_pylist()]
        width = max(map(len, texts), default=1)
        fields.append([text.rjust(width) for text in texts])
    rows = zip(*fields, tails, strict=True)
    return "".join(" ".join(row).rstrip(" ") + "\n" for row in rows).encode()


def lines(columns: list[pa.ChunkedArray], tails: list[str] | None, cut: int) -> bytes:
    """Return lines as the writer makes them, in two pieces."""
    fields = [words_of(column) for column in columns]
    text = b""
    for start, stop in ((0, cut), (cut, len(columns[0]))):
        part = None if tails is None else pa.array(tails, pa.string())[start:stop]
        text += end_lines(join_fields(fields, start, stop), part).tobytes()
    return text


decimals = st.builds(lambda digits, places: digits / 10**places, st.integers(0, 10**16), st.integers(0, 8))
floats = (
    decimals
    | st.floats(0, 1e17, allow_subnormal=True)
    | st.integers(0, 10**11).map(float)
    | st.sampled_from(
        [0.0, -0.0, 1e-6, 9e-7, 1e10, 9999999999.0, 0.1 + 0.2, 2.0**53, 1e15 + 0.5, 5e-324, 999999999.999999]
    )
)
integers = st.integers(-(2**63) + 1024, 2**63 - 1024) | st.integers(-1, 1000)
tables = st.integers(1, 6).flatmap(
    lambda rows: st.tuples(
        st.lists(st.none() | floats, min_size=rows, max_size=rows),
        st.lists(st.none() | decimals.filter(lambda value: value < 1e9), min_size=rows, max_size=rows),
        st.lists(st.none() | integers, min_size=rows, max_size=rows),
        st.lists(st.sampled_from(["", "x", "a  b", "ü 1"]), min_size=rows, max_size=rows),
        st.integers(0, rows),
    )
)


@given(tables)
@example(([0.5, None], [99.0, 0.05], [-5, None], ["", "é"], 1))
@example(([9192657028.561605, 1.5], [0.0, 1.0], [1, 2], ["", ""], 1))
@example(([-0.0, 7.0], [0.25, 100.0], [0, 9], ["z", ""], 0))
def test_lines_are_those_of_arrow(table: Any) -> None:
    """Whatever is written, and wherever the pieces part, with and without tails."""
    real, few_digits, whole, tails, cut = table
    columns = [
        *(pa.chunked_array([pa.array(values, FLOAT64)]) for values in (real, few_digits)),
        pa.chunked_array([pa.array(whole, INT64)]),
    ]
    assert slow_lines(columns, tails) == lines(columns, tails, cut)
    assert slow_lines(columns, [""] * len(tails)) == lines(columns, None, cut)


@given(st.lists(floats, min_size=1, max_size=1))
def test_a_number_has_the_fewest_digits_that_read_back(values: list[float]) -> None:
    """Those of Python's own shortest form, which is another program."""
    (text,) = lines([pa.chunked_array([pa.array(values, FLOAT64)])], None, 0).decode().splitlines()
    assert values[0] == float(text)
    assert math.copysign(1, values[0]) == math.copysign(1, float(text))

    def digits(number: str) -> str:
        return re.sub(r"e.*|\.0$|[-.]", "", number).strip("0")

    assert digits(repr(values[0])) == digits(text)


def test_few_digits_need_no_text() -> None:
    """What logs are full of goes the fast way; one long number sends its column the other way."""
    short = words_of(pa.chunked_array([pa.array([2.12, None, 0.000001, 9999999999.0, 1 / 8], FLOAT64)]))
    assert short.column.type == FLOAT64
    assert short.width == len("9999999999")
    # The last of these is nearest to the decimal number that ends in 606, too.
    for long in (1 / 3, 1e10, -0.0, 1e-7, 123456789012345.6, 9192657028.561605):
        column = words_of(pa.chunked_array([pa.array([1.0, long], FLOAT64)]))
        assert column.column.type == pa.string(), long


def test_widths_count_sign_point_and_leading_zero() -> None:
    """Such as of 0.05, which is longer than its digits."""
    columns = {0.05: 4, 10.5: 4, 7.0: 1, 0.0: 1}
    for value, width in columns.items():
        assert width == words_of(pa.chunked_array([pa.array([value], FLOAT64)])).width, value
    assert 2 == words_of(pa.chunked_array([pa.array([None, 3.0], FLOAT64)])).width
    assert 3 == words_of(pa.chunked_array([pa.array([-17, 99], INT64)])).width
    assert 1 == words_of(pa.chunked_array([], type=FLOAT64)).width


def test_pieces_cover_every_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long tails make short pieces, of one row at least."""
    monkeypatch.setattr(writer, "_LINES_AT_ONCE", 4)
    monkeypatch.setattr(writer, "_TAILS_AT_ONCE", 10)
    tails = pa.chunked_array([pa.array(["x" * 3] * 5 + [None, "y" * 50, "", "z" * 10, "z"])])
    assert [(0, 3), (3, 6), (6, 7), (7, 9), (9, 10)] == list(writer._pieces(tails, len(tails)))
    assert [(0, 4), (4, 8), (8, 10)] == list(writer._pieces(None, 10))
    assert [] == list(writer._pieces(None, 0))


def test_pieces_count_the_points_of_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A point is at most 50 bytes of text."""
    monkeypatch.setattr(writer, "_TAILS_AT_ONCE", 200)
    point = {"time": 0.0, "value": 1.0}
    functions = pa.chunked_array([pa.array([[point] * 3, None, [point] * 2, [point]])])
    assert [(0, 2), (2, 4)] == list(writer._pieces(functions, 4))
    longest = np.nextafter(1.7e308, 0)
    assert writer._POINT >= 2 * (len(pa.array([-longest / 1e3]).cast(pa.string())[0].as_py()) + 1)

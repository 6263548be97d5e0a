# SPDX-License-Identifier: BSD-3-Clause
"""Numbers, durations, sizes and words in the bytes of accounting logs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.formats.accounting import kernel
from swftools.formats.accounting.spans import Read, Spans, durations, is_any, numbers, sizes, texts
from tests.interpreted import FORMS, all_interpreted


def spans_of(values: list[bytes | None]) -> Spans:
    """Return values as spans of one text, with something between them."""
    text, start, end = b"|", [], []
    for value in values:
        start.append(-1 if value is None else len(text))
        text += (value or b"") + b"|9:"
        end.append(-1 if value is None else start[-1] + len(value))
    return Spans(text, np.array(start, np.int64), np.array(end, np.int64))


def one(read: Read) -> float | str | None:
    """Return the single value read: None for none, "bad" for one that cannot be read."""
    if read.is_bad[0]:
        return "bad"
    return None if math.isnan(read.value[0]) else float(read.value[0])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"0", 0), (b"7", 7), (b"-7", -7), (b"+7", 7), (b"007", 7), (b".5", 0.5), (b"5.", 5), (b"0.1", 0.1),
        (b"9007199254740993", 9007199254740992), (b"123456789012345678901", 123456789012345678901.0),
        (b"1e3", 1000), (b"1.5E+02", 150), (b"", None), (None, None), (b"none", None),
        (b"-", "bad"), (b".", "bad"), (b"1 2", "bad"), (b"1,5", "bad"), (b"x", "bad"), (b"1_0", "bad"), (b"nan", "bad"),
        (b"1e999", "bad"), (b"inf", "bad"), (b"\xff", "bad"), (b"1.2.3", "bad"),
    ],
)  # fmt: skip
def test_numbers(text: bytes | None, value: Any) -> None:
    """Decimal numbers, read plainly or judged; what is none is bad, not missing."""
    assert one(numbers(spans_of([text]), none=("none",))) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"00:00:00", 0), (b"01:02:03", 3723), (b"100:00:00", 360000), (b"2+03:04:05", 183845), (b"2-03:04:05", 183845),
        (b"75:30", 4530), (b"00:00.001", 0.001), (b"01:02:03.500000", 3723.5), (b"90", 90), (b"90.25", 90.25),
        (b"1-12", 129600), (b"1-12:30", 131400), (b"00:10:00 (600 seconds)", 600),
        (b"1+00:00:10 (86410 seconds)", 86410),
        (b"-00:00:05", -5), (b"undefined", None), (b"", None), (None, None),
        (b"00:60:00", "bad"), (b"1:2:3:4", 93784), (b"1:2:3:4:5", "bad"),
        (b"1+2:3:4:5", "bad"), (b"1::2", "bad"), (b"1+2+3", "bad"), (b"ten", "bad"), (b":", "bad"),
        (b"(600 seconds)", 600), (b"()", "bad"), (b"1-", "bad"), (b")", "bad"),
    ],
)  # fmt: skip
def test_durations(text: bytes | None, value: Any) -> None:
    """Days, clocks, seconds and what stands in brackets."""
    assert one(durations(spans_of([text]), none=("undefined",))) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"1", 1024), (b"1k", 1024), (b"1 kb", 1024), (b"2.5G", 2.5 * 2**30), (b"3KiB", 3072), (b"7b", 7),
        (b"1T", 2**40),
        (b"12.5gb", 12.5 * 2**30), (b"7.764 gb (8336179200 bytes)", 8336179200), (b"4000Mc", 4000 * 2**20),
        (b"-1k", -1024),
        (b"", None), (None, None), (b"k", "bad"), (b"1 kb x", "bad"), (b"1..2k", "bad"), (b"big", "bad"),
    ],
)  # fmt: skip
def test_sizes(text: bytes | None, value: Any) -> None:
    """Units are powers of 1024; a number without one is of the unit that is said."""
    read, suffix = sizes(spans_of([text]), unit=1024.0)
    assert one(read) == value
    assert suffix[0] == (ord("c") if text == b"4000Mc" else 0)


@given(st.lists(st.none() | st.floats(0, 1e15).map(lambda x: f"{x:.6f}") | st.integers(-(10**17), 10**17).map(str)))
def test_numbers_are_those_of_python(values: list[str | None]) -> None:
    """Each decimal number is read as Python reads it, to the last bit."""
    read = numbers(spans_of([None if value is None else value.encode() for value in values]))
    wanted = [math.nan if value is None else float(value) for value in values]
    np.testing.assert_array_equal(read.value, wanted)
    assert not read.is_bad.any()


@given(st.integers(0, 400 * 86400), st.sampled_from(["+", "-"]))
def test_durations_come_back(seconds: int, sign: str) -> None:
    """What is written as days and clock is read as the same seconds."""
    days, rest = divmod(seconds, 86400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    text = f"{days}{sign}{clock}" if days else clock
    assert durations(spans_of([text.encode()])).value[0] == seconds


@pytest.mark.parametrize("form", FORMS)
@given(st.lists(st.binary(max_size=12)), st.integers(0, 2))
def test_any_bytes(form: str, values: list[bytes], which: int) -> None:
    """No bytes make a kernel reach outside its arrays; interpreted it says the same."""
    spans = spans_of([*values])
    fills = (kernel.fill_numbers, kernel.fill_durations, kernel.fill_sizes)
    found = []
    for run in (fills[which], getattr(fills[which], form)):
        value, state = np.zeros(len(spans)), np.zeros(len(spans), np.int8)
        extra = (1.0, value, np.zeros(len(spans), np.int8), state) if which == 2 else (value, state)
        with all_interpreted(run is fills[which].py_func):
            run(spans.text, spans.start, spans.end, *extra)
        found.append((value, state))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_texts() -> None:
    """UTF-8, else Latin-1; nothing and the empty word are missing."""
    values = [b"a", None, b"", "ü".encode(), b"caf\xe9", b"\xff\x00"]
    assert texts(spans_of(values)).to_pylist() == ["a", None, None, "ü", "café", "ÿ\x00"]
    assert is_any(spans_of(values), ("ü", "b")).tolist() == [False, False, False, True, False, False]


def test_labels_are_found_among_their_like() -> None:
    """Each of many words is found by its place, and nothing else is."""
    words = [f"Label {number}".encode() for number in range(200)] + [b"", b"L"]
    table = kernel.label_table(words)
    for place, word in enumerate(words):
        assert kernel.find_label(b"xx" + word + b"yy", 2, 2 + len(word), table) == place
    for other in (b"Label", b"Label 200", b"label 1", b"Label 1 "):
        assert kernel.find_label(other, 0, len(other), table) == -1

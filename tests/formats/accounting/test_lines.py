# SPDX-License-Identifier: BSD-3-Clause
"""Lines, digits, blanks and plain shapes in the bytes of accounting logs: as Python's own words find them."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.formats.accounting import lines
from swftools.formats.accounting.lines import Strays, rejects_of, room_for
from swftools.formats.accounting.records import Reject
from swftools.kernel import IntArray, Kernel
from tests.examples import examples
from tests.interpreted import FORMS, all_interpreted

_plain = SimpleNamespace(**{name: each.py_func for name, each in vars(lines).items() if isinstance(each, Kernel)})
"""The kernels interpreted; the last test says that they find the same compiled."""

texts = st.text("019a:. \t\r\n", max_size=30).map(str.encode)


@examples(0.5)
@given(texts, st.integers(0, 30))
def test_where_a_line_ends(text: bytes, place: int) -> None:
    """At its newline or at the end of the text; a byte that is looked for is counted beyond the room for it."""
    at = min(place, len(text))
    end = text.find(b"\n", at) if b"\n" in text[at:] else len(text)
    marks = np.full(2, -1, np.int64)
    assert _plain.line_end(text, at) == end
    assert _plain.mark_line(text, at, ord(":"), marks) == (end, text[at:end].count(b":"))
    found = [place for place in range(at, end) if text[place] == ord(":")]
    assert marks.tolist() == [*found, -1, -1][:2]
    assert _plain.find_byte(text, at, end, ord(":")) == (found[0] if found else end)


@examples(0.5)
@given(texts)
def test_blanks_around(text: bytes) -> None:
    """Tabs are taken off too, and carriage returns at the end; or blanks alone."""
    end = len(text)
    begin, stop = _plain.trimmed(text, 0, end)
    assert text[begin:stop] == text.lstrip(b" \t").rstrip(b" \t\r")
    begin, stop = _plain.without_blanks(text, 0, end)
    assert text[begin:stop] == text.strip(b" ")


@examples(0.5)
@given(texts, st.integers(1, 18))
def test_digits(text: bytes, most: int) -> None:
    """A number at a place, and a stretch that is one; too many digits make none."""
    found = re.match(rb"[0-9]*", text)
    assert found
    digits = found[0]
    fits = 0 < len(digits) <= most
    assert _plain.past_digits(text, 0, len(text)) == len(digits)
    assert _plain.read_digits(text, 0, len(text), most) == (int(digits) if fits else -1, min(len(digits), most))
    assert _plain.whole_number(text, 0, len(text), most) == (int(digits) if fits and digits == text else -1)
    assert [_plain.is_digit(byte) for byte in text] == [chr(byte).isdigit() for byte in text]


@pytest.mark.parametrize(
    ("text", "is_form"), [(b"07/06/2023", True), (b"07/06-2023", False), (b"07/0x/2023", False), (b"/7/06/2023", False)]
)
def test_forms(text: bytes, is_form: bool) -> None:
    """A zero stands for any digit, all else for itself; what stands around does not count."""
    assert _plain.has_form(b"x" + text + b"9", 1, b"00/00/0000") is is_form


@pytest.mark.parametrize(
    ("word", "is_it"), [(b"none", True), (b"NONE", True), (b"NoNe", True), (b"non", False), (b"nope", False)]
)
def test_words_of_any_case(word: bytes, is_it: bool) -> None:
    """Letters of any size, and as many of them."""
    assert _plain.is_word_of_any_case(word, 0, len(word), b"none") is is_it


class _Places(NamedTuple):
    line: IntArray
    state: IntArray
    begin: IntArray


def test_room() -> None:
    """Zeros, and -1 where a value may be absent, in as many columns as were named."""
    room = room_for(_Places, 2, state=(), begin=(3,))
    assert [array.tolist() for array in room] == [[0, 0], [-1, -1], [[-1, -1]] * 3]


def test_lines_of_no_record() -> None:
    """They are noted one after the other, and told with their reasons, as places of a longer text."""
    strays = room_for(Strays, 3)
    row = _plain.note_stray(strays, _plain.note_stray(strays, 0, 4, 10, 15, 1), 9, 20, 25, 0)
    assert row == 2
    told = rejects_of(strays, row, {0: "none", 1: "other"}, 100)
    assert told == [Reject(4, 110, 115, "other"), Reject(9, 120, 125, "none")]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [b"", b" ", b"\t12 \r", b"none", b"07:99", b"1" * 20, b"x:y:z\n7"])
def test_interpreted_and_checked(text: bytes, form: str) -> None:
    """The kernels find the same interpreted, compiled and with their indices checked."""
    end = len(text)
    calls: dict[str, tuple[Any, ...]] = {
        "line_end": (0,),
        "mark_line": (0, 58, np.zeros(1, np.int64)),
        "trimmed": (0, end),
        "without_blanks": (0, end),
        "find_byte": (0, end, 58),
        "past_digits": (0, end),
        "read_digits": (0, end, 9),
        "whole_number": (0, end, 9),
        "is_word_of_any_case": (0, end, b"none"),
        **({"has_form": (0, b"00:00")} if end >= 5 else {}),
    }
    for name, arguments in calls.items():
        kernel = getattr(lines, name)
        found = kernel(text, *arguments)
        with all_interpreted(form == "py_func"):
            assert getattr(kernel, form)(text, *arguments) == found

# SPDX-License-Identifier: BSD-3-Clause
"""Text from outside, as it is shown."""

from __future__ import annotations

import json
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.output.shown_text import can_be_shown, shown, shown_in_json, shown_in_markdown, shown_lines

TEXTS = st.text(st.characters() | st.sampled_from("\x1b\x9b\x85\n\r\t\u202e\u2028\ud800\udcff\U000e0041|`<&>*[]\\"))


def is_plain(text: str, but: str = "") -> bool:
    """Whether nothing in a text is a control, is invisible, ends a line, or is half a pair."""
    kinds = {unicodedata.category(character) for character in text if character not in but}
    turning = {character for character in text if unicodedata.bidirectional(character) in TURNING}
    return not kinds & {"Cc", "Cs", "Zl", "Zp"} and not turning


TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("night queue é 中", "night queue é 中"),
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\x9b31mb", r"a\x9b31mb"),
        ("log\nfinding: b\r", r"log\nfinding: b\r"),
        ("a\u2028b\u2029c\x85d\x0be", r"a\u2028b\u2029c\x85d\x0be"),
        ("\u202etac\u2066\u200f", r"\u202etac\u2066\u200f"),
        ("caf\udce9", r"caf\udce9"),
        ("\x7f\x00", r"\x7f\x00"),
        ("\U000e0041", r"\U000e0041"),
        (12, "12"),
    ],
)
def test_a_line(text: object, expected: str) -> None:
    """What a terminal would obey is written as Python writes it; all else stays."""
    assert expected == shown(text)


@given(TEXTS)
def test_any_text_is_one_plain_line(text: str) -> None:
    """As plain text, and in Markdown; and it can be written as UTF-8."""
    for told in (shown(text), shown_in_markdown(text)):
        assert is_plain(told)
        assert len(told.splitlines()) <= 1
        assert can_be_shown(told)
        told.encode()


@given(TEXTS)
def test_a_message_keeps_its_lines_and_none_comes_to_the_front(text: str) -> None:
    """So that a line of ours cannot be forged."""
    told = shown_lines(f"error of ours: {text}")
    assert is_plain(told, but="\n")
    first, *rest = told.split("\n")
    assert first.startswith("error of ours: ")
    assert all(line == "" or line.startswith("  ") for line in rest)
    assert text.count("\n") == len(rest)


WITHOUT_PAIRS = TEXTS.filter(lambda text: not re.search("[\ud800-\udbff][\udc00-\udfff]", text))
"""What JSON tells from one character beyond 16 bits."""


@given(st.recursive(WITHOUT_PAIRS, lambda inner: st.lists(inner) | st.dictionaries(WITHOUT_PAIRS, inner), max_leaves=5))
def test_json_reads_back_as_it_was(value: object) -> None:
    """Also halves of pairs, which JSON can have."""
    told = shown_in_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert is_plain(told, but="\n")
    assert value == json.loads(told)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("a|b", r"a\|b"),
        (r"a\|b", r"a\\\|b"),
        ("`rm`", r"\`rm\`"),
        ("[x](http://example.org)", r"\[x\](http://example.org)"),
        ("**bold** # no", r"\*\*bold\*\* \# no"),
        ("R&D &lt;", "R&amp;D &amp;lt;"),
        ("a\n\n# heading", r"a\\n\\n\# heading"),
        ("jobs_of_queue 3", "jobs_of_queue 3"),
    ],
)
def test_markdown(text: str, expected: str) -> None:
    """It reads as the text, and makes no HTML, cell, code, link or heading."""
    assert expected == shown_in_markdown(text)


def test_what_can_be_shown() -> None:
    """Line ends are no fault."""
    assert can_be_shown("a\nb é")
    assert not can_be_shown("a\x1bb")
    assert not can_be_shown("a\u202eb")

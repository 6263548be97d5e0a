# SPDX-License-Identifier: BSD-3-Clause
"""What our objects print, and what a notebook shows: the form, and that nothing from a log is obeyed."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.output.amounts import duration, percent
from swftools.output.shown_html import WIDTH, _width, as_html, as_text, shortened
from swftools.output.shown_text import can_be_shown, shown

TAGS = {"div", "p", "b", "br", "small", "table", "thead", "tbody", "tr", "th", "td"}

TEXTS = st.text(st.characters() | st.sampled_from("<>&\"'\x1b\n\u202e\u200f中, "), max_size=150)


class _Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_a_page() -> None:
    """Lines, the first one bold, a table with its numbers to the right, and how many rows there are."""
    table = pd.DataFrame({"job": pd.array([1, None], "Int64"), "user": ["<b>", None], "ok": [True, False]})
    expected = (
        "<div><p><b>Thing: a &amp; b</b><br>two</p><table><thead><tr>"
        '<th style="text-align: right">job</th><th style="text-align: left">user</th>'
        '<th style="text-align: left">ok</th></tr></thead><tbody>'
        '<tr><td style="text-align: right">1</td><td style="text-align: left">&lt;b&gt;</td>'
        '<td style="text-align: left">yes</td></tr>'
        '<tr><td style="text-align: right">-</td><td style="text-align: left">-</td>'
        '<td style="text-align: left">no</td></tr>'
        "</tbody></table><p><small>the first 2 of 1,200 rows</small></p></div>"
    )
    assert expected == as_html(["Thing: a & b", "two"], table, 1200)
    assert "rows" not in as_html(["Thing"], table, 2)
    assert as_html(["Thing"], table[:0], 0) == "<div><p><b>Thing</b></p></div>"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.0, "1"), (0.1, "0.1"), (np.nan, "-"), (1e9, "1000000000"), (np.inf, "inf"), (1234567.25, "1234567.25")],
)
def test_a_number(value: float, expected: str) -> None:
    """Whole seconds have no fraction, missing is a dash."""
    assert f">{expected}</td>" in as_html(["x"], pd.DataFrame({"x": [value]}), 1)


@given(TEXTS, TEXTS, TEXTS)
def test_any_text_is_text(line: str, name: str, cell: str) -> None:
    """Whatever stands in lines, names of columns and cells, the page has our tags only, and says it."""
    page = as_html([f"Thing: {line}"], pd.DataFrame({name: [cell]}), 1)
    read = _Page(page)
    assert ["div", "p", "b", "table", "thead", "tr", "th", "tbody", "tr", "td"] == read.tags
    assert {("style", "text-align: left")} == set(read.attributes)
    assert can_be_shown(page)
    assert "\n" not in page
    assert f"Thing: {shown(line)}" == read.text[0]


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_any_text_is_three_lines_that_fit(lines: list[str]) -> None:
    """At most three lines of at most 100 columns, wide letters counted as two, which steer no terminal."""
    told = as_text(lines).split("\n")
    assert len(told) == min(3, len(lines))
    assert all(_width(line) <= WIDTH for line in told)
    assert can_be_shown("".join(told))


def test_what_does_not_fit() -> None:
    """Whole items are left out; a single one is cut; a line that just fits is whole."""
    assert as_text(["x" * 100]) == "x" * 100
    assert as_text(["x" * 101]) == "x" * 95 + ", ..."
    assert as_text(["a, " + "b" * 200]) == "a, ..."
    assert as_text(["中" * 51]) == "中" * 47 + ", ..."


def test_words() -> None:
    """A share that is almost all is not all; escapes count in a name's length; times have their unit."""
    assert [percent(*pair) for pair in ((999, 1000), (1, 1000), (995, 1000), (99, 100))] == [
        *(">99 %", "<1 %", ">99 %", "99 %"),
    ]
    assert shortened("\u202e" * 3, 12) == "\\u202e\\u2..."
    assert [duration(each) for each in (119, 120, 7199, 172_800)] == ["119 s", "2 min", "120 min", "2 d"]


def test_nothing_sets_a_colour_or_fetches() -> None:
    """So that pages are readable dark and light, and without a net."""
    page = as_html(["x"], pd.DataFrame({"x": [1]}), 9)
    assert set(_Page(page).tags) <= TAGS
    assert not re.search(r"color|background|src|href|url|script", page)

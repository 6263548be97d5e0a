# SPDX-License-Identifier: BSD-3-Clause
"""Rows of CSV against the slow scanner, compiled and interpreted; and what a declaration makes of values, by hand."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.formats.accounting.records import Stretch
from swftools.formats.tables.columns import TEXT, Declaration, column
from swftools.formats.tables.csv_rows import CsvRows
from swftools.formats.tables.kernel import DOUBLED, UNCLOSED, find_objects, scan_rows
from swftools.formats.tables.values import TextValues
from swftools.kernel import Kernel
from tests.examples import examples
from tests.naive.tables import naive_rows

letters = st.text(st.sampled_from('ab1 ,;"\n\r\t#'), max_size=40)


def rows_of(
    kernel: Any, text: bytes, separator: str, comment: str = "", *, is_last: bool = True, longest: int = 1 << 20
) -> tuple[list[tuple[int, list[str], bool]], int, int]:
    """Return the rows that the kernel finds (line, values, whether a mark is open), the place and the line behind."""
    room, width = text.count(b"\n") + 2, len(text) + 1
    line, begin, end, fields = (np.empty(room, np.int64) for _ in range(4))
    state = np.empty(room, np.int8)
    start, stop = np.empty((width, room), np.int64), np.empty((width, room), np.int64)
    slots, words, nothing = np.arange(width), np.zeros(width, np.int8), np.empty((0, 0))
    mark = ord(comment) if comment else -1
    found, place, behind = kernel(
        *(text, 1, is_last, ord(separator), mark, longest, slots, words, line, begin, end, fields, state, start, stop),
        *(nothing, nothing, np.empty((0, 0), np.int8)),
    )
    rows = []
    for row in range(found):
        values = []
        for slot in range(fields[row]):
            value = text[start[slot, row] : stop[slot, row]]
            is_quoted = start[slot, row] > 0 and text[start[slot, row] - 1 : start[slot, row]] == b'"'
            values.append((value.replace(b'""', b'"') if is_quoted and state[row] == DOUBLED else value).decode())
        rows.append((int(line[row]), [] if state[row] == UNCLOSED else values, bool(state[row] == UNCLOSED)))
    return rows, place, behind


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.parametrize("comment", ["", "#"])
@given(text=letters)
def test_rows_as_the_slow_scanner_finds_them(text: str, separator: str, comment: str) -> None:
    """Whatever stands in the text."""
    expected = [
        (row.line, [] if row.is_unclosed else row.values, row.is_unclosed)
        for row in naive_rows(text, separator, comment)
    ]
    found, place, _ = rows_of(scan_rows.py_func, text.encode(), separator, comment)
    assert found == expected
    assert place == len(text.encode())


@given(text=letters, share=st.floats(0, 1))
def test_in_two_pieces(text: str, share: float) -> None:
    """What the first piece leaves is given again with the second."""
    data = text.encode()
    whole, _, behind = rows_of(scan_rows.py_func, data, ",")
    cut = data.rfind(b"\n", 0, int(share * len(data))) + 1
    first, place, line = rows_of(scan_rows.py_func, data[:cut], ",", is_last=False)
    rest, _, last = rows_of(scan_rows.py_func, data[place:], ",")
    assert first + [(at + line - 1, values, is_open) for at, values, is_open in rest] == whole
    assert last + line - 1 == behind


def test_a_mark_is_not_waited_for_longer_than_a_row_may_be() -> None:
    """Then it costs its line, though more text may come."""
    text = b'a,"b\nc,d\n' + b"e,f\n" * 20
    found, place, line = rows_of(scan_rows.py_func, text, ",", is_last=False, longest=40)
    assert found[:2] == [(1, [], True), (2, ["c", "d"], False)]
    assert (place, line) == (len(text), 23)
    assert rows_of(scan_rows.py_func, text, ",", is_last=False, longest=1000)[1:] == (0, 1)


@given(st.lists(st.lists(st.text(st.sampled_from('ab ,"\n'), max_size=6), min_size=2, max_size=4), max_size=6))
def test_rows_as_the_library_writes_them(rows: list[list[str]]) -> None:
    """What csv writes with every value in marks is read as it was."""
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    assert [values for _, values, _ in rows_of(scan_rows.py_func, file.getvalue().encode(), ",")[0]] == rows


VALUES = ["", "7", "-1", "1.5", "nan", "x", '"8"', '"9""9"', "12345678901234567890", " 3 ", '"a\nb"']
DATES_TOLD = [
    *("", "nan", "never", "2021-03-31 23:13:20.000+0900", '"2021-03-31T23:13:20"', "2021-02-29 00:00:00", "-"),
    *("31.03.2021 10:00:00", "2020-02-29 10:00:00Z", "2021-10-31 02:30:00", "Tue Jul 24 10:19:37 CDT 2007"),
]


@examples(0.5)
@given(
    rows=st.lists(st.tuples(st.sampled_from(VALUES), st.sampled_from(DATES_TOLD), st.integers(0, 3)), max_size=30),
    sizes=st.integers(20, 200),
)
def test_values_read_where_they_are_found(rows: list[tuple[str, str, int]], sizes: int) -> None:
    """They are those that are read of their places later: of rows short and long, in marks, in repeated headers."""
    lines = ["number,other,date"]
    for number, date, form in rows:
        lines.append([f"{number},a,{date}", f"{number},a", f"{number},a,{date},b", lines[0]][form])
    text = ("\n".join(lines) + "\n").encode()
    declared = Declaration(
        {"submit": column("date"), "requested_processors": column("number"), "user": column("other")}
    )
    reader = CsvRows(declared)
    at, line = 0, 1
    while at < len(text):
        cut = text.rfind(b"\n", at, at + sizes) + 1 or text.find(b"\n", at + sizes) + 1 or len(text)
        piece = text[at:cut]
        sheet, stop, line = reader.take(Stretch(piece, line, cut == len(text)))
        if not stop:
            sizes *= 2
            continue
        at += stop
        for name, values in sheet.columns.items():
            assert isinstance(values, TextValues)
            assert (values.found is not None) == (name in ("number", "date"))
            plain = TextValues(values.spans)
            for told, again in (
                (values.numbers(("-1",)), plain.numbers(("-1",))),
                (values.moments(TEXT, 1.0, "Europe/Berlin", ("-",)), plain.moments(TEXT, 1.0, "Europe/Berlin", ("-",))),
                (values.moments("s", 1.0, None, ()), plain.moments("s", 1.0, None, ())),
                ((values.notations(),), (plain.notations(),)),
            ):
                for one, other in zip(told, again, strict=True):
                    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("kernel", "name"), [(scan_rows, "scan_rows"), (find_objects, "find_objects")])
def test_compiled_as_interpreted(kernel: Kernel[Any], name: str) -> None:
    """Both give the same of texts with all that may stand in them."""
    texts = [
        'a,b\n"c, d",e\n',
        'a,"b""c"\n,\n\n"x\ny",z',
        'a,"b\nc',
        '# n\n1 2  3\t"4 5"\n',
        '[{"a": "}\\""}, {"b": {}}, {"c',
    ]
    for text in texts:
        if name == "scan_rows":
            for separator in ", ":
                assert rows_of(kernel, text.encode(), separator, "#") == rows_of(
                    kernel.py_func, text.encode(), separator, "#"
                )
            continue
        told = []
        for function in (kernel, kernel.py_func):
            state, begin, end = np.zeros(4, np.int64), np.zeros(9, np.int64), np.zeros(9, np.int64)
            told.append((function(text.encode(), state, begin, end), state.tolist(), begin.tolist(), end.tolist()))
        assert told[0] == told[1]


def test_objects_of_a_list() -> None:
    """Braces in strings do not count, nor do marks behind a backslash; a list may go on in the next piece."""
    text = b'[{"a": "}{\\"}"}, {"b": {"c": []}},\n{"d'
    state, begin, end = np.zeros(4, np.int64), np.zeros(9, np.int64), np.zeros(9, np.int64)
    found, open_at = find_objects.py_func(text, state, begin, end)
    assert [text[begin[at] : end[at]] for at in range(found)] == [b'{"a": "}{\\"}"}', b'{"b": {"c": []}}']
    assert text[open_at:] == b'{"d'
    assert not state.any()

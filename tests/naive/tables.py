# SPDX-License-Identifier: BSD-3-Clause
"""Where rows of a CSV stand, slowly: by one regular expression a value. The twin of the scanner."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass
class NaiveRow:
    """A row: its line, its values, and whether a quotation mark in it is not closed."""

    line: int
    values: list[str]
    is_unclosed: bool = False


def naive_rows(text: str, separator: str = ",", comment: str = "", first_line: int = 1) -> list[NaiveRow]:
    """Return the rows of a text without its header; empty lines and those of notes are none."""
    blank = r"[ ]" if separator == "\t" else r"[ \t]"
    behind = r"\r*" if separator == " " else r"[ ]*\r*"
    part = r"[ \t]" if separator == " " else re.escape(separator)
    quoted = re.compile(rf'{blank}*"((?:[^"]|"")*)"({behind})(?={part}|\n|\Z)')
    plain = re.compile(rf"{blank}*([^\n{part if separator != ' ' else ' ' + chr(9)}]*)".replace("[ \\t]]", " \\t]"))
    if separator == " ":
        plain = re.compile(r"[ \t]*([^\n \t]*)")
    rows: list[NaiveRow] = []
    at, line = 0, first_line
    while at < len(text):
        begin, begin_line = at, line
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        if comment and text.startswith(comment, at):
            at, line = stop + 1, line + 1
            continue
        values: list[str] = []
        is_unclosed = False
        while True:
            starts_quoted = re.compile(rf'{blank}*"').match(text, at) is not None
            found = (quoted if starts_quoted else plain).match(text, at)
            if found is None:
                is_unclosed = True
                at = stop
                break
            at = found.end()
            value = found.group(1).replace('""', '"') if starts_quoted else found.group(1).rstrip(" \t\r")
            is_at_end = at >= len(text) or text[at] == "\n"
            if not (separator == " " and is_at_end and not value and not starts_quoted):
                values.append(value)
            if is_at_end:
                break
            at += 1
        line = begin_line + 1 + (0 if is_unclosed else text.count("\n", begin, at))
        at += 1
        if is_unclosed or len(values) > 1 or any(values) or '"' in text[begin : at - 1]:
            rows.append(NaiveRow(begin_line, values, is_unclosed))
    return rows

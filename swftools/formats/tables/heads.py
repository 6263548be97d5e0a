# SPDX-License-Identifier: BSD-3-Clause
"""What the beginning of a file says of the table in it: of which kind it is, and how its columns are called."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from swftools.errors import UnreadableLogError
from swftools.formats.accounting.spans import decode
from swftools.formats.parquet_head import MAGIC
from swftools.formats.tables.kernel import find_objects, scan_rows

SEPARATORS = ",\t;|"
_MARK = b"\xef\xbb\xbf"
"""The mark with which some programs begin a text in UTF-8."""
_ROWS = 20
"""Rows, or objects, that are looked at."""


@dataclass(frozen=True)
class Head:
    """What a table is like.

    Parameters
    ----------
    kind : {"csv", "json", "parquet"}
        What it is in; a list of JSON and lines of it are both "json".
    columns : tuple of str
        How they are called; those of a CSV are the words of its first line, whatever they are.
    separator : str
        What stands between values of a CSV.
    rows : tuple of tuple of str
        The first rows of a CSV, the header not among them; of JSON and Parquet none.
    schema : pyarrow.Schema, optional
        Of Parquet.
    """

    kind: str
    columns: tuple[str, ...]
    separator: str = ","
    rows: tuple[tuple[str, ...], ...] = ()
    schema: pa.Schema | None = None


@lru_cache(maxsize=4)
def head_of(head: bytes) -> Head | None:
    """Return what the beginning of a file says, as ``LogFiles.heads`` has it; None where it is no table.

    Raises
    ------
    UnreadableLogError
        It is Parquet whose footer is damaged.
    """
    if head.startswith(MAGIC):
        return _of_parquet(head)
    text = head.removeprefix(_MARK)
    begin = text.lstrip()[:1]
    if begin in (b"{", b"["):
        return _of_json(text)
    return _of_csv(text)


def schema_of(head: bytes) -> pa.Schema:
    """Return the schema of a Parquet file."""
    try:
        return pq.ParquetFile(pa.BufferReader(head)).schema_arrow
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UnreadableLogError(f"a Parquet file whose footer is damaged ({error}); fetch it again") from error


def least_value(head: bytes, place: int) -> float | None:
    """Return the least value of a column that the footer of a Parquet file tells, a time in seconds; None without."""
    if place < 0:
        return None
    file = pq.ParquetFile(pa.BufferReader(head))
    name = file.schema_arrow.names[place]
    least = []
    for group in range(file.metadata.num_row_groups):
        row_group = file.metadata.row_group(group)
        for column in map(row_group.column, range(row_group.num_columns)):
            if column.path_in_schema == name and column.is_stats_set and column.statistics.has_min_max:
                value = column.statistics.min
                value = value.timestamp() if hasattr(value, "timestamp") else value
                if isinstance(value, int | float):
                    least.append(float(value))
    return min(least) if least else None


def _of_parquet(head: bytes) -> Head:
    schema = schema_of(head)
    return Head("parquet", tuple(schema.names), schema=schema)


def _of_json(text: bytes) -> Head | None:
    """Return what the first objects have."""
    room = text.count(b"{") + 1
    begin, end = np.empty(room, np.int64), np.empty(room, np.int64)
    state = np.zeros(4, np.int64)
    found, _ = find_objects(text, state, begin, end)
    keys: dict[str, None] = {}
    for at, stop in zip(begin[: min(found, _ROWS)].tolist(), end[: min(found, _ROWS)].tolist(), strict=True):
        try:
            row = json.loads(decode(text[at:stop]))
        except (ValueError, RecursionError):
            continue
        keys.update(dict.fromkeys(map(str, row)))
    return Head("json", tuple(keys)) if keys else None


def split_line(line: bytes, separator: str) -> tuple[str, ...]:
    """Return the values of one row."""
    rows = split_rows(line, separator, 1)
    return rows[0] if rows else ()


def split_rows(text: bytes, separator: str, most: int, comment: int = -1) -> list[tuple[str, ...]]:
    """Return the values of the first rows of a text."""
    lines = text.split(b"\n", most + 20)
    text = b"\n".join(lines[: most + 20])
    width = max((line.count(separator.encode()) for line in lines), default=0) + 1
    width = width if separator != " " else max((len(line.split()) for line in lines), default=0) + 1
    room = text.count(b"\n") + 2
    line, at, stop, fields = (np.empty(room, np.int64) for _ in range(4))
    state = np.empty(room, np.int8)
    start, end = np.empty((width, room), np.int64), np.empty((width, room), np.int64)
    slots, words, nothing = np.arange(width), np.zeros(width, np.int8), np.empty((0, 0))
    found, _, _ = scan_rows(
        *(text, 1, True, ord(separator), comment, len(text), slots, words, line, at, stop, fields, state, start, end),
        *(nothing, nothing, np.empty((0, 0), np.int8)),
    )
    return [
        tuple(
            decode(text[start[slot, row] : end[slot, row]]).replace('""', '"')
            for slot in range(min(fields[row], width))
        )
        for row in range(min(found, most))
    ]


def _of_csv(text: bytes) -> Head | None:
    """Return what the first lines have, by the separator that parts them best."""
    if b"\0" in text[:4096]:
        return None
    lines = [line for line in text.split(b"\n", 40)[:40] if line.strip()]
    if not lines:
        return None
    first = lines[0].lstrip(b"#") if lines[0].startswith(b"#") else lines[0]
    counts = {separator: first.count(separator.encode()) for separator in SEPARATORS}
    separator = max(counts, key=lambda each: counts[each])
    if counts[separator] < 1:
        return None
    header = tuple(word.strip() for word in split_line(first, separator))
    rows = split_rows(text[len(lines[0]) :].lstrip(b"\r\n") if text.startswith(lines[0]) else text, separator, _ROWS)
    return Head("csv", header, separator, tuple(rows))


def place_of(columns: Sequence[str], names: Sequence[str]) -> int:
    """Return which column has one of some names, the first of them that is there; -1 if none.

    Names compare as they are, or else without case and without blanks around them.
    """
    plain = [name.strip().casefold() for name in columns]
    for name in names:
        if name in columns:
            return list(columns).index(name)
        if name.strip().casefold() in plain:
            return plain.index(name.strip().casefold())
    return -1

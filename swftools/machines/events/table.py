# SPDX-License-Identifier: BSD-3-Clause
"""A table of outages as people write it: CSV with the columns nodes, begin, end, kind, reason, users and known."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from swftools.errors import ParameterError
from swftools.formats.registry import Fit
from swftools.machines.events.registry import DOWN, DRAIN, RESERVATION, Event, EventFormat, Events, event_format
from swftools.machines.events.times import read_stretches
from swftools.machines.hostlist import expand_hosts
from swftools.parameters.durations import seconds_of
from swftools.parameters.spelling import require_known

_CALLED = {"node": "nodes", "host": "nodes", "hosts": "nodes", "start": "begin"}
_COLUMNS = ("nodes", "begin", "end", "kind", "reason", "users", "known")
_KINDS = (DOWN, DRAIN, RESERVATION)
_NEVER = ("", "unknown", "never")
_TRUTH = {"": None, "true": True, "yes": True, "false": False, "no": False}


class _Row(dict[str, str]):
    """The cells of a row by column."""

    line = 0


@event_format
@dataclass(frozen=True)
class TableOfOutages(EventFormat):
    """Outages in CSV, with dates or with seconds of the log."""

    NAME = "csv"
    TITLE = "a table (CSV) with the columns nodes, begin, end, kind, reason, users, known"

    @classmethod
    def recognise(cls, text: str) -> Fit:
        """Say whether the first line names the columns."""
        columns = _columns(text.lstrip("\n").partition("\n")[0].split(","))
        is_there = {"nodes", "begin"} <= {*columns}
        return Fit(is_there, f"the first line {'names' if is_there else 'does not name'} the columns nodes and begin")

    def read(self, text: str, name: str) -> Events:
        """Return the outages; an end that is empty, unknown or never is none."""
        rows = [*_rows(text, name)]
        spans = [_span(row, f"{name}, line {row.line}") for row in rows]
        dated = [row for row, span in zip(rows, spans, strict=True) if span is None]
        begins, ends = read_stretches(
            [row["begin"] for row in dated],
            [None if row["end"].lower() in _NEVER else row["end"] for row in dated],
            [row.line for row in dated],
            name,
            self.time_zone,
            self.NAME,
        )
        dates = iter(zip(begins, ends, strict=True))
        found = []
        for row, span in zip(rows, spans, strict=True):
            where = f"{name}, line {row.line}"
            begin, end = next(dates) if span is None else span
            kind = require_known(f"{where}: no kind {row['kind']!r} of outages", row["kind"] or DOWN, _KINDS)
            users = tuple(filter(None, row["users"].replace(";", " ").split()))
            if users and kind != RESERVATION:
                raise ParameterError(f"{where}: users are of a reservation, and this is {kind}; leave them out")
            try:
                nodes = expand_hosts(row["nodes"])
            except ParameterError as error:
                raise ParameterError(f"{where}: {error}") from error
            known = _known(row["known"], where)
            found += [
                Event(node, begin, end, kind, row["reason"], row.line, span is None, users, known) for node in nodes
            ]
        return Events(found, [])


def _columns(cells: list[str]) -> list[str]:
    names = [each.strip().lower() for each in cells]
    return [_CALLED.get(each, each) for each in names]


def _rows(text: str, name: str) -> Iterator[_Row]:
    """Yield the rows of the table, empty ones left out; columns that it lacks are empty."""
    reader: Any = csv.reader(io.StringIO(text))
    columns: list[str] | None = None
    try:
        for cells in reader:
            where = f"{name}, line {reader.line_num}"
            if not any(each.strip() for each in cells):
                continue
            if columns is None:
                columns = [require_known(f"{where}: no column {each!r}", each, _COLUMNS) for each in _columns(cells)]
                if len({*columns}) < len(columns):
                    raise ParameterError(f"{where}: a column is there twice; give each once")
                continue
            if len(cells) > len(columns):
                raise ParameterError(
                    f"{where}: has {len(cells)} cells for {len(columns)} columns; put quotes around commas"
                )
            row = _Row(dict.fromkeys(_COLUMNS, ""))
            row.update(zip(columns, map(str.strip, cells), strict=False))
            row.line = reader.line_num
            if not row["nodes"] or not row["begin"]:
                raise ParameterError(f"{where}: an outage needs nodes and a begin; fill both in")
            yield row
    except csv.Error as error:
        raise ParameterError(f"{name}, line {reader.line_num + 1}: is no CSV: {error}") from error


def _span(row: _Row, where: str) -> tuple[float, float | None] | None:
    """Return begin and end in seconds of the log; None where they are dates."""
    begin = _seconds(row["begin"])
    if row["end"].lower() in _NEVER:
        return None if begin is None else (begin, None)
    end = _seconds(row["end"])
    if (begin is None) != (end is None):
        raise ParameterError(f"{where}: begin and end are a date and seconds of the log; write both in one way")
    if begin is None or end is None:
        return None
    if end < begin:
        raise ParameterError(f"{where}: ends at {row['end']}, before it begins at {row['begin']}; correct the line")
    return begin, end


def _known(text: str, where: str) -> bool | float | None:
    """Return whether an outage is known before, or since which second of the log; None where the cell is empty."""
    if text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    found = _seconds(text)
    if found is None:
        raise ParameterError(f"{where}: known is {text[:40]!r}, and not true, false or a time of the log such as 2h")
    return found


def _seconds(text: str) -> float | None:
    """Return seconds of the log, which may be below 0; None of a date."""
    try:
        found = float(text)
    except ValueError:
        return seconds_of(text) if "-" not in text and "/" not in text else None
    return found if abs(found) <= 1e11 else None

# SPDX-License-Identifier: BSD-3-Clause
"""The tables of this folder as columns: ``columns.csv`` has a line a column, ``tables.csv`` a line a table.

In ``columns.csv`` an empty cell is the default of a ``Field``. The name of a column may also be one of another table,
``jobs.user_id``, or all of its columns that the table does not have yet, ``jobs.*``; what is not a table, such as
``key``, is a group of columns that tables share. Two groups are made here: ``run_options``, a column for each option of
a run; and ``logged``, what the records of a history say of a job.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, get_args

from swftools.errors import SchemaError
from swftools.fields.definition import (
    BOOL,
    FLOAT64,
    INT64,
    INTEGERS,
    NEVER,
    RANGES,
    STRING,
    TIMESTAMP,
    UTILITY,
    Field,
    Known,
)
from swftools.parameters.run_option_table import ALWAYS, RUN_OPTIONS, RunOption

COLUMNS, TABLES = Path(__file__).with_name("columns.csv"), Path(__file__).with_name("tables.csv")

_TYPES = {
    "integer": INT64,
    "float": FLOAT64,
    "text": STRING,
    "boolean": BOOL,
    "time": TIMESTAMP,
    "utility": UTILITY,
    "integers": INTEGERS,
    "ranges": RANGES,
}
_TYPES_OF_OPTIONS = {str: STRING, int: INT64, float: FLOAT64, bool: BOOL}
_ORIGINS = {"": False, "generated": True}
_MARKS = {"optional", "whole-trace"}


class Table(NamedTuple):
    """What is known of a table beside its columns: schema version, key, the column by which it rises, its meaning."""

    version: int
    key: tuple[str, ...]
    sorted_by: str
    meaning: str


@dataclass
class _Groups:
    """The columns of each table and group as the file has them: fields, and names of other tables' columns."""

    entries: dict[str, list[Field | str]]

    def columns(self, group: str) -> dict[str, Field]:
        """Return the columns of a table or group by name, in order."""
        found: dict[str, Field] = {}
        for entry in self._of(group):
            for field in [entry] if isinstance(entry, Field) else self._of_others(entry):
                found.setdefault(field.name, field)
        return found

    def _of_others(self, entry: str) -> list[Field]:
        """Return the columns that a name such as ``jobs.user_id`` or ``metrics.*`` stands for."""
        group, _, name = entry.partition(".")
        if name == "*":
            return list(self.columns(group).values())
        found = [each for each in self._of(group) if isinstance(each, Field) and each.name == name]
        if not found:
            raise SchemaError(f"{COLUMNS}: {entry!r} is named, and there is no such column")
        return found

    def _of(self, group: str) -> list[Field | str]:
        """Return the lines of a table or group."""
        if group not in self.entries:
            raise SchemaError(f"{COLUMNS}: no line is of {group!r}, which is a table or is named by one")
        return self.entries[group]


def load_tables() -> dict[str, Table]:
    """Return what ``tables.csv`` says of each table, in its order."""
    with TABLES.open(encoding="utf-8", newline="") as file:
        return {
            row["table"]: Table(int(row["version"]), tuple(row["key"].split()), row["sorted_by"], row["meaning"])
            for row in csv.DictReader(file)
        }


def load_columns(tables: dict[str, Table]) -> dict[str, tuple[Field, ...]]:
    """Return the columns of each table, in the order of the file.

    Raises
    ------
    SchemaError
        A line says what no column can be, or a column a second time; a table has no columns, or names another's that
        there is none of. The message names the file, and the line or the name.
    """
    entries: dict[str, list[Field | str]] = {}
    seen: set[tuple[str, str]] = set()
    with COLUMNS.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        next(lines)
        for row in lines:
            try:
                table, entry = _read_line(row)
            except (KeyError, ValueError) as fault:
                raise SchemaError(f"{COLUMNS}, line {lines.line_num}: {row[1:2]} cannot be read: {fault}") from fault
            if (table, row[1]) in seen:
                raise SchemaError(f"{COLUMNS}, line {lines.line_num}: {table} has {row[1]!r} already; remove one")
            seen.add((table, row[1]))
            entries.setdefault(table, []).append(entry)
    entries["run_options"] = [_of_option(each) for each in RUN_OPTIONS.values() if not each.is_repetition]
    entries["logged"] = list(_logged(entries["jobs"]))
    groups = _Groups(entries)
    return {table: tuple(groups.columns(table).values()) for table in tables}


def _read_line(row: list[str]) -> tuple[str, Field | str]:
    """Return the table or group of a line, and its column, or the name of another table's."""
    table, name, *cells = row
    return table, name if "." in name else _read_field(name, cells)


def _read_field(name: str, cells: list[str]) -> Field:
    """Return the column that a line says."""
    kind, unit, missing, known, origin, stage, minimum, maximum, position, marks, meaning = cells
    special = set(marks.split())
    if known not in get_args(Known) or special - _MARKS:
        raise ValueError(f"known: {known!r}, marks: {marks!r}")
    return Field(
        name,
        _TYPES[kind],
        unit,
        meaning,
        missing or "null",
        int(position) if position else None,
        stage or "read",
        _number(maximum),
        _number(minimum),
        stable_under_growth="whole-trace" not in special,
        optional="optional" in special,
        is_generated=_ORIGINS[origin],
        known=known,  # type: ignore[arg-type]  # looked at above
    )


def _number(text: str) -> float | None:
    """Return a bound, None for no text: a whole number where it is written as one."""
    return (int(text) if text.isdigit() else float(text)) if text else None


def _of_option(option: RunOption) -> Field:
    """Return the column of an option of a run; one that came later is in a file only where it counts in some cell."""
    kind, optional = _TYPES_OF_OPTIONS[option.type], option.in_key != ALWAYS
    return Field(option.name, kind, "1", option.column, NEVER, stage="experiment", optional=optional, known="never")


def _logged(jobs: list[Field | str]) -> Iterator[Field]:
    """Yield the columns of jobs that records have; their times are since 1970, as files begin at different times."""
    for column in jobs:
        if not isinstance(column, Field) or column.stage != "read" or column.optional:
            continue
        if column.name in ("submit_time", "eligible_time"):
            meaning = column.meaning.replace("in seconds from the start of the log", "in seconds since 1970, UTC")
            yield replace(column, meaning=f"{meaning.rstrip('.')}, or of a log that does not say when it begins.")
        else:
            yield column

# SPDX-License-Identifier: BSD-3-Clause
"""A table in several parts, of which a new version writes those that changed and shares the others.

A data set that grows is published night after night. What did not change since the version before, a month of jobs for
instance, is the same file there and here: a hard link where the file system has them, on S3 a copy that the service
makes. A part is written without the name of its version, so that it is the same bytes whenever it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pipelines.store.manifest import column_entry, json_value
from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields

SUFFIX = ".parquet"


@dataclass(frozen=True)
class Shared:
    """A file that another version of the data set has under the same name.

    Parameters
    ----------
    version : str
        Which.
    """

    version: str


@dataclass(frozen=True)
class PartedTable:
    """A table of the column dictionary in parts, whose rows follow each other in the order of the parts' names.

    Parameters
    ----------
    parts : mapping of str to pyarrow.Table, callable or Shared
        By label, such as ``2001-03``: the table, or what returns it when it is written; all have the same columns.
    columns : sequence of str
        Which.
    """

    parts: Mapping[str, pa.Table | Callable[[], pa.Table] | Shared]
    columns: tuple[str, ...]


@dataclass(frozen=True)
class LongTable:
    """A table of the column dictionary in one file, that is written a piece at a time.

    Parameters
    ----------
    pieces : callable
        Returns its rows as tables, one behind the other, each but the last with as many rows as a row group has.
    columns : sequence of str
        Which, in the order of the dictionary.
    rows : int
        How many.
    is_sorted : bool
        Whether they are in the order that the dictionary names.
    """

    pieces: Callable[[], Iterator[pa.Table]]
    columns: tuple[str, ...]
    rows: int
    is_sorted: bool


def part_name(label: str) -> str:
    """Return the name of the file of a part."""
    return f"part-{label}{SUFFIX}"


def label_of(name: str) -> str:
    """Return the label of a part by the name of its file."""
    return name.removeprefix("part-").removesuffix(SUFFIX)


class Measured(NamedTuple):
    """What a part has in a column: nulls, extremes and sum; text and lists have no more than nulls."""

    nulls: int
    least: Any = None
    most: Any = None
    sum: float | None = None


def measure_part(data: pa.Table) -> dict[str, Any]:
    """Return rows, and what each column has, in the order of names: what the whole table is described by.

    A manifest has that of every part, so it is no longer than it must be.
    """
    measured = []
    for name in sorted(data.column_names):
        column = data[name]
        least = most = total = None
        if not (pa.types.is_string(column.type) or pa.types.is_nested(column.type)):
            extremes = pc.min_max(column).as_py()
            least, most = json_value(extremes["min"]), json_value(extremes["max"])
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            total = json_value(pc.sum(column.cast(pa.float64(), safe=False)).as_py())
        measured.append(list(Measured(column.null_count, least, most, total)))
    return {"rows": data.num_rows, "measured": measured}


def measured_column(table: Mapping[str, Any], part: str, column: str) -> Measured:
    """Return what a part has in a column, from the manifest's entry of its table."""
    return Measured(*table["parts"][part]["measured"][sorted(table["columns"]).index(column)])


def describe_parts(table: str, columns: Iterable[str], parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the manifest's entry of a table in parts, from what each of them was measured to be.

    Raises
    ------
    ParameterError
        A part has another number of columns.
    """
    fields, names = table_fields(table), list(columns)
    for name, part in parts.items():
        if len(part["measured"]) != len(names):
            raise ParameterError(f"table {table!r}: {name} has other columns than the table; make all parts again")
    rows = sum(part["rows"] for part in parts.values())
    described = {}
    for place, name in enumerate(sorted(names)):
        measured = [Measured(*part["measured"][place]) for part in parts.values()]
        kind = fields[name].type
        entry = column_entry(fields[name], sum(each.nulls for each in measured))
        if not (pa.types.is_string(kind) or pa.types.is_nested(kind)):
            entry["min"] = min((each.least for each in measured if each.least is not None), default=None)
            entry["max"] = max((each.most for each in measured if each.most is not None), default=None)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            known = rows - entry["nulls"]
            total = sum(each.sum for each in measured if each.sum is not None)
            entry["mean"] = json_value(total / known) if known else None
        described[name] = entry
    ordered = {name: described[name] for name in names}
    return {"rows": rows, "columns": ordered, "parts": {name: dict(part) for name, part in sorted(parts.items())}}

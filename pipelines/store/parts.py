"""A table in several parts, of which a new version writes those that changed and shares the others.

A data set that grows is published night after night. What did not change since the version before, a month of jobs for
instance, is the same file there and here: a hard link where the file system has them, on S3 a copy that the service
makes. A part is written without the name of its version, so that it is the same bytes whenever it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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


def part_name(label: str) -> str:
    """Return the name of the file of a part."""
    return f"part-{label}{SUFFIX}"


def label_of(name: str) -> str:
    """Return the label of a part by the name of its file."""
    return name.removeprefix("part-").removesuffix(SUFFIX)


def measure_part(data: pa.Table) -> dict[str, Any]:
    """Return rows, and of each column nulls, extremes and sum: what the whole table is described by.

    Text and lists have neither extremes nor a sum; a sum of very large numbers is none.
    """
    columns: dict[str, Any] = {}
    for name in data.column_names:
        column = data[name]
        measured: dict[str, Any] = {"nulls": column.null_count}
        if not (pa.types.is_string(column.type) or pa.types.is_nested(column.type)):
            measured |= {key: json_value(value) for key, value in pc.min_max(column).as_py().items()}
        if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
            measured["sum"] = json_value(pc.sum(column.cast(pa.float64(), safe=False)).as_py())
        columns[name] = measured
    return {"rows": data.num_rows, "columns": columns}


def describe_parts(table: str, columns: Iterable[str], parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the manifest's entry of a table in parts, from what each of them was measured to be.

    Raises
    ------
    ParameterError
        A part has other columns.
    """
    fields, names = table_fields(table), list(columns)
    for name, part in parts.items():
        if set(part["columns"]) != set(names):
            raise ParameterError(f"table {table!r}: {name} has other columns than the table; make all parts anew")
    rows = sum(part["rows"] for part in parts.values())
    described = {}
    for name in names:
        measured = [part["columns"][name] for part in parts.values()]
        entry = column_entry(fields[name], sum(each["nulls"] for each in measured))
        for key, choose in (("min", min), ("max", max)):
            if any(key in each for each in measured):
                entry[key] = choose((each[key] for each in measured if each.get(key) is not None), default=None)
        if any("sum" in each for each in measured):
            known = rows - entry["nulls"]
            sums = [each["sum"] for each in measured if each.get("sum") is not None]
            entry["mean"] = json_value(sum(sums) / known) if known else None
        described[name] = entry
    return {"rows": rows, "columns": described, "parts": {name: dict(part) for name, part in sorted(parts.items())}}

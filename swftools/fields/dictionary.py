# SPDX-License-Identifier: BSD-3-Clause
"""The column dictionary: every column of every table, once.

Name, type, unit, meaning, missing value, SWF position and bounds of each column, and when it is known of a job, live in
``columns.csv`` and nowhere else, and what each table is in ``tables.csv``. The pyarrow schemas, the files in
``schemas/``, the data dictionary of the documentation (all by ``generate.py``), the checks on write and read, and what
predictors are told are made from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import pyarrow as pa

from swftools.errors import SchemaError
from swftools.fields.definition import BOOL, FLOAT64, INT64, INTEGERS, RANGES, STRING, TIMESTAMP, UTILITY, Field, Known
from swftools.fields.loader import load_columns, load_tables

_TABLES = load_tables()

TABLES = load_columns(_TABLES)
"""The columns of each table, in order."""

TABLE_MEANINGS = {name: table.meaning for name, table in _TABLES.items()}

COMMON_VERSION = 13
"""The schema version that all tables had when each got its own; content keys leave it out."""

RAISED_VERSIONS = {name: table.version for name, table in _TABLES.items() if table.version != COMMON_VERSION}
"""The schema version of each table that has changed since. Whoever adds, removes, renames or retypes a column of a
table, or gives it another meaning, raises that table's version in ``tables.csv``, by one."""

SORTED_BY = {name: table.sorted_by for name, table in _TABLES.items() if table.sorted_by}
"""The column by which the rows of a table usually rise; a file says so where they do."""

PRIMARY_KEYS = {name: table.key for name, table in _TABLES.items() if table.key}
"""The columns that together tell the rows of a table apart, where some do; only a job's number may be null."""

JOBS = TABLES["jobs"]
SWF_FIELDS = tuple(field for field in JOBS if field.swf_position is not None)
"""The 18 fields of the Standard Workload Format, version 2.2 (Chapin et al. 1999; Parallel Workloads Archive), in
order. Times are seconds, memory is KB per processor. Missing is -1 in SWF text and null here."""

SWF_NAMES = tuple(field.name for field in SWF_FIELDS)

AUGMENTATION_COLUMNS = {
    name: tuple(field for field in TABLES[name] if field.stage == name)
    for name in dict.fromkeys(field.stage for field in JOBS)
    if name in TABLES
}
"""The columns that each augmentation adds to jobs, in the order of the jobs table."""

_GENERATED = frozenset(column.name for column in JOBS if column.is_generated)

KNOWN_OF_JOBS: dict[str, Known] = {field.name: field.known for field in JOBS}
"""When each column of jobs is known. Of a column that is not here only who made it can say."""


def table_fields(table: str) -> dict[str, Field]:
    """Return the columns of a table by name, in order.

    Raises
    ------
    SchemaError
        The dictionary has no table of that name.
    """
    if table not in TABLES:
        raise SchemaError(f"no table {table!r} in the column dictionary; it has {', '.join(TABLES)}")
    return {field.name: field for field in TABLES[table]}


def table_version(table: str) -> int:
    """Return the schema version of a table.

    Raises
    ------
    SchemaError
        The dictionary has no table of that name.
    """
    table_fields(table)
    return RAISED_VERSIONS.get(table, COMMON_VERSION)


def highest_version(tables: Iterable[str]) -> int:
    """Return the highest schema version among tables; the common one where there are none."""
    return max(map(table_version, tables), default=COMMON_VERSION)


def generated_columns(columns: Iterable[object]) -> list[str]:
    """Return which columns of jobs are generated, not logged, in their order.

    Examples
    --------
    >>> generated_columns(["run_time", "priority_rank", "is_moldable"])
    ['is_moldable']
    """
    return [str(name) for name in columns if str(name) in _GENERATED]


def known_at_submission(columns: Iterable[object]) -> list[str]:
    """Return which columns of jobs say what is known of a job at its submission, in their order.

    This is the whole of what may be told of a job that is being submitted: a column that the dictionary does not have
    is none of them.

    Examples
    --------
    >>> known_at_submission(["user_id", "status", "requested_time", "mine"])
    ['user_id', 'requested_time']
    """
    return [str(name) for name in columns if KNOWN_OF_JOBS.get(str(name)) == "submission"]


def known_later(columns: Iterable[object]) -> list[str]:
    """Return which columns of jobs the dictionary has, and says not to be known at submission.

    Examples
    --------
    >>> known_later(["user_id", "status", "requested_time", "mine"])
    ['status']
    """
    return [str(name) for name in columns if KNOWN_OF_JOBS.get(str(name), "submission") != "submission"]


def required_columns(table: str) -> list[str]:
    """Return the columns that every file of a table has.

    All that are not optional, but of jobs only the 18 SWF fields, and of a schedule only what the simulation adds, and
    the key.
    """
    if table == "schedule":
        return [
            field.name
            for field in TABLES[table]
            if not field.optional and (field.stage == "simulate" or field.name in PRIMARY_KEYS[table])
        ]
    if table == "jobs":
        return list(SWF_NAMES)
    return [name for name, field in table_fields(table).items() if not field.optional]


def arrow_schema(table: str, columns: Iterable[str] | None = None) -> pa.Schema:
    """Return the pyarrow schema of a table, or of some of its columns, in the dictionary's order.

    Parameters
    ----------
    table : str
        Name of a table, such as ``"jobs"``.
    columns : iterable of str, optional
        Columns wanted; all of them by default.

    Raises
    ------
    SchemaError
        The table or a column is unknown.

    Examples
    --------
    >>> arrow_schema("jobs", ["run_time"]).field("run_time").metadata[b"unit"]
    b's'
    """
    fields = table_fields(table)
    wanted = set(fields if columns is None else columns)
    if unknown := sorted(wanted - set(fields)):
        raise SchemaError(f"table {table!r}: unknown columns {unknown}; add them to swftools/fields or drop them")
    chosen = [field for name, field in fields.items() if name in wanted]
    metadata = {"table": table, "schema_version": str(table_version(table)), "pandas": _pandas_metadata(chosen)}
    return pa.schema([field.arrow for field in chosen], metadata=metadata)


_PANDAS_TYPES = {
    INT64: ("int64", "Int64"),
    FLOAT64: ("float64", "float64"),
    STRING: ("unicode", "str"),
    BOOL: ("bool", "bool"),
    TIMESTAMP: ("datetimetz", "datetime64[ms]"),
    UTILITY: ("list[struct]", "object"),
    INTEGERS: ("list[int64]", "object"),
    RANGES: ("list[int32]", "object"),
}


def _pandas_metadata(fields: Iterable[Field]) -> str:
    """Return the note that makes pandas read integers with nulls as Int64 instead of float64."""
    columns = [
        {
            "name": field.name,
            "field_name": field.name,
            "pandas_type": _PANDAS_TYPES[field.type][0],
            "numpy_type": _PANDAS_TYPES[field.type][1],
            "metadata": {"timezone": "UTC"} if field.type == TIMESTAMP else None,
        }
        for field in fields
    ]
    return json.dumps({"index_columns": [], "column_indexes": [], "columns": columns, "pandas_version": "3.0.0"})

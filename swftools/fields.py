"""The column dictionary: every column of every table, once.

Name, type, unit, meaning, missing value and SWF position of each column live here and nowhere else. The
pyarrow schemas, the files in ``schemas/``, the tables of the documentation and the checks on write and read
are made from it. The first floor of the house: imports nothing of ours but the errors.

Field names and meanings follow the Standard Workload Format, version 2.2 (Chapin et al. 1999; Parallel
Workloads Archive). Times are seconds, memory is KB per processor. Missing is -1 in SWF text and null here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from swftools.errors import SchemaError

SCHEMA_VERSION = 1
"""Raised whenever a column is added, removed, renamed, retyped or given another meaning."""

MAX_TIME = 1e10
"""Times beyond this many seconds (317 years) are taken for damage, not data."""

INT64 = pa.int64()
FLOAT64 = pa.float64()
STRING = pa.string()
BOOL = pa.bool_()
TIMESTAMP = pa.timestamp("ms", tz="UTC")
UTILITY = pa.list_(pa.struct([pa.field("time", FLOAT64, nullable=False), pa.field("value", FLOAT64, nullable=False)]))


@dataclass(frozen=True)
class Field:
    """One column: its name, type, unit, meaning, missing-value rule, SWF position and the stage that adds it."""

    name: str
    type: pa.DataType
    unit: str
    meaning: str
    missing: str = "null"
    swf_position: int | None = None
    stage: str = "read"
    maximum: float | None = None

    @property
    def arrow(self) -> pa.Field:
        """The pyarrow field, with unit, meaning and missing-value rule as metadata."""
        metadata = {"unit": self.unit, "meaning": self.meaning, "missing": self.missing}
        if self.swf_position is not None:
            metadata["swf_position"] = str(self.swf_position)
        return pa.field(self.name, self.type, nullable=self.missing != "never", metadata=metadata)


def _swf_fields() -> tuple[Field, ...]:
    """Return the 18 fields of SWF 2.2 in order."""
    most_processors, most_memory, most_id = 2.0**31 - 1, 2.0**53, 2.0**63 - 1024
    rows: list[tuple[str, pa.DataType, str, str, float]] = [
        ("job_number", INT64, "1", "Number of the job in the log; not always unique.", most_id),
        ("submit_time", FLOAT64, "s", "Submission, in seconds from the start of the log.", MAX_TIME),
        ("wait_time", FLOAT64, "s", "Time from submission to start as logged.", MAX_TIME),
        ("run_time", FLOAT64, "s", "Wall-clock time from start to end as logged.", MAX_TIME),
        ("allocated_processors", INT64, "processors", "Processors the job was given.", most_processors),
        ("average_cpu_time", FLOAT64, "s", "CPU time (user + system) per processor.", MAX_TIME),
        ("used_memory", FLOAT64, "KB", "Memory used, per processor.", most_memory),
        ("requested_processors", INT64, "processors", "Processors the job asked for.", most_processors),
        ("requested_time", FLOAT64, "s", "Run time the user asked for (the user's estimate).", MAX_TIME),
        ("requested_memory", FLOAT64, "KB", "Memory asked for, per processor.", most_memory),
        ("status", INT64, "1", "0 failed, 1 completed, 2-4 partial execution, 5 cancelled.", most_id),
        ("user_id", INT64, "1", "User, as a number.", most_id),
        ("group_id", INT64, "1", "Group, as a number.", most_id),
        ("executable_id", INT64, "1", "Application, as a number.", most_id),
        ("queue_id", INT64, "1", "Queue; the header gives names.", most_id),
        ("partition_id", INT64, "1", "Partition; the header gives names.", most_id),
        ("preceding_job_number", INT64, "1", "Job that must end before this one starts.", most_id),
        ("think_time", FLOAT64, "s", "Time from the end of the preceding job to this submission.", MAX_TIME),
    ]
    return tuple(
        Field(name, type_, unit, meaning, "null (-1 in SWF)", position, "read", maximum)
        for position, (name, type_, unit, meaning, maximum) in enumerate(rows, start=1)
    )


SWF_FIELDS = _swf_fields()
SWF_NAMES = tuple(field.name for field in SWF_FIELDS)

JOBS = (
    *SWF_FIELDS,
    Field("line_number", INT64, "1", "Line of the source file, first line = 1.", "null: not from a file"),
    Field("extra_fields", STRING, "1", "Text after the 18th field whose meaning is unknown.", "null: no such text"),
    Field(
        "job_occurrence", INT64, "1",
        "How many earlier lines carry the same job_number; (job_number, job_occurrence) is the key.",
        "never", stage="clean",
    ),
    Field("submit_timestamp", TIMESTAMP, "UTC", "Submission as absolute time.", "null: no UnixStartTime in the header", stage="clean"),
    Field("width", INT64, "processors", "allocated_processors where known, else requested_processors.", "null", stage="clean"),
    Field("is_cancelled", BOOL, "1", "Logged as cancelled (status 5), before or after its start.", "never", stage="clean"),
    Field("is_never_started", BOOL, "1", "No run time, and failed or cancelled: it left the queue without running.", "never", stage="clean"),
    Field("is_run_time_missing", BOOL, "1", "No run time, though not logged as failed or cancelled.", "never", stage="clean"),
    Field("is_over_request", BOOL, "1", "Ran longer than its requested time.", "never", stage="clean"),
    Field("is_out_of_order", BOOL, "1", "Stood behind a later submission in the log; moved to its place.", "never", stage="clean"),
    Field("is_duplicate_number", BOOL, "1", "Another job of the log carries the same number.", "never", stage="clean"),
    Field("is_repaired", BOOL, "1", "A cleaning rule changed a value; the table repairs holds the old one.", "never", stage="clean"),
    Field("priority_rank", INT64, "1", "Priority of the job's queue, 0 highest (card of the log).", "never", stage="utility"),
    Field("utility_decay", STRING, "1", "Kind of decay: linear, exponential or step.", "never", stage="utility"),
    Field(
        "utility", UTILITY, "s, value units",
        "Piecewise-linear utility function: time since submission and value, zero after the last time.",
        "never", stage="utility",
    ),
    Field("logged_utility", FLOAT64, "value units", "Utility the job earned in the log itself, at its own turnaround (or wait).", "never", stage="utility"),
)

QUARANTINE = (
    Field("line_number", INT64, "1", "Line of the source file, first line = 1.", "null: not from a file"),
    Field("rule", STRING, "1", "What sent it here: read, or the name of a cleaning rule.", "never"),
    Field("reason", STRING, "1", "Why, in words.", "never"),
    Field("text", STRING, "1", "The line as it stood in the file.", "null: not from a file"),
)

MERGED = (
    Field("line_number", INT64, "1", "Line of the source file, first line = 1.", "null: not from a file"),
    Field("job_number", INT64, "1", "Number of the job.", "null"),
    Field("into_line_number", INT64, "1", "Line of the job that it became part of.", "null: not from a file"),
    Field("text", STRING, "1", "The line as it stood in the file.", "null: not from a file"),
)

REPAIRS = (
    Field("line_number", INT64, "1", "Line of the source file, first line = 1.", "null: not from a file"),
    Field("job_number", INT64, "1", "Number of the job.", "null"),
    Field("rule", STRING, "1", "Cleaning rule that made the repair.", "never"),
    Field("column", STRING, "1", "Column repaired.", "never"),
    Field("old_value", FLOAT64, "unit of the column", "Value before.", "null"),
    Field("new_value", FLOAT64, "unit of the column", "Value after.", "null"),
)

CLEANING_REPORT = (
    Field("step", INT64, "1", "Order of application; 0 is reading.", "never"),
    Field("rule", STRING, "1", "read, or the name of the cleaning rule.", "never"),
    Field("parameters", STRING, "1", "Parameters of the rule, as JSON.", "never"),
    Field("jobs_in", INT64, "jobs", "Job lines (read) or jobs before the step.", "never"),
    Field("jobs_out", INT64, "jobs", "Jobs after the step.", "never"),
    Field("quarantined", INT64, "jobs", "Moved to the quarantine by the step.", "never"),
    Field("merged", INT64, "jobs", "Lines merged into another job by the step.", "never"),
    Field("repaired", INT64, "jobs", "Kept jobs with a value changed by the step.", "never"),
    Field("flagged", INT64, "jobs", "Kept jobs marked by the step, values unchanged.", "never"),
    Field("remark", STRING, "1", "What a reader should know, such as why the step did nothing.", "null: nothing to say"),
)

TABLES: dict[str, tuple[Field, ...]] = {
    "jobs": JOBS,
    "quarantine": QUARANTINE,
    "merged": MERGED,
    "repairs": REPAIRS,
    "cleaning_report": CLEANING_REPORT,
}


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
        The table or a column is unknown; both missing and surplus names are listed.

    Examples
    --------
    >>> arrow_schema("jobs", ["run_time"]).field("run_time").metadata[b"unit"]
    b's'
    """
    fields = table_fields(table)
    wanted = set(fields if columns is None else columns)
    if unknown := sorted(wanted - set(fields)):
        raise SchemaError(f"table {table!r}: unknown columns {unknown}; add them to swftools/fields.py or drop them")
    chosen = [field for name, field in fields.items() if name in wanted]
    metadata = {"table": table, "schema_version": str(SCHEMA_VERSION), "pandas": _pandas_metadata(chosen)}
    return pa.schema([field.arrow for field in chosen], metadata=metadata)


_PANDAS_TYPES = {
    INT64: ("int64", "Int64"),
    FLOAT64: ("float64", "float64"),
    STRING: ("unicode", "str"),
    BOOL: ("bool", "bool"),
    TIMESTAMP: ("datetimetz", "datetime64[ms]"),
    UTILITY: ("list[struct]", "object"),
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
    note = {"index_columns": [], "column_indexes": [], "columns": columns, "pandas_version": pd.__version__}
    return json.dumps(note)


_JSON_TYPES: dict[pa.DataType, dict[str, Any]] = {
    INT64: {"type": "integer"},
    FLOAT64: {"type": "number"},
    STRING: {"type": "string"},
    BOOL: {"type": "boolean"},
    TIMESTAMP: {"type": "string", "format": "date-time"},
    UTILITY: {
        "type": "array",
        "minItems": 2,
        "items": {
            "type": "object",
            "properties": {"time": {"type": "number", "minimum": 0}, "value": {"type": "number", "minimum": 0}},
            "required": ["time", "value"],
            "additionalProperties": False,
        },
    },
}


def json_schema(table: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one row of a table, as published in ``schemas/``.

    Units, missing-value rules, SWF positions and the stage that adds a column are annotations that begin
    with ``x-``. Columns that every file of the table has are required.

    Raises
    ------
    SchemaError
        The dictionary has no table of that name.
    """
    fields = table_fields(table)
    properties: dict[str, Any] = {}
    for field in fields.values():
        kind = dict(_JSON_TYPES[field.type])
        if field.missing != "never":
            kind["type"] = [kind["type"], "null"]
        kind |= {"description": field.meaning, "x-unit": field.unit, "x-missing": field.missing}
        kind |= {"x-arrow-type": str(field.type), "x-stage": field.stage}
        if field.swf_position is not None:
            kind["x-swf-position"] = field.swf_position
        if field.maximum is not None and field.type == FLOAT64:
            kind |= {"minimum": 0, "maximum": field.maximum}
        properties[field.name] = kind
    required = [name for name, field in fields.items() if field.swf_position is not None or table != "jobs"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"swftools table {table}, one row",
        "x-schema-version": SCHEMA_VERSION,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }

"""The column dictionary: every column of every table, once.

Name, type, unit, meaning, missing value, SWF position and bounds of each column live here, those that augmentations
add in ``augmentation_fields.py``, and nowhere else. The pyarrow schemas, the files in ``schemas/``, the data
dictionary of the documentation (all by ``schemas.py``) and the checks on write and read are made from it.

Field names and meanings follow the Standard Workload Format, version 2.2 (Chapin et al. 1999; Parallel
Workloads Archive). Times are seconds, memory is KB per processor. Missing is -1 in SWF text and null here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa

from swftools.augmentation_fields import AUGMENTATION_COLUMNS, CHECKPOINT_SUMMARY, CHECKPOINT_SURVEY
from swftools.errors import SchemaError
from swftools.field_definition import BOOL, FLOAT64, INT64, INTEGERS, MAX_TIME, NEVER, STRING, TIMESTAMP, UTILITY, Field
from swftools.schedule_fields import EXCLUSION_REASON, METRICS, SCHEDULE_COLUMNS, SEED, SEGMENT_COLUMNS

SCHEMA_VERSION = 2
"""Raised whenever a column is added, removed, renamed, retyped or given another meaning."""


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
    fields = [
        Field(name, type_, unit, meaning, "null (-1 in SWF)", position, maximum=maximum, minimum=0)
        for position, (name, type_, unit, meaning, maximum) in enumerate(rows, start=1)
    ]
    # Status is the one field that real logs fill with values outside its list, negative ones included.
    return tuple(replace(field, minimum=-most_id) if field.name == "status" else field for field in fields)


def _flag(name: str, meaning: str) -> Field:
    """Return a column by which cleaning marks jobs."""
    return Field(name, BOOL, "1", meaning, NEVER, stage="clean")


def _count(name: str, meaning: str) -> Field:
    """Return a column of the cleaning report that counts jobs."""
    return Field(name, INT64, "jobs", meaning, NEVER, stage="clean", minimum=0)


SWF_FIELDS = _swf_fields()
SWF_NAMES = tuple(field.name for field in SWF_FIELDS)

JOB_NUMBER = SWF_FIELDS[0]
LINE_NUMBER = Field(
    "line_number", INT64, "1", "Line of the source file, first line = 1.", "null: not from a file", minimum=1
)
TEXT = Field("text", STRING, "1", "The line as it stood in the file.", "null: not from a file")
JOB_OCCURRENCE = Field(
    "job_occurrence",
    INT64,
    "1",
    "How many earlier job lines of the log carry the same job_number; (job_number, job_occurrence) is the key.",
    NEVER,
    stage="clean",
    minimum=0,
)

JOBS = (
    *SWF_FIELDS,
    LINE_NUMBER,
    Field("extra_fields", STRING, "1", "Text after the 18th field whose meaning is unknown.", "null: no such text"),
    JOB_OCCURRENCE,
    Field(
        "submit_timestamp",
        TIMESTAMP,
        "UTC",
        "Submission as absolute time.",
        "null: no submission time, no UnixStartTime in the header, or beyond the year 9999",
        stage="clean",
    ),
    Field(
        "width",
        INT64,
        "processors",
        "allocated_processors where known, else requested_processors.",
        stage="clean",
        minimum=1,
    ),
    _flag("is_cancelled", "Logged as cancelled (status 5), before or after its start."),
    _flag("is_never_started", "No run time, and failed or cancelled: it left the queue without running."),
    _flag("is_run_time_missing", "No run time, though not logged as failed or cancelled."),
    _flag("is_over_request", "Ran longer than its requested time, as logged."),
    _flag("is_out_of_order", "Stood behind a later submission in the log; moved to its place."),
    _flag("is_duplicate_number", "Another job of the log carries the same number."),
    _flag("is_repaired", "A cleaning rule changed a value; the table repairs holds the old one."),
    Field(
        "is_measured",
        BOOL,
        "1",
        "Chosen to be measured; other jobs of the selection are its warm-up and cool-down.",
        NEVER,
        stage="select",
    ),
    *(column for columns in AUGMENTATION_COLUMNS.values() for column in columns),
)

QUARANTINE = (
    LINE_NUMBER,
    Field("rule", STRING, "1", "What sent it here: read, or the name of a cleaning rule.", NEVER),
    Field("reason", STRING, "1", "Why, in words.", NEVER),
    TEXT,
)

MERGED = (
    LINE_NUMBER,
    JOB_NUMBER,
    replace(LINE_NUMBER, name="into_line_number", meaning="Line of the job that it became part of."),
    TEXT,
)

REPAIRS = (
    LINE_NUMBER,
    JOB_NUMBER,
    Field("rule", STRING, "1", "Cleaning rule that made the repair.", NEVER, stage="clean"),
    Field("column", STRING, "1", "Column repaired.", NEVER, stage="clean"),
    Field("old_value", FLOAT64, "unit of the column", "Value before.", stage="clean"),
    Field("new_value", FLOAT64, "unit of the column", "Value after.", stage="clean"),
)

CLEANING_REPORT = (
    Field("step", INT64, "1", "Order of application; 0 is reading.", NEVER, stage="clean", minimum=0),
    Field("rule", STRING, "1", "read, or the name of the cleaning rule.", NEVER, stage="clean"),
    Field("parameters", STRING, "1", "Every parameter of the rule, as JSON.", NEVER, stage="clean"),
    _count("jobs_in", "Job lines (read) or jobs before the step."),
    _count("jobs_out", "Jobs after the step."),
    _count("quarantined", "Moved to the quarantine by the step."),
    _count("merged", "Lines merged into another job by the step."),
    _count("repaired", "Kept jobs with a value changed by the step."),
    _count("flagged", "Kept jobs marked by the step without a change of value: none counts as repaired too."),
    Field(
        "remark",
        STRING,
        "1",
        "What a reader should know, such as why the step did nothing.",
        "null: nothing to say",
        stage="clean",
    ),
)

_SIMULATED_NAMES = {field.name for field in SCHEDULE_COLUMNS}
SCHEDULE = (
    *(JOB_NUMBER, JOB_OCCURRENCE, *SCHEDULE_COLUMNS),
    *(field for field in JOBS if field.name not in _SIMULATED_NAMES | {"job_number", "job_occurrence"}),
)

TABLES: dict[str, tuple[Field, ...]] = {
    "jobs": JOBS,
    "quarantine": QUARANTINE,
    "merged": MERGED,
    "repairs": REPAIRS,
    "cleaning_report": CLEANING_REPORT,
    **{name: (JOB_NUMBER, JOB_OCCURRENCE, *columns) for name, columns in AUGMENTATION_COLUMNS.items()},
    "checkpoint_survey": CHECKPOINT_SURVEY,
    "checkpoint_summary": CHECKPOINT_SUMMARY,
    "schedule": SCHEDULE,
    "segments": (JOB_NUMBER, JOB_OCCURRENCE, *SEGMENT_COLUMNS),
    "excluded": (JOB_NUMBER, JOB_OCCURRENCE, EXCLUSION_REASON),
    "metrics": METRICS,
    "comparison": (SEED, *METRICS),
}

TABLE_MEANINGS = {
    "jobs": "One row a job: what the log says of it, what cleaning found, what was added.",
    "quarantine": "One row a line that is no job, or a job that a cleaning rule removed.",
    "merged": "One row a line that became part of another job.",
    "repairs": "One row a value that a cleaning rule changed.",
    "cleaning_report": "One row a step of cleaning: job lines read = jobs kept + quarantined + merged.",
    "utility": "One row a job: what the augmentation by utility functions adds to it.",
    "checkpoints": "One row a job: what the augmentation by a checkpoint survey adds to it.",
    "arrivals": "One row a job: what the augmentation by an arrival model adds to it.",
    "speedup": "One row a job: what the augmentation by speedup curves adds to it.",
    "estimates": "One row a job: what the augmentation by modelled user estimates adds to it.",
    "checkpoint_survey": "One row an answer of the checkpoint survey that the columns were inferred from.",
    "checkpoint_summary": "One row a choice of the checkpoint survey: Tables 6.1 and 6.2 of Lee 2009 for this survey.",
    "schedule": "One row a simulated job: what the simulation says of it, and beside it what the trace does.",
    "segments": "One row a run of a job: jobs that were preempted have several.",
    "excluded": "One row a job of the trace that could not be simulated.",
    "metrics": "One row a policy, class of jobs, measure and statistic.",
    "comparison": "One row a policy, seed, class of jobs, measure and statistic.",
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


def required_columns(table: str) -> list[str]:
    """Return the columns that every file of a table has.

    All of them, but of jobs only the 18 SWF fields, and of a schedule only what the simulation adds, and the key.
    """
    if table == "schedule":
        return ["job_number", "job_occurrence", *(field.name for field in SCHEDULE_COLUMNS)]
    return list(SWF_NAMES) if table == "jobs" else list(table_fields(table))


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
    INTEGERS: ("list[int64]", "object"),
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

# SPDX-License-Identifier: BSD-3-Clause
"""The columns of jobs: the 18 fields of SWF, the key of a job, and what cleaning says of it.

Field names and meanings follow the Standard Workload Format, version 2.2 (Chapin et al. 1999; Parallel
Workloads Archive). Times are seconds, memory is KB per processor. Missing is -1 in SWF text and null here.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from swftools.fields.accounting import ACCOUNTING_COLUMNS
from swftools.fields.augmentations import AUGMENTATION_COLUMNS
from swftools.fields.definition import BOOL, FLOAT64, INT64, MAX_TIME, NEVER, STRING, TIMESTAMP, Field, Known


def _swf_fields() -> tuple[Field, ...]:
    """Return the 18 fields of SWF 2.2 in order."""
    most_processors, most_memory, most_id = 2.0**31 - 1, 2.0**53, 2.0**63 - 1024
    rows: list[tuple[str, pa.DataType, str, str, float, Known]] = [
        ("job_number", INT64, "1", "Number of the job in the log; not always unique.", most_id, "submission"),
        ("submit_time", FLOAT64, "s", "Submission, in seconds from the start of the log.", MAX_TIME, "submission"),
        ("wait_time", FLOAT64, "s", "Time from submission to start as logged.", MAX_TIME, "start"),
        ("run_time", FLOAT64, "s", "Wall-clock time from start to end as logged.", MAX_TIME, "end"),
        ("allocated_processors", INT64, "processors", "Processors the job was given.", most_processors, "start"),
        ("average_cpu_time", FLOAT64, "s", "CPU time (user + system) per processor.", MAX_TIME, "end"),
        ("used_memory", FLOAT64, "KB", "Memory used, per processor.", most_memory, "end"),
        ("requested_processors", INT64, "processors", "Processors the job asked for.", most_processors, "submission"),
        ("requested_time", FLOAT64, "s", "Run time the user asked for (the user's estimate).", MAX_TIME, "submission"),
        ("requested_memory", FLOAT64, "KB", "Memory asked for, per processor.", most_memory, "submission"),
        ("status", INT64, "1", "0 failed, 1 completed, 2-4 partial execution, 5 cancelled.", most_id, "end"),
        ("user_id", INT64, "1", "User, as a number.", most_id, "submission"),
        ("group_id", INT64, "1", "Group, as a number.", most_id, "submission"),
        ("executable_id", INT64, "1", "Application, as a number.", most_id, "submission"),
        ("queue_id", INT64, "1", "Queue; the header gives names.", most_id, "submission"),
        ("partition_id", INT64, "1", "Partition; the header gives names.", most_id, "submission"),
        ("preceding_job_number", INT64, "1", "Job that must end before this one starts.", most_id, "submission"),
        (
            "think_time",
            FLOAT64,
            "s",
            "Time from the end of the preceding job to this submission.",
            MAX_TIME,
            "submission",
        ),
    ]
    fields = [
        Field(name, type_, unit, meaning, "null (-1 in SWF)", position, maximum=maximum, minimum=0, known=known)
        for position, (name, type_, unit, meaning, maximum, known) in enumerate(rows, start=1)
    ]
    # Status is the one field that real logs fill with values outside its list, negative ones included.
    return tuple(replace(field, minimum=-most_id) if field.name == "status" else field for field in fields)


def _flag(name: str, meaning: str, known: Known) -> Field:
    """Return a column by which cleaning marks jobs."""
    return Field(name, BOOL, "1", meaning, NEVER, stage="clean", known=known)


SWF_FIELDS = _swf_fields()
SWF_NAMES = tuple(field.name for field in SWF_FIELDS)

JOB_NUMBER = SWF_FIELDS[0]
LINE_NUMBER = Field(
    "line_number",
    INT64,
    "1",
    "Line of the source file, first line = 1.",
    "null: not from a file",
    minimum=1,
    known="end",
)
JOB_OCCURRENCE = Field(
    "job_occurrence",
    INT64,
    "1",
    "How many earlier job lines of the log carry the same job_number; (job_number, job_occurrence) is the key.",
    NEVER,
    stage="clean",
    minimum=0,
    known="submission",
)

JOBS = (
    *SWF_FIELDS,
    LINE_NUMBER,
    Field(
        "extra_fields",
        STRING,
        "1",
        "Text after the 18th field whose meaning is unknown.",
        "null: no such text",
        known="end",
    ),
    *ACCOUNTING_COLUMNS,
    JOB_OCCURRENCE,
    Field(
        "submit_timestamp",
        TIMESTAMP,
        "UTC",
        "Submission as absolute time.",
        "null: no submission time, no UnixStartTime in the header, or beyond the year 9999",
        stage="clean",
        known="submission",
    ),
    Field(
        "width",
        INT64,
        "processors",
        "allocated_processors where known, else requested_processors.",
        stage="clean",
        minimum=1,
        known="start",
    ),
    _flag("is_cancelled", "Logged as cancelled (status 5), before or after its start.", "end"),
    _flag("is_never_started", "No run time, and failed or cancelled: it left the queue without running.", "end"),
    _flag("is_run_time_missing", "No run time, though not logged as failed or cancelled.", "end"),
    _flag("is_over_request", "Ran longer than its requested time, as logged.", "end"),
    _flag("is_out_of_order", "Stood behind a later submission in the log; moved to its place.", "end"),
    _flag("is_duplicate_number", "Another job of the log carries the same number.", "never"),
    _flag("is_repaired", "A cleaning rule changed a value; the table repairs holds the old one.", "never"),
    Field(
        "is_measured",
        BOOL,
        "1",
        "Chosen to be measured; other jobs of the selection are its warm-up and cool-down.",
        NEVER,
        stage="select",
        known="never",
    ),
    *(column for columns in AUGMENTATION_COLUMNS.values() for column in columns),
)

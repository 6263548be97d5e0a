# SPDX-License-Identifier: BSD-3-Clause
"""The columns of what reading and cleaning put aside, and of the account they give of it."""

from __future__ import annotations

from dataclasses import replace

from swftools.fields.definition import FLOAT64, INT64, NEVER, STRING, Field
from swftools.fields.jobs import JOB_NUMBER, LINE_NUMBER

TEXT = Field("text", STRING, "1", "The line as it stood in the file.", "null: not from a file", known="never")


def _count(name: str, meaning: str) -> Field:
    """Return a column of the cleaning report that counts jobs."""
    return Field(name, INT64, "jobs", meaning, NEVER, stage="clean", minimum=0, known="never")


QUARANTINE = (
    LINE_NUMBER,
    Field("rule", STRING, "1", "What sent it here: read, or the name of a cleaning rule.", NEVER, known="never"),
    Field("reason", STRING, "1", "Why, in words.", NEVER, known="never"),
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
    Field("rule", STRING, "1", "Cleaning rule that made the repair.", NEVER, stage="clean", known="never"),
    Field("column", STRING, "1", "Column repaired.", NEVER, stage="clean", known="never"),
    Field("old_value", FLOAT64, "unit of the column", "Value before.", stage="clean", known="never"),
    Field("new_value", FLOAT64, "unit of the column", "Value after.", stage="clean", known="never"),
)

CLEANING_REPORT = (
    Field("step", INT64, "1", "Order of application; 0 is reading.", NEVER, stage="clean", minimum=0, known="never"),
    Field("rule", STRING, "1", "read, or the name of the cleaning rule.", NEVER, stage="clean", known="never"),
    Field("parameters", STRING, "1", "Every parameter of the rule, as JSON.", NEVER, stage="clean", known="never"),
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
        known="never",
    ),
)

# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a history: the records of all files that came, the files, and how bounds of waits fare."""

from __future__ import annotations

from dataclasses import replace

from swftools.fields.cleaning import QUARANTINE
from swftools.fields.definition import BOOL, FLOAT64, INT64, NEVER, STRING, Field
from swftools.fields.jobs import JOB_OCCURRENCE, JOBS

_STAGE = "ingest"

FILE_NUMBER = Field(
    "file_number",
    INT64,
    "1",
    "File that it stood in: number in the table ingested.",
    NEVER,
    stage=_STAGE,
    minimum=1,
    known="never",
)


def _since_1970(column: Field) -> Field:
    """Return a column of jobs as records have it: files begin at different times."""
    if column.name not in ("submit_time", "eligible_time"):
        return column
    meaning = column.meaning.replace("in seconds from the start of the log", "in seconds since 1970, UTC")
    return replace(column, meaning=f"{meaning.rstrip('.')}, or of a log that does not say when it begins.")


RECORDS = (
    Field(
        "record_key",
        INT64,
        "1",
        "Hash of what tells jobs of one submission time apart: with submit_time, the identity of the job.",
        NEVER,
        stage=_STAGE,
        known="never",
    ),
    FILE_NUMBER,
    *(_since_1970(column) for column in JOBS if column.stage == "read" and not column.optional),
    replace(JOB_OCCURRENCE, stage=_STAGE),
)


def _count(name: str, meaning: str, unit: str = "records") -> Field:
    """Return a number of things in a file."""
    return Field(name, INT64, unit, meaning, NEVER, stage=_STAGE, minimum=0, known="never")


def _text(name: str, meaning: str, missing: str = NEVER) -> Field:
    """Return a word about a file."""
    return Field(name, STRING, "1", meaning, missing, stage=_STAGE, known="never")


INGESTED = (
    FILE_NUMBER,
    _text("file", "Name under which the text was first met."),
    _text("sha256", "Of the text that was taken, from its beginning, decompressed."),
    _count("bytes", "Length of that text.", "bytes"),
    _text("resumes_sha256", "Of the text up to where reading resumes if the file grows: before its last record."),
    _count("resumes_bytes", "Length of that text.", "bytes"),
    _count("resumes_lines", "Lines of that text.", "lines"),
    _count("continues", "Number of the file whose text is its beginning, which was not read again; 0 for none.", "1"),
    _text("format", "How it was read."),
    _count("records", "Records read: new + merged + quarantined + not ended + joined."),
    _count("new", "Jobs that the history did not have."),
    _count("merged", "Jobs that it had.", "jobs"),
    _count("replaced", "Of these, those of which this file knew a later state."),
    _count("quarantined", "Lines that are no records of jobs; table rejected.", "jobs"),
    _count("not_ended", "Jobs that had not ended when the file was written: left to the file that has their end."),
    _count("joined", "Lines that became part of another record at reading."),
    _count("withdrawn", "Jobs of the text that it continues, read anew from the last whole record on, and taken back."),
    _text("computer", "What its header says the machine is.", "null: nothing"),
    Field(
        "processors",
        INT64,
        "processors",
        "What its header says the machine has.",
        "null: nothing",
        stage=_STAGE,
        known="never",
        minimum=1,
    ),
    Field(
        "widest",
        INT64,
        "processors",
        "Those of its widest job.",
        "null: no job says",
        stage=_STAGE,
        known="never",
        minimum=0,
    ),
    Field("begins", FLOAT64, "s", "First submission in it.", "null: no job", stage=_STAGE, known="never"),
    Field("ends", FLOAT64, "s", "Last submission in it.", "null: no job", stage=_STAGE, known="never"),
)

WAITING_FILES = (
    _text("file", "Name in the inbox."),
    _text("sha256", "Of its whole text.", "null: it could not be read"),
    _text("outcome", "unreadable, empty, or unfinished: its end is left for the next run."),
    _text("reason", "Why, in words."),
)

REJECTED = (FILE_NUMBER, *QUARANTINE)


def _measure(name: str, unit: str, meaning: str, missing: str = "null: no job was told a bound") -> Field:
    """Return a measure of predictions."""
    return Field(name, FLOAT64, unit, meaning, missing, stage="evaluate", known="never")


def _jobs(name: str, meaning: str) -> Field:
    """Return a number of jobs."""
    return Field(name, INT64, "jobs", meaning, NEVER, stage="evaluate", minimum=0, known="never")


WAIT_COVERAGE = (
    Field(
        "period",
        STRING,
        "1",
        "Month of submission (2001-03), or the days before the end of the history (last 1 days), or all.",
        NEVER,
        stage="evaluate",
        known="never",
    ),
    Field("method", STRING, "1", "Bound or predictor, with its parameters.", NEVER, stage="evaluate", known="never"),
    Field(
        "queue",
        STRING,
        "1",
        "Queue, or other group that was replayed by itself; all.",
        NEVER,
        stage="evaluate",
        known="never",
    ),
    _jobs("jobs", "Jobs that were submitted behind the training."),
    _jobs("told", "Of these, jobs that were told a bound."),
    _jobs("known", "Of these, jobs whose wait is known."),
    _jobs("covered", "Of these, jobs that waited no longer than the bound."),
    _measure("coverage", "1", "covered / known."),
    _measure(
        "least_coverage", "1", "What coverage reaches with the probability that the settings ask for, if it is right."
    ),
    Field(
        "is_below",
        BOOL,
        "1",
        "The coverage is below that.",
        "null: no job was told a bound",
        stage="evaluate",
        known="never",
    ),
    _measure("rms_over", "s", "Root of the mean square of bound - wait, of covered jobs.", "null: none was"),
    _measure("tightness", "1", "Geometric mean of bound / wait; less than 1 s counts as 1 s."),
)

# SPDX-License-Identifier: BSD-3-Clause
"""The column dictionary: every column of every table, once.

Name, type, unit, meaning, missing value, SWF position and bounds of each column, and when it is known of a job, live in
the files of this folder and nowhere else. The pyarrow schemas, the files in ``schemas/``, the data dictionary of the
documentation (all by ``generate.py``), the checks on write and read, and what predictors are told are made from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import pyarrow as pa

from swftools.errors import SchemaError
from swftools.fields.accounting import NAMES
from swftools.fields.augmentations import AUGMENTATION_COLUMNS, CHECKPOINT_SUMMARY, CHECKPOINT_SURVEY
from swftools.fields.cleaning import CLEANING_REPORT, MERGED, QUARANTINE, REPAIRS
from swftools.fields.definition import BOOL, FLOAT64, INT64, INTEGERS, STRING, TIMESTAMP, UTILITY, Field, Known
from swftools.fields.experiments import EXPERIMENT, EXPERIMENT_DIFFERENCES, EXPERIMENT_RANKS
from swftools.fields.history import INGESTED, RECORDS, REJECTED, WAIT_COVERAGE, WAITING_FILES
from swftools.fields.jobs import JOB_NUMBER, JOB_OCCURRENCE, JOBS, SWF_NAMES
from swftools.fields.market import PRICES
from swftools.fields.predictions import WAIT_EVALUATION, WAIT_PREDICTIONS
from swftools.fields.reevaluation import POLICY_WATCH, WORKLOAD_DRIFT
from swftools.fields.reproduction import MEASUREMENTS, REPRODUCTION
from swftools.fields.reservations import RESERVATIONS
from swftools.fields.schedules import EXCLUSION_REASON, METRICS, SCHEDULE_COLUMNS, SEED, SEGMENT_COLUMNS
from swftools.fields.search import SEARCH_DECISIONS, SEARCH_IMPROVEMENTS, SEARCH_ORDERS

COMMON_VERSION = 13
"""The schema version of every table that is not in ``RAISED_VERSIONS``: what all had when each got its own."""

RAISED_VERSIONS: dict[str, int] = dict.fromkeys(AUGMENTATION_COLUMNS, COMMON_VERSION + 1)
"""The schema version of each table that has changed since. Whoever adds, removes, renames or retypes a column of a
table, or gives it another meaning, raises that table's version here, by one."""


_SIMULATED_NAMES = {field.name for field in SCHEDULE_COLUMNS}
SCHEDULE = (
    *(JOB_NUMBER, JOB_OCCURRENCE, *SCHEDULE_COLUMNS),
    *(field for field in JOBS if field.name not in _SIMULATED_NAMES | {"job_number", "job_occurrence"}),
)

TABLES: dict[str, tuple[Field, ...]] = {
    "jobs": JOBS,
    "quarantine": QUARANTINE,
    "merged": MERGED,
    "names": NAMES,
    "repairs": REPAIRS,
    "cleaning_report": CLEANING_REPORT,
    **{name: (JOB_NUMBER, JOB_OCCURRENCE, *columns) for name, columns in AUGMENTATION_COLUMNS.items()},
    "checkpoint_survey": CHECKPOINT_SURVEY,
    "checkpoint_summary": CHECKPOINT_SUMMARY,
    "schedule": SCHEDULE,
    "segments": (JOB_NUMBER, JOB_OCCURRENCE, *SEGMENT_COLUMNS),
    "excluded": (JOB_NUMBER, JOB_OCCURRENCE, EXCLUSION_REASON),
    "search_decisions": SEARCH_DECISIONS,
    "search_improvements": SEARCH_IMPROVEMENTS,
    "search_orders": SEARCH_ORDERS,
    "metrics": METRICS,
    "comparison": (SEED, *METRICS),
    "experiment": EXPERIMENT,
    "experiment_differences": EXPERIMENT_DIFFERENCES,
    "experiment_ranks": EXPERIMENT_RANKS,
    "prices": (JOB_NUMBER, JOB_OCCURRENCE, *PRICES),
    "reservations": (JOB_NUMBER, JOB_OCCURRENCE, *RESERVATIONS),
    "wait_predictions": (JOB_NUMBER, JOB_OCCURRENCE, *WAIT_PREDICTIONS),
    "wait_evaluation": WAIT_EVALUATION,
    "reproduction": REPRODUCTION,
    "measurements": MEASUREMENTS,
    "records": RECORDS,
    "provisional": RECORDS,
    "ingested": INGESTED,
    "waiting": WAITING_FILES,
    "rejected": REJECTED,
    "wait_coverage": WAIT_COVERAGE,
    "workload_drift": WORKLOAD_DRIFT,
    "policy_watch": POLICY_WATCH,
}

TABLE_MEANINGS = {
    "jobs": "One row a job: what the log says of it, what cleaning found, what was added.",
    "quarantine": "One row a line that is no job, or a job that a cleaning rule removed.",
    "merged": "One row a line that became part of another job.",
    "names": "One row a user, group, executable, queue or partition of an accounting log: the name behind its number.",
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
    "segments": "One row a run of a job: jobs that were stopped or resized have several.",
    "excluded": "One row a job of the trace that could not be simulated.",
    "search_decisions": "One row a decision of a search: what was tried, what was found, what was started.",
    "search_improvements": "One row a better order that a decision of a search found, and the heuristic's before them.",
    "search_orders": "One row a decision of a search and waiting job: its places in both orders, and its starts.",
    "metrics": "One row a policy, class of jobs, measure and statistic.",
    "comparison": "One row a policy, seed, class of jobs, measure and statistic.",
    "experiment": "One row a cell of an experiment (log, options, policy, seed, shake), class of jobs and measure.",
    "experiment_differences": "One row a log, options, measure and policy: its difference from the baseline.",
    "experiment_ranks": "One row options, measure and policy: its mean rank over the logs.",
    "prices": "One row a job of a schedule that was priced: what its user owes by a mechanism, and what the job got.",
    "reservations": "One row a job that asked for a reservation in a simulation: what it was told, what came of it.",
    "wait_predictions": "One row a method and job: what the job was told, at its submission, of how long it will wait.",
    "wait_evaluation": "One row a method and group of jobs: how often the bounds were right, and how tight they were.",
    "reproduction": "One row a cell of a paper's table and a reading of it: the published value beside ours.",
    "measurements": "One row a measure of an experiment of a paper.",
    "records": "One row a job of a history, as the files say of it; the table jobs is made of it.",
    "provisional": "One row a record that counts until its file goes on, such as the last; and one that it hides.",
    "ingested": "One row a file that was taken into the history, and what came of its records.",
    "waiting": "One row a file of the inbox that is not, or not wholly, in the history.",
    "rejected": "One row a line of a file of the history that is no record of a job.",
    "wait_coverage": "One row a period, method and queue: how often the bounds of waits were right, and how tight.",
    "workload_drift": "One row an aspect of the workload and a statistic: the last weeks beside the year before them.",
    "policy_watch": "One row a policy, measure and statistic, over runs of the last weeks of a log, shaken and not.",
}

_GENERATED = frozenset(column.name for column in JOBS if column.is_generated)

KNOWN_OF_JOBS: dict[str, Known] = {field.name: field.known for field in JOBS}
"""When each column of jobs is known. Of a column that is not here only who made it can say."""

SORTED_BY = {
    "jobs": "submit_time",
    "records": "submit_time",
    "provisional": "submit_time",
    "schedule": "submit_time",
    "segments": "start_time",
    "merged": "line_number",
    "cleaning_report": "step",
    "search_decisions": "time",
    "search_improvements": "decision",
    "search_orders": "decision",
}
"""The column by which the rows of a table usually rise; a file says so where they do."""

_JOB = ("job_number", "job_occurrence")
PRIMARY_KEYS: dict[str, tuple[str, ...]] = {
    "jobs": _JOB,
    "names": ("kind", "number"),
    **dict.fromkeys(AUGMENTATION_COLUMNS, _JOB),
    "checkpoint_survey": ("answer_number",),
    "schedule": _JOB,
    "excluded": _JOB,
    "search_decisions": ("decision",),
    "prices": _JOB,
    "reservations": _JOB,
    "wait_predictions": ("method", *_JOB),
    "ingested": ("file_number",),
}
"""The columns that together tell the rows of a table apart, where some do; only a job's number may be null."""


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
        return ["job_number", "job_occurrence", *(field.name for field in SCHEDULE_COLUMNS if not field.optional)]
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

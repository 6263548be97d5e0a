"""The cleaned trace with the columns of augmentations."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

import pipelines.tasks.augmentations  # noqa: F401 (defines them)
from pipelines.tasks.augmentations.registry import Augmentation
from pipelines.tasks.clean import CleanTrace, RulesTask
from pipelines.tasks.parameters import AUGMENTATIONS
from swftools.errors import SchemaError
from swftools.fields.dictionary import arrow_schema
from swftools.tables import read_table, to_pandas
from swftools.trace import Trace


def augmentations_of(task: RulesTask, names: str) -> list[Augmentation]:
    """Return the tasks of augmentations, with the parameters of another task."""
    return [task.clone(AUGMENTATIONS[name]) for name in names.split(",") if name]


def augmented(cleaned: CleanTrace, augmentations: Iterable[Augmentation]) -> Trace:
    """Return a cleaned trace with the columns of augmentations."""
    trace = cleaned.load()
    jobs = read_table(cleaned.output().path / "jobs.parquet", "jobs")
    for task in augmentations:
        jobs = with_columns(jobs, read_table(task.table_path(task.name), task.name), task.name)
    return trace.with_jobs(to_pandas(jobs, "jobs"))


def with_columns(jobs: pa.Table, columns: pa.Table, name: str) -> pa.Table:
    """Return the jobs with the columns of an augmentation.

    Raises
    ------
    SchemaError
        They are not of the very same jobs.
    """
    keys = ["job_number", "job_occurrence"]
    if not jobs.select(keys).equals(columns.select(keys)):
        raise SchemaError(f"augmentation {name!r} belongs to other jobs; remove its directory and run again")
    joined = {column: jobs[column] for column in jobs.column_names} | {
        column: columns[column] for column in columns.column_names if column not in keys
    }
    schema = arrow_schema("jobs", joined)
    return pa.Table.from_arrays([joined[field.name] for field in schema], schema=schema)

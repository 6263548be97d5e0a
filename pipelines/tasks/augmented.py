"""The cleaned trace with the columns of augmentations; and the parameter by which they are chosen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import luigi
import pyarrow as pa

import pipelines.tasks.augmentations  # noqa: F401 (defines them)
from pipelines.tasks.augmentations.registry import AUGMENTATIONS, Augmentation, find_augmentation
from pipelines.tasks.clean import CleanTrace, RulesTask
from swftools.errors import SchemaError
from swftools.fields.dictionary import arrow_schema
from swftools.tables import read_table, to_pandas
from swftools.trace import Trace

NONE = "none"
"""The word for no augmentation."""


class AugmentParameter(luigi.Parameter):
    """Names of augmentations, separated by commas; empty, or ``none``, for none."""

    def normalize(self, value: Any) -> str:
        """Return the names in the registry's order, each once.

        Raises
        ------
        ParameterError
            A name is unknown.
        """
        names = value.split(",") if isinstance(value, str) else list(value)
        wanted = {name.strip() for name in names if name.strip()}
        if wanted == {NONE}:
            return ""
        for name in wanted:
            find_augmentation(name)
        return ",".join(name for name in AUGMENTATIONS if name in wanted)

    @classmethod
    def _parser_kwargs(cls, param_name: str, task_name: str | None = None) -> dict[str, Any]:
        """Return how a command line is read: luigi takes an empty word for none given, so it becomes ``none``."""
        kwargs: dict[str, Any] = super()._parser_kwargs(param_name, task_name)
        return {**kwargs, "type": lambda word: word.strip() or NONE}


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
        raise SchemaError(f"augmentation {name!r} is not of these jobs; remove its directory and run again")
    joined = {column: jobs[column] for column in jobs.column_names} | {
        column: columns[column] for column in columns.column_names if column not in keys
    }
    schema = arrow_schema("jobs", joined)
    return pa.Table.from_arrays([joined[field.name] for field in schema], schema=schema)

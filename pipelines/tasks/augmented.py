# SPDX-License-Identifier: BSD-3-Clause
"""The cleaned trace with the columns of augmentations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa

import pipelines.tasks.augmentations  # noqa: F401 (defines them)
from pipelines.tasks.augmentations.registry import KEYS, Augmentation
from pipelines.tasks.clean import CleanTrace, RulesTask
from pipelines.tasks.parameters import AUGMENTATIONS
from swftools.errors import SchemaError
from swftools.fields.dictionary import arrow_schema, table_fields
from swftools.kernel.memory import give_back_memory
from swftools.tables import LONG, read_frame
from swftools.trace import Trace

if TYPE_CHECKING:
    from swftools.simulator.schedule import Schedule

_kept: dict[tuple[Path, ...], Trace] = {}
"""The last trace that was read, by the content-addressed paths that it was read from, where it is to be kept."""

_kept_schedule: dict[Path, Schedule] = {}
"""The long schedule that was simulated last, by the path where it is, for who measures it next."""

_keeping: list[bool] = []


@contextmanager
def keep_trace() -> Iterator[None]:
    """Keep the last trace that is read within a with block, and from one such block to the next.

    For workers, which run many cells of one log: it takes the memory of a trace.
    """
    _keeping.append(True)
    try:
        yield
    finally:
        _keeping.pop()


def forget_trace() -> None:
    """Let the trace go that was kept."""
    _kept.clear()
    _kept_schedule.clear()


def hand_on(schedule: Schedule, path: Path) -> None:
    """Keep a long schedule, where traces are kept, until it is taken: it shares most of its memory with the trace.

    Read again it would be in memory once more, beside the trace.
    """
    _kept_schedule.clear()
    if _keeping and len(schedule) > LONG:
        _kept_schedule[path] = schedule
        give_back_memory()


def taken_on(path: Path) -> Schedule | None:
    """Return the schedule that was handed on, and forget it; None if it was not."""
    return _kept_schedule.pop(path, None)


def augmentations_of(task: RulesTask, names: str) -> list[Augmentation]:
    """Return the tasks of augmentations, with the parameters of another task."""
    return [task.clone(AUGMENTATIONS[name]) for name in names.split(",") if name]


def augmented(cleaned: CleanTrace, augmentations: Iterable[Augmentation]) -> Trace:
    """Return a cleaned trace with the columns of augmentations."""
    augmentations = list(augmentations)
    _kept_schedule.clear()
    key = (cleaned.output().path, *(task.table_path(task.name) for task in augmentations))
    if not _keeping:
        return _read(cleaned, augmentations)
    if key not in _kept:
        _kept.clear()
        _kept[key] = _read(cleaned, augmentations)
    return _kept[key]


def _read(cleaned: CleanTrace, augmentations: Iterable[Augmentation]) -> Trace:
    """Read a trace and the columns of augmentations."""
    trace = cleaned.load()
    columns = {name: trace.jobs[name] for name in trace.jobs}
    for task in augmentations:
        added = read_frame(task.table_path(task.name), task.name)
        if not all(added[key].equals(trace.jobs[key]) for key in KEYS):
            raise SchemaError(_not_of_these(task.name))
        columns |= {name: added[name] for name in added if name not in KEYS}
    ordered = {name: columns[name].array for name in table_fields("jobs") if name in columns}
    return trace.with_jobs(pd.DataFrame(ordered, copy=False))


def with_columns(jobs: pa.Table, columns: pa.Table, name: str) -> pa.Table:
    """Return the jobs with the columns of an augmentation.

    Raises
    ------
    SchemaError
        They are not of the very same jobs.
    """
    if not jobs.select(list(KEYS)).equals(columns.select(list(KEYS))):
        raise SchemaError(_not_of_these(name))
    joined = {column: jobs[column] for column in jobs.column_names} | {
        column: columns[column] for column in columns.column_names if column not in KEYS
    }
    schema = arrow_schema("jobs", joined)
    return pa.Table.from_arrays([joined[field.name] for field in schema], schema=schema)


def _not_of_these(name: str) -> str:
    """Return the message about columns that are of other jobs."""
    return f"augmentation {name!r} belongs to other jobs; remove its directory and run again"

# SPDX-License-Identifier: BSD-3-Clause
"""What an augmentation is: a task that computes columns for the jobs of a cleaned trace; and the registry of them.

A new one is a file beside this with a subclass of ``Augmentation``: a name, a table of that name in
``swftools/fields``, whose columns are also of ``jobs``, and a parameter class; imported by the package, it is an option
of BuildAugmentedTrace.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import luigi
import pandas as pd
import pyarrow.parquet as pq

from pipelines.keys import content_key, schema_of
from pipelines.tasks.clean import CleanTrace, RulesTask
from pipelines.tasks.one_look import once_a_look
from pipelines.tasks.parameters import AUGMENTATIONS, ParametersParameter
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import ParameterError
from swftools.fields.dictionary import COMMON_VERSION, arrow_schema
from swftools.formats.trace_directory import iter_trace
from swftools.kernel.memory import give_back_memory
from swftools.parameters import Parameters
from swftools.tables import QUICK_OPTIONS, RowGroups, to_arrow, write_frame
from swftools.trace import Trace

KEYS = ("job_number", "job_occurrence")
"""Columns that tell which job a row of an augmentation is of."""

PIECE = int(QUICK_OPTIONS["row_group_size"])
"""Jobs that are computed at once, of a long log."""


class Augmentation(RulesTask):
    """Base of augmentations: columns for the jobs of a cleaned trace.

    Reads the cleaned trace; writes ``<work root>/<name>/<key>/<name>.parquet``, and beside it the other tables
    that it publishes; complete when that exists.
    """

    name: ClassVar[str]
    code_version: ClassVar[int]
    parameters_class: ClassVar[type[Parameters]]
    other_tables: ClassVar[tuple[str, ...]] = ()
    """Tables that are published beside jobs."""
    stable_under_growth: ClassVar[bool] = False
    """Whether a job has the same values when further jobs come; what its columns say in the column dictionary too.

    A history has those that are, and others by ``fit`` and ``compute_fixed``, unless ``why_not_fixed`` says why not."""

    seed = luigi.IntParameter(default=0, description="seed of every random draw")
    parameters = ParametersParameter(default="{}", description="parameters by augmentation: JSON, or a file's path")

    def check_values(self) -> None:
        """Raise ParameterError if a parameter is outside its domain, for this log too."""
        super().check_values()
        _ = self.chosen

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        other = AUGMENTATIONS.setdefault(cls.name, cls)
        if other.__module__ != cls.__module__:
            raise ParameterError(f"augmentation {cls.name!r} of {cls.__module__} is one of {other.__module__} already")

    def requires(self) -> CleanTrace:
        """Require the cleaned trace."""
        task: CleanTrace = self.clone(CleanTrace)
        return task

    def output(self) -> DirectoryTarget:
        """Return the directory of the columns."""
        return self.directory(self.name, self.key)

    def table_path(self, table: str) -> Path:
        """Return the path of one of the tables that the augmentation makes."""
        return self.output().path / f"{table}.parquet"

    @property
    def given(self) -> dict[str, Any]:
        """The parameters given, with the seed."""
        return {"seed": self.seed, **json.loads(self.parameters).get(self.name, {})}

    @property
    def chosen(self) -> Any:
        """Every parameter, as an object of ``parameters_class``."""
        return self.parameters_class.from_mapping(self.given)

    @property
    def own_parameters(self) -> dict[str, Any]:
        """Every parameter with its value, as the key and the manifest record it."""
        values: dict[str, Any] = self.chosen.to_mapping()
        return values

    @property
    @once_a_look
    def key(self) -> str:
        """Content key of the output."""
        inputs = {"trace": self.requires().key, "parameters": self.own_parameters, **self.raised()}
        return content_key(self.name, self.code_version, inputs)

    @classmethod
    def raised(cls) -> dict[str, Any]:
        """Return what keys say of the schema of its tables: nothing as long as it has that of all tables."""
        schema = schema_of([cls.name, *cls.other_tables])
        return {} if schema == COMMON_VERSION else {"schema_version": schema}

    @classmethod
    def check(cls, parameters: Mapping[str, Any]) -> None:
        """Raise ParameterError if a parameter is unknown or outside its domain."""
        cls.parameters_class.from_mapping(parameters)

    def compute(self, trace: Trace) -> pd.DataFrame | tuple[pd.DataFrame, ...]:
        """Return the columns, one row for each job of the trace, without the key; behind them the other tables."""
        raise NotImplementedError

    def why_not_fixed(self) -> str:
        """Return why no parameters can be fixed by which each job has its own values; nothing where they can be."""
        return "it is fitted to all jobs of a log"

    def fit(self, trace: Trace) -> dict[str, Any]:
        """Return what is fitted to the jobs of a trace, as JSON holds it, for ``compute_fixed``."""
        raise NotImplementedError

    def compute_fixed(self, trace: Trace, fitted: Mapping[str, Any]) -> pd.DataFrame:
        """Return the columns from what was fitted before; each job's follow from that and the job alone."""
        raise NotImplementedError

    def files(
        self,
        data_set: str,  # noqa: ARG002 (for augmentations that have files)
    ) -> Iterable[tuple[str, Callable[[Path], None]]]:
        """Yield names of files to publish beside the tables, with a function that writes each to a path.

        The functions load what they need when they are called, so that not all of it is in memory at once.
        """
        return ()

    def run(self) -> None:
        """Compute the columns; of a long log, where each job's follow from that job alone, part by part."""
        cleaned = self.requires().output().path
        if self.stable_under_growth and not self.other_tables and rows_of(cleaned / "jobs.parquet") > PIECE:
            self._run_in_parts(cleaned)
            return
        trace = self.requires().load()
        computed = self.compute(trace)
        columns, *others = computed if isinstance(computed, tuple) else (computed,)
        keys = trace.jobs[list(KEYS)]
        frames = {self.name: pd.concat([keys, columns], axis=1), **dict(zip(self.other_tables, others, strict=True))}
        del trace, computed
        with self.output().fill() as directory:
            for table, frame in frames.items():
                write_frame(frame, directory / f"{table}.parquet", table, QUICK_OPTIONS)

    def _run_in_parts(self, cleaned: Path) -> None:
        """Compute and write the columns of as many jobs at a time as a row group has."""
        rows, done = rows_of(cleaned / "jobs.parquet"), 0
        with self.output().fill() as directory, ExitStack() as stack:
            file: RowGroups | None = None
            for trace in iter_trace(cleaned):
                columns: Any = self.compute(trace)
                frame = pd.concat([trace.jobs[list(KEYS)], columns], axis=1)
                done += len(trace)
                del trace, columns
                if file is None:
                    path, schema = directory / f"{self.name}.parquet", arrow_schema(self.name, frame.columns)
                    made = RowGroups(path, self.name, schema, is_sorted=False, options=QUICK_OPTIONS)
                    file = stack.enter_context(made)
                file.write(to_arrow(frame, self.name))
                del frame  # before the next part is read
                give_back_memory()
                self.tell(done, rows)


def rows_of(path: Path) -> int:
    """Return how many rows a Parquet file has."""
    return int(pq.read_metadata(path).num_rows)

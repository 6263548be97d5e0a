# SPDX-License-Identifier: BSD-3-Clause
"""The jobs of a simulation as a table: those of its trace, and those that were submitted since it began."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.keyed_random import count_occurrences
from swftools.trace import Trace

_OTHERS = frozenset({"priority_rank", "checkpoint_interval", "speedup_curve", "utility"})


class JobTable:
    """Jobs by row; a copy costs nothing, and goes on by itself.

    Parameters
    ----------
    trace : Trace
        The first ones.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._later: list[Mapping[str, Any]] = []  # copies have the same list, as long as they have the same jobs
        self._count = 0
        self._next_number: int | None = None

    def __len__(self) -> int:
        return len(self._trace) + self._count

    def copy(self) -> JobTable:
        """Return another one of the same jobs."""
        other = object.__new__(JobTable)
        other.__dict__.update(self.__dict__)
        return other

    def add(self, job: Mapping[str, Any]) -> int:
        """Add a job, by its columns; return its row."""
        if len(self._later) != self._count:
            self._later = self._later[: self._count]
        self._later.append(job)
        self._count += 1
        self._next_number = max(self.next_number, job["job_number"] + 1)
        return len(self) - 1

    @cached_property
    def columns(self) -> frozenset[str]:
        """What is known of jobs."""
        return frozenset(map(str, self._trace.jobs))

    @property
    def is_plain(self) -> bool:
        """Whether its jobs have none of the columns that a simulation reads beside those of SWF."""
        return not _OTHERS & self.columns

    @property
    def next_number(self) -> int:
        """A number that no job has: above all of them."""
        if self._next_number is None:
            numbers = self.trace().jobs["job_number"].dropna()
            self._next_number = int(numbers.max()) + 1 if len(numbers) else 1
        return self._next_number

    def number(self, row: int) -> object:
        """Return the number of the job of a row."""
        first = len(self._trace)
        if row < first:
            return self._trace.jobs["job_number"].iloc[row]
        return self._later[row - first]["job_number"]

    def trace(self) -> Trace:
        """Return all of them."""
        if self._count:
            jobs = self._trace.jobs
            later = self._frame(self._later[: self._count])
            whole = pd.concat([jobs, later], ignore_index=True) if len(jobs) else later
            self._trace, self._later, self._count = self._trace.with_jobs(whole), [], 0
        return self._trace

    def keys(self, rows: npt.NDArray[np.int32]) -> pd.DataFrame:
        """Return the keys of the jobs of rows."""
        jobs = self.trace().jobs
        keys: pd.DataFrame = jobs[[name for name in ("job_number", "job_occurrence") if name in jobs]].iloc[rows]
        return keys.reset_index(drop=True)

    def with_keys(self, table: pd.DataFrame, rows: npt.NDArray[np.int32]) -> pd.DataFrame:
        """Return a table with the keys of jobs in place of a column ``job``, where it has one.

        Parameters
        ----------
        table : pandas.DataFrame
            Its ``job`` is a number in the simulation.
        rows : numpy.ndarray of int32, shape (jobs simulated,)
            The row of each here.
        """
        if "job" not in table:
            return table
        at, row, jobs = list(table.columns).index("job"), rows[table["job"].to_numpy()], self.trace().jobs
        keys = jobs[["job_number"]].assign(job_occurrence=count_occurrences(jobs)).iloc[row]
        return pd.concat([table.iloc[:, :at], keys.reset_index(drop=True), table.iloc[:, at + 1 :]], axis="columns")

    def of_one(self, job: Mapping[str, Any]) -> Trace:
        """Return a trace of one job, which is none of them, as it would be one of them."""
        return self._trace.with_jobs(self._frame([job]))

    def widen(self, columns: Mapping[str, str]) -> None:
        """Let jobs have further columns, of which nothing is known; these are given with their types."""
        trace = self.trace()
        jobs = trace.jobs
        new = {name: pd.Series([None] * len(jobs), dtype=kind).array for name, kind in columns.items()}
        self._trace = trace.with_jobs(jobs.assign(**new))
        self.__dict__.pop("columns", None)

    def _frame(self, jobs: list[Mapping[str, Any]]) -> pd.DataFrame:
        """Return jobs as a table with the columns of all, missing where they are not said."""
        known = self._trace.jobs
        series = {
            name: pd.Series([job.get(str(name)) for job in jobs]).astype(kind) for name, kind in known.dtypes.items()
        }
        return pd.DataFrame(series, columns=known.columns)

# SPDX-License-Identifier: BSD-3-Clause
"""Schedule: what a simulation returns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from swftools.machines.node_table import NodeTable
from swftools.named import Known
from swftools.output.amounts import counted, duration, percent
from swftools.output.jobs_table import HasJobs
from swftools.output.package import swftools_package
from swftools.output.plotter import Plotter
from swftools.output.shown_html import ROWS, ShowsItself, chief_columns, shortened

if TYPE_CHECKING:
    from swftools.simulator.measures_table import Measures

ENDS = ("killed", "checkpointed", "suspended", "resized", "completed", "limit", "outage")
"""How a run may end, in words: by the first four, and by an outage of a node of it, the job is not done."""

WAITS_ON_PROCESSORS = "waits_on_processors"
"""The option of a schedule in which jobs that start early wait on their processors, until they are to run: what a run
takes depends on when it starts, so one that was stopped may have been longer than the last one."""

CHIEF = (
    *("job_number", "submit_time", "start_time", "end_time", "wait_time", "run_time", "allocated_processors"),
    *("requested_time", "is_backfilled", "preemptions"),
)
"""Columns of jobs that a notebook shows."""


@dataclass(frozen=True, eq=False, repr=False)
class Schedule(HasJobs, ShowsItself):
    """When each job of a trace started and ended under a policy; prints as three lines.

    ``head()``, ``schedule["wait_time"]``, ``columns``, ``to_pandas()``, ``to_csv()`` and ``to_parquet()`` are those of
    its jobs.

    Parameters
    ----------
    jobs : pandas.DataFrame
        One row for each job, in the order of the trace: table ``schedule`` of the column dictionary, with the results
        of the simulation and the trace's other columns.
    segments : pandas.DataFrame
        One row for each run, by start: table ``segments``. A job that was stopped or resized has several runs.
    excluded : pandas.DataFrame
        Jobs of the trace that could not be simulated, with the reason: table ``excluded``.
    processors : int
        Size of the machine.
    policy : str
        Name of the policy.
    options : mapping
        Every option and parameter of the run.
    holds : int
        How often a job was held back. The queue is then no longer in order of submission, on which the promises of
        policies rest.
    is_partial : bool
        Whether the simulation was not over, or jobs were taken out of it; jobs that had not ended are excluded.
    notes : mapping of str to pandas.DataFrame
        Tables of what the policy recorded of its decisions, such as ``search`` with ``explain``.
    assumptions : tuple of str
        What the run assumed where the log says nothing, and what its policy was told, in words. Empty for a schedule of
        another simulator.
    origin : datetime, optional
        The moment of second 0, by the clock of the log's own zone, where the header of the log tells it.
    known_names : mapping
        The names behind numbers of users, queues and others, as ``Trace.known_names`` has them.
    machine : NodeTable, optional
        The nodes of the machine, whose numbers ``segments["nodes"]`` has; ``processors`` are then the cores of all.
        None where the machine is a pool of processors.
    """

    jobs: pd.DataFrame
    segments: pd.DataFrame
    excluded: pd.DataFrame
    processors: int
    policy: str
    options: Mapping[str, Any] = field(default_factory=dict)
    holds: int = 0
    is_partial: bool = False
    notes: Mapping[str, pd.DataFrame] = field(default_factory=dict)
    assumptions: tuple[str, ...] = ()
    origin: datetime | None = None
    known_names: Known = field(default_factory=dict)
    machine: NodeTable | None = None

    def __len__(self) -> int:
        return len(self.jobs)

    @property
    def plot(self) -> Plotter:
        """Draws pictures of it: ``schedule.plot()``, ``schedule.plot("gantt")``; ``plot.names()`` lists them."""
        return Plotter(self, "overview")

    def head(self, n: int = 5) -> pd.DataFrame:
        """Return the first rows of ``jobs``; on a machine of nodes with the partition and the nodes of each."""
        return self.with_nodes(slice(n))

    def to_csv(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str | None:
        """Write ``jobs`` as CSV, without the numbers of rows; without a path return the text.

        On a machine of nodes there are two more columns, of the last run of each job: ``partition``, and ``nodes`` as
        a hostlist.

        Parameters
        ----------
        path : str or path, optional
            File to make or replace.
        **options
            As ``pandas.DataFrame.to_csv`` takes them.
        """
        text: str | None = self.with_nodes().to_csv(path, **{"index": False, **options})
        return text

    def to_parquet(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write ``jobs`` as Parquet, as ``pandas.DataFrame.to_parquet`` does.

        On a machine of nodes there are two more columns, as ``to_csv`` has them. ``segments`` has all runs.

        Parameters
        ----------
        path : str or path
            File to make or replace.
        **options
            As ``pandas.DataFrame.to_parquet`` takes them.
        """
        self.with_nodes().to_parquet(path, **{"index": False, **options})

    def with_nodes(self, rows: slice = slice(None)) -> pd.DataFrame:
        """Return ``jobs``, on a machine of nodes with ``partition`` and ``nodes``, a hostlist, of the last run of each.

        A job that did not run has neither. A column of that name that jobs have stays theirs.

        Parameters
        ----------
        rows : slice, optional
            Which jobs; default: all.
        """
        jobs, runs = self.jobs.iloc[rows], self.segments
        if self.machine is None or "nodes" not in runs:
            return jobs
        from swftools.machines.node_ranges import hostlists_of  # noqa: PLC0415 (where there are nodes only)

        keys = ["job_number", "job_occurrence"]
        runs = runs[[*keys, "partition", "nodes"]].drop_duplicates(keys, keep="last")
        if len(jobs) < len(self.jobs):
            runs = runs.merge(jobs[keys], on=keys)  # which pairs missing numbers too, by their occurrences
        runs = runs.assign(nodes=pd.array(hostlists_of(runs["nodes"], self.machine.names), dtype="str"))
        of_jobs = jobs[keys].merge(runs, "left", on=keys).set_axis(jobs.index)
        own = [name for name in ("partition", "nodes") if name not in jobs]
        return pd.concat([jobs, of_jobs[own]], axis=1)

    def measure(self, *arguments: Any, **options: Any) -> Measures:
        """Return its metrics; ``schedule.measure().summary()`` shows the most important. See ``swftools.measure``."""
        measures: Measures = swftools_package().measure(self, *arguments, **options)
        return measures

    def _lines(self) -> list[str]:
        jobs = self.jobs
        policy = shortened(self.policy) or "another simulator"
        first = f"Schedule: {policy}, {counted(len(jobs), 'job')} on {self._machine_in_words()}"
        second = ["is partial"] if self.is_partial else []
        if len(jobs):
            first += f", {duration(float(jobs['end_time'].max() - jobs['submit_time'].min()))}"
            second.append(f"mean wait {duration(float(jobs['wait_time'].mean()))}")
        if len(jobs) and "is_backfilled" in jobs:
            second.append(f"backfilled {percent(int(jobs['is_backfilled'].sum()), len(jobs))}")
        second.append(counted(len(self.segments), "run"))
        told: list[str] = []
        if "reason" in self.excluded:
            told = [f"{reason} {number:,}" for reason, number in self.excluded["reason"].value_counts().items()]
        return [first, ", ".join(second), f"excluded: {', '.join(told) or counted(len(self.excluded), 'job')}"]

    def _machine_in_words(self) -> str:
        if self.machine is None:
            return counted(self.processors, "processor")
        return f"{counted(len(self.machine), 'node')} ({counted(self.processors, 'core')})"

    def _rows(self) -> tuple[pd.DataFrame, int]:
        told = (*CHIEF, "partition", "nodes") if self.machine is not None else CHIEF
        return chief_columns(self.head(ROWS), told), len(self)


def ends_of(segments: pd.DataFrame) -> npt.NDArray[np.int8]:
    """Return how runs ended, as places in ``ENDS``; -1 where ``ended_by`` is none of these."""
    words = pa.array(segments["ended_by"].astype("str").array)
    places = pc.index_in(words, value_set=pa.array(ENDS, type=words.type))
    return np.asarray(pc.fill_null(places.cast(pa.int8()), -1).to_numpy(zero_copy_only=False))


def contiguous(frame: pd.DataFrame, name: str) -> npt.NDArray[np.float64]:
    """Return a column as kernels take it, which shares the memory of the frame if it can; nobody may write to it."""
    values = frame[name]
    seen = (
        np.asarray(values.array) if values.dtype == np.float64 else values.to_numpy(dtype=np.float64, na_value=np.nan)
    )
    return np.require(seen, np.float64, ["C", "W"])


def rows_by_number(number: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where the numbers wanted may be among numbers that increase; any place for those that are not there.

    Numbers that leave few gaps, as in most logs, are looked up in a table of all that there could be.
    """
    first, last = int(number[0]), int(number[-1])
    if last - first >= 2 * len(number):
        return np.minimum(np.searchsorted(number, wanted), len(number) - 1)
    if last - first + 1 == len(number):
        return np.clip(wanted, first, last) - first
    place = np.zeros(last - first + 1, np.int64)
    place[number - first] = np.arange(len(number))
    return place[np.clip(wanted, first, last) - first]

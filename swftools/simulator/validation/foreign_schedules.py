# SPDX-License-Identifier: BSD-3-Clause
"""Schedules from elsewhere: a table of starts, and the trace that it is of, as a Schedule.

So the result of any simulator, or a published table, is checked and measured like one of ours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.parquet as pq

from swftools.errors import ParameterError, UnreadableLogError
from swftools.header import local_start_of
from swftools.keyed_random import count_occurrences
from swftools.machines.asked import Asked
from swftools.machines.node_table import NodeTable
from swftools.parameters.choices import OVERRUN
from swftools.parameters.small_files import require_small
from swftools.simulator.option_checks import check_choice, reasons_to_exclude
from swftools.simulator.requested_times import find_requests
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.batsim import is_of_batsim, starts_of_batsim
from swftools.simulator.validation.foreign_nodes import ask_of_trace, put_on_nodes, read_nodes
from swftools.simulator.validation.widths import CURVE_COLUMNS, stretch_on
from swftools.trace import Trace

FloatArray = npt.NDArray[np.float64]

NAMES = {
    "job_number": ("job_number", "job_id"),
    "job_occurrence": ("job_occurrence",),
    "submit_time": ("submit_time", "submit", "submission_time"),
    "start_time": ("start_time", "start"),
    "end_time": ("end_time", "end"),
    "wait_time": ("wait_time", "wait", "waiting_time"),
    "response_time": ("response_time", "turnaround_time"),
    "run_time": ("run_time",),
    "allocated_processors": ("allocated_processors", "processors", "width"),
    "requested_processors": ("requested_processors",),
    "requested_time": ("requested_time",),
    "estimated_time": ("estimated_time",),
}
"""The columns that are read of a table, each by the first of its names that is there."""


def read_schedule(path: str | Path) -> pd.DataFrame:
    """Read a table of starts.

    Parameters
    ----------
    path : str or Path
        Parquet where the name ends in ``.parquet``, else CSV with a line of headings, compressed or not (.gz, .xz ...).

    Returns
    -------
    pandas.DataFrame
        As it is in the file; of Batsim's ``jobs.csv`` under our names.

    Raises
    ------
    UnreadableLogError
        The file is not there, or not of that kind.
    """
    try:
        require_small(path, 1 << 34)
        # What pandas noted of types is not needed, and pandas cannot read its own notes on lists.
        is_parquet = Path(path).suffix == ".parquet"
        table = pq.read_table(path).to_pandas(ignore_metadata=True) if is_parquet else pd.read_csv(path)
    except (OSError, ValueError, EOFError) as error:
        raise UnreadableLogError(f"{path}: not a schedule as CSV or Parquet: {error}") from error
    return starts_of_batsim(table) if is_of_batsim(table) else table


def schedule_from_table(  # noqa: PLR0913 (options by name)
    table: pd.DataFrame,
    trace: Trace,
    processors: int | None = None,
    *,
    policy: str = "",
    semantics: str | None = None,
    overrun: str = "extend",
    least_run_time: float = 0.0,
    requests: str = "logged",
    machine: NodeTable | None = None,
    asked: Asked | None = None,
) -> Schedule:
    """Return a table of starts as a Schedule.

    Parameters
    ----------
    table : pandas.DataFrame
        One row for each job: ``job_number`` (or job_id) and ``start_time`` (or start), s from the start of the log. If
        there: ``job_occurrence`` (else jobs of one number are taken in the order of their rows), ``end_time`` (or end),
        ``run_time``, ``allocated_processors`` (or processors), ``requested_time`` and ``estimated_time``. And, to be
        checked: ``submit_time``, ``wait_time``, ``response_time`` and ``requested_processors``. On nodes it must have
        ``nodes`` (or allocated_resources, node_list, hosts): numbers from 0, as ``0-3,7``, or names, as ``n[01-04]``;
        and may have ``partition``.
    trace : Trace
        What was simulated: submissions, and what the table does not say.
    processors : int, optional
        Size of the machine; the trace's own by default.
    policy, semantics : str, optional
        What made the schedule, where known.
    overrun : {"extend", "kill", "run-on"}
        Of jobs that ran longer than requested: the request was raised, the run was cut, or both were left.
    least_run_time : float
        Shorter runs of the trace were as long as this, s.
    requests : str
        What jobs asked for, as for ``simulate``: "logged", or changed, as by "factor:factor=2".
    machine : NodeTable, optional
        The nodes of the machine, if jobs have nodes; its processors are the cores of all.
    asked : Asked, optional
        What the jobs of the trace ask of these nodes; by default as ``ask_of`` reads it from the trace.

    Returns
    -------
    Schedule
        Jobs in the order of the trace. A requested time that is missing (or 0) is the run time. Jobs that are not in
        the table are excluded if they cannot be simulated: no submission, width or run time, or wider than the machine;
        on nodes, no submission or run time, or none of the machine's nodes for what they ask for.

    Raises
    ------
    ParameterError
        A column is missing or no numbers, a job is unknown, repeated or has no run time, the machine has no node of a
        name, or an option is none of those.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2], submit_time=[0, 5], run_time=[10, 7],
    ...                            requested_processors=[3, 2])
    >>> table = pd.DataFrame({"job_id": [2, 1], "start": [10, 0]})
    >>> schedule_from_table(table, trace).jobs["end_time"].tolist()
    [10.0, 17.0]
    """
    check_choice("overrun", overrun, OVERRUN)
    size = processors if processors is not None else trace.processors if machine is None else machine.processors
    if size is None:
        raise ParameterError("the number of processors of the machine is unknown; give processors= (--processors)")
    columns = _columns(table)
    rows = _rows(columns, trace)
    order = np.argsort(rows, kind="stable")
    rows, columns = rows[order], columns.iloc[order].reset_index(drop=True)
    arrays = trace.views
    run = np.maximum(arrays.run_time[rows], least_run_time)
    requested = find_requests(requests).request(trace, 0)[rows]
    request = np.where(requested > 0, requested, run)
    run = np.minimum(run, request) if overrun == "kill" else run
    run = columns.get("run_time", pd.Series(run)).to_numpy()
    start = columns["start_time"].to_numpy()
    end = columns.get("end_time", pd.Series(start + run)).to_numpy()
    run = np.where(np.isnan(run), end - start, run)
    if (unknown := np.isnan(end) & ~np.isnan(start)).any():
        number = int(columns["job_number"].to_numpy()[unknown][0])
        raise ParameterError(f"job {number} has no run time in the trace: give end_time, or leave the job out")
    request = np.where(np.isnan(request), run, request)
    request = np.maximum(request, run) if overrun == "extend" else request
    request = columns.get("requested_time", pd.Series(request)).to_numpy()
    width = columns.get("allocated_processors", pd.Series(arrays.width[rows])).to_numpy(dtype=np.float64)
    occurrence = count_occurrences(trace.jobs)
    submit = _where_said(columns, "submit_time", arrays.submit_time[rows])
    own = {"wait_time": start - submit}
    if "response_time" in columns:
        own["response_time"] = end - submit
    if "requested_processors" in columns:
        own["requested_processors"] = np.full(len(rows), np.nan)
    jobs = pd.DataFrame(
        {
            "job_number": trace.jobs["job_number"].array[rows],
            "job_occurrence": occurrence[rows],
            "submit_time": submit,
            "start_time": start,
            "end_time": end,
            **{name: _where_said(columns, name, values) for name, values in own.items()},
            "run_time": run,
            "allocated_processors": width,
            "requested_time": request,
            "estimated_time": columns.get("estimated_time", pd.Series(request)).to_numpy(),
            "preemptions": np.zeros(len(rows), np.int64),
        }
    )
    jobs = jobs.join(
        trace.jobs[[name for name in CURVE_COLUMNS if name in trace.jobs]].iloc[rows].reset_index(drop=True)
    )
    stretch = stretch_on(trace, rows, np.nan_to_num(width, posinf=0.0).astype(np.int64))
    cut = (overrun == "kill") & (arrays.run_time[rows] > request)
    segments = jobs[["job_number", "job_occurrence", "start_time", "end_time", "allocated_processors"]].assign(
        work=np.where(stretch > 0, run / np.where(stretch > 0, stretch, 1.0), run),
        lost_work=0.0,
        overhead=0.0,
        ended_by=np.where(cut, "limit", "completed"),
    )
    segments = segments.iloc[np.argsort(start, kind="stable")].reset_index(drop=True)
    if machine is None:
        asked = None
    elif asked is None:
        asked = ask_of_trace(trace, machine)
    options = {"overrun": overrun, "cancelled": "drop", "least_run_time": least_run_time, "semantics": semantics}
    options["requests"] = requests
    schedule = Schedule(
        jobs,
        segments,
        _excluded(trace, rows, size, asked),
        size,
        policy,
        options,
        origin=local_start_of(trace.header),
        known_names=trace.known_names,
    )
    if machine is None or asked is None:
        return schedule
    nodes = read_nodes(table.iloc[order].reset_index(drop=True), columns["job_number"].to_numpy(), machine)
    told = columns["allocated_processors"].to_numpy() if "allocated_processors" in columns else None
    return put_on_nodes(schedule, nodes, told, rows, asked)


def _excluded(trace: Trace, rows: npt.NDArray[np.int64], size: int, asked: Asked | None) -> pd.DataFrame:
    """Return the jobs of a trace that are in none of the rows and cannot be simulated, and why."""
    code, words = reasons_to_exclude(trace.views, size, trace.views.run_time, asked=asked)
    code[rows] = 0
    out = np.flatnonzero(code)
    reason = np.array(words, dtype=object)[code[out]]
    occurrence = count_occurrences(trace.jobs)[out]
    return pd.DataFrame(
        {"job_number": trace.jobs["job_number"].array[out], "job_occurrence": occurrence, "reason": reason}
    )


def _columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return the known columns of a table under our names, as floats."""
    found: dict[str, Any] = {}
    for name, names in NAMES.items():
        for given in names:
            if given in table and name not in found:
                try:
                    found[name] = pd.to_numeric(table[given]).to_numpy(dtype=np.float64, na_value=np.nan)
                except (TypeError, ValueError) as error:
                    raise ParameterError(f"column {given!r} of the schedule: not numbers: {error}") from error
    for name in ("job_number", "start_time"):
        if name not in found:
            known = " or ".join(NAMES[name])
            raise ParameterError(f"the schedule has no column {known}; its columns are {', '.join(map(str, table))}")
    return pd.DataFrame(found)


def _where_said(columns: pd.DataFrame, name: str, otherwise: FloatArray) -> FloatArray:
    """Return what a table says of its jobs; where it says nothing, something else."""
    return columns[name].fillna(pd.Series(otherwise)).to_numpy() if name in columns else otherwise


def _rows(columns: pd.DataFrame, trace: Trace) -> npt.NDArray[np.int64]:
    """Return the trace's row of each job of a table."""
    number = columns["job_number"].fillna(-1)
    occurrence = columns["job_occurrence"] if "job_occurrence" in columns else number.groupby(number).cumcount()
    asked = pd.DataFrame({"number": number.to_numpy(), "occurrence": occurrence.to_numpy(dtype=np.float64)})
    known = pd.DataFrame(
        {
            "number": trace.views.job_number.astype(np.float64),
            "occurrence": count_occurrences(trace.jobs).astype(np.float64),
            "row": np.arange(len(trace)),
        }
    ).drop_duplicates(["number", "occurrence"])
    rows = asked.merge(known, how="left", on=["number", "occurrence"])["row"]
    if len(wrong := np.flatnonzero(rows.isna())):
        job = asked["number"].iloc[wrong[0]]
        what = "is repeated" if (trace.views.job_number == job).any() else "is not in the trace"
        raise ParameterError(f"job {job:.10g} of the schedule {what} ({len(wrong)} such rows); give each job one row")
    if rows.duplicated().any():
        job = asked["number"][rows.duplicated().to_numpy()].iloc[0]
        raise ParameterError(f"job {job:.10g} of the schedule is repeated; give each job one row")
    return rows.to_numpy(dtype=np.int64)

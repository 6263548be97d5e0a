# SPDX-License-Identifier: BSD-3-Clause
"""The beginning of a simulation from a queue as it is: jobs that run and jobs that wait, with their pasts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.fields.dictionary import SWF_NAMES
from swftools.formats.slurm.queue_requests import COLUMNS
from swftools.kernel import FloatArray
from swftools.parameters import is_whole
from swftools.simulator.instants import LATEST
from swftools.simulator.workload import IN_SECONDS
from swftools.trace import Trace, integer_series

LEAST = 1.0
"""What a running job beyond its request is taken to run on, s."""

_DESCRIBED = frozenset(
    {"processors", "requested_time", "elapsed", "waited", "name", "priority", "partition", "nodes", "node_cores"}
)


def check_queue(running: pd.DataFrame, waiting: pd.DataFrame, processors: int | None) -> None:
    """Raise ParameterError where these are no jobs, or cannot be on a machine of so many processors; None: of nodes."""
    if processors is not None and not is_whole(processors, 1, 2**31 - 1):
        raise ParameterError(f"processors={processors!r} is not a whole number from 1 on")
    for what, jobs, name in (("running", running, "elapsed"), ("waiting", waiting, "waited")):
        for column in ("processors", "requested_time", name):
            if column not in jobs:
                raise ParameterError(f"the {what} jobs have no column {column!r}")
            numbers = pd.to_numeric(jobs[column], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
            least = {"processors": 1.0, "requested_time": np.nextafter(0.0, 1.0)}.get(column, 0.0)
            wrong = np.flatnonzero(~((numbers >= least) & (numbers < np.inf)))
            if len(wrong):
                raise ParameterError(
                    f"{what} job {wrong[0] + 1} of {len(jobs)}: {column} is {jobs[column].iloc[wrong[0]]}"
                )
            if column != "processors" and (numbers > LATEST).any():
                raise ParameterError(f"{column} of the {what} jobs: beyond {LATEST:.0f} s (2**53) {IN_SECONDS}")
    runs = _told_run_times(running)
    wrong = np.flatnonzero(runs <= running["elapsed"].to_numpy(dtype=np.float64))
    if len(wrong):
        job = running.iloc[wrong[0]]
        raise ParameterError(
            f"running job {wrong[0] + 1} of {len(running)}: run_time is {job['run_time']}, and it has run for "
            f"{job['elapsed']} s already: give the time from its start to its end, or -1 where it is not known"
        )
    if processors is None:
        return
    held = int(running["processors"].sum())
    if held > processors:
        raise ParameterError(
            f"the running jobs hold {held:,} processors, and the machine has {processors:,}: is it of another machine, "
            "or a part of it (--processors)?"
        )
    if len(waiting) and (waiting["processors"] > processors).any():
        widest = int(waiting["processors"].max())
        raise ParameterError(f"a waiting job needs {widest:,} processors, and the machine has {processors:,}")


def _told_run_times(jobs: pd.DataFrame) -> FloatArray:
    """Return run times as a table has them, s; NaN where it has none, or none above 0: they are not known."""
    if "run_time" not in jobs:
        return np.full(len(jobs), np.nan)
    told = pd.to_numeric(jobs["run_time"], errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(told > 0.0, told, np.nan)


def moment(running: pd.DataFrame, waiting: pd.DataFrame, now: float | None) -> float:
    """Return what time it is, s; errors are those of ``trace_of_queue``."""
    check_queue(running, waiting, None)
    ago = [jobs[name].to_numpy(dtype=np.float64) for jobs, name in ((running, "elapsed"), (waiting, "waited"))]
    earliest = max(each.max(initial=0.0) for each in ago)
    present = float(earliest) if now is None else float(now)
    if not earliest <= present < np.inf:
        raise ParameterError(f"now={now!r}: a job began {earliest:.10g} s ago, which would be before 0")
    return present


def time_left(running: pd.DataFrame) -> FloatArray:
    """Return how long running jobs are taken to run on, s."""
    return np.maximum((running["requested_time"] - running["elapsed"]).to_numpy(dtype=np.float64), LEAST)


def trace_of_queue(
    running: pd.DataFrame, waiting: pd.DataFrame, processors: int, now: float | None, *, on_nodes: bool = False
) -> tuple[Trace, float, FloatArray]:
    """Return jobs that run and wait as a trace, what time it is, and when those that run started.

    Parameters
    ----------
    running, waiting : pandas.DataFrame
        As for ``Stepper.from_queue``.
    processors : int
        Size of the machine.
    now : float, optional
        What time it is, s; without it the least at which nobody began before 0.
    on_nodes : bool
        Whether what jobs ask of nodes counts.

    Returns
    -------
    trace : Trace
        In its jobs those that run come first; they are submitted when they started.
    now : float
        In s.
    start : numpy.ndarray of float64, shape (running jobs,)
        In s.

    Raises
    ------
    ParameterError
        There cannot be such a queue.
    """
    check_queue(running, waiting, None if on_nodes else processors)
    present = moment(running, waiting, now)
    elapsed, waited = (
        jobs[name].to_numpy(dtype=np.float64) for jobs, name in ((running, "elapsed"), (waiting, "waited"))
    )
    count = len(running) + len(waiting)
    start = present - elapsed
    limit = np.concatenate([elapsed + time_left(running), waiting["requested_time"].to_numpy(dtype=np.float64)])
    both = pd.concat([running, waiting], ignore_index=True)
    runs = np.fmin(_told_run_times(both), limit)
    columns: dict[str, Any] = {
        "job_number": np.arange(1, count + 1),
        **{str(name): both[name].fillna(-1) for name in both if name in SWF_NAMES},
        "submit_time": np.concatenate([start, present - waited]),
        "run_time": runs,
        "requested_time": limit,
        "requested_processors": both["processors"].to_numpy(dtype=np.int64),
    }
    trace = Trace.from_columns(machine_processors=processors, **columns)
    skipped = _DESCRIBED if on_nodes else _DESCRIBED.union(COLUMNS)
    others = {str(name): both[name].array for name in both if name not in skipped and name not in SWF_NAMES}
    trace = trace.with_jobs(trace.jobs.assign(**others)) if others else trace
    return (_on_nodes(trace, both) if on_nodes else trace), present, start


def _on_nodes(trace: Trace, jobs: pd.DataFrame) -> Trace:
    """Return a trace whose jobs have the partitions that a table names, and count processors as Slurm does: threads."""
    trace = replace(trace, provenance={**trace.provenance, "format": "slurm"})
    if "partition" not in jobs or jobs["partition"].isna().all():
        return trace
    numbers, names = pd.factorize(jobs["partition"])
    known = pd.DataFrame({"kind": "partition", "number": np.arange(len(names)), "name": [str(name) for name in names]})
    return replace(trace.with_jobs(trace.jobs.assign(partition_id=integer_series(numbers).array)), names=known)

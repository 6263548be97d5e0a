# SPDX-License-Identifier: BSD-3-Clause
"""What a log says of its own run: when jobs could start, and when, where and by whom each was started."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.logged_hosts import hosts_of, logged_partitions
from swftools.machines.node_table import NodeTable
from swftools.output.amounts import counted
from swftools.simulator.slurm.setting import Logged
from swftools.simulator.slurm.state import BACKFILL, MAIN
from swftools.trace import Trace

_MARKS = {"SchedMain": MAIN, "SchedBackfill": BACKFILL}
LEFT = "left_time"
TASKS_AT_ONCE = "JobArrayTaskLimit"
NOT_TOLD = 0
"""Who started a job of which the log does not say it."""


@dataclass(frozen=True)
class Followed:
    """The run that a log tells, a row a job of the trace.

    Parameters
    ----------
    logged : Logged
        When each started (s, NaN: never), and on which nodes.
    eligible_time : numpy.ndarray of float64, shape (rows,)
        From when on it could start, s; at its submission where the log does not say it.
    leaves : numpy.ndarray of float64, shape (rows,)
        When a job left that never started, s; NaN of all others.
    told : tuple of str
        What was left out, in words.
    """

    logged: Logged
    eligible_time: FloatArray
    leaves: FloatArray
    told: tuple[str, ...] = ()


def followed_run(trace: Trace, table: NodeTable) -> Followed:
    """Return what a log says of its own run.

    Parameters
    ----------
    trace : Trace
        Its submissions, waits, run times and the nodes of jobs are used, with their CPUs where it tells these; if
        there, ``eligible_time`` and ``scheduler_flags``.
    table : NodeTable
        The machine.

    Raises
    ------
    ParameterError
        The log says of no job when it started, or on which nodes; or it names nodes that the machine has not.
    """
    arrays = trace.views
    start = arrays.submit_time + arrays.wait_time
    if not np.isfinite(start).any():
        raise ParameterError("the log says of no job when it started; a referee needs the log of a real run")
    first, node, cores, unplaced = _nodes(trace, table, np.isfinite(start))
    start = np.where(unplaced, np.nan, start)
    eligible = _eligible(trace, start)
    leave, unread = _leaves(trace, start, eligible)
    told = []
    if unread:
        told.append(f"{counted(unread, 'job')} that never started, as it is not read when they gave up")
    if unplaced.any():
        told.append(f"{counted(int(unplaced.sum()), 'job')} that started, as the log does not name its nodes")
    return Followed(
        Logged(start, first, node, cores, _starters(trace), _partitions(trace, table), first_life=_first_lives(trace)),
        eligible,
        leave,
        tuple(told),
    )


def _eligible(trace: Trace, start: FloatArray) -> FloatArray:
    """Return from when on each job could start: as the log says it, else its submission.

    A task that waited for others of its array is told as eligible when the last of them made room; to Slurm it is as
    old as the others.
    """
    submit = trace.views.submit_time
    eligible = np.array(trace.jobs.get("eligible_time", submit), np.float64)
    eligible = np.fmax(np.where(np.isfinite(eligible), eligible, submit), submit)
    if "log_id" in trace.jobs and "wait_reason" in trace.jobs:
        array = trace.jobs["log_id"].str.extract(r"^(\d+)_", expand=False)
        first = pd.Series(eligible).groupby([array.to_numpy(), submit]).transform("min")
        waited = (trace.jobs["wait_reason"] == TASKS_AT_ONCE) & array.notna()
        eligible = np.where(waited.to_numpy(bool), first, eligible)
    return np.fmin(eligible, np.where(np.isfinite(start), start, np.inf))


def _leaves(trace: Trace, start: FloatArray, eligible: FloatArray) -> tuple[FloatArray, int]:
    """Return when jobs left that never started, NaN of others; and of how many it is not read: they leave at once.

    Those that still wait when the log ends leave then.
    """
    never = ~np.isfinite(trace.views.submit_time + trace.views.wait_time)
    if LEFT not in trace.jobs:
        return np.where(never, eligible, np.nan), int(never.sum())
    left = trace.jobs[LEFT].to_numpy(np.float64, na_value=np.nan)
    left = np.fmax(np.where(np.isfinite(left), left, _behind(trace)), eligible)
    return np.where(never, left, np.where(np.isfinite(start), np.nan, eligible)), 0


def _first_lives(trace: Trace) -> IntArray:
    """Return the row of the first life of each job: a job that was requeued is there several times, by one id."""
    rows = pd.Series(np.arange(len(trace), dtype=np.int64))
    if "log_id" not in trace.jobs:
        return rows.to_numpy()
    own = trace.jobs["log_id"].reset_index(drop=True)
    return rows.groupby(own.fillna("") + own.isna().mul(rows).astype(str)).transform("min").to_numpy(np.int64)


def with_all_ends(trace: Trace) -> Trace:
    """Return a log in which jobs that still run at its end do so until then."""
    start = trace.views.submit_time + trace.views.wait_time
    runs_on = np.isfinite(start) & ~np.isfinite(trace.views.run_time)
    if not runs_on.any():
        return trace
    run = np.where(runs_on, _behind(trace) - start, trace.views.run_time)
    return trace.with_jobs(trace.jobs.assign(run_time=run))


def _behind(trace: Trace) -> float:
    """Return an instant behind all that the log tells, s."""
    arrays = trace.views
    start = arrays.submit_time + arrays.wait_time
    known = np.concatenate([arrays.submit_time, start, start + arrays.run_time])
    return float(np.nanmax(known)) + 1.0


def _starters(trace: Trace) -> IntArray:
    """Return who started each job."""
    if "scheduler_flags" not in trace.jobs:
        return np.full(len(trace), NOT_TOLD, np.int64)
    flags = trace.jobs["scheduler_flags"].fillna("")
    codes, words = pd.factorize(flags)
    of_word = [next((_MARKS[mark] for mark in str(word).split(",") if mark in _MARKS), NOT_TOLD) for word in words]
    return np.array([*of_word, NOT_TOLD], np.int64)[codes]


def _nodes(trace: Trace, table: NodeTable, started: BoolArray) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
    """Return where the nodes of each row begin, these, cores of each, and of which jobs that started none are told.

    Cores are 0 where a log does not tell them; it counts threads, of which a core may have several.
    """
    hosts = hosts_of(trace, table)
    if not len(hosts.node):
        raise ParameterError(
            "the log does not say on which nodes jobs ran; export it with NodeList (sacct), or read exec_host"
        )
    counts = np.where(started, hosts.many, 0)
    place, _ = hosts.places(np.flatnonzero(started))
    first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    node, threads = hosts.node[place], table.threads_by_node[hosts.node[place]]
    return first, node, np.maximum(-(-hosts.cores[place] // threads), 0), started & (counts == 0)


def _partitions(trace: Trace, table: NodeTable) -> IntArray:
    """Return the partition in which each job ran, as a place in the table's; -1 where it is not told."""
    places = pd.Index([each.name for each in table.partitions])
    return places.get_indexer(pd.Index(logged_partitions(trace, table))).astype(np.int64)

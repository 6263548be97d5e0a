# SPDX-License-Identifier: BSD-3-Clause
"""What jobs on a machine of nodes waited for: of each job, in sum, and over time; from the schedule alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray, ShortArray
from swftools.machines.node_table import NodeTable
from swftools.parameters import is_number
from swftools.simulator.allocations import machine_of
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.metrics.limited_times import Times, limited_times, unlimited_parts
from swftools.simulator.metrics.over_time_on_nodes import first_runs, runs_in_sweep
from swftools.simulator.metrics.reason_state import (
    NO_REASON,
    Found,
    FreeNodes,
    GroupsInSweep,
    Outages,
    Partitions,
    Queues,
    Shapes,
    ShapesInSweep,
    Waiters,
)
from swftools.simulator.metrics.reason_sweep import sweep_reasons
from swftools.simulator.metrics.step_functions import add_changes, changes_at, instants_of
from swftools.simulator.schedule import Schedule

REASONS = {
    "cores": "cores lack in sum",
    "memory": "memory lacks in sum",
    "gpus": "GPUs lack in sum",
    "fragmented": "enough in sum, but not on enough nodes",
    "whole_nodes": "enough in sum, too few idle nodes to have alone",
    "order": "it fits; others go first",
    "away": "it would fit, but for nodes that are away",
    "cycle": "all who wait fit: the scheduler has not looked yet",
    "held": "it was not eligible yet",
    "limits": "a limit of its user, account or QOS was reached",
    "unknown": "its partition is not known",
}
"""What a job can wait for, and what that means."""

REQUESTS = ("GPUs", "whole nodes", "several nodes", "part of a node")
"""Kinds of requests; the first that holds of a job counts."""

_SWEPT = 8  # reasons that the kernel finds


class _Waits(NamedTuple):
    """Of each job its wait by reason, s, its partition (-1: not known) and kind of request; and jobs over time."""

    seconds: FloatArray
    partition: IntArray
    request: IntArray
    times: FloatArray
    waiting: IntArray


def reason_in_words(reason: str) -> str:
    """Return what a reason for which jobs wait is called."""
    return reason.replace("_", " ").replace("gpus", "GPUs")


def wait_reasons(schedule: Schedule, window: tuple[float, float] | None = None) -> pd.DataFrame:
    """Return for how long each job on a machine of nodes waited for what.

    Parameters
    ----------
    schedule : Schedule
        On a machine of nodes, of any policy or simulator. Its jobs, segments and machine are used, and nothing of the
        engine.
    window : (float, float), optional
        Only the time from begin to end counts, s; by default all.

    Returns
    -------
    pandas.DataFrame
        One row for each job, in the order of ``schedule.jobs``: job_number, job_occurrence, partition (str, missing
        where it is not one of the machine's), request (str, of ``REQUESTS``), and for each of ``REASONS`` the time that
        the job waited for it, s. Their sum is the wait from its submission to its first start. Nothing is missing: who
        did not wait has 0.

    Raises
    ------
    ParameterError
        The machine is a pool, the segments lack a column or a run, a submission, start or end is missing, or the window
        is none.

    Notes
    -----
    At each instant, after all that happens then, each waiting job has one reason. Its nodes are those of the partition
    in which it ran later that have, while idle, what it asks for on a node. The first of these that holds is it:

    * held: it was submitted, and not eligible before ``ready_time`` (a begin time or a dependency).
    * limits: with it, the running jobs of its user, account or QOS would exceed a limit of theirs that the machine's
      ``slurm`` has and Slurm enforces. Where policy ``slurm`` made the schedule, its own reasons tell it; other
      policies know no limits, so nobody waits for one.
    * cycle: it fits on as many of its nodes as it asks for, and these are there; and so do all jobs that wait for nodes
      of its partition. The scheduler has not looked yet; or it is held up by what a schedule does not show: features,
      neighbouring nodes, limits that are not told.
    * order: it fits, and some who wait for nodes of its partition do not: others go first, by the policy's order or by
      a reservation.
    * away: it would fit, if the nodes were there that are down, drained or reserved then (``NodeTable.outages``). A
      reservation counts for all jobs, also for those of its users.
    * gpus, cores, memory: its nodes have less of it free in sum than the job asks for. Of several that lack, it is the
      one of which the fewest nodes have enough; of equal ones the first in this order.
    * whole_nodes: there is enough in sum. The job wants its nodes alone, and too few are idle.
    * fragmented: there is enough in sum, and not on as many nodes as it asks for.

    Of a node that another job has alone, nothing is free. A job that was stopped does not count as waiting again. What
    a job asks for are ``cores_per_node``, ``memory_per_node`` and ``gpus_per_node`` on as many nodes as it had, also if
    it has them alone; ``fragmentation`` of ``nodes_over_time`` counts the whole nodes that such a job had.

    The reason is what stands in the way at that instant, and not what would help: more of it need not shorten the wait.
    To know that, simulate a changed machine.

    Cost: for each node that a run takes or gives back, the different requests (nodes not counted) that wait for its
    partitions then.

    Examples
    --------
    >>> from swftools import MachineDescription, Trace, simulate
    >>> nodes = MachineDescription.from_mapping({"nodes": [{"kind": "n", "count": 2, "cores": 4}]})
    >>> trace = Trace.from_columns(job_number=[1, 2, 3, 4], submit_time=[0, 0, 1, 2], run_time=[9, 5, 5, 5],
    ...     requested_time=[9, 5, 5, 5], requested_processors=[3, 3, 2, 1])
    >>> waits = wait_reasons(simulate(trace, "fcfs", machine=nodes))
    >>> waits[["fragmented", "order"]].values.tolist()
    [[0.0, 0.0], [0.0, 0.0], [4.0, 0.0], [0.0, 3.0]]
    """
    machine, found = machine_of(schedule), _find(schedule, window)
    names = np.array([*(each.name for each in machine.partitions), None], dtype=object)
    return pd.DataFrame(
        {
            "job_number": schedule.jobs["job_number"].array,
            "job_occurrence": schedule.jobs["job_occurrence"].array,
            "partition": pd.array(names[found.partition], dtype="str"),
            "request": pd.array(np.array(REQUESTS, dtype=object)[found.request], dtype="str"),
            **{name: found.seconds[:, place] for place, name in enumerate(REASONS)},
        }
    )


def sum_wait_reasons(schedule: Schedule, window: tuple[float, float] | None = None) -> pd.DataFrame:
    """Return how many job-hours were waited for each reason: in all, by partition and by kind of request.

    Parameters
    ----------
    schedule : Schedule
        As for ``wait_reasons``.
    window : (float, float), optional
        Only the time from begin to end counts, s; by default all.

    Returns
    -------
    pandas.DataFrame
        A row for all jobs, for each partition of the machine in its order, and for each of ``REQUESTS``. Columns: by
        ("all", "partition" or "request"), name (of the partition or request, "all"), jobs, waited (job-hours in all),
        and the job-hours of each of ``REASONS``. Who has no job has 0. Jobs whose partition is not known are in no row
        of a partition.

    Raises
    ------
    ParameterError
        As ``wait_reasons``.

    Examples
    --------
    >>> from swftools import MachineDescription, Trace, simulate
    >>> nodes = MachineDescription.from_mapping({"nodes": [{"kind": "n", "count": 1, "cores": 4}]})
    >>> trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 0], run_time=[7200, 60],
    ...     requested_time=[7200, 60], requested_processors=[3, 2])
    >>> table = sum_wait_reasons(simulate(trace, "fcfs", machine=nodes))
    >>> table.loc[table["jobs"] > 0, ["by", "name", "jobs", "waited", "cores"]].values.tolist()
    [['all', 'all', 2, 2.0, 2.0], ['partition', 'all', 2, 2.0, 2.0], ['request', 'part of a node', 2, 2.0, 2.0]]
    """
    machine, found = machine_of(schedule), _find(schedule, window)
    parts = []
    for by, group, names in (
        ("all", np.zeros(len(found.request), np.int64), ["all"]),
        ("partition", found.partition, [each.name for each in machine.partitions]),
        ("request", found.request, list(REQUESTS)),
    ):
        is_known = group >= 0
        of_known, seconds = group[is_known], found.seconds[is_known]
        hours = {
            name: np.bincount(of_known, seconds[:, place], len(names)) / 3600.0 for place, name in enumerate(REASONS)
        }
        keys = {"by": pd.array([by] * len(names), dtype="str"), "name": pd.array(names, dtype="str")}
        jobs = np.bincount(of_known, minlength=len(names))
        parts.append(pd.DataFrame({**keys, "jobs": jobs, "waited": np.sum(list(hours.values()), axis=0), **hours}))
    return pd.concat(parts, ignore_index=True)


def wait_reasons_over_time(schedule: Schedule) -> pd.DataFrame:
    """Return how many jobs wait for what, from each event to the next.

    Parameters
    ----------
    schedule : Schedule
        As for ``wait_reasons``.

    Returns
    -------
    pandas.DataFrame
        One row for each instant at which a job is submitted or becomes eligible, or a run or an outage begins or ends,
        rising: time, s, and for each of ``REASONS`` the number of jobs that wait for it from then up to the next row's
        time. A schedule without jobs has no rows.

    Raises
    ------
    ParameterError
        As ``wait_reasons``.
    """
    found = _find(schedule, None)
    return pd.DataFrame({"time": found.times, **{name: found.waiting[:, place] for place, name in enumerate(REASONS)}})


def _find(schedule: Schedule, window: tuple[float, float] | None) -> _Waits:
    """Return what jobs waited for, of each job and over time."""
    if window is not None and not (len(window) == 2 and all(map(is_number, window)) and window[0] < window[1]):
        raise ParameterError(f"window={window!r} is not (begin, end) in seconds, the end behind the beginning")
    machine, jobs, runs = machine_of(schedule), schedule.jobs, runs_in_sweep(schedule)
    submit = column_of(jobs, "submit_time")
    if not (np.isfinite(submit).all() and np.isfinite(runs.start).all() and np.isfinite(runs.end).all()):
        raise ParameterError("a submission, start or end of the schedule is missing; leave such jobs out")
    row = rows_of(schedule.segments, jobs) if len(jobs) else np.zeros(0, np.int64)
    first_run = first_runs(runs, row, len(jobs))
    if (first_run < 0).any():
        number = int(jobs["job_number"].iloc[int(np.argmax(first_run < 0))])
        raise ParameterError(f"job {number} has no run in schedule.segments; leave it out")
    start = runs.start[first_run]
    entry = np.fmax(submit, column_of(jobs, "ready_time")) if "ready_time" in jobs else submit
    entry = np.minimum(entry, np.maximum(start, submit))
    partition = runs.partition[first_run]
    is_swept = (entry < start) & (partition >= 0)
    limited = limited_times(schedule, entry, np.where(is_swept, start, entry))
    outages = _outages_of(machine, submit, runs.end)
    moments = (submit, entry, runs.start, runs.end, outages.begin, outages.end, limited.begin, limited.end)
    times = instants_of(*(changes_at(each).at for each in moments))
    begin, end = window or (-np.inf, np.inf)
    counted = np.clip(times, begin, end)

    nodes = _in_ranges(runs.begins, runs.first, runs.last)[first_run]
    request = np.where(
        runs.gpus[first_run] > 0, 0, np.where(runs.is_exclusive[first_run] > 0, 1, np.where(nodes > 1, 2, 3))
    )
    seconds, waiting = np.zeros((len(jobs), len(REASONS))), np.zeros((len(times), len(REASONS)), np.int64)
    parts = unlimited_parts(limited, np.where(is_swept, entry, start), start)
    swept = parts.job
    asked = np.column_stack(
        [each[first_run[swept]] for each in (runs.partition, runs.cores, runs.memory, runs.gpus, runs.is_exclusive)]
    )
    of_swept, by_time = np.zeros((len(swept), _SWEPT)), np.zeros((len(times), _SWEPT), np.int64)
    shapes, groups, group = _groups_of(asked.astype(np.int64), nodes[swept])
    waiters = Waiters(
        group,
        np.argsort(parts.begin, kind="stable"),
        np.argsort(parts.end, kind="stable"),
        parts.begin,
        parts.end,
    )
    free = FreeNodes(
        runs.whole_cores.copy(),
        runs.whole_memory.copy(),
        runs.whole_gpus.copy(),
        users=np.zeros(len(machine), np.int32),
        away=np.zeros(len(machine), np.int32),
    )
    kept = _room_for(shapes, len(machine.partitions))
    found = Found(times, counted, of_swept, by_time)
    queues = _queues_of(machine, counted[0] if len(times) else 0.0)
    sweep_reasons(runs, outages, waiters, _partitions_of(machine), shapes, free, kept, groups, queues, found)
    np.add.at(seconds[:, :_SWEPT], swept, of_swept)
    waiting[:, :_SWEPT] = by_time
    is_held, is_unknown = np.flatnonzero(entry > submit), np.flatnonzero((entry < start) & (partition < 0))
    others = {
        "held": Times(is_held, submit[is_held], entry[is_held]),
        "limits": limited,
        "unknown": Times(is_unknown, entry[is_unknown], start[is_unknown]),
    }
    for place, name in enumerate(REASONS):
        if name in others:
            job, low, high = others[name]
            np.add.at(seconds[:, place], job, np.clip(high, begin, end) - np.clip(low, begin, end))
            waiting[:, place] = _many(times, low, high)
    return _Waits(seconds, partition, request, times, waiting)


def _outages_of(machine: NodeTable, submit: FloatArray, end: FloatArray) -> Outages:
    """Return when nodes are away between the first submission and the last end."""
    first, last = submit.min(initial=np.inf), end.max(initial=-np.inf)
    all_of = machine.outages
    some = np.flatnonzero((all_of.begin < np.minimum(all_of.end, last)) & (all_of.end > first))
    begins, ends = np.maximum(all_of.begin[some], first), np.minimum(all_of.end[some], last)
    by_begin, by_end = (np.argsort(each, kind="stable") for each in (begins, ends))
    return Outages(all_of.node[some].astype(np.int64), begins, ends, by_begin, by_end)


def _in_ranges(begins: IntArray, first: ShortArray, last: ShortArray) -> IntArray:
    """Return how many nodes each run has."""
    below = np.concatenate(([0], np.cumsum(last.astype(np.int64) - first + 1)))
    return below[begins[1:]] - below[begins[:-1]]


def _many(times: FloatArray, low: FloatArray, high: FloatArray) -> IntArray:
    """Return how many of the times from low to high each instant is in."""
    total = np.zeros(len(times))
    for at, sign in ((changes_at(low), 1.0), (changes_at(high), -1.0)):
        add_changes(times, at.at, at.of(np.ones(len(low))), sign, total)
    return np.cumsum(total).astype(np.int64)


def _groups_of(asked: IntArray, nodes: IntArray) -> tuple[Shapes, GroupsInSweep, IntArray]:
    """Return the shapes of requests, their groups, and the group of each job; by partition, and of a shape by nodes."""
    columns = [*asked.T, nodes]
    order = np.lexsort(columns[::-1])
    is_new = np.ones((2, len(order)), np.bool_)  # of a shape, and of a group
    sorted_ = [each[order] for each in columns]
    differs = [each[1:] != each[:-1] for each in sorted_]
    is_new[0, 1:] = np.any(differs[:-1], axis=0)
    is_new[1, 1:] = is_new[0, 1:] | differs[-1]
    of_group = np.cumsum(is_new[1]) - 1
    group = np.empty(len(order), np.int64)
    group[order] = of_group
    begins = [each[is_new[0]] for each in sorted_[:-1]]
    count = int(is_new[1].sum())
    shapes = Shapes(
        partition=begins[0],
        cores=begins[1],
        memory=begins[2],
        gpus=begins[3],
        is_exclusive=begins[4].astype(np.int8),
        groups=np.append(of_group[is_new[0]], count).astype(np.int64),
    )
    return (
        shapes,
        GroupsInSweep(
            nodes=sorted_[-1][is_new[1]],
            waiting=np.zeros(count, np.int64),
            reason=np.full(count, NO_REASON, np.int64),
            since=np.zeros(count),
            idle_since=np.zeros(count),
            clock=np.zeros((count, _SWEPT)),
        ),
        group,
    )


def _partitions_of(machine: NodeTable) -> Partitions:
    """Return the nodes of each partition, and the partitions of each node."""
    members = [np.asarray(each.nodes, np.int64) for each in machine.partitions]
    nodes = np.concatenate([np.zeros(0, np.int64), *members])
    of = np.repeat(np.arange(len(members)), [len(each) for each in members]).astype(np.int64)
    order = np.argsort(nodes, kind="stable")
    many = np.bincount(nodes, minlength=len(machine))
    begins = np.concatenate(([0], np.cumsum([len(each) for each in members]))).astype(np.int64)
    return Partitions(begins, nodes, np.concatenate(([0], np.cumsum(many))).astype(np.int64), of[order])


def _queues_of(machine: NodeTable, first: float) -> Queues:
    """Return what is kept of each partition, from the first instant on."""
    many = len(machine.partitions)
    has = np.zeros((many, len(machine)), bool)
    for number, each in enumerate(machine.partitions):
        has[number, each.nodes] = True
    shares = has.astype(np.int64) @ has.T > 0
    np.fill_diagonal(shares, val=True)
    beside = [np.flatnonzero(row) for row in shares]
    return Queues(
        begins=np.concatenate(([0], np.cumsum([len(each) for each in beside]))).astype(np.int64),
        beside=np.concatenate([np.zeros(0, np.int64), *beside]).astype(np.int64),
        kept_back=np.zeros(many, np.int64),
        fitting=np.zeros(many, np.int64),
        idle=np.zeros(many),
        since=np.full(many, first),
    )


def _room_for(shapes: Shapes, partitions: int) -> ShapesInSweep:
    """Return room for what is kept of each shape."""
    count = len(shapes.partition)
    many = np.bincount(shapes.partition, minlength=partitions)
    return ShapesInSweep(
        waiting=np.zeros(count, np.int64),
        fits=np.zeros(count, np.int64),
        is_there=np.zeros(count, np.int64),
        enough=np.zeros((count, 3), np.int64),
        free=np.zeros((count, 3), np.int64),
        room=np.concatenate(([0], np.cumsum(many))).astype(np.int64),
        active=np.zeros(count, np.int64),
        many=np.zeros(partitions, np.int64),
        place=np.zeros(count, np.int64),
        touched=np.zeros(count, np.int64),
        is_touched=np.zeros(count, np.int8),
    )

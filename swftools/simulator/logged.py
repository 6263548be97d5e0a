# SPDX-License-Identifier: BSD-3-Clause
"""The schedule that a log itself tells: when its jobs really started and ended, and on which nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from swftools.errors import ParameterError
from swftools.header import local_start_of
from swftools.kernel import FloatArray, IntArray
from swftools.keyed_random import count_occurrences
from swftools.machines.logged_hosts import Hosts, hosts_of, logged_partitions
from swftools.machines.node_table import GPU, NodeTable
from swftools.simulator.schedule import Schedule
from swftools.trace import Trace

LOGGED = "logged"
"""The policy of such a schedule."""

NO_START = "the log does not tell when it started"
NO_END = "the log does not tell how long it ran"
NO_SUBMISSION = "the log does not tell when it was submitted"
NO_HOSTS = "the log does not name its nodes"
NO_WIDTH = "the log does not tell its processors"


def logged_schedule(trace: Trace, machine: NodeTable | None = None) -> Schedule:
    """Return the schedule that a log tells, to be measured, drawn and compared like a simulated one.

    Parameters
    ----------
    trace : Trace
        Its submissions, waits, run times and processors are used; ``eligible_time`` where it has it; and on nodes
        ``host_list`` or ``node_list``, and the names of its partitions or queues.
    machine : NodeTable, optional
        The nodes. By default the machine is a pool, whose size is the trace's, else the most processors that were busy
        at once.

    Returns
    -------
    Schedule
        Of policy ``logged``: one run a job, in the order of the trace. Jobs of which the log does not tell submission,
        start, run time or processors are excluded, with the reason; on nodes also those whose nodes it does not name.
        ``ready_time`` is when a job was eligible; its submission where the log does not tell it. A requested time that
        is missing (or 0) is the run time.

    Raises
    ------
    ParameterError
        The log tells of no job when it started, or of none its nodes; or it names nodes that the machine has not.

    Notes
    -----
    On nodes a run has its processors of the log. Where the text of nodes says how many each gave (PBS), that is taken;
    else they are spread evenly, no node giving more cores than it has, the first ones one more. Of memory and GPUs it
    has what it asked for on a node. Whether it has its nodes alone is as ``ask_of`` reads it.

    Examples
    --------
    >>> trace = Trace.from_columns(machine_processors=4, job_number=[1, 2], submit_time=[0, 5], wait_time=[1, None],
    ...                            run_time=[10, 7], requested_processors=[3, 2])
    >>> schedule = logged_schedule(trace)
    >>> schedule.jobs["start_time"].tolist(), schedule.excluded["reason"].tolist()
    ([1.0], ['the log does not tell when it started'])
    """
    views = trace.views
    submit, run, width = views.submit_time, views.run_time, views.width
    start = submit + views.wait_time
    unlike = {
        NO_SUBMISSION: ~np.isfinite(submit),
        NO_START: ~np.isfinite(start),
        NO_END: ~np.isfinite(run),
        NO_WIDTH: width <= 0,
    }
    if not np.isfinite(start).any():
        raise ParameterError("the log does not tell of any job when it started, so it has no schedule of its own")
    hosts = None if machine is None else hosts_of(trace, machine)
    if hosts is not None:
        unlike[NO_HOSTS] = hosts.many == 0
        if unlike[NO_HOSTS][np.isfinite(start)].all():
            raise ParameterError(
                "the log does not say on which nodes jobs ran; export it with NodeList (sacct), or give no machine"
            )
    reason = np.full(len(trace), "", dtype=object)
    for words, rows in unlike.items():
        reason[rows & (reason == "")] = words
    row = np.flatnonzero(reason == "")
    jobs = _jobs(trace, row, start[row])
    segments = jobs[["job_number", "job_occurrence", "start_time", "end_time", "allocated_processors"]].assign(
        work=run[row], lost_work=0.0, overhead=0.0, ended_by="completed"
    )
    if machine is not None and hosts is not None and len(row):
        segments = segments.assign(**_on_nodes(trace, machine, row, hosts))
    by_start = np.argsort(start[row], kind="stable")
    out = np.flatnonzero(reason != "")
    return Schedule(
        jobs,
        segments.iloc[by_start].reset_index(drop=True),
        pd.DataFrame(
            {
                "job_number": trace.jobs["job_number"].array[out],
                "job_occurrence": count_occurrences(trace.jobs)[out],
                "reason": pd.array(reason[out], dtype="str"),
            }
        ),
        machine.processors if machine is not None else trace.processors or _most_at_once(segments),
        LOGGED,
        {},
        origin=local_start_of(trace.header),
        known_names=trace.known_names,
        machine=machine,
    )


def _jobs(trace: Trace, row: IntArray, start: FloatArray) -> pd.DataFrame:
    """Return the table of jobs: what the log says of when they ran, and its other columns."""
    views = trace.views
    submit, run, asked = views.submit_time[row], views.run_time[row], views.requested_time[row]
    request = np.where(asked > 0, asked, run)
    own = {
        "job_number": trace.jobs["job_number"].array[row],
        "job_occurrence": count_occurrences(trace.jobs)[row],
        "submit_time": submit,
        "start_time": start,
        "end_time": start + run,
        "wait_time": start - submit,
        "run_time": run,
        "allocated_processors": views.width[row],
        "requested_time": request,
        "estimated_time": request.copy(),
        "preemptions": np.zeros(len(row), np.int64),
    }
    if "eligible_time" in trace.jobs:
        eligible = trace.jobs["eligible_time"].to_numpy(dtype=np.float64, na_value=np.nan)[row]
        ready = np.clip(np.where(np.isfinite(eligible), eligible, submit), submit, np.maximum(start, submit))
        own |= {"ready_time": ready, "ready_wait": start - ready}
    rest = trace.jobs.drop(columns=list(own), errors="ignore").iloc[row].reset_index(drop=True)
    return pd.concat([pd.DataFrame(own), rest], axis=1)


def _most_at_once(segments: pd.DataFrame) -> int:
    """Return the most processors that runs have at once; what ends at an instant is free for what starts then."""
    width = segments["allocated_processors"].to_numpy(dtype=np.int64)
    times = np.concatenate([segments["start_time"], segments["end_time"]])
    change = np.concatenate([width, -width])
    order = np.lexsort((change, times))
    return int(np.cumsum(change[order]).max(initial=0))


def _on_nodes(trace: Trace, machine: NodeTable, row: IntArray, hosts: Hosts) -> dict[str, Any]:
    """Return the columns that runs have on a machine of nodes."""
    from swftools.machines.requests import ask_of  # noqa: PLC0415 (where there are nodes only)

    asked = ask_of(trace, machine)
    cores, first = _cores_by_node(trace, machine, row, hosts)
    least, most = np.minimum.reduceat(cores, first[:-1]), np.maximum.reduceat(cores, first[:-1])
    columns: dict[str, Any] = {
        "nodes": pd.arrays.ArrowExtensionArray(_ranges(hosts).take(pa.array(hosts.code[row]))),
        "cores_per_node": most,
        "memory_per_node": asked.memory[row],
        "gpus_per_node": asked.gpus[row] / GPU,
        "is_exclusive": asked.is_exclusive[row],
        "partition": pd.array(logged_partitions(trace, machine)[row], dtype="str"),
    }
    if (uneven := least < most).any():
        is_told = np.repeat(uneven, np.diff(first))
        begins = np.concatenate(([0], np.cumsum(np.diff(first) * uneven))).astype(np.int32)
        lists = pa.ListArray.from_arrays(begins, pa.array(cores[is_told]), mask=pa.array(~uneven))
        columns["cores_by_node"] = pd.arrays.ArrowExtensionArray(lists)
    return columns


def _ranges(hosts: Hosts) -> pa.Array:
    """Return the nodes of each text as ranges: the first and the last number of each."""
    node, first = hosts.node, hosts.first
    is_new = np.ones(len(node), bool)
    is_new[1:] = np.diff(node) != 1
    is_new[first[:-1][first[:-1] < len(node)]] = True
    begins = np.flatnonzero(is_new)
    ends = np.append(begins[1:], len(node)) - 1
    values = np.stack([node[begins], node[ends]], axis=1).astype(np.int32).reshape(-1)
    offsets = 2 * np.searchsorted(begins, first).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values))


def _cores_by_node(trace: Trace, machine: NodeTable, row: IntArray, hosts: Hosts) -> tuple[IntArray, IntArray]:
    """Return the cores of each node of some jobs, and where each job's begin."""
    many, width = hosts.many[row], trace.views.width[row]
    place, which = hosts.places(row)
    first = np.concatenate(([0], np.cumsum(many))).astype(np.int64)
    share, rest = np.divmod(width, many)
    cores, whole = np.repeat(share, many) + (which < np.repeat(rest, many)), machine.cores[hosts.node[place]]
    for job in np.flatnonzero(np.maximum.reduceat(cores > whole, first[:-1])):
        own = slice(first[job], first[job + 1])
        cores[own] = spread(int(width[job]), whole[own])
    told = hosts.cores[place]
    return np.where(told >= 0, told, cores), first


def spread(cores: int, whole: npt.NDArray[np.integer]) -> IntArray:
    """Return how many of some cores each node gives: evenly, none more than it has, the first ones one more.

    Examples
    --------
    >>> spread(10, np.array([4, 2, 8])).tolist()
    [4, 2, 4]
    """
    given = np.zeros(len(whole), np.int64)
    while (left := cores - int(given.sum())) > 0 and (has_more := np.flatnonzero(given < whole)).size:
        share, rest = divmod(left, len(has_more))
        more = np.full(len(has_more), share) + (np.arange(len(has_more)) < rest)
        given[has_more] = np.minimum(given[has_more] + more, whole[has_more])
    return given

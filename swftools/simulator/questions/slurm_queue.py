# SPDX-License-Identifier: BSD-3-Clause
"""A queue of Slurm as policy ``slurm`` begins with it: its jobs as a trace, and who runs where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from swftools.dependencies import find_dependencies
from swftools.errors import ParameterError
from swftools.formats.slurm.queue_owners import OWNER_COLUMNS
from swftools.formats.slurm.queue_requests import COLUMNS
from swftools.formats.slurm.queue_snapshot import QueueSnapshot
from swftools.kernel import FloatArray
from swftools.machines.hostlist import expand_hosts
from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmSite
from swftools.parameters.spelling import require_known
from swftools.simulator.questions.slurm_arrivals import joined
from swftools.simulator.questions.slurm_dependencies import preceding_rows
from swftools.simulator.slurm.alone import without_hopeless
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.begin import RealRun
from swftools.simulator.slurm.requests import slurm_jobs_of
from swftools.simulator.slurm.setting import Logged
from swftools.simulator.stepping.running_on_nodes import evenly
from swftools.trace import Trace, integer_series

_DAY = 86_400.0
_ASKED = (
    *("requested_nodes", "requested_cores_per_node", "requested_memory", "requested_memory_per_node"),
    *("requested_gpus", "requested_gpus_per_node", "gpu_types", "constraints", "is_exclusive"),
)
_NAMES = {"user": "user_id", "partition": "partition_id"}


@dataclass(frozen=True)
class SlurmQueue:
    """A queue, a row a job: those that run and wait in the order of submission, then those that are asked about.

    Parameters
    ----------
    frame : pandas.DataFrame
        As ``read_squeue(whole=True)`` has jobs; ``runs`` says which run, ``elapsed`` for how long (s).
    trace : Trace
        All come at the present; a running job's run time is not in it.
    run : RealRun
        Who runs where, since when, what jobs ask, and from when on they may start.
    present : float
        What time it is in the trace, s.
    left_out : dict of str to int
        How many of the waiting jobs could never run on the machine, by the reason.
    """

    frame: pd.DataFrame
    trace: Trace
    run: RealRun
    present: float
    left_out: dict[str, int]

    def with_arrivals(self, jobs: SlurmJobs, users: list[str], come: FloatArray, limit: FloatArray) -> SlurmQueue:
        """Return the queue with jobs behind it that come later.

        Parameters
        ----------
        jobs : SlurmJobs
            What they ask; ``user`` is a place in ``users``, of which the first are those of the queue.
        users : list of str
            Names.
        come, limit : numpy.ndarray of float64
            From now on, and time limits, s.
        """
        many, all_of = len(come), len(self.frame) + len(come)
        own, run = self.trace, self.run
        lacking = np.full(many, np.nan)
        first = run.logged.first
        logged = replace(
            run.logged,
            start=np.concatenate([run.logged.start, lacking]),
            first=np.concatenate([first, np.full(many, first[-1])]),
            by=np.zeros(all_of, np.int64),
            partition=np.full(all_of, -1, np.int64),
            priority=np.concatenate([_numbers(run.logged.priority), lacking]),
            eligible=np.concatenate([_numbers(run.logged.eligible), lacking]),
        )
        times = self.present + come
        trace = Trace.from_columns(
            job_number=np.arange(1, all_of + 1),
            submit_time=np.concatenate([own.views.submit_time, times]),
            run_time=np.concatenate([own.views.run_time, limit]),
            requested_time=np.concatenate([own.views.requested_time, limit]),
            requested_processors=np.ones(all_of, np.int64),
            user_id=np.concatenate([own.views.user_id, jobs.user]),
        )
        waits = [*own.jobs["preceding_job_numbers"], *[None] * many]
        trace = trace.with_jobs(trace.jobs.assign(preceding_job_numbers=waits))
        names = pd.DataFrame({"kind": "user", "number": np.arange(len(users)), "name": users})
        both = joined(run.jobs, jobs) if run.jobs is not None else jobs
        ran = RealRun(logged, np.concatenate([run.eligible_time, times]), np.full(all_of, np.nan), both)
        return replace(self, trace=replace(trace, names=names), run=ran)


def _numbers(values: FloatArray | None) -> FloatArray:
    return np.zeros(0) if values is None else values


def present_in_trace(queue: QueueSnapshot) -> tuple[float, float]:
    """Return what time it is in the trace of a queue, and in seconds since 1970, or as if it were."""
    now = queue.present if queue.present is not None else 40.0 * _DAY
    longest = max(queue.running["elapsed"].max() if len(queue.running) else 0.0, 0.0)
    return now % _DAY + (np.ceil(longest / _DAY) + 1.0) * _DAY, now


def slurm_queue(
    queue: QueueSnapshot, table: NodeTable, asked: Sequence[Mapping[str, Any]], *, compiled: bool = True
) -> SlurmQueue:
    """Return a queue as the policy begins with it; ``compiled`` says how it is found who can never start.

    Raises
    ------
    ParameterError
        A running job is on a node that the machine does not have; a job that is asked about names a partition, account
        or QOS that the machine does not have, or could never run there.
    """
    present, now = present_in_trace(queue)
    frame = _without_defaults(_frame(queue, asked), table)
    for job in asked:
        _check_names(job, table)
    trace = _trace(frame, present)
    jobs = _as_told(slurm_jobs_of(trace, table), frame, table)
    limit = np.where(frame["runs"], np.nan, trace.views.requested_time)
    waits_for = find_dependencies(trace)
    jobs = without_hopeless(jobs, table, limit, parameters={}, compiled=compiled, dependencies=waits_for)
    excluded = ~frame["runs"].to_numpy(bool) & (jobs.code > 0)
    for row in np.flatnonzero(excluded & frame["asked"].to_numpy(bool)).tolist():
        raise ParameterError(
            f"{frame['name'][row]}: it could never run on this machine: {jobs.reasons[jobs.code[row]]}"
        )
    counts = pd.Series([jobs.reasons[code] for code in jobs.code[excluded]], dtype=object).value_counts()
    eligible = frame["eligible"].to_numpy(np.float64) - now + present
    began = np.where(frame["runs"], present - frame["elapsed"], np.nan)
    first, node, cores = _places(frame, table)
    logged = Logged(
        start=began,
        first=first,
        node=node,
        cores=cores,
        by=np.zeros(len(frame), np.int64),
        partition=np.full(len(frame), -1, np.int64),
        priority=frame["priority"].to_numpy(np.float64),
        eligible=eligible,
    )
    run = RealRun(logged, np.fmax(eligible, present), np.full(len(frame), np.nan), jobs)
    return SlurmQueue(frame, trace, run, present, {str(why): int(count) for why, count in counts.items()})


def _check_names(job: Mapping[str, Any], table: NodeTable) -> None:
    """Refuse a job that is asked about and names what the machine does not have."""
    site = table.slurm or SlurmSite()
    known = {
        "partition": [each.name for each in table.partitions],
        "qos": [each.name for each in site.qos],
        "account": list(dict.fromkeys(each.account for each in site.associations)),
        "user": list(dict.fromkeys(each.user for each in site.associations if each.user)),
    }
    for what, names in known.items():
        for name in re.split(r"[,|]", str(job.get(what) or "")):
            if name and names:
                require_known(f"{job['name']}: the machine has no {what} {name!r}", name, names)


def _frame(queue: QueueSnapshot, asked: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return all jobs, those of the queue in the order of submission."""
    columns = ["name", "processors", "requested_time", "elapsed", "waited", "priority", "runs", "asked"]
    parts = [
        queue.running.assign(runs=True, asked=False),
        queue.waiting.assign(runs=False, asked=False),
        pd.DataFrame([{**job, "runs": False, "asked": True} for job in asked]),
    ]
    frame = pd.concat([part for part in parts if len(part)], ignore_index=True)
    frame = frame.reindex(columns=list(dict.fromkeys([*columns, *COLUMNS, *OWNER_COLUMNS, *frame])))
    frame["elapsed"] = frame["elapsed"].astype(np.float64).fillna(0.0)
    numbers = frame["name"].astype(str).str.extract(r"^(\d+)(?:[_+](\d+))?").astype(np.float64)
    order = np.lexsort([numbers[1].fillna(0.0), numbers[0].fillna(np.inf), frame["asked"]])
    return frame.iloc[order].reset_index(drop=True)


def _without_defaults(frame: pd.DataFrame, table: NodeTable) -> pd.DataFrame:
    """Return jobs without the memory that is the default of each CPU: a text says it as if it were of a node."""
    of_site = table.slurm.default_memory_per_cpu if table.slurm else 0.0
    defaults = {of_site, *(each.default_memory_per_core for each in table.partitions)} - {0.0}
    told = frame["requested_memory_per_node"].astype(np.float64)
    return frame.assign(requested_memory_per_node=told.mask(told.isin(defaults) & ~frame["asked"]))


def _trace(frame: pd.DataFrame, present: float) -> Trace:
    """Return the jobs as a trace that says what they ask."""
    many = len(frame)
    numbers: dict[str, Any] = {
        "job_number": np.arange(1, many + 1),
        "submit_time": np.full(many, present),
        "run_time": frame["requested_time"].to_numpy(np.float64),
        "requested_time": frame["requested_time"].to_numpy(np.float64),
        "requested_processors": frame["processors"].fillna(-1).to_numpy(np.int64),
    }
    names: list[pd.DataFrame] = []
    coded: dict[str, Any] = {}
    for kind, column in _NAMES.items():
        codes, texts = pd.factorize(frame[kind].replace("", None))
        coded[column] = codes
        names.append(pd.DataFrame({"kind": kind, "number": np.arange(len(texts)), "name": texts.astype(str)}))
    trace = Trace.from_columns(**numbers, **coded)
    others: dict[str, Any] = {name: frame[name].array for name in _ASKED if name in frame and frame[name].notna().any()}
    # A queue tells of jobs that wait how many nodes hold them at least; where no most is told, they may have more.
    is_free = ~frame["runs"].to_numpy(bool) & ~frame["asked"].to_numpy(bool) & ~(frame["max_nodes"] > 0)
    others["allocated_nodes"] = integer_series(
        (frame["requested_nodes"].where(is_free) + 1.0).fillna(-1).to_numpy(np.int64)
    ).array
    for name in ("account", "qos"):
        others[name] = frame[name].replace("", None).astype("str").array
    others["preceding_job_numbers"] = preceding_rows(frame)
    if "is_exclusive" in others:
        others["is_exclusive"] = frame["is_exclusive"].fillna(value=False).astype(bool).array
    trace = trace.with_jobs(trace.jobs.assign(**others))
    return replace(trace, names=pd.concat(names), provenance={**trace.provenance, "format": "slurm"})


def _as_told(jobs: SlurmJobs, frame: pd.DataFrame, table: NodeTable) -> SlurmJobs:
    """Return what jobs ask, with what only a queue tells, and those that run as they do, whatever limits there are."""
    arrays, _ = pd.factorize(frame["array"].replace("", None))
    limit = np.array(frame["array_limit"].fillna(0.0), np.float64)
    runs = frame["runs"].to_numpy(bool)
    # A text does not tell how many tasks of an array may run at once: as many as do, where others wait for that.
    stopped = frame["reason"].eq("JobArrayTaskLimit").to_numpy(bool)
    for array in np.unique(arrays[stopped & (limit == 0)]):
        limit[arrays == array] = max((runs & (arrays == array)).sum(), 1)
    most = frame["max_nodes"].fillna(0.0).to_numpy(np.int64)
    asked = frame["asked"].to_numpy(bool)
    per_task = np.maximum(frame["cpus_per_task"].fillna(1.0).to_numpy(np.int64), 1)
    fits = ~asked & (jobs.cpus % per_task == 0)
    jobs = jobs._replace(
        array=arrays.astype(np.int64),
        array_limit=limit.astype(np.int64),
        max_nodes=np.where(asked, jobs.max_nodes, most),
        cpus_per_task=np.where(fits, per_task, jobs.cpus_per_task),
    )
    return _in_partitions(jobs, frame, table, np.flatnonzero(runs & (jobs.code > 0)).tolist())


def _in_partitions(jobs: SlurmJobs, frame: pd.DataFrame, table: NodeTable, rows: list[int]) -> SlurmJobs:
    """Return what jobs ask, where some rows have a partition that they could not have as ones that come."""
    if not rows:
        return jobs
    numbers = {each.name: number for number, each in enumerate(table.partitions)}
    lists = np.split(jobs.partition, jobs.first_partition[1:-1])
    code = jobs.code.copy()
    for row in rows:
        words = str(frame["partition"][row]).split(",")
        known = [numbers[word] for word in words if word in numbers]
        if not known:
            raise ParameterError(
                f"job {frame['name'][row]} runs in partition {words[0]}, which the machine does not have; give the "
                "description of the machine that the queue is of"
            )
        lists[row], code[row] = np.array(known[:1], np.int64), 0
    first = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    return jobs._replace(partition=np.concatenate(lists).astype(np.int64), first_partition=first, code=code)


def _places(frame: pd.DataFrame, table: NodeTable) -> tuple[Any, Any, Any]:
    """Return where the nodes of each row begin, these, and its cores of each."""
    known = {name: number for number, name in enumerate(table.names)}
    node: list[int] = []
    cores: list[int] = []
    first = [0]
    for row in range(len(frame)):
        if frame["runs"][row]:
            job = frame.iloc[row]
            names = expand_hosts(job["nodes"]) if isinstance(job["nodes"], str) and job["nodes"] else []
            unknown = next((name for name in names if name not in known), None)
            if unknown is not None or not names:
                where = f"on node {unknown}, which the machine does not have" if names else "on nodes that are not told"
                remedy = "give the description of the machine that the queue is of" if names else "print them by %N"
                raise ParameterError(f"job {job['name']} runs {where}; {remedy}")
            numbers = [known[name] for name in names]
            node += numbers
            cores += _cores(job, table, np.array(numbers, np.int64)).tolist()
        first.append(len(node))
    return np.array(first, np.int64), np.array(node, np.int64), np.array(cores, np.int64)


def _cores(job: pd.Series, table: NodeTable, nodes: np.ndarray) -> FloatArray:
    """Return the cores that a job has of each of its nodes: as told, else spread evenly."""
    threads = table.threads_by_node[nodes]
    told = job["node_cores"]
    total = float(job["processors"])
    if isinstance(told, tuple) and len(told) == len(nodes):
        return np.maximum(np.array(told), 1.0).astype(np.int64)
    if bool(job["is_exclusive"]) and not pd.isna(job["is_exclusive"]):
        return table.cores[nodes].astype(np.int64)
    return np.maximum(np.ceil(evenly(total, table.cores[nodes] * threads) / threads), 1.0).astype(np.int64)

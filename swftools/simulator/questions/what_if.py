# SPDX-License-Identifier: BSD-3-Clause
"""What if a job were submitted now? When it would start, by one policy or another, and what is free until then."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.machines.node_table import NodeTable
from swftools.parameters import is_whole
from swftools.simulator.questions.asked_job import check_time_and_priority, with_job
from swftools.simulator.questions.what_if_on_nodes import what_if_on_nodes
from swftools.simulator.stepping.from_queue import check_queue, time_left
from swftools.simulator.stepping.stepper import Stepper


def what_if(
    running: pd.DataFrame,
    waiting: pd.DataFrame,
    jobs: Iterable[Mapping[str, Any]],
    processors: int | None = None,
    policies: Iterable[str] = ("easy",),
    *,
    away: Iterable[Mapping[str, float]] = (),
    machine: str | os.PathLike[str] | NodeTable | Any = None,
    now: float | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Say when jobs would start if they were submitted now, after those that wait, or among them by priority.

    Assumes that no other job comes, and that every job runs as long as it requests. Real jobs end earlier, so the jobs
    start earlier, unless others are put before them.

    Parameters
    ----------
    running, waiting : pandas.DataFrame
        As for ``Stepper.from_queue``; those that wait perhaps with ``priority``, in falling order, as ``read_squeue``
        returns them.
    jobs : iterable of mapping
        The jobs to ask about, with ``processors``, ``requested_time`` (s) and perhaps ``priority``; each by itself, as
        if the others were not submitted. A job with a priority takes its place before those whose priority is lower or
        unknown, and counts as submitted when the next of them was; without one it is the last. On a machine of nodes
        also what it asks of them, in columns of the table ``jobs``: ``requested_nodes``, ``requested_cores_per_node``
        (then without ``processors``), ``requested_memory_per_node`` (MB), ``requested_gpus_per_node``, ``constraints``,
        ``is_exclusive``, and ``partition`` by name.
    processors : int
        Size of the machine; or ``machine``.
    policies : iterable of str
        As for ``simulate``.
    away : iterable of mapping
        Processors that fail, with ``processors``, ``after`` (s from now) and perhaps ``time`` (s), after which they
        come back; without it they do not. ``Stepper.take_away`` says what happens to the jobs there. Of a pool only.
    machine : path, MachineDescription or NodeTable, optional
        A machine of nodes; the frames then tell what jobs ask of nodes, and on which they run
        (``Stepper.from_queue``).
    now : float, optional
        What time it is, s since 1970, on a machine of nodes, for outages at dates (``Stepper.from_queue``).
    **options
        ``placement``, ``heads`` and ``on_outage``, as for ``simulate``, on a machine of nodes.

    Returns
    -------
    pandas.DataFrame
        One row for each policy and job: policy, processors, requested_time, wait (s; infinity if it needs processors
        that do not come back), behind (number of jobs that wait now and start before it); on nodes also nodes, how
        many the job has.

    Raises
    ------
    ParameterError
        The running jobs have more processors than the machine; a job is wider than the machine, or not a job; it has a
        priority where jobs wait that have none; more processors fail than there are.
    PolicyError
        As ``simulate`` does.

    Examples
    --------
    >>> running = pd.DataFrame({"processors": [3], "requested_time": [600.0], "elapsed": [60.0]})
    >>> waiting = pd.DataFrame({"processors": [4], "requested_time": [100.0], "waited": [20.0]})
    >>> asked = [{"processors": 1, "requested_time": 500.0}, {"processors": 1, "requested_time": 900.0}]
    >>> what_if(running, waiting, asked, 4, ["fcfs", "easy"])[["policy", "wait", "behind"]].values.tolist()
    [['fcfs', 640.0, 1], ['fcfs', 640.0, 1], ['easy', 0.0, 0], ['easy', 640.0, 1]]
    """
    if machine is not None:
        if processors is not None:
            raise ParameterError("processors= and machine= are both given: they are two machines; give one")
        if list(away):
            raise ParameterError("away= counts processors of a pool; change the machine: 'away: nodes=n[1-4],for=2h'")
        return what_if_on_nodes(running, waiting, jobs, policies, machine, {**options, "now": now})
    if processors is None:
        raise ParameterError("give processors=, the size of the machine, or machine=, its nodes")
    if options:
        raise ParameterError(f"{min(options)}= is of a machine of nodes; give machine= too")
    check_queue(running, waiting, processors)
    asked, outages = [dict(job) for job in jobs], sorted((dict(each) for each in away), key=lambda each: each["after"])
    for job in asked:
        _check(job, waiting, processors)
    for outage in outages:
        _check_outage(outage, processors)
    rows = []
    for policy in policies:
        at_present = Stepper.from_queue(running, waiting, processors, policy)
        for job in asked:
            if "priority" in job:
                ahead, mine = _among_those_that_wait(running, waiting, processors, policy, job)
            else:
                ahead = at_present if len(asked) == 1 else at_present.copy()
                mine = ahead.submit(int(job["processors"]), float(job["requested_time"]))
            described = int(job["processors"]), float(job["requested_time"])
            rows.append((policy, *described, *_waits(ahead, mine, outages)))
    return pd.DataFrame(rows, columns=["policy", "processors", "requested_time", "wait", "behind"])


def free_windows(running: pd.DataFrame, processors: int) -> pd.DataFrame:
    """Return how many processors are free from each time on, if running jobs end as requested and none starts.

    Parameters
    ----------
    running : pandas.DataFrame
        As for ``what_if``.
    processors : int
        Size of the machine.

    Returns
    -------
    pandas.DataFrame
        time (s from now, the first is 0) and free.

    Examples
    --------
    >>> running = pd.DataFrame({"processors": [3, 1], "requested_time": [60.0, 90.0], "elapsed": [20.0, 50.0]})
    >>> free_windows(running, 6).values.tolist()
    [[0.0, 2.0], [40.0, 6.0]]
    """
    left = time_left(running)
    times = np.unique(np.concatenate([[0.0], left]))
    width = running["processors"].to_numpy(dtype=np.int64)
    free = [processors - int(width[left > time].sum()) for time in times]
    return pd.DataFrame({"time": times, "free": free})


def _check(job: dict[str, float], waiting: pd.DataFrame, processors: int) -> None:
    """Refuse what is not a job."""
    if set(job) - {"priority"} != {"processors", "requested_time"}:
        raise ParameterError(f"job {job}: give processors and requested_time, as processors=64,time=4h")
    if not is_whole(job["processors"], 1, processors):
        raise ParameterError(f"job {job}: processors is not a whole number from 1 to {processors:,}, which there are")
    check_time_and_priority(job, waiting)


def _check_outage(outage: dict[str, float], processors: int) -> None:
    """Refuse processors that cannot go away."""
    if not {"processors", "after"} <= set(outage) <= {"processors", "after", "time"}:
        raise ParameterError(f"away {outage}: give processors and after, and perhaps time")
    if not is_whole(outage["processors"], 1, processors):
        raise ParameterError(f"away {outage}: processors is not a whole number from 1 to {processors:,}")
    if not 0 <= outage["after"] < np.inf:
        raise ParameterError(f"away {outage}: after is not 0 or more (s from now)")
    if not 0 < outage.get("time", 1.0) < np.inf:
        raise ParameterError(f"away {outage}: time is not above 0 (s)")


def _among_those_that_wait(
    running: pd.DataFrame, waiting: pd.DataFrame, processors: int, policy: str, job: Mapping[str, float]
) -> tuple[Stepper, int]:
    """Return a queue with a job at the place of its priority, and the job."""
    mine = {"processors": int(job["processors"]), "requested_time": float(job["requested_time"])}
    queue, place = with_job(waiting, mine, job.get("priority"))
    known = [name for name in ("job_number",) if name in queue or name in running]  # rows keep the order of the queue
    stepper = Stepper.from_queue(
        running.drop(columns=known, errors="ignore"), queue.drop(columns=known, errors="ignore"), processors, policy
    )
    number = len(running) + place + 1
    return stepper, next(other for other in stepper.waiting.tolist() if stepper.job_number(other) == number)


def _waits(ahead: Stepper, mine: int, outages: list[dict[str, float]]) -> tuple[float, int]:
    """Return how long a job waits, and behind how many of those that wait."""
    begin, waiting = ahead.present, [job for job in ahead.waiting.tolist() if job != mine]
    for outage in outages:
        since = begin + outage["after"]
        if since > begin:
            ahead.run(before=since)
        ahead.take_away(int(outage["processors"]), since + outage["time"] if "time" in outage else None)
    ahead.run()
    start = ahead.first_start(mine)
    behind = sum(ahead.first_start(other) < start for other in waiting)
    return start - begin, behind

# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that may come while those of a queue wait: such as came before, in their order, from a drawn moment on.

Of a past of two days and more a moment is so many whole days ago, as much comes by day that does not by night. A
shorter past is a circle that is entered anywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.keyed_random import uniforms
from swftools.machines.node_table import NodeTable
from swftools.simulator.slurm.asked import SlurmJobs
from swftools.simulator.slurm.requests import slurm_jobs_of
from swftools.trace import Trace

_DAY = 86_400.0

MOST = 5_000
"""Jobs that come at most."""

_BY_ROW = (
    *("cpus", "cpus_per_task", "min_nodes", "max_nodes", "wanted_nodes", "tasks_per_node", "memory_per_cpu"),
    *("memory_per_node", "gpus_per_node", "gpus", "is_exclusive", "association", "qos", "nice", "array_limit", "code"),
)
"""Columns of ``SlurmJobs`` that are handed on row by row as they are."""


class Arrivals(NamedTuple):
    """Jobs that came, a row each.

    Parameters
    ----------
    jobs : SlurmJobs
        What they asked; ``user`` is a place in ``users``.
    users : list of str
        Names.
    come : numpy.ndarray of float64, shape (rows,)
        When they could start, s from now on: 0 or less.
    run_time, limit : numpy.ndarray of float64, shape (rows,)
        s; NaN: how long it runs is drawn.
    span : float
        How long the past is, s.
    """

    jobs: SlurmJobs
    users: list[str]
    come: FloatArray
    run_time: FloatArray
    limit: FloatArray
    span: float

    @property
    def horizon(self) -> float:
        """How long from now on others come, s: as long as the past is, or the longest limit twice, up to a day."""
        return min(max(self.span, 2.0 * float(self.limit.max(initial=0.0))), _DAY)

    def drawn(self, seed: int, draw: int) -> tuple[IntArray, FloatArray]:
        """Return which come again in a draw, and when, s from now on."""
        horizon = self.horizon
        if self.span <= 0.0 or not len(self.come):
            return np.zeros(0, np.int64), np.zeros(0)
        chance = uniforms(seed, "what-if/arrivals", np.array([draw]), np.zeros(1, np.int64), 1)[0, 0]
        days = np.floor(self.span / _DAY)
        ago = _DAY * (1.0 + np.floor(chance * days)) if days >= 2 else self.span * chance
        first = np.mod(self.come + ago, self.span)
        rounds = min(int(np.ceil(horizon / self.span)), MOST)
        times = (first[None, :] + self.span * np.arange(rounds)[:, None]).ravel()
        rows = np.tile(np.arange(len(first)), rounds)
        order = np.argsort(times, kind="stable")
        order = order[times[order] < horizon][:MOST]
        return rows[order], times[order]


def arrivals_of(past: Trace | None, table: NodeTable, queue: Arrivals) -> Arrivals:
    """Return the jobs of a past, and those of a queue.

    Parameters
    ----------
    past : Trace, optional
        Jobs that have ended, the last of them about now.
    table : NodeTable
        The machine; who could never run there does not come.
    queue : Arrivals
        Of the queue; its ``span`` is not looked at.
    """
    if past is None:
        return queue._replace(span=0.0)
    asked, views = slurm_jobs_of(past, table), past.views
    end = views.submit_time + views.wait_time + views.run_time
    ready = np.array(past.jobs.get("eligible_time", views.submit_time), np.float64)
    ready = np.fmax(np.where(np.isfinite(ready), ready, views.submit_time), views.submit_time)
    if not np.isfinite(end).any():
        return queue._replace(span=0.0)
    come = ready - np.nanmax(end)
    rows = np.flatnonzero((asked.code == 0) & np.isfinite(end) & (views.run_time > 0) & (views.requested_time > 0))
    names = past.known_names.get("user", {})
    known = [names.get(number, str(number)) for number in np.unique(views.user_id).tolist()]
    users = list(dict.fromkeys([*queue.users, *known]))
    place = np.array([users.index(name) for name in known], np.int64)
    asked = asked._replace(user=place[asked.user])
    span = -float(come[rows].min(initial=0.0))
    here = np.flatnonzero((queue.jobs.code == 0) & (queue.come >= -span) & (queue.come <= 0.0))
    return Arrivals(
        joined(rows_of(queue.jobs, here), rows_of(asked, rows)),
        users,
        np.concatenate([queue.come[here], come[rows]]),
        np.concatenate([queue.run_time[here], views.run_time[rows]]),
        np.concatenate([queue.limit[here], views.requested_time[rows]]),
        span,
    )


def rows_of(jobs: SlurmJobs, rows: IntArray) -> SlurmJobs:
    """Return what some rows ask, in their order; a row may come several times."""
    counts = np.diff(jobs.first_partition)[rows]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    at = np.repeat(jobs.first_partition[:-1][rows] - first[:-1], counts) + np.arange(first[-1])
    taken: dict[str, Any] = {name: getattr(jobs, name)[rows] for name in _BY_ROW}
    return jobs._replace(
        **taken,
        user=jobs.user[rows],
        nodes_allowed=jobs.nodes_allowed[rows],
        array=jobs.array[rows],
        first_partition=first,
        partition=jobs.partition[at],
        ready_time=np.empty(0),
    )


def joined(some: SlurmJobs, others: SlurmJobs) -> SlurmJobs:
    """Return what the rows of both ask; users are places in one list, arrays are other ones."""
    both: dict[str, Any] = {name: np.concatenate([getattr(some, name), getattr(others, name)]) for name in _BY_ROW}
    allowed = np.where(others.nodes_allowed >= 0, others.nodes_allowed + len(some.sets), -1)
    array = np.where(others.array >= 0, others.array + some.array.max(initial=-1) + 1, -1)
    return some._replace(
        **both,
        user=np.concatenate([some.user, others.user]),
        nodes_allowed=np.concatenate([some.nodes_allowed, allowed]),
        array=np.concatenate([some.array, array]),
        sets=np.concatenate([some.sets, others.sets]),
        first_partition=np.concatenate([some.first_partition, others.first_partition[1:] + some.first_partition[-1]]),
        partition=np.concatenate([some.partition, others.partition]),
    )

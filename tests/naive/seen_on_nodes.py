# SPDX-License-Identifier: BSD-3-Clause
"""What an agent sees of a machine of nodes, counted anew at each look, and who decides by it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.naive.nodes import Cluster, Job
from tests.naive.nodes_away import AwayCluster


def share(seconds: float) -> float:
    """Return a time as it is seen."""
    return seconds / (seconds + 3600) if math.isfinite(seconds) else 1.0


def part(some: float, whole: float) -> float:
    """Return a share; 0 of nothing."""
    return some / whole if whole else 0.0


def is_away(cluster: Cluster, node: int) -> bool:
    """Whether an outage of a node lasts now."""
    outages = cluster.table.outages
    return any(
        outages.node[row] == node and outages.begin[row] <= cluster.now < outages.end[row]
        for row in range(len(outages))
    )


def free_of(cluster: Cluster, nodes: Sequence[int]) -> list[float]:
    """Return the shares of cores, memory and GPUs that are free of some nodes, and of nodes where nothing runs."""
    table, there = cluster.table, [node for node in nodes if not is_away(cluster, node)]
    free = [cluster.free(node, cluster.here(node)) for node in there]
    have = [(table.gpus[node], table.cores[node], table.memory[node]) for node in nodes]
    shares = [part(sum(each[what] for each in free), sum(each[what] for each in have)) for what in range(3)]
    return [shares[1], shares[2], shares[0], part(sum(not cluster.here(node) for node in there), len(nodes))]


def seen_on_nodes(cluster: Cluster, k: int, to_come: bool, reserves: bool) -> tuple[Any, Any]:
    """Return observation and mask."""
    table, now = cluster.table, cluster.now
    partitions, every = table.partitions, list(range(len(table)))
    columns, kinds = 12 + len(partitions), len(table.kinds)
    seen, mask = np.zeros((k + 1 + kinds + len(partitions), columns)), np.zeros(k + 1, np.int8)
    most = [int(amount.max()) for amount in (table.cores, table.memory, table.gpus)]
    inside = [partition.nodes.tolist() for partition in partitions]
    groups = [[node for node in every if table.kind[node] == kind] for kind in range(kinds)] + inside
    free = sum(cluster.free(node, cluster.here(node))[1] for node in every if not is_away(cluster, node))
    begin, spare, reserved = now, float(free), []
    head = cluster.waiting[0] if cluster.waiting else None
    head_fits = head is not None and bool(cluster.where_now(head))
    if head and head_fits:
        spare -= head.width
    elif head and (reservation := cluster.reserve(head, [])):
        reserved, begin = [reservation], reservation.begin
        there = [node for node in every if cluster.is_there(head, node, begin, reservation.end)]
        spare = sum(cluster.free(node, cluster.then(node, begin, reserved))[1] for node in there)
    elif head:
        begin, spare = math.inf, 0.0
    for row, job in enumerate(cluster.waiting[:k]):
        fits = bool(cluster.where_now(job))
        ahead = fits and (job is head or (not head_fits and bool(cluster.where_now(job, reserved))))
        seen[row, :6] = job.width / table.processors, share(job.request), share(now - job.submit), fits, ahead, 1
        asks = (part(asked, of) for asked, of in zip((job.cores, job.memory, job.gpus), most, strict=True))
        most_free = max(free_of(cluster, inside[partition])[0] for partition in job.partitions)
        seen[row, 6:12] = job.nodes / len(table), *asks, job.is_exclusive, most_free
        seen[row, 12:] = [place in job.partitions for place in range(len(partitions))]
        mask[row] = fits or reserves
    cores, memory, gpus, idle = free_of(cluster, every)
    ends = [max(job.expected_end - now, 0.0) for job in cluster.running]
    queue = len(cluster.waiting) / (len(cluster.waiting) + k)
    seen[k, :5] = cores, share(begin - now), queue, max(spare, 0) / table.processors, share(min(ends, default=0.0))
    seen[k, 6:10] = idle, cores, memory, gpus
    for row, nodes in enumerate(groups, k + 1):
        if not nodes:
            continue
        seen[row, :5] = *free_of(cluster, nodes), len(nodes) / len(table)
        amounts = zip((table.cores, table.memory, table.gpus), most, strict=True)
        seen[row, 7:10] = [part(int(amount[nodes].max()), of) for amount, of in amounts]
        # A kind has those partitions that have a node of it; a partition is its own.
        seen[row, 12:] = [bool(set(nodes) & set(other)) for other in inside] if row <= k + kinds else 0.0
        if row > k + kinds:
            seen[row, 12 + row - k - 1 - kinds] = 1
    changes = cluster.changes() if isinstance(cluster, AwayCluster) else set()
    mask[k] = bool(cluster.running) or to_come or any(time > now for time in changes)
    return seen, mask


@dataclass
class Played:
    """Decides by what an agent says, and notes what it saw, could do and did."""

    jobs: Sequence[Job]
    agent: Callable[[Any, Any], int]
    k: int
    reserves: bool = False
    steps: list[tuple[Any, Any, int]] = field(default_factory=list)

    def __call__(self, cluster: Cluster) -> None:
        """Ask until nobody that is seen fits, or the agent waits, or has somebody wait with a reservation."""
        while any(cluster.where_now(job) for job in cluster.waiting[: self.k]):
            to_come = any(job.start is None and job not in cluster.waiting for job in self.jobs)
            if isinstance(cluster, AwayCluster):
                to_come = cluster.is_to_come
            seen, mask = seen_on_nodes(cluster, self.k, to_come, self.reserves)
            action = self.agent(seen, mask)
            self.steps.append((seen, mask, action))
            if action == self.k:
                return
            job = cluster.waiting[action]
            if where := cluster.where_now(job):
                cluster.start(job, where)
                continue
            reservation = cluster.reserve(job, [])
            reserved = [reservation] if reservation else []
            for other in list(cluster.waiting):
                if other is not job and (where := cluster.where_now(other, reserved)):
                    cluster.start(other, where)
            return

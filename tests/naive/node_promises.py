# SPDX-License-Identifier: BSD-3-Clause
"""What the first waiting job is promised on nodes, the slow obvious way: at each instant the machine is built anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from swftools.machines.node_table import NodeTable
from tests.naive.nodes import MACHINE, Cluster, Job, Placement


def queues_of(jobs: Sequence[Job], table: NodeTable, heads: str) -> list[list[Job]]:
    """Return the jobs of each queue in order of entry: partitions with nodes or jobs in common have one.

    Those that no job asks for do not count.
    """
    in_turn = sorted(jobs, key=lambda job: job.entry)
    if heads == MACHINE:
        return [in_turn]
    queues: list[tuple[set[int], set[int]]] = [
        ({place}, set(part.nodes.tolist()))
        for place, part in enumerate(table.partitions)
        if any(place in job.partitions for job in jobs)
    ]
    queues += [(set(job.partitions), set()) for job in jobs]
    merged = True
    while merged:
        merged = False
        for one in queues:
            for other in queues:
                if one is not other and (one[0] & other[0] or one[1] & other[1]):
                    queues.remove(other)
                    one[0].update(other[0])
                    one[1].update(other[1])
                    merged = True
                    break
            if merged:
                break
    return [[job for job in in_turn if job.partitions[0] in places] for places, _ in queues]


def running_at(queue: Sequence[Job], head: Job, now: float) -> list[Job]:
    """Return who runs before the decision: of those who start just now only who was before the head."""
    running = [job for job in queue if start_of(job) < now < job.end]
    if any(job.end == start_of(job) == now for job in queue):  # there were two decisions, so it is not known who did
        return [job for job in queue if start_of(job) <= now <= job.end]
    before = queue[: queue.index(head)]
    return running + [job for job in before if start_of(job) == now]


def start_of(job: Job) -> float:
    """Return when a job started."""
    assert job.start is not None
    return job.start


def idle_heads(jobs: Sequence[Job], table: NodeTable, heads: str) -> set[int]:
    """Return who waits at some instant though it fits, where no other that was before it waits for the same nodes."""
    in_turn = sorted(jobs, key=lambda job: job.entry)
    idle = set()
    for now in sorted({job.entry for job in jobs} | {start_of(job) for job in jobs} | {job.end for job in jobs}):
        cluster = Cluster(table, Placement(), heads, now)
        cluster.running = [job for job in jobs if start_of(job) <= now < job.end]
        waited_for: set[int] = set()
        for job in in_turn:
            if not job.entry <= now < start_of(job):
                continue
            for place, nodes in zip(job.partitions, job.sets, strict=True):
                is_free = waited_for.isdisjoint(table.partitions[place].nodes.tolist())
                if is_free and cluster.where_now(replace(job, sets=[nodes], partitions=[place])):
                    idle.add(job.row)
            if heads == MACHINE:
                break
            for place in job.partitions:
                waited_for.update(table.partitions[place].nodes.tolist())
    return idle


def broken_promises(jobs: Sequence[Job], table: NodeTable, heads: str) -> dict[str, set[int]]:
    """Return the rows of jobs to which a promise was broken, by the promise."""
    broken: dict[str, set[int]] = {"head-reservation": set(), "backfilling": set()}
    broken["no-idle-head"] = idle_heads(jobs, table, heads)
    for queue in queues_of(jobs, table, heads):
        outlived = [job for job in queue if job.end > job.expected_end]
        for place, head in enumerate(queue):
            since = max([head.entry, *(start_of(job) for job in queue[:place])])
            for now in sorted({since, *(start_of(job) for job in queue), *(job.end for job in queue)}):
                if not since <= now < start_of(head):
                    continue
                cluster = Cluster(table, Placement(), heads, now)
                if any(start_of(job) < start_of(head) and job.end >= now for job in outlived):
                    continue
                cluster.running = running_at(queue, head, now)
                late = cluster.reserve(head, []).begin < start_of(head)
                if late and now == since:
                    broken["head-reservation"].add(head.row)
                if late and now > since and any(start_of(job) == now for job in queue):
                    broken["backfilling"].add(head.row)
    return broken

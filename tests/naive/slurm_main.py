# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's main scheduler: a pass over the queue in which a job that finds no nodes closes its partition."""

from __future__ import annotations

import math

from tests.naive.slurm_limits import OF_USAGE, after_choosing, as_asked, before_choosing
from tests.naive.slurm_nodes import forget_light, note_refused
from tests.naive.slurm_preemption import choose_by_preempting, stop
from tests.naive.slurm_priority import entries, reaches_array_limit
from tests.naive.slurm_world import Job, World


def is_low(world: World, job: Job, partition: int) -> bool:
    """Whether the priority of a job is too low for backfill to plan it."""
    lowest = world.parameter("bf_min_prio_reserve")
    return lowest > 0 and job.priority[partition] < lowest


def is_young(world: World, job: Job) -> bool:
    """Whether a job has not waited long enough for backfill to plan it."""
    return world.now - math.floor(job.eligible) < world.parameter("bf_min_age_reserve")


def work_pass(world: World, is_full: bool) -> bool:
    """Start jobs in the order of the queue; unless the pass is a full one only its head is looked at.

    Return whether a limit of usage stands against each entry of the queue.
    """
    allowed = set(range(len(world.table))) - set(world.cleaning)
    failed: set[int] = set()
    refused: dict[tuple[int, int], str] = {}
    by_partition: dict[int, int] = {}
    looked_at = started = 0
    most_starts, most_of_partition = world.parameter("sched_max_job_start"), world.parameter("partition_job_depth")

    def fail(partition: int) -> None:
        failed.add(partition)
        allowed.difference_update(world.nodes_of(partition))

    def finds_none(job: Job, partition: int) -> str:
        """Close a partition, unless for a job too young or too low to be planned by backfill."""
        if not is_young(world, job) and not is_low(world, job, partition):
            fail(partition)
        return "Resources"

    def try_to_start(job: Job, partition: int) -> str:
        """Start a job, or return why not."""
        if partition in failed:
            return "Priority"
        if reason := before_choosing(world, job, partition):
            if world.parameter("assoc_limit_stop"):
                fail(partition)
            return reason
        if len(allowed & world.nodes_of(partition)) < job.min_nodes:
            return finds_none(job, partition)
        forget_light(world, world.nodes_of(partition) & job.nodes_allowed)
        found = choose_by_preempting(world, job, partition, allowed)
        if found is None:
            note_refused(world, job, partition)
            if reason := after_choosing(world, job, partition, as_asked(world, job, partition)):
                if world.parameter("assoc_limit_stop"):
                    fail(partition)
                return reason
            return finds_none(job, partition)
        placed, leaving = found
        if reason := after_choosing(world, job, partition, placed):
            if world.parameter("assoc_limit_stop"):
                fail(partition)
            return reason
        if not stop(world, leaving, placed):
            return finds_none(job, partition)
        world.start(job, partition, placed, "main")
        return ""

    outcomes: list[str] = []
    for job, partition in entries(world):
        if job not in world.waiting:
            continue
        if most_starts and started >= most_starts:
            return False
        if job.array >= 0 and (job.array, partition) in refused:
            world.tell(job, refused[job.array, partition])
            outcomes.append(job.reason)
            continue
        if reaches_array_limit(world, job):
            refused[job.array, partition] = "JobArrayTaskLimit"
            world.tell(job, "JobArrayTaskLimit")
            outcomes.append(job.reason)
            continue
        by_partition[partition] = by_partition.get(partition, 0) + 1
        if most_of_partition and by_partition[partition] > most_of_partition:
            reason = job.reason
            outcomes.append("not looked at")
        else:
            looked_at += 1
            if not is_full and looked_at > world.parameter("default_queue_depth") + 1:
                return False
            reason = try_to_start(job, partition)
            outcomes.append(reason)
        if not reason:
            started += 1
            continue
        world.tell(job, reason)
        if job.array >= 0:
            refused[job.array, partition] = reason
    return set(outcomes) <= OF_USAGE

# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's preemption: which running jobs have to leave so that another can start, and what becomes of them."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace

from tests.naive.slurm_nodes import choose
from tests.naive.slurm_priority import add_usage
from tests.naive.slurm_world import Job, Placed, Run, World

LEAVING = ("requeue", "cancel", "suspend")
"""Modes that are simulated here."""


def mode_of(world: World, job: Job) -> str:
    """Return how a running job is preempted."""
    own = world.site.partitions[job.partition].preempt_mode
    if world.site.preempt_type == "qos":
        own = world.site.qos[job.qos].preempt_mode if job.qos >= 0 else "cluster"
    return world.site.preempt_mode if own == "cluster" else own


def grace_of(world: World, job: Job) -> float:
    """Return how long a running job may go on when it is preempted, s."""
    if world.site.preempt_type == "qos":
        return world.site.qos[job.qos].grace_time
    return world.site.partitions[job.partition].grace_time


def may_preempt(world: World, job: Job, partition: int, other: Job) -> bool:
    """Whether a job may preempt another one that runs."""
    if mode_of(world, other) not in LEAVING:
        return False
    if world.site.preempt_type == "qos":
        if job.qos < 0 or other.qos < 0 or world.site.qos[other.qos].name not in world.site.qos[job.qos].preempt:
            return False
        return world.now - math.floor(other.start) >= world.site.qos[other.qos].preempt_exempt_time
    tiers = [each.tier for each in world.table.partitions]
    return world.site.preempt_type == "partition_prio" and tiers[other.partition] < tiers[partition]


def preemptable(world: World, job: Job, partition: int, nodes: Collection[int]) -> list[Job]:
    """Return the jobs on some nodes that a job may preempt, by priority of their QOS, or by tier; then by nodes.

    Priorities above 65,535 count as that. Where the youngest go first, by their starts. Ties by row.
    """
    there = set(nodes) & world.nodes_of(partition) & job.nodes_allowed
    found = [
        other
        for other in world.running
        if there & set(other.placed.cores) and may_preempt(world, job, partition, other)
    ]
    if world.parameter("preempt_youngest_first"):
        return sorted(found, key=lambda other: (-math.floor(other.start), other.row))

    def rank(other: Job) -> float:
        if world.site.preempt_type == "qos":
            return min(world.site.qos[other.qos].priority, 65535)
        return world.table.partitions[other.partition].tier

    return sorted(found, key=lambda other: (rank(other), len(other.placed.cores), other.row))


def choose_by_preempting(
    world: World, job: Job, partition: int, nodes: Collection[int]
) -> tuple[Placed, list[Job]] | None:
    """Return what a job gets of some nodes, and who has to leave them; None if that does not help either.

    Candidates are taken away one after the other until it fits. Then the last of them is put first, the others of them
    by how many of the chosen nodes they have (not in strict order), and it is done again: two times, unless
    ``preempt_reorder_count`` says otherwise, but at most as often as there are other candidates.
    """
    if placed := choose(world, job, partition, nodes, list(world.running)):
        return placed, []
    candidates = preemptable(world, job, partition, nodes)
    by_qos = world.site.preempt_type == "qos"
    suspended = [each for each in candidates if mode_of(world, each) == "suspend"]
    if suspended and (not by_qos or candidates[0] is suspended[0]):
        placed = choose_by_suspending(world, job, partition, nodes, suspended)
        if placed:
            return placed, [each for each in suspended if set(each.placed.cores) & set(placed.cores)]
        if by_qos:
            return None
    candidates = [each for each in candidates if each not in suspended]
    times = min(world.parameter("preempt_reorder_count") + 1, len(candidates) - 1)
    while True:
        found = take_away(world, job, partition, nodes, candidates)
        if found is None:
            return None
        placed, gone = found
        if times <= 0:
            return placed, [each for each in gone if set(each.placed.cores) & set(placed.cores)]
        times -= 1
        others = gone[:-1]
        if not world.parameter("preempt_strict_order"):
            others.sort(key=lambda each: -len(set(each.placed.cores) & set(placed.cores)))
        candidates = [gone[-1], *others, *candidates[len(gone) :]]


def take_away(
    world: World, job: Job, partition: int, nodes: Collection[int], candidates: list[Job]
) -> tuple[Placed, list[Job]] | None:
    """Return what a job gets as candidates go one after the other, and who went; None if it never fits."""
    held, gone = list(world.running), []
    for other in candidates:
        held.remove(other)
        gone.append(other)
        if placed := choose(world, job, partition, nodes, held):
            return placed, gone
    return None


def beside(job: Job, *, is_idle: bool) -> Job:
    """Return a job as it is for those that it stands for: without CPUs; and, if a node is idle then, only in memory."""
    assert job.placed is not None
    cores = {} if is_idle else dict.fromkeys(job.placed.cores, 0)
    return replace(job, placed=replace(job.placed, cores=cores))


def choose_by_suspending(
    world: World, job: Job, partition: int, nodes: Collection[int], suspended: list[Job]
) -> Placed | None:
    """Return what a job gets of some nodes if the CPUs of some jobs are free; None if that does not help.

    As far as that suffices jobs of partitions of higher tier keep their CPUs: first those of the highest one that is
    lower than its own, then also those of the next.
    """
    lending = [each for each in suspended if not world.is_alone(each, each.partition)]

    def choose_beside(lent: list[Job]) -> Placed | None:
        held = [beside(each, is_idle=False) if each in lent else each for each in world.running]
        return choose(world, job, partition, nodes, held)

    placed = choose_beside(lending)
    if placed is None or world.site.preempt_type == "qos":
        return placed
    tiers = [each.tier for each in world.table.partitions]
    for other in sorted({each.partition for each in lending}, key=lambda other: (-tiers[other], other)):
        lending = [each for each in lending if each.partition != other]
        better = choose_beside(lending)
        if better is None:
            return placed
        placed = better
    return placed


def rank_of(world: World, job: Job) -> tuple[float, float, int]:
    """Return by what running jobs keep their CPUs: tier or priority of QOS, then who began first."""
    high = world.table.partitions[job.partition].tier
    if world.site.preempt_type == "qos":
        high = min(world.site.qos[job.qos].priority, 65535)
    assert job.start is not None
    return -high, job.start, job.row


def fits_beside(world: World, job: Job, others: Collection[Job]) -> bool:
    """Whether a job has its CPUs beside others."""
    return all(world.free_cores(node, others) >= cores for node, cores in job.placed.cores.items())


def make_room(world: World, placed: Placed, jobs: list[Job]) -> None:
    """Suspend those of some jobs that do not fit beside who is placed."""
    active = [each for each in jobs if not each.stands]
    there = [each for each in world.running if not each.stands and each not in active]
    newcomer = replace(jobs[0], placed=placed)
    for job in sorted(active, key=lambda job: rank_of(world, job)):
        if fits_beside(world, job, [newcomer, *there]):
            there.append(job)
            continue
        assert job.end is not None
        world.runs.append(
            Run(job.row, job.run_start, world.time, job.where, job.by, job.partition, "suspend", job.done > 0)
        )
        job.done += world.time - job.run_start
        job.stands, job.stood_from, job.end = True, math.floor(world.time), math.inf


def go_on(world: World) -> None:
    """Let suspended jobs go on that fit again."""
    there = [each for each in world.running if not each.stands]
    for job in sorted((each for each in world.running if each.stands), key=lambda job: rank_of(world, job)):
        if fits_beside(world, job, there):
            there.append(job)
            job.ran += job.stood_from - job.went_on
            job.stands, job.run_start, job.went_on = False, world.time, math.floor(world.time)
            job.end = world.time + job.run - job.done


def stop(world: World, jobs: list[Job], placed: Placed) -> bool:
    """Stop jobs, at once or when their grace is over; return whether all are gone. Who is suspended need not go."""
    if jobs and mode_of(world, jobs[0]) == "suspend":
        make_room(world, placed, jobs)
        return True
    for job in jobs:
        if not job.stopped:
            job.stopped = mode_of(world, job)
            job.end = min(job.end, world.time + grace_of(world, job))
        if job.end <= world.time:
            end_run(world, job)
            world.is_asked = True
    return not any(job in world.running for job in jobs) and not (jobs and world.completing)


def end_run(world: World, job: Job) -> None:
    """Let a run end; a job that was preempted before it was done may come back."""
    add_usage(world, job, math.floor(job.end))
    world.running.remove(job)
    if world.completing:
        world.cleaning |= dict.fromkeys(job.placed.cores, job.end + world.completing)
    is_done = job.end >= job.run_start + job.run - job.done
    how = "" if is_done else job.stopped
    world.runs.append(Run(job.row, job.run_start, job.end, job.where, job.by, job.partition, how, job.done > 0))
    if how == "requeue":
        world.time = job.end
        world.tell(job, "BeginTime")
        job.eligible = job.end + world.site.requeue_delay
        job.start, job.end, job.placed, job.by, job.partition, job.stopped = None, None, None, "", -1, ""
        world.coming.append(job)

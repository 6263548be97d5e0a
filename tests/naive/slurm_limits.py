# SPDX-License-Identifier: BSD-3-Clause
"""Limits of QOS and associations, and the reasons that Slurm gives: which of them a job would exceed now."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.naive.slurm_world import Amounts, Job, Placed, World, held_by

ORDER = ("cpu", "mem", "node", "gres/gpu", "billing")
"""The resources of the columns below."""

NAMES = {
    ("assoc", "grp_tres"): "AssocGrpCpuLimit AssocGrpMemLimit AssocGrpNodeLimit AssocGrpGRES AssocGrpBilling",
    ("assoc", "grp_tres_mins"): "AssocGrpCPUMinutesLimit AssocGrpMemMinutes AssocGrpNodeMinutes AssocGrpGRESMinutes "
    "AssocGrpBillingMinutes",
    ("assoc", "grp_tres_run_mins"): "AssocGrpCPURunMinutesLimit AssocGrpMemRunMinutes AssocGrpNodeRunMinutes "
    "AssocGrpGRESRunMinutes AssocGrpBillingRunMinutes",
    ("assoc", "max_tres"): "AssocMaxCpuPerJobLimit AssocMaxMemPerJob AssocMaxNodePerJobLimit AssocMaxGRESPerJob "
    "AssocMaxBillingPerJob",
    ("assoc", "max_tres_mins"): "AssocMaxCpuMinutesPerJobLimit AssocMaxMemMinutesPerJob "
    "AssocMaxNodeMinutesPerJobLimit AssocMaxGRESMinutesPerJob AssocMaxBillingMinutesPerJob",
    ("assoc", "max_tres_per_node"): "AssocMaxCpuPerNode AssocMaxMemPerNode - AssocMaxGRESPerNode "
    "AssocMaxBillingPerNode",
    ("qos", "grp_tres"): "QOSGrpCpuLimit QOSGrpMemLimit QOSGrpNodeLimit QOSGrpGRES QOSGrpBilling",
    ("qos", "grp_tres_mins"): "QOSGrpCPUMinutesLimit QOSGrpMemoryMinutes QOSGrpNodeMinutes QOSGrpGRESMinutes "
    "QOSGrpBillingMinutes",
    ("qos", "grp_tres_run_mins"): "QOSGrpCPURunMinutesLimit QOSGrpMemoryRunMinutes QOSGrpNodeRunMinutes "
    "QOSGrpGRESRunMinutes QOSGrpBillingRunMinutes",
    ("qos", "max_tres"): "QOSMaxCpuPerJobLimit QOSMaxMemoryPerJob QOSMaxNodePerJobLimit QOSMaxGRESPerJob "
    "QOSMaxBillingPerJob",
    ("qos", "max_tres_mins"): "QOSMaxCpuMinutesPerJobLimit QOSMaxMemoryMinutesPerJob QOSMaxNodeMinutesPerJob "
    "QOSMaxGRESMinutesPerJob QOSMaxBillingMinutesPerJob",
    ("qos", "max_tres_per_node"): "QOSMaxCpuPerNode QOSMaxMemoryPerNode - QOSMaxGRESPerNode QOSMaxBillingPerNode",
    ("qos", "min_tres"): "QOSMinCpuNotSatisfied QOSMinMemory QOSMinNode QOSMinGRES QOSMinBilling",
    ("qos", "max_tres_pa"): "MaxCpuPerAccount MaxMemoryPerAccount MaxNodePerAccount MaxGRESPerAccount "
    "MaxBillingPerAccount",
    ("qos", "max_tres_pu"): "QOSMaxCpuPerUserLimit QOSMaxMemoryPerUser QOSMaxNodePerUserLimit QOSMaxGRESPerUser "
    "QOSMaxBillingPerUser",
}
"""What a job that waits for a limit of a resource has as its reason."""

GROUP = ("grp_tres_mins", "grp_tres", "grp_tres_run_mins")
OF_USAGE = {*NAMES["assoc", "grp_tres_mins"].split(), *NAMES["qos", "grp_tres_mins"].split()}
OF_A_JOB = ("max_tres_mins", "max_tres", "max_tres_per_node")
OF_QOS = (*GROUP, *OF_A_JOB, "min_tres", "max_tres_pa", "max_tres_pu")


def are_enforced(world: World) -> bool:
    """Whether limits count at all."""
    return "limits" in world.site.enforce


def account_of(world: World, job: Job) -> str | None:
    """Return the account of a job."""
    return world.site.associations[job.association].account if job.association >= 0 else None


def with_qos(world: World, qos: int) -> list[Job]:
    """Return the running jobs that count in a QOS."""
    return [job for job in world.running if qos in world.all_qos(job, job.partition)]


def below(world: World, association: int) -> list[Job]:
    """Return the running jobs of an association and of those below it."""
    return [job for job in world.running if association in world.line_of(job.association)]


def before_choosing(world: World, job: Job, partition: int) -> str:
    """Return why a job may not start yet, whatever its nodes; empty if it may."""
    return next(exceeded_before(world, job, partition), "") if are_enforced(world) else ""


def exceeded_before(world: World, job: Job, partition: int) -> Iterator[str]:
    """Yield the reasons of all limits of numbers and time that a job would exceed."""
    told: set[str] = set()
    for qos in world.all_qos(job, partition):
        limits, running = world.site.qos[qos].limits, with_qos(world, qos)
        of_account = [each for each in running if account_of(world, each) == account_of(world, job)]
        of_user = [each for each in running if each.user == job.user]
        for name, limit, number, reason in [
            ("grp_jobs", limits.grp_jobs, len(running), "QOSGrpJobsLimit"),
            ("max_jobs_pa", limits.max_jobs_pa, len(of_account), "MaxJobsPerAccount"),
            ("max_jobs_pu", limits.max_jobs_pu, len(of_user), "QOSMaxJobsPerUserLimit"),
        ]:
            if limit is not None and name not in told and number + 1 > limit:
                yield reason
        if limits.max_wall is not None and "max_wall" not in told and job.limit > limits.max_wall:
            yield "QOSMaxWallDurationPerJobLimit"
        for name in ("grp_jobs", "max_jobs_pa", "max_jobs_pu", "max_wall"):
            if getattr(limits, name) is not None:
                told.add(name)
    for association in world.line_of(job.association):
        limits, running = world.site.associations[association].limits, below(world, association)
        if limits.grp_jobs is not None and len(running) + 1 > limits.grp_jobs:
            yield "AssocGrpJobsLimit"
        if association == job.association:
            if limits.max_jobs is not None and "max_jobs_pu" not in told and len(running) + 1 > limits.max_jobs:
                yield "AssocMaxJobsLimit"
            if limits.max_wall is not None and "max_wall" not in told and job.limit > limits.max_wall:
                yield "AssocMaxWallDurationPerJobLimit"


def after_choosing(world: World, job: Job, partition: int, placed: Placed) -> str:
    """Return why a job may not start on the nodes that were chosen; empty if it may."""
    return next(exceeded_after(world, job, partition, placed), "") if are_enforced(world) else ""


def as_asked(world: World, job: Job, partition: int) -> Placed:
    """Return what a job asks for on as many nodes as it wants, which are alike; they are none of the machine's.

    Of a job that has its nodes alone all cores count, those of the mean node of the partition, once backfill has found
    a time for it.
    """
    many = job.min_nodes if job.gpus else job.wanted_nodes
    cpus = Fraction(job.cpus)
    if job.has_time and world.is_alone(job, partition):
        nodes = world.nodes_of(partition)
        cpus = max(cpus, Fraction(many * sum(world.cores(node) for node in nodes), len(nodes)))
    memory = job.memory_per_cpu * job.cpus + job.memory_per_node * many
    gpus = job.gpus + job.gpus_per_node * many
    parts: list[dict[int, Any]] = [
        {node: Fraction(amount, many) for node in range(many)} for amount in (cpus, memory, gpus)
    ]
    return Placed(*parts)


def exceeded_after(world: World, job: Job, partition: int, placed: Placed) -> Iterator[str]:
    """Yield the reasons of all limits of resources that a job would exceed on its nodes."""
    told: set[tuple[str, str]] = set()
    for qos in world.all_qos(job, partition):
        limits, running, used = world.site.qos[qos].limits, with_qos(world, qos), world.used_by_qos[qos]
        for kind in OF_QOS:
            for name, limit in getattr(limits, kind).items():
                is_told = (kind, name) in told
                if not is_told and exceeds(world, job, partition, placed, kind, name, limit, running, used):
                    yield reason_of("qos", kind, name)
        told |= {(kind, name) for kind in OF_QOS for name in getattr(limits, kind)}
    for association in world.line_of(job.association):
        limits, running = world.site.associations[association].limits, below(world, association)
        used = world.used_by_association[association]
        for kind in (*GROUP, *OF_A_JOB) if association == job.association else GROUP:
            for name, limit in getattr(limits, kind).items():
                is_told = kind in OF_A_JOB and (kind, name) in told
                if not is_told and exceeds(world, job, partition, placed, kind, name, limit, running, used):
                    yield reason_of("assoc", kind, name)


def reason_of(owner: str, kind: str, name: str) -> str:
    """Return how Slurm names a limit."""
    return NAMES[owner, kind].split()[ORDER.index(name)]


def exceeds(
    world: World,
    job: Job,
    partition: int,
    placed: Placed,
    kind: str,
    name: str,
    limit: float,
    running: list[Job],
    used: Amounts,
) -> bool:
    """Whether a job would exceed a limit of a resource beside those that run."""

    def held(each: Job) -> float:
        return held_by(world, each.partition, each.placed)[name]

    own = held_by(world, partition, placed)[name]
    if kind == "min_tres":
        return own < limit
    if kind == "max_tres":
        return own > limit
    if kind == "max_tres_mins":
        return own * job.limit / 60 > limit
    if kind == "max_tres_per_node":
        return largest_on_a_node(world, partition, placed, name) > limit
    if kind == "grp_tres_mins":
        return used.get(name, 0.0) / 60 + own * job.limit / 60 > limit
    if kind == "grp_tres_run_mins":
        return (sum(held(each) * each.limit for each in running) + own * job.limit) / 60 > limit
    if kind == "max_tres_pa":
        running = [each for each in running if account_of(world, each) == account_of(world, job)]
    if kind == "max_tres_pu":
        running = [each for each in running if each.user == job.user]
    return sum(held(each) for each in running) + own > limit


def largest_on_a_node(world: World, partition: int, placed: Placed, name: str) -> float:
    """Return the most that a job holds on one of its nodes."""

    def on(node: int) -> Placed:
        return Placed(*({node: part[node]} for part in (placed.cores, placed.memory, placed.gpus)))

    return max(held_by(world, partition, on(node))[name] for node in placed.cores)

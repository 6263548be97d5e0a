# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs could ever start under Slurm: each is put on an idle machine where nobody has used anything."""

from __future__ import annotations

from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmSite
from tests.naive.slurm_limits import after_choosing, before_choosing
from tests.naive.slurm_nodes import choose
from tests.naive.slurm_world import Job, World


def why_never(site: SlurmSite, table: NodeTable, job: Job, used: float = 0.0) -> str:
    """Return why a job can start in none of its partitions, by the first of them; empty if it can in one.

    ``used``: of CPUs and billing, before, by everybody, units x s.
    """
    world = World(site, table, [job])
    world.used_by_association = {place: {"cpu": used, "billing": used} for place in range(len(site.associations))}
    world.used_by_qos = {place: {"cpu": used, "billing": used} for place in range(len(site.qos))}
    reasons = [why_not_in(world, job, partition) for partition in job.partitions]
    return "" if "" in reasons else reasons[0]


def why_not_in(world: World, job: Job, partition: int) -> str:
    """Return why a job cannot start in a partition; empty if it can."""
    if before := before_choosing(world, job, partition):
        return before
    placed = choose(world, job, partition, range(len(world.table)), [])
    return "Resources" if placed is None else after_choosing(world, job, partition, placed)

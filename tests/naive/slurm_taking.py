# SPDX-License-Identifier: BSD-3-Clause
"""How much a job takes of nodes that are chosen for it, and which nodes come first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tests.naive.slurm_world import Job, World

Held = Sequence[Job]
Usable = dict[int, int]


def each_of(job: Job) -> int:
    """Return the tasks that each node of a job is to have; 0: as it comes."""
    return job.tasks_per_node or (1 if job.min_nodes == job.max_nodes == job.tasks else 0)


def heaviness(world: World, node: int) -> tuple[int, int]:
    """Return the weight of a node; within it nodes are lighter by the last test of a job with GPUs."""
    return int(world.table.weight[node]), -world.light.get(node, 0)


def share(world: World, job: Job, partition: int, usable: int, rest: int, taken: int) -> tuple[int, int]:
    """Return the most CPUs that a job may hold of a node, and by how many fewer CPUs are sought then."""
    if world.is_alone(job, partition):
        return usable, usable
    if each_of(job):
        return each_of(job) * job.cpus_per_task, each_of(job) * job.cpus_per_task
    kept = max(job.min_nodes - taken - 1, 0) * job.cpus_per_task
    cpus = min(usable, max(rest - kept, job.cpus_per_task))
    return cpus, cpus


@dataclass
class Taken:
    """Nodes that have been taken, with the most cores that the job may hold of each, and what is still missing."""

    world: World
    job: Job
    partition: int
    usable: Usable
    held: Held

    def __post_init__(self) -> None:
        self.cores: Usable = {}
        self.rest = self.job.cpus
        self.nodes = self.job.min_nodes if self.job.gpus else self.job.wanted_nodes
        self.gpus = self.job.gpus
        self.most_nodes = self.job.max_nodes or max(self.job.tasks, self.job.min_nodes)

    def is_done(self) -> bool:
        """Whether no more nodes are to be taken."""
        has_all = self.rest <= 0 and self.nodes <= 0 and self.gpus <= 0
        return has_all or len(self.cores) >= self.most_nodes

    def suffices(self) -> bool:
        """Whether the job can run on what was taken."""
        return self.rest <= 0 and self.gpus <= 0 and len(self.cores) >= self.job.min_nodes

    def would_suffice_in_number(self, nodes: int) -> bool:
        """Whether so many more nodes are enough."""
        wanted = self.job.min_nodes if self.job.gpus else self.job.wanted_nodes
        return nodes >= self.nodes + self.job.min_nodes - wanted

    def would_suffice(self, nodes: Collection[int]) -> bool:
        """Whether the job could run on what was taken and these nodes."""
        cores = sum(self.usable[node] for node in nodes)
        return cores >= self.rest and self.would_suffice_in_number(len(nodes)) and self.free_gpus(nodes) >= self.gpus

    def free_gpus(self, nodes: Collection[int]) -> int:
        """Return the GPUs that are free on nodes."""
        return sum(self.world.free_gpus(node, self.held) for node in nodes)

    def take(self, nodes: Sequence[int]) -> None:
        """Take nodes one after the other, until there are enough.

        The last one that may be taken has to suffice, where there is no topology.
        """
        has_topology = bool(self.world.site.switches)
        for node in nodes:
            is_last = not has_topology and self.job.max_nodes > 0 and len(self.cores) == self.job.max_nodes - 1
            if not self.is_done() and not (is_last and self.usable[node] < self.rest):
                most, fewer = share(self.world, self.job, self.partition, self.usable[node], self.rest, len(self.cores))
                self.cores[node] = most
                self.rest, self.nodes = self.rest - fewer, self.nodes - 1
                self.gpus -= self.free_gpus([node])

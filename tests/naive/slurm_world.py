# SPDX-License-Identifier: BSD-3-Clause
"""What Slurm's rules look at, as plain lists: the jobs, what they hold of which node, how the site is configured."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from swftools.machines.node_table import GPU, NodeTable
from swftools.machines.slurm_site import DEFAULTS, SlurmSite
from swftools.simulator.slurm.asked import SlurmJobs

Amounts = dict[str, float]
"""Of each resource, by Slurm's name: ``cpu``, ``mem`` (MB), ``node``, ``gres/gpu``, ``billing``."""


@dataclass
class Placed:
    """What a job has of its nodes, by node: cores, MB of memory, GPUs."""

    cores: dict[int, int]
    memory: dict[int, int]
    gpus: dict[int, int]


@dataclass(eq=False)
class Job:
    """A job, what it asks, and what has become of it.

    One that is suspended runs and ``stands``: it has ``done`` some s of its work. It had ``ran`` so many on the
    controller's clock when its last run began (``run_start``, ``went_on``).
    """

    row: int
    submit: float
    run: float
    limit: float
    eligible: float
    cpus: int
    cpus_per_task: int
    min_nodes: int
    max_nodes: int
    wanted_nodes: int
    tasks_per_node: int
    memory_per_cpu: int
    memory_per_node: int
    gpus_per_node: int
    gpus: int
    is_exclusive: bool
    partitions: list[int]
    nodes_allowed: set[int]
    user: int
    association: int
    qos: int
    nice: float
    array: int
    array_limit: int
    priority: dict[int, int] = field(default_factory=dict)
    reason: str = ""
    start: float | None = None
    end: float | None = None
    by: str = ""
    partition: int = -1
    placed: Placed | None = None
    stopped: str = ""
    has_time: bool = False
    stands: bool = False
    run_start: float = 0.0
    done: float = 0.0
    went_on: float = 0.0
    ran: float = 0.0
    stood_from: float = 0.0

    @property
    def tasks(self) -> int:
        """Tasks in all."""
        return self.cpus // self.cpus_per_task

    @property
    def where(self) -> list[tuple[int, int]]:
        """Nodes on which it runs or ran, with the cores that it holds of each."""
        return sorted(self.placed.cores.items()) if self.placed else []

    @property
    def expected_end(self) -> float:
        """When its limit is over, on the controller's clock: of one that stands, as if it had not stopped."""
        return self.went_on + self.limit - self.ran


@dataclass
class Run:
    """A run of a job: most jobs have one, a job that was requeued more. ``preempted`` says how it had to end.

    ``goes_on``: it stood before.
    """

    row: int
    start: float
    end: float
    where: list[tuple[int, int]]
    by: str
    partition: int
    preempted: str = ""
    goes_on: bool = False


@dataclass
class World:
    """The machine and its queue at an instant.

    ``now`` is the controller's clock, whole s, ``time`` the instant, ``origin`` second 0 in seconds since 1970.
    ``light``: how light nodes are by the last test of a job with GPUs; ``cleaning``: until when they clean up behind a
    job, as they do for ``completing`` s. A job that backfill tests takes ``test_time`` s; ``is_changed``: whether
    anything has changed since its cycle let locks go.
    """

    site: SlurmSite
    table: NodeTable
    jobs: list[Job]
    now: float = 0
    time: float = 0.0
    origin: float = 0.0
    completing: float = 0.0
    coming: list[Job] = field(default_factory=list)
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    reasons: list[tuple[int, float, str]] = field(default_factory=list)
    hopeless: list[tuple[int, float, str]] = field(default_factory=list)
    is_asked: bool = False
    is_changed: bool = False
    test_time: float = 0.0
    last_period: float = 0
    light: dict[int, int] = field(default_factory=dict)
    cleaning: dict[int, float] = field(default_factory=dict)
    fair_share: dict[int, float] = field(default_factory=dict)
    effective: dict[int, float] = field(default_factory=dict)
    used_by_association: dict[int, Amounts] = field(default_factory=dict)
    used_by_qos: dict[int, Amounts] = field(default_factory=dict)

    # How it is configured

    def parameter(self, name: str) -> float:
        """Return one of ``SchedulerParameters``."""
        return self.site.scheduler.get(name, DEFAULTS[name])

    def nodes_of(self, partition: int) -> set[int]:
        """Return the nodes of a partition."""
        return {int(node) for node in self.table.partitions[partition].nodes}

    def is_alone(self, job: Job, partition: int) -> bool:
        """Whether a job has its nodes alone in a partition."""
        return job.is_exclusive or self.table.partitions[partition].is_exclusive

    def qos_named(self, name: str) -> int:
        """Return the place of a QOS; -1 if there is none of the name."""
        return next((place for place, qos in enumerate(self.site.qos) if qos.name == name), -1)

    def all_qos(self, job: Job, partition: int) -> list[int]:
        """Return the QOS whose limits a job has in a partition: the partition's, then its own."""
        places = [self.qos_named(self.site.partitions[partition].qos), job.qos]
        return [place for at, place in enumerate(places) if place >= 0 and place not in places[:at]]

    def line_of(self, association: int) -> list[int]:
        """Return an association and those above it."""
        line = []
        while association >= 0:
            line.append(association)
            association = self.site.associations[association].parent
        return line

    # What is free

    def cores(self, node: int) -> int:
        """Return all cores of a node."""
        return int(self.table.cores[node])

    def is_idle(self, node: int, held: Iterable[Job]) -> bool:
        """Whether no job of some has the node."""
        return all(node not in job.placed.cores for job in held)

    def free_cores(self, node: int, held: Iterable[Job]) -> int:
        """Return the cores of a node that no job of some has."""
        return self.cores(node) - sum(job.placed.cores.get(node, 0) for job in held)

    def free_memory(self, node: int, held: Iterable[Job]) -> int:
        """Return the memory of a node that no job of some has, MB."""
        return int(self.table.memory[node]) - sum(job.placed.memory.get(node, 0) for job in held)

    def free_gpus(self, node: int, held: Iterable[Job]) -> int:
        """Return the GPUs of a node that no job of some has."""
        return int(self.table.gpus[node]) // GPU - sum(job.placed.gpus.get(node, 0) for job in held)

    # What happens

    def tell(self, job: Job, reason: str) -> None:
        """Note why a job waits, if that is new."""
        if job.reason != reason:
            job.reason = reason
            self.reasons.append((job.row, self.time, reason))

    def start(self, job: Job, partition: int, placed: Placed, by: str) -> None:
        """Start a job."""
        self.waiting.remove(job)
        self.running.append(job)
        job.start, job.end = self.time, self.time + job.run
        job.run_start, job.done, job.went_on, job.ran = self.time, 0.0, math.floor(self.time), 0.0
        job.partition, job.placed, job.by = partition, placed, by


def billing(world: World, partition: int, amounts: Amounts) -> float:
    """Return what amounts cost in a partition: their sum, or the most of them; without weights a CPU is 1."""
    weights = world.site.partitions[partition].billing_weights or {"cpu": 1.0}
    costs = [weight * amounts.get(name, 0.0) for name, weight in weights.items()]
    return max(costs) if "max_tres" in world.site.priority.flags else sum(costs)


def held_by(world: World, partition: int, placed: Placed) -> Amounts:
    """Return what a job holds of each resource."""
    amounts: Amounts = {
        "cpu": sum(placed.cores.values()),
        "mem": sum(placed.memory.values()),
        "node": len(placed.cores),
        "gres/gpu": sum(placed.gpus.values()),
    }
    return {**amounts, "billing": billing(world, partition, amounts)}


def asked_by(world: World, job: Job, partition: int) -> Amounts:
    """Return what a waiting job asks of each resource."""
    amounts: Amounts = {
        "cpu": job.cpus,
        "mem": job.memory_per_cpu * job.cpus + job.memory_per_node * job.min_nodes,
        "node": job.min_nodes,
        "gres/gpu": job.gpus + job.gpus_per_node * job.min_nodes,
    }
    return {**amounts, "billing": billing(world, partition, amounts)}


def total_of(world: World, partition: int) -> Amounts:
    """Return what a partition has of each resource."""
    nodes = sorted(world.nodes_of(partition))
    amounts: Amounts = {
        "cpu": sum(world.cores(node) for node in nodes),
        "mem": sum(int(world.table.memory[node]) for node in nodes),
        "node": len(nodes),
        "gres/gpu": sum(int(world.table.gpus[node]) // GPU for node in nodes),
    }
    return {**amounts, "billing": billing(world, partition, amounts)}


def jobs_of(
    asked: SlurmJobs, nodes: int, submit: list[float], run: list[float], limit: list[float], eligible: list[float]
) -> list[Job]:
    """Return the jobs that can run, by row."""
    jobs = []
    for row in range(len(asked.cpus)):
        if asked.code[row]:
            continue
        first, last = (int(place) for place in asked.first_partition[row : row + 2])
        tasks = int(asked.cpus[row]) // int(asked.cpus_per_task[row])
        fewest, most = int(asked.min_nodes[row]), int(asked.max_nodes[row])
        most_of_tasks = max(tasks, fewest)
        allowed = int(asked.nodes_allowed[row])
        jobs.append(
            Job(
                row=row,
                submit=float(submit[row]),
                run=float(run[row]),
                limit=float(limit[row]),
                eligible=max(float(submit[row]), float(eligible[row])),
                cpus=int(asked.cpus[row]),
                cpus_per_task=int(asked.cpus_per_task[row]),
                min_nodes=fewest,
                max_nodes=min(most, most_of_tasks),
                wanted_nodes=max(fewest, min(int(asked.wanted_nodes[row]), most_of_tasks)),
                tasks_per_node=int(asked.tasks_per_node[row]),
                memory_per_cpu=int(asked.memory_per_cpu[row]),
                memory_per_node=int(asked.memory_per_node[row]),
                gpus_per_node=int(asked.gpus_per_node[row]),
                gpus=int(asked.gpus[row]),
                is_exclusive=bool(asked.is_exclusive[row]),
                partitions=[int(place) for place in asked.partition[first:last]],
                nodes_allowed={node for node in range(nodes) if allowed < 0 or asked.sets[allowed][node]},
                user=int(asked.user[row]),
                association=int(asked.association[row]),
                qos=int(asked.qos[row]),
                nice=float(asked.nice[row]),
                array=int(asked.array[row]),
                array_limit=int(asked.array_limit[row]),
            )
        )
    return jobs

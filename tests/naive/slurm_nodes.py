# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes Slurm chooses for a job: usable CPUs of each, then the best run of nodes, or the best leaf of a tree."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tests.naive.slurm_world import Job, Placed, World

Held = Sequence[Job]
Usable = dict[int, int]


def each_of(job: Job) -> int:
    """Return the tasks that each node of a job is to have; 0: as it comes."""
    return job.tasks_per_node or (1 if job.min_nodes == job.max_nodes == job.tasks else 0)


def usable_cpus(world: World, job: Job, partition: int, node: int, held: Held) -> int:
    """Return the CPUs of a node that a job can use beside others."""
    if world.is_alone(job, partition):
        if not world.is_idle(node, held):
            return 0
        cpus, memory = world.cores(node), int(world.table.memory[node])
    else:
        cpus, memory = world.free_cores(node, held), world.free_memory(node, held)
    if job.memory_per_cpu:
        cpus = min(cpus, max(memory, 0) // job.memory_per_cpu)
    if job.memory_per_node and job.memory_per_node > memory:
        return 0
    on_each = job.gpus if job.gpus and job.max_nodes == 1 else max(job.gpus_per_node, min(job.gpus, 1))
    if world.free_gpus(node, held) < on_each:
        return 0
    cpus -= cpus % job.cpus_per_task
    if cpus < each_of(job) * job.cpus_per_task:
        return 0
    if job.max_nodes == 1 and cpus < job.cpus:
        return 0
    has_gpus = job.gpus > 0 or job.gpus_per_node > 0
    return min(cpus, job.cpus) if has_gpus and not world.is_alone(job, partition) else cpus


def choose(world: World, job: Job, partition: int, nodes: Collection[int], held: Held) -> Placed | None:
    """Return what a job gets of some nodes beside others that hold some of them; None if they will not do.

    Nodes of the lowest weight come first; if they do not suffice those of the next are added. If those that there are
    do not suffice, nodes with few CPUs are left out, more and more of them.
    """
    candidates = sorted(set(nodes) & world.nodes_of(partition) & job.nodes_allowed)
    cpus = {node: usable_cpus(world, job, partition, node, held) for node in candidates}
    usable = {node: cpus[node] for node in candidates if cpus[node] > 0}
    for weight in sorted({int(world.table.weight[node]) for node in usable}):
        some = {node: usable[node] for node in usable if int(world.table.weight[node]) <= weight}
        for few in range(max(some.values())):
            left = {node: some[node] for node in some if some[node] > few}
            if len(left) >= job.min_nodes and (placed := choose_of(world, job, partition, left, held)):
                return placed
    return None


def choose_of(world: World, job: Job, partition: int, usable: Usable, held: Held) -> Placed | None:
    """Return what a job gets of nodes whose weights count as one; None if they will not do."""
    if world.site.switches:
        most = best_leaves(world, job, partition, usable, held)
    else:
        most = best_runs(world, job, partition, usable, held)
    return place(world, job, partition, most, held) if most else None


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


# ---------------------------------------------------------------- without a topology: runs of consecutive nodes


def heaviness(world: World, job: Job, node: int, held: Held) -> tuple[int, int]:
    """Return the weight of a node, for a number of GPUs in all less where more of them are free."""
    return int(world.table.weight[node]), -min(world.free_gpus(node, held), job.gpus)


def runs_of(world: World, job: Job, nodes: Collection[int], held: Held) -> list[list[int]]:
    """Return the longest runs of nodes that follow each other and are equally heavy."""
    runs: list[list[int]] = []
    for node in sorted(nodes):
        follows = bool(runs) and runs[-1][-1] == node - 1
        if follows and heaviness(world, job, node, held) == heaviness(world, job, node - 1, held):
            runs[-1].append(node)
        else:
            runs.append([node])
    return runs


def best_runs(world: World, job: Job, partition: int, usable: Usable, held: Held) -> Usable:
    """Return nodes of the run with the fewest CPUs that suffices, else of the largest and then of others; or none.

    Of runs only the lightest are looked at, as long as there are such.
    """
    taken = Taken(world, job, partition, usable, held)
    left = runs_of(world, job, usable, held)

    def cpus_of(run: list[int]) -> int:
        return sum(usable[node] for node in run)

    while left and not taken.is_done():
        lightest = min(heaviness(world, job, run[0], held) for run in left)
        light = [run for run in left if heaviness(world, job, run[0], held) == lightest]
        needed = taken.nodes + job.min_nodes - (job.min_nodes if job.gpus else job.wanted_nodes)
        enough = [
            run
            for run in light
            if cpus_of(run) >= taken.rest and len(run) >= needed and taken.free_gpus(run) >= taken.gpus
        ]
        run = min(enough, key=cpus_of) if enough else max(light, key=cpus_of)
        left.remove(run)
        single = best_node(taken, run) if taken.nodes <= 1 else None
        taken.take(run if single is None else [single])
    return taken.cores if taken.suffices() else {}


def best_node(taken: Taken, run: list[int]) -> int | None:
    """Return the node of a run with the fewest CPUs that suffice for what is missing; None if there is none."""
    enough = [node for node in run if taken.usable[node] >= taken.rest and taken.free_gpus([node]) >= taken.gpus]
    return min(enough, key=lambda node: (taken.usable[node], node), default=None)


# ---------------------------------------------------------------- with a topology: leaves of the tree


def best_leaves(world: World, job: Job, partition: int, usable: Usable, held: Held) -> Usable:
    """Return nodes of the leaf with the fewest nodes that are enough, and then of those nearest to it; or none."""
    switches = world.site.switches
    for top in (at for at, switch in enumerate(switches) if switch.parent < 0):
        left = {at: sorted(set(switches[at].nodes) & set(usable)) for at in leaves_below(world, top)}
        left = {at: nodes for at, nodes in left.items() if nodes}
        taken, first = Taken(world, job, partition, usable, held), -1
        while left and not taken.is_done():
            nearest = min(levels_up(world, first, at) for at in left)
            near = [at for at in left if levels_up(world, first, at) == nearest]
            enough = [at for at in near if len(left[at]) >= taken.nodes]
            leaf = min(enough, key=lambda at: len(left[at])) if enough else max(near, key=lambda at: len(left[at]))
            first = leaf if first < 0 else first
            taken.take(left.pop(leaf))
        if taken.suffices():
            return taken.cores
    return {}


def above(world: World, at: int) -> list[int]:
    """Return a switch and those above it, up to the top."""
    line = [at]
    while world.site.switches[line[-1]].parent >= 0:
        line.append(world.site.switches[line[-1]].parent)
    return line


def leaves_below(world: World, top: int) -> list[int]:
    """Return the leaves below a switch; of a leaf itself."""
    return [at for at, switch in enumerate(world.site.switches) if switch.is_leaf and top in above(world, at)]


def levels_up(world: World, first: int, at: int) -> int:
    """Return how far up a switch is that is above a leaf and above the first one; 0 if there is no first one yet."""
    if first < 0:
        return 0
    return next(level for level, switch in enumerate(above(world, first)) if switch in above(world, at))


# ---------------------------------------------------------------- what is held


def place(world: World, job: Job, partition: int, most: Usable, held: Held) -> Placed | None:
    """Return what a job holds of its nodes: tasks go round, one on each node and again, as far as each has room."""
    nodes = sorted(most)
    if world.is_alone(job, partition):
        cores = {node: world.cores(node) for node in nodes}
    elif each_of(job):
        cores = dict(most)
    else:
        cores = dict.fromkeys(nodes, job.cpus_per_task)
        while sum(cores.values()) < job.cpus:
            before = sum(cores.values())
            for node in nodes:
                if sum(cores.values()) < job.cpus and cores[node] + job.cpus_per_task <= most[node]:
                    cores[node] += job.cpus_per_task
            assert sum(cores.values()) > before, "tasks have no room"
    memory = {node: job.memory_per_cpu * cores[node] + job.memory_per_node for node in nodes}
    gpus = dict.fromkeys(nodes, job.gpus_per_node)
    rest = job.gpus
    if job.gpus:
        for node in nodes:
            gpus[node] = min(rest, world.free_gpus(node, held))
            rest -= gpus[node]
    return Placed(cores, memory, gpus) if rest == 0 else None

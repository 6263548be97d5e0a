# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes Slurm chooses for a job: usable CPUs of each, then the best run of nodes, or the best leaf of a tree."""

from __future__ import annotations

from collections.abc import Collection

from tests.naive.slurm_leaves import best_leaves
from tests.naive.slurm_taking import Held, Taken, Usable, each_of, heaviness, share
from tests.naive.slurm_world import Job, Placed, World


def usable_cpus(world: World, job: Job, partition: int, node: int, held: Held) -> int:
    """Return the CPUs of a node that a job can use beside others."""
    if world.is_alone(job, partition):
        if not world.is_idle(node, held):
            return 0
        cpus, memory = world.cores(node), world.free_memory(node, held)
    else:
        cpus, memory = world.free_cores(node, held), world.free_memory(node, held)
    if job.memory_per_cpu:
        cpus = min(cpus, max(memory, 0) // job.memory_per_cpu)
    if job.memory_per_node and job.memory_per_node > memory:
        return 0
    if world.free_gpus(node, held) < gpus_of(job):
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
    note_light(world, job, partition, candidates, held)
    cpus = {node: usable_cpus(world, job, partition, node, held) for node in candidates}
    usable = {node: cpus[node] for node in candidates if cpus[node] > 0}
    for weight in sorted({int(world.table.weight[node]) for node in usable}):
        some = {node: usable[node] for node in usable if int(world.table.weight[node]) <= weight}
        for few in range(max(some.values())):
            left = {node: some[node] for node in some if some[node] > few}
            if len(left) >= job.min_nodes and (placed := choose_of(world, job, partition, left, held)):
                return placed
    return None


def gpus_of(job: Job) -> int:
    """Return the GPUs that each node of a job must have at least."""
    return job.gpus if job.gpus and job.max_nodes == 1 else max(job.gpus_per_node, min(job.gpus, 1))


def note_light(world: World, job: Job, partition: int, nodes: Collection[int], held: Held) -> None:
    """Make nodes light that have the GPUs of a job, and its memory: lighter the more GPUs are free, as far as asked."""
    if not gpus_of(job):
        return
    for node in nodes:
        has_memory = world.free_memory(node, held) >= max(job.memory_per_node, job.memory_per_cpu)
        is_idle = not world.is_alone(job, partition) or world.is_idle(node, held)
        if world.free_gpus(node, held) >= gpus_of(job) and has_memory and is_idle:
            world.light[node] = min(world.free_gpus(node, held), max(job.gpus, job.gpus_per_node))


def note_refused(world: World, job: Job, partition: int) -> None:
    """Make nodes light that have the GPUs of a job at all, as it is asked whether it could ever run."""
    for node in world.nodes_of(partition) & job.nodes_allowed:
        if gpus_of(job) and world.free_gpus(node, []) >= gpus_of(job):
            world.light[node] = min(world.free_gpus(node, []), max(job.gpus, job.gpus_per_node))


def forget_light(world: World, nodes: Collection[int]) -> None:
    """Make nodes as heavy as they are."""
    for node in nodes:
        world.light.pop(node, None)


def choose_of(world: World, job: Job, partition: int, usable: Usable, held: Held) -> Placed | None:
    """Return what a job gets of nodes whose weights count as one; None if they will not do."""
    if world.parameter("pack_serial_at_end") and job.cpus == job.wanted_nodes == 1 and not job.gpus:
        last = max(usable, key=lambda node: ([-each for each in heaviness(world, node)], node))
        most = {last: share(world, job, partition, usable[last], job.cpus, 0)[0]}
    elif world.site.switches:
        most = best_leaves(Taken(world, job, partition, usable, held))
    else:
        most = best_runs(world, job, partition, usable, held)
    return place(world, job, partition, most, held) if most else None


# ---------------------------------------------------------------- without a topology: runs of consecutive nodes


def runs_of(world: World, nodes: Collection[int]) -> list[list[int]]:
    """Return the longest runs of nodes that follow each other and are equally heavy."""
    runs: list[list[int]] = []
    for node in sorted(nodes):
        follows = bool(runs) and runs[-1][-1] == node - 1
        if follows and heaviness(world, node) == heaviness(world, node - 1):
            runs[-1].append(node)
        else:
            runs.append([node])
    return runs


def best_runs(world: World, job: Job, partition: int, usable: Usable, held: Held) -> Usable:
    """Return nodes of the run with the fewest CPUs that suffices, else of the largest and then of others; or none.

    Of runs only the lightest are looked at, as long as there are such.
    """
    taken = Taken(world, job, partition, usable, held)
    left = runs_of(world, usable)

    def cpus_of(run: list[int]) -> int:
        return sum(usable[node] for node in run)

    while left and not taken.is_done():
        lightest = min(heaviness(world, run[0]) for run in left)
        light = [run for run in left if heaviness(world, run[0]) == lightest]
        enough = [run for run in light if taken.would_suffice(run)]
        run = min(enough, key=cpus_of) if enough else max(light, key=cpus_of)
        left.remove(run)
        single = best_node(taken, run) if taken.nodes <= 1 else None
        taken.take(run if single is None else [single])
    return taken.cores if taken.suffices() else {}


def best_node(taken: Taken, run: list[int]) -> int | None:
    """Return the node of a run with the fewest CPUs that suffice for what is missing; None if there is none."""
    enough = [node for node in run if taken.usable[node] >= taken.rest and taken.free_gpus([node]) >= taken.gpus]
    return min(enough, key=lambda node: (taken.usable[node], node), default=None)


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

# SPDX-License-Identifier: BSD-3-Clause
"""How many CPUs of each node a job can use, of which so much is free."""

from __future__ import annotations

from typing import NamedTuple

from swftools.kernel import IntArray, kernel
from swftools.simulator.slurm.holding import memory_on
from swftools.simulator.slurm.node_sets import BITS, has_node
from swftools.simulator.slurm.state import (
    BEHIND_NODES,
    FIRST_NODE,
    LEFT_OUT,
    NO_EXCLUSIVE,
    NO_GPUS,
    NO_MEMORY,
    UNKNOWN,
    USABLE_CORES,
    USABLE_NODES,
    WORDS,
    Amounts,
    Dynamic,
    Given,
)

KEEPS_MEMORY = 2
"""In place of whether a job is thought to be gone: it stands, and its memory and GPUs stay its own."""

_NOTHING = -(1 << 60)
"""Less than is ever free of a node."""


class Wanted(NamedTuple):
    """What a job asks of each node: ``cores`` at least, in tasks of ``per_task``, and no use for more than ``most``.

    ``memory`` (MB), or ``memory_per_cpu``, 0 where it is not said; ``gpus``; and whether it has the node ``alone``.
    """

    cores: int
    per_task: int
    most: int
    memory: int
    memory_per_cpu: int
    gpus: int
    alone: bool


@kernel(allocates=False)
def wanted_of(given: Given, job: int, partition: int) -> Wanted:
    """Return what a job asks of each of its nodes in a partition."""
    out, alone, per_task = int(given.number[LEFT_OUT]), is_alone(given, job, partition), given.cpus_per_task[job]
    cores, memory, per_cpu = max(tasks_on_each(given, job) * per_task, 1), _NOTHING, 0
    if given.max_nodes[job] == 1:
        cores = max(cores, given.cpus[job])
    if out != NO_MEMORY:
        memory, per_cpu = given.memory_per_node[job], given.memory_per_cpu[job]
    gpus, in_all, most = _NOTHING, given.gpus_in_all[job], -_NOTHING
    if out != NO_GPUS:
        on_each = in_all if in_all > 0 and given.max_nodes[job] == 1 else max(given.gpus_per_node[job], min(in_all, 1))
        gpus = on_each
        if given.gpus_per_node[job] + in_all > 0 and not alone:
            most = given.cpus[job]
    return Wanted(cores, per_task, most, memory, per_cpu, gpus, alone)


@kernel(allocates=False)
def usable_cores(wanted: Wanted, node: int, amounts: Amounts) -> int:
    """Return how many CPUs of a node a job can use; 0 if it cannot run there."""
    return cores_for(wanted, amounts.cores[node], amounts.memory[node], amounts.gpus[node], amounts.jobs[node])


@kernel(allocates=False)
def cores_for(wanted: Wanted, cores: int, memory: int, gpus: int, jobs: int) -> int:
    """Return how many CPUs a job can use of a node that has so much free, and on which so many jobs run."""
    if cores < wanted.per_task or cores < wanted.cores or (wanted.alone and jobs > 0):
        return 0
    if memory < wanted.memory or gpus < wanted.gpus:
        return 0
    if wanted.memory_per_cpu > 0:
        cores = min(cores, max(memory, 0) // wanted.memory_per_cpu)
    if wanted.per_task > 1:
        cores -= cores % wanted.per_task
    return min(cores, wanted.most) if cores >= wanted.cores else 0


@kernel(allocates=False)
def is_alone(given: Given, job: int, partition: int) -> bool:
    """Whether a job has its nodes alone in a partition."""
    if int(given.number[LEFT_OUT]) == NO_EXCLUSIVE:
        return False
    return given.is_exclusive[job] != 0 or given.partition_alone[partition] != 0


@kernel(allocates=False)
def tasks_on_each(given: Given, job: int) -> int:
    """Return the tasks that each node of a job is to have; 0: as it comes."""
    if given.tasks_per_node[job] > 0:
        return given.tasks_per_node[job]
    one_each = given.min_nodes[job] * given.cpus_per_task[job] == given.cpus[job]
    return 1 if given.min_nodes[job] == given.max_nodes[job] and one_each else 0


@kernel(allocates=False)
def look_at_nodes(state: Dynamic, wanted: Wanted, allowed: IntArray, amounts: Amounts) -> None:
    """Write down how many CPUs of each node of a set a job can use, how many such nodes there are, and CPUs in all."""
    nodes, cores, low, high = 0, 0, 0, state.counts[WORDS]
    while low < high and allowed[low] == 0:
        low += 1
    while high > low and allowed[high - 1] == 0:
        high -= 1
    free_cores, behind = state.free_cores, min(high * BITS, len(state.free_cores))
    state.counts[FIRST_NODE], state.counts[BEHIND_NODES] = low * BITS, behind
    for word in range(low, high):
        members = allowed[word]
        for node in range(word * BITS, min(word * BITS + BITS, behind)):
            free = 0
            if members & 1 != 0:
                free = usable_cores(wanted, node, amounts)
            members >>= 1
            free_cores[node] = free
            nodes += free > 0
            cores += free
    state.counts[USABLE_NODES], state.counts[USABLE_CORES] = nodes, cores


@kernel(allocates=False)
def free_before(
    given: Given, state: Dynamic, wanted: Wanted, node: int, until: float, are_victims: bool, now: float
) -> int:
    """Return how many CPUs of a node a job can use when who ends before a time has left, and who is thought to be gone.

    What is free then is written into ``state.then``.
    """
    there, then, held = state.now, state.then, state.first_on[node]
    cores, memory, gpus, jobs = there.cores[node], there.memory[node], there.gpus[node], there.jobs[node]
    while held != UNKNOWN:
        runner = state.held_by[held]
        end = state.limit_end[runner]
        if (end if end > now else now + 1.0) < until or state.is_gone[runner] != 0:
            cores += state.held_cores[held]
            jobs -= 1
            if state.is_gone[runner] != KEEPS_MEMORY:
                memory += memory_on(given, runner, state.held_cores[held])
                gpus += state.held_gpus[held]
        elif not are_victims:
            break
        held = state.next_on[held]
    then.cores[node], then.memory[node], then.gpus[node], then.jobs[node] = cores, memory, gpus, jobs
    return cores_for(wanted, cores, memory, gpus, jobs)


@kernel(allocates=False)
def look_before(given: Given, state: Dynamic, wanted: Wanted, until: float, are_victims: bool, now: float) -> None:
    """Look at the available nodes as ``look_at_nodes`` does, with what is free when who ends before a time has left."""
    nodes, cores, low, high = 0, 0, 0, state.counts[WORDS]
    allowed, free_cores = state.available, state.free_cores
    while low < high and allowed[low] == 0:
        low += 1
    while high > low and allowed[high - 1] == 0:
        high -= 1
    behind = min(high * BITS, len(state.free_cores))
    state.counts[FIRST_NODE], state.counts[BEHIND_NODES] = low * BITS, behind
    for word in range(low, high):
        members = allowed[word]
        for node in range(word * BITS, min(word * BITS + BITS, behind)):
            free = 0
            if members & 1 != 0:
                free = free_before(given, state, wanted, node, until, are_victims, now)
            members >>= 1
            free_cores[node] = free
            nodes += free > 0
            cores += free
    state.counts[USABLE_NODES], state.counts[USABLE_CORES] = nodes, cores


@kernel(allocates=False, merges=True)
def let_leave_nodes(given: Given, state: Dynamic, wanted: Wanted, runner: int) -> bool:
    """Let a running job leave those of its nodes that are available, and look at them again; whether it has any.

    Who ends before it has left.
    """
    first, has_any, available, free_cores = given.first_held[runner], False, state.available, state.free_cores
    there, then, counts = state.now, state.then, state.counts
    for i in range(first, first + state.held_count[runner]):
        node = state.held_node[i]
        if not has_node(available, 0, node):
            continue
        has_any = True
        cores, memory, gpus, jobs = there.cores[node], there.memory[node], there.gpus[node], there.jobs[node]
        held, is_before = state.first_on[node], True
        while held != UNKNOWN:
            other = state.held_by[held]
            if is_before or state.is_gone[other] != 0:
                cores += state.held_cores[held]
                jobs -= 1
                if state.is_gone[other] != KEEPS_MEMORY:
                    memory += memory_on(given, other, state.held_cores[held])
                    gpus += state.held_gpus[held]
            is_before &= held != i
            held = state.next_on[held]
        then.cores[node], then.memory[node], then.gpus[node], then.jobs[node] = cores, memory, gpus, jobs
        before, free = free_cores[node], cores_for(wanted, cores, memory, gpus, jobs)
        free_cores[node] = free
        counts[USABLE_NODES] += int(free > 0) - int(before > 0)
        counts[USABLE_CORES] += free - before
        if free > 0:
            counts[FIRST_NODE] = min(counts[FIRST_NODE], node)
            counts[BEHIND_NODES] = max(counts[BEHIND_NODES], node + 1)
    return has_any

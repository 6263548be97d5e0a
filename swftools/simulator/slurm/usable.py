# SPDX-License-Identifier: BSD-3-Clause
"""How many CPUs of each node a job can use, of which so much is free."""

from __future__ import annotations

from typing import NamedTuple

from swftools.kernel import IntArray, kernel
from swftools.simulator.slurm.holding import memory_on
from swftools.simulator.slurm.state import (
    BEHIND_NODES,
    BITS,
    FIRST_NODE,
    LEFT_OUT,
    NO_EXCLUSIVE,
    NO_GPUS,
    NO_MEMORY,
    USABLE_CORES,
    USABLE_NODES,
    WORDS,
    Amounts,
    Dynamic,
    Given,
    has_node,
)

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
    cores = amounts.cores[node]
    if cores < wanted.per_task or cores < wanted.cores or (wanted.alone and amounts.jobs[node] > 0):
        return 0
    if amounts.memory[node] < wanted.memory or amounts.gpus[node] < wanted.gpus:
        return 0
    if wanted.memory_per_cpu > 0:
        cores = min(cores, max(amounts.memory[node], 0) // wanted.memory_per_cpu)
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


@kernel(allocates=False, merges=True)
def let_leave_nodes(given: Given, state: Dynamic, wanted: Wanted, runner: int, amounts: Amounts) -> bool:
    """Let a running job leave those of its nodes that are available, and look at them again; whether it has any."""
    first, has_any, available, free_cores = given.first_held[runner], False, state.available, state.free_cores
    held_node, held_cores, held_gpus = state.held_node, state.held_cores, state.held_gpus
    nodes = cores = 0
    for i in range(first, first + state.held_count[runner]):
        node = held_node[i]
        if not has_node(available, 0, node):
            continue
        has_any = True
        amounts.cores[node] += held_cores[i]
        amounts.memory[node] += memory_on(given, runner, held_cores[i])
        amounts.gpus[node] += held_gpus[i]
        amounts.jobs[node] -= 1
        before, free = free_cores[node], usable_cores(wanted, node, amounts)
        free_cores[node] = free
        nodes += int(free > 0) - int(before > 0)
        cores += free - before
    state.counts[USABLE_NODES] += nodes
    state.counts[USABLE_CORES] += cores
    return has_any

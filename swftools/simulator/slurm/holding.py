# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that take nodes, and give them back: on the machine as it is, and as it will be."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.slurm.state import (
    BILLING,
    BILLS_MOST,
    CPU,
    GPUS,
    LEFT_OUT,
    MEMORY,
    NO_GPUS,
    NO_MEMORY,
    NODES,
    RESOURCES,
    Amounts,
    Dynamic,
    Given,
)


@kernel(allocates=False)
def memory_on(given: Given, job: int, cores: int) -> int:
    """Return the memory that a job holds on a node of which it has some CPUs, MB."""
    if int(given.number[LEFT_OUT]) == NO_MEMORY:
        return 0
    if given.memory_per_cpu[job] > 0:
        return given.memory_per_cpu[job] * cores
    return given.memory_per_node[job]


@kernel(allocates=False)
def write_down(given: Given, state: Dynamic, job: int, count: int, amounts: Amounts) -> None:
    """Write down the chosen nodes of a job as its own."""
    first, gpus = given.first_held[job], given.gpus_in_all[job]
    state.held_count[job] = count
    for i in range(count):
        node = state.chosen[i]
        state.held_node[first + i], state.held_cores[first + i] = node, state.got[i]
        some = given.gpus_per_node[job]
        if gpus > 0:
            some = min(gpus, amounts.gpus[node])
            gpus -= some
        state.held_gpus[first + i] = 0 if int(given.number[LEFT_OUT]) == NO_GPUS else some


@kernel(allocates=False)
def take(given: Given, state: Dynamic, job: int, amounts: Amounts) -> None:
    """Let a job have its nodes."""
    first = given.first_held[job]
    for i in range(first, first + state.held_count[job]):
        node, cores = state.held_node[i], state.held_cores[i]
        amounts.cores[node] -= cores
        amounts.memory[node] -= memory_on(given, job, cores)
        amounts.gpus[node] -= state.held_gpus[i]
        amounts.jobs[node] += 1


@kernel(allocates=False)
def give_back(given: Given, state: Dynamic, job: int, amounts: Amounts) -> None:
    """Let a job leave its nodes."""
    first = given.first_held[job]
    for i in range(first, first + state.held_count[job]):
        node, cores = state.held_node[i], state.held_cores[i]
        amounts.cores[node] += cores
        amounts.memory[node] += memory_on(given, job, cores)
        amounts.gpus[node] += state.held_gpus[i]
        amounts.jobs[node] -= 1


@kernel(allocates=False)
def add_up(given: Given, state: Dynamic, job: int, partition: int) -> None:
    """Write into ``state.resources`` what a job holds in all, by what it has written down."""
    first, resources = given.first_held[job], state.resources
    for i in range(RESOURCES):
        resources[i] = 0.0
    for i in range(first, first + state.held_count[job]):
        resources[CPU] += state.held_cores[i]
        resources[MEMORY] += memory_on(given, job, state.held_cores[i])
        resources[GPUS] += state.held_gpus[i]
    resources[NODES] = state.held_count[job]
    bill(given, state, partition)


@kernel(allocates=False)
def bill(given: Given, state: Dynamic, partition: int) -> None:
    """Write the billing of what ``state.resources`` has: the weighted sum, or CPUs where a partition has no weights.

    With ``PriorityFlags=MAX_TRES`` the largest of the weighted resources counts, not their sum.
    """
    at, resources, billed, is_weighted = partition * RESOURCES, state.resources, 0.0, False
    for i in range(BILLING):
        weight = given.billing[at + i]
        is_weighted |= weight != 0.0
        cost = weight * resources[i]
        billed = max(billed, cost) if given.number[BILLS_MOST] > 0.0 else billed + cost
    resources[BILLING] = billed if is_weighted else resources[CPU]


@kernel(allocates=False)
def ask_in_plan(given: Given, state: Dynamic, job: int, partition: int, count: int) -> None:
    """Write into ``state.resources`` what a job would hold on so many nodes, as a plan counts it: CPUs as asked."""
    resources = state.resources
    resources[CPU], resources[NODES] = given.cpus[job], count
    resources[MEMORY] = given.memory_per_cpu[job] * given.cpus[job] + given.memory_per_node[job] * count
    resources[GPUS] = given.gpus_in_all[job] + given.gpus_per_node[job] * count
    bill(given, state, partition)

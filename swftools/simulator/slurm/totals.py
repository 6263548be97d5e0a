# SPDX-License-Identifier: BSD-3-Clause
"""What a job would hold on the nodes that were chosen for it."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.slurm.choosing import place_tasks
from swftools.simulator.slurm.holding import ask_in_plan, bill, memory_on
from swftools.simulator.slurm.state import CPU, GPUS, MEMORY, NODES, RESOURCES, Amounts, Dynamic, Given
from swftools.simulator.slurm.usable import is_alone


@kernel(allocates=False)
def put_totals(given: Given, state: Dynamic, job: int, partition: int, count: int, amounts: Amounts) -> None:
    """Write into ``state.resources`` what a job would hold on the chosen nodes."""
    place_tasks(given, state, job, partition, count)
    resources, cores, memory, most = state.resources, 0, 0, 0
    for i in range(count):
        cores += state.got[i]
        memory += memory_on(given, job, state.got[i])
        most = max(most, state.got[i])
    gpus = given.gpus_in_all[job]
    in_all, most_gpus = gpus, given.gpus_per_node[job]
    for i in range(count):
        some = min(gpus, amounts.gpus[state.chosen[i]])
        gpus -= some
        most_gpus = max(most_gpus, some)
    on_node = state.on_node
    resources[CPU], resources[MEMORY], resources[NODES], resources[GPUS] = (
        most,
        memory_on(given, job, most),
        1,
        most_gpus,
    )
    bill(given, state, partition)
    for resource in range(RESOURCES):
        on_node[resource] = resources[resource]
    resources[CPU], resources[MEMORY], resources[NODES] = cores, memory, count
    resources[GPUS] = in_all + given.gpus_per_node[job] * count
    bill(given, state, partition)


@kernel(allocates=False)
def put_asked(given: Given, state: Dynamic, job: int, partition: int) -> None:
    """Write into ``state.resources`` what a job asks for, as if it had as many nodes as it wants, all alike.

    Of nodes that it is to have alone all CPUs count, as many as those of the partition have in the mean, once backfill
    has found a time for it.
    """
    ask_in_plan(given, state, job, partition, given.wanted[job])
    if state.has_time[job] != 0 and is_alone(given, job, partition):
        at = partition * RESOURCES
        each = given.partition_totals[at + CPU] / given.partition_totals[at + NODES]
        state.resources[CPU] = max(state.resources[CPU], given.wanted[job] * each)
        bill(given, state, partition)
    for resource in range(RESOURCES):
        state.on_node[resource] = state.resources[resource] / given.wanted[job]

# SPDX-License-Identifier: BSD-3-Clause
"""What a job would hold on the nodes that were chosen for it."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.slurm.choosing import place_tasks
from swftools.simulator.slurm.holding import bill, memory_on
from swftools.simulator.slurm.state import CPU, GPUS, MEMORY, NODES, Amounts, Dynamic, Given


@kernel(allocates=False)
def put_totals(given: Given, state: Dynamic, job: int, partition: int, count: int, amounts: Amounts) -> None:
    """Write into ``state.resources`` what a job would hold on the chosen nodes."""
    place_tasks(given, state, job, count, amounts)
    resources, cores, memory = state.resources, 0, 0
    for i in range(count):
        cores += state.got[i]
        memory += memory_on(given, job, state.got[i])
    resources[CPU], resources[MEMORY], resources[NODES] = cores, memory, count
    resources[GPUS] = given.gpus_in_all[job] + given.gpus_per_node[job] * count
    bill(given, state, partition)

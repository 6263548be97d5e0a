# SPDX-License-Identifier: BSD-3-Clause
"""How much a job takes of a node that is chosen for it, how many nodes it may have, and which nodes come first."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.slurm.state import LEFT_OUT, NO_GPUS, Dynamic, Given
from swftools.simulator.slurm.usable import tasks_on_each

KEYS = 1 << 20
"""Between two weights: more than the GPUs of a node."""


@kernel(allocates=False)
def share_of(given: Given, state: Dynamic, job: int, alone: bool, node: int, rest: int, taken: int) -> int:
    """Return the most CPUs that a job may hold of a node, when so many more are sought."""
    usable, per_task, each = state.usable[node], given.cpus_per_task[job], tasks_on_each(given, job)
    if alone:
        return usable
    if each > 0:
        return each * per_task
    kept = max(given.min_nodes[job] - taken - 1, 0) * per_task
    return min(usable, max(rest - kept, per_task))


@kernel(allocates=False)
def most_nodes(given: Given, job: int) -> int:
    """Return how many nodes a job may have: as many as it has tasks, where it does not say it."""
    return given.max_nodes[job] if given.max_nodes[job] > 0 else given.cpus[job] // given.cpus_per_task[job]


@kernel(allocates=False)
def key_of(given: Given, state: Dynamic, node: int) -> int:
    """Return by what nodes come first: their weight, then how light the last test of a job with GPUs left them."""
    return given.weight[node] * KEYS - state.light[node]


@kernel(allocates=False)
def gpus_asked(given: Given, job: int) -> int:
    """Return the GPUs that a job asks for in all."""
    return 0 if int(given.number[LEFT_OUT]) == NO_GPUS else given.gpus_in_all[job]

# SPDX-License-Identifier: BSD-3-Clause
"""GPU packing: jobs with GPUs go first to nodes on which GPUs are in use, so that whole nodes stay free.

It is the idea of GpuPacking, one of the rules with which Weng et al. (2023) compare theirs: GPUs that are shared
already, then nodes that are in use, then idle ones.
"""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.machines.node_table import GPU
from swftools.simulator.nodes.choosing import by_key
from swftools.simulator.nodes.placement import placement
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.words import AMOUNTS, gpus_in

_LEVEL = AMOUNTS + 1


@kernel(allocates=False)
def begun_first(machine: NodeMachine, node: int, free: int, need: int) -> int:
    """Return a number by which begun GPUs come first, then begun nodes, then idle ones; within each as best fit.

    Of GPUs it is known how much is free of all of a node. So the part of a GPU that is asked for counts as fitting the
    begun one if what is free beside whole GPUs suffices.
    """
    amounts, has, left = free & AMOUNTS, gpus_in(machine.nodes.capacity[node]), gpus_in(free)
    if gpus_in(need) == 0:
        return amounts
    if left == has:
        return amounts + 2 * _LEVEL
    return amounts if gpus_in(need) % GPU <= left % GPU else amounts + _LEVEL


placement(
    "gpu-packing",
    chooses_again=True,
    when="To keep whole nodes of GPUs free for large jobs where many small ones ask for a GPU or a part of one.",
)(by_key("gpu_packing", begun_first))

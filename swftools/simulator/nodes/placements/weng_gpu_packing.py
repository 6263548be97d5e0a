# SPDX-License-Identifier: BSD-3-Clause
"""GPU packing as Weng et al. (2023) have it: begun GPUs that suffice first, then begun nodes, then idle ones.

``gpu-packing`` here has the same idea on nodes whose GPUs are counted together.
"""

from __future__ import annotations

from swftools.kernel import IntArray, kernel
from swftools.machines.node_table import GPU
from swftools.simulator.nodes.gpus.choosing import gpu_rule
from swftools.simulator.nodes.gpus.state import LACKING, WIDTH, GpuNodes


@gpu_rule(
    "weng-gpu-packing", when="To compare with FGD, and to keep idle GPUs and nodes for jobs that need whole ones."
)
@kernel(allocates=False)
def by_begun_gpus(
    gpus: GpuNodes,
    free: IntArray,
    node: int,
    cpu: int,  # noqa: ARG001 (other rules need them)
    asked_cpu: int,  # noqa: ARG001
    number: int,
    milli: int,
) -> float:
    """Return 50 to 100 where begun GPUs suffice, more for fuller ones; 33 to 50 on other begun nodes; else less."""
    if number == 0:
        return 0.0
    width, has, idle, fitting = gpus.counts[WIDTH], 0, 0, 0
    for gpu in range(node * width, node * width + width):
        has += free[gpu] != LACKING
        idle += free[gpu] == GPU
        fitting += free[gpu] >= milli
    if idle == has:
        return float(max(33 - has, has))
    begun = fitting - idle  # all idle ones fit
    if number > begun:
        return float(max(50 - (number - begun), 33))
    percent = 0  # what is free of the fitting GPUs with the least free, as many as are asked for
    left, bound = number, -1
    while left > 0:
        least, alike = GPU + 1, 0
        for gpu in range(node * width, node * width + width):
            if free[gpu] >= milli and bound < free[gpu] < least:
                least = free[gpu]
        for gpu in range(node * width, node * width + width):
            alike += free[gpu] == least
        taken = min(alike, left)
        percent += taken * (least * 100 // GPU)
        left, bound = left - taken, least
    return float(max(100 - percent // 10, 50))

# SPDX-License-Identifier: BSD-3-Clause
"""Random: any of the nodes that fit a job, and any of its GPUs that do."""

from __future__ import annotations

from swftools.kernel import IntArray, kernel
from swftools.simulator.nodes.gpus.choosing import gpu_rule, score_node
from swftools.simulator.nodes.gpus.state import WIDTH, GpuNodes, draw_below


@kernel(allocates=False)
def any_gpu(
    gpus: GpuNodes,
    free: IntArray,
    node: int,
    cpu: int,  # noqa: ARG001 (other rules need them)
    asked_cpu: int,  # noqa: ARG001
    number: int,  # noqa: ARG001
    milli: int,
) -> int:
    """Return a GPU that has so much free."""
    width, fitting = gpus.counts[WIDTH], 0
    for gpu in range(node * width, node * width + width):
        fitting += free[gpu] >= milli
    rest, chosen = draw_below(gpus, fitting), 0
    for gpu in range(width):
        if free[node * width + gpu] >= milli:
            if rest == 0:
                chosen = gpu
            rest -= 1
    return chosen


gpu_rule("random", choose=any_gpu, ties="random", when="As what others are compared with.")(score_node)

# SPDX-License-Identifier: BSD-3-Clause
"""Dot product as Weng et al. (2023) have it: the node with the smallest product of what is asked for and what is free.

Both are vectors of CPU and GPUs, as shares of the most that a node has. Tetris, and ``dot-product`` here, take the
highest product.
"""

from __future__ import annotations

from swftools.kernel import IntArray, kernel
from swftools.simulator.nodes.gpus.choosing import gpu_rule
from swftools.simulator.nodes.gpus.state import MOST_CPU, MOST_GPU, GpuNodes, free_in


@gpu_rule("weng-dot-product", when="To compare with FGD, as its authors do.")
@kernel(allocates=False)
def by_small_product(
    gpus: GpuNodes, free: IntArray, node: int, cpu: int, asked_cpu: int, number: int, milli: int
) -> float:
    """Return 100 where the product is 0, less where it is larger."""
    most_cpu, most_gpu = gpus.counts[MOST_CPU], gpus.counts[MOST_GPU]
    product = cpu / most_cpu * (asked_cpu / most_cpu)
    product += free_in(gpus, free, node) / most_gpu * (number * milli / most_gpu)
    return 100.0 * (1.0 - product / 2.0)

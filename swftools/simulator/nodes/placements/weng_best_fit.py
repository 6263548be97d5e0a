# SPDX-License-Identifier: BSD-3-Clause
"""Best fit as Weng et al. (2023) have it: the node on which the least is left, of CPU and GPUs in equal parts.

What is left of each is a share of the most that a node has. The authors' program stretches the scores of the nodes that
fit to 0..100, which keeps their order. Memory does not count. ``best-fit`` is another rule: GPUs first.
"""

from __future__ import annotations

from swftools.kernel import IntArray, kernel
from swftools.simulator.nodes.gpus.choosing import gpu_rule
from swftools.simulator.nodes.gpus.state import MOST_CPU, MOST_GPU, GpuNodes, free_in


@gpu_rule("weng-best-fit", when="To compare with FGD: it packs by what is left, and does not ask who could use it.")
@kernel(allocates=False)
def by_what_is_left(
    gpus: GpuNodes, free: IntArray, node: int, cpu: int, asked_cpu: int, number: int, milli: int
) -> float:
    """Return 100 where nothing is left, 0 where all of the largest node is."""
    left_cpu = (cpu - asked_cpu) / gpus.counts[MOST_CPU] * 0.5
    left_gpu = (free_in(gpus, free, node) - number * milli) / gpus.counts[MOST_GPU] * 0.5
    return 100.0 * (1.0 - (left_cpu + left_gpu))

# SPDX-License-Identifier: BSD-3-Clause
"""FGD, fragmentation gradient descent: the node, and GPU, whose expected fragment grows least, or falls most.

Q. Weng et al., "Beware of fragmentation", USENIX ATC 2023, section 5. The score is 100 x sigmoid of by how many GPUs
the fragment falls; 50 where it stays. In the authors' program, and so here, scores are cut to whole numbers, so that
0.04 GPUs more or less are a tie, and of equal nodes the first is taken.
"""

from __future__ import annotations

import math

from swftools.kernel import IntArray, kernel
from swftools.machines.node_table import GPU
from swftools.simulator.nodes.gpus.choosing import gpu_rule
from swftools.simulator.nodes.gpus.fragments import as_compared, fragment_of, fragment_with
from swftools.simulator.nodes.gpus.state import WIDTH, GpuNodes, is_sharing


@kernel(allocates=False)
def _score_on(
    gpus: GpuNodes,
    free: IntArray,
    node: int,
    cpu: int,
    asked_cpu: int,
    number: int,
    milli: int,
    chosen: int,
    before: float,
) -> float:
    """Return the score of a node on whose chosen GPU a job is put, or on the first that fit."""
    after = fragment_with(gpus, free, node, cpu, asked_cpu, number, milli, chosen)
    return 100.0 * (1.0 / (1.0 + math.exp(-(before - after) / GPU)))


@kernel(allocates=False)
def _best(
    gpus: GpuNodes, free: IntArray, node: int, cpu: int, asked_cpu: int, number: int, milli: int
) -> tuple[float, int]:
    """Return the highest score of the GPUs that a job may share, and the first GPU that has it as it is compared."""
    width, before = gpus.counts[WIDTH], fragment_of(gpus, free, node, cpu)
    best, chosen = -1.0, -1
    for gpu in range(width):
        left, is_new = free[node * width + gpu], True
        for other in range(gpu):  # of GPUs with as much free the first stands for all
            is_new = is_new and free[node * width + other] != left
        if left >= milli and is_new:
            score = _score_on(gpus, free, node, cpu, asked_cpu, number, milli, gpu, before)
            if chosen < 0 or as_compared(gpus, score) > as_compared(gpus, best):
                best, chosen = score, gpu
    return best, chosen


@kernel(allocates=False)
def gpu_of_least_fragment(
    gpus: GpuNodes, free: IntArray, node: int, cpu: int, asked_cpu: int, number: int, milli: int
) -> int:
    """Return the GPU that a job shares by which the fragment of the node grows least."""
    return _best(gpus, free, node, cpu, asked_cpu, number, milli)[1]


@gpu_rule(
    "fgd",
    choose=gpu_of_least_fragment,
    when="Where many jobs ask for parts of GPUs, and what is free is to stay of use for the jobs that usually come.",
)
@kernel(allocates=False)
def by_fragments(gpus: GpuNodes, free: IntArray, node: int, cpu: int, asked_cpu: int, number: int, milli: int) -> float:
    """Return the score of a node: 50 where its fragment stays as it is, more where it falls."""
    if is_sharing(number, milli):
        return _best(gpus, free, node, cpu, asked_cpu, number, milli)[0]
    before = fragment_of(gpus, free, node, cpu)
    return _score_on(gpus, free, node, cpu, asked_cpu, number, milli, -1, before)

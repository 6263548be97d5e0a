# SPDX-License-Identifier: BSD-3-Clause
"""GPU clustering: jobs that ask for as many GPUs run together: those with a part of one, with one, with two and so on.

As Weng et al. (2023) have it among the rules with which they compare theirs; it is the idea of Gandiva (W. Xiao et al.,
OSDI 2018). Of nodes with the same company the fullest comes first. Jobs without GPUs get the first node that fits.
"""

from __future__ import annotations

import math

from swftools.kernel import IntArray, kernel
from swftools.simulator.nodes.gpus.choosing import gpu_rule
from swftools.simulator.nodes.gpus.state import MOST_GPU, WIDTH, GpuNodes, free_in, kind_of


@gpu_rule("gpu-clustering", when="To keep jobs of the same size together, so that what they leave fits the next one.")
@kernel(allocates=False)
def by_company(
    gpus: GpuNodes,
    free: IntArray,
    node: int,
    cpu: int,  # noqa: ARG001 (other rules need them)
    asked_cpu: int,  # noqa: ARG001
    number: int,
    milli: int,
) -> float:
    """Return 75 where only jobs of this kind run, 50 where also others do, 25 where none does, 0; and up to 25 more."""
    if number == 0:
        return 0.0
    kinds, begin = gpus.counts[WIDTH] + 1, node * (gpus.counts[WIDTH] + 1)
    own, others = gpus.kinds[begin + kind_of(number, milli)] > 0, False
    for kind in range(kinds):
        others = others or (gpus.kinds[begin + kind] > 0 and kind != kind_of(number, milli))
    base = (50.0 if others else 75.0) if own else (0.0 if others else 25.0)
    most = gpus.counts[MOST_GPU]
    return base + math.floor(25 * (most - free_in(gpus, free, node)) / most)

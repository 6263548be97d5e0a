# SPDX-License-Identifier: BSD-3-Clause
"""Fragments: how much of the free GPUs of a node the jobs of a typical workload are expected not to be able to use.

Q. Weng, L. Yang, Y. Yu, W. Wang, X. Tang, G. Yang, L. Zhang: "Beware of fragmentation: scheduling GPU-sharing workloads
with fragmentation gradient descent", USENIX ATC 2023, section 4. Of a class of jobs that does not fit a node, all that
is free there is a fragment; of one that fits, the GPUs with less free than it asks for; of one without GPUs, all.
"""

from __future__ import annotations

import math

from swftools.kernel import IntArray, kernel
from swftools.simulator.nodes.gpus.state import EXACT, WIDTH, GpuNodes, free_in, give_back_gpus, hold_gpus


@kernel(allocates=False)
def fragment_of(gpus: GpuNodes, free: IntArray, node: int, cpu: int) -> float:
    """Return the expected fragment of a node with so much CPU free, in thousandths of a GPU.

    It is the sum of share x fragment over the classes of the typical workload. As in the authors' program it is added
    up by why a class cannot use it, and these sums in their order: a last digit decides how the score is rounded.
    """
    width, left = gpus.counts[WIDTH], free_in(gpus, free, node)
    lacks_both = lacks_gpu = lacks_cpu = cpu_fits = cpu_lacks = no_access = 0.0
    for each in range(len(gpus.share)):
        share, milli, number = gpus.share[each], gpus.milli[each], gpus.number[each]
        has_cpu = cpu >= gpus.cpu[each]
        if number == 0:
            cpu_fits += share * left if has_cpu else 0.0
            cpu_lacks += 0.0 if has_cpu else share * left
            continue
        if gpus.models[each] & gpus.model[node] == 0:
            no_access += share * left
            continue
        fitting = small = 0
        for gpu in range(node * width, node * width + width):
            fitting += free[gpu] >= milli
            small += free[gpu] if 0 <= free[gpu] < milli else 0
        if fitting >= number and has_cpu:
            lacks_gpu += share * small
        elif fitting >= number:
            lacks_cpu += share * left
        elif has_cpu:
            lacks_gpu += share * left
        else:
            lacks_both += share * left
    return lacks_both + lacks_gpu + lacks_cpu + cpu_fits + cpu_lacks + no_access


@kernel(allocates=False)
def fragment_with(
    gpus: GpuNodes, free: IntArray, node: int, cpu: int, asked_cpu: int, number: int, milli: int, chosen: int
) -> float:
    """Return the expected fragment of a node on which a job has begun, on the chosen GPU or the first that fit."""
    bits = hold_gpus(gpus, free, node, number, milli, chosen)
    found = fragment_of(gpus, free, node, cpu - asked_cpu)
    give_back_gpus(gpus, free, node, milli, bits)
    return found


@kernel(allocates=False)
def as_compared(gpus: GpuNodes, score: float) -> float:
    """Return a score as it is compared: cut to a whole number, unless exact ones are."""
    return score if gpus.counts[EXACT] > 0 else math.floor(score)

# SPDX-License-Identifier: BSD-3-Clause
"""Dot product: nodes whose free resources are most alike, in their proportions, to what the job asks for.

The alignment score of Tetris: R. Grandl, G. Ananthanarayanan, S. Kandula, S. Rao, A. Akella, "Multi-resource packing
for cluster schedulers", SIGCOMM 2014, section 3.2: the dot product of what is asked for and what is free, each divided
by what the machine has; the highest first.
"""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.nodes.choosing import by_key
from swftools.simulator.nodes.placement import placement
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.words import cores_in, gpus_in, memory_in

SHARE_BITS = 20
"""Shares are counted in parts of 2 ** 20, rounded down, so that all that computes them gets the same."""

_HIGHEST = 3 << (2 * SHARE_BITS)


@kernel(allocates=False)
def _share(amount: int, whole: int) -> int:
    """Return which share of a whole an amount is; nothing where there is none."""
    return (amount << SHARE_BITS) // whole if whole > 0 else 0


@kernel(allocates=False)
def least_aligned(machine: NodeMachine, node: int, free: int, need: int) -> int:
    """Return the less the higher the sum over cores, memory and GPUs of (asked / has) x (free / has) is."""
    has = machine.nodes.capacity[node]
    score = _share(cores_in(need), cores_in(has)) * _share(cores_in(free), cores_in(has))
    score += _share(memory_in(need), memory_in(has)) * _share(memory_in(free), memory_in(has))
    score += _share(gpus_in(need), gpus_in(has)) * _share(gpus_in(free), gpus_in(has))
    return _HIGHEST - score


placement(
    "dot-product",
    chooses_again=True,
    when="Where jobs ask for cores, memory and GPUs in different proportions, and one of them runs out first.",
)(by_key("dot_product", least_aligned))

# SPDX-License-Identifier: BSD-3-Clause
"""Worst fit: of the nodes that fit a job, those on which most is left."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.nodes.choosing import by_key
from swftools.simulator.nodes.placement import placement
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.words import AMOUNTS, gpus_in, without_gpus


@kernel(allocates=False)
def most_left(machine: NodeMachine, node: int, free: int, need: int) -> int:  # noqa: ARG001 (other keys need them)
    """Return the less the more is free: GPUs first, if the job asks for some, then cores, then memory."""
    amounts = free & AMOUNTS
    return AMOUNTS - (amounts if gpus_in(need) > 0 else without_gpus(amounts))


placement(
    "worst-fit",
    chooses_again=True,
    when="To spread jobs over the nodes, so that each shares its node with as few others as possible.",
)(by_key("worst_fit", most_left))

# SPDX-License-Identifier: BSD-3-Clause
"""Best fit: of the nodes that fit a job, those on which least is free: GPUs first, then cores, then memory."""

from __future__ import annotations

from swftools.simulator.nodes.choosing import choose_lowest
from swftools.simulator.nodes.placement import placement

placement(
    "best-fit",
    chooses_again=True,
    when="To keep large pieces of free memory, cores and GPUs together where jobs share nodes.",
)(choose_lowest)

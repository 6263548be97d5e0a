# SPDX-License-Identifier: BSD-3-Clause
"""Lowest weight: of the nodes that fit a job, those with the lowest weights, of equal ones the first by number."""

from __future__ import annotations

import numpy as np

from swftools.kernel import IntArray
from swftools.machines.node_table import NodeTable
from swftools.simulator.nodes.placement import placement
from swftools.simulator.nodes.placements.first_fit import choose_first


def by_weight(table: NodeTable) -> IntArray:
    """Return the nodes by weight: it is first fit in that order."""
    return np.argsort(table.weight, kind="stable")


placement("lowest-weight", order=by_weight, when="As Slurm does: it saves nodes of a high weight for who needs them.")(
    choose_first
)

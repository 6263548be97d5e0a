# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are gone from the beginning, and for good: a smaller machine, in place of outages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swftools.machines.node_table import NodeTable
from swftools.machines.outages import RESERVATION


def without_gone(table: NodeTable) -> NodeTable:
    """Return a machine whose partitions lack the nodes that are down or drained from the beginning, and never return.

    Whoever runs there goes on; all else sees a smaller machine, which needs no outages for that.
    """
    outages = table.outages
    is_gone = (outages.begin < 0.0) & (outages.end == np.inf) & (outages.kind != RESERVATION)
    gone = np.unique(outages.node[is_gone])
    if not len(gone):
        return table
    partitions = tuple(replace(each, nodes=each.nodes[~np.isin(each.nodes, gone)]) for each in table.partitions)
    return replace(table, partitions=partitions, outages=outages.of(~np.isin(outages.node, gone)))

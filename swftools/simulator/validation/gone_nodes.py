# SPDX-License-Identifier: BSD-3-Clause
"""Whether enough of the nodes that a job needs come back; nothing here is shared with the engine."""

from __future__ import annotations

import numpy as np

from swftools.kernel import BoolArray, IntArray
from swftools.machines.asked import Asked
from swftools.machines.node_table import NodeTable
from swftools.machines.outages import who_may
from swftools.trace import Trace


def enough_come_back(trace: Trace, asked: Asked, table: NodeTable, row: IntArray) -> BoolArray:
    """Return whether enough nodes are there for jobs in the end, when nothing else runs.

    Parameters
    ----------
    trace : Trace
        Its jobs, which tell their users.
    asked : Asked
        What they ask for; those of ``row`` can run on the idle machine.
    table : NodeTable
        The machine.
    row : numpy.ndarray of int64, shape (jobs,)
        The rows of some jobs.
    """
    outages = table.outages.of(table.outages.end == np.inf)
    group, may, _ = who_may(trace, outages)
    found = np.zeros(len(row), np.bool_)
    for i, job in enumerate(row.tolist()):
        is_fine = (table.cores >= asked.cores[job]) & (table.memory >= asked.memory[job])
        is_fine &= table.gpus >= asked.gpus[job]
        is_out = [who < 0 or not may[group[job], who] for who in outages.who.tolist()]
        is_fine[outages.node[np.array(is_out, np.bool_)]] = False
        found[i] = any(is_fine[nodes].sum() >= asked.nodes[job] for nodes in asked.places[asked.place[job]].nodes)
    return found

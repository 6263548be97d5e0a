# SPDX-License-Identifier: BSD-3-Clause
"""When the nodes of a machine are switched off by an idle time-out, in a schedule that stays as it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from swftools.kernel import FloatArray, IntArray
from swftools.simulator.allocations import allocations_of, machine_of
from swftools.simulator.schedule import Schedule


class SwitchedOff(NamedTuple):
    """Times at which nodes are off: a node, when it goes off, begins to boot, and has booted, s.

    The last two are infinite where the node is not used again.
    """

    node: IntArray
    off: FloatArray
    boot: FloatArray
    on: FloatArray


def find_switched_off(schedule: Schedule, off_after: float, boot_time: float, since: float) -> SwitchedOff:
    """Return when nodes are off that nothing has used for some time.

    Parameters
    ----------
    schedule : Schedule
        On a machine of nodes.
    off_after : float
        A node goes off that has had no run for so long, s.
    boot_time : float
        It begins to boot so long before its next run, s. A node that would boot at once or before stays on.
    since : float
        From when on nodes count as idle that had no run yet, s.

    Returns
    -------
    SwitchedOff
        By node, and of a node by time.

    Raises
    ------
    ParameterError
        The machine is a pool, or the segments lack a column.
    """
    held, count = allocations_of(schedule), len(machine_of(schedule))
    every, nothing = np.arange(count), np.full(count, np.inf)
    node = np.concatenate((every, held.node, every))
    start = np.concatenate((-nothing, held.start, nothing))
    end = np.concatenate((np.full(count, since), held.end, nothing))
    order = np.lexsort((start, node))
    node, start = node[order], start[order]
    used_until = pd.Series(end[order]).groupby(node).cummax().to_numpy()
    off, on = used_until[:-1] + off_after, start[1:]
    boot = on - boot_time
    goes_off = (node[1:] == node[:-1]) & (off < boot)
    return SwitchedOff(node[1:][goes_off], off[goes_off], boot[goes_off], on[goes_off])

# SPDX-License-Identifier: BSD-3-Clause
"""When nobody is on a node: the gaps in its timeline, side by side in memory.

A job that asks for whole nodes has room where nobody is, whatever its other needs are. Searches for such jobs look at
some gaps of hundreds of nodes, over and over; in lists of steps each look would be at another place in memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.instants import instant

MOST_GAPS = 32
"""So many gaps of a node are listed. A node that has more has them in its steps only."""


class IdleGaps(NamedTuple):
    """The gaps of each node in order of time: how ``many``, and the ``ends`` of ``MOST_GAPS``, two numbers each.

    The first is when a gap begins, the second when it ends (s), which the last one does not.
    """

    many: IntArray
    ends: FloatArray


def empty_idle_gaps(nodes: int) -> IdleGaps:
    """Return room for the gaps of so many nodes."""
    return IdleGaps(np.zeros(nodes, np.int64), np.zeros(2 * MOST_GAPS * nodes))


@kernel(allocates=False)
def list_gap(gaps: IdleGaps, node: int, begin: float, end: float) -> None:
    """List a gap of a node behind those that are listed, if there is room."""
    count = gaps.many[node]
    if count < MOST_GAPS:
        at = 2 * (MOST_GAPS * node + count)
        gaps.ends[at], gaps.ends[at + 1] = begin, end
    gaps.many[node] = count + 1


@kernel(allocates=False)
def first_idle(
    gaps: IdleGaps,
    node: int,
    duration: float,
    since: float,
    until: float,
    own_begin: float,
    own_end: float,
    start: int,
) -> tuple[float, float, int]:
    """Return as ``timelines.first_room`` the first time from which on nobody is on a node for a duration.

    In place of a step it returns the number of the next gap, and ``start`` is such a number; -1: none. All gaps of the
    node are listed. Its own reservation does not begin before ``until``.
    """
    first = 2 * MOST_GAPS * node
    behind = first + 2 * gaps.many[node]
    at = first + 2 * max(start, 0)
    while at < behind:
        begin, end = max(gaps.ends[at], since), gaps.ends[at + 1]
        if begin >= until:
            break
        at += 2
        if end == own_begin:
            end = own_end
            if at < behind and gaps.ends[at] == end:
                end = gaps.ends[at + 1]
                at += 2
        if instant(begin + duration) <= end:
            return begin, end, (at - first) >> 1 if end < np.inf else -1
    return np.inf, np.inf, -1

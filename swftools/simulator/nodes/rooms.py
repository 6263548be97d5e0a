# SPDX-License-Identifier: BSD-3-Clause
"""What searches found on each node: when it first has room for a job of some need and length.

Jobs are searched for again and again, while the timelines of few nodes change. So what was found holds until that node
changes. It is kept for some needs and lengths at a time, those that were asked for last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, ShortArray, kernel

MOST_ROWS, MOST_KEPT = 512, 1 << 19
"""The most needs and lengths of which something is kept, and the most numbers of times in all."""

_MIX = 0x9E3779B97F4A7C15


class RoomsFound(NamedTuple):
    """Rows of nodes, one for each ``need``, ``length`` (s) and ``kind`` of job of which something is kept.

    Nodes may be there for jobs of some kinds only; where they never go away, all are of one.

    Of a node of a row: it has room first at ``when``, and this room ends at ``gap_end`` (s), with a step,
    ``gap_step``. If ``stamp`` is even, none
    was found before ``when``, and more is not known. What is kept holds if half of ``stamp`` is the number of changes
    of the node.
    """

    need: IntArray
    length: FloatArray
    kind: IntArray
    when: FloatArray
    gap_end: FloatArray
    gap_step: ShortArray
    stamp: IntArray


def empty_rooms(nodes: int) -> RoomsFound:
    """Return rows of so many nodes of which nothing is known."""
    rows = max(1, min(MOST_ROWS, MOST_KEPT // max(1, nodes)))
    need, length, kind = np.zeros(rows, np.int64), np.zeros(rows), np.zeros(rows, np.int64)
    when, gap_end = np.zeros(rows * nodes), np.zeros(rows * nodes)
    gap_step = np.zeros(rows * nodes, np.int32)
    return RoomsFound(need, length, kind, when, gap_end, gap_step, np.zeros(rows * nodes, np.int64))


@kernel(allocates=False)
def row_for(rooms: RoomsFound, need: int, length: float, kind: int) -> int:
    """Return where the row of a need, a length and a kind begins; what was kept there for others is forgotten."""
    rows = len(rooms.need)
    mixed = (np.uint64(need) ^ np.uint64(int(min(length, 1e15) * 16.0)) ^ np.uint64(kind)) * np.uint64(_MIX)
    row = int(np.int64((mixed >> np.uint64(33)) % np.uint64(rows)))
    nodes = len(rooms.stamp) // rows
    if rooms.need[row] != need or rooms.length[row] != length or rooms.kind[row] != kind:
        rooms.need[row], rooms.length[row], rooms.kind[row] = need, length, kind
        for at in range(row * nodes, (row + 1) * nodes):
            rooms.stamp[at] = 0
    return row * nodes

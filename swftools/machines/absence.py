# SPDX-License-Identifier: BSD-3-Clause
"""When nodes were in use by the runs that name them, how much of them at once, and when they were away."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

import numpy as np

from swftools.kernel import FloatArray, IntArray

BUSY = 0.8
"""Of the others of a node's kind that work while it may be away: with fewer, it may just have been idle."""


class Busy:
    """Runs by node.

    Parameters
    ----------
    node : array of int
        The node of each entry; a run on several nodes has one for each.
    start, end : array of float
        When it was in use, s.
    nodes : int
        How many nodes there are.
    """

    def __init__(self, node: IntArray, start: FloatArray, end: FloatArray, nodes: int) -> None:
        self.node, self.start, self.end, self.nodes = node, start, end, nodes
        longer = np.flatnonzero(end > start)
        self._order = longer[np.lexsort((start[longer], node[longer]))]
        self._bounds = np.searchsorted(node[self._order], np.arange(nodes + 1))
        self.first, self.last = (float(start.min()), float(end.max())) if len(start) else (0.0, 0.0)

    def most(self, amount: FloatArray) -> FloatArray:
        """Return the most of an amount that was in use at once on each node; what ends at an instant is free then."""
        found = np.zeros(self.nodes)
        if not amount.any():
            return found
        np.maximum.at(found, self.node, amount)  # a run of no time had it too
        longer, order, node = self._changes
        change = np.concatenate((amount[longer], -amount[longer]))[order]
        np.maximum.at(found, node, np.round(np.cumsum(change), 6))
        return found

    @cached_property
    def _changes(self) -> tuple[IntArray, IntArray, IntArray]:
        """The runs that take time, and the order of their starts and ends by node and time, with the node of each.

        Ends stand behind all starts, and come first at one instant.
        """
        longer = np.flatnonzero(self.end > self.start)
        node = np.concatenate((self.node[longer], self.node[longer]))
        time = np.concatenate((self.start[longer], self.end[longer]))
        order = np.lexsort((np.arange(len(node)) < len(longer), time, node))
        return longer, order, node[order]

    def idle(self, node: int) -> list[tuple[float, float]]:
        """Return the stretches of the log in which nobody uses a node."""
        at = self._order[self._bounds[node] : self._bounds[node + 1]]
        begins = np.append(self.start[at], self.last)
        ends = np.concatenate(([self.first], np.maximum.accumulate(self.end[at]) if len(at) else []))
        is_idle = begins > ends
        return list(zip(ends[is_idle].tolist(), begins[is_idle].tolist(), strict=True))


def absences(busy: Busy, kind: IntArray, least: float) -> dict[tuple[float, float], list[int]]:
    """Return when nodes were away, by begin and end, and which.

    A node was away while no run names it for at least ``least`` seconds, if on average 8 in 10 of the other nodes of
    its kind were in use meanwhile. The begin and the end of the log count as uses. A node whose kind has no other is
    never away, as nobody can say.

    Parameters
    ----------
    busy : Busy
        The runs.
    kind : array of int
        The kind of each node.
    least : float
        Seconds.
    """
    found: defaultdict[tuple[float, float], list[int]] = defaultdict(list)
    idle = [busy.idle(node) for node in range(busy.nodes)]
    for each in np.unique(kind).tolist():
        nodes = np.flatnonzero(kind == each).tolist()
        if len(nodes) < 2:
            continue
        # Seconds that nodes of the kind were idle up to each moment, between which that rises evenly.
        gaps = np.array([gap for node in nodes for gap in idle[node]]).reshape(-1, 2)
        times = np.unique(gaps)
        rate = np.zeros(len(times) + 1)
        np.add.at(rate, np.searchsorted(times, gaps[:, 0]), 1.0)
        np.add.at(rate, np.searchsorted(times, gaps[:, 1]), -1.0)
        level = np.cumsum(rate)[: len(times)]
        total = np.concatenate(([0.0], np.cumsum(level[:-1] * np.diff(times))))
        for node in nodes:
            for begin, end in idle[node]:
                if end - begin >= least:
                    low, high = np.interp([begin, end], times, total)
                    of_others = (high - low - (end - begin)) / ((end - begin) * (len(nodes) - 1))
                    if 1.0 - of_others >= BUSY:
                        found[begin, end].append(node)
    return dict(sorted(found.items()))

# SPDX-License-Identifier: BSD-3-Clause
"""How much of a machine is there: its cores less those of nodes that are away, over time."""

from __future__ import annotations

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray
from swftools.machines.node_table import NodeTable
from swftools.simulator.allocations import allocations_of
from swftools.simulator.schedule import Schedule


class Absences:
    """When each node of a machine is away: down, drained, or reserved for nobody; overlaps count once.

    Parameters
    ----------
    machine : NodeTable
        The machine.
    window : (float, float)
        From when to when, s.
    """

    def __init__(self, machine: NodeTable, window: tuple[float, float]) -> None:
        outages = machine.outages.of((machine.outages.who < 0) & (machine.outages.end > machine.outages.begin))
        begin, end = np.clip(outages.begin, *window), np.clip(outages.end, *window)
        self._of_node: dict[int, tuple[FloatArray, FloatArray]] = {}
        for node in np.unique(outages.node).tolist():
            own = np.flatnonzero(outages.node == node)
            self._of_node[node] = _away_until(begin[own], end[own])
        self.nodes: IntArray = np.array(sorted(self._of_node), np.int64)
        """The nodes that are ever away."""

    def stretches(self, node: int) -> tuple[FloatArray, FloatArray]:
        """Return from when to when a node is away, rising, s; one may begin where another one ends."""
        times, away = self._of_node[node]
        is_away = np.diff(away) > 0
        return times[:-1][is_away], times[1:][is_away]

    def between(self, node: int, begin: FloatArray, end: FloatArray) -> FloatArray:
        """Return how long a node is away within some times, s."""
        times, away = self._of_node[node]
        return np.interp(end, times, away) - np.interp(begin, times, away)


def _away_until(begin: FloatArray, end: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return times, and how long a node was away by each of them: between two it is away or there throughout."""
    times = np.unique(np.concatenate([begin, end]))
    steps = np.zeros(len(times))
    np.add.at(steps, np.searchsorted(times, begin), 1.0)
    np.add.at(steps, np.searchsorted(times, end), -1.0)
    is_away = np.cumsum(steps)[:-1] > 0
    return times, np.concatenate([[0.0], np.cumsum(np.diff(times) * is_away)])


def times_of_outages(machine: NodeTable, window: tuple[float, float]) -> FloatArray:
    """Return when nodes go away or come back within a window, s, rising."""
    absences = Absences(machine, window)
    return np.unique(
        np.concatenate([np.zeros(0), *(np.concatenate(absences.stretches(each)) for each in absences.nodes)])
    )


def cores_away(schedule: Schedule, machine: NodeTable, is_counted: BoolArray, times: FloatArray) -> IntArray:
    """Return how many cores are away from each of some times on, but for those that jobs hold on drained nodes.

    Parameters
    ----------
    schedule, machine
        The runs, and the nodes.
    is_counted : numpy.ndarray of bool, shape (nodes,)
        Which nodes count.
    times : numpy.ndarray of float64, shape (instants,)
        Rising; with all starts and ends of runs and ``times_of_outages`` between the first and the last among them.
    """
    changes: IntArray = np.zeros(len(times), np.int64)
    if not len(times):
        return changes
    absences, held = Absences(machine, (float(times[0]), float(times[-1]))), allocations_of(schedule)
    is_away = np.isin(held.node, absences.nodes)
    node, cores = held.node[is_away], held.cores[is_away]
    start, end = held.start[is_away], held.end[is_away]

    def add(begin: FloatArray, until: FloatArray, many: IntArray) -> None:
        lasts = until > begin
        np.add.at(changes, np.searchsorted(times, begin[lasts]), many[lasts])
        np.add.at(changes, np.searchsorted(times, until[lasts]), -many[lasts])

    for each in absences.nodes[is_counted[absences.nodes]].tolist():
        own, (begins, ends) = node == each, absences.stretches(each)
        add(begins, ends, np.full(len(begins), machine.cores[each]))
        for begin, until in zip(begins.tolist(), ends.tolist(), strict=True):
            add(np.maximum(start[own], begin), np.minimum(end[own], until), -cores[own])
    return np.cumsum(changes)


def core_time_away(schedule: Schedule, machine: NodeTable, window: tuple[float, float]) -> float:
    """Return the core-seconds of nodes that are away, in a window, but for those that jobs hold on drained nodes."""
    absences = Absences(machine, window)
    held, total = allocations_of(schedule), 0.0
    is_away = np.isin(held.node, absences.nodes)
    node, cores = held.node[is_away], held.cores[is_away]
    start, end = held.start[is_away], held.end[is_away]
    order = np.argsort(node, kind="stable")
    bounds = [*np.searchsorted(node[order], absences.nodes, side="left").tolist(), len(node)]
    whole = np.array(window[:1]), np.array(window[1:])
    for place, each in enumerate(absences.nodes.tolist()):
        own = order[bounds[place] : bounds[place + 1]]
        total += machine.cores[each] * float(absences.between(each, *whole)[0])
        total -= float((cores[own] * absences.between(each, start[own], end[own])).sum())
    return total

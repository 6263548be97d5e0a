# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are chosen from outside for a job: by number or by name, checked, and written down as the job's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from swftools.errors import ParameterError
from swftools.kernel import IntArray, ShortArray
from swftools.machines.hostlist import expand_hosts
from swftools.machines.node_table import NodeTable
from swftools.parameters import is_whole
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.simulation import Simulation


def order_of(simulation: Simulation) -> IntArray:
    """Return the number of each node of a simulation, in the order in which its machine has them."""
    placement = find_placement(simulation.options["placement"])
    return placement.rule.order(_nodes(simulation))


def nodes_of(simulation: Simulation, job: int) -> IntArray:
    """Return the numbers of the nodes that a job has, rising; none of one that does not run."""
    machine: Any = simulation._machine
    if machine.allocated[job] == 0 and machine.run[job] < 0:
        return np.zeros(0, np.int64)
    return np.sort(order_of(simulation)[own_nodes(machine, job)])


@contextmanager
def kept_nodes(simulation: Simulation, job: int) -> Iterator[None]:
    """Leave the nodes that are written down as a job's as they were if what is done to it is not done."""
    machine: Any = simulation._machine
    if simulation.nodes is None or not 0 <= job < simulation._driver.jobs:
        yield
        return
    held = own_nodes(machine, job)
    before = held.copy()
    try:
        yield
    except ValueError:
        held[:] = before
        raise


@contextmanager
def on_these_nodes(simulation: Simulation, job: int, nodes: Iterable[int] | str) -> Iterator[int]:
    """Write nodes down as a waiting job's own, and yield the first of its sets that has them all.

    Raises
    ------
    ParameterError
        There are no such nodes, not as many as the job asks for, or it may not run there.
    """
    table, machine = _nodes(simulation), simulation._machine
    chosen = _numbers(table, nodes)
    if not 0 <= job < simulation._driver.jobs:
        raise ParameterError(f"job {job}: there is no such job; jobs are those of waiting")
    given: Any = machine
    wanted = int(given.asked.nodes[job])
    if len(chosen) != wanted or len(np.unique(chosen)) != wanted:
        raise ParameterError(f"nodes={nodes!r}: give {wanted} different ones, as many as job {job} asks for")
    at = np.empty(len(table), np.int64)
    at[order_of(simulation)] = np.arange(len(table))
    places, here = given.places, np.sort(at[chosen])
    place = int(given.asked.place[job])
    for group in range(places.sets[place], places.sets[place + 1]):
        pieces = slice(places.ranges[group], places.ranges[group + 1])
        low, high = places.low[pieces], places.high[pieces]
        piece = np.searchsorted(low, here, side="right") - 1
        if ((piece >= 0) & (here < high[piece])).all():
            held = own_nodes(given, job)
            before = held.copy()
            held[:] = here
            try:
                yield group
            except BaseException:
                held[:] = before
                raise
            return
    raise ParameterError(f"nodes={nodes!r}: job {job} may not run there, by its partition or the features it asks for")


def own_nodes(machine: Any, job: int) -> ShortArray:
    """Return where the nodes of a job are written down, in the order in which the machine has nodes."""
    first = int(machine.asked.first[job])
    held: ShortArray = machine.nodes.held[first : first + int(machine.asked.nodes[job])]
    return held


def _nodes(simulation: Simulation) -> NodeTable:
    """Return the nodes of the machine."""
    if simulation.nodes is None:
        raise ParameterError("nodes= is of a machine of nodes, and this is a pool of processors; leave it out")
    return simulation.nodes


def _numbers(table: NodeTable, nodes: Iterable[int] | str) -> IntArray:
    """Return numbers of nodes that are given so, or by their names."""
    if not isinstance(nodes, str):
        numbers = list(np.asarray(nodes).tolist())
        for number in numbers:
            if not is_whole(number, 0, len(table) - 1):
                raise ParameterError(f"node {number!r} is not a whole number from 0 to {len(table) - 1}")
        return np.array(numbers, np.int64)
    known = {name: number for number, name in enumerate(table.names)}
    names = expand_hosts(nodes)
    if unknown := [name for name in names if name not in known]:
        raise ParameterError(f"nodes={nodes!r}: the machine has no node {unknown[0]}")
    return np.array([known[name] for name in names], np.int64)

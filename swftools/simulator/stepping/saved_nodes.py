# SPDX-License-Identifier: BSD-3-Clause
"""What a saved state has of a machine of nodes: who asks for what, and who is where. All else follows from it.

What is free, and who waits for what, is found anew; so nothing in the bytes can contradict it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.machines.asked import Place
from swftools.machines.node_table import NodeTable
from swftools.machines.table_document import document_of, table_of_document
from swftools.parameters import Parameters
from swftools.simulator.engine.replay import ReplayState, with_views
from swftools.simulator.machine.state import RUNNING, read_only
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.away.begin import begin_outages, outages_in, with_outages
from swftools.simulator.nodes.away.state import NO_SET, AwayReplayState
from swftools.simulator.nodes.begin import NodeBeginning
from swftools.simulator.nodes.forking import class_anew
from swftools.simulator.nodes.holding import take_nodes
from swftools.simulator.nodes.placements import find_placement
from swftools.simulator.nodes.state import NodeReplayState
from swftools.simulator.nodes.words import GUARD, HALF, amounts_of, suffices
from swftools.simulator.simulation import Simulation
from swftools.simulator.state.arena import Arena
from swftools.simulator.state.columns import array_at, columns_of, sizes_of
from swftools.simulator.stepping.chosen_nodes import order_of
from swftools.simulator.stepping.saved_outages import (
    away_in,
    begins_at,
    go_on,
    holders_of,
    keep_stopped,
    outage_arrays_of,
    room_for_stopped,
)
from swftools.simulator.stepping.state_checks import check_between, refuse

Arrays = Mapping[str, npt.NDArray[Any]]

_KINDS = {
    "need": np.int64,
    "nodes": np.int32,
    "place": np.int32,
    "first": np.int64,
    "held": np.int32,
    "group": np.int32,
}
"""Arrays of the state that are saved, and their types: what jobs ask for, which nodes they have, of which set."""

NODES = "nodes."
"""What the names of these arrays begin with."""

HOLDERS = "holders"
"""What a machine with outages has besides: for whom nodes are reserved."""


def machine_of(simulation: Simulation) -> dict[str, Any] | None:
    """Return the machine of nodes of a simulation, and where jobs may run, in words and numbers; None of a pool."""
    if simulation.nodes is None:
        return None
    places: Any = simulation._machine.places  # type: ignore[attr-defined]
    order, known = order_of(simulation), []
    for place in range(len(places.sets) - 1):
        sets = []
        for group in range(int(places.sets[place]), int(places.sets[place + 1])):
            pieces = range(int(places.ranges[group]), int(places.ranges[group + 1]))
            here = np.concatenate([order[places.low[piece] : places.high[piece]] for piece in pieces])
            sets.append([int(places.partition[group]), np.sort(here).tolist()])
        known.append(sets)
    found = {"table": document_of(simulation.nodes), "places": known, "told": simulation._workload.told}
    return {**found, HOLDERS: holders_of(simulation)} if len(simulation.nodes.outages) else found


def node_arrays_of(simulation: Simulation) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield what is saved of nodes, by name."""
    machine: Any = simulation._machine
    if simulation.nodes is not None:
        for name in _KINDS:
            yield NODES + name, getattr(machine.nodes if name in ("held", "group") else machine.asked, name)
    yield from outage_arrays_of(simulation)


def told_in(document: Any) -> tuple[str, ...]:
    """Return what a saved simulation takes for what its log does not say of nodes, in words."""
    told = () if document is None else tuple(document["told"])
    if not all(isinstance(each, str) for each in told):
        refuse("machine", "what is assumed is no text")
    return told


def table_in(document: Any) -> tuple[NodeTable, tuple[Place, ...]]:
    """Return the machine of a document, and where jobs may run.

    Raises
    ------
    StateError
        It is none.
    """
    try:
        table = table_of_document(document["table"])
    except ParameterError as error:
        refuse("machine", str(error))
    known = document["places"]
    if not isinstance(known, list) or len(known) > 2 * HALF:
        refuse("machine", "places where jobs may run")
    places = []
    for sets in known:
        numbers, partitions = [], []
        for partition, nodes in sets:
            check_between("machine", "a partition", [partition], 0, len(table.partitions) - 1)
            here = np.array(nodes, np.int64)
            check_between("machine", "a node", here, 0, len(table) - 1)
            if here.ndim != 1 or not len(here) or (np.diff(here) <= 0).any():
                refuse("machine", "nodes where a job may run")
            numbers.append(here)
            partitions.append(int(partition))
        if not numbers:
            refuse("machine", "a place without nodes")
        places.append(Place(tuple(numbers), tuple(partitions)))
    return table, tuple(places)


def on_nodes(
    state: ReplayState,
    arrays: Arrays,
    jobs: int,
    document: Any,
    options: Mapping[str, Any],
    chosen: Parameters,
) -> tuple[NodeTable, Arena[Any]]:
    """Return the machine of a saved simulation on nodes, and its state.

    Parameters
    ----------
    state : ReplayState
        What it has as one on a pool, which was looked at.
    arrays : mapping of str to ndarray
        Those of ``node_arrays_of`` among others.
    jobs : int
        How many are known.
    document : object
        What ``machine_of`` returned.
    options : mapping of str to object
        Those of the run.
    chosen : Parameters
        Of the policy.

    Raises
    ------
    StateError
        These contradict each other.
    """
    table, places = table_in(document)
    reservations = min(int(chosen.to_mapping().get("reservations", 1)), max(jobs, 1))
    found = {name: arrays[NODES + name] for name in _KINDS}
    sizes, room = sizes_of(state), len(state.machine.run)
    for name, array in found.items():
        wanted = array.size if name == "held" else room
        if array.dtype != _KINDS[name] or array.shape != (wanted,):
            refuse(name, f"an array of {array.dtype}, of {array.size:,} numbers")
    _check_asked(found, jobs, len(table), len(places))
    placement = find_placement(options["placement"])
    begin = NodeBeginning(table, places, placement, options["heads"], reservations)
    columns = columns_of(ReplayState)
    given = begin.given() | {
        path: read_only(array_at(state, path)) for path, column in columns.items() if column.is_given
    }
    first = {path: array_at(state, path) for path in columns if path not in given}
    first |= {f"machine.asked.{name}": found[name] for name in ("need", "nodes", "place", "first")}
    first |= {f"machine.nodes.{name}": found[name] for name in ("held", "group")}
    completed: Any = with_views
    kind: Any = NodeReplayState
    sizes, away = begin.sizes(sizes, room, len(found["held"])), None
    if HOLDERS in document:
        away = away_in(document[HOLDERS], arrays, len(table), len(places), options["on_outage"])
        table = replace(table, outages=away.outages)
        of_outages = outages_in(away, placement.rule.order(table), begins_at(state), range(len(places)))
        kind, given = AwayReplayState, given | of_outages
        sizes = with_outages(sizes, of_outages)
        sizes = sizes._replace(kept=room_for_stopped(arrays, sizes.kept))
    arena: Arena[Any] = Arena(kind, sizes, given, completed, first)
    machine = arena.state.machine
    begin.set_up(machine)
    if away is not None:
        begin_outages(machine, away)
        keep_stopped(machine, state, arrays)
        go_on(machine, arrays)
    group = found["group"][:jobs]
    if away is not None:
        group = group[(group != NO_SET) | (machine.queue.place[:jobs] != NOBODY)]  # who needs nodes that are gone
    check_between("nodes", "a set", group, 0, max(len(machine.places.partition) - 1, 0))
    _check_able(machine, found, jobs)
    for job in machine.running[: machine.counts[RUNNING]].tolist():
        _hold(machine, job)
    class_anew.py_func(machine)
    return table, arena


def _check_asked(found: Arrays, jobs: int, nodes: int, places: int) -> None:
    """Look at what jobs ask for: amounts, places that there are, room for the nodes of each of its own."""
    need, many, first = (found[name][:jobs] for name in ("need", "nodes", "first"))
    if (need < 0).any() or (need & GUARD).any() or (amounts_of(need)[0] < 1).any():
        refuse("nodes", "what a job asks for is no amount")
    check_between("nodes", "how many nodes a job asks for", many, 1, nodes)
    check_between("nodes", "a place", found["place"][:jobs], 0, places - 1)
    check_between("nodes", "where nodes of a job stand", first, 0, len(found["held"]))
    turn = np.argsort(first, kind="stable")
    ends = first[turn] + many[turn]
    if (ends > len(found["held"])).any() or (ends[:-1] > first[turn][1:]).any():
        refuse("nodes", "two jobs have the same room for their nodes")
    check_between("nodes", "a node", found["held"], 0, nodes - 1)


def _check_able(machine: Any, found: Arrays, jobs: int) -> None:
    """Refuse a job that would not fit on the idle machine."""
    places, capacity = machine.places, machine.nodes.capacity
    asked = np.stack([found[name][:jobs].astype(np.int64) for name in ("need", "nodes", "place")])
    for need, many, place in np.unique(asked, axis=1).T.tolist():
        fits = np.concatenate([[0], np.cumsum(((capacity | GUARD) - need) & GUARD == GUARD)])
        of_pieces = np.concatenate([[0], np.cumsum(fits[places.high] - fits[places.low])])
        of_sets = of_pieces[places.ranges[1:]] - of_pieces[places.ranges[:-1]]
        if of_sets[places.sets[place] : places.sets[place + 1]].max() < many:
            refuse("nodes", "a job asks for more than there is")


def _hold(machine: Any, job: int) -> None:
    """Let a running job have its nodes; refuse where it has too much of one."""
    first, many = int(machine.asked.first[job]), int(machine.asked.nodes[job])
    here = machine.nodes.held[first : first + many]
    fits = all(suffices.py_func(int(machine.nodes.free[node]), int(machine.asked.need[job])) for node in here)
    if len(np.unique(here)) != many or not fits:
        refuse("nodes", "running jobs have more of a node than there is")
    if take_nodes.py_func(machine, job) != machine.allocated[job]:
        refuse("nodes", "a job has other cores than its nodes give")

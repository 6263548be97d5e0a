# SPDX-License-Identifier: BSD-3-Clause
"""What a saved state has of outages: when nodes are away, who may use them all the same, and nodes of stopped runs.

How far the outages are, and which are over, follows from what time it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.machines.outages import COLUMNS, KINDS, Holders, NodeOutages
from swftools.simulator.engine.replay import OUTAGE, ReplayState
from swftools.simulator.machine.state import DISTURBED, NOW
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.away.begin import Away
from swftools.simulator.nodes.away.on_outage import find_on_outage
from swftools.simulator.nodes.away.state import BESIDE_NODES, CHANGED, COMEBACKS, KEPT, AwayMachine
from swftools.simulator.simulation import Simulation
from swftools.simulator.stepping.state_checks import check_between, refuse

Arrays = Mapping[str, npt.NDArray[Any]]

OUTAGES = "outages."
"""What the names of these arrays begin with."""

_KINDS = {
    **{name: np.float64 if name in ("begin", "end", "known") else np.int64 for name in COLUMNS},
    "may": np.int64,
    "kept": np.int32,
    "comebacks": np.int64,
}
"""Arrays that are saved, and their types: those of ``NodeOutages``; those of the state."""


def holders_of(simulation: Simulation) -> list[list[list[str]]]:
    """Return for whom nodes are reserved, as users and accounts, in lists of words."""
    outages = simulation.nodes.outages if simulation.nodes is not None else NodeOutages()
    return [[list(each.users), list(each.accounts)] for each in outages.holders]


def outage_arrays_of(simulation: Simulation) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield what is saved of outages, by name; nothing of a machine without."""
    machine: Any = simulation._machine
    if simulation.nodes is not None and len(simulation.nodes.outages):
        for name in COLUMNS:
            yield OUTAGES + name, getattr(simulation.nodes.outages, name).astype(_KINDS[name])
        yield OUTAGES + "may", machine.outages.may
        yield OUTAGES + "kept", machine.outages.kept[: machine.outages.counts[KEPT]]
        yield OUTAGES + "comebacks", machine.outages.counts[COMEBACKS : COMEBACKS + 1]


def away_in(holders: Any, arrays: Arrays, nodes: int, places: int, on_outage: Any) -> Away:
    """Return when nodes of a saved simulation are away; its groups are the places where jobs may run.

    Parameters
    ----------
    holders : object
        What ``holders_of`` returned.
    arrays : mapping of str to ndarray
        Those of ``outage_arrays_of`` among others.
    nodes, places : int
        How many nodes there are, and how many places.
    on_outage : object
        What becomes of jobs that are stopped, as the run is told it.

    Raises
    ------
    StateError
        These are no outages of such a machine.
    ParameterError
        Nothing of the kind can become of jobs.
    """
    found = {name: arrays[OUTAGES + name] for name in _KINDS}
    for name, array in found.items():
        if array.dtype != _KINDS[name] or array.ndim != 1:
            refuse("outages", f"an array of {array.dtype}, of {array.size:,} numbers")
    if len({len(found[name]) for name in COLUMNS}) != 1:
        refuse("outages", "some of what is told of an outage is missing")
    check_between("outages", "a node", found["node"], 0, nodes - 1)
    check_between("outages", "a kind", found["kind"], 0, len(KINDS) - 1)
    check_between("outages", "for whom a node is reserved", found["who"], NOBODY, len(holders) - 1)
    for name in ("begin", "end", "known"):
        check_between("outages", "a time (s)", found[name], -np.inf, np.inf)
    if len(found["may"]) != places * len(holders):
        refuse("outages", "who may use what is reserved is not told for each place")
    check_between("outages", "whether jobs may use what is reserved", found["may"], 0, 1)
    may = found["may"].reshape(places, len(holders)) > 0
    outages = NodeOutages(**{name: found[name] for name in COLUMNS}, holders=tuple(map(_holders, holders)))
    return Away(outages, np.arange(places), may, find_on_outage(on_outage))


def _holders(document: Any) -> Holders:
    """Return for whom some nodes are reserved."""
    users, accounts = document
    if not all(isinstance(part, list) and all(isinstance(each, str) for each in part) for part in document):
        refuse("outages", "users or accounts are no texts")
    return Holders(tuple(users), tuple(accounts))


def begins_at(state: ReplayState) -> float:
    """Return the time by which outages have begun and ended, s: just before the present, or the first submission.

    Whatever the outages did until then was done, and follows from nothing else any more. What they did at present a
    policy may be still to look at.
    """
    now, coming = float(state.machine.clock[NOW]), state.coming
    if now < np.inf:
        return float(np.nextafter(now, -np.inf))
    return float(coming.submit_time[coming.row[0]]) if len(coming.row) else -np.inf


def go_on(machine: AwayMachine, arrays: Arrays) -> None:
    """Write down what outages have done at present, and how often jobs came back; refuse what cannot be."""
    outages, now = machine.outages, machine.clock[NOW]
    if len(arrays[OUTAGES + "comebacks"]) != 1:
        refuse("outages", "how often jobs came back is not one number")
    comebacks = int(arrays[OUTAGES + "comebacks"][0])
    check_between("outages", "how often jobs came back", comebacks, 0, int(machine.counts[DISTURBED]))
    outages.counts[COMEBACKS] = comebacks
    if now < np.inf:
        outages.counts[CHANGED] = np.searchsorted(outages.time, now, "right")


def keep_stopped(machine: AwayMachine, state: ReplayState, arrays: Arrays) -> None:
    """Write down the nodes of runs that were stopped; refuse those of others."""
    kept, log, place = arrays[OUTAGES + "kept"], state.replay.log, 0
    sets, nodes, runs = len(machine.places.partition), len(machine.nodes.free), []
    while place < len(kept):
        if place + BESIDE_NODES > len(kept):
            refuse("outages", "a run that was stopped is told in part")
        run, group, many = kept[place : place + BESIDE_NODES].tolist()
        place += BESIDE_NODES
        check_between("outages", "a run that was stopped", run, 0, int(log.size[0]) - 1)
        check_between("outages", "the set of its nodes", group, 0, sets - 1)
        if log.ended_by[run] != OUTAGE or many != machine.asked.nodes[log.job[run]]:
            refuse("outages", "a run was stopped otherwise than its job says")
        check_between("outages", "its nodes", kept[place : place + many], 0, nodes - 1)
        runs.append(run)
        place += many
    if place != len(kept) or len(set(runs)) < len(runs):
        refuse("outages", "a run was stopped twice, or is told in part")
    machine.outages.kept[: len(kept)] = kept
    machine.outages.counts[KEPT] = len(kept)


def room_for_stopped(arrays: Arrays, least: int) -> int:
    """Return how much room there must be for nodes of runs that were stopped."""
    return max(least, 2 * len(arrays[OUTAGES + "kept"]))

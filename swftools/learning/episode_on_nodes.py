# SPDX-License-Identifier: BSD-3-Clause
"""What an episode on a machine of nodes has beside that of a pool: what jobs ask of nodes, and how nodes stand."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

import numpy as np
import pandas as pd

from swftools.kernel import IntArray
from swftools.kernel.pointers import Lent
from swftools.learning.episode import Episode, empty_episode, episode_at, inside, make_ready, start_chosen
from swftools.learning.observed_nodes import ObservedOnNodes, empty_seen_on_nodes
from swftools.machines.node_ranges import ranges_of
from swftools.simulator.engine.replay import Coming, given_columns, sizes_at_first, with_views
from swftools.simulator.machine.state import CAPACITY, FREE
from swftools.simulator.nodes.acts import start_there_on_nodes
from swftools.simulator.nodes.exchange import instead_of
from swftools.simulator.nodes.forking import class_anew
from swftools.simulator.nodes.state import CHOOSES, HEADS, SPARING, NodeMachine, NodeRequests
from swftools.simulator.nodes.verbs import start_on_nodes
from swftools.simulator.state.arena import Arena
from swftools.simulator.state.columns import StateSizes, array_at, columns_of, empty

if TYPE_CHECKING:

    class EpisodeOnNodes(Episode):
        """An episode; ``asked`` is what the jobs of the log ask of nodes.

        ``chosen`` says where the next job starts: 0, where the placement chooses; or 1 more than the number of a set of
        its place, and behind it nodes, in the order of the placement.
        """

        seen: Any
        asked: NodeRequests
        chosen: IntArray

else:
    _FIELDS = {**get_type_hints(Episode), "seen": ObservedOnNodes, "asked": NodeRequests, "chosen": IntArray}
    EpisodeOnNodes = NamedTuple("EpisodeOnNodes", list(_FIELDS.items()))


def empty_episode_on_nodes(
    places: tuple[Any, ...] = (0,) * 8,
    seen: ObservedOnNodes | None = None,
    asked: NodeRequests | None = None,
    nodes: int = 0,
) -> EpisodeOnNodes:
    """Return an episode in which nothing happened yet."""
    like: Any = empty_episode(places)
    found: Any = seen or empty_seen_on_nodes()
    asks = asked or empty(NodeRequests, StateSizes(jobs=1))
    made: Any = (*like._replace(seen=found), asks, np.zeros(1 + nodes, np.int64))
    return EpisodeOnNodes._make(made)


episode_on_nodes_at = instead_of(episode_at)(Lent(empty_episode_on_nodes))


@instead_of(make_ready)
@inside
def make_ready_on_nodes(episode: EpisodeOnNodes, machine: NodeMachine, first: int) -> None:
    """Copy what the jobs from ``first`` on ask of nodes, and let these be idle, and nobody wait."""
    log, asked, nodes, held = episode.asked, machine.asked, machine.nodes, 0
    for job in range(len(asked.need)):
        asked.need[job], asked.nodes[job] = log.need[first + job], log.nodes[first + job]
        asked.place[job], asked.first[job] = log.place[first + job], held
        held += asked.nodes[job]
    for node in range(len(nodes.free)):
        nodes.free[node], nodes.users[node] = nodes.capacity[node], 0
    class_anew(machine)


@instead_of(start_chosen)
@inside
def start_chosen_on_nodes(episode: EpisodeOnNodes, machine: NodeMachine, job: int) -> None:
    """Start a job that fits, on the nodes that are chosen for it; where none are the placement chooses."""
    chosen, first = episode.chosen, machine.asked.first[job]
    if chosen[0] == 0:
        start_on_nodes(machine, job)
        return
    for i in range(machine.asked.nodes[job]):
        machine.nodes.held[first + i] = chosen[1 + i]
    start_there_on_nodes(machine, job, machine.places.sets[machine.asked.place[job]] + chosen[0] - 1)
    chosen[0] = 0


def choose_nodes(episode: EpisodeOnNodes, machine: NodeMachine, job: int, nodes: IntArray) -> None:
    """Let a job start on nodes, in the order of the placement, when it is chosen; they are of a set of its place."""
    places, place = machine.places, machine.asked.place[job]
    for number, group in enumerate(range(places.sets[place], places.sets[place + 1])):
        pieces = slice(places.ranges[group], places.ranges[group + 1])
        is_inside = (places.low[pieces] <= nodes[:, None]) & (nodes[:, None] < places.high[pieces])
        if is_inside.any(axis=1).all():
            episode.chosen[0], episode.chosen[1 : 1 + len(nodes)] = 1 + number, nodes
            return


def nodes_of_runs(segments: pd.DataFrame) -> list[IntArray]:
    """Return the numbers of the nodes of each run of a schedule; none of runs on a pool."""
    if "nodes" not in segments:
        return [np.zeros(0, np.int64)] * len(segments)
    begins, first, last = ranges_of(segments["nodes"])
    return [
        np.concatenate([np.arange(first[i], last[i] + 1) for i in range(begin, end)]) for begin, end in pairwise(begins)
    ]


def begin_episodes_on_nodes(log: Arena[Any], coming: Coming, optional: Any, **room: Any) -> Arena[Any]:
    """Return a machine of nodes for as many jobs as are to come, whichever of the log they are.

    Parameters
    ----------
    log : Arena
        A simulation of the log before its first event.
    coming : Coming
        Some jobs of it.
    optional, **room
        As ``engine.replay.begin_state`` takes them.
    """
    state, jobs = log.state, len(coming.row)
    first, given = given_columns(coming)
    given["machine.restart"] = state.machine.restart
    for path, column in columns_of(log.kind).items():
        if column.is_given and path not in given:
            given[path] = array_at(state, path)
    kept = ["nodes", "partitions", "heads", "planned", "asked_places", "sets", "ranges"]
    kept += ["outages", "changes", "returns", "allowed", "kept"]
    sizes = sizes_at_first(coming, jobs, optional)._replace(**{name: getattr(log.sizes, name) for name in kept})
    parts = _most_in_a_row(state.machine.asked.nodes, jobs)
    sizes = sizes._replace(parts=parts, table=1 << max(2 * jobs, 2).bit_length(), **room)
    completed: Any = with_views
    arena: Arena[Any] = Arena(log.kind, sizes, given, completed, first)
    machine = arena.state.machine
    machine.counts[FREE] = machine.counts[CAPACITY] = state.machine.counts[CAPACITY]
    for what in (HEADS, SPARING, CHOOSES):
        machine.classes.counts[what] = state.machine.classes.counts[what]
    return arena


def _most_in_a_row(nodes: Any, jobs: int) -> int:
    """Return the most nodes that so many jobs, one after the other, ask for."""
    sums: IntArray = np.concatenate([[0], np.cumsum(nodes, dtype=np.int64)])
    return int((sums[jobs:] - sums[:-jobs]).max())

# SPDX-License-Identifier: BSD-3-Clause
"""What a simulation of a machine of nodes begins with: an idle machine, and what the jobs to come ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from swftools.errors import ParameterError
from swftools.kernel import FloatArray, IntArray
from swftools.machines.amounts import MOST_MEMORY
from swftools.machines.asked import Asked, Place
from swftools.machines.node_table import GPU, NodeTable
from swftools.simulator.engine.replay import COMING, Coming, given_columns, sizes_at_first, with_views
from swftools.simulator.machine.state import CAPACITY, FREE, read_only
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.away.begin import Away, begin_outages, outages_in, with_outages
from swftools.simulator.nodes.away.state import AwayReplayState
from swftools.simulator.nodes.placement import Placement
from swftools.simulator.nodes.state import (
    BY_AMOUNT,
    BY_FIT,
    CHOOSES,
    HEAD,
    HEAD_OF_PARTITION,
    HEADS,
    KEPT,
    ONE_HEAD,
    SPARING,
    NodeMachine,
    NodeReplayState,
)
from swftools.simulator.nodes.words import HALF, MOST_CORES, MOST_GPUS, words_of
from swftools.simulator.state.arena import Arena
from swftools.simulator.state.columns import StateSizes


def begin_on_nodes(
    coming: Coming,
    table: NodeTable,
    asked: Asked,
    placement: Placement,
    heads: str,
    restart: FloatArray,
    optional: Iterable[str] = (),
    reservations: int = 1,
    away: Away | None = None,
    **room: Any,
) -> Arena[Any]:
    """Return the beginning of a simulation on nodes.

    Parameters
    ----------
    coming : Coming
        The jobs.
    table : NodeTable
        The machine.
    asked : Asked
        What each row of the trace asks of it; the jobs to come can run there.
    placement : Placement
        Which nodes are taken.
    heads : {"partition", "machine"}
        Whether each partition has a first waiting job, or the machine one.
    restart, optional, **room
        As ``engine.replay.begin_state`` takes them.
    reservations : int
        How many waiting jobs of each partition may have one at once.
    away : Away, optional
        When nodes are away; of a machine with outages.

    Raises
    ------
    ParameterError
        A node is larger than can be counted, or there are too many partitions, or kinds of places that jobs ask for.
    """
    own = _asked_by_job(coming, asked)
    group = np.zeros(len(coming.row), np.int64) if away is None else away.group[coming.row]
    groups = 1 if away is None else len(away.may)
    used, own["machine.asked.place"] = _used_places(own["machine.asked.place"].astype(np.int64) * groups + group)
    places = tuple(asked.places[place // groups] for place in used)
    begin = NodeBeginning(table, places, placement, heads, reservations)
    given = begin.given() | {"machine.restart": read_only(restart)}
    jobs, held = len(coming.row), int(own["machine.asked.nodes"].sum(dtype=np.int64))
    sizes = sizes_at_first(coming, jobs if (asked.cores[coming.row] < 1).any() else table.processors, optional)
    first, by_row = given_columns(coming)
    completed: Any = with_views
    kind: Any = NodeReplayState
    sizes = begin.sizes(sizes, jobs, held)
    if away is not None:
        begins = coming.submit_time[coming.row[0]] if jobs else -np.inf
        of_outages = outages_in(away, placement.rule.order(table), begins, [place % groups for place in used])
        kind, given = AwayReplayState, given | of_outages
        sizes = with_outages(sizes, of_outages)
    arena: Arena[Any] = Arena(kind, sizes._replace(**room), given | by_row, completed, first | own)
    machine = arena.state.machine
    if away is not None:
        begin_outages(machine, away)
    machine.counts[FREE] = machine.counts[CAPACITY] = table.processors
    arena.state.replay.counts[COMING] = jobs
    begin.set_up(machine)
    return arena


class NodeBeginning:
    """A machine of nodes as a state has it before any job runs.

    Parameters
    ----------
    table : NodeTable
        The machine.
    places : tuple of Place
        Where jobs may run, by number.
    placement, heads, reservations
        As ``begin_on_nodes`` takes them.

    Raises
    ------
    ParameterError
        As ``begin_on_nodes`` does.
    """

    def __init__(
        self, table: NodeTable, places: tuple[Place, ...], placement: Placement, heads: str, reservations: int
    ) -> None:
        _check_sizes(table)
        self._table, self._places, self._placement = table, places, placement
        self._order, self._reservations = placement.rule.order(table), reservations
        self._heads = HEAD_OF_PARTITION if heads == "partition" and len(table.partitions) > 1 else ONE_HEAD

    def given(self) -> dict[str, npt.NDArray[Any]]:
        """Return the columns that are the same throughout, by path."""
        table, order = self._table, self._order
        columns = {f"machine.places.{name}": column for name, column in places_of(table, order, self._places).items()}
        whole = np.ones(len(table), np.bool_)
        columns["machine.nodes.capacity"] = words_of(table.cores[order], table.memory[order], table.gpus[order], whole)
        columns["machine.nodes.switch"] = _numbered(table.switch_by_node[order])
        return columns

    def sizes(self, sizes: StateSizes, jobs: int, parts: int) -> StateSizes:
        """Return the room of a state, also for so many jobs on nodes, and all nodes that they ask for."""
        many = len(self._table.partitions) * self._reservations
        return sizes._replace(
            nodes=len(self._table),
            parts=parts,
            table=1 << max(2 * jobs, 2).bit_length(),
            partitions=len(self._table.partitions),
            asked_places=len(self._places) + 1,
            heads=many,
            planned=many * len(self._table),
        )

    def set_up(self, machine: NodeMachine) -> None:
        """Let nodes be idle, and say how jobs are chosen and placed."""
        machine.nodes.free[:] = machine.nodes.capacity
        counts = machine.classes.counts
        counts[HEAD], counts[HEADS] = NOBODY, self._heads
        counts[SPARING] = self._placement.sparing
        has_choice = self._placement.sparing or any(len(place.nodes) > 1 for place in self._places)
        counts[CHOOSES] = BY_AMOUNT if self._placement.rule.chooses_again else BY_FIT if has_choice else KEPT


def _numbered(switch: IntArray) -> IntArray:
    """Return the switches of nodes by other numbers, from 0 on, in the order of their first nodes."""
    _, first, number = np.unique(switch, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[number.ravel()]


def _check_sizes(table: NodeTable) -> None:
    """Raise ParameterError where a node has more than a word holds, or there are too many partitions."""
    for name, amounts, most in (
        ("cores", table.cores, MOST_CORES),
        ("MB of memory", table.memory, MOST_MEMORY),
        ("GPUs", table.gpus / GPU, MOST_GPUS // GPU),
    ):
        if (amounts > most).any():
            node = int(np.argmax(amounts > most))
            raise ParameterError(
                f"node {table.names[node]} has {amounts[node]:,g} {name}; simulations know at most {most:,} a node: "
                "describe it as several nodes"
            )
    if len(table.partitions) > 2 * HALF:
        raise ParameterError(
            f"the machine has {len(table.partitions)} partitions; simulations know at most {2 * HALF}: leave out some"
        )


def _asked_by_job(coming: Coming, asked: Asked) -> dict[str, npt.NDArray[Any]]:
    """Return what jobs ask for, by job."""
    row = coming.row
    nodes = asked.nodes[row].astype(np.int32)
    first = np.zeros(len(row), np.int64)
    np.cumsum(nodes[:-1], out=first[1:])
    need = words_of(asked.cores[row], asked.memory[row], asked.gpus[row], asked.is_exclusive[row])
    return {
        "machine.asked.need": need,
        "machine.asked.nodes": nodes,
        "machine.asked.place": asked.place[row].astype(np.int32),
        "machine.asked.first": first,
    }


def _used_places(place: npt.NDArray[Any]) -> tuple[list[int], npt.NDArray[np.int32]]:
    """Return the places that jobs ask for, and which of these each does."""
    used, of_job = np.unique(place, return_inverse=True)
    if len(used) > 2 * HALF:
        raise ParameterError(
            f"the jobs ask for {len(used)} different sets of nodes, by partition, features, types of GPUs and "
            f"reservations; simulations know at most {2 * HALF}: leave out features, or simulate a part of the log"
        )
    return used.tolist(), of_job.ravel().astype(np.int32)


def places_of(table: NodeTable, order: IntArray, places: Sequence[Place]) -> dict[str, npt.NDArray[Any]]:
    """Return the sets of nodes by their names in ``Places``, of nodes in an order."""
    at = np.empty(len(table), np.int64)
    at[order] = np.arange(len(table))
    sets, ranges, low, high, partition = [0], [0], [], [], []
    inside = np.zeros((2, len(table)), np.int64)
    partitions = np.zeros((2, len(places) + 1), np.int64)
    members = np.zeros((2, len(table)), np.int64)
    for number, each in enumerate(table.partitions):
        members[number // HALF, at[each.nodes]] |= 1 << number % HALF
    for number, place in enumerate(places):
        for nodes, of_partition in zip(place.nodes, place.partitions, strict=True):
            here = np.sort(at[nodes])
            inside[number // HALF, here] |= 1 << number % HALF
            partitions[of_partition // HALF, number] |= 1 << of_partition % HALF
            begins = here[np.diff(here, prepend=-2) > 1]
            ends = here[np.diff(here, append=len(table) + 1) > 1] + 1
            low += begins.tolist()
            high += ends.tolist()
            ranges.append(len(low))
            partition.append(of_partition)
        sets.append(len(partition))
    return {
        "sets": np.array(sets),
        "ranges": np.array(ranges),
        "low": np.array(low, np.int64),
        "high": np.array(high, np.int64),
        "inside0": inside[0].copy(),
        "inside1": inside[1].copy(),
        "partition": np.array(partition, np.int64),
        "partitions0": partitions[0].copy(),
        "partitions1": partitions[1].copy(),
        "members0": members[0].copy(),
        "members1": members[1].copy(),
    }

# SPDX-License-Identifier: BSD-3-Clause
"""Room for light copies: all arrays of a simulation in one block of memory, laid out once, used again and again.

To make the sixty arrays of a simulation, and to lay them out for compiled code, takes longer than to fill them. So the
room of a copy that nobody has any more is given to the next one.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import IntArray, ShortArray
from swftools.kernel.layout import Layout, address_of_array
from swftools.simulator.engine.replay import DECIDING, Coming, Ends, Log, Replay
from swftools.simulator.machine.state import CAPACITY, LENGTH, Machine, Requests, Stops, with_requests
from swftools.simulator.machine.waiting_queue import WaitingQueue
from swftools.simulator.policy_abi import Memory
from swftools.simulator.run.driver import Driver, LaidOut

LEAST = 64
"""Jobs that there is room for at least."""

KEPT = 16
"""Rooms of a size that are kept while nobody has them."""

_ALIGNED = 8


class Spec:
    """Shape and type of an array to be."""

    def __init__(self, kind: npt.DTypeLike, *shape: int) -> None:
        self.kind, self.shape = np.dtype(kind), shape
        self.size = -(-int(np.prod(shape)) * self.kind.itemsize // _ALIGNED) * _ALIGNED


class Block:
    """Arrays of a tuple, or of tuples in it, in one block of memory.

    Parameters
    ----------
    specs : tuple
        A ``Spec`` in place of each array.
    like : Block, optional
        Another one of the same.
    """

    ends: list[int]

    def __init__(self, specs: Any, like: Block | None = None) -> None:
        self.specs = specs
        ends = self.ends = like.ends if like else np.cumsum([0, *(spec.size for spec in _leaves(specs))]).tolist()
        self.size = ends[-1]
        self.bytes = np.zeros(self.size, np.uint8)
        self.address = address_of_array(self.bytes)
        self.arrays: Any = _filled(specs, zip(_leaves(specs), ends[:-1], strict=True), self.bytes)


def _leaves(specs: Any) -> Iterator[Spec]:
    """Yield shapes and types in their order."""
    if isinstance(specs, Spec):
        yield specs
    else:
        for part in specs:
            yield from _leaves(part)


def _filled(specs: Any, places: Iterator[tuple[Spec, int]], block: Any) -> Any:
    """Return a tuple with arrays in a block in place of shapes and types."""
    if isinstance(specs, Spec):
        spec, begin = next(places)
        return np.ndarray(spec.shape, spec.kind, block, begin)
    parts = [_filled(part, places, block) for part in specs]
    return tuple.__new__(type(specs), parts)


class Parts(NamedTuple):
    """What there is room for: each job's number in what was forked, its row in the trace, and what the engine has."""

    origin: IntArray
    trace_row: ShortArray
    coming: Coming
    machine: Machine
    replay: Replay


class Room:
    """Room for a copy of a simulation, with so many jobs at most.

    Parameters
    ----------
    driver : Driver
        Of the simulation: its columns, and how it lays out what it hands on.
    jobs : int
        How many.
    empty : callable, optional
        Takes a number of jobs, and returns the memory of the policy before the first; None where it has none.
    like : Room, optional
        Another one for as many.
    """

    def __init__(
        self, driver: Driver, jobs: int, empty: Callable[[int], Memory] | None, like: Room | None = None
    ) -> None:
        self.jobs = jobs
        self._block: Block = Block(like._block.specs, like._block) if like else Block(_specs(driver, jobs))
        parts: Parts = self._block.arrays
        machine = parts.machine._replace(restart=driver.machine.restart)
        self.parts = parts._replace(machine=with_requests(machine, parts.replay.requests))
        self.parts.coming.row[:] = np.arange(jobs)
        self._own = driver.decider
        self._memory: Block | None = None
        self._unused: Any = None
        if empty:
            self._add_memory(empty, like)
        self.laid_out = self._moved(driver, like) if like else driver.laid_out(*self.parts[2:], self._own)
        self._references = sys.getrefcount(self._block.bytes)

    def _add_memory(self, empty: Callable[[int], Memory], like: Room | None) -> None:
        """Make room for what the policy remembers."""
        if like and like._memory:
            self._memory, self._unused = Block(like._memory.specs, like._memory), like._unused
            self._memory.bytes[:] = self._unused
        else:
            made = empty(self.jobs)
            self._memory = Block(_specs_of(made))
            _copy(made, self._memory.arrays)
            self._unused = self._memory.bytes.copy()
        self._own = self._own._replace(memory=self._memory.arrays)

    def _moved(self, driver: Driver, like: Room) -> LaidOut:
        """Return how it is laid out, by how another one is, which takes a fifth of the time."""
        *of_jobs, observer, decider = like.laid_out.parts
        laid = [_moved(old, part, like._block, self._block) for old, part in zip(of_jobs, self.parts[2:], strict=True)]
        if self._memory and like._memory:
            decider = _moved(decider, self._own, like._memory, self._memory)
        return driver.as_laid_out([*laid, observer, decider])

    @property
    def is_free(self) -> bool:
        """Whether nobody has a view of it any more."""
        return sys.getrefcount(self._block.bytes) <= self._references

    def forget(self) -> None:
        """Make the memory of the policy what it is at the beginning."""
        if self._memory:
            self._memory.bytes[:] = self._unused


def _moved(old: Any, part: Any, block: Block, new: Block) -> Any:
    """Return a part of a run, and where it lies, by how one of the same kind does in another block."""
    layout: Layout | None = old[1][1]
    if layout is None:  # interpreted
        return part, (part, None)
    moved = layout.moved(part, block.address, block.size, new.address - block.address)
    return part, (moved.address, moved)


class Rooms:
    """The rooms that nobody has, of a simulation and all its light copies.

    Parameters
    ----------
    remembers : tuple of str
        Which of memory and draws its policy has.
    empty : callable, optional
        As for ``Room``.
    """

    def __init__(self, remembers: tuple[str, ...], empty: Callable[[int], Memory] | None) -> None:
        self.remembers, self._empty = remembers, empty
        self._free: defaultdict[int, list[Room]] = defaultdict(list)
        self._first: dict[int, Room] = {}

    def take(self, driver: Driver, jobs: int) -> Lease:
        """Return room for so many jobs and another one, until the lease is forgotten."""
        size = LEAST
        while size <= jobs:
            size *= 2
        free = self._free[size]
        while free:
            if (room := free.pop()).is_free:
                room.forget()
                return Lease(self, room)
        room = Room(driver, size, self._empty, self._first.get(size))
        self._first.setdefault(size, room)
        return Lease(self, room)

    def give_back(self, room: Room) -> None:
        """Keep a room for the next one."""
        free = self._free[room.jobs]
        if len(free) < KEPT:
            free.append(room)


class Lease:
    """A room that somebody has; it is given back when nobody has the lease."""

    def __init__(self, rooms: Rooms, room: Room) -> None:
        self.rooms, self.room = rooms, room

    def __del__(self) -> None:
        self.rooms.give_back(self.room)


def _specs(driver: Driver, jobs: int) -> Any:
    """Return ``Parts`` of shapes and types: what a copy needs."""
    most, places = min(jobs, int(driver.machine.counts[CAPACITY])) + 1, 2 * jobs

    def many(columns: Any, always: int) -> list[Spec]:
        lengths = [jobs if len(column) or i < always else 0 for i, column in enumerate(columns)]
        return [Spec(column.dtype, length, *column.shape[1:]) for column, length in zip(columns, lengths, strict=True)]

    def whole(count: int) -> Any:
        return Spec(np.int64, count)

    def real(count: int) -> Any:
        return Spec(np.float64, count)

    runs = jobs + 3 * most  # with room for some decisions: to make more takes longer than all the rest
    log = [Spec(column.dtype, runs) for column in driver.replay.log[:-1]]
    replay = Replay(
        requests=Requests._make(many(driver.replay.requests, 7)),
        log=Log._make([*log, whole(1)]),
        ends=Ends(real(4 * most), whole(4 * most), whole(1)),
        counts=whole(DECIDING + 1),
        until=real(1),
    )
    nothing: Any = ()
    short: Any = Spec(np.int32, jobs)
    place_of: Any = Spec(np.int32, places)
    room = Machine(
        counts=whole(LENGTH),
        clock=real(2),
        requests=nothing,  # those of ``replay``
        predicted=nothing,
        queue=WaitingQueue(real(4 * places), place_of, short, whole(2)),
        held_until=real(2 * places),
        held=whole(2 * places),
        running=whole(most),
        started=whole(2 * most),
        stops=Stops(whole(2 * most), whole(2 * most), real(2 * most)),
        ended=whole(most),
        allocated=short,
        run=short,
        start_time=real(jobs),
        expected_end=real(jobs),
        done=real(jobs),
        overhead=real(jobs),
        restart=nothing,
    )
    return Parts(whole(jobs), short, Coming._make(many(driver.coming, 8)), room, replay)


def _specs_of(value: Any) -> Any:
    """Return shapes and types of a tuple of arrays, or of such tuples."""
    if isinstance(value, tuple):
        parts = [_specs_of(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return Spec(value.dtype, *value.shape)


def _copy(old: Any, new: Any) -> None:
    """Copy arrays into others of their shapes."""
    if isinstance(old, tuple):
        for ours, theirs in zip(old, new, strict=True):
            _copy(ours, theirs)
    else:
        new[...] = old

# SPDX-License-Identifier: BSD-3-Clause
"""Where a run has its state and memory, and room for copies of it, which is used again and again."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from operator import le
from typing import Any

import numpy as np

from swftools.simulator.engine.loop import EngineOptions, EngineRun, run_at
from swftools.simulator.engine.replay import ReplayState, state_at, used_in, with_views
from swftools.simulator.machine.state import CAPACITY
from swftools.simulator.policy_abi import Memory, Own
from swftools.simulator.run.compiled_calls import Called
from swftools.simulator.state.arena import Arena, ArenaPool, ArrayBlock, Lease, block_of, copy_arrays
from swftools.simulator.state.columns import columns_of

LEAST = 64
"""Jobs that there is room for at least in a fork."""


class Seat:
    """What a run goes on with, and where it lies for the engine: interpreted it is what lies there.

    Parameters
    ----------
    called : Called
        Engine, predictor and policy.
    options : EngineOptions
        How the engine runs.
    arena : Arena
        The state; ``places`` has where ``coming``, ``machine`` and ``replay`` lie.
    observer, decider : Own
        What predictor and policy have of their own.
    like : Seat, optional
        Another one that may have the same.
    """

    def __init__(
        self,
        called: Called,
        options: EngineOptions,
        arena: Arena[ReplayState],
        observer: Own,
        decider: Own,
        like: Seat | None = None,
    ) -> None:
        self.arena, self.observer, self.decider = arena, observer, decider
        self.places: tuple[Any, ...] = tuple(arena.state)
        if called.is_compiled:
            layout = arena.layout((called.kind.state_at or state_at).example)
            self.places = tuple(layout.part(place) for place in range(len(self.places)))
        self._observer: tuple[Any, Any] = (
            like._observer if like and like.observer is observer else called.lay_out(observer, called.observer_at)
        )
        self._decider: tuple[Any, Any] = (
            like._decider if like and like.decider is decider else called.lay_out(decider, called.decider_at)
        )
        coming, machine, replay = self.places
        depend = called.depend() if len(arena.state.replay.dependents.pending) else 0
        run = EngineRun(
            coming, machine, replay, options, called.observe, self._observer[0], called.decide, self._decider[0], depend
        )
        self.place, self._kept = called.lay_out(run, run_at)


class ForkMemory:
    """Room for a copy, or a fork, of a simulation.

    Parameters
    ----------
    seat : Seat
        Of the simulation.
    arena : Arena
        Room for its state.
    rooms : Rooms
        Says who remembers what.
    memory : tuple of ndarray, optional
        What the policy remembers before the first job; without it, what that of the simulation does.
    """

    def __init__(self, seat: Seat, arena: Arena[ReplayState], rooms: Rooms, memory: Memory | None = None) -> None:
        self._blocks: list[ArrayBlock] = []
        self.origin, self.trace_row = np.zeros(arena.sizes.jobs, np.int64), np.zeros(arena.sizes.jobs, np.int32)
        observer, decider = seat.observer, seat.decider
        if rooms.observes:
            observer = self._own(observer, observer.memory, draws=True)
        if rooms.remembers:
            remembered = decider.memory if memory is None else memory
            decider = self._own(decider, remembered, draws="rng" in rooms.remembers)
        self._unused = None if memory is None else self._blocks[0].bytes.copy()
        self.seat = Seat(rooms.called, rooms.options, arena, observer, decider, seat)
        self._blocks += arena.blocks
        self.is_whole = all(block.bytes is not None for block in self._blocks)
        self.size = sum(block.size for block in self._blocks)
        self._memories = [block.bytes for block in self._blocks if block.bytes is not None]
        self._references = list(map(sys.getrefcount, self._memories))

    def _own(self, own: Own, memory: Memory, *, draws: bool) -> Own:
        """Return the same as another one has, elsewhere."""
        block, arrays = block_of(memory)
        self._blocks.append(block)
        return own._replace(memory=arrays, rng=copy.deepcopy(own.rng) if draws else own.rng)

    @property
    def is_free(self) -> bool:
        """Whether nobody has a view of it any more."""
        return all(map(le, map(sys.getrefcount, self._memories), self._references))

    def copy_from(self, other: Seat) -> None:
        """Become what another one is."""
        seat = self.seat
        seat.arena.copy_from(other.arena, used_in(seat.arena.state, other.arena.state))
        for ours, theirs in ((seat.observer, other.observer), (seat.decider, other.decider)):
            if ours is not theirs:
                copy_arrays(theirs.memory, ours.memory)
                take_draws(ours.rng, theirs.rng)

    def forget(self) -> None:
        """Make the memory of the policy what it is at the beginning."""
        if self._unused is not None:
            self._blocks[0].bytes[:] = self._unused  # of a fork, whose predictor has none


def take_draws(ours: np.random.Generator, theirs: np.random.Generator) -> None:
    """Let a generator draw what another one will."""
    if ours is not theirs:
        ours.bit_generator.state = theirs.bit_generator.state


class Rooms:
    """The rooms that nobody has, of a simulation and all its copies and forks.

    Parameters
    ----------
    called, options
        As ``Seat`` takes them.
    observes : bool
        Whether the predictor remembers anything.
    remembers : tuple of str
        Which of memory and draws the policy has.
    """

    def __init__(self, called: Called, options: EngineOptions, *, observes: bool, remembers: tuple[str, ...]) -> None:
        self.called, self.options, self.observes, self.remembers = called, options, observes, remembers
        self._pool = ArenaPool()

    def anew(self) -> Rooms:
        """Return others, for a simulation that has become one of another kind."""
        return Rooms(self.called, self.options, observes=self.observes, remembers=self.remembers)

    def take_like(self, seat: Seat) -> Lease:
        """Return room for a copy, until the lease is forgotten."""
        return self._pool.take(("copy", seat.arena.sizes), lambda _: ForkMemory(seat, seat.arena.sibling(), self))

    def take(self, seat: Seat, jobs: int, parts: int, empty: Callable[[int, int], Memory]) -> Lease:
        """Return room for a fork of so many jobs and another one.

        Parameters
        ----------
        seat : Seat
            Of the simulation.
        jobs, parts : int
            How many jobs, and how many nodes all of them ask for; 0 of a pool.
        empty : callable
            Returns a memory for a number of jobs, and of nodes that they ask for.
        """
        size, room = _doubled(LEAST, jobs + 1), _doubled(LEAST, parts) if parts else 0

        def make(first: ForkMemory | None) -> ForkMemory:
            arena = first.seat.arena.sibling() if first else _fork_arena(seat.arena, size, room)
            arena.state.coming.row[:] = np.arange(size)
            return ForkMemory(seat, arena, self, empty(size, room) if self.remembers else None)

        lease = self._pool.take((size, room), make)
        lease.room.forget()
        return lease


def _doubled(least: int, wanted: int) -> int:
    """Return a number, doubled as often as it takes to be as many as are wanted."""
    size = least
    while size < wanted:
        size *= 2
    return size


def _fork_arena(arena: Arena[ReplayState], jobs: int, parts: int) -> Arena[ReplayState]:
    """Return room for a fork with so many jobs, which ask for so many nodes."""
    sizes = arena.sizes
    capacity = int(arena.state.machine.counts[CAPACITY])
    most = (jobs if parts else min(jobs, capacity)) + 1  # on nodes there may be jobs without cores
    room = sizes._replace(
        jobs=jobs,
        rows=jobs,
        runs=jobs + 3 * most,  # with room for some decisions: to make more takes longer than all the rest
        running=most,
        places=2 * jobs,
        held=4 * jobs,
        ends=4 * most,
        parts=parts,
        table=2 * _doubled(2, jobs) if parts else 0,
    )
    given = {path: arena.given[path] for path, column in columns_of(arena.kind).items() if column.is_given}
    made = Arena(arena.kind, room, given, with_views)
    made.is_clean = False
    return made

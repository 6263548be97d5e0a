# SPDX-License-Identifier: BSD-3-Clause
"""The memory of a state: its arrays in one block, so that a copy is one move of memory, and a block is used again.

To make the sixty arrays of a simulation, and to lay them out for compiled code, takes longer than to fill them. So all
copies and forks of a simulation share a pool: the memory of one that nobody has any more is given to the next one,
with its arrays and where they lie. A long log has no block: a column of it that is never written to takes no memory,
and each can be given away by itself.
"""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from swftools.kernel import IntArray, kernel, untouched_zeros
from swftools.kernel.layout import Layout, Pattern, address_of_array
from swftools.simulator.state.columns import PER_JOB, PER_ROW, PER_RUN, StateColumn, StateSizes, columns_of, made_of

T = TypeVar("T")

ALIGNED = 64
"""Bytes at a multiple of which each array begins."""

MOST = 1 << 21
"""Bytes of a block at most: beyond that, about 12,000 jobs, each array is by itself. To move them then takes longer
than to lay them out, and pages that a run never comes to are not touched."""

LONG = (PER_JOB, PER_ROW, PER_RUN)
"""What there is much of."""

WORD = 8

KEPT = 16
"""Rooms of one shape that are kept while nobody has them."""

MOST_KEPT = 1 << 26
"""Bytes of these at most."""

KNOWN = 64
"""Shapes of states that are remembered, so that the next state of a log need not be thought out again."""


class Spec(NamedTuple):
    """Shape and type of an array to be."""

    kind: str
    shape: tuple[int, ...]
    empty: float = 0
    is_rare: bool = False

    def array(self) -> npt.NDArray[Any]:
        """Return the array by itself, empty."""
        if self.empty != 0:
            return np.full(self.shape, self.empty, self.kind)
        if self.is_rare:
            return untouched_zeros(math.prod(self.shape), self.kind).reshape(self.shape)
        return np.zeros(self.shape, self.kind)

    @property
    def size(self) -> int:
        """Bytes that it takes in a block."""
        return -(-math.prod(self.shape) * int(self.kind[1:]) // ALIGNED) * ALIGNED


class Specs(dict[str, Spec]):
    """What arrays a block is to have, in their order, by name."""

    @cached_property
    def begins(self) -> IntArray:
        """Where each begins, in bytes, and where the last ends."""
        return np.cumsum([0, *(spec.size for spec in self.values())])

    @property
    def size(self) -> int:
        """Bytes of them all."""
        return int(self.begins[-1])


@kernel(allocates=False)
def move_words(
    old: IntArray, new: IntArray, begins: IntArray, which: IntArray, items: IntArray, counts: IntArray
) -> None:
    """Copy the beginnings of arrays in one memory, of words of 8 bytes, to the same places of another one."""
    for i in range(len(which)):
        end = begins[i + 1]
        if which[i] >= 0:
            end = begins[i] + (counts[which[i]] * items[i] + WORD - 1) // WORD
        ours, theirs = new[begins[i] : end], old[begins[i] : end]  # so that no index can be negative: it is a move
        for place in range(len(ours)):
            ours[place] = theirs[place]


class ArrayBlock:
    """Arrays by name in one block of memory, empty at first; each by itself if they are larger than ``MOST``.

    Parameters
    ----------
    specs : Specs
        What arrays they are.
    first : mapping of str to ndarray, optional
        What some of them have; where each is by itself, these themselves.
    """

    def __init__(self, specs: Specs, first: Mapping[str, npt.NDArray[Any]] | None = None) -> None:
        self.specs, self.size = specs, specs.size
        self.bytes: Any = np.zeros(self.size, np.uint8) if self.size <= MOST else None
        self.arrays: dict[str, Any] = {}
        self.address = 0 if self.bytes is None else address_of_array(self.bytes)
        for (name, spec), begin in zip(specs.items(), specs.begins.tolist(), strict=False):
            if self.bytes is None:
                self.arrays[name] = spec.array() if first is None or name not in first else first[name]
                continue
            self.arrays[name] = np.ndarray(spec.shape, spec.kind, self.bytes, begin)
            if first is not None and name in first:
                self.arrays[name][...] = first[name]
            elif spec.empty != 0:
                self.arrays[name][...] = spec.empty

    def copy_from(self, other: ArrayBlock) -> None:
        """Become what another one of the same arrays is."""
        if self.bytes is not None:
            self.bytes[:] = other.bytes
        else:
            for name, array in self.arrays.items():
                array[...] = other.arrays[name]

    def copy_some(self, other: ArrayBlock, which: IntArray, items: IntArray, counts: IntArray) -> None:
        """Copy of each array as many elements, of ``items`` bytes, as one of some counts says; -1: all of it."""
        begins = self.specs.begins // WORD
        move_words(other.bytes.view(np.int64), self.bytes.view(np.int64), begins, which, items, counts)

    def resized(self, specs: Specs) -> ArrayBlock:
        """Return one whose arrays have other shapes, and begin with what these have; this one itself if none has.

        Where each array is by itself, those that stay as they are, are handed on.
        """
        if specs == self.specs:
            return self
        other = ArrayBlock(specs)
        for name, new in other.arrays.items():
            old = self.arrays.get(name)
            if old is not None and self.bytes is None and other.bytes is None and old.shape == new.shape:
                other.arrays[name] = old
                continue
            if old is None:
                continue
            few = tuple(slice(min(ours, theirs)) for ours, theirs in zip(old.shape, new.shape, strict=True))
            new[few] = old[few]
        return other


class Group(NamedTuple):
    """Columns whose arrays are in one block: each with its path and its name; and by what sizes they are as long."""

    columns: list[tuple[str, str, StateColumn]]
    sizes: frozenset[str]


@cache
def _groups_of(kind: Any) -> tuple[Group, Group, Group]:
    """Return the columns of a state in three groups: what is per job and run, what else grows, and what never does."""
    groups: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for path, column in columns_of(kind).items():
        group = 0 if column.per in LONG else 1 if column.per else 2
        groups[group].append((path, path.rpartition(".")[2], column))
    return tuple(Group(columns, frozenset(_sizes_among(columns))) for columns in groups)  # type: ignore[return-value]


def groups_of(kind: Any) -> tuple[Group, Group, Group]:
    """Return the columns of a state in three groups: what is per job and run, what else grows, and what never does."""
    return _groups_of(kind)


@lru_cache(maxsize=KNOWN)
def _specs(kind: Any, group: int, sizes: StateSizes, given: frozenset[str]) -> Specs:
    """Return what arrays of a group of columns a state has to make, of some sizes, where some are given."""
    return Specs(
        {
            path: Spec(column.kind, column.shape(sizes, name), column.empty, column.is_rare)
            for path, name, column in groups_of(kind)[group].columns
            if path not in given
        }
    )


@lru_cache(maxsize=KNOWN)
def _patterns(kind: Any, sizes: StateSizes, given: frozenset[str]) -> list[Pattern]:  # noqa: ARG001 (what it is kept by)
    """Return the pattern in which such states are laid out, once the first one is: a list of it, which is the cache."""
    return []


def _sizes_among(columns: Iterable[tuple[str, str, StateColumn]]) -> Iterator[str]:
    for _, _, column in columns:
        yield from (each for each in (column.per, *column.further) if isinstance(each, str))
        if column.is_optional:
            yield "optional"


class Arena(Generic[T]):
    """A state in memory.

    It has a block of what there is for each job and run, one of what grows more often, and one of what never does,
    so that arrays of that one stay the same ones.

    Parameters
    ----------
    kind : type
        The named tuple whose fields say what its arrays are.
    sizes : StateSizes
        How much room there is.
    given : mapping of str to ndarray
        Arrays that are taken as they are, by path: columns of a trace, of which the state makes no others.
    completed : callable
        Takes the arrays, and returns them with those that show others of them.
    first : mapping of str to ndarray, optional
        What some arrays have, by path; where each array is by itself, these themselves.
    """

    def __init__(
        self,
        kind: type[T],
        sizes: StateSizes,
        given: Mapping[str, npt.NDArray[Any]],
        completed: Callable[[T], T],
        first: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self.kind, self.sizes, self.given, self._completed = kind, sizes, given, completed
        self.is_clean = True
        """Whether nothing is written behind what is used; else it is copied whole."""
        self._take([ArrayBlock(_specs(*self._key(group)), first) for group in range(len(groups_of(kind)))])

    def _key(self, *group: int) -> tuple[Any, ...]:
        """Return what tells which shapes its arrays have, or those of a group."""
        return self.kind, *group, self.sizes, frozenset(self.given)

    def _take(self, blocks: list[ArrayBlock]) -> None:
        """Take arrays of blocks for the state."""
        self.blocks = blocks
        arrays = dict(self.given)
        for block in blocks:
            arrays |= block.arrays
        self.state: T = self._completed(made_of(self.kind, arrays))
        self._layout: Layout | None = None
        self._before: Layout | None = None  # how it was laid out before some arrays became others
        self._uses: Any = None

    @property
    def is_whole(self) -> bool:
        """Whether all its arrays are in blocks."""
        return all(block.bytes is not None for block in self.blocks)

    @property
    def size(self) -> int:
        """Bytes that its arrays take at most."""
        return sum(block.size for block in self.blocks)

    def sibling(self) -> Arena[T]:
        """Return another one of the same sizes, in which nothing is written yet."""
        other = copy.copy(self)
        other.is_clean = False
        other._take([ArrayBlock(block.specs) for block in self.blocks])
        if self._layout and self.is_whole:
            moves = [
                (old.address, old.size, new.address - old.address)
                for old, new in zip(self.blocks, other.blocks, strict=True)
            ]
            other._layout = self._layout.moved(other.state, moves)
        return other

    def copy_from(self, other: Arena[T], used: Mapping[str, int] | None = None) -> None:
        """Become what another one of the same sizes is.

        Parameters
        ----------
        other : Arena
            Is not changed.
        used : mapping of str to int, optional
            How many jobs are known, here or there, and how many runs there are: if both are clean nothing is copied of
            the others but what is known ahead.
        """
        is_clean, self.is_clean = self.is_clean and other.is_clean, other.is_clean
        for ours, theirs in zip(self.blocks, other.blocks, strict=True):
            if used and is_clean and ours is self.blocks[0] and self.is_whole:
                if self._uses is None:
                    self._uses = self._shares(used)
                which, items = self._uses
                ours.copy_some(theirs, which, items, np.array(list(used.values())))
            else:
                ours.copy_from(theirs)

    def _shares(self, per: Iterable[str]) -> tuple[IntArray, IntArray]:
        """Return of each array of the first block which of some counts it has elements for, -1 for none; and bytes."""
        columns, specs, names = columns_of(self.kind), self.blocks[0].specs, list(per)
        pers = [columns[path].per if not columns[path].is_ahead else "" for path in specs]
        # Of what has several elements for each job it is not said which of them are written: all are copied.
        pers = [per if columns[path].times == 1 else "" for path, per in zip(specs, pers, strict=True)]
        which = [names.index(each) if each in names else -1 for each in pers]
        return np.array(which), np.array([math.prod(spec.shape[1:]) * int(spec.kind[1:]) for spec in specs.values()])

    def resized(self, sizes: StateSizes, given: Mapping[str, npt.NDArray[Any]] | None = None) -> Arena[T]:
        """Return one of other sizes, whose arrays begin with what these have, and else are empty.

        It takes the place of this one: what need not change is handed on. Of columns that were ``given`` and are not
        any more, the caller writes what they have.
        """
        other = copy.copy(self)
        other.sizes, other.given = sizes, self.given if given is None else given
        changed = {name for name, old, new in zip(StateSizes._fields, self.sizes, sizes, strict=True) if old != new}
        is_given_alike = self.given.keys() == other.given.keys()
        other._take(
            [
                old if is_given_alike and not changed & group.sizes else old.resized(_specs(*other._key(place)))
                for place, (old, group) in enumerate(zip(self.blocks, groups_of(self.kind), strict=True))
            ]
        )
        other._before = self._layout
        return other

    def layout(self, like: Any) -> Layout:
        """Return how it lies in memory for compiled code that takes tuples like another one."""
        if self._layout is None and self._before:
            self._layout, self._before = self._before.changed(self.state, like), None
        if self._layout is None:
            known = _patterns(*self._key())
            self._layout = known[0].layout(self.state) if known else None
            self._layout = self._layout or Layout(self.state, like)
            known[:] = known or [self._layout.pattern()]
        return self._layout


def copy_arrays(old: Any, new: Any) -> None:
    """Copy the arrays of a tuple, or of tuples in it, into others of their shapes."""
    for ours, theirs in zip(_leaves(old), _leaves(new), strict=True):
        theirs[...] = ours


def block_of(value: Any) -> tuple[ArrayBlock, Any]:
    """Return a copy of a tuple of arrays, or of such tuples, in one block; and the block."""
    leaves = list(_leaves(value))
    block = ArrayBlock(Specs({str(i): Spec(each.dtype.str[1:], each.shape) for i, each in enumerate(leaves)}))
    for new, old in zip(block.arrays.values(), leaves, strict=True):
        new[...] = old
    return block, _like_tuple(value, iter(block.arrays.values()))


def _like_tuple(value: Any, arrays: Iterator[Any]) -> Any:
    """Return a tuple like another one with other arrays."""
    if isinstance(value, tuple):
        parts = [_like_tuple(part, arrays) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return next(arrays)


def _leaves(value: Any) -> Iterator[npt.NDArray[Any]]:
    """Yield the arrays of a tuple, or of tuples in it."""
    if isinstance(value, tuple):
        for part in value:
            yield from _leaves(part)
    else:
        yield value


class ArenaPool:
    """The arenas that nobody has, of a simulation and all its copies and forks."""

    def __init__(self) -> None:
        self._free: defaultdict[Any, list[Any]] = defaultdict(list)
        self._first: dict[Any, Any] = {}

    def take(self, key: Any, make: Callable[[Any], Any]) -> Lease:
        """Return room of a shape, until the lease is forgotten; ``make`` takes the first of the shape, or None."""
        free = self._free[key]
        while free:
            if (room := free.pop()).is_free:
                return Lease(self, key, room)
        room = make(self._first.get(key))
        if room.is_whole:
            self._first.setdefault(key, room)
        return Lease(self, key, room)

    def give_back(self, key: Any, room: Any) -> None:
        """Keep room for the next one."""
        free = self._free[key]
        if room.is_whole and len(free) < min(KEPT, MOST_KEPT // (room.size + 1)):
            free.append(room)


class Lease:
    """Room that somebody has; it is given back when nobody has the lease."""

    def __init__(self, pool: ArenaPool, key: Any, room: Any) -> None:
        self._pool, self._key, self.room = pool, key, room

    def __del__(self) -> None:
        self._pool.give_back(self._key, self.room)

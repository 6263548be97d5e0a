# SPDX-License-Identifier: BSD-3-Clause
"""How placements choose nodes: those of the lowest keys, or groups of nodes such as those of a switch."""

from __future__ import annotations

from swftools.kernel import IntArray, Kernel, ShortArray, kernel
from swftools.kernel.twins import Twins
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.usable import FIRST, NOT, free_for, usable
from swftools.simulator.nodes.words import WHOLE, cores_in

_LATER = 1 << 61
"""In a key, what lets a node come behind all that are to be taken sooner: above all that a key has."""


def by_key(name: str, key: Kernel[..., int]) -> Kernel[..., None]:
    """Return what chooses the nodes of the lowest keys, of equal ones the first.

    Parameters
    ----------
    name : str
        A name for its compiled code.
    key : Kernel
        As ``amounts_free``; what it returns is not below 0 and below 2 ** 61.
    """
    made: Kernel[..., None] = Twins(name, {amounts_free: key}).standing_for(choose_lowest)
    return made


@kernel(allocates=False)
def amounts_free(machine: NodeMachine, node: int, free: int, need: int) -> int:  # noqa: ARG001 (other keys need them)
    """Return what is free of a node as a number: by GPUs, then by cores, then by memory."""
    return free & ~WHOLE  # that nothing runs there is no amount


@kernel(allocates=False)
def choose_lowest(
    machine: NodeMachine, group: int, need: int, wanted: int, how: int, end: float, out: ShortArray, at: int
) -> None:
    """Write down the nodes of a set that may be taken whose keys are lowest; of equal ones the first."""
    key = machine.nodes.key
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(low[piece], high[piece]):
            kind = usable(machine, node, need, how, end)
            if kind == NOT:
                continue
            own = amounts_free(machine, node, free_for(machine, node, how), need)
            key[node] = own if kind == FIRST else own | _LATER
            got = keep_lowest(key, node, wanted, out, at, got)


@kernel(allocates=False)
def keep_lowest(key: IntArray, node: int, wanted: int, out: ShortArray, at: int, got: int) -> int:
    """Put a node among those of the lowest keys, at most so many as are wanted; return how many there are."""
    if got < wanted:
        out[at + got] = node
        _rise(key, out, at, got + 1)
        return got + 1
    if _is_worse(key, out[at], node):
        out[at] = node
        _sink(key, out, at, got)
    return got


@kernel(allocates=False)
def _is_worse(key: IntArray, node: int, other: int) -> bool:
    """Whether a node is to be taken after another one."""
    return key[node] > key[other] or (key[node] == key[other] and node > other)


@kernel(allocates=False)
def _rise(key: IntArray, out: ShortArray, at: int, count: int) -> None:
    """Put the last of a heap, whose worst node is on top, where it belongs."""
    place = count - 1
    while place > 0:
        parent = (place - 1) >> 1
        if not _is_worse(key, out[at + place], out[at + parent]):
            return
        out[at + place], out[at + parent] = out[at + parent], out[at + place]
        place = parent


@kernel(allocates=False)
def _sink(key: IntArray, out: ShortArray, at: int, count: int) -> None:
    """Put the first of such a heap where it belongs."""
    place = 0
    while 2 * place + 1 < count:
        child = 2 * place + 1
        if child + 1 < count and _is_worse(key, out[at + child + 1], out[at + child]):
            child += 1
        if not _is_worse(key, out[at + child], out[at + place]):
            return
        out[at + place], out[at + child] = out[at + child], out[at + place]
        place = child


# ---------------------------------------------------------------- groups of nodes: ``key`` has twice the group of each
# node of a set that may be taken, and 1 more if it is to be taken sooner; NOBODY of those that may not be taken.


@kernel(allocates=False)
def choose_by_groups(
    machine: NodeMachine,
    group: int,
    wanted: int,
    groups: int,
    how: int,
    counts_cores: bool,
    out: ShortArray,
    at: int,
) -> None:
    """Write down nodes of as few groups as possible, which are numbered below ``groups``.

    The smallest group that suffices is taken; where none does, all of the largest, and so on for the rest. Of equal
    ones that which has most nodes that are to be taken sooner; then, if cores count, the one with the fewest cores
    free; then the first. Of the last group the first nodes are taken, so that they are neighbours in a run; if cores
    count, those that are to be taken sooner, then those with the fewest cores free, then the first.
    """
    nodes, rest = machine.nodes, wanted
    _tally_groups(machine, group, groups, how, counts_cores)
    last = NOBODY
    while rest > 0:
        last = _next_group(nodes.tally, groups, rest)
        if nodes.tally[4 * last] > rest:
            break
        rest -= nodes.tally[4 * last]
        nodes.tally[4 * last + 3] = 1  # all of it is taken
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    whole, got = at, 0
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(low[piece], high[piece]):
            key = nodes.key[node]
            if key == NOBODY:
                continue
            if nodes.tally[4 * (key >> 1) + 3] == 1:
                out[whole] = node
                whole += 1
            elif rest > 0 and key >> 1 == last:
                nodes.key[node] = 0
                if counts_cores:
                    own = cores_in(free_for(machine, node, how))
                    nodes.key[node] = own if key & 1 == 1 else own | _LATER
                got = keep_lowest(nodes.key, node, rest, out, at + wanted - rest, got)


@kernel(allocates=False)
def _tally_groups(machine: NodeMachine, group: int, groups: int, how: int, counts_cores: bool) -> None:
    """Count of each group its nodes, those that are to be taken sooner, and its free cores; none is taken yet."""
    nodes, tally = machine.nodes, machine.nodes.tally
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    for place in range(4 * groups):
        tally[place] = 0
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(low[piece], high[piece]):
            key = nodes.key[node]
            if key == NOBODY:
                continue
            begin = 4 * (key >> 1)
            tally[begin] += 1
            tally[begin + 1] += key & 1
            tally[begin + 2] += cores_in(free_for(machine, node, how)) if counts_cores else 0


@kernel(allocates=False)
def _next_group(tally: IntArray, groups: int, rest: int) -> int:
    """Return the group that is taken next, where so many nodes are still to be found."""
    best = NOBODY
    for other in range(groups):
        is_left = tally[4 * other] > 0 and tally[4 * other + 3] == 0
        if is_left and (best == NOBODY or _is_better(tally, other, best, rest)):
            best = other
    return best


@kernel(allocates=False)
def _is_better(tally: IntArray, group: int, other: int, rest: int) -> bool:
    """Whether a group is to be taken rather than another one of a lower number."""
    count, others = tally[4 * group], tally[4 * other]
    if count != others:
        if count >= rest and others >= rest:
            return count < others
        return count > others
    if tally[4 * group + 1] != tally[4 * other + 1]:
        return tally[4 * group + 1] > tally[4 * other + 1]
    return tally[4 * group + 2] < tally[4 * other + 2]

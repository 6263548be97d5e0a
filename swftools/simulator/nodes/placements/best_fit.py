# SPDX-License-Identifier: BSD-3-Clause
"""Best fit: of the nodes that fit a job, those on which least is free: GPUs first, then cores, then memory."""

from __future__ import annotations

from swftools.kernel import IntArray, ShortArray, kernel
from swftools.simulator.nodes.placement import placement
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.usable import (
    FIRST,
    NOT,
    PLANNED_THEN,
    SPARING_PLANNED,
    SPARING_THEN,
    THEN,
    usable,
)
from swftools.simulator.nodes.words import WHOLE

_LATER = 1 << 61
"""In a key, what lets a node come behind all that are to be taken sooner: above all that a word has."""


@placement(
    "best-fit",
    chooses_again=True,
    when="To keep large pieces of free memory, cores and GPUs together where jobs share nodes.",
)
@kernel(allocates=False)
def choose_fullest(
    machine: NodeMachine, group: int, need: int, wanted: int, how: int, end: float, out: ShortArray, at: int
) -> None:
    """Write down the nodes of a set that may be taken on which least is free; of equal ones the first."""
    nodes = machine.nodes
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(low[piece], high[piece]):
            kind = usable(machine, node, need, how, end)
            if kind == NOT:
                continue
            free = nodes.free[node]
            if how in (THEN, SPARING_THEN):
                free = nodes.then[node]
            elif how in (PLANNED_THEN, SPARING_PLANNED):
                free = nodes.was[node]
            amounts = free & ~WHOLE  # that nothing runs there is no amount
            nodes.key[node] = amounts if kind == FIRST else amounts | _LATER
            if got < wanted:
                out[at + got] = node
                got += 1
                _rise(nodes.key, out, at, got)
            elif nodes.key[node] < nodes.key[out[at]]:
                out[at] = node
                _sink(nodes.key, out, at, got)


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

# SPDX-License-Identifier: BSD-3-Clause
"""Whether a node may be taken for a job, and whether sooner than others: what placements choose among."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.state import CLOSED0, CLOSED1, MARK, PLAN, NodeMachine
from swftools.simulator.nodes.words import BLOCK, GUARD, has_bit, suffices

NOW, SPARING_NOW, BOTH, THEN, SPARING_THEN, OPEN = range(6)
RESPECTING, SPARING_RESPECTING, PLANNED_THEN, SPARING_PLANNED = range(6, 10)
"""What nodes are chosen for: a job that starts, where nothing is reserved; that ends by the one reservation, first on
its nodes; that runs on beyond it; for the reservation, also first on nodes that do not fit now; for a job that starts
outside of closed partitions; that respects several reservations, also first on their nodes; for one of several
reservations, likewise."""

NOT, OTHER, FIRST = range(3)
"""Whether a node may not be taken, may, or may sooner than others."""


@kernel(allocates=False)
def usable(machine: NodeMachine, node: int, need: int, how: int, end: float) -> int:
    """Return whether a node may be taken; ``end`` is when the job is expected to end where reservations count."""
    nodes, counts, places = machine.nodes, machine.classes.counts, machine.places
    fits_now = suffices(nodes.free[node], need)
    if how in (THEN, SPARING_THEN, PLANNED_THEN, SPARING_PLANNED):
        # Who plans several has written down where there is room beside all else.
        may = suffices(nodes.then[node], need) if how in (THEN, SPARING_THEN) else nodes.was[node] != NOBODY
        is_first = how in (SPARING_THEN, SPARING_PLANNED) and not fits_now
    elif how == OPEN:
        closed = (places.members0[node] & counts[CLOSED0]) | (places.members1[node] & counts[CLOSED1])
        may, is_first = fits_now and closed == 0, False
    elif how == BOTH:
        may, is_first = fits_now and suffices(nodes.then[node], need), False
    elif how in (RESPECTING, SPARING_RESPECTING):
        kind = respects(machine, node, need, end) if fits_now else NOT
        may, is_first = kind != NOT, kind == FIRST and how == SPARING_RESPECTING
    else:
        may, is_first = fits_now, how == SPARING_NOW and nodes.reserved[node] == counts[MARK]
    if not may:
        return NOT
    return FIRST if is_first else OTHER


@kernel(allocates=False)
def has_shape(
    machine: NodeMachine,  # noqa: ARG001 (other placements need them, which have a kernel in this one's place)
    group: int,  # noqa: ARG001
    need: int,  # noqa: ARG001
    wanted: int,  # noqa: ARG001
    how: int,  # noqa: ARG001
    end: float,  # noqa: ARG001
) -> bool:
    """Whether enough nodes of a set, of which there are enough that may be taken, lie as the placement wants them."""
    return True


@kernel(allocates=False)
def free_for(machine: NodeMachine, node: int, how: int) -> int:
    """Return what is free of a node, before a job is put there, when the job is to begin for which it may be taken."""
    if how in (THEN, SPARING_THEN):
        return machine.nodes.then[node]
    if how in (PLANNED_THEN, SPARING_PLANNED):
        return machine.nodes.was[node]
    return machine.nodes.free[node]


@kernel(allocates=False)
def respects(machine: NodeMachine, node: int, need: int, end: float) -> int:
    """Return whether a job that is there until ``end`` delays a reservation of a node, or ends before all of them."""
    plan = machine.plan
    if plan.stamp[node] != machine.classes.counts[PLAN]:
        return OTHER
    entry, ends_before = plan.newest[node], True
    while entry != NOBODY:
        if plan.begin[plan.of[entry]] < end:
            ends_before = False
            if not suffices(plan.left[entry], need):
                return NOT
        entry = plan.next[entry]
    return FIRST if ends_before else OTHER


@kernel(allocates=False)
def find_usable(machine: NodeMachine, job: int, how: int, end: float) -> tuple[int, int]:
    """Look for nodes that fit a job now and may be taken, as ``find_now`` does for those that fit."""
    sets, place = machine.places.sets, machine.asked.place[job]
    need, wanted, at = machine.asked.need[job], machine.asked.nodes[job], machine.asked.first[job]
    low, high, ranges, held = machine.places.low, machine.places.high, machine.places.ranges, machine.nodes.held
    counts, partition, free = machine.classes.counts, machine.places.partition, machine.nodes.free
    most, best = 0, sets[place]
    for group in range(sets[place], sets[place + 1]):
        if how == OPEN and has_bit(counts[CLOSED0], counts[CLOSED1], partition[group]):
            continue
        got = 0
        for piece in range(ranges[group], ranges[group + 1]):
            begin = low[piece]
            while begin < high[piece] and got < wanted:
                behind = min(begin + BLOCK, high[piece])
                count = 0
                for node in range(np.uint64(begin), np.uint64(behind)):
                    count += ((free[node] | GUARD) - need) & GUARD == GUARD
                if count > 0:
                    for node in range(begin, behind):
                        if got < wanted and usable(machine, node, need, how, end) != NOT:
                            held[at + got] = node
                            got += 1
                begin = behind
        if got == wanted and not has_shape(machine, group, need, wanted, how, end):
            got = wanted - 1
        if got > most:
            most, best = got, group
        if got == wanted:
            break
    return most, best

# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes fit a job: found one after the other, 64 at a time where none of these does.

What looks at now, and at now and a reserved time, differs in one operand, and yet is written twice: one text that
always looks at two words takes about 30 % longer for the nodes that do not fit, which are most of those looked at.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.nodes.state import NodeMachine
from swftools.simulator.nodes.usable import BOTH, NOW, has_shape
from swftools.simulator.nodes.words import BLOCK, GUARD


@kernel(allocates=False)
def find_now(machine: NodeMachine, job: int) -> tuple[int, int]:
    """Look for nodes that fit a job now; those of the first set that has enough become its own.

    Returns the most that a set has, at most as many as are needed, and that set. One is lacking where the placement
    cannot do with those that there are: it can only when another fits.
    """
    sets, place = machine.places.sets, machine.asked.place[job]
    need, wanted, at = machine.asked.need[job], machine.asked.nodes[job], machine.asked.first[job]
    most, best = 0, sets[place]
    for group in range(sets[place], sets[place + 1]):
        got = find_in(machine, group, need, wanted, at)
        if got == wanted and not has_shape(machine, group, need, wanted, NOW, 0.0):
            got = wanted - 1
        if got > most:
            most, best = got, group
        if got == wanted:
            break
    return most, best


@kernel(allocates=False)
def find_in(machine: NodeMachine, group: int, need: int, wanted: int, at: int) -> int:
    """Write down the first nodes of a set that fit now, as many as are wanted; return how many there are."""
    free, held = machine.nodes.free, machine.nodes.held
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for piece in range(ranges[group], ranges[group + 1]):
        begin = low[piece]
        while begin < high[piece]:
            end = min(begin + BLOCK, high[piece])
            count = 0
            for node in range(np.uint64(begin), np.uint64(end)):  # without a sign no index counts from behind
                count += ((free[node] | GUARD) - need) & GUARD == GUARD
            if count > 0:
                for node in range(begin, end):
                    if ((free[node] | GUARD) - need) & GUARD == GUARD:
                        held[at + got] = node
                        got += 1
                        if got == wanted:
                            return got
            begin = end
    return got


@kernel(allocates=False)
def find_both(machine: NodeMachine, job: int) -> tuple[int, int]:
    """Look for nodes that fit a job now, and at the reserved time too; else as ``find_now``."""
    sets, place = machine.places.sets, machine.asked.place[job]
    need, wanted, at = machine.asked.need[job], machine.asked.nodes[job], machine.asked.first[job]
    most, best = 0, sets[place]
    for group in range(sets[place], sets[place + 1]):
        got = find_both_in(machine, group, need, wanted, at)
        if got == wanted and not has_shape(machine, group, need, wanted, BOTH, 0.0):
            got = wanted - 1
        if got > most:
            most, best = got, group
        if got == wanted:
            break
    return most, best


@kernel(allocates=False)
def find_both_in(machine: NodeMachine, group: int, need: int, wanted: int, at: int) -> int:
    """Write down the first nodes of a set that fit now and at the reserved time; return how many there are."""
    free, then, held = machine.nodes.free, machine.nodes.then, machine.nodes.held
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for piece in range(ranges[group], ranges[group + 1]):
        begin = low[piece]
        while begin < high[piece]:
            end = min(begin + BLOCK, high[piece])
            count = 0
            for node in range(np.uint64(begin), np.uint64(end)):
                count += ((free[node] | GUARD) - need) & ((then[node] | GUARD) - need) & GUARD == GUARD
            if count > 0:
                for node in range(begin, end):
                    if ((free[node] | GUARD) - need) & ((then[node] | GUARD) - need) & GUARD == GUARD:
                        held[at + got] = node
                        got += 1
                        if got == wanted:
                            return got
            begin = end
    return got


@kernel(allocates=False)
def count_then(machine: NodeMachine, group: int, need: int) -> int:
    """Return how many nodes of a set fit at the reserved time."""
    then = machine.nodes.then
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    count = 0
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(np.uint64(low[piece]), np.uint64(high[piece])):
            count += ((then[node] | GUARD) - need) & GUARD == GUARD
    return count

# SPDX-License-Identifier: BSD-3-Clause
"""Whether a node is there for a job, as far as is known; and what looks at single nodes where nodes may be away.

An outage is seen from when it is known, or has begun. Its end is known as long as the outage is; of others it is not,
until it comes. Meanwhile the node counts as away without end. A drain keeps jobs from starting, all else from being
there.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import ShortArray, kernel
from swftools.machines.outages import DRAIN
from swftools.simulator.instants import instant
from swftools.simulator.machine.state import NOW as THE_TIME
from swftools.simulator.machine.views import expected_time
from swftools.simulator.nodes.away.exchange import OF_NODES, in_place_of
from swftools.simulator.nodes.away.state import HOLDERS, RETURNED, SEEKER, AwayMachine
from swftools.simulator.nodes.placements.first_fit import choose_planned, choose_sparing_now, choose_sparing_then
from swftools.simulator.nodes.searching import count_then, find_both_in, find_in
from swftools.simulator.nodes.usable import (
    FIRST,
    NOT,
    SPARING_NOW,
    SPARING_PLANNED,
    SPARING_THEN,
    usable,
)
from swftools.simulator.nodes.words import suffices


@kernel(allocates=False)
def seek(machine: AwayMachine, job: int, time: float) -> None:
    """Look for nodes of a job from now on that begins at a time."""
    outages = machine.outages
    outages.counts[SEEKER] = machine.asked.place[job]
    outages.sought[0], outages.sought[1] = time, instant(time + expected_time(machine, job))


@kernel(allocates=False)
def is_there(machine: AwayMachine, node: int, begin: float, end: float) -> bool:
    """Whether a node is there for the job for which nodes are looked for, if it begins and ends at these times."""
    outages, now = machine.outages, machine.clock[THE_TIME]
    allowed = outages.counts[SEEKER] * outages.counts[HOLDERS]
    for row in range(outages.next[node], outages.behind[node]):
        since = outages.begin[row]
        if since > begin and since >= end:
            break  # and so do all behind it
        is_known = outages.known[row] <= now
        if (not is_known and since > now) or (since > begin and outages.kind[row] == DRAIN):
            continue
        until = outages.end[row] if is_known or outages.end[row] <= now else np.inf
        who = outages.who[row]
        if until > begin and (who < 0 or outages.may[allowed + who] == 0):
            return False
    return True


@kernel(allocates=False)
def is_sought(machine: AwayMachine, node: int) -> bool:
    """Whether a node is there when nodes are looked for."""
    return is_there(machine, node, machine.outages.sought[0], machine.outages.sought[1])


@kernel(allocates=False)
def is_here(machine: AwayMachine, node: int) -> bool:
    """Whether a node is there at this instant."""
    now = machine.clock[THE_TIME]
    return is_there(machine, node, now, now)


@kernel(allocates=False)
def next_return(machine: AwayMachine, time: float) -> float:
    """Return the first known end of an outage behind a time; infinity where there is none."""
    outages, now = machine.outages, machine.clock[THE_TIME]
    for place in range(outages.counts[RETURNED], len(outages.back)):
        row = outages.back[place]
        if outages.end[row] > time and outages.known[row] <= now:
            return outages.end[row]
    return np.inf


@in_place_of(usable, OF_NODES)
@kernel(allocates=False)
def usable_if_there(machine: AwayMachine, node: int, need: int, how: int, end: float) -> int:
    """Return whether a node may be taken; one that is away now goes first into a sparing reservation."""
    kind = usable(machine, node, need, how, end)
    if kind == NOT or not is_sought(machine, node):
        return NOT
    if how in (SPARING_THEN, SPARING_PLANNED) and not is_here(machine, node):
        return FIRST
    return kind


@in_place_of(find_in, OF_NODES)
@kernel(allocates=False)
def find_there(machine: AwayMachine, group: int, need: int, wanted: int, at: int) -> int:
    """Write down the first nodes of a set that fit now and are there, as many as are wanted; return how many."""
    free, held = machine.nodes.free, machine.nodes.held
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(low[piece], high[piece]):
            if suffices(free[node], need) and is_sought(machine, node):
                held[at + got] = node
                got += 1
                if got == wanted:
                    return got
    return got


@in_place_of(find_both_in, OF_NODES)
@kernel(allocates=False)
def find_both_there(machine: AwayMachine, group: int, need: int, wanted: int, at: int) -> int:
    """Write down the first that fit now and at the reserved time, and are there; return how many there are."""
    free, then, held = machine.nodes.free, machine.nodes.then, machine.nodes.held
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(low[piece], high[piece]):
            if suffices(free[node], need) and suffices(then[node], need) and is_sought(machine, node):
                held[at + got] = node
                got += 1
                if got == wanted:
                    return got
    return got


@in_place_of(count_then, OF_NODES)
@kernel(allocates=False)
def count_there(machine: AwayMachine, group: int, need: int) -> int:
    """Return how many nodes of a set fit at the reserved time, and are there."""
    then = machine.nodes.then
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    count = 0
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(low[piece], high[piece]):
            count += suffices(then[node], need) and is_sought(machine, node)
    return count


@in_place_of(choose_sparing_now, OF_NODES)
@kernel(allocates=False)
def sparing_now_there(machine: AwayMachine, group: int, need: int, wanted: int, out: ShortArray, at: int) -> None:
    """Write down nodes that may be taken now, those that are reserved first."""
    first_there(machine, group, need, wanted, SPARING_NOW, out, at)


@in_place_of(choose_sparing_then, OF_NODES)
@kernel(allocates=False)
def sparing_then_there(machine: AwayMachine, group: int, need: int, wanted: int, out: ShortArray, at: int) -> None:
    """Write down nodes that may be taken at the reserved time, those that the job could not have now first."""
    first_there(machine, group, need, wanted, SPARING_THEN, out, at)


@in_place_of(choose_planned, OF_NODES)
@kernel(allocates=False)
def planned_there(machine: AwayMachine, group: int, need: int, wanted: int, how: int, out: ShortArray, at: int) -> None:
    """Write down nodes of which it stands in ``was`` that they may be taken, likewise."""
    first_there(machine, group, need, wanted, how, out, at)


@kernel(allocates=False)
def first_there(machine: AwayMachine, group: int, need: int, wanted: int, how: int, out: ShortArray, at: int) -> None:
    """Write down nodes that may be taken, of which there are enough: those that are to be taken sooner first."""
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    got = 0
    for kind in range(FIRST, NOT, -1):
        for piece in range(ranges[group], ranges[group + 1]):
            for node in range(low[piece], high[piece]):
                if got < wanted and usable_if_there(machine, node, need, how, 0.0) == kind:
                    out[at + got] = node
                    got += 1

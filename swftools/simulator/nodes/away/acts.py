# SPDX-License-Identifier: BSD-3-Clause
"""What is decided, looked at and taken along from outside, where nodes may be away."""

from __future__ import annotations

from swftools.kernel import IntArray, kernel
from swftools.simulator.machine.faults import NO_NODES, fail
from swftools.simulator.machine.state import NOW as THE_TIME
from swftools.simulator.nodes.acts import cores_left, could_start_on_nodes, count_now, start_there_on_nodes
from swftools.simulator.nodes.away.exchange import OF_EVENTS, OF_JOBS, OF_NODES, in_place_of
from swftools.simulator.nodes.away.presence import is_sought, seek
from swftools.simulator.nodes.away.state import KEPT, AwayMachine
from swftools.simulator.nodes.forking import take_places_on_nodes
from swftools.simulator.nodes.words import cores_in, suffices


@in_place_of(count_now, OF_NODES)
@kernel(allocates=False)
def count_now_there(machine: AwayMachine, group: int, need: int) -> int:
    """Return how many nodes of a set fit now, and are there."""
    free, count = machine.nodes.free, 0
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(low[piece], high[piece]):
            count += suffices(free[node], need) and is_sought(machine, node)
    return count


@in_place_of(cores_left, OF_NODES)
@kernel(allocates=False)
def cores_left_there(machine: AwayMachine) -> int:
    """Return how many cores are free then on nodes that are there as long as the job would run."""
    total = 0
    for node in range(len(machine.nodes.then)):
        if is_sought(machine, node):
            total += cores_in(machine.nodes.then[node])
    return total


@in_place_of(could_start_on_nodes, OF_JOBS)
@kernel(allocates=False)
def could_start_there(machine: AwayMachine, job: int) -> bool:
    """Whether enough nodes fit a waiting job now, and are there until it is expected to end."""
    seek(machine, job, machine.clock[THE_TIME])
    return could_start_on_nodes(machine, job)


@in_place_of(start_there_on_nodes, OF_JOBS)
@kernel(allocates=False)
def start_if_there(machine: AwayMachine, job: int, group: int) -> None:
    """Start a waiting job on the nodes of a set that are written down as its own, if it fits there, and they are."""
    first = machine.asked.first[job]
    seek(machine, job, machine.clock[THE_TIME])
    for at in range(first, first + machine.asked.nodes[job]):
        if not is_sought(machine, machine.nodes.held[at]):
            fail(machine, NO_NODES, job)
    start_there_on_nodes(machine, job, group)


@in_place_of(take_places_on_nodes, OF_EVENTS)
@kernel(allocates=False)
def take_places_there(machine: AwayMachine, ours: AwayMachine, origin: IntArray, jobs: int) -> None:
    """Copy where the jobs are, how nodes stand, and which outages are over; of runs that were stopped none."""
    theirs, mine = machine.outages, ours.outages
    for i in range(len(theirs.counts)):
        mine.counts[i] = theirs.counts[i]
    mine.counts[KEPT] = 0
    for node in range(len(theirs.next)):
        mine.next[node] = theirs.next[node]
    mine.delay[0], mine.room[0] = theirs.delay[0], 0
    take_places_on_nodes(machine, ours, origin, jobs)

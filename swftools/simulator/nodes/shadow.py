# SPDX-License-Identifier: BSD-3-Clause
"""The reservation of one first waiting job: when enough nodes will fit it, and which it is to have.

The time is kept until enough nodes may fit before it, which ends of jobs tell, or until another job is the first. The
nodes are chosen again when others might serve better.
"""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.machine.faults import NO_NODES, fail
from swftools.simulator.machine.state import NOW, RUNNING
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.classes import forget_then, raise_then
from swftools.simulator.nodes.holding import copy_now_to_then, given_back
from swftools.simulator.nodes.placements.first_fit import choose_first
from swftools.simulator.nodes.searching import count_then
from swftools.simulator.nodes.state import (
    CHANGED,
    CHOOSES,
    EARLIER,
    HEAD,
    LAST,
    MARK,
    NUMBER,
    SPARING,
    NodeMachine,
)
from swftools.simulator.nodes.usable import SPARING_THEN, THEN, has_shape
from swftools.simulator.nodes.words import bits_of, suffices, without


@kernel(allocates=False)
def reserve(machine: NodeMachine, head: int) -> float:
    """Reserve nodes for a job that does not fit now; return from when, s."""
    counts, nodes = machine.classes.counts, machine.nodes
    if counts[HEAD] == head and machine.classes.time_reserved[0] >= machine.clock[NOW]:
        if counts[CHOOSES] > 0 and counts[CHANGED] > 0:
            wanted, size = machine.asked.nodes[head], len(nodes.free)
            for i in range(wanted):  # what it was to take is free again
                node = nodes.chosen[size + i]
                nodes.chosen[i], nodes.was[node] = node, nodes.then[node]
                nodes.then_users[node] -= 1
                nodes.then[node] = given_back(
                    nodes.then[node], nodes.capacity[node], machine.asked.need[head], nodes.then_users[node]
                )
            _choose(machine, head)
            for i in range(wanted):
                node = nodes.chosen[i]
                if nodes.then[node] != nodes.was[node]:
                    inside0, inside1 = machine.places.inside0[node], machine.places.inside1[node]
                    free = nodes.free[node]
                    raise_then(machine, free, nodes.was[node], free, nodes.then[node], inside0, inside1, 1)
        return machine.classes.time_reserved[0]
    counts[HEAD] = head
    counts[NUMBER] += 1
    machine.classes.time_reserved[0] = _earliest(machine, head)
    _choose(machine, head)
    forget_then(machine)
    return machine.classes.time_reserved[0]


@kernel(allocates=False)
def _earliest(machine: NodeMachine, head: int) -> float:
    """Return from when on enough nodes of a set fit a job, if running jobs end as expected; fill in ``then``."""
    nodes, places, counts = machine.nodes, machine.places, machine.classes.counts
    need, wanted, place = machine.asked.need[head], machine.asked.nodes[head], machine.asked.place[head]
    head0, head1 = bits_of(place)
    copy_now_to_then(machine)
    fit = 0
    for node in range(len(nodes.free)):
        inside = ((places.inside0[node] & head0) | (places.inside1[node] & head1)) != 0
        if inside and suffices(nodes.free[node], need):
            nodes.before[node] = counts[NUMBER]
            fit += 1
    now = machine.clock[NOW]
    time, listed, earlier, i = now, 0, 0, 0
    while i < machine.counts[RUNNING]:
        time, earlier = max(machine.expected_end[machine.running[i]], now), listed
        while i < machine.counts[RUNNING] and machine.expected_end[machine.running[i]] <= time:
            job = machine.running[i]
            i += 1
            first = machine.asked.first[job]
            for at in range(first, first + machine.asked.nodes[job]):
                node = nodes.held[at]
                old = nodes.then[node]
                nodes.then_users[node] -= 1
                nodes.then[node] = given_back(
                    old, nodes.capacity[node], machine.asked.need[job], nodes.then_users[node]
                )
                inside = ((places.inside0[node] & head0) | (places.inside1[node] & head1)) != 0
                if inside and suffices(nodes.then[node], need) and not suffices(old, need):
                    nodes.chosen[listed] = node
                    listed += 1
        if fit + listed >= wanted and set_that_fits(machine, head) != NOBODY:
            break
    for at in range(earlier):
        nodes.before[nodes.chosen[at]] = counts[NUMBER]
    counts[EARLIER] = fit + earlier
    return time


@kernel(allocates=False)
def set_that_fits(machine: NodeMachine, head: int) -> int:
    """Return the first set that has enough nodes at the reserved time, or NOBODY."""
    sets, place = machine.places.sets, machine.asked.place[head]
    need, wanted = machine.asked.need[head], machine.asked.nodes[head]
    for group in range(sets[place], sets[place + 1]):
        if count_then(machine, group, need) >= wanted and has_shape(machine, group, need, wanted, THEN, 0.0):
            return group
    return NOBODY


@kernel(allocates=False)
def _choose(machine: NodeMachine, head: int) -> None:
    """Choose nodes for a job at the reserved time, and let it have them then."""
    counts, nodes, size = machine.classes.counts, machine.nodes, len(machine.nodes.free)
    need, wanted = machine.asked.need[head], machine.asked.nodes[head]
    group = set_that_fits(machine, head)
    if group == NOBODY:
        fail(machine, NO_NODES, head)  # it does not fit the idle machine, which its workload promised
    how = SPARING_THEN if counts[SPARING] > 0 else THEN
    choose_first(machine, group, need, wanted, how, 0.0, nodes.chosen, size)
    counts[CHANGED] = 0
    counts[MARK] += 1
    for i in range(wanted):
        node = nodes.chosen[size + i]
        nodes.then[node] = without(nodes.then[node], need)
        nodes.then_users[node] += 1
        nodes.reserved[node] = counts[MARK]
    counts[LAST] = nodes.chosen[size + wanted - 1]

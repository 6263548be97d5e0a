# SPDX-License-Identifier: BSD-3-Clause
"""How nodes are looked for, and reserved, where nodes may be away: by time, and made anew at each decision.

A job whose nodes are not known to be back ever has no reservation; it is said to begin at infinity.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.instants import instant
from swftools.simulator.machine.state import NOW as THE_TIME
from swftools.simulator.machine.state import RUNNING
from swftools.simulator.machine.views import expected_time
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.away.exchange import OF_JOBS, in_place_of
from swftools.simulator.nodes.away.presence import is_sought, next_return, seek
from swftools.simulator.nodes.away.state import AwayMachine
from swftools.simulator.nodes.classes import forget_then
from swftools.simulator.nodes.holding import copy_now_to_then, given_back
from swftools.simulator.nodes.placements.first_fit import choose_first
from swftools.simulator.nodes.searching import find_both, find_now
from swftools.simulator.nodes.several import NO_ROOM, is_in_set, list_reserved, reserve_next, room_of, write_down
from swftools.simulator.nodes.shadow import reserve, set_that_fits
from swftools.simulator.nodes.state import HEAD, MARK, PLANNED, SPARING
from swftools.simulator.nodes.usable import PLANNED_THEN, SPARING_THEN, THEN, find_usable, has_shape
from swftools.simulator.nodes.words import bits_of, suffices, without


@in_place_of(find_now, OF_JOBS)
@kernel(allocates=False)
def find_now_there(machine: AwayMachine, job: int) -> tuple[int, int]:
    """Look for nodes that fit a job now, and are there until it is expected to end."""
    seek(machine, job, machine.clock[THE_TIME])
    return find_now(machine, job)


@in_place_of(find_both, OF_JOBS)
@kernel(allocates=False)
def find_both_there(machine: AwayMachine, job: int) -> tuple[int, int]:
    """Look for nodes that fit a job now and at the reserved time, and are there until it is expected to end."""
    seek(machine, job, machine.clock[THE_TIME])
    return find_both(machine, job)


@in_place_of(find_usable, OF_JOBS)
@kernel(allocates=False)
def find_usable_there(machine: AwayMachine, job: int, how: int, end: float) -> tuple[int, int]:
    """Look for nodes that a job may have now, and that are there until it is expected to end."""
    seek(machine, job, machine.clock[THE_TIME])
    return find_usable(machine, job, how, end)


@in_place_of(reserve, OF_JOBS)
@kernel(allocates=False)
def reserve_there(machine: AwayMachine, head: int) -> float:
    """Reserve nodes for a job that cannot start now; return from when, s."""
    nodes, counts = machine.nodes, machine.classes.counts
    need, wanted, size = machine.asked.need[head], machine.asked.nodes[head], len(machine.nodes.free)
    counts[MARK] += 1
    counts[HEAD] = NOBODY  # so that nobody keeps it up
    copy_now_to_then(machine)
    forget_then(machine)
    time, ended, group = machine.clock[THE_TIME], 0, NOBODY
    fit = count_free(machine, head)
    while True:
        ended, more = let_end_until(machine, head, time, ended)
        fit += more
        if fit >= wanted:
            seek(machine, head, time)
            group = set_that_fits(machine, head)
        if group != NOBODY:
            break
        time = next_moment(machine, time, ended)
        if time == np.inf:
            return time
    how = SPARING_THEN if counts[SPARING] > 0 else THEN
    choose_first(machine, group, need, wanted, how, 0.0, nodes.chosen, size)
    for i in range(size, size + wanted):
        node = nodes.chosen[i]
        nodes.then[node] = without(nodes.then[node], need)
        nodes.then_users[node] += 1
        nodes.reserved[node] = counts[MARK]
    return time


@kernel(allocates=False)
def count_free(machine: AwayMachine, head: int) -> int:
    """Return how many nodes of all sets of a job have room for it now, whether they are there or not."""
    free, places, need, count = machine.nodes.free, machine.places, machine.asked.need[head], 0
    head0, head1 = bits_of(machine.asked.place[head])
    for node in range(len(free)):
        inside = ((places.inside0[node] & head0) | (places.inside1[node] & head1)) != 0
        count += inside and suffices(free[node], need)
    return count


@kernel(allocates=False)
def let_end_until(machine: AwayMachine, head: int, time: float, ended: int) -> tuple[int, int]:
    """Count the nodes of running jobs that are expected to end by a time as free in what is expected.

    Takes for how many jobs that was done. Returns for how many it is done by now, and how many more nodes have room for
    another job.
    """
    nodes, places, need, more = machine.nodes, machine.places, machine.asked.need[head], 0
    head0, head1 = bits_of(machine.asked.place[head])
    while ended < machine.counts[RUNNING] and machine.expected_end[machine.running[ended]] <= time:
        job = machine.running[ended]
        first = machine.asked.first[job]
        for at in range(first, first + machine.asked.nodes[job]):
            node = nodes.held[at]
            old = nodes.then[node]
            nodes.then_users[node] -= 1
            nodes.then[node] = given_back(old, nodes.capacity[node], machine.asked.need[job], nodes.then_users[node])
            inside = ((places.inside0[node] & head0) | (places.inside1[node] & head1)) != 0
            more += inside and suffices(nodes.then[node], need) and not suffices(old, need)
        ended += 1
    return ended, more


@kernel(allocates=False)
def next_moment(machine: AwayMachine, time: float, ended: int) -> float:
    """Return when the next job is expected to end, or a node to be back; infinity where neither is."""
    after = next_return(machine, time)
    if ended < machine.counts[RUNNING]:
        after = min(after, machine.expected_end[machine.running[ended]])
    return after


@in_place_of(reserve_next, OF_JOBS)
@kernel(allocates=False)
def reserve_next_there(machine: AwayMachine, head: int) -> None:
    """Reserve nodes for a job beside those that have reservations already."""
    plan, planned, length = machine.plan, machine.classes.counts[PLANNED], expected_time(machine, head)
    fit, wanted = count_free(machine, head), machine.asked.nodes[head]
    copy_now_to_then(machine)
    reserved = list_reserved(machine, head)
    time, ended, group = machine.clock[THE_TIME], 0, NOBODY
    while True:
        ended, more = let_end_until(machine, head, time, ended)
        fit += more
        end = instant(time + length)
        if fit >= wanted:
            seek(machine, head, time)
            group = set_with_room_there(machine, head, reserved, time, end)
        if group != NOBODY:
            write_down(machine, head, group, time, end)
            return
        after = next_moment(machine, time, ended)
        for other in range(planned):
            if plan.end[other] > time:
                after = min(after, plan.end[other])
        if after == np.inf:
            break
        time = after
    plan.begin[planned] = plan.end[planned] = np.inf
    plan.entries[planned] = plan.entries[planned - 1] if planned > 0 else 0
    machine.classes.counts[PLANNED] = planned + 1


@kernel(allocates=False)
def set_with_room_there(machine: AwayMachine, head: int, reserved: int, begin: float, end: float) -> int:
    """Return the first set with enough nodes that are there, and available from one time to another, or NOBODY.

    What is free of each of these at ``begin`` beside all reservations is left in ``was``; of others ``NO_ROOM``.
    """
    places, nodes, then, was = machine.places, machine.nodes, machine.nodes.then, machine.nodes.was
    need, wanted, place = machine.asked.need[head], machine.asked.nodes[head], machine.asked.place[head]
    for group in range(places.sets[place], places.sets[place + 1]):
        count = 0
        for piece in range(places.ranges[group], places.ranges[group + 1]):
            for node in range(places.low[piece], places.high[piece]):
                fits = suffices(then[node], need) and is_sought(machine, node)
                was[node] = then[node] if fits else NO_ROOM
                count += fits
        for i in range(reserved):
            node = nodes.chosen[i]
            if was[node] != NO_ROOM and is_in_set(machine, node, group):
                was[node] = room_of(machine, node, need, begin, end)
                count -= was[node] == NO_ROOM
        if count >= wanted and has_shape(machine, group, need, wanted, PLANNED_THEN, end):
            return group
    return NOBODY

# SPDX-License-Identifier: BSD-3-Clause
"""Reservations of several first waiting jobs, one a partition, planned anew at each decision on nodes over time."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.instants import instant
from swftools.simulator.machine.faults import NO_NODES, fail
from swftools.simulator.machine.state import NOW, RUNNING
from swftools.simulator.machine.views import expected_time
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.classes import forget_then
from swftools.simulator.nodes.holding import copy_now_to_then, given_back
from swftools.simulator.nodes.placements.first_fit import choose_first
from swftools.simulator.nodes.state import FOUND, IS_FRESH, PLAN, PLANNED, SPARING, NodeMachine
from swftools.simulator.nodes.usable import PLANNED_THEN, SPARING_PLANNED, has_shape
from swftools.simulator.nodes.words import GUARD, at_most_without, bits_of, suffices, without

NO_ROOM = -1
"""Of a node in ``was``: it is not available throughout."""


@kernel(allocates=False)
def begin_plan(machine: NodeMachine) -> None:
    """Let nobody be found yet that is to have a reservation; those of the decision before stand where they still hold.

    They do if nobody has started or ended since, and their time has not passed.
    """
    counts, plan = machine.classes.counts, machine.plan
    counts[FOUND] = 0
    is_fresh = counts[IS_FRESH] > 0
    for number in range(counts[PLANNED]):
        is_fresh &= plan.begin[number] >= machine.clock[NOW]
    if not is_fresh:
        plan_anew(machine)


@kernel(allocates=False)
def plan_anew(machine: NodeMachine) -> None:
    """Let nothing be reserved."""
    machine.classes.counts[PLANNED] = 0
    machine.classes.counts[PLAN] += 1
    machine.classes.counts[IS_FRESH] = 1
    forget_then(machine)


@kernel(allocates=False)
def is_head_still(machine: NodeMachine, job: int) -> bool:
    """Whether a job has its reservation from the decision before, and so cannot start now either.

    If another one had it, at this turn, those from here on are made anew.
    """
    counts = machine.classes.counts
    if counts[FOUND] >= counts[PLANNED]:
        return False
    if machine.plan.job[counts[FOUND]] == job:
        return True
    plan_anew(machine)
    return False


@kernel(allocates=False)
def add_head(machine: NodeMachine, head: int) -> None:
    """Let a job that cannot start now have a reservation, which is made when somebody asks for it."""
    counts = machine.classes.counts
    machine.plan.job[counts[FOUND]] = head
    counts[FOUND] += 1


@kernel(allocates=False)
def make_reservations(machine: NodeMachine) -> None:
    """Make the reservations of all that were found, and lack them yet."""
    counts = machine.classes.counts
    while counts[PLANNED] < counts[FOUND]:
        reserve_next(machine, machine.plan.job[counts[PLANNED]])


@kernel(allocates=False)
def reserve_next(machine: NodeMachine, head: int) -> None:
    """Reserve nodes for a job at the earliest time that running jobs and reservations leave."""
    counts, plan, wanted = machine.classes.counts, machine.plan, machine.asked.nodes[head]
    now, time, i = machine.clock[NOW], machine.clock[NOW], 0
    length = expected_time(machine, head)
    copy_now_to_then(machine)
    reserved = list_reserved(machine, head)
    # Nodes without a reservation are counted as they come free; of the few others a bound is kept, since they come
    # free only by ends of jobs and of reservations.
    fit, most = _count_unreserved(machine, head), reserved
    while True:
        while i < machine.counts[RUNNING] and machine.expected_end[machine.running[i]] <= time:
            more, listed = _let_end(machine, machine.running[i], head)
            fit, most, i = fit + more, min(most + listed, reserved), i + 1
        end = instant(time + length)
        if fit + most >= wanted:
            most = _count_listed(machine, head, reserved, time, end)
        if fit + most >= wanted:
            group = _set_with_room(machine, head, reserved, time, end)
            if group != NOBODY:
                break
        after = np.inf
        if i < machine.counts[RUNNING]:
            after = max(machine.expected_end[machine.running[i]], now)
        for other in range(counts[PLANNED]):
            if plan.end[other] > time and plan.end[other] <= after:
                after, most = plan.end[other], reserved
        if after == np.inf:
            fail(machine, NO_NODES, head)  # it does not fit the idle machine, which its workload promised
        time = after
    write_down(machine, head, group, time, instant(time + length))


@kernel(allocates=False)
def list_reserved(machine: NodeMachine, head: int) -> int:
    """List in ``chosen`` the nodes of all sets of a job that have a reservation; return how many they are."""
    places, plan, counts, place = machine.places, machine.plan, machine.classes.counts, machine.asked.place[head]
    head0, head1 = bits_of(place)
    listed = 0
    for entry in range(plan.entries[counts[PLANNED] - 1] if counts[PLANNED] > 0 else 0):
        node = plan.node[entry]
        inside = ((places.inside0[node] & head0) | (places.inside1[node] & head1)) != 0
        if inside and plan.newest[node] == entry:
            machine.nodes.chosen[listed] = node
            listed += 1
    return listed


@kernel(allocates=False)
def _count_listed(machine: NodeMachine, head: int, listed: int, begin: float, end: float) -> int:
    """Return how many of those that are listed are available from one time to another."""
    need, count = machine.asked.need[head], 0
    for i in range(listed):
        count += room_of(machine, machine.nodes.chosen[i], need, begin, end) != NO_ROOM
    return count


@kernel(allocates=False)
def _count_unreserved(machine: NodeMachine, head: int) -> int:
    """Return how many nodes of all sets of a job fit it now, and have no reservation."""
    places, free, need, place = machine.places, machine.nodes.free, machine.asked.need[head], machine.asked.place[head]
    head0, head1 = bits_of(place)
    inside0, inside1, stamp, number = places.inside0, places.inside1, machine.plan.stamp, machine.classes.counts[PLAN]
    count = 0
    for node in range(np.uint64(0), np.uint64(len(free))):
        inside = ((inside0[node] & head0) | (inside1[node] & head1)) != 0
        count += (inside and stamp[node] != number) and ((free[node] | GUARD) - need) & GUARD == GUARD
    return count


@kernel(allocates=False)
def _let_end(machine: NodeMachine, job: int, head: int) -> tuple[int, int]:
    """Count the nodes of a running job as free in what is expected; return how many more fit another job.

    First of those without a reservation; then of the others.
    """
    nodes, places, first = machine.nodes, machine.places, machine.asked.first[job]
    need, place = machine.asked.need[head], machine.asked.place[head]
    more = listed = 0
    head0, head1 = bits_of(place)
    for at in range(first, first + machine.asked.nodes[job]):
        node = nodes.held[at]
        old = nodes.then[node]
        nodes.then_users[node] -= 1
        nodes.then[node] = given_back(old, nodes.capacity[node], machine.asked.need[job], nodes.then_users[node])
        inside = ((places.inside0[node] & head0) | (places.inside1[node] & head1)) != 0
        if inside and suffices(nodes.then[node], need):
            if machine.plan.stamp[node] == machine.classes.counts[PLAN]:
                listed += 1  # even where it fitted before: more may be left beside reservations now
            elif not suffices(old, need):
                more += 1
    return more, listed


@kernel(allocates=False)
def _set_with_room(machine: NodeMachine, head: int, reserved: int, begin: float, end: float) -> int:
    """Return the first set with enough nodes that are available from one time to another, or NOBODY.

    What is free of each of these at ``begin`` beside all reservations is left in ``was``; of others ``NO_ROOM``. So
    many nodes with reservations are listed in ``chosen``.
    """
    places, nodes, then, was = machine.places, machine.nodes, machine.nodes.then, machine.nodes.was
    need, wanted, place = machine.asked.need[head], machine.asked.nodes[head], machine.asked.place[head]
    for group in range(places.sets[place], places.sets[place + 1]):
        count = 0
        for piece in range(places.ranges[group], places.ranges[group + 1]):
            for node in range(np.uint64(places.low[piece]), np.uint64(places.high[piece])):
                fits = ((then[node] | GUARD) - need) & GUARD == GUARD
                was[node] = then[node] if fits else NO_ROOM
                count += fits
        for i in range(reserved):  # the few for which that is not all
            node = nodes.chosen[i]
            if was[node] != NO_ROOM and is_in_set(machine, node, group):
                was[node] = room_of(machine, node, need, begin, end)
                count -= was[node] == NO_ROOM
        if count >= wanted and has_shape(machine, group, need, wanted, PLANNED_THEN, end):
            return group
    return NOBODY


@kernel(allocates=False)
def is_in_set(machine: NodeMachine, node: int, group: int) -> bool:
    """Whether a set has a node."""
    places = machine.places
    for piece in range(places.ranges[group], places.ranges[group + 1]):
        if places.low[piece] <= node < places.high[piece]:
            return True
    return False


@kernel(allocates=False)
def room_of(machine: NodeMachine, node: int, need: int, begin: float, end: float) -> int:
    """Return what is free of a node at a time beside all reservations, if a job that needs so much can stay."""
    plan, free = machine.plan, machine.nodes.then[node]
    if not suffices(free, need):
        return NO_ROOM
    if plan.stamp[node] != machine.classes.counts[PLAN]:
        return free
    entry = plan.newest[node]
    while entry != NOBODY:
        other = plan.of[entry]
        if plan.begin[other] <= begin < plan.end[other]:
            free = at_most_without(free, machine.asked.need[plan.job[other]])
        elif begin < plan.begin[other] and plan.begin[other] < end and not suffices(plan.left[entry], need):
            return NO_ROOM
        entry = plan.next[entry]
    return free if suffices(free, need) else NO_ROOM


@kernel(allocates=False)
def write_down(machine: NodeMachine, head: int, group: int, begin: float, end: float) -> None:
    """Reserve nodes of a set for a job from one time to another; what is free of them is in ``was``."""
    counts, nodes, plan = machine.classes.counts, machine.nodes, machine.plan
    need, wanted, size = machine.asked.need[head], machine.asked.nodes[head], len(nodes.free)
    how = SPARING_PLANNED if counts[SPARING] > 0 else PLANNED_THEN
    choose_first(machine, group, need, wanted, how, 0.0, nodes.chosen, size)
    number = counts[PLANNED]
    entry = 0 if number == 0 else plan.entries[number - 1]
    plan.begin[number], plan.end[number] = begin, end
    for at in range(size, size + wanted):
        node = nodes.chosen[at]
        newest = plan.newest[node] if plan.stamp[node] == counts[PLAN] else NOBODY
        plan.left[entry] = without(nodes.was[node], need)
        other = newest
        while other != NOBODY:  # those that begin meanwhile, and at once: also where one of both is of no length
            starts = plan.begin[plan.of[other]]
            if starts == begin or (begin < starts < end):
                plan.left[other] = at_most_without(plan.left[other], need)
            other = plan.next[other]
        plan.node[entry], plan.of[entry], plan.next[entry] = node, number, newest
        plan.newest[node], plan.stamp[node] = entry, counts[PLAN]
        entry += 1
    plan.entries[number] = entry
    counts[PLANNED] = number + 1


@kernel(allocates=False)
def hold_in_plan(machine: NodeMachine, job: int) -> None:
    """Leave less to the reservations that begin while a job is there that has just started."""
    plan, need, first = machine.plan, machine.asked.need[job], machine.asked.first[job]
    for at in range(first, first + machine.asked.nodes[job]):
        node = machine.nodes.held[at]
        if plan.stamp[node] != machine.classes.counts[PLAN]:
            continue
        entry = plan.newest[node]
        while entry != NOBODY:
            if plan.begin[plan.of[entry]] < machine.expected_end[job]:
                plan.left[entry] = at_most_without(plan.left[entry], need)
            entry = plan.next[entry]

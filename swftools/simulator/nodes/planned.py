# SPDX-License-Identifier: BSD-3-Clause
"""Plans on nodes: when each waiting job is to begin and on which nodes, beside who runs and all other reservations.

The place of a job is the earliest time from which on enough nodes of one of its sets have room until it would end; of
several sets the first that has them then. All that ends at a time is free from then on. Which of these nodes it gets,
the placement says. One that is to begin now gets nodes that are free: some may be held by who should have ended. One
that is to begin later gets, if the placement is sparing, first nodes that do not fit it now.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import BoolArray, FloatArray, IntArray, kernel
from swftools.simulator.instants import instant
from swftools.simulator.machine.faults import NO_NODES, NOT_WAITING, fail
from swftools.simulator.machine.state import NOW, RUNNING, WAITING
from swftools.simulator.machine.verbs import occupy
from swftools.simulator.machine.views import expected_time
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting, put
from swftools.simulator.memory_room import NodeRoom
from swftools.simulator.nodes.classes import quit_class
from swftools.simulator.nodes.holding import take_nodes
from swftools.simulator.nodes.idle_gaps import MOST_GAPS, first_idle
from swftools.simulator.nodes.least_times import keep_least
from swftools.simulator.nodes.placements.first_fit import choose_first
from swftools.simulator.nodes.rooms import RoomsFound, empty_rooms, row_for
from swftools.simulator.nodes.state import SPARING, NodeMachine
from swftools.simulator.nodes.timelines import (
    NO_STEP,
    PARTS,
    Timelines,
    clear,
    empty_timelines,
    first_room,
    forget_past,
    free_at,
    hold,
    let_go,
    list_with_gaps,
    may_have_room,
    measure_changed,
)
from swftools.simulator.nodes.usable import PLANNED_THEN, SPARING_PLANNED
from swftools.simulator.nodes.words import WHOLE, suffices
from swftools.simulator.planning import planned_length

SOON = 1.0
"""Whether there is room at a time is looked for until a bit later, s."""

ANY_NODE = -1
"""Stands for a number of hints where nothing is known of which nodes have more room than before."""


class NodesPlan(NamedTuple):
    """The timelines of the nodes, and of each job when it begins and ends in them (s), if it has a place.

    Of jobs that run, ``end`` is when the plan has them end; they have no place any more. Their nodes, and those of
    reservations, are in ``NodeState.held``. ``rooms`` keeps what searches found. By node, ``when`` has the time from
    which on there is room, as the last search found it, ``gap_end`` until when, and ``gap_step`` the step that begins
    then; ``node`` lists nodes that have any, and ``least`` is room for some of these times. ``own`` tells in which
    search a node was the job's own, and at its end the number of the last search. ``hint`` lists nodes of which one
    must have room wherever a job has a place, and ``hinted`` tells by node in which search it was listed. ``lack`` is
    how many nodes more must have room, at least, before the last search that found no place could find one. ``at_once``
    is room for numbers of nodes by part of time.
    """

    lines: Timelines
    rooms: RoomsFound
    begin: FloatArray
    end: FloatArray
    is_placed: BoolArray
    when: FloatArray
    gap_end: FloatArray
    gap_step: IntArray
    node: IntArray
    least: FloatArray
    own: IntArray
    hint: IntArray
    hinted: IntArray
    lack: IntArray
    at_once: IntArray


def empty_nodes_plan(jobs: int, nodes: NodeRoom) -> NodesPlan:
    """Return a plan in which none of so many jobs has a place; first of all, hold what runs."""
    lines, count = empty_timelines(nodes.nodes, nodes.parts), nodes.nodes
    begin, end, is_placed = (
        np.broadcast_to(0.0, jobs),
        np.broadcast_to(0.0, jobs),
        np.broadcast_to(np.bool_(False), jobs),
    )
    when, gap_end, least = np.zeros(count), np.zeros(count), np.zeros(count)
    gap_step, node = np.zeros(count, np.int64), np.zeros(count, np.int64)
    own, hint, hinted = np.zeros(count + 1, np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    return NodesPlan(
        lines,
        empty_rooms(count),
        begin,
        end,
        is_placed,
        when,
        gap_end,
        gap_step,
        node,
        least,
        own,
        hint,
        hinted,
        np.zeros(1, np.int64),
        np.zeros(PARTS + 1, np.int64),
    )


@kernel(allocates=False)
def end_in_plan(machine: NodeMachine, job: int) -> float:
    """Return until when a running job has its nodes in a plan: to its expected end, for 1 s if it has none."""
    end, begin = machine.expected_end[job], machine.start_time[job]
    return end if end > begin else begin + planned_length(0.0)


@kernel(allocates=False)
def hold_running_on_nodes(machine: NodeMachine, plan: NodesPlan) -> None:
    """Make timelines of what the running jobs leave free; who should have ended already holds nothing."""
    now = machine.clock[NOW]
    clear(plan.lines, machine.nodes.capacity, now)
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        plan.end[job], plan.is_placed[job] = end_in_plan(machine, job), False
        hold_nodes(machine, plan, job, now, plan.end[job])


@kernel(allocates=False)
def hold_nodes(machine: NodeMachine, plan: NodesPlan, job: int, begin: float, end: float) -> None:
    """Let a job have its nodes from one time to another."""
    need, first = machine.asked.need[job], machine.asked.first[job]
    for at in range(first, first + machine.asked.nodes[job]):
        node = machine.nodes.held[at]
        forget_past(plan.lines, node, machine.clock[NOW])
        hold(plan.lines, node, begin, end, need)


@kernel(allocates=False)
def let_nodes_go(machine: NodeMachine, plan: NodesPlan, job: int, begin: float, end: float) -> None:
    """Let a job have its nodes no more from one time to another."""
    need, first = machine.asked.need[job], machine.asked.first[job]
    for at in range(first, first + machine.asked.nodes[job]):
        node = machine.nodes.held[at]
        forget_past(plan.lines, node, machine.clock[NOW])
        let_go(plan.lines, node, begin, end, need, machine.nodes.capacity[node])


@kernel(allocates=False)
def place_on_nodes(machine: NodeMachine, plan: NodesPlan, job: int) -> None:
    """Reserve nodes for a waiting job from the earliest moment there is."""
    begin, group = earliest_on_nodes(machine, plan, job, machine.clock[NOW], np.inf, ANY_NODE)
    if group == NOBODY:
        fail(machine, NO_NODES, job)  # it does not fit the idle machine, which its workload promised
    reserve_nodes(machine, plan, job, begin, group)


@kernel(allocates=False)
def earliest_on_nodes(
    machine: NodeMachine, plan: NodesPlan, job: int, since: float, until: float, hints: int
) -> tuple[float, int]:
    """Return the earliest time before ``until`` at which enough nodes of a set have room, and that set, or NOBODY.

    There is none before ``since``. If ``until`` is the beginning of its reservation, the job has its own nodes from
    then on. So many ``hints`` are listed, or ``ANY_NODE``.
    """
    sets, place = machine.places.sets, machine.asked.place[job]
    begin_search(plan)
    if until < np.inf:
        mark_own(machine, plan, job)
    best, found, many = until, NOBODY, sets[place + 1] - sets[place]
    plan.lack[0] = machine.asked.nodes[job]
    for turn in range(many + (many > 1)):
        if turn < many:
            begin = _earliest_in(machine, plan, job, sets[place] + turn, since, best, hints)
            if begin < best:
                best, found = begin, sets[place] + turn
        elif found != NOBODY:  # what is noted by node is to be of this set
            _earliest_in(machine, plan, job, found, since, until, hints)
    return best, found


@kernel(allocates=False)
def begin_search(plan: NodesPlan) -> None:
    """Let a search begin, for a job that has no nodes of its own."""
    plan.own[-1] += 1
    measure_changed(plan.lines)


@kernel(allocates=False)
def mark_own(machine: NodeMachine, plan: NodesPlan, job: int) -> None:
    """Note which nodes a job has reserved itself: a search counts what it has there as free for it."""
    first = machine.asked.first[job]
    for at in range(first, first + machine.asked.nodes[job]):
        plan.own[machine.nodes.held[at]] = plan.own[-1]


@kernel(allocates=False)
def _earliest_in(
    machine: NodeMachine, plan: NodesPlan, job: int, group: int, since: float, until: float, hints: int
) -> float:
    """Return the earliest time before ``until`` at which enough nodes of a set have room; infinity if there is none.

    Of the nodes that have room then, that time is noted, and that it is theirs.
    """
    wanted, length, when = machine.asked.nodes[job], planned_length(expected_time(machine, job)), plan.when
    many = _find_rooms(machine, plan, job, group, length, until)
    plan.lack[0] = min(plan.lack[0], max(1, wanted - many))
    while many >= wanted:
        since = _soonest_hint(machine, plan, job, length, since, until, hints)
        if since == np.inf:
            return np.inf
        # No node has room from ``since`` on before the time that is noted. Of these times as many as are wanted, the
        # least ones, are kept in a heap: before the latest of them too few nodes have room.
        exact, got, left, many, end = 0, 0, many, 0, instant(since + length)
        for i in range(left):
            node = plan.node[i]
            if when[node] < since:
                if end <= plan.gap_end[node]:
                    when[node] = since
                else:
                    found, gone, step = room_of(machine, plan, job, node, length, since, until, plan.gap_step[node])
                    when[node], plan.gap_end[node], plan.gap_step[node] = found, gone, step
            exact += when[node] == since
            if when[node] < np.inf:
                plan.node[many] = node
                many += 1
                if got < wanted or when[node] < plan.least[0]:
                    got = keep_least(plan.least, when[node], got, wanted)
            elif many + left - i <= wanted:
                return np.inf
        if exact >= wanted:
            return since
        since = plan.least[0]
    return np.inf


@kernel(allocates=False)
def _find_rooms(machine: NodeMachine, plan: NodesPlan, job: int, group: int, length: float, until: float) -> int:
    """Note of each node of a set when it has room before ``until``; list those that have any, and return how many."""
    when, gap_end, many = plan.when, plan.gap_end, 0
    row = row_of_job(machine, plan, job, length)
    for i in range(list_candidates(machine, plan, job, group, length, until)):
        node = plan.node[i]
        found, gap_end[node], plan.gap_step[node] = room_from_now(machine, plan, job, node, row, length, until)
        when[node] = found
        if found < np.inf:
            plan.node[many] = node
            many += 1
    return many


@kernel(allocates=False)
def list_candidates(machine: NodeMachine, plan: NodesPlan, job: int, group: int, length: float, until: float) -> int:
    """List the nodes of a set on which a job may have room before ``until``, and return how many; none is noted yet."""
    places, need, count = machine.places, machine.asked.need[job], 0
    for piece in range(places.ranges[group], places.ranges[group + 1]):
        low, high = places.low[piece], places.high[piece]
        plan.when[low:high] = np.inf
        count = list_with_gaps(plan.lines, low, high, need, length, until, plan.own, plan.node, count)
    return count


@kernel(allocates=False)
def row_of_job(machine: NodeMachine, plan: NodesPlan, job: int, length: float) -> int:
    """Return where what is kept of searches for a job of some length stands in ``rooms``."""
    return row_for(plan.rooms, machine.asked.need[job], length, 0)


@kernel(allocates=False)
def room_from_now(
    machine: NodeMachine, plan: NodesPlan, job: int, node: int, row: int, length: float, until: float
) -> tuple[float, float, int]:
    """Return as ``room_of`` from now on, of any node; what is known of it in a row of ``rooms`` is used, and kept."""
    rooms, at, now, changes = plan.rooms, row + node, machine.clock[NOW], plan.lines.changes[node]
    if not suffices(machine.nodes.capacity[node], machine.asked.need[job]):
        return np.inf, np.inf, NO_STEP
    if plan.own[node] == plan.own[-1] or machine.asked.need[job] & WHOLE:
        return room_of(machine, plan, job, node, length, now, until, NO_STEP)
    since = now
    if rooms.stamp[at] >> 1 == changes:
        if rooms.when[at] >= until:
            return np.inf, np.inf, NO_STEP
        is_room = rooms.stamp[at] & 1 == 1
        if is_room and (rooms.when[at] >= now or instant(now + length) <= rooms.gap_end[at]):
            return max(rooms.when[at], now), rooms.gap_end[at], rooms.gap_step[at]
        if not is_room:  # it was looked for until an earlier time
            since = max(now, rooms.when[at])
    found, gone, step = room_of(machine, plan, job, node, length, since, until, NO_STEP)
    rooms.when[at], rooms.gap_end[at], rooms.gap_step[at] = min(found, until), gone, step
    rooms.stamp[at] = 2 * changes + (found < np.inf)
    return found, gone, step


@kernel(allocates=False)
def _soonest_hint(
    machine: NodeMachine, plan: NodesPlan, job: int, length: float, since: float, until: float, hints: int
) -> float:
    """Return the first time before ``until`` at which a hinted node has room, or infinity; without hints ``since``."""
    if hints == ANY_NODE:
        return since
    soonest, row = np.inf, row_of_job(machine, plan, job, length)
    for i in range(hints):
        node, bound = plan.hint[i], min(soonest, until)
        found, gone, step = room_from_now(machine, plan, job, node, row, length, until)
        if found < since and instant(since + length) <= gone:
            return since
        if found < since:
            found = room_of(machine, plan, job, node, length, since, bound, step)[0]
        soonest = min(soonest, found)
    return soonest


@kernel(allocates=False)
def room_of(
    machine: NodeMachine, plan: NodesPlan, job: int, node: int, length: float, since: float, until: float, start: int
) -> tuple[float, float, int]:
    """Return the first time before ``until`` from which on a node, which is large enough, has room; or infinity.

    Also returns until when it has, and the step then, as ``first_room`` does.
    """
    need = machine.asked.need[job]
    is_own = plan.own[node] == plan.own[-1]
    own_begin, own_end = (plan.begin[job], plan.end[job]) if is_own else (np.inf, np.inf)
    if need & WHOLE and plan.lines.idle.many[node] <= MOST_GAPS:
        return first_idle(plan.lines.idle, node, length, since, until, own_begin, own_end, start)
    return first_room(plan.lines, node, need, length, since, until, own_begin, own_end, start)


@kernel(allocates=False)
def reserve_nodes(machine: NodeMachine, plan: NodesPlan, job: int, begin: float, group: int) -> None:
    """Reserve nodes of a set for a job that has no place, from a time on at which there are enough."""
    low, high, ranges = machine.places.low, machine.places.high, machine.places.ranges
    nodes, need, wanted = machine.nodes, machine.asked.need[job], machine.asked.nodes[job]
    end, is_now, free_now = instant(begin + planned_length(expected_time(machine, job))), begin <= machine.clock[NOW], 0
    for piece in range(ranges[group], ranges[group + 1]):
        for node in range(low[piece], high[piece]):
            has_room = plan.when[node] == begin
            nodes.was[node] = free_at(plan.lines, node, begin) if has_room else NOBODY
            free_now += has_room and suffices(nodes.free[node], need)
    if is_now and free_now >= wanted:
        for piece in range(ranges[group], ranges[group + 1]):
            for node in range(low[piece], high[piece]):
                if not suffices(nodes.free[node], need):
                    nodes.was[node] = NOBODY
    how = SPARING_PLANNED if machine.classes.counts[SPARING] > 0 and not is_now else PLANNED_THEN
    choose_first(machine, group, need, wanted, how, 0.0, nodes.held, machine.asked.first[job])
    nodes.group[job] = group
    plan.begin[job], plan.end[job], plan.is_placed[job] = begin, end, True
    hold_nodes(machine, plan, job, begin, end)


@kernel(allocates=False)
def has_room_now_on_nodes(machine: NodeMachine, plan: NodesPlan, job: int) -> bool:
    """Whether enough nodes of a set have room for a waiting job from now on, beside all that is planned."""
    places, place, now = machine.places, machine.asked.place[job], machine.clock[NOW]
    wanted, length = machine.asked.nodes[job], planned_length(expected_time(machine, job))
    need = machine.asked.need[job]
    begin_search(plan)
    for group in range(places.sets[place], places.sets[place + 1]):
        got = 0
        for piece in range(places.ranges[group], places.ranges[group + 1]):
            for node in range(places.low[piece], places.high[piece]):
                may = may_have_room(plan.lines, node, need, length, now + SOON)
                if may and suffices(machine.nodes.capacity[node], need):
                    got += room_of(machine, plan, job, node, length, now, now + SOON, NO_STEP)[0] == now
                if got == wanted:
                    return True
    return False


@kernel(allocates=False)
def fits_as_planned(machine: NodeMachine, job: int) -> bool:
    """Whether a waiting job fits on the nodes that it has reserved: nobody is still there."""
    nodes, need, first = machine.nodes, machine.asked.need[job], machine.asked.first[job]
    fit = 0
    for at in range(first, first + machine.asked.nodes[job]):
        fit += suffices(nodes.free[nodes.held[at]], need)
    return fit == machine.asked.nodes[job]


@kernel(allocates=False)
def start_as_planned(machine: NodeMachine, job: int) -> None:
    """Start a waiting job, which fits there, on the nodes that it has reserved."""
    if not is_waiting(machine.queue, job):
        fail(machine, NOT_WAITING, job)
    put(machine.queue, machine.queue.place[job], np.inf, np.inf)
    machine.counts[WAITING] -= 1
    quit_class(machine, job)
    occupy(machine, job, take_nodes(machine, job), 1.0)

# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that jobs take, and give back: what that changes of what is known of the waiting jobs."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.running_jobs import forget_end
from swftools.simulator.machine.state import FREE
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.classes import raise_now, raise_then
from swftools.simulator.nodes.state import CHANGED, EARLIER, HEAD, IS_FRESH, LAST, MARK, NUMBER, SPARING, NodeMachine
from swftools.simulator.nodes.words import WHOLE, bits_of, cores_in, suffices, without


@kernel(allocates=False)
def take_nodes(machine: NodeMachine, job: int) -> int:
    """Let a job have the nodes that were found for it; return how many cores it has in all."""
    nodes, need, first = machine.nodes, machine.asked.need[job], machine.asked.first[job]
    cores = 0
    for i in range(first, first + machine.asked.nodes[job]):
        node = nodes.held[i]
        left = without(nodes.free[node], need)
        cores += cores_in(nodes.free[node]) - cores_in(left)
        nodes.free[node] = left
        nodes.users[node] += 1
    return cores


@kernel(allocates=False)
def given_back(free: int, capacity: int, need: int, users: int) -> int:
    """Return what is free of a node when a job has left it, and ``users`` others run there."""
    if need & WHOLE:
        return capacity
    return free + need + (WHOLE if users == 0 else 0)


@kernel(allocates=False)
def release_nodes(machine: NodeMachine, job: int) -> None:
    """Free the nodes of a running job; bounds rise, and the reservation may have to be made anew."""
    nodes, places, counts = machine.nodes, machine.places, machine.classes.counts
    forget_end(machine, job)
    counts[IS_FRESH] = 0
    machine.counts[FREE] += machine.allocated[job]
    machine.allocated[job] = 0
    need, first = machine.asked.need[job], machine.asked.first[job]
    head = counts[HEAD]
    is_beyond = head != NOBODY and machine.expected_end[job] > machine.classes.time_reserved[0]
    head_need = head_nodes = head0 = head1 = 0
    if head != NOBODY:
        head_need, head_nodes, at = machine.asked.need[head], machine.asked.nodes[head], machine.asked.place[head]
        head0, head1 = bits_of(at)
    alike = 0  # nodes, one after the other, that changed in the same way
    old_free = new_free = old_then = new_then = inside0 = inside1 = 0
    for i in range(first, first + machine.asked.nodes[job]):
        node = nodes.held[i]
        old = nodes.free[node]
        nodes.users[node] -= 1
        nodes.free[node] = given_back(old, nodes.capacity[node], need, nodes.users[node])
        told = nodes.then[node]
        if counts[HEAD] != NOBODY:
            if is_beyond:
                nodes.then_users[node] -= 1
                nodes.then[node] = given_back(told, nodes.capacity[node], need, nodes.then_users[node])
            inside = ((places.inside0[node] & head0) | (places.inside1[node] & head1)) != 0
            if inside and (is_beyond or suffices(old, head_need) != suffices(nodes.free[node], head_need)):
                counts[CHANGED] = 1
            if inside and nodes.before[node] != counts[NUMBER]:
                is_reserved = nodes.reserved[node] == counts[MARK]
                if is_reserved or suffices(nodes.then[node], head_need):
                    nodes.before[node] = counts[NUMBER]
                    counts[EARLIER] += 1
                    if counts[EARLIER] >= head_nodes or (
                        counts[SPARING] == 0 and node < counts[LAST] and not is_reserved
                    ):
                        counts[HEAD] = NOBODY
        tells = nodes.then[node]
        same = old == old_free and nodes.free[node] == new_free and told == old_then and tells == new_then
        if alike > 0 and same and places.inside0[node] == inside0 and places.inside1[node] == inside1:
            alike += 1
            continue
        if alike > 0:
            raise_now(machine, old_free, new_free, inside0, inside1, alike)
            if counts[HEAD] != NOBODY:
                raise_then(machine, old_free, old_then, new_free, new_then, inside0, inside1, alike)
        alike, old_free, new_free, old_then, new_then = 1, old, nodes.free[node], told, tells
        inside0, inside1 = places.inside0[node], places.inside1[node]
    raise_now(machine, old_free, new_free, inside0, inside1, alike)
    if counts[HEAD] != NOBODY:
        raise_then(machine, old_free, old_then, new_free, new_then, inside0, inside1, alike)


@kernel(allocates=False)
def copy_now_to_then(machine: NodeMachine) -> None:
    """Let what is expected begin with what is free now."""
    free, users, then, then_users = (
        machine.nodes.free,
        machine.nodes.users,
        machine.nodes.then,
        machine.nodes.then_users,
    )
    for node in range(np.uint64(0), np.uint64(len(free))):
        then[node], then_users[node] = free[node], users[node]

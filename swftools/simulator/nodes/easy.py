# SPDX-License-Identifier: BSD-3-Clause
"""EASY on nodes: the first waiting job, or that of each partition, has a reservation that nobody delays.

First jobs start in the order of the queue, each that is the first of a partition in which nobody waits with a
reservation. Who cannot start gets one. Then the others start, in the order of backfilling, if they fit and delay no
reservation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.instants import instant, time_until
from swftools.simulator.job_orders import FCFS, Order, simple_order
from swftools.simulator.machine.event_queue import pop, push
from swftools.simulator.machine.state import NOW
from swftools.simulator.machine.views import expected_time, first_waiting
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.classes import any_may_start, note_found
from swftools.simulator.nodes.queue_order import (
    close,
    first_in_queue,
    first_of_class,
    first_open,
    key_on_nodes,
    list_again,
    open_all,
)
from swftools.simulator.nodes.searching import find_both, find_now
from swftools.simulator.nodes.several import add_head, begin_plan, hold_in_plan, is_head_still, make_reservations
from swftools.simulator.nodes.shadow import reserve
from swftools.simulator.nodes.state import (
    ACTIVE,
    CLOSED0,
    CLOSED1,
    FOUND,
    HEAD,
    HEAD_OF_PARTITION,
    HEADS,
    IS_FRESH,
    SPARING,
    NodeMachine,
)
from swftools.simulator.nodes.usable import BOTH, RESPECTING, SPARING_NOW, SPARING_RESPECTING, find_usable
from swftools.simulator.nodes.usable import NOW as AT_ONCE
from swftools.simulator.nodes.verbs import fits_on_nodes, next_waiting_on_nodes, place_and_begin, start_on_nodes
from swftools.simulator.nodes.words import bits_of, without


@kernel(allocates=False)
def start_heads_by_order(machine: NodeMachine, order: Order) -> int:
    """Start jobs in an order while they fit; return the first that does not, or NOBODY, and make reservations."""
    if machine.classes.counts[HEADS] == HEAD_OF_PARTITION:
        return _start_heads_of_partitions(machine, order)
    head = first_in_queue(machine, order)
    while fits_on_nodes(machine, head):
        start_on_nodes(machine, head)
        head = first_in_queue(machine, order)
    return head


@kernel(allocates=False)
def _start_heads_of_partitions(machine: NodeMachine, order: Order) -> int:
    """Do the same in each partition; the first of each that cannot start has a reservation then."""
    if not any_may_start(machine):
        return NOBODY
    begin_plan(machine)
    open_all(machine, order)
    job = first_open(machine)
    while job != NOBODY:
        if is_head_still(machine, job) or not _start_respecting(machine, job):
            add_head(machine, job)
            close(machine, job)
        else:
            list_again(machine, order, machine.asked.place[job])
        job = first_open(machine)
    return machine.plan.job[0] if machine.classes.counts[FOUND] > 0 else NOBODY


@kernel(allocates=False)
def start_several_heads(machine: NodeMachine, reservations: int) -> int:
    """Do the same in the order of the queue with so many reservations, of each partition or of the machine."""
    counts, places, plan = machine.classes.counts, machine.places, machine.plan
    if not any_may_start(machine):
        return NOBODY
    begin_plan(machine)
    counts[CLOSED0] = counts[CLOSED1] = 0
    for partition in range(len(plan.heads)):
        plan.heads[partition] = 0
    job, is_one = first_waiting(machine), counts[HEADS] != HEAD_OF_PARTITION
    while job != NOBODY and not (is_one and counts[FOUND] == reservations):
        behind, at = next_waiting_on_nodes(machine, job), machine.asked.place[job]
        is_open = (places.partitions0[at] & ~counts[CLOSED0]) | (places.partitions1[at] & ~counts[CLOSED1])
        if is_open != 0 and (is_head_still(machine, job) or not _start_respecting(machine, job)):
            add_head(machine, job)
            for group in range(places.sets[at], places.sets[at + 1]):
                partition = places.partition[group]
                plan.heads[partition] += 1
                if plan.heads[partition] == reservations and not is_one:
                    low, high = bits_of(partition)
                    counts[CLOSED0], counts[CLOSED1] = counts[CLOSED0] | low, counts[CLOSED1] | high
        job = behind
    return plan.job[0] if counts[FOUND] > 0 else NOBODY


def easy_by_plan_on_nodes(machine: NodeMachine, parameters: Any, memory: Any) -> None:  # noqa: ARG001 (a pool needs it)
    """Protect several from delay."""
    head = start_several_heads(machine, parameters.reservations)
    backfill_beside_plan(machine, simple_order(parameters.backfill_order), head)


@kernel(allocates=False)
def backfill_beside_plan(machine: NodeMachine, order: Order, head: int) -> None:
    """Start, in an order, jobs that do not delay those with a reservation, of which there are several."""
    if head == NOBODY or not any_may_start(machine):
        return
    _let_go_ahead(machine, order, False, 0.0)


@kernel(allocates=False)
def _start_respecting(machine: NodeMachine, job: int) -> bool:
    """Start a job unless it does not fit, or delays a reservation; return whether it was started."""
    classes, counts, wanted = machine.classes, machine.classes.counts, machine.asked.nodes[job]
    slot = classes.slot[classes.class_of[job]] - 1
    if classes.fit_now[slot] < wanted:
        return False
    got, group = find_now(machine, job)
    note_found(machine, job, got)
    if got < wanted:
        return False
    how, end = AT_ONCE, instant(machine.clock[NOW] + expected_time(machine, job))
    if counts[FOUND] > 0:
        make_reservations(machine)
        how = SPARING_RESPECTING if counts[SPARING] > 0 else RESPECTING
        got, group = find_usable(machine, job, how, end)
        if got < wanted:
            classes.fit_then[slot] = got  # so few as long as the plan is
            return False
    place_and_begin(machine, job, group, how, end)
    hold_in_plan(machine, job)
    counts[IS_FRESH] = 0
    return True


@kernel(allocates=False)
def backfill_by_order(machine: NodeMachine, order: Order, head: int) -> None:
    """Start, in an order, jobs that do not delay those with a reservation; ``head`` is the first of these."""
    if head == NOBODY or not any_may_start(machine):
        return
    is_one = machine.classes.counts[HEADS] != HEAD_OF_PARTITION
    _let_go_ahead(machine, order, is_one, time_until(machine.clock[NOW], reserve(machine, head)) if is_one else 0.0)


@kernel(allocates=False)
def _let_go_ahead(machine: NodeMachine, order: Order, is_one: bool, time: float) -> None:
    """Start, in an order, jobs that do not delay the one reservation, which begins within a time, or the several."""
    classes, counts, size = machine.classes, machine.classes.counts, 0
    for slot in range(counts[ACTIVE]):
        wanted = classes.nodes[slot]
        if classes.fit_now[slot] >= wanted and (
            classes.fit_then[slot] >= wanted or (is_one and classes.times[slot] <= time)
        ):
            size = _offer(machine, order, int(np.int64(classes.slots[slot])), size)
    while size > 0:
        job = int(np.int64(machine.queue.job[pop(classes.keys, classes.turns, size)]))
        size -= 1
        kind = int(np.int64(classes.class_of[job]))
        is_started = _start_ahead(machine, job, time) if is_one else _start_among(machine, job)
        if is_started and classes.first[kind] != 0:
            size = _offer(machine, order, kind, size)


@kernel(allocates=False)
def _offer(machine: NodeMachine, order: Order, kind: int, size: int) -> int:
    """Put the first job of a class into the heap of who may go ahead; return how many are in it."""
    job = first_of_class(machine, order, kind)
    push(machine.classes.keys, machine.classes.turns, size, key_on_nodes(machine, order, job), machine.queue.place[job])
    return size + 1


@kernel(allocates=False)
def _start_among(machine: NodeMachine, job: int) -> bool:
    """Start a job unless it delays a reservation; one that has its own cannot start, as it could not before."""
    slot = machine.classes.slot[machine.classes.class_of[job]] - 1
    return machine.classes.fit_then[slot] >= machine.asked.nodes[job] and _start_respecting(machine, job)


@kernel(allocates=False)
def _start_ahead(machine: NodeMachine, job: int, time: float) -> bool:
    """Start a job that ends within a time, or leaves enough then for the one reservation; return whether it was."""
    classes, nodes, counts = machine.classes, machine.nodes, machine.classes.counts
    wanted, first = machine.asked.nodes[job], machine.asked.first[job]
    if expected_time(machine, job) <= time:
        got, group = find_now(machine, job)
        note_found(machine, job, got)
        if got < wanted:
            return False
        place_and_begin(machine, job, group, SPARING_NOW if counts[SPARING] > 0 else AT_ONCE, 0.0)
        return True
    got, group = find_both(machine, job)
    if got < wanted:
        classes.fit_then[classes.slot[classes.class_of[job]] - 1] = got
        return False
    place_and_begin(machine, job, group, BOTH, 0.0)
    for i in range(first, first + wanted):
        node = nodes.held[i]
        nodes.then[node] = without(nodes.then[node], machine.asked.need[job])
        nodes.then_users[node] += 1
    return True


@kernel(allocates=False)
def start_heads_on_nodes(machine: NodeMachine) -> int:
    """Start jobs in the order of the queue while they fit; return the first that does not, or NOBODY."""
    return start_heads_by_order(machine, simple_order(FCFS))


@kernel(allocates=False)
def start_heads_of_heap_on_nodes(machine: NodeMachine, heap: Any, order: Order) -> int:  # noqa: ARG001 (a pool needs it)
    """Start jobs in an order while they fit; return the first that does not, or NOBODY."""
    return start_heads_by_order(machine, order)


@kernel(allocates=False)
def backfill_in_turn_on_nodes(machine: NodeMachine, head: int) -> None:
    """Let others go ahead in the order of the queue."""
    backfill_by_order(machine, simple_order(FCFS), head)


@kernel(allocates=False)
def backfill_among_many_on_nodes(machine: NodeMachine, shelves: Any, order: Order, head: int) -> None:  # noqa: ARG001 (a pool needs them)
    """Let others go ahead in an order."""
    backfill_by_order(machine, order, head)


@kernel(allocates=False)
def fill_before_on_nodes(machine: NodeMachine, head: int) -> None:
    """Start the jobs that do not delay ``head``, which does not fit, in the order of the queue."""
    if not any_may_start(machine):
        return
    _let_go_ahead(machine, simple_order(FCFS), True, time_until(machine.clock[NOW], reserve(machine, head)))
    machine.classes.counts[HEAD], machine.classes.counts[IS_FRESH] = NOBODY, 0  # the policy may protect others


@kernel(allocates=False)
def easy_in_order_on_nodes(machine: NodeMachine, order: Order) -> None:
    """Start jobs in an order, and let others go ahead in the same order."""
    backfill_by_order(machine, order, start_heads_by_order(machine, order))

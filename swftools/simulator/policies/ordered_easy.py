# SPDX-License-Identifier: BSD-3-Clause
"""EASY backfilling of a queue in any order: what the policies of ``easy`` and ``priority_easy`` share."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.instants import time_until
from swftools.simulator.job_orders import FCFS, RANK, Order, first_in_order, rank_of, rank_order
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import (
    can_start_any,
    earliest_start,
    expected_time,
    fits,
    free,
    next_fitting,
    now,
    width,
)
from swftools.simulator.machine.waiting_queue import ANY, NOBODY
from swftools.simulator.nodes.easy import (
    backfill_among_many_on_nodes,
    backfill_in_turn_on_nodes,
    easy_in_order_on_nodes,
    fill_before_on_nodes,
    start_heads_of_heap_on_nodes,
)
from swftools.simulator.nodes.exchange import on_nodes
from swftools.simulator.policies.job_heap import JobHeap, first_of_heap
from swftools.simulator.policies.job_shelves import JobShelves, first_of_many


@on_nodes(easy_in_order_on_nodes)
@kernel(allocates=False)
def easy_in_order(machine: Machine, order: Order) -> None:
    """Start jobs in an order, reserve for the first that does not fit, and let others go ahead in the same order."""
    head = first_in_order(machine, order, ANY, ANY, ANY)
    while fits(machine, head):
        start(machine, head)
        head = first_in_order(machine, order, ANY, ANY, ANY)
    backfill(machine, order, head)


@on_nodes(start_heads_of_heap_on_nodes)
@kernel(allocates=False)
def start_heads_of_heap(machine: Machine, heap: JobHeap, order: Order) -> int:
    """Start jobs in an order while they fit; return the first that does not, or NOBODY."""
    head = first_of_heap(machine, heap, order)
    while fits(machine, head):
        start(machine, head)
        head = first_of_heap(machine, heap, order)
    return head


@kernel(allocates=False)
def backfill(machine: Machine, order: Order, head: int) -> None:
    """Reserve for the head, which does not fit; start, in an order, jobs that do and do not delay it."""
    if head == NOBODY or not can_start_any(machine):
        return
    shadow, extra = earliest_start(machine, width(machine, head))
    time = time_until(now(machine), shadow)
    # Free and extra processors only become fewer here, so who may not go ahead once may not later.
    job = _next(machine, order, head, time, extra)
    while job != NOBODY:
        if expected_time(machine, job) > time:
            extra -= width(machine, job)
        start(machine, job)
        job = _next(machine, order, job, time, extra)


@on_nodes(backfill_among_many_on_nodes)
@kernel(allocates=False)
def backfill_among_many(machine: Machine, shelves: JobShelves, order: Order, head: int) -> None:
    """Do as ``backfill`` does in another order than that of the queue; quickly too in those of time and of rank."""
    if head == NOBODY or not can_start_any(machine):
        return
    shadow, extra = earliest_start(machine, width(machine, head))
    time = time_until(now(machine), shadow)
    job = first_of_many(machine, shelves, order, float(free(machine)), time, float(extra))
    while job != NOBODY:
        if expected_time(machine, job) > time:
            extra -= width(machine, job)
        start(machine, job)
        if order.kind == RANK:  # nor may those of lesser ranks, so the first of this one is who goes ahead next
            order = rank_order(rank_of(machine, job, order.unknown))
        job = first_of_many(machine, shelves, order, float(free(machine)), time, float(extra))


@on_nodes(backfill_in_turn_on_nodes)
@kernel(allocates=False)
def backfill_in_turn(machine: Machine, head: int) -> None:
    """Start the jobs behind ``head`` that do not delay it, in the order of the queue: EASY's backfilling.

    Does nothing if ``head`` is NOBODY.
    """
    if head == NOBODY or not can_start_any(machine):
        return
    shadow, extra = earliest_start(machine, width(machine, head))
    time = time_until(now(machine), shadow)
    job = next_fitting(machine, head, free(machine), time, extra)
    while job != NOBODY:
        if expected_time(machine, job) > time:
            extra -= width(machine, job)
        start(machine, job)
        job = next_fitting(machine, job, free(machine), time, extra)


@on_nodes(fill_before_on_nodes)
@kernel(allocates=False)
def fill_before(machine: Machine, head: int) -> None:
    """Start the jobs that do not delay ``head``, which does not fit, in the order of the queue: also those before it.

    For who decides from outside whom to protect.
    """
    if not can_start_any(machine):
        return
    shadow, extra = earliest_start(machine, width(machine, head))
    time = time_until(now(machine), shadow)
    job = next_fitting(machine, NOBODY, free(machine), time, extra)
    while job != NOBODY:
        if expected_time(machine, job) > time:
            extra -= width(machine, job)
        start(machine, job)
        job = next_fitting(machine, job, free(machine), time, extra)


@kernel(allocates=False)
def _next(machine: Machine, order: Order, job: int, time: float, extra: int) -> int:
    """Return who may go ahead next, after a job; in the order of the queue it stands behind that job."""
    if order.kind == FCFS:
        return next_fitting(machine, job, free(machine), time, extra)
    return first_in_order(machine, order, float(free(machine)), time, float(extra))

# SPDX-License-Identifier: BSD-3-Clause
"""The order of the waiting jobs on nodes: by class, since those of one class ask for the same."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.job_orders import FCFS, LXF, WEIGHTED, Order, key_of, rank_of
from swftools.simulator.machine.state import DISTURBED
from swftools.simulator.machine.views import first_waiting
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.state import ACTIVE, CLOSED0, CLOSED1, NodeMachine
from swftools.simulator.nodes.words import bits_of


@kernel(allocates=False)
def key_on_nodes(machine: NodeMachine, order: Order, job: int) -> float:
    """Return the key of a waiting job in an order; the least is served first."""
    if order.kind == FCFS:
        return 0.0
    requests, classes = machine.requests, machine.classes
    time, processors = classes.time[classes.class_of[job]], float(requests.processors[job])
    return key_of(order, machine, requests.submit_time[job], processors, time, rank_of(machine, job, order.unknown))


@kernel(allocates=False)
def first_of_class(machine: NodeMachine, order: Order, kind: int) -> int:
    """Return the job of a class, in which one waits, that is served first."""
    classes = machine.classes
    job = classes.first[kind] - 1
    if order.kind not in (LXF, WEIGHTED):
        return job
    if machine.counts[DISTURBED] == 0 and (order.kind == LXF or (order.wait >= 0.0 and order.expansion >= 0.0)):
        return job  # who was submitted first goes first, and stands so until somebody enters later than that
    best, key = job, key_on_nodes(machine, order, job)
    while classes.behind[job] != 0:
        job = classes.behind[job] - 1
        own = key_on_nodes(machine, order, job)
        if own < key:
            best, key = job, own
    return best


@kernel(allocates=False)
def first_in_queue(machine: NodeMachine, order: Order) -> int:
    """Return the first waiting job in an order, or NOBODY."""
    if order.kind == FCFS:
        return first_waiting(machine)
    classes = machine.classes
    best, best_key = NOBODY, np.inf
    for slot in range(classes.counts[ACTIVE]):
        job = first_of_class(machine, order, int(np.int64(classes.slots[slot])))
        key = key_on_nodes(machine, order, job)
        if best == NOBODY or comes_before(machine, key, job, best_key, best):
            best, best_key = job, key
    return best


@kernel(allocates=False)
def comes_before(machine: NodeMachine, key: float, job: int, other_key: float, other: int) -> bool:
    """Whether a waiting job comes before another one, by their keys and then as they stand in the queue."""
    return key < other_key or (key == other_key and machine.queue.place[job] < machine.queue.place[other])


@kernel(allocates=False)
def open_all(machine: NodeMachine, order: Order) -> None:
    """Let no partition be closed, and list who is first, in an order, of those that wait for each place."""
    plan, counts = machine.plan, machine.classes.counts
    counts[CLOSED0] = counts[CLOSED1] = 0
    for at in range(len(plan.first_job)):
        plan.first_job[at] = NOBODY
    for slot in range(counts[ACTIVE]):
        _list_first(machine, order, slot)


@kernel(allocates=False)
def list_again(machine: NodeMachine, order: Order, at: int) -> None:
    """Find anew who is the first that waits for a place, since the first one started."""
    machine.plan.first_job[at] = NOBODY
    inside0, inside1 = bits_of(at)
    for slot in range(machine.classes.counts[ACTIVE]):
        if machine.classes.inside0[slot] == inside0 and machine.classes.inside1[slot] == inside1:
            _list_first(machine, order, slot)


@kernel(allocates=False)
def _list_first(machine: NodeMachine, order: Order, slot: int) -> None:
    """List the first job of a class if it comes before who is listed for its place."""
    plan = machine.plan
    job = first_of_class(machine, order, int(np.int64(machine.classes.slots[slot])))
    at, key = machine.asked.place[job], key_on_nodes(machine, order, job)
    if plan.first_job[at] == NOBODY or comes_before(machine, key, job, plan.first_key[at], plan.first_job[at]):
        plan.first_job[at], plan.first_key[at] = job, key


@kernel(allocates=False)
def first_open(machine: NodeMachine) -> int:
    """Return the first of the listed jobs that may use a partition that is not closed, or NOBODY."""
    places, plan, counts = machine.places, machine.plan, machine.classes.counts
    best, best_key = NOBODY, np.inf
    for at in range(len(plan.first_job)):
        job, key = plan.first_job[at], plan.first_key[at]
        is_open = (places.partitions0[at] & ~counts[CLOSED0]) | (places.partitions1[at] & ~counts[CLOSED1])
        if job != NOBODY and is_open != 0 and (best == NOBODY or comes_before(machine, key, job, best_key, best)):
            best, best_key = job, key
    return best


@kernel(allocates=False)
def close(machine: NodeMachine, job: int) -> None:
    """Close the partitions in which a job may run."""
    counts, places, at = machine.classes.counts, machine.places, machine.asked.place[job]
    counts[CLOSED0] |= places.partitions0[at]
    counts[CLOSED1] |= places.partitions1[at]

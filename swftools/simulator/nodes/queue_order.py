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
def first_open(machine: NodeMachine, order: Order) -> int:
    """Return the first waiting job in an order that may use a partition that is not closed, or NOBODY."""
    if order.kind == FCFS and machine.classes.counts[CLOSED0] == 0 and machine.classes.counts[CLOSED1] == 0:
        return first_waiting(machine)
    classes, places, counts = machine.classes, machine.places, machine.classes.counts
    queue_place = machine.queue.place
    best, best_key = NOBODY, np.inf
    for slot in range(counts[ACTIVE]):
        kind = classes.slots[slot]
        at = machine.asked.place[classes.first[kind] - 1]
        is_open = (places.partitions0[at] & ~counts[CLOSED0]) | (places.partitions1[at] & ~counts[CLOSED1])
        if is_open == 0:
            continue
        job = first_of_class(machine, order, kind)
        key = key_on_nodes(machine, order, job)
        if best == NOBODY or key < best_key or (key == best_key and queue_place[job] < queue_place[best]):
            best, best_key = job, key
    return best


@kernel(allocates=False)
def close(machine: NodeMachine, job: int) -> None:
    """Close the partitions in which a job may run."""
    counts, places, at = machine.classes.counts, machine.places, machine.asked.place[job]
    counts[CLOSED0] |= places.partitions0[at]
    counts[CLOSED1] |= places.partitions1[at]


@kernel(allocates=False)
def open_all(machine: NodeMachine) -> None:
    """Let no partition be closed."""
    machine.classes.counts[CLOSED0] = machine.classes.counts[CLOSED1] = 0

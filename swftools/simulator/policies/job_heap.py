# SPDX-License-Identifier: BSD-3-Clause
"""The waiting jobs as a heap, for orders in which no key changes with time and the index of the queue is of no help."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.job_orders import Order, key_of, rank_of
from swftools.simulator.machine.event_queue import pop, push
from swftools.simulator.machine.state import DISTURBED, SUBMITTED, Machine
from swftools.simulator.machine.views import expected_time, first_waiting, next_waiting
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting


class JobHeap(NamedTuple):
    """Jobs by key, then place in the queue; some may wait no more.

    ``keys`` and ``tickets`` are the heap. Tickets are numbered as jobs stand in the queue; ``job`` has the job of each.
    ``counts``: tickets in the heap, tickets given, jobs submitted by then, how often the queue was disturbed by then.
    """

    keys: FloatArray
    tickets: IntArray
    job: IntArray
    counts: IntArray


HEAP, GIVEN, SEEN, BEFORE = range(4)
"""Places in ``JobHeap.counts``."""


def empty_heap(jobs: int, processors: int) -> JobHeap:  # noqa: ARG001 (as all memories)
    """Return a heap for all jobs."""
    return JobHeap(np.zeros(jobs), np.zeros(jobs, np.int64), np.zeros(jobs, np.int64), np.zeros(4, np.int64))


@kernel(allocates=False)
def first_of_heap(machine: Machine, heap: JobHeap, order: Order) -> int:
    """Return the waiting job that is first in an order, or NOBODY; of equal keys the first of the queue."""
    counts = heap.counts
    if counts[BEFORE] != machine.counts[DISTURBED]:  # jobs came back, or are predicted anew: begin with all that wait
        counts[HEAP] = counts[GIVEN] = 0
        job = first_waiting(machine)
        while job != NOBODY:
            _put(machine, heap, order, job)
            job = next_waiting(machine, job)
        counts[SEEN], counts[BEFORE] = machine.counts[SUBMITTED], machine.counts[DISTURBED]
    while counts[SEEN] < machine.counts[SUBMITTED]:
        _put(machine, heap, order, counts[SEEN])
        counts[SEEN] += 1
    while counts[HEAP] > 0:
        job = heap.job[heap.tickets[0]]
        if is_waiting(machine.queue, job):
            return job
        pop(heap.keys, heap.tickets, counts[HEAP])
        counts[HEAP] -= 1
    return NOBODY


@kernel(allocates=False)
def _put(machine: Machine, heap: JobHeap, order: Order, job: int) -> None:
    """Put a waiting job into the heap, behind those of equal keys."""
    requests, counts = machine.requests, heap.counts
    rank = rank_of(machine, job, order.unknown)
    time = expected_time(machine, job)
    key = key_of(order, machine, requests.submit_time[job], float(requests.processors[job]), time, rank)
    heap.job[counts[GIVEN]] = job
    push(heap.keys, heap.tickets, counts[HEAP], key, counts[GIVEN])
    counts[HEAP] += 1
    counts[GIVEN] += 1

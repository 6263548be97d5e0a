# SPDX-License-Identifier: BSD-3-Clause
"""Orders of waiting jobs that policies share: a word, a number, the key that sorts by it, and the first job by it.

Keys rise from the job to be served first to the last. Of jobs with equal keys, the one that is first in the queue is
served first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.simulator.instants import ratio, time_since
from swftools.simulator.machine.state import CAPACITY, DISTURBED, NOW, Machine
from swftools.simulator.machine.views import expected_time
from swftools.simulator.machine.waiting_queue import ANY, NOBODY
from swftools.simulator.planning import planned_length

ORDERS = ("fcfs", "sjf", "lxf", "widest", "narrowest", "ljf")
"""First come, shortest, largest expansion factor, widest, narrowest, longest first."""

FCFS, SJF, LXF, WIDEST, NARROWEST, LJF = range(len(ORDERS))

WEIGHTED, RANK = LJF + 1, LJF + 2
"""Orders with more to them than a number: by a weighted sum, and by priority rank."""

HOUR = 3600.0


class Order(NamedTuple):
    """An order and what belongs to it.

    ``kind`` is the number of one of ``ORDERS``, ``WEIGHTED`` or ``RANK``. The weights are those of ``WEIGHTED``: of an
    hour waited, the expansion factor, the share of the machine and the priority rank. ``unknown`` is what an unknown
    rank counts as, no waiting job having a greater one; none has a lesser one than ``least_rank``.
    """

    kind: int
    wait: float
    expansion: float
    width: float
    rank: float
    unknown: float
    least_rank: float


@kernel(allocates=False)
def simple_order(kind: int) -> Order:
    """Return one of ``ORDERS``."""
    return Order(kind, 0.0, 0.0, 0.0, 0.0, ANY, 0.0)


@kernel(allocates=False)
def rank_order(least_rank: float) -> Order:
    """Return the order of priority ranks, unknown ones last; no waiting job has a lesser one than ``least_rank``."""
    return Order(RANK, 0.0, 0.0, 0.0, 0.0, ANY, least_rank)


@kernel(allocates=False)
def order_key(order: int, machine: Machine, job: int) -> float:
    """Return the key of a job at a decision in one of ``ORDERS``; the least is served first."""
    requests = machine.requests
    processors, time = float(requests.processors[job]), expected_time(machine, job)
    return key_of(simple_order(order), machine, requests.submit_time[job], processors, time, 0.0)


@kernel(allocates=False)
def rank_of(machine: Machine, job: int, unknown: float) -> float:
    """Return the priority rank of a job, or ``unknown``."""
    rank = machine.requests.priority_rank[job]
    return float(rank) if rank >= 0 else unknown


@kernel(allocates=False)
def key_of(order: Order, machine: Machine, submit_time: float, processors: float, time: float, rank: float) -> float:
    """Return the key, at this decision, of a job that was submitted then, asks for so much and has such a rank."""
    kind = order.kind
    if kind == RANK:
        return rank
    if kind == SJF:
        return time
    if kind == LJF:
        return -time
    if kind == WIDEST:
        return -processors
    if kind == NARROWEST:
        return processors
    if kind == FCFS:
        return 0.0
    waited = time_since(submit_time, machine.clock[NOW])
    factor = 1.0 + ratio(waited, planned_length(time))
    if kind == LXF:
        return -factor
    return -(
        order.wait * waited / HOUR
        + order.expansion * factor
        + order.width * processors / float(machine.counts[CAPACITY])
        - order.rank * rank
    )


@kernel(allocates=False)
def least_key(order: Order, machine: Machine, submit_time: float, processors: float, time: float, most: float) -> float:
    """Return a key that no job is below which was submitted then or later and asks for that much or more.

    ``most`` is the most processors that it can ask for. Nothing is lost by rounding: a sum, product or quotient is
    never greater for being rounded where one that is as great or greater is.
    """
    kind = order.kind
    if kind == RANK:
        return order.least_rank
    if kind == LJF:
        return -ANY
    if kind == WIDEST:
        return -most
    if kind == LXF and time == 0.0:
        return -ANY
    if kind != WEIGHTED:
        return key_of(order, machine, submit_time, processors, time, order.least_rank)
    now = machine.clock[NOW]
    waited = time_since(submit_time, now)
    factor = 1.0 + ratio(waited, time) if time > 0.0 else ANY  # beside a job of 0 s there may be one of less than 1 s
    return -(
        order.wait * (waited if order.wait > 0.0 else 0.0) / HOUR
        + order.expansion * (factor if order.expansion > 0.0 else 1.0)
        + order.width * (most if order.width > 0.0 else processors) / float(machine.counts[CAPACITY])
        - order.rank * (order.least_rank if order.rank > 0.0 else order.unknown)
    )


@kernel(allocates=False)
def first_in_order(machine: Machine, order: Order, processors: float, time: float, spare: float) -> int:
    """Return the job to be served first in an order, of the waiting jobs that fit, or NOBODY.

    It fits if needed <= processors and (expected time <= time or needed <= spare). The index of the queue is searched
    from its beginning; whole parts are skipped in which no job fits, or none could have a lesser key than one found
    before. So it costs about log n where shorter, narrower or earlier jobs go first, however many wait; and up to n of
    those that fit where longer or wider ones do.
    """
    queue, submit_time = machine.queue, machine.requests.submit_time
    least, places = queue.least, len(queue.job)
    spare = min(spare, processors)
    most = min(processors, float(machine.counts[CAPACITY]))
    # Places are in order of submission, so a job's part was submitted no earlier, until one was held back.
    in_turn = machine.counts[DISTURBED] == 0 and order.kind in (LXF, WEIGHTED)
    earliest = submit_time[0]
    first, key = NOBODY, np.inf
    node, below = 1, places
    while True:
        fewest, shortest = least[2 * node], least[2 * node + 1]
        if fewest <= spare or (fewest <= processors and shortest <= time):
            if in_turn and queue.job[node * below - places] != NOBODY:
                earliest = submit_time[queue.job[node * below - places]]
            if node >= places:
                job = queue.job[node - places]
                rank = rank_of(machine, job, order.unknown)
                own = key_of(order, machine, submit_time[job], fewest, shortest, rank)
                if own < key:
                    first, key = job, own
            elif least_key(order, machine, earliest, fewest, shortest, most) < key:
                node, below = 2 * node, below >> 1
                continue
        while node & 1:
            node, below = node >> 1, below << 1
        if node == 0:
            return first
        node += 1


@kernel
def in_order(order: int, machine: Machine, jobs: IntArray) -> IntArray:
    """Return jobs, given in order of the queue, in one of ``ORDERS``."""
    if order == FCFS:
        return jobs
    keys = np.empty(len(jobs))
    for i in range(len(jobs)):
        keys[i] = order_key(order, machine, jobs[i])
    return jobs[np.argsort(keys, kind="mergesort")]  # the stable one, in numba's words

# SPDX-License-Identifier: BSD-3-Clause
"""What policies and predictors may look up of the machine; nothing here changes it."""

from __future__ import annotations

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.simulator.machine.state import AWAY, CAPACITY, FREE, HELD, NOW, RUNNING, WAITING, Machine
from swftools.simulator.machine.waiting_queue import ANY, NOBODY, first_place, next_fitting_place
from swftools.simulator.machine.work import time_to_go


@kernel(allocates=False)
def now(machine: Machine) -> float:
    """Return the present instant, s."""
    return machine.clock[NOW]


@kernel(allocates=False)
def free(machine: Machine) -> int:
    """Return how many processors are free."""
    return machine.counts[FREE]


@kernel(allocates=False)
def capacity(machine: Machine) -> int:
    """Return how many processors the machine has."""
    return machine.counts[CAPACITY]


@kernel(allocates=False)
def width(machine: Machine, job: int) -> int:
    """Return how many processors a job asks for."""
    return machine.requests.processors[job]


@kernel(allocates=False)
def fits(machine: Machine, job: int) -> bool:
    """Whether there is a job, and it fits into the free processors."""
    return job != NOBODY and machine.requests.processors[job] <= machine.counts[FREE]


@kernel(allocates=False)
def is_away(machine: Machine, job: int) -> bool:
    """Whether a job is none, but stands for processors that are away: it cannot be stopped."""
    return machine.requests.queue_id[job] == AWAY


@kernel(allocates=False)
def is_held(machine: Machine, job: int) -> bool:
    """Whether a job is held back; takes as long as there are such jobs."""
    place = 0
    while place < machine.counts[HELD] and machine.held[place] != job:
        place += 1
    return place < machine.counts[HELD]


@kernel(allocates=False)
def expected_time(machine: Machine, job: int) -> float:
    """Return how long a waiting job is expected to run, s, if it starts now on its own width.

    This is the predicted time minus the work already done, plus the overhead of continuing it.
    """
    requests = machine.requests
    time, done = requests.requested_time[job], machine.done[job]
    if done == 0.0:
        return time
    if time <= done:
        time = max(requests.limit[job], done)
    return time_to_go(machine, job, time, requests.processors[job], 1.0)


@kernel(allocates=False)
def first_waiting(machine: Machine) -> int:
    """Return the waiting job that entered the queue first, or NOBODY."""
    if machine.counts[WAITING] == 0:
        return NOBODY
    place = first_place(machine.queue)
    return NOBODY if place == NOBODY else machine.queue.job[place]


@kernel(allocates=False)
def next_waiting(machine: Machine, job: int) -> int:
    """Return the next waiting job after another one, or NOBODY."""
    return next_fitting(machine, job, ANY, ANY, ANY)


@kernel(allocates=False)
def next_fitting(machine: Machine, job: int, processors: float, time: float, spare: float) -> int:
    """Return the next waiting job after another one that fits, or NOBODY; after NOBODY the search begins at the front.

    A job fits if needed <= processors and (expected time <= time or needed <= spare). The other job need not be waiting
    any more, but must not have ended.
    """
    if machine.counts[WAITING] == 0:  # often, behind a job that was just started
        return NOBODY
    queue = machine.queue
    place = next_fitting_place(queue, 0 if job == NOBODY else queue.place[job] + 1, processors, time, spare)
    return NOBODY if place == NOBODY else queue.job[place]


@kernel
def waiting_jobs(machine: Machine) -> IntArray:
    """Return the waiting jobs in order, as a new array."""
    jobs = np.empty(machine.counts[WAITING], np.int64)
    job = first_waiting(machine)
    for i in range(len(jobs)):
        jobs[i] = job
        job = next_waiting(machine, job)
    return jobs


@kernel
def waiting_that_fit(machine: Machine, job: int, time: float, spare: float) -> IntArray:
    """Return the waiting jobs behind another that fit now and need at most ``time``, or ``spare`` processors.

    In order. These are the jobs that may backfill: those that are expected to end in time, and those that need no more
    than is left over then.
    """
    jobs = np.empty(machine.counts[WAITING], np.int64)
    count = 0
    job = next_fitting(machine, job, machine.counts[FREE], time, spare)
    while job != NOBODY:
        jobs[count] = job
        count += 1
        job = next_fitting(machine, job, machine.counts[FREE], time, spare)
    return jobs[:count]


@kernel(allocates=False)
def can_start_any(machine: Machine) -> bool:
    """Whether any waiting job fits into the free processors: if not, a policy need not look further."""
    return machine.queue.least[2] <= machine.counts[FREE]


@kernel(allocates=False)
def earliest_start(machine: Machine, processors: int) -> tuple[float, int]:
    """Return when that many processors will be free if running jobs end as expected, and how many more then."""
    available = machine.counts[FREE]
    when = machine.clock[NOW]
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if available >= processors and machine.expected_end[job] > when:
            break
        available += machine.allocated[job]
        when = max(machine.expected_end[job], machine.clock[NOW])
    return when, available - processors

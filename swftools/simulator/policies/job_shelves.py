# SPDX-License-Identifier: BSD-3-Clause
"""Long queues on shelves, for orders by time or rank: find the first job that fits without a look at all that might.

The index of the queue knows the narrowest and the shortest job of each part. If the queue mixes narrow jobs that are
too long and short jobs that are too wide, nearly all parts have both, and the index looks at nearly all jobs. A shelf
holds jobs of one rank that came one after the other. For each number of processors it knows how short the shortest of
its jobs is that need no more. So all shelves are skipped except those in which a job fits, or nearly does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.job_orders import RANK, SJF, Order, first_in_order, rank_of
from swftools.simulator.machine.state import DISTURBED, SUBMITTED, WAITING, Machine
from swftools.simulator.machine.views import expected_time, first_waiting, next_waiting
from swftools.simulator.machine.waiting_queue import ANY, NOBODY, is_waiting

SHELF = 64
"""Places of a shelf."""

WIDTHS = 36
"""Classes of widths: 1, 2, 3, 4, up to 7, 8, up to 15 ..., since most jobs need a power of two; the last has no end."""

RANKS = 16
"""Ranks below the last of these have shelves of their own, the others share shelves."""

MANY = 512
"""With fewer waiting jobs the index of the queue is searched: to put them on shelves would take longer."""

SHELVES, SEEN, BEFORE = range(3)
"""Places in ``JobShelves.counts``."""


class JobShelves(NamedTuple):
    """Shelves in order of their first jobs; some of the jobs may wait no more.

    ``job`` has ``SHELF`` places a shelf, in order of the queue, ``size`` how many of them are taken, ``least_rank``
    what no job of the shelf is below. ``shortest`` is of ``WIDTHS`` classes of each shelf, s. ``filling`` is the last
    shelf of each of the ``RANKS``, or NOBODY. ``counts``: shelves, jobs submitted and how often the queue was disturbed
    by then.
    """

    job: IntArray
    size: IntArray
    least_rank: FloatArray
    shortest: FloatArray
    filling: IntArray
    counts: IntArray


def empty_shelves(jobs: int) -> JobShelves:
    """Return shelves for all jobs; zeros, so that the system hands the memory out when it is used."""
    shelves = jobs // SHELF + RANKS
    return JobShelves(
        np.zeros(shelves * SHELF, np.int64),
        np.zeros(shelves, np.int64),
        np.zeros(shelves),
        np.zeros(shelves * WIDTHS),
        np.zeros(RANKS, np.int64),
        np.array([0, 0, NOBODY]),
    )


@kernel(allocates=False)
def first_of_many(
    machine: Machine, shelves: JobShelves, order: Order, processors: float, time: float, spare: float
) -> int:
    """Return what ``first_in_order`` returns; in the orders of time and rank it takes less where many wait."""
    if machine.counts[WAITING] < MANY or (order.kind not in (SJF, RANK)):
        return first_in_order(machine, order, processors, time, spare)
    return first_on_shelves(machine, shelves, order, processors, time, spare)


@kernel(allocates=False)
def first_on_shelves(
    machine: Machine, shelves: JobShelves, order: Order, processors: float, time: float, spare: float
) -> int:
    """Return the job to be served first by time or rank, of the waiting jobs that fit, or NOBODY; of any number."""
    if machine.queue.least[2] > processors:
        return NOBODY
    put_on_shelves(machine, shelves, order)
    requests = machine.requests
    spare = min(spare, processors)
    width_class, spare_class = _class_of(processors), _class_of(max(spare, 1.0))
    first, key = NOBODY, np.inf
    for shelf in range(shelves.counts[SHELVES]):
        lower = shelves.shortest[shelf * WIDTHS + width_class]
        if lower > time:  # only who needs no more than is spare may take longer
            lower = shelves.shortest[shelf * WIDTHS + spare_class] if spare > 0.0 else np.inf
        if lower == np.inf:
            continue
        if order.kind == RANK:
            lower = shelves.least_rank[shelf]
        if lower >= key:
            continue
        has_gaps = False
        for place in range(shelf * SHELF, shelf * SHELF + shelves.size[shelf]):
            job = shelves.job[place]
            if job == NOBODY:
                continue
            if not is_waiting(machine.queue, job):
                shelves.job[place] = NOBODY
                has_gaps = True
                continue
            needed, needed_time = requests.processors[job], expected_time(machine, job)
            if needed <= spare or (needed <= processors and needed_time <= time):
                own = rank_of(machine, job, order.unknown) if order.kind == RANK else needed_time
                if own < key:
                    first, key = job, own
        if has_gaps:
            _sum_up(machine, shelves, shelf)
        if order.kind == RANK and key <= order.least_rank:
            break
    return first


@kernel(allocates=False)
def put_on_shelves(machine: Machine, shelves: JobShelves, order: Order) -> None:
    """Put jobs that came since on shelves; all that wait, where the queue was disturbed or most places are empty."""
    counts = shelves.counts
    is_sparse = counts[SHELVES] > RANKS + 4 * machine.counts[WAITING] // SHELF
    if counts[BEFORE] != machine.counts[DISTURBED] or is_sparse:
        counts[SHELVES] = 0
        shelves.filling[:] = NOBODY
        job = first_waiting(machine)
        while job != NOBODY:
            _put(machine, shelves, order, job)
            job = next_waiting(machine, job)
        counts[SEEN], counts[BEFORE] = machine.counts[SUBMITTED], machine.counts[DISTURBED]
    while counts[SEEN] < machine.counts[SUBMITTED]:
        if is_waiting(machine.queue, counts[SEEN]):
            _put(machine, shelves, order, counts[SEEN])
        counts[SEEN] += 1


@kernel(allocates=False)
def _put(machine: Machine, shelves: JobShelves, order: Order, job: int) -> None:
    """Put a waiting job, which stands behind all others, on the last shelf of its rank, or on a new one."""
    rank = min(rank_of(machine, job, ANY), RANKS - 1.0) if order.kind == RANK else 0.0
    shelf = shelves.filling[int(rank)]
    if shelf == NOBODY or shelves.size[shelf] == SHELF:
        shelf = shelves.counts[SHELVES]
        shelves.counts[SHELVES] += 1
        shelves.filling[int(rank)] = shelf
        shelves.size[shelf], shelves.least_rank[shelf] = 0, rank
        shelves.shortest[shelf * WIDTHS : (shelf + 1) * WIDTHS] = np.inf
    shelves.job[shelf * SHELF + shelves.size[shelf]] = job
    shelves.size[shelf] += 1
    _count_in(machine, shelves, shelf, job)


@kernel(allocates=False)
def _sum_up(machine: Machine, shelves: JobShelves, shelf: int) -> None:
    """Find the shortest times of a shelf anew."""
    shelves.shortest[shelf * WIDTHS : (shelf + 1) * WIDTHS] = np.inf
    for place in range(shelf * SHELF, shelf * SHELF + shelves.size[shelf]):
        if shelves.job[place] != NOBODY:
            _count_in(machine, shelves, shelf, shelves.job[place])


@kernel(allocates=False)
def _count_in(machine: Machine, shelves: JobShelves, shelf: int, job: int) -> None:
    """Note how short a job is, for its own class of widths and those of wider jobs."""
    time = expected_time(machine, job)
    for place in range(shelf * WIDTHS + _class_of(float(machine.requests.processors[job])), (shelf + 1) * WIDTHS):
        shelves.shortest[place] = min(shelves.shortest[place], time)


@kernel(allocates=False)
def _class_of(processors: float) -> int:
    """Return the class of a width, 1 or more: 2 k for 2 ** k processors, 2 k + 1 for more, or the last there is."""
    power = 0
    while processors >= float(2 << power):
        power += 1
    return min(2 * power + (processors > float(1 << power)), WIDTHS - 1)

"""Orders without reservations or backfilling: jobs start in the order until the first that does not fit.

Nobody overtakes the first job of the order, so processors idle while it waits for enough of them. Cost: log n for each
job that comes or is started, however many are waiting; of ``lxf``, whose order changes with time, w log w for the w
waiting jobs at each decision at which one of them fits.

==============  ==============================  ======================================================================
Name            First                           Who may starve
==============  ==============================  ======================================================================
``fcfs``        Earliest submission             Nobody: the first job waits for running jobs only, then is next
``sjf``         Shortest estimate               Long jobs, while shorter ones keep coming
``ljf``         Longest estimate                Short jobs, while longer ones keep coming
``widest``      Most processors ("largest")     Narrow jobs, while wider ones keep coming
``narrowest``   Fewest processors               Wide jobs, while narrower ones keep coming
``lxf``         Largest expansion factor        Nobody: the factor of a waiting job grows without bound; long jobs wait
==============  ==============================  ======================================================================

None of them has parameters, and none promises a start time. Jobs of equal rank start in order of submission; "estimate"
is what the run tells policies. ``lxf`` ranks by (wait so far + estimate) / estimate, computed anew at each decision.

References
----------
Feitelson, Rudolph and Schwiegelshohn 2005, "Parallel job scheduling - a status report"; Krueger, Lai and Dixit-Radiya
1994 for narrowest first ("smallest first"); Li and Cheng 1991 for widest first ("largest first").
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import kernel
from swftools.simulator.machine.event_queue import pop, push
from swftools.simulator.machine.state import DISTURBED, SUBMITTED
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import can_start_any, first_waiting, fits, next_waiting, waiting_jobs
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.policies.job_orders import LJF, LXF, NARROWEST, SJF, WIDEST, in_order, order_key
from swftools.simulator.registry import policy


class Heap(NamedTuple):
    """The waiting jobs by key, then submission; and what it was made from.

    ``counts``: jobs in the heap, jobs that had been submitted, and how often the queue had been disturbed.
    """

    keys: npt.NDArray[np.float64]
    jobs: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


def empty_heap(jobs: int, processors: int) -> Heap:  # noqa: ARG001 (as all memories)
    """Return a heap for all jobs."""
    return Heap(np.zeros(jobs + 1), np.zeros(jobs + 1, np.int64), np.zeros(3, np.int64))


@policy("fcfs", rests=True, promises=("order", "no-idle-head"), restates=("pyss", "cqsim"), version=1)
def fcfs(machine):  # type: ignore[no-untyped-def]
    """Start jobs in order of submission until the first that does not fit."""
    head = first_waiting(machine)
    while fits(machine, head):
        start(machine, head)
        head = next_waiting(machine, head)


@policy("sjf", memory=empty_heap, rests=True, version=1)
def sjf(machine, memory):  # type: ignore[no-untyped-def]
    """Start the job of the shortest estimate first, until the first that does not fit."""
    start_from_heap(machine, memory, SJF)


@policy("ljf", memory=empty_heap, rests=True, version=1)
def ljf(machine, memory):  # type: ignore[no-untyped-def]
    """Start the job of the longest estimate first, until the first that does not fit."""
    start_from_heap(machine, memory, LJF)


@policy("widest", memory=empty_heap, rests=True, version=1)
def widest(machine, memory):  # type: ignore[no-untyped-def]
    """Start the job of the most processors first, until the first that does not fit."""
    start_from_heap(machine, memory, WIDEST)


@policy("narrowest", memory=empty_heap, rests=True, version=1)
def narrowest(machine, memory):  # type: ignore[no-untyped-def]
    """Start the job of the fewest processors first, until the first that does not fit."""
    start_from_heap(machine, memory, NARROWEST)


@policy("lxf", rests=True, version=1)
def lxf(machine):  # type: ignore[no-untyped-def]
    """Start the job of the largest expansion factor first, until the first that does not fit."""
    if not can_start_any(machine):
        return
    for job in in_order(LXF, machine, waiting_jobs(machine)):
        if not fits(machine, job):
            return
        start(machine, job)


@kernel(allocates=False)
def start_from_heap(machine, memory, order):  # type: ignore[no-untyped-def]
    """Start waiting jobs in an order that does not change with time, until the first that does not fit."""
    keys, jobs = memory.keys, memory.jobs
    size, seen, disturbed = memory.counts
    if disturbed != machine.counts[DISTURBED]:  # jobs came back, or are predicted anew: begin with all that wait
        size, seen = 0, machine.counts[SUBMITTED]
        job = first_waiting(machine)
        while job != NOBODY:
            push(keys, jobs, size, order_key(order, machine, job), job)
            size += 1
            job = next_waiting(machine, job)
    while seen < machine.counts[SUBMITTED]:
        push(keys, jobs, size, order_key(order, machine, seen), seen)
        size += 1
        seen += 1
    while size > 0 and fits(machine, jobs[0]):
        job = pop(keys, jobs, size)
        size -= 1
        start(machine, job)
    memory.counts[0], memory.counts[1], memory.counts[2] = size, seen, machine.counts[DISTURBED]

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
# ruff: noqa: ARG001  (all policies are called with the same arguments)

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.event_queue import pop, push
from swftools.simulator.interface import (
    FREE,
    can_start_any,
    first_waiting,
    next_waiting,
    start,
    waiting_jobs,
)
from swftools.simulator.policies.job_orders import LJF, LXF, NARROWEST, SJF, WIDEST, in_order, order_key
from swftools.simulator.registry import policy
from swftools.simulator.waiting_queue import NOBODY


def _heap_memory(jobs: int, processors: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the shapes of a heap of jobs."""
    return (1, jobs + 1), (2, jobs + 2)


@policy("fcfs", rests=True, version=1)
def fcfs(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start jobs in order of submission until the first that does not fit."""
    head = first_waiting(machine)
    while head != NOBODY and requests.processors[head] <= machine.counts[FREE]:
        start(machine, requests, now, head)
        head = next_waiting(machine, head)


@policy("sjf", memory=_heap_memory, rests=True, version=1)
def sjf(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start the job of the shortest estimate first, until the first that does not fit."""
    start_from_heap(now, machine, requests, memory, SJF)


@policy("ljf", memory=_heap_memory, rests=True, version=1)
def ljf(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start the job of the longest estimate first, until the first that does not fit."""
    start_from_heap(now, machine, requests, memory, LJF)


@policy("widest", memory=_heap_memory, rests=True, version=1)
def widest(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start the job of the most processors first, until the first that does not fit."""
    start_from_heap(now, machine, requests, memory, WIDEST)


@policy("narrowest", memory=_heap_memory, rests=True, version=1)
def narrowest(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start the job of the fewest processors first, until the first that does not fit."""
    start_from_heap(now, machine, requests, memory, NARROWEST)


@policy("lxf", rests=True, version=1)
def lxf(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start the job of the largest expansion factor first, until the first that does not fit."""
    if not can_start_any(machine):
        return
    for job in in_order(LXF, now, requests, waiting_jobs(machine)):
        if requests.processors[job] > machine.counts[FREE]:
            return
        start(machine, requests, now, job)


@kernel
def start_from_heap(now, machine, requests, memory, order):  # type: ignore[no-untyped-def]
    """Start waiting jobs in an order that does not change with time, until the first that does not fit.

    The memory keeps them in a heap by key, then submission: ``floats[0]`` the keys, ``integers[0]`` the jobs, and in
    ``integers[1]`` how many there are and how many jobs have been seen so far.
    """
    keys, jobs = memory.floats[0], memory.integers[0]
    size, seen = memory.integers[1, 0], memory.integers[1, 1]
    while seen < len(requests.submit_time) and requests.submit_time[seen] <= now:
        push(keys, jobs, size, order_key(order, now, requests, seen), seen)
        size += 1
        seen += 1
    while size > 0 and requests.processors[jobs[0]] <= machine.counts[FREE]:
        job = pop(keys, jobs, size)
        size -= 1
        start(machine, requests, now, job)
    memory.integers[1, 0], memory.integers[1, 1] = size, seen

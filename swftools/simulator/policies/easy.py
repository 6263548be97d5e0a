"""EASY backfilling: jobs in order of submission; others go ahead if the first, or first few, are not delayed by it.

``easy``
    Start jobs in order of submission until one does not fit; reserve for it the earliest time at which enough
    processors will be free; then start, of the jobs behind it, those that fit now and either are expected to end by
    that time or need only processors that will be left over then.
``sjf-backfill``
    The same, but of the jobs behind the first the shortest is considered first: the SJBF of Tsafrir et al. and of the
    simulator pyss. The queue itself stays in order of submission. It is ``easy`` with ``backfill_order="sjf"``. (The
    policies whose *queue* is in another order, such as ``lxf-backfill``, are in ``priority_easy``.)

Guarantee
    With exact estimates, or estimates that no job outlives, the first waiting job never starts later than the
    reservation that it gets when it becomes the first. Nobody starves: each job becomes the first. Jobs behind the
    first have no reservation, and may be delayed by those that go ahead of them. With ``reservations=k`` the first k
    have one; those of the second to k-th are planned anew at each decision and may still move.
Outlived estimates
    A running job that outlives what was estimated is expected to run to its limit, and beyond that to end at any
    moment; the reservation is computed anew at each decision, so it moves then.
Cost of a decision
    Nothing if no waiting job fits. Otherwise O(r) over the r running jobs for the reservation and O(log n) for each job
    started; with another order than that of submission O(c log c) for the c jobs that may backfill; with k > 1
    O((r + k) (k + c)).

References
----------
Lifka 1995, "The ANL/IBM SP scheduling system"; Mu'alem and Feitelson 2001, "Utilization, predictability, workloads, and
user runtime estimates in scheduling the IBM SP2 with backfilling", algorithm 1; Tsafrir, Etsion and Feitelson 2007,
"Backfilling using system-generated predictions rather than user runtime estimates", for the shortest job first; Chiang,
Arpaci-Dusseau and Vernon 2002 for several reservations.
"""
# ruff: noqa: ARG001  (all policies are called with the same arguments)

from __future__ import annotations

from dataclasses import dataclass

from swftools.kernel import kernel
from swftools.parameters import Parameters, choice, whole
from swftools.simulator.interface import (
    CAPACITY,
    FREE,
    RUNNING,
    can_start_any,
    earliest_start,
    first_waiting,
    next_waiting,
    start,
    waiting_that_fit,
)
from swftools.simulator.policies.job_orders import FCFS, ORDERS, SJF, in_order, planned_time
from swftools.simulator.profile import add, clear, earliest, least
from swftools.simulator.registry import policy
from swftools.simulator.waiting_queue import ANY, NOBODY, next_fitting


@dataclass(frozen=True)
class EasyParameters(Parameters):
    """Parameters of ``easy``.

    Parameters
    ----------
    backfill_order : {"fcfs", "sjf", "lxf", "widest", "narrowest", "ljf"}
        In which order the jobs behind the first are considered, of equal ones the earliest submission first.
    reservations : int
        How many of the first waiting jobs are not to be delayed.
    """

    backfill_order: str = choice(*ORDERS)
    reservations: int = whole(1, least=1)


ORDER, RESERVATIONS = EasyParameters.place_of("backfill_order"), EasyParameters.place_of("reservations")


def _profile_memory(jobs: int, processors: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the shapes of a profile: a step for each running job, two for each waiting one."""
    return (1, 2 * jobs + 4), (1, 2 * jobs + 4)


@policy("easy", parameters=EasyParameters, memory=_profile_memory, rests=True, version=1)
def easy(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start in order of submission; others go ahead where that does not delay the first."""
    # Most decisions end here, and most others need no more than this function: calls would cost more than it does.
    if not can_start_any(machine):
        return
    head = first_waiting(machine)
    while head != NOBODY and requests.processors[head] <= machine.counts[FREE]:
        start(machine, requests, now, head)
        head = next_waiting(machine, head)
    if head == NOBODY or not can_start_any(machine):
        return
    if parameters[RESERVATIONS] >= 2.0:
        easy_with_several(now, machine, requests, parameters, memory, head)
        return
    shadow, extra = earliest_start(machine, now, requests.processors[head])
    job = next_fitting(machine.queue, head + 1, machine.counts[FREE], shadow - now, extra)
    if parameters[ORDER] != FCFS and job != NOBODY:
        backfill(now, machine, requests, int(parameters[ORDER]), job, shadow, extra)
        return
    while job != NOBODY:
        if requests.requested_time[job] > shadow - now:
            extra -= requests.processors[job]
        start(machine, requests, now, job)
        job = next_fitting(machine.queue, job + 1, machine.counts[FREE], shadow - now, extra)


@policy("sjf-backfill", rests=True, version=1)
def sjf_backfill(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start in order of submission; others, the shortest first, go ahead where that does not delay the first."""
    if not can_start_any(machine):
        return
    head = first_waiting(machine)
    while head != NOBODY and requests.processors[head] <= machine.counts[FREE]:
        start(machine, requests, now, head)
        head = next_waiting(machine, head)
    if head == NOBODY or not can_start_any(machine):
        return
    shadow, extra = earliest_start(machine, now, requests.processors[head])
    job = next_fitting(machine.queue, head + 1, machine.counts[FREE], shadow - now, extra)
    if job != NOBODY:
        backfill(now, machine, requests, SJF, job, shadow, extra)


@kernel
def backfill(now, machine, requests, order, first, shadow, extra):  # type: ignore[no-untyped-def]
    """Start, in an order, the jobs from ``first`` on that are done by the shadow time or need only extra processors."""
    for job in in_order(order, now, requests, waiting_that_fit(machine, first, shadow - now, extra)):
        processors = requests.processors[job]
        if processors > machine.counts[FREE]:
            continue
        if requests.requested_time[job] > shadow - now:
            if processors > extra:
                continue
            extra -= processors
        start(machine, requests, now, job)


@kernel
def easy_with_several(now, machine, requests, parameters, memory, head):  # type: ignore[no-untyped-def]
    """Decide with reservations for the head and the next few, planned on a profile of the free processors."""
    times, levels = memory.floats[0], memory.integers[0]
    count = clear(times, levels, now, machine.counts[CAPACITY])
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        count = add(times, levels, count, now, machine.expected_end[job], -machine.allocated[job])
    job = head
    reserved = 0
    while job != NOBODY and reserved + 1 <= parameters[RESERVATIONS]:
        processors, time = requests.processors[job], planned_time(requests, job)
        begin = earliest(times, levels, count, processors, time)
        if begin <= now and processors <= machine.counts[FREE]:
            start(machine, requests, now, job)
            count = add(times, levels, count, now, machine.expected_end[job], -processors)
        else:
            count = add(times, levels, count, begin, begin + time, -processors)
            reserved += 1
        job = next_waiting(machine, job)
    if job == NOBODY:
        return
    for other in in_order(int(parameters[ORDER]), now, requests, waiting_that_fit(machine, job, ANY, ANY)):
        processors, end = requests.processors[other], now + requests.requested_time[other]
        if processors <= machine.counts[FREE] and (end <= now or processors <= least(times, levels, count, end)):
            count = add(times, levels, count, now, end, -processors)
            start(machine, requests, now, other)

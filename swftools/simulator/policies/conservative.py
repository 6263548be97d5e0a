"""Conservative backfilling: every waiting job has a reservation, made when it is submitted.

A job goes ahead of others only into processors and time that no reservation of theirs needs. The three policies
differ in what becomes of the reservations when jobs end before they were expected to:

``conservative``
    At each completion every reservation is compressed, in order of submission: taken out and put back at the earliest
    time there is, which is never later than before. Restates the simulator pyss.
``conservative-fixed``
    Reservations never move. Processors that become free early serve only jobs that are submitted later.
``conservative-replanned``
    At each decision all waiting jobs are planned anew, in order of submission. Restates the simulator CQSim. A new plan
    may place a job later than the one before did, so this one does not keep its promises.

Guarantee
    With estimates that no job outlives, no job of the first two policies starts later than the reservation that it got
    at its submission, which its user could have been told; nobody starves. ``conservative-replanned`` starves nobody,
    since the first job of the queue is always planned first.
Outlived estimates
    A running job that outlives what was estimated is expected to run to its limit, and beyond that to end at any
    moment. Reservations that counted on its processors cannot be kept: all waiting jobs are then planned anew, in order
    of submission, and once more at each decision while a job is beyond its limit.
Estimates of less than 1 s
    Reservations are at least 1 s long, or they would keep nobody away.
Cost of a decision
    O(s) for each reservation made, s being the steps of the profile, at most two for each running and waiting job.
    ``conservative`` makes one for each waiting job at completions, and for each new job at submissions;
    ``conservative-fixed`` for new jobs only; ``conservative-replanned`` for all waiting jobs, if any of them fits.

None of them has parameters. On logs whose requests are several times the run times ``conservative-fixed`` keeps the
machine nearly as empty as if jobs ran as long as requested: its queue may grow without end. It is there to compare.

References
----------
Mu'alem and Feitelson 2001, "Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM
SP2 with backfilling", section 2; Lee 2009, section 1.3.4. Feitelson, "pyss"; Ren et al., "CQSim".
"""
# ruff: noqa: ARG001  (all policies are called with the same arguments)

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.interface import (
    CAPACITY,
    ENDED,
    FREE,
    RUNNING,
    can_start_any,
    first_waiting,
    next_waiting,
    start,
    wake_at,
)
from swftools.simulator.policies.job_orders import planned_time
from swftools.simulator.profile import add, clear, earliest, forget_past
from swftools.simulator.registry import policy
from swftools.simulator.waiting_queue import NOBODY

STEPS, SEEN = range(2)
"""Places in the last row of whole numbers: steps of the profile, and the first job that has not been seen yet."""


def _plan_memory(jobs: int, processors: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the shapes of a profile, of the begin and end of each job, of whether it is planned, and of ``STEPS``."""
    return (4, 2 * jobs + 4), (3, 2 * jobs + 4)


@policy("conservative", memory=_plan_memory, version=1)
def conservative(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start jobs at their reservations, which move forward whenever a job ends."""
    decide_by_plan(now, machine, requests, memory, True)


@policy("conservative-fixed", memory=_plan_memory, version=1)
def conservative_fixed(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Start jobs at their reservations, which do not move."""
    decide_by_plan(now, machine, requests, memory, False)


def _profile_memory(jobs: int, processors: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the shapes of a profile."""
    return (1, 2 * jobs + 4), (1, 2 * jobs + 4)


@policy("conservative-replanned", memory=_profile_memory, rests=True, version=1)
def conservative_replanned(now, machine, requests, parameters, memory, rng):  # type: ignore[no-untyped-def]
    """Plan all waiting jobs anew and start those that are planned for now."""
    if not can_start_any(machine):
        return
    times, levels = memory.floats[0], memory.integers[0]
    count = clear(times, levels, now, machine.counts[CAPACITY])
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        count = add(times, levels, count, now, machine.expected_end[job], -machine.allocated[job])
    job = first_waiting(machine)
    while job != NOBODY and can_start_any(machine):
        processors, time = requests.processors[job], planned_time(requests, job)
        begin = earliest(times, levels, count, processors, time)
        if begin <= now and processors <= machine.counts[FREE]:
            start(machine, requests, now, job)
            count = add(times, levels, count, now, machine.expected_end[job], -processors)
        else:
            count = add(times, levels, count, begin, begin + time, -processors)
        job = next_waiting(machine, job)


@kernel
def decide_by_plan(now, machine, requests, memory, compress):  # type: ignore[no-untyped-def]
    """Keep the plan up to date and start the jobs whose time has come."""
    times, begins, ends, due = memory.floats[0], memory.floats[1], memory.floats[2], memory.floats[3]
    levels, planned, places = memory.integers[0], memory.integers[1], memory.integers[2]
    anew = is_outdated(now, machine, ends)
    count = places[STEPS]
    if count == 0 or anew:
        count = clear(times, levels, now, machine.counts[CAPACITY])
        for i in range(machine.counts[RUNNING]):
            job = machine.running[i]
            ends[job] = machine.expected_end[job]
            count = add(times, levels, count, now, ends[job], -machine.allocated[job])
    else:
        count = forget_past(times, levels, count, now)
        for i in range(machine.counts[ENDED]):
            job = machine.ended[i]
            count = add(times, levels, count, now, ends[job], requests.processors[job])
    compress = compress and machine.counts[ENDED] > 0
    # Unless the plan changes, or a job's time has come, only new jobs need be looked at.
    if anew or compress or due[0] <= now:
        due[0] = np.inf
        job = first_waiting(machine)
    else:
        job = next_waiting(machine, places[SEEN] - 1)
    while job != NOBODY:
        processors, time = requests.processors[job], planned_time(requests, job)
        if anew or planned[job] == 0 or (compress and begins[job] > now):
            if planned[job] > 0 and not anew:
                count = add(times, levels, count, begins[job], ends[job], processors)
            planned[job] = 1
            begins[job] = earliest(times, levels, count, processors, time)
            ends[job] = begins[job] + time
            count = add(times, levels, count, begins[job], ends[job], -processors)
        if begins[job] <= now and processors <= machine.counts[FREE]:
            start(machine, requests, now, job)
            if ends[job] > machine.expected_end[job]:
                count = add(times, levels, count, machine.expected_end[job], ends[job], processors)
                ends[job] = machine.expected_end[job]
        else:
            due[0] = min(due[0], begins[job])
        places[SEEN] = max(places[SEEN], job + 1)
        job = next_waiting(machine, job)
    if now < due[0] < np.inf:
        wake_at(machine, now, due[0])
    places[STEPS] = count


@kernel
def is_outdated(now, machine, ends):  # type: ignore[no-untyped-def]
    """Whether a running job is not expected to end when the plan has it, or should have ended already."""
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if machine.expected_end[job] != ends[job] or ends[job] <= now:
            return True
    return False

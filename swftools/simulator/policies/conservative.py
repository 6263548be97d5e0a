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

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import kernel
from swftools.simulator.machine.state import CAPACITY, DISTURBED, ENDED, NOW, RUNNING, SUBMITTED
from swftools.simulator.machine.verbs import start, wake_at
from swftools.simulator.machine.views import can_start_any, first_waiting, fits, next_waiting, now, width
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting
from swftools.simulator.policies.easy import profile_memory
from swftools.simulator.policies.job_orders import planned_time
from swftools.simulator.profile import add, clear, earliest, forget_past
from swftools.simulator.registry import policy

STEPS, SEEN, DISTURBANCES = range(3)
"""Places in ``Plan.counts``: steps of the profile, jobs that had been submitted, disturbances of the queue."""


class Plan(NamedTuple):
    """A profile, and of each job whether it is planned, from when, and until when; the next time that one is due."""

    times: npt.NDArray[np.float64]
    levels: npt.NDArray[np.int64]
    begins: npt.NDArray[np.float64]
    ends: npt.NDArray[np.float64]
    planned: npt.NDArray[np.bool_]
    due: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]


def plan_memory(jobs: int, processors: int) -> Plan:  # noqa: ARG001 (as all memories)
    """Return a plan of nobody."""
    steps = 2 * jobs + 4
    return Plan(
        np.zeros(steps),
        np.zeros(steps, np.int64),
        np.zeros(jobs),
        np.zeros(jobs),
        np.zeros(jobs, np.bool_),
        np.zeros(1),
        np.zeros(3, np.int64),
    )


@policy("conservative", memory=plan_memory, promises=("reservation",), restates=("pyss",), version=1)
def conservative(machine, memory):  # type: ignore[no-untyped-def]
    """Start jobs at their reservations, which move forward whenever a job ends."""
    decide_by_plan(machine, memory, True)


@policy("conservative-fixed", memory=plan_memory, promises=("fixed-reservation",), version=1)
def conservative_fixed(machine, memory):  # type: ignore[no-untyped-def]
    """Start jobs at their reservations, which do not move."""
    decide_by_plan(machine, memory, False)


@policy(
    "conservative-replanned",
    memory=profile_memory,
    rests=True,
    promises=("exact-reservation",),
    restates=("cqsim",),
    version=1,
)
def conservative_replanned(machine, memory):  # type: ignore[no-untyped-def]
    """Plan all waiting jobs anew and start those that are planned for now."""
    if not can_start_any(machine):
        return
    times, levels, present = memory.times, memory.levels, now(machine)
    count = clear(times, levels, present, machine.counts[CAPACITY])
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        count = add(times, levels, count, present, machine.expected_end[job], -machine.allocated[job])
    job = first_waiting(machine)
    while job != NOBODY and can_start_any(machine):
        processors, time = width(machine, job), planned_time(machine, job)
        begin = earliest(times, levels, count, processors, time)
        if begin <= present and fits(machine, job):
            start(machine, job)
            count = add(times, levels, count, present, machine.expected_end[job], -processors)
        else:
            count = add(times, levels, count, begin, begin + time, -processors)
        job = next_waiting(machine, job)


@kernel(allocates=False)
def decide_by_plan(machine, plan, compress):  # type: ignore[no-untyped-def]
    """Keep the plan up to date and start the jobs whose time has come."""
    times, levels, begins, ends, due, counts = plan.times, plan.levels, plan.begins, plan.ends, plan.due, plan.counts
    present = now(machine)
    anew = counts[DISTURBANCES] != machine.counts[DISTURBED] or is_outdated(machine, ends)
    counts[DISTURBANCES] = machine.counts[DISTURBED]
    count = counts[STEPS]
    if count == 0 or anew:
        count = clear(times, levels, present, machine.counts[CAPACITY])
        for i in range(machine.counts[RUNNING]):
            job = machine.running[i]
            ends[job] = machine.expected_end[job]
            count = add(times, levels, count, present, ends[job], -machine.allocated[job])
    else:
        count = forget_past(times, levels, count, present)
        for i in range(machine.counts[ENDED]):
            job = machine.ended[i]
            count = add(times, levels, count, present, ends[job], machine.requests.processors[job])
    compress = compress and machine.counts[ENDED] > 0
    # Unless the plan changes, or a job's time has come, only new jobs need be looked at.
    if anew or compress or due[0] <= present:
        due[0] = np.inf
        job = first_waiting(machine)
    else:
        job = first_of_new(machine, counts[SEEN])
    while job != NOBODY:
        processors, time = width(machine, job), planned_time(machine, job)
        if anew or not plan.planned[job] or (compress and begins[job] > present):
            if plan.planned[job] and not anew:
                count = add(times, levels, count, begins[job], ends[job], processors)
            plan.planned[job] = True
            begins[job] = earliest(times, levels, count, processors, time)
            ends[job] = begins[job] + time
            count = add(times, levels, count, begins[job], ends[job], -processors)
        if begins[job] <= present and fits(machine, job):
            start(machine, job)
            if ends[job] > machine.expected_end[job]:
                count = add(times, levels, count, machine.expected_end[job], ends[job], processors)
                ends[job] = machine.expected_end[job]
        else:
            due[0] = min(due[0], begins[job])
        job = next_waiting(machine, job)
    counts[SEEN] = machine.counts[SUBMITTED]
    if present < due[0] < np.inf:
        wake_at(machine, due[0])
    counts[STEPS] = count


@kernel(allocates=False)
def first_of_new(machine, seen):  # type: ignore[no-untyped-def]
    """Return the first waiting job of those submitted since so many had been, or NOBODY."""
    for job in range(seen, machine.counts[SUBMITTED]):
        if is_waiting(machine.queue, job):
            return job
    return NOBODY


@kernel(allocates=False)
def is_outdated(machine, ends):  # type: ignore[no-untyped-def]
    """Whether a running job is not expected to end when the plan has it, or should have ended already."""
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if machine.expected_end[job] != ends[job] or ends[job] <= machine.clock[NOW]:
            return True
    return False

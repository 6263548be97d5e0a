# SPDX-License-Identifier: BSD-3-Clause
"""Conservative backfilling: every waiting job has a reservation, made when it is submitted.

A job goes ahead of others only if no reservation of theirs needs its processors and time. The three policies differ in
what happens to the reservations when jobs end earlier than expected:

``conservative``
    At each completion every reservation is compressed, in order of submission: it is taken out and put back at the
    earliest possible time, which is never later than before. Makes the schedules of the simulator pyss.
``conservative-fixed``
    Reservations never move. Processors that become free early serve only jobs that are submitted later.
``conservative-replanned``
    At each decision all waiting jobs are planned anew, in order of submission. Makes the schedules of the simulator
    CQSim. A new plan may place a job later than the last plan did, so this policy does not keep its promises.

Guarantee
    If no job outlives its estimate, no job of the first two policies starts later than the reservation that it got at
    its submission, which its user could have been told. Nobody starves. ``conservative-replanned`` starves nobody
    either, because the first job of the queue is always planned first.
Outlived estimates
    A running job that outlives its estimate is expected to run to its limit, and beyond that to end at any moment.
    Reservations that counted on its processors cannot be kept. All waiting jobs are then planned anew, in order of
    submission, and again at each decision while a job is beyond its limit.
Estimates of 0 s
    In the plan such a job holds its processors for 1 s, waiting or running, or until it ends
    (``swftools.simulator.planning`` says why).
Cost of a decision
    For each reservation that is made or looked at, a search over the steps of the profile, of which there are at most
    two for each running and waiting job; blocks of steps that are too full or free enough are skipped.
    ``conservative`` looks at each waiting job at completions, and changes the profile if the job moves. If all jobs end
    as planned and none moved at the last completion, it looks only at times before the job's reservation.
    ``conservative-fixed`` makes reservations for new jobs only. ``conservative-replanned`` makes them for waiting jobs
    up to the last one that has room now; once a time is full, only for those that fit in before it. So the first
    policy takes long where thousands of jobs wait whose requests are too long; the others do not.

None of them has parameters. On logs whose requests are several times the run times, ``conservative-fixed`` keeps the
machine nearly as empty as if jobs ran as long as requested, and its queue may grow without end. It is there for
comparison.

References
----------
Mu'alem and Feitelson 2001, "Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM
SP2 with backfilling", section 2; Lee 2009, section 1.3.4. Feitelson, "pyss"; Ren et al., "CQSim".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.instants import instant
from swftools.simulator.machine.event_queue import pop, push
from swftools.simulator.machine.state import (
    CAPACITY,
    DISTURBED,
    ENDED,
    HOLDS,
    LATE,
    NOW,
    PLANS_BY_LIMIT,
    RUNNING,
    SUBMITTED,
    WAITING,
    Machine,
)
from swftools.simulator.machine.verbs import start, wake_at
from swftools.simulator.machine.views import (
    can_start_any,
    first_waiting,
    fits,
    next_fitting,
    next_waiting,
    now,
    waiting_jobs,
    width,
)
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting
from swftools.simulator.memory_transfer import carry_nothing, check_sound, renumber, renumber_count
from swftools.simulator.nodes.conservative import decide_by_plan_on_nodes, plan_memory_on_nodes
from swftools.simulator.nodes.exchange import on_nodes
from swftools.simulator.nodes.plan_transfer import carry_plan_on_nodes, restore_plan_on_nodes
from swftools.simulator.nodes.replanned import replanned_memory_on_nodes, replanned_on_nodes
from swftools.simulator.planning import (
    LEAST_TIME,
    Plan,
    bring_forward,
    empty_plan,
    has_room_now,
    hold_running,
    next_with_room_now,
    place,
    planned_end,
    planned_time,
)
from swftools.simulator.policies.easy import profile_memory
from swftools.simulator.profile import (
    BLOCKS,
    Profile,
    add,
    carry_profile,
    check_profile,
    earliest,
    falls_below,
    forget_past,
    most,
    steps_of,
)
from swftools.simulator.registry import policy

SEEN, DISTURBANCES, MOVED, LISTED = range(4)
"""Places in ``KeptPlan.counts``: jobs that had been submitted, disturbances of the queue, jobs moved at last, and how
many jobs are listed in the agenda, or ``NOT_KEPT``."""

NOT_KEPT = -1
"""Stands for the length of an agenda that no longer tells when jobs are to begin, since many were moved."""

FEW = 128
"""So many waiting jobs are looked through for those that are due: to keep an agenda would take longer."""


class KeptPlan(NamedTuple):
    """A plan that is kept between decisions; the next time at which a job is due; and how far it has followed.

    ``begins`` and ``jobs`` are the agenda, a heap of the waiting jobs by the times at which they are to begin (s).
    """

    plan: Plan
    due: FloatArray
    begins: FloatArray
    jobs: IntArray
    counts: IntArray


@on_nodes(plan_memory_on_nodes)
def plan_memory(jobs: int, processors: int) -> KeptPlan:  # noqa: ARG001 (as all memories)
    """Return a plan of nobody."""
    return KeptPlan(empty_plan(jobs), np.zeros(1), np.zeros(jobs), np.zeros(jobs, np.int64), np.zeros(4, np.int64))


@on_nodes(replanned_memory_on_nodes)
def replanned_memory(jobs: int, processors: int) -> Profile:
    """Return what plans are made in."""
    return profile_memory(jobs, processors)


@on_nodes(carry_plan_on_nodes)
def carry_plan(old: KeptPlan, new: KeptPlan, jobs: IntArray) -> None:
    """Take along the plan, the agenda, and how far it has followed."""
    plan, theirs, count = old.plan, new.plan, len(jobs)
    carry_profile(plan.profile, theirs.profile)
    theirs.begin[:count], theirs.end[:count] = plan.begin[jobs], plan.end[jobs]
    theirs.is_placed[:count] = plan.is_placed[jobs]
    new.due[0], new.counts[:] = old.due[0], old.counts
    new.counts[SEEN] = renumber_count(int(old.counts[SEEN]), jobs)
    listed = max(int(old.counts[LISTED]), 0)
    agenda = renumber(old.jobs[:listed], jobs)  # numbers rise as they did: in this order it is a heap, too
    new.begins[:listed] = old.begins[:listed]
    if len(agenda) == listed:
        new.jobs[:listed] = agenda
    else:
        new.counts[LISTED] = NOT_KEPT


@on_nodes(restore_plan_on_nodes)
def restore_plan(old: KeptPlan, new: KeptPlan, machine: Machine) -> None:
    """Take the same out of a saved state: the plan must be what running jobs and reservations leave free."""
    submitted, listed = int(machine.counts[SUBMITTED]), int(old.counts[LISTED])
    check_sound(0 <= old.counts[SEEN] <= submitted, "more jobs than were submitted")
    check_sound(NOT_KEPT <= listed <= submitted and old.counts[MOVED] >= 0, "a list of jobs that there are not")
    waiting = waiting_jobs.py_func(machine)
    agenda = old.jobs[: max(listed, 0)]
    check_sound(np.isin(agenda, waiting).all() and len(np.unique(agenda)) == len(agenda), "a job that does not wait")
    check_sound((old.begins[: len(agenda)] == old.plan.begin[agenda]).all(), "a reservation at two times")
    check_sound(not np.isnan(old.due[0]), "a time that is none")
    check_profile(old.plan.profile)
    carry_plan(old, new, np.arange(submitted))
    if old.counts[DISTURBANCES] + machine.counts[LATE] != machine.counts[DISTURBED]:
        new.plan.profile.counts[BLOCKS] = 0  # it is made anew
    elif new.plan.profile.counts[BLOCKS]:
        _check_plan(new.plan, waiting, machine)
    else:
        check_sound(old.counts[SEEN] == 0, "reservations in no plan")


def _check_plan(plan: Plan, waiting: IntArray, machine: Machine) -> None:
    """Compare a plan with what it was made of."""
    counts = machine.counts
    ended = machine.ended[: counts[ENDED]]  # since the last decision: they still have their places in it
    held = np.concatenate([machine.running[: counts[RUNNING]], ended])
    placed = waiting[plan.is_placed[waiting]]
    check_sound((plan.begin[placed] < plan.end[placed]).all(), "a reservation that ends before it begins")
    times, levels = steps_of(plan.profile)
    begin = np.concatenate([np.full(len(held), times[0]), plan.begin[placed]])
    end = np.concatenate([plan.end[held], plan.end[placed]])
    processors = machine.requests.processors[np.concatenate([held, placed])]
    at = np.unique(np.concatenate([times, begin, end]))
    at = at[at >= times[0]]
    is_there = begin < end
    change = np.zeros(len(at), np.int64)
    np.add.at(change, np.searchsorted(at, np.maximum(begin[is_there], at[0])), -processors[is_there])
    over = np.searchsorted(at, np.maximum(end[is_there], at[0]))
    np.add.at(change, over[over < len(at)], processors[is_there][over < len(at)])
    planned = levels[np.searchsorted(times, at, side="right") - 1]
    check_sound((counts[CAPACITY] + np.cumsum(change) == planned).all(), "a plan of other jobs")
    check_sound(len(times) <= 2 * (len(held) + len(placed)) + 2, "a plan of more steps than it has jobs")


@policy(
    "conservative",
    when="If every user should be told a start at submission that never gets later.",
    memory=plan_memory,
    carry=carry_plan,
    restore=restore_plan,
    promises=("reservation",),
    restates=("pyss",),
    allocates=False,
    takes_long="a job that ends before its request moves the reservations of many that wait; conservative-replanned "
    "(which may break promises), conservative-fixed and easy take seconds",
    version=3,
)
def conservative(machine: Machine, memory: KeptPlan) -> None:
    """Start jobs at their reservations, which become earlier if jobs end early."""
    decide_by_plan(machine, memory, True)


@policy(
    "conservative-fixed",
    when="To see what it costs if reservations never move; for comparison only.",
    memory=plan_memory,
    carry=carry_plan,
    restore=restore_plan,
    promises=("fixed-reservation",),
    allocates=False,
    version=3,
)
def conservative_fixed(machine: Machine, memory: KeptPlan) -> None:
    """Start jobs at their reservations, which never change."""
    decide_by_plan(machine, memory, False)


@policy(
    "conservative-replanned",
    when="As `conservative`, where thousands of jobs wait and it takes too long.",
    memory=replanned_memory,
    carry=carry_nothing,
    rests=True,
    allocates=False,
    promises=("exact-reservation",),
    restates=("cqsim",),
    version=3,
)
@on_nodes(replanned_on_nodes)
def conservative_replanned(machine: Machine, memory: Profile) -> None:
    """Plan all waiting jobs again at each event, and start those that are planned for now."""
    # Reservations only take room away: behind the last job that has room now nobody starts, nor need be planned. And
    # where a time comes at which fewer are free than any waiting job needs, whoever does not fit in before that time
    # comes behind it, and takes nothing there from those who could start now.
    if not can_start_any(machine):
        return
    hold_running(machine, memory, LEAST_TIME)
    job = NOBODY
    leads = True
    candidate = next_with_room_now(machine, memory, NOBODY)
    while candidate != NOBODY:
        barrier = falls_below(memory, int(machine.queue.least[2]))
        job = next_fitting(machine, job, most(memory, barrier), barrier - now(machine) + LEAST_TIME, 0)
        processors, time = width(machine, job), planned_time(machine, job)
        begin = now(machine) if job == candidate else earliest(memory, processors, time, barrier)
        end = instant(begin + time)
        if end > barrier:
            continue
        if begin <= now(machine) and fits(machine, job):
            start(machine, job)
            # CQSim, which plans running jobs by request, takes those behind the first that waits for planned ones.
            if leads or machine.counts[PLANS_BY_LIMIT] == 0:
                end = planned_end(machine, job, LEAST_TIME)
        else:
            leads = False
        add(memory, begin, end, -processors)
        if job == candidate or not has_room_now(machine, memory, candidate):
            candidate = next_with_room_now(machine, memory, candidate)


@on_nodes(decide_by_plan_on_nodes)
@kernel(allocates=False)
def decide_by_plan(machine: Machine, memory: KeptPlan, compress: bool) -> None:
    """Keep the plan up to date and start the jobs whose time has come."""
    plan, due, counts = memory.plan, memory.due, memory.counts
    present = now(machine)
    anew, is_gained = follow(machine, memory)
    # No reservation had an earlier place when it was looked at last. It may have one where more became free since:
    # because a job ended before its plan did, or others moved, which stand behind it, in the last compression.
    compress = compress and machine.counts[ENDED] > 0 and is_gained
    if anew or compress:
        counts[MOVED] = 0
    # Unless the plan changes, or a job's time has come, only new jobs need be looked at.
    wake = np.inf
    is_quick = machine.counts[LATE] == 0 and (due[0] > present or has_agenda(machine, memory))
    if not anew and not compress and is_quick:
        if due[0] <= present:
            wake = start_due(machine, memory)
        job = first_of_new(machine, counts[SEEN])
    else:
        due[0] = np.inf
        counts[LISTED] = NOT_KEPT
        job = first_waiting(machine)
    while job != NOBODY:
        if anew or not plan.is_placed[job]:
            place(plan, job, width(machine, job), planned_time(machine, job))
        elif compress and plan.begin[job] > present:
            counts[MOVED] += bring_forward(plan, job, width(machine, job), planned_time(machine, job))
        if plan.begin[job] <= present and fits(machine, job):
            start(machine, job)
        else:
            due[0] = min(due[0], plan.begin[job])
            if counts[LISTED] != NOT_KEPT:
                enlist(memory, job)
            if plan.begin[job] > present:  # one that is due and cannot start keeps no other from being woken for
                wake = min(wake, plan.begin[job])
        job = next_waiting(machine, job)
    counts[SEEN] = machine.counts[SUBMITTED]
    if due[0] > present:
        wake = min(wake, due[0])
    if wake < np.inf:
        wake_at(machine, wake)


@kernel(allocates=False)
def follow(machine: Machine, memory: KeptPlan) -> tuple[bool, bool]:
    """Bring the plan to the present; return whether all is to be planned anew, and whether more became free since."""
    plan, counts = memory.plan, memory.counts
    present = now(machine)
    late = machine.counts[LATE]  # who had waited for others is planned behind those that are there
    anew = counts[DISTURBANCES] + late != machine.counts[DISTURBED] or is_outdated(machine, plan.end)
    counts[DISTURBANCES] = machine.counts[DISTURBED]
    is_gained = counts[MOVED] > 0
    if anew or plan.profile.counts[BLOCKS] == 0:
        hold_running(machine, plan.profile, LEAST_TIME)
        for i in range(machine.counts[RUNNING]):
            job = machine.running[i]
            plan.end[job] = planned_end(machine, job, LEAST_TIME)
    else:
        forget_past(plan.profile, present)
        for i in range(machine.counts[ENDED]):
            job = machine.ended[i]
            add(plan.profile, present, plan.end[job], width(machine, job))
            is_gained = is_gained or present < plan.end[job]
    return anew, is_gained


@kernel(allocates=False)
def enlist(memory: KeptPlan, job: int) -> None:
    """Write down in the agenda when a job is to begin."""
    push(memory.begins, memory.jobs, memory.counts[LISTED], memory.plan.begin[job], job)
    memory.counts[LISTED] += 1


@kernel(allocates=False)
def has_agenda(machine: Machine, memory: KeptPlan) -> bool:
    """Whether those that are due stand in the agenda, in order of the queue: all since now, none was ever held back."""
    many = memory.counts[LISTED] != NOT_KEPT or machine.counts[WAITING] > FEW
    return many and memory.due[0] == machine.clock[NOW] and machine.counts[HOLDS] == 0


@kernel(allocates=False)
def start_due(machine: Machine, memory: KeptPlan) -> float:
    """Start the jobs that are to begin now, in order of the queue; return when the next one is to begin."""
    begins, jobs, counts = memory.begins, memory.jobs, memory.counts
    if counts[LISTED] == NOT_KEPT:
        counts[LISTED] = 0
        job = first_waiting(machine)
        while job != NOBODY and memory.plan.is_placed[job]:
            enlist(memory, job)
            job = next_waiting(machine, job)
    is_late = False
    while counts[LISTED] > 0 and begins[0] <= machine.clock[NOW]:
        job = pop(begins, jobs, counts[LISTED])
        counts[LISTED] -= 1
        if fits(machine, job):
            start(machine, job)
        else:
            is_late = True
    wake = begins[0] if counts[LISTED] > 0 else np.inf
    memory.due[0] = wake
    if is_late:  # one that was due and could not start is looked at again at each decision
        memory.due[0], counts[LISTED] = machine.clock[NOW], NOT_KEPT
    return wake


@kernel(allocates=False)
def first_of_new(machine: Machine, seen: int) -> int:
    """Return the first waiting job of those submitted since so many had been, or NOBODY."""
    for job in range(seen, machine.counts[SUBMITTED]):
        if is_waiting(machine.queue, job):
            return job
    return NOBODY


@kernel(allocates=False)
def is_outdated(machine: Machine, ends: FloatArray) -> bool:
    """Whether a running job is not to hold its processors until the plan has it end, or should have ended already."""
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if planned_end(machine, job, LEAST_TIME) != ends[job] or ends[job] <= machine.clock[NOW]:
            return True
    return False

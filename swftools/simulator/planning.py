# SPDX-License-Identifier: BSD-3-Clause
"""Plans: when each waiting job is to begin, in the time and on the processors that others leave free.

A plan is made of few steps: hold what runs, place jobs one by one at the earliest time there is, take them out or bring
them forward. Conservative backfilling keeps such a plan between decisions; other policies make one anew at each, or
try many orders of the waiting jobs and take the best.

What a job holds in a plan of conservative backfilling
    Its processors for as long as is estimated, for ``LEAST_TIME`` if that is 0 s, and no longer than until it ends. A
    reservation of no length would keep nobody away; and if it were cut when the job starts, what others are promised
    would depend on the order of the decisions at one instant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.instants import instant
from swftools.simulator.machine.state import CAPACITY, NOW, RUNNING, Machine
from swftools.simulator.machine.views import expected_time, next_fitting, width
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.profile import (
    Profile,
    add,
    clear,
    earliest,
    empty_profile,
    falls_below,
    free_at,
    free_from,
    least,
)

LEAST_TIME = 1.0
"""What an estimate of 0 s counts as in expansion factors and in reservations, s.

Otherwise it would have no expansion factor, and a reservation of no length would keep nobody away.
"""


class Plan(NamedTuple):
    """The profile of what is free, and of each job when it begins and ends in it (s), if it has a place.

    Of jobs that run, ``end`` is when the plan has them end.
    """

    profile: Profile
    begin: FloatArray
    end: FloatArray
    is_placed: npt.NDArray[np.bool_]


def empty_plan(jobs: int) -> Plan:
    """Return a plan for the jobs 0 to jobs - 1 in which none has a place; first of all, hold what runs.

    It is zeros, so the system hands the memory out when it is used.
    """
    return Plan(empty_profile(jobs), np.zeros(jobs), np.zeros(jobs), np.zeros(jobs, np.bool_))


@kernel(allocates=False)
def planned_time(machine: Machine, job: int) -> float:
    """Return how long a reservation of a job is: its estimate."""
    return planned_length(expected_time(machine, job))


@kernel(allocates=False)
def planned_length(time: float) -> float:
    """Return how long a reservation for an estimate is: as long, but ``LEAST_TIME`` for an estimate of 0 s."""
    return time if time > 0.0 else LEAST_TIME


@kernel(allocates=False)
def planned_end(machine: Machine, job: int, shortest: float) -> float:
    """Return until when a running job holds its processors: to its expected end, or for ``shortest`` s if it has none.

    It has none if it is expected to end when it starts.
    """
    end, begin = machine.expected_end[job], machine.start_time[job]
    return end if end > begin else begin + shortest


@kernel(allocates=False)
def hold_running(machine: Machine, profile: Profile, shortest: float) -> None:
    """Make a profile of what the running jobs leave free, those that are expected to take no time for ``shortest`` s.

    Jobs that should have ended already may do so at any moment: they hold nothing.
    """
    now = machine.clock[NOW]
    held = 0
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if planned_end(machine, job, shortest) > now:
            held += machine.allocated[job]
    clear(profile, now, machine.counts[CAPACITY] - held)
    for i in range(machine.counts[RUNNING]):  # by expected end, so that most steps come behind all others
        job = machine.running[i]
        end = planned_end(machine, job, shortest)
        if now < end < np.inf:
            free_from(profile, end, machine.allocated[job])


@kernel(allocates=False)
def place(plan: Plan, job: int, processors: int, time: float) -> None:
    """Reserve processors for a job, for a time, from the earliest moment there is."""
    begin = earliest(plan.profile, processors, time, np.inf)
    end = instant(begin + time)
    plan.begin[job], plan.end[job], plan.is_placed[job] = begin, end, True
    add(plan.profile, begin, end, -processors)


@kernel(allocates=False)
def unplace(plan: Plan, job: int, processors: int) -> None:
    """Take the reservation of a job, which begins now or later, out of the plan."""
    add(plan.profile, plan.begin[job], plan.end[job], processors)
    plan.is_placed[job] = False


@kernel(allocates=False)
def bring_forward(plan: Plan, job: int, processors: int, time: float) -> bool:
    """Move the reservation of a job, which begins after now, to the earliest time there is; return whether it moved.

    What comes of it is that of unplace and place. Only times before its own begin are looked at, with the reservation
    in its place: the job holds nothing before it, and has from it on what it needs.
    """
    old_begin, old_end = plan.begin[job], plan.end[job]
    begin = earliest(plan.profile, processors, time, old_begin)
    if begin == old_begin:
        return False
    end = instant(begin + time)
    plan.begin[job], plan.end[job] = begin, end
    taken, given = (begin, min(end, old_begin), -processors), (max(end, old_begin), old_end, processors)
    for since, until, change in (taken, given):
        add(plan.profile, since, until, change)
    return True


@kernel(allocates=False)
def place_in_order(machine: Machine, plan: Plan, jobs: IntArray) -> None:
    """Make a schedule of an order of waiting jobs: place each at the earliest time that those before it leave."""
    for i in range(len(jobs)):
        place(plan, jobs[i], width(machine, jobs[i]), planned_time(machine, jobs[i]))


@kernel(allocates=False)
def has_room_now(machine: Machine, profile: Profile, job: int) -> bool:
    """Whether a waiting job could begin now and disturb nothing that is planned."""
    return least(profile, instant(machine.clock[NOW] + planned_time(machine, job))) >= width(machine, job)


@kernel(allocates=False)
def next_with_room_now(machine: Machine, profile: Profile, behind: int) -> int:
    """Return the first waiting job behind another (behind NOBODY: of all) that has room now, or NOBODY.

    The fewest that are free from now on fall step by step. Of the jobs that need no more than are free until such a
    fall, and are done by then, the index over the waiting jobs knows the first.
    """
    now = machine.clock[NOW]
    place_of = machine.queue.place
    found = NOBODY
    free = free_at(profile, now)
    while machine.queue.least[2] <= free:  # the narrowest that waits
        fall = falls_below(profile, free)
        # A second more than there is, for rounding and because reservations may be longer than what is estimated.
        time = fall - now + LEAST_TIME
        job = next_fitting(machine, behind, free, time, 0)
        while job != NOBODY and (found == NOBODY or place_of[job] < place_of[found]):
            if has_room_now(machine, profile, job):
                found = job
            job = next_fitting(machine, job, free, time, 0)
        if fall == np.inf:
            break
        free = free_at(profile, fall)
    return found

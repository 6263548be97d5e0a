# SPDX-License-Identifier: BSD-3-Clause
"""What backfilling makes of an order of competing jobs, if no more jobs come and all run as expected.

``play_easy``
    EASY, played forward: jobs start in the order until one does not fit, which gets a reservation. A job behind it may
    go ahead if it fits now and either ends by then or needs only what is left over then.
``place_all``
    Conservative backfilling: each job at the earliest time that running jobs and those before it in the order leave.

Jobs have places, from 0, by which an order names them. A place has two times: what its job takes if it starts at this
very instant, and what it takes if it starts later. They differ of jobs that run and may be stopped: stopped, they do
again what was not saved.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.instants import instant, time_since, time_until
from swftools.simulator.machine.state import FREE, NOW, RUNNING, Machine
from swftools.simulator.planning import LEAST_TIME, planned_length
from swftools.simulator.search.costs import Points
from swftools.simulator.search.steps import find_place, take_place

COMPETITORS, WORTHY, GOING, ROOM, NUMBERS = range(5)
"""Places in ``Ground.counts``, ``NUMBERS`` of them.

How many jobs compete, and how many of them may be worth something; how many ends of running jobs there are; processors
free at the present instant.
"""

PRESENT, HORIZON, MOMENTS = range(3)
"""Places in ``Ground.clock``: the present instant, and from when on no job that begins is worth anything, s."""


EVERYBODY = 2**62
"""More processors than anybody needs."""


class Ground(NamedTuple):
    """What orders of jobs are built on, and what the last one came to.

    By place: ``job``; ``need``, its processors; ``at_once`` and ``later``, what it takes (s) if it starts now and
    later; ``submitted`` and ``delay`` (s), by which the time of its utility is counted: from its submission to its
    start, and the delay more; ``point``, the first point of its function that is not over, -1 if all are;
    ``worth_now``, what it is worth if it starts now; ``is_worthy``, whether it may be worth something at all.
    ``ends`` and ``ending`` are when running jobs that do not compete end, in order, and how many processors each time
    gives back; ``own_ends`` and ``own_ending`` the same of those that the order at hand starts. ``rest`` are the places
    that it has not started; ``begins`` (s) when it starts each, infinite where it never does, and ``is_now`` whether
    that is at once, before anything ends.
    """

    job: IntArray
    need: IntArray
    at_once: FloatArray
    later: FloatArray
    submitted: FloatArray
    delay: FloatArray
    point: IntArray
    worth_now: FloatArray
    is_worthy: IntArray
    ends: FloatArray
    ending: IntArray
    own_ends: FloatArray
    own_ending: IntArray
    rest: IntArray
    begins: FloatArray
    is_now: IntArray
    counts: IntArray
    clock: FloatArray


def empty_ground(jobs: int, processors: int) -> Ground:
    """Return the room for so many jobs, which is zeros: the system hands the memory out as far as it is used."""
    running = min(jobs, processors) + 1  # a job has a processor at least

    def whole(count: int) -> Any:
        return np.broadcast_to(np.zeros(1, np.int64), count)

    def real(count: int) -> Any:
        return np.broadcast_to(np.zeros(1), count)

    more = jobs + 1
    return Ground(
        job=whole(more),
        need=whole(more),
        at_once=real(more),
        later=real(more),
        submitted=real(more),
        delay=real(more),
        point=whole(more),
        worth_now=real(more),
        is_worthy=whole(more),
        ends=real(running),
        ending=whole(running),
        own_ends=real(more),
        own_ending=whole(more),
        rest=whole(more),
        begins=real(more),
        is_now=whole(more),
        counts=np.zeros(NUMBERS, np.int64),
        clock=np.zeros(MOMENTS),
    )


@kernel(allocates=False)
def hold_ground(machine: Machine, ground: Ground, may_stop: IntArray) -> None:
    """Write down what runs, but for the jobs that may be stopped, in order of ``machine.running``: they are to compete.

    A running job that should have ended is expected to end at this instant, but behind this decision.
    """
    present, count, stops, room = machine.clock[NOW], 0, 0, machine.counts[FREE]
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if stops < len(may_stop) and may_stop[stops] == job:
            room += machine.allocated[job]
            stops += 1
            continue
        end = max(machine.expected_end[job], present)
        if count > 0 and ground.ends[count - 1] == end:
            ground.ending[count - 1] += machine.allocated[job]
        else:
            ground.ends[count], ground.ending[count] = end, machine.allocated[job]
            count += 1
    ground.counts[GOING], ground.counts[ROOM] = count, room
    ground.counts[COMPETITORS], ground.counts[WORTHY] = 0, 0
    ground.clock[PRESENT], ground.clock[HORIZON] = present, present


@kernel(allocates=False)
def compete(
    ground: Ground, utility: Points, job: int, processors: int, at_once: float, later: float, since: float, delay: float
) -> int:
    """Let a job compete, behind those that do; return its place. It is worth what its function says."""
    place = ground.counts[COMPETITORS]
    ground.counts[COMPETITORS] += 1
    ground.job[place], ground.need[place] = job, processors
    ground.at_once[place], ground.later[place] = at_once, later
    ground.submitted[place], ground.delay[place] = since, delay
    time = instant(time_since(since, ground.clock[PRESENT]) + delay)
    point = first_point(utility, job, time)
    ground.point[place] = point
    ground.worth_now[place] = worth(utility, job, point, time) if point >= 0 else 0.0
    ground.is_worthy[place] = point >= 0
    if point >= 0:
        ground.counts[WORTHY] += 1
        last = utility.shape[1] - 1
        while np.isnan(utility[job, last, 0]):
            last -= 1
        ground.clock[HORIZON] = max(ground.clock[HORIZON], utility[job, last, 0] + since - delay + LEAST_TIME)
    return place


@kernel(allocates=False)
def compete_again(ground: Ground, utility: Points, place: int, time: float, boost: bool) -> None:
    """Let a place be a running job's: if it goes on it is worth what its function says of a time, and the boost."""
    job = ground.job[place]
    point = first_point(utility, job, time)
    worth_now = worth(utility, job, point, time) if point >= 0 else 0.0
    if boost and len(utility) > 0 and utility[job, 0, 1] > 0.0:
        worth_now += utility[job, 0, 1]
    ground.worth_now[place] = worth_now
    if worth_now > 0.0 and ground.is_worthy[place] == 0:
        ground.is_worthy[place] = 1
        ground.counts[WORTHY] += 1


@kernel(allocates=False)
def first_point(utility: Points, job: int, time: float) -> int:
    """Return the first point of a job's function, behind that of its submission, that is not over; -1 if all are."""
    if len(utility) == 0 or not utility[job, 0, 1] > 0.0:
        return -1
    point, points = 1, utility.shape[1]
    while point < points and utility[job, point, 0] < time:
        point += 1
    return -1 if point == points or np.isnan(utility[job, point, 0]) else point


@kernel(allocates=False)
def worth(utility: Points, job: int, point: int, time: float) -> float:
    """Return what a job's function says of a time: linear between points, 0 behind all; it looks from a point on."""
    points = utility.shape[1]
    while point < points and utility[job, point, 0] < time:
        point += 1
    if point == points or not utility[job, point, 0] >= time:
        return 0.0
    left, right = utility[job, point - 1, 0], utility[job, point, 0]
    low, high = utility[job, point - 1, 1], utility[job, point, 1]
    return low + (high - low) * ((time - left) / (right - left))


@kernel(allocates=False)
def play_easy(  # noqa: PLR0912, PLR0915 (one loop, which hands nothing on: here goes the time)
    ground: Ground, utility: Points, orders: IntArray, first: int, is_whole: bool
) -> float:
    """Play EASY forward on the order that begins at a place of ``orders``; return what the jobs are worth, in all.

    Unless it is to be whole, it stops where no job that is left will be worth anything: the begins of those are not
    written then. Worth adds up in the order of the starts.
    """
    need, begins, rest, is_now, is_worthy = ground.need, ground.begins, ground.rest, ground.is_now, ground.is_worthy
    own_ends, own_ending, ends, ending = ground.own_ends, ground.own_ending, ground.ends, ground.ending
    going, free = ground.counts[GOING], ground.counts[ROOM]
    now, horizon = ground.clock[PRESENT], ground.clock[HORIZON]
    total, takes, is_first = 0.0, ground.at_once, True
    over, own, owned = 0, 0, 0  # how many of the two lists of ends have come, and how many the second has
    head, count = 0, ground.counts[COMPETITORS]  # of ``rest``: who is left
    for i in range(count):
        rest[i] = orders[first + i]
    left = count if is_whole else ground.counts[WORTHY]
    while True:
        while head < count and need[rest[head]] <= free:
            place = rest[head]
            begins[place], is_now[place] = now, is_first
            free -= need[place]
            owned = end_at(own_ends, own_ending, own, owned, instant(now + takes[place]), need[place])
            total += worth_of_start(ground, utility, place, now, is_first)
            left -= is_whole or is_worthy[place] > 0
            head += 1
        if left == 0:
            return total
        shadow, extra = reserve(ground, need[rest[head]], now, free, over, own, owned)
        least = 0  # processors that whoever may go ahead needs at least
        while True:  # until the first can begin; its reservation does not change by who goes ahead of it
            if free >= least:
                window, kept, least = time_until(now, shadow), head + 1, EVERYBODY
                for i in range(head + 1, count):
                    place = rest[i]
                    if need[place] > free or (takes[place] > window and need[place] > extra):
                        least = min(least, need[place])
                        rest[kept] = place
                        kept += 1
                        continue
                    begins[place], is_now[place] = now, is_first
                    free -= need[place]
                    if takes[place] > window:
                        extra -= need[place]
                    owned = end_at(own_ends, own_ending, own, owned, instant(now + takes[place]), need[place])
                    total += worth_of_start(ground, utility, place, now, is_first)
                    left -= is_whole or is_worthy[place] > 0
                count = kept
                if left == 0:
                    return total
            takes, is_first = ground.later, False
            if over == going and own == owned:
                for i in range(head, count):
                    begins[rest[i]], is_now[rest[i]] = np.inf, False
                return total
            now = ends[over] if over < going else np.inf
            if own < owned and own_ends[own] < now:
                now = own_ends[own]
            while over < going and ends[over] == now:
                free += ending[over]
                over += 1
            while own < owned and own_ends[own] == now:
                free += own_ending[own]
                own += 1
            if now >= horizon and not is_whole:
                return total
            if now >= shadow:
                break


@kernel(allocates=False)
def reserve(ground: Ground, needed: int, now: float, free: int, over: int, own: int, owned: int) -> tuple[float, int]:
    """Return when so many processors are free, and how many more then: infinite where they never are."""
    ends, ending, own_ends, own_ending = ground.ends, ground.ending, ground.own_ends, ground.own_ending
    going, shadow = ground.counts[GOING], now
    while over < going or own < owned:
        is_own = own < owned and (over == going or own_ends[own] < ends[over])
        end = own_ends[own] if is_own else ends[over]
        if free >= needed and end > shadow:
            break
        shadow = end
        if is_own:
            free += own_ending[own]
            own += 1
        else:
            free += ending[over]
            over += 1
    return shadow if free >= needed else np.inf, free - needed


@kernel(allocates=False)
def end_at(own_ends: FloatArray, own_ending: IntArray, first: int, owned: int, end: float, processors: int) -> int:
    """Write down that processors are given back at a time; return how many such times there are."""
    place = owned
    while place > first and own_ends[place - 1] > end:
        own_ends[place], own_ending[place] = own_ends[place - 1], own_ending[place - 1]
        place -= 1
    own_ends[place], own_ending[place] = end, processors
    return owned + 1


@kernel(allocates=False)
def worth_of_start(ground: Ground, utility: Points, place: int, begin: float, is_first: bool) -> float:
    """Return what a job is worth that begins at a time."""
    if is_first:
        return ground.worth_now[place]
    if ground.point[place] < 0:
        return 0.0
    time = instant(time_since(ground.submitted[place], begin) + ground.delay[place])
    return worth(utility, ground.job[place], ground.point[place], time)


@kernel(allocates=False)
def place_all(
    ground: Ground, utility: Points, steps: FloatArray, rest: FloatArray, size: int, orders: IntArray, first: int
) -> float:
    """Place each job of the order that begins at a place of ``orders`` as early as the steps and those before it leave.

    Return what the jobs are worth, in all. ``rest`` is overwritten with the steps that are left over.
    """
    count, total = ground.counts[COMPETITORS], 0.0
    for number in range(2 * size):
        rest[number] = steps[number]
    for i in range(count):
        place = orders[first + i]
        processors, time = float(ground.need[place]), planned_length(ground.at_once[place])
        at, last = find_place(rest, 0, processors, time)
        begin = rest[2 * at]
        ground.begins[place], ground.is_now[place] = begin, begin <= ground.clock[PRESENT]
        total += worth_of_start(ground, utility, place, begin, begin <= ground.clock[PRESENT])
        if i < count - 1:
            size = take_place(rest, size, at, last, processors, time)
    return total

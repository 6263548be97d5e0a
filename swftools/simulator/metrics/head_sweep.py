# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of ``heads.py``: the runs of a schedule swept by time, and at each instant the first of the waiting jobs.

Jobs are numbered from 0 in order of priority, runs as in the schedule. At one instant everything happens before one
looks: submissions, starts, ends and stops; so a run of no length is never seen, nor a stop with the next run at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, ShortArray, TinyArray, kernel
from swftools.simulator.machine.event_queue import pop, push

NOBODY = -1

KILLED, CHECKPOINTED, SUSPENDED, RESIZED = range(4)
"""Ways in which a run is stopped, as places in ``ENDS`` of ``schedule.py``."""

HIGHER, EARLIER, EXPECTED = range(3)
"""Whose processors keep the head waiting: those of higher priority; these and all that ran before it was the head; or
all that run, by expected ends."""


class PrioritizedJobs(NamedTuple):
    """Jobs in order of priority: submission, s, and their first run, ``NOBODY`` of a job without any.

    ``estimated`` and ``requested`` (s) are infinite where they are missing; ``interval`` is the work between two
    checkpoints, s, and has no rows where the schedule does not say it.
    """

    submit: FloatArray
    first_run: ShortArray
    estimated: FloatArray
    requested: FloatArray
    interval: FloatArray


class RunsByStart(NamedTuple):
    """Runs as the schedule has them, and which of the same job is the next by start, ``NOBODY`` behind the last.

    ``how``: the way in which they ended, as a place in ``ENDS``; ``work`` and ``lost`` (s on the job's own width) were
    done in it, and of that lost, then or later. ``began``: when the job was started, where it was resized since;
    ``ends`` and ``limits``: when it is expected to end by estimate and by request. These three are filled here.
    """

    job: ShortArray
    following: ShortArray
    start: FloatArray
    end: FloatArray
    processors: IntArray
    how: TinyArray
    work: FloatArray
    lost: FloatArray
    overhead: FloatArray
    began: FloatArray
    ends: FloatArray
    limits: FloatArray


class Heads(NamedTuple):
    """Of each job that was ever the blocked head, for the last time; few jobs ever are. All times, s."""

    blocked_since: FloatArray
    start_time: FloatArray
    start_alone: FloatArray
    start_without_later: FloatArray
    reservation: FloatArray


class SweepMemory(NamedTuple):
    """Room for the sweep.

    Of jobs: the next run, the number of those going on, and whether the start is looked for that ends its last stint as
    head; of runs: those going on, and the place of each among them; heaps of jobs that wait again, and of ends of runs.
    ``number`` is the row of each job in ``Heads``, ``NOBODY`` of those never the head; ``heads`` how many were.
    There is room for one more than go on at once, ``most_at_once``, and than ever wait again, ``link_runs``.
    """

    next_run: ShortArray
    active: ShortArray
    is_head: TinyArray
    running: ShortArray
    place: ShortArray
    keys: FloatArray
    again: ShortArray
    times: FloatArray
    ending: ShortArray
    number: ShortArray
    heads: IntArray


@kernel(allocates=False)
def link_runs(
    job: ShortArray,
    by_start: ShortArray,
    start: FloatArray,
    submit: FloatArray,
    first: ShortArray,
    following: ShortArray,
) -> int:
    """Fill in the first run of each job, and the next of each run; return how often a job may wait again, at most.

    It does when a run with a next one ends, and when it is submitted after its first start, which no log of ours has.
    The caller guarantees that ``first`` is ``NOBODY`` throughout.
    """
    again = 0
    for i in range(len(by_start) - 1, -1, -1):
        run = by_start[i]
        following[run] = first[job[run]]
        first[job[run]] = run
        if following[run] != NOBODY:
            again += 1
        if start[run] < submit[job[run]]:
            again += 1
    return again


@kernel(allocates=False)
def most_at_once(start: FloatArray, end: FloatArray, by_start: ShortArray, by_end: ShortArray) -> int:
    """Return how many runs go on at once at most, where runs begin before others end at the same instant."""
    started = most = 0
    for ended in range(len(by_end)):
        while started < len(by_start) and start[by_start[started]] <= end[by_end[ended]]:
            started += 1
        most = max(most, started - ended)
    return most


@kernel(allocates=False)
def expect_ends(jobs: PrioritizedJobs, runs: RunsByStart) -> None:
    """Fill in when runs are expected to end, from the work that was kept when they began."""
    for job in range(len(jobs.submit)):
        done = 0.0
        run, before = jobs.first_run[job], NOBODY
        while run != NOBODY:
            begins = before == NOBODY or runs.how[before] != RESIZED or runs.end[before] != runs.start[run]
            runs.began[run] = runs.start[run] if begins else runs.began[before]
            work, overhead = runs.work[run], runs.overhead[run]
            stretch = (runs.end[run] - runs.start[run] - overhead) / work if work > 0.0 else 1.0
            if abs(stretch - 1.0) < 1e-9:  # it ran on its own width, and the quotient was rounded
                stretch = 1.0
            estimated, requested = jobs.estimated[job], jobs.requested[job]
            if done > 0.0 and estimated <= done:
                estimated = max(requested, done)  # the estimate was outlived in an earlier run
            runs.ends[run] = runs.start[run] + (overhead + (estimated - done) * stretch)
            runs.limits[run] = runs.start[run] + (overhead + (requested - done) * stretch)
            done += work
            if runs.how[run] == KILLED:
                done = 0.0
            elif runs.how[run] == CHECKPOINTED:
                if len(jobs.interval) == 0:
                    done = max(done - runs.lost[run], 0.0)
                elif jobs.interval[job] > 0.0:
                    done = np.floor(done / jobs.interval[job]) * jobs.interval[job]
                else:
                    done = 0.0
            before, run = run, runs.following[run]


@kernel(allocates=False)
def sweep(
    jobs: PrioritizedJobs,
    runs: RunsByStart,
    by_start: ShortArray,
    by_end: ShortArray,
    processors: int,
    room: SweepMemory,
    heads: Heads,
) -> None:
    """Fill ``heads``, as they come up; ``by_start`` and ``by_end`` have the runs in these orders.

    No run ends before it starts.
    """
    submitted = started = ended = fresh = waiting_again = going = 0
    last = NOBODY
    while ended < len(by_end):
        now = runs.end[by_end[ended]]
        if started < len(by_start):
            now = min(now, runs.start[by_start[started]])
        if submitted < len(jobs.submit):
            now = min(now, jobs.submit[submitted])
        while submitted < len(jobs.submit) and jobs.submit[submitted] == now:
            if room.next_run[submitted] != jobs.first_run[submitted]:  # it had run before: no log of ours has that
                push(room.keys, room.again, waiting_again, float(submitted), submitted)
                waiting_again += 1
            submitted += 1
        while started < len(by_start) and runs.start[by_start[started]] == now:
            run = by_start[started]
            job = runs.job[run]
            room.next_run[job] = runs.following[run]
            room.active[job] += 1
            room.running[going], room.place[run] = run, going
            going += 1
            started += 1
            if room.is_head[job]:
                heads.start_time[room.number[job]] = now
                room.is_head[job] = 0
        while ended < len(by_end) and runs.end[by_end[ended]] == now:
            run = by_end[ended]
            job = runs.job[run]
            room.active[job] -= 1
            going -= 1
            other = room.running[going]
            room.running[room.place[run]], room.place[other] = other, room.place[run]
            ended += 1
            if room.next_run[job] != NOBODY:
                push(room.keys, room.again, waiting_again, float(job), job)
                waiting_again += 1
        while fresh < submitted and not _is_fresh(jobs, room, fresh):
            fresh += 1
        while waiting_again > 0 and not _waits(room, submitted, room.again[0]):
            pop(room.keys, room.again, waiting_again)
            waiting_again -= 1
        head = fresh if fresh < submitted else NOBODY
        if waiting_again > 0 and (head == NOBODY or room.again[0] < head):
            head = room.again[0]
        if head != NOBODY:
            room.is_head[head] = 1
            if head != last:
                _look_ahead(runs, room.running[:going], processors, room, heads, head, now)
        last = head


@kernel(allocates=False)
def _is_fresh(jobs: PrioritizedJobs, room: SweepMemory, job: int) -> bool:
    """Whether a job has its first run to come."""
    return room.next_run[job] == jobs.first_run[job] and jobs.first_run[job] != NOBODY


@kernel(allocates=False)
def _waits(room: SweepMemory, submitted: int, job: int) -> bool:
    """Whether a job was submitted, does not run and has another run to come."""
    return job < submitted and room.active[job] == 0 and room.next_run[job] != NOBODY


@kernel(allocates=False)
def _look_ahead(
    runs: RunsByStart, running: ShortArray, processors: int, room: SweepMemory, heads: Heads, head: int, since: float
) -> None:
    """Fill in that a job has become the head, and when it could start."""
    if room.number[head] == NOBODY:
        room.number[head] = room.heads[0]
        room.heads[0] += 1
    place = room.number[head]
    heads.blocked_since[place], heads.start_time[place] = since, np.nan
    heads.start_alone[place] = _first_fit(runs, running, processors, room, head, since, HIGHER)
    heads.start_without_later[place] = _first_fit(runs, running, processors, room, head, since, EARLIER)
    heads.reservation[place] = _first_fit(runs, running, processors, room, head, since, EXPECTED)


@kernel(allocates=False)
def _first_fit(
    runs: RunsByStart,
    running: ShortArray,
    processors: int,
    room: SweepMemory,
    head: int,
    now: float,
    whose: int,
) -> float:
    """Return the first time from now on at which the runs that count leave enough for the head; NaN if never."""
    width, free, count = runs.processors[room.next_run[head]], processors, 0
    for run in running:
        if whose == EXPECTED or runs.job[run] < head or (whose == EARLIER and runs.began[run] < now):
            free -= runs.processors[run]
            end = runs.end[run]
            if whose == EXPECTED:
                end = runs.ends[run] if runs.ends[run] > now else max(runs.limits[run], now)
            push(room.times, room.ending, count, end, run)
            count += 1
    time = now
    while free < width and count > 0:
        time = room.times[0]
        while count > 0 and room.times[0] == time:
            run = pop(room.times, room.ending, count)
            count -= 1
            free += runs.processors[run]
            following = runs.following[run]
            if whose != EXPECTED and following != NOBODY and runs.began[following] < runs.start[following]:
                free -= runs.processors[following]  # it is resized, and goes on
                push(room.times, room.ending, count, runs.end[following], following)
                count += 1
    return time if free >= width and time < np.inf else np.nan

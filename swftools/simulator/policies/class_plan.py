# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the running and waiting jobs, on which EASY by classes decides and is played forward: for ``cirne-berman``.

The waiting jobs have their widths already. The same pass over the copy makes the decision of now and the later ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.instants import instant, time_until
from swftools.simulator.machine.state import FREE, RUNNING, Machine
from swftools.simulator.policies.class_line import Line, put_in_order


class ClassPlan(NamedTuple):
    """The copy: ``end`` and ``held`` of the running jobs, by end; ``waiting`` in the order of the queue.

    ``started`` are those that the last pass started; ``counts`` how many there are of each, and free processors. Of
    each job ``width`` is the width that it was given, 0 if none yet, and ``time`` how long it runs there (s).
    """

    end: FloatArray
    held: IntArray
    waiting: IntArray
    started: IntArray
    counts: IntArray
    width: IntArray
    time: FloatArray


GOING, QUEUED, BEGUN, LEFT = range(4)
"""Places in ``ClassPlan.counts``."""


def empty_class_plan(jobs: int, processors: int) -> ClassPlan:
    """Return a plan in which no job has a width."""
    most = min(jobs, processors) + 1
    return ClassPlan(
        end=np.zeros(most),
        held=np.zeros(most, np.int64),
        waiting=np.zeros(jobs, np.int64),
        started=np.zeros(jobs, np.int64),
        counts=np.zeros(4, np.int64),
        width=np.zeros(jobs, np.int64),
        time=np.zeros(jobs),
    )


@kernel(allocates=False)
def copy_machine(machine: Machine, plan: ClassPlan, line: Line, count: int) -> None:
    """Copy what runs, and of the first waiting jobs those that have a width."""
    counts = plan.counts
    counts[GOING], counts[LEFT], counts[QUEUED] = machine.counts[RUNNING], machine.counts[FREE], 0
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        plan.end[i], plan.held[i] = machine.expected_end[job], machine.allocated[job]
    for i in range(count):
        job = line.waiting[i]
        if plan.width[job] > 0:
            plan.waiting[counts[QUEUED]] = job
            counts[QUEUED] += 1


@kernel(allocates=False)
def decide_on(plan: ClassPlan, line: Line, now: float) -> None:
    """Start jobs of the plan as EASY in order of class does at a time."""
    counts, order = plan.counts, line.order
    put_in_order(line, plan.waiting, counts[QUEUED], now)
    counts[BEGUN] = place = 0
    while place < counts[QUEUED] and plan.width[order[place]] <= counts[LEFT]:
        _begin(plan, order[place], now)
        place += 1
    if place < counts[QUEUED] and counts[LEFT] > 0:
        available, shadow, i = counts[LEFT], now, 0
        wanted = plan.width[order[place]]
        while i < counts[GOING] and (available < wanted or plan.end[i] <= shadow):
            available += plan.held[i]
            shadow = max(plan.end[i], now)
            i += 1
        extra, time = available - wanted, time_until(now, shadow)
        for k in range(place + 1, counts[QUEUED]):
            job = order[k]
            if plan.width[job] <= counts[LEFT] and (plan.time[job] <= time or plan.width[job] <= extra):
                if plan.time[job] > time:
                    extra -= plan.width[job]
                _begin(plan, job, now)
    _leave_out_started(plan)


@kernel(allocates=False)
def play(plan: ClassPlan, line: Line, job: int, now: float, longest: float) -> float:
    """Return how long after now a waiting job ends if nobody else comes; infinity if that is later than longest."""
    time = now
    while time - now + plan.time[job] <= longest:
        decide_on(plan, line, time)
        for i in range(plan.counts[BEGUN]):
            if plan.started[i] == job:
                return time - now + plan.time[job]
        time = max(plan.end[0], time)
        _end_until(plan, time)
    return np.inf


@kernel(allocates=False)
def _begin(plan: ClassPlan, job: int, now: float) -> None:
    """Start a job of the plan."""
    counts = plan.counts
    end, place = instant(now + plan.time[job]), counts[GOING]
    while place > 0 and plan.end[place - 1] > end:
        plan.end[place], plan.held[place] = plan.end[place - 1], plan.held[place - 1]
        place -= 1
    plan.end[place], plan.held[place] = end, plan.width[job]
    counts[GOING] += 1
    counts[LEFT] -= plan.width[job]
    plan.started[counts[BEGUN]] = job
    counts[BEGUN] += 1


@kernel(allocates=False)
def _leave_out_started(plan: ClassPlan) -> None:
    """Take those that this pass started out of the waiting ones."""
    counts, kept = plan.counts, 0
    if counts[BEGUN] == 0:
        return
    for i in range(counts[QUEUED]):
        has_started = False
        for k in range(counts[BEGUN]):
            has_started = has_started or plan.started[k] == plan.waiting[i]
        if not has_started:
            plan.waiting[kept] = plan.waiting[i]
            kept += 1
    counts[QUEUED] = kept


@kernel(allocates=False)
def _end_until(plan: ClassPlan, time: float) -> None:
    """Take those that end by a time out of the running ones."""
    counts, ended = plan.counts, 0
    while ended < counts[GOING] and plan.end[ended] <= time:
        counts[LEFT] += plan.held[ended]
        ended += 1
    counts[GOING] -= ended
    for i in range(counts[GOING]):
        plan.end[i], plan.held[i] = plan.end[i + ended], plan.held[i + ended]

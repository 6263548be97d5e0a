# SPDX-License-Identifier: BSD-3-Clause
"""Free processors over time for a search, which places jobs and takes them back millions of times a second.

An array of pairs in order of time, the begin of a step and the processors that are free in it: short enough to be
walked through and moved, which for some dozens of steps is faster than any index (``swftools.simulator.profile`` has
one, for thousands). Behind the last step stand two that begin at infinity with room for all, so that every walk ends.
A reservation may leave two neighbours of equal level, which disturbs nothing.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray, kernel
from swftools.simulator.instants import instant
from swftools.simulator.machine.state import CAPACITY, NOW, RUNNING, Machine
from swftools.simulator.planning import LEAST_TIME, planned_end

GUARDS = 2
"""Steps at infinity, counted among the steps."""


@kernel(allocates=False)
def begin_steps(machine: Machine, steps: FloatArray) -> int:
    """Write down what the running jobs leave free from now on; return the number of steps.

    As in other plans: those that are expected to take no time hold their processors for ``LEAST_TIME``, and those that
    should have ended already hold nothing.
    """
    now, held = machine.clock[NOW], 0
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        if planned_end(machine, job, LEAST_TIME) > now:
            held += machine.allocated[job]
    steps[0], steps[1] = now, float(machine.counts[CAPACITY] - held)
    for i in range(1, 1 + GUARDS):
        steps[2 * i], steps[2 * i + 1] = np.inf, np.inf
    size = 1 + GUARDS
    for i in range(machine.counts[RUNNING]):
        job = machine.running[i]
        end = planned_end(machine, job, LEAST_TIME)
        if now < end < np.inf:
            place = size - GUARDS
            while steps[2 * place - 2] > end:
                place -= 1
            # All steps but the guards that begin at the end or later have more free; the new one, what is before it.
            if steps[2 * place - 2] == end:
                place -= 1
            else:
                for later in range(size - 1, place - 1, -1):
                    steps[2 * later + 2], steps[2 * later + 3] = steps[2 * later], steps[2 * later + 1]
                steps[2 * place], steps[2 * place + 1] = end, steps[2 * place - 1]
                size += 1
            for later in range(place, size - GUARDS):
                steps[2 * later + 1] += float(machine.allocated[job])
    return size


@kernel(allocates=False)
def find_place(steps: FloatArray, first: int, processors: float, time: float) -> tuple[int, int]:
    """Return the earliest step, not before ``first``, at which so many are free for a time, and the one behind it all.

    At infinity if there is none.
    """
    while True:
        while steps[2 * first + 1] < processors:
            first += 1
        end = instant(steps[2 * first] + time)
        last = first + 1
        while steps[2 * last] < end and steps[2 * last + 1] >= processors:
            last += 1
        if steps[2 * last] >= end:
            return first, last
        first = last


@kernel(allocates=False)
def take_place(steps: FloatArray, size: int, first: int, last: int, processors: float, time: float) -> int:
    """Take processors from what ``find_place`` found; return the number of steps."""
    end = instant(steps[2 * first] + time)
    if steps[2 * last] != end:
        for later in range(size - 1, last - 1, -1):
            steps[2 * later + 2], steps[2 * later + 3] = steps[2 * later], steps[2 * later + 1]
        steps[2 * last], steps[2 * last + 1] = end, steps[2 * last - 1]
        size += 1
    for step in range(first, last):
        steps[2 * step + 1] -= processors
    return size


@kernel(allocates=False)
def give_back(steps: FloatArray, size: int, first: int, last: int, processors: float, before: int) -> None:
    """Undo what was taken last, before which there were so many steps."""
    for step in range(first, last):
        steps[2 * step + 1] += processors
    if size > before:
        for later in range(last, size - 1):
            steps[2 * later], steps[2 * later + 1] = steps[2 * later + 2], steps[2 * later + 3]

# SPDX-License-Identifier: BSD-3-Clause
"""The waiting jobs by class of run time, shortest first: what ``fixed``, ``scojo-p`` and ``cirne-berman`` share.

A job is short, medium or long by its run time on its optimal width. Short jobs go first, and within a class jobs that
were submitted earlier. A medium or long job that has waited ``aging`` times its run time goes up one class, once.

For a job with a curve of Downey, the optimal width is the one within its bounds with the least run time / efficiency.
For any other job it is the job's own width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.models.speedup import DOWNEY, NO_CURVE, downey_optimum_at, downey_speedup_at
from swftools.parameters import Parameters, number
from swftools.simulator.instants import instant
from swftools.simulator.machine.state import CAPACITY, DISTURBED, NOW, SUBMITTED, Machine
from swftools.simulator.machine.views import first_waiting, next_waiting
from swftools.simulator.machine.waiting_queue import NOBODY, is_waiting
from swftools.simulator.machine.work import stretch_on
from swftools.simulator.memory_transfer import check_sound, renumber, renumber_count

SHORT, MEDIUM, LONG = range(3)
CLASSES = 3


@dataclass(frozen=True)
class ClassParameters(Parameters):
    """Parameters of classes and priorities.

    Parameters
    ----------
    short : float
        Jobs that run less than this, s, are short.
    long : float
        Jobs that run at least this long, s, are long, unless they are short. Those between are medium.
    aging : float
        A waiting job goes up one class after this many times its run time; 0: never.
    """

    short: float = number(60.0, least=0, unit="s")
    long: float = number(3600.0, least=0, unit="s")
    aging: float = number(5.0, least=0)


class Line(NamedTuple):
    """The waiting jobs, and what is known of each job that was submitted.

    ``waiting`` has them in the order of the queue, ``order`` in that of their priorities; of each the first
    ``counts[LINED_UP]``. A job runs on ``least`` to ``most`` processors, best on ``optimum``, where it takes ``time``
    (s). ``kind`` is its class, and from ``ages`` (s) on it counts as one class shorter.
    """

    waiting: IntArray
    order: IntArray
    least: IntArray
    most: IntArray
    optimum: IntArray
    time: FloatArray
    kind: IntArray
    ages: FloatArray
    counts: IntArray


LINED_UP, SEEN, BEFORE = range(3)
"""Places in ``Line.counts``: jobs that wait, jobs submitted by then, how often the queue was disturbed by then."""


def empty_line(jobs: int, processors: int) -> Line:  # noqa: ARG001 (as all memories)
    """Return the line before the first job."""
    return Line(
        waiting=np.zeros(jobs, np.int64),
        order=np.zeros(jobs, np.int64),
        least=np.zeros(jobs, np.int64),
        most=np.zeros(jobs, np.int64),
        optimum=np.zeros(jobs, np.int64),
        time=np.zeros(jobs),
        kind=np.zeros(jobs, np.int64),
        ages=np.zeros(jobs),
        counts=np.zeros(3, np.int64),
    )


def carry_line(old: Line, new: Line, jobs: IntArray) -> None:
    """Take along who stands in line, and what is noted of jobs."""
    for ours, theirs in zip(old[2:8], new[2:8], strict=True):  # from ``least`` to ``ages``
        theirs[: len(jobs)] = ours[jobs]
    waiting = renumber(old.waiting[: old.counts[LINED_UP]], jobs)
    new.waiting[: len(waiting)] = waiting
    new.counts[LINED_UP], new.counts[BEFORE] = len(waiting), old.counts[BEFORE]
    new.counts[SEEN] = renumber_count(int(old.counts[SEEN]), jobs)


def restore_line(old: Line, new: Line, machine: Machine) -> None:
    """Take out of a saved state who stands in line, and what is noted of jobs."""
    submitted, seen, count = int(machine.counts[SUBMITTED]), int(old.counts[SEEN]), int(old.counts[LINED_UP])
    check_sound(0 <= seen <= submitted and 0 <= count <= seen, "more jobs than were submitted")
    waiting = old.waiting[:count]
    is_listed = np.zeros(submitted, np.bool_)
    check_sound((waiting >= 0).all() and (waiting < seen).all(), "a job in line that there is not")
    is_listed[waiting] = True
    check_sound(is_listed.sum() == count, "a job stands in line twice")
    carry_line(old, new, np.arange(submitted))
    least, most = old.least[:seen], old.most[:seen]
    check_sound((least >= 1).all() and (least <= most).all(), "a width that is none")
    check_sound((most <= machine.counts[CAPACITY]).all(), "a width beyond the machine")
    check_sound(((old.optimum[:seen] >= least) & (old.optimum[:seen] <= most)).all(), "an optimum that is none")
    check_sound(((old.kind[:seen] >= 0) & (old.kind[:seen] < CLASSES)).all(), "a class that is none")
    check_sound((old.ages[:seen][old.kind[:seen] == SHORT] == np.inf).all(), "a short job that ages")
    check_sound((old.time[:seen] >= 0).all() and not np.isnan(old.ages[:seen]).any(), "a time that is none")


@kernel(allocates=False)
def line_up(machine: Machine, line: Line, parameters: Any) -> int:
    """Bring the line up to date with the machine; return how many jobs wait."""
    counts, waiting = line.counts, line.waiting
    count = 0
    if counts[BEFORE] != machine.counts[DISTURBED]:  # jobs came back, or are predicted anew
        job = first_waiting(machine)
        while job != NOBODY:
            if job < counts[SEEN]:
                describe(machine, line, job, parameters)
                waiting[count] = job
                count += 1
            job = next_waiting(machine, job)
        counts[BEFORE] = machine.counts[DISTURBED]
    else:
        for i in range(counts[LINED_UP]):
            if is_waiting(machine.queue, waiting[i]):
                waiting[count] = waiting[i]
                count += 1
    while counts[SEEN] < machine.counts[SUBMITTED]:
        job = counts[SEEN]
        describe(machine, line, job, parameters)
        if is_waiting(machine.queue, job):
            waiting[count] = job
            count += 1
        counts[SEEN] += 1
    counts[LINED_UP] = count
    put_in_order(line, waiting, count, machine.clock[NOW])
    return count


@kernel(allocates=False)
def put_in_order(line: Line, waiting: IntArray, count: int, now: float) -> None:
    """Put jobs, given in the order of the queue, in that of their priorities at a time."""
    place = 0
    for rank in range(CLASSES):
        for i in range(count):
            job = waiting[i]
            if line.kind[job] - (1 if now >= line.ages[job] else 0) == rank:
                line.order[place] = job
                place += 1


@kernel(allocates=False)
def describe(machine: Machine, line: Line, job: int, parameters: Any) -> None:
    """Note the bounds, the optimum and the class of a job."""
    own = machine.requests.processors[job]
    least = most = best = own
    if len(machine.requests.speedup) > 0 and machine.requests.speedup[job, 0] != NO_CURVE:
        bounds = machine.requests.speedup[job]
        low, high = max(int(bounds[3]), 1), min(int(bounds[4]), machine.counts[CAPACITY])
        if bounds[0] == DOWNEY:
            wanted = _working_set(bounds[1], bounds[2])
        else:
            wanted, low = own, max(low, own - own // 2)  # a simple curve has nothing below half the width
        if wanted > 0 and low <= high:
            wanted = max(min(wanted, high), low)
            if stretch_on(machine, job, wanted) > 0.0:
                least, most, best = low, high, wanted
    line.least[job], line.most[job], line.optimum[job] = least, most, best
    time = machine.requests.requested_time[job] * stretch_on(machine, job, best)
    line.time[job] = time
    kind = SHORT if time < parameters.short else LONG if time >= parameters.long else MEDIUM
    line.kind[job] = kind
    may_age = kind != SHORT and parameters.aging > 0.0
    line.ages[job] = instant(machine.requests.submit_time[job] + parameters.aging * time) if may_age else np.inf


@kernel(allocates=False)
def time_on(machine: Machine, job: int, processors: int) -> float:
    """Return how long a waiting job is expected to run on processors, s; infinity if it cannot."""
    stretch = stretch_on(machine, job, processors)
    return machine.requests.requested_time[job] * stretch if stretch > 0.0 else np.inf


@kernel(allocates=False)
def resized(line: Line, job: int, factor: float) -> int:
    """Return the optimal width of a job times a factor, rounded, within its bounds."""
    wanted = min(np.floor(line.optimum[job] * factor + 0.5), float(line.most[job]))
    return max(int(wanted), line.least[job])


@kernel(allocates=False)
def _working_set(a: float, sigma: float) -> int:
    """Return the whole width with the least run time / efficiency; 0 if there is no such curve."""
    if not (a >= 1.0 and sigma >= 0.0):
        return 0
    low = np.floor(min(downey_optimum_at(a, sigma), 2.0**40))
    slow, fast = downey_speedup_at(low, a, sigma), downey_speedup_at(low + 1.0, a, sigma)
    return int(low) if low / slow**2 <= (low + 1.0) / fast**2 else int(low) + 1

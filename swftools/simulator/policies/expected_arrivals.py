# SPDX-License-Identifier: BSD-3-Clause
"""How many jobs of each class are expected to come, and how large: by half hours of the day.

The expectation is learned from the jobs that were submitted so far, or once from a workload of the model of Lublin and
Feitelson. No jobs are expected of a class that has not been seen yet.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.models.daily_cycle import BUCKET, BUCKETS, DAY
from swftools.models.speedup import (
    DOWNEY,
    NO_CURVE,
    SIMPLE,
    downey_maximum_at,
    downey_speedup_at,
    simple_speedup_at,
)
from swftools.parameters import LARGEST_SEED
from swftools.simulator.machine.event_queue import pop, push
from swftools.simulator.machine.state import CAPACITY, NOW, Machine
from swftools.simulator.machine.views import is_away
from swftools.simulator.policies.class_line import CLASSES, LONG, MEDIUM, SEEN, SHORT, Line

PAST, MODEL = range(2)
PROFILES = ("past", "model")
"""Where expectations come from."""

_MODEL_JOBS = 100_000


class Arrivals(NamedTuple):
    """What is known of the jobs of each class.

    ``by_half_hour``: 49 numbers a class, how many came before each half hour of any day; ``curves``: three numbers a
    class, how many jobs have no curve, one of Downey, a simple one; ``size`` and ``time``: the sums of their optimal
    widths, and of their run times there (s); ``a`` and ``sigma``: medians of Downey's curves, ``keys`` and ``jobs``
    room to find them. ``days``: how many were learned from, NaN while they go on. ``learned``: jobs learned from.
    """

    by_half_hour: FloatArray
    curves: IntArray
    size: FloatArray
    time: FloatArray
    a: FloatArray
    sigma: FloatArray
    keys: FloatArray
    jobs: IntArray
    days: FloatArray
    learned: IntArray


def no_arrivals(jobs: int) -> Arrivals:
    """Return what is known before the first job."""
    return Arrivals(
        by_half_hour=np.zeros(CLASSES * (BUCKETS + 1)),
        curves=np.zeros(CLASSES * 3, np.int64),
        size=np.zeros(CLASSES),
        time=np.zeros(CLASSES),
        a=np.zeros(CLASSES),
        sigma=np.zeros(CLASSES),
        keys=np.zeros(jobs),
        jobs=np.zeros(jobs, np.int64),
        days=np.full(1, np.nan),
        learned=np.zeros(1, np.int64),
    )


@cache
def model_arrivals(processors: int, alpha: float, short: float, long: float) -> Arrivals:
    """Return what the model of Lublin and Feitelson sends in the long run; its jobs have simple curves."""
    from swftools.models.lublin_feitelson import generate  # noqa: PLC0415 (only where it is asked for)

    jobs = generate(_MODEL_JOBS, processors=processors, seed=LARGEST_SEED, alpha=alpha).arrays
    known = no_arrivals(0)
    half_hour = ((jobs.submit_time % DAY) // BUCKET).astype(np.int64)
    kind = np.where(jobs.run_time < short, SHORT, np.where(jobs.run_time >= long, LONG, MEDIUM))
    for each in range(CLASSES):
        mine, first = kind == each, each * (BUCKETS + 1)
        counts = np.bincount(half_hour[mine], minlength=BUCKETS)
        known.by_half_hour[first + 1 : first + BUCKETS + 1] = np.cumsum(counts)
        known.curves[3 * each + SIMPLE + 1] = mine.sum()
        known.size[each], known.time[each] = jobs.width[mine].sum(), jobs.run_time[mine].sum()
    known.days[0] = max(jobs.submit_time[-1] / DAY, 1.0)
    return known


@kernel(allocates=False)
def learn(machine: Machine, line: Line, arrivals: Arrivals) -> None:
    """Learn from the jobs that were submitted since the last time, by what is predicted of them."""
    requests = machine.requests
    while arrivals.learned[0] < line.counts[SEEN]:
        job = arrivals.learned[0]
        arrivals.learned[0] += 1
        if is_away(machine, job):
            continue
        kind = line.kind[job]
        half_hour = int((requests.submit_time[job] % DAY) // BUCKET)
        for later in range(half_hour + 1, BUCKETS + 1):
            arrivals.by_half_hour[kind * (BUCKETS + 1) + later] += 1.0
        arrivals.size[kind] += line.optimum[job]
        arrivals.time[kind] += line.time[job]
        curve = NO_CURVE
        if line.least[job] < line.most[job]:
            curve = int(requests.speedup[job, 0])
        arrivals.curves[3 * kind + curve + 1] += 1
        count = arrivals.curves[3 * kind + DOWNEY + 1]
        if curve == DOWNEY and count & (count - 1) == 0:  # anew whenever there are twice as many: it takes a while
            arrivals.a[kind] = _median(machine, line, arrivals, kind, 1)
            arrivals.sigma[kind] = _median(machine, line, arrivals, kind, 2)


@kernel(allocates=False)
def _median(machine: Machine, line: Line, arrivals: Arrivals, kind: int, column: int) -> float:
    """Return the median, of two the lower, of a column of the Downey curves of a class."""
    speedup, count = machine.requests.speedup, 0
    for job in range(arrivals.learned[0]):
        if line.kind[job] == kind and line.least[job] < line.most[job] and speedup[job, 0] == DOWNEY:
            push(arrivals.keys, arrivals.jobs, count, speedup[job, column], job)
            count += 1
    for _ in range((count - 1) // 2):
        pop(arrivals.keys, arrivals.jobs, count)
        count -= 1
    return arrivals.keys[0]


@kernel(allocates=False)
def expected_jobs(machine: Machine, arrivals: Arrivals, kind: int, time: float) -> float:
    """Return how many jobs of a class are expected within a time from now, parts of half hours by their share."""
    now, days = machine.clock[NOW], arrivals.days[0]
    if np.isnan(days):
        days = max((now - machine.requests.submit_time[0]) / DAY, 1.0)
    return (_jobs_until(arrivals, kind, now + time) - _jobs_until(arrivals, kind, now)) / days


@kernel(allocates=False)
def _jobs_until(arrivals: Arrivals, kind: int, time: float) -> float:
    """Return how many jobs would come until a time if each day were all days that were learned from."""
    first = kind * (BUCKETS + 1)
    day = np.floor(time / DAY)
    half_hours = (time - day * DAY) / BUCKET
    before = min(int(half_hours), BUCKETS - 1)
    since = half_hours - before
    below, above = arrivals.by_half_hour[first + before], arrivals.by_half_hour[first + before + 1]
    return day * arrivals.by_half_hour[first + BUCKETS] + below + since * (above - below)


@kernel(allocates=False)
def future_work(machine: Machine, arrivals: Arrivals, factor: float, time: float) -> float:
    """Return the work, processors times s, of those expected within a time, that falls into as much time.

    Each has the mean optimal width of its class times a factor, within the bounds of the class's usual curve, and runs
    the mean time stretched by that curve.
    """
    capacity, work = float(machine.counts[CAPACITY]), 0.0
    for kind in range(CLASSES):
        curves = arrivals.curves[3 * kind : 3 * kind + 3]
        count = curves[0] + curves[1] + curves[2]
        if count == 0:
            continue
        optimum, run_time = arrivals.size[kind] / count, arrivals.time[kind] / count
        size = optimum
        if curves[SIMPLE + 1] > max(curves[NO_CURVE + 1], curves[DOWNEY + 1]):
            size = max(min(optimum * factor, 2.0 * optimum, capacity), optimum / 2.0, 1.0)
            run_time *= simple_speedup_at(optimum, optimum) / simple_speedup_at(size, optimum)
        elif curves[DOWNEY + 1] > curves[NO_CURVE + 1]:
            a, sigma = arrivals.a[kind], arrivals.sigma[kind]
            most = max(min(downey_maximum_at(a, sigma), capacity), optimum)
            size = max(min(optimum * factor, most), 1.0)
            run_time *= downey_speedup_at(optimum, a, sigma) / downey_speedup_at(size, a, sigma)
        work += expected_jobs(machine, arrivals, kind, time) * size * min(run_time, time)
    return work

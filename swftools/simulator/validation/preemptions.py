# SPDX-License-Identifier: BSD-3-Clause
"""What PV-EASY promises of every schedule, in which jobs may have several runs; recomputed from the schedule alone.

References
----------
Yuan, Yang, Wu and Zheng 2010, "PV-EASY: a strict fairness guaranteed and prediction enabled scheduler in parallel job
scheduling", sections 3.1 (strict fairness) and 4.2, 4.3 (whom preemption is for, and that nothing is left idle).
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.simulator.validation.in_use import processors_in_use
from swftools.simulator.validation.promises import Broken
from swftools.simulator.validation.runs import SoundJobs, SoundRuns


def find_unfair_delays(jobs: SoundJobs, runs: SoundRuns, processors: int, tolerance: float) -> Broken:
    """Find blocked heads that start later than they would alone; ``latest`` is when they would have.

    A head is the waiting job of highest priority, which is order of submission, after all that happens at an instant.
    Alone is: if from then on all jobs of lower priority were absent. A job that is the head several times counts by the
    last. Jobs are places in ``schedule.jobs``, here and below.
    """
    order = np.lexsort((jobs.occurrence, jobs.number, jobs.submit))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    known = runs._replace(job=place[runs.job])
    by_start, by_end = (np.argsort(times, kind="stable") for times in (runs.start, runs.end))
    since, alone, began = (np.full(len(order), np.nan) for _ in range(3))
    _follow_heads(jobs.submit[order], known, by_start, by_end, processors, since, alone, began)
    late = np.flatnonzero(began > alone + tolerance)
    return Broken(order[late], alone[late], int((~np.isnan(since)).sum()), 0)


@kernel
def _follow_heads(
    submit: FloatArray,
    runs: SoundRuns,
    by_start: IntArray,
    by_end: IntArray,
    processors: int,
    since: FloatArray,
    alone: FloatArray,
    began: FloatArray,
) -> None:
    """Fill in of each job, in order of priority, since when it was the head, when it would start alone, and did."""
    job, start, end, width = runs.job, runs.start, runs.end, runs.processors
    count = len(submit)
    left, widths = np.zeros(count, np.int64), np.zeros(count, np.int64)
    for run in range(len(job)):
        left[job[run]] += 1  # runs to come
        widths[job[run]] = width[run]
    is_going, going = np.zeros(count, np.bool_), np.empty(len(job), np.int64)
    submitted = started = ended = first = many = 0
    last = -1
    while ended < len(job):
        now = end[by_end[ended]]
        if started < len(job):
            now = min(now, start[by_start[started]])
        if submitted < count:
            now = min(now, submit[submitted])
        while submitted < count and submit[submitted] <= now:
            submitted += 1
        while started < len(job) and start[by_start[started]] <= now:
            run = by_start[started]
            started += 1
            left[job[run]] -= 1
            going[many] = run
            many += 1
            if since[job[run]] <= now and np.isnan(began[job[run]]):
                began[job[run]] = now
        while ended < len(job) and end[by_end[ended]] <= now:
            run = by_end[ended]
            ended += 1
            place = 0
            while going[place] != run:
                place += 1
            many -= 1
            going[place] = going[many]
            is_going[job[run]] = False
            if left[job[run]] > 0:
                first = min(first, job[run])
        for i in range(many):
            is_going[job[going[i]]] = True
        while first < submitted and (is_going[first] or left[first] == 0):
            first += 1
        head = first if first < submitted else -1
        if head >= 0 and head != last:
            since[head], began[head] = now, np.nan
            ahead = going[:many][job[going[:many]] < head]
            alone[head] = _first_room(ahead, end, width, processors - widths[head], now)
        last = head


@kernel
def _first_room(ahead: IntArray, end: FloatArray, width: IntArray, most: int, now: float) -> float:
    """Return from when on some runs hold no more processors than that."""
    held = width[ahead].sum()
    when = now
    for run in ahead[np.argsort(end[ahead], kind="mergesort")]:
        if held <= most:
            break
        held -= width[run]
        when = end[run]
    return when


def find_idle_processors(jobs: SoundJobs, runs: SoundRuns, processors: int, tolerance: float) -> Broken:
    """Find jobs that wait while enough processors are free for them; ``latest`` is the first such moment.

    A job waits from its submission to its first run, and from each stop to its next run.
    """
    order = np.lexsort((runs.end, runs.start, runs.job))
    job, start = runs.job[order], runs.start[order]
    is_first = np.diff(job, prepend=-1) > 0
    since = np.where(is_first, jobs.submit[job], np.roll(runs.end[order], 1))
    waits = start > since + tolerance
    job, begin, end, width = job[waits], since[waits], start[waits], runs.processors[order][waits]
    # Moments at which a job begins to wait are among the times, as runs of no length.
    times, used = processors_in_use(
        np.append(runs.start, begin), np.append(runs.end, begin), np.append(runs.processors, 0 * job)
    )
    lasting = np.append(np.diff(times) > tolerance, False)
    used = np.where(lasting, used, np.iinfo(np.int64).max)
    first, behind = np.searchsorted(times, begin), np.searchsorted(times, end)
    wrong = np.flatnonzero(_least_of_each(used, first, behind) + width <= processors)
    latest = [
        times[b + np.flatnonzero(used[b:e] + w <= processors)[0]]
        for b, e, w in zip(first[wrong], behind[wrong], width[wrong], strict=True)
    ]
    return _first_of_each(job[wrong], np.array(latest, dtype=np.float64), len(job))


def find_stops_in_vain(jobs: SoundJobs, runs: SoundRuns) -> Broken:
    """Find jobs that are stopped though none of higher priority starts for good then; ``latest`` is the stop."""
    place = np.empty(len(jobs.number), np.int64)
    place[np.lexsort((jobs.occurrence, jobs.number, jobs.submit))] = np.arange(len(place))
    stopped, final = np.flatnonzero(runs.stopped), np.flatnonzero(~runs.stopped)
    # For each instant the highest priority of those that start then, and are not stopped again.
    times, at = np.unique(runs.start[final], return_inverse=True)
    highest = np.full(len(times) + 1, len(place))
    np.minimum.at(highest, at, place[runs.job[final]])
    moment = runs.end[stopped]
    where = np.searchsorted(times, moment)
    starts = (where < len(times)) & (np.append(times, np.nan)[where] == moment)
    wrong = stopped[~(starts & (highest[where] < place[runs.job[stopped]]))]
    return _first_of_each(runs.job[wrong], runs.end[wrong], len(stopped))


def _least_of_each(values: IntArray, first: IntArray, behind: IntArray) -> IntArray:
    """Return the least of each stretch of values, none of which is empty; stretches may overlap."""
    least = np.full(len(first), np.iinfo(np.int64).max)
    length = behind - first
    span, longest = 1, length.max(initial=0)
    while span <= longest:
        fits = (length >= span) & (length < 2 * span)  # two stretches of this span cover it
        least[fits] = np.minimum(values[first[fits]], values[behind[fits] - span])
        values = np.minimum(values[:-span], values[span:]) if 2 * span <= longest else values
        span *= 2
    return least


def _first_of_each(job: IntArray, latest: FloatArray, made: int) -> Broken:
    """Return the first broken promise of each job."""
    order = np.lexsort((latest, job))
    _, first = np.unique(job[order], return_index=True)
    chosen = order[first]
    return Broken(job[chosen], latest[chosen], made, 0)


def find_repeated_stops(jobs: SoundJobs, runs: SoundRuns) -> Broken:
    """Find jobs that are stopped though they were stopped before or write no checkpoints; ``latest`` is when.

    What they promise who let running jobs go on later from a checkpoint, once at most (Lee 2009, section 6.7.1).
    """
    stops = np.flatnonzero(runs.stopped)
    stops = stops[np.argsort(runs.end[stops], kind="stable")]
    job = runs.job[stops]
    is_first = np.zeros(len(stops), np.bool_)
    is_first[np.unique(job, return_index=True)[1]] = True
    wrong = ~is_first | ~(jobs.interval[job] > 0.0)
    return _first_of_each(job[wrong], runs.end[stops][wrong], len(stops))

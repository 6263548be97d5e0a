"""What PV-EASY promises of every schedule, in which jobs may have several runs; recomputed from the schedule alone.

References
----------
Yuan, Yang, Wu and Zheng 2010, "PV-EASY: a strict fairness guaranteed and prediction enabled scheduler in parallel job
scheduling", sections 3.1 (strict fairness) and 4.2, 4.3 (whom preemption is for, and that nothing is left idle).
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.simulator.metrics.heads import heads_of
from swftools.simulator.schedule import Schedule
from swftools.simulator.validation.promises import Broken, processors_in_use
from swftools.simulator.validation.runs import Jobs, Runs


def find_unfair_delays(schedule: Schedule, tolerance: float) -> Broken:
    """Find blocked heads that start later than they would alone; ``latest`` is when they would have.

    Alone is: if from the moment at which the job was the first waiting one, and did not fit, all jobs of lower priority
    were absent. Jobs are places in ``schedule.jobs``, here and below.
    """
    heads = heads_of(schedule)
    late = np.flatnonzero(heads.start_time > heads.start_alone + tolerance)
    return Broken(late, heads.start_alone[late], int((~np.isnan(heads.blocked_since)).sum()), 0)


def find_idle_processors(jobs: Jobs, runs: Runs, processors: int, tolerance: float) -> Broken:
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


def find_stops_in_vain(jobs: Jobs, runs: Runs) -> Broken:
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

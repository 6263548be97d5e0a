# SPDX-License-Identifier: BSD-3-Clause
"""What the replay of a queue goes on with, and one step of it: a job is submitted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import FloatArray, IntArray, kernel, untouched_zeros
from swftools.qbets.bounds.binomial import HEAP, largest_below
from swftools.qbets.bounds.registry import add_signature, bound_signature
from swftools.qbets.change_points import RareEvents
from swftools.qbets.clusters import DistinctValues, Merging, add_value, find_clusters, no_merging, no_values
from swftools.qbets.history import (
    VALUES,
    History,
    Regrouping,
    Trimming,
    cluster_of,
    empty_history,
    learn,
    no_regrouping,
    regroup,
    trimming_by,
)
from swftools.simulator.machine.event_queue import pop, push

TOLD, TRAINING, TOO_FEW, UNAVAILABLE = range(4)
"""Why a job was told nothing, if it was not: too few have started at all, or of its cluster; or nothing seems to."""

EITHER, BOTH = 1, 2
"""When nothing seems to start: too many jobs came since one started or it is too long ago, or both; 0: never."""


class ReplayRules(NamedTuple):
    """How a queue is replayed.

    ``training`` jobs start before anyone is told. Clusters are found anew every so many jobs (0: never), of
    ``least_size`` at least. ``availability`` says by what it is inferred. ``trimming`` is of waits, ``series`` of what
    availability is inferred by, each with the facts of its bound.
    """

    training: int
    every: int
    least_size: int
    availability: int
    trimming: Trimming
    facts: FloatArray
    series: Trimming
    series_facts: FloatArray


class Submissions(NamedTuple):
    """Jobs in order of submission: when (s), how long they wait (s; NaN: they never start), explanatory variable."""

    submit: FloatArray
    wait: FloatArray
    x: FloatArray


class Answers(NamedTuple):
    """What jobs are told: a bound (s; NaN: none), and why not; the cluster, the waits that it keeps and has known."""

    bound: FloatArray
    reason: npt.NDArray[np.int8]
    cluster: npt.NDArray[np.int8]
    kept: npt.NDArray[np.int32]
    known: npt.NDArray[np.int32]


class QueueState(NamedTuple):
    """What is known of a queue.

    Its waits, and what they are clustered by; the series of how many jobs came between two starts, and of the seconds
    between them; a heap of the jobs that wait, by start; when one started last (s); and counts.
    """

    history: History
    values: DistinctValues
    merging: Merging
    ends: FloatArray
    regrouping: Regrouping
    arrivals: History
    gaps: History
    times: FloatArray
    jobs: IntArray
    clock: FloatArray
    counts: IntArray


def no_answers(jobs: int) -> Answers:
    """Return answers to so many jobs that were told nothing yet."""
    reason, cluster = np.zeros((2, jobs), np.int8)
    kept, known = np.zeros((2, jobs), np.int32)
    return Answers(np.full(jobs, np.nan), reason, cluster, kept, known)


SUBMITTED, WAITING, ARRIVALS, IS_DOWN = range(4)
"""Places in ``QueueState.counts``: jobs submitted so far, jobs that wait, jobs that came since one started, and 1 if
nothing seems to start."""


def empty_queue(jobs: int, clusters: int, places: int, *, newest: int, newest_of_series: int) -> QueueState:
    """Return a queue of which nothing is known, with room for jobs and for clusters with states of so many places.

    ``newest`` waits have room, 0: all, where clusters are found anew. So many values of the two series have room as
    ``newest_of_series``; 0 where nothing is inferred from them.
    """
    values, series = (0 if newest else jobs), (HEAP + jobs if newest_of_series else 0)
    return QueueState(
        empty_history(min(newest, jobs) if newest else jobs, clusters, places),
        no_values(values),
        no_merging(values),
        np.zeros(clusters),
        no_regrouping(clusters),
        empty_history(newest_of_series, 1, series),
        empty_history(newest_of_series, 1, series),
        untouched_zeros(jobs),
        untouched_zeros(jobs).view(np.int64),
        np.full(1, -np.inf),
        np.zeros(IS_DOWN + 1, np.int64),
    )


OVER = -np.inf
"""What is said in place of a bound where the replay shall end."""

Add = Callable[[FloatArray, FloatArray, float], None]


def replay_jobs(
    queue: QueueState,
    rules: ReplayRules,
    jobs: Submissions,
    first: int,
    behind: int,
    answers: Answers,
    add: Add,
    bound: Callable[[FloatArray, FloatArray], float],
    add_to_series: Add,
) -> None:
    """Submit the jobs from ``first`` to before ``behind``, and fill in what they are told.

    ``add`` and ``bound`` are those of the bound, ``add_to_series`` is that of the binomial one.
    """
    for job in range(first, behind):
        start_until(queue, rules, jobs, jobs.submit[job], answers, add, add_to_series)
        told = bound(queue.history.states[cluster_of(queue.history, jobs.x[job])], rules.facts)
        submit(queue, rules, jobs, job, told, answers, add)


def replay_asking(
    queue: QueueState,
    rules: ReplayRules,
    jobs: Submissions,
    first: int,
    behind: int,
    answers: Answers,
    add: Add,
    add_to_series: Add,
    ask: Callable[[int], float],
) -> None:
    """Do what ``replay_jobs`` does with what ``ask`` says of a cluster, as long as that is not ``OVER``."""
    for job in range(first, behind):
        start_until(queue, rules, jobs, jobs.submit[job], answers, add, add_to_series)
        told = ask(cluster_of(queue.history, jobs.x[job]))
        if told == OVER:
            return
        submit(queue, rules, jobs, job, told, answers, add)


@kernel(allocates=False)
def start_until(
    queue: QueueState,
    rules: ReplayRules,
    jobs: Submissions,
    now: float,
    answers: Answers,
    add: Add,
    add_to_series: Add,
) -> None:
    """Let the jobs start that do by now: their waits become known."""
    counts = queue.counts
    while counts[WAITING] > 0 and queue.times[0] <= now:
        start = queue.times[0]
        job = pop(queue.times, queue.jobs, counts[WAITING])
        counts[WAITING] -= 1
        if rules.availability > 0:
            _notice_start(queue, rules, start, add_to_series)
        learn(queue.history, rules.trimming, rules.facts, add, jobs.wait[job], answers.bound[job], jobs.x[job], start)
        if rules.every > 0:
            add_value(queue.values, jobs.x[job], jobs.wait[job])


@kernel(allocates=False)
def submit(
    queue: QueueState,
    rules: ReplayRules,
    jobs: Submissions,
    job: int,
    told: float,
    answers: Answers,
    add: Add,
) -> None:
    """Submit a job: write down what it is told, and why if that is nothing; let it wait; find clusters in its turn."""
    history, counts = queue.history, queue.counts
    place = cluster_of(history, jobs.x[job])
    answers.bound[job], answers.cluster[job] = told, place
    answers.kept[job], answers.known[job] = history.kept[place], history.known[place]
    if history.counts[VALUES] < rules.training:
        answers.reason[job] = TRAINING
    elif np.isnan(told):
        answers.reason[job] = TOO_FEW
    elif counts[IS_DOWN] > 0:
        answers.reason[job] = UNAVAILABLE
    else:
        answers.reason[job] = TOLD
    if rules.availability > 0:
        _notice_submission(queue, rules, jobs.submit[job])
    if jobs.wait[job] < np.inf:  # not NaN
        push(queue.times, queue.jobs, counts[WAITING], jobs.submit[job] + jobs.wait[job], job)
        counts[WAITING] += 1
    counts[SUBMITTED] += 1
    if rules.every > 0 and counts[SUBMITTED] % rules.every == 0:
        found = find_clusters(queue.values, queue.merging, float(rules.least_size), queue.ends)
        regroup(history, rules.least_size, rules.facts, add, queue.ends, found, queue.regrouping)


@kernel(allocates=False)
def _notice_start(queue: QueueState, rules: ReplayRules, start: float, add: Add) -> None:
    """See that the queue works: how many jobs came since the last start, and how long ago that was, become known."""
    since = queue.clock[0]
    if start > since > -np.inf:
        for series, value in ((queue.arrivals, float(queue.counts[ARRIVALS])), (queue.gaps, start - since)):
            told = largest_below(series.states[0], rules.series_facts)
            learn(series, rules.series, rules.series_facts, add, value, told, 0.0, start)
    if start > since:
        queue.counts[ARRIVALS] = 0
    queue.clock[0] = start
    queue.counts[IS_DOWN] = 0


@kernel(allocates=False)
def _notice_submission(queue: QueueState, rules: ReplayRules, now: float) -> None:
    """See whether too many jobs came since one started, or that is too long ago."""
    queue.counts[ARRIVALS] += 1
    many = float(queue.counts[ARRIVALS]) > largest_below(queue.arrivals.states[0], rules.series_facts)
    late = now - queue.clock[0] > largest_below(queue.gaps.states[0], rules.series_facts)
    if (many and late) if rules.availability == BOTH else (many or late):
        queue.counts[IS_DOWN] = 1


@cache
def _types() -> tuple[Any, ...]:
    """Return numba's types of a queue, of rules, submissions, answers and ``Add``."""
    from numba import typeof, types  # noqa: PLC0415 (takes half a second)

    trimming = trimming_by(1, RareEvents(np.zeros(1), np.zeros(1, np.int64)))
    queue = empty_queue(1, 1, 1, newest=0, newest_of_series=1)
    rules = ReplayRules(0, 0, 0, 0, trimming, np.zeros(1), trimming, np.zeros(1))
    jobs = Submissions(*(np.zeros(1) for _ in range(3)))
    add = types.FunctionType(add_signature())
    return typeof(queue), typeof(rules), typeof(jobs), typeof(no_answers(1)), add


@cache
def compiled_replay() -> Any:
    """Return ``replay_jobs``, compiled for any bound."""
    from numba import types  # noqa: PLC0415 (as above)

    queue, rules, jobs, answers, add = _types()
    bound = types.FunctionType(bound_signature())
    signature = types.void(queue, rules, jobs, types.int64, types.int64, answers, add, bound, add)
    return kernel(signature, allocates=False)(replay_jobs)


@cache
def compiled_asking() -> Any:
    """Return ``replay_asking``, compiled for any bound that is asked."""
    from numba import types  # noqa: PLC0415 (as above)

    queue, rules, jobs, answers, add = _types()
    ask = types.FunctionType(types.float64(types.int64))
    signature = types.void(queue, rules, jobs, types.int64, types.int64, answers, add, add, ask)
    return kernel(signature, allocates=False)(replay_asking)

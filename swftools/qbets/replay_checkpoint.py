# SPDX-License-Identifier: BSD-3-Clause
"""What a replay that is over leaves to one that goes on from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.qbets.bounds.binomial import BinomialBound
from swftools.qbets.bounds.registry import Bound
from swftools.qbets.history import CLUSTERS, NOTHING, VALUES, History
from swftools.qbets.known_queue import KnownHistory, KnownQueue, KnownValues, StillWaiting
from swftools.qbets.queue_state import ARRIVALS, IS_DOWN, SUBMITTED, WAITING, QueueState, Submissions

OF_CLUSTERS = ("end", "since", "first_time", "last", "known", "kept", "misses", "calm", "draining")


def known_after(queue: QueueState, jobs: Submissions, told: FloatArray, bound: Bound) -> KnownQueue:
    """Return what is known of a queue when jobs were submitted, and were told bounds (s)."""
    waiting = np.sort(queue.jobs[: queue.counts[WAITING]])
    series = BinomialBound()
    submitted, came, is_down = queue.counts[[SUBMITTED, ARRIVALS, IS_DOWN]].reshape(3, 1)
    return KnownQueue(
        _known_history(queue.history, bound, is_whole=len(queue.values.value) > 1),
        KnownValues(*(column[: queue.values.counts[0]].copy() for column in queue.values[:3])),
        _known_history(queue.arrivals, series, is_whole=False),
        _known_history(queue.gaps, series, is_whole=False),
        StillWaiting(*(column[waiting] for column in (*jobs, told))),
        submitted,
        came,
        is_down,
        queue.clock.copy(),
        np.array([jobs.submit.max(initial=-np.inf)]),
    )


def nobody_waits() -> StillWaiting:
    """Return the jobs that wait where nothing is known."""
    return StillWaiting(*np.zeros((4, 0)))


def resume(known: KnownQueue, queue: QueueState, bound: Bound) -> None:
    """Let an empty queue, which has the room, know what is known; those who wait are its first jobs."""
    series = BinomialBound()
    _fill_history(known.history, queue.history, bound)
    _fill_history(known.arrivals, queue.arrivals, series)
    _fill_history(known.gaps, queue.gaps, series)
    distinct, waiting = len(known.values.value), len(known.waiting.wait)
    for source, target in zip(known.values, queue.values[:3], strict=True):
        target[:distinct] = source
    queue.values.counts[0] = distinct
    start = known.waiting.submit + known.waiting.wait
    order = np.lexsort((np.arange(waiting), start))  # what is sorted is a heap
    queue.times[:waiting], queue.jobs[:waiting] = start[order], order
    queue.clock[:] = known.last_start
    queue.counts[WAITING] = waiting
    queue.counts[[SUBMITTED, ARRIVALS, IS_DOWN]] = np.concatenate([known.submitted, known.came, known.is_down])


def check_states(known: KnownHistory, bound: Bound) -> None:
    """Refuse clusters whose bounds do not know as many waits as are kept, by ValueError."""
    for state, kept in zip(np.split(known.states, np.cumsum(known.places)[:-1]), known.kept.tolist(), strict=True):
        bound.check_state(state, kept)


def _known_history(history: History, bound: Bound, *, is_whole: bool) -> KnownHistory:
    """Return a history in no more room than it takes: with all values, or the newest."""
    size, clusters = history.counts[[VALUES, CLUSTERS]].tolist()
    room = len(history.value)
    rows: Any = slice(size) if is_whole else _newest(size, room) % max(room, 1)
    marked = rows if is_whole else slice(0)
    states = list(history.states[:clusters])
    if history.states.shape[1]:  # something is learnt at all
        states = [bound.settled(state, int(kept)) for state, kept in zip(states, history.kept, strict=False)]
    return KnownHistory(
        value=history.value[rows].copy(),
        time=history.time[rows].copy(),
        is_missed=history.is_missed[marked].copy(),
        x=history.x[marked].copy(),
        **{name: getattr(history, name)[:clusters].copy() for name in OF_CLUSTERS},
        places=np.array([len(state) for state in states]),
        states=np.concatenate(states),
        size=np.array([size]),
    )


def _fill_history(known: KnownHistory, history: History, bound: Bound) -> None:
    """Let an empty history that has the room know what is known."""
    size, clusters, count = int(known.size[0]), len(known.end), len(known.value)
    history.counts[[VALUES, CLUSTERS]] = size, clusters
    for name in OF_CLUSTERS:
        getattr(history, name)[:clusters] = getattr(known, name)
    for place, state in enumerate(np.split(known.states, np.cumsum(known.places)[:-1])):
        history.states[place] = bound.resized(state, history.states.shape[1])
    if len(known.x):
        history.value[:count], history.time[:count] = known.value, known.time
        history.is_missed[:count], history.x[:count] = known.is_missed, known.x
        history.before[:count] = _before(known)
    else:  # the newest, of one cluster
        rows = _newest(size, min(count, len(history.value)))
        places = rows % max(len(history.value), 1)
        history.value[places], history.time[places] = known.value[count - len(rows) :], known.time[count - len(rows) :]
        history.before[places] = rows - 1


def _newest(size: int, room: int) -> IntArray:
    """Return the rows of the newest values that there is room for."""
    return np.arange(max(size - room, 0), size)


def _before(known: KnownHistory) -> IntArray:
    """Return of each value the one of the same cluster that became known before it."""
    cluster = np.searchsorted(known.end[:-1], known.x).astype(np.uint8)  # there are at most 100
    order = np.argsort(cluster, kind="stable")
    before = np.full(len(order), NOTHING)
    is_same = cluster[order[1:]] == cluster[order[:-1]]
    before[order[1:][is_same]] = order[:-1][is_same]
    return before

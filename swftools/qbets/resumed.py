"""What a replay that is over leaves to one that goes on from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from swftools.kernel import FloatArray
from swftools.qbets.bounds.binomial import BinomialBound
from swftools.qbets.bounds.registry import Bound
from swftools.qbets.history import CLUSTERS, VALUES, History
from swftools.qbets.queue_state import WAITING, Answers, QueueState, Submissions, empty_queue

SHARED = ("known", "kept", "since", "last", "misses", "calm", "draining", "end")


@dataclass(frozen=True)
class Known:
    """What is known of a queue: its state, the jobs that wait, what they were told, and the last submission, s."""

    queue: QueueState | None
    waiting: Submissions
    told: FloatArray
    last: float

    @property
    def size(self) -> int:
        """How many waits are known."""
        return int(self.queue.history.counts[VALUES]) if self.queue else 0

    @classmethod
    def after(cls, queue: QueueState, jobs: Submissions, answers: Answers) -> Self:
        """Return what is known when jobs were submitted."""
        waiting = np.sort(queue.jobs[: queue.counts[WAITING]])
        # They are the first jobs next time; their order stays, and so does that of the heap.
        queue.jobs[: len(waiting)] = np.searchsorted(waiting, queue.jobs[: len(waiting)])
        left = Submissions(*(column[waiting] for column in jobs))
        return cls(queue, left, answers.bound[waiting], float(jobs.submit.max(initial=-np.inf)))

    def with_room(self, bound: Bound, jobs: int, clusters: int, *, clusters_at_all: bool, newest: int) -> QueueState:
        """Return a copy of the state with room for so many jobs in all."""
        more = empty_queue(jobs, clusters, bound.places(jobs), clusters_at_all=clusters_at_all, newest=newest)
        if self.queue is None:
            return more
        old = self.queue
        count = old.values.counts[0]
        for source, target in zip(old.values[:3], more.values[:3], strict=True):
            target[:count] = source[:count]
        more.values.counts[:] = old.values.counts
        _copy_history(old.history, more.history, bound)
        series = BinomialBound()
        _copy_history(old.arrivals, more.arrivals, series)
        _copy_history(old.gaps, more.gaps, series)
        waiting = old.counts[WAITING]
        more.times[:waiting], more.jobs[:waiting] = old.times[:waiting], old.jobs[:waiting]
        more.clock[:], more.counts[:] = old.clock, old.counts
        return more


def nothing_known() -> Known:
    """Return what is known of a queue of which nothing is."""
    return Known(None, Submissions(*np.zeros((3, 0))), np.zeros(0), -np.inf)


def _copy_history(source: History, target: History, bound: Bound) -> None:
    """Write a history into one that has more room."""
    values, clusters = min(source.counts[VALUES], len(source.value)), source.counts[CLUSTERS]
    for name in ("value", "is_missed", "x", "before"):
        getattr(target, name)[:values] = getattr(source, name)[:values]
    for name in SHARED:
        getattr(target, name)[:clusters] = getattr(source, name)[:clusters]
    for place in range(clusters):
        target.states[place] = bound.resized(source.states[place], target.states.shape[1])
    target.counts[:] = source.counts

"""The waiting jobs in order of arrival, with an index: the next one that fits, without looking at all of them.

A segment tree over all jobs of the trace, a leaf a job: each node has the least processors and the least requested
time of the waiting jobs below it, infinity where none waits. Entering and leaving costs log n, and so does finding
the next waiting job that fits, unless narrow jobs that are too long and short jobs that are too wide stand mixed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from swftools.kernel import kernel

ANY = 1e300
"""A number of processors, or a time, that is enough for every job."""

NOBODY = -1
"""Stands for a job where there is none."""


class WaitingQueue(NamedTuple):
    """The waiting jobs: node 1 is the root, the children of node i are 2 i and 2 i + 1, leaves begin at half."""

    processors: npt.NDArray[np.float64]
    time: npt.NDArray[np.float64]


def empty_queue(jobs: int) -> WaitingQueue:
    """Return a queue for the jobs 0 to jobs - 1 in which none waits."""
    leaves = 1
    while leaves < jobs:
        leaves *= 2
    return WaitingQueue(np.full(2 * leaves, np.inf), np.full(2 * leaves, np.inf))


@kernel
def put(queue, job, processors, time):  # type: ignore[no-untyped-def]
    """Let a job wait that needs processors for a time; infinite ones let it leave."""
    node = job + (len(queue.time) >> 1)
    queue.processors[node], queue.time[node] = processors, time
    while node > 1:
        node >>= 1
        least = min(queue.processors[2 * node], queue.processors[2 * node + 1])
        shortest = min(queue.time[2 * node], queue.time[2 * node + 1])
        if queue.processors[node] == least and queue.time[node] == shortest:
            break
        queue.processors[node], queue.time[node] = least, shortest


@kernel
def next_fitting(queue, first, processors, time, spare):  # type: ignore[no-untyped-def]
    """Return the next waiting job from ``first`` on that fits, or NOBODY.

    It fits if needed <= processors and (requested time <= time or needed <= spare).
    """
    leaves = len(queue.time) >> 1
    if first >= leaves:
        return NOBODY
    spare = min(spare, processors)
    node = first + leaves
    while True:
        if queue.processors[node] <= spare or (queue.processors[node] <= processors and queue.time[node] <= time):
            if node >= leaves:
                return node - leaves
            node *= 2
            continue
        # Nothing below this node: on to the next one to the right, up as far as it takes.
        while node & 1:
            node >>= 1
        if node == 0:
            return NOBODY
        node += 1

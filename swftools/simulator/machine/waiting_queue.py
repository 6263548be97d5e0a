# SPDX-License-Identifier: BSD-3-Clause
"""The waiting jobs in order of entry, with an index: the next one that fits, without looking at all of them.

Whoever enters gets the next place of a window, and keeps it until the job has ended: one that is stopped waits again
where it stood. When the window is full the places of jobs that have ended are closed up; whoever stood before another
still does. The index is a binary tree over the places: each node has the least processors and the least time of the
waiting jobs below it, infinity where none waits. Entering and leaving costs log n of what waits and runs, and so does
finding the next waiting job that fits, unless narrow jobs that are too long and short jobs that are too wide stand
mixed.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, ShortArray, kernel
from swftools.simulator.state.columns import (
    BLANK,
    PER_JOB,
    PER_PLACE,
    PER_STATE,
    REAL,
    RESET,
    SHORT,
    WHOLE,
    StateColumn,
    StateSizes,
    empty,
)

ANY = 1e300
"""A number of processors, or a time, that is enough for every job."""

NOBODY = -1
"""Stands for a job, or a place, where there is none."""


class WaitingQueue(NamedTuple):
    """The window.

    ``least`` is the tree: node i has the processors at 2 i and the time at 2 i + 1; its children are the nodes 2 i and
    2 i + 1, which stand side by side; node 1 is the root, and the leaves begin at the number of places. ``job`` has the
    job of each place, ``place`` the place of each job, and ``used`` how many places have been given away, and before
    which of them nobody waits.
    """

    least: Annotated[FloatArray, StateColumn(REAL, PER_PLACE, times=4, empty=np.inf, on_fork=RESET)]
    job: Annotated[ShortArray, StateColumn(SHORT, PER_PLACE, empty=NOBODY, on_fork=RESET)]
    place: Annotated[ShortArray, StateColumn(SHORT, PER_JOB, empty=NOBODY, on_fork=BLANK)]
    used: Annotated[IntArray, StateColumn(WHOLE, PER_STATE, times=2)]


def empty_queue(jobs: int, places: int) -> WaitingQueue:
    """Return a queue in which none waits, for the jobs 0 to jobs - 1; ``places`` is a power of two."""
    queue: WaitingQueue = empty(WaitingQueue, StateSizes(jobs=jobs, places=places))
    return queue


def move_leaves(queue: WaitingQueue, before: int) -> None:
    """Make the index anew over more places than there were before; those are behind the others, and empty."""
    places = len(queue.job)
    leaves = queue.least[2 * before : 4 * before].copy()
    queue.least[:] = np.inf
    queue.least[2 * places : 2 * (places + before)] = leaves
    index(queue)


@kernel(allocates=False)
def enter(queue: WaitingQueue, job: int, processors: float, time: float) -> None:
    """Let a job wait behind all others; the caller guarantees a place."""
    place = queue.used[0]
    queue.used[0] = place + 1
    queue.job[place] = job
    queue.place[job] = place
    put(queue, place, processors, time)


@kernel(allocates=False)
def leave(queue: WaitingQueue, job: int) -> None:
    """Give up the place of a job that does not wait."""
    queue.job[queue.place[job]] = NOBODY
    queue.place[job] = NOBODY


@kernel(allocates=False)
def is_waiting(queue: WaitingQueue, job: int) -> bool:
    """Whether a job waits."""
    place = queue.place[job]
    return place != NOBODY and queue.least[2 * (place + len(queue.job))] < np.inf


@kernel(allocates=False)
def put(queue: WaitingQueue, place: int, processors: float, time: float) -> None:
    """Let the job of a place wait, for processors for a time; infinite ones let it wait no more."""
    least = queue.least
    node = place + len(queue.job)
    least[2 * node], least[2 * node + 1] = processors, time
    if place < queue.used[1] and processors < np.inf:
        queue.used[1] = place
    while node > 1:
        node >>= 1
        fewest = min(least[4 * node], least[4 * node + 2])
        shortest = min(least[4 * node + 1], least[4 * node + 3])
        if least[2 * node] == fewest and least[2 * node + 1] == shortest:
            break
        least[2 * node], least[2 * node + 1] = fewest, shortest


@kernel(allocates=False)
def first_place(queue: WaitingQueue) -> int:
    """Return the first place whose job waits, or NOBODY; it is looked for from where the last one was."""
    place = next_fitting_place(queue, queue.used[1], ANY, ANY, ANY)
    if place != NOBODY:
        queue.used[1] = place
    return place


@kernel(allocates=False)
def next_fitting_place(queue: WaitingQueue, first: int, processors: float, time: float, spare: float) -> int:
    """Return the next place from ``first`` on whose job fits, or NOBODY.

    It fits if needed <= processors and (its time <= time or needed <= spare).
    """
    least = queue.least
    places = len(queue.job)
    if first >= places:
        return NOBODY
    spare = min(spare, processors)
    node = first + places
    while True:
        fewest = least[2 * node]
        if fewest <= spare or (fewest <= processors and least[2 * node + 1] <= time):
            if node >= places:
                return node - places
            node *= 2
            continue
        # Nothing below this node: on to the next one to the right, up as far as it takes.
        while node & 1:
            node >>= 1
        if node == 0:
            return NOBODY
        node += 1


@kernel(allocates=False)
def close_up(queue: WaitingQueue) -> None:
    """Close up the places that nobody has."""
    least, places = queue.least, len(queue.job)
    kept, used = 0, queue.used[0]
    for place in range(used):
        job = queue.job[place]
        if job != NOBODY:
            queue.job[kept] = job
            queue.place[job] = kept
            least[2 * (places + kept)] = least[2 * (places + place)]
            least[2 * (places + kept) + 1] = least[2 * (places + place) + 1]
            kept += 1
    for place in range(kept, used):
        queue.job[place] = NOBODY
        least[2 * (places + place)] = least[2 * (places + place) + 1] = np.inf
    queue.used[0], queue.used[1] = kept, 0
    first, last = places // 2, (places + used - 1) // 2
    while first > 0:  # level by level, the inner nodes over the places that were used
        for node in range(first, last + 1):
            least[2 * node] = min(least[4 * node], least[4 * node + 2])
            least[2 * node + 1] = min(least[4 * node + 1], least[4 * node + 3])
        first, last = first // 2, last // 2


@kernel(allocates=False)
def index(queue: WaitingQueue) -> None:
    """Make the inner nodes of the tree from its leaves."""
    least = queue.least
    for node in range(len(queue.job) - 1, 0, -1):
        least[2 * node] = min(least[4 * node], least[4 * node + 2])
        least[2 * node + 1] = min(least[4 * node + 1], least[4 * node + 3])

# SPDX-License-Identifier: BSD-3-Clause
"""What a search keeps of the waiting jobs, of the order that it is at, and of the best so far: arrays that stay.

Waiting jobs are numbered by place in the order of the branching heuristic, from 0; a list through them holds those that
the order at hand has not placed yet. Depth d of the tree is the (d + 1)th job of an order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray
from swftools.simulator.search.steps import GUARDS

TERMS = 4
"""Measures of an objective at most."""

PROCESSORS, TIME, COSTS = range(3)
"""Places in the row of a job in ``Search.facts``; from the last on three numbers for each measure."""

SINCE, WEIGHT, BASE = range(3)
"""Of a measure: a job costs ``BASE + WEIGHT * (begin - SINCE)``, ``BASE`` before that."""

FACTS = 16
"""Numbers of a row; with two measures what is looked at is within a line of the processor's cache."""

KIND, IS_MAX, THRESHOLD, IS_OFTEN_ZERO, BY_LXF, ADDRESS = range(6)
OMEGA, SLACK, BEST, LOW, HIGH, REFERENCE, FIRST, AIMS = range(6, 14)
"""Rows of ``Search.aim``, ``AIMS`` of them, of a number for each measure.

Of the first, which stay: what a job costs; whether the greatest counts, not the sum; waits up to which cost nothing, s,
NaN where that is what the longest waiting job has waited; whether the longest wait says what is no difference in a
conflict, not the measure; whether the reference value is LXF-backfill's; a function's number.
Of the others, of each decision: the threshold; what is no difference; the best so far, and below and above what a value
is less or more, not by rounding alone; the reference value of ``tradeoff-c``; the value of the heuristic's order.
"""

MODEL, IS_STRICT, MEASURES, JOBS, SIZE, WRONG = range(6)
VISITS, PATHS, IMPROVEMENTS, ITERATION, DECISION, IS_EXHAUSTED, COUNTS = range(6, 13)
"""Places in ``Search.counts``, ``COUNTS`` of them.

How to compare, how many measures, waiting jobs and steps, and what was done so far. ``WRONG`` is 1 + the place of a job
whose cost was negative or NaN, or 0.
"""

USER, QUEUE, RANK, LONGEST, SUBMITTED, TOLD = range(6)
"""Places in the row of a job in ``Search.told``, of ``TOLD`` numbers: what functions of one's own are told of it."""


class Notes(NamedTuple):
    """What was searched, row by row; the oldest rows are written over (``swftools.simulator.search.notes``)."""

    decisions: FloatArray
    improvements: FloatArray
    orders: FloatArray
    generations: FloatArray
    written: IntArray


class Search(NamedTuple):
    """The room of a search.

    Of jobs, by place: ``facts``, rows of ``FACTS``; ``told``, rows of ``TOLD``; ``job``; ``queued``, places in order of
    the queue; ``twin``, the one before it that is its equal, or -1; ``is_placed``. ``behind`` and ``before`` are the
    list of those not placed, whose both ends are the number of jobs. ``place_of`` is of all jobs.
    By depth: ``path``; ``begins``, s; ``first``, ``last`` and ``sizes``, what to give back; ``left``, how many more
    discrepancies there are to be; ``values``, rows of ``TERMS``.
    ``steps`` is the plan down to where the order leaves the heuristic's, ``rest`` that of the jobs behind.
    ``limits`` is how many nodes to visit at each decision, where that was recorded.
    """

    facts: FloatArray
    told: FloatArray
    job: IntArray
    queued: IntArray
    twin: IntArray
    is_placed: IntArray
    behind: IntArray
    before: IntArray
    place_of: IntArray
    path: IntArray
    begins: FloatArray
    first: IntArray
    last: IntArray
    sizes: IntArray
    left: IntArray
    values: FloatArray
    steps: FloatArray
    rest: FloatArray
    best_path: IntArray
    best_begins: FloatArray
    first_begins: FloatArray
    aim: FloatArray
    counts: IntArray
    limits: IntArray
    notes: Notes


def empty_search(
    jobs: int, processors: int, aim: FloatArray, counts: IntArray, limits: IntArray, notes: Notes, rows: int = 0
) -> Search:
    """Return the room for so many waiting jobs, beside as many running ones as there may be.

    It is zeros, so the system hands the memory out as far as it is used: as many jobs wait. ``rows`` of costs are there
    at least.
    """
    most = 2 * (min(jobs, processors) + jobs + 1 + GUARDS)

    def whole(count: int) -> Any:
        return np.broadcast_to(np.zeros(1, np.int64), count)

    def real(count: int) -> Any:
        return np.broadcast_to(np.zeros(1), count)

    more = jobs + 1
    return Search(
        facts=real(FACTS * more),
        told=real(TOLD * more),
        job=whole(more),
        queued=whole(more),
        twin=whole(more),
        is_placed=whole(more),
        behind=whole(more),
        before=whole(more),
        place_of=whole(more),
        path=whole(more),
        begins=real(more),
        first=whole(more),
        last=whole(more),
        sizes=whole(more),
        left=whole(more),
        values=real(TERMS * max(more + 1, rows)),
        steps=real(most),
        rest=real(most),
        best_path=whole(more),
        best_begins=real(more),
        first_begins=real(more),
        aim=aim,
        counts=counts,
        limits=limits,
        notes=notes,
    )

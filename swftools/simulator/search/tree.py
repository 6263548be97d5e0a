# SPDX-License-Identifier: BSD-3-Clause
"""The tree of all orders of the waiting jobs, and in which order a search visits it.

A path from the root is an order; its first branch at each node is the next job in the order of the branching heuristic,
every other one a *discrepancy*. Both traversals go on in iterations, from the order without any:

``dds``
    Depth-bound discrepancy search: iteration i visits the orders with a discrepancy at depth i, any above, none below.
``lds``
    Limited discrepancy search: iteration i visits the orders with exactly i discrepancies.

In each, from left to right. A node counts as visited each time that a job is placed at it, as early as those before it
leave room; a subtree is left out when its part is not better than the best so far. The order without discrepancies is
always planned whole.

Most visits are of jobs behind the last discrepancy: these are placed in a copy of the plan, of which nothing is undone.

References
----------
Chiang and Vasupongayya 2008, section 2.4 and Figure 1; Harvey and Ginsberg 1995, Korf 1996 and Walsh 1997 for the
traversals.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.kernel.pointers import monotonic_seconds
from swftools.simulator.search.costs import Points, add_costs, is_better, set_best, take_for_best
from swftools.simulator.search.notes import note_improvement
from swftools.simulator.search.state import (
    BEST,
    FACTS,
    FIRST,
    IMPROVEMENTS,
    IS_EXHAUSTED,
    ITERATION,
    JOBS,
    MEASURES,
    PATHS,
    PROCESSORS,
    SIZE,
    TERMS,
    TIME,
    VISITS,
    Search,
)
from swftools.simulator.search.steps import find_place, give_back, take_place

DDS, LDS = range(2)
"""In the order of ``TRAVERSALS``."""

TRAVERSALS = ("dds", "lds")

EVERY = 64
"""Visits after which a search against the clock looks at it."""


@kernel(allocates=False)
def search_tree(search: Search, utility: Points, traversal: int, limit: int, until: float, longest: float) -> None:
    """Find the best order by so many visits, or until a time of the clock; it stands in ``search``."""
    counts, jobs = search.counts, search.counts[JOBS]
    for place in range(jobs + 1):
        search.behind[place], search.before[place], search.is_placed[place] = place + 1, place - 1, 0
    search.behind[jobs], search.before[0] = 0, jobs
    counts[VISITS], counts[PATHS], counts[IMPROVEMENTS], counts[ITERATION], counts[IS_EXHAUSTED] = 0, 0, 0, 0, 0
    for term in range(TERMS):
        search.values[term] = 0.0
        set_best(search, term, np.inf)
    follow(search, utility, 0, counts[SIZE], jobs, longest)
    for term in range(counts[MEASURES]):
        search.aim[FIRST * TERMS + term] = search.aim[BEST * TERMS + term]
    for place in range(jobs):
        search.first_begins[place] = search.best_begins[place]
    for iteration in range(1, jobs):
        counts[ITERATION] = iteration
        if not search_iteration(search, utility, traversal, limit, until, longest):
            return
    counts[IS_EXHAUSTED] = 1


@kernel(allocates=False)
def search_iteration(search: Search, utility: Points, traversal: int, limit: int, until: float, longest: float) -> bool:
    """Visit the orders of an iteration; return whether it went to its end."""
    counts, facts, behind, before = search.counts, search.facts, search.behind, search.before
    jobs, iteration = counts[JOBS], counts[ITERATION]
    check = counts[VISITS] + EVERY
    size = counts[SIZE]
    depth, is_stopped = 0, False
    search.left[0] = iteration
    place = first_child(search, traversal, iteration, 0)
    while True:
        if place < jobs and not is_stopped:
            is_stopped = counts[VISITS] >= limit
            if until < np.inf and counts[VISITS] >= check:
                check = counts[VISITS] + EVERY
                is_stopped = is_stopped or monotonic_seconds() >= until
        if place == jobs or is_stopped:
            if depth == 0:
                return not is_stopped
            depth -= 1
            place = search.path[depth]
            processors = facts[FACTS * place + PROCESSORS]
            give_back(search.steps, size, search.first[depth], search.last[depth], processors, search.sizes[depth])
            size = search.sizes[depth]
            behind[before[place]], before[behind[place]], search.is_placed[place] = place, place, 0
            place = next_child(search, place)
            continue
        counts[VISITS] += 1
        processors, time = facts[FACTS * place + PROCESSORS], facts[FACTS * place + TIME]
        first, last = find_place(search.steps, 0, processors, time)
        begin = search.steps[2 * first]
        add_costs(search, utility, place, begin, TERMS * depth, TERMS * (depth + 1))
        if not is_better(search, TERMS * (depth + 1)):
            place = next_child(search, place)
            continue
        search.path[depth], search.begins[depth] = place, begin
        search.left[depth + 1] = search.left[depth] - (1 if behind[jobs] != place else 0)
        is_last = depth + 1 == iteration if traversal == DDS else search.left[depth + 1] == 0
        behind[before[place]], before[behind[place]], search.is_placed[place] = behind[place], before[place], 1
        search.first[depth], search.last[depth], search.sizes[depth] = first, last, size
        size = take_place(search.steps, size, first, last, processors, time)
        depth += 1
        if is_last:
            is_stopped = not follow(search, utility, depth, size, limit, longest)
            place = jobs
        else:
            place = first_child(search, traversal, iteration, depth)


@kernel(allocates=False)
def first_child(search: Search, traversal: int, iteration: int, depth: int) -> int:
    """Return the first job to be tried at a depth; the number of jobs if there is none."""
    jobs = search.counts[JOBS]
    head = search.behind[jobs]
    # Behind the head of lds there must be places enough for the discrepancies that are left: the last job is none.
    takes_head = depth + 1 < iteration if traversal == DDS else search.left[depth] <= jobs - depth - 2
    return head if takes_head else next_child(search, head)


@kernel(allocates=False)
def next_child(search: Search, place: int) -> int:
    """Return the job to be tried behind another; the number of jobs if there is none.

    Not one whose equal stands before it.
    """
    jobs = search.counts[JOBS]
    place = search.behind[place]
    while place < jobs and search.twin[place] >= 0 and search.is_placed[search.twin[place]] == 0:
        place = search.behind[place]
    return place


@kernel(allocates=False)
def follow(search: Search, utility: Points, depth: int, size: int, limit: int, longest: float) -> bool:
    """Place the jobs that are left in the order of the heuristic; keep the order if it is better than the best.

    Return whether it went on as far as it had to, for all the limit.
    """
    counts, facts, rest, behind = search.counts, search.facts, search.rest, search.behind
    jobs = counts[JOBS]
    for number in range(2 * size):
        rest[number] = search.steps[number]
    is_first = counts[ITERATION] == 0
    visits = counts[VISITS]
    place = behind[jobs]
    while place < jobs:
        if visits >= limit:
            counts[VISITS] = visits
            return False
        visits += 1
        processors, time = facts[FACTS * place + PROCESSORS], facts[FACTS * place + TIME]
        first, last = find_place(rest, 0, processors, time)
        begin = rest[2 * first]
        add_costs(search, utility, place, begin, TERMS * depth, TERMS * (depth + 1))
        next_place = behind[place]
        counts[PATHS] += next_place == jobs
        if not (is_first or is_better(search, TERMS * (depth + 1))):
            counts[VISITS] = visits
            return True
        search.path[depth], search.begins[depth] = place, begin
        depth += 1
        if next_place < jobs:
            size = take_place(rest, size, first, last, processors, time)
        place = next_place
    counts[VISITS] = visits
    take_for_best(search, TERMS * jobs, longest)
    for other in range(jobs):
        search.best_path[other], search.best_begins[other] = search.path[other], search.begins[other]
    counts[IMPROVEMENTS] += not is_first
    note_improvement(search)
    return True

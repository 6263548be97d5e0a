# SPDX-License-Identifier: BSD-3-Clause
"""The room of a search and what it aims at; a decision's waiting jobs, written down once for all orders of them."""

from __future__ import annotations

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.simulator.instants import time_since
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.views import now
from swftools.simulator.search.costs import have_equal_utility, write_facts
from swftools.simulator.search.measures import LOST_UTILITY, OWN, find_measure
from swftools.simulator.search.objectives import MODELS, Objective
from swftools.simulator.search.state import (
    ADDRESS,
    AIMS,
    BY_LXF,
    COSTS,
    COUNTS,
    FACTS,
    IS_MAX,
    IS_OFTEN_ZERO,
    IS_STRICT,
    JOBS,
    KIND,
    MEASURES,
    MODEL,
    OMEGA,
    SIZE,
    TERMS,
    THRESHOLD,
    TOLD,
    Notes,
    Search,
    empty_search,
)
from swftools.simulator.search.steps import begin_steps


def room_for(objective: Objective | None, jobs: int, processors: int, notes: Notes, rows: int = 0) -> Search:
    """Return the room of a search that aims at an objective, or at none in measures that are to be small."""
    aim, counts = np.zeros((AIMS, TERMS)), np.zeros(COUNTS, np.int64)
    terms = objective.terms if objective else ()
    if objective:
        counts[[MODEL, IS_STRICT]] = MODELS.index(objective.model), objective.is_strict
    counts[MEASURES] = len(terms)
    for place, term in enumerate(terms):
        measure = find_measure(term.measure)
        aim[[KIND, ADDRESS], place] = measure.cost, measure.address
        aim[[IS_MAX, IS_OFTEN_ZERO, BY_LXF], place] = (
            *(measure.fold == "max", measure.is_often_zero, measure.reference == "lxf"),
        )
        if measure.takes_threshold:
            aim[THRESHOLD, place] = np.nan if term.threshold is None else term.threshold
    return empty_search(jobs, processors, aim.ravel(), counts, np.zeros(1, np.int64), notes, rows)


@kernel(allocates=False)
def gather(machine: Machine, search: Search, queue: IntArray, jobs: IntArray, distinct: bool) -> float:
    """Write down the waiting jobs, given in order of the queue and of the heuristic; return the longest wait so far."""
    search.counts[JOBS] = len(jobs)
    search.counts[SIZE] = begin_steps(machine, search.steps)
    longest = 0.0
    for job in queue:
        longest = max(longest, time_since(machine.requests.submit_time[job], now(machine)))
    for term in range(TERMS):
        threshold = search.aim[THRESHOLD * TERMS + term]
        search.aim[OMEGA * TERMS + term] = longest if np.isnan(threshold) else threshold
    for place in range(len(jobs)):
        search.job[place], search.place_of[jobs[place]], search.twin[place] = jobs[place], place, -1
        write_facts(machine, search, place, longest)
    for turn in range(len(queue)):
        search.queued[turn] = search.place_of[queue[turn]]
    if distinct:
        for place in range(1, len(jobs)):
            other = place - 1
            while other >= 0 and not are_equal(machine, search, place, other):
                other -= 1
            search.twin[place] = other
    return longest


@kernel(allocates=False)
def are_equal(machine: Machine, search: Search, one: int, other: int) -> bool:
    """Whether two waiting jobs are equal in all that a plan and its costs depend on."""
    for fact in range(COSTS + 3 * search.counts[MEASURES]):
        if search.facts[FACTS * one + fact] != search.facts[FACTS * other + fact]:
            return False
    for term in range(search.counts[MEASURES]):
        kind = search.aim[KIND * TERMS + term]
        if kind == OWN:
            for fact in range(TOLD):
                if search.told[TOLD * one + fact] != search.told[TOLD * other + fact]:
                    return False
        if kind == LOST_UTILITY and not have_equal_utility(
            machine.requests.utility, search.job[one], search.job[other]
        ):
            return False
    return True

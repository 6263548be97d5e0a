# SPDX-License-Identifier: BSD-3-Clause
"""What a planned schedule costs by an objective's measures, and whether that is better than the best so far.

References
----------
Chiang and Vasupongayya 2008, sections 3.1 to 3.3 and Table 5.

Differs from the paper
----------------------
It leaves open, and is here: the dynamic threshold is what the longest waiting job has waited at the decision. Sums are
taken in the order of the placements, so that a part of an order never costs more than the whole; what differs by
rounding alone is equal. Over a reference value of 0 a difference is infinite, unless there is none. An expected
time of 0 s counts as 1 s.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from swftools.kernel import kernel
from swftools.kernel.pointers import call_by_address
from swftools.simulator.instants import instant, time_since
from swftools.simulator.machine.state import Machine
from swftools.simulator.machine.views import width
from swftools.simulator.planning import planned_time
from swftools.simulator.search.measures import LOST_UTILITY, SLOWDOWN
from swftools.simulator.search.state import (
    ADDRESS,
    BASE,
    BEST,
    COSTS,
    FACTS,
    HIGH,
    IS_MAX,
    IS_OFTEN_ZERO,
    IS_STRICT,
    KIND,
    LONGEST,
    LOW,
    MEASURES,
    MODEL,
    OMEGA,
    PROCESSORS,
    QUEUE,
    RANK,
    REFERENCE,
    SINCE,
    SLACK,
    SUBMITTED,
    TERMS,
    TIME,
    TOLD,
    USER,
    WEIGHT,
    WRONG,
    Search,
)

LEXICAL, TRADEOFF_A, TRADEOFF_B, TRADEOFF_C = range(4)
"""In the order of ``swftools.simulator.search.objectives.MODELS``."""

RELAXED = 0.01
"""The share of the best so far that is no difference in a conflict of measures."""

ROUNDING = 1e-12
"""The share of a value that is no difference anywhere: equal schedules are summed in different orders."""

Points = npt.NDArray[np.float64]


@kernel(allocates=False)
def write_facts(machine: Machine, search: Search, place: int, longest: float) -> None:
    """Write down what a job takes, and how its costs grow with its begin."""
    aim, facts, told, requests = search.aim, search.facts, search.told, machine.requests
    job = search.job[place]
    facts[FACTS * place + PROCESSORS] = float(width(machine, job))
    time = planned_time(machine, job)
    facts[FACTS * place + TIME] = time
    told[TOLD * place + USER], told[TOLD * place + QUEUE] = float(requests.user_id[job]), float(requests.queue_id[job])
    told[TOLD * place + RANK], told[TOLD * place + LONGEST] = float(requests.priority_rank[job]), longest
    told[TOLD * place + SUBMITTED] = requests.submit_time[job]
    for term in range(search.counts[MEASURES]):
        at = FACTS * place + COSTS + 3 * term
        is_slowdown = aim[KIND * TERMS + term] == SLOWDOWN
        facts[at + SINCE] = instant(requests.submit_time[job] + aim[OMEGA * TERMS + term])
        facts[at + WEIGHT] = 1.0 / time if is_slowdown else 1.0
        facts[at + BASE] = 1.0 if is_slowdown else 0.0


@kernel(allocates=False)
def add_costs(search: Search, utility: Points, place: int, begin: float, before: int, behind: int) -> None:
    """Write the costs of an order as far as a job, which begins then, behind the costs as far as the one before it."""
    aim, facts, values = search.aim, search.facts, search.values
    for term in range(search.counts[MEASURES]):
        at = FACTS * place + COSTS + 3 * term
        if aim[KIND * TERMS + term] < LOST_UTILITY:
            cost = facts[at + BASE] + facts[at + WEIGHT] * max(time_since(facts[at + SINCE], begin), 0.0)
        else:
            cost = other_cost(search, utility, place, begin, term)
        so_far = values[before + term]
        values[behind + term] = max(so_far, cost) if aim[IS_MAX * TERMS + term] > 0.0 else so_far + cost


@kernel(allocates=False)
def other_cost(search: Search, utility: Points, place: int, begin: float, term: int) -> float:
    """Return what a job costs by a measure that is no plain one; a wrong cost is noted, and counts as infinite."""
    told = search.told
    wait = time_since(search.facts[FACTS * place + COSTS + 3 * term + SINCE], begin)
    time = search.facts[FACTS * place + TIME]
    if search.aim[KIND * TERMS + term] == LOST_UTILITY:
        return lost_utility(utility, search.job[place], wait + time)
    cost = call_by_address(
        int(search.aim[ADDRESS * TERMS + term]),
        wait,
        time,
        search.facts[FACTS * place + PROCESSORS],
        told[TOLD * place + USER],
        told[TOLD * place + QUEUE],
        told[TOLD * place + RANK],
        told[TOLD * place + LONGEST],
    )
    if cost >= 0.0:
        return cost
    search.counts[WRONG] = 1 + place
    return np.inf


@kernel(allocates=False)
def lost_utility(utility: Points, job: int, time: float) -> float:
    """Return by how much a job is worth less when it is completed a time after its submission than at once.

    A function is linear between its points and 0 behind the last; a job without one loses nothing.
    """
    if len(utility) == 0 or not utility[job, 0, 1] > 0.0:
        return 0.0
    best = utility[job, 0, 1]
    point, points = 0, utility.shape[1]
    while (
        point < points and utility[job, point, 0] < time
    ):  # 0 at the first, above which the time is; NaN behind the last
        point += 1
    if point == points or math.isnan(utility[job, point, 0]):
        return best
    left, right = utility[job, point - 1, 0], utility[job, point, 0]
    low, high = utility[job, point - 1, 1], utility[job, point, 1]
    return best - (low + (high - low) * ((time - left) / (right - left)))


@kernel(allocates=False)
def have_equal_utility(utility: Points, one: int, other: int) -> bool:
    """Whether the utility functions of two jobs have the same points."""
    for point in range(utility.shape[1]):
        for part in range(2):
            left, right = utility[one, point, part], utility[other, point, part]
            if left != right and not (math.isnan(left) and math.isnan(right)):
                return False
    return True


@kernel(allocates=False)
def is_better(search: Search, at: int) -> bool:
    """Whether the costs at a place of ``Search.values`` are better than the best so far.

    No worse in any measure and better in one; or, where measures are in conflict, better by the objective's model.
    Of an order that is placed in part that says what can still come of it: if it is not better, nor is the whole.
    """
    aim, values = search.aim, search.values
    gains, loses = False, False
    for term in range(search.counts[MEASURES]):
        value = values[at + term]
        if value < aim[LOW * TERMS + term]:
            gains = True
        elif value > aim[HIGH * TERMS + term]:
            loses = True
    if gains and loses:
        return wins_conflict(search, at)
    return gains


@kernel(allocates=False)
def wins_conflict(search: Search, at: int) -> bool:
    """Whether costs that are better in one measure and worse in another are better by the model."""
    aim, values, model = search.aim, search.values, search.counts[MODEL]
    total = 0.0
    for term in range(search.counts[MEASURES]):
        value, best = values[at + term], aim[BEST * TERMS + term]
        gain = best - value
        if aim[LOW * TERMS + term] <= value <= aim[HIGH * TERMS + term]:
            continue
        if search.counts[IS_STRICT] == 0 and -aim[SLACK * TERMS + term] < gain < aim[SLACK * TERMS + term]:
            continue
        if model == LEXICAL:
            return gain > 0.0
        if model == TRADEOFF_A:
            reference = best
        elif model == TRADEOFF_B:
            reference = min(best, value)
        else:
            reference = aim[REFERENCE * TERMS + term]
        if reference > 0.0:
            total += gain / reference
        else:
            total += np.inf if gain > 0.0 else -np.inf
    return total > ROUNDING  # not if a gain and a loss are both infinite, which makes NaN


@kernel(allocates=False)
def set_best(search: Search, term: int, value: float) -> None:
    """Make a value that of the best so far."""
    search.aim[BEST * TERMS + term] = value
    search.aim[LOW * TERMS + term], search.aim[HIGH * TERMS + term] = value * (1.0 - ROUNDING), value * (1.0 + ROUNDING)


@kernel(allocates=False)
def take_for_best(search: Search, at: int, longest: float) -> None:
    """Make costs those of the best so far."""
    aim, values = search.aim, search.values
    for term in range(search.counts[MEASURES]):
        set_best(search, term, values[at + term])
        if aim[IS_OFTEN_ZERO * TERMS + term] > 0.0:
            aim[SLACK * TERMS + term] = RELAXED * longest
        else:
            aim[SLACK * TERMS + term] = RELAXED * values[at + term]

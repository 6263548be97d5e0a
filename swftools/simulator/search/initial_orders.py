# SPDX-License-Identifier: BSD-3-Clause
"""The orders that a population begins with: what a scheduler would do without one."""

from __future__ import annotations

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.simulator.job_orders import LXF, SJF, order_key, rank_of
from swftools.simulator.machine.state import Machine
from swftools.simulator.planning import planned_length
from swftools.simulator.search.easy_builder import COMPETITORS, Ground
from swftools.simulator.search.population import CHILD, Population
from swftools.simulator.search.state import MEASURES, Search

SEEDS = 4
"""Orders of their own; one more begins with the last decision's best, if that is asked for."""


@kernel
def write_seeds(
    machine: Machine, search: Search, ground: Ground, population: Population, individuals: int, fixed: int
) -> int:
    """Write the first orders of a population, as many as there are individuals; return how many.

    The first so many places, which are fixed, stand first in each.

    In order of the places, which is that of arrival; of priority; of utility for each node-hour, and of utility now, or
    where utility is not the aim of the expansion factor, and of the shortest.
    """
    count = ground.counts[COMPETITORS]
    keys = np.empty(count)
    for seed in range(min(SEEDS, individuals)):
        for place in range(count):
            keys[place] = key_of_seed(machine, search, ground, seed, place) if place >= fixed else -np.inf
        order = np.argsort(keys, kind="mergesort")  # the stable one, in numba's words
        for place in range(count):
            population.orders[seed * count + place] = order[place]
    return min(SEEDS, individuals)


@kernel(allocates=False)
def key_of_seed(machine: Machine, search: Search, ground: Ground, seed: int, place: int) -> float:
    """Return the key of a place in the order of a seed; the least is first."""
    if seed == 0:
        return float(place)
    if seed == 1:
        return rank_of(machine, ground.job[place], np.inf)
    if search.counts[MEASURES] > 0:
        return order_key(LXF if seed == SEEDS - 2 else SJF, machine, ground.job[place])
    if seed == SEEDS - 1:
        return -ground.worth_now[place]
    return -worth_for_work(ground.worth_now[place], ground.need[place], ground.later[place])


@kernel(allocates=False)
def worth_for_work(worth: float, processors: int, time: float) -> float:
    """Return what a job is worth for each processor and second that it takes."""
    return worth / (processors * planned_length(time))


@kernel(allocates=False)
def write_last_best(
    population: Population, search: Search, ground: Ground, last: IntArray, known: int, row: int, fixed: int
) -> None:
    """Write the order of the last decision's best as an individual, with the jobs that came since behind it."""
    count, turn = ground.counts[COMPETITORS], 0
    population.turns[CHILD] += 1  # the number of a child, by which it is known who has had its turn
    number = population.turns[CHILD]
    for place in range(fixed):
        population.orders[row * count + turn], population.is_taken[place] = place, number
        turn += 1
    for i in range(known):
        place = search.place_of[last[i]]
        if fixed <= place < count and ground.job[place] == last[i]:
            population.orders[row * count + turn], population.is_taken[place] = place, number
            turn += 1
    for place in range(count):
        if population.is_taken[place] != number:
            population.orders[row * count + turn] = place
            turn += 1

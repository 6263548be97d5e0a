# SPDX-License-Identifier: BSD-3-Clause
"""A population of orders of the competing jobs, bred generation after generation: the genetic way to search.

The first generation has the orders of the seeds and else random ones. Each individual of the next is the child of two
different parents, drawn in proportion to their fitness, by the *zipper*: place after place a coin decides whose next
job it is, jobs that the child has already being passed over. With a probability two jobs of the child, drawn at random,
change places. The best individual of all generations is kept beside them.

What is drawn, of the run's generator, in this order
    For each random order, from its last place to its second, who stands there: floor(x (place + 1)), of x uniform
    in [0, 1). For each child its first parent and its second; the coins, ``COINS`` of one number, the first in its
    highest binary digit, heads being 1 and the first parent; whether it mutates; and if so the two places, the second
    among the others.
Fitness
    The worth of the plan, or, by an objective of ``search``, how many of the generation the individual is no worse
    than. If all are 0 each individual is drawn as often.

References
----------
Lee 2009, sections 3.2.1 to 3.2.3, Figures 3.1 to 3.3, equation 3.1.

Differs from the paper
----------------------
It leaves open how many individuals are random, and how often a child mutates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swftools.kernel import FloatArray, IntArray, kernel
from swftools.kernel.pointers import monotonic_seconds
from swftools.simulator.search.costs import Points, add_costs, is_better, take_for_best
from swftools.simulator.search.easy_builder import COMPETITORS, Ground, place_all, play_easy
from swftools.simulator.search.notes import note_generation, note_improvement
from swftools.simulator.search.state import (
    BEST,
    FIRST,
    IMPROVEMENTS,
    ITERATION,
    MEASURES,
    PATHS,
    SIZE,
    TERMS,
    VISITS,
    Search,
)

EASY, CONSERVATIVE = range(2)
"""In the order of ``BUILDERS``."""

BUILDERS = ("easy", "conservative")

COINS = 50
"""Coins of one number between 0 and 1, which has 53 binary digits."""

KNOWN = 1024
"""Orders of which it is remembered what they are worth."""

MOST_KNOWN = 64
"""Competing jobs up to which that is remembered: of more, hardly any order comes twice."""

_KEYS = 2**40


class Population(NamedTuple):
    """Two generations of orders, the best of all, and orders whose worth is known.

    ``orders`` has the individuals of two generations, one behind the other, in rows of as many places as compete;
    ``fitness`` is of each of the generation at hand; ``best`` the best order so far; ``is_taken`` the number of the
    last child in which a place has had its turn. ``known`` has orders in rows, ``worth_known`` what they are worth,
    ``known_at`` the number of the decision, from 1, at which that is so. ``turns`` counts children and decisions.
    """

    orders: IntArray
    fitness: FloatArray
    best: IntArray
    is_taken: IntArray
    known: IntArray
    worth_known: FloatArray
    known_at: IntArray
    turns: IntArray


CHILD, DECIDED = range(2)
"""Places in ``Population.turns``."""


class BreedingRules(NamedTuple):
    """How a population is bred: the policy's parameters, and how many places stand first in every order."""

    individuals: int
    generations: int
    mutation: float
    builder: int
    fixed: int


def empty_population(jobs: int, individuals: int) -> Population:
    """Return the room for so many individuals of so many jobs, which is zeros: it costs memory as far as it is used."""

    def whole(count: int) -> Any:
        return np.broadcast_to(np.zeros(1, np.int64), count)

    return Population(
        orders=whole(2 * individuals * (jobs + 1)),
        fitness=np.zeros(individuals),
        best=whole(jobs + 1),
        is_taken=whole(jobs + 1),
        known=whole(KNOWN * min(jobs + 1, MOST_KNOWN)),
        worth_known=np.zeros(KNOWN),
        known_at=np.zeros(KNOWN, np.int64),
        turns=np.zeros(2, np.int64),
    )


@kernel(allocates=False)
def evolve(
    population: Population,
    search: Search,
    ground: Ground,
    utility: Points,
    rules: BreedingRules,
    rng: np.random.Generator,
    seeds: int,
    until: float,
    longest: float,
) -> None:
    """Find the best order by so many generations, or until a time of the clock; it stands in ``population.best``.

    The first generation begins with so many seeds, which stand in ``population.orders`` already.
    """
    counts, orders, individuals = search.counts, population.orders, rules.individuals
    count = ground.counts[COMPETITORS]
    population.turns[DECIDED] += 1
    counts[VISITS], counts[PATHS], counts[IMPROVEMENTS], counts[ITERATION] = 0, 0, 0, 0
    for individual in range(min(seeds, individuals), individuals):
        shuffle(orders, individual * count, count, rules.fixed, rng)
    assess(population, search, ground, utility, rules, 0, longest)
    parity = 0
    while counts[ITERATION] < rules.generations and individuals > 1:
        if until < np.inf and monotonic_seconds() >= until:
            break
        counts[ITERATION] += 1
        total = 0.0
        for individual in range(individuals):
            total += population.fitness[individual]
        for individual in range(individuals):
            first = choose(population.fitness, individuals, total, -1, rng)
            second = choose(population.fitness, individuals, total, first, rng)
            child = ((1 - parity) * individuals + individual) * count
            one, other = (parity * individuals + first) * count, (parity * individuals + second) * count
            zip_orders(population, one, other, child, count, rng)
            if rng.random() < rules.mutation and count - rules.fixed > 1:
                mutate(orders, child + rules.fixed, count - rules.fixed, rng)
        parity = 1 - parity
        assess(population, search, ground, utility, rules, parity, longest)


@kernel(allocates=False)
def shuffle(orders: IntArray, row: int, count: int, fixed: int, rng: np.random.Generator) -> None:
    """Make a row for each random order, but for the first places, which are fixed."""
    for place in range(count):
        orders[row + place] = place
    for place in range(count - 1, fixed, -1):
        other = fixed + int(rng.random() * (place + 1 - fixed))
        orders[row + place], orders[row + other] = orders[row + other], orders[row + place]


@kernel(allocates=False)
def choose(fitness: FloatArray, individuals: int, total: float, but: int, rng: np.random.Generator) -> int:
    """Draw a parent in proportion to fitness, of all or of all but one."""
    if but >= 0:
        total -= fitness[but]
    drawn = rng.random()
    if not total > 0.0:
        chosen = int(drawn * (individuals - (but >= 0)))
        return chosen + (0 <= but <= chosen)
    left, chosen = drawn * total, -1
    for individual in range(individuals):
        if individual == but:
            continue
        if fitness[individual] > 0.0:
            chosen = individual  # what is left by rounding belongs to the last that can be drawn
            left -= fitness[individual]
            if left < 0.0:
                break
    # What the others have may be lost in rounding beside the one: then the first of them.
    return chosen if chosen >= 0 else int(but == 0)


@kernel(allocates=False)
def zip_orders(population: Population, one: int, other: int, child: int, count: int, rng: np.random.Generator) -> None:
    """Make a row the child of two rows: by coins, whose next job comes next."""
    orders, is_taken = population.orders, population.is_taken
    population.turns[CHILD] += 1
    number, coins, left = population.turns[CHILD], 0, 0
    for turn in range(child, child + count):
        if left == 0:
            coins, left = int(rng.random() * 2**COINS), COINS
        left -= 1
        if coins >> left & 1 == 1:
            while is_taken[orders[one]] == number:
                one += 1
            place = orders[one]
        else:
            while is_taken[orders[other]] == number:
                other += 1
            place = orders[other]
        orders[turn], is_taken[place] = place, number


@kernel(allocates=False)
def mutate(orders: IntArray, row: int, count: int, rng: np.random.Generator) -> None:
    """Let two jobs of a row change places."""
    left, right = int(rng.random() * count), int(rng.random() * (count - 1))
    right += right >= left
    orders[row + left], orders[row + right] = orders[row + right], orders[row + left]


@kernel(allocates=False)
def assess(
    population: Population,
    search: Search,
    ground: Ground,
    utility: Points,
    rules: BreedingRules,
    parity: int,
    longest: float,
) -> None:
    """Say how fit each of a generation is, and keep the best order if it is better than those before."""
    counts, fitness, orders = search.counts, population.fitness, population.orders
    individuals, count = rules.individuals, ground.counts[COMPETITORS]
    total = 0.0
    for individual in range(individuals):
        row = (parity * individuals + individual) * count
        counts[VISITS] += 1
        is_first = counts[ITERATION] == 0 and individual == 0
        if counts[MEASURES] == 0:
            fitness[individual] = known_worth(population, search, ground, utility, rules, row)
            is_best = is_first or fitness[individual] > search.aim[BEST * TERMS]
            if is_best:
                search.aim[BEST * TERMS] = fitness[individual]
            total += fitness[individual]
        else:
            build(search, ground, utility, rules, orders, row, False)
            cost_order(search, ground, utility, orders, row, 1 + individual)
            is_best = is_first or is_better(search, TERMS * (1 + individual))
            if is_best:
                take_for_best(search, TERMS * (1 + individual), longest)
                for term in range(TERMS):
                    search.values[TERMS * (1 + individuals) + term] = search.values[TERMS * (1 + individual) + term]
            total += search.values[TERMS * (1 + individual)]
        if is_first:
            for term in range(TERMS):
                search.aim[FIRST * TERMS + term] = search.aim[BEST * TERMS + term]
        if is_best:
            for place in range(count):
                population.best[place] = orders[row + place]
            counts[IMPROVEMENTS] += not is_first
            note_improvement(search)
    if counts[MEASURES] > 0:
        rank(population, search, individuals, longest)
    note_generation(search, total / individuals)


@kernel(allocates=False)
def rank(population: Population, search: Search, individuals: int, longest: float) -> None:
    """Make the fitness of each of a generation the number of those that are no better than it."""
    for individual in range(individuals):
        population.fitness[individual] = 0.0
    for one in range(individuals):
        take_for_best(search, TERMS * (1 + one), longest)
        for other in range(individuals):
            population.fitness[one] += not is_better(search, TERMS * (1 + other))
    take_for_best(search, TERMS * (1 + individuals), longest)


@kernel(allocates=False)
def known_worth(
    population: Population, search: Search, ground: Ground, utility: Points, rules: BreedingRules, row: int
) -> float:
    """Return what an order is worth, from those that are known if it is one of them."""
    orders, known, count = population.orders, population.known, ground.counts[COMPETITORS]
    if count > MOST_KNOWN:
        return build(search, ground, utility, rules, orders, row, False)
    key = 0
    for place in range(row, row + count):
        key = (key * 1_000_003 + orders[place] + 1) % _KEYS
    slot = (key >> 7) % KNOWN
    is_known = population.known_at[slot] == population.turns[DECIDED]
    if is_known:
        for place in range(count):
            if known[slot * count + place] != orders[row + place]:
                is_known = False
                break
    if is_known:
        return population.worth_known[slot]
    worth = build(search, ground, utility, rules, orders, row, False)
    for place in range(count):
        known[slot * count + place] = orders[row + place]
    population.worth_known[slot], population.known_at[slot] = worth, population.turns[DECIDED]
    return worth


@kernel(allocates=False)
def build(
    search: Search, ground: Ground, utility: Points, rules: BreedingRules, orders: IntArray, row: int, is_whole: bool
) -> float:
    """Plan the order of a row; return what it is worth."""
    search.counts[PATHS] += 1
    if rules.builder == EASY:
        return play_easy(ground, utility, orders, row, is_whole or search.counts[MEASURES] > 0)
    return place_all(ground, utility, search.steps, search.rest, search.counts[SIZE], orders, row)


@kernel(allocates=False)
def cost_order(search: Search, ground: Ground, utility: Points, orders: IntArray, row: int, behind: int) -> None:
    """Write the costs of the plan of a row's order as a row of ``Search.values``."""
    at = TERMS * behind
    for term in range(TERMS):
        search.values[at + term] = 0.0
    for turn in range(row, row + ground.counts[COMPETITORS]):
        place = orders[turn]
        add_costs(search, utility, place, ground.begins[place], at, at)

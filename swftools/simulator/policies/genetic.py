# SPDX-License-Identifier: BSD-3-Clause
"""Genetic: at each decision, breed a population of orders of the waiting jobs and follow the best.

``genetic``
    At each decision orders of the waiting jobs are bred, generation after generation
    (``swftools.simulator.search.population``). The worth of an order is what EASY, or conservative backfilling, makes
    of it (``swftools.simulator.search.easy_builder``). EASY then decides on the best order as if jobs had come in it.

Objective
    ``aggregate-utility``: the sum of what the planned jobs are worth by their utility functions. Or any objective of
    ``search``, whose measures are to be small; the fitness of an individual is then the number of others that are no
    better than it.
Seeds
    The order of arrival; of priority, then arrival; of utility for each node-hour now, highest first; of utility now.
    If the objective does not use utility, the last two are the orders of the expansion factor and of the shortest job.
Guarantee
    None beyond the objective, as far as it is planned: the next decision plans anew. A job that has lost all its worth
    may starve.
Outlived estimates
    A running job that outlives its estimate is expected to run to its limit, and beyond that to end at any moment, as
    under ``easy``.
Cost of a decision
    Nothing if no waiting job fits; no search if all fit, or only one waits. Otherwise ``individuals`` x (1 +
    ``generations``) plans, each O(e (w + e)) for w competing jobs and the e ends of jobs until nothing that begins is
    worth anything.

References
----------
Lee 2009, chapter 3; section 7.2.1 for ``warm_start``.

Differs from the paper
----------------------
The paper does not name its clock. ``plan_clock`` is the wait by default, because most jobs are worth nothing if they
are planned to the end of what users request. If very many jobs wait, ``most_jobs`` of them compete: those of the most
utility for each node-hour. The others stand behind them, in order of arrival, and may go ahead: as under ``easy``, or
where they disturb nothing that ``builder`` planned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from swftools.kernel import IntArray, kernel
from swftools.kernel.pointers import monotonic_seconds
from swftools.parameters import Parameters, choice, number, text, truth, whole
from swftools.simulator.instants import instant, time_since, time_until
from swftools.simulator.machine.faults import WRONG_COST, fail
from swftools.simulator.machine.state import SUBMITTED, Machine
from swftools.simulator.machine.verbs import start
from swftools.simulator.machine.views import (
    can_start_any,
    earliest_start,
    expected_time,
    fits,
    free,
    now,
    waiting_jobs,
    width,
)
from swftools.simulator.memory_transfer import check_sound, renumber
from swftools.simulator.planning import planned_length, planned_time
from swftools.simulator.registry import policy
from swftools.simulator.search.costs import TRADEOFF_C
from swftools.simulator.search.easy_builder import (
    COMPETITORS,
    Ground,
    compete,
    empty_ground,
    first_point,
    hold_ground,
    worth,
)
from swftools.simulator.search.forward_easy import write_references
from swftools.simulator.search.initial_orders import worth_for_work, write_last_best, write_seeds
from swftools.simulator.search.notes import empty_notes, note_decision, restore_search, tables_of
from swftools.simulator.search.objectives import Objective, read_objective
from swftools.simulator.search.population import (
    BUILDERS,
    EASY,
    BreedingRules,
    Population,
    build,
    empty_population,
    evolve,
)
from swftools.simulator.search.problem import gather, room_for
from swftools.simulator.search.search_parameters import AGGREGATE_UTILITY, Searching
from swftools.simulator.search.state import DECISION, MEASURES, MODEL, SIZE, WRONG, Search
from swftools.simulator.search.steps import find_place, take_place

WAIT, REQUESTED = range(2)
"""In the order of ``PLAN_CLOCKS``."""

PLAN_CLOCKS = ("wait", "requested")

WITHOUT_LIMIT = 2**62
"""Generations where a time limits the search."""


class GeneticValues(NamedTuple):
    """The parameters as a compiled policy reads them; the objective is in its memory."""

    generations: int
    individuals: int
    mutation: float
    plan_clock: int
    builder: int
    warm_start: bool
    seconds: float
    most_jobs: int
    notes: bool


@dataclass(frozen=True)
class GeneticParameters(Searching, Parameters):
    """Parameters of ``genetic``.

    Parameters
    ----------
    generations : int
        Generations after the first at each decision; with 0 the best order of the first generation decides.
    individuals : int
        Orders in a generation. The seeds come first, so with 1 the order of arrival is the only one.
    mutation : float
        Probability that two jobs of a child swap places.
    objective : str
        ``aggregate-utility``, or an objective of ``search``.
    plan_clock : {"wait", "requested"}
        At which time a planned job's utility is taken: at its start, or at the end of what it is expected to take.
    builder : {"easy", "conservative"}
        What turns an order into a plan, and decides which order is best.
    warm_start : bool
        Whether the first generation includes the best order of the last decision.
    seconds : float
        If above 0, each search runs for this long instead, s; how far it came is noted (``recorded_search``).
    most_jobs : int
        At most this many of the waiting jobs compete.
    explain : bool
        Whether to note what each search did: ``Schedule.notes`` then has the tables decisions, generations,
        improvements and orders.
    """

    limited_by: ClassVar[str] = "generations"

    generations: int = whole(100, least=0, most=2**31)
    individuals: int = whole(20, least=1, most=10_000)
    mutation: float = number(0.1, least=0, most=1)
    objective: str = text(AGGREGATE_UTILITY)
    plan_clock: str = choice(*PLAN_CLOCKS)
    builder: str = choice(*BUILDERS)
    warm_start: bool = truth(False)
    seconds: float = number(0.0, least=0, unit="s")
    most_jobs: int = whole(500, least=2, most=100_000)
    explain: bool = truth(False)

    def __post_init__(self) -> None:
        super().__post_init__()
        is_utility = isinstance(self.objective, str) and self.objective.strip() == AGGREGATE_UTILITY
        written = AGGREGATE_UTILITY if is_utility else read_objective(self.objective).to_text()
        object.__setattr__(self, "objective", written)

    def values(self) -> GeneticValues:
        """Return the parameters as numbers, but the objective."""
        return GeneticValues(
            self.generations,
            self.individuals,
            float(self.mutation),
            PLAN_CLOCKS.index(self.plan_clock),
            BUILDERS.index(self.builder),
            self.warm_start,
            float(self.seconds),
            self.most_jobs,
            self.explain or self.seconds > 0,
        )

    @property
    def aim(self) -> Objective | None:
        """The objective, taken apart; None: aggregate utility."""
        return None if self.objective == AGGREGATE_UTILITY else read_objective(self.objective)

    @property
    def effort(self) -> float:
        """About how many places a decision finds for a job."""
        return 15.0 * self.individuals * (1 + self.generations)

    @property
    def baseline(self) -> str:
        """The order that the population begins with."""
        return "order of arrival"

    @property
    def visited(self) -> str:
        """What is counted that was tried."""
        return "orders"

    def manner(self, visits: str, orders: str, rest: str) -> str:  # noqa: ARG002 (no search ends by itself)
        """Return a sentence about a search."""
        return f"Bred from the {self.baseline} and others, {self.individuals:,} at a time: {visits}, {orders} planned."


def columns_needed(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns that an objective needs."""
    return GeneticParameters.from_mapping({name: values[name] for name in GeneticParameters.names()}).needed


class GeneticMemory(NamedTuple):
    """What waits, what orders are built on, the population, and the last decision's best: jobs, and how many."""

    search: Search
    ground: Ground
    population: Population
    last: IntArray
    last_count: IntArray


def genetic_memory(jobs: int, processors: int, parameters: GeneticParameters, beside: int = 0) -> GeneticMemory:
    """Return the memory before the first job; so many compete at most beside those that wait."""
    most = min(jobs, parameters.most_jobs + beside)
    notes = empty_notes(jobs, parameters.seconds > 0, parameters.explain, generations=True)
    search = room_for(parameters.aim, jobs, processors, notes, rows=parameters.individuals + 2)
    return GeneticMemory(
        search,
        empty_ground(jobs, processors),
        empty_population(most, parameters.individuals),
        np.zeros(most + 1, np.int64),
        np.zeros(1, np.int64),
    )


def genetic_notes(memory: GeneticMemory, parameters: GeneticParameters) -> dict[str, pd.DataFrame]:
    """Return the tables of what was bred."""
    return tables_of(memory.search.notes, parameters.means)


def carry_best(old: GeneticMemory, new: GeneticMemory, jobs: IntArray) -> None:
    """Take along the number of the decision, and the last one's best order of those that are still there."""
    new.search.counts[DECISION] = old.search.counts[DECISION]
    best = renumber(old.last[: old.last_count[0]], jobs)
    new.last[: len(best)], new.last_count[0] = best, len(best)


def restore_best(old: GeneticMemory, new: GeneticMemory, machine: Machine) -> None:
    """Take the same out of a saved state, with what was noted."""
    count, submitted = int(old.last_count[0]), int(machine.counts[SUBMITTED])
    check_sound(0 <= count <= len(old.last) - 1, "a longer order than there may be")
    last = old.last[:count]
    check_sound((last >= 0).all() and (last < submitted).all(), "a job that there is not")
    check_sound(len(np.unique(last)) == count, "a job that is twice in an order")
    restore_search(old.search, new.search, machine)
    new.last[:count], new.last_count[0] = last, count


@policy(
    "genetic",
    when="If users say what a result is worth, and how that falls with time.",
    parameters=GeneticParameters,
    memory=genetic_memory,
    carry=carry_best,
    restore=restore_best,
    rests=True,
    needs_where=columns_needed,
    notes=genetic_notes,
    takes_long="each decision plans what waits thousands of times; fewer generations, or most_jobs, take less",
    version=2,
)
def genetic(machine: Machine, parameters: Any, memory: GeneticMemory, rng: np.random.Generator) -> None:
    """Breed orders of the waiting jobs, and start what EASY would start in the best one."""
    if not can_start_any(machine):
        return
    begin = monotonic_seconds() if parameters.seconds > 0.0 else 0.0
    queue, needed = waiting_jobs(machine), 0
    for job in queue:
        needed += width(machine, job)
    if needed <= free(machine) or len(queue) == 1:
        for job in queue:
            start(machine, job)
        return
    search, ground = memory.search, memory.ground
    jobs, others = competitors(machine, search, parameters, queue, parameters.most_jobs)
    longest = gather(machine, search, jobs, jobs, False)
    hold_ground(machine, ground, queue[:0])
    for job in jobs:
        compete_waiting(machine, ground, parameters, job)
    order = breed(machine, search, ground, memory, parameters, rng, begin, longest, 0)
    if parameters.builder == EASY:
        start_by_easy(machine, jobs[order], others)
    else:
        for place in order:
            if ground.is_now[place] > 0 and fits(machine, jobs[place]):
                start(machine, jobs[place])
    if parameters.notes:
        note_decision(machine, search)
    search.counts[DECISION] += 1
    if parameters.builder != EASY and len(others) > 0 and can_start_any(machine):
        start_beside_plan(machine, search, ground, order, others)


@kernel(allocates=False)
def compete_waiting(machine: Machine, ground: Ground, parameters: Any, job: int) -> None:
    """Let a waiting job compete."""
    time, submitted = expected_time(machine, job), machine.requests.submit_time[job]
    delay = time if parameters.plan_clock == REQUESTED else 0.0
    compete(ground, machine.requests.utility, job, width(machine, job), time, time, submitted, delay)


@kernel
def competitors(
    machine: Machine, search: Search, parameters: Any, queue: IntArray, most: int
) -> tuple[IntArray, IntArray]:
    """Return those of some waiting jobs that compete, ``most`` of them, and the others, both in order of arrival."""
    if len(queue) <= most:
        return queue, queue[:0]
    keys = np.zeros(len(queue))
    if search.counts[MEASURES] == 0:
        for i in range(len(queue)):
            job = queue[i]
            time = expected_time(machine, job)
            clock = time_since(machine.requests.submit_time[job], now(machine))
            if parameters.plan_clock == REQUESTED:
                clock += time
            point = first_point(machine.requests.utility, job, clock)
            if point >= 0:
                value = worth(machine.requests.utility, job, point, clock)
                keys[i] = -worth_for_work(value, width(machine, job), time)
    order = np.argsort(keys, kind="mergesort")  # the stable one, in numba's words
    return queue[np.sort(order[:most])], queue[np.sort(order[most:])]


@kernel
def breed(
    machine: Machine,
    search: Search,
    ground: Ground,
    memory: Any,
    parameters: Any,
    rng: np.random.Generator,
    begin: float,
    longest: float,
    fixed: int,
) -> IntArray:
    """Return the best order of the competing jobs that is bred, places; it is what was planned last, whole.

    The first so many places, which are fixed, stand first in every order.
    """
    population, utility, count = memory.population, machine.requests.utility, ground.counts[COMPETITORS]
    generations, until = parameters.generations, np.inf
    decision = search.counts[DECISION]
    if decision < len(search.limits) and search.limits[decision] > 0:
        generations = search.limits[decision] // parameters.individuals - 1
    elif parameters.seconds > 0.0:
        generations, until = WITHOUT_LIMIT, begin + parameters.seconds
    rules = BreedingRules(parameters.individuals, generations, parameters.mutation, parameters.builder, fixed)
    if search.counts[MODEL] == TRADEOFF_C:
        write_references(search, utility)
    seeds = write_seeds(machine, search, ground, population, rules.individuals, fixed)
    if parameters.warm_start and memory.last_count[0] > 0 and seeds < rules.individuals:
        write_last_best(population, search, ground, memory.last, memory.last_count[0], seeds, fixed)
        seeds += 1
    evolve(population, search, ground, utility, rules, rng, seeds, until, longest)
    if search.counts[WRONG] > 0:
        fail(machine, WRONG_COST, search.job[search.counts[WRONG] - 1])
    order = population.best[:count].copy()
    if parameters.notes:
        build(search, ground, utility, rules, np.arange(count), 0, True)
        for place in range(count):
            search.first_begins[place] = ground.begins[place]
    build(search, ground, utility, rules, order, 0, True)
    for turn in range(count):
        search.best_path[turn], search.best_begins[turn] = order[turn], ground.begins[order[turn]]
        memory.last[turn] = ground.job[order[turn]]
    memory.last_count[0] = count
    return order


@kernel
def start_beside_plan(machine: Machine, search: Search, ground: Ground, order: IntArray, others: IntArray) -> None:
    """Start waiting jobs that do not compete, in order of arrival, where they disturb nothing that is planned."""
    steps, size = search.rest, search.counts[SIZE]
    for at in range(2 * size):
        steps[at] = search.steps[at]
    for place in order:
        processors, time = float(ground.need[place]), planned_length(ground.at_once[place])
        first, last = find_place(steps, 0, processors, time)
        size = take_place(steps, size, first, last, processors, time)
    for job in others:
        processors, time = float(width(machine, job)), planned_time(machine, job)
        end, last = instant(steps[0] + time), 0
        while steps[2 * last] < end and steps[2 * last + 1] >= processors:
            last += 1
        if steps[2 * last] >= end and fits(machine, job):
            size = take_place(steps, size, 0, last, processors, time)
            start(machine, job)


@kernel
def start_by_easy(machine: Machine, jobs: IntArray, others: IntArray) -> None:
    """Let EASY decide on waiting jobs as if they had come in this order, the others behind them."""
    order = np.concatenate((jobs, others))
    head = 0
    while head < len(order) and fits(machine, order[head]):
        start(machine, order[head])
        head += 1
    if head == len(order) or not can_start_any(machine):
        return
    shadow, extra = earliest_start(machine, width(machine, order[head]))
    window = time_until(now(machine), shadow)
    for job in order[head + 1 :]:
        if fits(machine, job) and (expected_time(machine, job) <= window or width(machine, job) <= extra):
            if expected_time(machine, job) > window:
                extra -= width(machine, job)
            start(machine, job)

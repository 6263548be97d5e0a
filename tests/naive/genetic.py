# SPDX-License-Identifier: BSD-3-Clause
"""The genetic scheduler of Lee (2009, chapter 3 and section 6.7) restated slowly: orders as lists, plans as lists.

A decision breeds orders of the jobs that compete. Each is made a plan, by EASY played forward or each job at the
earliest time there is; what the plan is worth says how often an order becomes a parent. ``decide_by`` makes a policy of
it for the slow simulator; its draws are those of a generator, in the order that the fast one's page says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from tests.naive.search import Steps, earliest_fit, free_steps, take
from tests.naive.search_objectives import MEASURES, Measure, Objective, Question, value_of_utility
from tests.naive.simulator import CHECKPOINTED, Job, Policy, State, instant, planned_end

Points = dict[int, list[tuple[float, float]]]
"""The points of utility functions by the identity of the job; none, or no key, where it has none."""

COINS = 50
"""Coins that one number between 0 and 1 has in it."""


@dataclass(eq=False)
class Competitor:
    """A job that competes: what it takes now and later (s), what it is worth now, and by when it starts later."""

    job: Job
    width: int
    now: float
    later: float
    worth_now: float
    worth_later: Callable[[float], float]
    runs: bool = False


class Plan(NamedTuple):
    """When an order starts each competitor, by identity; who starts at once; what that is worth in all."""

    starts: dict[int, float]
    at_once: list[Competitor]
    worth: float


@dataclass
class Ground:
    """What orders are planned on: the time, what is free, and the ends of others that run, with their processors."""

    now: float
    free: int
    going: list[tuple[float, int]]
    steps: list[tuple[float, int]] = field(default_factory=list)


# ---------------------------------------------------------------- plans


def play_easy(order: Sequence[Competitor], ground: Ground) -> Plan:
    """Play EASY forward: the first that does not fit gets a reservation; who does not delay it may go ahead."""
    now, free, going = ground.now, ground.free, list(ground.going)
    starts: dict[int, float] = {}
    at_once: list[Competitor] = []
    total, queue, is_first = 0.0, list(order), True
    while queue:
        left: list[Competitor] = []
        shadow, extra = math.inf, 0
        for each in queue:
            time = each.now if is_first else each.later
            may = each.width <= free
            if left and may:
                may = instant(now + time) <= shadow or each.width <= extra
                extra -= each.width if may and instant(now + time) > shadow else 0
            if may:
                starts[id(each)] = now
                at_once += [each] * is_first
                free -= each.width
                going.append((instant(now + time), each.width))
                total += each.worth_now if is_first else each.worth_later(now)
                continue
            left.append(each)
            if len(left) == 1:
                shadow, extra = reservation(now, free, going, each.width)
        queue, is_first = left, False
        if not going:
            break
        now = min(end for end, _ in going)
        free += sum(width for end, width in going if end == now)
        going = [(end, width) for end, width in going if end > now]
    return Plan(starts | {id(each): math.inf for each in queue}, at_once, total)


def reservation(now: float, free: int, going: Sequence[tuple[float, int]], width: int) -> tuple[float, int]:
    """Return from when on so many processors are free, and how many more are free then."""
    times = sorted({now, *(end for end, _ in going)}) if free >= width else sorted({end for end, _ in going})
    for time in times:
        there = free + sum(own for end, own in going if end <= time)
        if there >= width:
            return time, there - width
    return math.inf, 0


def place_all(order: Sequence[Competitor], ground: Ground) -> Plan:
    """Place each at the earliest time that running jobs and those before it leave."""
    steps, starts, total = list(ground.steps), {}, 0.0
    for each in order:
        time = each.now or 1.0
        start = earliest_fit(steps, each.width, time)
        steps = take(steps, start, instant(start + time), each.width)
        starts[id(each)] = start
        total += each.worth_now if start <= ground.now else each.worth_later(start)
    return Plan(starts, [each for each in order if starts[id(each)] <= ground.now], total)


BUILDERS = {"easy": play_easy, "conservative": place_all}

# ---------------------------------------------------------------- breeding


def shuffled(count: int, fixed: int, draw: Callable[[], float]) -> list[int]:
    """Return a random order but for the first so many, drawn from the last place to the first."""
    order = list(range(count))
    for place in reversed(range(fixed + 1, count)):
        other = fixed + int(draw() * (place + 1 - fixed))
        order[place], order[other] = order[other], order[place]
    return order


def parent(fitness: Sequence[float], others: Sequence[int], draw: Callable[[], float]) -> int:
    """Draw one of some individuals in proportion to its fitness; each as often if none has any."""
    own = [fitness[each] for each in others]
    if sum(own) == 0:
        return others[int(draw() * len(others))]
    drawn = draw() * sum(own)
    return next(each for each, so_far in zip(others, accumulate(own), strict=True) if drawn < so_far)


def zipped(one: list[int], other: list[int], draw: Callable[[], float]) -> list[int]:
    """Return a child of two orders."""
    child: list[int] = []
    digits = ""
    while len(child) < len(one):
        digits = digits or format(int(draw() * 2**COINS), f"0{COINS}b")
        source = one if digits[0] == "1" else other
        digits = digits[1:]
        child.append(next(each for each in source if each not in child))
    return child


@dataclass
class Bred:
    """What a decision bred: the best order, how often a better one was found, and best and mean by generation."""

    best: list[int]
    improvements: int
    generations: list[tuple[float, float]]


def breed(
    seeds: list[list[int]],
    assess: Callable[[list[int]], float | list[Fraction]],
    is_better: Callable[[object, object], bool],
    *,
    individuals: int,
    generations: int,
    mutation: float,
    fixed: int,
    draw: Callable[[], float],
) -> Bred:
    """Breed orders. What ``assess`` says of one is what it is worth, or a list of what it costs."""
    count = len(seeds[0])
    population = seeds[:individuals]
    population += [shuffled(count, fixed, draw) for _ in range(individuals - len(population))]
    best: list[int] = []
    best_value: object = None
    improvements, told, fitness = -1, [], []
    for generation in range(generations + 1 if individuals > 1 else 1):
        if generation:
            children = []
            for _ in range(individuals):
                first = parent(fitness, range(individuals), draw)
                second = parent(fitness, [each for each in range(individuals) if each != first], draw)
                child = zipped(population[first], population[second], draw)
                if draw() < mutation and count - fixed > 1:
                    left, right = int(draw() * (count - fixed)), int(draw() * (count - fixed - 1))
                    right += right >= left
                    left, right = left + fixed, right + fixed
                    child[left], child[right] = child[right], child[left]
                children.append(child)
            population = children
        values = [assess(order) for order in population]
        for order, value in zip(population, values, strict=True):
            if not best or is_better(value, best_value):
                best, best_value = order, value
                improvements += 1
        if isinstance(values[0], list):
            fitness = [float(sum(not is_better(other, own) for other in values)) for own in values]
            told.append((float(best_value[0]), float(sum(value[0] for value in values) / individuals)))  # type: ignore[index, misc]
        else:
            fitness = [float(value) for value in values]  # type: ignore[arg-type]
            told.append((float(best_value), sum(fitness) / individuals))  # type: ignore[arg-type]
    return Bred(best, improvements, told)


# ---------------------------------------------------------------- the policies


@dataclass
class Told:
    """A decision: when, how many competed, what was bred; when the best order plans each, and that of arrival does."""

    now: float
    competitors: int
    bred: Bred
    starts: list[float]
    first_starts: list[float]


def decide_by(
    points: Points,
    rng: np.random.Generator,
    *,
    generations: int,
    individuals: int,
    mutation: float,
    plan_clock: str = "wait",
    builder: str = "easy",
    warm_start: bool = False,
    most_jobs: int = 500,
    objective: Objective | None = None,
    damping: str | None = None,
) -> tuple[Policy, list[Told]]:
    """Return a policy of the slow simulator, and the list in which it writes down what it bred.

    ``damping``: None is the policy that stops nobody. ``objective``: None is aggregate utility.
    """
    told: list[Told] = []
    last: list[Job] = []
    stopped: list[Job] = []

    def worth(job: Job, time: float) -> float:
        own = points.get(id(job))
        return float(value_of_utility(own, Fraction(time))) if own and own[0][1] > 0 and time < math.inf else 0.0

    def waits(state: State, job: Job) -> Competitor:
        time = state.expected_time(job)
        delay = time if plan_clock == "requested" else 0.0

        def later(start: float) -> float:
            return worth(job, start - job.submit + delay)

        return Competitor(job, job.width, time, time, later(state.now), later)

    def runs(state: State, job: Job) -> Competitor:
        assert job.present is not None
        work = job.done + max(state.now - job.present.start - job.present.overhead, 0.0)
        kept = math.floor(work / job.interval) * job.interval
        all_work = job.estimate if job.estimate > kept or kept == 0 else max(job.limit, kept)
        again = all_work if kept == 0 else state.overhead(job, job.width) + all_work - kept
        delay = again if plan_clock == "requested" else 0.0
        own = job.expected_end if plan_clock == "requested" else job.present.start
        boost = points[id(job)][0][1] if damping in ("boost", "both") and points.get(id(job)) else 0.0
        return Competitor(
            job,
            job.processors,
            max(job.expected_end - state.now, 0.0),
            again,
            worth(job, own - job.submit) + boost,
            lambda start: worth(job, start - job.submit + delay),
            runs=True,
        )

    def decide(state: State) -> None:
        if not state.waiting:
            return
        if damping is None and not any(job.width <= state.free for job in state.waiting):
            return
        may_stop = [job for job in state.running if damping and job.interval > 0 and job not in stopped]
        if sum(job.width for job in state.waiting) <= state.free or (damping is None and len(state.waiting) == 1):
            for job in list(state.waiting):
                state.start(job)
            return
        if not may_stop and (len(state.waiting) == 1 or not any(job.width <= state.free for job in state.waiting)):
            return
        queue = [waits(state, job) for job in state.waiting]
        by_work = [each.worth_now / (each.width * (each.later or 1.0)) for each in queue]
        ranked = sorted(range(len(queue)), key=(lambda i: -by_work[i]) if objective is None else (lambda i: 0))
        goes_first = [damping in ("airline", "both") and each.job in stopped for each in queue]
        early = [i for i in range(len(queue)) if goes_first[i]]
        ranked = [i for i in ranked if not goes_first[i]]
        room = max(most_jobs - len(early), 0)
        others = [queue[i].job for i in [*early[most_jobs:], *sorted(ranked[room:])]]
        front = [queue[i] for i in early[:most_jobs]]
        queue = [*front, *(queue[i] for i in sorted(ranked[:room]))]
        all_of = [*front, *(runs(state, job) for job in may_stop), *(each for each in queue if each not in front)]
        held = [(max(job.expected_end, state.now), job.processors) for job in state.running if job not in may_stop]
        ground = Ground(state.now, state.processors - sum(width for _, width in held), held)
        if builder == "conservative":
            ends = [(planned_end(job), job.processors) for job in state.running]
            ground.steps = free_steps(state.now, state.processors, ends)
        fixed, count = len(front), len(all_of)
        question = question_of(state, all_of, objective) if objective else None

        def assess(order: list[int]) -> float | list[Fraction]:
            plan = BUILDERS[builder]([all_of[i] for i in order], ground)
            if question is None:
                return plan.worth
            return question.values(order, [plan.starts[id(all_of[i])] for i in order])  # type: ignore[return-value]

        def seed(key: Callable[[Competitor], float]) -> list[int]:
            return [*range(fixed), *sorted(range(fixed, count), key=lambda i: key(all_of[i]))]

        keys: list[Callable[[Competitor], float]] = [lambda each: 0.0]
        keys.append(lambda each: each.job.rank if each.job.rank >= 0 else math.inf)
        if objective is None:
            keys.append(lambda each: -each.worth_now / (each.width * (each.later or 1.0)))
            keys.append(lambda each: -each.worth_now)
        else:
            keys.append(lambda each: -(1 + (state.now - each.job.submit) / (each.now or 1.0)))
            keys.append(lambda each: each.now)
        seeds = [seed(key) for key in keys]
        if warm_start and last and individuals > len(seeds):
            place = {id(each.job): i for i, each in enumerate(all_of)}
            known = [place[id(job)] for job in last if id(job) in place and place[id(job)] >= fixed]
            seeds.append([*range(fixed), *known, *(i for i in range(fixed, count) if i not in known)])
        bred = breed(
            seeds,
            assess,
            (lambda new, old: new > old) if question is None else question.is_better,  # type: ignore[operator, arg-type]
            individuals=individuals,
            generations=generations,
            mutation=mutation,
            fixed=fixed,
            draw=rng.random,
        )
        order = [all_of[i] for i in bred.best]
        last[:] = [each.job for each in order]
        plan, first = BUILDERS[builder](order, ground), BUILDERS[builder](all_of, ground)
        starts, first_starts = ([made.starts[id(each)] for each in order] for made in (plan, first))
        told.append(Told(state.now, count, bred, starts, first_starts))
        for each in all_of:
            if each.runs and each not in plan.at_once:
                state.preempt(each.job, CHECKPOINTED)
                stopped.append(each.job)
        behind = [waits(state, job) for job in others]
        if builder == "easy":
            plan = play_easy([*order, *behind], ground)
        for each in plan.at_once:
            if not each.runs:
                state.start_if_free(each.job)
        if builder == "conservative":
            start_beside(state, plan, ground.steps, order, behind)

    return decide, told


def start_beside(
    state: State, plan: Plan, steps: Steps, order: Sequence[Competitor], behind: Sequence[Competitor]
) -> None:
    """Start jobs behind a plan, as they came, that have room now."""
    for each in order:
        begin = plan.starts[id(each)]
        steps = take(steps, begin, instant(begin + (each.now or 1.0)), each.width)
    for each in behind:
        time = each.now or 1.0
        if earliest_fit(steps, each.width, time) == state.now and state.start_if_free(each.job):
            steps = take(steps, state.now, instant(state.now + time), each.width)


def question_of(state: State, competitors: list[Competitor], objective: Objective) -> Question:
    """Return what is asked of plans in measures that are to be small; not of ``tradeoff-c``."""
    measures: list[Measure] = [MEASURES[term.name] for term in objective.terms]
    oldest = state.now - min(each.job.submit for each in competitors)
    return Question(
        now=state.now,
        jobs=[each.job for each in competitors],
        times=[(each.now or 1.0) for each in competitors],
        steps=[],
        objective=objective,
        measures=measures,
        oldest=oldest,
        thresholds=[oldest if term.threshold is None else term.threshold for term in objective.terms],
        references=[],
    )

# SPDX-License-Identifier: BSD-3-Clause
"""The goal-oriented search of Chiang and Vasupongayya (2008) restated slowly: the tree of orders, plans as lists.

A decision looks at orders of the waiting jobs. Each is made a plan, every job at the earliest time that running jobs
and those before it in the order leave (section 2.4), whose measures are compared with those of the best order so far
(``tests.naive.search_objectives``). ``search`` goes through a part of the tree of orders and cuts what cannot be
better; ``try_all`` makes a plan of every order, from nothing, and cuts nothing. ``decide_by`` makes a policy of
either for the slow simulator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, NamedTuple

from tests.naive.search_objectives import MEASURES, Measure, Number, Objective, Question
from tests.naive.simulator import KEYS, Job, Policy, State, instant, planned_end

# ---------------------------------------------------------------- the tree


def discrepancies(order: Sequence[int]) -> list[int]:
    """Return the depths, from 1, at which a job is not the one that the heuristic puts first of those left."""
    return [depth for depth, job in enumerate(order, 1) if job != min(order[depth - 1 :])]


def orders(count: int, traversal: str) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the iteration and the order of each path of a tree, as they are visited; jobs by place in the heuristic.

    The i-th iteration of LDS has the paths of i discrepancies; that of DDS those whose deepest one is at depth i. Both
    go from left to right, which is the order of the words that paths are.
    """
    paths = sorted(permutations(range(count)))
    for iteration in range(max(count, 1)):
        for path in paths:
            depths = discrepancies(path)
            if iteration == (len(depths) if traversal == "lds" else max(depths, default=0)):
                yield iteration, path


def leads_on(traversal: str, iteration: int, prefix: Sequence[int], rest: Sequence[int]) -> bool:
    """Whether a path of an iteration begins with these jobs and goes on with the others in some order."""
    depths = discrepancies([*prefix, *sorted(rest)])
    depth, possible = len(prefix), max(len(rest) - 1, 0)  # the last job has no other branch
    if traversal == "lds":
        return len(depths) <= iteration <= len(depths) + possible
    if depth < iteration:
        return iteration <= depth + possible
    return iteration == max(depths, default=0)


# ---------------------------------------------------------------- plans

Steps = list[tuple[float, int]]
"""How many processors are free from when on: (s, processors), the first at the present instant."""


def free_steps(now: float, processors: int, held: Sequence[tuple[float, int]]) -> Steps:
    """Return the steps that running jobs leave, given as (end, processors); who should have ended holds nothing."""
    times = sorted({now, *(end for end, _ in held if end > now)})
    return [(time, processors - sum(width for end, width in held if end > time)) for time in times]


def earliest_fit(steps: Steps, width: int, time: float) -> float:
    """Return the first step from which on so many processors are free for a time."""
    for place, (begin, _) in enumerate(steps):
        if all(free >= width for since, free in steps[place:] if since < instant(begin + time)):
            return begin
    raise AssertionError("the job is wider than the machine")


def take(steps: Steps, begin: float, end: float, width: int) -> Steps:
    """Return the steps without so many processors from one time to another."""

    def free_at(time: float) -> int:
        return [free for since, free in steps if since <= time][-1]

    times = sorted({begin, end, *(since for since, _ in steps)})
    return [(time, free_at(time) - (width if begin <= time < end else 0)) for time in times]


def planned_time(state: State, job: Job) -> float:
    """Return how long a waiting job is planned to run."""
    return state.expected_time(job) or 1.0


# ---------------------------------------------------------------- what version C refers to


def play_backfill(
    state: State, held: Sequence[tuple[float, int]], key: Callable[[float, Job, float], float]
) -> dict[int, float]:
    """Return when the waiting jobs, by identity, start under backfilling with one reservation if no more come.

    ``key``: of a time, a job and its planned time; the least is the first.
    """
    starts: dict[int, float] = {}
    going, now = list(held), state.now
    queue = [(job, planned_time(state, job)) for job in state.waiting]
    while queue:
        going = [(end, width) for end, width in going if end > now]
        queue = sorted(queue, key=lambda each: key(now, *each))
        free = state.processors - sum(width for _, width in going)
        shadow, extra, left = math.inf, 0, []
        for job, time in queue:
            if not left:
                may = job.width <= free
            else:
                may = job.width <= free and (instant(now + time) <= shadow or job.width <= extra)
                if may and instant(now + time) > shadow:
                    extra -= job.width
            if may:
                starts[id(job)] = now
                going.append((instant(now + time), job.width))
                free -= job.width
                continue
            left.append((job, time))
            if len(left) == 1:
                steps = free_steps(now, state.processors, going)
                shadow, then = next((since, many) for since, many in steps if many >= job.width)
                extra = then - job.width
        queue = [(job, planned_time(state, job)) for job in state.waiting if id(job) not in starts]
        now = min((end for end, _ in going if end > now), default=math.inf)
    return starts


REFERENCES: dict[str, Callable[[float, Job, float], float]] = {
    "fcfs": lambda now, job, time: 0.0,
    "lxf": lambda now, job, time: -(1.0 + (now - job.submit) / time),
}
"""The backfilling whose schedules give version C its references: their keys."""


# ---------------------------------------------------------------- one decision


class Improvement(NamedTuple):
    """An order that was better than all before it: visits and iteration when it was found, and its measures."""

    nodes: int
    iteration: int
    values: list[Number]


@dataclass
class Found:
    """What a decision found: order and planned starts, jobs by place in the heuristic; the first is the heuristic's."""

    order: tuple[int, ...] = ()
    starts: tuple[float, ...] = ()
    first_starts: tuple[float, ...] = ()
    nodes: int = 0
    paths: int = 0
    improvements: list[Improvement] = field(default_factory=list)
    is_exhausted: bool = False

    def keep(self, order: Sequence[int], starts: Sequence[float], iteration: int, values: list[Number]) -> None:
        """Let an order be the best."""
        self.order, self.starts = tuple(order), tuple(starts)
        self.first_starts = self.first_starts or self.starts
        self.improvements.append(Improvement(self.nodes, iteration, values))


class NoMoreNodesError(Exception):
    """The search may visit no more nodes."""


def plan_of(question: Question, order: Sequence[int]) -> list[float]:
    """Return when the jobs of an order start."""
    steps, starts = question.steps, []
    for i in order:
        start = earliest_fit(steps, question.jobs[i].width, question.times[i])
        steps = take(steps, start, start + question.times[i], question.jobs[i].width)
        starts.append(start)
    return starts


def are_equal(question: Question, i: int, other: int) -> bool:
    """Whether it makes no difference to any plan or measure which of two jobs is placed first."""

    def looks(place: int) -> list[object]:
        job = question.jobs[place]
        return [job.width, job.submit, question.times[place], *(measure.of_job(job) for measure in question.measures)]

    return looks(i) == looks(other)


def try_all(question: Question, traversal: str) -> Found:
    """Return the best of all orders, each compared with the best before it."""
    found = Found(is_exhausted=True)
    for iteration, order in orders(len(question.jobs), traversal):
        starts = plan_of(question, order)
        values = question.values(order, starts)
        found.paths += 1
        if iteration == 0 or question.is_better(values, found.improvements[-1].values):
            found.keep(order, starts, iteration, values)
    return found


def search(question: Question, traversal: str, nodes: float, *, distinct: bool = False) -> Found:
    """Return what is found by so many visits; the heuristic's order is planned whatever that takes.

    A visit places a job. Beginnings that two paths of an iteration share are visited once, those of other iterations
    anew. Where the jobs placed so far, all others costing nothing, are no better than the best order, what begins with
    them is left alone. ``distinct``: so is what begins with a job whose equal is left and comes before it.
    """
    found = Found()

    def go_down(iteration: int, prefix: list[int], starts: list[float], steps: Steps) -> None:
        rest = [i for i in range(len(question.jobs)) if i not in prefix]
        if not rest:
            found.paths += 1
            found.keep(prefix, starts, iteration, question.values(prefix, starts))
        for i in rest:
            others = [other for other in rest if other != i]
            if not leads_on(traversal, iteration, [*prefix, i], others):
                continue
            if distinct and any(other < i and are_equal(question, i, other) for other in others):
                continue
            if iteration > 0 and found.nodes >= nodes:
                raise NoMoreNodesError
            found.nodes += 1
            job, time = question.jobs[i], question.times[i]
            start = earliest_fit(steps, job.width, time)
            order, begun = [*prefix, i], [*starts, start]
            if iteration > 0:
                values = question.values(order, begun)
                if not question.is_better(values, found.improvements[-1].values):
                    found.paths += not others
                    continue
            go_down(iteration, order, begun, take(steps, start, instant(start + time), job.width))

    try:
        for iteration in range(len(question.jobs)):
            go_down(iteration, [], [], question.steps)
    except NoMoreNodesError:
        return found
    found.is_exhausted = True
    return found


# ---------------------------------------------------------------- the policy


@dataclass
class Decision:
    """A decision as it was: what was asked, what was found, and how many jobs started."""

    question: Question
    found: Found
    started: int


def question_of(state: State, branching: str, objective: Objective, measures: dict[str, Measure]) -> Question:
    """Return what is asked at a decision."""
    jobs = sorted(state.waiting, key=lambda job: KEYS[branching](state, job))
    held = [(planned_end(job), job.processors) for job in state.running]
    oldest = state.now - min(job.submit for job in jobs)
    question = Question(
        now=state.now,
        jobs=jobs,
        times=[planned_time(state, job) for job in jobs],
        steps=free_steps(state.now, state.processors, held),
        objective=objective,
        measures=[measures[term.name] for term in objective.terms],
        oldest=oldest,
        thresholds=[oldest if term.threshold is None else term.threshold for term in objective.terms],
        references=[],
    )
    if objective.model == "tradeoff-c":
        for place, measure in enumerate(question.measures):
            starts = play_backfill(state, held, REFERENCES[measure.reference])
            order = sorted(range(len(jobs)), key=lambda i: state.waiting.index(jobs[i]))
            question.references.append(question.values(order, [starts[id(jobs[i])] for i in order])[place])
    return question


def decide_by(
    objective: Objective,
    *,
    traversal: str = "dds",
    branching: str = "lxf",
    nodes: float = 4000,
    distinct: bool = False,
    all_orders: bool = False,
    measures: dict[str, Measure] | None = None,
) -> tuple[Policy, list[Decision]]:
    """Return a policy of the slow simulator, and the list in which it writes its decisions down.

    ``measures``: others beside the built-in ones. It is not asked while no waiting job fits.
    """
    decisions: list[Decision] = []

    def decide(state: State) -> None:
        if not any(job.width <= state.free for job in state.waiting):
            return
        question = question_of(state, branching, objective, {**MEASURES, **(measures or {})})
        found = try_all(question, traversal) if all_orders else search(question, traversal, nodes, distinct=distinct)
        due = [question.jobs[i] for i, start in zip(found.order, found.starts, strict=True) if start <= state.now]
        decisions.append(Decision(question, found, sum(state.start_if_free(job) for job in due)))

    return decide, decisions


def row_of(decision: Decision) -> dict[str, Any]:
    """Return a decision as a row of the policy's notes, but for its number."""
    found, values = decision.found, {}
    for place in range(4):
        for name, improvement in (("first", found.improvements[0]), ("best", found.improvements[-1])):
            known = place < len(improvement.values)
            values[f"{name}_{place + 1}"] = float(improvement.values[place]) if known else math.nan
    return {
        "time": decision.question.now,
        "waiting": len(decision.question.jobs),
        "nodes": found.nodes,
        "paths": found.paths,
        "improvements": len(found.improvements) - 1,
        "is_exhausted": found.is_exhausted,
        "started": decision.started,
        **values,
    }

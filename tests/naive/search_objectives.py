# SPDX-License-Identifier: BSD-3-Clause
"""What the search of Chiang and Vasupongayya (2008) makes small, restated slowly.

Measures, and when an order is better: sections 3.1 to 3.3. Costs are fractions, and so exact: what two orders cost
alike is equal here, whichever job was summed first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tests.naive.simulator import Job

Number = Fraction | float
Cost = Callable[[Job, Fraction, Fraction, Fraction], Number]


@dataclass(frozen=True)
class Measure:
    """What a job costs by its wait, planned time and threshold, s; how costs are put together; whose schedule refers.

    ``is_excess``: a difference is marginal by how long the oldest job has waited, not by the value of the best order.
    ``of_job``: what a cost depends on beside the job's submission, width and planned time.
    """

    cost: Cost
    fold: str
    reference: str
    is_excess: bool = False
    of_job: Callable[[Job], object] = lambda job: None


def value_of_utility(points: Sequence[tuple[float, float]], time: Fraction) -> Fraction:
    """Return what a utility function is worth at a time: linear between points, nothing behind the last."""
    exact = [(Fraction(moment), Fraction(value)) for moment, value in points]
    for (before, high), (after, low) in pairwise(exact):
        if time <= after:
            return high + (low - high) * (time - before) / (after - before)
    return Fraction(0)


def lost_utility(points: dict[int, Sequence[tuple[float, float]]]) -> Measure:
    """Return the measure of jobs with utility functions, by the identity of the job; without one nothing is lost."""

    def cost(job: Job, wait: Fraction, time: Fraction, threshold: Fraction) -> Number:
        own = points.get(id(job))
        return Fraction(own[0][1]) - value_of_utility(own, wait + time) if own else 0

    return Measure(cost, "sum", "lxf", of_job=lambda job: points.get(id(job)))


MEASURES: dict[str, Measure] = {
    "T_w": Measure(lambda job, wait, time, threshold: max(wait - threshold, 0), "sum", "fcfs", is_excess=True),
    "maxW": Measure(lambda job, wait, time, threshold: wait, "max", "fcfs"),
    "avgW": Measure(lambda job, wait, time, threshold: wait, "mean", "lxf"),
    "avgX": Measure(lambda job, wait, time, threshold: (wait + time) / time, "mean", "lxf"),
    "maxE": Measure(lambda job, wait, time, threshold: max(wait - threshold, 0), "max", "fcfs", is_excess=True),
}
"""The built-in measures but that of utility, which needs functions."""


def folded(fold: str, costs: Sequence[Number], jobs: int) -> Number:
    """Return what the costs of some of so many jobs come to, the others costing nothing."""
    if fold == "max":
        return max(costs, default=0)
    return sum(costs) / jobs if fold == "mean" else sum(costs)


# ---------------------------------------------------------------- objectives


@dataclass(frozen=True)
class Term:
    """A measure by name; its threshold, s, or None: that of the decision."""

    name: str
    threshold: float | None = None


@dataclass(frozen=True)
class Objective:
    """What is to be small: one measure before the other (``lexical``), or both alike (``tradeoff-a``, -b, -c)."""

    model: str
    terms: tuple[Term, ...]
    is_strict: bool = False

    def to_text(self) -> str:
        """Return it in the words of the policy's parameter."""
        words = [term.name + ("" if term.threshold is None else f"({term.threshold:g}s)") for term in self.terms]
        between = " -> " if self.model == "lexical" else ":"
        return f"{'strict-' if self.is_strict else ''}{self.model}({between.join(words)})"


@dataclass
class Question:
    """What a decision asks: the waiting jobs as the heuristic orders them, what is free, and what is to be small.

    ``thresholds`` and ``references`` are of the objective's measures; the latter for version C alone. ``oldest`` is how
    long the oldest job has waited, s.
    """

    now: float
    jobs: list[Job]
    times: list[float]
    steps: list[tuple[float, int]]
    objective: Objective
    measures: list[Measure]
    oldest: float
    thresholds: list[float]
    references: list[Number]

    def values(self, order: Sequence[int], starts: Sequence[float]) -> list[Number]:
        """Return the measures of jobs, by place in the heuristic, that are planned to start then; the rest is free."""
        return [
            folded(
                measure.fold,
                [
                    measure.cost(
                        self.jobs[i],
                        Fraction(start) - Fraction(self.jobs[i].submit),
                        Fraction(self.times[i]),
                        Fraction(threshold),
                    )
                    for i, start in zip(order, starts, strict=True)
                ],
                len(self.jobs),
            )
            for measure, threshold in zip(self.measures, self.thresholds, strict=True)
        ]

    def is_better(self, new: Sequence[Number], best: Sequence[Number]) -> bool:
        """Whether an order of these measures is to take the place of the best so far."""
        gains = [old - value for old, value in zip(best, new, strict=True)]
        if all(gain >= 0 for gain in gains) or all(gain <= 0 for gain in gains):
            return any(gain > 0 for gain in gains)
        if not self.objective.is_strict:
            slacks = self.slacks(best)
            gains = [0 if -slack < gain < slack else gain for gain, slack in zip(gains, slacks, strict=True)]
        if self.objective.model == "lexical":
            return next((gain > 0 for gain in gains if gain != 0), False)
        shares = [share(gain, ref) for gain, ref in zip(gains, self.references_of(new, best), strict=True)]
        return sum(shares) > 0  # two infinite ones of unlike signs are no number, which is not above 0

    def slacks(self, best: Sequence[Number]) -> list[Number]:
        """Return below what a difference is none: 1 % of the best, or of the longest wait so far."""
        of = zip(self.measures, best, strict=True)
        return [(Fraction(self.oldest) if measure.is_excess else old) / 100 for measure, old in of]

    def references_of(self, new: Sequence[Number], best: Sequence[Number]) -> list[Number]:
        """Return to what differences are related: versions A, B and C."""
        if self.objective.model == "tradeoff-a":
            return list(best)
        if self.objective.model == "tradeoff-b":
            return [min(pair) for pair in zip(new, best, strict=True)]
        return self.references


def share(gain: Number, reference: Number) -> Number:
    """Return a difference as a share of a reference; of nothing it is infinite."""
    if gain == 0:
        return 0
    return gain / reference if reference > 0 else math.copysign(math.inf, gain)

# SPDX-License-Identifier: BSD-3-Clause
"""What the paper has not, or only in a sentence: how much generations bring, and how far the genetic policy varies."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import stdev

from pipelines.papers.lee2009.schedules import EASY, GENERATIONS_FEW, GENETIC, JOBS, UTILITY, policy_run
from pipelines.papers.lee2009.tables import generations
from pipelines.papers.lee2009.values import SEEDS, cell_of, logs_of_utility, mean, ratios, seeds
from pipelines.papers.lee2009.windows import is_of_utility, ranks_of, short_name
from pipelines.papers.paper import Cell, Measurements, Printed, Run

TRIALS, TRIALS_QUICK = 10, 3
"""Runs of the genetic policy on one workload, as in section 3.3; and to be quick."""


def bred(log: str, count: int, seed: int = 0, trial: int = 0) -> Run:
    """Return the run of the genetic policy with so many generations."""
    return policy_run(GENETIC, seed, generations=count, ranks=ranks_of(log), trial=trial)


def counts(quick: bool) -> list[int]:
    """Return the numbers of generations that are compared."""
    return sorted({0, generations(quick, few=True), generations(quick)})


def runs_of_generations(log: str, quick: bool) -> list[Run]:
    """Return runs by generations."""
    if not is_of_utility(log):
        return []
    easy = [policy_run(EASY, seed, ranks=ranks_of(log)) for seed in seeds(quick, SEEDS)]
    return [*easy, *(bred(log, count, seed) for count in counts(quick) for seed in seeds(quick, SEEDS))]


def cells_of_generations(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (the paper has none)
    """Yield aggregate utilities over EASY's by generations."""
    for log in logs_of_utility(found):
        for count in counts(quick):
            values = ratios(found, log, bred(log, count), policy_run(EASY, ranks=ranks_of(log)))
            definition = (
                "aggregate utility over that of EASY; with 0 generations the best of the first 20 orders counts"
            )
            yield cell_of(f"{short_name(log)} {count} generations", "GA", values, definition)


def plan_trials(log: str, quick: bool) -> list[Run]:
    """Return runs of the genetic policy on one workload."""
    count = GENERATIONS_FEW if not quick else generations(quick)
    trials = range(TRIALS_QUICK if quick else TRIALS)
    return [bred(log, count, trial=trial) for trial in trials] if is_of_utility(log) else []


def deviation(found: Measurements, log: str, quick: bool) -> float:
    """Return the standard deviation of aggregate utility over runs on one workload, % of its mean."""
    values = [found.values(log, run, JOBS, UTILITY)[:1] for run in plan_trials(log, quick)]
    known = [value for each in values for value in each]
    return 100 * stdev(known) / mean(known) if len(known) > 1 else float("nan")

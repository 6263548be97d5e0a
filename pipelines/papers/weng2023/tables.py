# SPDX-License-Identifier: BSD-3-Clause
"""What the authors' results are, beside ours: in their orders of pods and nodes, and in orders of our own.

The published values are those of ``experiments/analysis/expected_results`` of their repository, rounded to 0.01; of
twelve workloads none is given here, so these are shown alone. Random draws among nodes whose order there is not known:
its means are compared, its single runs are not. By how much the ten runs differ in the mean, and the standard error of
that, tells whether a mean that is off is more than chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from statistics import stdev

import numpy as np

from pipelines.papers.paper import (
    AS_WRITTEN,
    UNEXPLAINED,
    Cell,
    Cells,
    Measurements,
    Plan,
    Printed,
    Run,
    Within,
    read_printed,
)
from pipelines.papers.weng2023.inflations import ALLOCATED, DRAWS, PERCENTS, RATIO, RULES, inflation_run, values_of
from pipelines.papers.weng2023.workloads import LOGS, SEEDS, workload_of

EXACT = Within(absolute=0.005)
"""To the last printed digit."""

RULE_OF_RANDOM = Within(absolute=0.1)
RULE_OF_RATIO = {"random": Within(absolute=0.3)}
NEAR = Within(absolute=0.01)
"""Of shares of fragments, which the authors computed from amounts that were rounded to two digits."""

RULES_OF_OWN = {ALLOCATED: Within(absolute=0.3)}

OWN = "orders of our own, by numpy's generator"

END = 130

RUNS = read_printed(__package__, "published/seeds.csv")
"""The authors' single runs, by workload and rule."""

DEFINITIONS = {
    ALLOCATED: "GPUs allocated as a share of all, mean over ten orders",
    RATIO: "expected fragment as a share of the free GPUs, mean over ten orders",
}


def plan_six(log: str, quick: bool) -> list[Run]:
    """Return the runs of the six rules, in both orders."""
    return [inflation_run(quick, orders=orders) for orders in ("authors", "own")] if of_paper(log, quick) else []


def of_paper(log: str, quick: bool) -> bool:
    """Whether pods of a log are inflated; to be quick, those that are drawn."""
    return quick or log in LOGS


def rule_of(rule: str, measure: str) -> Within:
    """Return when the mean of a rule counts as reproduced."""
    if measure == ALLOCATED:
        return RULE_OF_RANDOM if rule == "random" else EXACT
    return RULE_OF_RATIO.get(rule, NEAR)


def definition_of(rule: str, measure: str, orders: str = "authors") -> str:
    """Return what is measured."""
    told = f"; of random {DRAWS[orders]} in each" if rule == "random" and DRAWS[orders] > 1 else ""
    return DEFINITIONS[measure] + told


def mean_of(values: list[float]) -> tuple[float, float]:
    """Return a mean and its standard error; missing where there is none."""
    if not values:
        return float("nan"), float("nan")
    return float(np.mean(values)), stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")


def cells_of_workloads(measure: str, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield a row a workload and a column a rule, when 130 % have been asked for."""
    for orders in ("authors", "own"):
        for log in found.logs:
            run = inflation_run(quick, orders=orders)
            for rule, text in RULES.items():
                value, error = mean_of(values_of(found, log, run, text, f"{measure} at {END} %"))
                is_drawn = (rule, measure, orders) == ("random", ALLOCATED, "authors")
                yield Cell(
                    workload_of(log),
                    rule,
                    value,
                    definition_of(rule, measure, orders),
                    unit="%",
                    printed=printed.get(workload_of(log), {}).get(rule) or None,
                    rule=rule_of(rule, measure) if orders == "authors" else RULES_OF_OWN.get(measure),
                    spread=error,
                    reading=AS_WRITTEN if orders == "authors" else OWN,
                    why=why_random(found, log, quick) if is_drawn else UNEXPLAINED,
                    is_chosen=orders == "authors",
                )


def less_printed(found: Measurements, log: str, quick: bool) -> list[float]:
    """Return by how much each run of random allocates more than the authors' in the same order, where that is told."""
    authors = RUNS.get(f"{workload_of(log)}, random", {})
    run, measure = inflation_run(quick), f"{ALLOCATED} at {END} %"
    each = [
        found.value(log, run, RULES["random"], measure, str(seed)) - float(authors[str(seed)])
        for seed in SEEDS
        if authors
    ]
    return [value for value in each if not np.isnan(value)]


def why_random(found: Measurements, log: str, quick: bool) -> str:
    """Return why the mean of random is another, in words: how far it is off beside chance."""
    more, error = mean_of(less_printed(found, log, quick))
    if np.isnan(error):
        return UNEXPLAINED
    return f"run by run ours is {more:+.2f} from the authors', of which the standard error is {error:.2f}"


def cells_of_random(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (of all tables here)
    """Yield a row a workload, and one of all: ours less the authors', and its standard error."""
    apart = {workload_of(log): less_printed(found, log, quick) for log in found.logs}
    apart["all"] = [value for values in apart.values() for value in values]
    definition = (
        f"GPUs allocated as a share of all, the mean of {DRAWS['authors']} runs of ours less the authors' run in the "
        "same order, mean over orders"
    )
    for row, values in apart.items():
        if len(values) > 1:
            more, error = mean_of(values)
            yield Cell(row, "ours less the authors'", more, definition, unit="%", spread=error)


def cells_of_seeds(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield a row a workload and rule, and a column an order of the authors."""
    for log in found.logs:
        for rule, text in RULES.items():
            row = f"{workload_of(log)}, {rule}"
            for seed in SEEDS:
                value = found.value(log, inflation_run(quick), text, f"{ALLOCATED} at {END} %", str(seed))
                if np.isnan(value):
                    continue
                yield Cell(
                    row,
                    str(seed),
                    value,
                    "GPUs allocated as a share of all in one run, by its seed"
                    + (f"; of random the mean of {DRAWS['authors']}" if rule == "random" else ""),
                    unit="%",
                    printed=printed.get(row, {}).get(str(seed)) or None,
                    rule=None if rule == "random" else EXACT,
                    note="what random draws in a single run is not known" if rule == "random" else None,
                )


def cells_of_demand(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:
    """Yield a row a rule, and what is allocated and a fragment by what has been asked for; of the first workload."""
    for log in found.logs[:1]:
        for rule, text in RULES.items():
            for measure in (ALLOCATED, RATIO):
                for percent in PERCENTS:
                    column = f"{measure} at {percent} %"
                    value, error = mean_of(values_of(found, log, inflation_run(quick), text, column))
                    yield Cell(
                        rule,
                        column,
                        value,
                        definition_of(rule, measure),
                        unit="%",
                        printed=printed.get(rule, {}).get(column) or None,
                        rule=rule_of(rule, measure),
                        spread=error,
                    )


MADE: dict[str, tuple[Plan, Cells]] = {
    "allocated": (plan_six, partial(cells_of_workloads, ALLOCATED)),
    "fragments": (plan_six, partial(cells_of_workloads, RATIO)),
    "demand": (plan_six, cells_of_demand),
    "seeds": (plan_six, cells_of_seeds),
    "random": (plan_six, cells_of_random),
}
"""How each table is made."""

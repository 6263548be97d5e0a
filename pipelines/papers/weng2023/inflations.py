# SPDX-License-Identifier: BSD-3-Clause
"""The experiment of the paper: pods come until they have asked for 130 % of the GPUs, by six rules and ten orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipelines.papers.paper import Measurements, Run, measured
from pipelines.papers.weng2023.drawn import with_requests
from pipelines.papers.weng2023.workloads import ORDERS, SEEDS, by_name, in_order, machine
from swftools.parameters import Parameters, choice, whole
from swftools.simulator.nodes.gpus.inflation import inflate
from swftools.simulator.nodes.gpus.workload import asks_of, models_of, typical_of
from swftools.trace import Trace

RULES = {
    "random": "random",
    "dot product": "weng-dot-product",
    "GPU clustering": "gpu-clustering",
    "GPU packing": "weng-gpu-packing",
    "best fit": "weng-best-fit",
    "FGD": "fgd",
}
"""Placements by what they are called here."""

TIES = {
    "whole numbers, the first": "",
    "whole numbers, any": "ties=random",
    "whole numbers, the smallest fragment": "ties=fragments",
    "exact scores": "exact=true",
}
"""How equal nodes are told apart, by what it is called here: what is compared, and which of equal ones is taken."""

TIED = ("FGD", "best fit")
"""Rules of which ties are looked at."""

DRAWS = {"authors": 5, "own": 1}
"""Runs of random in each order: one run an order leaves its mean a standard error of 0.1 points, the authors' too."""

PERCENTS = (*range(10, 131, 10),)
"""Of the GPUs, that have been asked for, at which is measured."""

ALLOCATED, RATIO = "allocated", "fragment ratio"

COLUMNS = {ALLOCATED: "allocated", RATIO: "fragment_ratio"}
"""Of curves, by measure."""

UNITS = {f"{name} at {percent} %": "%" for name in (ALLOCATED, RATIO) for percent in PERCENTS}

QUICK_NODES, QUICK_SEEDS = 24, 2


@dataclass(frozen=True)
class InflationOfPaper(Parameters):
    """Which rules; in whose orders, so many of them; on so many nodes of the machine, on all where it is 0."""

    NAME = "inflation"
    rules: str = choice("six", "ties")
    orders: str = choice(*ORDERS)
    seeds: int = whole(len(SEEDS), least=1, most=len(SEEDS))
    nodes: int = whole(0, least=0)


def placements_of(rules: str) -> list[str]:
    """Return the placements that are tried."""
    if rules == "six":
        return [*RULES.values()]
    return [placement(rule, ties) for rule in TIED for ties in TIES]


def placement(rule: str, ties: str) -> str:
    """Return the placement of a rule that tells equal nodes apart in a way."""
    return f"{RULES[rule]}:{TIES[ties]}".rstrip(":")


def measure_inflation(trace: Trace, parameters: InflationOfPaper, seed: int) -> pd.DataFrame:  # noqa: ARG001 (seeds are those of the authors)
    """Return by placement and seed how much is allocated, and fragmented, when so much has been asked for."""
    return measured(_rows(by_name(with_requests(trace)), parameters))


def _rows(trace: Trace, parameters: InflationOfPaper) -> Iterator[tuple[str, str, str, float]]:
    """Yield what is measured."""
    table = machine()
    if parameters.nodes:
        table = in_order(table, np.linspace(0, len(table) - 1, parameters.nodes).astype(np.int64))
    typical = typical_of(*asks_of(trace, models_of(table)))
    for seed in SEEDS[: parameters.seeds]:
        order = ORDERS[parameters.orders](trace, table, seed)
        shuffled = in_order(table, order.nodes)
        for text in placements_of(parameters.rules):
            curves = [
                inflate(trace, shuffled, seeded, order=order.arrivals, typical=typical).curve().reindex(PERCENTS)
                for seeded in seeded_as(text, seed, DRAWS[parameters.orders])
            ]
            for measure, column in COLUMNS.items():
                # Rounded as the authors' results are.
                means = np.mean([curve[column].to_numpy(dtype=float).round(2) for curve in curves], axis=0)
                for percent, value in zip(PERCENTS, means.tolist(), strict=True):
                    yield text, str(seed), f"{measure} at {percent} %", value


def seeded_as(text: str, seed: int, draws: int) -> list[str]:
    """Return a placement with seeds for its random numbers: ``draws`` where it has nothing else."""
    runs = draws if text == RULES["random"] else 1
    return [f"{text}{',' if ':' in text else ':'}seed={seed + 1000 * draw}" for draw in range(runs)]


def inflation_run(quick: bool, rules: str = "six", orders: str = "authors") -> Run:
    """Return the run of some rules in some orders."""
    if quick:
        return Run("inflation", InflationOfPaper(rules, orders, QUICK_SEEDS, QUICK_NODES))
    return Run("inflation", InflationOfPaper(rules, orders))


def values_of(found: Measurements, log: str, run: Run, text: str, measure: str) -> list[float]:
    """Return the values of a placement, a seed each; none if it was not measured."""
    values = [found.value(log, run, text, measure, str(seed)) for seed in SEEDS]
    return [value for value in values if not np.isnan(value)]

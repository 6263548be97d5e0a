# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of the statements, which stand in ``published/statements.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import Any

from pipelines.papers.paper import Cell, Measurements, Printed
from pipelines.papers.statements import Outcome, counted, read_statements
from pipelines.papers.weng2023.inflations import ALLOCATED, RULES, inflation_run, values_of
from pipelines.papers.weng2023.tables import END, mean_of
from pipelines.papers.weng2023.workloads import machine

READ_AT = 100
"""Percent of the GPUs that have been asked for where the abstract's numbers are read."""

PACKING = ("dot product", "GPU clustering", "GPU packing", "best fit")
"""The rules that the abstract speaks of."""


class Look:
    """What was measured of some workloads."""

    def __init__(self, found: Measurements, quick: bool) -> None:
        self.found, self.run = found, inflation_run(quick)

    def mean(self, log: str, rule: str, percent: int) -> float:
        """Return the mean share that a rule allocates, %."""
        return mean_of(values_of(self.found, log, self.run, RULES[rule], f"{ALLOCATED} at {percent} %"))[0]

    def worst(self) -> tuple[str, float, float]:
        """Return the packing rule that allocates least, how much it does, and FGD, %, on the first workload."""
        log = self.found.logs[0]
        allocated = {rule: self.mean(log, rule, READ_AT) for rule in PACKING}
        rule = min(PACKING, key=lambda each: allocated[each])
        return rule, allocated[rule], self.mean(log, "FGD", READ_AT)


def saved_share(look: Look) -> Outcome:
    """Return by how much fewer GPUs are left unallocated, %."""
    rule, other, own = look.worst()
    return Outcome(100 * (own - other) / (100 - other), {"rule": rule})


def saved_gpus(look: Look) -> Outcome:
    """Return how many more GPUs are allocated."""
    rule, other, own = look.worst()
    return Outcome((own - other) / 100 * float(machine().gpus.sum()) / 1000, {"rule": rule})


def ranked_first(look: Look) -> Outcome:
    """Return in how many workloads FGD allocates most."""
    leads = [
        look.mean(log, "FGD", END) - max(look.mean(log, rule, END) for rule in RULES if rule != "FGD")
        for log in look.found.logs
    ]
    return counted([lead > 0 for lead in leads], closest=f"{min(leads, default=nan):.2f}")


FUNCTIONS = (saved_share, saved_gpus, ranked_first)

STATEMENTS = read_statements(__package__, FUNCTIONS)


def cells_of_statements(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (no table)
    """Yield the statements."""
    look, by = Look(found, quick), {function.__name__: function for function in FUNCTIONS}
    for statement in STATEMENTS:
        given: dict[str, Any] = dict(statement.given)
        yield statement.cell(by[statement.by](look, **given))

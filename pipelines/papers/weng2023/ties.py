# SPDX-License-Identifier: BSD-3-Clause
"""Beyond the paper: what FGD's lead hangs on, by how equal nodes are told apart.

The authors' program cuts scores to whole numbers, and of equal nodes takes the first of a fixed order. Here also any of
them, as Kubernetes does, or the one that would have the smallest fragment; and scores as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from pipelines.papers.paper import Cell, Cells, Measurements, Plan, Printed, Run
from pipelines.papers.weng2023.inflations import ALLOCATED, TIED, TIES, inflation_run, placement, values_of
from pipelines.papers.weng2023.tables import END, mean_of, of_paper
from pipelines.papers.weng2023.workloads import workload_of

MEASURE = f"{ALLOCATED} at {END} %"

SURE = 0.95
"""Of the intervals: Student's t over ten orders, in which both rules have the same pods and nodes."""


def plan_ties(log: str, quick: bool) -> list[Run]:
    """Return the run of all ways."""
    return [inflation_run(quick, "ties")] if of_paper(log, quick) else []


def cells_of_ties(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield a row a workload, and a column a rule and way."""
    for log in found.logs:
        for rule in TIED:
            for ties in TIES:
                values = values_of(found, log, inflation_run(quick, "ties"), placement(rule, ties), MEASURE)
                value, error = mean_of(values)
                definition = "GPUs allocated as a share of all, mean over the authors' ten orders"
                yield Cell(workload_of(log), f"{rule}: {ties}", value, definition, unit="%", spread=error)


def cells_of_lead(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (none is printed)
    """Yield a row a workload and way: the lead, and its interval."""
    for log in found.logs:
        for ties in TIES:
            lead, low, high = lead_of(found, log, quick, ties)
            row = f"{workload_of(log)}: {ties}"
            definition = (
                "FGD less best fit, % of all GPUs, both with the same way; mean of ten orders, with its 95 % interval "
                "by Student's t"
            )
            yield Cell(row, "lead", lead, definition, unit="%")
            yield Cell(row, "from", low, definition, unit="%")
            yield Cell(row, "to", high, definition, unit="%")


def lead_of(found: Measurements, log: str, quick: bool, ties: str) -> tuple[float, float, float]:
    """Return by how much FGD allocates more than best fit, and from where to where that is sure."""
    run = inflation_run(quick, "ties")
    own, other = (values_of(found, log, run, placement(rule, ties), MEASURE) for rule in TIED)
    if not own:
        return (float("nan"),) * 3
    leads = np.array(own) - np.array(other)
    mean = float(leads.mean())
    half = float(stats.t.ppf((1 + SURE) / 2, len(leads) - 1) * leads.std(ddof=1) / len(leads) ** 0.5)
    return mean, mean - half, mean + half


MADE: dict[str, tuple[Plan, Cells]] = {
    "ties": (plan_ties, cells_of_ties),
    "lead": (plan_ties, cells_of_lead),
}
"""How each table is made."""

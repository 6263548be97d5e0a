# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of the statements of the text, which stand in ``published/statements.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pipelines.papers.barsanti2006.comparison import CIRNE_BERMAN, RESPONSE, SCOJO
from pipelines.papers.barsanti2006.tables import DOWNEY, W1, W2, runs_of_comparisons
from pipelines.papers.barsanti2006.values import Estimate, Given, mean_of, ratio_of, runs_of
from pipelines.papers.barsanti2006.workloads import ALL, CLASSES
from pipelines.papers.paper import Cell, Measurements, Printed, Run
from pipelines.papers.statements import Outcome, read_statements

RIGID: dict[str, Any] = {**W1, "moldable_share": 0.8}
"""A fifth of the jobs is rigid."""

WORKLOADS: dict[str, Given] = {"W1": W1, "W2": W2, "Downey": DOWNEY, "80 % moldable": RIGID}

SMALL = "of small workloads, not those of the paper"

SHARES = (0.9, 0.8)
"""The other shares of moldable jobs that were tested."""


def runs_of_statements(log: str, quick: bool) -> list[Run]:
    """Return the runs that the statements are about."""
    shares = [{**each, "moldable_share": share} for each in (W1, W2) for share in SHARES]
    return runs_of_comparisons(log, quick, W1, W2, DOWNEY, *shares)


def cells_of_statements(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (no table)
    """Yield the statements, a row each."""
    look = Look(found, quick)
    for statement in STATEMENTS:
        cell = statement.cell(MEASURED[statement.by](look, **statement.given))
        cell = replace(cell, row=cell.column, column="holds")
        yield replace(cell, reproduces=None, note=SMALL) if quick else cell


@dataclass(frozen=True)
class Look:
    """What was measured, and whether it was to be quick."""

    found: Measurements
    quick: bool

    def ratio(self, workload: str, over: str, under: str, measure: str, x: str = ALL) -> Estimate:
        """Return the mean ratio of two approaches."""
        return ratio_of(self.found, runs_of(self.quick, **WORKLOADS[workload]), over, under, measure, x)

    def mean(self, workload: str, subject: str, measure: str) -> Estimate:
        """Return the mean of a measure of all jobs."""
        return mean_of(self.found, runs_of(self.quick, **WORKLOADS[workload]), subject, measure, ALL)

    def responses(self, workload: str) -> dict[str, Estimate]:
        """Return the ratio of response times, SCOJO-P's over Cirne and Berman's, by class."""
        return {kind: self.ratio(workload, SCOJO, CIRNE_BERMAN, RESPONSE, kind) for kind in CLASSES}


def ratio(
    look: Look, workload: str, measure: str, jobs: str = ALL, over: str = SCOJO, under: str = CIRNE_BERMAN
) -> Outcome:
    """Return the ratio of two approaches by some measure of some jobs."""
    found = look.ratio(workload, over, under, measure, jobs)
    return Outcome(found.mean, spread=found.error)


def worst_response(look: Look) -> Outcome:
    """Return the largest ratio of response times of the three classes."""
    worst = max(look.responses("W1").values(), key=lambda each: each.mean)
    return Outcome(worst.mean, spread=worst.error)


def jobs_beside(
    look: Look, workload: str, name: str, measure: str, other: str | None = None, beside: str | None = None
) -> Outcome:
    """Return a number of jobs; and ``theirs``: by another measure, or in another workload."""
    ours, theirs = look.mean(workload, name, measure), look.mean(beside or workload, name, other or measure)
    return Outcome(ours.mean, {"theirs": theirs.mean}, spread=ours.error)


def response_of_long(look: Look) -> Outcome:
    """Return the ratio of response times of long jobs in W2; and which class benefits most."""
    responses = look.responses("W2")
    best = min(responses, key=lambda kind: responses[kind].mean)
    long = responses["long"]
    return Outcome(long.mean, {"best": best, "benefit_most": best == "long"}, spread=long.error)


def response_with_rigid_jobs(look: Look, name: str) -> Outcome:
    """Return the response time where a fifth of the jobs is rigid, over that where none is."""
    rigid, moldable = (look.mean(workload, name, RESPONSE) for workload in ("80 % moldable", "W1"))
    return Outcome(rigid.mean / moldable.mean if moldable.mean else float("nan"))


MEASURED = {
    function.__name__: function
    for function in (ratio, worst_response, jobs_beside, response_of_long, response_with_rigid_jobs)
}
"""By name, as entries of the file name them."""

STATEMENTS = read_statements(__package__, MEASURED.values())

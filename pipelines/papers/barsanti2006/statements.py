# SPDX-License-Identifier: BSD-3-Clause
"""What the text says of its figures, one statement a line, in words of our own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan

from pipelines.papers.barsanti2006.comparison import (
    CIRNE_BERMAN,
    EDGES,
    FIXED,
    JOBS,
    NOT_PREDICTIVE,
    RAN,
    RESPONSE,
    SCOJO,
    SHRUNK,
    UTILIZATION,
    WAIT,
    WIDENED,
    WIDTH,
)
from pipelines.papers.barsanti2006.tables import DOWNEY, PAIRED, W1, W2, plan
from pipelines.papers.barsanti2006.values import Estimate, Given, mean_of, ratio_of, runs_of
from pipelines.papers.barsanti2006.workloads import ALL, CLASSES
from pipelines.papers.paper import UNEXPLAINED, Cell, Measurements, Printed, Run

NEAR = 0.1
"""A ratio that the text tells as "about a third" may be so far from it."""

A_LITTLE = 1.1
"""What is up to a tenth worse is "a little worse"; what is up to a tenth better is "slightly better"."""

RIGID = {**W1, "moldable_share": 0.8}
"""A fifth of the jobs is rigid."""

SMALL = "of small workloads, not those of the paper"

SHARES = (0.9, 0.8)
"""The other shares of moldable jobs that were tested."""


def plan_statements(log: str, quick: bool) -> list[Run]:
    """Return the runs that the statements are about."""
    return plan(
        log, quick, W1, W2, DOWNEY, *({**each, "moldable_share": share} for each in (W1, W2) for share in SHARES)
    )


def cells(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no table)
    """Yield the statements."""
    told = Told(found, quick)
    parts = (_of_w1, _of_adaptations, _of_w2, _of_other_curves, _of_shares)
    for cell in (cell for part in parts for cell in part(told)):
        yield replace(cell, reproduces=None, note=SMALL) if quick else cell


class Told:
    """Ratios and means of what was measured."""

    def __init__(self, found: Measurements, quick: bool) -> None:
        self.found, self.quick = found, quick

    def ratio(self, given: Given, over: str, under: str, measure: str, x: str = ALL) -> Estimate:
        """Return the mean ratio of two approaches."""
        return ratio_of(self.found, runs_of(self.quick, **given), over, under, measure, x)

    def mean(self, given: Given, subject: str, measure: str, x: str = "") -> Estimate:
        """Return the mean of a measure."""
        return mean_of(self.found, runs_of(self.quick, **given), subject, measure, x)


def _of_w1(told: Told) -> Iterator[Cell]:
    """Yield what is said of response and wait times under the basic workload."""
    responses = {kind: told.ratio(W1, SCOJO, CIRNE_BERMAN, RESPONSE, kind) for kind in CLASSES}
    worst = max(responses.values(), key=lambda each: each.mean)
    yield _statement("SCOJO-P responds earlier than Cirne-Berman in each class", "below 1", worst, worst.mean < 1)
    for measure, says in ((RESPONSE, ("0.33", "0.33", "0.5")), (WAIT, ("0.33", "0.33", "0.25"))):
        for kind, share in zip(CLASSES, says, strict=True):
            of_kind = told.ratio(W1, SCOJO, CIRNE_BERMAN, measure, kind)
            holds = abs(of_kind.mean - float(share)) <= NEAR
            yield _statement(f"{measure}, {kind} jobs: SCOJO-P / Cirne-Berman", share, of_kind, holds)
    yield _below_one(told, W1, "SCOJO-P starts long jobs earlier than Cirne-Berman", WAIT, "long")
    yield _below_one(told, W1, "... and on fewer processors", WIDTH, "long")
    ran = told.ratio(W1, SCOJO, CIRNE_BERMAN, RAN, "long")
    yield _statement("... so that they run longer", "above 1", ran, ran.mean > 1)
    for kind in CLASSES:
        last = f"{kind} inf"
        tail = told.ratio(W1, SCOJO, CIRNE_BERMAN, JOBS, last)
        yield _statement(f"fewer {kind} jobs have excessive response times", "below 1", tail, tail.mean < 1)
    for kind in ("short", "medium"):
        first = told.ratio(W1, SCOJO, CIRNE_BERMAN, JOBS, f"{kind} {EDGES[kind][0]:g}")
        yield _statement(f"more {kind} jobs have the shortest response times", "above 1", first, first.mean > 1)
    approx = told.ratio(W1, SCOJO, FIXED, RESPONSE)
    yield _statement(
        "SCOJO-P improves response times by approximately 50 %", "0.5", approx, abs(approx.mean - 0.5) <= NEAR
    )
    worse = told.ratio(W1, NOT_PREDICTIVE, SCOJO, RESPONSE)
    yield _statement("without prediction it is a little worse", "above 1", worse, 1 < worse.mean <= A_LITTLE)


def _of_adaptations(told: Told) -> Iterator[Cell]:
    """Yield what is said of shrunk and expanded jobs, and of utilization."""
    for name, more, fewer, verb in ((SCOJO, SHRUNK, WIDENED, "shrinks"), (CIRNE_BERMAN, WIDENED, SHRUNK, "expands")):
        for workload, given in (("W1", W1), ("W2", W2)):
            many, few = (told.mean(given, name, measure, ALL) for measure in (more, fewer))
            statement = f"{workload}: {name} {verb} more jobs than it does the other"
            yield _statement(statement, "more", many, many.mean > few.mean, "jobs", f"of the other: {few.mean:,.0f}")
    one, two = (told.mean(given, SCOJO, SHRUNK, ALL) for given in (W1, W2))
    yield _statement(
        "SCOJO-P shrinks more jobs in W2 than in W1", "more", two, two.mean > one.mean, "jobs", f"in W1 {one.mean:,.0f}"
    )
    higher = told.ratio(W1, CIRNE_BERMAN, SCOJO, UTILIZATION, "")
    yield _statement("Cirne-Berman has the higher utilization", "1.14", higher, higher.mean > 1)


def _of_w2(told: Told) -> Iterator[Cell]:
    """Yield what is said of the heavier workload."""
    for measure, share in ((WAIT, "0.33"), (RESPONSE, "0.52")):
        of_long = told.ratio(W2, SCOJO, CIRNE_BERMAN, measure, "long")
        holds = abs(of_long.mean - float(share)) <= NEAR
        yield _statement(f"W2, {measure} of long jobs: SCOJO-P / Cirne-Berman", share, of_long, holds)
    responses = {kind: told.ratio(W2, SCOJO, CIRNE_BERMAN, RESPONSE, kind) for kind in CLASSES}
    best = min(responses, key=lambda kind: responses[kind].mean)
    statement = "W2: long jobs benefit most"
    yield _statement(statement, "least", responses["long"], best == "long", note=f"here {best} jobs do")


def _of_other_curves(told: Told) -> Iterator[Cell]:
    """Yield what is said of Downey's curves."""
    ratio = told.ratio(DOWNEY, SCOJO, CIRNE_BERMAN, RESPONSE)
    holds = 1 / A_LITTLE <= ratio.mean < 1
    yield _statement("Downey's curves: SCOJO-P is slightly better than Cirne-Berman", "below 1", ratio, holds)
    without = told.ratio(DOWNEY, NOT_PREDICTIVE, SCOJO, RESPONSE)
    yield _statement("Downey's curves: without prediction it is better", "below 1", without, without.mean < 1)


def _of_shares(told: Told) -> Iterator[Cell]:
    """Yield what is said of a workload a fifth of whose jobs is rigid."""
    for name, share in ((SCOJO, "0.96"), (CIRNE_BERMAN, "1.05")):
        rigid, moldable = (told.mean(given, name, RESPONSE, ALL) for given in (RIGID, W1))
        change = Estimate(rigid.mean / moldable.mean if moldable.mean else float("nan"), rigid.error)
        better = name == SCOJO
        holds = (change.mean < 1) == better and abs(change.mean - float(share)) <= NEAR
        statement = f"{name} with 80 % moldable jobs responds {'earlier' if better else 'later'} than with 100 %"
        yield _statement(statement, share, change._replace(error=float("nan")), holds)


def _below_one(told: Told, given: Given, statement: str, measure: str, kind: str) -> Cell:
    """Return the statement that SCOJO-P has less of something than Cirne-Berman."""
    ratio = told.ratio(given, SCOJO, CIRNE_BERMAN, measure, kind)
    return _statement(statement, "below 1", ratio, ratio.mean < 1)


def _statement(
    statement: str, printed: str, told: Estimate, holds: bool, unit: str = "1", note: str | None = None
) -> Cell:
    """Return a statement of the text, and whether it holds; of what was not measured nothing is said."""
    return Cell(
        row=statement,
        column="holds",
        ours=told.mean,
        spread=told.error,
        definition=PAIRED if unit == "1" else "mean over workloads",
        unit=unit,
        printed=printed,
        reproduces=None if isnan(told.mean) else bool(holds),
        note=note if note and not holds else None,
        why=UNEXPLAINED,
    )

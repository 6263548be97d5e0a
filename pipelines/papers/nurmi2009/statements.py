# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of the statements of chapter 4, which stand in ``published/statements.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan, nan

from pipelines.papers.nurmi2009.coverage import CORRECT, months_correct
from pipelines.papers.nurmi2009.populations import ANY, population_of
from pipelines.papers.nurmi2009.predictions import METHODS, replay_run, rows_of
from pipelines.papers.paper import Cell, Measurements, Printed, Run
from pipelines.papers.statements import Outcome, counted, read_statements

OTHER_LOGS = "of other logs than the paper's"
"""Why a statement may not hold."""


def runs_of_statements(log: str, quick: bool) -> list[Run]:
    """Return the runs of both tables by the chosen reading."""
    return [replay_run(log, quick, method, qbets=qbets) for method in METHODS.values() for qbets in (False, True)]


def cells_of_statements(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (no table)
    """Yield the statements; where one does not hold of other logs than the paper's, that is said."""
    others = any(population_of(log) == ANY for log in found.logs)
    queues = Queues(found, quick)
    for statement in STATEMENTS:
        cell = statement.cell(MEASURED[statement.by](queues))
        if not queues.names:
            yield replace(cell, ours=nan, reproduces=None, note="no queue has more jobs than the training")
        else:
            yield replace(cell, note=OTHER_LOGS) if others and cell.reproduces is False else cell


class Queues:
    """Correctness and tightness of the methods by queue, each a log and a row of the tables; with QBETS or without."""

    def __init__(self, found: Measurements, quick: bool) -> None:
        self.found, self.quick = found, quick
        self.names = [(log, row) for log in found.logs for row in rows_of(found, log, quick)]

    def values(self, measure: str, method: str = "BM", *, qbets: bool = True) -> list[float]:
        """Return a measure of a method, one a queue."""
        return [
            self.found.value(log, replay_run(log, self.quick, METHODS[method], qbets=qbets), row, measure)
            for log, row in self.names
        ]

    def is_correct(self, method: str, *, qbets: bool = True) -> list[bool]:
        """Return whether a method is correct, one a queue."""
        return [value >= CORRECT for value in self.values("correctness", method, qbets=qbets)]

    def months_correct(self, *, qbets: bool) -> list[float]:
        """Return the share of months in which the binomial method is correct, one a queue."""
        return [
            months_correct(self.found, log, replay_run(log, self.quick, METHODS["BM"], qbets=qbets), row)
            for log, row in self.names
        ]


def correct_for_every_queue(queues: Queues) -> Outcome:
    """Return how many methods are correct for every queue without QBETS."""
    always = {short for short in METHODS if all(queues.is_correct(short, qbets=False))}
    told = {"queues": len(queues.names), "names": ", ".join(sorted(always)) or "none"}
    return Outcome(len(always), told | {"log_uniform_alone": always == {"LogU"}})


def correct(queues: Queues) -> Outcome:
    """Return for how many queues the binomial method is correct with QBETS."""
    count = len(queues.names)
    return Outcome(sum(queues.is_correct("BM")), {"queues": count, "printed_share": 22 * count / 25})


def tighter_than_log_uniform(queues: Queues) -> Outcome:
    """Return for how many queues the binomial method is tighter, of those where both are correct."""
    columns = [queues.is_correct("BM"), queues.is_correct("LogU")]
    tightness = zip(queues.values("rms_over", "BM"), queues.values("rms_over", "LogU"), strict=True)
    outcomes = [one < other for *are_correct, (one, other) in zip(*columns, tightness, strict=True) if all(are_correct)]
    return Outcome(sum(outcomes), {"both": len(outcomes), "always": all(outcomes) if outcomes else None})


def tightest(queues: Queues) -> Outcome:
    """Return for how many queues the binomial method is the tightest of those that are correct."""
    tightness = {short: queues.values("rms_over", short) for short in METHODS}
    are_correct = {short: queues.is_correct(short) for short in METHODS}
    best = []
    for at in range(len(queues.names)):
        right = [short for short in METHODS if are_correct[short][at]]
        best.append(min(right, key=lambda short: tightness[short][at], default=None))
    leads = {short: best.count(short) for short in METHODS}
    others = {short: lead for short, lead in leads.items() if short != "BM"}
    words = ", ".join(f"{short} {lead}" for short, lead in others.items())
    return Outcome(leads["BM"], {"queues": len(queues.names), "others": words, "most_of_others": max(others.values())})


def more_correct_with_qbets(queues: Queues) -> Outcome:
    """Return for how many queues the binomial method is correct in more months with QBETS than without."""
    months = zip(queues.months_correct(qbets=True), queues.months_correct(qbets=False), strict=True)
    return counted([full > bare for full, bare in months])


def fewest_clusters(queues: Queues) -> Outcome:
    """Return the fewest clusters of any queue at any time; and the most."""
    fewest, most = (
        [value for value in queues.values(name) if not isnan(value)] for name in ("fewest_clusters", "most_clusters")
    )
    return Outcome(min(fewest, default=nan), {"most": max(most, default=0)})


def told_nothing(queues: Queues) -> Outcome:
    """Return the share of the jobs that are told nothing."""
    jobs, shares = queues.values("jobs"), queues.values("share_not_predicted")
    share = sum(n * part for n, part in zip(jobs, shares, strict=True)) / sum(jobs) if sum(jobs) else nan
    right = [value for value in queues.values("withheld_correctness") if not isnan(value)]
    spared = f"; of the bounds so withheld {min(right):.2f} to {max(right):.2f} would have been right" if right else ""
    return Outcome(share, {"spared": spared})


MEASURED = {
    function.__name__: function
    for function in (
        correct_for_every_queue,
        correct,
        tighter_than_log_uniform,
        tightest,
        more_correct_with_qbets,
        fewest_clusters,
        told_nothing,
    )
}
"""By name, as entries of the file name them."""

STATEMENTS = read_statements(__package__, MEASURED.values())

# SPDX-License-Identifier: BSD-3-Clause
"""What the text of section 4.3 says of the tables, one statement a line, in words of our own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan, nan

from pipelines.papers.nurmi2009.coverage import CORRECT, months_correct
from pipelines.papers.nurmi2009.populations import ANY, population_of
from pipelines.papers.nurmi2009.predictions import METHODS, replay_run, rows_of
from pipelines.papers.paper import UNEXPLAINED, Cell, Measurements, Printed, Run


def plan(log: str, quick: bool) -> list[Run]:
    """Return the runs of both tables by the chosen reading."""
    return [replay_run(log, quick, method, qbets=qbets) for method in METHODS.values() for qbets in (False, True)]


OTHER_LOGS = "of other logs than the paper's"
"""Why a statement may not hold."""


class _Table:
    """Correctness and RMS of the methods by row, of what was measured with or without QBETS."""

    def __init__(self, found: Measurements, quick: bool, *, qbets: bool) -> None:
        self.rows = [(log, row) for log in found.logs for row in rows_of(found, log, quick)]
        self._found, self._quick, self._qbets = found, quick, qbets

    def is_correct(self, method: str, at: tuple[str, str]) -> bool:
        """Whether a method is correct."""
        return self._value(method, at, "correctness") >= CORRECT

    def rms(self, method: str, at: tuple[str, str]) -> float:
        """Return the RMS of over-predictions, s."""
        return self._value(method, at, "rms_over")

    def correct_methods(self, at: tuple[str, str]) -> list[str]:
        """Return the methods that are correct."""
        return [short for short in METHODS if self.is_correct(short, at)]

    def best(self, at: tuple[str, str]) -> str | None:
        """Return the tightest of the correct methods."""
        return min(self.correct_methods(at), key=lambda short: self.rms(short, at), default=None)

    def _value(self, method: str, at: tuple[str, str], measure: str) -> float:
        log, row = at
        return self._found.value(log, replay_run(log, self._quick, METHODS[method], qbets=self._qbets), row, measure)


def cells(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no table)
    """Yield the statements; where one does not hold of other logs than the paper's, that is said."""
    others = any(population_of(log) == ANY for log in found.logs)
    scored = any(rows_of(found, log, quick) for log in found.logs)
    for cell in _statements(found, quick):
        if not scored:
            yield replace(cell, ours=nan, reproduces=None, note="no queue has more jobs than the training")
        else:
            yield replace(cell, note=OTHER_LOGS) if others and cell.reproduces is False else cell


def _statements(found: Measurements, quick: bool) -> Iterator[Cell]:
    """Yield the statements."""
    without, with_qbets = (_Table(found, quick, qbets=qbets) for qbets in (False, True))
    rows = with_qbets.rows
    count = len(rows)
    where = f"of {count} queues"
    always = {short for short in METHODS if all(without.is_correct(short, at) for at in rows)}
    yield _statement(
        "Section 4.3.3: without QBETS the log-uniform method alone is correct for every queue",
        "1 method",
        len(always),
        f"methods that are correct for all {count} queues: {', '.join(sorted(always)) or 'none'}",
        always == {"LogU"},
        unit="methods",
    )
    correct = sum(with_qbets.is_correct("BM", at) for at in rows)
    yield _statement(
        "Section 4.3.3: with QBETS the binomial method is correct for nearly every queue",
        "22 of 25",
        correct,
        f"queues, {where}; it holds where it is as large a share",
        correct * 25 >= 22 * count,
        unit="queues",
    )
    both = [at for at in rows if with_qbets.is_correct("BM", at) and with_qbets.is_correct("LogU", at)]
    tighter = sum(with_qbets.rms("BM", at) < with_qbets.rms("LogU", at) for at in both)
    yield _statement(
        "Section 4.3.3: where binomial and log-uniform are both correct, the binomial one is always tighter",
        "21 of 21",
        tighter,
        f"of {len(both)} queues where both are",
        tighter == len(both) if both else None,
        unit="queues",
    )
    leads = {short: sum(with_qbets.best(at) == short for at in rows) for short in METHODS}
    others = ", ".join(f"{short} {lead}" for short, lead in leads.items() if short != "BM")
    yield _statement(
        "Section 4.3.3: with QBETS the binomial method is the tightest of the correct ones more often than any other",
        "15 of 25; LogN 2, LogU 2, Weib 5",
        leads["BM"],
        f"{where}; {others}",
        leads["BM"] > max(lead for short, lead in leads.items() if short != "BM"),
        unit="queues",
    )
    better = 0
    for log, row in rows:
        bare, full = (
            months_correct(found, log, replay_run(log, quick, "binomial", qbets=qbets), row) for qbets in (False, True)
        )
        better += full > bare
    yield _statement(
        "Section 4.3.4: QBETS makes the binomial method more correct, month by month",
        "(Figure 4.1)",
        better,
        f"{where}, where more months are correct with QBETS than without; it holds where these are more than half",
        better * 2 > count,
        unit="queues",
    )
    yield from _clusters(found, rows, quick)
    yield from _withheld(found, rows, quick)


def _clusters(found: Measurements, rows: list[tuple[str, str]], quick: bool) -> Iterator[Cell]:
    """Yield what is said of clusters."""
    fewest = [found.value(log, replay_run(log, quick, "binomial"), row, "fewest_clusters") for log, row in rows]
    most = [found.value(log, replay_run(log, quick, "binomial"), row, "most_clusters") for log, row in rows]
    known = [value for value in fewest if not isnan(value)]
    yield _statement(
        "Section 4.3.5: jobs are grouped into three to five clusters, never into one",
        "3 to 5",
        min(known, default=float("nan")),
        f"fewest clusters at any time in any queue; most: {max((m for m in most if not isnan(m)), default=0):.0f}",
        min(known) >= 3 if known else None,
        unit="clusters",
    )


def _withheld(found: Measurements, rows: list[tuple[str, str]], quick: bool) -> Iterator[Cell]:
    """Yield what is said of jobs that are told nothing."""
    runs = [(log, replay_run(log, quick, "binomial"), row) for log, row in rows]
    jobs = [found.value(*at, "jobs") for at in runs]
    told_nothing = sum(n * found.value(*at, "share_not_predicted") for n, at in zip(jobs, runs, strict=True))
    share = told_nothing / sum(jobs) if sum(jobs) else float("nan")
    rights = [found.value(*at, "withheld_correctness") for at in runs]
    right = [value for value in rights if not isnan(value)]
    spared = f"; of the bounds so withheld {min(right):.2f} to {max(right):.2f} would have been right" if right else ""
    yield _statement(
        "Section 4.2.5: usually less than 1 % of the jobs are told nothing, because nothing seems to start",
        "< 0.01",
        share,
        f"share of the jobs behind the training that are told nothing{spared}",
        share < 0.01,
        why="unexplained: read as the text has it, the two predictors of availability withhold far more",
    )


def _statement(
    words: str, printed: str, ours: float, definition: str, holds: bool | None, unit: str = "1", why: str = UNEXPLAINED
) -> Cell:
    """Return a statement as a cell."""
    return Cell(
        "statement",
        words,
        float(ours),
        definition,
        unit=unit,
        printed=printed,
        reproduces=holds,
        why=why,
    )

# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of the statements of the text, which stand in ``published/statements.yaml``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import isnan, nan

from pipelines.papers.paper import Cell, Measurements, Printed, Run
from pipelines.papers.statements import PAIR_RULES, Outcome, counted, read_statements
from pipelines.papers.yuan2010 import errors
from pipelines.papers.yuan2010.figures import GROUPS
from pipelines.papers.yuan2010.populations import LOGS, is_other, logs_of_paper, short_name
from pipelines.papers.yuan2010.schedules import BIG, EASY, EASY_LAST, JOBS, NAMES, PARTS, PV_EASY, SMALL

OTHER_LOGS = "of other logs than the paper's"
"""Why a statement may not hold."""

PLACES = {
    "all": [(JOBS, "")],
    "big": [(BIG, "")],
    "small": [(SMALL, "")],
    "eighths": [group for name, group in GROUPS.items() if int(name.split("/")[0]) * 4 > PARTS],
}
"""Which jobs are meant, by subject and place of a curve: all; blocked ones that are big, small; big ones by width."""


@dataclass(frozen=True)
class Look:
    """What statements are judged by: what was measured, of which logs, and whether it was to be quick."""

    found: Measurements
    logs: list[str]
    quick: bool

    def values(self, run: Run, measure: str, subject: str = JOBS) -> list[float]:
        """Return the known values of a measure, one a log."""
        return [value for log in self.logs if not isnan(value := self.found.value(log, run, subject, measure))]

    def pairs(self, one: Run, other: Run, measures: Iterable[str], jobs: str = "all") -> list[tuple[float, float]]:
        """Return the values of two schedules, of each log, measure and kind of jobs of which both are known."""
        pairs = [
            (self.found.value(log, one, subject, measure, x), self.found.value(log, other, subject, measure, x))
            for log in self.logs
            for measure in measures
            for subject, x in PLACES[jobs]
        ]
        return [pair for pair in pairs if not any(map(isnan, pair))]


def runs_of_statements(log: str, quick: bool) -> list[Run]:
    """Return the runs of the figures."""
    return [] if is_other(log) else [PV_EASY, EASY, EASY_LAST, *errors.runs_of_errors(log, quick)]


def cells_of_statements(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (no table)
    """Yield the statements; where one does not hold of other logs than the paper's, that is said."""
    look = Look(found, logs_of_paper(found), quick)
    others = not set(look.logs) <= set(LOGS.values())
    for statement in STATEMENTS:
        cell = statement.cell(MEASURED[statement.by](look, **statement.given))
        yield replace(cell, note=OTHER_LOGS) if others and cell.reproduces is False else cell


def total(look: Look, subject: str, measure: str) -> Outcome:
    """Return a number of jobs under PV-EASY, in all logs together, and how many were blocked."""
    counts = look.values(PV_EASY, measure, subject)
    return Outcome(sum(counts) if counts else nan, {"blocked": sum(look.values(PV_EASY, "blocked jobs"))})


def beside(look: Look, one: str, other: str, measures: list[str], jobs: str, each: str) -> Outcome:
    """Return how many values of one schedule are so beside those of another; also beside EASY told requests."""
    rule = PAIR_RULES[each].holds
    pairs, requested = (look.pairs(NAMES[one], NAMES[name], measures, jobs) for name in (other, "EASY"))
    return counted(
        [rule(*pair) for pair in pairs],
        ratios=", ".join(f"{ours / theirs:.2f}" for ours, theirs in pairs if theirs),
        requested=sum(rule(*pair) for pair in requested),
        of_requested=len(requested),
    )


def fewer_backfilled_more_blocked(look: Look) -> Outcome:
    """Return in how many logs PV-EASY backfills fewer jobs than EASY and blocks more."""
    backfilled, blocked = (look.pairs(PV_EASY, EASY_LAST, [name]) for name in ("backfilled jobs", "blocked jobs"))
    return counted([one[0] < one[1] and two[0] > two[1] for one, two in zip(backfilled, blocked, strict=True)])


def best_with_errors(look: Look, least: int, most: int) -> Outcome:
    """Return at how many points of Figure 4 PV-EASY is best, with errors from the least to the most, by both readings.

    And from which error on it is so in each log.
    """

    def is_best(log: str, metric: str, percent: int, outlived: str) -> bool | None:
        """Whether PV-EASY has the smallest slowdown; None if it was not measured."""
        policies = errors.POLICIES.values()
        ours, *others = (errors.point(look.found, log, metric, p, percent, look.quick, outlived)[0] for p in policies)
        return None if isnan(ours) or any(map(isnan, others)) else ours < min(others)

    held, since = {}, {}
    for outlived in errors.READINGS:
        curves = {
            f"{short_name(log)} {metric}": {
                percent: is_best(log, metric, percent, outlived) for percent in errors.errors(look.quick)
            }
            for log in look.logs
            for metric in errors.METRICS
        }
        points = [is_so for curve in curves.values() for percent, is_so in curve.items() if least <= percent <= most]
        held[outlived] = [is_so for is_so in points if is_so is not None]
        since[outlived] = "; ".join(f"{name} {_since(curve)}" for name, curve in curves.items())
    other = held[errors.ANY_MOMENT]
    return counted(
        held[errors.REQUEST],
        since=since[errors.REQUEST],
        other=sum(other),
        of_other=len(other),
        other_since=since[errors.ANY_MOMENT],
    )


def _since(points: dict[int, bool | None]) -> str:
    """Return from which error on all points are so, in words."""
    since = None
    for percent, is_so in sorted(points.items(), reverse=True):
        if not is_so:
            break
        since = percent
    return "never to the end" if since is None else f"from {since} % on"


def easy_last_is_largest(look: Look) -> Outcome:
    """Return in how many logs EASY-Last has a larger MWBS than both others."""
    every = [[look.found.value(log, run, JOBS, "MWBS") for run in (EASY_LAST, EASY, PV_EASY)] for log in look.logs]
    return counted([all(last > value for value in others) for last, *others in every if not isnan(last)])


def difference_of_makespans(look: Look) -> Outcome:
    """Return the largest difference of makespans under PV-EASY and EASY, %."""
    pairs = [(ours, easy) for ours, easy in look.pairs(PV_EASY, EASY, ["makespan"]) if easy]
    return Outcome(max((100 * (abs(ours - easy) / easy) for ours, easy in pairs), default=nan), of=len(pairs))


MEASURED = {
    function.__name__: function
    for function in (
        total,
        beside,
        fewer_backfilled_more_blocked,
        best_with_errors,
        easy_last_is_largest,
        difference_of_makespans,
    )
}
"""By name, as entries of the file name them."""

STATEMENTS = read_statements(__package__, MEASURED.values())

# SPDX-License-Identifier: BSD-3-Clause
"""What the text says of its figures and tables, one statement a line, in words of our own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan, nan

from pipelines.papers.paper import UNEXPLAINED, Cell, Measurements, Printed, Run
from pipelines.papers.yuan2010 import errors
from pipelines.papers.yuan2010.figures import GROUPS
from pipelines.papers.yuan2010.populations import LOGS, is_other, logs_of_paper, short_name
from pipelines.papers.yuan2010.schedules import BIG, EASY, EASY_LAST, JOBS, PARTS, PV_EASY, SMALL, VIOLATED

METRICS = ("MBS", "MWBS")

SIMILAR = 0.1
"""Values that differ by this share of the other count as similar."""

OTHER_LOGS = "of other logs than the paper's"
"""Why a statement may not hold."""


def plan(log: str, quick: bool) -> list[Run]:
    """Return the runs of the figures."""
    return [] if is_other(log) else [PV_EASY, EASY, EASY_LAST, *errors.plan(log, quick)]


def cells(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no table)
    """Yield the statements; where one does not hold of other logs than the paper's, that is said."""
    logs = logs_of_paper(found)
    others = not set(logs) <= set(LOGS.values())
    for cell in (
        *_fairness(found, logs),
        *_blocked(found, logs),
        *_errors(found, logs, quick),
        *_performance(found, logs),
    ):
        yield replace(cell, note=OTHER_LOGS) if others and cell.reproduces is False else cell


def _fairness(found: Measurements, logs: list[str]) -> Iterator[Cell]:
    """Yield what is said of fairness and reservations."""
    words = {
        "Section 5.2.1: in PV-EASY no job of lower priority delays a blocked job": (JOBS, "late heads"),
        "Section 5.2.2: in PV-EASY no reservation is violated": (VIOLATED, "jobs"),
    }
    for statement, (subject, measure) in words.items():
        counts = _known(found.value(log, PV_EASY, subject, measure) for log in logs)
        blocked = sum(_known(found.value(log, PV_EASY, JOBS, "blocked jobs") for log in logs))
        yield _statement(
            statement,
            "0",
            sum(counts) if counts else nan,
            f"of {blocked:.0f} blocked jobs",
            sum(counts) == 0,
            unit="jobs",
        )


def _blocked(found: Measurements, logs: list[str]) -> Iterator[Cell]:
    """Yield what is said of blocked jobs, and of how many there are."""
    big = [group for name, group in GROUPS.items() if int(name.split("/")[0]) * 4 > PARTS]

    def pairs(groups: list[tuple[str, str]], metric: str, easy: Run) -> list[tuple[float, float]]:
        """Return the values of groups that both have, PV-EASY's first."""
        return _pairs(
            (found.value(log, PV_EASY, *at[:1], metric, at[1]), found.value(log, easy, *at[:1], metric, at[1]))
            for log in logs
            for at in groups
        )

    for figure, metric in zip((2, 3), METRICS, strict=True):
        chosen, beside = pairs(big, metric, EASY_LAST), pairs(big, metric, EASY)
        better, other = _smaller(chosen), _smaller(beside)
        yield _statement(
            f"Figure {figure}: the {metric} of big blocked jobs is mostly smaller in PV-EASY than in EASY",
            "mostly",
            better,
            f"of {len(chosen)} groups of jobs, each of an eighth of the machine above its first quarter; beside EASY "
            f"that is told what users request {other} of {len(beside)}; it holds where these are more than half",
            better * 2 > len(chosen),
            unit="groups",
            measured=len(chosen),
        )
    small = [pair for metric in METRICS for pair in pairs([(SMALL, "")], metric, EASY_LAST)]
    worse = len(small) - _smaller(small)
    yield _statement(
        "Section 5.2.1: small blocked jobs fare no better in PV-EASY than in EASY",
        "no better",
        worse,
        f"of {len(small)} values, MBS and MWBS of each log",
        worse == len(small),
        unit="values",
        measured=len(small),
    )
    whole = [pair for metric in METRICS for pair in pairs([(BIG, "")], metric, EASY_LAST)]
    yield _statement(
        "Section 5.2.1: big blocked jobs as a whole fare better in PV-EASY than in EASY",
        "better",
        _smaller(whole),
        f"of {len(whole)} values, MBS and MWBS of each log",
        _smaller(whole) == len(whole),
        unit="values",
        measured=len(whole),
    )
    counts = {
        name: _pairs((found.value(log, PV_EASY, JOBS, name), found.value(log, EASY_LAST, JOBS, name)) for log in logs)
        for name in ("backfilled jobs", "blocked jobs")
    }
    both = sum(
        one[0] < one[1] and two[0] > two[1]
        for one, two in zip(counts["backfilled jobs"], counts["blocked jobs"], strict=True)
    )
    many = len(counts["blocked jobs"])
    yield _statement(
        "Table 4: in PV-EASY fewer jobs are backfilled and more are blocked than in EASY",
        "3 of 3",
        both,
        f"of {many} logs",
        both == many,
        unit="logs",
        measured=many,
    )


def _errors(found: Measurements, logs: list[str], quick: bool) -> Iterator[Cell]:
    """Yield what is said of Figure 4: where PV-EASY is better than both others."""

    def is_best(log: str, metric: str, percent: int, outlived: str) -> bool | None:
        """Whether PV-EASY has the smallest slowdown; None if it was not measured."""
        policies = errors.POLICIES.values()
        ours, *others = (errors.point(found, log, metric, p, percent, quick, outlived)[0] for p in policies)
        return None if isnan(ours) or any(map(isnan, others)) else ours < min(others)

    best = {
        (outlived, f"{short_name(log)} {metric}"): {
            percent: is_best(log, metric, percent, outlived) for percent in errors.errors(quick)
        }
        for outlived in errors.READINGS
        for log in logs
        for metric in METRICS
    }

    def told(outlived: str, percents: range) -> list[bool]:
        """Return of each point with such an error whether PV-EASY is best there."""
        points = [points for (reading, _), points in best.items() if reading == outlived]
        every = [is_so for curve in points for percent, is_so in curve.items() if percent in percents]
        return [is_so for is_so in every if is_so is not None]

    since = {
        outlived: "; ".join(f"{row} {_since(points)}" for (reading, row), points in best.items() if reading == outlived)
        for outlived in errors.READINGS
    }
    for words, place, percents in (
        ("Section 5.2.2: PV-EASY beats FCFS-EASY and SJF-EASY with errors of at most 10 %", "<= 10 %", range(11)),
        ("Section 7: PV-EASY beats FCFS-EASY and SJF-EASY with errors of at least 10 %", ">= 10 %", range(10, 101)),
    ):
        points, beside = told(errors.REQUEST, percents), told(errors.ANY_MOMENT, percents)
        yield _statement(
            words,
            place,
            sum(points),
            f"of {len(points)} points of Figure 4; it beats both {since[errors.REQUEST]}. By the other reading it does "
            f"at {sum(beside)} of {len(beside)}: {since[errors.ANY_MOMENT]}",
            all(points),
            unit="points",
            measured=len(points),
        )


def _since(points: dict[int, bool | None]) -> str:
    """Return from which error on all points are so, in words."""
    since = None
    for percent, is_so in sorted(points.items(), reverse=True):
        if not is_so:
            break
        since = percent
    return "never to the end" if since is None else f"from {since} % on"


def _performance(found: Measurements, logs: list[str]) -> Iterator[Cell]:
    """Yield what is said of Figures 5 and 6, and of how long a log takes."""

    def pairs(one: Run, other: Run, metrics: tuple[str, ...] = METRICS) -> list[tuple[float, float]]:
        """Return the values of two schedules, of each log and metric that both have."""
        return _pairs(
            (found.value(log, one, JOBS, metric), found.value(log, other, JOBS, metric))
            for log in logs
            for metric in metrics
        )

    beside = pairs(PV_EASY, EASY)
    near = sum(ours <= (1 + SIMILAR) * easy for ours, easy in beside)
    ratios = ", ".join(f"{ours / easy:.2f}" for ours, easy in beside)
    yield _statement(
        "Figures 5 and 6: MBS and MWBS of PV-EASY are smaller than EASY's, or similar",
        "all",
        near,
        f"of {len(beside)} values, MBS and MWBS of each log, at most {100 * SIMILAR:.0f} % larger than EASY's; "
        f"ratios {ratios}",
        near == len(beside),
        unit="values",
        measured=len(beside),
    )
    last = pairs(PV_EASY, EASY_LAST)
    better = _smaller(last)
    ratios = ", ".join(f"{ours / easy:.2f}" for ours, easy in last)
    yield _statement(
        "Section 1: with the same predictor PV-EASY has better MBS and MWBS than EASY",
        "all",
        better,
        f"of {len(last)} values; ratios {ratios}",
        better == len(last),
        unit="values",
        measured=len(last),
    )
    worst = [
        all(found.value(log, EASY_LAST, JOBS, "MWBS") > found.value(log, run, JOBS, "MWBS") for run in (EASY, PV_EASY))
        for log in logs
        if not isnan(found.value(log, EASY_LAST, JOBS, "MWBS"))
    ]
    yield _statement(
        "Figure 6: EASY-Last has the largest MWBS",
        "3 of 3",
        sum(worst),
        f"of {len(worst)} logs",
        all(worst),
        unit="logs",
        measured=len(worst),
    )
    requested = pairs(EASY, EASY_LAST)
    smaller = _smaller(requested)
    yield _statement(
        "Section 6: EASY that is told what users request has smaller MBS and MWBS than EASY-Last",
        "all",
        smaller,
        f"of {len(requested)} values",
        smaller == len(requested),
        unit="values",
        measured=len(requested),
    )
    spans = pairs(PV_EASY, EASY, ("makespan",))
    differences = [abs(ours - easy) / easy for ours, easy in spans if easy]
    yield _statement(
        "Section 5.2.4: each log is finished within the same time by PV-EASY and by EASY",
        "the same",
        100 * max(differences, default=nan),
        "the largest difference of their makespans; it holds up to 0.1 %",
        max(differences, default=nan) <= 0.001,
        unit="%",
        measured=len(differences),
    )


def _known(values: Iterator[float]) -> list[float]:
    """Return the values that are known."""
    return [value for value in values if not isnan(value)]


def _pairs(pairs: Iterator[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the pairs of which both are known."""
    return [pair for pair in pairs if not any(map(isnan, pair))]


def _smaller(pairs: list[tuple[float, float]]) -> int:
    """Return in how many pairs the first is smaller."""
    return sum(first < second for first, second in pairs)


def _statement(
    words: str, printed: str, ours: float, definition: str, holds: bool, unit: str = "1", measured: int = 1
) -> Cell:
    """Return a statement as a cell; where nothing was measured, nothing decides."""
    known = measured > 0 and not isnan(ours)
    return Cell(
        "statement",
        words,
        float(ours) if known else nan,
        definition,
        unit=unit,
        printed=printed,
        reproduces=holds if known else None,
        why=UNEXPLAINED,
    )

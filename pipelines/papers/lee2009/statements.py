# SPDX-License-Identifier: BSD-3-Clause
"""What chapters 3, 4 and 6 say, one statement a line, in words of our own.

The rule by which a statement holds stands with it. In chapter 6 the survey is a synthetic one, the workload another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan, nan
from typing import Any

from pipelines.papers.lee2009 import accuracy, beyond, checkpoint_aware, figures, survey, tables
from pipelines.papers.lee2009.schedules import (
    CONSERVATIVE,
    EARNED,
    EASY,
    GENETIC,
    JOBS,
    PRIO,
    SLOWDOWN,
    UTILITY,
    WAIT,
)
from pipelines.papers.lee2009.tables import POLICIES, told_run
from pipelines.papers.lee2009.values import SHORT, logs_of_checkpoints, logs_of_utility, mean, ratios
from pipelines.papers.lee2009.windows import BLUE, DATASTAR
from pipelines.papers.paper import UNEXPLAINED, Cell, Measurements, Printed, Run

OTHER_LOGS = "of another log than the paper's"
"""Why a statement may not hold."""

NEAR = 5.0
"""Points of a percentage by which ours may differ where a statement gives one."""


def plan(log: str, quick: bool) -> list[Run]:
    """Return the runs of the tables and figures that statements are about."""
    return [
        *tables.plan("4.1", log, quick),
        *(run for figure in figures.FIGURES for run in figures.plan(figure, log, quick)),
        *accuracy.plan(log, quick),
        *beyond.plan_trials(log, quick),
        *survey.plan(log, quick),
        *checkpoint_aware.plan(log, quick),
    ]


def cells(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no table)
    """Yield the statements, of the first log of each chapter; of a user's own log that is said."""
    for log in logs_of_utility(found)[:1]:
        for cell in (*_table(found, log, quick), *_figures(found, log, quick), *_accuracy(found, log, quick)):
            yield cell if log == BLUE or cell.reproduces is not False else replace(cell, note=OTHER_LOGS)
    for log in logs_of_checkpoints(found, quick)[:1]:
        for cell in (*_survey(found, log), *_checkpoints(found, log, quick)):
            yield cell if log == DATASTAR or cell.reproduces is not False else replace(cell, note=OTHER_LOGS)


def statement(
    words: str, printed: str, ours: float, definition: str, holds: bool, unit: str = "1", why: str = UNEXPLAINED
) -> Cell:
    """Return a statement as a cell; where nothing is known, nothing decides."""
    known = not isnan(ours)
    told = definition if known else "not measured"
    return Cell(
        "statement", words, ours, told, unit=unit, printed=printed, reproduces=holds if known else None, why=why
    )


def _count(words: str, printed: str, outcomes: Sequence[bool], of_what: str, unit: str, why: str = UNEXPLAINED) -> Cell:
    """Return a statement that holds if it does each time."""
    ours = float(sum(outcomes)) if outcomes else nan
    return statement(words, printed, ours, f"of {len(outcomes)} {of_what}", all(outcomes), unit, why)


def _table(found: Measurements, log: str, quick: bool) -> Iterator[Cell]:
    """Yield what is said of Table 4.1, and of runs of the genetic policy."""
    runs = {policy: told_run(log, policy, quick) for policy in POLICIES}
    for other, percent in ((CONSERVATIVE, 53), (EASY, 14), (PRIO, 6)):
        ratio = ratios(found, log, runs[GENETIC], runs[other])
        ours = 100 * (mean(ratio) - 1)
        why = tables.NO_VARIANT if other == CONSERVATIVE else "the genetic policy is better here than the paper's"
        yield statement(
            f"Section 4.2: GA outperforms {SHORT[other]} by {percent} %",
            f"{percent} %",
            ours,
            f"aggregate utility, mean of {len(ratio)} draws; it holds within {NEAR:g} points",
            abs(ours - percent) <= NEAR,
            "%",
            why,
        )
    order = (GENETIC, PRIO, EASY, CONSERVATIVE)
    values = zip(*(found.values(log, runs[policy], JOBS, UTILITY) for policy in order), strict=False)
    outcomes = [all(first > second for first, second in pairwise(each)) for each in values]
    yield _count(
        "Table 4.1: GA earns more than Prio, Prio than EASY, EASY than Cons", "all", outcomes, "draws", "draws"
    )

    def value(policy: str, measure: str, x: str = "") -> float:
        return found.value(log, runs[policy], JOBS, measure, x)

    classic = (CONSERVATIVE, EASY, PRIO)
    more = [(UTILITY, ""), *((EARNED, x) for x in ("25", "50", "75"))]
    less = [(SLOWDOWN, ""), *((WAIT, x) for x in ("50", "75"))]
    best = [value(PRIO, *at) >= max(value(policy, *at) for policy in classic) for at in more]
    best += [value(PRIO, *at) <= min(value(policy, *at) for policy in classic) for at in less]
    is_known = not isnan(value(PRIO, UTILITY))
    yield _count(
        "Section 4.2: of the classic policies Prio is best by everything but the expansion factor",
        "all",
        best if is_known else [],
        "values: aggregate utility, slowdown, waits at 50 and 75 %, what jobs earned at 25, 50 and 75 %",
        "values",
        tables.MORE_SLOWDOWN,
    )
    earned = [value(GENETIC, EARNED, x) > value(PRIO, EARNED, x) for x in ("25", "50", "75")]
    yield _count(
        "Section 4.2: GA is better than Prio not for the best jobs alone",
        "all",
        earned if is_known else [],
        "marks of what jobs earned, 25, 50 and 75 %",
        "marks",
    )
    longest = value(GENETIC, WAIT, "100") / max(value(policy, WAIT, "100") for policy in classic)
    yield statement(
        "Section 4.2: GA lets less than 2 % of the jobs starve",
        "< 2 %",
        longest,
        "GA's longest wait over the longest of the others; it holds if that is above 1, and its wait at 98 % is not "
        "above the longest of the others at 98 %",
        longest > 1 and value(GENETIC, WAIT, "98") <= max(value(policy, WAIT, "98") for policy in classic),
    )
    ours = beyond.deviation(found, log, quick)
    yield statement(
        "Section 3.3: aggregate utility hardly varies over runs of GA on one workload",
        "1.27 %",
        ours,
        "standard deviation over such runs; it holds up to 2 %",
        ours <= 2,
        "%",
    )


def _figures(found: Measurements, log: str, quick: bool) -> Iterator[Cell]:
    """Yield what is said of Figures 4.1, 4.3 and 4.4."""

    def row(policy: str, given: dict[str, Any]) -> float:
        return mean(figures.values_of(found, log, policy, quick, given))

    decays = figures.rows_of("4.1", quick)
    kinds = [name for name in decays if name != "thirds"]
    known = [policy for policy in POLICIES if not isnan(row(policy, {}))]
    lowest = [row(p, decays["exponential"]) == min(row(p, decays[kind]) for kind in kinds) for p in known]
    yield _count(
        "Section 4.3: every policy earns least where utility falls exponentially", "all", lowest, "policies", "policies"
    )
    over = {kind: mean(figures.over_others(found, log, quick, decays[kind])) for kind in kinds}
    told = ", ".join(f"{kind} {value:.2f}" for kind, value in over.items())
    yield statement(
        "Section 4.3: there GA is ahead of the others most",
        "exponential",
        over["exponential"],
        f"GA over the mean of the others: {told}; it holds if that is largest",
        over["exponential"] == max(over.values()),
    )
    for words, percent, values in (
        ("of the mean of the others", 40, figures.over_others(found, log, quick, decays["exponential"])),
        ("of Prio", 20, figures.between(found, log, GENETIC, PRIO, quick, decays["exponential"])),
    ):
        ours = 100 * (mean(values) - 1)
        yield statement(
            f"Section 4.3: there GA is {percent} % ahead {words}",
            f"{percent} %",
            ours,
            f"mean of {len(values)} draws; it holds within {NEAR:g} points",
            abs(ours - percent) <= NEAR,
            "%",
        )
    loads = figures.rows_of("4.3", quick)
    ahead = [
        (row(PRIO, given) + row(GENETIC, given)) / (row(EASY, given) + row(CONSERVATIVE, given))
        for given in loads.values()
    ]
    told = ", ".join(f"{name} {value:.2f}" for name, value in zip(loads, ahead, strict=True))
    yield statement(
        "Section 4.4: the higher the load, the further Prio and GA are ahead of EASY and Cons",
        "all",
        ahead[-1],
        f"ratio of their aggregate utilities: {told}; it holds if it rises with each load",
        all(first < second for first, second in pairwise(ahead)),
    )
    deadlines = figures.rows_of("4.4", quick)
    better = [row(p, deadlines["1"]) < row(p, deadlines["2"]) < row(p, deadlines["3"]) for p in known]
    yield _count("Section 4.5: every policy earns more the later functions end", "all", better, "policies", "policies")
    early, loaded = (row(EASY, given) / row(GENETIC, given) for given in (deadlines["1"], list(loads.values())[-1]))
    yield statement(
        "Section 4.5: EASY stands early deadlines better than high load",
        "better",
        early,
        f"EASY's aggregate utility over GA's at deadline factor 1; at the highest load {loaded:.2f}; it holds if that "
        "is less",
        early > loaded,
    )


def _accuracy(found: Measurements, log: str, quick: bool) -> Iterator[Cell]:
    """Yield what is said of Figures 4.5 and 4.6, by each reading of cancelled jobs."""
    for reading in accuracy.PAIRS:
        for measure, but, place in ((UTILITY, EASY, "4.5"), (SLOWDOWN, CONSERVATIVE, "4.6")):
            values = {p: mean(accuracy.improvements(found, log, p, quick, reading, measure)) for p in POLICIES}
            known = {p: value for p, value in values.items() if not isnan(value)}
            # By utility run times help all but EASY; by slowdown they harm all but conservative backfilling.
            same = [(value > 0) == ((p != but) == (measure == UTILITY)) for p, value in known.items()]
            told = ", ".join(f"{SHORT[p]} {value:+.1f} %" for p, value in known.items())
            what = f"all but {SHORT[but]} {'gain' if measure == UTILITY else 'lose'}"
            yield _count(
                f"Figure {place}: told run times, {what} by {measure}; {reading}",
                "all",
                same,
                f"policies, which improve by {told}",
                "policies",
                "what becomes of jobs without a run time decides it, and the paper does not say",
            )


def _survey(found: Measurements, log: str) -> Iterator[Cell]:
    """Yield what is said of the survey; ours is a synthetic one."""
    run = survey.SURVEY["answers"]
    for words, percent, subject, measure in (
        ("Section 6.5.1: 16 % of the answers say that a job writes checkpoints", 16.0, "0", "share of responses"),
        ("Section 6.5.1: those jobs have 57 % of the node-hours", 57.0, "0", "share of node-hours"),
        ("Section 6.5.2: the median interval is 15 min", 15.0, survey.INTERVALS, "median"),
        ("Section 6.5.2: half of the intervals are 5, 10 or 30 min", 49.3, survey.INTERVALS, "5, 10 or 30 min"),
        (
            "Section 6.5.2: 67 of 120 are at most 1/50 of the run time",
            55.8,
            survey.INTERVALS,
            "at most 1/50 of the run time",
        ),
        ("Section 6.5.2: 115 of 120 are less than 1/4 of it", 95.8, survey.INTERVALS, "less than 1/4 of the run time"),
    ):
        ours = found.value(log, run, subject, measure)
        unit = "min" if measure == "median" else "%"
        yield statement(
            words,
            f"{percent:g} {unit}",
            ours,
            f"{survey.MADE_UP}; it holds within 2",
            abs(ours - percent) <= 2,
            unit,
            "the jobs of this log that are to write checkpoints run for a shorter time",
        )


def _checkpoints(found: Measurements, log: str, quick: bool) -> Iterator[Cell]:
    """Yield what is said of the checkpoint-aware policy."""
    runs = checkpoint_aware.named_runs(log, quick)
    earned = {name: mean(ratios(found, log, run, runs["EASY"])) for name, run in runs.items()}
    aware = {name: value for name, value in earned.items() if name.startswith("GA-ckpt")}
    told = ", ".join(f"{name} {value:.3f}" for name, value in earned.items())
    why = checkpoint_aware.NOT_THE_WORKLOAD
    both = aware["GA-ckpt both"]
    yield statement(
        "Section 6.7.3: the checkpoint-aware GA earns most where it is damped most",
        "most",
        both,
        f"aggregate utility over EASY's: {told}; it holds if no other is above",
        both == max(earned.values()),
        why=why,
    )
    yield statement(
        "Section 6.8: the checkpoint-aware GA, damped most, earns more than GA, Cons and EASY",
        "more",
        both,
        "aggregate utility over EASY's; it holds if that of none of the three is above",
        both > max(earned[name] for name in ("GA", "Cons", "EASY")),
        why=why,
    )

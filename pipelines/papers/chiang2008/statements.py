# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of the statements of sections 5 and 6, which stand in ``published/statements.yaml``.

Most compare a policy with another, or with a number, month by month or by the means over months. What compares search
algorithms by the nodes that they visit is in ``efficiency``, what is said of classes of jobs in ``classes``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan, nan
from typing import Any

from pipelines.papers.chiang2008 import classes, curves, decisions, efficiency
from pipelines.papers.chiang2008.figures import BEST, large
from pipelines.papers.chiang2008.months import short_name
from pipelines.papers.chiang2008.policies import NAMED, STARVING, TABLE_6, made_quick
from pipelines.papers.chiang2008.schedules import UNITS
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.paper import Cell, Measurements, Printed, Run
from pipelines.papers.statements import PAIR_RULES, Outcome, Statement, counted, listed, read_statements

STARVING_LEXICAL = {name: run for name, run in TABLE_6.items() if name.startswith("Lexical(avg")}
"""Those that put a mean first."""

STARVING_TRADEOFF = {name: run for name, run in STARVING.items() if "(maxW:avgX)" in name}
"""One trade-off by different searches, differences and reference values."""


def chosen_statements(is_large: bool) -> list[Statement]:
    """Return the statements of a paper: of searches of many nodes, or of all others."""
    return [each for each in STATEMENTS if each.part in (("both", "large") if is_large else ("both", ""))]


def given_to(statement: Statement, is_large: bool) -> dict[str, Any]:
    """Return what the function is given that measures a statement: policies by months are runs, not names."""
    if statement.by not in (by_months.__name__, by_means.__name__):
        return dict(statement.given)
    runs = {key: NAMED[statement.given[key]] for key in ("one", "other") if isinstance(statement.given[key], str)}
    return {**statement.given, **({key: large(run) for key, run in runs.items()} if is_large else runs)}


def runs_of_statements(is_large: bool, log: str, quick: bool) -> list[Run]:
    """Return the runs of all statements."""
    given = [value for each in chosen_statements(is_large) for value in given_to(each, is_large).values()]
    named = [value for value in given if isinstance(value, Run)]
    if is_large:
        others = [run for figure in ("3", "4", "5", "7") for run in curves.runs_of_curves(figure, True, log, quick)]
    else:
        named += [*BEST.values(), *STARVING_TRADEOFF.values(), *STARVING_LEXICAL.values()]
        others = [run for figure in curves.FIGURES for run in curves.runs_of_curves(figure, False, log, quick)]
        others += [decisions.decisions_run(objective, quick) for objective in decisions.OBJECTIVES.values()]
    return [*(made_quick(run) if quick else run for run in named), *others]


def cells_of_statements(is_large: bool, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (no table)
    """Yield the statements, in the order of the paper."""
    values = Values(found)
    for statement in chosen_statements(is_large):
        yield statement.cell(MEASURED[statement.by](values, **given_to(statement, is_large)))


def by_months(values: Values, one: Run, other: Run | float, measures: list[str], each: str) -> Outcome:
    """Return in how many months of any log a policy is so beside another, or a number; each counts for each measure."""
    rule, held, told = PAIR_RULES[each], [], []
    for log in values.logs:
        pairs = [pair for measure in measures for pair in _pairs(values, log, one, other, measure)]
        outcomes = [rule.holds(*pair) for pair in pairs]
        held += outcomes
        if outcomes:
            told.append(f"{short_name(log)} {sum(outcomes)} of {len(outcomes)}")
    return counted(
        held,
        what="months" if len(measures) == 1 else f"months, each by {', '.join(measures)}",
        rule=rule.words,
        told=", ".join(told),
        means=_means(values, one, other, measures),
    )


def by_means(values: Values, one: Run, other: Run | float, measures: list[str], each: str) -> Outcome:
    """Return how many means over the months of a log are so beside those of another policy, or a number."""
    rule = PAIR_RULES[each]
    pairs = [
        (values.mean(log, one, measure), _mean_of_other(values, log, other, measure))
        for measure in measures
        for log in values.logs
    ]
    known = [pair for pair in pairs if not any(map(isnan, pair))]
    return counted([rule.holds(*pair) for pair in known], rule=rule.words, means=_means(values, one, other, measures))


def _pairs(values: Values, log: str, one: Run, other: Run | float, measure: str) -> list[tuple[float, float]]:
    """Return the values of both in each month of a log of which both are known."""
    ours = values.months(log, one, measure)
    theirs = values.months(log, other, measure) if isinstance(other, Run) else dict.fromkeys(ours, other)
    pairs = [(value, theirs[month]) for month, value in ours.items() if month in theirs]
    return [pair for pair in pairs if not any(map(isnan, pair))]


def _mean_of_other(values: Values, log: str, other: Run | float, measure: str) -> float:
    """Return the mean of what is compared with, over the months of a log."""
    return values.mean(log, other, measure) if isinstance(other, Run) else other


def _means(values: Values, one: Run, other: Run | float, measures: list[str]) -> str:
    """Return the means of both in words, of each log and measure."""
    parts = []
    for measure in measures:
        unit = "" if UNITS[measure] == "1" else f" {UNITS[measure]}"
        numbers = [
            f"{values.mean(log, one, measure):.4g} beside {_mean_of_other(values, log, other, measure):.4g}"
            for log in values.logs
        ]
        parts.append(f"mean {measure.removeprefix('mean ')} {' and '.join(numbers)}{unit}")
    return ", ".join(parts)


def least_share_of_decisions(values: Values, measure: str, least: float) -> Outcome:  # noqa: ARG001 (of the rule)
    """Return the least share of decisions of any log at which so many jobs wait, %."""
    objective = decisions.OBJECTIVES["Tradeoff(T_w:avgX)"]
    runs = [decisions.decisions_run(objective, quick) for quick in (False, True)]
    shares = {log: values.first(log, runs, decisions.DECISIONS, measure) for log in values.logs}
    known = {log: share for log, share in shares.items() if not isnan(share)}
    told = ", ".join(f"{short_name(log)} {share:.1f} %" for log, share in known.items())
    return Outcome(min(known.values(), default=nan), {"told": told})


def longest_waits(values: Values, policies: str, limit: float) -> Outcome:
    """Return how many policies have a month whose longest wait is beyond a limit, h."""
    runs = STARVING_LEXICAL if policies == "mean first" else STARVING_TRADEOFF
    every = {name: [values.greatest(log, run, "max wait") for log in values.logs] for name, run in runs.items()}
    longest = {name: [wait for wait in waits if not isnan(wait)] for name, waits in every.items()}
    return listed([(max(waits) > limit, f"{name} {max(waits):.0f} h") for name, waits in longest.items() if waits])


MEASURED: dict[str, Callable[..., Outcome]] = {
    function.__name__: function
    for function in (
        *(by_months, by_means, least_share_of_decisions, longest_waits, classes.waits_of_classes),
        *(efficiency.narrowing, efficiency.converged, efficiency.curves_beside, efficiency.version_a_is_steady),
    )
}
"""By name, as entries of the file name them."""

STATEMENTS = read_statements(__package__, MEASURED.values())

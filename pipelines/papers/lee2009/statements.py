# SPDX-License-Identifier: BSD-3-Clause
"""What is measured of the statements of chapters 3, 4 and 6, which stand in ``published/statements.yaml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import isnan
from typing import Any

from pipelines.papers.lee2009 import accuracy, beyond, checkpoint_aware, figures, survey, tables
from pipelines.papers.lee2009.schedules import CONSERVATIVE, EARNED, EASY, GENETIC, JOBS, PRIO, SLOWDOWN, UTILITY, WAIT
from pipelines.papers.lee2009.tables import POLICIES, told_run
from pipelines.papers.lee2009.values import SHORT, logs_of_checkpoints, logs_of_utility, mean, ratios
from pipelines.papers.lee2009.windows import BLUE, DATASTAR
from pipelines.papers.paper import Cell, Measurements, Printed, Run
from pipelines.papers.statements import Outcome, counted, read_statements

OTHER_LOGS = "of another log than the paper's"
"""Why a statement may not hold."""

CLASSIC = (CONSERVATIVE, EASY, PRIO)

MARKS = ("25", "50", "75")
"""Percentiles of what jobs earned."""

READINGS = dict(zip(("as chosen", "end at once", "run on"), accuracy.PAIRS, strict=True))
"""What becomes of cancelled jobs: what Figures 4.5 and 4.6 call it."""


@dataclass(frozen=True)
class Look:
    """What was measured, on which log, and whether it was to be quick."""

    found: Measurements
    log: str
    quick: bool

    def value(self, policy: str, measure: str, x: str = "") -> float:
        """Return a value of Table 4.1, the mean over draws."""
        return self.found.value(self.log, told_run(self.log, policy, self.quick), JOBS, measure, x)

    def longest(self, x: str) -> float:
        """Return the longest of the waits of the classic policies at a percentile, s."""
        return max(self.value(policy, WAIT, x) for policy in CLASSIC)

    def row(self, policy: str, given: dict[str, Any]) -> float:
        """Return a value of Figure 4.1, 4.3 or 4.4: aggregate utility over EASY's."""
        return mean(figures.values_of(self.found, self.log, policy, self.quick, given))

    def over_others(self, given: dict[str, Any]) -> list[float]:
        """Return the ratios of GA to the mean of the others in a row of these figures, draw by draw."""
        return figures.over_others(self.found, self.log, self.quick, given)

    def rows(self, figure: str) -> dict[str, dict[str, Any]]:
        """Return the parameters of the rows of a figure."""
        return figures.rows_of(figure, self.quick)

    @cached_property
    def known(self) -> list[str]:
        """The policies that were measured in the figures."""
        return [policy for policy in POLICIES if not isnan(self.row(policy, {}))]


def runs_of_statements(log: str, quick: bool) -> list[Run]:
    """Return the runs of the tables and figures that statements are about."""
    return [
        *tables.runs_of_table("4.1", log, quick),
        *(run for figure in figures.FIGURES for run in figures.runs_of_figure(figure, log, quick)),
        *accuracy.runs_of_accuracy(log, quick),
        *beyond.plan_trials(log, quick),
        *survey.runs_of_survey(log, quick),
        *checkpoint_aware.runs_of_checkpoints(log, quick),
    ]


def cells_of_statements(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (no table)
    """Yield the statements, of the first log of each chapter; of a user's own log that is said."""
    chapter_6 = (of_survey.__name__, damped_most.__name__)
    for logs, own, is_of_6 in (
        (logs_of_utility(found), BLUE, False),
        (logs_of_checkpoints(found, quick), DATASTAR, True),
    ):
        for log in logs[:1]:
            look = Look(found, log, quick)
            for statement in (each for each in STATEMENTS if (each.by in chapter_6) == is_of_6):
                cell = statement.cell(MEASURED[statement.by](look, **statement.given))
                yield cell if log == own or cell.reproduces is not False else replace(cell, note=OTHER_LOGS)


def in_words(values: Mapping[str, float], form: str = ".2f", unit: str = "") -> str:
    """Return names and values as a text."""
    return ", ".join(f"{name} {value:{form}}{unit}" for name, value in values.items())


def lead_over(look: Look, other: str) -> Outcome:
    """Return by how much GA earns more than another policy in Table 4.1, %."""
    one, two = (told_run(look.log, policy, look.quick) for policy in (GENETIC, other))
    every = ratios(look.found, look.log, one, two)
    return Outcome(100 * (mean(every) - 1), {"draws": len(every)})


def earn_in_order(look: Look) -> Outcome:
    """Return in how many draws GA earns most, then Prio, EASY and Cons."""
    runs = [told_run(look.log, policy, look.quick) for policy in (GENETIC, PRIO, EASY, CONSERVATIVE)]
    draws = zip(*(look.found.values(look.log, run, JOBS, UTILITY) for run in runs), strict=False)
    return counted([all(first > second for first, second in pairwise(each)) for each in draws])


def prio_is_best(look: Look) -> Outcome:
    """Return by how many values of Table 4.1 Prio is the best of the classic policies."""
    more = [(UTILITY, ""), *((EARNED, x) for x in MARKS)]
    less = [(SLOWDOWN, ""), *((WAIT, x) for x in ("50", "75"))]
    best = [look.value(PRIO, *at) >= max(look.value(policy, *at) for policy in CLASSIC) for at in more]
    best += [look.value(PRIO, *at) <= min(look.value(policy, *at) for policy in CLASSIC) for at in less]
    return counted([] if isnan(look.value(PRIO, UTILITY)) else best)


def earn_more_than_prio(look: Look) -> Outcome:
    """Return at how many marks jobs earn more under GA than under Prio."""
    better = [look.value(GENETIC, EARNED, x) > look.value(PRIO, EARNED, x) for x in MARKS]
    return counted([] if isnan(look.value(PRIO, UTILITY)) else better)


def longest_wait(look: Look) -> Outcome:
    """Return GA's longest wait over the longest of the classic policies; and whether only few jobs wait so long."""
    longest = look.value(GENETIC, WAIT, "100") / look.longest("100")
    return Outcome(longest, {"few_starve": longest > 1 and look.value(GENETIC, WAIT, "98") <= look.longest("98")})


def deviation_of_trials(look: Look) -> Outcome:
    """Return how far aggregate utility varies over runs of GA on one workload, %."""
    return Outcome(beyond.deviation(look.found, look.log, look.quick))


def least_where_exponential(look: Look) -> Outcome:
    """Return how many policies earn least where functions fall exponentially."""
    decays = look.rows("4.1")
    kinds = [given for name, given in decays.items() if name != "thirds"]
    return counted(
        [look.row(p, decays["exponential"]) == min(look.row(p, given) for given in kinds) for p in look.known]
    )


def lead_where_exponential(look: Look) -> Outcome:
    """Return GA over the mean of the others where functions fall exponentially, and each other way."""
    leads = {kind: mean(look.over_others(given)) for kind, given in look.rows("4.1").items() if kind != "thirds"}
    return Outcome(leads["exponential"], {"leads": in_words(leads), "largest": max(leads.values())})


def lead_there(look: Look, other: str = "") -> Outcome:
    """Return by how much GA is ahead of another policy there, or of the mean of the others, %."""
    given = look.rows("4.1")["exponential"]
    every = (
        figures.between(look.found, look.log, GENETIC, other, look.quick, given) if other else look.over_others(given)
    )
    return Outcome(100 * (mean(every) - 1), {"draws": len(every)})


def lead_at_highest_load(look: Look) -> Outcome:
    """Return what Prio and GA earn over what EASY and Cons do at the highest load, and at each."""
    leads = {
        name: (look.row(PRIO, given) + look.row(GENETIC, given))
        / (look.row(EASY, given) + look.row(CONSERVATIVE, given))
        for name, given in look.rows("4.3").items()
    }
    *_, highest = leads.values()
    rises = all(first < second for first, second in pairwise(leads.values()))
    return Outcome(highest, {"leads": in_words(leads), "rises": rises})


def more_the_later(look: Look) -> Outcome:
    """Return how many policies earn more the later functions end."""
    deadlines = [look.rows("4.4")[factor] for factor in ("1", "2", "3")]
    return counted(
        [
            all(first < second for first, second in pairwise(look.row(p, given) for given in deadlines))
            for p in look.known
        ]
    )


def easy_with_early_deadlines(look: Look) -> Outcome:
    """Return what EASY earns over what GA does with early deadlines; and at the highest load."""
    *_, highest = look.rows("4.3").values()
    early, loaded = (look.row(EASY, given) / look.row(GENETIC, given) for given in (look.rows("4.4")["1"], highest))
    return Outcome(early, {"loaded": loaded})


def with_run_times(look: Look, measure: str, all_but: str, cancelled: str) -> Outcome:
    """Return how many policies gain by utility, or lose by slowdown, where all but one do and that one does not."""
    reading, (found, log, quick) = READINGS[cancelled], (look.found, look.log, look.quick)
    every = {p: mean(accuracy.improvements(found, log, p, quick, reading, measure)) for p in POLICIES}
    known = {p: value for p, value in every.items() if not isnan(value)}
    return counted(
        [(value > 0) == ((p != all_but) == (measure == UTILITY)) for p, value in known.items()],
        improvements=in_words({SHORT[p]: value for p, value in known.items()}, "+.1f", " %"),
        reading=reading,
    )


def of_survey(look: Look, subject: str, measure: str) -> Outcome:
    """Return what the synthetic survey says."""
    return Outcome(look.found.value(look.log, survey.SURVEY["answers"], subject, measure))


def damped_most(look: Look) -> Outcome:
    """Return what the checkpoint-aware GA that is damped most earns over EASY; and what all do."""
    runs = checkpoint_aware.named_runs(look.log, look.quick)
    earned = {name: mean(ratios(look.found, look.log, run, runs["EASY"])) for name, run in runs.items()}
    others = max(earned[name] for name in ("GA", "Cons", "EASY"))
    told = {"earned": in_words(earned, ".3f"), "most": max(earned.values()), "others": others}
    return Outcome(earned["GA-ckpt both"], told)


MEASURED = {
    function.__name__: function
    for function in (
        *(lead_over, earn_in_order, prio_is_best, earn_more_than_prio, longest_wait, deviation_of_trials),
        *(least_where_exponential, lead_where_exponential, lead_there, lead_at_highest_load, more_the_later),
        *(easy_with_early_deadlines, with_run_times, of_survey, damped_most),
    )
}
"""By name, as entries of the file name them."""

STATEMENTS = read_statements(__package__, MEASURED.values())

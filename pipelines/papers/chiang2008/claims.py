# SPDX-License-Identifier: BSD-3-Clause
"""Statements that compare policies month by month, or by their means: how they are judged, and what is told of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan, nan

from pipelines.papers.chiang2008.months import short_name
from pipelines.papers.chiang2008.schedules import UNITS
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.paper import Cell, Run

SIMILAR = 0.1
"""Values that differ by this share of the other count as similar."""

SEVERAL = 3
"""As many months at least are several, or a few."""

NOT_PUBLIC = "the paper says it of its own log, which is not public"
"""Why a statement may not hold."""

Rule = Callable[[float, float], bool]


def similar(one: float, other: float) -> bool:
    """Whether the first is within a tenth of the second."""
    return abs(one - other) <= SIMILAR * abs(other) + 1e-9


def smaller(one: float, other: float) -> bool:
    """Whether the first is smaller."""
    return one < other


def larger(one: float, other: float) -> bool:
    """Whether the first is larger."""
    return one > other


def much_smaller(one: float, other: float) -> bool:
    """Whether the first is smaller by more than a tenth."""
    return one < (1 - SIMILAR) * other


def not_larger(one: float, other: float) -> bool:
    """Whether the first is at most a tenth larger."""
    return one <= (1 + SIMILAR) * other + 1e-9


RULES: dict[Rule, str] = {
    similar: "within a tenth of it",
    smaller: "smaller",
    larger: "larger",
    much_smaller: "smaller by more than a tenth",
    not_larger: "at most a tenth larger",
}
"""The rules in words."""


@dataclass(frozen=True)
class Share:
    """How many of all months a statement must hold in: more than a share of them, or at least so many.

    Parameters
    ----------
    words : str
        In words.
    above : float
        More than this share.
    least : int
        At least so many.
    """

    words: str
    above: float = -1.0
    least: int = 0

    def holds(self, count: int, of: int) -> bool:
        """Whether so many of so many are enough."""
        return count > self.above * of and count >= self.least


IN_MOST = Share("more than half of them", above=0.5)
IN_NEARLY_ALL = Share("more than four fifths of them", above=0.8)
IN_EACH = Share("all of them", above=0.999)
IN_SEVERAL = Share(f"at least {SEVERAL} of them", least=SEVERAL)


@dataclass(frozen=True)
class Claim:
    """A statement about values of one policy beside those of another, or beside a number.

    Parameters
    ----------
    words : str
        Place and statement, in words of our own.
    printed : str
        What decides in the paper.
    measures : tuple of str
        Of ``schedules.MEASURES``.
    one : Run
        The policy of which it is said.
    other : Run or float
        What it is compared with.
    rule : callable
        One of ``RULES``.
    share : Share, optional
        In how many months; None where the means over the months of each log decide, all of them.
    """

    words: str
    printed: str
    measures: tuple[str, ...]
    one: Run
    other: Run | float
    rule: Rule
    share: Share | None = None

    @property
    def runs(self) -> list[Run]:
        """The runs that it needs."""
        return [run for run in (self.one, self.other) if isinstance(run, Run)]


def judge(values: Values, claim: Claim) -> Cell:
    """Return a claim as a cell."""
    return _by_means(values, claim) if claim.share is None else _by_months(values, claim, claim.share)


def statement(
    words: str, printed: str, ours: float, told: str, holds: bool, *, unit: str = "1", known: int = 1
) -> Cell:
    """Return a statement as a cell; where nothing is known of it, nothing decides."""
    is_known = known > 0 and not isnan(ours)
    return Cell(
        "statement",
        words,
        float(ours) if is_known else nan,
        told,
        unit=unit,
        printed=printed,
        reproduces=holds if is_known else None,
        why=NOT_PUBLIC,
    )


def _by_months(values: Values, claim: Claim, share: Share) -> Cell:
    """Return a claim that is judged month by month."""
    counts, parts = [], []
    for log in values.logs:
        every = [pair for measure in claim.measures for pair in _pairs(values, log, claim, measure)]
        held = sum(claim.rule(*pair) for pair in every)
        counts.append((held, len(every)))
        if every:
            parts.append(f"{short_name(log)} {held} of {len(every)}")
    count, of = (sum(numbers) for numbers in zip(*counts, strict=True)) if counts else (0, 0)
    what = "months" if len(claim.measures) == 1 else f"months, each by {', '.join(claim.measures)}"
    told = f"of {of} {what}: {RULES[claim.rule]} in {', '.join(parts)}; {_means(values, claim)}"
    told = f"{told}; it holds if in {share.words}"
    return statement(claim.words, claim.printed, count, told, share.holds(count, of), unit="months", known=of)


def _by_means(values: Values, claim: Claim) -> Cell:
    """Return a claim that is judged by the means of each log."""
    pairs = [
        (values.mean(log, claim.one, measure), _mean_of_other(values, log, claim, measure))
        for measure in claim.measures
        for log in values.logs
    ]
    known = [pair for pair in pairs if not any(map(isnan, pair))]
    held = sum(claim.rule(*pair) for pair in known)
    told = f"of {len(known)} means over months: {RULES[claim.rule]}; {_means(values, claim)}; it holds if all are"
    return statement(claim.words, claim.printed, held, told, held == len(known), unit="means", known=len(known))


def _pairs(values: Values, log: str, claim: Claim, measure: str) -> list[tuple[float, float]]:
    """Return the values of both in each month of a log of which both are known."""
    ours = values.months(log, claim.one, measure)
    if isinstance(claim.other, Run):
        theirs = values.months(log, claim.other, measure)
    else:
        theirs = dict.fromkeys(ours, claim.other)
    pairs = [(value, theirs[month]) for month, value in ours.items() if month in theirs]
    return [pair for pair in pairs if not any(map(isnan, pair))]


def _mean_of_other(values: Values, log: str, claim: Claim, measure: str) -> float:
    """Return the mean of what is compared with, over the months of a log."""
    return values.mean(log, claim.other, measure) if isinstance(claim.other, Run) else claim.other


def _means(values: Values, claim: Claim) -> str:
    """Return the means of both in words, of each log and measure."""
    parts = []
    for measure in claim.measures:
        unit = "" if UNITS[measure] == "1" else f" {UNITS[measure]}"
        numbers = [
            f"{values.mean(log, claim.one, measure):.4g} beside {_mean_of_other(values, log, claim, measure):.4g}"
            for log in values.logs
        ]
        parts.append(f"mean {measure.removeprefix('mean ')} {' and '.join(numbers)}{unit}")
    return ", ".join(parts)

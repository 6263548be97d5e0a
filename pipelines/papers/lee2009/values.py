# SPDX-License-Identifier: BSD-3-Clause
"""What several draws of utility functions say together: means, standard errors, and ratios draw by draw."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt
from statistics import fmean, stdev
from typing import Any

from pipelines.papers.lee2009.schedules import CONSERVATIVE, EASY, GENETIC, JOBS, PRIO, UTILITY
from pipelines.papers.lee2009.windows import is_of_checkpoints, is_of_utility
from pipelines.papers.paper import Cell, Measurements, Run

SHORT = {CONSERVATIVE: "Cons", EASY: "EASY", PRIO: "Prio", GENETIC: "GA"}
"""The paper's names."""

SEEDS, SEEDS_FEW, SEEDS_QUICK = 10, 3, 2
"""Draws of the functions: in Tables 4.1 and 4.2; in the figures; and to be quick in those tables, where figures have
one. The paper has two, in Figure 6.6 six."""


def seeds(quick: bool, number: int = SEEDS) -> range:
    """Return the seeds."""
    if quick:
        return range(SEEDS_QUICK if number == SEEDS else 1)
    return range(number)


def mean(values: Sequence[float]) -> float:
    """Return the mean of what is known; NaN of nothing."""
    known = [value for value in values if not isnan(value)]
    return fmean(known) if known else nan


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean; NaN of fewer than two."""
    known = [value for value in values if not isnan(value)]
    return stdev(known) / sqrt(len(known)) if len(known) > 1 else nan


def ratios(
    found: Measurements, log: str, one: Run, other: Run, measure: str = UTILITY, subject: str = JOBS
) -> list[float]:
    """Return the ratios of a measure of two runs, draw by draw: both are planned for seeds from 0 on."""
    pairs = zip(found.values(log, one, subject, measure), found.values(log, other, subject, measure), strict=False)
    return [first / second for first, second in pairs if second]


def logs_of_utility(found: Measurements) -> list[str]:
    """Return the logs of chapter 4."""
    return [log for log in found.logs if is_of_utility(log)]


def logs_of_checkpoints(found: Measurements, quick: bool) -> list[str]:
    """Return the logs of chapter 6."""
    return [log for log in found.logs if is_of_checkpoints(log, quick)]


def cell_of(row: str, column: str, values: Sequence[float], definition: str, **others: Any) -> Cell:
    """Return the cell of a mean with its standard error."""
    return Cell(row, column, mean(values), definition, spread=standard_error(values), **others)

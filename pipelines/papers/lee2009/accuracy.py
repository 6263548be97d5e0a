# SPDX-License-Identifier: BSD-3-Clause
"""Figures 4.5 and 4.6: what policies do with what users request, and with the run times themselves.

Readings chosen
    Jobs that were cancelled end at once where policies are told requests, and run for all that they requested where
    they are told run times: so both tables are nearest. Both are also shown with cancelled jobs treated alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import pandas as pd

from pipelines.papers.lee2009.figures import draw_bars
from pipelines.papers.lee2009.schedules import EASY, SLOWDOWN, UTILITY
from pipelines.papers.lee2009.tables import (
    AT_ONCE,
    EXACT,
    EXACT_AT_ONCE,
    FULL,
    POLICIES,
    REQUESTED,
    REQUESTED_FULL,
    told_run,
)
from pipelines.papers.lee2009.values import SEEDS_FEW, SHORT, cell_of, logs_of_utility, mean, ratios, seeds
from pipelines.papers.lee2009.windows import BLUE, is_of_utility, short_name
from pipelines.papers.paper import Cell, Measurements, Printed, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    f"{AT_ONCE} where requests are told, and {FULL[len('jobs that were cancelled ') :]} where run times are": (
        REQUESTED,
        EXACT,
    ),
    AT_ONCE: (REQUESTED, EXACT_AT_ONCE),
    FULL: (REQUESTED_FULL, EXACT),
}
"""With requests and with run times, by reading; the first is that of Tables 4.1 and 4.2."""

CHOSEN = next(iter(PAIRS))

IMPROVES = "improvement of aggregate utility"
SLOWS = "improvement of average bounded slowdown"


def _run(log: str, policy: str, given: dict[str, Any], quick: bool, seed: int = 0) -> Run:
    return told_run(log, policy, quick, seed, few=True, **given)


def runs_of_accuracy(log: str, quick: bool) -> list[Run]:
    """Return the runs of both figures."""
    if not is_of_utility(log):
        return []
    ways = (REQUESTED, EXACT, EXACT_AT_ONCE, REQUESTED_FULL)
    return [
        _run(log, policy, given, quick, seed)
        for given, policy, seed in product(ways, POLICIES, seeds(quick, SEEDS_FEW))
    ]


def improvements(found: Measurements, log: str, policy: str, quick: bool, reading: str, measure: str) -> list[float]:
    """Return by how much run times improve a measure, %, draw by draw: more utility, or less slowdown."""
    requested, exact = (_run(log, policy, given, quick) for given in PAIRS[reading])
    sign = 1 if measure == UTILITY else -1
    return [100 * sign * (ratio - 1) for ratio in ratios(found, log, exact, requested, measure)]


def printed_improvement(tables: tuple[Printed, Printed], policy: str, measure: str) -> float:
    """Return by how much it improves by Tables 4.1 and 4.2, %."""
    column = "aggregate utility" if measure == UTILITY else "slowdown"
    requested, exact = (float(table[SHORT[policy]][column]) for table in tables)
    return 100 * (exact / requested - 1) * (1 if measure == UTILITY else -1)


def cells_of_accuracy(
    measure: str,
    tables: tuple[Printed, Printed],
    found: Measurements,
    printed: Printed,  # noqa: ARG001 (see tables)
    quick: bool,
) -> Iterator[Cell]:
    """Yield by how much each policy improves with run times; published is what Tables 4.1 and 4.2 say."""
    words = "aggregate utility" if measure == UTILITY else "average bounded slowdown"
    for log, reading in product(logs_of_utility(found), PAIRS):
        for policy in POLICIES:
            text = f"{printed_improvement(tables, policy, measure):.0f}" if log == BLUE and not quick else None
            values = improvements(found, log, policy, quick, reading, measure)
            improves = mean(values)
            same = (improves > 0) == (float(text) > 0) if text and not isnan(improves) else None
            yield cell_of(
                f"{short_name(log)} {SHORT[policy]}",
                IMPROVES if measure == UTILITY else SLOWS,
                values,
                f"by how much {words} improves where policies are told run times; reproduced if it moves the same way",
                unit="%",
                reading=reading,
                is_chosen=reading == CHOSEN,
                printed=text,
                reproduces=same,
            )


def draw(measurements: pd.DataFrame) -> Figure:
    """Draw Figure 4.5: aggregate utility with requests and with run times, over EASY's with requests."""

    def bars(found: Measurements, log: str, policy: str, quick: bool) -> list[list[float]]:
        easy = _run(log, EASY, REQUESTED, quick)
        return [
            ratios(found, log, _run(log, policy, given, quick), easy) for given in (REQUESTED, EXACT, EXACT_AT_ONCE)
        ]

    labels = ["requests", "run times,\ncancelled run", "run times,\ncancelled end"]
    return draw_bars(measurements, labels, bars, "what policies are told", "aggregate utility / EASY's")


def draw_slowdowns(measurements: pd.DataFrame) -> Figure:
    """Draw Figure 4.6: improvements of two measures with run times."""

    def bars(found: Measurements, log: str, policy: str, quick: bool) -> list[list[float]]:
        values = [improvements(found, log, policy, quick, CHOSEN, measure) for measure in (UTILITY, SLOWDOWN)]
        return [each or [nan] for each in values]

    labels = ["aggregate utility", "average bounded slowdown"]
    return draw_bars(measurements, labels, bars, "", "improvement with run times, %")

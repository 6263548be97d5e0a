# SPDX-License-Identifier: BSD-3-Clause
"""Figures 4.1, 4.3 and 4.4: aggregate utility by how functions fall, by load, and by how soon they end.

The figures print no numbers. Each value is the aggregate utility over that of EASY with functions of a third each way,
as logged, at twice the logged turnaround. There are many cells, so of fewer generations and draws than in Table 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from pipelines.papers.lee2009.schedules import EASY, GENERATIONS_FEW, GENETIC, PRIO
from pipelines.papers.lee2009.tables import POLICIES, told_run
from pipelines.papers.lee2009.values import (
    SEEDS_FEW,
    SHORT,
    cell_of,
    logs_of_utility,
    mean,
    ratios,
    seeds,
    standard_error,
)
from pipelines.papers.lee2009.windows import DECAYS, is_of_utility, short_name
from pipelines.papers.looks import panels
from pipelines.papers.paper import Cell, Cells, Measurements, Plan, Printed, Run
from swftools.plots.style import look_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HATCHES = {PRIO: "///"}
"""Prio-FIFO has the colour of EASY in all pictures, and other dashes; bars have no dashes."""


class Shown(NamedTuple):
    """What a figure shows: rows by name, each with the parameters of its runs; and those of a quick run."""

    axis: str
    rows: Mapping[str, dict[str, Any]]
    quick: tuple[str, ...]


FIGURES = {
    "4.1": Shown("decay of utility functions", {name: {"decay": name} for name in DECAYS}, DECAYS),
    "4.3": Shown(
        "times between submissions divided by",
        {f"{load:g}": {"load": load} for load in (0.8, 0.9, 1.0, 1.1, 1.2)},
        ("0.8", "1"),
    ),
    "4.4": Shown(
        "deadline, times the logged turnaround",
        {f"{factor:g}": {"deadline_factor": factor} for factor in (1.0, 2.0, 3.0)},
        ("1", "2", "3"),
    ),
}
"""Figures of aggregate utility. The paper does not say by which factors the load was changed."""


def rows_of(figure: str, quick: bool) -> dict[str, dict[str, Any]]:
    """Return the rows of a figure, those of a quick run where it is to be quick."""
    shown = FIGURES[figure]
    return {name: given for name, given in shown.rows.items() if not quick or name in shown.quick}


def figure_run(log: str, policy: str, quick: bool, seed: int = 0, **given: Any) -> Run:
    """Return the run of a policy in a figure."""
    return told_run(log, policy, quick, seed, few=True, **given)


def runs_of_figure(figure: str, log: str, quick: bool) -> list[Run]:
    """Return the runs of a figure."""
    if not is_of_utility(log):
        return []
    every = [{}, *rows_of(figure, quick).values()]
    return [
        figure_run(log, policy, quick, seed, **given)
        for given, policy, seed in product(every, POLICIES, seeds(quick, SEEDS_FEW))
    ]


def values_of(found: Measurements, log: str, policy: str, quick: bool, given: dict[str, Any]) -> list[float]:
    """Return the aggregate utilities of a policy over EASY's as in Table 4.1, draw by draw."""
    return ratios(found, log, figure_run(log, policy, quick, **given), figure_run(log, EASY, quick))


def between(found: Measurements, log: str, one: str, other: str, quick: bool, given: dict[str, Any]) -> list[float]:
    """Return the ratios of two policies in a row of a figure."""
    return ratios(found, log, figure_run(log, one, quick, **given), figure_run(log, other, quick, **given))


def over_others(found: Measurements, log: str, quick: bool, given: dict[str, Any]) -> list[float]:
    """Return the ratios of the genetic policy to the mean of the other three."""
    every = [values_of(found, log, policy, quick, given) for policy in POLICIES]
    columns = zip(*every, strict=False)  # of the draws that all have: tables ask for more of some
    return [3 * ga / (cons + easy + prio) for cons, easy, prio, ga in columns if cons + easy + prio]


def cells_of_figure(figure: str, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no numbers)
    """Yield the cells of a figure: the policies, and the genetic one beside the others."""
    generations = "" if quick else f"; GA of {GENERATIONS_FEW} generations"
    definition = f"aggregate utility over that of EASY as in Table 4.1, draw by draw{generations}"
    for log in logs_of_utility(found):
        for name, given in rows_of(figure, quick).items():
            row = f"{short_name(log)} {name}"
            for policy in POLICIES:
                yield cell_of(row, SHORT[policy], values_of(found, log, policy, quick, given), definition)
            beside = {
                "GA / Prio": between(found, log, GENETIC, PRIO, quick, given),
                "GA / mean of the others": over_others(found, log, quick, given),
            }
            for column, values in beside.items():
                yield cell_of(row, column, values, "ratio of aggregate utilities in this row")


def draw(figure: str, measurements: pd.DataFrame) -> Figure:
    """Draw a figure: groups of bars, one a policy, with their standard errors; a panel a log."""
    shown = FIGURES[figure]
    rows = shown.rows
    return draw_bars(
        measurements,
        list(rows),
        lambda found, log, policy, quick: [values_of(found, log, policy, quick, given) for given in rows.values()],
        shown.axis,
        "aggregate utility / EASY's",
    )


Bars = Callable[[Measurements, str, str, bool], list[list[float]]]
"""Of measurements, a log, a policy and whether it was quick: the values of its bars."""


def draw_bars(measurements: pd.DataFrame, labels: list[str], bars: Bars, axis: str, value: str) -> Figure:
    """Draw groups of bars, one a policy in each group."""
    found = Measurements(measurements)
    logs = logs_of_utility(found)
    figure, (axes,) = panels((1.5 + 5.5 * max(1, len(logs)), 3.6), 1, len(logs))
    for log, place in zip(logs, axes, strict=False):
        for number, policy in enumerate(POLICIES):
            values = _not_quick_first(bars, found, log, policy)
            heights = np.array([mean(each) for each in values])
            errors = np.nan_to_num([standard_error(each) for each in values])
            at = np.arange(len(labels)) + 0.2 * (number - 1.5)
            look: dict[str, Any] = {"color": look_of(policy)["color"], "hatch": HATCHES.get(policy)}
            place.bar(at, heights, 0.18, yerr=errors, label=SHORT[policy], ecolor="#555555", **look)
        place.set_xticks(np.arange(len(labels)), labels)
        place.grid(visible=False, axis="x")
        place.set(title=short_name(log), xlabel=axis)
    axes[0].set_ylabel(value)
    if logs:
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _not_quick_first(bars: Bars, found: Measurements, log: str, policy: str) -> list[list[float]]:
    """Return the values of bars of a whole run, else those of a quick one."""
    for quick in (False, True):
        values = bars(found, log, policy, quick)
        if any(not isnan(mean(each)) for each in values):
            break
    return values


MADE: dict[str, tuple[Plan, Cells]] = {
    f"figure-{number}": (partial(runs_of_figure, number), partial(cells_of_figure, number)) for number in FIGURES
}
"""How each table is made."""

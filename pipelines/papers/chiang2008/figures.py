# SPDX-License-Identifier: BSD-3-Clause
"""Figures 2, 6 and 8 to 12: policies beside each other, in all months of a log.

Each figure of the paper has a panel a measure and a point a month. The tables have the means over the months of a log,
and the greatest of the longest waits; the pictures, and the table ``measurements``, have every month.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from pipelines.papers.chiang2008 import policies
from pipelines.papers.chiang2008.months import HIGH_LOAD, short_name
from pipelines.papers.chiang2008.policies import BACKFILL, STRICT, TABLE_6, THRESHOLDS, VERSIONS, changed, made_quick
from pipelines.papers.chiang2008.schedules import MEASURES
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.looks import explain, looks_of, name_months, panels
from pipelines.papers.paper import Cell, Measurements, Printed, Run
from swftools.plots.style import count_axis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GREATEST = "greatest max wait"
"""The one column that is no mean over months."""

COLUMNS = (
    *("max wait", GREATEST, "mean wait", "mean bounded slowdown", "max bounded slowdown"),
    *("excess over the max", "excess over 98 %", "jobs beyond 98 %"),
)
"""Columns of tables by months."""


class Shown(NamedTuple):
    """What a figure shows: the runs by the names of its lines, and the measures of its panels."""

    runs: Mapping[str, Run]
    panels: tuple[str, ...]
    by_powers: bool = False  # the scale


def _at_load(load: float | None) -> dict[str, Run]:
    """Return the runs of Figure 2 at a load."""
    return {f"threshold {hours}": policies.with_threshold(hours, load) for hours in THRESHOLDS}


def large(run: Run) -> Run:
    """Return a run with as many nodes to visit as in Figure 9."""
    return changed(run, nodes=policies.NODES_LARGE)


_LEXICAL = {name: TABLE_6[name] for name in ("Lexical(maxW -> avgX)", "Lexical(T_w -> avgW)", "Lexical(T_w -> avgX)")}
_TRADEOFF = {
    name: TABLE_6[name]
    for name in ("Tradeoff(maxW:avgX)", "Tradeoff(maxW:avgW)", "Tradeoff(T_w:avgW)", "Tradeoff(T_w:avgX)")
}
BEST = {**BACKFILL, "Lexical(T_w -> avgX)": policies.LEXICAL, "Tradeoff(T_w:avgX)": policies.TRADEOFF}
"""What Figures 11 and 12 compare."""

FIGURES = {
    "2a": Shown(_at_load(None), ("max wait", "mean bounded slowdown"), by_powers=True),
    "2b": Shown(_at_load(HIGH_LOAD), ("max wait", "mean bounded slowdown"), by_powers=True),
    "6": Shown(
        {
            "Strict Lexical(T_w -> avgX)": STRICT["Strict Lexical(T_w -> avgX)"],
            "Lexical(T_w -> avgX)": policies.LEXICAL,
            **BACKFILL,
        },
        ("mean bounded slowdown", "max wait"),
    ),
    "8": Shown({**VERSIONS, **BACKFILL}, ("max wait", "mean bounded slowdown", "max bounded slowdown")),
    "9": Shown({**_LEXICAL, **BACKFILL}, ("max wait", "mean bounded slowdown", "jobs beyond 98 %", "excess over 98 %")),
    "10": Shown({**_TRADEOFF, **BACKFILL}, ("max wait", "mean wait", "mean bounded slowdown", "max bounded slowdown")),
    "11": Shown(BEST, ("max wait", "excess over the max", "mean bounded slowdown", "max bounded slowdown")),
    "9-large": Shown(
        {**{name: large(run) for name, run in _LEXICAL.items()}, **BACKFILL},
        ("max wait", "mean bounded slowdown", "jobs beyond 98 %", "excess over 98 %"),
    ),
}
"""Figures by months."""


def planned(runs: Mapping[str, Run]) -> Callable[[str, bool], list[Run]]:
    """Return the plan of a table of these runs, on any log."""

    def plan(log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of any log)
        return [made_quick(run) if quick else run for run in runs.values()]

    return plan


def cells_of(runs: Mapping[str, Run], columns: tuple[str, ...] = COLUMNS) -> Callable[..., Iterator[Cell]]:
    """Return what makes the cells of a table of these runs: a row for each log and name."""

    def cells(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no numbers)
        values = Values(found)
        for log in found.logs:
            for name, run in runs.items():
                for column in columns:
                    yield Cell(f"{short_name(log)} {name}", column, *told(values, log, run, column))

    return cells


def told(values: Values, log: str, run: Run, column: str) -> tuple[float, str, str]:
    """Return the value of a column, its definition and its unit."""
    if column == GREATEST:
        return values.greatest(log, run, "max wait"), "longest wait of a job in any month", "h"
    unit, definition = MEASURES[column]
    return values.mean(log, run, column), f"{definition}; mean over months", unit


def draw(figure: str, measurements: pd.DataFrame) -> Figure:
    """Draw a figure: a line a policy over the months, a row of panels a log."""
    values, shown = Values(Measurements(measurements)), FIGURES[figure]
    logs = [log for log in values.logs if any(values.months(log, run, "jobs") for run in shown.runs.values())]
    looks = looks_of({name: run.parameters.to_mapping()["policy"] for name, run in shown.runs.items()})
    height = 1.5 + 0.2 * ceil(len(shown.runs) / 3) + 2.5 * max(1, len(logs))
    picture, axes = panels((1.5 + 3.4 * len(shown.panels), height), len(logs), len(shown.panels))
    for line, log in enumerate(logs):
        for place, measure in zip(axes[line], shown.panels, strict=True):
            curves = {name: values.months(log, run, measure) for name, run in shown.runs.items()}
            months = list(dict.fromkeys(month for curve in curves.values() for month in curve))
            for name, curve in curves.items():
                at = [months.index(month) for month in curve]
                place.plot(at, list(curve.values()), label=name, markersize=4, **looks[name])
            unit = MEASURES[measure][0]
            place.set_ylabel(measure if unit == "1" else f"{measure} ({unit})")
            if shown.by_powers and months:
                place.set_yscale("log")
            else:
                place.set_ylim(0, None)
            count_axis(place, "y")
            name_months(place, months)
        axes[line, 0].set_title(short_name(log))
    if logs:
        entries = axes[0, 0].get_legend_handles_labels()
        picture.legend(*entries, loc="outside lower center", ncols=3, title=explain(entries[1]))
    return picture

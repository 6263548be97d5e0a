# SPDX-License-Identifier: BSD-3-Clause
"""Figures 3 to 5, 7 and 8d: what a search finds by the number of nodes that it may visit, in two months of each log.

Reading chosen
    The paper shows a typical month and the most exceptional one, which has the larger backlog and so the larger trees,
    and says of neither how it was chosen. Here a month's backlog is the mean number of its jobs that wait under
    FCFS-backfill at load 0.9: the exceptional month is that with the most, the typical one the median (of an even
    number the lower of the two in the middle).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from pipelines.papers.chiang2008.months import Month, months_of, short_name
from pipelines.papers.chiang2008.schedules import (
    FCFS_BACKFILL,
    MEASURES,
    SEARCH,
    PolicyOfPaper,
    Row,
    Thresholds,
    measured_jobs,
    measures_of,
    simulate_month,
    thresholds_of,
)
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.looks import explain, looks_of, panels
from pipelines.papers.paper import Cell, Measurements, Printed, Run, measured
from pipelines.papers.yuan2010.populations import kept_jobs
from swftools.parameters import Parameters, choice, text, whole
from swftools.plots.style import count_axis
from swftools.simulator import Schedule
from swftools.simulator.metrics.columns import column_of
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TYPICAL, EXCEPTIONAL = "typical", "exceptional"
"""Kinds of months; a subject is a kind and the name of the month."""

MONTHS = {
    TYPICAL: "the month that is the median by how many of its jobs wait under FCFS-backfill",
    EXCEPTIONAL: "the month of whose jobs most wait under FCFS-backfill",
}
"""How they are chosen, in words."""

NODES = (100, 200, 400, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000)
"""How many nodes a search may visit: L."""

MOST, MOST_QUICK = 4000, 200
"""As many in the tables of ``chiang2008``, and of its quick run; more in those of ``chiang2008-large``."""


@dataclass(frozen=True)
class CurveOfPaper(Parameters):
    """A search by the nodes that it may visit: those of ``NODES`` from the least to the most."""

    NAME = "curve"
    objective: str = text("strict-lexical(T_w -> avgX)")
    traversal: str = choice("dds", "lds")
    branching: str = choice("lxf", "fcfs")
    least: int = whole(NODES[0], least=0)
    most: int = whole(MOST, least=0)


class Curve(NamedTuple):
    """A search whose curve is drawn."""

    objective: str
    traversal: str = "dds"
    branching: str = "lxf"


ALGORITHMS = {
    "DDS-LXF": ("dds", "lxf"),
    "DDS-FCFS": ("dds", "fcfs"),
    "LDS-LXF": ("lds", "lxf"),
    "LDS-FCFS": ("lds", "fcfs"),
}
"""Traversals and branching heuristics, by the paper's names."""

STRICT_TW = {name: Curve("strict-lexical(T_w -> avgX)", *algorithm) for name, algorithm in ALGORITHMS.items()}
STRICT_MAXW = {name: Curve("strict-lexical(maxW -> avgX)", *algorithm) for name, algorithm in ALGORITHMS.items()}
RELAXED = {
    "strict DDS-FCFS": Curve("strict-lexical(maxW -> avgX)", "dds", "fcfs"),
    "relaxed DDS-FCFS": Curve("lexical(maxW -> avgX)", "dds", "fcfs"),
    "relaxed DDS-LXF": Curve("lexical(maxW -> avgX)"),
}
VERSIONS = {version: Curve(f"tradeoff-{version.lower()}(T_w:avgX)") for version in "ABC"}


class CurvesOfFigure(NamedTuple):
    """What a figure shows: its curves by name, a kind of month, and measures."""

    curves: Mapping[str, Curve]
    kind: str
    measures: tuple[str, ...]


_EFFICIENCY = ("mean bounded slowdown", "max wait")
FIGURES = {
    "3": CurvesOfFigure(STRICT_TW, TYPICAL, (*_EFFICIENCY, "excess over 98 %")),
    "4": CurvesOfFigure(STRICT_TW, EXCEPTIONAL, (*_EFFICIENCY, "excess over the max")),
    "5": CurvesOfFigure(STRICT_MAXW, EXCEPTIONAL, (*_EFFICIENCY, "excess over the max")),
    "7": CurvesOfFigure(RELAXED, EXCEPTIONAL, _EFFICIENCY),
    "8d": CurvesOfFigure(VERSIONS, EXCEPTIONAL, ("max bounded slowdown",)),
}


def measure_curve(trace: Trace, parameters: CurveOfPaper, seed: int) -> pd.DataFrame:
    """Return what a search does in both months, by the nodes that it may visit, the place of a curve."""
    kept = kept_jobs(trace)
    rows: list[Row] = []
    chosen = chosen_months(kept)
    # A month that is the only one is both, and measured once.
    values = {
        month: list(_by_nodes(kept, month, limits, parameters, seed)) for month, limits in dict(chosen.values()).items()
    }
    for kind, (month, _) in chosen.items():
        rows += [(f"{kind} {month.name}", *row) for row in values[month]]
    return measured(rows)


def _by_nodes(
    kept: Trace, month: Month, limits: Thresholds, parameters: CurveOfPaper, seed: int
) -> Iterator[tuple[str, str, float]]:
    """Yield nodes, name and value of what is measured of a month."""
    for nodes in NODES:
        if parameters.least <= nodes <= parameters.most:
            search = PolicyOfPaper(
                objective=parameters.objective,
                traversal=parameters.traversal,
                branching=parameters.branching,
                nodes=nodes,
            )
            for name, value in measures_of(simulate_month(kept, month, search, seed), limits):
                yield str(nodes), name, value


def chosen_months(kept: Trace) -> dict[str, tuple[Month, Thresholds]]:
    """Return the typical and the exceptional month of a log, by their backlogs, and what is excessive there.

    Both follow from one schedule, that of FCFS-backfill.
    """
    found = {}
    for month in months_of(kept):
        fcfs = simulate_month(kept, month, PolicyOfPaper(FCFS_BACKFILL))
        found[month] = backlog(month, fcfs), thresholds_of(fcfs)
    if not found:
        return {}
    ordered = sorted(found, key=lambda month: (found[month][0], month.begin))
    kinds = {TYPICAL: ordered[(len(ordered) - 1) // 2], EXCEPTIONAL: ordered[-1]}
    return {kind: (month, found[month][1]) for kind, month in kinds.items()}


def backlog(month: Month, fcfs: Schedule) -> float:
    """Return the mean number of a month's jobs that wait in a schedule of FCFS-backfill, while such are submitted."""
    parameters = PolicyOfPaper(FCFS_BACKFILL)
    jobs = measured_jobs(fcfs)
    span = (month.end - month.begin) * month.load / parameters.load if parameters.load else month.end - month.begin
    return float(column_of(jobs, "wait_time").sum() / span)


def curve_runs(curve: Curve, quick: bool, large: bool) -> list[Run]:
    """Return the runs of a curve, its beginning first; what is large goes on from there."""
    first = CurveOfPaper(curve.objective, curve.traversal, curve.branching, most=MOST_QUICK if quick else MOST)
    parts = [first]
    if large and not quick:
        parts.append(replace(first, least=next(nodes for nodes in NODES if nodes > MOST), most=NODES[-1]))
    return [Run(CurveOfPaper.NAME, part) for part in parts]


def runs_of_curves(figure: str, large: bool, log: str, quick: bool) -> list[Run]:  # noqa: ARG001 (of any log)
    """Return the runs of a figure."""
    return [run for curve in FIGURES[figure].curves.values() for run in curve_runs(curve, quick, large)]


def points(values: Values, log: str, curve: Curve, kind: str, measure: str) -> dict[int, float]:
    """Return what was measured of a curve, however far it was: values by nodes that may be visited."""
    every = [*curve_runs(curve, quick=True, large=False), *curve_runs(curve, quick=False, large=True)]
    found = {x: value for run in every for x, value in values.curve(log, run, f"{kind} ", measure).items()}
    return {nodes: found[str(nodes)] for nodes in NODES if str(nodes) in found}


def cells_of_curves(figure: str, found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no numbers)
    """Yield the points of a figure, a row for each curve."""
    values, shown = Values(found), FIGURES[figure]
    for log in found.logs:
        month = _month(values, log, shown)
        for measure in shown.measures:
            for name, curve in shown.curves.items():
                for nodes, value in points(values, log, curve, shown.kind, measure).items():
                    yield Cell(
                        f"{short_name(log)} {month}: {measure}, {name}",
                        f"L = {nodes}",
                        value,
                        f"where each search may visit so many nodes, in {MONTHS[shown.kind]}",
                        unit=MEASURES[measure][0],
                    )


def _month(values: Values, log: str, shown: CurvesOfFigure) -> str:
    """Return the month of a log that a figure shows, or nothing where none was measured."""
    runs = [
        run
        for curve in shown.curves.values()
        for quick in (False, True)
        for run in curve_runs(curve, quick, large=False)
    ]
    subjects = (values.curve_subject(log, run, f"{shown.kind} ") for run in runs)
    return next((name.removeprefix(shown.kind).strip() for name in subjects if name), "")


def draw(figure: str, measurements: pd.DataFrame) -> Figure:
    """Draw a figure: a line a curve, a panel a log and measure."""
    found, shown = Measurements(measurements), FIGURES[figure]
    values = Values(found)
    size = (2.0 + 3.2 * len(shown.measures), 1.2 + 2.5 * max(1, len(found.logs)))
    picture, axes = panels(size, len(found.logs), len(shown.measures))
    looks = looks_of(dict.fromkeys(shown.curves, SEARCH))
    for line, log in enumerate(found.logs):
        for place, measure in zip(axes[line], shown.measures, strict=True):
            for name, curve in shown.curves.items():
                known = points(values, log, curve, shown.kind, measure)
                place.plot(list(known), list(known.values()), label=name, markersize=4, **looks[name])
            unit = MEASURES[measure][0]
            place.set(xscale="log", ylim=(0, None), ylabel=measure if unit == "1" else f"{measure} ({unit})")
            for which in ("x", "y"):
                count_axis(place, which)
        axes[line, 0].set_title(f"{short_name(log)} {_month(values, log, shown)}")
    for place in axes[-1]:
        place.set_xlabel("nodes that a search may visit")
    entries = axes[0, 0].get_legend_handles_labels()
    picture.legend(*entries, loc="outside lower center", ncols=len(shown.curves), title=explain(entries[1]))
    return picture

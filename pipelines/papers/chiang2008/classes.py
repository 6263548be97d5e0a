# SPDX-License-Identifier: BSD-3-Clause
"""Figure 12: mean waits of jobs by their processors (N) and run times (T).

The paper shows one month that stands for most; here it is all months of a log together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pipelines.papers.chiang2008.claims import RULES, Rule, larger, much_smaller, not_larger, smaller, statement
from pipelines.papers.chiang2008.figures import BEST
from pipelines.papers.chiang2008.months import short_name
from pipelines.papers.chiang2008.schedules import CLASSES
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.paper import Cell, Measurements, Printed, Run
from swftools.plots.style import SEQUENTIAL
from swftools.simulator.metrics.job_classes import classify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHORT, LONG = ("<= 600", "(600, 3600]"), ("> 28800",)
NARROW, MIDDLE, WIDE = ("<= 1", "(1, 8]"), ("(8, 32]",), ("(32, 64]", "> 64")
"""Labels of the classes of Figure 12 that the text speaks of: up to 1 h, above 8 h; up to 8, up to 32, above 32."""

OfClass = tuple[Run, tuple[str, ...], tuple[str, ...]]
"""A policy, and labels of the processors and of the run times that are meant."""


def cells(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no numbers)
    """Yield the cells of Figure 12: the mean wait of each class of jobs, in all months together."""
    values = Values(found)
    for log in found.logs:
        for name, run in BEST.items():
            for label, of_class in values.classes(log, run).items():
                processors, times = label.split(" & ")
                yield Cell(
                    f"{short_name(log)} {name}, T {_in_hours(times)}",
                    f"N {processors}",
                    of_class["mean wait"],
                    "mean wait of the jobs with so many processors and such run times, in all months",
                    unit="h",
                )


def draw(measurements: pd.DataFrame) -> Figure:
    """Draw Figure 12: mean waits by processors and run time, a panel a log and policy, a scale a log."""
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    values = Values(Measurements(measurements))
    logs = [log for log in values.logs if any(values.classes(log, run) for run in BEST.values())]
    picture = Figure(figsize=(11, 0.6 + 2.6 * max(1, len(logs))), layout="constrained")
    axes = picture.subplots(max(1, len(logs)), len(BEST), squeeze=False)
    for line, log in enumerate(logs):
        grids = {name: _grid(values.classes(log, run)) for name, run in BEST.items()}
        most = np.nanmax([grid.to_numpy() for grid in grids.values()])
        for place, (name, grid) in zip(axes[line], grids.items(), strict=True):
            image = place.imshow(grid.to_numpy(), origin="lower", vmin=0, vmax=most, cmap=SEQUENTIAL, aspect="auto")
            place.set_title(name)
            place.grid(visible=False)
            place.set_xticks(range(grid.shape[1]), grid.columns, rotation=90)
            place.set_yticks(range(grid.shape[0]), [_in_hours(label) for label in grid.index])
            place.set_xlabel("processors")
        axes[line, 0].set_ylabel("run time")
        picture.colorbar(image, ax=axes[line], label=f"{short_name(log)}: mean wait (h)")
    return picture


def statements(values: Values) -> Iterator[Cell]:
    """Yield what section 6.3 says of Figure 12."""
    fcfs, lxf, lexical, tradeoff = BEST.values()
    yield _of_classes(
        values,
        "Figure 12a: under FCFS-backfill wide jobs wait longer than narrow ones",
        "poor",
        [((fcfs, WIDE, ()), (fcfs, NARROW, ()))],
        larger,
    )
    yield _of_classes(
        values,
        "Figure 12b: under LXF-backfill short wide jobs wait less than under FCFS-backfill",
        "significantly",
        [((lxf, WIDE, SHORT), (fcfs, WIDE, SHORT))],
        much_smaller,
    )
    yield _of_classes(
        values,
        "Figure 12b: under LXF-backfill long wide jobs wait longer than under FCFS-backfill",
        "sacrificed",
        [((lxf, (*MIDDLE, *WIDE), LONG), (fcfs, (*MIDDLE, *WIDE), LONG))],
        larger,
    )
    yield _of_classes(
        values,
        "Figures 12c and 12d: under both searches short wide jobs wait less than under FCFS-backfill",
        "both",
        [((run, WIDE, SHORT), (fcfs, WIDE, SHORT)) for run in (lexical, tradeoff)],
        much_smaller,
    )
    yield _of_classes(
        values,
        "Figures 12c and 12d: under both searches long wide jobs wait less than under LXF-backfill",
        "not so much sacrificed",
        [((run, (*MIDDLE, *WIDE), LONG), (lxf, (*MIDDLE, *WIDE), LONG)) for run in (lexical, tradeoff)],
        smaller,
    )
    yield _of_classes(
        values,
        "Figure 12d: short wide jobs fare as well under Tradeoff(T_w:avgX) as under LXF-backfill",
        "as good",
        [((tradeoff, WIDE, SHORT), (lxf, WIDE, SHORT))],
        not_larger,
    )
    yield _of_classes(
        values,
        "Figure 12d: long narrow jobs wait longer under Tradeoff(T_w:avgX) than under both backfill policies",
        "traded",
        [((tradeoff, NARROW, LONG), (run, NARROW, LONG)) for run in (fcfs, lxf)],
        larger,
    )


def class_wait(values: Values, log: str, run: Run, widths: tuple[str, ...], times: tuple[str, ...] = ()) -> float:
    """Return the mean wait, h, of the jobs of some classes, of all run times where none are given; NaN of none."""
    classes = values.classes(log, run)
    chosen = []
    for label, of_class in classes.items():
        width, time = label.split(" & ")
        if width in widths and (not times or time in times):
            chosen.append((of_class["mean wait"], of_class["jobs"]))
    jobs = sum(count for _, count in chosen)
    return sum(wait * count for wait, count in chosen) / jobs if jobs else float("nan")


def _of_classes(values: Values, words: str, printed: str, pairs: list[tuple[OfClass, OfClass]], rule: Rule) -> Cell:
    """Return a statement about mean waits of classes, h, each beside another, of each log."""
    held, parts = 0, []
    for log in values.logs:
        for one, other in pairs:
            ours, theirs = class_wait(values, log, *one), class_wait(values, log, *other)
            if not (np.isnan(ours) or np.isnan(theirs)):
                held += rule(ours, theirs)
                parts.append(f"{ours:.4g} beside {theirs:.4g} ({short_name(log)})")
    told = f"of {len(parts)} mean waits (h): {RULES[rule]}; {', '.join(parts)}; it holds if all are"
    return statement(words, printed, held, told, held == len(parts), unit="waits", known=len(parts))


def _in_hours(label: str) -> str:
    """Return a range of run times in minutes or hours."""
    for end in sorted(CLASSES["run_time"], reverse=True):
        label = label.replace(f"{end:.15g}", f"{end / 3600:g} h" if end >= 3600 else f"{end / 60:g} min")
    return label


def _grid(classes: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Return mean waits: a row for each range of run times, a column for each range of processors; NaN without jobs."""
    parts = {tuple(label.split(" & ")): of_class["mean wait"] for label, of_class in classes.items()}
    grid = pd.Series(parts).unstack(0)
    columns, rows = ([*_labels(ends)] for ends in CLASSES.values())
    return grid.reindex(index=rows, columns=columns)


def _labels(ends: tuple[float, ...]) -> Iterator[str]:
    """Yield the labels of ranges with these upper ends, in order, as ``classify`` writes them."""
    yield from classify(pd.DataFrame({"value": [0.0]}), {"value": list(ends)}).labels

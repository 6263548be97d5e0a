# SPDX-License-Identifier: BSD-3-Clause
"""Figure 12: mean waits of jobs by their processors (N) and run times (T).

The paper shows one month that stands for most; here it is all months of a log together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pipelines.papers.chiang2008.figures import BEST
from pipelines.papers.chiang2008.months import short_name
from pipelines.papers.chiang2008.policies import NAMED
from pipelines.papers.chiang2008.schedules import CLASSES
from pipelines.papers.chiang2008.values import Values
from pipelines.papers.looks import panels
from pipelines.papers.paper import Cell, Measurements, Printed, Run
from pipelines.papers.statements import PAIR_RULES, Outcome, listed
from swftools.plots.style import SEQUENTIAL
from swftools.simulator.metrics.job_classes import classify

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHORT, LONG = ("<= 600", "(600, 3600]"), ("> 28800",)
NARROW, MIDDLE, WIDE = ("<= 1", "(1, 8]"), ("(8, 32]",), ("(32, 64]", "> 64")
"""Labels of the classes of Figure 12 that the text speaks of: up to 1 h, above 8 h; up to 8, up to 32, above 32."""

JOBS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "wide": (WIDE, ()),
    "narrow": (NARROW, ()),
    "short wide": (WIDE, SHORT),
    "long wide": ((*MIDDLE, *WIDE), LONG),
    "long narrow": (NARROW, LONG),
}
"""Jobs that the text speaks of: labels of their processors and of their run times, all where there are none."""


def cells_of_classes(found: Measurements, printed: Printed, quick: bool) -> Iterator[Cell]:  # noqa: ARG001 (prints no numbers)
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
    values = Values(Measurements(measurements))
    logs = [log for log in values.logs if any(values.classes(log, run) for run in BEST.values())]
    picture, axes = panels((11, 0.6 + 2.6 * max(1, len(logs))), len(logs), len(BEST))
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


def waits_of_classes(
    values: Values, pairs: list[tuple[str, str]], jobs: str, each: str, beside: str | None = None
) -> Outcome:
    """Return how many mean waits of some jobs are so beside those of others: policies in pairs, in each log."""
    rule, cases = PAIR_RULES[each], []
    for log in values.logs:
        for one, other in pairs:
            ours = class_wait(values, log, NAMED[one], *JOBS[jobs])
            theirs = class_wait(values, log, NAMED[other], *JOBS[beside or jobs])
            if not (np.isnan(ours) or np.isnan(theirs)):
                cases.append((rule.holds(ours, theirs), f"{ours:.4g} beside {theirs:.4g} ({short_name(log)})"))
    return listed(cases, rule=rule.words)


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

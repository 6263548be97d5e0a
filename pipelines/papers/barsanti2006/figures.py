# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the figures, from what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pipelines.papers.barsanti2006.comparison import (
    APPROACHES,
    EDGES,
    JOBS,
    RESPONSE,
    SHRUNK,
    SLOWDOWN,
    WAIT,
    WIDENED,
    ComparisonOfPaper,
)
from pipelines.papers.barsanti2006.tables import DOWNEY, SHOWN, W1, W2
from pipelines.papers.barsanti2006.values import LOG
from pipelines.papers.barsanti2006.workloads import ALPHAS, CLASSES
from pipelines.papers.looks import looks_of, panels
from pipelines.papers.paper import Measurements, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = looks_of({name: APPROACHES["paper"][name].split(":")[0].split("{")[0] for name in SHOWN})

AXES = {RESPONSE: "mean response, h", WAIT: "mean wait, h", SLOWDOWN: "mean bounded slowdown"}


def draw_means(measurements: pd.DataFrame) -> Figure:
    """Draw Figures 5 to 7 and 10 to 12: response, wait and slowdown by class."""
    return _grid(measurements, {"W1": W1, "W2": W2}, AXES)


def draw_other_curves(measurements: pd.DataFrame) -> Figure:
    """Draw Figure 14: response and slowdown with Downey's curves."""
    return _grid(measurements, {"W1, Downey": DOWNEY}, {measure: AXES[measure] for measure in (RESPONSE, SLOWDOWN)})


def draw_adaptations(measurements: pd.DataFrame) -> Figure:
    """Draw Figures 8 and 13: jobs that were shrunk and expanded, by class."""
    return _grid(measurements, {"W1": W1, "W2": W2}, {SHRUNK: "shrunk jobs", WIDENED: "expanded jobs"})


def draw_histograms(measurements: pd.DataFrame) -> Figure:
    """Draw Figure 9: response times by class."""
    found = Measurements(measurements)
    figure, grid = panels((9, 7.5), len(CLASSES), 1)
    run = _run(measurements, W1)
    for axes, kind in zip(grid[:, 0], CLASSES, strict=True):
        edges = [*EDGES[kind], float("inf")]
        values = {name: [found.value(LOG, run, name, JOBS, f"{kind} {edge:g}") for edge in edges] for name in SHOWN}
        _bars(axes, [f"{edge:g}" if edge < float("inf") else "more" for edge in edges], values)
        axes.set_ylabel(f"{kind} jobs")
    axes.set_xlabel("response time up to, h")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(SHOWN))
    return figure


def _grid(measurements: pd.DataFrame, rows: dict[str, dict[str, Any]], columns: dict[str, str]) -> Figure:
    """Draw measures by class, a row for each workload and a column for each measure."""
    found = Measurements(measurements)
    figure, grid = panels((3.2 * len(columns), 2.8 * len(rows)), len(rows), len(columns))
    for line, (workload, given) in zip(grid, rows.items(), strict=True):
        run = _run(measurements, given)
        for axes, (measure, words) in zip(line, columns.items(), strict=True):
            values = {name: [found.value(LOG, run, name, measure, kind) for kind in CLASSES] for name in SHOWN}
            _bars(axes, list(CLASSES), values)
            axes.set_title(workload)
            axes.set_ylabel(words)
    figure.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


def _run(measurements: pd.DataFrame, given: dict[str, Any]) -> Run:
    """Return the run of a comparison as it was measured, be it quick or not."""
    chosen = {name: value for name, value in given.items() if name != "workload"} | {"alpha": ALPHAS[given["workload"]]}
    for jobs in (10_000, 1_000):
        run = Run("comparison", ComparisonOfPaper(**chosen, jobs=jobs))
        if (measurements["experiment"] == run.text).any():
            break
    return run


def _bars(axes: Any, labels: list[str], values: dict[str, list[float]]) -> None:
    """Draw groups of bars, one of each approach in each group."""
    at = np.arange(len(labels))
    for number, (name, heights) in enumerate(values.items()):
        axes.bar(at + (number - 1.5) * 0.21, heights, 0.19, label=name, color=LOOKS[name]["color"])
    axes.grid(visible=False, axis="x")
    axes.set_xticks(at, labels)

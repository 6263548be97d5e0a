# SPDX-License-Identifier: BSD-3-Clause
"""A decision of a search as a picture, by matplotlib, the extra ``swftools[plots]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.output.figure import new_figure
from swftools.simulator.placement import on_processors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = [*range(14), *range(16, 20)]  # of the map tab20 those that are not grey
_EDGES: dict[bool, dict[str, Any]] = {
    False: {"edgecolor": "white", "linewidth": 0.5},
    True: {"edgecolor": "black", "linewidth": 1.2, "zorder": 2},
}


def draw_search(
    time: float,
    processors: int,
    nodes: int,
    baseline: str,
    visited: str,
    measures: pd.DataFrame,
    jobs: pd.DataFrame,
    running: pd.DataFrame,
    improvements: pd.DataFrame,
) -> Figure:
    """Draw what a search found, node by node, and its two plans; the arguments are fields of ``Explanation``.

    ``jobs`` has ``end`` and ``heuristic_end`` beside, when each job is planned to end (s). Jobs of which too little is
    known are left out.

    Raises
    ------
    MissingLibraryError
        matplotlib is not installed.
    """
    figure = new_figure(11, 4.5)
    grid = figure.add_gridspec(len(measures), 3, width_ratios=(1, 1.2, 1.2))
    before = None
    for place, (name, heuristic, _) in enumerate(measures.itertuples(index=False)):
        before = figure.add_subplot(grid[place, 0], sharex=before)
        _draw_progress(before, str(name), float(heuristic), improvements, nodes)
        before.tick_params(which="both", labelbottom=place == len(measures) - 1)
    if before is not None:
        before.set_xlabel(f"{visited} tried")
    held = running[running["expected_end"] > time].assign(planned_start=time, end=running["expected_end"])
    held = held.assign(heuristic_planned_start=time, heuristic_end=held["end"], color=-1, is_started=False)
    known = jobs.assign(color=np.resize(_COLORS, len(jobs))).dropna(subset=["processors", "end"])
    both = pd.concat([held, known], ignore_index=True)
    last = both[["end", "heuristic_end"]].max().max() - time if len(both) else 1.0
    unit, length = ("hours", 3600.0) if last > 7200 else ("s", 1.0)
    chosen = figure.add_subplot(grid[:, 1])
    other = figure.add_subplot(grid[:, 2], sharex=chosen, sharey=chosen)
    for axes, prefix, title in ((chosen, "", "chosen order"), (other, "heuristic_", baseline)):
        starts, ends = (both[f"{prefix}{column}"].to_numpy(dtype=float) for column in ("planned_start", "end"))
        _draw_plan(axes, both, (starts - time) / length, (ends - time) / length, processors)
        axes.set(title=title, xlabel=f"{unit} from now", xlim=(0, last / length), ylim=(0, processors))
    chosen.set_ylabel("processors")
    other.tick_params(labelleft=False)
    return figure


def _draw_progress(axes: Axes, name: str, heuristic: float, improvements: pd.DataFrame, nodes: int) -> None:
    """Draw a measure under the best order so far, by what was tried, and under the heuristic's order."""
    axes.axhline(heuristic, color="grey", linestyle=":")
    if len(improvements):
        found = improvements["nodes"].to_numpy(dtype=float)
        values = improvements[name].to_numpy(dtype=float)
        last = max(nodes, found[-1])
        axes.step(np.append(found, last), np.append(values, values[-1]), where="post")
        axes.plot(found[1:], values[1:], ".", color="C0")
        if last > 20 * found[0]:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:,.0f}")  # a power would be a formula, which a style may turn off
            axes.xaxis.set_minor_formatter("")
    axes.set_ylabel(name)


def _draw_plan(
    axes: Axes,
    jobs: pd.DataFrame,
    starts: npt.NDArray[np.float64],
    ends: npt.NDArray[np.float64],
    processors: int,
) -> None:
    """Draw which job has which processors, from when to when; whoever gets much room is named."""
    from matplotlib import colormaps  # noqa: PLC0415 (an extra)

    axes.set_axisbelow(True)
    colors: Any = colormaps["tab20"]
    room = float(ends.max(initial=0.0)) * processors
    numbers, shades, edges = (jobs[name].tolist() for name in ("job_number", "color", "is_started"))
    for job, pieces in on_processors(starts, ends, jobs["processors"].to_numpy(dtype=np.int64), processors):
        color = "lightgrey" if shades[job] < 0 else colors(shades[job])
        time = ends[job] - starts[job]
        for low, high in pieces:
            axes.broken_barh([(starts[job], time)], (low, high - low), facecolor=color, **_EDGES[edges[job]])
        low, high = max(pieces, key=lambda piece: piece[1] - piece[0])
        if shades[job] >= 0 and time * (high - low) > room / 100:
            middle = (starts[job] + time / 2, (low + high) / 2)
            axes.annotate(str(numbers[job]), middle, ha="center", va="center", fontsize=7, clip_on=True)

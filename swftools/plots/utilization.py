# SPDX-License-Identifier: BSD-3-Clause
"""How busy the machine is over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swftools.output.amounts import duration, percent
from swftools.parameters import Parameters, whole
from swftools.plots.of_schedules import clock_in, clock_of, in_bins, known_only
from swftools.plots.picture import Picture, register_picture
from swftools.plots.style import COLORS, time_axis, times_of
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.metrics.over_time import over_time
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class UtilizationParameters(Parameters):
    """How finely time is shown: a log of more steps than ``bins`` is shown in so many bins at most."""

    bins: int = whole(400, least=2, most=100_000)


@register_picture
class Utilization(Picture):
    """The share of the machine's processors that run a job, from each event to the next.

    Runs that were stopped count as all others do. Longer logs are shown by their means over an hour, a day and so on.
    """

    name = "utilization"
    of = Schedule
    title = "Utilization"
    parameters = UtilizationParameters
    aspect = 0.42
    nothing = "no run"

    def table(self, subject: Schedule, chosen: UtilizationParameters) -> pd.DataFrame:
        """Return a row for each step or bin.

        ``begin`` and ``end``, s from the start of the log, ``utilization`` and ``most``, mean and largest share of the
        processors, ``log_start``, UNIX time in s, missing where it is not known, and ``log_zone``, its zone's name.
        """
        known = known_only(subject)
        steps = over_time(known)
        busy = column_of(steps, "busy_processors")
        running = np.flatnonzero(busy > 0)
        if not len(running):
            columns = ("begin", "end", "utilization", "most", "log_start", "log_zone")
            return pd.DataFrame({name: [] for name in columns})
        shown = slice(running[0], running[-1] + 2)  # from the first start on to the last end
        table = in_bins(column_of(steps, "time")[shown], busy[shown] / subject.processors, chosen.bins)
        return table.rename(columns={"mean": "utilization"}).assign(**clock_of(subject, known.jobs))

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: UtilizationParameters) -> None:
        """Draw the steps, and their mean over all time."""
        draw_steps(axes, table, 100 * table["utilization"])
        mean = 100 * _mean_of(table)
        axes.axhline(mean, color=COLORS[1], linestyle="--")
        axes.text(1.0, 1.0, f"mean {mean:.3g} %", ha="right", va="bottom", transform=axes.transAxes)
        axes.set(ylabel="processors in use, %", ylim=(0, max(105.0, 105 * float(table["utilization"].max()))))

    def tell(self, table: pd.DataFrame, chosen: UtilizationParameters) -> str:
        """Return the mean, over how long, and the bins."""
        whole_time = float(table["end"].iloc[-1] - table["begin"].iloc[0])
        return (
            f"{percent(_mean_of(table), digits=1)} of the processors are in use on average, over {duration(whole_time)}"
            + (told_bins(table))
        )


def draw_steps(axes: Axes, table: pd.DataFrame, values: pd.Series[float]) -> None:
    """Draw a step function of time as an area, from the columns ``begin``, ``end`` and those of ``clock_of``."""
    start, zone = clock_in(table)
    edges = times_of(np.append(table["begin"], table["end"].iloc[-1]), start)
    axes.stairs(values, edges, fill=True, color=COLORS[4], alpha=0.6, linewidth=0)
    axes.stairs(values, edges, color=COLORS[0], linewidth=0.8, baseline=None)
    axes.set_xlim(edges[0], edges[-1])
    time_axis(axes, start, zone)


def told_bins(table: pd.DataFrame) -> str:
    """Return what a point of the picture is, where it is a mean over bins."""
    lengths = (table["end"] - table["begin"]).iloc[1:-1].round(3)
    is_binned = len(lengths) > 1 and lengths.nunique() == 1
    return f"; each point is a mean over {duration(float(lengths.iloc[0]))}" if is_binned else ""


def _mean_of(table: pd.DataFrame) -> float:
    """Return the mean over all time."""
    return float(np.average(table["utilization"], weights=table["end"] - table["begin"]))

# SPDX-License-Identifier: BSD-3-Clause
"""When the first waiting job has room on the machine in sum, and on no nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swftools.output.amounts import duration, percent
from swftools.parameters import Parameters, whole
from swftools.plots.of_schedules import clock_of, in_bins
from swftools.plots.picture import Picture, register_picture
from swftools.plots.resources import NO_NODES, NO_RUN
from swftools.plots.style import COLORS
from swftools.plots.utilization import draw_steps, told_bins
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.metrics.over_time_on_nodes import nodes_over_time
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class FragmentationParameters(Parameters):
    """How finely time is shown: a log of more steps than ``bins`` is shown in so many bins at most."""

    bins: int = whole(400, least=2, most=100_000)


@register_picture
class Fragmentation(Picture):
    """The share of the time in which the first waiting job has room in sum on its partition's nodes, and on no nodes.

    ``nodes_over_time`` says what that is. Longer logs are shown by their means over an hour, a day and so on.
    """

    name = "fragmentation"
    of = Schedule
    title = "Fragmentation of the nodes"
    parameters = FragmentationParameters
    aspect = 0.42
    nothing = NO_RUN

    def nothing_of(self, subject: Schedule) -> str:
        """Return that there are no nodes, or that nothing ran."""
        return NO_NODES if subject.machine is None else NO_RUN

    def table(self, subject: Schedule, chosen: FragmentationParameters) -> pd.DataFrame:
        """Return a row for each step or bin.

        ``begin`` and ``end``, s from the start of the log, ``fragmentation``, the share of the time, ``log_start``,
        UNIX time in s, missing where it is not known, and ``log_zone``, its zone's name.
        """
        columns = ("begin", "end", "fragmentation", "log_start", "log_zone")
        steps = nodes_over_time(subject) if subject.machine is not None else pd.DataFrame()
        if len(steps) < 2:
            return pd.DataFrame({name: [] for name in columns})
        table = in_bins(column_of(steps, "time"), column_of(steps, "fragmentation"), chosen.bins)
        table = table.rename(columns={"mean": "fragmentation"}).assign(**clock_of(subject, subject.jobs))
        return table[list(columns)]

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: FragmentationParameters) -> None:
        """Draw the shares, and their mean over all time."""
        draw_steps(axes, table, 100 * table["fragmentation"])
        mean = 100 * _mean_of(table)
        axes.axhline(mean, color=COLORS[1], linestyle="--")
        axes.text(1.0, 1.0, f"mean {mean:.3g} %", ha="right", va="bottom", transform=axes.transAxes)
        axes.set(ylabel="time fragmented, %", ylim=(0, 105))

    def tell(self, table: pd.DataFrame, chosen: FragmentationParameters) -> str:
        """Return the mean, over how long, and the bins."""
        whole_time = float(table["end"].iloc[-1] - table["begin"].iloc[0])
        return (
            f"in {percent(_mean_of(table), digits=1)} of {duration(whole_time)} the first waiting job has room in sum "
            f"and not on nodes{told_bins(table)}"
        )


def _mean_of(table: pd.DataFrame) -> float:
    """Return the mean over all time."""
    return float(np.average(table["fragmentation"], weights=table["end"] - table["begin"]))

# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs wait: by their width and run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from swftools.output.amounts import counted, duration
from swftools.parameters import Parameters, choice
from swftools.plots.of_schedules import by_size, draw_sizes, with_size
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import amounts_norm
from swftools.plots.style import duration_axis
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class WaitBySizeParameters(Parameters):
    """What is taken of the waits of a class."""

    statistic: str = choice("mean", "median")


@register_picture
class WaitBySize(Picture):
    """The mean or median wait of jobs by the processors they had and how long they ran; white where there is none."""

    name = "wait-by-size"
    of = Schedule
    title = "Waits by size"
    parameters = WaitBySizeParameters
    aspect = 0.55
    nothing = "no job that ran"

    def table(self, subject: Schedule, chosen: WaitBySizeParameters) -> pd.DataFrame:
        """Return a row for each class: ``width`` and ``run_time``, in words, ``jobs``, and their ``wait``, s.

        The wait of a class without jobs is missing.
        """
        jobs = with_size(subject.jobs, "wait_time")
        return by_size(jobs, {"wait": (column_of(jobs, "wait_time"), chosen.statistic)})

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: WaitBySizeParameters) -> None:
        """Draw a cell for each class, with its wait."""
        shown = table.assign(wait=table["wait"].clip(lower=0.0))
        norm = amounts_norm(shown["wait"], 60.0)  # a minute more or less is none
        mesh = draw_sizes(axes, shown, "wait", norm, _in_cell)
        figure = axes.get_figure()
        if figure is not None:
            bar = figure.colorbar(mesh, ax=axes, label=f"{chosen.statistic} wait")
            duration_axis(bar.ax, "y")

    def tell(self, table: pd.DataFrame, chosen: WaitBySizeParameters) -> str:
        """Return the classes with the longest and the shortest waits."""
        known = table.dropna(subset=["wait"])
        waits = known["wait"].to_numpy()
        longest, shortest = known.iloc[int(waits.argmax())], known.iloc[int(waits.argmin())]
        return (
            f"{chosen.statistic} waits of {counted(int(table['jobs'].sum()), 'job')}; the longest, "
            f"{duration(float(longest['wait']))}, {_class_of(longest)}; the shortest, "
            f"{duration(float(shortest['wait']))}, {_class_of(shortest)}"
        )


def _in_cell(value: float) -> str:
    """Return a time in two lines with two digits, which is what a cell has room for."""
    number, unit = duration(value).split()
    return f"{float(number):.2g}\n{unit}" if float(number) < 100 else f"{float(number):.0f}\n{unit}"


def _class_of(row: pd.Series[Any]) -> str:
    """Return a class in words."""
    width = counted(1, "processor") if row["width"] == "1" else f"{row['width']} processors"
    return f"is that of {counted(row['jobs'], 'job')} on {width} that run {row['run_time']}"

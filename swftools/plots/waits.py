# SPDX-License-Identifier: BSD-3-Clause
"""How long jobs wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from swftools.plots.picture import NoParameters, Picture, register_picture
from swftools.plots.style import duration, duration_axis
from swftools.plots.survival import draw_survival, survival, thin_durations, value_at
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@register_picture
class Waits(Picture):
    """Which share of the jobs waits at least so long, on logarithmic axes; waits are those of ``measure``.

    Waits below one second are left of the picture: where the curve begins is the share of the others.
    """

    name = "waits"
    of = Schedule
    title = "Waits"
    aspect = 0.6
    nothing = "no job that started"

    def table(self, subject: Schedule, chosen: NoParameters) -> pd.DataFrame:
        """Return ``wait``, s, rising, ``jobs``, those that wait at least so long, and their ``share``."""
        return survival(column_of(subject.jobs, "wait_time"), "wait")

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: NoParameters) -> None:
        """Draw the curve."""
        draw_survival(axes, table, 1.0, duration)
        duration_axis(axes, "x")
        thin_durations(axes.xaxis)
        axes.set_xlabel("wait")

    def tell(self, table: pd.DataFrame, chosen: NoParameters) -> str:
        """Return who waits at all, the median, the 90 % and the longest wait."""
        jobs = int(table["jobs"].iloc[0])
        waiting = float(table["share"][table["wait"] > 0].max()) if (table["wait"] > 0).any() else 0.0
        return (
            f"{waiting:.1%} of {jobs:,} jobs wait; median {duration(value_at(table, 0.5))}, 90 % wait no longer than "
            f"{duration(value_at(table, 0.1))}, the longest {duration(float(table['wait'].iloc[-1]))}"
        )

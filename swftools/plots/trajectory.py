# SPDX-License-Identifier: BSD-3-Clause
"""With which probability a job starts in time, over the times at which it may be submitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swftools.output.amounts import duration
from swftools.parameters import Parameters, number
from swftools.plots.picture import Picture, register_picture
from swftools.plots.series import legend_above
from swftools.plots.style import COLORS, duration_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICKS = (60.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0, 86_400.0, 604_800.0)
"""Seconds between two ticks: the first by which there are few."""


@dataclass(frozen=True)
class TrajectoryParameters(Parameters):
    """The probability that is asked for; none by default."""

    probability: float | None = number(None, above=0, most=1, optional=True)


@register_picture
class TrajectoryPicture(Picture):
    """The probability that a job has started when it is to run, over the time of its submission before that.

    It is of ``plan_reservation(...).trajectory.table()``. It jumps where a shorter request belongs to another cluster
    of jobs. A line shows the probability that is asked for, and a mark the latest submission that meets it.

    References
    ----------
    Nurmi 2009, Figure 5.4.
    """

    name = "trajectory"
    of = pd.DataFrame
    columns = ("submit_time", "requested_time", "probability", "is_possible", "start_time")
    title = "Probability of a start in time, by submission"
    parameters = TrajectoryParameters
    aspect = 0.5
    nothing = "no time of submission"

    def table(self, subject: pd.DataFrame, chosen: TrajectoryParameters) -> pd.DataFrame:
        """Return a row for each time of submission, with how long that is before the start, s."""
        kept = subject.loc[subject["is_possible"].astype(bool), list(self.columns)]
        met = kept["probability"] >= (chosen.probability or 0.0) - 1e-9
        ahead = kept["start_time"] - kept["submit_time"]
        return kept.assign(ahead=ahead, is_met=met).sort_values("ahead", ascending=False).reset_index(drop=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: TrajectoryParameters) -> None:
        """Draw the probability from the first submission to the last before the start."""
        axes.plot(table["ahead"], table["probability"], drawstyle="steps-post", color=COLORS[0])
        axes.set(ylim=(0.0, 1.0), xlim=(float(table["ahead"].max()), 0.0))
        duration_axis(axes, "x", is_log=False)
        from matplotlib.ticker import MultipleLocator  # noqa: PLC0415 (an extra)

        longest = float(table["ahead"].max())
        axes.xaxis.set_major_locator(MultipleLocator(next((each for each in TICKS if longest / each <= 8), TICKS[-1])))
        axes.set(xlabel="submitted so long before the start", ylabel="probability of a start in time")
        if chosen.probability is not None:
            axes.axhline(chosen.probability, color="black", linestyle=":", linewidth=1.0, label="asked for")
            taken = table[table["is_met"]].tail(1)
            axes.plot(taken["ahead"], taken["probability"], "o", color=COLORS[1], label="submission that is taken")
            legend_above(axes)

    def tell(self, table: pd.DataFrame, chosen: TrajectoryParameters) -> str:
        """Return the greatest probability, and the latest submission that meets what is asked for."""
        best = table.loc[np.flatnonzero(table["probability"] == table["probability"].max())[-1]]
        told = f"at most {best['probability']:.2f}, by a submission {duration(best['ahead'])} before the start"
        if chosen.probability is None:
            return told
        taken = table[table["is_met"]].tail(1)
        if taken.empty:
            return f"{told}; no submission meets {chosen.probability:g}"
        row = taken.iloc[0]
        return (
            f"{told}; the latest that meets {chosen.probability:g} is {duration(row['ahead'])} before it, requesting "
            f"{duration(row['requested_time'])}"
        )

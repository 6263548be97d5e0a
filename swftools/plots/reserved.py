# SPDX-License-Identifier: BSD-3-Clause
"""How often reservations by predicted waits are met, over the share of the jobs that reserve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.plots.picture import NoParameters, Picture, register_picture
from swftools.plots.series import legend_above, look_at, share_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@register_picture
class Reserved(Picture):
    """The share of accepted reservations that were met, over the share of the jobs that ask, a curve for each target.

    It is of a table with a row for each simulation: ``share``, the ``target`` probability, and ``accepted`` and ``met``
    as ``ReservedSchedule.measures`` has them. A curve below the dotted line of its colour breaks its promise. Bars are
    intervals that have the true share with confidence .95, if reservations were independent.
    """

    name = "reserved"
    of = pd.DataFrame
    columns = ("share", "target", "accepted", "met")
    title = "Reservations that were met, by the share of jobs that ask"
    aspect = 0.6
    nothing = "no reservation was accepted"

    def table(self, subject: pd.DataFrame, chosen: NoParameters) -> pd.DataFrame:
        """Return a row for each simulation in which reservations were accepted, with the interval of the share."""
        rows = subject[list(self.columns)].astype("float64")
        rows = rows[(rows["accepted"] > 0) & rows["met"].notna()].sort_values(["target", "share"], kind="stable")
        low, high = share_interval(rows["met"].to_numpy(), rows["accepted"].to_numpy())
        return rows.assign(low=low, high=high).reset_index(drop=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: NoParameters) -> None:
        """Draw a curve and a line for each target."""
        for place, target in enumerate(sorted(table["target"].unique().tolist())):
            part = table[table["target"] == target]
            look: dict[str, Any] = look_at(place)
            error = np.maximum([part["met"] - part["low"], part["high"] - part["met"]], 0.0)
            axes.errorbar(part["share"], part["met"], yerr=error, label=f"{target:g} asked for", elinewidth=0.8, **look)
            axes.axhline(target, color=look["color"], linestyle=":", linewidth=1.0)
        axes.set(xlabel="share of jobs that ask for a reservation", ylabel="share met", ylim=(0.0, 1.02))
        legend_above(axes)

    def tell(self, table: pd.DataFrame, chosen: NoParameters) -> str:
        """Return of each target up to which share of the jobs it was met."""
        told = []
        for target, part in table.groupby("target", sort=True):
            broken = part.loc[part["high"] < target, "share"]
            told.append(
                f"{target:g}: below by more than chance from {broken.min():.0%} of the jobs on"
                if len(broken)
                else f"{target:g}: nowhere below by more than chance"
            )
        return "; ".join(told)

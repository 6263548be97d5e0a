# SPDX-License-Identifier: BSD-3-Clause
"""How often reservations by predicted waits are met, and what they do to others, over the share that reserves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.output.amounts import percent
from swftools.parameters import Parameters, choice
from swftools.plots.picture import Picture, register_picture
from swftools.plots.series import legend_above, look_at, share_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WAITS = ("others_mean_wait", "others_mean_wait_plain")
"""Columns that the waits of the others are of."""


@dataclass(frozen=True)
class ReservedParameters(Parameters):
    """What is drawn: the share ``met``, or what becomes of the waits of ``others``."""

    shows: str = choice("met", "others")


@register_picture
class Reserved(Picture):
    """The share of accepted reservations that were met, over the share of the jobs that ask, a curve for each target.

    It is of a table with a row for each simulation: ``share``, the ``target`` probability, and ``accepted`` and ``met``
    as ``ReservedSchedule.measures`` has them. A curve below the dotted line of its colour breaks its promise. Bars are
    intervals that have the true share with confidence .95, if reservations were independent.

    With ``shows="others"`` it is the mean wait of the jobs without a reservation, divided by that of the same jobs
    where nobody reserves: ``others_mean_wait`` and ``others_mean_wait_plain``. Above the line they wait longer.
    """

    name = "reserved"
    of = pd.DataFrame
    columns = ("share", "target", "accepted", "met")
    title = "Reservations, by the share of jobs that ask"
    parameters = ReservedParameters
    aspect = 0.6
    nothing = "no reservation was accepted"

    def table(self, subject: pd.DataFrame, chosen: ReservedParameters) -> pd.DataFrame:
        """Return a row for each simulation that accepted any: the interval of the share, or the ratio of waits."""
        of_others = chosen.shows == "others"
        if of_others and (missing := [name for name in WAITS if name not in subject]):
            raise ParameterError(f"picture reserved: the table lacks the columns {', '.join(missing)}")
        rows = subject[[*self.columns, *(WAITS if of_others else ())]].astype("float64")
        rows = rows[(rows["accepted"] > 0) & rows["met"].notna()].sort_values(["target", "share"], kind="stable")
        if of_others:
            rows = rows[rows[WAITS[1]] > 0]
            return rows.assign(ratio=rows[WAITS[0]] / rows[WAITS[1]]).reset_index(drop=True)
        low, high = share_interval(rows["met"].to_numpy(), rows["accepted"].to_numpy())
        return rows.assign(low=low, high=high).reset_index(drop=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: ReservedParameters) -> None:
        """Draw a curve for each target, and a line: of the target, or of waits that are as they were."""
        of_others = chosen.shows == "others"
        for place, target in enumerate(sorted(table["target"].unique().tolist())):
            part = table[table["target"] == target]
            look: dict[str, Any] = look_at(place)
            label = f"{target:g} asked for"
            if of_others:
                axes.plot(part["share"], part["ratio"], label=label, **look)
                continue
            error = np.maximum([part["met"] - part["low"], part["high"] - part["met"]], 0.0)
            axes.errorbar(part["share"], part["met"], yerr=error, label=label, elinewidth=0.8, **look)
            axes.axhline(target, color=look["color"], linestyle=":", linewidth=1.0)
        axes.set(xlabel="share of jobs that ask for a reservation", xlim=(0.0, 1.0))
        if of_others:
            axes.axhline(1.0, color="black", linestyle=":", linewidth=1.0)
            axes.set(ylabel="mean wait of the others\n/ without reservations", ylim=(0.0, None))
        else:
            axes.set(ylabel="share met", ylim=(0.0, 1.02))
        legend_above(axes)

    def tell(self, table: pd.DataFrame, chosen: ReservedParameters) -> str:
        """Return of each target up to which share of the jobs it was met, or what others waited."""
        told = []
        for target, part in table.groupby("target", sort=True):
            if chosen.shows == "others":
                least, most = part["ratio"].min(), part["ratio"].max()
                told.append(f"{target:g}: the others wait {least:.2f} to {most:.2f} times as long as without any")
                continue
            promised = float(part["target"].iloc[0])
            broken = part.loc[part["high"] < target, "share"]
            told.append(
                f"{percent(promised)} promised, and kept less often from {percent(broken.min())} of the jobs on"
                if len(broken)
                else f"{percent(promised)} promised, and kept as often whatever share of the jobs asks"
            )
        return "; ".join(told)

# SPDX-License-Identifier: BSD-3-Clause
"""How inaccurate requested times are, group by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swftools.estimates import GROUPINGS, study_estimates
from swftools.output.amounts import percent
from swftools.parameters import Parameters, choice, whole
from swftools.plots.picture import Picture, register_picture
from swftools.plots.style import COLORS, name_of
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class InaccuracyParameters(Parameters):
    """By what jobs are put into groups, and of how many groups there are bars: those of most jobs."""

    by: str = choice(*GROUPINGS, default="requested-time")
    most: int = whole(12, least=1, most=50)


@register_picture
class Inaccuracy(Picture):
    """Mean inaccuracy of the requests of each group, |requested - run time| / requested; a line between its quartiles.

    Which jobs are left out ``swftools.estimates`` says.
    """

    name = "inaccuracy"
    of = Trace
    title = "Inaccuracy of requested times"
    parameters = InaccuracyParameters
    aspect = 0.6
    nothing = "no job whose requested time and run time are known"

    def table(self, subject: Trace, chosen: InaccuracyParameters) -> pd.DataFrame:
        """Return a row a group, as ``study_estimates`` sorts them: ``group``, ``jobs``, ``mean``, ``p25``, ``p75``."""
        found = study_estimates(subject).inaccuracy
        rows = found[found["grouped_by"] == chosen.by]
        kept = rows["jobs"].rank(method="first", ascending=False) <= chosen.most
        return rows.loc[kept, ["group", "jobs", "mean", "p25", "p75"]].reset_index(drop=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: InaccuracyParameters) -> None:
        """Draw a bar a group."""
        place = np.arange(len(table))
        axes.barh(place, 100 * table["mean"], height=0.6, color=COLORS[0])
        axes.hlines(place, 100 * table["p25"], 100 * table["p75"], color="black", linewidth=1.2)
        axes.set_yticks(place, [name_of(each) for each in table["group"]])
        axes.set(xlabel="inaccuracy, %", ylabel=chosen.by.replace("-", " "), xlim=(0, None))
        axes.set_ylim(len(table) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")

    def tell(self, table: pd.DataFrame, chosen: InaccuracyParameters) -> str:
        """Return the groups with the most and the least accurate requests."""
        if len(table) == 1:
            return f"{self._group(table, 0, chosen)}, the only one shown"
        worst, best = int(table["mean"].to_numpy().argmax()), int(table["mean"].to_numpy().argmin())
        return f"largest for {self._group(table, worst, chosen)}, least for {self._group(table, best, chosen)}"

    @staticmethod
    def _group(table: pd.DataFrame, row: int, chosen: InaccuracyParameters) -> str:
        """Return a group in words, with its mean."""
        what = chosen.by.replace("-", " ")
        return f"{what} {name_of(table['group'].iloc[row])} ({percent(table['mean'].iloc[row], digits=1)} in the mean)"

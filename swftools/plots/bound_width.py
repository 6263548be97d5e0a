# SPDX-License-Identifier: BSD-3-Clause
"""How wide bounds of waits are, queue by queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.plots.picture import Picture, register_picture
from swftools.plots.series import and_more, legend_above, look_at, queue_axis
from swftools.plots.style import count_axis, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUEUES = 20
"""Those that are drawn: of most waits."""


@register_picture
class Tightness(Picture):
    """How many times the wait the bounds were, of each method and queue: a dot at the median, a line to quantile .9.

    It is of what ``evaluate`` returns, with the grouping queue. Nearer to 1 is tighter. A dot is hollow where the
    method is not correct: a bound that is too low is tight for nothing. Of more than 20 queues those of most waits
    stand there.
    """

    name = "tightness"
    of = pd.DataFrame
    columns = ("method", "grouped_by", "group", "predicted", "median_tightness", "p90_tightness", "is_correct")
    title = "Bounds by their waits"
    aspect = 0.6
    nothing = "no queue with a wait that is known of a job that was told a bound"

    def table(self, subject: pd.DataFrame, chosen: Any) -> pd.DataFrame:
        """Return a row for each method and queue: the waits, bound / wait, and whether the method is correct."""
        rows = subject[subject["grouped_by"] == "queue"]
        if rows.empty and len(subject):
            raise ParameterError("picture tightness: no rows by queue: evaluate(..., grouped_by=['queue'])")
        names = {"group": "queue", "predicted": "waits", "median_tightness": "median", "p90_tightness": "p90"}
        rows = rows.rename(columns=names)[["method", *names.values(), "is_correct"]].dropna(subset=["median"])
        most = rows.groupby("queue", sort=False)["waits"].max().nlargest(QUEUES).index
        return rows[rows["queue"].isin(most)].reset_index(drop=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw a place a queue, with the methods side by side."""
        queues, methods = table["queue"].unique().tolist(), table["method"].unique().tolist()
        for number, method in enumerate(methods):
            part, look = table[table["method"] == method], look_at(number)
            side = 0.8 * (number + 0.5) / len(methods) - 0.4
            place = np.array([queues.index(queue) for queue in part["queue"]]) + side
            correct = part["is_correct"].fillna(False).to_numpy(dtype=bool)
            axes.vlines(place, part["median"], part["p90"], color=look["color"], linewidth=1.2)
            for is_correct, face in ((True, look["color"]), (False, "white")):
                at = correct == is_correct
                dots = {"markerfacecolor": face, "color": look["color"], "marker": look["marker"], "linestyle": ""}
                axes.plot(place[at], part["median"][at], markersize=5, **dots)
            axes.plot([], [], color=look["color"], marker=look["marker"], markersize=5, label=name_of(method))
        if not table["is_correct"].fillna(False).all():
            dots = {"markerfacecolor": "white", "color": "grey", "marker": "o", "linestyle": ""}
            axes.plot([], [], label="hollow: not correct", **dots)
        axes.set(yscale="log", ylabel="bound / wait")
        axes.axhline(1.0, color="black", linestyle=":", linewidth=1.0)
        count_axis(axes, "y")
        queue_axis(axes, queues)
        legend_above(axes)

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return of each method how many queues it is correct in, and the medians."""
        told = []
        for method, part in table.groupby("method", sort=False):
            correct = int(part["is_correct"].fillna(False).sum())
            low, high = (_number(part["median"].agg(how)) for how in ("min", "max"))
            told.append(
                f"{name_of(method)} is correct in {correct} of {len(part)} queues, "
                f"its median bound {low} to {high} times the wait"
            )
        return and_more(told)


def _number(value: float) -> str:
    """Return a number as it is written."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"

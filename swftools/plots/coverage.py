# SPDX-License-Identifier: BSD-3-Clause
"""How often bounds of waits were right, month by month: of an evaluation, or of a history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.output.amounts import counted
from swftools.parameters import Parameters, number, text
from swftools.plots.picture import Picture, register_picture
from swftools.plots.series import and_more, is_month, legend_above, look_at, middle_of_months, share_interval
from swftools.plots.style import name_of, time_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 6
"""Months up to which each has its name on the axis."""

FEWEST = 20
"""Waits from which on a month sets the axis: of fewer its share is chance, and its interval most of the axis."""

_APART = 1.5  # days between the points of two methods in a month, so that none hides another's interval


@dataclass(frozen=True)
class CoverageParameters(Parameters):
    """What the bounds are meant to be of, and of which queue of a history; of all together by default."""

    quantile: float = number(0.95, above=0, most=1)
    queue: str | None = text(None)


@register_picture
class Coverage(Picture):
    """The share of waits within the bound by month of submission, a line a method, and the share that is meant.

    It is of what ``evaluate`` returns, with the grouping month, or of the table ``wait_coverage`` of a history. Bars
    are intervals that have the true share with confidence .95, if waits were independent. Months of fewer than 20 waits
    do not set the axis; one that lies below it is a grey triangle.
    """

    name = "coverage"
    of = pd.DataFrame
    columns = ("method",)
    title = "Waits within their bounds"
    parameters = CoverageParameters
    aspect = 0.6
    nothing = "no month with a wait that is known of a job that was told a bound"

    def table(self, subject: pd.DataFrame, chosen: CoverageParameters) -> pd.DataFrame:
        """Return a row for each method and month: the waits, the share within the bound, and its interval."""
        rows = _of_evaluation(subject, chosen) if "grouped_by" in subject else _of_history(subject, chosen)
        rows = rows[(rows["waits"] > 0) & rows["share"].notna()].astype({"waits": "int64", "share": "float64"})
        low, high = share_interval(rows["share"].to_numpy(), rows["waits"].to_numpy(dtype=np.float64))
        return rows.assign(low=low, high=high).reset_index(drop=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: CoverageParameters) -> None:
        """Draw a line a method."""
        times, start = middle_of_months(table["month"])
        methods = table["method"].unique()
        axes.axhline(chosen.quantile, color="black", linestyle=":", linewidth=1.0)
        for place, method in enumerate(methods):
            mine = (table["method"] == method).to_numpy()
            part, apart = table[mine], _APART * (place - (len(methods) - 1) / 2)
            error = [part["share"] - part["low"], part["high"] - part["share"]]
            label, look = name_of(method), look_at(place)
            axes.errorbar(
                times[mine] + apart, part["share"], yerr=error, label=label, markersize=4, elinewidth=0.8, **look
            )
        lowest = _lowest(table, chosen)
        axes.set(ylabel="share within the bound", ylim=(lowest, 1.0 + 0.05 * (1.0 - lowest)))
        below = (table["share"] < lowest).to_numpy()
        axes.plot(times[below], np.full(below.sum(), lowest), "v", color="grey", markersize=6, clip_on=False)
        meant = f"meant: {chosen.quantile:g}"
        axes.plot([], [], color="black", linestyle=":", linewidth=1.0, label=meant)
        time_axis(axes, start)
        months = dict(zip(table["month"], times, strict=True))
        if len(months) == 1:  # of one point an axis of dates would be of four years
            axes.set_xlim(times[0] - 30, times[0] + 30)
        if start is not None and len(months) <= FEW:
            axes.set_xticks(list(months.values()), list(months))
            axes.set_xlabel("month (UTC)")
        legend_above(axes, last=meant)

    def tell(self, table: pd.DataFrame, chosen: CoverageParameters) -> str:
        """Return of each method the share in all months, and the worst month."""
        told = []
        for method, part in table.groupby("method", sort=False):
            share = float(np.average(part["share"], weights=part["waits"]))
            worst = part.iloc[int(part["share"].to_numpy().argmin())]
            told.append(
                f"{name_of(method)} {share:.3f} of {counted(int(part['waits'].sum()), 'wait')}, "
                f"least in {worst['month']} ({worst['share']:.3f})"
            )
        return f"{chosen.quantile:g} is meant; {and_more(told)}"


def _lowest(table: pd.DataFrame, chosen: CoverageParameters) -> float:
    """Return where the axis of shares begins: below the intervals of all months with waits enough."""
    many = table[table["waits"] >= FEWEST]
    lowest = min(float((table if many.empty else many)["low"].min()), chosen.quantile)
    return lowest - 0.05 * (1.0 - lowest)


def _of_evaluation(subject: pd.DataFrame, chosen: CoverageParameters) -> pd.DataFrame:
    """Return what an evaluation has by month."""
    if chosen.queue is not None:
        raise ParameterError("picture coverage: an evaluation has no months of one queue; evaluate the queue by itself")
    rows = subject[subject["grouped_by"] == "month"]
    if rows.empty and len(subject):
        raise ParameterError("picture coverage: no rows by month: evaluate(..., grouped_by=['month'])")
    names = {"group": "month", "predicted": "waits", "correctness": "share"}
    return rows.rename(columns=names)[["method", *names.values()]]


def _of_history(subject: pd.DataFrame, chosen: CoverageParameters) -> pd.DataFrame:
    """Return what a history has by month; other periods of its table overlap with them."""
    needed = ("period", "queue", "known", "coverage")
    if missing := [name for name in needed if name not in subject]:
        raise ParameterError(
            f"picture coverage: the table is no evaluation (grouped_by), nor of a history (no {', '.join(missing)})"
        )
    queue, queues = chosen.queue or "all", subject["queue"].unique().tolist()
    if queue not in queues and len(subject):
        raise ParameterError(f"picture coverage: no queue {queue!r}; there are: {', '.join(map(name_of, queues))}")
    rows = subject[(subject["queue"] == queue) & is_month(subject["period"])]
    names = {"period": "month", "known": "waits", "coverage": "share"}
    return rows.rename(columns=names)[["method", *names.values()]].sort_values("month", kind="stable")

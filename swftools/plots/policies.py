# SPDX-License-Identifier: BSD-3-Clause
"""One metric of several policies, with intervals over seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.output.amounts import amount
from swftools.parameters import Parameters, text
from swftools.plots.over_seeds import COLUMNS, METRIC, interval, rows_of_metric, value_axis, words_of, worse_of
from swftools.plots.picture import Picture, register_picture
from swftools.plots.style import look_of, name_of
from swftools.simulator.measure_definitions import HIGHER

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class PoliciesParameters(Parameters):
    """Measure and statistic that are shown: bounded_slowdown_mean, wait_p98, utilization_time_mean, makespan."""

    metric: str = text(METRIC)


@register_picture
class Policies(Picture):
    """One metric of each policy: the mean over seeds, and its 95 % interval by Student's t where there are several.

    Of several logs, which a column ``log`` tells apart, there is a point each.
    """

    name = "policies"
    of = pd.DataFrame
    columns = COLUMNS
    title = "Policies"
    parameters = PoliciesParameters
    nothing = "no value of this metric"

    def table(self, subject: pd.DataFrame, chosen: PoliciesParameters) -> pd.DataFrame:
        """Return a row for each log and policy, in their order: ``seeds``, ``mean``, ``low``, ``high`` and ``unit``.

        ``mean`` is that over the seeds and ``low`` and ``high`` are the ends of its interval, in the unit of the
        metric; the ends are missing of a single seed. ``log`` is empty where the table has none.
        """
        rows = rows_of_metric(subject, chosen.metric)
        table = [
            (log, policy, len(each), *interval(each["value"].to_numpy()), str(each["unit"].iloc[0]))
            for (log, policy), each in rows.groupby(["log", "policy"], sort=False)
        ]
        return pd.DataFrame(table, columns=["log", "policy", "seeds", "mean", "low", "high", "unit"])

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: PoliciesParameters) -> None:
        """Draw a point each, with its interval."""
        labels = []
        unit = str(table["unit"].iloc[0])
        each: Any = table.itertuples()
        for place, row in enumerate(each):
            look = {name: value for name, value in look_of(row.policy).items() if name != "linestyle"}
            draw_point(axes, place, row.mean, row.low, row.high, look)
            labels.append(name_of(row.policy) + (f", {name_of(row.log)}" if row.log else ""))
        axes.set_yticks(range(len(labels)), labels)
        axes.set(ylim=(len(labels) - 0.5, -0.5), xlabel=words_of(chosen.metric, "" if unit == "s" else unit))
        axes.grid(visible=False, axis="y")
        least, most = (float(of(table[["mean", "low", "high"]].to_numpy())) for of in (np.nanmin, np.nanmax))
        if 0 <= least < most / 2:
            axes.set_xlim(0, 1.05 * most)
        else:  # from 0 on, what differs little would lie on one spot
            axes.margins(x=0.1)
        value_axis(axes, unit)

    def tell(self, table: pd.DataFrame, chosen: PoliciesParameters) -> str:
        """Return which policy is best and worst, where the metric says which way is better."""
        unit = str(table["unit"].iloc[0])
        parts = []
        for log, rows in table.groupby("log", sort=False):
            ordered: Any = rows.sort_values("mean", kind="stable").itertuples()
            ends = [f"{name_of(row.policy)} ({amount(row.mean, unit)})" for row in ordered]
            where = f"on {name_of(log)} " if log else ""
            parts.append(f"{where}from {ends[0]} to {ends[-1]}" if len(ends) > 1 else f"{where}{ends[0]}")
        seeds = int(table["seeds"].max())
        way = {"": "", HIGHER: "; lower is better"}.get(worse_of(chosen.metric), "; higher is better")
        means = f", means of {seeds} seeds" if seeds > 1 else ""
        return f"{words_of(chosen.metric, '')} {'; '.join(parts)}{means}{way}"


def draw_point(axes: Axes, place: float, mean: float, low: float, high: float, look: dict[str, object]) -> None:
    """Draw a mean and, where it is known, its interval in a row."""
    if not np.isnan(low):
        axes.plot([low, high], [place, place], color=str(look["color"]), linestyle="-", marker="|")
    axes.plot(mean, place, linestyle="", **look)  # type: ignore[arg-type]

# SPDX-License-Identifier: BSD-3-Clause
"""How far the workload has drifted, statistic by statistic, beside the limits: of a night, or of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.drift.registry import DIFFERENCE, DISTANCE, RATIO, list_drift_statistics
from swftools.output.shown_text import shown
from swftools.plots.picture import Picture, register_picture
from swftools.plots.series import and_more, is_wide, legend_above, look_at, seconds_of, text_size
from swftools.plots.style import COLORS, count_axis, name_of, time_axis, times_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES, LINES_OF_COLUMN = 5, 3
"""Statistics that have a line of their own over the nights, on a screen and in a column: those that came farthest."""


@register_picture
class Drift(Picture):
    """Each statistic of drift as a share of its limit: 1 is at the limit, more is told.

    It is of the table ``workload_drift`` of a history, a bar a statistic; or of the tables of several versions, put
    together with a column ``night`` of their dates: then it is a line a statistic. Of a ratio it is its logarithm that
    is compared, so that half is as far as twice. A statistic without a limit, or without a value, is left out.
    """

    name = "drift"
    of = pd.DataFrame
    columns = ("aspect", "statistic", "drift", "threshold")
    title = "Drift of the workload"
    aspect = 0.6
    nothing = "no statistic with a value and a limit"

    def table(self, subject: pd.DataFrame, chosen: Any) -> pd.DataFrame:
        """Return a row for each statistic and night: its drift, its limit, and the one as a share of the other."""
        kept = [*(["night"] if "night" in subject else []), *self.columns]
        rows = subject[kept].dropna(subset=["drift", "threshold"]).reset_index(drop=True)
        if "night" in rows:
            rows["night"] = pd.to_datetime(rows["night"], utc=True)
            rows = rows.sort_values("night", kind="stable").reset_index(drop=True)
        names = zip(rows["statistic"], rows["drift"].astype(float), rows["threshold"].astype(float), strict=True)
        return rows.assign(of_limit=[of_limit(*each) for each in names])

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw bars of one night, lines of several."""
        if "night" in table and table["night"].nunique() > 1:
            _draw_nights(axes, table)
        else:
            _draw_one(axes, table)

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return what is beyond its limit, in the last night where there are several."""
        last, when = table, ""
        if "night" in table:
            night = table["night"].max()
            last, when = table[table["night"] == night], f" in the night of {night:%Y-%m-%d}"
        beyond = last[last["of_limit"] > 1].sort_values("of_limit", ascending=False, kind="stable")
        told = f"{len(beyond)} of {len(last)} statistics are beyond their limits{when}"
        if beyond.empty:
            return told
        each = [
            f"{_name(aspect, statistic)} {drift:.3g} (limit {threshold:.3g})"
            for aspect, statistic, drift, threshold in beyond[list(Drift.columns)].itertuples(index=False)
        ]
        return f"{told}: {and_more(each)}"


def of_limit(statistic: str, drift: float, threshold: float) -> float:
    """Return a drift as a share of its limit, above 1 where it is told; infinite of a ratio of 0.

    Examples
    --------
    >>> of_limit("ratio_of_means", 0.5, 2.0), of_limit("difference_of_means", -0.03, 0.12)
    (1.0, 0.25)
    """
    known = list_drift_statistics()
    form = known[statistic].form if statistic in known else DISTANCE
    if form == RATIO:
        far, limit = abs(np.log(drift)) if drift > 0 else np.inf, abs(np.log(threshold)) if threshold > 0 else 0.0
    else:
        far, limit = abs(drift) if form == DIFFERENCE else drift, threshold
    if limit == 0:
        return np.inf if far > 0 else 0.0
    return float(far / limit)


def _draw_one(axes: Axes, table: pd.DataFrame) -> None:
    """Draw a bar a statistic, the farthest above; what has no end ends at the edge."""
    rows = table.sort_values("of_limit", ascending=False, kind="stable")
    most = max(1.2, 1.1 * float(rows["of_limit"].replace(np.inf, np.nan).max(skipna=True) or 0.0))
    shown = rows["of_limit"].clip(upper=most)
    axes.barh(range(len(rows)), shown, height=0.7, color=np.where(rows["of_limit"] > 1, COLORS[1], COLORS[0]))
    names = [_name(aspect, statistic) for aspect, statistic in zip(rows["aspect"], rows["statistic"], strict=True)]
    small = text_size(axes) * min(0.9, 14 / max(len(rows), 1))
    axes.set_yticks(range(len(rows)), names, fontsize=small)
    axes.axvline(1.0, color="black", linestyle=":", linewidth=1.0)
    axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(0, most), xlabel="share of the limit")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    count_axis(axes, "x")


def _draw_nights(axes: Axes, table: pd.DataFrame) -> None:
    """Draw a line a statistic over the nights."""
    finite = table.assign(of_limit=table["of_limit"].replace(np.inf, np.nan))
    groups: dict[Any, pd.DataFrame] = dict(iter(finite.groupby(["aspect", "statistic"], sort=False)))
    most = LINES if is_wide(axes) else LINES_OF_COLUMN
    farthest = sorted(groups, key=lambda key: -table.loc[groups[key].index, "of_limit"].max())[:most]
    for place, key in enumerate([*farthest, *(key for key in groups if key not in farthest)]):
        part = groups[key]
        times = times_of(seconds_of(part["night"]), 0.0)
        if place < most:
            axes.plot(times, part["of_limit"], label=_name(*key), markersize=4, **look_at(place))
        else:
            label = "others" if place == most else None
            axes.plot(times, part["of_limit"], label=label, color="#BBBBBB", linestyle="-", linewidth=0.8, zorder=1.5)
    axes.axhline(1.0, color="black", linestyle=":", linewidth=1.0)
    axes.set(ylabel="share of the limit", ylim=(0, None))
    time_axis(axes, 0.0)
    legend_above(axes)


def _name(aspect: object, statistic: object) -> str:
    """Return a statistic of an aspect in words."""
    name = f"{name_of(aspect)}: {shown(statistic)}".replace("_", " ")
    return name if len(name) <= 42 else f"{name[:40]}.."

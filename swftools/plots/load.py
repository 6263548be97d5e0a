# SPDX-License-Identifier: BSD-3-Clause
"""The load that jobs bring, week by week."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.header import zone_of
from swftools.offered_work import work_of_jobs
from swftools.output.amounts import duration
from swftools.parameters import Parameters, number
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import jobs_in_words, legend_above
from swftools.plots.style import COLORS, count_axis, time_axis, times_of
from swftools.trace import FloatArray, Trace, submit_timestamps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DAY = 86_400.0
_MOST_PERIODS = 3_000


@dataclass(frozen=True)
class LoadParameters(Parameters):
    """How long the periods are that load is told for."""

    days: float = number(7.0, least=1, unit="days")


@register_picture
class Load(Picture):
    """The offered load of each week: work submitted, over what the machine could do meanwhile.

    Work is width x run time; jobs without either bring none. Weeks are counted from the first submission. Where the
    machine's processors are not known, what is shown is the work itself, in processor-days per day.
    """

    name = "load"
    of = Trace
    title = "Offered load"
    parameters = LoadParameters
    aspect = 0.5
    nothing = "no work is known, or no time between submissions"

    def table(self, subject: Trace, chosen: LoadParameters) -> pd.DataFrame:
        """Return a row for each week.

        Its columns are ``start`` and ``end`` (s from the start of the log), ``date`` (of its start, in the log's zone;
        missing where the log does not say when it begins), ``jobs`` submitted, their ``work`` (processor-seconds), and
        ``load`` (missing where the machine's processors are not known). The last row ends with the last submission;
        what is left is joined to the week before if it is shorter than a day. Where a wrong date would make thousands
        of weeks, each row is several weeks long.
        """
        arrays = subject.arrays
        work = work_of_jobs(arrays.width, arrays.run_time)
        is_known = np.isfinite(arrays.submit_time)
        submit, work = arrays.submit_time[is_known], work[is_known]
        edges = _edges(submit, chosen.days * DAY) if np.isfinite(work).any() else np.empty(0)
        place = np.clip(np.searchsorted(edges, submit, side="right") - 1, 0, max(len(edges) - 2, 0))
        start, end = edges[:-1], edges[1:]
        sums = np.bincount(place, np.nan_to_num(work), minlength=len(start))[: len(start)]
        return pd.DataFrame(
            {
                "start": start,
                "end": end,
                "date": _dates(edges, subject),
                "jobs": np.bincount(place, minlength=len(start))[: len(start)],
                "work": sums,
                "load": sums / ((subject.processors or np.nan) * (end - start)),
            }
        )

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: LoadParameters) -> None:
        """Draw a step a week, and the mean."""
        is_load = table["load"].notna().all()
        heights = table["load"] if is_load else table["work"] / (table["end"] - table["start"])
        date = table["date"].iloc[0]
        start = None if pd.isna(date) else date.timestamp() - float(table["start"].iloc[0])
        edges = times_of([*table["start"], table["end"].iloc[-1]], start)
        look: dict[str, Any] = {"facecolor": f"{COLORS[0]}40", "edgecolor": COLORS[0], "linewidth": 0.8}
        axes.stairs(heights, edges, fill=True, label=_period(table), **look)
        axes.axhline(_mean(table, heights), color=COLORS[1], linestyle=(0, (5, 1.5)), label="mean")
        time_axis(axes, start, "UTC" if start is None else str(date.tzinfo))
        axes.set(xlim=(edges[0], edges[-1]), ylim=(0, None))
        if start is None:
            count_axis(axes, "x")
        count_axis(axes, "y")
        axes.set_ylabel("offered load" if is_load else "work per day,\nprocessor-days\n(machine unknown)")
        legend_above(axes)

    def tell(self, table: pd.DataFrame, chosen: LoadParameters) -> str:
        """Return the mean, and the weeks of most and of least."""
        length = table["end"] - table["start"]
        is_load = table["load"].notna().all()
        heights = table["load"] if is_load else table["work"] / length
        unit = "" if is_load else " processor-days per day"
        most, least = int(heights.to_numpy().argmax()), int(heights.to_numpy().argmin())
        jobs = jobs_in_words(int(table["jobs"].sum()))
        told = f"{_mean(table, heights):,.2f}{unit} over {duration(float(length.sum()))} ({jobs})"
        if len(table) == 1:
            return told
        return (
            f"{told}; by {_period(table)}, most {heights[most]:,.2f} from {_when(table, most)}, "
            f"least {heights[least]:,.2f} from {_when(table, least)}"
        )


def _edges(submit: FloatArray, period: float) -> FloatArray:
    """Return where periods begin and end, s; nothing without two submissions at different times."""
    if not submit.size or submit.min() == submit.max():
        return np.empty(0)
    first, span = float(submit.min()), float(np.ptp(submit))
    period *= max(1.0, np.ceil(span / period / _MOST_PERIODS))
    whole = int(span // period)
    edges = np.arange(whole + 1, dtype=np.float64) * period + first
    if whole and span - whole * period < DAY:
        edges[-1] = first + span
        return edges
    return np.append(edges, first + span)


def _dates(edges: FloatArray, subject: Trace) -> pd.Series[Any]:
    """Return the dates of all edges but the last; none at all if that one is behind the end of the calendar."""
    dates = submit_timestamps(pd.Series(edges, dtype="float64"), subject.header).dt.tz_convert(zone_of(subject.header))
    return dates.iloc[:-1] if dates.notna().all() else pd.Series(pd.NaT, index=dates.index[:-1], dtype=dates.dtype)


def _mean(table: pd.DataFrame, heights: pd.Series[Any]) -> float:
    """Return the mean over time: the last period may be shorter than the others."""
    length = table["end"] - table["start"]
    return float((heights * length).sum() / length.sum())


def _period(table: pd.DataFrame) -> str:
    """Return how long a period is, in words."""
    length = float(table["end"].iloc[0] - table["start"].iloc[0])
    return {7 * DAY: "week", DAY: "day"}.get(length, duration(length))


def _when(table: pd.DataFrame, row: int) -> str:
    """Return the date at which a period starts, or its day of the log."""
    date = table["date"].iloc[row]
    return f"day {table['start'].iloc[row] / DAY:,.0f} of the log" if pd.isna(date) else f"{date:%Y-%m-%d}"

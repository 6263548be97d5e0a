# SPDX-License-Identifier: BSD-3-Clause
"""What the jobs of a queue were told of their waits, and how long they waited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from swftools.errors import ParameterError
from swftools.output.amounts import counted, duration, percent
from swftools.parameters import Parameters, text
from swftools.plots.picture import Picture, register_picture
from swftools.plots.series import legend_above, seconds_of
from swftools.plots.style import COLORS, duration_axis, name_of, time_axis, times_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MANY = 5000
"""Points beyond which they are drawn as an image: so many marks make a picture of lines slow to open."""


@dataclass(frozen=True)
class ToldParameters(Parameters):
    """Of which queue, that of most jobs by default; and of which method, where there are several."""

    queue: str | None = text(None)
    method: str | None = text(None)


@register_picture
class BoundsVsWaits(Picture):
    """Waits of the jobs of a queue by submission, and the bounds that they were told, both on a logarithmic scale.

    It is of what ``replay`` returns. Waits and bounds below 1 s stand at 1 s.
    """

    name = "told"
    of = pd.DataFrame
    columns = ("method", "queue", "submit_time", "wait_time", "wait_bound")
    title = "Waits, and what jobs were told"
    parameters = ToldParameters
    aspect = 0.6
    nothing = "no job whose wait or bound is known"

    def table(self, subject: pd.DataFrame, chosen: ToldParameters) -> pd.DataFrame:
        """Return a row for each job of the queue: submission, wait, bound, and whether it waited longer."""
        if subject.empty:
            return subject[list(self.columns)].assign(is_beyond=[])
        mine = subject if chosen.method is None else subject[subject["method"] == chosen.method]
        methods = [name_of(method) for method in subject["method"].unique()]
        if mine.empty:
            raise ParameterError(f"picture told: no method {chosen.method!r}; there are: {', '.join(methods)}")
        if mine["method"].nunique() > 1:
            raise ParameterError(f"picture told: several methods: {', '.join(methods)}; choose one by method=")
        queue = chosen.queue if chosen.queue is not None else mine["queue"].value_counts(sort=True).index[0]
        jobs = mine[mine["queue"] == queue].sort_values("submit_time", kind="stable")
        if jobs.empty:
            queues = ", ".join(map(name_of, sorted(mine["queue"].unique())))
            raise ParameterError(f"picture told: no job is of queue {queue!r}; there are: {queues}")
        kept = [*self.columns, *(["submit_timestamp"] if "submit_timestamp" in jobs else [])]
        jobs = jobs.loc[jobs["wait_time"].notna() | jobs["wait_bound"].notna(), kept]
        is_beyond = (jobs["wait_time"] > jobs["wait_bound"]).fillna(False).astype(bool)
        return jobs.assign(is_beyond=is_beyond).reset_index(drop=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: ToldParameters) -> None:
        """Draw a mark a wait, and one a bound."""
        is_dated = "submit_timestamp" in table and bool(table["submit_timestamp"].notna().all())
        start = 0.0 if is_dated else None
        seconds = seconds_of(table["submit_timestamp"]) if is_dated else table["submit_time"].to_numpy(dtype=float)
        times = times_of(seconds, start)
        wait, bound = table["wait_time"].clip(lower=1.0), table["wait_bound"].clip(lower=1.0)
        beyond, is_many = table["is_beyond"].to_numpy(), len(table) > _MANY
        marks: Any = (
            (bound, bound.notna().to_numpy(), "bound", {"marker": "_", "color": "#888888", "markersize": 4}),
            (wait, ~beyond & wait.notna().to_numpy(), "wait", {"marker": ".", "color": COLORS[0], "markersize": 2.5}),
            (wait, beyond, "wait beyond the bound", {"marker": "x", "color": COLORS[1], "markersize": 4}),
        )
        for values, at, label, mark in marks:
            if at.any():
                axes.plot(times[at], values[at], linestyle="", label=label, rasterized=is_many, **mark)
        duration_axis(axes, "y")
        axes.set_ylabel(f"queue {name_of(table['queue'].iloc[0])}: wait")
        time_axis(axes, start)
        legend_above(axes)

    def tell(self, table: pd.DataFrame, chosen: ToldParameters) -> str:
        """Return how many waits were within their bounds, and the medians of both."""
        queue, method = name_of(table["queue"].iloc[0]), name_of(table["method"].iloc[0])
        both = table.dropna(subset=["wait_time", "wait_bound"])
        where = f"{method}, queue {queue}"
        if both.empty:
            return f"{where}: {counted(len(table), 'job')}, none with both a wait and a bound"
        within = 1 - both["is_beyond"].mean()
        waits, bounds = (duration(both[name].median()) for name in ("wait_time", "wait_bound"))
        return (
            f"{where}: {percent(within, digits=1)} of {counted(len(both), 'wait')} were within their bounds; "
            "half of the "
            "waits were at most "
            f"{waits}, half of the bounds at most {bounds}"
        )

# SPDX-License-Identifier: BSD-3-Clause
"""When those come who wait: by hour and day of the week."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.output.amounts import counted, duration
from swftools.parameters import Parameters, choice
from swftools.plots.arrivals import DAYS
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import FEW_TO_MANY, amounts_norm
from swftools.plots.style import duration_axis
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class WaitByHourParameters(Parameters):
    """What is taken of the waits of an hour."""

    statistic: str = choice("median", "mean")


@register_picture
class WaitByHour(Picture):
    """The median or mean wait of jobs by hour and day of their submission, by the log's own clock; white: no job."""

    name = "wait-by-hour"
    of = Schedule
    title = "Waits by hour"
    parameters = WaitByHourParameters
    nothing = "no job whose hour of submission is known"

    def table(self, subject: Schedule, chosen: WaitByHourParameters) -> pd.DataFrame:
        """Return a row for each hour of the week: ``weekday`` (0 is Monday), ``hour``, ``jobs``, and their ``wait``, s.

        The wait of an hour without jobs is missing. There are no rows where the log does not say when it begins.
        """
        columns = ["weekday", "hour", "jobs", "wait"]
        if subject.origin is None or not len(subject.jobs):
            return pd.DataFrame(columns=columns)
        origin = pd.Timestamp(subject.origin)
        submitted = pd.to_timedelta(pd.Series(column_of(subject.jobs, "submit_time")), unit="s")
        clock = (origin.tz_convert("UTC") + submitted).dt.tz_convert(origin.tzinfo).dt
        waits = pd.Series(column_of(subject.jobs, "wait_time"))
        found = waits.groupby([clock.day_of_week, clock.hour]).agg(["size", chosen.statistic])
        week = pd.MultiIndex.from_product([range(7), range(24)])
        jobs = found["size"].reindex(week, fill_value=0).to_numpy(np.int64)
        cells = {"weekday": np.repeat(np.arange(7), 24), "hour": np.tile(np.arange(24), 7)}
        return pd.DataFrame({**cells, "jobs": jobs, "wait": found[chosen.statistic].reindex(week).to_numpy()})

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: WaitByHourParameters) -> None:
        """Draw a cell for each hour, the darker the longer the wait."""
        wait = table["wait"].clip(lower=0.0)
        norm = amounts_norm(wait, 60.0)  # a minute more or less is none
        cells = wait.to_numpy().reshape(7, 24)
        mesh = axes.pcolormesh(np.arange(25), np.arange(8) - 0.5, cells, cmap=FEW_TO_MANY, norm=norm, rasterized=True)
        figure = axes.get_figure()
        if figure is not None:
            bar = figure.colorbar(mesh, ax=axes, label=f"{chosen.statistic} wait")
            duration_axis(bar.ax, "y")
        axes.set_yticks(range(7), [day[:3] for day in DAYS])
        axes.set(ylim=(6.5, -0.5), xlabel="hour of the submission", xlim=(0, 24), xticks=range(0, 25, 4))
        axes.grid(visible=False)

    def cells(self, subject: Schedule, **parameters: Any) -> dict[str, list[Any]]:
        """Return the wait of each hour of the week, and of how many jobs."""
        chosen = WaitByHourParameters(**parameters)
        table = self.table(subject, chosen)
        if not len(table):
            return {}
        words = [
            f"{chosen.statistic} wait {duration(max(wait, 0.0))}, {counted(jobs, 'job')}" if jobs else "no job"
            for wait, jobs in zip(table["wait"].tolist(), table["jobs"].tolist(), strict=True)
        ]
        hours = [f"{hour:02}:00 to {hour + 1:02}:00" for hour in range(24)]
        return {"rows": list(DAYS), "columns": hours, "cells": [words[day * 24 : day * 24 + 24] for day in range(7)]}

    def tell(self, table: pd.DataFrame, chosen: WaitByHourParameters) -> str:
        """Return the hours with the longest and the shortest waits."""
        known = table.dropna(subset=["wait"])
        longest, shortest = known.iloc[int(known["wait"].argmax())], known.iloc[int(known["wait"].argmin())]
        return (
            f"{chosen.statistic} waits of {counted(int(table['jobs'].sum()), 'job')} by the hour of their submission; "
            f"the longest, {duration(float(longest['wait']))}, {_hour_of(longest)}; the shortest, "
            f"{duration(float(shortest['wait']))}, {_hour_of(shortest)}"
        )


def _hour_of(row: pd.Series) -> str:
    """Return an hour of the week in words."""
    return f"on {DAYS[int(row['weekday'])]}s in the hour from {int(row['hour'])}:00"

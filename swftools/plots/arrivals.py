# SPDX-License-Identifier: BSD-3-Clause
"""When jobs are submitted: by hour of the day, by day of the week, or by both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swftools.header import zone_of
from swftools.output.amounts import percent
from swftools.parameters import Parameters, choice
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import FEW_TO_MANY, color_bar
from swftools.trace import Trace, submit_timestamps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PLACES = {"weekday": 7, "hour": 24}


@dataclass(frozen=True)
class ArrivalsParameters(Parameters):
    """What arrivals are counted by; a week has the hours of all its days."""

    by: str = choice("hour", "weekday", "week")


@register_picture
class Arrivals(Picture):
    """The share of jobs submitted in each hour of the day, on each day of the week, or both, by the machine's clock.

    Where the log does not say when it begins, hours are counted from its start, and days of the week are not known.
    """

    name = "arrivals"
    of = Trace
    title = "Arrivals"
    parameters = ArrivalsParameters
    nothing = "no submission whose hour or day of the week is known"

    def table(self, subject: Trace, chosen: ArrivalsParameters) -> pd.DataFrame:
        """Return a row for each hour, weekday, or hour of each: which (0 is Monday), its jobs, their share.

        ``log_zone`` is the name of the zone of the clock, missing where the log does not say when it begins.
        """
        header, submit = subject.header, subject.jobs["submit_time"].dropna()
        if header.start is not None:
            zone = zone_of(header)
            clock = submit_timestamps(submit, header).dropna().dt.tz_convert(zone).dt
            found = {"weekday": clock.day_of_week, "hour": clock.hour}
        else:
            zone = None
            found = {"weekday": submit.iloc[:0], "hour": submit // 3600 % 24}
        wanted = list(_PLACES) if chosen.by == "week" else [chosen.by]
        if not all(len(found[name]) for name in wanted):
            return pd.DataFrame({name: [] for name in (*wanted, "jobs", "share", "log_zone")})
        sizes = [_PLACES[name] for name in wanted]
        cell = np.ravel_multi_index([found[name].to_numpy(dtype=np.int64) for name in wanted], sizes)
        jobs = np.bincount(cell, minlength=int(np.prod(sizes)))
        places = dict(zip(wanted, np.unravel_index(np.arange(len(jobs)), sizes), strict=True))
        named = {"log_zone": None if zone is None else str(zone)}
        return pd.DataFrame({**places, "jobs": jobs, "share": jobs / jobs.sum(), **named})

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: ArrivalsParameters) -> None:
        """Draw a bar each, or a cell each, the darker the more jobs."""
        if chosen.by == "week":
            share = 100 * table["share"].to_numpy().reshape(7, 24)
            mesh = axes.pcolormesh(np.arange(25), np.arange(8) - 0.5, share, cmap=FEW_TO_MANY, vmin=0, rasterized=True)
            color_bar(axes, mesh, "share of jobs, %")
            axes.set_yticks(range(7), [day[:3] for day in DAYS])
            axes.set_ylim(6.5, -0.5)
            axes.grid(visible=False)
        else:
            axes.bar(table[chosen.by] + (0.5 if chosen.by == "hour" else 0.0), 100 * table["share"], width=0.9)
            axes.set(ylabel="share of jobs, %", ylim=(0, None))
            axes.grid(visible=False, axis="x")
        if chosen.by == "weekday":
            axes.set_xticks(range(7), [day[:3] for day in DAYS])
        else:
            zone = table["log_zone"].iloc[0]
            named = "hours from the start of the log, of each 24" if zone is None else f"hour of the day, {zone}"
            axes.set(xlabel=named, xlim=(0, 24), xticks=range(0, 25, 4))

    def tell(self, table: pd.DataFrame, chosen: ArrivalsParameters) -> str:
        """Return the fullest and the emptiest hour or day."""
        most, least = int(table["share"].to_numpy().argmax()), int(table["share"].to_numpy().argmin())
        share = table["share"].tolist()
        return (
            f"most jobs are submitted {_when(table, most)} ({percent(share[most], digits=1)} of "
            f"{table['jobs'].sum():,}), "
            f"fewest {_when(table, least)} ({percent(share[least], digits=1)})"
        )


def _when(table: pd.DataFrame, row: int) -> str:
    """Return the day and the hour of a row, as far as it has them, in words."""
    day = [f"on {DAYS[table['weekday'].iloc[row]]}s"] if "weekday" in table else []
    return " ".join(day + ([f"in the hour from {table['hour'].iloc[row]}:00"] if "hour" in table else []))

"""When jobs are submitted: by hour of the day, or by day of the week."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swftools.header import zone_of
from swftools.parameters import Parameters, choice
from swftools.plots.picture import Picture, register_picture
from swftools.trace import Trace, submit_timestamps

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class ArrivalsParameters(Parameters):
    """What arrivals are counted by."""

    by: str = choice("hour", "weekday")


@register_picture
class Arrivals(Picture):
    """The share of jobs submitted in each hour of the day, or on each day of the week, by the machine's own clock.

    Where the log does not say when it begins, hours are counted from its start, and days of the week are not known.
    """

    name = "arrivals"
    of = Trace
    title = "Arrivals"
    parameters = ArrivalsParameters
    nothing = "no submission whose hour or day of the week is known"

    def table(self, subject: Trace, chosen: ArrivalsParameters) -> pd.DataFrame:
        """Return a row an hour or day of the week: which (0 is Monday), its jobs, and their share."""
        header, submit = subject.header, subject.jobs["submit_time"].dropna()
        places = 24 if chosen.by == "hour" else 7
        if header.start is not None:
            clock = submit_timestamps(submit, header).dropna().dt.tz_convert(zone_of(header)).dt
            found = clock.hour if chosen.by == "hour" else clock.weekday
        elif chosen.by == "hour":
            found = submit // 3600 % 24
        else:
            found = submit.iloc[:0]
        if not len(found):
            return pd.DataFrame({chosen.by: [], "jobs": [], "share": []})
        counts = np.bincount(found.to_numpy(dtype=np.int64), minlength=places)
        return pd.DataFrame({chosen.by: np.arange(places), "jobs": counts, "share": counts / counts.sum()})

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: ArrivalsParameters) -> None:
        """Draw a bar each."""
        axes.bar(table[chosen.by] + (0.5 if chosen.by == "hour" else 0.0), 100 * table["share"], width=0.9)
        axes.set(ylabel="share of jobs, %", ylim=(0, None))
        axes.grid(visible=False, axis="x")
        if chosen.by == "hour":
            axes.set(xlabel="hour of the day", xlim=(0, 24), xticks=range(0, 25, 4))
        else:
            axes.set_xticks(range(7), [day[:3] for day in DAYS])

    def tell(self, table: pd.DataFrame, chosen: ArrivalsParameters) -> str:
        """Return the fullest and the emptiest hour or day."""
        most, least = int(table["share"].to_numpy().argmax()), int(table["share"].to_numpy().argmin())
        share = table["share"].tolist()
        hours, days = [f"in the hour from {hour}:00" for hour in range(24)], [f"on {day}s" for day in DAYS]
        names = hours if chosen.by == "hour" else days
        return (
            f"most jobs are submitted {names[most]} ({share[most]:.1%} of {table['jobs'].sum():,}), "
            f"fewest {names[least]} ({share[least]:.1%})"
        )

# SPDX-License-Identifier: BSD-3-Clause
"""What jobs on a machine of nodes wait for, over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.output.amounts import duration, percent
from swftools.parameters import Parameters, whole
from swftools.plots.of_schedules import clock_in, clock_of, in_bins
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import legend_above
from swftools.plots.resources import NO_NODES
from swftools.plots.style import COLORS, count_axis, time_axis, times_of
from swftools.plots.utilization import told_bins
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.metrics.wait_reasons import REASONS, wait_reasons_over_time
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GREYS = ("#444444", "#777777", "#AAAAAA", "#DDDDDD")
_LOOKS = dict(zip(REASONS, (*COLORS, *_GREYS), strict=True))


@dataclass(frozen=True)
class WaitReasonsParameters(Parameters):
    """How finely time is shown: a log of more steps than ``bins`` is shown in so many bins at most."""

    bins: int = whole(400, least=2, most=100_000)


@register_picture
class WaitReasons(Picture):
    """How many jobs wait for what, one above the other: for cores, memory, GPUs, room on nodes, idle nodes, their turn.

    ``wait_reasons`` says what that is. Longer logs are shown by their means over an hour, a day and so on.
    """

    name = "wait-reasons"
    of = Schedule
    title = "What jobs wait for"
    parameters = WaitReasonsParameters
    aspect = 0.42
    nothing = "no job waited"

    def nothing_of(self, subject: Schedule) -> str:
        """Return that there are no nodes, or that nobody waited."""
        return NO_NODES if subject.machine is None else self.nothing

    def table(self, subject: Schedule, chosen: WaitReasonsParameters) -> pd.DataFrame:
        """Return a row for each reason for which a job waited, and each step or bin.

        ``reason``, ``begin`` and ``end``, s from the start of the log, ``jobs``, the mean number that waits,
        ``log_start``, UNIX time in s, missing where it is not known, and ``log_zone``, its zone's name.
        """
        columns = ["reason", "begin", "end", "jobs", "log_start", "log_zone"]
        steps = wait_reasons_over_time(subject) if subject.machine is not None else pd.DataFrame()
        times = column_of(steps, "time") if len(steps) else np.zeros(0)
        parts = [
            in_bins(times, column_of(steps, name), chosen.bins).assign(reason=name)
            for name in REASONS
            if len(steps) and steps[name].any()
        ]
        if not parts:
            return pd.DataFrame({name: [] for name in columns})
        table = pd.concat(parts, ignore_index=True).rename(columns={"mean": "jobs"})
        return table.assign(**clock_of(subject, subject.jobs))[columns]

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: WaitReasonsParameters) -> None:
        """Draw an area for each reason, above those before it."""
        start, zone = clock_in(table)
        below: np.ndarray | None = None
        for reason, of_one in table.groupby("reason", sort=False):
            edges = times_of(np.append(of_one["begin"], of_one["end"].iloc[-1]), start)
            jobs = of_one["jobs"].to_numpy(dtype=np.float64)
            below = np.zeros(len(jobs)) if below is None else below
            look: dict[str, Any] = {
                "color": _LOOKS[str(reason)],
                "linewidth": 0,
                "label": str(reason).replace("_", " "),
            }
            axes.stairs(below + jobs, edges, baseline=below, fill=True, **look)
            below = below + jobs
            axes.set_xlim(edges[0], edges[-1])
        axes.set(ylabel="jobs waiting", ylim=(0, max(1.0, 1.05 * float(np.max(below)) if below is not None else 1.0)))
        count_axis(axes, "y")
        time_axis(axes, start, zone)
        legend_above(axes, columns=4)

    def tell(self, table: pd.DataFrame, chosen: WaitReasonsParameters) -> str:
        """Return the shares of all waiting, the largest first, over how long, and the bins."""
        spent = (table["jobs"] * (table["end"] - table["begin"])).groupby(table["reason"], sort=False).sum()
        shares = (spent / spent.sum()).sort_values(ascending=False, kind="stable")
        told = ", ".join(f"{str(name).replace('_', ' ')} {percent(share, digits=1)}" for name, share in shares.items())
        one = table[table["reason"] == table["reason"].iloc[0]]
        whole_time = float(one["end"].iloc[-1] - one["begin"].iloc[0])
        return f"of {spent.sum() / 3600:,.3g} job-hours waited in {duration(whole_time)}: {told}{told_bins(one)}"

# SPDX-License-Identifier: BSD-3-Clause
"""How much of each resource of a machine of nodes is held over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swftools.output.amounts import duration, percent
from swftools.parameters import Parameters, text, whole
from swftools.plots.of_schedules import clock_in, clock_of, in_bins
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import legend_above
from swftools.plots.style import COLORS, DASHES, name_of, time_axis, times_of
from swftools.plots.utilization import told_bins
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.metrics.over_time_on_nodes import nodes_of, nodes_over_time
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NO_NODES = "no run on nodes; schedules have nodes where machine= described them"
"""What is said of a schedule on a pool of processors."""

NO_RUN = "no run on these nodes"
"""What is said of a machine of nodes, or of some of its nodes, on which nothing ran."""

_SHARES = {
    "cores": "utilization",
    "memory": "memory_utilization",
    "GPUs": "gpu_utilization",
    "nodes": "node_utilization",
}

_THERE = "available cores"
"""What is shown beside these of a machine whose nodes are away at times."""


_LOOK_OF_THERE = {"color": "#777777", "linestyle": "-"}


@dataclass(frozen=True)
class ResourcesParameters(Parameters):
    """Of which nodes, by ``kind`` and ``partition``, all if not given; and in how many bins at most it is shown."""

    kind: str | None = text(None)
    partition: str | None = text(None)
    bins: int = whole(400, least=2, most=100_000)


@register_picture
class Resources(Picture):
    """The shares of cores, memory and GPUs that runs hold, and of nodes that have a run, from each event to the next.

    A run that has its nodes alone holds all that they have. Where nodes are away at times, a grey line shows how much
    of the cores is available. Longer logs are shown by their means over an hour, a day
    and so on.
    """

    name = "resources"
    of = Schedule
    title = "Cores, memory, GPUs and nodes in use"
    parameters = ResourcesParameters
    aspect = 0.42
    nothing = NO_RUN

    def nothing_of(self, subject: Schedule) -> str:
        """Return that there are no nodes, or that nothing ran on those that are shown."""
        return NO_NODES if subject.machine is None else NO_RUN

    def table(self, subject: Schedule, chosen: ResourcesParameters) -> pd.DataFrame:
        """Return a row for each resource and step or bin.

        ``resource``: cores, memory, GPUs or nodes, of which there are any, and available cores, of a machine with
        outages, as ``nodes_over_time`` has them; ``begin`` and ``end``, s from the start of the log, ``share`` and
        ``most``, mean and largest share, ``log_start``, UNIX time in s, missing where it is not known, and
        ``log_zone``, its zone's name.
        """
        columns = ("resource", "begin", "end", "share", "most", "log_start", "log_zone")
        nothing = pd.DataFrame({name: [] for name in columns})
        if subject.machine is None or not len(subject.segments):
            return nothing
        steps = nodes_over_time(subject, kind=chosen.kind, partition=chosen.partition)
        running = np.flatnonzero(column_of(steps, "busy_nodes") > 0)
        if not len(running):
            return nothing
        shown = slice(running[0], running[-1] + 2)  # from the first start on to the last end
        times, parts = column_of(steps, "time")[shown], []
        for resource, name in _SHARES.items():
            shares = column_of(steps, name)[shown]
            if not np.isnan(shares).any():
                parts.append(in_bins(times, shares, chosen.bins).assign(resource=resource))
        if len(subject.machine.outages):
            capacity = subject.machine.cores[nodes_of(subject.machine, chosen.kind, chosen.partition)].sum()
            there = column_of(steps, "available_cores")[shown] / capacity
            parts.append(in_bins(times, there, chosen.bins).assign(resource=_THERE))
        table = pd.concat(parts, ignore_index=True).rename(columns={"mean": "share"})
        return table.assign(**clock_of(subject, subject.jobs))[list(columns)]

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: ResourcesParameters) -> None:
        """Draw a line for each resource."""
        start, zone = clock_in(table)
        for place, (resource, of_one) in enumerate(table.groupby("resource", sort=False)):
            edges = times_of(np.append(of_one["begin"], of_one["end"].iloc[-1]), start)
            look = {"color": COLORS[place], "linestyle": DASHES[place % len(DASHES)]}
            look = _LOOK_OF_THERE if resource == _THERE else look
            axes.stairs(100 * of_one["share"], edges, baseline=None, linewidth=1.2, label=str(resource), **look)
            axes.set_xlim(edges[0], edges[-1])
        axes.set(ylabel="held, %", ylim=(0, 105))
        time_axis(axes, start, zone)
        legend_above(axes, columns=len(_SHARES) + 1)

    def tell(self, table: pd.DataFrame, chosen: ResourcesParameters) -> str:
        """Return the mean of each, over how long, and the bins."""
        means = {
            str(resource): float(np.average(of_one["share"], weights=of_one["end"] - of_one["begin"]))
            for resource, of_one in table.groupby("resource", sort=False)
        }
        there = means.pop(_THERE, None)
        available = "" if there is None else f"; {percent(there, digits=1)} of the cores are available"
        held = [f"{percent(mean, digits=1)} of {resource}" for resource, mean in means.items()]
        one = table[table["resource"] == table["resource"].iloc[0]]
        whole_time = float(one["end"].iloc[-1] - one["begin"].iloc[0])
        chosen_by = (("kind", chosen.kind), ("partition", chosen.partition))
        of_which = " and ".join(f"{group} {name_of(name)}" for group, name in chosen_by if name)
        return (
            f"on average {', '.join(held[:-1])} are held and {held[-1]} in use{of_which and f' (of {of_which})'}, over "
            f"{duration(whole_time)}{told_bins(one)}{available}"
        )

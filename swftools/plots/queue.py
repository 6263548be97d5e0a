# SPDX-License-Identifier: BSD-3-Clause
"""How much waits over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from swftools.output.amounts import duration
from swftools.parameters import Parameters, choice, whole
from swftools.plots.of_schedules import clock_of, in_bins, known_only
from swftools.plots.picture import Picture, register_picture
from swftools.plots.style import count_axis
from swftools.plots.utilization import draw_steps, told_bins
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.metrics.over_time import over_time
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = {"jobs": "queue_length", "processors": "queued_processors", "work": "queued_work"}
_WORDS = {"jobs": "jobs waiting", "processors": "processors waited for", "work": "queued processor-hours"}


@dataclass(frozen=True)
class QueueParameters(Parameters):
    """What waits: jobs, their processors, or processors x requested times; and in how many bins at most it is shown."""

    by: str = choice("jobs", "processors", "work")
    bins: int = whole(400, least=2, most=100_000)


@register_picture
class Queue(Picture):
    """What waits from each event to the next: jobs that are submitted and not running.

    A job that was stopped waits again until its next run. Longer logs are shown by their means over an hour, a day and
    so on; a line above them is the longest queue of each.
    """

    name = "queue"
    of = Schedule
    title = "Queue"
    parameters = QueueParameters
    aspect = 0.42
    nothing = "no job ran or waited"

    def table(self, subject: Schedule, chosen: QueueParameters) -> pd.DataFrame:
        """Return a row for each step or bin.

        ``begin`` and ``end``, s from the start of the log, the mean of ``queue_length`` (jobs), ``queued_processors``
        or ``queued_work`` (processor-seconds), ``most``, the largest in the bin, ``log_start``, UNIX time in s, missing
        where it is not known, and ``log_zone``, the name of its zone.
        """
        known, column = known_only(subject), _COLUMNS[chosen.by]
        steps = over_time(known)
        if len(steps) < 2:
            return pd.DataFrame({"begin": [], "end": [], column: [], "most": [], "log_start": [], "log_zone": []})
        table = in_bins(column_of(steps, "time"), column_of(steps, column), chosen.bins)
        return table.rename(columns={"mean": column}).assign(**clock_of(subject, known.jobs))

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: QueueParameters) -> None:
        """Draw the means, and above them the longest queues."""
        unit = 3600.0 if chosen.by == "work" else 1.0
        values, most = table[_COLUMNS[chosen.by]] / unit, table["most"] / unit
        draw_steps(axes, table, values)
        if (most > values).any():
            edges = axes.patches[0].get_data().edges  # type: ignore[attr-defined]
            axes.stairs(most, edges, color="black", linewidth=0.5, baseline=None, label="most")
            axes.legend(loc="upper left")
        axes.set(
            ylabel=_WORDS[chosen.by].replace("queued ", "queued work,\n"), ylim=(0, max(1.0, 1.05 * float(most.max())))
        )
        count_axis(axes, "y")

    def tell(self, table: pd.DataFrame, chosen: QueueParameters) -> str:
        """Return the mean and the most, and the bins."""
        unit = 3600.0 if chosen.by == "work" else 1.0
        mean = float(np.average(table[_COLUMNS[chosen.by]], weights=table["end"] - table["begin"])) / unit
        most = int(table["most"].to_numpy().argmax())
        at = float(table["begin"].iloc[most] - table["begin"].iloc[0])
        return (
            f"on average {_amount(mean)} {_WORDS[chosen.by]}, at most {_amount(table['most'].iloc[most] / unit)}, "
            f"{duration(at)} after the first submission{told_bins(table)}"
        )


def _amount(value: float) -> str:
    """Return an amount as it is written: 0.35, 12, 3,000."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

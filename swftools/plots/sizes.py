# SPDX-License-Identifier: BSD-3-Clause
"""How long and how wide jobs are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.output.amounts import duration, percent
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import count_cells, draw_density, jobs_in_words, show_two_ticks, step_of, time_edges
from swftools.plots.style import duration_axis
from swftools.trace import IntArray, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = 5
_MOST_LABELS = 12


@register_picture
class Sizes(Picture):
    """How many jobs there are of each run time and width: five steps of time a decade, widths by powers of two.

    Jobs without run time or width are left out. All that run for less than a second stand in one step.
    """

    name = "sizes"
    of = Trace
    title = "Sizes of jobs"
    aspect = 0.6
    nothing = "no job whose run time and width are known"

    def table(self, subject: Trace, chosen: Any) -> pd.DataFrame:
        """Return a row for each cell that has jobs, by run time and then width.

        Its columns are ``run_time_from`` and ``run_time_to`` (s; the latter is not included), ``width_least`` and
        ``width_most`` (processors; both included), and ``jobs``.
        """
        run_time, width = subject.arrays.run_time, subject.arrays.width
        is_known = np.isfinite(run_time) & (run_time >= 0) & (width > 0)
        run_time, width = run_time[is_known], width[is_known]
        if not width.size:
            return pd.DataFrame({name: [] for name in ("run_time_from", "run_time_to", *_WIDTHS, "jobs")})
        edges = time_edges(float(run_time.max()), _STEPS)
        step, power, jobs = count_cells(step_of(run_time, edges), _power_of(width))
        least = 2**power
        return pd.DataFrame(
            {
                "run_time_from": edges[step],
                "run_time_to": edges[step + 1],
                "width_least": least,
                "width_most": least + (least - 1),
                "jobs": jobs,
            }
        )

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw cells, the darker the more jobs."""
        edges = time_edges(float(table["run_time_from"].max()), _STEPS)
        x = np.searchsorted(edges, table["run_time_from"])
        y = _power_of(table["width_least"].to_numpy())
        edges[0] = 10 ** (-1 / _STEPS)  # what is below 1 s is as wide as the others, on a scale that has no 0
        powers = range(int(y.max()) + 1)
        draw_density(axes, edges, np.arange(len(powers) + 1) - 0.5, (x, y, table["jobs"]), "jobs")
        duration_axis(axes, "x")
        show_two_ticks(axes, "x")
        shown = powers[:: -(-len(powers) // _MOST_LABELS)]
        axes.set_yticks(shown, [_widths(2**power) for power in shown])
        axes.grid(visible=False)
        axes.set(xlabel="run time", ylabel="width, processors")

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return the fullest cell, and the shares of what is narrow and short."""
        jobs, total = table["jobs"], int(table["jobs"].sum())
        most = table.iloc[int(table["jobs"].to_numpy().argmax())]
        width = _widths(int(most["width_least"]))
        serial = jobs[table["width_most"] == 1].sum() / total
        short = jobs[table["run_time_to"] <= 10].sum() / total
        return (
            f"of {jobs_in_words(total)}, the largest group ({percent(most['jobs'], total, digits=1)}) has {width} "
            f"processor{'' if width == '1' else 's'} for {duration(most['run_time_from'])} to "
            f"{duration(most['run_time_to'])}; {percent(serial, digits=1)} have one processor, "
            f"{percent(short, digits=1)} run less than 10 s"
        )


_WIDTHS = ("width_least", "width_most")


def _power_of(width: IntArray) -> IntArray:
    """Return the largest power of two that is not above a width (1 or more); exact, unlike a logarithm."""
    return np.searchsorted(2 ** np.arange(63), width, side="right").astype(np.int64) - 1


def _widths(least: int) -> str:
    """Return the widths from a power of two to below the next, in words."""
    return "1" if least == 1 else f"{least:,}\u2013{2 * least - 1:,}"

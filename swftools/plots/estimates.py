# SPDX-License-Identifier: BSD-3-Clause
"""What users ask for, and what their jobs then use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.output.amounts import percent
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import count_cells, draw_density, jobs_in_words, show_two_ticks, step_of, time_edges
from swftools.plots.style import COLORS, duration_axis
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = 6
_EDGES = ("requested_time_from", "requested_time_to", "run_time_from", "run_time_to")


@register_picture
class Estimates(Picture):
    """How long jobs ran, by the time that was requested for them; on the line they ran as long as that.

    Jobs without request (above 0) or run time are left out. All times of less than a second stand in one step.
    """

    name = "estimates"
    of = Trace
    title = "Requested and used time"
    aspect = 0.75
    nothing = "no job whose requested time and run time are known"

    def table(self, subject: Trace, chosen: Any) -> pd.DataFrame:
        """Return a row for each cell that has jobs, by requested time and then run time.

        Its columns are ``requested_time_from``, ``requested_time_to``, ``run_time_from`` and ``run_time_to`` (s; what
        they go to is not included), ``jobs``, those of them that ran ``longer`` than requested, and ``median_used``:
        run time over requested time of the median of all jobs, the same in every row.
        """
        requested, run_time = subject.arrays.requested_time, subject.arrays.run_time
        is_known = np.isfinite(requested) & (requested > 0) & np.isfinite(run_time) & (run_time >= 0)
        requested, run_time = requested[is_known], run_time[is_known]
        if not requested.size:
            return pd.DataFrame({name: [] for name in (*_EDGES, "jobs", "longer", "median_used")})
        edges = time_edges(float(max(requested.max(), run_time.max())), _STEPS)
        asked, ran = step_of(requested, edges), step_of(run_time, edges)
        x, y, jobs = count_cells(asked, ran)
        longer = count_cells(asked, ran, run_time > requested)[2].astype(np.int64)
        used = float(np.median(run_time / requested))
        found = dict(zip(_EDGES, (edges[x], edges[x + 1], edges[y], edges[y + 1]), strict=True))
        return pd.DataFrame({**found, "jobs": jobs, "longer": longer, "median_used": used})

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw cells, the darker the more jobs, and the line on which run times are what was requested."""
        requested, ran = table["requested_time_from"], table["run_time_from"]
        edges = time_edges(float(max(requested.max(), ran.max())), _STEPS)
        x, y = np.searchsorted(edges, requested), np.searchsorted(edges, ran)
        edges[0] = 10 ** (-1 / _STEPS)  # what is below 1 s is as wide as the others, on a scale that has no 0
        draw_density(axes, edges[x.min() : x.max() + 2], edges[: y.max() + 2], (x - x.min(), y, table["jobs"]), "jobs")
        for which in ("x", "y"):
            duration_axis(axes, which)
            show_two_ticks(axes, which)
        limits = {"xlim": axes.get_xlim(), "ylim": axes.get_ylim()}
        axes.plot(edges[[0, -1]], edges[[0, -1]], color=COLORS[1], linestyle=(0, (5, 1.5)), scalex=False, scaley=False)
        axes.set(xlabel="requested time", ylabel="run time", **limits)

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return the share that the median job used, and how many jobs ran longer than requested."""
        jobs, longer, used = int(table["jobs"].sum()), table["longer"].sum(), table["median_used"].iloc[0]
        return (
            f"the median of {jobs_in_words(jobs)} used {percent(used, digits=1)} of the time requested for it; "
            f"{percent(longer, jobs, digits=1)} ran longer than requested"
        )

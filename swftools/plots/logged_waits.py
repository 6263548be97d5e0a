# SPDX-License-Identifier: BSD-3-Clause
"""How long jobs waited, by the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.plots.parts import jobs_in_words, legend_above, show_two_ticks
from swftools.plots.picture import Picture, register_picture
from swftools.plots.style import COLORS, MARKERS, count_axis, duration, duration_axis
from swftools.trace import FloatArray, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST = 1.0
"""Where the axis of waits begins, s: a log scale has no 0."""
_FEWEST = 1e-4
"""Where the axis of shares ends at the latest, %."""
_POINTS = 200
"""A decade of the curve is drawn by so many points at most."""
_QUANTILES = ((0.5, "half of the jobs"), (0.9, "90% of the jobs"))


@register_picture
class Waits(Picture):
    """The share of jobs that waited longer than a time, as the log has it; what waited not at all is no part of it.

    Jobs whose wait is not known are left out.
    """

    name = "waits"
    of = Trace
    title = "Logged waits"
    aspect = 0.6
    nothing = "no job whose wait is known"

    def table(self, subject: Trace, chosen: Any) -> pd.DataFrame:
        """Return a row for each wait that occurs: ``wait_time`` (s), ``jobs``, and the share that waited ``longer``."""
        wait_time = subject.arrays.wait_time
        wait_time, jobs = np.unique(wait_time[np.isfinite(wait_time)], return_counts=True)
        longer = (jobs.sum() - jobs.cumsum()) / max(jobs.sum(), 1)
        return pd.DataFrame({"wait_time": wait_time, "jobs": jobs, "longer": longer})

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw the curve, with the median and what nine in ten jobs do not exceed."""
        longest = float(table["wait_time"].iloc[-1])
        if longest <= _LEAST:
            axes.set_axis_off()
            axes.text(0.5, 0.5, f"no job waited longer than {duration(_LEAST)}", ha="center", va="center")
            return
        x, y = _curve(table)
        axes.step(x, y, where="post", color=COLORS[0])
        for place, (quantile, of_jobs) in enumerate(_QUANTILES):
            wait = _quantile(table, quantile)
            if wait >= _LEAST:
                look: dict[str, Any] = {"marker": MARKERS[place], "markersize": 5, "color": COLORS[place + 1]}
                words = f"{of_jobs}: {duration(wait)} or less"
                axes.plot([wait], [100 - 100 * quantile], linestyle="none", clip_on=False, label=words, **look)
        axes.set(yscale="log", xlabel="waited longer than", ylabel="share of jobs, %")
        axes.set(xlim=(_LEAST, longest), ylim=(min(10.0, float(y[:-1].min())) / 1.5, 100))
        duration_axis(axes, "x")
        show_two_ticks(axes, "x")
        count_axis(axes, "y")
        axes.yaxis.minorticks_off()
        if axes.get_legend_handles_labels()[0]:
            legend_above(axes, columns=1)

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return the median, what nine in ten jobs do not exceed, the longest wait, and how many waited not at all."""
        jobs = int(table["jobs"].sum())
        at_once = table["jobs"][table["wait_time"] <= 0].sum()
        half, most = (duration(_quantile(table, quantile)) for quantile, _ in _QUANTILES)
        return (
            f"half of {jobs_in_words(jobs)} waited {half} or less, 90% {most} or less, "
            f"the longest {duration(table['wait_time'].max())}; {at_once / jobs:.1%} waited not at all"
        )


def _quantile(table: pd.DataFrame, share: float) -> float:
    """Return the shortest wait that is not exceeded by that share of jobs, s."""
    up_to = table["jobs"].to_numpy().cumsum()
    return float(table["wait_time"].iloc[int(np.searchsorted(up_to, share * up_to[-1] * (1 - 1e-12)))])


def _curve(table: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Return waits and shares (%) of the curve, from the beginning of the axis to the longest wait, thinned out."""
    wait, longer = table["wait_time"].to_numpy(), 100 * table["longer"].to_numpy()
    first = np.searchsorted(wait, _LEAST, side="right")
    x = np.concatenate([[_LEAST], wait[first:]])
    y = np.concatenate([[longer[first - 1] if first else 100.0], longer[first:]])
    y[-1] = _FEWEST  # there it falls to 0, which a log scale has not
    is_drawn = y >= _FEWEST
    x, y = x[is_drawn], y[is_drawn]
    grid = np.floor(_POINTS * np.log10(np.array([x, y])))
    is_new = (np.diff(grid, prepend=np.nan) != 0).any(axis=0)
    is_new[-1] = True
    return x[is_new], y[is_new]

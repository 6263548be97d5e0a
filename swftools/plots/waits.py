# SPDX-License-Identifier: BSD-3-Clause
"""How long jobs wait: by the log, under policies, or both in one picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.output.amounts import duration, percent
from swftools.parameters import Parameters, choice
from swftools.plots.panels import say
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import jobs_in_words, show_two_ticks
from swftools.plots.series import is_wide
from swftools.plots.several import LOGGED, OF
from swftools.plots.style import count_axis, duration_axis, look_of, name_of
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.schedule import Schedule
from swftools.trace import FloatArray, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST = 1.0
"""Where the axis of waits begins, s: a log scale has no 0."""
_FEWEST = 1e-4
"""Where the axis of shares ends at the latest on a log scale, %."""
_POINTS = 200
"""A decade of waits, and the axis of shares or a decade of it, is drawn by so many points at most."""


@dataclass(frozen=True)
class WaitsParameters(Parameters):
    """Which curve: the share of jobs that waited no longer, or, on a log scale, the share that waited longer."""

    curve: str = choice("ecdf", "survival")


class WaitCurves(Picture):
    """What the pictures of logged and of simulated waits have in common: all but where the waits come from."""

    name = "waits"
    parameters = WaitsParameters
    aspect = 0.6
    overlays = True

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: WaitsParameters) -> None:
        """Draw the curves, with what half of the jobs and nine in ten do not exceed in the legend."""
        is_log = chosen.curve == "survival"
        drawn = [line for line in axes.lines if line.get_gid() == _CURVE]  # on axes that were drawn on before
        longest = max([float(table["wait_time"].max()), *(float(np.max(line.get_xdata())) for line in drawn)])
        if longest <= _LEAST:
            say(axes, f"no job waited longer than {duration(_LEAST)}")
            return
        lowest = [10.0, *(float(np.min(np.asarray(line.get_ydata())[:-1], initial=10.0)) for line in drawn)]
        for of, rows in table.groupby(OF, sort=False):
            x, y = _curve(rows, longest, is_log=is_log)
            look = look_of(str(of))
            half, most = (duration(_quantile(rows, quantile)) for quantile in (0.5, 0.9))
            gap = " " if is_wide(axes) else "\n"
            label = f"{name_of(of)}: 50 % within {half},{gap}90 % {most}"
            how: Any = {"color": look["color"], "linestyle": look["linestyle"], "label": label, "gid": _CURVE}
            axes.step(x, y, where="post", **how)
            lowest.append(float(np.min(y[:-1], initial=10.0)))
        axes.set(xlabel="waited longer than" if is_log else "waited no longer than", ylabel="share of jobs, %")
        axes.set(yscale="log" if is_log else "linear", xlim=(_LEAST, longest))
        axes.set_ylim(*((min(lowest) / 1.5, 100) if is_log else (0, 100)))
        duration_axis(axes, "x")
        show_two_ticks(axes, "x")
        count_axis(axes, "y")
        axes.yaxis.minorticks_off()
        axes.legend(loc="lower left" if is_log else "best", fontsize="small", frameon=True, edgecolor="none")

    def tell(self, table: pd.DataFrame, chosen: WaitsParameters) -> str:
        """Return the median, what nine in ten jobs do not exceed, the longest wait, and how many did not wait."""
        told = []
        for of, rows in table.groupby(OF, sort=False):
            jobs = int(rows["jobs"].sum())
            at_once = rows["jobs"][rows["wait_time"] <= 0].sum()
            half, most = (duration(_quantile(rows, quantile)) for quantile in (0.5, 0.9))
            told.append(
                f"{name_of(of)}: half of {jobs_in_words(jobs)} waited {half} or less, 90 % {most} or less, "
                f"the longest {duration(rows['wait_time'].max())}; {percent(at_once, jobs, digits=1)} did not wait"
            )
        return ". ".join(told)


_CURVE = "waits"
"""What the lines of curves are called."""


@register_picture
class LoggedWaits(WaitCurves):
    """The share of jobs that waited no longer than a time, as the log has it; the axis of waits begins at 1 s.

    The curve begins at the share of jobs that did not wait. Jobs whose wait is not known are left out.
    """

    of = Trace
    title = "Waits"
    nothing = "no job whose wait is known"

    def table(self, subject: Trace, chosen: WaitsParameters) -> pd.DataFrame:
        """Return a row for each wait that occurs: ``of``, ``wait_time`` (s), ``jobs``, and the share ``longer``."""
        return _counted(subject.arrays.wait_time, LOGGED)


@register_picture
class Waits(WaitCurves):
    """The share of jobs that wait no longer than a time, under each policy; the axis of waits begins at 1 s.

    Waits are those of ``measure``. Put the trace before its schedules, and the logged waits are there too.
    """

    of = Schedule
    title = "Waits"
    nothing = "no job that started"

    def table(self, subject: Schedule, chosen: WaitsParameters) -> pd.DataFrame:
        """Return a row for each wait that occurs: ``of``, ``wait_time`` (s), ``jobs``, and the share ``longer``.

        ``wait`` and ``share``, of the jobs that wait at least so long, are what the first two were called in 1.0; they
        go with 2.0.
        """
        table = _counted(column_of(subject.jobs, "wait_time"), subject.policy)
        return table.assign(wait=table["wait_time"], share=table["longer"].shift(fill_value=1.0))


def _counted(wait_time: FloatArray, of: str) -> pd.DataFrame:
    """Return each wait, the jobs that have it, and the share of jobs that waited longer."""
    wait_time, jobs = np.unique(wait_time[np.isfinite(wait_time)], return_counts=True)
    longer = (jobs.sum() - jobs.cumsum()) / max(jobs.sum(), 1)
    return pd.DataFrame({OF: of, "wait_time": wait_time, "jobs": jobs, "longer": longer})


def _quantile(table: pd.DataFrame, share: float) -> float:
    """Return the shortest wait that is not exceeded by that share of jobs, s."""
    up_to = table["jobs"].to_numpy().cumsum()
    return float(table["wait_time"].iloc[int(np.searchsorted(up_to, share * up_to[-1] * (1 - 1e-12)))])


def _curve(table: pd.DataFrame, longest: float, *, is_log: bool) -> tuple[FloatArray, FloatArray]:
    """Return waits and shares (%) of a curve, from the beginning of the axis on, thinned out.

    On a log scale the share is that of the jobs that waited longer, and ends at the longest wait, where it falls to 0;
    else it is the share of those that did not, which goes on to the end of the axis.
    """
    wait, longer = table["wait_time"].to_numpy(), 100 * table["longer"].to_numpy()
    first = np.searchsorted(wait, _LEAST, side="right")
    x = np.concatenate([[_LEAST], wait[first:]])
    y = np.concatenate([[longer[first - 1] if first else 100.0], longer[first:]])
    if is_log:
        y[-1] = _FEWEST  # there it falls to 0, which a log scale has not
        is_drawn = y >= _FEWEST
        x, y = x[is_drawn], y[is_drawn]
        grid = np.floor(_POINTS * np.log10(np.array([x, y])))
    else:
        y = 100.0 - y
        if x[-1] < longest:
            x, y = np.append(x, longest), np.append(y, y[-1])
        grid = np.floor(_POINTS * np.array([np.log10(x), y / 100.0]))
    is_new = (np.diff(grid, prepend=np.nan) != 0).any(axis=0)
    is_new[-1] = True
    return x[is_new], y[is_new]

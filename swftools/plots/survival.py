# SPDX-License-Identifier: BSD-3-Clause
"""Survival curves: which share of the jobs has at least so much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.plots.style import look_of, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

MOST = 400
"""Points of a curve on each of two scales: evenly by the logarithm of the share, and evenly by the share."""

_CURVE = "survival"
"""What the lines of curves are called."""


def survival(values: npt.NDArray[np.float64], name: str) -> pd.DataFrame:
    """Return how many jobs have at least a value: for every value there is, or for some of them if there are many.

    Parameters
    ----------
    values : numpy.ndarray of float, shape (jobs,)
        NaN is missing and left out.
    name : str
        What they are called.

    Returns
    -------
    pandas.DataFrame
        One row for each value, rising: the value under its name, ``jobs``, those that have at least it, and their
        ``share``. The rows of the median and of the 90 % are always there, and those of the least and the largest
        value.
    """
    known = np.sort(values[~np.isnan(values)])
    count = len(known)
    if count <= MOST:
        chosen = np.unique(known)
    else:
        ranks = np.concatenate((np.geomspace(1, count, MOST), np.linspace(1, count, MOST), [_rank(count, 0.5)]))
        ranks = np.append(ranks, _rank(count, 0.1)).round().astype(np.int64)
        chosen = np.unique(known[count - ranks])
    jobs = count - np.searchsorted(known, chosen, side="left")
    return pd.DataFrame({name: chosen, "jobs": jobs, "share": jobs / max(count, 1)})


def _rank(count: int, share: float) -> int:
    """Return the least number of jobs, counted from the largest value, that is at least a share of all."""
    return int(np.ceil(count * share - 1e-9))


def value_at(table: pd.DataFrame, share: float) -> float:
    """Return the largest value that at least a share of the jobs has or exceeds."""
    return float(table.iloc[:, 0][table["share"] >= share - 1e-12].iloc[-1])


def draw_survival(axes: Axes, table: pd.DataFrame, least: float, words: Callable[[float], str], of: str) -> None:
    """Draw the curve on logarithmic axes from ``least`` on, in the look of the policy that it is of.

    Its median and 90 % are marked where they lie right of that. What was drawn before on the axes stays in sight.

    The x axis has its limits and its scale, not yet its labels.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator  # noqa: PLC0415 (an extra)

    values, share = table.iloc[:, 0].to_numpy(), 100 * table["share"].to_numpy()
    above = values > least
    drawn = [line for line in axes.lines if line.get_gid() == _CURVE]
    last = max([float(values[-1]), least * 10, *(float(np.max(line.get_xdata())) for line in drawn)])
    axes.set(xscale="log", yscale="log", xlim=(least, last * 1.2))
    lowest = max(min([float(share[-1]), *(float(np.min(line.get_ydata())) for line in drawn)]), 1e-4)
    look = look_of(of)
    axes.set_ylim(min(lowest, 50.0) / 1.3, 130.0)
    if above.any():
        # At a value the curve falls just behind it: so many have at least that.
        first = float(share[above][0])
        how: Any = {"color": look["color"], "linestyle": look["linestyle"], "label": name_of(of), "gid": _CURVE}
        axes.step(np.append(least, values[above]), np.append(first, share[above]), where="pre", **how)
    else:
        axes.text(0.5, 0.5, f"none above {words(least)}", ha="center", transform=axes.transAxes)
    axes.yaxis.set_major_locator(LogLocator(10, subs=(1.0,)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    for name, part, marker in (("median", 0.5, "o"), ("90 %", 0.1, "s")):
        value = value_at(table, part)
        if value > least:
            axes.plot(value, 100 * part, marker=marker, linestyle="", color=look["color"])
            said: Any = {"xytext": (-4, -4), "textcoords": "offset points", "ha": "right", "va": "top"}
            axes.annotate(f"{name}: {words(value)}", (value, 100 * part), **said)
    axes.set_ylabel("jobs with at least that")
    if axes.get_legend_handles_labels()[0]:  # none of a policy without a name
        axes.legend(loc="upper right")


def thin_durations(axis: Any) -> None:
    """Leave 10 h out of an axis by ``duration_axis``: in a column it would touch the day."""
    from matplotlib.ticker import FixedLocator  # noqa: PLC0415 (an extra)

    axis.set_major_locator(FixedLocator([place for place in axis.get_major_locator().locs if place != 36_000.0]))

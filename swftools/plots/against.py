# SPDX-License-Identifier: BSD-3-Clause
"""One schedule against another of the same jobs: how long each job waits here and there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.output.amounts import percent
from swftools.plots.picture import NoParameters, Picture, register_picture
from swftools.plots.primitives import FEW_TO_MANY, amounts_norm, color_bar
from swftools.plots.style import COLORS, duration_axis, name_of
from swftools.plots.survival import thin_durations
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

A_DECADE = 4
"""Classes of waits from one power of ten to the next, from one second on."""

_LEFT = 0.4
"""Where waits below one second are drawn from, s: a logarithmic axis has no 0."""

_COLUMNS = ("wait_from", "wait_to", "other_from", "other_to", "jobs", "shorter", "longer", "policy", "other_policy")


def compare_jobs(one: Schedule, other: Schedule) -> pd.DataFrame:
    """Return how long each job waits in two schedules: the table of the picture ``against``.

    Parameters
    ----------
    one, other : Schedule
        Schedules of the same log, in any order; jobs that are only in one of them are left out.

    Returns
    -------
    pandas.DataFrame
        One row for each job, in the order of ``one``: ``job_number``, ``job_occurrence``, ``wait`` and ``other_wait``,
        s, missing if unknown, and ``policy`` and ``other_policy``, the names of the two.

    Examples
    --------
    >>> from swftools.plots import plot
    >>> from swftools.simulator import simulate
    >>> from swftools.trace import Trace
    >>> trace = Trace.from_columns(
    ...     job_number=[1, 2, 3], submit_time=[0, 1, 2], run_time=[60, 60, 30], allocated_processors=[2, 4, 2],
    ...     requested_time=[60, 60, 30], machine_processors=4,
    ... )
    >>> both = compare_jobs(simulate(trace, "easy"), simulate(trace, "fcfs"))
    >>> both[["job_number", "wait", "other_wait"]].values.tolist()
    [[1, 0.0, 0.0], [2, 59.0, 59.0], [3, 0.0, 118.0]]
    >>> plot(both, "against").get_xlabel()
    'wait under fcfs'
    """
    keys = ["job_number", "job_occurrence"]
    here, there = (
        each.jobs[keys].assign(**{name: column_of(each.jobs, "wait_time")})
        for each, name in ((one, "wait"), (other, "other_wait"))
    )
    return here.merge(there, on=keys, how="inner").assign(policy=one.policy, other_policy=other.policy)


@register_picture
class Against(Picture):
    """How many jobs wait so long here and so long there, on logarithmic axes; from ``compare_jobs``.

    Jobs below the line wait shorter here. Waits below one second share a strip of their own at the edge.
    """

    name = "against"
    of = pd.DataFrame
    columns = ("job_number", "wait", "other_wait")
    title = "Waits, job by job"
    aspect = 0.8
    nothing = "no job whose wait is known in both"

    def table(self, subject: pd.DataFrame, chosen: NoParameters) -> pd.DataFrame:
        """Return a row for each class of waits here and there in which there are jobs.

        ``wait_from``, ``wait_to``, ``other_from`` and ``other_to``, s, the ends of the class (the first is of waits
        below 1 s), its ``jobs``, how many of them wait ``shorter`` and ``longer`` here, and ``policy`` and
        ``other_policy``, what the two schedules are called.
        """
        known = subject.dropna(subset=["wait", "other_wait"])
        if known.empty:
            return pd.DataFrame({name: [] for name in _COLUMNS})
        here, there = (column_of(known, name) for name in ("wait", "other_wait"))
        longest = max(here.max(), there.max(), 1.0)
        edges = 10.0 ** (np.arange(np.ceil(A_DECADE * np.log10(longest)) + 2) / A_DECADE)  # powers of ten are exact
        edges = np.concatenate(([0.0], edges))
        place, other = (_class_of(waits, edges) for waits in (here, there))
        counted = pd.DataFrame({"place": place, "other": other, "shorter": here < there, "longer": here > there})
        cells = counted.groupby(["place", "other"]).agg(
            jobs=("shorter", "size"), shorter=("shorter", "sum"), longer=("longer", "sum")
        )
        at, beside = (cells.index.get_level_values(level).to_numpy() for level in ("place", "other"))
        ends = {
            "wait_from": edges[at],
            "wait_to": edges[at + 1],
            "other_from": edges[beside],
            "other_to": edges[beside + 1],
        }
        names = {
            name: str(known[name].iloc[0]) if name in known else word
            for name, word in (("policy", "this"), ("other_policy", "the other"))
        }
        return pd.DataFrame({**ends, **cells.reset_index(drop=True), **names})[list(_COLUMNS)]

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: NoParameters) -> None:
        """Draw the classes, and the line on which waits are equal."""
        from matplotlib.collections import PolyCollection  # noqa: PLC0415 (an extra)

        left, right = (table[name].clip(lower=_LEFT) for name in ("other_from", "other_to"))
        low, high = (table[name].clip(lower=_LEFT) for name in ("wait_from", "wait_to"))
        corners = np.stack((left, low, left, high, right, high, right, low), axis=1).reshape(-1, 4, 2)
        norm = amounts_norm(table["jobs"])
        cells = PolyCollection(list(corners), cmap=FEW_TO_MANY, norm=norm, edgecolors="white", linewidths=0.3)
        cells.set_array(table["jobs"].to_numpy(dtype=float))
        axes.add_collection(cells, autolim=False)
        last = max(float(right.max()), float(high.max()), 100.0)
        axes.plot([_LEFT, last], [_LEFT, last], color=COLORS[1], linestyle="--", linewidth=1.0)
        for which, name in (("x", "other_policy"), ("y", "policy")):
            duration_axis(axes, which)
            thin_durations(getattr(axes, f"{which}axis"))
            _with_none(getattr(axes, f"{which}axis"))
            axes.set(**{f"{which}lim": (_LEFT, last), f"{which}label": f"wait under {name_of(table[name].iloc[0])}"})
        axes.tick_params(axis="x", rotation=45)
        color_bar(axes, cells, "jobs")

    def tell(self, table: pd.DataFrame, chosen: NoParameters) -> str:
        """Return the shares of jobs that wait shorter, longer and equally long."""
        jobs, shorter, longer = (int(table[name].sum()) for name in ("jobs", "shorter", "longer"))
        here, there = (name_of(table[name].iloc[0]) for name in ("policy", "other_policy"))
        return (
            f"of {jobs:,} jobs {percent(shorter, jobs, digits=1)} wait shorter under {here} than under {there}, "
            f"{percent(longer, jobs, digits=1)} longer, and {percent((jobs - shorter - longer) / jobs, digits=1)} "
            "equally long"
        )


def _class_of(waits: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the class of each wait: from an edge on, up to the next."""
    return np.clip(np.searchsorted(edges, waits, side="right") - 1, 0, len(edges) - 2)


def _with_none(axis: Any) -> None:
    """Label the strip of waits below one second too."""
    from matplotlib.ticker import FixedLocator, FuncFormatter  # noqa: PLC0415 (an extra)

    words, strip = axis.get_major_formatter(), _LEFT**0.5  # in the middle between there and 1 s
    places = [place for place in axis.get_major_locator().locs if place > 1.0]
    axis.set_major_locator(FixedLocator([strip, *places]))
    axis.set_major_formatter(FuncFormatter(lambda value, at: "< 1 s" if value < 1.0 else words(value, at)))

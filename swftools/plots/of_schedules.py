# SPDX-License-Identifier: BSD-3-Clause
"""What the pictures of schedules share: when the log began, means of step functions, classes of jobs by their size."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.plots.primitives import FEW_TO_MANY
from swftools.simulator.metrics.columns import column_of, rows_of
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

FloatArray = npt.NDArray[np.float64]
RUN_TIMES = {
    60.0: "to 1 min",
    600.0: "to 10 min",
    3600.0: "to 1 h",
    14_400.0: "to 4 h",
    43_200.0: "to 12 h",
    np.inf: "over 12 h",
}
"""Classes of run times: up to when, s, and what they are called; each begins behind the one before."""

MOST_WIDTHS = 8
"""Classes of widths by powers of 2, at most; where these would be more, they are by powers of 4, and so on."""


def start_of(jobs: pd.DataFrame) -> float | None:
    """Return when a log began, in UNIX time; None where its jobs do not say, or were moved in time since.

    Jobs say so by the column submit_timestamp, which cleaned traces have, beside submit_time.
    """
    if "submit_timestamp" not in jobs or jobs["submit_timestamp"].isna().all():
        return None
    seconds = (jobs["submit_timestamp"] - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
    begins = column_of((seconds - jobs["submit_time"]).to_frame("begin"), "begin")
    begins = begins[~np.isnan(begins)]
    return float(begins[0]) if len(begins) and np.ptp(begins) <= 1.0 else None


def clock_of(schedule: Schedule, jobs: pd.DataFrame) -> dict[str, Any]:
    """Return columns of a table that say when the log began, and by whose clock: ``log_start`` and ``log_zone``.

    ``log_start`` is UNIX time, s, missing where it is not known: ``start_of`` the jobs, or where they have no such
    column, what the header says. ``log_zone`` is what ``zone_of`` calls the zone of the log, "UTC" where that is not
    known.
    """
    start = start_of(jobs)
    if "submit_timestamp" not in jobs and schedule.origin is not None:
        start = schedule.origin.timestamp()
    zone = schedule.origin.tzinfo if schedule.origin is not None else None
    return {"log_start": np.nan if start is None else start, "log_zone": str(zone or "UTC")}


def clock_in(table: pd.DataFrame) -> tuple[float | None, str]:
    """Return when the log of a table began, and its zone, as ``time_axis`` takes them; see ``clock_of``."""
    start = table["log_start"].iloc[0]
    return None if np.isnan(start) else float(start), str(table["log_zone"].iloc[0])


def known_only(schedule: Schedule) -> Schedule:
    """Return a schedule without the jobs whose submission or start is missing, and their runs."""
    jobs = schedule.jobs
    is_known = ~(np.isnan(column_of(jobs, "submit_time")) | np.isnan(column_of(jobs, "start_time")))
    if is_known.all():
        return schedule
    runs = schedule.segments[is_known[rows_of(schedule.segments, jobs)]]
    return replace(schedule, jobs=jobs[is_known], segments=runs)


_LENGTHS = (1.0, 10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0, 604_800.0, 2_419_200.0, 7_257_600.0, 31_449_600.0)


def in_bins(times: FloatArray, values: FloatArray, most: int) -> pd.DataFrame:
    """Return a step function as it is, or, if it has more steps than that, its means over times of equal length.

    Parameters
    ----------
    times : numpy.ndarray of float, shape (steps,)
        From when each value holds, s, rising; the last value, which is of the time behind all, is not looked at.
    values : numpy.ndarray of float, shape (steps,)
        The values.
    most : int
        Steps that are shown as they are, and bins otherwise. A bin is as long as people count: a minute, an hour, a
        day, four weeks.

    Returns
    -------
    pandas.DataFrame
        One row for each step or bin: ``begin`` and ``end``, s, ``mean`` and ``most``, the largest value in it. The
        first and the last bin are shorter, as the log has it.
    """
    if len(times) - 1 <= most:
        begin, end, value = times[:-1], times[1:], values[:-1]
        return pd.DataFrame({"begin": begin, "end": end, "mean": value, "most": value})
    whole = times[-1] - times[0]
    length = next((each for each in _LENGTHS if whole / each <= most - 1), whole / most)
    first, last = np.floor(times[0] / length) + 1, np.ceil(times[-1] / length) - 1
    inner = np.arange(first, last + 1) * length
    edges = np.concatenate((times[:1], inner[(inner > times[0]) & (inner < times[-1])], times[-1:]))
    total = np.concatenate(([0.0], np.cumsum(values[:-1] * np.diff(times))))
    # The integral is linear between two events, so its value at any edge is exact.
    mean = np.diff(np.interp(edges, times, total)) / np.diff(edges)
    at = np.searchsorted(times, edges[:-1], side="right") - 1  # the step that holds where the bin begins
    inside = np.maximum.reduceat(values[:-1], at)  # up to the step before the one that holds where the next begins
    until = np.searchsorted(times, edges[1:], side="left") - 1
    peak = np.maximum(inside, values[until])
    # Means of nearly equal sums may leave the range of values by rounding.
    return pd.DataFrame({"begin": edges[:-1], "end": edges[1:], "mean": np.clip(mean, 0.0, peak), "most": peak})


class SizeClasses(NamedTuple):
    """Jobs by width and run time: the upper ends and names of classes, and the class of each job by the two."""

    widths: list[str]
    run_times: list[str]
    of_width: npt.NDArray[np.int64]
    of_run_time: npt.NDArray[np.int64]


def sizes_of(jobs: pd.DataFrame) -> SizeClasses:
    """Return the classes of jobs by their size; the widths are powers of 2, or of 4, and what lies between."""
    width, run_time = (column_of(jobs, name) for name in ("allocated_processors", "run_time"))
    ends = [1.0]
    factor = 2.0
    widest = float(width.max(initial=1.0))
    while factor ** (MOST_WIDTHS - 1) < widest:
        factor *= 2.0
    while ends[-1] < widest:
        ends.append(ends[-1] * factor)
    names = ["1"]
    for low, high in pairwise(ends):
        names.append(f"{low + 1:,.0f}" if low + 1 == high else f"{low + 1:,.0f}-{high:,.0f}")
    return SizeClasses(
        names,
        list(RUN_TIMES.values()),
        np.searchsorted(np.array(ends), width, side="left"),
        np.searchsorted(np.array(list(RUN_TIMES)), run_time, side="left"),
    )


def by_size(jobs: pd.DataFrame, values: dict[str, tuple[FloatArray, str]]) -> pd.DataFrame:
    """Return statistics of jobs by width and run time.

    Parameters
    ----------
    jobs : pandas.DataFrame
        Of a schedule, with known width and run time.
    values : mapping of str to (numpy.ndarray of float, str)
        By the name of the column that is made: a value for each job, and the statistic that pandas takes of them.

    Returns
    -------
    pandas.DataFrame
        One row for each class of width and of run time, all of them: ``width`` and ``run_time``, their names in order,
        and ``jobs``; a statistic of no jobs is missing. Without jobs, no rows.
    """
    if not len(jobs):
        return pd.DataFrame({"width": [], "run_time": [], "jobs": [], **{name: [] for name in values}})
    sizes = sizes_of(jobs)
    cell = sizes.of_width * len(sizes.run_times) + sizes.of_run_time
    count = len(sizes.widths) * len(sizes.run_times)
    table = pd.DataFrame(
        {
            "width": np.repeat(np.array(sizes.widths, dtype=object), len(sizes.run_times)),
            "run_time": np.tile(np.array(sizes.run_times, dtype=object), len(sizes.widths)),
            "jobs": np.bincount(cell, minlength=count),
        }
    )
    for name, (each, statistic) in values.items():
        table[name] = pd.Series(each).groupby(cell).agg(statistic).reindex(range(count)).to_numpy()
    return table


def with_size(jobs: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Return the jobs whose width, run time and other columns named are known."""
    return jobs.dropna(subset=["allocated_processors", "run_time", *names])


def draw_sizes(axes: Axes, table: pd.DataFrame, column: str, norm: Any, words: Callable[[float], str]) -> Any:
    """Draw a statistic by width and run time, its value in each cell in words; cells without jobs stay white.

    Returns what a colour bar is made of.
    """
    from matplotlib import colormaps, rcParams  # noqa: PLC0415 (an extra)

    grid = table.pivot_table(index="run_time", columns="width", values=column, sort=False, dropna=False)
    grid = grid.reindex(index=list(RUN_TIMES.values()), columns=table["width"].drop_duplicates().tolist())
    values = np.ma.masked_invalid(grid.to_numpy(dtype=float))
    mesh = axes.pcolormesh(values, cmap=FEW_TO_MANY, norm=norm, edgecolors="white", linewidth=0.5)
    axes.set_xticks(np.arange(grid.shape[1]) + 0.5, grid.columns.tolist(), rotation=45, ha="right")
    axes.set_yticks(np.arange(grid.shape[0]) + 0.5, grid.index.tolist())
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.set(xlabel="processors", ylabel="run time")
    colors: Any = colormaps[FEW_TO_MANY]
    small = 0.6 * float(rcParams["font.size"])
    for (row, place), value in np.ndenumerate(values.filled(np.nan)):
        if not np.isnan(value):
            red, green, blue, _ = colors(norm(value))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
            axes.text(
                place + 0.5,
                row + 0.5,
                words(float(value)),
                ha="center",
                va="center",
                fontsize=small,
                color="white" if dark else "black",
            )
    return mesh

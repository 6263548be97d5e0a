"""Pictures of predicted waits, for those who would rather look: by matplotlib, the extra ``swftools[plots]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.output.figure import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_coverage(evaluation: pd.DataFrame, axes: Axes | None = None, *, quantile: float = 0.95) -> Axes:
    """Draw the correctness of each method by month, and the line that it is meant to reach.

    Parameters
    ----------
    evaluation : pandas.DataFrame
        As ``evaluate`` returns it, with the grouping month.
    axes : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    quantile : float
        What the bounds are meant to be of.

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Raises
    ------
    ParameterError
        The evaluation has no months.
    MissingLibraryError
        matplotlib is not installed.
    """
    rows = _rows(evaluation, "month").dropna(subset=["correctness"])
    drawn = _axes(axes)
    for method, part in rows.groupby("method", sort=False):
        error = 1.96 * part["standard_error"]
        drawn.errorbar(part["group"], part["correctness"], yerr=error, marker=".", capsize=2, label=str(method))
    drawn.axhline(quantile, color="black", linestyle=":", label=f"meant: {quantile:g}")
    drawn.set(xlabel="month of submission", ylabel="share of waits within the bound")
    months = rows["group"].unique()
    drawn.set_xticks(months[:: max(1, len(months) // 12)])
    drawn.tick_params(axis="x", rotation=45)
    drawn.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)
    return drawn


def plot_waits(predictions: pd.DataFrame, queue: str, axes: Axes | None = None) -> Axes:
    """Draw the waits of a queue, and what its jobs were told, by submission; both on a logarithmic scale.

    Parameters
    ----------
    predictions : pandas.DataFrame
        Of one method, as ``replay`` returns them.
    queue : str
        One of its queues.
    axes : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ParameterError
        The predictions have no such queue, or are of several methods.
    MissingLibraryError
        matplotlib is not installed.
    """
    jobs = predictions[predictions["queue"] == queue].sort_values("submit_time", kind="stable")
    if jobs.empty:
        raise ParameterError(
            f"no job is of queue {queue!r}; there are: {', '.join(sorted(predictions['queue'].unique()))}"
        )
    if jobs["method"].nunique() > 1:
        raise ParameterError(f"predictions of several methods: {', '.join(jobs['method'].unique())}; draw one")
    drawn = _axes(axes)
    days = jobs["submit_time"] / 86_400.0
    told = jobs["wait_bound"].notna()
    late = told & (jobs["wait_time"] > jobs["wait_bound"])
    drawn.plot(days[~late], jobs["wait_time"][~late].clip(lower=1.0), ".", markersize=2, label="wait")
    drawn.plot(days[late], jobs["wait_time"][late], "x", markersize=4, label="wait beyond the bound")
    drawn.plot(days[told], jobs["wait_bound"][told].clip(lower=1.0), "_", markersize=3, label="bound")
    drawn.set(yscale="log", xlabel="submission, days from the start of the log", ylabel="s")
    drawn.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)
    return drawn


def plot_tightness(evaluation: pd.DataFrame, axes: Axes | None = None) -> Axes:
    """Draw of each method and queue the median of bound / wait, and its .9 quantile; hollow where it is not correct.

    Parameters
    ----------
    evaluation : pandas.DataFrame
        As ``evaluate`` returns it, with the grouping queue.
    axes : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ParameterError
        The evaluation has no queues.
    MissingLibraryError
        matplotlib is not installed.
    """
    rows = _rows(evaluation, "queue").dropna(subset=["median_tightness"])
    drawn = _axes(axes)
    queues = list(rows["group"].unique())
    methods = list(rows["method"].unique())
    for number, method in enumerate(methods):
        part = rows[rows["method"] == method]
        place = np.array([queues.index(queue) for queue in part["group"]]) + 0.8 * (number + 0.5) / len(methods) - 0.4
        lines = drawn.vlines(place, part["median_tightness"], part["p90_tightness"], color=f"C{number}", alpha=0.5)
        correct = part["is_correct"].to_numpy(dtype=bool)
        for is_correct, face in ((True, f"C{number}"), (False, "none")):
            chosen = correct == is_correct
            label = str(method) if is_correct or not correct.any() else None
            drawn.plot(
                place[chosen],
                part["median_tightness"][chosen],
                "o",
                color=f"C{number}",
                markerfacecolor=face,
                label=label if chosen.any() else None,
            )
        lines.set_label(None)
    drawn.set(yscale="log", xlabel="queue", ylabel="bound / wait: median to .9 quantile")
    drawn.set_xticks(range(len(queues)), queues)
    drawn.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)
    return drawn


def _rows(evaluation: pd.DataFrame, grouping: str) -> pd.DataFrame:
    """Return the rows of a grouping."""
    rows = evaluation[evaluation["grouped_by"] == grouping]
    if rows.empty:
        raise ParameterError(f"the evaluation has no rows by {grouping}: evaluate(..., grouped_by=[{grouping!r}])")
    return rows


def _axes(axes: Axes | None) -> Any:
    """Return where to draw."""
    return new_figure(8, 4).add_subplot() if axes is None else axes

# SPDX-License-Identifier: BSD-3-Clause
"""Which jobs are backfilled or stopped: by their width and run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from swftools.output.amounts import percent
from swftools.parameters import Parameters, choice
from swftools.plots.of_schedules import by_size, draw_sizes, with_size
from swftools.plots.picture import Picture, register_picture
from swftools.simulator.metrics.columns import column_of
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WORDS = {"is_backfilled": "backfilled", "preemptions": "preempted"}


@dataclass(frozen=True)
class BackfilledParameters(Parameters):
    """What is told of jobs: that they started before one submitted earlier, or that they were stopped once or more."""

    what: str = choice("backfilled", "preempted")


@register_picture
class Backfilled(Picture):
    """The share of jobs that were backfilled, or preempted, by the processors they had and how long they ran.

    By size and not over time, since size is what decides who fits a gap, and who is stopped to make room; white where
    there is no job. A job is backfilled where one that was submitted earlier starts at a later instant.
    """

    name = "backfilled"
    of = Schedule
    title = "Who is backfilled"
    parameters = BackfilledParameters
    aspect = 0.55
    nothing = "no job that ran and of which this is known"

    def table(self, subject: Schedule, chosen: BackfilledParameters) -> pd.DataFrame:
        """Return a row for each class: ``width`` and ``run_time``, in words, ``jobs``, ``chosen`` and ``share``.

        ``chosen`` are those of them that were backfilled, or preempted. The share of a class without jobs is missing.
        """
        column = next(name for name, word in _WORDS.items() if word == chosen.what)
        jobs = with_size(subject.jobs.reindex(columns=[*_NEEDED, column]), column)
        is_one = (column_of(jobs, column) > 0).astype(float)
        table = by_size(jobs, {"chosen": (is_one, "sum"), "share": (is_one, "mean")})
        return table.assign(chosen=table["chosen"].fillna(0).astype("int64"))

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: BackfilledParameters) -> None:
        """Draw a cell for each class, with its share in %."""
        from matplotlib.colors import Normalize  # noqa: PLC0415 (an extra)

        percent = table.assign(share=100 * table["share"])
        most = float(percent["share"].max()) or 1.0
        mesh = draw_sizes(axes, percent, "share", Normalize(0, most), lambda value: f"{value:.0f}")
        figure = axes.get_figure()
        if figure is not None:
            figure.colorbar(mesh, ax=axes, label=f"{chosen.what} jobs, %")

    def tell(self, table: pd.DataFrame, chosen: BackfilledParameters) -> str:
        """Return the share of all jobs, and the classes with most and least of them."""
        jobs, count = int(table["jobs"].sum()), int(table["chosen"].sum())
        known = table[table["jobs"] > 0]
        shares = known["share"].to_numpy()
        most, least = known.iloc[int(shares.argmax())], known.iloc[int(shares.argmin())]
        return (
            f"{percent(count, jobs, digits=1)} of {jobs:,} jobs are {chosen.what}; most of those on {most['width']} "
            "processors that "
            f"run {most['run_time']} ({percent(most['share'], digits=1)} of {most['jobs']:,}), least of those on "
            f"{least['width']} "
            f"that run {least['run_time']} ({percent(least['share'], digits=1)} of {least['jobs']:,})"
        )


_NEEDED = ("allocated_processors", "run_time")

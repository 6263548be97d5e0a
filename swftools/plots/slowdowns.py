# SPDX-License-Identifier: BSD-3-Clause
"""How much longer jobs take than they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from swftools.parameters import Parameters, number
from swftools.plots.picture import Picture, register_picture
from swftools.plots.style import count_axis
from swftools.plots.survival import draw_survival, survival, value_at
from swftools.simulator.metrics.of_jobs import measures_of_jobs
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.schedule import Schedule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class SlowdownsParameters(Parameters):
    """Shorter run times count as ``bound``, s, as in ``MetricParameters``."""

    bound: float = number(10.0, least=0, unit="s")


@register_picture
class Slowdowns(Picture):
    """Which share of the jobs has at least a bounded slowdown, on logarithmic axes; slowdowns are those of ``measure``.

    That is the time from submission to end over the run time, where shorter run times count as the bound.
    """

    name = "slowdowns"
    of = Schedule
    title = "Bounded slowdowns"
    parameters = SlowdownsParameters
    aspect = 0.6
    nothing = "no job that ran"

    def table(self, subject: Schedule, chosen: SlowdownsParameters) -> pd.DataFrame:
        """Return ``bounded_slowdown``, rising, ``jobs``, those that have at least that, and their ``share``."""
        made = measures_of_jobs(subject, MetricParameters(bound=chosen.bound))
        return survival(made["bounded_slowdown"](), "bounded_slowdown")

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: SlowdownsParameters) -> None:
        """Draw the curve."""
        from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415 (an extra)

        draw_survival(axes, table, 1.0, _amount)
        axes.xaxis.set_major_locator(LogLocator(10, subs=(1.0,)))
        axes.xaxis.set_minor_locator(NullLocator())
        count_axis(axes, "x")
        axes.set_xlabel(f"bounded slowdown (run times of at least {chosen.bound:g} s)")

    def tell(self, table: pd.DataFrame, chosen: SlowdownsParameters) -> str:
        """Return the median, the 90 % and the largest slowdown."""
        largest = float(table["bounded_slowdown"].iloc[-1])
        return (
            f"of {int(table['jobs'].iloc[0]):,} jobs the median is {_amount(value_at(table, 0.5))}, 90 % have no more "
            f"than {_amount(value_at(table, 0.1))}, the largest is {_amount(largest)} "
            f"(run times count as {chosen.bound:g} s at least)"
        )


def _amount(value: float) -> str:
    """Return a slowdown as it is written: 1.25, 31.4, 3,000."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"

# SPDX-License-Identifier: BSD-3-Clause
"""How much longer jobs take than they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from swftools.output.amounts import counted
from swftools.parameters import Parameters, number
from swftools.plots.picture import Picture, register_picture
from swftools.plots.several import OF
from swftools.plots.style import count_axis, name_of
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
    overlays = True
    nothing = "no job that ran"

    def table(self, subject: Schedule, chosen: SlowdownsParameters) -> pd.DataFrame:
        """Return ``bounded_slowdown``, rising, ``jobs`` with at least that, their ``share``, and ``of``, the policy."""
        made = measures_of_jobs(subject, MetricParameters(bound=chosen.bound))
        return survival(made["bounded_slowdown"](), "bounded_slowdown").assign(**{OF: subject.policy})

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: SlowdownsParameters) -> None:
        """Draw a curve each."""
        from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415 (an extra)

        for of, rows in table.groupby(OF, sort=False):
            draw_survival(axes, rows, 1.0, _amount, str(of))
        axes.xaxis.set_major_locator(LogLocator(10, subs=(1.0,)))
        axes.xaxis.set_minor_locator(NullLocator())
        count_axis(axes, "x")
        axes.set_xlabel(f"bounded slowdown (run times of at least {chosen.bound:g} s)")

    def tell(self, table: pd.DataFrame, chosen: SlowdownsParameters) -> str:
        """Return the median, the 90 % and the largest slowdown."""
        told = []
        for of, rows in table.groupby(OF, sort=False):
            whose = f"{name_of(of)}: " if table[OF].nunique() > 1 else ""
            told.append(
                f"{whose}of {counted(int(rows['jobs'].iloc[0]), 'job')} the median is "
                f"{_amount(value_at(rows, 0.5))}, 90 % have "
                f"no more than {_amount(value_at(rows, 0.1))}, the largest is "
                f"{_amount(rows['bounded_slowdown'].iloc[-1])}"
            )
        return f"{'; '.join(told)} (run times count as {chosen.bound:g} s at least)"


def _amount(value: float) -> str:
    """Return a slowdown as it is written: 1.25, 31.4, 3,000."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"

# SPDX-License-Identifier: BSD-3-Clause
"""How much of the requested time jobs use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from swftools.estimates import is_studied, used_shares
from swftools.output.amounts import percent
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import jobs_in_words
from swftools.plots.style import COLORS
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALL, _MORE = 107, 119
"""Where the bars of jobs stand that used exactly all, and more; apart from the tenths, which end at 100."""


@register_picture
class Used(Picture):
    """Shares of jobs by the part of the requested time that they used, tenth by tenth, all of it, and more.

    Which jobs are left out ``swftools.estimates`` says. Many that used all of it or more were killed there.
    """

    name = "used"
    of = Trace
    title = "Used share of the request"
    aspect = 0.5
    nothing = "no job whose requested time and run time are known"

    def table(self, subject: Trace, chosen: Any) -> pd.DataFrame:
        """Return a row for each tenth, for all and for more: ``used_from``, ``used_to``, ``jobs``, ``share``."""
        known = is_studied(subject)
        found = used_shares(subject.arrays.run_time[known] / subject.arrays.requested_time[known])
        return found if known.any() else found.iloc[:0]

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw a bar each."""
        place = [*range(5, 100, 10), _ALL, _MORE]
        axes.bar(place, 100 * table["share"], width=9, color=[COLORS[0]] * 10 + [COLORS[5]] * 2)
        ticks = range(0, 100, 20)
        axes.set_xticks([*ticks, _ALL, _MORE], [*map(str, ticks), "all", "more"])
        axes.set(xlabel="used of the requested time, %", ylabel="jobs, %", ylim=(0, None))
        axes.grid(visible=False, axis="x")

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return how many used less than a tenth, less than a fifth, and all or more."""
        share = table["share"]
        return (
            f"of {jobs_in_words(int(table['jobs'].sum()))} {percent(share.iloc[0], digits=1)} used less than a tenth, "
            f"{percent(share.iloc[:2].sum(), digits=1)} less than a fifth, "
            f"{percent(share.iloc[-2:].sum(), digits=1)} all of it or more"
        )

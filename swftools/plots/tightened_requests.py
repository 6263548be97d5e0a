# SPDX-License-Identifier: BSD-3-Clause
"""By how much users tighten their requests when they are asked again: synthetic answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from swftools.estimates import study_estimates
from swftools.models.tightened_requests import COLUMN, tighten_requests
from swftools.output.amounts import percent
from swftools.parameters import LARGEST_SEED, Parameters, whole
from swftools.plots.picture import Picture, register_picture
from swftools.plots.primitives import jobs_in_words
from swftools.plots.style import COLORS
from swftools.trace import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class TighteningPictureParameters(Parameters):
    """The seed of the answers."""

    seed: int = whole(0, least=0, most=LARGEST_SEED)


@register_picture
class Tightening(Picture):
    """Shares of synthetic answers by how much less than the request they are, among those that are less."""

    name = "tightening"
    of = Trace
    title = "Requests tightened (synthetic)"
    parameters = TighteningPictureParameters
    aspect = 0.5
    nothing = "no request that is tightened"

    def table(self, subject: Trace, chosen: TighteningPictureParameters) -> pd.DataFrame:
        """Return a row a tenth: ``decrease_from``, ``decrease_to``, ``jobs``, ``share``, ``asked``, ``mean_decrease``.

        The last two, the same in every row, are all jobs that were asked, and the mean of those that tightened.
        """
        study = study_estimates(subject, tighten_requests(subject, chosen.seed)[COLUMN])
        less, every = (study.answers[study.answers["answer"] == kind] for kind in ("less", "all"))
        found = study.decreases.assign(asked=every["jobs"].sum(), mean_decrease=less["mean_decrease"].mean())
        return found if less["jobs"].sum() else found.iloc[:0]

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: TighteningPictureParameters) -> None:
        """Draw a bar each."""
        axes.bar(range(5, 100, 10), 100 * table["share"], width=9, color=COLORS[0])
        axes.set_xticks(range(0, 101, 20))
        axes.set(xlabel="less than the request by, %", ylabel="of those less, %", ylim=(0, None))
        axes.grid(visible=False, axis="x")

    def tell(self, table: pd.DataFrame, chosen: TighteningPictureParameters) -> str:
        """Return how many were tightened, and by how much in the mean."""
        less, asked = int(table["jobs"].sum()), int(table["asked"].iloc[0])
        return (
            f"{percent(less, asked, digits=1)} of the requests of {jobs_in_words(asked)} are tightened, "
            f"by {percent(table['mean_decrease'].iloc[0], digits=1)} of the request in the mean"
        )

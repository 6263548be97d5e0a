# SPDX-License-Identifier: BSD-3-Clause
"""Whether bounds are of the quantile that they are said to be of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from swftools.errors import ParameterError
from swftools.output.amounts import percent
from swftools.parameters import Parameters, number
from swftools.plots.bound_width import QUEUES
from swftools.plots.picture import Picture, register_picture
from swftools.plots.series import and_more, legend_above, look_at, queue_axis, share_interval
from swftools.plots.style import name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ReliabilityParameters(Parameters):
    """What the bounds are meant to be of, where the table does not say."""

    quantile: float = number(0.95, above=0, most=1)


@register_picture
class Reliability(Picture):
    """The share of waits within the bound beside the quantile that is meant.

    It is of what ``evaluate`` returns. Evaluations of several quantiles, put together with a column ``quantile``, are
    drawn by quantile, of all jobs; one of a single quantile by queue, 20 of most waits. A share above the line is
    cautious, one below is less than was told. Bars are intervals that have the true share with confidence .95, if waits
    were independent.
    """

    name = "reliability"
    of = pd.DataFrame
    columns: ClassVar[tuple[str, ...]] = ("method", "grouped_by", "group", "predicted", "correctness")
    title = "Share of waits within the bound"
    parameters: ClassVar[type[Parameters]] = ReliabilityParameters
    aspect = 0.6
    nothing = "no wait that is known of a job that was told a bound"
    meant, kept = "quantile that is meant", "share within the bound"

    def table(self, subject: pd.DataFrame, chosen: ReliabilityParameters) -> pd.DataFrame:
        """Return a row for each method and quantile or queue: the quantile, the waits, the share and its interval."""
        meant = subject["quantile"] if "quantile" in subject else pd.Series(chosen.quantile, index=subject.index)
        grouping = "all" if meant.nunique() > 1 else "queue"
        rows = subject.assign(meant=meant)[subject["grouped_by"] == grouping]
        if rows.empty and len(subject):
            raise ParameterError(
                f"picture {self.name}: no rows by {grouping}: evaluate(..., grouped_by=[{grouping!r}])"
            )
        names = {"group": "queue", "predicted": "waits", "correctness": "share"}
        rows = rows.rename(columns=names)[["method", "queue", "meant", "waits", "share"]]
        rows = rows[rows["share"].notna()].astype({"waits": "int64", "share": "float64", "meant": "float64"})
        if grouping == "all":
            rows = rows.sort_values("meant", kind="stable")
        else:
            most = rows.groupby("queue", sort=False)["waits"].max().nlargest(QUEUES).index
            rows = rows[rows["queue"].isin(most)]
        low, high = share_interval(rows["share"].to_numpy(), rows["waits"].to_numpy(dtype=np.float64))
        return rows.assign(low=low, high=high).reset_index(drop=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: ReliabilityParameters) -> None:
        """Draw shares over quantiles beside the diagonal, or by queue beside a line."""
        is_by_quantile = table["meant"].nunique() > 1
        queues, methods = table["queue"].unique().tolist(), table["method"].unique().tolist()
        for place, method in enumerate(methods):
            part, look = table[table["method"] == method], look_at(place)
            error = [part["share"] - part["low"], part["high"] - part["share"]]
            if is_by_quantile:
                at = part["meant"].to_numpy()
            else:
                side = 0.7 * (place + 0.5) / len(methods) - 0.35
                at, look["linestyle"] = np.array([queues.index(queue) for queue in part["queue"]]) + side, ""
            axes.errorbar(at, part["share"], yerr=error, label=name_of(method), markersize=4, elinewidth=0.8, **look)
        line: Any = {"color": "black", "linestyle": ":", "linewidth": 1.0, "zorder": 1.5}
        words = "as meant" if is_by_quantile else f"meant: {table['meant'].iloc[0]:g}"
        if is_by_quantile:
            ends = [table["meant"].min(), table["meant"].max()]
            axes.plot(ends, ends, label=words, **line)
            axes.set(xlabel=self.meant)
        else:
            axes.axhline(float(table["meant"].iloc[0]), **line)
            axes.plot([], [], label=words, **line)
            queue_axis(axes, queues)
        axes.set_ylabel(self.kept)
        legend_above(axes, last=words)

    def tell(self, table: pd.DataFrame, chosen: ReliabilityParameters) -> str:
        """Return of each method where the share is below what is meant by more than chance, and the worst."""
        what = "quantiles" if table["meant"].nunique() > 1 else "queues"
        told = []
        for method, part in table.groupby("method", sort=False):
            below = int((part["high"] < part["meant"]).sum())
            worst = part.iloc[int((part["share"] - part["meant"]).to_numpy().argmin())]
            where = "" if what == "quantiles" else f"queue {name_of(worst['queue'])}, "
            held = f"too seldom in {below} of {len(part)}" if below else f"as often as meant in all {len(part)}"
            least = f"{where}{worst['share']:.3f} where {worst['meant']:.4g} is meant"
            told.append(f"{name_of(method)} {held} {what}; at worst {least}")
        return and_more(told)


@dataclass(frozen=True)
class PromisesParameters(Parameters):
    """Nothing to choose: the table says what was promised."""


@register_picture
class Promises(Reliability):
    """The share of promises that were kept beside the probability that was promised.

    It is of the calibration of reservations: accepted ones, by what they were promised at their submission. Bars are
    intervals that have the true share with confidence .95, if reservations were independent.
    """

    name = "promises"
    columns = (*Reliability.columns, "quantile")
    title = "Share of promises kept"
    parameters = PromisesParameters
    nothing = "no reservation that was accepted"
    meant, kept = "probability that was promised", "share of promises kept"

    def table(self, subject: pd.DataFrame, chosen: Any) -> pd.DataFrame:
        """Return a row for each method and probability; one probability is drawn as one queue is."""
        grouping = "all" if subject["quantile"].nunique() > 1 else "queue"
        return super().table(subject.assign(grouped_by=grouping), ReliabilityParameters())

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return of each method how many accepted jobs ran in time, and what they were promised."""
        told = []
        for method, part in table.groupby("method", sort=False):
            jobs, kept = int(part["waits"].sum()), int((part["share"] * part["waits"]).round().sum())
            least, most = percent(part["meant"].min()), percent(part["meant"].max())
            promised = least if least == most else f"{least.removesuffix(' %')} to {most}"
            which = f"{name_of(method)}, " if table["method"].nunique() > 1 else ""
            share = f"{kept:,} of {jobs:,}" if kept < jobs else f"all {jobs:,}"
            inside = f"{percent(kept, jobs)}; {promised} promised" if kept < jobs else f"{promised} promised"
            told.append(f"{which}{share} accepted jobs ran in time ({inside})")
        return and_more(told)

# SPDX-License-Identifier: BSD-3-Clause
"""What nights of a history found: how much of which kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from swftools.plots.picture import Picture, register_picture
from swftools.plots.series import and_more, is_wide, seconds_of, text_size
from swftools.plots.style import COLORS, name_of, time_axis, times_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUMBERED = 20
"""Nights up to which the counts are written beside their dots, where there is room."""


@register_picture
class Findings(Picture):
    """Findings by night and kind: a dot where there are some, its area by how many.

    It is of a table with a row for each finding: the date of the night, and the kind. A night that found nothing has a
    row without a kind, so that it can be told from one that was not looked at.
    """

    name = "findings"
    of = pd.DataFrame
    columns = ("night", "kind")
    title = "Findings"
    aspect = 0.4
    nothing = "no night"

    def table(self, subject: pd.DataFrame, chosen: Any) -> pd.DataFrame:
        """Return a row for each night and kind, and how many findings; a night without any has one row, and no kind."""
        rows = pd.DataFrame({"night": pd.to_datetime(subject["night"], utc=True), "kind": subject["kind"]})
        rows = rows.dropna(subset=["night"])
        counts = rows.groupby(["night", "kind"], sort=False).size().rename("findings").reset_index()
        quiet = rows.loc[~rows["night"].isin(counts["night"]), ["night"]].drop_duplicates()
        table = pd.concat([counts, quiet.assign(kind=None, findings=0)], ignore_index=True)
        return table.sort_values(["night", "kind"], kind="stable").reset_index(drop=True)

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw a row of dots a kind, the most frequent above, and below the nights without any."""
        some = table[table["kind"].notna()]
        kinds = some.groupby("kind", sort=True)["findings"].sum().sort_values(ascending=False, kind="stable").index
        places = {kind: place for place, kind in enumerate(kinds)}
        times = times_of(seconds_of(table["night"]), 0.0)
        at, most = table["kind"].notna().to_numpy(), float(table["findings"].max() or 1)
        rows = some["kind"].map(places).astype(int)
        axes.scatter(times[at], rows, s=20 + 130 * some["findings"] / most, color=COLORS[1], linewidth=0)
        if is_wide(axes) and table["night"].nunique() <= NUMBERED:
            size = 0.8 * text_size(axes)
            for time, row, count in zip(times[at], rows, some["findings"], strict=True):
                axes.annotate(f"{count:,}", (time, row), (7, 3), textcoords="offset points", fontsize=size)
        names = [name_of(kind) for kind in kinds]
        if not at.all():
            axes.plot(times[~at], [len(names)] * int((~at).sum()), "|", color=COLORS[0], markersize=8)
            names.append("none")
        axes.set_yticks(range(len(names)), names)
        axes.set(ylim=(len(names) - 0.4, -0.6))
        axes.margins(x=0.06)
        if len(set(times)) == 1:  # of one point an axis of dates would be of four years
            axes.set_xlim(times[0] - 1, times[0] + 1)
        time_axis(axes, 0.0)

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return how many there are, in how many nights, and of which kinds."""
        nights = table["night"].nunique()
        some = table[table["kind"].notna()]
        found = f"{some['findings'].sum():,} in {some['night'].nunique():,} of {nights:,} nights"
        if some.empty:
            return found
        counts = some.groupby("kind", sort=True)["findings"].sum().sort_values(ascending=False, kind="stable")
        return f"{found}: {and_more([f'{name_of(kind)} {count:,}' for kind, count in counts.items()])}"

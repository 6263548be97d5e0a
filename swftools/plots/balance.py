# SPDX-License-Identifier: BSD-3-Clause
"""What became of the job lines of a log: read, quarantined or merged by which rule, kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from swftools.cleaning.apply import CleaningReport
from swftools.output.amounts import percent
from swftools.plots.picture import Picture, register_picture
from swftools.plots.style import COLORS, count_axis, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS = 10
"""Steps that are drawn: those that took most; the rest stand together."""

_COLORS = {"read": COLORS[0], "kept": COLORS[0], "quarantined": COLORS[1], "merged": COLORS[5]}


@register_picture
class Balance(Picture):
    """Job lines from reading to what is kept: a bar a step that takes some away, from what is left before it to behind.

    What takes none away, repairs and flags among them, has no bar. Of more than ten such steps those that take most
    have one each, and the others one together.
    """

    name = "balance"
    of = CleaningReport
    title = "Balance of cleaning"
    nothing = "no job line was read"

    def table(self, subject: CleaningReport, chosen: Any) -> pd.DataFrame:
        """Return a row for each bar: the step, what became of the lines, how many, and how many are left behind it."""
        lines = subject.balance["job_lines"]
        if not lines:
            return pd.DataFrame({"step": [], "what": [], "lines": [], "left": []})
        taken = [
            (str(step["rule"]), what, int(step[what]))
            for step in subject.steps.to_dict("records")
            for what in ("quarantined", "merged")
            if step[what] > 0
        ]
        rows, left = [("read", "read", lines, lines)], lines
        for name, what, count in _together(taken):
            left -= count
            rows.append((name, what, count, left))
        rows.append(("kept", "kept", left, left))
        return pd.DataFrame(rows, columns=["step", "what", "lines", "left"])

    def draw(self, axes: Axes, table: pd.DataFrame, chosen: Any) -> None:
        """Draw the bars from above to below, each with its count."""
        lines = int(table["lines"].iloc[0])
        for place, row in enumerate(table.to_dict("records")):
            what, mine = row["what"], int(row["lines"])
            is_taken = what in ("quarantined", "merged")
            color, begin = _COLORS[what], int(row["left"]) if is_taken else 0
            # The edge is in the same colour, so that one line of a million is a line still.
            axes.barh(place, mine, left=begin, height=0.7, color=color, edgecolor=color, linewidth=1.0)
            count = f"{mine:,} {what} ({percent(mine, lines, digits=1)})"
            if is_taken and begin > 0.5 * lines:
                axes.annotate(count, (begin, place), (-4, 0), textcoords="offset points", ha="right", va="center")
            elif mine > 0.6 * lines:
                axes.annotate(count, (0, place), (4, 0), textcoords="offset points", va="center", color="white")
            else:
                axes.annotate(count, (begin + mine, place), (4, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(table)), [name_of(step) for step in table["step"]])
        axes.set(ylim=(max(len(table), 4) - 0.4, -0.6), xlim=(0, lines * 1.01), xlabel="job lines")
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", length=0)
        axes.locator_params(axis="x", nbins=5)
        count_axis(axes, "x")

    def tell(self, table: pd.DataFrame, chosen: Any) -> str:
        """Return the balance, and the step that took most."""
        lines, kept = int(table["lines"].iloc[0]), int(table["lines"].iloc[-1])
        taken = table.iloc[1:-1]
        counts = taken.groupby("what")["lines"].sum()
        gone = " and ".join(f"{counts[what]:,} {what}" for what in ("quarantined", "merged") if what in counts)
        told = f"of {lines:,} job lines {kept:,} are kept ({percent(kept, lines, digits=1)})"
        if not gone:
            return f"{told}; none was taken away"
        most = taken.iloc[int(taken["lines"].to_numpy().argmax())]
        return f"{told}, {gone}; most by {name_of(most['step'])} ({most['lines']:,} {most['what']})"


def _together(taken: list[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Return steps in their order, those that take least as one of each kind where there are too many."""
    if len(taken) <= ROWS:
        return taken
    most = sorted(range(len(taken)), key=lambda place: -taken[place][2])[: ROWS - 2]
    alone = [each for place, each in enumerate(taken) if place in most]
    others = [each for place, each in enumerate(taken) if place not in most]
    for what in ("quarantined", "merged"):
        counts = [count for _, how, count in others if how == what]
        if counts:
            alone.append((f"{len(counts)} other steps", what, sum(counts)))
    return alone

# SPDX-License-Identifier: BSD-3-Clause
"""Several pictures in one: where each stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def panels(axes: Axes, rows: int, columns: int) -> list[Axes]:
    """Return axes row by row in the place of some axes, which are no longer seen, but still stand for the whole."""
    from matplotlib.gridspec import GridSpec, GridSpecFromSubplotSpec  # noqa: PLC0415 (an extra)

    figure: Any = axes.figure
    axes.set_axis_off()
    place = axes.get_subplotspec()
    if place is None:
        box = axes.get_position()
        where = {"left": box.x0, "right": box.x1, "bottom": box.y0, "top": box.y1, "wspace": 0.3, "hspace": 0.5}
        grid: Any = GridSpec(rows, columns, figure=figure, **where)
    else:
        grid = GridSpecFromSubplotSpec(rows, columns, place)
    made = [figure.add_subplot(grid[row, column]) for row in range(rows) for column in range(columns)]
    figure.sca(axes)
    return made


def say(axes: Axes, words: str) -> None:
    """Let a picture say that there is nothing to show."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, words, ha="center", va="center", transform=axes.transAxes)


def set_heading(axes: Axes, words: str) -> None:
    """Say above axes what they show; above their legend too, where that is there."""
    legend: Any = axes.get_legend()
    is_above = legend is not None and legend.get_bbox_to_anchor().height == 0
    # As much as the lines of such a legend take, whose columns are as many as have room.
    lines = -(-len(legend.get_texts()) // legend._ncols) + bool(legend.get_title().get_text()) if is_above else 0
    size = float(axes.yaxis.label.get_fontsize())
    axes.set_title(words, loc="left", fontweight="bold", pad=6 + 1.5 * size * lines)

# SPDX-License-Identifier: BSD-3-Clause
"""What several pictures are made of: steps of times, densities of two quantities, a legend above the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from swftools.plots.style import SEQUENTIAL, count_axis
from swftools.trace import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW_TO_MANY = f"{SEQUENTIAL}_r"
"""The colour map of densities: on white paper, where nothing is, little is bright and much is dark."""


def time_edges(longest: float, steps: int) -> FloatArray:
    """Return where steps of time begin and end: 0, 1 s, and so many steps a decade, until one is above the longest.

    Parameters
    ----------
    longest : float
        The longest time, s.
    steps : int
        Steps from 1 s to 10 s, from 10 s to 100 s and so on.

    Examples
    --------
    >>> time_edges(10, 2).round(1).tolist()
    [0.0, 1.0, 3.2, 10.0, 31.6]
    """
    last = int(np.floor(np.log10(max(longest, 1.0)) * steps)) + 2
    edges = 10.0 ** (np.arange(last + 1) / steps)
    return np.concatenate([[0.0], edges[: np.searchsorted(edges, longest, side="right") + 1]])


def step_of(seconds: FloatArray, edges: FloatArray) -> IntArray:
    """Return the step that each time lies in, from 0 on; a time on an edge belongs to the step that begins there."""
    return np.searchsorted(edges, seconds, side="right").astype(np.int64) - 1


def count_cells(x: IntArray, y: IntArray, weights: npt.NDArray[Any] | None = None) -> tuple[IntArray, IntArray, Any]:
    """Return the cells that something is in, by x and then y, and how many are there, or the sum of their weights."""
    rows = int(y.max()) + 1
    found = np.unique(x * rows + y, return_inverse=True)
    return found[0] // rows, found[0] % rows, np.bincount(found[1], weights)


def draw_density(axes: Axes, x_edges: Any, y_edges: Any, cells: tuple[Any, Any, Any], label: str) -> None:
    """Colour cells by their amounts (above 0, on a log scale), and say by a bar beside the axes what colours mean.

    The cells are one small image, since a path each would make a vector graphic large and leave hairlines between them.
    """
    amounts = np.full((len(y_edges) - 1, len(x_edges) - 1), np.nan)
    amounts[cells[1], cells[0]] = cells[2]
    norm = amounts_norm(amounts)
    mesh = axes.pcolormesh(x_edges, y_edges, amounts, cmap=FEW_TO_MANY, norm=norm, rasterized=True)
    color_bar(axes, mesh, label)


def amounts_norm(amounts: Any, least: float = 1.0) -> Any:
    """Return a logarithmic scale of colours from the least amount that counts to the largest there is.

    Missing amounts are left out. Where none is larger than the least, all have the brightest colour.
    """
    from matplotlib.colors import LogNorm  # noqa: PLC0415 (an extra)

    most = float(np.nanmax(amounts))
    return LogNorm(least, most if most > least else 2.0 * least, clip=True)


def color_bar(axes: Axes, mesh: Any, label: str) -> None:
    """Put a bar of colours with its amounts beside the axes."""
    bar = axes.get_figure().colorbar(mesh, ax=axes, label=label, fraction=0.08, pad=0.02)  # type: ignore[union-attr]
    count_axis(bar.ax, "y")
    bar.ax.minorticks_off()
    bar.outline.set_visible(False)


def show_two_ticks(axes: Axes, which: str) -> None:
    """Widen the x or y axis until two of its ticks are seen, without which a log scale says nothing."""
    axis: Any = getattr(axes, f"{which}axis")
    low, high = sorted(axis.get_view_interval())
    ticks = [each for each in axis.get_majorticklocs() if each > 0]
    if sum(low <= each <= high for each in ticks) < 2:
        below, above = [each for each in ticks if each <= low], [each for each in ticks if each >= high]
        axes.set(**{f"{which}lim": (max(below, default=low), min(above, default=high))})


def jobs_in_words(jobs: int) -> str:
    """Return a number of jobs with its noun.

    Examples
    --------
    >>> jobs_in_words(1), jobs_in_words(2000)
    ('1 job', '2,000 jobs')
    """
    return f"{jobs:,} job{'' if jobs == 1 else 's'}"


def legend_above(axes: Axes, *, columns: int = 2) -> None:
    """Put the legend above the axes, at their right, where no data are."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=columns, borderaxespad=0.2)

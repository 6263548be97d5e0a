# SPDX-License-Identifier: BSD-3-Clause
"""How pictures of papers look: the colour of each policy, names of months that can be read, what abbreviations mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from swftools.plots.style import COLORS, DASHES, MARKERS, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ABBREVIATIONS = {
    "T_w": "T_w: sum of waits beyond the threshold",
    "maxW": "maxW: longest wait",
    "maxE": "maxE: longest wait beyond the threshold",
    "avgW": "avgW: mean wait",
    "avgX": "avgX: mean bounded slowdown",
    "DDS": "DDS, LDS: depth-bounded and limited discrepancy search",
    "-LXF": "LXF: largest slowdown first",
    "LXF-": "LXF: largest slowdown first",
    "FCFS": "FCFS: by submission",
    "L = ": "L: nodes that a search may visit",
}
"""What the names of a paper's policies mean."""

_MONTHS = 6  # names below an axis, of as many months as there are


def looks_of(policies: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return colour, dashes and marker by label, of the policies behind the labels.

    Each policy has the look that it has in every picture. Where it stands several times, as variants of a search do,
    the others take colours that none of these policies has, and dashes and markers of their own.

    Examples
    --------
    >>> looks = looks_of({"FCFS-backfill": "easy", "A": "search", "B": "search"})
    >>> looks["FCFS-backfill"] == look_of("easy"), looks["A"] == look_of("search"), looks["B"]["color"]
    (True, True, '#D55E00')
    """
    own = [look_of(policy) for policy in dict.fromkeys(policies.values())]
    taken = {look["color"] for look in own}
    free = [color for color in COLORS if color not in taken] or list(COLORS)
    lines = product(range(1, len(DASHES) + 1), free)
    seen: set[str] = set()
    looks: dict[str, dict[str, Any]] = {}
    for label, policy in policies.items():
        if policy in seen:
            turn, color = next(lines)
            place = turn + free.index(color)
            dashes, marker = DASHES[place % len(DASHES)], MARKERS[place % len(MARKERS)]
            looks[label] = {"color": color, "linestyle": dashes, "marker": marker}
        else:
            looks[label] = look_of(policy)
        seen.add(policy)
    return looks


def panels(size: tuple[float, float], lines: int, columns: int, **shared: Any) -> tuple[Figure, Any]:
    """Return a picture of panels, and these as an array of lines and columns; at least one is there.

    Parameters
    ----------
    size : tuple of float
        Width and height, inches.
    lines, columns : int
        Of panels.
    **shared
        Of ``Figure.subplots``: which axes panels share.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 (an extra)

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(max(1, lines), max(1, columns), squeeze=False, **shared)


def name_months(axes: Axes, months: Sequence[str]) -> None:
    """Label an x axis of months 0, 1, 2 ... by some of their names, with the year, so that these can be read."""
    step = max(1, -(-len(months) // _MONTHS))
    axes.set_xticks(range(0, len(months), step), months[::step], rotation=45, ha="right")


def explain(labels: Sequence[str]) -> str:
    """Return what the abbreviations in some labels mean, a line each; nothing where there are none.

    Examples
    --------
    >>> explain(["Lexical(maxW -> avgX)"])
    'maxW: longest wait; avgX: mean bounded slowdown'
    """
    found = [meaning for short, meaning in ABBREVIATIONS.items() if any(short in label for label in labels)]
    parts = list(dict.fromkeys(found))
    return "\n".join("; ".join(parts[place : place + 3]) for place in range(0, len(parts), 3))

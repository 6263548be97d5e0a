# SPDX-License-Identifier: BSD-3-Clause
"""What pictures of several methods share: the look of each, shares with their intervals, months on an axis of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from swftools.plots.style import COLORS, DASHES, MARKERS, name_of, times_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = npt.NDArray[np.float64]

MONTH = 30 * 86_400.0
"""Seconds of a month where the log does not say when it starts, as those of an evaluation."""

_NORMAL = 1.959963984540054  # the .975 quantile of the normal distribution
_DATED, _COUNTED = r"^\d{4}-\d{2}$", r"^month \d+$"


def look_at(place: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the line at a place, from 0; those of the first seven differ in all three."""
    return {
        "color": COLORS[place % len(COLORS)],
        "linestyle": DASHES[(place + place // len(COLORS)) % len(DASHES)],
        "marker": MARKERS[(place + place // len(COLORS)) % len(MARKERS)],
    }


def share_interval(share: FloatArray, count: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return between what the true share is with confidence .95, by Wilson (1927), of shares of ``count`` things.

    It has a width where the share is 1, too, which the binomial standard error has not. NaN of nothing.

    Examples
    --------
    >>> low, high = share_interval(np.array([0.9, 1.0]), np.array([100.0, 100.0]))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.8256, 0.963], [0.9448, 1.0])
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        shrunk = 1 + _NORMAL**2 / count
        middle = (share + _NORMAL**2 / (2 * count)) / shrunk
        half = _NORMAL / shrunk * np.sqrt(share * (1 - share) / count + _NORMAL**2 / (4 * count**2))
    return np.minimum(middle - half, share), np.clip(middle + half, share, 1.0)  # but for rounding it is within


def is_month(labels: pd.Series[Any]) -> pd.Series[bool]:
    """Return which labels are months: 2000-04, or month 0003 where no date is known."""
    text = labels.astype("str")
    return text.str.match(_DATED) | text.str.match(_COUNTED)


def middle_of_months(labels: pd.Series[Any]) -> tuple[Any, float | None]:
    """Return where on an axis of time the middles of months are, and what ``time_axis`` is told of it."""
    if len(labels) and labels.str.match(_DATED).all():
        begin = pd.to_datetime(labels, format="%Y-%m", utc=True)
        length = begin.dt.days_in_month * 86_400.0
        return times_of(seconds_of(begin) + length.to_numpy() / 2, 0.0), 0.0
    return times_of((labels.str.extract(r"(\d+)", expand=False).astype(float) + 0.5) * MONTH, None), None


def seconds_of(stamps: pd.Series[Any]) -> FloatArray:
    """Return points in time as UNIX times, s."""
    since: Any = stamps - pd.Timestamp(0, tz="UTC")
    return np.asarray(since / pd.Timedelta(seconds=1), dtype=np.float64)


def queue_axis(axes: Axes, queues: list[str]) -> None:
    """Label the x axis by queues, one at each whole number; upright, and cut off, where they have no room."""
    names = [name_of(queue) for queue in queues]
    room = 60 if is_wide(axes) else 35  # letters that stand side by side
    is_upright = sum(map(len, names)) + 2 * len(names) > room
    if is_upright and not is_wide(axes):
        names = [name if len(name) <= 10 else f"{name[:8]}.." for name in names]
    axes.set_xticks(range(len(names)), names, rotation=90 if is_upright else 0)
    axes.set(xlabel="queue", xlim=(-0.5, len(names) - 0.5))
    axes.grid(visible=False, axis="x")


def legend_above(axes: Axes, *, last: str | None = None) -> None:
    """Set the legend above the axes, in as many columns as have room; one entry may be put last."""
    entries = list(zip(*axes.get_legend_handles_labels(), strict=True))
    if not entries:
        return
    entries.sort(key=lambda entry: entry[1] == last)
    figure: Any = axes.figure
    width = axes.get_position().width * figure.get_figwidth() * 72  # points
    each = (max(len(label) for _, label in entries) + 6) * 0.46 * text_size(axes)
    columns = max(1, min(len(entries), int(width / each)))
    room: Any = {"handlelength": 1.8, "columnspacing": 1.2, "labelspacing": 0.3}
    handles, labels = zip(*entries, strict=True)
    axes.legend(handles, labels, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, **room)


def text_size(axes: Axes) -> float:
    """Return the size of the text of a picture, in points."""
    return float(axes.yaxis.label.get_fontsize())


def is_wide(axes: Axes) -> bool:
    """Return whether a picture has the room of a screen, and not of a column."""
    figure: Any = axes.figure
    return bool(axes.get_position().width * figure.get_figwidth() > 4.0)


def and_more(told: list[str], most: int = 4) -> str:
    """Return parts of a sentence, the first few of them."""
    left = len(told) - most
    return "; ".join(told[:most]) + (f"; and {left:,} more" if left > 0 else "")

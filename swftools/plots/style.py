# SPDX-License-Identifier: BSD-3-Clause
"""How all pictures look: sizes, colours that everybody tells apart, axes of times and durations.

Colours are those of Okabe and Ito (2008), which differ for colour-blind eyes; lines differ in their dashes and markers
as well, so that a picture can be read in grey.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from swftools.errors import ParameterError
from swftools.header import zone_called
from swftools.output.amounts import duration
from swftools.output.figure import new_figure
from swftools.output.shown_text import shown
from swftools.parameters import did_you_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""In the order in which they are taken: blue, vermilion, green, purple, light blue, orange, black."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SEQUENTIAL = "cividis"
"""The colour map of amounts, which pictures take from its bright end: much is dark, in grey too."""

_LOOKS = {
    name: place
    for place, name in enumerate(
        (
            *("easy", "conservative", "pv-easy", "search", "sjf-backfill", "lxf-backfill", "fcfs"),
            *("prio-fifo", "conservative-fixed", "weighted-priority", "sjf", "conservative-replanned", "lxf"),
            *("widest", "narrowest", "ljf", "genetic", "genetic-checkpoint", "fixed", "scojo-p", "cirne-berman"),
            *("easy-in-time", "slurm"),
        )
    )
}


@dataclass(frozen=True)
class Size:
    """How large a picture is: its width in inches, and its text in points."""

    width: float
    text: float

    def new_axes(self, aspect: float) -> Axes:
        """Return the axes of a new figure, whose height is ``aspect`` times its width."""
        return new_figure(*self._inches(aspect)).add_subplot()

    def shown_axes(self, aspect: float) -> Axes:
        """Return such axes that show themselves in a notebook, and that pyplot knows where it is in use."""
        from swftools.plots.shown_axes import new_axes  # noqa: PLC0415 (an extra)

        return new_axes(*self._inches(aspect))

    def _inches(self, aspect: float) -> tuple[float, float]:
        return self.width, max(self.width * aspect, 1.5)


SIZES = {"screen": Size(8.0, 11.0), "column": Size(3.4, 8.0)}
"""For a screen or a page; for a column of a paper."""


@contextmanager
def style(size: str = "screen") -> Iterator[None]:
    """Use the style of a size within a ``with`` block.

    Raises
    ------
    ParameterError
        There is no such size.
    """
    if size not in SIZES:
        raise ParameterError(
            f"no size {size!r} of pictures; there are: {', '.join(SIZES)}{did_you_mean([size], SIZES)}"
        )
    new_figure(1, 1)  # which says what to do where matplotlib is missing
    import matplotlib as mpl  # noqa: PLC0415 (an extra)
    from matplotlib.rcsetup import cycler  # noqa: PLC0415

    text = SIZES[size].text
    settings: Any = {
        "axes.axisbelow": True,
        "axes.grid": True,
        "axes.labelsize": text,
        "axes.prop_cycle": cycler(color=COLORS, linestyle=[DASHES[i % len(DASHES)] for i in range(len(COLORS))]),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlesize": text,
        "font.size": text,
        "grid.alpha": 0.3,
        "legend.fontsize": 0.9 * text,
        "legend.frameon": False,
        "lines.linewidth": 0.15 * text,
        "svg.fonttype": "none",  # text stays text, to be searched and read aloud
        "svg.hashsalt": "swftools",
        "text.parse_math": False,  # a user may be called $x^2$
        "xtick.labelsize": 0.9 * text,
        "ytick.labelsize": 0.9 * text,
    }
    with mpl.rc_context(settings), warnings.catch_warnings():
        # A user may have a name in any script: who reads the picture has a font for it, though this machine has none.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def look_of(policy: str) -> dict[str, Any]:
    """Return colour, dashes and marker of a policy, the same in every picture, whatever its parameters.

    What is logged, and no policy's, is grey.
    Policies that are not shipped get theirs by their name.
    """
    if policy == "logged":
        return {"color": "#666666", "linestyle": "-", "marker": "x"}
    name = policy.partition(":")[0]
    place = _LOOKS.get(name, int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big"))
    return {
        "color": COLORS[place % len(COLORS)],
        "linestyle": DASHES[place // len(COLORS) % len(DASHES)],
        "marker": MARKERS[(place + place // (len(COLORS) * len(DASHES))) % len(MARKERS)],
    }


def name_of(text: object) -> str:
    """Return a name from a log as it stands in a picture: without what turns text round, and not too long."""
    name = shown(text)
    return name if len(name) <= 24 else f"{name[:22]}.."


def duration_axis(axes: Axes, which: str, *, is_log: bool = True) -> None:
    """Label the x or y axis, whose values are seconds, by seconds, minutes, hours and days; logarithmic by default.

    On a log scale some ticks have no label where there is no room for all.
    """
    import matplotlib as mpl  # noqa: PLC0415 (an extra)
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator  # noqa: PLC0415 (an extra)

    axis: Any = getattr(axes, f"{which}axis")
    if is_log:
        axes.set(**{f"{which}scale": "log"})
        axis.set_major_locator(FixedLocator(list(_DURATIONS)))
        axis.set_minor_locator(NullLocator())
        text = float(mpl.rcParams["xtick.labelsize" if which == "x" else "ytick.labelsize"])
        axis.set_major_formatter(FuncFormatter(lambda value, _: _labelled(axes, which, text).get(round(value, 6), "")))
    else:
        axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 3, 6, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: duration(value)))


def count_axis(axes: Axes, which: str) -> None:
    """Label the x or y axis by whole numbers as they are written, 20 or 3,000, not as powers; a logarithmic one too."""
    from matplotlib.ticker import FuncFormatter  # noqa: PLC0415 (an extra)

    axis: Any = getattr(axes, f"{which}axis")

    def between(value: float, _: object) -> str:
        # A logarithmic axis of a power of ten or two would else have hardly a number.
        low, high = axis.get_view_interval()
        is_short = low > 0 and high < 40 * low
        return _count(value) if is_short and f"{value:e}"[0] in "25" else ""

    axis.set_major_formatter(FuncFormatter(lambda value, _: _count(value)))
    if axis.get_scale() == "log":
        axis.set_minor_formatter(FuncFormatter(between))


def _count(value: float) -> str:
    """Return a number as it is written."""
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


OVER_TIME = "over-time"
"""What axes are called in a drawing whose x axis is one of time, so that a page finds them."""


def time_axis(axes: Axes, start: float | None, zone: str = "UTC") -> None:
    """Label the x axis, whose values are ``times_of``, by dates with their year, or by days where no date is known.

    Dates are those of a zone, by its name as ``zone_of`` has it, which stands below them.
    """
    axes.set_gid(OVER_TIME)
    if start is None:
        axes.set_xlabel("days from the start of the log")
        return
    from matplotlib import rcParams  # noqa: PLC0415 (an extra)

    from swftools.plots.dates import label_dates  # noqa: PLC0415 (which needs it too)

    label_dates(axes, zone_called(zone), float(rcParams["xtick.labelsize"]))
    axes.set_xlabel(zone)


def times_of(seconds: Any, start: float | None) -> Any:
    """Return seconds from the start of a log as matplotlib's dates, or as days where ``start`` (UNIX time) is None."""
    return np.asarray(seconds, dtype=float) / 86_400.0 + (0.0 if start is None else start / 86_400.0)


_DURATIONS = {
    1.0: "1 s",
    10.0: "10 s",
    60.0: "1 min",
    600.0: "10 min",
    3600.0: "1 h",
    36_000.0: "10 h",
    86_400.0: "1 d",
    604_800.0: "7 d",
    2_592_000.0: "30 d",
    31_536_000.0: "1 y",
}
_REGULAR = (
    tuple(_DURATIONS),
    (1.0, 60.0, 3600.0, 86_400.0, 2_592_000.0, 31_536_000.0),
    (1.0, 60.0, 3600.0, 86_400.0, 2_592_000.0),
    (1.0, 60.0, 3600.0, 86_400.0),
    (1.0, 3600.0, 2_592_000.0),
    (1.0, 86_400.0),
    (86_400.0,),
)
"""Which of them have labels: the first of these that has room."""


def _labelled(axes: Axes, which: str, text: float) -> dict[float, str]:
    """Return the labels of an axis of durations: as many as stand clear of each other, at regular distances.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        As large as it is now.
    which : {"x", "y"}
        The axis, which is logarithmic.
    text : float
        Size of its labels, points.
    """
    low, high = sorted(getattr(axes, f"{which}axis").get_view_interval())
    box = axes.get_window_extent()
    points = (box.width if which == "x" else box.height) * 72.0 / axes.figure.dpi
    letters = text * np.log10(high / low) / max(points, 1.0)  # decades that a letter's height takes
    for chosen in _REGULAR:
        kept = {value: _DURATIONS[value] for value in chosen if low * 0.999 <= value <= high * 1.001}
        rooms = [0.5 + 0.55 * len(name) if which == "x" else 1.2 for name in kept.values()]
        gaps = np.diff(np.log10(list(kept))) / letters
        if (gaps >= [(one + next_one) / 2 for one, next_one in pairwise(rooms)]).all():
            return kept
    return {}

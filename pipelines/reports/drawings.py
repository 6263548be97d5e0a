# SPDX-License-Identifier: BSD-3-Clause
"""Pictures as a page has them: as SVG, where their axis of time is, and the values shown where somebody points.

The values are those that were drawn, so a page shows each picture once, and a script only reads what is beside it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipelines.reports.report import ReportPicture, Section
from swftools.output.shown_text import shown
from swftools.plots.style import OVER_TIME

DIGITS = 4
"""Significant digits of the values that are shown."""

_COMMANDS = re.compile(r"([MLCQz])([^MLCQz]*)")
"""What matplotlib draws by: to a place, a line, curves, to the beginning; and the numbers behind."""


@dataclass(frozen=True)
class Drawing:
    """A picture as a page has it.

    Parameters
    ----------
    drawing : Markup or None
        SVG; None where there is nothing to show, which the words say.
    words : str
        What it shows.
    title : str
        What it is of, in a few words.
    place : mapping
        Where its axes are, and from when to when, if they are over time; nothing where no script asks for it.
    values : str
        What is shown where somebody points, as JSON; empty where that is nothing.
    """

    drawing: Any
    words: str
    title: str
    place: Mapping[str, object]
    values: str


def drawn(part: Section, numbers: Iterator[int]) -> Iterator[Drawing]:
    """Yield the pictures of a part, whose drawings get the next numbers."""
    for picture in part.pictures:
        yield _svg(picture, next(numbers))


def _svg(picture: ReportPicture, number: int) -> Drawing:
    """Return a picture as elements of a page."""
    from markupsafe import Markup  # noqa: PLC0415 (comes with Jinja2)

    from swftools.plots import plot_and_tell, style  # noqa: PLC0415 (an extra)
    from swftools.plots.picture import find_picture  # noqa: PLC0415 (an extra)

    kind = find_picture(picture.subject, picture.name)
    title = kind.title
    with style():
        axes, words = plot_and_tell(picture.subject, picture.name, **picture.chosen)
        if not axes.axison:  # there is nothing to show: the words say so
            return Drawing(None, words, title, {}, "")
        figure: Any = axes.figure
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    whole = text.getvalue()
    drawing = _unique(_short(whole[whole.index("<svg") :]), f"{picture.name}-{number}")
    is_over_time = axes.get_gid() == OVER_TIME
    values = values_over_time(axes) if is_over_time else kind.cells(picture.subject, **picture.chosen)
    place = {**_place(axes), **(_times(axes) if is_over_time else {})} if is_over_time or values else {}
    return Drawing(Markup(drawing), words, title, place, Markup(json_of(values)))  # noqa: S704 (matplotlib escapes)


def _place(axes: Any) -> dict[str, object]:
    """Return where axes are in a drawing, points."""
    box = axes.get_position()
    width, height = axes.figure.get_size_inches() * 72.0
    return {
        "left": round(box.x0 * width, 2),
        "right": round(box.x1 * width, 2),
        "top": round((1 - box.y1) * height, 2),
        "bottom": round((1 - box.y0) * height, 2),
    }


def _times(axes: Any) -> dict[str, object]:
    """Return from when to when axes over time are, s; ``zone`` is that of the dates, empty where no date is known."""
    low, high = axes.get_xlim()
    label = axes.get_xlabel()
    return {
        "begin": round(low * 86_400.0, 3),
        "end": round(high * 86_400.0, 3),
        "zone": "" if label.startswith("days") else label,
    }


def values_over_time(axes: Any) -> dict[str, Any]:
    """Return the step functions that are drawn over time.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Drawn; what is drawn twice, as an area and its line, is returned once.

    Returns
    -------
    dict
        ``edges`` (s, the first one, then how much later each other is, whole) and ``series``, a list of ``name`` and
        ``values``, those of stacked areas without what is below them. Nothing where there are none, or their times
        differ. A value that is missing is None.
    """
    from matplotlib.patches import StepPatch  # noqa: PLC0415 (an extra)

    series: list[dict[str, Any]] = []
    edges = np.zeros(0)
    for patch in (each for each in axes.patches if isinstance(each, StepPatch)):
        values, at, baseline = patch.get_data()
        if len(edges) and not np.array_equal(at, edges):
            return {}
        edges = at
        label = str(patch.get_label())
        own = np.asarray(values, float) - (0.0 if baseline is None or np.ndim(baseline) == 0 else baseline)
        told = {"name": "" if label.startswith("_") else shown(label), "values": _rounded(own)}
        if told not in series:
            series.append(told)
    if not series:
        return {}
    what = shown(axes.get_ylabel().replace("\n", " "))
    whole = np.round(edges * 86_400.0).astype(np.int64)
    return {"what": what, "edges": [int(whole[0]), *np.diff(whole).tolist()], "series": series}


def _rounded(values: Any) -> list[float | int | None]:
    """Return values as short as they are shown: so many digits, whole ones without a point."""
    found: list[float | int | None] = []
    for value in values:
        if not np.isfinite(value):
            found.append(None)
            continue
        short = float(f"{value:.{DIGITS}g}")
        found.append(int(short) if short.is_integer() else short)
    return found


def json_of(values: Mapping[str, Any]) -> str:
    """Return values as JSON that may stand in a page."""
    return json.dumps(values, separators=(",", ":")).replace("<", "\\u003c") if values else ""


def _short(svg: str) -> str:
    """Return a drawing whose paths are written shortly: their steps as such, places to a hundredth of a point."""
    return re.sub(r'(?<= d=")[^"]*', lambda path: short_path(path[0]), svg)


def short_path(path: str) -> str:
    """Return the same path: two decimals of the six that matplotlib writes, and lines along an axis by one number.

    Examples
    --------
    >>> short_path("M 10.123456 20 L 15.5 20 L 15.5 7.129 z")
    'M10.12 20H15.5V7.13z'
    """
    written: list[str] = []
    before: tuple[str, ...] = ("", "")
    for command, numbers in _COMMANDS.findall(path):
        places = tuple(f"{float(number):.2f}".rstrip("0").rstrip(".") for number in numbers.split())
        if command == "L" and places[0] == before[0]:
            written.append(f"V{places[1]}")
        elif command == "L" and places[1] == before[1]:
            written.append(f"H{places[0]}")
        else:
            written.append(command + " ".join(places))
        before = places[-2:] if len(places) > 1 else ("", "")
    return "".join(written)


def _unique(svg: str, name: str) -> str:
    """Return a drawing whose names of parts are its own, so that several can stand on a page."""
    return re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)

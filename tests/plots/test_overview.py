# SPDX-License-Identifier: BSD-3-Clause
"""The overview: four pictures in one, each what it is by itself."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.figure import Figure

from swftools.plots import caption, data, list_pictures, plot
from swftools.plots.overview import OverviewOfSchedule, OverviewOfTrace
from swftools.trace import Trace
from tests.drawn import draw_schedule

TRACE = Trace.from_columns(
    job_number=[1, 2, 3],
    submit_time=[0, 7200, 200_000],
    wait_time=[0, 60, 600],
    run_time=[60, 70, 900],
    allocated_processors=[1, 2, 8],
)
SCHEDULE = draw_schedule("job submit width request start run\nA 0 2 9 0 9\nB 1 1 9 9 9")


@pytest.mark.parametrize(("subject", "parts"), [(TRACE, OverviewOfTrace.parts), (SCHEDULE, OverviewOfSchedule.parts)])
def test_its_parts(subject: Any, parts: Any) -> None:
    """Each panel has the title, the axes and the words of the picture by itself; below each other in a column."""
    table = data(subject, "overview")
    told = caption(subject, "overview")
    for size, rows in (("screen", 2), ("column", 4)):
        axes = plot(subject, "overview", size=size)
        shown = {each.get_title(loc="left"): each for each in axes.figure.axes}
        assert len({round(each.get_position().y0, 3) for title, each in shown.items() if title}) == rows
    for part in parts:
        alone = plot(subject, part.name)
        assert shown[part.title].get_xlabel() == alone.get_xlabel()
        assert len(shown[part.title].patches) == len(alone.patches)
        assert caption(subject, part.name) in told
        assert (table["picture"] == part.name).sum() == len(data(subject, part.name))
        assert type(list_pictures(type(subject))[part.name]) is type(part)


def test_where_it_is_told() -> None:
    """On axes that are given, which are returned, within their bounds; also where they stand in no grid."""
    figure = Figure(figsize=(8, 8))
    for axes in (figure.add_subplot(2, 1, 2), figure.add_axes((0.1, 0.6, 0.8, 0.3))):
        before = set(figure.axes)
        bounds = axes.get_position()
        assert plot(TRACE, "overview", ax=axes) is axes
        made = [each for each in figure.axes if each not in before]
        assert len(made) >= 4
        assert all(bounds.y0 - 0.01 <= each.get_position().y0 <= bounds.y1 for each in made)


def test_what_is_not_known_is_said() -> None:
    """A panel of its own without data says so; without any, the picture does."""
    trace = Trace.from_columns(job_number=[1, 2], submit_time=[0, 7200])
    assert "no job whose wait is known" in caption(trace, "overview")
    texts = {text.get_text() for each in plot(trace, "overview").figure.axes for text in each.texts}
    assert {"no job whose wait is known", "no job whose run time and width are known"} <= texts
    nothing = Trace.from_columns(job_number=[1])
    assert caption(nothing, "overview") == "Overview: no job of which anything is known"

# SPDX-License-Identifier: BSD-3-Clause
"""What holds of every picture of a trace: of any trace, at both sizes, a small file, words in their place."""

from __future__ import annotations

from io import BytesIO
from itertools import pairwise

import numpy as np
import pytest

from swftools.header import SwfHeader
from swftools.plots import caption, data, list_pictures, plot
from swftools.trace import Trace
from tests.examples import pairs

HEADER = SwfHeader.from_lines(["; UnixStartTime: 946684800", "; MaxProcs: 64", "; Queue: 1 $x^2$ (odd)"])


def _columns(jobs: int) -> dict[str, np.ndarray]:
    """Return columns of jobs over 30 years."""
    rng = np.random.default_rng(1)
    return {
        "job_number": np.arange(jobs),
        "submit_time": np.sort(rng.uniform(0, 30 * 365 * 86_400, jobs)).round(),
        "run_time": rng.lognormal(7, 2, jobs).round(),
        "requested_processors": 2 ** rng.integers(0, 7, jobs),
        "requested_time": rng.lognormal(8, 2, jobs).round() + 1,
        "wait_time": rng.lognormal(4, 3, jobs).round(),
        "user_id": rng.integers(0, 40, jobs),
        "queue_id": rng.integers(0, 5, jobs),
    }


def _without(jobs: int, *names: str) -> Trace:
    """Return a trace without some columns."""
    return Trace.from_columns(HEADER, **{name: each for name, each in _columns(jobs).items() if name not in names})


TRACES = {
    "empty": Trace.from_columns(),
    "numbers only": Trace.from_columns(job_number=[1]),
    "one job": _without(1),
    "two jobs": _without(2),
    "30 years": _without(5000),
    "no header": Trace.from_columns(**_columns(500)),
    "no waits, no requests": _without(500, "wait_time", "requested_time", "queue_id"),
    "no run times": _without(500, "run_time"),
    "all zero": Trace.from_columns(HEADER, **_columns(500) | {"run_time": [0] * 500, "wait_time": [0] * 500}),
    "a wrong date": Trace.from_columns(HEADER, **_columns(2) | {"submit_time": [0, 1e15]}),
}
NAMES = list(list_pictures(Trace))
BOTH = [f"{which}, {size}" for which in ("30 years", "no header") for size in ("screen", "column")]


@pytest.mark.parametrize(("name", "which"), pairs(NAMES, list(TRACES), 1))
def test_of_any_trace(name: str, which: str) -> None:
    """At both sizes, without a warning, with a caption, as a small file."""
    trace = TRACES[which]
    for size in ("screen", "column") if which == "30 years" else ("column",):  # where there is least room
        file = BytesIO()
        axes = plot(trace, name, size=size)
        axes.get_figure().savefig(file, format="svg")  # type: ignore[union-attr]
        assert len(file.getvalue()) < 300_000
        assert bool(axes.axison) == bool(len(data(trace, name)) and axes.get_xlabel())
    assert caption(trace, name).startswith(list_pictures(Trace)[name].title)
    assert "nan" not in caption(trace, name)


@pytest.mark.parametrize(("name", "drawn"), pairs(NAMES, BOTH, 1))
def test_words_do_not_touch(name: str, drawn: str) -> None:
    """Labels of ticks stand clear of each other, and all words are within the picture."""
    which, size = drawn.split(", ")
    axes = plot(TRACES[which], name, size=size)
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        ticks = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
        boxes = [each.get_window_extent() for at, each in ticks if each.get_text() and low <= at <= high]
        boxes.sort(key=lambda box: (box.x0, box.y0))
        assert not any(one.overlaps(two) for one, two in pairwise(boxes))
        assert len(boxes) >= 2
    whole, words = figure.bbox, axes.get_tightbbox()
    assert words is not None
    assert whole.x0 - 1 <= words.x0
    assert words.x1 <= whole.x1 + 1
    assert whole.y0 - 1 <= words.y0
    assert words.y1 <= whole.y1 + 1

# SPDX-License-Identifier: BSD-3-Clause
"""Logged waits: who waited longer, which quantiles are told, and what a long curve is drawn by."""

from __future__ import annotations

import numpy as np
import pytest

from swftools.plots import caption, data, plot
from swftools.trace import Trace


def of(*waits: float) -> Trace:
    """Return a trace of jobs by their waits."""
    return Trace.from_columns(job_number=np.arange(len(waits)), wait_time=np.array(waits, dtype=float))


def test_table() -> None:
    """Longer than, not as long as; jobs without wait are no part of it."""
    found = data(of(60, 0, -1, 0, 60, 3600), "waits")
    assert found.to_dict("list") == {"wait_time": [0, 60, 3600], "jobs": [2, 2, 1], "longer": [0.6, 0.2, 0]}


def test_caption() -> None:
    """The shortest wait that half of the jobs, and nine in ten, do not exceed."""
    assert caption(of(*range(10, 110, 10)), "waits") == (
        "Logged waits: half of 10 jobs waited 50 s or less, 90% 90 s or less, the longest 100 s; 0.0% waited not at all"
    )
    assert caption(of(0, 0, 0, 7200), "waits") == (
        "Logged waits: half of 4 jobs waited 0 s or less, 90% 2 h or less, the longest 2 h; 75.0% waited not at all"
    )
    assert caption(of(5), "waits").startswith("Logged waits: half of 1 job waited 5 s or less, 90% 5 s")


def test_curve() -> None:
    """It begins at 1 s with all that waited longer, holds until a wait, and falls behind the longest."""
    axes = plot(of(0, 0.5, 10, 100), "waits")
    x, y = axes.lines[0].get_data()
    assert x.tolist() == [1, 10, 100]
    assert y.tolist()[:2] == [50, 25]
    assert y[2] < axes.get_ylim()[0] < 10
    assert axes.lines[0].get_drawstyle() == "steps-post"
    assert axes.get_xlim() == (1, 100)


def test_points_are_on_the_curve() -> None:
    """The median at a half, nine in ten at a tenth; what is below 1 s has no point."""
    axes = plot(of(*range(10, 110, 10)), "waits")
    assert [line.get_xydata().tolist() for line in axes.lines[1:]] == [[[50, 50]], [[90, pytest.approx(10)]]]  # type: ignore[union-attr]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [  # type: ignore[union-attr]
        "half of the jobs: 50 s or less",
        "90% of the jobs: 90 s or less",
    ]
    assert len(plot(of(0, 0, 0, 7200), "waits").lines) == 2


def test_many_waits_are_few_points() -> None:
    """A curve of 200,000 waits is drawn by some 2,000 points, none off the curve by what could be seen."""
    waits = np.random.default_rng(1).lognormal(6, 3, 200_000)
    x, y = plot(of(*waits), "waits").lines[0].get_data()
    assert len(x) < 2_500
    exact = [100 * np.mean(waits > each) for each in x[:-1]]
    assert np.asarray(y[:-1]) == pytest.approx(exact)
    assert np.abs(np.diff(np.log10(y[:-1]))).max() < 0.31  # its last steps are of one job: 2 to 1


def test_labels_are_no_powers() -> None:
    """Shares and waits are written out."""
    axes = plot(of(*range(1, 100_000, 7)), "waits")
    axes.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]
    shown = {each.get_text() for axis in (axes.xaxis, axes.yaxis) for each in axis.get_ticklabels()}
    assert {"1 s", "1 min", "100", "10", "0.1"} <= shown
    assert not any("^" in each or "e-" in each for each in shown)


def test_nobody_waited() -> None:
    """A log scale has no 0, so it is said in words."""
    assert plot(of(0, 0, 1), "waits").texts[0].get_text() == "no job waited longer than 1 s"


@pytest.mark.parametrize("trace", [of(), of(-1, -1)])
def test_nothing(trace: Trace) -> None:
    """Without jobs, and where no wait is known."""
    assert data(trace, "waits").empty
    assert caption(trace, "waits") == "Logged waits: no job whose wait is known"

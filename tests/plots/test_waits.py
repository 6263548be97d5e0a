# SPDX-License-Identifier: BSD-3-Clause
"""Waits: who waited longer, which quantiles are told, and what a long curve is drawn by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from swftools.plots import caption, data, look_of, plot
from swftools.trace import Trace
from tests.drawn import draw_schedule
from tests.plots.odd import legend_of


def of(*waits: float) -> Trace:
    """Return a trace of jobs by their waits."""
    return Trace.from_columns(job_number=np.arange(len(waits)), wait_time=np.array(waits, dtype=float))


def test_table() -> None:
    """Longer than, not as long as; jobs without wait are no part of it."""
    found = data(of(60, 0, -1, 0, 60, 3600), "waits")
    assert found.to_dict("list") == {
        "of": ["logged"] * 3,
        "wait_time": [0, 60, 3600],
        "jobs": [2, 2, 1],
        "longer": [0.6, 0.2, 0],
    }


def test_caption() -> None:
    """The shortest wait that half of the jobs, and nine in ten, do not exceed."""
    assert caption(of(*range(10, 110, 10)), "waits") == (
        "Waits: logged: half of 10 jobs waited 50 s or less, 90 % 90 s or less, the longest 100 s; 0 % did not wait"
    )
    assert caption(of(0, 0, 0, 7200), "waits") == (
        "Waits: logged: half of 4 jobs waited 0 s or less, 90 % 2 h or less, the longest 2 h; 75.0 % did not wait"
    )
    assert caption(of(5), "waits").startswith("Waits: logged: half of 1 job waited 5 s or less, 90 % 5 s")


def test_curve() -> None:
    """It begins at 1 s with those that waited no longer, rises at each wait, and ends with all."""
    axes = plot(of(0, 0.5, 10, 100), "waits")
    x, y = axes.lines[0].get_data()
    assert x.tolist() == [1, 10, 100]
    assert y.tolist() == [50, 75, 100]
    assert axes.lines[0].get_drawstyle() == "steps-post"
    assert (axes.get_xlim(), axes.get_ylim(), axes.get_yscale()) == ((1, 100), (0, 100), "linear")


def test_survival() -> None:
    """On a log scale it begins with all that waited longer, and falls behind the longest."""
    axes = plot(of(0, 0.5, 10, 100), "waits", curve="survival")
    x, y = axes.lines[0].get_data()
    assert x.tolist() == [1, 10, 100]
    assert y.tolist()[:2] == [50, 25]
    assert y[2] < axes.get_ylim()[0] < 10
    assert axes.get_yscale() == "log"


def test_legend_has_the_quantiles() -> None:
    """What half of the jobs and nine in ten do not exceed."""
    assert legend_of(plot(of(*range(10, 110, 10)), "waits")) == ["logged: 50 % within 50 s, 90 % 90 s"]


def test_logged_and_simulated_on_one() -> None:
    """Axes that are given keep what is there: the longest wait is seen, each has its colour and its entry."""
    schedule = replace(draw_schedule("job submit width request start run\nA 0 1 9 0 5\nB 0 1 9 1000 5"), policy="easy")
    axes = Figure().add_subplot()
    for each in (schedule, of(10, 100), replace(schedule, policy="fcfs")):
        each.plot("waits", ax=axes)
    colors = ["easy", "logged", "fcfs"]
    assert [line.get_color() for line in axes.lines] == [look_of(name)["color"] for name in colors]
    assert [text.split(":")[0] for text in legend_of(axes)] == colors
    assert axes.get_xlim() == (1, 1000)


@pytest.mark.parametrize(("curve", "sign"), [("ecdf", 1), ("survival", -1)])
def test_many_waits_are_few_points(curve: str, sign: int) -> None:
    """A curve of 200,000 waits is drawn by some 2,000 points, none off the curve by what could be seen."""
    waits = np.random.default_rng(1).lognormal(6, 3, 200_000)
    x, y = plot(of(*waits), "waits", curve=curve).lines[0].get_data()
    assert len(x) < 2_500
    exact = np.array([100 * np.mean(waits > each) for each in x[:-1]])
    assert np.asarray(y[:-1]) == pytest.approx(exact if sign < 0 else 100 - exact)
    assert (np.diff(y) * sign >= 0).all()


def test_labels_are_no_powers() -> None:
    """Shares and waits are written out."""
    axes = plot(of(*range(1, 100_000, 7)), "waits")
    axes.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]
    shown = {each.get_text() for axis in (axes.xaxis, axes.yaxis) for each in axis.get_ticklabels()}
    assert {"1 s", "1 min", "100", "20", "0"} <= shown
    assert not any("^" in each or "e-" in each for each in shown)


def test_nobody_waited() -> None:
    """A log scale has no 0, so it is said in words."""
    assert plot(of(0, 0, 1), "waits").texts[0].get_text() == "no job waited longer than 1 s"


@pytest.mark.parametrize("trace", [of(), of(-1, -1)])
def test_nothing(trace: Trace) -> None:
    """Without jobs, and where no wait is known."""
    assert data(trace, "waits").empty
    assert caption(trace, "waits") == "Waits: no job whose wait is known"

# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of jobs, and requested by used time: which cell a job is in, and where that is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import QuadMesh

from swftools.plots import caption, compare_jobs, data, plot
from swftools.plots.primitives import step_of, time_edges
from swftools.trace import Trace
from tests.drawn import draw_schedule


def of(run_time: list[float], requested_time: list[float] | None = None, width: list[int] | None = None) -> Trace:
    """Return a trace of jobs by run time, requested time, and width."""
    missing = [-1] * len(run_time)
    return Trace.from_columns(
        job_number=np.arange(len(run_time)),
        run_time=run_time,
        requested_time=requested_time or missing,
        requested_processors=width or missing,
    )


def mesh(trace: Trace, name: str) -> dict[tuple[float, float], float]:
    """Return what is drawn: the amount of each cell by the place of its lower left corner."""
    drawn = next(each for each in plot(trace, name).collections if isinstance(each, QuadMesh))
    corners, amounts = drawn.get_coordinates(), np.ma.masked_invalid(drawn.get_array())
    return {
        tuple(corners[row, column].round(3).tolist()): float(amounts[row, column])
        for row, column in np.argwhere(~np.ma.getmaskarray(amounts))
    }


def test_steps_of_time() -> None:
    """A time on an edge begins a step; what is below 1 s has one of its own."""
    edges = time_edges(100, 1)
    assert edges.tolist() == [0, 1, 10, 100, 1000]
    assert step_of(np.array([0, 0.9, 1, 9.99, 10, 100]), edges).tolist() == [0, 0, 1, 1, 2, 3]
    assert time_edges(0, 5).tolist() == [0, 1]
    assert time_edges(99, 1).tolist() == [0, 1, 10, 100]
    for longest in (0.5, 1, 9.99, 1000, 1e9):
        low, high = time_edges(longest, 7)[-2:]
        assert low <= longest < high


def test_sizes() -> None:
    """Widths by powers of two, both ends included; run times by fifths of a decade; not without both."""
    trace = of([0, 10, 12, 10, 100, -1, 5], width=[1, 2, 3, 4, 7, 8, -1])
    found = data(trace, "sizes").round(1)
    assert found.to_dict("list") == {
        "run_time_from": [0, 10, 10, 100],
        "run_time_to": [1, 15.8, 15.8, 158.5],
        "width_least": [1, 2, 4, 4],
        "width_most": [1, 3, 7, 7],
        "jobs": [1, 2, 1, 1],
    }
    assert mesh(trace, "sizes") == {(0.631, -0.5): 1, (10, 0.5): 2, (10, 1.5): 1, (100, 1.5): 1}
    assert caption(trace, "sizes") == (
        "Sizes of jobs: of 5 jobs, the largest group (40.0 %) has 2\u20133 processors for 10 s to 15.8 s; "
        "20.0 % have one processor, 20.0 % run less than 10 s"
    )
    labels = plot(trace, "sizes").get_yticklabels()
    assert [each.get_text() for each in labels] == ["1", "2\u20133", "4\u20137"]


def test_widest() -> None:
    """A power of two of 62 bits is exact, and few of many widths have labels."""
    found = data(of([1, 1, 1], width=[2**62, 2**62 - 1, 1]), "sizes")
    assert found["width_least"].tolist() == [1, 2**61, 2**62]
    assert found["width_most"].tolist() == [1, 2**62 - 1, 2**63 - 1]
    assert len(plot(of([1, 1], width=[1, 2**20]), "sizes").get_yticklabels()) <= 12


def test_estimates() -> None:
    """Requested time goes right and run time up; a job that runs as long as requested is not longer."""
    trace = of([10, 10, 200, 0, 5, 7], requested_time=[100, 100, 100, 1000, -1, 0])
    found = data(trace, "estimates").round(1)
    assert found.drop(columns="median_used").to_dict("list") == {
        "requested_time_from": [100, 100, 1000],
        "requested_time_to": [146.8, 146.8, 1467.8],
        "run_time_from": [10, 146.8, 0],
        "run_time_to": [14.7, 215.4, 1],
        "jobs": [2, 1, 1],
        "longer": [0, 1, 0],
    }
    assert found["median_used"].tolist() == [0.1] * 3
    assert mesh(trace, "estimates") == {(100, 10): 2, (100, 146.78): 1, (1000, 0.681): 1}
    assert caption(trace, "estimates") == (
        "Requested and used time: the median of 4 jobs used 10.0 % of the time requested for it; "
        "25.0 % ran longer than requested"
    )
    assert "; 0 % ran longer" in caption(of([100], requested_time=[100]), "estimates")
    assert caption(of([1.4, 1.5], requested_time=[1.45, 1.45]), "estimates").endswith(
        "50.0 % ran longer than requested"
    )


def test_the_line_of_equal_times() -> None:
    """It goes through equal times, and does not widen the axes."""
    axes = plot(of([10, 200], requested_time=[100, 4000]), "estimates")
    x, y = axes.lines[0].get_data()
    assert np.array_equal(x, y)
    assert axes.get_xlim() == (pytest.approx(100, rel=0.01), pytest.approx(10 ** (22 / 6), rel=0.01))


def test_few_values_have_two_ticks() -> None:
    """Without them a log scale would say nothing."""
    axes = plot(of([70], requested_time=[70]), "estimates")
    low, high = axes.get_xlim()
    assert sum(low <= each <= high for each in axes.get_xticks()) == 2


@pytest.mark.parametrize("name", ["sizes", "estimates"])
def test_nothing(name: str) -> None:
    """Without jobs, or without what both sides need, there is no row, and the same columns."""
    full = data(of([1], requested_time=[1], width=[1]), name)
    for trace in (of([]), of([1, 2]), of([-1], requested_time=[3], width=[3])):
        found = data(trace, name)
        assert found.empty
        assert found.columns.tolist() == full.columns.tolist()
        assert "no job whose" in caption(trace, name)


SCHEDULE = replace(
    draw_schedule(
        """job submit width request start run backfilled
        A 0 1 900 0 100 0
        B 0 2 900 300 5 0
        C 0 2 900 300 5 1
        D 0 4 900 9000 50 0"""
    ),
    policy="easy",
)


@pytest.mark.parametrize(
    ("subject", "name", "least", "most"),
    [
        (of([1, 1, 1, 50], width=[1, 1, 1, 8]), "sizes", 1, 3),
        (of([5, 5, 5, 5, 70], requested_time=[9, 9, 9, 9, 90]), "estimates", 1, 4),
        (of([70], width=[1]), "sizes", 1, 2),
        (SCHEDULE, "wait-by-size", 60, 9000),
        (SCHEDULE, "backfilled", 0, 50),
        (compare_jobs(SCHEDULE, SCHEDULE), "against", 1, 2),
    ],
)
def test_more_is_darker_up_to_the_most(subject: Any, name: str, least: float, most: float) -> None:
    """One rule for every map of colours, whose scale ends at the data; the bar beside it has the same."""
    axes = plot(subject, name)
    drawn = next(each for each in axes.collections if each.get_array() is not None)
    assert (drawn.norm.vmin, drawn.norm.vmax) == (least, most)
    low, high = (sum(drawn.cmap(drawn.norm(value))[:3]) for value in (least, most))
    assert high < 0.5
    assert low > 1.5
    assert drawn.colorbar is not None

# SPDX-License-Identifier: BSD-3-Clause
"""Arrivals by hours, days, and hours of each day, by the machine's clock."""

from __future__ import annotations

import pytest
from matplotlib.collections import QuadMesh

from swftools.header import SwfHeader
from swftools.plots import caption, data, plot
from swftools.trace import Trace

HEADER = SwfHeader.from_lines(["; UnixStartTime: 946684800", "; TimeZone: 3600"])  # Saturday, one in the morning there


def of(*hours: float, header: SwfHeader = HEADER) -> Trace:
    """Return a trace of jobs by hours from the start of the log."""
    return Trace.from_columns(header, job_number=range(len(hours)), submit_time=[3600 * each for each in hours])


def test_a_week() -> None:
    """Hours of each day; on its picture Monday is at the top."""
    trace = of(0, 0.5, 23, 49)
    found = data(trace, "arrivals", by="week")
    assert found.columns.tolist() == ["weekday", "hour", "jobs", "share", "log_zone"]
    assert len(found) == 168
    assert found[found["jobs"] > 0].to_numpy().tolist() == [
        *([0, 2, 1, 0.25, "UTC+01:00"], [5, 1, 2, 0.5, "UTC+01:00"], [6, 0, 1, 0.25, "UTC+01:00"])
    ]
    axes = plot(trace, "arrivals", by="week")
    drawn = next(each for each in axes.collections if isinstance(each, QuadMesh))
    assert drawn.get_array()[5, 1] == 50  # type: ignore[index]
    assert drawn.get_coordinates()[5, 1].tolist() == [1, 4.5]
    assert axes.get_ylim() == (6.5, -0.5)
    assert caption(trace, "arrivals", by="week") == (
        "Arrivals: most jobs are submitted on Saturdays in the hour from 1:00 (50.0 % of 4), "
        "fewest on Mondays in the hour from 0:00 (0 %)"
    )


@pytest.mark.parametrize(("by", "places"), [("hour", {0: 1, 1: 2, 2: 1}), ("weekday", {0: 1, 5: 2, 6: 1})])
def test_hours_and_days(by: str, places: dict[int, int]) -> None:
    """The same jobs, by either."""
    found = data(of(0, 0.5, 23, 49), "arrivals", by=by)
    assert found["jobs"].tolist() == [places.get(each, 0) for each in range(len(found))]
    assert found["share"].sum() == 1


def test_no_date() -> None:
    """Hours are counted from the start; days of the week are not known."""
    trace = of(0, 25, header=SwfHeader())
    assert data(trace, "arrivals")["jobs"].tolist()[:3] == [1, 1, 0]
    for by in ("weekday", "week"):
        assert data(trace, "arrivals", by=by).empty
        assert "no submission" in caption(trace, "arrivals", by=by)

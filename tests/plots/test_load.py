# SPDX-License-Identifier: BSD-3-Clause
"""The load of each week: what it is divided by, where the last week ends, what is said where little is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from swftools.header import SwfHeader
from swftools.offered_work import offered_load
from swftools.plots import caption, data, plot
from swftools.trace import Trace

DAY = 86_400
HEADER = SwfHeader.from_lines(["; UnixStartTime: 946684800", "; MaxProcs: 10"])


def of(days: list[float], run_days: list[float], header: SwfHeader = HEADER) -> Trace:
    """Return a trace of jobs on five processors by their submissions and run times in days."""
    submit, run_time = (np.array([-1 if each < 0 else each * DAY for each in times]) for times in (days, run_days))
    return Trace.from_columns(
        header,
        job_number=np.arange(len(days)),
        submit_time=submit,
        run_time=run_time,
        requested_processors=[5] * len(days),
    )


def test_weeks() -> None:
    """From the first submission on; a job at the end of a week is the next one's; the last ends with the log."""
    found = data(of([1, 2, 8, 17], [7, 7, 14, 1.5]), "load")
    assert found.columns.tolist() == ["start", "end", "date", "jobs", "work", "load"]
    assert (found["start"] / DAY).tolist() == [1, 8, 15]
    assert (found["end"] / DAY).tolist() == [8, 15, 17]
    assert found["date"].dt.strftime("%Y-%m-%d").tolist() == ["2000-01-02", "2000-01-09", "2000-01-16"]
    assert found["jobs"].tolist() == [2, 1, 1]
    assert (found["work"] / DAY).tolist() == [70, 70, 7.5]
    assert found["load"].tolist() == [1.0, 1.0, 0.375]


def test_a_rest_of_hours_belongs_to_the_week_before() -> None:
    """One job an hour behind the end of a week would else be a load beyond all measure; a day is a period."""
    found = data(of([0, 7.5], [1, 7]), "load")
    assert (found["end"] / DAY).tolist() == [7.5]
    assert found["load"].tolist() == [pytest.approx(40 / 75)]
    assert (data(of([0, 8], [1, 7]), "load")["end"] / DAY).tolist() == [7, 8]
    assert (data(of([0, 0.5], [1, 7]), "load")["end"] / DAY).tolist() == [0.5]
    assert len(data(of([0, 7], [1, 7]), "load")) == 1


def test_the_mean_is_the_offered_load() -> None:
    """The same as of the whole log, with jobs of which something is missing."""
    trace = of([0, 3, -1, 9, 30.2], [1, 2, -1, 4, 0])
    found = data(trace, "load")
    length = found["end"] - found["start"]
    assert found["jobs"].tolist() == [2, 1, 0, 0, 1]
    assert (found["load"] * length).sum() / length.sum() == pytest.approx(offered_load(trace))
    assert caption(trace, "load").startswith(f"Offered load: {offered_load(trace):.2f} over 30.2 d (4 jobs); by week, ")


def test_other_periods() -> None:
    """Of so many days; longer ones where there would be too many to be drawn."""
    assert data(of([0, 9], [1, 1]), "load", days=3)["jobs"].tolist() == [1, 0, 1]
    assert len(data(of([0, 9e6], [1, 1]), "load")) <= 5001
    assert "by day, most 0.50 from 2000-01-01, least 0.00 from 2000-01-02" in caption(
        of([0, 3], [1, 1]), "load", days=1
    )


def test_no_machine_and_no_date() -> None:
    """Work in processor-days a day by days of the log, which the axis says."""
    trace = of([7, 8, 21], [7, 14, 7], SwfHeader())
    found = data(trace, "load")
    assert found["load"].isna().all()
    assert found["date"].isna().all()
    axes = plot(trace, "load")
    assert axes.get_ylabel() == "work per day,\nprocessor-days\n(machine unknown)"
    assert axes.get_xlabel() == "days from the start of the log"
    assert axes.patches[0].get_data().values.tolist() == [15.0, 5.0]  # type: ignore[attr-defined]
    assert axes.get_xlim() == (7, 21)
    assert caption(trace, "load") == (
        "Offered load: 10.00 processor-days per day over 14 d (3 jobs); "
        "by week, most 15.00 from day 7 of the log, least 5.00 from day 14 of the log"
    )


def test_dates() -> None:
    """Of the log's own begin; none at all where a wrong one would end behind the calendar."""
    axes = plot(of([1, 2, 8, 17], [7, 7, 14, 1.5]), "load")
    assert axes.get_ylabel() == "offered load"
    assert axes.get_xlabel() == "UTC"
    assert axes.get_xlim() == (10_957 + 1, 10_957 + 17)  # days since 1970
    assert isinstance(data(of([0, 20], [1, 1]), "load")["date"].dtype, pd.DatetimeTZDtype)
    assert data(of([0, 4e6], [1, 1]), "load")["date"].isna().all()


@pytest.mark.parametrize("trace", [of([], []), of([3], [1]), of([3, 3], [1, 1]), of([0, 9], [-1, -1])])
def test_nothing(trace: Trace) -> None:
    """Without jobs, time between them, or work."""
    assert data(trace, "load").empty
    assert caption(trace, "load") == "Offered load: no work is known, or no time between submissions"
    assert plot(trace, "load", size="column").texts[0].get_text().startswith("no work")

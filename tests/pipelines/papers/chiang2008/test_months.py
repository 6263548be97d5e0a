# SPDX-License-Identifier: BSD-3-Clause
"""Which months of a log count for Chiang and Vasupongayya 2008, and which jobs are simulated for one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import swftools
from pipelines.logs.find import SHIPPED_LOG
from pipelines.papers.chiang2008.months import (
    BETWEEN,
    LOGS,
    STANDARD,
    SUMMER,
    Month,
    PopulationOfPaper,
    jobs_of,
    measure_population,
    months_of,
    short_name,
)
from pipelines.papers.yuan2010.populations import kept_jobs
from swftools.trace import Trace
from tests.drawn import draw_trace

DAY = 86_400
NEW_YEAR = "UnixStartTime: 946684800\nTimeZone: 0"
"""A header of a log whose second 0 is the first of 2000, by UTC."""


def log_of(*jobs: tuple[float, float, int], header: str = NEW_YEAR, processors: int = 4) -> Trace:
    """Return a log of jobs, each told by the day of its submission, its run time in days, and its processors."""
    lines = [f"{day * DAY:.0f} {run * DAY:.0f} {width} {max(run * DAY, 1):.0f}" for day, run, width in sorted(jobs)]
    return draw_trace("\n".join(["submit run width request", *lines]), processors=processors, header=header)


def names(trace: Trace, clock: str = STANDARD) -> list[str]:
    """Return the names of the months that count."""
    return [month.name for month in months_of(trace, clock)]


EVERY = [(day + 0.5, 0.2, 2) for day in range(135)]
"""A job at noon of each day from the first of January 2000 to the 14th of May."""


def test_months_between_the_first_and_the_last() -> None:
    """January lacks the week before it, May what comes after it."""
    assert names(log_of(*EVERY)) == ["2000-02", "2000-03", "2000-04"]


def test_a_whole_week_before_a_month() -> None:
    """To the second: the log begins 7 days before February, or a second later."""
    for first, found in ((24.0, ["2000-02"]), (24.0 + 1 / DAY, [])):
        assert names(log_of((first, 0.1, 1), (40, 1, 4), (60, 0.1, 1))) == (found or [BETWEEN])


def test_the_log_goes_on_after_a_month() -> None:
    """February ends with day 60; a job at its end is of March."""
    assert names(log_of((0, 0.1, 1), (40, 1, 4), (60, 0.1, 1))) == ["2000-02"]
    assert names(log_of((0, 0.1, 1), (40, 1, 4), (60 - 1 / DAY, 0.1, 1))) == [BETWEEN]


def test_a_month_of_load_nine_tenths_does_not_count() -> None:
    """Of 4 processors over 29 days of February 104.4 processor-days are .9."""
    ends = [(0, 0.1, 1), (61, 0.1, 1)]
    assert names(log_of(*ends, (40, 26.0, 4))) == ["2000-02"]
    assert months_of(log_of(*ends, (40, 26.0, 4)))[0].load == pytest.approx(26 / 29)
    assert names(log_of(*ends, (40, 26.1, 4))) == [BETWEEN]


def test_a_month_without_jobs_does_not_count() -> None:
    """There is nothing to measure."""
    assert names(log_of((0, 0.1, 1), (40, 1, 1), (100, 0.1, 1))) == ["2000-02"]


def test_a_log_without_a_month_that_counts() -> None:
    """What lies between its first and its last week is measured as one; of a short log nothing."""
    found = months_of(log_of((1, 0.1, 1), (8, 1, 2), (9, 1, 1), (11, 1, 1), (18, 0.1, 1)))
    assert found == [Month(BETWEEN, 8 * DAY, 11 * DAY, pytest.approx(3 / 12))]
    assert months_of(log_of((1, 0.1, 1), (8, 1, 2), (14, 0.1, 1))) == []
    assert months_of(kept_jobs(log_of((1, -1 / DAY, 1)))) == []


def test_a_log_that_does_not_say_when_it_begins() -> None:
    """Has no months."""
    assert names(log_of(*EVERY, header="TimeZone: 0")) == [BETWEEN]


def test_months_begin_by_standard_time() -> None:
    """April of Sweden begins an hour before midnight by its clocks; by the other reading they are put forward."""
    header = "UnixStartTime: 946681200\nTimeZone: 3600\nTimeZoneString: Europe/Stockholm"
    standard, summer = (
        {month.name: month for month in months_of(log_of(*EVERY, header=header), clock)} for clock in (STANDARD, SUMMER)
    )
    assert list(standard) == list(summer)
    assert standard["2000-03"].begin == summer["2000-03"].begin == 60 * DAY
    assert standard["2000-03"].end == 91 * DAY
    assert summer["2000-03"].end == summer["2000-04"].begin == 91 * DAY - 3600


def test_a_header_without_an_offset() -> None:
    """The zone's own time is all that is known."""
    header = "UnixStartTime: 946681200\nTimeZoneString: Europe/Stockholm"
    assert months_of(log_of(*EVERY, header=header))[2].begin == 91 * DAY - 3600


def test_jobs_that_are_kept() -> None:
    """Those with a run time, also of 0 s, and allocated processors."""
    table = "submit run width asked / 0 60 2 2 / 1 0 1 4 / 2 . 4 4 / 3 20 . 4"
    assert kept_jobs(draw_trace(table, processors=4)).jobs["job_number"].tolist() == [1, 2]


JOBS = [(0, 0.1, 1), (23.9, 0.1, 1), (24, 0.1, 1), (31, 8.7, 4), (40, 8.7, 4), (60, 0.1, 1), (75, 0.1, 1)]


def test_the_jobs_of_a_month_as_logged() -> None:
    """From a week before it to the end of the log; those of the month are measured."""
    log = log_of(*JOBS)
    (month,) = months_of(log)
    jobs = jobs_of(log, month, None).jobs
    assert jobs["submit_time"].div(DAY).tolist() == [24, 31, 40, 60, 75]
    assert jobs["is_measured"].tolist() == [False, True, True, False, False]
    assert jobs_of(log, month, None, cool_down=15 * DAY).jobs["submit_time"].div(DAY).tolist() == [24, 31, 40, 60]


def test_the_jobs_of_a_month_at_another_load() -> None:
    """Load .6 to .9: all times between submissions shrink to two thirds, also those of warm-up and cool-down."""
    log = log_of(*JOBS)
    (month,) = months_of(log)
    assert month.load == pytest.approx(0.6)
    jobs = jobs_of(log, month, 0.9).jobs
    shrunk = [24 + (day - 24) * 2 / 3 for day in (24, 31, 40, 60, 75)]
    assert jobs["submit_time"].to_numpy() == pytest.approx(np.array(shrunk) * DAY, abs=0.5)
    assert jobs["is_measured"].tolist() == [False, True, True, False, False]
    assert jobs["run_time"].div(DAY).round(1).tolist() == [0.1, 8.7, 8.7, 0.1, 0.1]
    assert "model_submit_time" not in jobs


def test_the_population() -> None:
    """A row of Table 3 by hand: on 1, 9 and 33 processors for 1, 5 and 10 hours."""
    log = log_of((0, 0, 1), (40, 1 / 24, 1), (41, 5 / 24, 9), (42, 10 / 24, 33), (70, 0, 1), processors=64)
    frame = measure_population(log, PopulationOfPaper(), 0)
    assert frame["x"].unique().tolist() == ["2000-02"]
    third = 100 / 3
    assert dict(zip(frame["measure"], frame["value"], strict=True)) == pytest.approx(
        {
            "jobs": 3,
            "load": 100 * 376 / (64 * 29 * 24),
            "mean N": 43 / 3,
            "mean T": 16 / 3,
            "mean N x T": 376 / 3,
            "N <= 8": third,
            "8 < N <= 32": third,
            "32 < N": third,
            "T < 5 h": third,
            "5 h <= T < 10 h": third,
            "10 h <= T": third,
        }
    )


def test_which_log_is_which() -> None:
    """By the names of their cards."""
    assert [short_name(log) for log in LOGS.values()] == ["SDSC-SP2", "KTH-SP2"]
    assert short_name(SHIPPED_LOG) == SHIPPED_LOG


@pytest.mark.full
def test_seventeen_and_nine_months(shared: Path) -> None:
    """As many as an independent program simulated; each begins within the log's calendar month."""
    counts = {}
    for short, log in LOGS.items():
        trace, _ = swftools.clean(swftools.read_swf(shared / "traces" / f"{log}.swf.gz"))
        months = months_of(kept_jobs(replace(trace, machine_processors=trace.processors)))
        counts[short] = len(months)
        assert all(0.5 < month.load < 0.9 for month in months)
    assert counts == {"SDSC-SP2": 17, "KTH-SP2": 9}

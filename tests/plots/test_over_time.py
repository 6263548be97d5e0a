# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a schedule over time: the machine in use and the queue, against hand-drawn schedules and a naive twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.plots import caption, data, plot
from swftools.plots.of_schedules import in_bins, start_of
from swftools.simulator.schedule import Schedule
from tests.drawn import draw_schedule
from tests.examples import pairs

THREE = """
    job submit width request start run
    A   0      2     10      0     10
    B   2      4     6       10    5
    C   4      1     5       4     4
"""


def test_utilization_by_hand() -> None:
    """2 of 4 processors, then 3, 2 and all 4."""
    table = data(draw_schedule(THREE), "utilization")
    assert table[["begin", "end", "utilization"]].to_numpy().tolist() == [
        *([0.0, 2.0, 0.5], [2.0, 4.0, 0.5], [4.0, 8.0, 0.75], [8.0, 10.0, 0.5], [10.0, 15.0, 1.0])
    ]
    # (2*10 + 4*5 + 1*4) / (4*15)
    assert caption(draw_schedule(THREE), "utilization") == (
        "Utilization: 73.3 % of the processors are in use on average, over 15 s"
    )


def test_idle_time_is_told_between_runs_only() -> None:
    """The time before the first start, and that behind the last end, is not of the picture."""
    schedule = draw_schedule("job submit width request start run\n A 0 2 10 5 10\n B 0 4 5 20 5\n C 0 1 1 40 0")
    table = data(schedule, "utilization")
    assert table[["begin", "end", "utilization"]].to_numpy().tolist() == [[5, 15, 0.5], [15, 20, 0], [20, 25, 1]]


def test_queue_by_hand() -> None:
    """B waits from 2 to 10 for 4 processors and asks for 6 s of each."""
    schedule = draw_schedule(THREE)
    for by, column, value in (("jobs", "queue_length", 1), ("processors", "queued_processors", 4)):
        table = data(schedule, "queue", by=by)
        assert table["begin"].tolist() == [0, 2, 4, 8, 10]
        assert table[column].tolist() == table["most"].tolist() == [0, value, value, value, 0]
    assert data(schedule, "queue", by="work")["queued_work"].tolist() == [0, 24, 24, 24, 0]
    assert caption(schedule, "queue") == (
        "Queue: on average 0.533 jobs waiting, at most 1, 2 s after the first submission"
    )
    assert "0.00356 queued processor-hours, at most 0.00667" in caption(schedule, "queue", by="work")


def test_a_job_that_was_stopped_waits_again() -> None:
    """Between its runs, in which it uses processors each time."""
    schedule = draw_schedule("job submit width request runs\n A 0 4 10 0-3,5-9")
    assert data(schedule, "queue")[["begin", "queue_length"]].to_numpy().tolist() == [[0, 0], [3, 1], [5, 0]]
    assert data(schedule, "utilization")["utilization"].tolist() == [1, 0, 1]


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 5)), min_size=2, max_size=60), st.integers(2, 30))
def test_bins_are_means_second_by_second(steps: list[tuple[int, int]], most: int) -> None:
    """A naive twin looks at each second; what is integrated stays, and there are no more bins than asked for."""
    times = 7.0 + np.cumsum([0, *(length for length, _ in steps)])
    values = np.array([*(float(value) for _, value in steps), 0.0])
    table = in_bins(times, values, most)
    assert len(table) <= max(most, 2)
    assert table["begin"].iloc[0] == times[0]
    assert table["end"].iloc[-1] == times[-1]
    assert (table["begin"].to_numpy()[1:] == table["end"].to_numpy()[:-1]).all()
    fine = 60  # parts of a second, since bins may end within one
    each = np.repeat(values[:-1], (np.diff(times) * fine).astype(int))
    at = times[0] + (np.arange(len(each)) + 0.5) / fine
    for begin, end, mean, peak in table.itertuples(index=False):
        inside = each[(at > begin) & (at < end)]
        assert mean == pytest.approx(inside.mean(), abs=0.35)
        assert peak == inside.max()
    total = float((table["mean"] * (table["end"] - table["begin"])).sum())
    assert total == pytest.approx(float((values[:-1] * np.diff(times)).sum()))


def test_a_long_log_is_shown_by_the_day() -> None:
    """Of two years hour by hour stay some hundred bins, of a day each, and the file is small."""
    hours = np.arange(17_520) * 3600.0
    rows = "\n".join(f"{place + 1} {at:.0f} {1 + place % 24 // 6} 1800 {at:.0f} 1800" for place, at in enumerate(hours))
    schedule = draw_schedule(f"job submit width request start run\n{rows}")
    table = data(schedule, "utilization", bins=1000)
    assert len(table) == 730
    assert table["utilization"].iloc[3] == pytest.approx((1 + 2 + 3 + 4) / 4 / 4 / 2)
    assert table["most"].iloc[3] == 1.0
    assert caption(schedule, "utilization", bins=1000).endswith("each point is a mean over 24 h")
    assert len(data(schedule, "utilization")) <= 400


def with_stamps(schedule: Schedule, begin: str) -> Schedule:
    """Return a schedule whose jobs say when they were submitted."""
    stamps = pd.Timestamp(begin) + pd.to_timedelta(schedule.jobs["submit_time"], unit="s")
    return replace(schedule, jobs=schedule.jobs.assign(submit_timestamp=stamps))


def test_dates_where_they_are_known() -> None:
    """From submit_timestamp; of submissions that were moved since, or without it, days are counted."""
    plain = draw_schedule(THREE)
    dated = with_stamps(plain, "1996-09-23 12:00:31+00:00")
    assert start_of(dated.jobs) == 843_480_031.0
    assert plot(dated, "utilization").get_xlabel() == plot(dated, "queue").get_xlabel() == "UTC"
    assert plot(plain, "utilization").get_xlabel() == "days from the start of the log"
    assert start_of(dated.jobs.assign(submit_time=[0.0, 4.0, 8.0])) is None
    assert start_of(dated.jobs.assign(submit_timestamp=pd.NaT)) is None


EMPTY = draw_schedule(THREE)
EMPTY = replace(EMPTY, jobs=EMPTY.jobs[:0], segments=EMPTY.segments[:0])
UNSTARTED = draw_schedule(THREE)
UNSTARTED = replace(
    UNSTARTED, jobs=UNSTARTED.jobs.assign(start_time=np.nan, wait_time=np.nan), segments=UNSTARTED.segments[:0]
)
ONE = draw_schedule("job submit width request start run\n A 0 4 10 3 10")
NO_TIME = draw_schedule("job submit width request start run\n A 0 4 10 0 0")
ODD = {"empty": EMPTY, "unstarted": UNSTARTED, "one": ONE, "no time": NO_TIME}


PICTURES: dict[str, tuple[str, dict[str, str]]] = {
    "utilization": ("utilization", {}),
    "queue": ("queue", {}),
    "queued work": ("queue", {"by": "work"}),
    "waits": ("waits", {}),
    "slowdowns": ("slowdowns", {}),
    "gantt": ("gantt", {}),
    "gantt by wait": ("gantt", {"color": "wait"}),
    "gantt by width": ("gantt", {"color": "width"}),
    "gantt by queue": ("gantt", {"color": "queue"}),
    "wait by size": ("wait-by-size", {}),
    "median wait by size": ("wait-by-size", {"statistic": "median"}),
    "backfilled": ("backfilled", {}),
    "preempted": ("backfilled", {"what": "preempted"}),
}
SIZED = [f"{odd}, {size}" for odd in ODD for size in ("screen", "column")]


@pytest.mark.parametrize(("picture", "sized"), pairs(list(PICTURES), SIZED, 1))
def test_schedules_with_next_to_nothing(picture: str, sized: str) -> None:
    """Without jobs, with jobs that never started, with one job and with one that took no time."""
    name, chosen = PICTURES[picture]
    odd, size = sized.split(", ")
    schedule = ODD[odd]
    axes = plot(schedule, name, size=size, **chosen)
    assert axes.figure is not None
    axes.figure.canvas.draw()
    assert caption(schedule, name, **chosen)
    if odd == "empty":
        assert data(schedule, name, **chosen).empty

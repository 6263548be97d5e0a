# SPDX-License-Identifier: BSD-3-Clause
"""The picture of who runs when: its window, its made-up placement, its colours, and how large its file is."""

from __future__ import annotations

import io
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgba

from swftools.errors import ParameterError
from swftools.plots import caption, data, plot
from swftools.plots import gantt as of_gantt
from swftools.plots.style import COLORS
from swftools.simulator.schedule import Schedule
from tests.drawn import draw_schedule, schedule_of
from tests.examples import examples

FOUR = """
    job submit width request start run queue
    A   0      2     10      0     10  1
    B   0      1     10      0     4   2
    C   1      2     10      4     5   1
    D   5      4     10      10    5   .
"""


def test_placement_by_hand() -> None:
    """A lies lowest, B beside it; C takes B's place and the next; D all."""
    table = data(draw_schedule(FOUR), "gantt", color="queue")
    columns = ["job_number", "start", "end", "first_processor", "processors", "label"]
    assert table[columns].to_numpy().tolist() == [
        *([1, 0, 10, 0, 2, "1"], [2, 0, 4, 2, 1, "2"], [3, 4, 9, 2, 2, "1"], [4, 10, 15, 0, 4, "unknown"])
    ]
    assert caption(draw_schedule(FOUR), "gantt") == (
        "Jobs on the machine: 4 runs in 15 s from 0 s after the start of the log; 90.0 % of the processors are in use; "
        "which ones a job had is made up"
    )


def test_a_window() -> None:
    """Runs that reach into it are shown, those that end where it begins are not."""
    schedule = draw_schedule(FOUR)
    assert data(schedule, "gantt", begin=4, end=10)["job_number"].tolist() == [1, 3]
    assert "2 runs in 6 s from 4 s" in caption(schedule, "gantt", begin=4, end=10)
    # A 2 * 6 and C 2 * 5 of 4 * 6
    assert "91.7 % of the processors" in caption(schedule, "gantt", begin=4, end=10)
    axes = plot(schedule, "gantt", begin=4, end=10)
    assert axes.get_xlim() == pytest.approx((4 / 86_400, 10 / 86_400))
    assert caption(schedule, "gantt", begin=100) == "Jobs on the machine: no run in this window"
    assert caption(schedule, "gantt", end=0) == "Jobs on the machine: no run in this window"
    assert len(data(schedule, "gantt", begin=4)) == 3
    with pytest.raises(ParameterError, match="gantt: end=3 is not behind the beginning, 5"):
        data(schedule, "gantt", begin=5, end=3)


def test_the_busiest_window_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of weeks from the first start the fullest; halved, by the busier half, until few runs are in it."""
    day = 86_400
    rows = [(0, 1, 0, 10), (8, 4, 8, 1), (9, 2, 9, 1), (10, 4, 12, 2), (21, 4, 21, 1)]
    lines = "\n".join(f"{i} {s * day} {w} 9 {b * day} {r * day}" for i, (s, w, b, r) in enumerate(rows, 1))
    schedule = draw_schedule(f"job submit width request start run\n{lines}")
    table = data(schedule, "gantt")
    assert table[["window_begin", "window_end"]].iloc[0].tolist() == [7 * day, 14 * day]
    assert sorted(table["job_number"]) == [1, 2, 3, 4]
    monkeypatch.setattr(of_gantt, "MOST_RUNS", 3)
    # Until day 10.5 run 1, 2 and 3, with 1*3 + 4 + 2 days; from there on job 4 alone, 8.
    table = data(schedule, "gantt")
    assert table[["window_begin", "window_end"]].iloc[0].tolist() == [7 * day, 10.5 * day]
    assert sorted(table["job_number"]) == [1, 2, 3]


def test_every_run_of_a_stopped_job_is_shown() -> None:
    """Each with its times; a run that took no time is not."""
    schedule = draw_schedule("job submit width request runs\n A 0 2 9 0-3,5-5,8-15\n B 0 2 9 0-3")
    table = data(schedule, "gantt")
    assert table[["job_number", "start", "end"]].to_numpy().tolist() == [[1, 0, 3], [2, 0, 3], [1, 8, 15]]
    assert "3 runs" in caption(schedule, "gantt")


def test_waits_have_classes() -> None:
    """A wait that a class ends with belongs to the next."""
    rows = "\n".join(f"{i} 0 1 9 {at} 9" for i, at in enumerate((0, 59, 60, 3600, 86_399, 86_400), 1))
    table = data(draw_schedule(f"job submit width request start run\n{rows}"), "gantt", color="wait")
    assert table.sort_values("job_number")["label"].tolist() == [
        *("under 1 min", "under 1 min", "to 10 min", "to 4 h", "to 1 d", "longer")
    ]


ODD_NAMES = ["<script>", "$x^2$", "_a", "\u202eabc", "\u05d0" * 40, "others"]


@pytest.mark.parametrize("size", ["screen", "column"])
def test_users_with_odd_names(size: str) -> None:
    """The four with most work are named, so that nothing is taken for markup; the rest are others."""
    rows = "\n".join(f"{i} 0 1 9 0 {100 - i}" for i in range(1, 7))
    schedule = draw_schedule(f"job submit width request start run\n{rows}", 8)
    schedule = replace(schedule, jobs=schedule.jobs.assign(user_id=ODD_NAMES))
    axes = plot(schedule, "gantt", size=size)
    legend = axes.get_legend()
    assert legend is not None
    assert [each.get_text() for each in legend.get_texts()] == ["<script>", "$x^2$", "_a", r"\u202eabc", "others"]
    file = io.BytesIO()
    assert axes.figure is not None
    axes.figure.savefig(file, format="svg")
    assert b"&lt;script&gt;" in file.getvalue()
    assert b"<script>" not in file.getvalue()
    assert "is made up" in axes.get_xlabel()


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Draw schedules that fit the machine, of jobs that may be stopped."""
    free = [0] * 24
    rows = []
    for number in range(draw(st.integers(0, 10))):
        width, start = draw(st.integers(1, 5)), draw(st.integers(0, 11))
        runs = [(start, start + draw(st.integers(0, 5)))]
        if draw(st.booleans()):
            runs.append((runs[0][1] + 1, runs[0][1] + draw(st.integers(1, 4))))
        if all(free[second] + width <= 5 for low, high in runs for second in range(low, high)):
            for low, high in runs:
                for second in range(low, high):
                    free[second] += width
            row = {"submit": 0.0, "width": width, "request": 9.0, "job": number + 1}
            rows.append({**row, "runs": [(float(low), float(high)) for low, high in runs]})
    return schedule_of(rows, 5)


@examples(0.5)
@given(schedules(), st.sampled_from([{}, {"begin": 3.0, "end": 9.0}]))
def test_no_processor_has_two_jobs(schedule: Schedule, window: dict[str, float]) -> None:
    """And each run in the window has as many as it is wide, none beyond the machine's."""
    table = data(schedule, "gantt", **window)
    taken: set[tuple[int, int]] = set()
    for row in table.itertuples():
        for second in range(int(row.start), int(row.end)):
            for processor in range(row.first_processor, row.first_processor + row.processors):
                assert (second, processor) not in taken
                taken.add((second, processor))
    runs = schedule.segments
    runs = runs[runs["end_time"] > runs["start_time"]]
    if window:
        runs = runs[(runs["start_time"] < window["end"]) & (runs["end_time"] > window["begin"])]
    assert len(taken) == ((runs["end_time"] - runs["start_time"]) * runs["allocated_processors"]).sum()
    assert all(processor < 5 for _, processor in taken)


@pytest.mark.parametrize("most", [25_000, 100])
def test_five_thousand_runs_are_a_small_file(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path a tint; beyond a limit an image within the picture."""
    monkeypatch.setattr(of_gantt, "MOST_PIECES", most)
    random = np.random.default_rng(0)
    count = 5000
    start, run = np.sort(random.integers(0, 500_000, count)), random.integers(60, 10_000, count)
    jobs = pd.DataFrame({"job_number": np.arange(1, count + 1), "job_occurrence": 0, "wait_time": 5.0})
    jobs = jobs.assign(submit_time=start - 5.0, start_time=start * 1.0, end_time=start + run * 1.0, run_time=run * 1.0)
    jobs = jobs.assign(allocated_processors=random.integers(1, 20, count), user_id=random.integers(0, 30, count))
    schedule = Schedule(jobs, jobs.sort_values("start_time"), jobs[:0], 1152, "easy")
    began = time.perf_counter()
    axes = plot(schedule, "gantt")
    file = io.BytesIO()
    assert axes.figure is not None
    axes.figure.savefig(file, format="svg")
    assert time.perf_counter() - began < 10  # 0.6 s where nothing else runs
    assert len(file.getvalue()) < 1_000_000
    assert (b"<image" in file.getvalue()) == (most < 5000)
    assert len(axes.collections[0].get_paths()) <= 24  # a colour has three tints, and blocks with edges


def test_thin_jobs_stay_apart() -> None:
    """Neighbours too thin for an edge differ in their tint, all blocks of a run have the same; others have edges."""
    rows = "\n".join(f"{i} 0 1 9 0 9" for i in range(1, 301))
    schedule = draw_schedule(f"job submit width request start run\n{rows}\n900 10 200 9 20 9", 300)
    axes = plot(replace(schedule, jobs=schedule.jobs.assign(user_id=7)), "gantt")
    drawn = axes.collections[0]
    faces = [tuple(each.round(3)) for each in drawn.get_facecolor()]
    corners = [np.asarray(path.vertices).reshape(-1, 5, 2)[:, 0, 1] for path in drawn.get_paths()]
    color_at = {float(low): face for face, lows in zip(faces[1:], corners[1:], strict=True) for low in lows}
    assert len(color_at) == 300
    assert all(color_at[low] != color_at[low + 1] for low in range(299))
    assert len(corners[0]) == 1  # job 900, in the colour itself
    assert np.allclose(drawn.get_edgecolor()[0], 1.0)
    assert faces[0] == tuple(np.round(to_rgba(COLORS[0]), 3))
    split = draw_schedule(
        "job submit width request start run\n A 0 1 9 0 9\n B 0 1 9 0 2\n C 0 1 9 0 9\n D 2 2 9 2 9", 4
    )
    table = data(split, "gantt")
    assert len(table) == 5
    turn = of_gantt._turn_of(table)
    assert (pd.Series(turn).groupby(table["job_number"]).nunique() == 1).all()
    assert len(set(turn)) == 3

# SPDX-License-Identifier: BSD-3-Clause
"""Measures of jobs that are killed, checkpointed, suspended or resized: by hand, by laws, and against a slow twin."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.simulator import CHECKPOINT, KILL, SUSPEND, measure, measure_jobs, over_time, simulate
from swftools.simulator.schedule import Schedule
from tests.examples import examples
from tests.naive.metrics import jobs_of, naive_statistics, naive_steps
from tests.simulator.metrics.drawings import value_of
from tests.simulator.stopped import disturbed, drawn, resizes, scripted, starts, stops, with_curves
from tests.strategies import crowded_trace, workloads

OVERHEADS = [0.0, 1.5, "uniform:seconds=1,per_processor=0.5", "column:name=cost_of_going_on"]


def by_hand() -> Schedule:
    """Return three jobs on four processors, of which the first two are stopped and resized; overhead is 1 s.

    Job 1 (10 s of work) runs from 0 to 4 and keeps 3 s of that by a checkpoint, goes on from 9 to 12, is killed, and
    runs from 16 to 26. Job 2 (6 s) is suspended at 5, goes on at 13 on twice its width, and is resized at 14, within
    its overhead, to half of its width: 1 s of overhead more, and the last second of its work takes 2 s, until 17.
    """
    return scripted(
        drawn("submit run width / 0 10 2 / 0 6 2 / 0 4 2"),
        {
            0: [starts(0, 2), starts(1, 2)],
            4: [stops(0, CHECKPOINT)],
            5: [stops(1, SUSPEND), starts(2, 2)],
            9: [starts(0, 2)],
            12: [stops(0, KILL)],
            13: [starts(1, 4)],
            14: [resizes(1, 1)],
            16: [starts(0, 2)],
        },
        restart_overhead=1.0,
    )


def test_segments_by_hand() -> None:
    """Each run tells what it did, what was lost of that, and why it ended; a job starts where it last began anew."""
    schedule = by_hand()
    names = [
        "job_number",
        "start_time",
        "end_time",
        "allocated_processors",
        "work",
        "lost_work",
        "overhead",
        "ended_by",
    ]
    assert [
        [1, 0, 4, 2, 4, 4, 0, "checkpointed"],  # 1 s is lost at once, 3 s with the kill
        [2, 0, 5, 2, 5, 0, 0, "suspended"],
        [3, 5, 9, 2, 4, 0, 0, "completed"],
        [1, 9, 12, 2, 2, 2, 1, "killed"],
        [2, 13, 14, 4, 0, 0, 1, "resized"],
        [2, 14, 17, 1, 1, 0, 1, "completed"],
        [1, 16, 26, 2, 10, 0, 0, "completed"],
    ] == schedule.segments[names].to_numpy().tolist()
    names = ["start_time", "end_time", "wait_time", "run_time", "allocated_processors", "preemptions", "is_backfilled"]
    assert [[16, 26, 16, 10, 2, 2, False], [0, 17, 0, 9, 1, 1, True], [5, 9, 5, 4, 2, 0, True]] == (
        schedule.jobs[names].to_numpy().tolist()
    )


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("wait", [16, 0, 5]),
        ("turnaround", [26, 17, 9]),
        ("expansion_factor", [2.6, 17 / 7, 9 / 4]),  # 5 s of work took 5 s, the last one 2 s
        ("bounded_slowdown", [2.6, 1.7, 1.0]),
        ("kills", [1, 0, 0]),
        ("checkpoint_restarts", [1, 0, 0]),
        ("suspensions", [0, 1, 0]),
        ("resizes", [0, 1, 0]),
        ("preemptions", [2, 1, 0]),
        ("lost_work", [12, 0, 0]),
        ("overhead", [2, 5, 0]),
        ("useful_work", [20, 12, 8]),
        ("run_time_waste", [0.6, 0, 0]),
    ],
)
def test_measures_by_hand(name: str, values: list[float]) -> None:
    """Every measure of a job is as worked out on paper."""
    assert values == pytest.approx(measure_jobs(by_hand())[name].tolist())


def test_machine_by_hand() -> None:
    """Utilization is what is useful, lost and overhead, over 26 s of four processors."""
    metrics = measure(by_hand())
    assert (3, (40 + 12 + 7) / 104) == value_of(metrics, "utilization", "time_mean")
    assert (3, pytest.approx(40 / 104)) == value_of(metrics, "useful_load", "value")
    assert (3, 12 / 104) == value_of(metrics, "wasted_load", "value")
    assert (3, 7 / 104) == value_of(metrics, "overhead_load", "value")
    assert (3, 12) == value_of(metrics, "lost_work", "total")
    assert (3, 7) == value_of(metrics, "overhead", "total")
    assert (3, 2) == value_of(metrics, "overhead", "count")
    assert (3, pytest.approx((2.6 * 20 + 17 / 7 * 12 + 2.25 * 8) / 40)) == (
        value_of(metrics, "expansion_factor", "mean_by_work")
    )


def test_steps_by_hand() -> None:
    """A run begins with its overhead; a checkpoint keeps what was done first, until the kill that loses it too."""
    steps = over_time(by_hand())[["time", "busy_processors", "lost_processors", "overhead_processors", "queue_length"]]
    assert [
        [0, 4, 2, 0, 1],
        [4, 2, 0, 0, 2],
        [5, 2, 0, 0, 2],
        [9, 2, 0, 2, 1],
        [10, 2, 2, 0, 1],
        [12, 0, 0, 0, 2],
        [13, 4, 0, 4, 1],
        [14, 1, 0, 1, 1],
        [15, 1, 0, 0, 1],
        [16, 3, 0, 0, 0],
        [17, 2, 0, 0, 0],
        [26, 0, 0, 0, 0],
    ] == steps.to_numpy(dtype=float).tolist()


def test_a_part_of_a_run_is_lost() -> None:
    """Of 4 s until a checkpoint that is 3 s old, the last one is lost, and the job goes on with the rest."""
    schedule = scripted(
        drawn("submit run width / 0 10 2"), {0: [starts(0, 2)], 4: [stops(0, CHECKPOINT)], 6: [starts(0, 2)]}
    )
    assert [[4, 1], [7, 0]] == schedule.segments[["work", "lost_work"]].to_numpy().tolist()
    assert [[0, 13, 0, 11]] == schedule.jobs[["start_time", "end_time", "wait_time", "run_time"]].to_numpy().tolist()
    lost = over_time(schedule).set_index("time")["lost_processors"]
    assert {0: 0, 3: 2, 4: 0, 6: 0, 13: 0} == lost.to_dict()
    measured = measure_jobs(schedule).iloc[0]
    assert [1.3, 2.0, 20.0, 0.1] == [
        measured[name] for name in ("expansion_factor", "lost_work", "useful_work", "run_time_waste")
    ]


def test_nothing_is_lost_where_nobody_is_stopped() -> None:
    """The rows are there, and zero, so that policies that stop jobs and others have one table."""
    metrics = measure(simulate(crowded_trace(40), "easy"))
    for name in ("kills", "checkpoint_restarts", "suspensions", "resizes", "lost_work", "overhead", "preemptions"):
        assert (40, 0) == value_of(metrics, name, "total")
    assert 0 == value_of(metrics, "wasted_load", "value")[1] == value_of(metrics, "overhead_load", "value")[1]
    assert value_of(metrics, "utilization", "time_mean") == value_of(metrics, "useful_load", "value")


def test_segments_without_work_are_refused() -> None:
    """Tables of an older version lack columns; the message names them."""
    schedule = by_hand()
    older = replace(schedule, segments=schedule.segments.drop(columns=["work", "ended_by"]))
    for ask in (measure, measure_jobs, over_time):
        with pytest.raises(ParameterError, match=r"schedule\.segments has no columns work, ended_by"):
            ask(older)


@pytest.mark.parametrize("overhead", OVERHEADS)
@examples(0.15)
@given(trace=workloads(), seed=st.integers(0, 1000))
def test_conservation(overhead: float | str, trace: Trace, seed: int) -> None:
    """Busy area = useful + lost + overhead, by jobs as over time; work that is kept is the job's; Little's law."""
    schedule = disturbed(with_curves(trace), seed, restart_overhead=overhead)
    segments, jobs = schedule.segments, schedule.jobs
    measured, steps = measure_jobs(schedule), over_time(schedule)
    span = steps["time"].diff().shift(-1).fillna(0)
    ran = segments["end_time"] - segments["start_time"]
    area = (ran * segments["allocated_processors"]).sum()
    parts = {name: measured[name].sum() for name in ("useful_work", "lost_work", "overhead")}
    assert sum(parts.values()) == pytest.approx(area)
    assert (steps["busy_processors"] * span).sum() == pytest.approx(area)
    assert (steps["lost_processors"] * span).sum() == pytest.approx(parts["lost_work"], abs=1e-9)
    assert (steps["overhead_processors"] * span).sum() == pytest.approx(parts["overhead"], abs=1e-9)
    assert (steps["queue_length"] * span).sum() == pytest.approx(measured["turnaround"].sum() - ran.sum(), abs=1e-6)
    kept = (segments["work"] - segments["lost_work"]).groupby(segments["job_number"]).sum()
    # On a linear curve, useful work is that on the job's own width, whatever widths it had.
    width = trace.arrays.width[[list(trace.jobs["job_number"]).index(n) for n in jobs["job_number"]]]
    if jobs["job_number"].is_unique:
        assert (kept.loc[jobs["job_number"]].to_numpy() * width) == pytest.approx(measured["useful_work"].to_numpy())


@pytest.mark.parametrize("overhead", OVERHEADS)
@examples(0.1)
@given(
    trace=workloads(),
    seed=st.integers(0, 1000),
    bound=st.sampled_from([0.0, 10.0]),
    form=st.sampled_from(["turnaround", "stretched"]),
)
def test_equal_to_the_twin(overhead: float | str, trace: Trace, seed: int, bound: float, form: str) -> None:
    """All statistics, and the steps, equal those of loops over jobs and their stretches."""
    schedule = disturbed(with_curves(trace), seed, restart_overhead=overhead)
    metrics = measure(schedule, bound=bound, slowdown=form, percentiles=[50])
    told = metrics.set_index(["measure", "statistic"])
    for key, (count, value) in naive_statistics(jobs_of(schedule), bound, form, [50]).items():
        row = told.loc[key]
        assert count == row["jobs"], key
        expected = math.nan if value is None else value
        assert pytest.approx(expected, rel=1e-6, abs=1e-9, nan_ok=True) == row["value"], key
    steps = over_time(schedule).to_numpy(dtype=float)
    for row, later in pairwise(naive_steps(schedule)):
        if later[0] - row[0] > 1e-6:  # else only rounded otherwise
            place = np.searchsorted(steps[:, 0], (row[0] + later[0]) / 2) - 1
            assert row[1:7] == pytest.approx(tuple(steps[place, 1:7]))

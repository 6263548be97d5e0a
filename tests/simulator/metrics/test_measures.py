# SPDX-License-Identifier: BSD-3-Clause
"""Measures of schedules, by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from swftools import UtilityFunctions
from swftools.errors import ParameterError
from swftools.simulator.metrics.job_classes import classify
from swftools.simulator.metrics.measures import measure, summarize
from swftools.simulator.metrics.of_jobs import measure_jobs, start_delay
from swftools.simulator.metrics.over_time import max_over_time, mean_over_time, over_time
from swftools.simulator.schedule import Schedule
from tests.drawn import draw_schedule
from tests.simulator.metrics.drawings import DRAWN, EMPTY, REFERENCE_RUN, value_of

# ---------------------------------------------------------------- by hand


@pytest.fixture(scope="module")
def drawn() -> pd.DataFrame:
    """What the drawn schedule measures."""
    return measure(draw_schedule(DRAWN))


@pytest.mark.parametrize(
    ("name", "statistic", "jobs", "value"),
    [
        ("wait", "mean", 4, 31 / 4),
        ("wait", "mean_by_processors", 4, (0 * 3 + 8 * 4 + 12 * 1 + 11 * 2) / 10),
        ("wait", "mean_by_work", 4, (0 * 30 + 8 * 20 + 12 * 5 + 11 * 0) / 55),
        ("wait", "p25", 4, 6),  # three quarters of the way from 0 to 8
        ("wait", "p50", 4, 9.5),
        ("wait", "max", 4, 12),
        ("turnaround", "mean", 4, 51 / 4),
        ("expansion_factor", "mean", 3, 7 / 3),
        ("expansion_factor", "max", 3, 3.4),
        ("requested_expansion_factor", "mean", 3, (1 + 14 / 6 + 2.5) / 3),
        ("bounded_slowdown", "mean", 4, 5.1 / 4),
        ("bounded_slowdown", "mean_by_processors", 4, (3 + 5.2 + 1.7 + 2.2) / 10),
        ("bounded_slowdown", "mean_by_work", 4, (30 + 26 + 8.5) / 55),
        ("is_backfilled", "count", 4, 1),
        ("is_backfilled", "mean", 4, 0.25),
        ("preemptions", "total", 4, 1),
        ("preemptions", "count", 4, 1),
        ("preemptions", "mean_above_0", 1, 1),
        ("run_time_waste", "mean", 3, 0.4 / 3),  # 2 s lost of a job of 5 s
        ("run_time_waste", "mean_above_0", 1, 0.4),
        ("makespan", "value", 4, 20),
        ("offered_load", "value", 4, 55 / (4 * 4)),  # submitted from 0 to 4
        ("utilization", "time_mean", 4, (30 + 20 + 2 + 5) / 80),
        ("utilization", "max", 4, 1),
        ("wasted_load", "value", 4, 2 / 80),
        ("overhead_load", "value", 4, 0),
        ("useful_load", "value", 4, 55 / 80),
        ("queue_length", "time_mean", 4, 29 / 20),  # 31 s waited in all, 2 of them running
        ("queue_length", "max", 4, 3),
        ("queued_work", "time_mean", 4, (24 * 3 + 32 * 5 + 8 * 5) / 20),
        ("queued_work", "max", 4, 32),
        ("excluded_jobs", "count", 4, 0),
    ],
)
def test_drawn_schedule(drawn: pd.DataFrame, name: str, statistic: str, jobs: int, value: float) -> None:
    """Every kind of measure of the drawn schedule is as worked out by hand."""
    assert (jobs, pytest.approx(value)) == value_of(drawn, name, statistic)


def test_stretched_slowdown() -> None:
    """Short jobs count as if they had run for the bound: equations 1 and 2 of Yuan et al. 2010."""
    metrics = measure(draw_schedule(DRAWN), slowdown="stretched")
    assert (4, pytest.approx(7.1 / 4)) == value_of(metrics, "bounded_slowdown", "mean")
    weighted = (1 * 3 + 1.8 * 4 + 2.2 * 1 + 2.1 * 2) / 10
    assert (4, pytest.approx(weighted)) == value_of(metrics, "bounded_slowdown", "mean_by_processors")


def test_nominal_time() -> None:
    """Slowdowns may relate to another time than the run time; only short jobs are held to at least 1."""
    schedule = draw_schedule(DRAWN)
    schedule.jobs["standard"] = [20.0, 26.0, 8.5, math.nan]
    measured = measure_jobs(schedule, nominal="standard")
    assert [0.5, 0.5, 1.7] == measured["bounded_slowdown"].tolist()[:3]
    assert [0.5, 0.5, 2.0] == measured["expansion_factor"].tolist()[:3]
    assert measured[["bounded_slowdown", "expansion_factor"]].iloc[3].isna().all()
    assert (3, 0.9) == value_of(measure(schedule, nominal="standard"), "bounded_slowdown", "mean")
    schedule.jobs["standard"] = 17.0
    held = measure_jobs(schedule, nominal="standard", bound=20)["bounded_slowdown"]
    assert [1.0, 1.0, 1.0, 1.0] == held.tolist()


def test_without_bound() -> None:
    """With bound 0 the slowdown is the plain one, and a job without run time has none."""
    measured = measure_jobs(draw_schedule(DRAWN), bound=0)
    assert measured["bounded_slowdown"].equals(measured["expansion_factor"].rename("bounded_slowdown"))


@pytest.mark.parametrize(("nominal", "has_one"), [(0, False), (1e-9, False), (1.05e-9, True)])
def test_shortest_time(nominal: float, has_one: bool) -> None:
    """A time up to a nanosecond is none, so that ratios stay finite."""
    schedule = draw_schedule(DRAWN)
    schedule.jobs["standard"] = nominal
    assert has_one == measure_jobs(schedule, nominal="standard")["expansion_factor"].notna().all()


def test_drawn_steps() -> None:
    """What runs and waits from event to event, the preempted run and the job without run time included."""
    steps = over_time(draw_schedule(DRAWN))
    # time, busy, lost, overhead, share, jobs waiting, their processors and requested work
    assert [
        [0, 3, 0, 0, 0.75, 0, 0, 0],
        [2, 3, 0, 0, 0.75, 1, 4, 24],  # job 2 waits
        [3, 4, 1, 0, 1.0, 1, 4, 24],  # job 3 begins in vain
        [4, 4, 1, 0, 1.0, 2, 6, 24],  # job 4 waits, for no time asked
        [5, 3, 0, 0, 0.75, 3, 7, 32],  # job 3 waits again
        [10, 4, 0, 0, 1.0, 2, 3, 8],
        [15, 1, 0, 0, 0.25, 0, 0, 0],
        [20, 0, 0, 0, 0.0, 0, 0, 0],
    ] == steps.to_numpy(dtype=float).tolist()
    by_run_time = over_time(draw_schedule(DRAWN), demand="run_time")["queued_work"]
    assert [0, 20, 20, 20, 25, 5, 0, 0] == by_run_time.tolist()


def test_steps_of_some_jobs() -> None:
    """Of chosen jobs only their part is shown; the parts add up."""
    schedule = draw_schedule(DRAWN)
    steps = over_time(schedule, where=lambda jobs: (jobs["queue_id"] == 1).fillna(value=False))
    assert [[0, 3, 0], [3, 4, 0], [5, 3, 1], [10, 0, 1], [15, 1, 0], [20, 0, 0]] == (
        steps[["time", "busy_processors", "queue_length"]].to_numpy(dtype=float).tolist()
    )


def test_no_negative_work() -> None:
    """Rounding leaves no work below zero: .1 + .7 - .7 - .1 is -8e-17, while a job that asks for no time waits."""
    steps = over_time(
        draw_schedule(
            """
            submit width run request start
            0      1     1   0       10
            1      1     1   0.1     5
            2      1     1   0.7     4
            """,
            processors=1,
        )
    )
    assert [0, 0.1, 0.8, 0.1, 0, 0, 0, 0] == pytest.approx(steps["queued_work"].tolist())
    assert (steps["queued_work"] >= 0).all()
    assert 1 == steps["queue_length"][4]


def test_window() -> None:
    """Time averages are over the window, idle time outside the schedule included."""
    steps = over_time(draw_schedule(DRAWN))
    assert 1.0 == mean_over_time(steps, "utilization", (10, 15))
    assert 0.375 == mean_over_time(steps, "utilization", (-2, 2))
    assert 0.125 == mean_over_time(steps, "utilization", (15, 25))
    assert 0.0 == mean_over_time(steps, "utilization", (-5, 0))
    assert 2.0 == max_over_time(steps, "queue_length", (10, 30))
    metrics = measure(draw_schedule(DRAWN), window=(3, 5))
    assert (4, 0.25) == value_of(metrics, "wasted_load", "value")
    assert (4, 5 / 8) == value_of(metrics, "offered_load", "value")  # of the jobs submitted in it, 3 and 4
    assert (4, 20) == value_of(metrics, "makespan", "value")
    metrics = measure(draw_schedule(DRAWN), window=(0, 2))
    assert (4, 30 / 8) == value_of(metrics, "offered_load", "value")  # job 2 is not in it


def with_utility(schedule: Schedule) -> Schedule:
    """Give the drawn jobs utility functions, job 3 none and job 4 a worthless one."""
    functions = UtilityFunctions.from_points([[(0, 100), (20, 0)], [(0, 10), (13, 10), (14, 0)], [], [(0, 0), (50, 0)]])
    utility = pd.arrays.ArrowExtensionArray(pa.chunked_array([functions.to_arrow()]))
    return Schedule(schedule.jobs.assign(utility=utility), schedule.segments, schedule.excluded, 4, "drawn")


def test_utility() -> None:
    """Aggregate utility, and the share of the start value that was earned, at the turnaround or the wait."""
    metrics = measure(with_utility(draw_schedule(DRAWN)))
    assert (3, 60) == value_of(metrics, "utility", "total")
    assert (3, 20) == value_of(metrics, "utility", "mean")
    assert (2, 0.75) == value_of(metrics, "start_value_earned", "mean")
    assert (2, 60 / 110) == value_of(metrics, "start_value_earned", "mean_by_start_value")
    by_wait = measure(with_utility(draw_schedule(DRAWN)), utility_clock="wait")
    assert (3, 110) == value_of(by_wait, "utility", "total")


def test_reference_schedule() -> None:
    """Delays and excessive waits against another schedule of the same jobs, in another order."""
    metrics = measure(draw_schedule(DRAWN), reference=draw_schedule(REFERENCE_RUN), threshold=8)
    assert [-5, 7, 3, 1] == start_delay(draw_schedule(DRAWN), draw_schedule(REFERENCE_RUN)).tolist()
    assert (4, 6) == value_of(metrics, "start_delay", "total")
    assert (4, 3) == value_of(metrics, "start_delay", "count")
    assert (3, 11 / 3) == value_of(metrics, "start_delay", "mean_above_0")
    assert (4, 3) == value_of(metrics, "excessive_wait_over_max", "total")  # 12 and 11 over 10
    assert (4, pytest.approx(2.06 + 1.06)) == value_of(metrics, "excessive_wait_over_p98", "total")
    assert (4, 7) == value_of(metrics, "excessive_wait", "total")
    assert (2, 3.5) == value_of(metrics, "excessive_wait", "mean_above_0")
    thresholds = metrics.dropna(subset="parameter").groupby("measure")["parameter"].unique()
    assert {
        "bounded_slowdown": [10],
        "excessive_wait": [8],
        "excessive_wait_over_max": [10],
        "excessive_wait_over_p98": [pytest.approx(9.94)],
    } == {name: list(values) for name, values in thresholds.items()}


def test_thresholds_are_of_the_chosen_jobs() -> None:
    """The reference's thresholds are over the jobs that count here: of jobs 1 and 2 the longest wait there is 5."""
    metrics = measure(draw_schedule(DRAWN), reference=draw_schedule(REFERENCE_RUN), where=[True, True, False, False])
    assert (2, 3) == value_of(metrics, "excessive_wait_over_max", "total")


def test_no_excess_over_itself() -> None:
    """Against itself a schedule has neither delays nor waits beyond the longest."""
    metrics = measure(draw_schedule(DRAWN), reference=draw_schedule(DRAWN))
    assert (4, 0) == value_of(metrics, "excessive_wait_over_max", "total")
    assert (4, 0) == value_of(metrics, "start_delay", "max")
    of_none = value_of(metrics, "start_delay", "mean_above_0")
    assert of_none[0] == 0
    assert math.isnan(of_none[1])


@pytest.mark.parametrize(
    ("by", "labels", "of_job"),
    [
        (None, ["all"], [0, 0, 0, 0]),
        ("queue_id", ["1", "2", "missing"], [0, 1, 0, 2]),
        (["queue_id", "is_backfilled"], ["1 & False", "1 & True", "2 & False", "missing & False"], [0, 2, 1, 3]),
        ({"allocated_processors": [1, 3]}, ["<= 1", "(1, 3]", "> 3"], [1, 2, 0, 1]),
        ({"run_time": [5], "queue_id": [1]},
         [f"{a} & {b}" for a in ("<= 5", "> 5") for b in ("<= 1", "> 1", "missing")], [3, 1, 0, 2]),
        ({"requested_time": None}, ["0", "6", "8", "10"], [3, 1, 2, 0]),
    ],
)  # fmt: skip
def test_classes(by: Any, labels: list[str], of_job: list[int]) -> None:
    """Jobs are classed by values in order or by ranges, the missing ones apart."""
    classes = classify(draw_schedule(DRAWN).jobs, by)
    assert (labels, of_job) == (classes.labels, classes.of_job.tolist())


def test_measures_by_class() -> None:
    """Each class has the statistics of its jobs; an empty range has none, and the machine has no classes."""
    metrics = measure(draw_schedule(DRAWN), by={"allocated_processors": [2, 3, 64]})
    assert {"<= 2": (2, 11.5), "(2, 3]": (1, 0), "(3, 64]": (1, 8)} == {
        label: value_of(metrics, "wait", "mean", label) for label in ("<= 2", "(2, 3]", "(3, 64]")
    }
    nobody = metrics[metrics["job_class"] == "> 64"]
    assert (nobody["jobs"] == 0).all()
    assert nobody["value"].isna().all()
    assert {"allocated_processors"} == set(metrics["classed_by"])
    assert not {"makespan", "utilization"} & set(metrics["measure"])


@pytest.mark.parametrize(
    "where",
    [
        [True, False, True, False],
        np.array([True, False, True, False]),
        pd.Series([False, True, False, True], index=[3, 2, 1, 0], dtype="boolean"),
        lambda jobs: jobs["queue_id"].eq(1).fillna(value=False),
        "is_measured",
    ],
)
def test_chosen_jobs(where: Any) -> None:
    """Jobs are chosen by mask, name or function; the machine is measured over all."""
    schedule = draw_schedule(DRAWN)
    schedule.jobs["is_measured"] = [True, False, True, False]
    metrics = measure(schedule, where=where)
    assert (2, 6) == value_of(metrics, "wait", "mean")
    assert (4, 20) == value_of(metrics, "makespan", "value")
    assert (4, (30 + 20 + 2 + 5) / 80) == value_of(metrics, "utilization", "time_mean")


@pytest.mark.parametrize(("count", "first", "last"), [(202, 2, 2), (250, 2, 50), (100, 0, 0), (101, 1, 1)])
def test_trimmed_slowdown(count: int, first: int, last: int) -> None:
    """The first N // 101 and last N mod 100 jobs by submission are left out, of the bounded slowdown only."""
    lines = [f"{i} {i} 1 {2 * i}-{2 * i + 10} 10 0" for i in range(count)]
    table = "\n".join(["job submit width runs request backfilled", *lines[::-1]])
    metrics = measure(draw_schedule(table, 1), trimmed=True)
    kept = [(i + 10) / 10 for i in range(first, count - last)]
    assert (len(kept), pytest.approx(sum(kept) / len(kept))) == value_of(metrics, "bounded_slowdown", "mean")
    assert (count, (count - 1) / 2) == value_of(metrics, "wait", "mean")


def test_trimming_leaves_nothing_of_few_jobs() -> None:
    """Of fewer than 100 jobs all are trimmed, and the measure is missing."""
    jobs, value = value_of(measure(draw_schedule(DRAWN), trimmed=True), "bounded_slowdown", "mean")
    assert jobs == 0
    assert math.isnan(value)


def test_empty_schedule() -> None:
    """A schedule without jobs has the same rows, all over no jobs and missing but the count of excluded ones."""
    metrics = measure(EMPTY, reference=EMPTY)
    of_drawn = measure(draw_schedule(DRAWN), reference=draw_schedule(DRAWN))
    assert of_drawn["statistic"].tolist() == metrics["statistic"].tolist()
    assert ["excluded_jobs"] == metrics["measure"][metrics["value"].notna()].tolist()
    assert (metrics["jobs"] == 0).all()
    assert 0 == len(over_time(EMPTY)) == len(measure_jobs(EMPTY)) == len(measure(EMPTY, by="queue_id"))
    assert 3 * 122 == len(measure(EMPTY, by={"queue_id": [1, 2]}))
    assert mean_over_time(over_time(EMPTY), "utilization") is None


def test_one_job_without_run_time() -> None:
    """Where no time passes, what is taken over time is missing; the rest is not."""
    metrics = measure(draw_schedule("job submit width runs request backfilled / 1 5 4 5-5 0 0"))
    missing = metrics[metrics["value"].isna()]
    whole = metrics.groupby("measure")["value"].count()
    assert {
        *("expansion_factor", "requested_expansion_factor", "utility", "start_value_earned", "run_time_waste"),
        *("offered_load", "utilization", "queue_length", "queued_work", "useful_load", "wasted_load", "overhead_load"),
    } == set(whole[whole == 0].index)
    others = missing[~missing["measure"].isin(whole[whole == 0].index)]
    assert {"mean_by_work", "mean_above_0"} == set(others["statistic"])
    assert (1, 1) == value_of(metrics, "bounded_slowdown", "mean")
    assert (1, 0) == value_of(metrics, "makespan", "value")


def test_table() -> None:
    """The table has one schema, with text as text, and every statistic of a class once."""
    metrics = measure(draw_schedule(DRAWN), by="queue_id", label="mine")
    assert {
        **dict.fromkeys(["policy", "classed_by", "job_class", "measure", "statistic"], "str"),
        "parameter": "float64",
        "jobs": "Int64",
        "value": "float64",
        "unit": "str",
    } == metrics.dtypes.astype("str").to_dict()
    assert {"mine"} == set(metrics["policy"])
    assert not metrics.duplicated(["policy", "classed_by", "job_class", "measure", "statistic"]).any()
    assert not metrics.drop(columns=["parameter", "value"]).isna().any(axis=None)


def test_summary() -> None:
    """The wide table has a row a policy and class, in order, and says which label stands for two runs."""
    metrics = pd.concat([measure(draw_schedule(DRAWN), label="b"), measure(draw_schedule(REFERENCE_RUN), label="a")])
    wide = summarize(metrics)
    assert ["b", "a"] == wide["policy"].tolist()
    assert [31 / 4, 25 / 4] == wide["wait_mean"].tolist()
    assert [20, 17] == wide["makespan"].tolist()
    chosen = summarize(metrics, [("queue_length", "max"), ("wait", "p1")])
    assert ["policy", "classed_by", "job_class", "queue_length_max", "wait_p1"] == list(chosen)
    assert chosen["wait_p1"].isna().all()
    with pytest.raises(ParameterError, match="wait, mean occurs twice for 'b'"):
        summarize(pd.concat([metrics, metrics]))


@pytest.mark.parametrize(("request_time", "slowdown"), [(9, 1.0), (10, 0.5), (20, 0.25)])
def test_a_job_as_long_as_the_bound_is_not_short(request_time: int, slowdown: float) -> None:
    """Only of shorter ones the slowdown is at least 1; by requests a job that ends early has less."""
    schedule = draw_schedule(f"submit width run request start / 0 4 5 {request_time} 0")
    measured = measure_jobs(schedule, bound=10, nominal="requested_time")
    assert measured["bounded_slowdown"].tolist() == [slowdown]

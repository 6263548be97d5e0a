"""Measures of schedules: by hand, and what is refused."""

from __future__ import annotations

import json
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
from swftools.simulator.metrics.parameters import MetricParameters
from swftools.simulator.schedule import Schedule
from tests.drawn_schedules import draw, schedule_of, value_of

# Four processors. Job 3 begins at once, is stopped at 5 and begins anew at 15; job 4 runs no time at all.
#
#   job  wait  turnaround  slowdown  of at least 10 s  as if it had run 10 s  work
#     1     0          10       1                 1                      1      30
#     2     8          13     2.6               1.3                    1.8      20
#     3    12          17     3.4               1.7                    2.2       5
#     4    11          11       -               1.1                    2.1       0
DRAWN = """
job submit processors runs       request queue backfilled
1   0      3          0-10       10      1     0
2   2      4          10-15      6       2     0
3   3      1          3-5,15-20  8       1     1
4   4      2          15-15      0       .     0
"""
EMPTY = draw(DRAWN.split("1   0", maxsplit=1)[0])


# ---------------------------------------------------------------- by hand


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
        ("queue_length", "time_mean", 4, 29 / 20),  # 31 s waited in all, 2 of them running
        ("queue_length", "max", 4, 3),
        ("queued_work", "time_mean", 4, (24 * 3 + 32 * 5 + 8 * 5) / 20),
        ("queued_work", "max", 4, 32),
        ("excluded_jobs", "count", 4, 0),
    ],
)
def test_drawn_schedule(name: str, statistic: str, jobs: int, value: float) -> None:
    """Every kind of measure of the drawn schedule is as worked out by hand."""
    assert (jobs, pytest.approx(value)) == value_of(measure(draw(DRAWN)), name, statistic)


def test_stretched_slowdown() -> None:
    """Short jobs count as if they had run for the bound: equations 1 and 2 of Yuan et al. 2010."""
    metrics = measure(draw(DRAWN), slowdown="stretched")
    assert (4, pytest.approx(7.1 / 4)) == value_of(metrics, "bounded_slowdown", "mean")
    weighted = (1 * 3 + 1.8 * 4 + 2.2 * 1 + 2.1 * 2) / 10
    assert (4, pytest.approx(weighted)) == value_of(metrics, "bounded_slowdown", "mean_by_processors")


def test_nominal_time() -> None:
    """Slowdowns may relate to another time than the run time; only short jobs are held to at least 1."""
    schedule = draw(DRAWN)
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
    measured = measure_jobs(draw(DRAWN), bound=0)
    assert measured["bounded_slowdown"].equals(measured["expansion_factor"].rename("bounded_slowdown"))


@pytest.mark.parametrize(("nominal", "has_one"), [(0, False), (1e-9, False), (1.05e-9, True)])
def test_shortest_time(nominal: float, has_one: bool) -> None:
    """A time up to a nanosecond is none, so that ratios stay finite."""
    schedule = draw(DRAWN)
    schedule.jobs["standard"] = nominal
    assert has_one == measure_jobs(schedule, nominal="standard")["expansion_factor"].notna().all()


def test_drawn_steps() -> None:
    """What runs and waits from event to event, the preempted run and the job without run time included."""
    steps = over_time(draw(DRAWN))
    # time, busy, lost, share, jobs waiting, their processors and requested work
    assert [
        [0, 3, 0, 0.75, 0, 0, 0],
        [2, 3, 0, 0.75, 1, 4, 24],  # job 2 waits
        [3, 4, 1, 1.0, 1, 4, 24],  # job 3 begins in vain
        [4, 4, 1, 1.0, 2, 6, 24],  # job 4 waits, for no time asked
        [5, 3, 0, 0.75, 3, 7, 32],  # job 3 waits again
        [10, 4, 0, 1.0, 2, 3, 8],
        [15, 1, 0, 0.25, 0, 0, 0],
        [20, 0, 0, 0.0, 0, 0, 0],
    ] == steps.to_numpy(dtype=float).tolist()
    by_run_time = over_time(draw(DRAWN), demand="run_time")["queued_work"]
    assert [0, 20, 20, 20, 25, 5, 0, 0] == by_run_time.tolist()


def test_steps_of_some_jobs() -> None:
    """Of chosen jobs only their part is shown; the parts add up."""
    schedule = draw(DRAWN)
    steps = over_time(schedule, where=lambda jobs: (jobs["queue_id"] == 1).fillna(value=False))
    assert [[0, 3, 0], [3, 4, 0], [5, 3, 1], [10, 0, 1], [15, 1, 0], [20, 0, 0]] == (
        steps[["time", "busy_processors", "queue_length"]].to_numpy(dtype=float).tolist()
    )


def test_no_negative_work() -> None:
    """Rounding leaves no work below zero: .1 + .7 - .7 - .1 is -8e-17, while a job that asks for no time waits."""
    asked = [(0, 10, 0.0), (1, 5, 0.1), (2, 4, 0.7)]
    rows = [
        {"job": submit, "submit": submit, "processors": 1, "runs": [(start, start + 1)], "request": request}
        for submit, start, request in asked
    ]
    steps = over_time(schedule_of(rows, 1))
    assert [0, 0.1, 0.8, 0.1, 0, 0, 0, 0] == pytest.approx(steps["queued_work"].tolist())
    assert (steps["queued_work"] >= 0).all()
    assert 1 == steps["queue_length"][4]


def test_window() -> None:
    """Time averages are over the window, idle time outside the schedule included."""
    steps = over_time(draw(DRAWN))
    assert 1.0 == mean_over_time(steps, "utilization", (10, 15))
    assert 0.375 == mean_over_time(steps, "utilization", (-2, 2))
    assert 0.125 == mean_over_time(steps, "utilization", (15, 25))
    assert 0.0 == mean_over_time(steps, "utilization", (-5, 0))
    assert 2.0 == max_over_time(steps, "queue_length", (10, 30))
    metrics = measure(draw(DRAWN), window=(3, 5))
    assert (4, 0.25) == value_of(metrics, "wasted_load", "value")
    assert (4, 5 / 8) == value_of(metrics, "offered_load", "value")  # of the jobs submitted in it, 3 and 4
    assert (4, 20) == value_of(metrics, "makespan", "value")
    assert (4, 30 / 8) == value_of(measure(draw(DRAWN), window=(0, 2)), "offered_load", "value")  # job 2 is not in it


def with_utility(schedule: Schedule) -> Schedule:
    """Give the drawn jobs utility functions, job 3 none and job 4 a worthless one."""
    functions = UtilityFunctions.from_points([[(0, 100), (20, 0)], [(0, 10), (13, 10), (14, 0)], [], [(0, 0), (50, 0)]])
    utility = pd.arrays.ArrowExtensionArray(pa.chunked_array([functions.to_arrow()]))
    return Schedule(schedule.jobs.assign(utility=utility), schedule.segments, schedule.excluded, 4, "drawn")


def test_utility() -> None:
    """Aggregate utility, and the share of the start value that was earned, at the turnaround or the wait."""
    metrics = measure(with_utility(draw(DRAWN)))
    assert (3, 60) == value_of(metrics, "utility", "total")
    assert (3, 20) == value_of(metrics, "utility", "mean")
    assert (2, 0.75) == value_of(metrics, "start_value_earned", "mean")
    assert (2, 60 / 110) == value_of(metrics, "start_value_earned", "mean_by_start_value")
    by_wait = measure(with_utility(draw(DRAWN)), utility_clock="wait")
    assert (3, 110) == value_of(by_wait, "utility", "total")


REFERENCE_RUN = """
job submit processors runs   request
4   4      2          14-14  0
3   3      1          12-17  8
2   2      4          3-8    6
1   0      3          5-15   10
"""
# Waits 10, 9, 1, 5: the longest is 10, and at 98 %, .94 of the way from 9 to 10, stands 9.94.


def test_reference_schedule() -> None:
    """Delays and excessive waits against another schedule of the same jobs, in another order."""
    metrics = measure(draw(DRAWN), reference=draw(REFERENCE_RUN), threshold=8)
    assert [-5, 7, 3, 1] == start_delay(draw(DRAWN), draw(REFERENCE_RUN)).tolist()
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
    metrics = measure(draw(DRAWN), reference=draw(REFERENCE_RUN), where=[True, True, False, False])
    assert (2, 3) == value_of(metrics, "excessive_wait_over_max", "total")


def test_no_excess_over_itself() -> None:
    """Against itself a schedule has neither delays nor waits beyond the longest."""
    metrics = measure(draw(DRAWN), reference=draw(DRAWN))
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
    classes = classify(draw(DRAWN).jobs, by)
    assert (labels, of_job) == (classes.labels, classes.of_job.tolist())


def test_measures_by_class() -> None:
    """Each class has the statistics of its jobs; an empty range has none, and the machine has no classes."""
    metrics = measure(draw(DRAWN), by={"allocated_processors": [2, 3, 64]})
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
        pd.Series([True, False, True, False], index=[7, 6, 5, 4], dtype="boolean"),
        lambda jobs: jobs["queue_id"].eq(1).fillna(value=False),
        "is_measured",
    ],
)
def test_chosen_jobs(where: Any) -> None:
    """Jobs are chosen by mask, name or function; the machine is measured over all."""
    schedule = draw(DRAWN)
    schedule.jobs["is_measured"] = [True, False, True, False]
    metrics = measure(schedule, where=where)
    assert (2, 6) == value_of(metrics, "wait", "mean")
    assert (4, 20) == value_of(metrics, "makespan", "value")
    assert (4, (30 + 20 + 2 + 5) / 80) == value_of(metrics, "utilization", "time_mean")


@pytest.mark.parametrize(("count", "first", "last"), [(202, 2, 2), (250, 2, 50), (100, 0, 0), (101, 1, 1)])
def test_trimmed_slowdown(count: int, first: int, last: int) -> None:
    """The first N // 101 and last N mod 100 jobs by submission are left out, of the bounded slowdown only."""
    rows = [
        {"job": i, "submit": i, "processors": 1, "runs": [(2 * i, 2 * i + 10)], "request": 10} for i in range(count)
    ]
    metrics = measure(schedule_of(rows[::-1], 1), trimmed=True)
    kept = [(i + 10) / 10 for i in range(first, count - last)]
    assert (len(kept), pytest.approx(sum(kept) / len(kept))) == value_of(metrics, "bounded_slowdown", "mean")
    assert (count, (count - 1) / 2) == value_of(metrics, "wait", "mean")


def test_trimming_leaves_nothing_of_few_jobs() -> None:
    """Of fewer than 100 jobs all are trimmed, and the measure is missing."""
    jobs, value = value_of(measure(draw(DRAWN), trimmed=True), "bounded_slowdown", "mean")
    assert jobs == 0
    assert math.isnan(value)


def test_empty_schedule() -> None:
    """A schedule without jobs has the same rows, all over no jobs and missing but the count of excluded ones."""
    metrics = measure(EMPTY, reference=EMPTY)
    assert measure(draw(DRAWN), reference=draw(DRAWN))["statistic"].tolist() == metrics["statistic"].tolist()
    assert ["excluded_jobs"] == metrics["measure"][metrics["value"].notna()].tolist()
    assert (metrics["jobs"] == 0).all()
    assert 0 == len(over_time(EMPTY)) == len(measure_jobs(EMPTY)) == len(measure(EMPTY, by="queue_id"))
    assert 3 * 70 == len(measure(EMPTY, by={"queue_id": [1, 2]}))
    assert mean_over_time(over_time(EMPTY), "utilization") is None


def test_one_job_without_run_time() -> None:
    """Where no time passes, what is taken over time is missing; the rest is not."""
    metrics = measure(draw("job submit processors runs request\n1 5 4 5-5 0"))
    missing = metrics[metrics["value"].isna()]
    whole = metrics.groupby("measure")["value"].count()
    assert {
        *("expansion_factor", "requested_expansion_factor", "utility", "start_value_earned", "run_time_waste"),
        *("offered_load", "utilization", "queue_length", "queued_work", "wasted_load"),
    } == set(whole[whole == 0].index)
    others = missing[~missing["measure"].isin(whole[whole == 0].index)]
    assert {"mean_by_work", "mean_above_0"} == set(others["statistic"])
    assert (1, 1) == value_of(metrics, "bounded_slowdown", "mean")
    assert (1, 0) == value_of(metrics, "makespan", "value")


def test_table() -> None:
    """The table has one schema, with text as text, and every statistic of a class once."""
    metrics = measure(draw(DRAWN), by="queue_id", label="mine")
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
    metrics = pd.concat([measure(draw(DRAWN), label="b"), measure(draw(REFERENCE_RUN), label="a")])
    wide = summarize(metrics)
    assert ["b", "a"] == wide["policy"].tolist()
    assert [31 / 4, 25 / 4] == wide["wait_mean"].tolist()
    assert [20, 17] == wide["makespan"].tolist()
    chosen = summarize(metrics, [("queue_length", "max"), ("wait", "p1")])
    assert ["policy", "classed_by", "job_class", "queue_length_max", "wait_p1"] == list(chosen)
    assert chosen["wait_p1"].isna().all()
    with pytest.raises(ParameterError, match="wait, mean stands twice for 'b'"):
        summarize(pd.concat([metrics, metrics]))


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bound": -1}, "bound=-1 is not a number of seconds"),
        ({"bound": math.nan}, "bound=nan is not"),
        ({"slowdown": "plain"}, "slowdown='plain' is not turnaround or stretched"),
        ({"nominal": "ideal"}, "nominal='ideal' is no column of times"),
        ({"nominal": "queue_id", "where": "queue"}, "where='queue' is no column"),
        ({"utility_clock": "start"}, "utility_clock='start' is not turnaround or wait"),
        ({"percentiles": (50, 101)}, "percentiles=.* is not different numbers from 0 to 100"),
        ({"percentiles": (50, 50)}, "percentiles=.* is not different numbers"),
        ({"trimmed": 1}, "trimmed=1 is not True or False"),
        ({"threshold": -5}, "threshold=-5 is not a number of seconds"),
        ({"window": (5, 5)}, "window=.* is not .begin, end. in seconds"),
        ({"window": 5}, "window=5 is not"),
        ({"quantiles": (5,)}, "unknown parameters .'quantiles'.; there are: bound"),
        ({"where": [True]}, "where gives 1 values of bool; give a truth value for each of 4 jobs"),
        ({"where": [1, 0, 1, 0]}, "where gives 4 values of int64"),
        ({"where": lambda jobs: jobs["queue_id"] == 1}, "where gives 4 values of boolean"),
        ({"where": [[True] * 4]}, "where gives 0 values"),
        ({"where": "submit_time"}, "where gives 4 values of float64"),
        ({"by": "users"}, "by='users' does not name columns of the jobs; there are job_number"),
        ({"by": []}, "does not name columns"),
        ({"by": {"queue_id": [3, 2]}}, "give upper ends of ranges, numbers that increase"),
        ({"by": {"queue_id": []}}, "give upper ends of ranges"),
        ({"by": {"queue_id": "12"}}, "give upper ends of ranges"),
        ({"by": {"is_backfilled": [1]}}, "a column of bool has no ranges"),
    ],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    """What cannot be measured is one clear error."""
    with pytest.raises(ParameterError, match=message):
        measure(draw(DRAWN), **options)


def test_mistakes_elsewhere() -> None:
    """Other jobs in the reference, runs of unknown jobs, unknown steps: errors that name them."""
    fewer = draw("job submit processors runs request\n1 0 3 0-10 10")
    with pytest.raises(ParameterError, match="has 1 jobs, not 4"):
        start_delay(draw(DRAWN), fewer)
    others = draw(REFERENCE_RUN.replace("4   4", "9   4"))
    with pytest.raises(ParameterError, match="job 4, occurrence 0, is not among the jobs"):
        measure(draw(DRAWN), reference=others)
    with pytest.raises(ParameterError, match="job 4, occurrence 0, is not among the jobs"):
        over_time(Schedule(others.jobs, draw(DRAWN).segments, others.excluded, 4, "drawn"))
    with pytest.raises(ParameterError, match="job 1, occurrence 0, is not among the jobs"):
        over_time(Schedule(EMPTY.jobs, fewer.segments, EMPTY.excluded, 4, "drawn"))
    with pytest.raises(ParameterError, match="demand='wait_time' is not one of requested_time, run_time"):
        over_time(fewer, demand="wait_time")
    with pytest.raises(ParameterError, match="no step function 'time'; there are busy_processors"):
        mean_over_time(over_time(fewer), "time")
    negative = draw(DRAWN)
    negative.jobs["standard"] = -1.0
    with pytest.raises(ParameterError, match="nominal='standard' has times below 0"):
        measure_jobs(negative, nominal="standard")
    unhashable = draw(DRAWN)
    unhashable.jobs["parts"] = [[1], [2], [3], [4]]
    with pytest.raises(ParameterError, match="cannot be classed by a column of object"):
        classify(unhashable.jobs, "parts")


def test_parameters_to_json_and_back() -> None:
    """Parameters survive JSON."""
    parameters = MetricParameters(bound=60, percentiles=(50, 99.5), window=(0, 10), threshold=3.0)
    again = MetricParameters.from_mapping(json.loads(json.dumps(parameters.to_mapping())))
    assert parameters.to_mapping() == again.to_mapping()
    ours, theirs = measure(draw(DRAWN), parameters), measure(draw(DRAWN), again)
    pd.testing.assert_frame_equal(ours, theirs)
    changed = measure(draw(DRAWN), parameters, bound=10)
    assert 10 == changed["parameter"].max()

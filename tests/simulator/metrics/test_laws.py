# SPDX-License-Identifier: BSD-3-Clause
"""Measures of schedules: against a slow twin, for any schedule, by theory, and as published."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import clean, read_swf
from swftools.simulator.entry_points import simulate
from swftools.simulator.metrics.job_classes import ClassedValues, classify
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.of_jobs import choose_jobs, measure_jobs, start_delay
from swftools.simulator.metrics.over_time import mean_over_time, over_time
from swftools.simulator.schedule import Schedule
from tests.drawn import schedule_of
from tests.examples import examples
from tests.folders import REFERENCES
from tests.naive.metrics import jobs_of, naive_percentile, naive_statistics, naive_steps
from tests.simulator.metrics.drawings import value_of

REFERENCE = json.loads((REFERENCES / "metrics.json").read_text(encoding="utf-8"))


# ---------------------------------------------------------------- any schedule


@st.composite
def schedules(draw_: st.DrawFn) -> Schedule:
    """Draw a schedule that fits its machine; some jobs run in vain first, some for no time."""
    processors = draw_(st.integers(1, 6))
    times = st.integers(0, 12).map(float) | st.floats(0, 12)
    placed: list[tuple[float, float, int]] = []

    def place(earliest: float, length: float, width: int) -> tuple[float, float]:
        """Return a run, from ``earliest`` on if it fits, else when all is done."""
        instants = [earliest, *(start for start, _, _ in placed if earliest < start < earliest + length)]
        free = all(sum(w for s, e, w in placed if s <= now < e) + width <= processors for now in instants)
        start = earliest if free else max([earliest, *(end for _, end, _ in placed)])
        placed.append((start, start + length, width))
        return start, start + length

    rows = []
    for number in range(draw_(st.integers(0, 7))):
        width, submit = draw_(st.integers(1, processors)), draw_(times)
        runs, now = [], submit
        for length in draw_(st.lists(times, min_size=1, max_size=3)):
            runs.append(place(now + draw_(times), length, width))
            now = runs[-1][1]
        row = {"job": number // 2, "occurrence": number % 2, "submit": submit, "width": width, "runs": runs}
        row |= {"backfilled": False, "request": draw_(times), "queue": draw_(st.none() | st.integers(0, 2))}
        rows.append(row)
    return schedule_of(rows, processors)


points = st.lists(st.sampled_from([0, 1, 12.5, 25, 33.3, 50, 75, 98, 99.9, 100]), max_size=4, unique=True)


@examples(0.5)
@given(schedules(), st.sampled_from([0.0, 0.5, 10.0]), st.sampled_from(["turnaround", "stretched"]), points)
def test_equal_to_the_twin(schedule: Schedule, bound: float, form: str, percentiles: list[float]) -> None:
    """All statistics of jobs equal those of loops over the jobs."""
    for by in (None, "queue_id"):
        metrics = measure(schedule, by=by, bound=bound, slowdown=form, percentiles=percentiles)
        classes = classify(schedule.jobs, by)
        jobs = jobs_of(schedule)
        for number, label in enumerate(classes.labels):
            members = [job for job, of in zip(jobs, classes.of_job, strict=True) if of == number]
            expected = naive_statistics(members, bound, form, percentiles)
            rows = metrics[metrics["job_class"] == label]
            names = zip(rows["measure"], rows["statistic"], strict=True)
            told = dict(zip(names, zip(rows["jobs"], rows["value"], strict=True), strict=True))
            for key, (count, value) in expected.items():
                assert count == told[key][0], key
                assert pytest.approx(math.nan if value is None else value, rel=1e-9, nan_ok=True) == told[key][1], key


@examples(0.5)
@given(schedules())
def test_steps_equal_to_the_twin(schedule: Schedule) -> None:
    """The step functions equal those of asking every job at every instant."""
    steps, expected = over_time(schedule), naive_steps(schedule)
    assert len(expected) == len(steps)
    for row, told in zip(steps.itertuples(index=False), expected, strict=True):
        assert told[:7] == tuple(row)[:7]
        assert pytest.approx(told[7], rel=1e-9, abs=1e-9) == row.queued_work


@examples(0.5)
@given(schedules())
def test_laws_of_steps(schedule: Schedule) -> None:
    """Little's law, work, and bounds hold; the parts of two halves of the jobs add up."""
    steps = over_time(schedule)
    jobs, segments = schedule.jobs, schedule.segments
    if jobs.empty:
        return
    assert ((steps["utilization"] >= 0) & (steps["utilization"] <= 1)).all()
    assert [0] * 7 == steps.iloc[-1, 1:].tolist()
    assert steps["time"].is_monotonic_increasing
    assert steps["time"].is_unique
    span = steps["time"].diff().shift(-1).fillna(0)
    ran = segments["end_time"] - segments["start_time"]
    used = ran * segments["allocated_processors"].astype(float)
    lost = segments["ended_by"] == "killed"
    assert (
        pytest.approx(jobs["wait_time"].sum() - ran[lost].sum(), rel=1e-9, abs=1e-9)
        == (steps["queue_length"] * span).sum()
    )
    assert pytest.approx(used.sum(), rel=1e-9, abs=1e-9) == (steps["busy_processors"] * span).sum()
    assert pytest.approx(used[lost].sum(), rel=1e-9, abs=1e-9) == (steps["lost_processors"] * span).sum()
    half = np.arange(len(jobs)) % 2 == 0
    for column in ("busy_processors", "queue_length"):
        parts = [mean_over_time(over_time(schedule, where=mask), column, (0, 1000)) or 0.0 for mask in (half, ~half)]
        assert pytest.approx(mean_over_time(steps, column, (0, 1000))) == sum(parts)


@examples(0.5)
@given(schedules(), st.integers(0, 1_000_000))
def test_order_of_jobs_does_not_matter(schedule: Schedule, seed: int) -> None:
    """Any order of jobs and runs gives the same table, but for the last digits of sums."""
    random = np.random.default_rng(seed)
    jobs = schedule.jobs.iloc[random.permutation(len(schedule.jobs))]
    runs = schedule.segments.iloc[random.permutation(len(schedule.segments))]
    shuffled = Schedule(jobs, runs, schedule.excluded, schedule.processors, schedule.policy)
    pd.testing.assert_frame_equal(measure(schedule, threshold=3), measure(shuffled, threshold=3))
    pd.testing.assert_series_equal(
        start_delay(shuffled, schedule), pd.Series(0.0, index=jobs.index, name="start_delay")
    )


@examples(0.25)
@given(
    schedules(), st.sampled_from(["queue_id", {"run_time": [0, 5]}, {"allocated_processors": [1], "queue_id": None}])
)
def test_classes_partition_the_jobs(schedule: Schedule, by: Any) -> None:
    """Jobs and totals of the classes add up to those of all jobs; the largest is the largest of all."""
    whole, parts = measure(schedule, threshold=2), measure(schedule, by=by, threshold=2)
    if schedule.jobs.empty:
        return
    for name in ("wait", "expansion_factor", "bounded_slowdown", "excessive_wait", "run_time_waste"):
        rows = parts[parts["measure"] == name].set_index("statistic")
        of_all = whole[whole["measure"] == name].set_index("statistic")
        assert of_all.loc["mean", "jobs"] == rows.loc[["mean"], "jobs"].sum()
        total = (rows.loc[["mean"], "value"] * rows.loc[["mean"], "jobs"].astype(float)).sum()
        expected = of_all.loc["mean", "value"] * of_all.loc["mean", "jobs"]
        assert pytest.approx(0 if math.isnan(expected) else expected, rel=1e-9) == total
        most = rows.loc[["max"], "value"].max()
        assert pytest.approx(of_all.loc["max", "value"], nan_ok=True) == most


@examples(0.5)
@given(schedules(), st.sampled_from([0.0, 1.0, 10.0, 60.0]), st.sampled_from(["turnaround", "stretched"]))
def test_bounds_of_jobs(schedule: Schedule, bound: float, form: str) -> None:
    """A slowdown is at least 1, to the last digit, and no more than the expansion factor."""
    measured = measure_jobs(schedule, bound=bound, slowdown=form)
    assert (measured["bounded_slowdown"].dropna() >= 1).all()
    assert (measured["expansion_factor"].dropna() >= 1).all()
    assert (measured["requested_expansion_factor"].dropna() >= 1).all()
    both = measured.dropna(subset="expansion_factor")
    assert (both["bounded_slowdown"] <= both["expansion_factor"] * (1 + 1e-12)).all()
    assert bound == 0 or measured["bounded_slowdown"].notna().all()


@given(
    st.lists(st.floats(-1e6, 1e6) | st.just(math.nan) | st.integers(-3, 3).map(float), max_size=40),
    st.integers(1, 4),
    points,
    st.randoms(use_true_random=False),
)
def test_percentiles_are_those_of_numpy(values: list[float], count: int, at: list[float], random: Any) -> None:
    """Bit for bit, class by class; and those of exact fractions, but for the last digits."""
    of_job = np.array([random.randrange(count) for _ in values], dtype=np.int64)
    sample = ClassedValues(np.array(values), of_job, count)
    for point, by_class in zip(at, sample.percentiles(at), strict=True):
        for number, told in enumerate(by_class):
            known = [value for value, of in zip(values, of_job, strict=True) if of == number and not math.isnan(value)]
            expected = np.percentile(known, point) if known else math.nan
            assert math.isnan(told) if not known else float(expected) == float(told)
            assert not known or pytest.approx(naive_percentile(known, point), rel=1e-9, abs=1e-9) == told


# ---------------------------------------------------------------- theory


def single_server(load: float, jobs: int) -> Schedule:
    """Make a schedule of one processor, first come first served: Poisson arrivals, exponential run times of mean 1."""
    random = np.random.default_rng(7)
    submit, run = np.cumsum(random.exponential(1 / load, jobs)), random.exponential(1.0, jobs)
    done = np.cumsum(run)
    end = done + np.maximum.accumulate(submit - (done - run))
    start = np.maximum(submit, np.concatenate(([0.0], end[:-1])))
    columns = {"start_time": start, "end_time": start + run, "allocated_processors": 1}
    key = pd.DataFrame({"job_number": np.arange(jobs), "job_occurrence": 0})
    told = key.assign(**columns, submit_time=submit, wait_time=start - submit, run_time=run, requested_time=run)
    told = told.assign(preemptions=0, is_backfilled=False)
    runs = key.assign(**columns, work=run, lost_work=0.0, overhead=0.0, ended_by="completed")
    return Schedule(told, runs, told[:0], 1, "fcfs")


JOBS = 150_000


def test_single_server_queue() -> None:
    """M/M/1: utilization rho, rho^2 / (1 - rho) jobs waiting, waits of rho / (1 - rho) run times, exponential tail."""
    load = 0.7
    schedule = single_server(load, JOBS)
    metrics = measure(schedule, percentiles=(30, 95))
    assert pytest.approx(load, rel=0.01) == value_of(metrics, "utilization", "time_mean")[1]
    assert pytest.approx(load, rel=0.01) == value_of(metrics, "offered_load", "value")[1]
    assert pytest.approx(load**2 / (1 - load), rel=0.03) == value_of(metrics, "queue_length", "time_mean")[1]
    assert pytest.approx(load / (1 - load), rel=0.03) == value_of(metrics, "wait", "mean")[1]
    # P(wait > t) = rho exp(-(1 - rho) t)
    tail = math.log(load / 0.05) / (1 - load)
    assert pytest.approx(tail, rel=0.03) == value_of(metrics, "wait", "p95")[1]
    assert pytest.approx(0, abs=0.05) == value_of(metrics, "wait", "p30")[1]
    over = measure(schedule, threshold=tail)
    assert pytest.approx(0.05, rel=0.05) == value_of(over, "excessive_wait", "count")[1] / JOBS
    assert pytest.approx(1 / (1 - load), rel=0.05) == value_of(over, "excessive_wait", "mean_above_0")[1]
    at_once = measure_jobs(schedule)["expansion_factor"][schedule.jobs["wait_time"] == 0]
    assert {1.0} == set(at_once)  # whatever end - start is rounded to
    assert pytest.approx(1 - load, rel=0.01) == len(at_once) / JOBS


# ---------------------------------------------------------------- as published


def test_as_published(shipped_log: Path) -> None:
    """EASY on the log of Lee 2009, Table 4.1: the longest wait to the second, the others within 1 %."""
    trace, _ = clean(read_swf(shipped_log))
    schedule = simulate(trace, "easy", 1152, cancelled="end-at-once")
    metrics = measure(schedule, where=schedule.jobs["queue_id"] != 0, percentiles=(50, 75, 98, 100))
    for name, statistics in (("wait", ("p75", "p98", "p100")), ("requested_expansion_factor", ("p50", "p75", "p100"))):
        values = [value_of(metrics, name, statistic)[1] for statistic in statistics]
        assert pytest.approx(REFERENCE["here"][name], rel=1e-7) == values
        assert pytest.approx(REFERENCE["published"][name], rel=0.01) == values
    assert REFERENCE["published"]["wait"][2] == value_of(metrics, "wait", "max")[1]
    assert (3171, 58767) == (value_of(metrics, "wait", "p98")[0], round(value_of(metrics, "wait", "p98")[1]))
    chosen = choose_jobs(schedule.jobs, lambda jobs: jobs["queue_id"] != 0)
    assert 3171 == len(chosen)

# SPDX-License-Identifier: BSD-3-Clause
"""measure_drift: which jobs are in which window, what is made of them, and what is told."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.drift import JOB_COLUMNS, list_drift_aspects, list_drift_statistics, measure_drift, measurement
from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields
from swftools.offered_work import offered_load
from swftools.tables import to_arrow
from tests.examples import examples
from tests.naive.drift import naive_drift

DAY = 86_400.0
WHOLE = [name for name in JOB_COLUMNS if not name.endswith("_time")]
EVERY = {
    aspect.name: {name: None for name, statistic in list_drift_statistics().items() if statistic.of == aspect.of}
    for aspect in list_drift_aspects().values()
}
"""Every statistic that fits an aspect, with no threshold."""


def frame(columns: dict[str, Any]) -> pd.DataFrame:
    """Return jobs with the columns given, the others missing."""
    count = len(next(iter(columns.values())))
    kinds = {name: "Int64" if name in WHOLE else "float64" for name in JOB_COLUMNS}
    given = {name: list(columns.get(name, [None] * count)) for name in JOB_COLUMNS}
    return pd.DataFrame({name: pd.Series(values, dtype=kinds[name]) for name, values in given.items()})


def steady(days: int, a_day: int = 24, **changes: Any) -> pd.DataFrame:
    """Return a log whose days are all alike: jobs at equal distances, of two users and four sizes."""
    submit = np.arange(days * a_day) * (DAY / a_day)
    number = np.arange(len(submit))
    columns = {
        "submit_time": submit,
        "run_time": 100.0 + number % 24,
        "requested_time": 1000.0 + number % 24,
        "allocated_processors": 2 ** (number % 4),
        "status": 1,
        "user_id": number % 2,
        "queue_id": 1,
    }
    return frame({name: np.broadcast_to(value, len(submit)) for name, value in {**columns, **changes}.items()})


def told(drift: pd.DataFrame) -> set[tuple[str, str]]:
    """Return the aspects and statistics beyond their thresholds."""
    return set(drift.loc[drift["is_beyond"], ["aspect", "statistic"]].itertuples(index=False, name=None))


@cache
def job_lists(few_values: bool) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Draw jobs of about twelve days, times of whole seconds; each value may be missing."""
    length = st.integers(0, 3 if few_values else 10**6)
    one = st.fixed_dictionaries(
        {
            "submit_time": st.none() | st.integers(0, 12 * 86_400).map(float),
            "run_time": st.none() | length.map(float),
            "requested_time": st.none() | length.map(float),
            "allocated_processors": st.none() | st.integers(0, 4),
            "requested_processors": st.none() | st.integers(0, 4),
            "status": st.none() | st.integers(0, 5),
            "user_id": st.none() | st.integers(0, 3) | st.integers(2**60, 2**60 + 3),
            "queue_id": st.none() | st.integers(0, 2),
        }
    )
    return st.lists(one, min_size=1, max_size=40)


@given(
    st.booleans().flatmap(job_lists),
    st.none() | st.integers(1, 100),
    st.integers(0, 13 * 86_400),
    st.integers(1, 3),
    st.integers(1, 6),
    st.integers(1, 3),
)
@examples(1.6)
def test_as_the_slow_twin(
    jobs: list[dict[str, Any]], processors: int | None, now: int, recent: int, reference: int, needed: int
) -> None:
    """Every aspect by every statistic that fits it, over windows with any jobs and gaps in them."""
    table = frame({name: [job[name] for job in jobs] for name in JOB_COLUMNS})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measurement, "NEEDED_JOBS", needed)
        drift = measure_drift(
            table, processors, now=now, recent_days=recent, reference_days=reference, thresholds=EVERY
        )
        again = measure_drift(
            table.sample(frac=1, random_state=1),
            processors,
            now=now,
            recent_days=recent,
            reference_days=reference,
            thresholds=EVERY,
        )
    pd.testing.assert_frame_equal(drift, again, check_exact=True)
    pairs = list(drift[["aspect", "statistic"]].itertuples(index=False, name=None))
    assert {(aspect, name) for aspect, names in EVERY.items() for name in names} == set(pairs)
    naive = naive_drift(jobs, processors, pairs, now=now, recent_days=recent, reference_days=reference, needed=needed)
    columns = ["recent", "reference", "drift", "recent_jobs", "reference_jobs", "recent_missing", "reference_missing"]
    for pair, ours, theirs in zip(pairs, drift[columns].itertuples(index=False), naive, strict=True):
        expected = [np.nan if value is None else float(value) for value in theirs]
        assert [float(value) for value in ours] == pytest.approx(expected, nan_ok=True, rel=1e-9, abs=1e-9), pair


def test_a_steady_log_has_not_drifted() -> None:
    """Equal days: no distance, all ratios 1, and nothing told; every row is in the table's types."""
    drift = measure_drift(steady(120), 64, now=120 * DAY - 1, recent_days=30, reference_days=90)
    assert set() == told(drift)
    for row in drift.itertuples():
        nothing = 1.0 if list_drift_statistics()[row.statistic].form == "ratio" else 0.0
        assert row.drift == pytest.approx(nothing, abs=1e-5)  # half a job is another share of other numbers
    assert list(table_fields("workload_drift")) == list(drift)
    assert len(drift) == to_arrow(drift, "workload_drift").num_rows
    assert drift["recent_jobs"].tolist() == [720] * len(drift)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"run_time": 400.0}, {("run_time", "kolmogorov_smirnov"), ("run_time", "ratio_of_means")}),
        (
            {"requested_time": 9000.0},
            {("requested_time", "population_stability"), ("requested_time", "ratio_of_means")},
        ),
        ({"allocated_processors": 8}, {("processors", "kolmogorov_smirnov"), ("processors", "ratio_of_means")}),
        ({"user_id": 9}, {("users", "total_variation"), ("users", "difference_of_largest_shares")}),
        ({"queue_id": 2}, {("queues", "total_variation")}),
        ({"status": 0}, {("failed", "difference_of_means")}),
        ({"run_time": None, "status": 5}, {("never_started", "difference_of_means")}),
    ],
    ids=lambda change: "+".join(change) if isinstance(change, dict) else "",
)
def test_what_changes_is_told(change: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    """A change of the last thirty days of a steady log is told of the aspect that changed, and of what follows."""
    jobs = steady(120)
    is_recent = jobs["submit_time"] >= 90 * DAY
    changed = jobs.assign(**{name: jobs[name].mask(is_recent, value) for name, value in change.items()})
    found = told(measure_drift(changed, 64, now=120 * DAY - 1, reference_days=90))
    follows = {("offered_load", "ratio_of_means"), ("request_accuracy", "difference_of_means")}
    assert expected <= found <= expected | follows


def test_arrivals_are_told_also_where_they_end() -> None:
    """Twice as many jobs a day, half as many, other hours, or none at all: each is a drift of arrivals."""
    past = steady(90)
    window = {"now": 120 * DAY - 1, "reference_days": 90}
    for a_day in (60, 11, 0):
        coming = steady(30, max(a_day, 1))
        coming = coming.assign(submit_time=coming["submit_time"] + 90 * DAY)[: 30 * a_day]
        drift = measure_drift(pd.concat([past, coming]), 64, **window).set_index("aspect")
        assert drift.loc["arrivals", "drift"] == pytest.approx(a_day / 24)
        assert drift.loc["arrivals", "is_beyond"]
        assert drift.loc["offered_load", "drift"] == pytest.approx(a_day / 24, rel=0.01) or not a_day
    night = steady(30).assign(submit_time=90 * DAY + np.arange(720) // 24 * DAY + np.arange(720) % 24 * 1000)
    found = told(measure_drift(pd.concat([past, night]), 64, **window))
    assert ("arrival_hours", "total_variation") in found
    assert ("arrivals", "ratio_of_means") not in found


def test_windows_end_where_they_say() -> None:
    """The recent window is (now - days, now], the reference what is before it; later and older jobs do nothing."""
    jobs = frame({"submit_time": [0.0, 1.0, 2 * DAY, 2 * DAY + 1, 3 * DAY, 3 * DAY + 1], "run_time": [9.0] * 6})
    drift = measure_drift(jobs, 4, now=3 * DAY, recent_days=1, reference_days=2).set_index("aspect")
    assert drift.loc["arrivals", ["recent_jobs", "reference_jobs"]].tolist() == [2, 2]
    drift = measure_drift(jobs, 4, now=3 * DAY, recent_days=1, reference_days=1).set_index("aspect")
    assert drift.loc["arrivals", ["recent_jobs", "reference_jobs"]].tolist() == [2, 1]
    assert drift.loc["arrivals", ["recent", "reference"]].tolist() == [2.0, 1.0]


def test_the_days_of_the_reference_are_those_of_the_log() -> None:
    """A log that begins within the reference has arrivals and load of the whole days there are, not of a year."""
    jobs = steady(100)
    drift = measure_drift(jobs, 64, now=100 * DAY - 1).set_index("aspect")
    assert drift.loc["arrivals", ["recent", "reference", "reference_jobs"]].tolist() == [24.0, 24.0, 70 * 24]
    trace = Trace.from_columns(
        machine_processors=64,
        **{name: jobs[name].fillna(-1).to_numpy() for name in ("submit_time", "run_time")},
        allocated_processors=jobs["allocated_processors"].to_numpy(dtype=int),
    )
    assert drift.loc["offered_load", "recent"] == pytest.approx(offered_load(trace), rel=0.001)


@pytest.mark.parametrize(
    ("days", "a_day", "rows", "enough"),
    [(60, 4, 221, True), (60, 4, 220, False), (59, 4, 236, False), (120, 3, 360, False)],
    ids=["just enough", "99 recent jobs", "short reference", "few jobs a month"],
)
def test_too_few_jobs_are_no_drift(days: int, a_day: int, rows: int, enough: bool) -> None:
    """A hundred jobs in each window, and a reference of as many days as are recent; else nothing is said but counts."""
    jobs = steady(days, a_day).assign(run_time=np.arange(days * a_day, dtype=float))[:rows]
    drift = measure_drift(jobs, 64, now=days * DAY, thresholds={"run_time": {"kolmogorov_smirnov": 0.0}})
    row = drift[(drift["aspect"] == "run_time") & (drift["statistic"] == "kolmogorov_smirnov")].iloc[0]
    assert (enough, enough) == (row["is_beyond"], not np.isnan(row["drift"]))
    assert row["reference_jobs"] > 0
    assert not np.isnan(row["reference"])


def test_the_order_of_jobs_changes_no_digit() -> None:
    """Sums of times that are no whole numbers depend on their order; the table does not."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        jobs = steady(120).assign(run_time=rng.lognormal(8, 2, 2880), requested_time=rng.lognormal(9, 1, 2880))
        one, other = (
            measure_drift(table, 64, now=120 * DAY - 1, reference_days=90)
            for table in (jobs, jobs.sample(frac=1, random_state=seed))
        )
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_missing_values_are_left_out_and_counted() -> None:
    """Every third job lacks a run time: it has no run time, no accuracy and no work, and the rest is as it was."""
    jobs = steady(120).assign(status=1)
    lacking = jobs.assign(run_time=jobs["run_time"].mask(np.arange(len(jobs)) % 3 == 0))
    drift = measure_drift(lacking, 64, now=120 * DAY - 1, reference_days=90).set_index(["aspect", "statistic"])
    counts = ["recent_jobs", "recent_missing", "reference_jobs", "reference_missing"]
    assert drift.loc[("run_time", "ratio_of_means"), counts].tolist() == [480, 240, 1440, 720]
    assert drift.loc[("processors", "ratio_of_means"), counts].tolist() == [720, 0, 2160, 0]
    assert set() == told(drift.reset_index())


def test_no_machine_no_load() -> None:
    """Where the machine's size is not known there is no offered load, and all else is as it is."""
    jobs = steady(120)
    with_size, without = (measure_drift(jobs, size, now=120 * DAY - 1, reference_days=90) for size in (64, None))
    assert without.loc[without["aspect"] == "offered_load", ["recent", "reference", "drift"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(*(one[one["aspect"] != "offered_load"] for one in (with_size, without)))


def test_thresholds_are_replaced_added_and_taken_away() -> None:
    """One by one, by aspect and statistic; what is added stands behind the others of its aspect."""
    changes = {"run_time": {"ratio_of_means": None, "ratio_of_medians": 5, "kolmogorov_smirnov": 0.7}}
    drift = measure_drift(steady(120), 64, now=120 * DAY, thresholds=changes)
    of_run_time = drift[drift["aspect"] == "run_time"].set_index("statistic")["threshold"]
    assert ["kolmogorov_smirnov", "ratio_of_means", "ratio_of_medians"] == list(of_run_time.index)
    assert of_run_time.isna().tolist() == [False, True, False]
    assert (0.7, 5.0) == (of_run_time["kolmogorov_smirnov"], of_run_time["ratio_of_medians"])
    plain = measure_drift(steady(120), 64, now=120 * DAY)
    assert len(drift) == len(plain) + 1
    assert plain["threshold"].notna().all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recent_days": 0}, "recent_days=0 is not an integer from 1"),
        ({"reference_days": 2.5}, "reference_days=2.5 is not an integer"),
        ({"now": float("nan")}, "now=nan is not a time"),
        ({"processors": 0}, "processors=0 is neither"),
        ({"thresholds": {"runtime": {}}}, r"unknown parameters \['runtime'\].*did you mean run_time"),
        ({"thresholds": {"run_time": 3}}, "thresholds of 'run_time' are 3; give statistics and numbers"),
        ({"thresholds": {"run_time": {"ks": 3}}}, "no statistic of drift 'ks'; there are: difference_of_largest"),
        (
            {"thresholds": {"run_time": {"total_variation": 0.3}}},
            "total_variation compares categories, but run_time is",
        ),
        (
            {"thresholds": {"users": {"total_variation": -1}}},
            "threshold -1 of users, total_variation is neither a numb",
        ),
        ({"thresholds": {"arrivals": {"ratio_of_means": 0.5}}}, "threshold 0.5 of arrivals.* of 1 or more nor None"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    """Each error names what is wrong and what would be right."""
    given = {"processors": 64, "now": 60 * DAY, **changes}
    with pytest.raises(ParameterError, match=message):
        measure_drift(steady(60), given.pop("processors"), **given)


def test_columns_that_lack_are_named() -> None:
    """A table that is none of jobs is refused."""
    with pytest.raises(ParameterError, match=r"lack the columns \['user_id'\]"):
        measure_drift(steady(60).drop(columns="user_id"), 64, now=60 * DAY)


def test_no_jobs_at_all() -> None:
    """An empty table, and one whose jobs have no submission: all is missing, nothing is told."""
    for jobs in (steady(60)[:0], steady(60).assign(submit_time=np.nan)):
        drift = measure_drift(jobs, 64, now=60 * DAY)
        assert drift["drift"].isna().all()
        assert set() == told(drift)
        assert 0 == drift["recent_jobs"].sum() + drift["reference_jobs"].sum()


def test_times_with_fractions() -> None:
    """A job submitted just within a window, whose distance to the end rounds up to its length, is of the last day."""
    now = 30 * DAY + 0.1
    submit = np.full(200, np.nextafter(now - 30 * DAY, np.inf))
    assert submit[0] > now - 30 * DAY
    assert now - submit[0] == 30 * DAY
    old = now - 30 * DAY - np.arange(300) * DAY / 4
    drift = measure_drift(frame({"submit_time": np.concatenate((old, submit))}), 4, now=now).set_index("aspect")
    assert drift.loc["arrivals", ["recent_jobs", "recent"]].tolist() == [200, pytest.approx(200 / 30)]

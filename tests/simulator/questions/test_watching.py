# SPDX-License-Identifier: BSD-3-Clause
"""Policies watched: the same figures as by hand from simulate and measure, and what is worse by more than chance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.fields.dictionary import table_fields
from swftools.models.shaking import shake_submissions
from swftools.selection import select_jobs
from swftools.simulator import MetricParameters, find_worse, list_policies, measure, simulate, watch_policies
from swftools.simulator.measure_definitions import MEASURES, NODES
from swftools.tables import to_arrow

DAY = 86_400.0


def a_log(days: int = 12, a_day: int = 60) -> Trace:
    """Return a loaded machine: jobs of many lengths and widths, at equal distances."""
    count = days * a_day
    rng = np.random.default_rng(1)
    run = np.rint(rng.lognormal(8, 1.2, count))
    return Trace.from_columns(
        machine_processors=16,
        job_number=np.arange(1, count + 1),
        submit_time=np.arange(count) * (DAY // a_day),
        run_time=run,
        requested_time=2 * run,
        requested_processors=rng.integers(1, 13, count),
        user_id=rng.integers(1, 9, count),
    )


LOG = a_log()


def values(watch: pd.DataFrame, policy: str, measured: str, statistic: str) -> Any:
    """Return a row of a watch."""
    rows = watch[(watch["policy"] == policy) & (watch["measure"] == measured) & (watch["statistic"] == statistic)]
    (row,) = rows.to_dict("records")
    return row


def test_a_watch_is_what_simulate_and_measure_say() -> None:
    """Of each seed: the log as it is, or shaken; the days up to the last submission; their mean and deviation."""
    pairs = [("wait", "mean"), ("wait", "p90"), ("bounded_slowdown", "mean"), ("utilization", "time_mean")]
    watch = watch_policies(LOG, ["fcfs", "easy:reservations=2"], measures=pairs, days=5, warm_up_days=2, seeds=3)
    last = LOG.jobs["submit_time"].max()
    part = select_jobs(LOG, begin=last - 5 * DAY, warm_up=2 * DAY)
    found = []
    for seed in range(3):
        shaken = part if seed == 0 else shake_submissions(part, seed, 300)
        schedule = simulate(shaken, "easy", reservations=2, seed=seed)
        metrics = measure(schedule, where="is_measured", percentiles=(90,), window=(last - 5 * DAY, last))
        found.append(metrics.set_index(["measure", "statistic"])["value"])
    for name, statistic in pairs:
        row = values(watch, "easy:reservations=2", name, statistic)
        by_seed = [one[name, statistic] for one in found]
        assert row["value"] == pytest.approx(np.mean(by_seed))
        assert row["spread"] == pytest.approx(np.std(by_seed, ddof=1))
        assert row["spread"] > 0
        assert row["seeds"] == 3
    assert 301 == values(watch, "fcfs", "wait", "mean")["jobs"]  # of five days, both ends among them
    assert pairs * 2 == list(watch[["measure", "statistic"]].itertuples(index=False, name=None))
    assert list(table_fields("policy_watch")) == list(watch)
    assert 8 == to_arrow(watch, "policy_watch").num_rows


def test_a_watch_tells_what_it_assumed() -> None:
    """Of the jobs that were simulated, those before the days that are measured among them."""
    last = LOG.jobs["submit_time"].max()
    part = select_jobs(LOG, begin=last - 5 * DAY, warm_up=2 * DAY)
    unasked = part.with_jobs(part.jobs.assign(requested_time=part.jobs["requested_time"].mask(part.jobs.index < 9)))
    watch = watch_policies(unasked, ["fcfs", "easy"], days=5, warm_up_days=2, seeds=2)
    assert simulate(unasked, "fcfs").assumptions == watch.attrs["assumptions"]
    assert (
        f"9 of {len(part):,} jobs have no requested time: their actual run time is used, as if requests were perfect"
        in watch.attrs["assumptions"]
    )


def test_one_seed_is_the_log_as_it_is() -> None:
    """Its figures are those of the log, and nothing is known of their spread."""
    watch = watch_policies(LOG, ["easy"], days=30, seeds=1, measures=[("wait", "mean")])
    assert values(watch, "easy", "wait", "mean")["value"] == pytest.approx(
        simulate(LOG, "easy").jobs["wait_time"].mean()
    )
    assert watch["spread"].isna().all()


def test_without_shaking_runs_are_alike() -> None:
    """Policies that draw nothing have no spread then."""
    watch = watch_policies(LOG, ["easy"], seeds=3, shake=0)
    assert (watch["spread"] == 0).all()


def test_what_draws_draws_by_the_seed() -> None:
    """Predictors, requests and policies that draw differ from run to run, also where nothing is shaken."""
    watch = watch_policies(LOG, ["easy"], seeds=3, shake=0, predictor="virtual:error=0.5")
    assert values(watch, "easy", "wait", "mean")["spread"] > 0


def test_the_warm_up_is_simulated_and_not_measured() -> None:
    """Jobs before the days measured load the machine and are in no mean."""
    cold, warm = (
        values(watch_policies(LOG, ["fcfs"], days=1, warm_up_days=days, seeds=1), "fcfs", "wait", "mean")
        for days in (0, 10)
    )
    assert cold["jobs"] == warm["jobs"] == 61
    assert warm["value"] > cold["value"]


def test_options_are_those_of_simulate() -> None:
    """The machine, what users ask for and what else it takes; with parameters of the measures."""
    narrow = watch_policies(LOG, ["easy"], seeds=1, processors=14, requests="factor:factor=3")
    expected = simulate(LOG, "easy", 14, requests="factor:factor=3").jobs["wait_time"].mean()
    assert values(narrow, "easy", "wait", "mean")["value"] == pytest.approx(expected)
    pairs = [("bounded_slowdown", "mean")]
    bounds = [
        watch_policies(LOG, ["easy"], measures=pairs, seeds=1, metrics=MetricParameters(bound=bound)).iloc[0]
        for bound in (10, 600)
    ]
    assert [10.0, 600.0] == [row["parameter"] for row in bounds]
    assert bounds[0]["value"] > bounds[1]["value"]


def test_a_measure_without_value_is_missing() -> None:
    """A log without utility functions has no utility: over no seed and no jobs."""
    watch = watch_policies(LOG, ["easy"], measures=[("utility", "mean"), ("wait", "max")], seeds=2)
    row = values(watch, "easy", "utility", "mean")
    assert np.isnan(row["value"])
    assert np.isnan(row["spread"])
    assert (0, 0) == (row["seeds"], row["jobs"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policies": "easy"}, "policies='easy' is not a sequence"),
        ({"policies": []}, "there is no policy"),
        ({"policies": ["easy", "easy"]}, "policy 'easy' appears twice"),
        ({"policies": ["easy", list_policies()["easy"]]}, "policy 'easy' appears twice"),
        ({"policies": ["esy"]}, "did you mean easy"),
        ({"policies": [3]}, "3 is neither the name of a policy nor a policy"),
        ({"days": 0}, "days=0 is not a number of days"),
        ({"warm_up_days": -1}, "warm_up_days=-1 is not a number of days"),
        ({"seeds": 0}, "seeds=0 is not an integer from 1"),
        ({"shake": 1.5}, "seconds=1.5 is not an integer"),
        ({"measures": []}, "are not pairs such as"),
        ({"measures": ["wait"]}, "are not pairs such as"),
        ({"measures": [("wait", "men")]}, "'wait' has no statistic 'men'; there are: mean, mean_by_processors"),
        ({"measures": [("start_delay", "mean")]}, "no 'start_delay'; there are: bounded_slowdown, "),
        ({"measures": [("wait", "p101")]}, "percentiles=.*from 0 to 100"),
        ({"seed": 3}, r"watch_policies: unknown parameters \['seed'\]"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    """Each error names what is wrong."""
    given = {"policies": ["fcfs"], "days": 1, "seeds": 2, **changes}
    with pytest.raises(ParameterError, match=message):
        watch_policies(LOG, given.pop("policies"), **given)


def test_a_log_without_submissions_is_refused() -> None:
    """There is no last one to count from."""
    with pytest.raises(ParameterError, match="no job of the trace has a submission"):
        watch_policies(Trace.from_columns(machine_processors=4, job_number=[1]), ["fcfs"])


# What is worse


def a_watch(*rows: tuple[str, str, str, float, float]) -> pd.DataFrame:
    """Return a watch of rows of policy, measure, statistic, value and spread."""
    columns = ["policy", "measure", "statistic", "value", "spread"]
    table = pd.DataFrame(rows, columns=columns).assign(parameter=np.nan, jobs=100, seeds=5)
    units = [MEASURES[name].unit if name in MEASURES else "1" for name in table["measure"]]
    return table.assign(unit=units)[list(table_fields("policy_watch"))]


@pytest.mark.parametrize(
    ("measured", "before", "now", "is_worse"),
    [
        ("wait", (1000.0, 3.0), (1100.0, 4.0), True),
        ("wait", (1000.0, 30.0), (1100.0, 40.0), False),  # twice the noise of 50 is just 100
        ("wait", (1000.0, 30.0), (1101.0, 40.0), True),
        ("wait", (1000.0, 0.0), (1050.0, 0.0), False),  # the floor
        ("wait", (1000.0, 0.0), (1051.0, 0.0), True),
        ("wait", (1000.0, np.nan), (1051.0, np.nan), True),
        ("wait", (1000.0, 60.0), (1100.0, np.nan), False),
        ("wait", (1000.0, np.nan), (1100.0, 60.0), False),
        ("wait", (1000.0, 0.0), (10.0, 0.0), False),
        ("wait", (np.nan, 0.0), (10.0, 0.0), False),
        ("wait", (10.0, 0.0), (np.nan, 0.0), False),
        ("wait", (0.0, 0.0), (1.0, 0.0), True),
        ("utilization", (0.8, 0.0), (0.7, 0.0), True),
        ("utilization", (0.7, 0.0), (0.8, 0.0), False),
        ("offered_load", (0.7, 0.0), (0.8, 0.0), False),
        ("offered_load", (0.8, 0.0), (0.7, 0.0), False),
        ("unheard_of", (1.0, 0.0), (9.0, 0.0), False),
    ],
)
def test_worse(measured: str, before: tuple[float, float], now: tuple[float, float], is_worse: bool) -> None:
    """Worse is the way that the measure says, beyond twice the noise of both and a twentieth of what was."""
    found = find_worse(a_watch(("easy", measured, "mean", *now)), a_watch(("easy", measured, "mean", *before)))
    assert is_worse == (len(found) == 1)


def test_noises_and_floor_are_parameters() -> None:
    """Other numbers, other findings."""
    before, now = a_watch(("easy", "wait", "mean", 1000.0, 30.0)), a_watch(("easy", "wait", "mean", 1120.0, 40.0))
    assert 1 == len(find_worse(now, before))
    assert 0 == len(find_worse(now, before, noises=3))
    assert 0 == len(find_worse(now, before, floor=0.2))


def test_findings_are_in_words_and_in_order() -> None:
    """Only what stands in both is compared: the same policy, measure, statistic and parameter."""
    before = a_watch(
        ("easy", "wait", "mean", 10.0, 0.0),
        ("fcfs", "utilization", "time_mean", 0.8125, 0.001),
        ("fcfs", "wait", "mean", 1e6, 0.0),
        ("gone", "wait", "mean", 1.0, 0.0),
    )
    now = a_watch(
        ("fcfs", "wait", "mean", 2e6, 1e4),
        ("fcfs", "utilization", "time_mean", 0.5, 0.0),
        ("new", "wait", "mean", 1e9, 0.0),
        ("easy", "wait", "mean", 12.5, 0.0),
    )
    found = find_worse(now, before)
    assert found["finding"].tolist() == [
        "fcfs: wait, mean is 2,000,000 s, was 1,000,000 s; that is 100 times the noise of 10,000 s",
        "fcfs: utilization, time_mean is 0.5, was 0.8125; that is 312 times the noise of 0.001",
        "easy: wait, mean is 12.5 s, was 10 s; their noise is not known, or none",
    ]
    assert found["difference"].tolist() == [1e6, -0.3125, 2.5]
    others = before.assign(parameter=60.0)
    assert find_worse(now, others).empty
    assert list(find_worse(now, others)) == list(found)


def test_beside_another_policy_what_both_suffer_is_no_finding() -> None:
    """Ten times the wait under both is the jobs'; one and a half times that of the other is the policy's own."""
    before = a_watch(("easy", "wait", "mean", 100.0, 3.0), ("mine", "wait", "mean", 110.0, 4.0))
    both = a_watch(("easy", "wait", "mean", 1000.0, 30.0), ("mine", "wait", "mean", 1100.0, 40.0))
    own = a_watch(("easy", "wait", "mean", 1000.0, 30.0), ("mine", "wait", "mean", 1500.0, 40.0))
    assert 2 == len(find_worse(both, before))
    assert 0 == len(find_worse(both, before, beside="easy"))
    (row,) = find_worse(own, before, beside="easy").to_dict("records")
    assert (row["policy"], row["before"], row["now"], row["unit"]) == ("mine", 1.1, 1.5, "1")
    shares = [(3 / 100, 4 / 110, 1.1), (30 / 1000, 40 / 1500, 1.5)]
    noise = sum((value * (one**2 + other**2) ** 0.5) ** 2 for one, other, value in shares) ** 0.5
    assert row["noise"] == pytest.approx(noise)
    assert row["finding"] == "mine: wait, mean is 1.5 times that of easy, was 1.1; that is 5 times the noise of 0.07946"
    none = a_watch(("easy", "wait", "mean", 0.0, 0.0), ("mine", "wait", "mean", 5.0, 0.0))
    assert find_worse(own, none, beside="easy").empty
    assert find_worse(none, before, beside="easy").empty
    with pytest.raises(ParameterError, match="beside='fcfs' is not in the table now; there are easy, mine"):
        find_worse(own, before, beside="fcfs")


def test_a_policy_that_got_worse_is_found() -> None:
    """Twice the load makes every policy's jobs wait longer; the same log, measured twice, finds nothing."""
    heavy = LOG.with_jobs(LOG.jobs.assign(run_time=LOG.jobs["run_time"] * 2, requested_time=LOG.jobs["requested_time"]))
    before, now = (watch_policies(log, ["fcfs", "easy"], days=5, seeds=3) for log in (LOG, heavy))
    assert {("fcfs", "wait"), ("easy", "wait")} <= set(
        find_worse(now, before)[["policy", "measure"]].itertuples(index=False, name=None)
    )
    assert find_worse(before, before).empty


def test_wrong_tables_are_refused() -> None:
    """A table that is none of a watch, or has a row twice, and numbers below 0."""
    one = a_watch(("easy", "wait", "mean", 1.0, 0.0))
    with pytest.raises(ParameterError, match=r"the table before lacks \['spread'\]"):
        find_worse(one, one.drop(columns="spread"))
    with pytest.raises(ParameterError, match="easy, wait, mean appears twice in the table now"):
        find_worse(pd.concat([one, one]), one)
    with pytest.raises(ParameterError, match="noises=-1 is not a number of 0 or more"):
        find_worse(one, one, noises=-1)
    with pytest.raises(ParameterError, match="floor=nan is not a number of 0 or more"):
        find_worse(one, one, floor=float("nan"))


def test_every_measure_says_which_way_is_worse() -> None:
    """And has the unit that the table of metrics gives it."""
    schedule = simulate(a_log(1), "easy")
    metrics = measure(schedule, threshold=60, reference=schedule)
    assert set(metrics["measure"]) == set(MEASURES) - set(NODES)
    for name, rows in metrics.groupby("measure"):
        assert {MEASURES[str(name)].unit} >= set(rows["unit"]) - {"jobs"}
    lower, neither = ({name for name, one in MEASURES.items() if one.worse == way} for way in ("lower", "neither"))
    assert lower - set(NODES) == {"utility", "start_value_earned", "utilization", "useful_load"}
    assert set(NODES) - lower == {"fragmentation", "switches_spanned", "away"}
    assert neither == {"is_backfilled", "is_blocked", "resizes", "offered_load", "excluded_jobs"}
    assert {one.worse for name, one in MEASURES.items() if name not in lower | neither} == {"higher"}

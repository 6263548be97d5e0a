# SPDX-License-Identifier: BSD-3-Clause
"""What is simulated for a month, and what is measured of it, by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from pipelines.papers.chiang2008 import schedules
from pipelines.papers.chiang2008.curves import EXCEPTIONAL, TYPICAL, CurveOfPaper, backlog, chosen_months, measure_curve
from pipelines.papers.chiang2008.decisions import DecisionsOfPaper, measure_decisions
from pipelines.papers.chiang2008.months import Month, jobs_of, months_of
from pipelines.papers.chiang2008.schedules import (
    CLASS,
    FCFS_BACKFILL,
    MONTH,
    PolicyOfPaper,
    Thresholds,
    begin_month,
    measure_policy,
    measured_jobs,
    measures_of,
    simulate_month,
    thresholds,
)
from pipelines.papers.yuan2010.populations import kept_jobs
from swftools.simulator import measure, simulate
from swftools.trace import Trace
from tests.drawn import draw_trace

WEEK, HOUR = 7 * 86_400, 3600

MACHINE = 4
SHORT_MONTH = Month("2000-01", WEEK, WEEK + 10 * HOUR, 0.9)


def log_of(table: str) -> Trace:
    """Return a log of jobs, each told by hours after the beginning of the month, its run time in hours, its width."""
    rows = [line.split() for line in table.strip().splitlines()]
    lines = [
        f"{WEEK + float(submit) * HOUR:.0f} {float(run) * HOUR:.0f} {width} {float(run) * HOUR:.0f}"
        for submit, run, width in rows
    ]
    return draw_trace("\n".join(["submit run width request", *lines]), processors=MACHINE)


BUSY = log_of(
    """
    -1     5    4
    0      2    4
    1      0.01 1
    2      4    3
    3      8    2
    9      1    4
    12     99   4
    13     1    4
    """
)
"""One job from before the month, five of it, and two that come later."""


def found(frame: pd.DataFrame, subject: str = MONTH, x: str = "") -> dict[str, float]:
    """Return the measures of a subject."""
    rows = frame[(frame["subject"] == subject) & (frame["x"] == x)]
    return dict(zip(rows["measure"], rows["value"], strict=True))


AS_LOGGED = PolicyOfPaper("easy", load=None)


def test_a_month_is_simulated_until_all_its_jobs_have_started() -> None:
    """Job 1 runs to 4 h, job 2 to 6 h, 3 and 4 then, 5 from 10 h, 6 from 18 h; what waits then is let go."""
    schedule = simulate_month(BUSY, SHORT_MONTH, AS_LOGGED)
    starts = schedule.jobs.set_index("job_number")["start_time"].sub(WEEK).div(HOUR)
    assert starts.to_dict() == pytest.approx({1: -1, 2: 4, 3: 6, 4: 6, 5: 10, 6: 18, 7: 19})
    assert measured_jobs(schedule)["job_number"].tolist() == [2, 3, 4, 5, 6]


def test_measures_by_hand() -> None:
    """Waits of 4, 5, 4, 7 and 9 hours; the job of 36 s counts as one of a minute."""
    schedule = simulate_month(BUSY, SHORT_MONTH, AS_LOGGED)
    told = dict(measures_of(schedule, Thresholds(6 * HOUR, 4.5 * HOUR)))
    slowdowns = [6 / 2, (5 * HOUR + 60) / 60, 8 / 4, 15 / 8, 10 / 1]
    assert told == pytest.approx(
        {
            "jobs": 5,
            "max wait": 9,
            "mean wait": 29 / 5,
            "mean bounded slowdown": sum(slowdowns) / 5,
            "max bounded slowdown": 301,
            "excess over the max": 1 + 3,
            "excess over 98 %": 0.5 + 2.5 + 4.5,
            "jobs beyond 98 %": 3,
        }
    )


def test_thresholds_are_waits_of_jobs() -> None:
    """Of five jobs the 98th percentile is the longest wait; of a hundred the 98th in order."""
    assert thresholds(BUSY, SHORT_MONTH, AS_LOGGED) == Thresholds(9 * HOUR, 9 * HOUR)
    assert thresholds(BUSY, SHORT_MONTH, PolicyOfPaper("lxf-backfill", load=None)) == Thresholds(9 * HOUR, 9 * HOUR)
    one_by_one = log_of("\n".join(["-1 1.01 4", *(f"{number / 100} 1 4" for number in range(100))]))
    waits = [(0.01 + number * 0.99) * HOUR for number in range(100)]
    assert thresholds(one_by_one, SHORT_MONTH, AS_LOGGED) == pytest.approx((waits[-1], waits[97]), abs=1)


@pytest.mark.parametrize("predictor", ["exact", "request"])
def test_thresholds_are_of_what_the_policy_is_told(predictor: str, cleaned: Trace) -> None:
    """FCFS-backfill is told the same of run times, at the same load."""
    kept = kept_jobs(cleaned)
    (month,) = months_of(kept)
    for load in (None, 0.9):
        fcfs = measured_jobs(simulate(jobs_of(kept, month, load), "easy", predictor=predictor))
        longest, _ = thresholds(kept, month, PolicyOfPaper(load=load, predictor=predictor))
        assert longest == fcfs["wait_time"].max()


def test_measures_are_those_of_the_package(cleaned: Trace) -> None:
    """Of the shipped log under LXF-backfill, all of it being simulated, beside FCFS-backfill."""
    kept = kept_jobs(cleaned)
    (month,) = months_of(kept)
    jobs = jobs_of(kept, month, 0.9)
    schedule, fcfs = (simulate(jobs, policy, predictor="exact") for policy in ("lxf-backfill", "easy"))
    limits = thresholds(kept, month, PolicyOfPaper("lxf-backfill"))
    ours = dict(measures_of(simulate_month(kept, month, PolicyOfPaper("lxf-backfill")), limits))
    whole = measure(
        schedule, bound=60, slowdown="stretched", where="is_measured", reference=fcfs, threshold=limits.percentile
    )
    theirs = whole.set_index(["measure", "statistic"])["value"]
    assert ours == pytest.approx(
        {
            "jobs": float(jobs.jobs["is_measured"].sum()),
            "max wait": theirs["wait", "max"] / HOUR,
            "mean wait": theirs["wait", "mean"] / HOUR,
            "mean bounded slowdown": theirs["bounded_slowdown", "mean"],
            "max bounded slowdown": theirs["bounded_slowdown", "max"],
            "excess over the max": theirs["excessive_wait_over_max", "total"] / HOUR,
            "excess over 98 %": theirs["excessive_wait", "total"] / HOUR,
            "jobs beyond 98 %": theirs["excessive_wait", "count"],
        }
    )


@pytest.mark.parametrize("policy", ["easy", "search"])
def test_jobs_that_come_later_count_as_long_as_one_of_the_month_waits(
    policy: str, cleaned: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the cool-down turns out too short, all jobs to the end of the log are taken."""
    kept = kept_jobs(cleaned)
    (month,) = months_of(kept)
    parameters = PolicyOfPaper(policy, nodes=50)
    starts = []
    for cool_down in (62 * 86_400.0, 3600.0):
        monkeypatch.setattr(schedules, "COOL_DOWN", cool_down)
        starts.append(measured_jobs(simulate_month(kept, month, parameters))["start_time"].tolist())
    whole = simulate(jobs_of(kept, month, 0.9), policy, predictor="exact", **parameters.of_policy())
    assert starts[0] == starts[1] == measured_jobs(whole)["start_time"].tolist()


def test_the_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each month, and the classes of Figure 12 in all; FCFS-backfill exceeds nothing of its own."""
    months = [SHORT_MONTH, replace(SHORT_MONTH, name="twice")]
    monkeypatch.setattr(schedules, "months_of", lambda kept, clock: months)
    frame = measure_policy(BUSY, AS_LOGGED, 0)
    assert found(frame, MONTH, "twice") == found(frame, MONTH, "2000-01")
    told = found(frame, MONTH, "2000-01")
    assert told["max wait"] == pytest.approx(9)
    assert (told["excess over the max"], told["excess over 98 %"], told["jobs beyond 98 %"]) == (0, 0, 0)
    classes = {subject: found(frame, subject) for subject in frame["subject"].unique() if subject != MONTH}
    assert classes == {
        f"{CLASS}<= 1 & <= 600": pytest.approx({"jobs": 2, "mean wait": 5}),
        f"{CLASS}(1, 8] & (600, 3600]": pytest.approx({"jobs": 2, "mean wait": 9}),
        f"{CLASS}(1, 8] & (3600, 14400]": pytest.approx({"jobs": 4, "mean wait": 4}),
        f"{CLASS}(1, 8] & (14400, 28800]": pytest.approx({"jobs": 2, "mean wait": 7}),
    }


def test_a_log_of_which_nothing_is_measured() -> None:
    """Nothing is told of it, by any experiment."""
    trace = draw_trace("submit run width request / 0 10 4 10", processors=4)
    for measure_it, parameters in (
        (measure_policy, PolicyOfPaper()),
        (measure_curve, CurveOfPaper()),
        (measure_decisions, DecisionsOfPaper()),
    ):
        assert measure_it(trace, parameters, 0).empty


@pytest.mark.parametrize(
    ("parameters", "policy", "given"),
    [
        (PolicyOfPaper("lxf-backfill", predictor="request"), "lxf-backfill", {"predictor": "request"}),
        (PolicyOfPaper("easy", predictor="last-model"), "easy", {"predictor": "last-model"}),
        (
            PolicyOfPaper(objective="lexical(maxW -> avgW)", traversal="lds", branching="fcfs", nodes=60),
            "search",
            {"objective": "lexical(maxW -> avgW)", "traversal": "lds", "branching": "fcfs", "nodes": 60},
        ),
    ],
    ids=lambda value: "" if isinstance(value, dict | str) else value.to_text(),
)
def test_each_parameter_reaches_the_simulator(
    cleaned: Trace, parameters: PolicyOfPaper, policy: str, given: dict[str, object]
) -> None:
    """The schedule is that of the policy with these, and no other."""
    kept = kept_jobs(cleaned)
    (month,) = months_of(kept)
    schedule = simulate(jobs_of(kept, month, 0.9), policy, **{"predictor": "exact", **given})
    ours = measured_jobs(simulate_month(kept, month, parameters))["start_time"].tolist()
    assert ours == measured_jobs(schedule)["start_time"].tolist()
    usual = measured_jobs(simulate_month(kept, month, PolicyOfPaper(parameters.policy, nodes=60)))
    assert ours != usual["start_time"].tolist()


def test_utility(cleaned: Trace) -> None:
    """Each job has a function, worth most at once; searching for it pays."""
    shares = {}
    for policy, objective in (("easy", ""), ("search", "lexical(lost-utility -> avgX)")):
        chosen = PolicyOfPaper(policy, objective=objective or "tradeoff-a(T_w:avgX)", nodes=200, utility=True)
        frame = measure_policy(cleaned, chosen, 0)
        shares[policy] = found(frame, MONTH, "between")["utility"]
    assert 0 < shares["easy"] < shares["search"] < 1
    assert "utility" not in found(measure_policy(cleaned, PolicyOfPaper("easy"), 0), MONTH, "between")


def logged_over(table: dict[str, list[tuple[float, float]]]) -> Trace:
    """Return a log of 2000 with jobs as wide as the machine in some months, by day and run time in days."""
    begins = {"01": 0, "02": 31, "03": 60, "04": 91, "05": 121, "06": 152}
    jobs = sorted((begins[month] + day, run) for month, each in table.items() for day, run in each)
    lines = [f"{day * 86_400:.0f} {run * 86_400:.0f} 4 {run * 86_400:.0f}" for day, run in jobs]
    header = "UnixStartTime: 946684800\nTimeZone: 0"
    return draw_trace("\n".join(["submit run width request", *lines]), processors=4, header=header)


BACKLOGS = logged_over(
    {
        "01": [(0, 0.1)],
        "02": [(5, 1), (5.5, 1)],
        "03": [(5, 4), (5.1, 4), (5.2, 1)],
        "04": [(5, 2), (5.1, 2)],
        "05": [(5, 3), (5.1, 3)],
        "06": [(20, 0.1)],
    }
)


def backlog_of(kept: Trace, month: Month) -> float:
    """Return the backlog of a month under FCFS-backfill."""
    return backlog(month, simulate_month(kept, month, PolicyOfPaper(FCFS_BACKFILL)))


def test_the_typical_and_the_exceptional_month() -> None:
    """By how many jobs wait: in March most; of the four the second is in the middle."""
    months = {month.name: month for month in months_of(BACKLOGS)}
    assert list(months) == ["2000-02", "2000-03", "2000-04", "2000-05"]
    backlogs = {name: backlog_of(BACKLOGS, month) for name, month in months.items()}
    assert sorted(backlogs, key=backlogs.__getitem__) == ["2000-02", "2000-04", "2000-05", "2000-03"]
    found = chosen_months(BACKLOGS)
    assert {kind: month.name for kind, (month, _) in found.items()} == {TYPICAL: "2000-04", EXCEPTIONAL: "2000-03"}
    for month, limits in found.values():
        assert limits == thresholds(BACKLOGS, month, PolicyOfPaper())


def test_a_backlog_by_hand() -> None:
    """Of April, 30 days at load 4 / 30: at .9 job 2 waits nearly 2 days of a month of 4 / .9 days."""
    april = months_of(BACKLOGS)[2]
    assert april.load == pytest.approx(4 / 30)
    waits = 2 - 0.1 * (4 / 30) / 0.9
    assert backlog_of(BACKLOGS, april) == pytest.approx(waits / (4 / 0.9), rel=1e-4)


def test_a_curve_is_of_single_runs(cleaned: Trace) -> None:
    """A point a number of nodes, from the least to the most."""
    parameters = CurveOfPaper("lexical(T_w -> avgX)", "lds", "fcfs", least=200, most=400)
    frame = measure_curve(cleaned, parameters, 0)
    assert frame["x"].unique().tolist() == ["200", "400"]
    assert frame["subject"].unique().tolist() == ["typical between", "exceptional between"]
    run = PolicyOfPaper(objective="lexical(T_w -> avgX)", traversal="lds", branching="fcfs", nodes=400)
    single = found(measure_policy(cleaned, run, 0), MONTH, "between")
    assert found(frame, "typical between", "400") == single
    assert found(frame, "typical between", "200") != single


def test_decisions(cleaned: Trace) -> None:
    """Of those within the month; a search with more room exhausts more trees, and finds a better order more often."""
    few, many = (
        found(measure_decisions(cleaned, DecisionsOfPaper(nodes=nodes), 0), "decisions") for nodes in (100, 2000)
    )
    assert 0 <= few["exhausted"] < many["exhausted"] < 100
    assert 0 < few["a better order"] < many["a better order"] < 100
    assert 1 <= few["mean improvements"] < many["mean improvements"]
    kept = kept_jobs(cleaned)
    (month,) = months_of(kept)
    simulation, begin, end = begin_month(kept, month, PolicyOfPaper(nodes=2000), explain=True)
    told = simulation.run().notes["decisions"]
    of_month = told[(told["time"] >= begin) & (told["time"] <= end)]
    assert many["decisions"] == len(of_month) < len(told)
    assert many["median waiting"] == of_month["waiting"].median()
    assert many["10 or more wait"] == pytest.approx(100 * (of_month["waiting"] > 9).mean())
    assert many["30 or fewer wait"] == pytest.approx(100 * (of_month["waiting"] < 31).mean())
    assert many["exhausted"] == pytest.approx(100 * of_month["is_exhausted"].mean())

# SPDX-License-Identifier: BSD-3-Clause
"""Reservations in the simulator: drawn by hand, against the walk back, and what must hold of every run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.plots import caption
from swftools.qbets import WaitPredictor
from swftools.reservations import ReservedSchedule, simulate_reservations
from swftools.reservations.bids import Bids, latest_submissions
from swftools.reservations.live_waits import LiveWaits
from swftools.reservations.start_table import latest_lead, least_percent
from swftools.reservations.trajectory import leads_until
from swftools.simulator import simulate, validate
from tests.examples import examples
from tests.reservations.test_live_waits import drawn_jobs, lived

PLAIN: dict[str, Any] = {"by": None, "clustering": False, "trimming": False, "availability": False, "quantile": 0.5}


def busy_log(count: int = 600, seed: int = 0, processors: int = 64, **columns: Any) -> Trace:
    """Return a log of a machine that is rather full; no two events are at one instant."""
    rng = np.random.default_rng(seed)
    run = rng.exponential(3000.0, count).round(3) + 10
    return Trace.from_columns(
        machine_processors=processors,
        job_number=range(1, count + 1),
        submit_time=np.sort(rng.uniform(0, 900.0 * count, count)).round(3),
        run_time=run,
        requested_time=(run * rng.choice([1.0, 2.0, 10.0], count)).round(3),
        requested_processors=rng.choice([1, 2, 4, 8, 16, 32], count),
        user_id=rng.integers(1, 5, count),
        queue_id=rng.integers(1, 3, count),
        **{"wait_time": [0.0] * count, **columns},
    )


LOG = busy_log()
WAITS = WaitPredictor("binomial", by="queue", training=40, cluster_every=100)


@pytest.fixture(scope="module")
def run() -> ReservedSchedule:
    """Return half of the jobs with reservations."""
    return simulate_reservations(LOG, "easy", waits=WAITS, share=0.5, probability=0.75)


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "pv-easy", "lxf-backfill", "sjf"])
def test_no_share_is_the_plain_simulation(policy: str) -> None:
    """Bit for bit: jobs, runs, and the name of the policy."""
    found = simulate_reservations(LOG, policy, waits=WAITS, share=0.0).schedule
    plain = simulate(LOG, policy)
    pd.testing.assert_frame_equal(found.jobs, plain.jobs, check_exact=True)
    pd.testing.assert_frame_equal(found.segments, plain.segments, check_exact=True)
    assert (found.policy, found.options) == (plain.policy, plain.options)


def test_a_group_none_of_whose_jobs_is_simulated() -> None:
    """The only job of queue 9 is wider than the machine: the others go on as if it were not there."""
    wide = LOG.jobs.iloc[[0]].assign(job_number=9999, requested_processors=65, queue_id=9)
    log = LOG.with_jobs(pd.concat([LOG.jobs, wide], ignore_index=True))
    found = simulate_reservations(log, "easy", waits=WAITS, share=0.0).schedule
    assert found.jobs["start_time"].tolist() == simulate(LOG, "easy").jobs["start_time"].tolist()


def test_drawn_by_hand() -> None:
    """Five jobs wait 0 s; a sixth, to run 600 s later, is submitted in the last step, and waits on its processors.

    Job 6 takes 4 of 4 processors: submitted at 5,570 it runs from then on until 5,600 + 50; job 7, of 5,580, after it.
    """
    log = Trace.from_columns(
        machine_processors=4,
        job_number=range(1, 8),
        submit_time=[0, 1000, 2000, 3000, 4000, 5000, 5580],
        run_time=[10, 10, 10, 10, 10, 50, 10],
        requested_time=[10, 10, 10, 10, 10, 80, 10],
        requested_processors=[1, 1, 1, 1, 1, 4, 1],
    )
    waits = WaitPredictor("binomial", training=5, **PLAIN)
    found = simulate_reservations(log, "fcfs", waits=waits, share=1.0, probability=0.5, ahead=600.0)
    asked = found.reservations.set_index("job_number")
    assert asked["why_denied"].iloc[:5].tolist() == ["training"] * 5
    sixth = asked.loc[6]
    assert (sixth["submit_time"], sixth["requested_time"], sixth["start_time"]) == (5570.0, 110.0, 5570.0)
    assert (sixth["start_by"], sixth["surplus_time"], sixth["is_met"]) == (5600.0, 30.0, True)
    assert (sixth["probability"], sixth["planned_submit_time"], sixth["run_time"]) == (0.54, 5570.0, 50.0)
    jobs = found.schedule.jobs.set_index("job_number")
    assert jobs.loc[6, ["start_time", "end_time", "run_time", "wait_time"]].tolist() == [5570.0, 5650.0, 80.0, 0.0]
    seventh = asked.loc[7]
    assert (seventh["submit_time"], seventh["start_time"]) == (6150.0, 6150.0)
    assert jobs.loc[7, "end_time"] == 6190.0
    found_measures = found.measures()
    assert (found_measures["asked"], found_measures["accepted"], found_measures["met"]) == (7, 2, 1.0)
    assert found_measures["needed_hours"] == pytest.approx((4 * 50 + 10) / 3600)
    assert found_measures["paid_hours"] == pytest.approx((4 * 80 + 40) / 3600)


def waiting_log(waits: list[float], last: dict[str, Any]) -> Trace:
    """Return a log of one processor, in which jobs wait so long under fcfs: each behind one that blocks it."""
    rows: list[dict[str, Any]] = []
    for number, wait in enumerate(waits):
        at = 100_000.0 * number
        rows += [{"submit_time": at, "run_time": max(wait, 1.0)}, {"submit_time": at + 0.5, "run_time": 10.0}]
    rows.append(last)
    table = pd.DataFrame(rows)
    return Trace.from_columns(
        machine_processors=1,
        job_number=range(1, len(table) + 1),
        submit_time=table["submit_time"],
        run_time=table["run_time"],
        requested_time=table["run_time"],
        requested_processors=[1] * len(table),
    )


def test_a_plan_is_made_anew_when_waits_change() -> None:
    """Waits of 3,000 s become known while the job is held back: its bound rises from 0.5 s, so it goes earlier."""
    log = waiting_log([0.5] * 6, {"submit_time": 700_000.0, "run_time": 20.0})
    more = {"job_number": range(20, 26), "submit_time": 700_001.0 + np.arange(6), "run_time": [3000.0, *[1.0] * 5]}
    jobs = pd.concat([log.jobs, pd.DataFrame(more).reindex(columns=log.jobs.columns)], ignore_index=True)
    jobs["requested_processors"] = pd.array([1] * len(jobs), dtype="Int64")
    jobs["requested_time"] = np.where(jobs["job_number"] == 13, 20.0, np.nan)  # no other can ask
    plans = {}
    for replans in ("changes", "never"):
        waits = WaitPredictor("binomial", training=8, **PLAIN)
        found = simulate_reservations(
            log.with_jobs(jobs), "fcfs", waits=waits, share=1.0, probability=0.75, ahead=9000.0, replans=replans
        ).reservations
        plans[replans] = found.set_index("job_number").loc[13]
    kept, changed = plans["never"], plans["changes"]
    assert kept["planned_submit_time"] == changed["planned_submit_time"] == kept["submit_time"] == 708_970.0
    assert 3000 <= changed["start_by"] - changed["submit_time"] < 3030
    assert changed["requested_time"] == 20.0 + changed["start_by"] - changed["submit_time"]


@examples(0.25)
@given(data=st.data())
def test_the_latest_submission_is_that_of_the_walk_back(data: st.DataObject) -> None:
    """Whatever the clusters, the grid and the time that has passed since the job asked."""
    log = drawn_jobs(np.random.default_rng(data.draw(st.integers(0, 50))), data.draw(st.integers(1, 200)))
    explanatory = data.draw(st.sampled_from(["requested_time", "requested_work", "requested_processors"]))
    options: dict[str, Any] = {"cluster_every": 60, "training": 0, "quantile": 0.5, "trimming": False}
    live, _ = lived(log, WaitPredictor(by=None, **options))
    count = 5
    rng = np.random.default_rng(data.draw(st.integers(0, 50)))
    step, asked = data.draw(st.sampled_from([30.0, 7.0, 400.0])), 1e6
    start = asked + rng.choice([100.0, 600.0, 3600.0, 21_600.0, 60.0], count)
    now = asked + data.draw(st.sampled_from([0.0, 5.0, 30.0, 59.0]))
    request, width = rng.choice([60.0, 599.0, 3000.0, 7000.0], count), rng.choice([1.0, 2.0, 3600.0], count)
    bids = Bids(np.arange(count), np.zeros(count, np.int64), np.full(count, asked), start, request, width)
    percent = data.draw(st.integers(1, 99))
    found = latest_submissions(bids, live, now, percent, step, explanatory)
    table = live.table()

    for i in range(count):

        def explain(ahead: Any, i: int = i) -> Any:
            asks = request[i] + ahead
            return {"requested_time": asks, "requested_work": asks * width[i]}.get(explanatory, width[i] + 0 * ahead)

        leads = leads_until(asked, float(start[i]), step)
        leads = leads[leads <= start[i] - now]
        place, percents = latest_lead(table, explain, leads, percent)
        assert (np.isnan(found[i]) and place == -1) or found[i] == leads[place]
        del percents


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ([300.0, np.inf], 300.0),  # a request of 600 s is the longest of the first cluster
        ([np.inf, 250.0], 400.0),  # and none of the second
        ([300.5, np.inf], np.nan),
        ([300.0, 100.0], 300.0),
        ([0.0, np.inf], 100.0),  # a submission at the start is none
        ([600.0, 600.0], 600.0),
        ([600.0, 600.5], np.nan),
    ],
)
def test_at_the_ends_of_clusters(bounds: list[float], expected: float) -> None:
    """A job of 300 s that is to run in 600 s, clusters up to 600 s and beyond, in steps of 100 s."""

    class Two:
        ends = np.array([600.0, np.inf])

        def seconds(self, percent: int, place: int) -> float:
            assert percent == 70
            return bounds[place]

    one = np.ones(1)
    bid = Bids(np.zeros(1, np.int64), np.zeros(1, np.int64), 0 * one, 600 * one, 300 * one, 8 * one)
    (found,) = latest_submissions(bid, Two(), 0.0, 70, 100.0, "requested_time")  # type: ignore[arg-type]
    assert found == expected or (np.isnan(found) and np.isnan(expected))


def test_what_holds_of_every_run(run: ReservedSchedule) -> None:
    """Submissions are on the grid and before the start; requests and runs have in them what is waited; all is valid."""
    report = validate(run.schedule, trace=run.trace)
    assert report.ok, str(report)
    assert len(run.schedule.jobs) == len(LOG)
    asked = run.reservations
    taken, denied = asked[asked["is_accepted"]], asked[~asked["is_accepted"]]
    assert min(len(taken), len(denied)) > 30
    assert ((taken["start_by"] % 21_600) == 0).all()
    assert (taken["start_by"] - taken["ask_time"]).between(0, 21_600).all()
    assert (taken["submit_time"] < taken["start_by"]).all()
    assert (taken["submit_time"] >= taken["ask_time"]).all()
    steps = (taken["submit_time"] - taken["ask_time"]) / 30
    on_grid = (steps - steps.round()).abs() < 1e-6
    assert on_grid.mean() > 0.9  # others went when their plan could not be kept
    assert (taken["probability"] >= 0.75).all()
    assert (taken["probability_at_submission"] >= 0.75)[on_grid].mean() > 0.9
    own = LOG.jobs.set_index("job_number")["requested_time"].reindex(taken["job_number"]).to_numpy()
    np.testing.assert_allclose(taken["requested_time"], own + taken["start_by"] - taken["submit_time"])
    jobs = run.schedule.jobs.set_index("job_number")
    mine = jobs.loc[taken["job_number"]]
    began = mine["start_time"].to_numpy()
    np.testing.assert_allclose(
        mine["end_time"], np.maximum(began, taken["start_by"]) + taken["run_time"].to_numpy(), rtol=1e-12
    )
    assert (mine["submit_time"].to_numpy() == taken["submit_time"].to_numpy()).all()
    assert (taken["is_met"].astype(bool).to_numpy() == (began <= taken["start_by"].to_numpy())).all()
    rest = jobs.loc[denied["job_number"]]
    np.testing.assert_array_equal(rest["submit_time"], denied["ask_time"])
    np.testing.assert_allclose(rest["run_time"], denied["run_time"])
    assert denied["is_met"].isna().all()
    assert denied["probability"].isna().all()


def test_the_predictor_learns_what_is_simulated(run: ReservedSchedule) -> None:
    """What the log says of waits changes nothing; a replay of the schedule tells every job what it was told."""
    other = simulate_reservations(
        busy_log(wait_time=np.random.default_rng(9).uniform(0, 1e6, 600)),
        "easy",
        waits=WAITS,
        share=0.5,
        probability=0.75,
    )
    pd.testing.assert_frame_equal(other.reservations, run.reservations, check_exact=True)
    pd.testing.assert_series_equal(other.schedule.jobs["start_time"], run.schedule.jobs["start_time"])
    same = WaitPredictor("binomial", by="queue", training=40, cluster_every=100, quantile=0.75)
    mine = simulate_reservations(LOG, "easy", waits=same, share=0.5, probability=0.75)
    told = same.replay(mine.schedule).set_index("job_number")
    taken = mine.reservations[mine.reservations["is_accepted"]]
    known = told.loc[taken["job_number"]]
    bound = known["wait_bound"].fillna(known["withheld_bound"]).to_numpy(dtype=float)
    is_within = bound <= (taken["start_by"] - taken["submit_time"]).to_numpy()
    np.testing.assert_array_equal(taken["probability_at_submission"].to_numpy() >= 0.75, is_within)
    assert 0.5 < is_within.mean() < 1.0


def test_shares_are_nested() -> None:
    """Who asks of a smaller share asks of a larger one; a share is about as large as it says."""
    some, more = (
        set(simulate_reservations(LOG, "fcfs", waits=WAITS, share=share).reservations["job_number"])
        for share in (0.2, 0.6)
    )
    assert some < more
    assert 80 < len(some) < 160
    assert 300 < len(more) < 420


def test_interpreted_as_compiled() -> None:
    """The engine in Python does the same."""
    waits = WaitPredictor("binomial", by=None, training=20, cluster_every=40)
    given: dict[str, Any] = {"waits": waits, "share": 0.5, "probability": 0.5}
    log = busy_log(150)
    run, other = (simulate_reservations(log, "easy", options={"compiled": each}, **given) for each in (True, False))
    assert run.reservations["is_accepted"].sum() > 20
    pd.testing.assert_frame_equal(other.reservations, run.reservations, check_exact=True)
    pd.testing.assert_frame_equal(other.schedule.segments, run.schedule.segments, check_exact=True)


@pytest.mark.parametrize("policy", ["conservative", "pv-easy", "fcfs", "sjf-backfill"])
def test_under_other_policies(policy: str) -> None:
    """Who starts early ends when it would if it had started in time; also who was stopped and started again."""
    found = simulate_reservations(LOG, policy, waits=WAITS, share=0.5, probability=0.5)
    assert ("killed" in set(found.schedule.segments["ended_by"])) is (policy == "pv-easy")
    taken = found.reservations[found.reservations["is_accepted"]]
    jobs = found.schedule.jobs.set_index("job_number").loc[taken["job_number"]]
    assert len(taken) > 50
    end = np.maximum(taken["start_time"], taken["start_by"]) + taken["run_time"]
    np.testing.assert_allclose(jobs["end_time"], end, rtol=1e-12)
    assert validate(found.schedule, trace=found.trace).ok


@pytest.mark.parametrize("preemption", ["suspend", "checkpoint"])
def test_what_a_stopped_job_waited_is_kept_as_its_work_is(preemption: str) -> None:
    """All that it held its processors for is its own time and what it waited on them."""
    log = LOG.with_jobs(LOG.jobs.assign(checkpoint_interval=100.0))
    given: dict[str, Any] = {"waits": WAITS, "share": 0.5, "probability": 0.5}
    found = simulate_reservations(log, "pv-easy", options={"preemption": preemption}, **given)
    report = validate(found.schedule, trace=found.trace)
    assert report.ok, str(report)
    taken = found.reservations[found.reservations["is_accepted"]].set_index("job_number")
    runs = found.schedule.segments[found.schedule.segments["job_number"].isin(taken.index)]
    stopped = runs.loc[runs["ended_by"] != "completed", "job_number"].unique()
    assert len(stopped) > 5
    kept = (runs["work"] - runs["lost_work"]).groupby(runs["job_number"]).sum()
    np.testing.assert_allclose(kept, (taken["run_time"] + taken["surplus_time"])[kept.index], rtol=1e-12)
    assert (taken.loc[stopped, "surplus_time"] > 0).any()


@pytest.mark.parametrize("probability", [0.5, 0.75, 0.95])
def test_exchangeable_waits_meet_the_target(probability: float) -> None:
    """Of 1,000 reservations at least the target runs in time, within binomial noise, where waits are alike.

    Waits are uniform up to 4 h, so that the chance of each submission is known: their mean, in which there is little
    noise, is above the target, and by less than the next percentile but two.
    """
    rng = np.random.default_rng(int(100 * probability))
    longest, known, asks = 14_400.0, 6000, 1000
    live = LiveWaits(WaitPredictor("binomial", training=1000, **PLAIN), known + asks)
    for number in range(known):
        live.started(live.submitted(number * 1e5, 3600.0), number * 1e5 + rng.uniform(0, longest))
    live.learn(known * 1e5)
    met, chances = 0, []
    for number in range(known, known + asks):
        now = number * 1e5
        one, start = np.ones(1), now + 21_600.0
        bid = Bids(np.zeros(1, np.int64), np.zeros(1, np.int64), now * one, start * one, 3600.0 * one, one)
        lead = latest_submissions(bid, live, now, least_percent(probability), 30.0, "requested_time")[0]
        wait = rng.uniform(0, longest)
        job = live.submitted(start - lead, 3600.0 + lead)
        live.started(job, start - lead + wait)
        live.learn(start - lead + wait)
        met += wait <= lead
        chances.append(min(lead / longest, 1.0))
    noise = 3 * np.sqrt(probability * (1 - probability) / asks)
    assert met / asks >= probability - noise
    assert probability < np.mean(chances) < probability + 0.025


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"options": {"predictor": "exact"}}, "leave predictor= out"),
        ({"policy": "scojo-p"}, "scojo-p"),
        ({"waits": "gradient-boosting"}, "cannot be asked about any percentile"),
        ({"probability": 1.0}, "probability"),
        ({"probability": 0.0}, "probability"),
        ({"share": 1.5}, "share"),
        ({"shares": 0.5}, "shares"),
        ({"replans": "often"}, "replans"),
        ({"policy": "easyy"}, "easyy"),
        ({"by": "moon"}, "moon"),
    ],
)
def test_what_is_refused(given: dict[str, Any], words: str) -> None:
    """One clear error each, before anything runs."""
    with pytest.raises(ParameterError, match=words):
        simulate_reservations(LOG, **{"policy": "easy", **given})


def test_who_cannot_ask() -> None:
    """A job without a request, and all of a log in training."""
    requested = LOG.jobs["requested_time"].where(np.arange(600) % 2 == 0)
    log = LOG.with_jobs(LOG.jobs.assign(requested_time=requested))
    found = simulate_reservations(log, "easy", waits=WAITS, share=1.0).reservations
    assert (found["why_denied"] == "no-request").sum() == 300
    late = simulate_reservations(LOG, "easy", waits="binomial", share=1.0)
    assert set(late.reservations["why_denied"]) == {"training"}
    assert np.isnan(late.measures()["met"])
    assert "600 jobs asked, 0 accepted" in repr(late)


def test_the_log_is_not_changed(run: ReservedSchedule) -> None:
    """Neither are other simulations of the same trace."""
    assert run.reservations["is_accepted"].any()
    pd.testing.assert_frame_equal(LOG.jobs, busy_log().jobs)
    assert "asked" in repr(run)
    plain = simulate(LOG, "easy")
    measures = run.measures(plain)
    assert measures["others_mean_wait_plain"] > 0
    assert measures["paid_over_needed"] > 1
    assert measures["others"] == 600 - measures["accepted"]


def test_calibration(run: ReservedSchedule) -> None:
    """By hand of what was promised; all accepted reservations are in it, and a picture is drawn of it."""
    table = run.calibration()
    taken = run.reservations[run.reservations["is_accepted"]]
    assert table["predicted"].sum() == len(taken)
    assert (table["predicted"] * table["correctness"]).sum() == taken["is_met"].sum()
    near = (taken["probability_at_submission"] / 0.05).round() == 15
    row = table[(table["quantile"] - 0.75).abs() < 0.025]
    assert row["correctness"].tolist() == [taken.loc[near, "is_met"].astype(float).mean()]
    assert " is meant" in caption(table, "reliability") or len(table) == 1

# SPDX-License-Identifier: BSD-3-Clause
"""Several sites in lockstep: drawn by hand, what must hold of every run, and what is refused."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace
from swftools.errors import ParameterError
from swftools.header import SwfHeader
from swftools.qbets import WaitPredictor
from swftools.reservations import Site, SitesOutcome, simulate_sites
from swftools.reservations import sites as sites_module
from swftools.reservations.site_run import SiteRun
from swftools.simulator import simulate, validate
from tests.reservations.test_varq import busy_log

WAITS = WaitPredictor("binomial", by=None, training=60, cluster_every=200)
SITES = [
    Site("a", busy_log(700, 1, 36), waits=WAITS),
    Site("b", busy_log(700, 2, 34), "conservative", waits=WAITS),
    Site("c", busy_log(700, 3, 40), waits=WAITS),
]


def requests_of(count: int, parts: int = 2, processors: int = 8, every: float = 16_000.0) -> pd.DataFrame:
    """Return requests for 4 h from each ask on."""
    rows = [
        (number, 100_000.0 + every * number, processors, 3600.0, 3000.0, 100_000.0 + every * number + 14_400)
        for number in range(count)
        for _ in range(parts)
    ]
    return pd.DataFrame(rows, columns=["request", "ask_time", "processors", "requested_time", "run_time", "start_by"])


@pytest.fixture(scope="module")
def reserved() -> SitesOutcome:
    """Return requests of two parts at three sites."""
    return simulate_sites(SITES, requests_of(30), probability=0.4)


@pytest.fixture(scope="module")
def raced() -> SitesOutcome:
    """Return the same without a start."""
    return simulate_sites(SITES, requests_of(30), mode="race")


def log_of(rows: list[tuple[float, float]], processors: int = 1) -> Trace:
    """Return a log of jobs that take all processors: submission, run time."""
    submit, run = zip(*rows, strict=True)
    columns = {"submit_time": submit, "run_time": run, "requested_time": run}
    width = {"requested_processors": [processors] * len(rows), "allocated_processors": [processors] * len(rows)}
    return Trace.from_columns(machine_processors=processors, job_number=range(1, len(rows) + 1), **columns, **width)


def asks(**columns: Any) -> pd.DataFrame:
    """Return one part."""
    usual = {"request": 1, "ask_time": 10.0, "processors": 1, "requested_time": 30.0, "run_time": 20.0}
    return pd.DataFrame([{**usual, **columns}])


def test_a_race_by_hand() -> None:
    """It waits at both, starts at b at 50 s, and leaves a at that moment: who is behind it there starts at 100 s."""
    a, b = log_of([(0, 100), (20, 5)]), log_of([(0, 50), (40, 7)])
    found = simulate_sites([Site("a", a, "fcfs"), Site("b", b, "fcfs")], asks(), mode="race")
    copies = found.copies.set_index("site")
    assert copies.loc["b", ["submit_time", "start_time", "end_time", "is_kept"]].tolist() == [10.0, 50.0, 70.0, True]
    assert copies.loc["a", "cancel_time"] == 50.0
    assert np.isnan(copies.loc["a", "start_time"])
    starts = {name: schedule.jobs["start_time"].tolist() for name, schedule in found.schedules.items()}
    assert starts == {"a": [0.0, 100.0], "b": [0.0, 70.0, 50.0]}
    assert found.measures()["mean_wait"] == 40.0
    assert found.measures()["paid_over_needed"] == 1.0


def test_who_is_behind_a_cancelled_job_starts_at_once() -> None:
    """On a 2-processor machine the copy blocks the queue of fcfs until it is cancelled, at 50 s."""
    a = Trace.from_columns(
        machine_processors=2,
        job_number=[1, 2],
        submit_time=[0, 20],
        run_time=[100, 5],
        requested_time=[100, 5],
        requested_processors=[1, 1],
    )
    b = log_of([(0, 50)], 2)
    found = simulate_sites([Site("a", a, "fcfs"), Site("b", b, "fcfs")], asks(processors=2), mode="race")
    assert found.schedules["a"].jobs["start_time"].tolist() == [0.0, 50.0]


def test_of_equal_starts_the_first_site_is_kept() -> None:
    """The other run ends where it began, and costs nothing."""
    sites = [Site(name, log_of([(0, 5), (12, 3)]), "fcfs") for name in ("a", "b")]
    found = simulate_sites(sites, asks(), mode="race")
    assert found.copies["is_kept"].tolist() == [True, False]
    assert found.copies["end_time"].tolist() == [30.0, 10.0]
    assert found.schedules["b"].jobs["start_time"].tolist() == [0.0, 12.0]
    assert found.measures()["paid_over_needed"] == 1.0


@pytest.mark.parametrize("place", range(3))
def test_without_requests_each_is_alone(place: int) -> None:
    """Schedules are those of the plain simulations, bit for bit."""
    found = simulate_sites(SITES, requests_of(0))
    site = SITES[place]
    plain = simulate(site.trace, site.policy)
    pd.testing.assert_frame_equal(found.schedules[site.name].jobs, plain.jobs, check_exact=True)
    assert found.requests.empty
    assert "none was accepted" in repr(found)


def test_what_holds_of_reservations(reserved: SitesOutcome) -> None:
    """Met where each part runs at its start; what is redundant is cancelled, and nothing of those that failed runs."""
    taken = reserved.requests[reserved.requests["is_accepted"]]
    assert min(len(taken), len(reserved.requests) - len(taken)) > 3
    assert set(taken["is_met"]) == {True, False}
    assert (taken["probability"] >= 0.4).all()
    for request in taken.itertuples():
        copies = reserved.copies[reserved.copies["request"] == request.request]
        assert (copies["submit_time"].dropna() < request.start_by).all()
        kept = copies[copies["is_kept"]]
        if request.is_met:
            assert sorted(kept["part"]) == [0, 1]
            assert (kept["start_time"] <= request.start_by).all()
            assert (kept["end_time"] == request.start_by + 3000).all()
            done = kept["start_time"].max()
            assert (copies.loc[~copies["is_kept"], "cancel_time"] == done).all()
        else:
            assert kept.empty
            assert (copies["cancel_time"] == request.start_by).all()
        paid = (8 * (copies["end_time"] - copies["start_time"])).sum() / 3600
        assert request.paid_hours == pytest.approx(paid)
        assert request.needed_hours == pytest.approx(2 * 8 * 3000 / 3600)
        sites = copies.groupby("part")["site"].agg(list)
        assert not set(sites[0]) & set(sites[1])  # each is taken once
    denied = reserved.requests[~reserved.requests["is_accepted"]]
    assert set(denied["why_denied"]) == {"no-sites-meet-it"}
    assert denied["is_met"].isna().all()
    assert not reserved.copies["request"].isin(denied["request"]).any()
    assert all(validate(each, trace=reserved.traces[name]).ok for name, each in reserved.schedules.items())


def test_what_holds_of_races(raced: SitesOutcome) -> None:
    """Of each part one copy runs, the first that started anywhere; the others vanish at that moment."""
    assert raced.requests["is_met"].all()
    for _, copies in raced.copies.groupby(["request", "part"]):
        (kept,) = copies[copies["is_kept"]].itertuples()
        others = copies[~copies["is_kept"]]
        assert len(copies) == 3
        assert (others["cancel_time"] == kept.start_time).all()
        assert np.isnan(kept.cancel_time)
        assert kept.end_time == pytest.approx(kept.start_time + 3000)
    found = raced.measures()
    assert (found["asked"], found["accepted"], found["copies"], found["cancelled"]) == (30, 30, 180, 120)
    assert all(validate(each, trace=raced.traces[name]).ok for name, each in raced.schedules.items())


def test_who_goes_ahead_is_told_by_the_submissions_as_they_were() -> None:
    """Also where a policy stops runs that wait on their processors."""
    sites = [Site("a", busy_log(700, 1, 36), "pv-easy", waits=WAITS), Site("b", busy_log(700, 2, 34), waits=WAITS)]
    found = simulate_sites(sites, requests_of(60, 1, 2, 4_000.0), probability=0.3)
    assert "killed" in set(found.schedules["a"].segments["ended_by"])
    for name, schedule in found.schedules.items():
        report = validate(schedule, trace=found.traces[name])
        assert report.ok, str(report)


def test_going_apart_changes_nothing(raced: SitesOutcome, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sites that have nothing in common for a while are not held together then; held together they do the same."""
    monkeypatch.setattr(sites_module._Lockstep, "_go_apart", lambda _: None)
    together = simulate_sites(SITES, requests_of(30), mode="race")
    pd.testing.assert_frame_equal(together.copies, raced.copies, check_exact=True)
    for name, schedule in together.schedules.items():
        pd.testing.assert_frame_equal(schedule.jobs, raced.schedules[name].jobs, check_exact=True)


def test_shared_sites() -> None:
    """One site may be taken for both parts."""
    found = simulate_sites(SITES[:1], requests_of(30), probability=0.05, shared=True)
    assert found.requests["is_accepted"].any()
    alone = simulate_sites(SITES[:1], requests_of(30), probability=0.05)
    assert not alone.requests["is_accepted"].any()


def test_no_site_fits() -> None:
    """A part that is wider than every machine."""
    found = simulate_sites(SITES, requests_of(2, processors=64), probability=0.25)
    assert found.requests["why_denied"].tolist() == ["no-site-fits"] * 2
    some = requests_of(1)
    some.loc[1, "processors"] = 64
    assert simulate_sites(SITES, some, probability=0.25).requests["why_denied"].tolist() == ["no-site-fits"]


def test_clocks() -> None:
    """Dates make one clock of the logs of sites; without a time in common, or without dates, that is refused."""

    def dated(start: int, name: str) -> Site:
        header = SwfHeader.from_lines(["; MaxProcs: 1", f"; UnixStartTime: {start}"])
        return Site(name, Trace(header, log_of([(0, 50), (500, 7)]).jobs), "fcfs", processors=1)

    first, second, far = dated(1000, "first"), dated(1100, "second"), dated(10**9, "far")
    found = simulate_sites([first, second], asks(), mode="race", clock="date")
    assert found.schedules["second"].jobs["submit_time"].tolist()[:1] == [100.0]
    with pytest.raises(ParameterError, match="have no time in common: first 1970"):
        simulate_sites([first, far], asks(), mode="race", clock="date")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ask_time": -1.0}, "ask_time"),
        ({"run_time": 99.0}, "runs longer than it requests"),
        ({"processors": 0}, "processors=0"),
        ({"start_by": 10.0}, "start_by is not behind ask_time"),
        ({"start_by": np.nan}, "start_by=nan"),
    ],
)
def test_requests_that_are_refused(change: dict[str, Any], words: str) -> None:
    """One clear error each."""
    with pytest.raises(ParameterError, match=words):
        simulate_sites([Site("a", log_of([(0, 5)]), "fcfs")], asks(**{"start_by": 100.0, **change}))


def test_other_refusals() -> None:
    """Names that repeat, no sites, probabilities, columns, undated logs."""
    site = Site("a", log_of([(0, 5)]), "fcfs")
    for sites in ([], [site, site]):
        with pytest.raises(ParameterError, match="different names"):
            simulate_sites(sites, asks(), mode="race")
    with pytest.raises(ParameterError, match="probability"):
        simulate_sites([site], asks(start_by=100.0), probability=1.0)
    with pytest.raises(ParameterError, match="lack the columns start_by"):
        simulate_sites([site], asks())
    with pytest.raises(ParameterError, match="does not say when it begins"):
        simulate_sites([site], asks(), mode="race", clock="date")


@pytest.mark.parametrize(("is_trained", "is_down"), [(False, False), (True, True), (False, True)])
def test_no_site_is_chosen_of_which_too_little_is_known(is_trained: bool, is_down: bool) -> None:
    """Neither before there are waits to learn from, nor while nothing starts there."""
    site: Any = SimpleNamespace(live=[SimpleNamespace(is_trained=is_trained, is_down=is_down)], group=[0])
    chance, lead = SiteRun.chance(site, 0, 100.0, 0.0)
    assert chance == 0.0
    assert np.isnan(lead)

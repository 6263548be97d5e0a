# SPDX-License-Identifier: BSD-3-Clause
"""Reservations asked of a saved state: by hand, against the pseudocode of the paper, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.errors import ParameterError, StateError
from swftools.qbets import WaitPredictor, list_bounds, predict_wait
from swftools.qbets.saved_state import read_state
from swftools.reservations import ReservedJob, plan_reservation, probability_of_start
from swftools.reservations.known_starts import KnownStarts
from tests.examples import by_day, examples
from tests.naive.reservations import bound_of, percent_within, walk_back
from tests.reservations.states import log_of_waits, save_state

HALF_DAY = 43_200.0


@pytest.fixture(scope="module")
def figure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a state like that behind Figure 5.4: the 59th of 100 waits, which bounds half of them, is 2,710 s."""
    waits = [*np.linspace(10, 2000, 58), 2710, *np.linspace(90_000, 99_000, 41)]
    return save_state(tmp_path_factory.mktemp("figure"), log_of_waits(waits), trimming=False)


def test_figure_5_3_by_hand(figure: Path) -> None:
    """A 1 h job on 4 nodes, 12 h ahead, at .5: submitted 40,470 s from now, requesting 6,330 s, as the text has it.

    The text prints 9,480 node-seconds for what that may cost; 4 x (43,200 - 40,470) are 10,920.
    """
    now = predict_wait(figure).until
    assert now is not None
    plan = plan_reservation(figure, ReservedJob(3600, 4), now + HALF_DAY, 0.5)
    assert bound_of([*np.linspace(10, 2000, 58), 2710], 50, 0.95) is not None
    assert (plan.is_accepted, plan.wait, plan.requested_time) == (True, 40_470.0, 6330.0)
    assert plan.submit_time == now + 40_470.0
    assert (plan.probability, plan.needed, plan.most_surplus) == (0.5, 14_400.0, 10_920.0)
    first = plan.trajectory
    assert (len(first), first.requested_time[0], first.submit_time[0]) == (1440, 3600 + HALF_DAY, now)
    assert first.submit_time[-1] == now + HALF_DAY - 30
    assert first.requested_time[-1] == 3630.0


def test_what_a_reservation_costs_on_average(tmp_path: Path) -> None:
    """Waits of 100 s or, every other, of 400 s: of the percentiles 42 are bounded by 100 s, the others by 400 s."""
    state = save_state(tmp_path, log_of_waits([100, 400] * 100), trimming=False)
    short = sum(bound_of([100, 400] * 100, percent, 0.95) == 100 for percent in range(1, 100))
    assert short == 43
    plan = plan_reservation(state, ReservedJob(3600, 2), 200.0 * 1e6, 0.9)
    assert plan.requested_time is not None
    lead = plan.requested_time - 3600
    known = sum(bound_of([100, 400] * 100, percent, 0.95) is not None for percent in range(1, 100))
    assert 400 <= lead < 430
    assert plan.expected_surplus == pytest.approx(2 * (short * (lead - 100) + (known - short) * (lead - 400)) / 100)


@examples(0.2)
@given(data=st.data())
def test_as_the_pseudocode_has_it(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Clusters, targets and times are drawn; the twin walks back step by step."""
    count = data.draw(st.integers(5, 60))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    requested = rng.choice([600, 1800, 3600, 7200, 14_400], count)
    waits = (rng.exponential(1.0, count) * requested / rng.choice([0.5, 1, 8])).round()
    is_clustered = data.draw(st.booleans())
    options: dict[str, Any] = {"clustering": is_clustered, "cluster_every": count, "trimming": False, "quantile": 0.5}
    state = save_state(tmp_path_factory.mktemp("drawn"), log_of_waits(waits, requested), **options)
    ends = KnownStarts(state).table.ends
    now = predict_wait(state, requested_time=60).until
    assert now is not None

    def qbets(wall_time: float, within: float) -> int:
        place = int(np.searchsorted(ends[:-1], wall_time))
        own = np.searchsorted(ends[:-1], requested) == place
        return percent_within(waits[own].tolist(), within, 0.95)

    wall_time, ahead = data.draw(st.sampled_from([300.0, 1800.0, 5000.0])), data.draw(st.sampled_from([300.0, 915.0]))
    percent = data.draw(st.integers(1, 99))
    expected = walk_back(qbets, wall_time, now, now + ahead, percent)
    plan = plan_reservation(state, ReservedJob(wall_time, 1), now + ahead, percent / 100)
    told = (plan.wait, plan.requested_time, plan.probability)
    if expected is None:
        assert not plan.is_accepted
        assert told == (None, None, None)
        assert plan.why_denied == "no-submission-meets-it"
        assert (plan.best_probability or 0.0) < percent / 100
    else:
        assert told == (expected[0], expected[1], expected[2] / 100)
    asked = data.draw(st.floats(1, 1e5))
    told_now = probability_of_start(state, ReservedJob(wall_time, 1), by=now + asked)
    assert told_now == qbets(wall_time, now + asked - now) / 100


@pytest.mark.parametrize("method", by_day(sorted(list_bounds()), 3))
def test_more_time_is_never_less_of_a_probability(tmp_path: Path, method: str) -> None:
    """Of every bound; and what is told is the largest percentile whose bound is within the time."""
    rng = np.random.default_rng(3)
    state = save_state(tmp_path, log_of_waits(rng.lognormal(6, 2, 300).round()), method, trimming=False)
    now = predict_wait(state).until
    assert now is not None
    job, ahead = ReservedJob(60.0), [1.0, 10.0, 100.0, 1000.0, 1e4, 1e5, 1e6, 1e9]
    told = [probability_of_start(state, job, by=now + seconds) for seconds in ahead]
    assert told == sorted(told)
    assert told[0] < told[4]
    assert told[-1] == 0.99
    some = told[4]
    within, beyond = (predict_wait(state, quantiles=[q]).bounds[0].seconds for q in (some, some + 0.01))
    assert within is not None
    assert beyond is not None
    assert within <= 1e4 < beyond


def test_a_method_of_one_quantile_promises_that_or_nothing(tmp_path: Path) -> None:
    """An object of one's own tells the quantile that it was asked for."""

    class Longest:
        def fit(self, waits: Any) -> None:
            self.longest = max(waits)

        def update(self, waits: Any) -> None:
            self.longest = max(self.longest, *waits)

        def predict(self) -> float:
            return float(self.longest)

    state = save_state(tmp_path, log_of_waits([5, 80, 40] * 30), Longest(), trimming=False, quantile=0.9)
    told = [
        probability_of_start(state, ReservedJob(60.0), by=89e6 + 40 + seconds, method=Longest(), now=89e6 + 40)
        for seconds in (79, 80, 1e6)
    ]
    assert told == [0.0, 0.9, 0.9]


def test_denied_with_the_best_that_can_be_had(figure: Path) -> None:
    """The latest submission of the greatest probability."""
    now = predict_wait(figure).until
    assert now is not None
    plan = plan_reservation(figure, ReservedJob(3600, 4), now + HALF_DAY, 0.9)
    assert (plan.is_accepted, plan.why_denied) == (False, "no-submission-meets-it")
    assert (plan.submit_time, plan.wait, plan.requested_time, plan.most_surplus) == (None, None, None, None)
    assert (plan.best_probability, plan.best_requested_time) == (0.5, 6330.0)
    assert "denied: no-submission-meets-it" in repr(plan)
    assert "best that can be had: 50 %" in repr(plan)


def test_requests_that_the_queue_does_not_take(tmp_path: Path) -> None:
    """A submission so early that the request is too long is none."""
    state = save_state(tmp_path, log_of_waits([1000] * 200), trimming=False)
    start = 200e6
    assert plan_reservation(state, ReservedJob(3600), start, 0.5, now=start - 6000, longest=4620).wait == 4980.0
    denied = plan_reservation(state, ReservedJob(3600), start, 0.5, now=start - 6000, longest=4600)
    assert denied.why_denied == "no-submission-meets-it"
    assert denied.best_probability is None


def test_a_state_that_is_too_young(tmp_path: Path) -> None:
    """Fewer waits than the training; and just as many."""
    log = log_of_waits([10] * 80)
    young = plan_reservation(save_state(tmp_path, log, training=81), ReservedJob(60, 1), 80e6, 0.5)
    assert (young.why_denied, young.group_waits, young.training) == ("training", 80, 81)
    assert probability_of_start(tmp_path / "state", ReservedJob(60), by=80e6) == 0.0
    assert plan_reservation(save_state(tmp_path, log, training=80), ReservedJob(60, 1), 80e6, 0.5).is_accepted


def test_a_queue_that_seems_to_be_unavailable(tmp_path: Path) -> None:
    """Jobs came, and none started."""
    log = log_of_waits([10.0] * 100 + [np.nan] * 60, every=100.0)
    state = save_state(tmp_path, log, availability=True)
    assert plan_reservation(state, ReservedJob(60, 1), 1e6, 0.5).why_denied == "unavailable"


def test_a_state_of_no_wait(tmp_path: Path) -> None:
    """Nothing can be promised."""
    state = save_state(tmp_path, log_of_waits([np.nan, 5.0], every=10.0))
    plan = plan_reservation(state, ReservedJob(60, 1), 1e4, 0.99)
    assert plan.why_denied == "no-submission-meets-it"
    empty = WaitPredictor(by=None, training=0)
    empty.save(tmp_path / "empty")
    with pytest.raises(ParameterError, match="nothing was replayed"):
        plan_reservation(tmp_path / "empty", ReservedJob(60, 1), 1e4, 0.9)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start": 100e6 - 1e6}, "is in the past: now is"),
        ({"start": 99e6 + 99_000.0}, "is in the past: now is"),
        ({"start": "tomorrow"}, "start='tomorrow' is not a moment"),
        ({"start": np.nan}, "start=nan is not a moment"),
        ({"probability": 0}, "probability=0 is not a number between 0 and 1"),
        ({"probability": 1}, "probability=1 is not a number between 0 and 1"),
        ({"probability": 0.995}, "more than .99 cannot be promised"),
        ({"longest": 60}, "requested_time=3,600 s is longer than the queue takes, 60 s"),
        ({"longest": -1}, "longest=-1 is not"),
        ({"step": 0}, "step=0 is not"),
        ({"step": 1e-3}, "more than 1,000,000 times of submission"),
        ({"now": np.inf}, "now=inf is not a moment"),
        ({"job": ReservedJob(3600, group="7")}, "knows no group '7'"),
    ],
)
def test_what_is_refused(figure: Path, change: dict[str, Any], words: str) -> None:
    """One clear error each."""
    given: dict[str, Any] = {"job": ReservedJob(3600, 4), "start": 100e6, "probability": 0.5, **change}
    with pytest.raises(ParameterError, match=words):
        plan_reservation(figure, **given)


def test_other_refusals(tmp_path: Path, figure: Path) -> None:
    """Jobs outside their domain, a time that is over, no file, and processors that must be known."""
    for wrong in ({"requested_time": 0}, {"requested_time": np.nan}, {"requested_time": 60, "processors": 0}):
        with pytest.raises(ParameterError, match="is not a"):
            ReservedJob(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="is not behind now"):
        probability_of_start(figure, ReservedJob(60), by=5.0)
    with pytest.raises(StateError, match="cannot be read"):
        plan_reservation(tmp_path / "none", ReservedJob(60), 1e6, 0.5)
    rng = np.random.default_rng(0)
    log = log_of_waits(np.repeat([1.0, 1e4], 200) * rng.uniform(1, 2, 400))
    log = log.with_jobs(log.jobs.assign(requested_processors=np.repeat([1, 64], 200)))
    state = save_state(tmp_path, log, clustering=True, cluster_every=400, explanatory="requested_processors")
    with pytest.raises(ParameterError, match="processors"):
        plan_reservation(state, ReservedJob(60), 400e6, 0.5)
    now = predict_wait(state, processors=1).until
    assert now is not None
    jobs = ReservedJob(60, 1), ReservedJob(60, 64)
    assert [probability_of_start(state, job, by=now + 3e4) for job in jobs] == [0.95, 0.98]
    assert [probability_of_start(state, job, by=now + 100) for job in jobs] == [0.95, 0.0]


def test_by_processors_and_time_together(tmp_path: Path) -> None:
    """The explanatory variable of a submission has the time that it is early in it."""
    known = KnownStarts(save_state(tmp_path, log_of_waits([1.0] * 100), explanatory="requested_work"))
    assert known.explain(8, np.array([10.0, 20.0])).tolist() == [80.0, 160.0]
    saved = read_state(tmp_path / "state")
    assert KnownStarts(saved).explain(None, np.array([10.0])).tolist() == [-1.0]

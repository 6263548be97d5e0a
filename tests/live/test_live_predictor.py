# SPDX-License-Identifier: BSD-3-Clause
"""Waits learnt while a machine runs, against the replay of the same jobs as a log that is over."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError, StateError
from swftools.live import JobEvent, LivePredictor, ToldLedger, log_events
from swftools.live.events import in_order
from swftools.qbets import WaitPredictor, predict_wait
from tests.examples import examples

OPTIONS: dict[str, Any] = {"training": 20, "quantile": 0.5, "cluster_every": 60}


def drawn_log(seed: int, count: int = 300) -> Trace:
    """Return jobs of three queues whose waits change; at some instants one starts and others come; some never start."""
    rng = np.random.default_rng(seed)
    requested = rng.choice([600.0, 3600.0, 7200.0], count)
    waits = rng.exponential(0.2, count) * requested * np.where(np.arange(count) > count // 2, 4.0, 1.0)
    return Trace.from_columns(
        job_number=rng.permutation(count),
        submit_time=np.sort(rng.integers(0, 30 * count, count)),
        wait_time=waits.round(),
        run_time=np.where(rng.random(count) < 0.1, -1, 60),
        requested_time=requested,
        requested_processors=rng.integers(1, 9, count),
        queue_id=rng.integers(1, 4, count),
    )


def told_by_replay(log: Trace, predictor: WaitPredictor) -> dict[str, float]:
    """Return what a replay tells each job; NaN: nothing."""
    table = predictor.replay(log)
    return dict(zip(table["job_number"].astype(str), table["wait_bound"].astype(float), strict=True))


def polled(events: list[JobEvent], every: float) -> list[list[JobEvent]]:
    """Return events as polls bring them: what happened since the last one, in no order."""
    polls: dict[int, list[JobEvent]] = {}
    for event in events:
        polls.setdefault(math.ceil(event.time / every), []).insert(0, event)
    return [polls[place] for place in sorted(polls)]


def assert_same(mine: dict[str, Any], theirs: dict[str, float]) -> None:
    """Every job is told the same."""
    assert {job: told.bound for job, told in mine.items()} == pytest.approx(theirs, nan_ok=True, rel=0, abs=0)


@examples(0.2)
@given(data=st.data())
def test_polls_tell_what_a_replay_tells(data: st.DataObject) -> None:
    """Each job by each bound, whatever the time between polls; ties, and jobs that never start, among them."""
    log = drawn_log(data.draw(st.integers(0, 999)), data.draw(st.sampled_from([40, 300])))
    method = data.draw(st.sampled_from(["binomial", "lognormal"]))
    by = data.draw(st.sampled_from([("queue",), (), ("queue", "user")]))
    chosen = OPTIONS | {"clustering": data.draw(st.booleans()), "trimming": data.draw(st.booleans())}
    live = LivePredictor(WaitPredictor(method, by, **chosen))
    mine: dict[str, Any] = {}
    every = data.draw(st.sampled_from([1, 60, 600]))
    for poll in polled(list(log_events(log, [name for name in by if name == "queue"])), every):
        mine |= live.take(poll)
    assert_same(mine, told_by_replay(log, WaitPredictor(method, by, **chosen)))
    never = set(log.jobs.loc[log.jobs["run_time"].isna(), "job_number"].astype(str))
    assert set(live.waiting["job"]) == never


@pytest.mark.parametrize("method", ["binomial", "lognormal", "weibull"])
def test_what_is_known_at_the_end_answers_as_the_state_of_the_replay(method: str, tmp_path: Path) -> None:
    """To the bit: bounds, a deadline, how many waits, since when."""
    log = drawn_log(7)
    predictor = WaitPredictor(method, **OPTIONS)
    predictor.replay(log)
    predictor.save(tmp_path / "replay.state")
    live = LivePredictor(WaitPredictor(method, **OPTIONS))
    live.take(log_events(log))
    for queue in ("1", "2", "3"):
        asked: dict[str, Any] = {"group": queue, "requested_time": 3600.0, "deadline": 36_000.0}
        mine, theirs = live.predict(**asked), predict_wait(tmp_path / "replay.state", **asked)
        assert mine.is_answered
        assert mine == theirs
    live.save(tmp_path / "live.state")
    assert predict_wait(tmp_path / "live.state", group="2", requested_time=600.0) == live.predict(
        group="2", requested_time=600.0
    )


def test_there_is_room_for_all_that_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """It doubles again and again, and changes nothing; clusters, change points and who waits go along."""
    log = drawn_log(3)
    expected = told_by_replay(log, WaitPredictor("binomial", **OPTIONS))
    monkeypatch.setattr("swftools.live.predictor.FIRST_ROOM", 2)
    live = LivePredictor(WaitPredictor("binomial", **OPTIONS))
    assert_same(live.take(log_events(log)), expected)


@pytest.mark.parametrize("cut", [0, 1, 150, 299])
def test_saved_in_the_midst_it_goes_on(cut: int, tmp_path: Path) -> None:
    """Who waited then starts later, and is learnt; a second file of the same knowledge has the same bytes."""
    log = drawn_log(11)
    events = list(log_events(log))
    time = float(log.jobs["submit_time"].iloc[cut])
    first = LivePredictor(WaitPredictor("binomial", **OPTIONS))
    mine = first.take(event for event in events if event.time <= time)
    first.save(tmp_path / "a.state")
    again = LivePredictor.load(tmp_path / "a.state")
    again.save(tmp_path / "b.state")
    assert (tmp_path / "a.state").read_bytes() == (tmp_path / "b.state").read_bytes()
    pd.testing.assert_frame_equal(first.waiting, again.waiting)
    mine |= again.take(event for event in events if event.time > time)
    assert_same(mine, told_by_replay(log, WaitPredictor("binomial", **OPTIONS)))


@pytest.mark.parametrize("room", [1, 1024])
def test_it_goes_on_from_a_replay(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of January; those who wait at its end start when the log says that they do."""
    monkeypatch.setattr("swftools.live.predictor.FIRST_ROOM", room)
    log = drawn_log(5)
    january, february = (
        log.with_jobs(part.reset_index(drop=True)) for part in (log.jobs.head(200), log.jobs.tail(100))
    )
    predictor = WaitPredictor("binomial", **OPTIONS)
    predictor.replay(january)
    live = LivePredictor(predictor)
    assert_same(live.take(log_events(february)), told_by_replay(february, predictor))


def test_a_wait_is_known_when_the_job_starts() -> None:
    """Not when it ends, and not when it is submitted; a job that is cancelled has none."""
    live = LivePredictor(WaitPredictor("binomial", by=None, training=1, quantile=0.5, clustering=False))
    assert live.submitted("a", 0.0) == ("all", pytest.approx(math.nan, nan_ok=True), "training")
    live.submitted("b", 0.0)
    for job in ("c", "d", "e", "f", "g", "h"):
        live.submitted(job, 10.0)
        live.started(job, 15.0)
    assert live.submitted("i", 14.0 + 1.0).bound == 5.0
    assert live.cancelled("b")
    assert not live.cancelled("b")
    assert not live.started("b", 99.0)
    assert live.started("a", 100.0)
    assert not live.started("a", 100.0)
    assert live.waiting["job"].tolist() == ["i"]
    assert live.predict().group_waits == 7


def test_events_that_come_late_or_twice() -> None:
    """A submission that is older than the last counts as one of now, a start before it as one at its submission."""
    live = LivePredictor(WaitPredictor("binomial", by=None, training=0))
    live.take([JobEvent("submitted", 100.0, "a")])
    assert list(live.take([JobEvent("submitted", 50.0, "b"), JobEvent("submitted", 100.0, "a")])) == ["b"]
    assert live.waiting["submit_time"].tolist() == [100.0, 100.0]
    live.take([JobEvent("started", 60.0, "b"), JobEvent("ended", 200.0, "a"), JobEvent("cancelled", 5.0, "unknown")])
    assert live.waiting.empty
    assert live.predict().group_waits == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda live: live.submitted("a", 20.0), "job 'a' was submitted already, and waits"),
        (lambda live: live.submitted("b", 5.0), "job 'b' is submitted at 5.0 s, and the last was at 10 s"),
        (lambda live: live.submitted("b", float("nan")), "job 'b' is submitted at nan s"),
        (lambda live: live.started("a", 9.0), "job 'a' starts at 9.0 s, before its submission at 10 s"),
        (lambda live: live.predict(group="x"), "knows no group 'x'"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    """One error that names the job, or the group."""
    live = LivePredictor(WaitPredictor("binomial", by=None))
    live.submitted("a", 10.0)
    with pytest.raises(ParameterError, match=message):
        call(live)


@pytest.mark.parametrize("method", ["gradient-boosting", "python"])
def test_methods_that_cannot_be_asked(method: str) -> None:
    """Before anything is heard."""
    with pytest.raises(ParameterError):
        LivePredictor(WaitPredictor(method if method != "python" else Mean(), by=None))


class Mean:
    """An object of somebody's own."""

    def fit(self, waits: Any) -> None:
        """Learn."""

    def update(self, waits: Any) -> None:
        """Learn more."""

    def predict(self) -> float:
        """Say it."""
        return 1.0


@pytest.mark.parametrize(
    "row", [["a", "9", 1.0, 1.0, None], [7, "1", 1.0, 1.0, None], ["a", "1", "x", 1.0, None], ["a"], 5]
)
def test_a_file_that_says_nonsense_of_who_waits(row: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is refused as any other that is not ours."""
    live = LivePredictor(WaitPredictor("binomial", **OPTIONS))
    live.submitted("1", 0.0, groups={"queue": 1})
    made = live.to_predictor()
    monkeypatch.setattr(type(made), "_about", _with_pending(type(made)._about, row))
    made.save(tmp_path / "x.state")
    with pytest.raises(StateError, match="is not what this swftools writes"):
        LivePredictor.load(tmp_path / "x.state")
    WaitPredictor.load(tmp_path / "x.state")


def _with_pending(about: Any, row: Any) -> Any:
    return lambda self, **chosen: {**about(self, **chosen), "pending": [row]}


def test_ties_are_in_the_order_of_numbers() -> None:
    """Seven before ten; a start before submissions of others, behind its own."""
    events = [
        JobEvent("submitted", 5.0, "10"),
        JobEvent("started", 5.0, "7"),
        JobEvent("submitted", 5.0, "7.1"),
        JobEvent("ended", 5.0, "7"),
        JobEvent("submitted", 5.0, "7"),
        JobEvent("started", 5.0, "x"),
        JobEvent("started", 1.0, "10"),
    ]
    told = [(event.job, event.kind) for event in in_order(events)]
    assert told == [
        ("x", "started"),
        *(("7", kind) for kind in ("submitted", "started", "ended")),
        ("7.1", "submitted"),
        *(("10", kind) for kind in ("submitted", "started")),
    ]


def test_events_of_a_log() -> None:
    """When each is submitted, starts and ends, with what it asks for; what is missing is not there."""
    log = Trace.from_columns(
        job_number=[1, 1, 2],
        submit_time=[0, 10, 20],
        wait_time=[5, 0, 7],
        run_time=[30, 40, -1],
        requested_time=[60, -1, 60],
        requested_processors=[4, -1, 2],
        queue_id=[3, -1, 3],
    )
    first, *others = log_events(log, cluster="c")
    assert first == JobEvent("submitted", 0.0, "1", "c", 4, 60.0, {"queue": 3})
    assert [(event.kind, event.time, event.job) for event in others] == [
        ("started", 5.0, "1"),
        ("submitted", 10.0, "1.1"),
        ("started", 10.0, "1.1"),
        ("submitted", 20.0, "2"),
        ("ended", 35.0, "1"),
        ("ended", 50.0, "1.1"),
    ]
    assert (others[1].processors, others[1].requested_time, others[1].groups) == (None, None, {"queue": None})


def test_a_start_before_the_submission_in_one_poll() -> None:
    """A clock that moved: the job waited for no time, and is not lost."""
    live = LivePredictor(WaitPredictor("binomial", by=None, training=0))
    live.take([JobEvent("started", 60.0, "a"), JobEvent("submitted", 100.0, "a")])
    assert live.waiting.empty
    assert live.predict().group_waits == 1


def test_what_is_heard_late_keeps_its_wait() -> None:
    """A job that came and went between two polls, of which the next one but some tells."""
    live = LivePredictor(WaitPredictor("binomial", by="queue", training=0, quantile=0.5, confidence=0.5))
    asked: Any = {"groups": {"queue": "batch"}, "requested_time": 60.0}
    live.take([JobEvent("submitted", 500.0, "8", **asked)])
    live.take([JobEvent("submitted", 100.0, "7", **asked), JobEvent("submitted", 90.0, "6", **asked)])
    assert live.waiting["submit_time"].tolist() == [500.0, 500.0, 500.0]
    live.take([JobEvent("started", 160.0, "7"), JobEvent("cancelled", 170.0, "6"), JobEvent("ended", 190.0, "7")])
    assert live.predict(group="batch", requested_time=60.0).bounds[0].seconds == 60.0
    live.take([JobEvent("submitted", 600.0, "7", **asked), JobEvent("started", 601.0, "7")])
    assert live.predict(group="batch", requested_time=60.0).bounds[0].seconds in (1.0, 60.0)
    assert live.waits("batch") == 2
    live.take([JobEvent("submitted", 700.0, "6", **asked), JobEvent("started", 703.0, "6")])
    assert live.predict(group="batch", requested_time=60.0).bounds[0].seconds == 3.0  # the middle one of 1, 3 and 60


def test_what_becomes_eligible_or_changes_is_passed_over() -> None:
    """A wait counts from the submission, in the group of that; the ledger has what was told then."""
    live, ledger = LivePredictor(WaitPredictor("binomial", by="queue", training=0, quantile=0.5)), ToldLedger()
    asked: Any = {"groups": {"queue": "batch"}, "requested_time": 60.0, "processors": 4}
    for number in range(20):
        live.take([JobEvent("submitted", 0.0, str(number), **asked), JobEvent("started", 90.0, str(number))])
    other: Any = {"groups": {"queue": "long"}, "requested_time": 600.0, "processors": 8}
    events = [
        JobEvent("submitted", 100.0, "a", **asked),
        JobEvent("changed", 110.0, "a", **other),
        JobEvent("eligible", 150.0, "a"),
    ]
    told = live.take(events)
    ledger.take(events, told)
    assert (told["a"].group, told["a"].bound, live.groups) == ("batch", 90.0, ["batch"])
    assert live.waiting["job"].tolist() == ["a"]
    assert ledger.counts(190.0).open == 1
    started = [JobEvent("started", 200.0, "a")]
    ledger.take(started, live.take(started))
    assert ledger.counts(200.0) == (1, 0, 1, 0)
    assert live.waits("batch") == 21


def test_at_one_instant_a_job_is_eligible_before_it_starts() -> None:
    """What happens to a job is in the order in which it happens."""
    kinds = ("ended", "started", "changed", "eligible", "submitted")
    ordered = [event.kind for event in in_order([JobEvent(kind, 5.0, "7") for kind in kinds])]
    assert (ordered[0], ordered[-2:]) == ("submitted", ["started", "ended"])
    heard = [JobEvent(kind, 5.0, "7") for kind in kinds[:-1]] + [JobEvent("submitted", 4.0, "7")]
    assert [event.kind for event in in_order(heard)][-2:] == ["started", "ended"]


def test_what_is_predicted_follows_what_happens() -> None:
    """A wait that is learnt, and a job that comes, change the answer."""
    live = LivePredictor(WaitPredictor("binomial", by=None, training=0))
    live.submitted("a", 10.0)
    assert (live.predict().group_waits, live.predict().until) == (0, 10.0)
    live.started("a", 40.0)
    assert live.waits("all") == 1
    assert (live.predict().group_waits, live.predict().until) == (1, 40.0)
    live.submitted("b", 50.0)
    assert live.predict().until == 50.0


@pytest.mark.parametrize("explanatory", ["requested_processors", "requested_work"])
def test_what_jobs_are_clustered_by(explanatory: str) -> None:
    """Also by width, and by work."""
    log = drawn_log(13)
    options = OPTIONS | {"explanatory": explanatory}
    live = LivePredictor(WaitPredictor("binomial", **options))
    assert_same(live.take(log_events(log)), told_by_replay(log, WaitPredictor("binomial", **options)))


def test_who_waits_is_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise it is no state of ours, whoever reads it."""
    made = LivePredictor(WaitPredictor("binomial", by=None)).to_predictor()
    about = type(made)._about
    monkeypatch.setattr(type(made), "_about", lambda self, **chosen: {**about(self, **chosen), "pending": {}})
    made.save(tmp_path / "x.state")
    with pytest.raises(StateError, match="is not what this swftools writes"):
        WaitPredictor.load(tmp_path / "x.state")


def test_who_was_heard_of_late_keeps_its_wait_when_it_is_saved(tmp_path: Path) -> None:
    """It was submitted at 20 and heard of behind one of 50; it starts at 60: it waited for 40 s."""
    live = LivePredictor(WaitPredictor("binomial", by=None, training=1, quantile=0.5, clustering=False))
    live.take([JobEvent("submitted", 50.0, "early")])
    live.take([JobEvent("submitted", 20.0, "late"), JobEvent("cancelled", 51.0, "early")])
    live.save(tmp_path / "state")
    again = LivePredictor.load(tmp_path / "state")
    for each in (live, again):
        each.take([JobEvent("started", 60.0, "late")])
    assert again.predict(quantiles=(0.01,)).bounds == live.predict(quantiles=(0.01,)).bounds
    assert again.predict(quantiles=(0.01,)).bounds[0].seconds == 40.0


def test_who_never_started_leaves_the_queue() -> None:
    """Who failed or was cancelled without a run waited until then, or leaves at once; of who completed nobody knows."""
    log = Trace.from_columns(
        machine_processors=4,
        job_number=[1, 2, 3, 4, 5],
        submit_time=[0, 10, 20, 30, 40],
        wait_time=[5, 6, 7, 8, -7],
        run_time=[9, -1, -1, -1, -1],
        status=[5, 5, 0, 1, 5],
        requested_processors=[1] * 5,
        queue_id=[1] * 5,
    )
    assert [(event.kind, event.job, event.time) for event in log_events(log) if event.kind != "submitted"] == [
        ("started", "1", 5.0),
        ("ended", "1", 14.0),
        ("cancelled", "2", 16.0),
        ("cancelled", "3", 27.0),
        ("cancelled", "5", 40.0),
    ]

# SPDX-License-Identifier: BSD-3-Clause
"""Waits as they become known while something runs, against the replay of the same jobs as a log."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.errors import ParameterError
from swftools.qbets import WaitPredictor, find_bound
from swftools.reservations.live_waits import LiveWaits, check_asked
from swftools.reservations.start_table import percents_within
from tests.examples import examples
from tests.naive.reservations import bound_of


def drawn_jobs(rng: np.random.Generator, count: int) -> Trace:
    """Return jobs whose waits change in their midst; none starts when another is submitted."""
    requested = rng.choice([600.0, 3600.0, 7200.0], count)
    waits = rng.exponential(1.0, count) * requested * np.where(np.arange(count) > count // 2, 3.0, 0.2)
    return Trace.from_columns(
        job_number=range(count),
        submit_time=np.sort(rng.integers(0, 60 * count, count)) * 2.0,
        wait_time=waits.round() * 2.0 + 1.0,
        run_time=[60] * count,
        requested_time=requested,
        requested_processors=[1] * count,
    )


def lived(log: Trace, predictor: WaitPredictor, at_once: int = 1) -> tuple[LiveWaits, list[float]]:
    """Let jobs be submitted and start in order of time; return what is known then, and what each was told."""
    submit, wait = (log.jobs[name].to_numpy(dtype=float) for name in ("submit_time", "wait_time"))
    live = LiveWaits(predictor, len(log))
    told = []
    events = sorted([(time, 1, job) for job, time in enumerate(submit)] + [*_starts(submit, wait)])
    for place, (time, kind, job) in enumerate(events):
        if kind == 0:
            live.started(job, time)
            live.learn(time)
        else:
            assert live.submitted(time, float(log.jobs["requested_time"].iloc[job])) == job
        if place % at_once == 0:
            live.bounds(50)  # something is asked now and then: events are taken in by twos and threes
    told = [live.answer(job) for job in range(len(log))]
    return live, told


def _starts(submit: Any, wait: Any) -> list[tuple[float, int, int]]:
    return [(time, 0, job) for job, time in enumerate(submit + wait)]


@examples(0.25)
@given(data=st.data())
def test_as_the_replay(data: st.DataObject) -> None:
    """Each job is told what a replay tells it, however often something is asked; trimmed, clustered or not."""
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    log = drawn_jobs(rng, data.draw(st.integers(1, 400)))
    options: dict[str, Any] = {
        "trimming": data.draw(st.booleans()),
        "clustering": data.draw(st.booleans()),
        "availability": data.draw(st.booleans()),
        "cluster_every": data.draw(st.sampled_from([30, 100])),
        "quantile": data.draw(st.sampled_from([0.5, 0.9])),
        "training": 20,
    }
    predictor = WaitPredictor(data.draw(st.sampled_from(["binomial", "lognormal"])), by=None, **options)
    told = predictor.replay(log)
    live, mine = lived(log, predictor, data.draw(st.sampled_from([1, 2, 7, 1000])))
    expected = told["wait_bound"].fillna(told["withheld_bound"]).to_numpy(dtype=float)
    np.testing.assert_array_equal(mine, expected)
    assert live.waits == len(log)
    assert live.is_trained == (len(log) >= 20)


def test_every_percentile_by_definition() -> None:
    """Of the waits that a cluster keeps; the inverse is the largest percentile within a time."""
    log = drawn_jobs(np.random.default_rng(5), 300)
    live, _ = lived(log, WaitPredictor(by=None, cluster_every=150, training=0, trimming=False), 3)
    requested, waits = (log.jobs[name].to_numpy(dtype=float) for name in ("requested_time", "wait_time"))
    assert len(live.ends) > 1
    table = live.table()
    for place in range(len(live.ends)):
        own = waits[np.searchsorted(live.ends[:-1], requested) == place].tolist()
        for percent in (1, 17, 50, 95, 99):
            bound = bound_of(own, percent, 0.95)
            assert live.seconds(percent, place) == (np.inf if bound is None else bound)
            assert table.seconds[place, percent - 1] == live.seconds(percent, place)
    for x in (600.0, 3600.0, 9e9):
        for within in (0.0, 500.0, 3000.0, 1e9):
            assert live.percent(x, within) == percents_within(table, [x], [within])[0]


def test_a_start_is_known_when_it_is_learnt() -> None:
    """Not before; and its version tells that bounds may have changed."""
    live = LiveWaits(WaitPredictor(by=None, training=1), 10)
    job = live.submitted(0.0, 60.0)
    live.started(job, 40.0)
    assert (live.waits, live.is_trained, live.version) == (0, False, 0)
    live.learn(40.0)
    assert (live.waits, live.is_trained, live.version) == (1, True, 1)
    live.learn(50.0)
    assert live.version == 1
    assert live.seconds(1, 0) == 40.0


def test_room_doubles_while_starts_are_not_learnt() -> None:
    """Each start stays that of its job, and what is asked before and behind is of all waits."""
    live = LiveWaits(WaitPredictor(by=None, training=1, clustering=False, trimming=False), 2)
    jobs = [live.submitted(0.0, 60.0), live.submitted(1.0, 60.0)]
    live.started(jobs[0], 9.0)
    live.started(jobs[1], 5.0)
    assert live.seconds(50, 0) == np.inf
    jobs += [live.submitted(2.0, 60.0) for _ in range(60)]
    live.learn(6.0)
    assert (live.waits, live.seconds(1, 0)) == (1, 4.0)
    live.learn(7.0)
    for job in jobs[2:]:
        live.started(job, 20.0)
    live.learn(20.0)
    assert (live.waits, live.seconds(50, 0), live.seconds(95, 0)) == (62, 18.0, 18.0)


def test_nothing_seems_to_start() -> None:
    """Many jobs come behind the last start."""
    live = LiveWaits(WaitPredictor(by=None, training=1), 400)
    for number in range(200):
        job = live.submitted(10.0 * number, 60.0)
        live.started(job, 10.0 * number + 1)
        live.learn(10.0 * number + 1)
    assert not live.is_down
    for number in range(200, 260):
        live.submitted(10.0 * number, 60.0)
    assert live.is_down


def test_a_bound_of_one_quantile() -> None:
    """A state that does not serve every quantile."""

    class One(type(find_bound("loguniform"))):  # type: ignore[misc]
        reads_any_quantile = False

    with pytest.raises(ParameterError, match="cannot be asked about any percentile while waits become known; take"):
        check_asked(WaitPredictor(One(), by=None))


@pytest.mark.parametrize("method", ["gradient-boosting", object()])
def test_methods_that_cannot_be_asked(method: Any) -> None:
    """Rivals, and objects of one's own."""
    if not isinstance(method, str):

        class Mine:
            def fit(self, waits: Any) -> None: ...
            def update(self, waits: Any) -> None: ...
            def predict(self) -> float:
                return 0.0

        method = Mine()
    with pytest.raises(ParameterError, match="cannot be asked about any percentile"):
        LiveWaits(WaitPredictor(method, by=None), 10)

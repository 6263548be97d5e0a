# SPDX-License-Identifier: BSD-3-Clause
"""Saved states: equal knowledge makes equal bytes, whether a log was replayed at once or in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.logs.find import SHIPPED_LOG, find_log
from swftools import Trace, read_swf
from swftools.qbets import WaitPredictor, replay
from swftools.qbets.bounds import list_bounds
from tests.examples import examples, pairs
from tests.qbets.test_replay import SortedWaits
from tests.qbets.test_replay_twin import FAMILIES, drawn_log

PARTS = [{}, {"clustering": False}, {"availability": False}, {"clustering": False, "availability": False}]
SOON = {"training": 50, "cluster_every": 300, "quantile": 0.9}


@pytest.fixture(scope="module")
def shipped() -> Trace:
    """The excerpt that is shipped, in order of submission."""
    log = read_swf(find_log(SHIPPED_LOG).path)
    return log.with_jobs(log.jobs.sort_values(["submit_time", "job_number"]).reset_index(drop=True))


def bytes_of(
    log: Trace, folder: Path, cuts: list[int], method: Any = "binomial", *, is_saved: bool = True, **options: Any
) -> bytes:
    """Return the state when the parts of a log were replayed one after the other, saved and loaded between."""
    predictor, path = WaitPredictor(method, **options), folder / "state"
    for rows in np.split(np.arange(len(log)), cuts):
        predictor.replay(log.with_jobs(log.jobs.iloc[rows].reset_index(drop=True)))
        predictor.save(path)
        if is_saved:
            predictor = WaitPredictor.load(path, None if isinstance(method, str) else method)
    return path.read_bytes()


@pytest.mark.parametrize(("method", "options"), pairs(sorted(list_bounds()), PARTS, each=1))
def test_of_parts_and_of_all_at_once(shipped: Trace, tmp_path: Path, method: str, options: dict[str, Any]) -> None:
    """The same bytes, of every bound; cuts are where some still wait, and one behind the other."""
    some = shipped.with_jobs(shipped.jobs.head(1000))
    whole = bytes_of(some, tmp_path, [], method, **SOON, **options)
    for cuts in ([500], [1, 350, 351, 700, 999]):
        assert bytes_of(some, tmp_path, cuts, method, **SOON, **options) == whole
    assert bytes_of(some, tmp_path, [300, 750], method, is_saved=False, **SOON, **options) == whole


@pytest.mark.parametrize("jobs", [500, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("options", [{"trimming": False}, {"by": ("user", "queue")}, {"most_clusters": 2}], ids=str)
def test_other_options(shipped: Trace, tmp_path: Path, options: dict[str, Any], jobs: int) -> None:
    """Groups that come late, and that are met in another order; nothing trimmed; few clusters."""
    some = shipped.with_jobs(shipped.jobs.head(jobs))
    whole = bytes_of(some, tmp_path, [], **SOON, **options)
    assert bytes_of(some, tmp_path, [10, jobs // 4, jobs * 4 // 5], **SOON, **options) == whole


def test_of_a_bound_of_your_own(shipped: Trace, tmp_path: Path) -> None:
    """What its object was shown is not in it."""
    few = shipped.with_jobs(shipped.jobs.head(400))
    whole = bytes_of(few, tmp_path, [], SortedWaits(), **SOON)
    assert bytes_of(few, tmp_path, [150, 300], SortedWaits(), **SOON) == whole


def test_of_a_rival(shipped: Trace, tmp_path: Path) -> None:
    """Its models are fitted again."""
    few, method = shipped.with_jobs(shipped.jobs.head(1000)), "gradient-boosting-conformal:trees=5,first_fit=300"
    options: dict[str, Any] = {"training": 20, "by": "queue"}
    whole = bytes_of(few, tmp_path, [], method, **options)
    assert bytes_of(few, tmp_path, [200, 333, 900], method, **options) == whole


@examples(0.15)
@given(data=st.data())
def test_of_drawn_logs(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Wherever they are cut, whatever is switched on; what is told later is as if nothing had been cut."""
    folder = tmp_path_factory.mktemp("states")
    log = drawn_log(data.draw(st.sampled_from(FAMILIES)), data.draw(st.integers(1, 400)), data.draw(st.integers(0, 99)))
    options: dict[str, Any] = {
        "by": None,
        "training": 10,
        "cluster_every": data.draw(st.sampled_from([1, 30, 100])),
        "clustering": data.draw(st.booleans()),
        "trimming": data.draw(st.booleans()),
        "availability": data.draw(st.booleans()),
        "quantile": data.draw(st.sampled_from([0.5, 0.9])),
    }
    method = data.draw(st.sampled_from([*sorted(list_bounds()), "trailing:window=3"]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(log)), max_size=4)))
    assert bytes_of(log, folder, cuts, method, **options) == bytes_of(log, folder, [], method, **options)
    predictor, first = WaitPredictor(method, **options), len(log) // 2
    predictor.replay(log.with_jobs(log.jobs.head(first)))
    predictor.save(folder / "half")
    rest = log.with_jobs(log.jobs.tail(len(log) - first).reset_index(drop=True))
    told = WaitPredictor.load(folder / "half").replay(rest)
    expected = replay(log, method, **options).tail(len(rest)).reset_index(drop=True)
    pd.testing.assert_frame_equal(told, expected, check_exact=True)


def test_saving_twice(shipped: Trace, tmp_path: Path) -> None:
    """Nothing of the clock, and what is loaded and saved again is the same; later is another."""
    few = shipped.with_jobs(shipped.jobs.head(1000))
    once = bytes_of(few, tmp_path, [], **SOON)
    WaitPredictor.load(tmp_path / "state").save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == once == bytes_of(few, tmp_path, [], **SOON)
    assert bytes_of(shipped.with_jobs(shipped.jobs.head(1001)), tmp_path, [], **SOON) != once


def test_nothing_that_is_not_looked_at_again(shipped: Trace, tmp_path: Path) -> None:
    """Where clusters stay as they are, a queue keeps the newest waits: so many as the table of rare events looks at."""
    predictor = WaitPredictor("lognormal", by=None, clustering=False)
    predictor.replay(shipped)
    known = predictor.known["all"]
    assert known.history.size[0] > 4700
    assert len(known.history.value) == len(known.gaps.value) == 101
    assert len(known.history.x) == len(known.values.value) == 0
    predictor.save(tmp_path / "state")
    assert (tmp_path / "state").stat().st_size < 30_000


def test_the_last_submission() -> None:
    """Of all queues; there is none before any."""
    predictor = WaitPredictor(training=20)
    assert predictor.last == -np.inf
    log = drawn_log("changing", 100, 1)
    jobs = log.jobs.assign(queue_id=pd.array(np.arange(100) // 60, dtype="Int64"))
    predictor.replay(log.with_jobs(jobs))
    assert predictor.last == log.jobs["submit_time"].max()
    predictor.replay(log.with_jobs(jobs.tail(1).reset_index(drop=True).assign(submit_time=10.0**7, queue_id=0)))
    assert predictor.last == 10.0**7

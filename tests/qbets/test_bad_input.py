# SPDX-License-Identifier: BSD-3-Clause
"""Input that is not as it should be: what is taken as it is meant, and what is refused by one error that says so."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace, read_swf
from swftools.errors import ParameterError, StateError, StorageError
from swftools.qbets import WaitPredictor, evaluate, replay
from swftools.qbets.saved_state import FORM, VERSION
from tests.qbets.test_replay import log_of

SOON: dict[str, Any] = {"by": None, "training": 100}


@pytest.fixture
def log() -> Trace:
    """Three hundred jobs."""
    return log_of(wait_time=[float(row % 7) for row in range(300)])


@pytest.mark.parametrize(
    ("given", "name"), [(None, "NoneType"), ("my.swf", "str"), (Path("my.swf"), "Path"), (pd.DataFrame(), "DataFrame")]
)
def test_what_is_no_log(given: Any, name: str) -> None:
    """It says what is."""
    with pytest.raises(ParameterError, match=rf"a Trace, of read_swf for instance, or a Schedule, not of .*{name}"):
        replay(given)


@pytest.mark.parametrize("by", [3, [3], ("queue", None), {"queue": 1}])
def test_what_is_no_group(log: Trace, by: Any) -> None:
    """Of another type than names have."""
    with pytest.raises(ParameterError, match=r"by=.* is neither the name of a group of jobs, nor a sequence of such"):
        replay(log, by=by)


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        (
            {"quantile": 1 - 1e-12},
            r"quantile=0.999999999999 at confidence 0.95: a bound needs 2,99\d,\d{3},\d{3},\d{3}",
        ),
        ({"quantile": 0.9999, "confidence": 1 - 1e-16}, None),
        ({"quantile": 0.99999999}, "a bound needs 299,573,2.. waits, more than a log has"),
        ({"availability_quantile": 0.99999999}, "availability_quantile=0.99999999 at confidence 0.95: a bound needs"),
        ({"quantile": 1e-300}, None),
        ({"training": 10**9 + 1}, "training=1000000001 is not an integer from 0 to 1,000,000,000"),
        ({"training": 10**9}, None),
        ({"cluster_every": 2**63}, "cluster_every=9223372036854775808 is not an integer"),
        ({"cluster_every": 10**9}, None),
        ({"quantile": float("nan")}, "quantile=nan is not a number"),
        ({"confidence": "0.9"}, "confidence='0.9' is not a number"),
    ],
)
def test_parameters_at_their_limits(log: Trace, parameters: dict[str, Any], says: str | None) -> None:
    """What no log has jobs for is refused, before memory is asked for it; what is only extreme is not."""
    if says is None:
        assert len(replay(log, **{**SOON, **parameters})) == 300
    else:
        with pytest.raises(ParameterError, match=says):
            replay(log, **{**SOON, **parameters})


def test_waits_without_end() -> None:
    """A job that waits for ever has not started: it is told something and teaches nothing."""
    table = replay(log_of(wait_time=[1.0, np.inf] * 200), by=None, training=0, availability=False)
    assert table["wait_time"].isna().sum() == 200
    assert table["wait_bound"].dropna().eq(1.0).all()
    with pytest.raises(ParameterError, match="does not say how long its jobs waited"):
        replay(log_of(wait_time=[np.inf] * 10))


@pytest.mark.parametrize("requested", [[60] * 300, [None] * 300])
def test_requested_times_that_tell_nothing(requested: list[float | None]) -> None:
    """One, or none: then there is one cluster."""
    table = replay(
        log_of(wait_time=[float(row % 50) for row in range(300)], requested_time=requested), **SOON, cluster_every=50
    )
    assert set(table["cluster"]) == {0}
    assert table["wait_bound"].notna().any()


@pytest.mark.parametrize("explanatory", ["requested_processors", "requested_work"])
def test_what_jobs_are_clustered_by(explanatory: str) -> None:
    """Width, allocated where none was requested, or its product with requested time; as if that were requested time."""
    rng = np.random.default_rng(3)
    time, width = rng.choice([60, 600, 6000], 900), rng.choice([1, 4, 64], 900)
    waits = np.floor(rng.exponential(10.0, 900) * width * np.where(time == 600, 50, 1))
    asked: list[int | None] = [None if row % 5 == 0 else int(width[row]) for row in range(900)]
    log = log_of(wait_time=waits, requested_time=time, requested_processors=asked, allocated_processors=width)
    x = width if explanatory == "requested_processors" else width * time
    options: dict[str, Any] = {"by": None, "training": 100, "cluster_every": 200}
    table = replay(log, explanatory=explanatory, **options)
    expected = replay(log_of(wait_time=waits, requested_time=x), **options)
    assert table["cluster"].nunique() > 1
    for name in ("cluster", "wait_bound", "history_length"):
        pd.testing.assert_series_equal(table[name], expected[name])


def test_submissions_before_the_beginning() -> None:
    """Logs may count from a later moment; and the rows of one that goes back are submitted in order of time."""
    waits = [float(row % 7) for row in range(300)]
    early = replay(log_of(wait_time=waits, submit_time=range(-400, -100)), **SOON)
    assert early["wait_bound"].equals(replay(log_of(wait_time=waits), **SOON)["wait_bound"])
    back = replay(log_of(wait_time=waits[::-1], submit_time=range(299, -1, -1)), **SOON)
    assert back["wait_bound"].iloc[::-1].tolist() == pytest.approx(early["wait_bound"].tolist(), nan_ok=True)


def test_a_log_that_counts_from_a_later_moment() -> None:
    """Its seconds are counted from the beginning of the one that it goes on from."""

    def part(first: int, behind: int, start: int) -> Trace:
        line = "{} {} {} 60 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n"
        lines = [line.format(row + 1, 100 * row - start, row % 70) for row in range(first, behind)]
        return read_swf(io.BytesIO(f"; UnixStartTime: {1_000_000 + start}\n{''.join(lines)}".encode()))

    predictor = WaitPredictor(**SOON)
    tables = [predictor.replay(part(0, 200, 0)), predictor.replay(part(200, 400, 15_000))]
    expected = replay(part(0, 400, 0), **SOON)
    assert pd.concat(tables)["submit_time"].tolist() == expected["submit_time"].tolist()
    assert pd.concat(tables)["wait_bound"].tolist() == pytest.approx(expected["wait_bound"].tolist(), nan_ok=True)


def test_numbers_that_stand_twice() -> None:
    """In a log that was not cleaned they are told apart by their order, and can be evaluated."""
    table = replay(log_of(job_number=[1, 2, 2, 1, 2] * 60, wait_time=[1.0] * 300), **SOON)
    assert table["job_occurrence"].tolist()[:5] == [0, 0, 1, 1, 2]
    assert not table.duplicated(["job_number", "job_occurrence"]).any()
    assert evaluate(table, grouped_by="all")["jobs"].item() == 300 - (table["no_prediction"] == "training").sum()
    in_order = replay(log_of(job_number=np.repeat(np.arange(100), 3), wait_time=[1.0] * 300), **SOON)
    assert in_order["job_occurrence"].tolist() == [0, 1, 2] * 100
    falling = replay(log_of(job_number=range(300, 0, -1), wait_time=[1.0] * 300), **SOON)
    assert falling["job_occurrence"].eq(0).all()


def test_what_cannot_be_evaluated(log: Trace) -> None:
    """Nothing, and what replay does not return."""
    with pytest.raises(ParameterError, match="there are no predictions to evaluate"):
        evaluate([])
    with pytest.raises(
        ParameterError, match="not one that replay returns: it has no column job_occurrence, method, queue"
    ):
        evaluate([replay(log, **SOON), log.jobs])
    with pytest.raises(ParameterError, match=r"it has no column wait_bound$"):
        evaluate(replay(log, **SOON).drop(columns="wait_bound"))
    with pytest.raises(ParameterError, match="grouped_by='colour' is not one of"):
        evaluate(replay(log, **SOON), grouped_by="colour")


@pytest.fixture
def state(log: Trace, tmp_path: Path) -> Path:
    """A saved state."""
    predictor = WaitPredictor(**SOON)
    predictor.replay(log)
    predictor.save(tmp_path / "state")
    return tmp_path / "state"


def written_by_another(state: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Write into a state what is changed of it, as if it were meant: with a checksum that is right."""
    head, _, arrays = state.read_bytes().split(b"\n", 2)[2].partition(b"\n")
    content = json.dumps(change(json.loads(head))).encode() + b"\n" + arrays
    checksum = hashlib.sha256(content).hexdigest().encode()
    state.write_bytes(FORM + b" %d\n" % VERSION + checksum + b"\n" + content)


@pytest.mark.parametrize("name", ["method", "name", "by", "start", "parameters", "groups"])
def test_a_state_that_says_too_little(state: Path, name: str) -> None:
    """Of a program that writes others."""
    written_by_another(state, lambda about: {key: value for key, value in about.items() if key != name})
    with pytest.raises(StateError, match="is not what this swftools writes"):
        WaitPredictor.load(state)


@pytest.mark.parametrize(
    "change",
    [
        lambda about: [about],
        lambda about: {**about, "groups": 3},
        lambda about: {**about, "groups": ["a", "b"]},
        lambda about: {**about, "more": 1},
    ],
)
def test_a_state_that_says_something_else(state: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """What is not understood is not read."""
    written_by_another(state, change)
    with pytest.raises(StateError, match="is not what this swftools writes"):
        WaitPredictor.load(state)


def test_a_state_that_is_said_anew_is_read(state: Path, log: Trace) -> None:
    """As it stands, to see that the two above are refused for what they say."""
    written_by_another(state, lambda about: about)
    assert len(WaitPredictor.load(state).replay(log_of(wait_time=[1.0] * 9, submit_time=range(1000, 1009)))) == 9


@pytest.mark.parametrize("length", [0, 5, 24, 25, 26, 60, 90, 95])
def test_a_truncated_state(state: Path, length: int) -> None:
    """Wherever it ends."""
    state.write_bytes(state.read_bytes()[:length])
    with pytest.raises(StateError, match=r"is not a state of a wait predictor|truncated or damaged|version"):
        WaitPredictor.load(state)


def test_a_state_that_cannot_be_written_or_read(state: Path, tmp_path: Path) -> None:
    """A folder in its place, or none where it should lie; the old one stays."""
    predictor = WaitPredictor.load(state)
    with pytest.raises(StorageError, match="cannot be written"):
        predictor.save(tmp_path / "none" / "state")
    with pytest.raises(StorageError, match="cannot be written"):
        predictor.save(tmp_path)
    with pytest.raises(StateError, match="cannot be read: Is a directory"):
        WaitPredictor.load(tmp_path)
    assert WaitPredictor.load(state).known.keys() == {"all"}

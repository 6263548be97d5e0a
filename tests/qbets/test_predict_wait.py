# SPDX-License-Identifier: BSD-3-Clause
"""What a saved state tells of a job that is submitted now, against the replay of a log that has the job."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.logs.find import SHIPPED_LOG, find_log
from swftools import Trace, read_swf
from swftools.errors import ParameterError, StateError
from swftools.qbets import WaitAnswer, WaitPredictor, find_bound, predict_wait, replay
from swftools.qbets.bounds import list_bounds
from swftools.qbets.saved_state import read_state
from tests.examples import examples, pairs
from tests.qbets.test_replay import SortedWaits, log_of
from tests.qbets.test_replay_twin import FAMILIES, drawn_log

METHODS = [*sorted(list_bounds()), "binomial:approximation=large-sample", "trailing:window=3"]


def state_of(log: Trace, folder: Path, method: Any = "binomial", **options: Any) -> Path:
    """Return a file with what was learnt of a log."""
    predictor = WaitPredictor(method, **options)
    predictor.replay(log)
    predictor.save(folder / "state")
    return folder / "state"


def assert_as_replayed(answer: WaitAnswer, row: Any) -> None:
    """Compare with a row of predictions."""
    told = row["wait_bound"] if pd.isna(row["no_prediction"]) else row["withheld_bound"]
    assert answer.bounds[0].seconds == (None if np.isnan(told) else told)
    assert answer.no_prediction == (None if pd.isna(row["no_prediction"]) else row["no_prediction"])
    assert (answer.cluster, answer.waits) == (row["cluster"], row["history_length"])
    assert (answer.waits < answer.known_waits) == row["is_trimmed"]


@pytest.mark.parametrize("method", METHODS)
@examples(0.15)
@given(data=st.data())
def test_as_the_replay_tells_it(tmp_path_factory: pytest.TempPathFactory, method: str, data: st.DataObject) -> None:
    """A job is appended to a drawn log, at the last submission or later, and replayed."""
    folder = tmp_path_factory.mktemp("state")
    log = drawn_log(data.draw(st.sampled_from(FAMILIES)), data.draw(st.integers(1, 400)), data.draw(st.integers(0, 99)))
    quantile = data.draw(st.sampled_from([0.5, 0.9]))
    options: dict[str, Any] = {
        "by": None,
        "training": data.draw(st.sampled_from([0, 30, 300])),
        "cluster_every": data.draw(st.sampled_from([7, 50])),
        "clustering": data.draw(st.booleans()),
        "trimming": data.draw(st.booleans()),
        "availability": data.draw(st.booleans()),
        "quantile": quantile,
    }
    state = state_of(log, folder, method, **options)
    now = float(log.jobs["submit_time"].max()) + data.draw(st.sampled_from([0, 1, 30, 300, 3000, 10**6]))
    requested_time = data.draw(st.sampled_from([1, 60, 300, 600, 36000, 10**6]))
    answer = predict_wait(state, requested_time=requested_time, quantiles=[quantile], now=now)
    job = log_of(submit_time=[now], wait_time=[1.0], requested_time=[requested_time])
    assert_as_replayed(answer, WaitPredictor.load(state).replay(job).iloc[0])
    if now > log.jobs["submit_time"].max() + 10**5:  # nobody waits so long
        behind = predict_wait(state, requested_time=requested_time, quantiles=[quantile])
        assert behind == answer


@pytest.fixture(scope="module")
def shipped() -> Trace:
    """The excerpt that is shipped, in order of submission."""
    log = read_swf(find_log(SHIPPED_LOG).path)
    return log.with_jobs(log.jobs.sort_values(["submit_time", "job_number"]).reset_index(drop=True))


@pytest.mark.parametrize(
    ("method", "explanatory"),
    pairs(["binomial", "lognormal", "weibull"], ["requested_time", "requested_processors", "requested_work"], each=1),
)
def test_of_the_shipped_log(shipped: Trace, tmp_path: Path, method: str, explanatory: str) -> None:
    """Asked before each of some jobs, a state tells what the replay of all told that job."""
    options: dict[str, Any] = {"training": 100, "cluster_every": 200, "explanatory": explanatory}
    shipped = shipped.with_jobs(shipped.jobs.head(1250))
    table = replay(shipped, method, **options)
    predictor, done = WaitPredictor(method, **options), 0
    for row in (300, 555, 900, 1111, 1248):
        predictor.replay(shipped.with_jobs(shipped.jobs.iloc[done:row].reset_index(drop=True)))
        predictor.save(tmp_path / "state")
        job, done = shipped.jobs.iloc[row], row
        group = {"queue": int(job["queue_id"])}
        job_options = {"processors": int(job["requested_processors"]), "requested_time": float(job["requested_time"])}
        answer = predict_wait(
            tmp_path / "state", group=group, quantiles=[0.95], now=float(job["submit_time"]), **job_options
        )
        assert_as_replayed(answer, table.iloc[row])
        assert answer.group == str(int(job["queue_id"]))


@pytest.mark.parametrize("method", [*sorted(list_bounds()), "binomial:approximation=large-sample"])
def test_other_quantiles(tmp_path: Path, method: str) -> None:
    """They are bounds of the very waits that are kept; here of all."""
    waits = np.floor(np.random.default_rng(1).exponential(1000.0, 700))
    log = log_of(submit_time=np.arange(700) * 10, wait_time=waits)
    state = state_of(log, tmp_path, method, by=None, trimming=False, clustering=False, availability=False, training=0)
    answer = predict_wait(state)
    assert [told.quantile for told in answer.bounds] == [0.5, 0.75, 0.9, 0.95]
    for told in answer.bounds:
        seen = waits[np.argsort(log.jobs["submit_time"] + waits)][-500:] if method == "trailing" else waits
        expected = find_bound(method, quantile=told.quantile).fit(seen).predict()
        is_read_off = method in ("binomial", "trailing")
        assert told.seconds == (expected if is_read_off else pytest.approx(expected, rel=1e-6))
        assert told.confidence == (
            0.95 if method.startswith(("binomial", "lognormal")) and "plain" not in method else None
        )


@pytest.mark.parametrize("method", ["weibull", "binomial", "lognormal"])
def test_notes_are_of_one_quantile(tmp_path: Path, method: str) -> None:
    """The last job was told the .95 quantile of all that is known, and never started; others are other numbers."""
    waits = [*np.floor(np.random.default_rng(1).exponential(1000.0, 300)), np.nan]
    log = log_of(submit_time=[*range(300), 10**6], wait_time=waits, run_time=[1.0] * 300 + [np.nan])
    answer = predict_wait(state_of(log, tmp_path, method, by=None, clustering=False, trimming=False, training=0))
    told = [one.seconds for one in answer.bounds]
    assert answer.waits == 300
    assert told == sorted(set(told))  # type: ignore[type-var]


@pytest.mark.parametrize("method", [*sorted(list_bounds()), "binomial:approximation=large-sample"])
def test_deadline(tmp_path: Path, method: str) -> None:
    """Its share is the last quantile whose bound is within it."""
    waits = np.floor(np.random.default_rng(2).exponential(1000.0, 600))
    log = log_of(submit_time=np.arange(600) * 10, wait_time=waits)
    state = state_of(log, tmp_path, method, by=None, trimming=False, clustering=False, availability=False, training=0)
    for seconds in (300.0, 1500.0):
        answer = predict_wait(state, deadline=seconds)
        assert answer.deadline is not None
        share = answer.deadline.share
        assert 0.05 < share < 0.95
        last, next_one = predict_wait(state, quantiles=[share, share + 4e-6]).bounds
        assert last.seconds is not None
        assert next_one.seconds is not None
        assert last.seconds <= seconds
        assert next_one.seconds > seconds or method == "binomial:approximation=large-sample"
        if method.startswith("binomial"):
            assert answer.deadline.within == (waits <= seconds).sum()
    nothing = predict_wait(state, deadline=0.0)
    assert nothing.deadline is not None
    assert nothing.deadline.share < 0.01


def told(state: Path, **options: Any) -> tuple[str | None, bool, list[float | None]]:
    """Return why nothing is told, whether something is, and the bounds."""
    answer = predict_wait(state, **options)
    return answer.no_prediction, answer.is_answered, [one.seconds for one in answer.bounds]


def test_too_few_waits(tmp_path: Path) -> None:
    """Of forty waits the .9 quantile is bounded, the .95 quantile not: it needs 59."""
    state = state_of(log_of(wait_time=[5.0] * 40), tmp_path, by=None, training=0)
    answer = predict_wait(state)
    assert [(one.seconds, one.needs) for one in answer.bounds] == [(5.0, 5), (5.0, 11), (5.0, 29), (None, 59)]
    assert (answer.no_prediction, answer.is_answered, answer.waits) == (None, True, 40)
    assert told(state, quantiles=[0.95]) == ("too-few-waits", False, [None])
    late = predict_wait(state, quantiles=[0.9], deadline=4.0)
    assert late.deadline is not None
    assert (late.no_prediction, late.is_answered, late.deadline.share, late.deadline.within) == (None, False, 0.0, 0)
    in_time = predict_wait(state, deadline=5.0).deadline
    assert in_time is not None
    assert in_time.share == pytest.approx(0.05 ** (1 / 40), abs=1e-6)


def test_training(tmp_path: Path) -> None:
    """What would be told is said beside."""
    state = state_of(log_of(wait_time=[5.0] * 99), tmp_path, by=None, training=100)
    assert told(state, quantiles=[0.9]) == ("training", False, [5.0])
    assert told(state_of(log_of(wait_time=[5.0] * 100), tmp_path, by=None, training=100))[0] is None


def test_unavailable(tmp_path: Path) -> None:
    """Jobs came, and none has started; until one does, which the state may know of."""
    submit = [*range(400), *range(400, 500)]
    never = log_of(submit_time=submit, wait_time=[1.0] * 400 + [None] * 100, run_time=[1.0] * 400 + [None] * 100)
    state = state_of(never, tmp_path, by=None, training=100)
    assert told(state, quantiles=[0.95]) == ("unavailable", False, [1.0])
    late = log_of(submit_time=submit, wait_time=[1.0] * 400 + [1e4] * 100)
    state = state_of(late, tmp_path, by=None, training=100)
    assert predict_wait(state, now=500.0).no_prediction == "unavailable"
    behind = predict_wait(state)
    assert (behind.no_prediction, behind.until) == (None, 499 + 1e4)


def test_since_when(tmp_path: Path) -> None:
    """The first wait that is kept became known when its job started; dates where the log says when it began."""
    waits = np.floor(np.random.default_rng(0).exponential(100.0, 300) * np.repeat([1, 50], 150))
    submit = np.arange(300) * 100_000
    text = "".join(
        f"{row + 1} {start} {wait:.0f} 60 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n"
        for row, (start, wait) in enumerate(zip(submit, waits, strict=True))
    )
    log = read_swf(_file(tmp_path, f"; UnixStartTime: 86400\n{text}"))
    state = state_of(log, tmp_path, by=None, training=0, clustering=False, availability=False)
    answer = predict_wait(state)
    assert answer.waits < answer.known_waits == 300
    first = 300 - answer.waits
    assert answer.since == submit[first] + waits[first]
    assert answer.until == submit[-1] + waits[-1]
    assert answer.since_utc == pd.Timestamp(86400 + answer.since, unit="s").isoformat() + "Z"
    whole = predict_wait(state_of(log, tmp_path, by=None, training=0, trimming=False, cluster_every=50))
    assert (whole.waits, whole.since) == (300, waits[0])
    assert predict_wait(state_of(log_of(wait_time=[5.0] * 9), tmp_path, by=None)).since_utc is None


def _file(folder: Path, text: str) -> Path:
    """Return a file of some text."""
    (folder / "log.swf").write_text(text)
    return folder / "log.swf"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state of two queues and two users, with clusters of requested time."""
    made = drawn_log("changing", 900, 5)
    queue = pd.array(np.arange(900) % 3 % 2, dtype="Int64")
    log = made.with_jobs(made.jobs.assign(queue_id=queue, user_id=pd.array(np.arange(900) % 2, dtype="Int64")))
    return state_of(log, tmp_path, by=("queue", "user"), training=20, cluster_every=100)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, r"has groups by queue and user: say which; there are: 0/0, 0/1, 1/0, 1/1$"),
        ({"group": "0/10"}, r"knows no queue/user '0/10'; there are: 0/0, 0/1, 1/0, 1/1; did you mean 0/1"),
        ({"group": {"queue": 0}}, "groups by queue and user: say user too"),
        ({"group": {"queue": 0, "user": 1, "partition": 3}}, "groups by queue and user: leave out partition"),
        ({"group": "0/0"}, "tells jobs of that group apart by requested time: give requested_time"),
        ({"group": "0/0", "requested_time": -5.0}, "requested_time=-5.0 is not a number of seconds"),
        ({"group": "0/0", "requested_time": np.nan}, "requested_time=nan is not a number of seconds"),
        ({"group": "0/0", "processors": 0}, "processors=0 is not an integer from 1 on"),
        ({"group": "0/0", "deadline": -1}, "deadline=-1 is not a number of seconds"),
        ({"group": "0/0", "requested_time": 60, "quantiles": [1.0]}, "quantile=1.0 is not a number between 0 and 1"),
        ({"group": "0/0", "requested_time": 60, "now": 3.0}, "now=3.0 is not a number of seconds from the last"),
        ({"group": "0/0", "requested_time": 60, "method": SortedWaits()}, "leave method= out"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_what_is_refused(state: Path, options: dict[str, Any], says: str) -> None:
    """One clear error."""
    with pytest.raises(ParameterError, match=says):
        predict_wait(state, **options)


def test_groups(state: Path) -> None:
    """In words, or by what jobs are grouped by; a state that was read once can be asked often."""
    read = read_state(state)
    answer = predict_wait(read, group={"user": 1, "queue": "0"}, requested_time=600)
    assert answer == predict_wait(state, group="0/1", requested_time=600)
    assert answer.group == "0/1"
    assert answer.clusters > 1
    assert answer.above is None or answer.above < 600
    assert answer.up_to is None or answer.up_to >= 600
    longest = predict_wait(read, group="0/1", requested_time=10**9)
    assert (longest.cluster, longest.up_to) == (longest.clusters - 1, None)


def test_by_work(tmp_path: Path) -> None:
    """Both options are asked for, if there are clusters at all."""
    made = drawn_log("changing", 900, 5)
    log = made.with_jobs(made.jobs.assign(requested_processors=pd.array(np.arange(900) % 4 + 1, dtype="Int64")))
    options: dict[str, Any] = {"by": None, "training": 20, "explanatory": "requested_work"}
    state = state_of(log, tmp_path, cluster_every=100, **options)
    with pytest.raises(
        ParameterError, match=r"by requested work: give requested_time .--requested-time. and processors .--p"
    ):
        predict_wait(state)
    with pytest.raises(ParameterError, match="by requested work: give processors"):
        predict_wait(state, requested_time=60)
    assert predict_wait(state, requested_time=60, processors=3).value == 180.0
    assert predict_wait(state_of(log, tmp_path, cluster_every=10**6, **options)).value is None


def test_an_object_of_your_own(tmp_path: Path) -> None:
    """It is shown the waits that are kept; without it nothing is told."""
    log = drawn_log("changing", 700, 3)
    options: dict[str, Any] = {"training": 50, "cluster_every": 150, "by": None}
    ours = predict_wait(state_of(log, tmp_path, **options), requested_time=600, quantiles=[0.95])
    state = state_of(log, tmp_path, SortedWaits(), **options)
    answer = predict_wait(state, requested_time=600, method=SortedWaits(), deadline=10.0**7)
    assert answer.bounds[0].seconds == ours.bounds[0].seconds
    assert answer.deadline is not None
    assert answer.deadline.share == 0.95
    with pytest.raises(ParameterError, match=r"made with an object, SortedWaits.*pass method="):
        predict_wait(state, requested_time=600)
    with pytest.raises(ParameterError, match=r"has bounds of the 0.95 quantile only"):
        predict_wait(state, requested_time=600, method=SortedWaits(), quantiles=[0.5])


def test_a_rival(tmp_path: Path) -> None:
    """It looks at the machine at a submission, and of a job that is in no log there was none."""
    log = drawn_log("changing", 300, 3)
    state = state_of(log, tmp_path, "gradient-boosting:trees=2,first_fit=100", by=None)
    with pytest.raises(
        ParameterError, match=r"is of the rival gradient-boosting:trees=2,first_fit=100, which needs to know"
    ):
        predict_wait(state)


def test_a_file_that_is_no_state(tmp_path: Path, state: Path) -> None:
    """As when it is loaded."""
    with pytest.raises(StateError, match="No such file"):
        predict_wait(tmp_path / "none")
    state.write_bytes(state.read_bytes()[:-1])
    with pytest.raises(StateError, match="truncated or damaged"):
        predict_wait(state)


def test_what_is_loaded(state: Path) -> None:
    """Nothing that takes longer than the answer."""
    code = f"""
import sys
from swftools.qbets import predict_wait
assert predict_wait({str(state)!r}, group="1/1", requested_time=300, deadline=500).bounds
heavy = ("pandas", "numba", "scipy.stats", "sklearn", "luigi", "pyarrow", "swftools.simulator")
print([name for name in heavy if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

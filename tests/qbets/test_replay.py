# SPDX-License-Identifier: BSD-3-Clause
"""What users see of a replay: what is told when, going on from saved states, and input that is not as it should be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools import Trace, simulate
from swftools.errors import ParameterError, StateError
from swftools.fields.dictionary import table_fields
from swftools.models import lublin_feitelson
from swftools.qbets import WaitPredictor, replay
from swftools.qbets.bounds import BinomialBound, list_bounds
from tests.qbets.test_replay_twin import drawn_log

SOON = {"training": 20, "cluster_every": 100, "by": None}


def log_of(**columns: Any) -> Trace:
    """Return a log that says what it must."""
    jobs = len(next(iter(columns.values())))
    usual = {
        "job_number": range(jobs),
        "submit_time": range(jobs),
        "run_time": [1] * jobs,
        "requested_time": [60] * jobs,
    }
    return Trace.from_columns(**usual | columns)


@pytest.fixture(scope="module")
def log() -> Trace:
    """Two thousand jobs, in two queues."""
    made = drawn_log("changing", 2_000, 5)
    return made.with_jobs(made.jobs.assign(queue_id=pd.array(np.arange(2000) % 3 % 2, dtype="Int64")))


def test_a_wait_is_known_when_the_job_starts() -> None:
    """Not when it was submitted: 59 jobs wait 100 s each; one that comes before the last starts is told nothing."""
    log = log_of(submit_time=[*range(59), 157, 158, 159], wait_time=[100.0] * 59 + [1.0] * 3)
    table = replay(log, by=None, training=0, availability=False)
    assert table["wait_bound"].isna().tolist() == [True] * 60 + [False] * 2
    assert table["no_prediction"].fillna("told").tolist() == ["too-few-waits"] * 60 + ["told"] * 2
    assert table["history_length"].tolist()[-3:] == [58, 60, 61]


def test_training() -> None:
    """So many jobs must have started; what would have been told is withheld."""
    log = log_of(wait_time=[0.5] * 300)
    table = replay(log, by=None, training=200, availability=False)
    assert (table["no_prediction"] == "training").sum() == 200
    assert table["withheld_bound"].notna().sum() == 200 - 59
    assert table["wait_bound"].notna().sum() == 100


def test_nothing_seems_to_start() -> None:
    """Behind 400 jobs that start a second after they came, one waits for hours, and so do those that come behind it."""
    submit = [*range(400), *range(400, 500)]
    log = log_of(submit_time=submit, wait_time=[1.0] * 400 + [1e4] * 100)
    told = replay(log, by=None, training=100)["no_prediction"]
    assert (told[400:] == "unavailable").sum() > 80
    assert told[100:400].isna().all()
    assert replay(log, by=None, training=100, availability=False)["no_prediction"][400:].isna().all()


def test_trimming() -> None:
    """When waits become ten times as long for good, few misses later the bound follows."""
    rng = np.random.default_rng(0)
    waits = np.floor(rng.exponential(100.0, 1000) * np.repeat([1, 50], 500))
    log = log_of(submit_time=np.arange(1000) * 20_000, wait_time=waits)
    options: dict[str, Any] = {"by": None, "training": 100, "clustering": False, "availability": False}
    trimmed, not_trimmed = (replay(log, trimming=trims, **options) for trims in (True, False))
    assert trimmed["is_trimmed"].iloc[510:].all()
    assert not not_trimmed["is_trimmed"].any()
    assert not_trimmed["history_length"].iloc[-1] == 999
    right = [(table["wait_bound"] >= waits)[500:].mean() for table in (trimmed, not_trimmed)]
    assert right[0] > 0.93
    assert right[1] < 0.85


def test_the_table_is_as_declared(log: Trace) -> None:
    """Columns and order of the column dictionary, rows of the log."""
    table = replay(log)
    assert list(table) == list(table_fields("wait_predictions"))
    assert table["job_number"].tolist() == log.jobs["job_number"].tolist()
    assert set(table["queue"]) == {"0", "1"}


def test_queues_are_replayed_by_themselves(log: Trace) -> None:
    """As if each were a log."""
    whole = replay(log, training=20)
    for queue in (0, 1):
        of_queue = (log.jobs["queue_id"] == queue).to_numpy()
        alone = replay(log.with_jobs(log.jobs[of_queue].reset_index(drop=True)), training=20)
        pd.testing.assert_frame_equal(whole[of_queue].reset_index(drop=True), alone, check_exact=True)
    together = replay(log, by=None, training=20)
    assert set(together["queue"]) == {"all"}
    assert replay(log, by=("queue", "user"), training=20)["queue"].iloc[0] == "0/unknown"


def test_order_in_the_log_does_not_matter(log: Trace) -> None:
    """Jobs are submitted by their times; rows stay where they are."""
    shuffled = log.jobs.sample(frac=1.0, random_state=1)
    table = replay(log.with_jobs(shuffled.reset_index(drop=True)), training=20)
    back = table.sort_values("job_number").reset_index(drop=True)
    pd.testing.assert_frame_equal(back, replay(log, training=20), check_exact=True)


@pytest.mark.parametrize("method", sorted(list_bounds()))
@pytest.mark.parametrize("cuts", [[1, 400, 401, 1999], pytest.param([1000], marks=pytest.mark.slow)])
def test_going_on(log: Trace, tmp_path: Path, method: str, cuts: list[int]) -> None:
    """January, saved and loaded, and then February equal both at once."""
    options: dict[str, Any] = {"training": 30, "cluster_every": 70, "quantile": 0.9}
    predictor = WaitPredictor(method, **options)
    parts = []
    for rows in np.split(np.arange(len(log)), cuts):
        parts.append(predictor.replay(log.with_jobs(log.jobs.iloc[rows].reset_index(drop=True))))
        predictor.save(tmp_path / "state")
        predictor = WaitPredictor.load(tmp_path / "state")
    whole = replay(log, method, **options)
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole, check_exact=True)


class SortedWaits:
    """A bound of one's own, in Python."""

    def fit(self, waits: Any) -> None:
        """Forget, and learn."""
        self.waits = list(waits)

    def update(self, waits: Any) -> None:
        """Learn more."""
        self.waits += list(waits)

    def predict(self) -> float | None:
        """Return the binomial bound."""
        rank = int(BinomialBound().facts(len(self.waits))[0][-1])
        return sorted(self.waits)[rank - 1] if rank else None


def test_a_bound_of_your_own(log: Trace, tmp_path: Path) -> None:
    """It is asked where ours would be, and goes on from a file too."""
    ours = replay(log, training=50, cluster_every=150).drop(columns="method")
    predictor = WaitPredictor(SortedWaits(), training=50, cluster_every=150)
    first = predictor.replay(log.with_jobs(log.jobs.head(700)))
    predictor.save(tmp_path / "state")
    predictor = WaitPredictor.load(tmp_path / "state", method=SortedWaits())
    second = predictor.replay(log.with_jobs(log.jobs.tail(1300).reset_index(drop=True)))
    both = pd.concat([first, second], ignore_index=True)
    assert set(both["method"]) == {"SortedWaits"}
    pd.testing.assert_frame_equal(both.drop(columns="method"), ours, check_exact=True)
    with pytest.raises(ParameterError, match="pass method="):
        WaitPredictor.load(tmp_path / "state")


def test_a_schedule() -> None:
    """The waits of a simulation, where the log has none."""
    trace = lublin_feitelson.generate(1_500, processors=64, load=0.9, seed=1)
    with pytest.raises(ParameterError, match=r"does not say how long its jobs waited; simulate it"):
        replay(trace.with_jobs(trace.jobs.assign(wait_time=np.nan)))
    schedule = simulate(trace, "easy")
    table = replay(schedule, by=None, training=100)
    assert table["wait_time"].tolist() == schedule.jobs["wait_time"].tolist()
    assert table["wait_bound"].notna().any()


@pytest.mark.parametrize("waits", [[0.0] * 300, [7.0] * 300])
@pytest.mark.parametrize("method", sorted(list_bounds()))
def test_waits_that_are_all_equal(method: str, waits: list[float]) -> None:
    """The bound is that wait; where a distribution is fitted, 1 s for none."""
    table = replay(log_of(wait_time=waits), method, by=None, training=100, availability=False)
    expected = waits[0] if method in ("binomial", "trailing") else max(waits[0], 1.0)
    assert table["wait_bound"].dropna().to_numpy() == pytest.approx(expected, rel=1e-9)


def test_waits_that_are_missing() -> None:
    """Jobs that never started are told something, and teach nothing; so with negative waits."""
    wait = [5.0, -1.0, None] * 200
    table = replay(log_of(wait_time=wait, run_time=[1, 1, None] * 200), by=None, training=0, availability=False)
    assert table["wait_time"].notna().sum() == 200
    assert table["history_length"].iloc[-1] == 199  # the last one starts later
    assert table["wait_bound"].iloc[-3:].tolist() == [5.0] * 3


def test_few_jobs() -> None:
    """Fewer than a bound needs, one, and none."""
    assert replay(log_of(wait_time=[1.0] * 58), by=None, training=0)["wait_bound"].isna().all()
    assert len(replay(log_of(wait_time=[1.0]), by=None)) == 1
    assert len(replay(Trace.from_columns(job_number=[], submit_time=[], wait_time=[]), by=None)) == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"quantile": 1.0}, "quantile=1.0 is not a number between 0 and 1"),
        ({"confidence": 0}, "confidence=0 is not a number between 0 and 1"),
        ({"method": "binomal"}, r"did you mean binomial\?"),
        ({"method": "binomial:side=lower"}, "predictions are upper bounds"),
        ({"method": 3}, "neither a bound nor an object with fit, update and predict"),
        ({"by": "colour"}, "the log has no column 'colour'"),
        ({"explanatory": "user"}, "explanatory='user' is not one of requested_time"),
        ({"trimmming": True}, "trimmming"),
    ],
)
def test_what_is_refused(log: Trace, options: dict[str, Any], says: str) -> None:
    """One clear error."""
    with pytest.raises(ParameterError, match=says):
        replay(log, **options)


def test_time_does_not_go_back(log: Trace) -> None:
    """A log that begins before the end of the one before is refused, and nothing is learnt from it."""
    predictor = WaitPredictor(training=20)
    predictor.replay(log)
    known = dict(predictor.known)
    with pytest.raises(ParameterError, match="logs are replayed in order of time"):
        predictor.replay(log)
    assert predictor.known == known


@pytest.fixture
def state(log: Trace, tmp_path: Path) -> Path:
    """A saved state."""
    predictor = WaitPredictor(training=20)
    predictor.replay(log)
    predictor.save(tmp_path / "state")
    return tmp_path / "state"


def test_a_damaged_state(state: Path) -> None:
    """Truncated, changed in one byte, of another version, something else, empty, and not there: each says so."""
    whole = state.read_bytes()
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 1
    for content, says in [
        (whole[:-1], "truncated or damaged"),
        (bytes(changed), "truncated or damaged"),
        (whole.replace(b"predictor 3\n", b"predictor 7\n", 1), "version 7, and this swftools reads 3"),
        (b"; Version: 2.2\n1 2 3\n", "is not a state of a wait predictor"),
        (b"", "is not a state of a wait predictor"),
    ]:
        state.write_bytes(content)
        with pytest.raises(StateError, match=says):
            WaitPredictor.load(state)
    state.unlink()
    with pytest.raises(StateError, match="No such file"):
        WaitPredictor.load(state)


def test_progress(log: Trace) -> None:
    """Jobs so far, to the last."""
    told: list[tuple[int, int]] = []
    replay(log, progress=lambda done, jobs: told.append((done, jobs)))
    assert told == sorted(told)
    assert told[-1] == (2000, 2000)


def test_jobs_that_wait_are_carried_on(log: Trace) -> None:
    """With when they start and what they were told, by which it will be judged whether waits have changed."""
    predictor = WaitPredictor(by=None, training=20)
    table = predictor.replay(log)
    known = predictor.known["all"]
    waits = table[table["submit_time"] + table["wait_time"] > table["submit_time"].max()]
    assert len(waits) > 1
    assert known.waiting.submit.tolist() == waits["submit_time"].tolist()
    assert known.waiting.wait.tolist() == waits["wait_time"].tolist()
    assert known.waiting.told.tolist() == waits["wait_bound"].fillna(waits["withheld_bound"]).tolist()
    assert len(set(known.waiting.told)) > 1
    assert known.last == table["submit_time"].max()


def test_who_breaks_off_has_learnt_nothing(log: Trace) -> None:
    """Whatever is raised in a later queue, the log can be replayed once more."""

    def stop(done: int, jobs: int) -> None:
        if done > 1500:
            raise KeyboardInterrupt

    predictor = WaitPredictor(training=20)
    with pytest.raises(KeyboardInterrupt):
        predictor.replay(log, stop)
    pd.testing.assert_frame_equal(predictor.replay(log), replay(log, training=20), check_exact=True)

# SPDX-License-Identifier: BSD-3-Clause
"""The replay by rivals: what is told when, no look ahead, going on from saved states, and odd logs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from swftools import Trace, simulate
from swftools.errors import ParameterError, StateError
from swftools.fields.dictionary import table_fields
from swftools.qbets import WaitPredictor, evaluate, list_rivals, replay
from swftools.qbets.rivals import COLUMNS, Course, GradientBoosting, Rival
from tests.examples import examples
from tests.folders import ROOT
from tests.qbets.rivals.logs import SMALL, crowded_log, with_another_future
from tests.strategies import traces

RIVALS = [f"{name}:{SMALL}" for name in list_rivals()]
SOON = {"training": 20}


class LongestOfTen:
    """A model without parameters: the longest of the last ten waits of the group; 1 s where there is none."""

    def predict(self, rows: Any) -> Any:
        """Return it."""
        return np.nan_to_num(rows[:, COLUMNS.index("group_longest_wait")], nan=1.0)


class Noting(Rival):
    """A rival that notes what it was fitted to."""

    NAME = "noting"

    def fit(self, rows: Any, waits: Any) -> LongestOfTen:
        """Note rows and waits."""
        self.__dict__.setdefault("fits", []).append((rows.copy(), waits.copy()))
        return LongestOfTen()


def even_log(jobs: int, **columns: Any) -> Trace:
    """Return a log whose jobs come every 10 s and wait 5 s, unless said otherwise."""
    usual = {
        "job_number": range(1, jobs + 1),
        "submit_time": range(0, 10 * jobs, 10),
        "wait_time": [5.0] * jobs,
        "run_time": [20] * jobs,
        "requested_time": [60] * jobs,
    }
    return Trace.from_columns(**usual | columns)


def test_when_it_is_fitted_and_to_what() -> None:
    """As soon as so many waits are known, and every so many jobs; to the newest waits, in order of their starts."""
    rival = Noting(first_fit=30, refit_every=25, window=40)
    log = even_log(100, wait_time=np.arange(100) % 7 * 4)  # 0 to 24 s: some start behind later ones
    table = replay(log, rival, by=None, training=0)
    # Jobs 28 and 29 wait 0 s and 4 s, and 27 waits 24 s: when job 31 comes, 30 of the 31 before have started.
    start = log.jobs["submit_time"] + log.jobs["wait_time"]
    known = [int((start[:job] <= log.jobs["submit_time"][job]).sum()) for job in range(100)]
    first = known.index(30)
    expected = [first, first + 25, first + 50]
    reasons = table["no_prediction"].astype(object).where(table["no_prediction"].notna(), None)
    assert reasons.tolist() == ["too-few-waits"] * first + [None] * (100 - first)
    assert table["history_length"].tolist() == [0] * first + [30] * 25 + [40] * (75 - first)
    assert table["is_trimmed"].tolist() == [False] * (first + 25) + [True] * (75 - first)
    assert len(rival.fits) == len(range(first, 100, 25))
    for job, (rows, waits) in zip(expected, rival.fits, strict=False):
        learnt = start[:job][start[:job] <= log.jobs["submit_time"][job]].sort_values(kind="stable").index[-40:]
        assert waits.tolist() == log.jobs["wait_time"][learnt].tolist()
        assert rows[:, COLUMNS.index("requested_time")].tolist() == [60.0] * len(learnt)


def test_training_is_by_group() -> None:
    """Jobs of a group are told nothing until so many of it have started; what they would be told is withheld."""
    log = even_log(300, queue_id=[1, 1, 2] * 100)
    table = replay(log, Noting(first_fit=10), training=60)
    for queue, before in (("1", 60), ("2", 60)):
        of_queue = table[table["queue"] == queue]
        assert (of_queue["no_prediction"] == "training").sum() == before
        assert of_queue["no_prediction"].iloc[before:].isna().all()
    withheld = table[table["no_prediction"] == "training"]
    assert withheld["withheld_bound"].notna().sum() == len(withheld) - 10
    assert table["wait_bound"].notna().sum() == 300 - 120


def test_bounds_and_rivals_are_scored_on_the_same_jobs() -> None:
    """Where none of them knows too little."""
    log = crowded_log(600, 4)
    tables = [replay(log, method, training=100, availability=False) for method in ("trailing", RIVALS[0])]
    assert tables[0]["no_prediction"].equals(tables[1]["no_prediction"])
    both = evaluate(tables, compare_with="trailing", grouped_by=["all"])
    assert both["jobs"].nunique() == both["predicted"].nunique() == 1
    assert both["method"].tolist() == ["trailing", RIVALS[0]]


@pytest.mark.parametrize("method", RIVALS)
def test_the_table_is_as_declared(method: str) -> None:
    """Columns and order of the column dictionary, rows of the log, whole seconds."""
    log = crowded_log(500, 2)
    table = replay(log, method, **SOON)
    assert list(table) == list(table_fields("wait_predictions"))
    assert table["job_number"].tolist() == log.jobs["job_number"].tolist()
    assert set(table["method"]) == {method}
    told = table["wait_bound"].dropna()
    assert len(told) > 200
    assert (told >= 0).all()
    assert (told == told.round()).all()


@pytest.mark.parametrize("method", RIVALS)
@examples(0.16)
@given(data=st.data())
def test_nobody_looks_ahead(method: str, data: st.DataObject) -> None:
    """What a job is told does not change with what is yet to come: waits, ends, and later jobs."""
    log = crowded_log(250, data.draw(st.integers(0, 10**6)))
    job = data.draw(st.integers(60, 249))
    other = with_another_future(log, job, data.draw(st.integers(0, 10**6)))
    ours, theirs = (replay(one, method, **SOON).head(job + 1) for one in (log, other))
    told = [name for name in ours if name != "wait_time"]
    pd.testing.assert_frame_equal(ours[told], theirs[told], check_exact=True)


@pytest.mark.parametrize("method", RIVALS)
@pytest.mark.parametrize("cuts", [[1, 60, 150, 151, 299], pytest.param([150], marks=pytest.mark.slow)])
def test_going_on(tmp_path: Path, method: str, cuts: list[int]) -> None:
    """January, saved and loaded, and then February equal both at once."""
    log = crowded_log(300, 6)
    predictor = WaitPredictor(method, **SOON)
    parts = []
    for rows in np.split(np.arange(len(log)), cuts):
        parts.append(predictor.replay(log.with_jobs(log.jobs.iloc[rows].reset_index(drop=True))))
        predictor.save(tmp_path / "state")
        predictor = WaitPredictor.load(tmp_path / "state")
    whole = replay(log, method, **SOON)
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), whole, check_exact=True)
    assert whole["wait_bound"].nunique() > 10


def test_going_on_counts_from_one_start() -> None:
    """The seconds of a second log are counted from the start of the first, and its hours are those of the day."""
    header, later = ("; UnixStartTime: 1000000000", "; UnixStartTime: 1000500000")
    log = crowded_log(400, 8)
    whole = Trace(type(log.header).from_lines([header]), log.jobs)
    head = whole.with_jobs(log.jobs.head(200))
    tail = log.jobs.tail(200).reset_index(drop=True)
    tail = Trace(type(log.header).from_lines([later]), tail.assign(submit_time=tail["submit_time"] - 500_000.0))
    predictor = WaitPredictor(RIVALS[0], **SOON)
    parts = [predictor.replay(part)["wait_bound"] for part in (head, tail)]
    assert pd.concat(parts, ignore_index=True).equals(replay(whole, RIVALS[0], **SOON)["wait_bound"])
    with pytest.raises(ParameterError, match="logs are replayed in order of time"):
        predictor.replay(head)


def test_a_damaged_state(tmp_path: Path) -> None:
    """As that of a bound: refused, and what it is said to be stays what it is."""
    predictor = WaitPredictor(RIVALS[0], **SOON)
    predictor.replay(crowded_log(200, 1))
    predictor.save(tmp_path / "state")
    whole = (tmp_path / "state").read_bytes()
    (tmp_path / "state").write_bytes(whole[:-1])
    with pytest.raises(StateError, match="truncated or damaged"):
        WaitPredictor.load(tmp_path / "state")
    (tmp_path / "state").write_bytes(whole)
    assert WaitPredictor.load(tmp_path / "state").method == predictor.method
    with pytest.raises(ParameterError, match="leave method= out"):
        WaitPredictor.load(tmp_path / "state", method=LongestOfTen())


def test_who_breaks_off_has_learnt_nothing() -> None:
    """The log can be replayed once more; and progress is told, to the last job."""
    log, told = crowded_log(400, 9), []

    def stop(done: int, jobs: int) -> None:
        raise KeyboardInterrupt

    predictor = WaitPredictor(RIVALS[0], **SOON)
    with pytest.raises(KeyboardInterrupt):
        predictor.replay(log, stop)
    again = predictor.replay(log, lambda done, jobs: told.append((done, jobs)))
    assert again.equals(replay(log, RIVALS[0], **SOON))
    assert told == sorted(told)
    assert len(told) > 2
    assert told[-1] == (400, 400)
    told.clear()
    predictor = WaitPredictor(RIVALS[0], **SOON)
    predictor.replay(log.with_jobs(log.jobs.head(250)))
    predictor.replay(log.with_jobs(log.jobs.tail(150).reset_index(drop=True)), lambda *so_far: told.append(so_far))
    assert [done for done, _ in told] == sorted({min(done, 150) for done, _ in told})
    assert told[-1] == (150, 150)


def test_order_in_the_log_does_not_matter() -> None:
    """Jobs are submitted by their times; rows stay where they are."""
    log = crowded_log(400, 3)
    shuffled = log.jobs.sample(frac=1.0, random_state=1)
    table = replay(log.with_jobs(shuffled.reset_index(drop=True)), RIVALS[0], **SOON)
    back = table.sort_values("job_number").reset_index(drop=True)
    pd.testing.assert_frame_equal(back, replay(log, RIVALS[0], **SOON), check_exact=True)


@pytest.mark.parametrize("method", RIVALS)
@pytest.mark.parametrize("wait", [0.0, 82_870.0, 0.5])
def test_waits_that_are_all_equal(method: str, wait: float) -> None:
    """The bound is that wait; a model tells whole seconds."""
    table = replay(even_log(300, wait_time=[wait] * 300, submit_time=range(0, 600_000, 2000)), method, by=None, **SOON)
    told = table["wait_bound"].dropna()
    assert len(told) > 150
    assert set(told) <= {wait, np.ceil(wait)}
    assert (table["wait_time"] <= table["wait_bound"])[told.index].all()


@pytest.mark.parametrize("method", RIVALS)
def test_a_log_that_says_little(method: str) -> None:
    """Without requests, processors, users, start: what is missing in all jobs is no reason to fail."""
    rng = np.random.default_rng(0)
    log = Trace.from_columns(
        job_number=range(400), submit_time=range(0, 4000, 10), wait_time=rng.integers(0, 99, 400), run_time=[9] * 400
    )
    table = replay(log, method, by=None, **SOON)
    assert table["wait_bound"].notna().sum() > 300
    assert (table["wait_time"] <= table["wait_bound"]).sum() > 200


@pytest.mark.parametrize("method", RIVALS)
def test_few_jobs(method: str) -> None:
    """Fewer than for a fit, one, and none."""
    for jobs in (39, 1):
        table = replay(even_log(jobs), method, by=None, training=0)
        assert table["no_prediction"].tolist() == ["too-few-waits"] * jobs
    assert len(replay(Trace.from_columns(job_number=[], submit_time=[], wait_time=[]), method, by=None)) == 0
    with pytest.raises(ParameterError, match="does not say how long its jobs waited"):
        replay(Trace.from_columns(job_number=[1], submit_time=[0], run_time=[1]), method, by=None)


@examples(0.25)
@given(trace=traces(max_jobs=12, extras=False, utility=False))
def test_any_values_that_a_log_can_say(trace: Trace) -> None:
    """However large or odd: jobs are described and told something, or the log is refused with one clear error."""
    log = trace.with_jobs(trace.jobs.assign(submit_time=trace.jobs["submit_time"].fillna(0.0)))
    method = "gradient-boosting-conformal:first_fit=1,refit_every=3,least_in_leaf=1,trees=2"
    if len(log) and not (log.jobs["wait_time"].notna() & log.jobs["run_time"].notna()).any():
        with pytest.raises(ParameterError, match="does not say how long its jobs waited"):
            replay(log, method)
        return
    table = replay(log, method, quantile=0.5, training=0, by=None)
    assert len(table) == len(log)
    assert np.isfinite(table["wait_bound"].dropna()).all()


@pytest.mark.parametrize("method", RIVALS)
def test_more_groups_than_categories(method: str) -> None:
    """Models tell the first 254 apart; the others are told bounds too."""
    log = even_log(900, user_id=np.arange(900) % 300, wait_time=np.arange(900) % 300)
    table = replay(log, method.replace("window=200", "window=800"), by="user", training=1)
    assert table["queue"].nunique() == 300
    assert table["history_length"].max() > 500
    told = table[table["queue"].astype(int) >= 254]
    assert told["wait_bound"].notna().any() or "conformal" in method  # which needs 19 waits of each group


def test_the_group_tells() -> None:
    """Of two queues, one waits a hundred times as long: both bounds are right and tight."""
    wait = np.where(np.arange(600) % 2 == 0, 10.0, 1000.0)
    table = replay(
        even_log(600, queue_id=np.arange(600) % 2, wait_time=wait),
        f"gradient-boosting:{SMALL.replace('trees=5', 'trees=60')}",
        **SOON,
    )
    last = table.tail(100)
    assert (last["wait_bound"] >= last["wait_time"]).mean() > 0.9
    assert (last["wait_bound"] <= 3 * last["wait_time"]).all()


def test_a_schedule() -> None:
    """The waits of a simulation."""
    log = crowded_log(400, 5).jobs.dropna(subset=["requested_processors", "requested_time", "run_time"])
    schedule = simulate(crowded_log(400, 5).with_jobs(log.reset_index(drop=True)), "easy", processors=8)
    table = replay(schedule, RIVALS[0], by=None, **SOON)
    assert table["wait_time"].tolist() == schedule.jobs["wait_time"].tolist()
    assert table["wait_bound"].notna().any()


def test_other_quantiles() -> None:
    """That of the replay applies, unless the text says another; a lower one tells less."""
    log = crowded_log(500, 2)
    low, high = (replay(log, RIVALS[0], quantile=quantile, **SOON)["wait_bound"] for quantile in (0.5, 0.95))
    assert low.mean() < 0.7 * high.mean()
    said = replay(log, f"{RIVALS[0]},quantile=0.5", quantile=0.95, **SOON)["wait_bound"]
    assert said.equals(low)


TWICE = """
import sys, hashlib
from swftools.qbets import replay
from tests.qbets.rivals.logs import crowded_log
table = replay(crowded_log(600, 11), "gradient-boosting:first_fit=50,least_in_leaf=5,trees=40", training=20)
print(hashlib.sha256(table["wait_bound"].to_numpy().tobytes()).hexdigest())
"""


def test_the_same_for_any_number_of_threads_here() -> None:
    """Bit for bit, whatever the libraries may take."""
    found = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads, user_api="openmp"):
            found.append(replay(crowded_log(300, 11), RIVALS[0], by=None, **SOON)["wait_bound"])
    assert found[0].notna().any()
    assert found[0].equals(found[1])


@pytest.mark.slow
def test_the_same_for_any_number_of_threads() -> None:
    """Bit for bit, in processes of their own."""
    found = set()
    for threads in "12":
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "PYTHONPATH": str(ROOT)}
        run = subprocess.run(
            [sys.executable, "-c", TWICE], capture_output=True, text=True, check=True, env=environment, cwd=ROOT
        )
        found.add(run.stdout)
    assert len(found) == 1


def test_fits_take_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine has: what several threads add up is rounded otherwise."""
    from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415
    from threadpoolctl import threadpool_info  # noqa: PLC0415

    threads = []
    for name in ("fit", "predict"):
        usual = getattr(HistGradientBoostingRegressor, name)

        def noting(self: Any, *given: Any, usual: Any = usual) -> Any:
            threads.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "openmp")
            return usual(self, *given)

        monkeypatch.setattr(HistGradientBoostingRegressor, name, noting)
    GradientBoosting().fit(np.zeros((30, len(COLUMNS))), np.arange(30.0)).predict(np.zeros((2, len(COLUMNS))))
    assert len(threads) >= 2
    assert set(threads) == {1}


def test_a_course() -> None:
    """The base class tells what was predicted."""
    made = Course(np.zeros(1), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(1, np.int64))
    assert Noting().bounds(np.array([3.0]), made).tolist() == [3.0]

# SPDX-License-Identifier: BSD-3-Clause
"""How far a run is, and how long it still takes: by work, over several processes, and within long stages."""

from __future__ import annotations

import logging
import multiprocessing
from pathlib import Path

import pytest

from pipelines.history.task import ReevaluateLogs
from pipelines.tasks.progress import Parts, StageProgress
from pipelines.tasks.replay_predictor import ReplayPredictor
from pipelines.tasks.simulate import SimulatePolicy
from tests.pipelines.small_logs import build, small_log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A small log."""
    path = tmp_path / "small.swf"
    path.write_text(small_log(40))
    return path


def said_of(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> list[str]:
    """Return the list into which is written what is said, by a clock whose last value is the time."""
    said: list[str] = []
    monkeypatch.setattr(logging.getLogger("pipelines"), "info", lambda text, *words: said.append(text % words))
    monkeypatch.setattr("pipelines.tasks.progress.monotonic", lambda: clock[-1])
    return said


def test_the_time_left_goes_by_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two short stages and one that is as long as nine of them: behind the short ones most of the time is to come."""
    clock = [100.0]
    said = said_of(monkeypatch, clock)
    progress = StageProgress()
    for stage, work in (("a", 1.0), ("a", 1.0), ("b", 1.0), ("c", 18.0)):
        progress.expect(stage, work)
    assert progress.seconds_left is None
    shares = []
    for stage in "ab":
        progress.begin(stage, stage)
        progress.tell(stage, stage, 1, 2)
        clock.append(clock[-1] + 4)
        progress.end(stage, stage, 4.0)
        shares.append(progress.share)
    assert shares == pytest.approx([0.05, 0.1])
    assert progress.seconds_left == pytest.approx(72)
    progress.begin("c", "c")
    clock.append(clock[-1] + 32)
    progress.tell("c", "c", 7, 18)
    assert said[-1] == "[3 of 3] c: 39 % (all: 45 %, 00:48 left)"
    progress.end("c", "c", 80.0)
    assert progress.share == 1.0


def test_what_processes_do_is_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forked process tells how far it is; what is left is counted from both."""
    clock = [0.0]
    said_of(monkeypatch, clock)
    progress = StageProgress()
    progress.expect("a", 3.0)
    progress.expect("b", 1.0)
    progress.begin("b", "b")

    def work() -> None:
        progress.begin("a", "a")
        progress.tell("a", "a", 1, 3)

    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start()
    worker.join()
    assert progress.share == pytest.approx(0.25)
    progress.end("b", "b", 1.0)
    assert progress.share == pytest.approx(0.5)
    clock.append(30.0)
    assert progress.seconds_left == pytest.approx(30)


def test_a_run_after_another_begins_with_nothing_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither work nor time of the one before counts."""
    clock = [0.0]
    said_of(monkeypatch, clock)
    progress = StageProgress()
    for _ in range(2):
        progress.expect("a")
        assert progress.share == 0
        progress.begin("a", "a")
        clock.append(clock[-1] + 10)
        progress.tell("a", "a", 1, 4)
        assert progress.seconds_left == pytest.approx(30)
        progress.end("a", "a", 10.0)


def test_parts_of_a_stage() -> None:
    """By their weights; what is done stays done, and what has nothing to do is done at once."""
    told: list[tuple[int, int]] = []
    parts = Parts(lambda done, total: told.append((done, total)), {"a": 1, "b": 3})
    for part, done, total in (("a", 1, 2), ("b", 1, 3), ("a", 0, 2), ("a", 2, 2), ("b", 0, 0)):
        parts.tell(part, done, total)
    assert told == [(125, 1000), (375, 1000), (375, 1000), (500, 1000), (1000, 1000)]


def test_a_search_is_more_work_than_a_queue(log: Path) -> None:
    """By its nodes; and a long log is more than a short one."""
    where = {"data_root": str(log.parent)}
    queue, plan, search, long_search = (
        SimulatePolicy(log=str(log), policy=policy, **where)
        for policy in ("fcfs", "conservative", "search:nodes=4000", "search:nodes=40000")
    )
    assert queue.work() < plan.work() < search.work() < long_search.work()
    assert long_search.effort() > 5 * search.effort() > 25 * queue.effort()
    long_log = SimulatePolicy(log="lublin-feitelson:jobs=1000000", policy="fcfs", **where)
    assert long_log.work() > 10 * queue.work()
    methods = ("gradient-boosting-conformal", "lognormal")
    trees, bound = (ReplayPredictor(log=str(log), method=method, **where) for method in methods)
    assert trees.effort() > 10 * bound.effort()


def test_a_simulation_tells_how_far_it_is(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a stage that lasts, more than that it begins and ends."""
    monkeypatch.setattr("swftools.simulator.simulation.PAUSE", 0.0)
    monkeypatch.setattr("swftools.simulator.run.driver.MANY", 2)
    task = SimulatePolicy(log=str(log), policy="fcfs", data_root=str(log.parent / "data"))
    told: list[tuple[int, int]] = []
    monkeypatch.setattr(SimulatePolicy, "tell", lambda _, done, total: told.append((done, total)))
    assert build(task)
    assert told[-1][0] == told[-1][1] > 0
    assert told == sorted(told)


def test_a_night_tells_how_far_it_is(tmp_path: Path, shipped_log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, months, waits and policies are steps of one stage, which never go back."""
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "a.swf.gz").write_bytes(shipped_log.read_bytes())
    settings = tmp_path / "reevaluate.yaml"
    settings.write_text("policies: {names: [fcfs], days: 3, warm_up_days: 0, seeds: 2}\nwaits: {days: [7]}\n")
    told: list[float] = []
    monkeypatch.setattr(ReevaluateLogs, "tell", lambda _, done, total: told.append(done / total))
    night = ReevaluateLogs(settings=str(settings), inbox=str(tmp_path / "inbox"), data_root=str(tmp_path / "data"))
    night.run()
    assert told == sorted(told)
    # Of 3 for the files, 3 for the months, 2 for waits, 1.2 for four runs of a policy, and 1 for the rest.
    assert told[-1] == pytest.approx(9.2 / 10.2, abs=0.001)
    steps = {round(share * 10.2, 1) for share in told}
    assert {3.0, 8.0, 8.3, 8.6, 8.9, 9.2} <= steps

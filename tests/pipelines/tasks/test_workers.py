# SPDX-License-Identifier: BSD-3-Clause
"""Workers of a Dask scheduler that come late, see other files than others do, or fail where others do not."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.tasks.engines.batches import Batch, CellOutcome, first_of_each_log, run_batch, unlike
from pipelines.tasks.engines.dask_cluster import Dask
from pipelines.tasks.engines.dask_workers import ANSWERS_WITHIN, Workers, _Question
from pipelines.tasks.engines.surroundings import Surroundings
from pipelines.tasks.measure import MeasureSchedule
from swftools.errors import ClusterError
from tests.pipelines.dask_processes import Cluster, cluster
from tests.pipelines.trial_cells import check_all, trial_cells

OLD = "import swftools._version, swftools\nswftools._version.__version__ = swftools.__version__ = '0.9.0'\n"
"""What makes a Python that begins in its folder one of another version."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder of its own, as a user does."""
    monkeypatch.chdir(tmp_path)
    for name in ("SWFTOOLS_WORK_ROOT", "SWFTOOLS_LOG_PATH", "SWFTOOLS_CATALOG"):
        monkeypatch.setenv(name, "")
    return tmp_path


# ---------------------------------------------------------------- without a cluster


def fit_workers(home: Path, *names: str) -> Workers:
    """Return workers that were looked at and can run cells."""
    workers = Workers("tcp://head:8786", str(home))
    workers.fit = list(names)
    return workers


def test_a_cell_that_fails_for_its_host_s_sake_is_tried_once_elsewhere(home: Path) -> None:
    """Not where it failed; not a third time; and not at all where there is no other worker."""
    workers = fit_workers(home, "a", "b")
    assert workers.hear(
        "a", [CellOutcome(0, 1.0, "OSError: x", is_of_host=True), CellOutcome(1, 1.0, "ValueError: y")]
    ) == [0]
    assert workers.able([0, 1]) == ["b"]
    assert workers.able([1]) == ["a", "b"]
    assert workers.hear("b", [CellOutcome(0, 1.0, "OSError: x", is_of_host=True)]) == []
    assert fit_workers(home, "a").hear("a", [CellOutcome(0, 1.0, "OSError: x", is_of_host=True)]) == []


def test_a_worker_that_is_still_looked_at_is_waited_for(home: Path) -> None:
    """A cell that failed for its host's sake is kept for it, and others go on; unless it does not pass."""
    workers = fit_workers(home, "a")
    workers._questions["b"] = _Question(is_of_cells=False, answer=None, asked=0.0)
    assert workers.hear("a", [CellOutcome(0, 1.0, "OSError: x", is_of_host=True)]) == [0]
    assert (workers.able([0]), workers.able([1])) == ([], ["a"])
    del workers._questions["b"]
    assert workers.able([0]) == ["a"]
    workers.fit.append("b")
    assert workers.able([0]) == ["b"]


def test_one_that_does_not_answer_is_set_aside(home: Path) -> None:
    """And asked no more: what it was asked is taken back, or it would do that before the next cell."""
    taken_back: list[bool] = []
    answer: Any = SimpleNamespace(done=lambda: False, cancel=lambda: taken_back.append(True))
    client: Any = SimpleNamespace(nthreads=lambda: {"a": 1, "b": 1})
    workers = fit_workers(home, "a")
    workers._questions["b"] = _Question(is_of_cells=False, answer=answer, asked=time.monotonic() - ANSWERS_WITHIN + 60)
    assert workers.look(client) == 2
    assert (taken_back, workers.aside) == ([], {})
    workers._questions["b"] = _Question(is_of_cells=False, answer=answer, asked=time.monotonic() - ANSWERS_WITHIN - 1)
    assert workers.look(client) == 2
    assert (taken_back, workers._questions, workers.fit) == ([True], {}, ["a"])
    assert workers.aside == {"b": "worker b has not answered for 60 s"}


def test_who_fails_where_others_do_not_is_set_aside(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    """At the second cell that another did; it is named with what it said. What fails everywhere is nobody's fault."""
    workers = fit_workers(home, "a", "b")
    for number in (0, 1, 2):
        workers.hear("a", [CellOutcome(number, 1.0, "OSError: no /log", is_of_host=True)])
    workers.hear("b", [CellOutcome(2, 1.0, "OSError: no /log", is_of_host=True)])
    workers.hear("b", [CellOutcome(0, 1.0)])
    assert workers.fit == ["a", "b"]
    with caplog.at_level(logging.WARNING, "pipelines"):
        workers.hear("b", [CellOutcome(1, 1.0)])
    assert workers.fit == ["b"]
    assert caplog.messages == ["worker a fails where others do not: OSError: no /log. It gets no cells"]
    assert workers.able([0]) == ["b"]


def test_all_set_aside_is_an_error(home: Path) -> None:
    """With each reason once."""
    workers = fit_workers(home, "a", "b")
    workers.check()
    for name in "ab":
        workers.set_aside(name, "worker sees nothing")
    with pytest.raises(ClusterError, match=r"^cluster tcp://head:8786: worker sees nothing$"):
        workers.check()


def test_what_is_of_the_host(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is not there or cannot be written is; a mistake in a cell is not."""
    monkeypatch.setenv("TRIAL_IS_BLIND", "yes")
    cells = trial_cells(home, 4, n0="raises", n1="fills the disk", n2="is blind")
    told = run_batch(Batch.of(cells, range(4))).told
    assert [each.is_of_host for each in told] == [False, True, True, False]


def test_a_log_that_is_another_one_there(home: Path) -> None:
    """Changed, or gone: which, in words; one cell of each log is looked at."""
    logs = [home / name for name in ("one.swf", "two.swf")]
    for number, log in enumerate(logs):
        log.write_text(f"1 0 0 {60 + number} 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n")
    cells = [MeasureSchedule(log=str(log), policy=name, data_root="data") for log in logs for name in ("fcfs", "easy")]
    assert first_of_each_log(cells) == [0, 2]
    batch, here = Batch.of(cells, [0, 2]), Surroundings.here("data")
    assert unlike(batch, here) == ""
    logs[1].write_text("1 0 0 99 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n")
    assert unlike(batch, here) == f"has another {logs[1]} than is here: let all hosts read the same files"
    logs[0].unlink()
    assert unlike(batch, here).startswith(f"cannot open {logs[0]}: ")


# ---------------------------------------------------------------- real processes


@pytest.fixture
def one_worker(home: Path) -> Iterator[Cluster]:
    """A cluster of one worker process, and what others need to be different."""
    for name, text in (("old", OLD), ("blind", "import os\nos.environ['TRIAL_IS_BLIND'] = 'yes'\n")):
        (home / name).mkdir()
        (home / name / "sitecustomize.py").write_text(text)
    with cluster(home / "dask", 1) as made:
        yield made


@pytest.mark.slow
def test_a_worker_of_another_version_comes_late(
    home: Path, one_worker: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """It gets no cell, and is named with the remedy; the others do all."""
    cells, told = trial_cells(home / "data", 40, 0.5), []

    def tell(each: CellOutcome) -> None:
        told.append(each)
        if len(told) == 3:
            one_worker.start_worker(home / "old")
            one_worker.wait_for_worker()

    with caplog.at_level(logging.WARNING, "pipelines"):
        Dask(one_worker.address).run(cells, tell)
    check_all(cells, told, {})
    assert len({each.worker for each in told}) == 1
    assert any("has swftools 0.9.0, here is " in line and "install the same" in line for line in caplog.messages)


@pytest.mark.slow
def test_a_blind_worker_does_not_eat_the_experiment(
    home: Path, one_worker: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """What it fails at is done by the other; it is set aside after a few cells, and no cell fails."""
    one_worker.start_worker(home / "blind")
    one_worker.wait_for_worker()
    cells, told = trial_cells(home / "data", 30, 0.2, **{f"n{number}": "is blind" for number in range(30)}), []
    with caplog.at_level(logging.WARNING, "pipelines"):
        Dask(one_worker.address).run(cells, told.append)
    check_all(cells, told, {})
    assert sum("fails where others do not: FileNotFoundError" in line for line in caplog.messages) == 1


@pytest.mark.slow
def test_the_only_workers_die_and_others_come(home: Path, one_worker: Cluster) -> None:
    """What they had at hand is run by those that come; nothing waits for the dead."""
    cells, told = trial_cells(home / "data", 30, 0.1), []

    def again() -> None:
        one_worker.end_workers()
        one_worker.start_worker()

    other = threading.Thread(target=again)

    def tell(each: CellOutcome) -> None:
        told.append(each)
        if len(told) == 5:
            other.start()

    Dask(one_worker.address).run(cells, tell)
    other.join()
    check_all(cells, told, {})

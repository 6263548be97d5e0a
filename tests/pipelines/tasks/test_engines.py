# SPDX-License-Identifier: BSD-3-Clause
"""Engines: each cell is told of once and is whole, whatever happens to workers; the same in a pool and on Dask."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.tasks.engines import CellOutcome, Engine, find_engine
from pipelines.tasks.engines.batch_system import BatchSystem
from pipelines.tasks.engines.batches import Batch, Cells, Report, run_batch
from pipelines.tasks.engines.dask_cluster import Dask
from pipelines.tasks.engines.pool import Pool
from swftools.errors import ClusterError, ParameterError
from tests.pipelines.dask_processes import Cluster, cluster
from tests.pipelines.luigi_runs import SWFTOOLS, environment, run
from tests.pipelines.trial_cells import check_all, trial_cells

FAULTS = {"n1": "raises", "n3": "fills the disk", "n5": "kills once", "n8": "kills"}
FAILED = {1: "ValueError: planted", 3: "StorageError", 8: "a worker died each of 3 times"}

EXPERIMENT = {
    "name": "both",
    "logs": ["lublin-feitelson:jobs=60,processors=64,load=0.9,seed=1"],
    "policies": ["easy", "fcfs"],
    "shakes": [0, 3],
    "augment": "none",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder of its own, as a user does."""
    monkeypatch.chdir(tmp_path)
    for name in ("SWFTOOLS_WORK_ROOT", "SWFTOOLS_LOG_PATH", "SWFTOOLS_CATALOG"):
        monkeypatch.setenv(name, "")  # else what the engine sets for this process would outlive the test
    return tmp_path


# ---------------------------------------------------------------- handing out


def test_batches_grow_with_what_cells_take(tmp_path: Path) -> None:
    """One cell first; then about two seconds' worth, never more than half of a worker's share of the rest."""
    cells = Cells(trial_cells(tmp_path, 100), lambda told: None)
    assert [0] == cells.take(2)
    cells.hear(Report([CellOutcome(0, 0.4)]))
    assert [1, 2, 3, 4, 5] == cells.take(2)
    cells.hear(Report([CellOutcome(number, 0.001) for number in range(1, 6)]))
    for _ in range(30):
        cells.hear(Report([CellOutcome(0, 0.001)]))  # heard of already: it counts for the pace alone
    assert 23 == len(cells.take(2))
    assert 94 == len(cells)
    assert 64 == len(Cells(trial_cells(tmp_path, 1000), lambda told: None)._waiting) * 64 // 1000


def test_what_is_done_is_not_handed_out(tmp_path: Path) -> None:
    """And a lost cell that was finished is told of, not run again."""
    made = trial_cells(tmp_path, 4)
    made[2].run()
    told: list[CellOutcome] = []
    cells = Cells(made, told.append)
    assert 3 == len(cells)
    first = cells.take(1)
    made[first[0]].run()
    cells.lose(first)
    assert [first[0]] == [each.number for each in told]
    rest = cells.take(1)
    cells.give_back(rest)
    assert rest == cells.take(1)


def test_one_report_counts(tmp_path: Path) -> None:
    """A cell that two workers tell of is told of once."""
    told: list[CellOutcome] = []
    cells = Cells(trial_cells(tmp_path, 2), told.append)
    cells.hear(Report([CellOutcome(0, 1.0)]))
    cells.hear(Report([CellOutcome(0, 1.0, "late")]))
    assert [CellOutcome(0, 1.0)] == told
    assert not cells.failed


def test_a_cold_cache_is_said_once_a_worker(tmp_path: Path) -> None:
    """With what to do about it; nothing of a warm one."""
    cells = Cells(trial_cells(tmp_path, 2), lambda told: None)
    assert "" == cells.hear(Report(worker="a:1"))
    assert "worker a:1 compiled 7 kernels in 3 s" in cells.hear(Report(worker="a:1", kernels=7, seconds=3.0))
    assert "" == cells.hear(Report(worker="a:1", kernels=7, seconds=3.0))
    assert "" != cells.hear(Report(worker="a:2", kernels=1, seconds=3.0))


def test_another_cell_than_was_asked_for_is_refused(tmp_path: Path) -> None:
    """On a host that has another log under the name, for instance: the keys differ."""
    batch = Batch.of(trial_cells(tmp_path, 1), [0])
    other = Batch(batch.kind, [type(batch.cells[0])(0, batch.cells[0].parameters, "another key")])
    (told,) = run_batch(other).told
    assert "is another one on" in told.error
    assert not list(tmp_path.rglob("one"))


# ---------------------------------------------------------------- the pool


@pytest.mark.parametrize("processes", [2, 3])
def test_faults_in_a_pool(tmp_path: Path, processes: int) -> None:
    """Cells that raise, fill the disk or end their worker are rows; all others are finished, and whole."""
    cells, told = trial_cells(tmp_path, 14, **FAULTS), []
    failed = Pool(processes).run(cells, told.append)
    check_all(cells, told, FAILED)
    assert sorted(FAILED) == sorted(each.number for each in failed)
    runs = [path.name.partition("-")[0] for path in (tmp_path / "runs").iterdir()]
    assert 3 <= runs.count("8") <= 5
    assert 2 == runs.count("5")


def test_in_this_process(tmp_path: Path) -> None:
    """The same without workers that could die."""
    cells, told = trial_cells(tmp_path, 6, n1="raises", n3="fills the disk"), []
    Pool(1).run(cells, told.append)
    check_all(cells, told, {1: "planted", 3: "StorageError"})


# ---------------------------------------------------------------- bad addresses


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("head:8786", "such as tcp://head:8786"),
        ("slurm:none.yaml", "No such file"),
        ("kubernetes", "give the address"),
    ],
)
def test_what_is_no_address(home: Path, address: str, message: str) -> None:
    """Is told when the task is made."""
    assert home
    with pytest.raises(ParameterError, match=message):
        find_engine(address, 0)


def test_a_scheduler_that_does_not_answer(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One error, with what to look at."""
    monkeypatch.setattr("pipelines.tasks.engines.dask_cluster.REACHED_WITHIN", 0.2)
    with pytest.raises(ClusterError, match=r"tcp://127.0.0.1:9 cannot be reached.*dask scheduler"):
        Dask("tcp://127.0.0.1:9").check(str(home))


SLURM = {
    "jobs": 3,
    "cores": 16,
    "memory": "16 GB",
    "walltime": "02:00:00",
    "queue": "short",
    "account": "traces",
    "job_extra_directives": ["--exclusive"],
    "job_script_prologue": ["module load python"],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cores": 0}, "cores must be a whole number"),
        ({"jobs": -1}, "jobs must be a whole number"),
        ({"jobs": True}, "jobs must be"),
        ({"walltime": 7200}, "walltime must be a text in quotes"),
        ({"memory": None}, "memory must be"),
        ({"partition": "short"}, "unknown key 'partition'"),
        ({"processes": 2}, "processes is always as many as cores"),
        ({"job_extra_directives": "--exclusive"}, "is not a list of texts"),
        ({"queue": 3}, "queue is not a text"),
    ],
)
def test_slips_in_a_slurm_file(home: Path, change: dict[str, object], message: str) -> None:
    """Are told with file and key."""
    (home / "slurm.yaml").write_text(json.dumps({**SLURM, **change}))
    with pytest.raises(ParameterError, match=f"slurm.yaml: .*{message}"):
        find_engine("slurm:slurm.yaml", 0)


def test_the_job_script(home: Path) -> None:
    """Asks for what the file says, and starts a worker of one thread a core."""
    (home / "slurm.yaml").write_text(json.dumps(SLURM))
    engine = find_engine("slurm:slurm.yaml", 0)
    assert isinstance(engine, BatchSystem)
    lines = engine.job_script(str(home)).splitlines()
    for line in ("-p short", "-A traces", "--cpus-per-task=16", "--mem=15G", "-t 02:00:00", "--exclusive"):
        assert f"#SBATCH {line}" in lines
    assert "module load python" in lines
    assert "--nthreads 1 " in lines[-1]
    assert "--nworkers 16 " in lines[-1]


# ---------------------------------------------------------------- a Dask cluster of processes


@pytest.mark.slow
def test_a_cluster_gives_what_one_process_does(home: Path) -> None:
    """File by file; the dashboard, or that there is none, is said; a cell a line."""
    (home / "both.yaml").write_text(json.dumps(EXPERIMENT))
    command = [*SWFTOOLS, "experiment", "both.yaml", "--data-root"]
    serial = run([*command, "serial", "--workers", "1"], home)
    assert 0 == serial.returncode, serial.stderr
    with cluster(home / "dask", 1) as made:
        there = run([*command, "there", "--cluster", made.address, "--cell-lines", "lines.jsonl"], home)
    assert 0 == there.returncode, there.stderr
    assert f"cluster {made.address}: 1 worker on 1 host; " in there.stderr
    files = [
        {
            str(path.relative_to(home / root)): path.read_bytes()
            for path in (home / root / "both").rglob("*")
            if path.is_file()
        }
        for root in ("serial", "there")
    ]
    assert files[0] == files[1]
    assert 4 == len((home / "lines.jsonl").read_text().splitlines())


@pytest.fixture
def two_workers(home: Path) -> Iterator[Cluster]:
    """A cluster of two worker processes."""
    with cluster(home / "dask", 2) as made:
        yield made


@pytest.mark.slow
def test_faults_on_a_cluster(home: Path, two_workers: Cluster) -> None:
    """As in a pool, where others come instead of the workers that died."""
    cells, told = trial_cells(home / "data", 14, **FAULTS), []
    stop = threading.Event()

    def replace() -> None:
        while not stop.wait(0.2):
            for worker in [each for each in two_workers.workers if each.poll() is not None]:
                two_workers.workers.remove(worker)
                two_workers.start_worker()

    keeper = threading.Thread(target=replace)
    keeper.start()
    try:
        Dask(two_workers.address).run(cells, told.append)
    finally:
        stop.set()
        keeper.join()
    check_all(cells, told, {**FAILED, 8: "a worker died"})


@pytest.mark.slow
def test_a_worker_killed_in_the_middle(home: Path, two_workers: Cluster) -> None:
    """Its cells are run by the other; none is lost, told of twice, or half there."""
    cells, told = trial_cells(home / "data", 40, 0.1), []

    def tell(each: CellOutcome) -> None:
        told.append(each)
        if len(told) == 10:
            two_workers.workers[0].send_signal(signal.SIGKILL)

    Dask(two_workers.address).run(cells, tell)
    check_all(cells, told, {})


@pytest.mark.slow
@pytest.mark.parametrize("do_workers_stay", [False, True])
def test_the_scheduler_is_started_again(home: Path, two_workers: Cluster, do_workers_stay: bool) -> None:
    """The rest is asked for anew, once it and workers are there again."""
    cells, told = trial_cells(home / "data", 60, 0.1), []

    def again() -> None:
        two_workers.kill_scheduler()
        if not do_workers_stay:
            two_workers.end_workers()
        time.sleep(2)
        two_workers.start_scheduler()
        two_workers.start_worker()

    other = threading.Thread(target=again)

    def tell(each: CellOutcome) -> None:
        told.append(each)
        if len(told) == 10:
            other.start()

    Dask(two_workers.address).run(cells, tell)
    other.join()
    check_all(cells, told, {})


@pytest.mark.slow
def test_the_scheduler_is_killed(home: Path) -> None:
    """Its workers end by themselves; that is said, with what to start again, and without a traceback."""
    (home / "long.yaml").write_text(json.dumps({**EXPERIMENT, "name": "long", "shakes": list(range(1, 401))}))
    short = "import pipelines.tasks.engines.dask_cluster as d; d.BACK_WITHIN = 5.0; "
    program = [sys.executable, "-c", f"{short}from pipelines.cli.main import main; main()"]
    lines = home / "lines.jsonl"
    with cluster(home / "dask", 1) as made:
        made.wait_for_worker()
        words = ["experiment", "long.yaml", "--cell-lines", str(lines), "--cluster", made.address]
        process = subprocess.Popen([*program, *words], cwd=home, env=environment(), stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not lines.exists():
            time.sleep(0.02)
        made.kill_scheduler()
        _, said = process.communicate(timeout=120)
        assert made.workers[0].wait(60) == 0
    assert process.returncode == 30, said
    assert "Traceback" not in said
    assert "distributed" not in said
    again = rf"dask scheduler --port {made.port}; on each host: dask worker {made.address} --nworkers 4 --nthreads 1"
    (told,) = [line for line in said.splitlines() if f"the scheduler {made.address} is gone" in line]
    assert "Its workers end by themselves" in told
    assert again in told
    assert said.splitlines()[-1].startswith("error: cluster")
    assert again in said.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("where", ["pool", "cluster"])
def test_ctrl_c_and_again(home: Path, two_workers: Cluster, where: str) -> None:
    """What was finished is kept; run again, the rest is done and no cell twice."""
    (home / "long.yaml").write_text(json.dumps({**EXPERIMENT, "name": "long", "shakes": list(range(1, 161))}))
    lines = home / "lines.jsonl"
    there = ["--cluster", two_workers.address] if where == "cluster" else ["--workers", "2"]
    command = [*SWFTOOLS, "experiment", "long.yaml", "--cell-lines", str(lines), *there]
    process = subprocess.Popen(command, cwd=home, env=environment(), stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (lines.exists() and len(lines.read_text().splitlines()) > 5):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode, said
    assert "Traceback" not in said
    before = len(lines.read_text().splitlines())
    assert before < 320
    again = run(command, home)
    assert 0 == again.returncode, again.stderr
    cells = [json.loads(line) for line in lines.read_text().splitlines()]
    keys = [(cell["policy"], cell["shake"]) for cell in cells]
    assert len(keys) == len(set(keys)) <= 320
    assert not any(cell["error"] for cell in cells)


@pytest.mark.slow
def test_a_cluster_without_workers(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is told before work begins, and so is one that does not see the data."""
    monkeypatch.setattr("pipelines.tasks.engines.dask_cluster.REACHED_WITHIN", 5.0)
    with cluster(home / "dask", 0) as made:
        engine: Engine = Dask(made.address)
        with pytest.raises(ClusterError, match="has no workers; start some: dask worker tcp://"):
            engine.check(str(home / "data"))
        made.start_worker()
        engine.check(str(home / "data"))
        monkeypatch.setattr(
            "pipelines.tasks.engines.surroundings.Path.cwd", lambda: Path(os.sep) / "nowhere" / "at" / "all"
        )
        with pytest.raises(ClusterError, match="does not see /nowhere/at/all"):
            engine.check(str(home / "data"))

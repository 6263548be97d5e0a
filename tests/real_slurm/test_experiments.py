# SPDX-License-Identifier: BSD-3-Clause
"""Experiments whose workers are jobs of a real Slurm, and what becomes of them when jobs do."""

from __future__ import annotations

import json
import logging
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pipelines.tasks.engines.batch_system import BatchSystem
from pipelines.tasks.engines.batches import CellOutcome
from pipelines.tasks.engines.jobs import TRIES
from tests.folders import ROOT
from tests.pipelines.luigi_runs import SWFTOOLS
from tests.pipelines.trial_cells import check_all, trial_cells
from tests.real_slurm.cluster import Slurm

pytestmark = pytest.mark.slow

JOB = {"jobs": 1, "cores": 2, "memory": "2 GB", "walltime": "00:10:00", "python": sys.executable}
EXPERIMENT = {
    "name": "few",
    "logs": ["lublin-feitelson:jobs=3000,processors=64,load=0.9,seed=3"],
    "policies": ["easy", "fcfs"],
    "shakes": [1, 2],
    "augment": "none",
}


@pytest.fixture
def home(slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder of one's own on a host where jobs can be submitted."""
    monkeypatch.chdir(tmp_path)
    for name, value in {**slurm.environment, "PYTHONPATH": str(ROOT)}.items():
        monkeypatch.setenv(name, value)
    for name in ("SWFTOOLS_WORK_ROOT", "SWFTOOLS_LOG_PATH", "SWFTOOLS_CATALOG"):
        monkeypatch.setenv(name, "")
    (tmp_path / "few.yaml").write_text(json.dumps(EXPERIMENT))
    return tmp_path


def job_file(home: Path, **others: object) -> str:
    """Write the file of a job; return its name."""
    (home / "slurm.yaml").write_text(json.dumps({**JOB, **others}))
    return "slurm.yaml"


def begin(*words: str) -> subprocess.Popen[str]:
    """Begin a command of the console."""
    return subprocess.Popen([*SWFTOOLS, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(*words: str) -> tuple[int, str, str]:
    """Run a command of the console; return its status, and what it printed and said."""
    process = begin(*words)
    printed, said = process.communicate(timeout=300)
    return process.returncode, printed, said


def experiment(*words: str) -> list[str]:
    """Return the command that runs the experiment on Slurm."""
    return ["experiment", "few.yaml", "--cluster", "slurm:slurm.yaml", *words]


def left(slurm: Slurm) -> list[str]:
    """Return the jobs that are in the queue."""
    return slurm.run("squeue --noheader --format=%i").split()


def since(slurm: Slurm, before: Sequence[str]) -> dict[str, str]:
    """Return the states, by sacct, of the jobs that were not there before."""
    lines = slurm.run("sacct --noheader --parsable2 --allocations --format=JobID,State").split("\n")
    states = dict(line.split("|") for line in lines if line)
    return {job: state.split()[0] for job, state in states.items() if job not in before}


def test_a_queue_that_does_not_exist(slurm: Slurm, home: Path) -> None:
    """One line with the words of sbatch, the status of a wrong option; nothing is left behind."""
    before = slurm.states()
    job_file(home, queue="nope")
    status, printed, said = run(*experiment())
    assert (status, printed) == (2, "")
    (line,) = said.splitlines()
    assert line.startswith("error: slurm.yaml: sbatch says: invalid partition specified: nope")
    assert slurm.states() == before
    assert not (home / "data").exists()


def test_jobs_that_die_in_their_prologue(slurm: Slurm, home: Path) -> None:
    """So many, and then it ends: with what sacct says, and the end of the log."""
    before = slurm.states()
    job_file(home, jobs=2, job_script_prologue=["echo module: command not found >&2", "exit 7"])
    status, _, said = run(*experiment())
    assert status == 30
    assert "Traceback" not in said
    error = said.splitlines()[-1]
    assert error.startswith("error: slurm.yaml: no job is left")
    assert "FAILED, exit code 7:0" in error
    assert "module: command not found" in error
    assert set(since(slurm, before).values()) == {"FAILED"}
    assert TRIES <= len(since(slurm, before)) <= TRIES + 1


@pytest.mark.parametrize("how", ["scancel", "walltime"])
def test_the_only_job_ends(slurm: Slurm, home: Path, how: str, caplog: pytest.LogCaptureFixture) -> None:
    """Another takes its place; no cell is lost or told of twice, and it is said what became of the job."""
    before = slurm.states()
    job_file(home, walltime="00:01:00" if how == "walltime" else "00:10:00")
    cells, told = trial_cells(home / "data", 60, 0.3 if how == "scancel" else 3.0), []

    def tell(each: CellOutcome) -> None:
        told.append(each)
        if len(told) == 5 and how == "scancel":
            slurm.run(f"scancel {' '.join(left(slurm))}")

    with caplog.at_level(logging.INFO, "pipelines"):
        BatchSystem("slurm.yaml").run(cells, tell)
    check_all(cells, told, {})
    state = {"scancel": "CANCELLED", "walltime": "TIMEOUT"}[how]
    assert [*since(slurm, before).values()] == [state, "COMPLETED"]
    (ended,) = [line for line in caplog.messages if " ended: " in line]
    assert re.match(rf"job \d+ ended: squeue: {state}.*; sacct: {state}.*/swftools-\d+.err ends: ", ended)
    assert left(slurm) == []


def test_a_job_that_waits_is_waited_for(slurm: Slurm, home: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Here for one that has all nodes; it is said for what."""
    other = slurm.submit("--nodes=2", "--exclusive", "--time=10", "sleep 45")
    slurm.wait_for(lambda: slurm.states()[other] == "RUNNING", "the job that is in the way")
    job_file(home)
    cells, told = trial_cells(home / "data", 4), []
    with caplog.at_level(logging.INFO, "pipelines"):
        BatchSystem("slurm.yaml").run(cells, told.append)
    check_all(cells, told, {})
    assert any("1 job in the queue: squeue: PENDING (" in line for line in caplog.messages)


def test_done_work_is_completed_and_status_says_so(slurm: Slurm, home: Path) -> None:
    """In sacct, with status 0; the logs of jobs are in the work folder, and nowhere else."""
    before = slurm.states()
    job_file(home, jobs=2)
    status, printed, said = run(*experiment())
    assert status == 0, said
    assert "published: data set few" in printed
    assert [*since(slurm, before).values()] == ["COMPLETED"] * 2
    assert {path.name for path in home.iterdir()} == {"data", "few.yaml", "slurm.yaml"}
    assert len([*(home / "data" / ".work" / "job_logs").glob("swftools-*.err")]) == 2
    status, printed, _ = run("status", "few.yaml")
    assert status == 0
    assert printed.startswith("experiment few: 4 of 4 cells finished, 100 %\n  published ")
    assert "distributed" not in said


def test_ctrl_c(slurm: Slurm, home: Path) -> None:
    """130, and no job is left; what is finished is kept."""
    (home / "few.yaml").write_text(json.dumps({**EXPERIMENT, "shakes": list(range(1, 201))}))
    job_file(home)
    lines = home / "lines.jsonl"
    process = begin(*experiment("--cell-lines", str(lines)))
    slurm.wait_for(lambda: lines.exists() or process.poll() is not None, "the first cell", 120)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.splitlines()[-1] == "error: interrupted"
    assert "Traceback" not in said
    slurm.wait_for(lambda: not left(slurm), "the end of all jobs")
    status, printed, _ = run("status", "few")
    assert status == 1
    assert re.match(r"experiment few: [1-9]\d* of 400 cells finished", printed)
    assert "interrupted" in printed


def test_detached(slurm: Slurm, home: Path) -> None:
    """The command is a job, whose log says how it went; what is asked meanwhile is answered."""
    before = slurm.states()
    job_file(home)
    status, printed, said = run(*experiment("--detach"))
    assert status == 0, said
    match = re.match(r"job (\d+): swftools experiment few.yaml --cluster slurm:slurm.yaml\n", printed)
    assert match
    status, told, _ = run("status", "few")
    assert status == 1
    assert f"job {match[1]}: squeue: " in told
    slurm.wait_for(lambda: slurm.states()[match[1]] == "COMPLETED", "the job", 240)
    assert [*since(slurm, before).values()] == ["COMPLETED"] * 2
    status, told, _ = run("status", "few")
    assert status == 0
    assert told.startswith("experiment few: 4 of 4 cells finished, 100 %\n  published ")
    (log,) = (home / "data" / ".work" / "job_logs").glob(f"*-{match[1]}.out")
    assert "published: data set few" in log.read_text()
    status, told, _ = run(*experiment("--detach"))
    assert (status, told) == (0, "experiment few: already complete; nothing was submitted\n")


def test_a_detached_command_that_is_cancelled(slurm: Slurm, home: Path) -> None:
    """Takes its jobs with it."""
    (home / "few.yaml").write_text(json.dumps({**EXPERIMENT, "shakes": list(range(1, 201))}))
    job_file(home)
    status, printed, said = run(*experiment("--detach"))
    assert status == 0, said
    number = printed.split()[1].rstrip(":")
    slurm.wait_for(lambda: len(left(slurm)) == 2, "the job of the workers", 120)
    slurm.run(f"scancel {number}")
    slurm.wait_for(lambda: not left(slurm), "the end of all jobs")
    status, printed, _ = run("status", "few")
    assert status == 1
    assert "interrupted" in printed

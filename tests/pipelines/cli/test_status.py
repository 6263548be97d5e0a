# SPDX-License-Identifier: BSD-3-Clause
"""How far an experiment is: from its finished cells, while it runs, when it ended, and when nobody knows why."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.experiments.file import read_experiment
from pipelines.store import runs
from pipelines.store.runs import RUNNING, StoredRun, recorded

EXPERIMENT = {"name": "few", "logs": ["some.swf"], "policies": ["easy"], "subsets": {"quick": {"policies": ["easy"]}}}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoredRun:
    """A run of five cells, of which one was there before."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "few.yaml").write_text(json.dumps(EXPERIMENT))
    finish(tmp_path, 0)
    (tmp_path / "data" / ".work" / "measured" / "key4").mkdir()  # emptied to free space
    return begin(tmp_path)


def begin(folder: Path, state: str = RUNNING, name: str = "few") -> StoredRun:
    """Begin a run."""
    facts = {
        "subject": f"experiment {name}",
        "parameters": {"experiment": read_experiment(str(folder / "few.yaml")).text},
        "cluster": "",
    }
    outputs = [folder / "data" / ".work" / "measured" / f"key{number}" for number in range(5)]
    return StoredRun.begin(folder / "data" / ".work", name, facts, outputs, state)


def finish(folder: Path, *numbers: int) -> None:
    """Put outputs of cells in their place."""
    for number in numbers:
        (folder / "data" / ".work" / "measured" / f"key{number}").mkdir(parents=True, exist_ok=True)
        (folder / "data" / ".work" / "measured" / f"key{number}" / "table").touch()


def status(*words: str) -> Result:
    """Ask."""
    return CliRunner().invoke(main, ["status", *words, "--data-root", "data"])


def test_while_it_runs(run: StoredRun, tmp_path: Path) -> None:
    """Cells that are there count, whoever finished them; the rest takes as long as those of this run took."""
    assert "0 % left" not in status("few").stdout
    finish(tmp_path, 1, 2)
    run.plan["begun"] -= 100
    run._write("plan", run.plan)
    told = status("few")
    assert told.exit_code == 1
    first, second = told.stdout.splitlines()
    assert first == "experiment few: 3 of 5 cells finished, 60 %"
    assert re.fullmatch(
        r"  begun 100 s ago by \S+:\d+ on this machine; last heard of 0 s ago; about 100 s left", second
    )
    found = json.loads(status("few", "--json").stdout)
    assert (found["done"], found["cells"], found["state"], found["job"]) == (3, 5, "running", None)


def test_failed_cells_are_told(run: StoredRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """As often as notes are taken."""
    run.count(is_failed=True)
    assert "failed" not in status("few").stdout
    monkeypatch.setattr(runs, "OFTEN", -1.0)
    run.count(is_failed=False)
    assert status("few").stdout.startswith("experiment few: 1 of 5 cells finished, 20 %; 1 failed\n")


def test_how_it_ended(run: StoredRun, tmp_path: Path) -> None:
    """Published, failed with what was said, or interrupted; each by its status."""
    with pytest.raises(ValueError, match="planted"), recorded(run):
        raise ValueError("planted")
    told = status("few")
    assert told.exit_code == 30
    assert "failed 0 s ago: ValueError: planted; the same command goes on" in told.stdout
    with pytest.raises(KeyboardInterrupt), recorded(run):
        raise KeyboardInterrupt
    told = status("few.yaml")
    assert told.exit_code == 1
    assert "interrupted 0 s ago" in told.stdout
    finish(tmp_path, *range(5))
    assert status("few").exit_code == 1  # the cells are there, the table is not
    with recorded(run):
        pass
    told = status("few")
    assert told.exit_code == 0
    assert told.stdout == "experiment few: 5 of 5 cells finished, 100 %\n  published 0 s ago\n"


def test_a_process_that_is_there_no_more(run: StoredRun) -> None:
    """Killed, for instance; only its own host can know."""
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    run.plan["process"] = child
    run._write("plan", run.plan)
    told = status("few")
    assert told.exit_code == 1
    assert "its process is there no more" in told.stdout
    run.plan["host"] = "elsewhere"
    run._write("plan", run.plan)
    assert f"by elsewhere:{child}" in status("few").stdout
    assert "no more" not in status("few").stdout


def test_by_file_and_subset_and_all(run: StoredRun, tmp_path: Path) -> None:
    """A subset is another data set; a file that was edited since is told of; without a name all are listed."""
    assert run.progress["state"] == "running"
    begin(tmp_path, "submitted", "few-quick")
    assert status("few.yaml", "--only", "quick").stdout.startswith("experiment few-quick: ")
    assert [line for line in status().stdout.splitlines() if line[0] != " "] == [
        "experiment few: 1 of 5 cells finished, 20 %",
        "experiment few-quick: 1 of 5 cells finished, 20 %",
    ]
    assert {each["name"] for each in json.loads(status("--json").stdout)} == {"few", "few-quick"}
    (tmp_path / "few.yaml").write_text(json.dumps({**EXPERIMENT, "policies": ["easy", "fcfs"]}))
    assert status("few.yaml").stdout.startswith("few.yaml was edited since")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["other"], 20, "there is no run of other in data/.work"),
        (["../few"], 2, "few"),
        (["none.yaml"], 2, "none.yaml"),
    ],
)
def test_what_is_not_known(run: StoredRun, words: list[str], code: int, told: str) -> None:
    """One line with what to do."""
    assert run.folder.is_dir()
    done = status(*words)
    assert done.exit_code == code
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_note_that_is_torn_is_none(run: StoredRun) -> None:
    """Such as one that somebody edited."""
    (run.folder / "plan.json").write_text("{")
    assert status("few").exit_code == 20


def test_the_job_of_an_earlier_run_is_forgotten(
    run: StoredRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the run is that job."""
    run.note_job("17", "slurm", "log", "swftools experiment few.yaml")
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    begin(tmp_path)
    again = StoredRun.find(tmp_path / "data" / ".work", "few")
    assert again is not None
    assert again.job["number"] == "17"
    monkeypatch.setenv("SLURM_JOB_ID", "18")
    begin(tmp_path)
    again = StoredRun.find(tmp_path / "data" / ".work", "few")
    assert again is not None
    assert again.job == {}

# SPDX-License-Identifier: BSD-3-Clause
"""Stages of a run: what they say, what is made again, and what becomes of a log that changes meanwhile."""

from __future__ import annotations

import logging
import shutil
import sys
from pathlib import Path
from typing import Any

import luigi
import pytest

from pipelines.store.data_root import DataRoot
from pipelines.tasks import acquire
from pipelines.tasks.acquire import AcquireLog
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.clean import CleanTrace
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.log_task import LogTask
from pipelines.tasks.parse import ParseLog
from pipelines.tasks.progress import StageProgress
from pipelines.tasks.targets import DirectoryTarget
from swftools.errors import AcquireError, StorageError, SwfFormatError, UnreadableLogError
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, run
from tests.pipelines.small_logs import build, small_log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of three jobs."""
    path = tmp_path / "small.swf"
    path.write_text(small_log())
    return path


def task_of(log: Path, **parameters: Any) -> BuildAugmentedTrace:
    """Return the task that publishes a log without augmentations."""
    return BuildAugmentedTrace(**{"log": str(log), "data_root": str(log.parent / "data"), "augment": "", **parameters})


def times_of(directory: Path) -> dict[Path, int]:
    """Return when each stage's output appeared."""
    return {path: path.stat().st_mtime_ns for path in directory.glob("*/[!.]*")}


def remove(work: Path, stage: str, emptied: bool) -> None:
    """Remove a stage's outputs, or all that is in them."""
    gone = list(work.glob(f"{stage}/[!.]*/*")) if emptied else [work / stage]
    for path in gone:
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def test_removed_parts_of_the_work_root_are_made_again(log: Path) -> None:
    """One after the other, removed and emptied in turn: another version is published, and what is there is left."""
    assert build(task_of(log, augment="utility,arrivals"))
    work = log.parent / "data" / ".work"
    stages = [("logs", True), ("parsed", False), ("cleaned", True), ("utility", False), ("arrivals", True)]
    for number, (stage, emptied) in enumerate(stages, start=1):
        remove(work, stage, emptied)
        kept = times_of(work)
        rules = "duplicates" if stage in ("logs", "parsed") else "default"
        assert build(task_of(log, augment="utility,arrivals", seed=number, rules=rules))
        now = times_of(work)
        assert all(now[path] == time for path, time in kept.items() if path.parent.name != stage)


@pytest.mark.slow
@pytest.mark.parametrize("emptied", [False, True], ids=["removed", "emptied"])
@pytest.mark.parametrize("stage", ["logs", "parsed", "cleaned", "utility", "arrivals"])
def test_a_removed_part_of_the_work_root_is_made_again(log: Path, stage: str, emptied: bool) -> None:
    """Whatever of it is gone, another version is published; what is there is left as it is."""
    assert build(task_of(log, augment="utility,arrivals"))
    work = log.parent / "data" / ".work"
    remove(work, stage, emptied)
    kept = times_of(work)
    assert build(task_of(log, augment="utility,arrivals", seed=1))
    assert build(task_of(log, augment="utility,arrivals", seed=2, rules="duplicates"))
    now = times_of(work)
    assert all(now[path] == time for path, time in kept.items() if path.parent.name != stage)


def test_a_comparison_finds_what_it_needs_after_another_stage_is_gone(log: Path) -> None:
    """Stage by stage, each before another change of what is asked for."""
    where = {"log": str(log), "data_root": str(log.parent / "data"), "augment": ""}
    assert build(ComparePolicies(**where, policies="fcfs"))
    asked: dict[str, dict[str, str]] = {
        "measured": {"policies": "fcfs,easy"},
        "simulated": {"policies": "fcfs,easy", "metrics": "bound=60"},
        "cleaned": {"policies": "fcfs,easy,sjf"},
        "parsed": {"policies": "fcfs,easy", "rules": "duplicates"},
        "logs": {"policies": "fcfs", "rules": "submission-order"},
    }
    for stage, change in asked.items():
        shutil.rmtree(log.parent / "data" / ".work" / stage)
        assert build(ComparePolicies(**where, **change))


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["logs", "parsed", "cleaned", "simulated", "measured", "generated"])
@pytest.mark.parametrize("source", ["file", "lublin-feitelson:jobs=20"])
def test_a_comparison_finds_what_it_needs(log: Path, stage: str, source: str) -> None:
    """Of a log and of a model."""
    where = {"log": str(log) if source == "file" else source, "data_root": str(log.parent / "data"), "augment": ""}
    assert build(ComparePolicies(**where, policies="fcfs"))
    shutil.rmtree(log.parent / "data" / ".work" / stage, ignore_errors=True)
    assert build(ComparePolicies(**where, policies="fcfs,easy"))
    shutil.rmtree(log.parent / "data" / ".work" / stage, ignore_errors=True)
    assert build(ComparePolicies(**where, policies="fcfs,easy", metrics="bound=60"))
    shutil.rmtree(log.parent / "data" / ".work" / stage, ignore_errors=True)
    assert build(ComparePolicies(**where, policies="fcfs,easy", rules="duplicates"))


def test_nothing_of_a_failed_stage_is_left(tmp_path: Path) -> None:
    """What was half filled goes at once; the stage appears whole, and beside it nothing."""
    target = DirectoryTarget(tmp_path / "stage" / "key")
    with pytest.raises(ZeroDivisionError), target.fill() as directory:
        (directory / f"part {1 / 0}").touch()
    with pytest.raises(StorageError, match="nothing was kept of this stage"), target.fill() as directory:
        (directory / "no such directory" / "part").touch()
    assert not target.exists()
    assert [] == [path for path in tmp_path.rglob("*") if path.name not in ("stage", ".staging")]
    with target.fill() as directory:
        (directory / "whole").touch()
    assert {target.path, target.path / "whole"} == {
        p for p in tmp_path.rglob("*") if p.name not in ("stage", ".staging")
    }


def test_what_a_dead_process_left_goes_with_the_next_stage(log: Path) -> None:
    """Of a stage, and of what was to be published; what living ones work on stays."""
    assert build(task_of(log))
    work = log.parent / "data" / ".work"
    area = work / ".staging"
    program = "import os, sys; from pathlib import Path; from pipelines.store.staging import unchecked_staging\n"
    program += "held = unchecked_staging(Path(sys.argv[1]), 'key')\n"
    program += "held.__enter__()\n"
    program += "os._exit(9)\n"
    assert 9 == run([sys.executable, "-c", program, str(work)], log.parent).returncode
    assert 1 == len(list(area.iterdir()))
    assert build(task_of(log, rules="duplicates"))
    assert 0 == len(list(area.iterdir()))


@pytest.mark.parametrize(
    "content",
    ["; MaxProcs: 8\n", *(pytest.param(each, marks=pytest.mark.slow) for each in ("", "\n\n", "not a job\n"))],
    ids=["header", "empty", "blank", "text"],
)
def test_nothing_is_published_of_a_log_without_jobs(tmp_path: Path, content: str) -> None:
    """Status 30 and one line; neither a parsed trace nor a data set is there."""
    (tmp_path / "none.swf").write_text(content)
    result = run([*LUIGI, "BuildAugmentedTrace", "--BuildAugmentedTrace-log", "none.swf"], tmp_path)
    assert 30 == result.returncode, result.stderr
    assert "is this a log in SWF?" in result.stderr
    assert "Traceback" not in result.stderr
    assert [".work"] == [path.name for path in (tmp_path / "data").iterdir()]
    assert not list((tmp_path / "data" / ".work").glob("parsed/[!.]*"))


def test_the_error_says_what_is_in_the_log_instead(tmp_path: Path) -> None:
    """Nothing, comments, or lines that are no jobs."""
    for content, said in (("", "it is empty"), ("; a\n", "comments"), ("x\n", "not one of 1 lines is a job")):
        (tmp_path / "none.swf").write_text(content)
        task = ParseLog(log=str(tmp_path / "none.swf"), data_root=str(tmp_path / "data"))
        task.requires().run()
        with pytest.raises(SwfFormatError, match=said):
            task.run()


def test_a_log_that_is_not_what_it_was_said_to_be_is_refused(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy is hashed: a file that changes while it is copied does not pass for the one that was hashed."""
    task = AcquireLog(log=str(log), data_root=str(log.parent / "data"))
    copy = shutil.copyfile

    def copy_and_change(source: Path, destination: Path) -> None:
        copy(source, destination)
        with destination.open("a") as file:
            file.write("; one line more\n")

    monkeypatch.setattr(acquire.shutil, "copyfile", copy_and_change)
    with pytest.raises(AcquireError, match=r"sha256 of the text is \w{64}, not \w{64}.*run again when it is whole"):
        task.run()
    assert not task.complete()


def test_a_log_that_is_gone_when_it_is_to_be_copied(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line of what happened, not of what the operating system calls it."""
    task = AcquireLog(log=str(log), data_root=str(log.parent / "data"))
    found = task.found
    log.unlink()
    monkeypatch.setattr(AcquireLog, "found", found)
    with pytest.raises(UnreadableLogError, match="is gone since this run began"):
        task.run()


_CHANGES = [
    (stage, how, moment)
    for stage in (AcquireLog, ParseLog, CleanTrace)
    for how in ("gone", "changed")
    for moment in ("before", "after")
]
_BY_DAY = [(AcquireLog, "changed", "before"), (ParseLog, "gone", "before"), (CleanTrace, "changed", "after")]


@pytest.mark.parametrize(
    ("stage", "how", "moment"),
    [pytest.param(*change, marks=() if change in _BY_DAY else pytest.mark.slow) for change in _CHANGES],
)
def test_a_log_that_changes_during_a_run_ends_in_one_line(
    log: Path,
    stage: type[LogTask],
    how: str,
    moment: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Before or after whichever stage but the last: no traceback of luigi's, and nothing wrong is taken for done."""
    run_stage = stage.run

    def change() -> None:
        log.unlink() if how == "gone" else log.write_text(small_log(3, first=7))

    def run_and_change(task: LogTask) -> None:
        if moment == "before":
            change()
        run_stage(task)
        if moment == "after":
            change()

    monkeypatch.setattr(stage, "run", run_and_change)
    assert not build(task_of(log))
    said = caplog.text
    assert "Traceback" not in said
    if (stage, how, moment) == (AcquireLog, "changed", "before"):
        assert 1 == said.count(f"{log}: sha256 of the text is ")
    else:
        assert 1 == said.count(f"log {log} {'is gone' if how == 'gone' else 'was changed'} since this run began")
    assert [".work"] == [path.name for path in (log.parent / "data").iterdir()]
    monkeypatch.undo()
    log.write_text(small_log(4))
    assert build(task_of(log))


@pytest.mark.parametrize("moment", ["before", "after"])
def test_what_is_being_published_is_of_the_log_as_it_was(
    log: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of a version is of one text, and found under its key, also if the log changes during the last stage."""
    version, publish = task_of(log).version, BuildAugmentedTrace.run

    def run_and_change(task: BuildAugmentedTrace) -> None:
        if moment == "before":
            log.write_text(small_log(4))
        publish(task)
        log.write_text(small_log(4))

    monkeypatch.setattr(BuildAugmentedTrace, "run", run_and_change)
    assert build(task_of(log))
    root = DataRoot.open(log.parent / "data")
    assert version == root.latest("small") != task_of(log).version
    assert 3 == root.manifest("small")["tables"]["jobs"]["rows"]


def test_each_stage_says_that_it_begins_and_that_it_is_done(log: Path) -> None:
    """In lines, since nobody sits before this; of a comparison every cell is a stage."""
    result = run([*LUIGI, "ComparePolicies", "--ComparePolicies-log", str(log), "--policies", "fcfs,easy"], log.parent)
    lines = [line for line in result.stderr.splitlines() if line.startswith("[")]
    assert [f"[{(n // 2) + 1} of 9] " for n in range(18)] == [line[:9] for line in lines]
    assert all(line.endswith(" begins") for line in lines[::2])
    assert all(line.endswith(" s") for line in lines[1::2])
    assert f"[1 of 9] AcquireLog {log} begins" == lines[0]
    assert lines[-1].startswith(f"[9 of 9] ComparePolicies {log}: ")
    again = run([*LUIGI, "ComparePolicies", "--ComparePolicies-log", str(log), "--policies", "fcfs,easy"], log.parent)
    assert "begins" not in again.stderr


def test_stages_in_several_processes_are_counted_together(log: Path) -> None:
    """Each number stands once."""
    flags = ["--log", str(log), "--policies", "fcfs,easy,sjf", "--workers", "2"]
    result = run([*SWFTOOLS, "run", "ComparePolicies", *flags], log.parent)
    assert 0 == result.returncode, result.stderr
    begun = [line.split("]")[0] for line in result.stderr.splitlines() if line.endswith("begins")]
    assert [f"[{n} of 11" for n in range(1, 12)] == sorted(begun, key=lambda word: int(word[1:].split()[0]))


def test_a_run_after_one_that_failed_counts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so does a run after one that went well."""
    said: list[str] = []
    monkeypatch.setattr(logging.getLogger("pipelines"), "info", lambda text, *words: said.append(text % words))
    progress = StageProgress()
    for failed in (True, False, False):
        progress.expect("a")
        progress.expect("b")
        progress.begin("a", "a task")
        if failed:
            progress.fail()
        else:
            progress.end("a", "a task", 1.0)
            progress.begin("b", "b task")
            progress.end("b", "b task", 1.0)
    whole = ["[1 of 2] a task begins", "[1 of 2] a task: 1.0 s", "[2 of 2] b task begins", "[2 of 2] b task: 1.0 s"]
    assert ["[1 of 2] a task begins", *whole, *whole] == said


def test_how_far_a_stage_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line in ten seconds at most, and none at the end, which has its own."""
    said: list[str] = []
    monkeypatch.setattr(logging.getLogger("pipelines"), "info", lambda text, *words: said.append(text % words))
    clock = [0.0]
    monkeypatch.setattr("pipelines.tasks.progress.monotonic", lambda: clock[0])
    progress = StageProgress()
    progress.expect("a")
    progress.begin("a", "a task")
    for clock[0], done in ((9.0, 10), (10.0, 20), (19.0, 30), (20.5, 40), (31.0, 50), (60.0, 50)):
        progress.tell("a", "a task", done, 50)
    progress.end("a", "a task", 60.0)
    assert said[1:-1] == ["[1 of 1] a task: 40 % (00:15 left)", "[1 of 1] a task: 80 % (00:05 left)"]


def test_a_terminal_gets_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """It names the stage, and is taken away at the end."""
    caplog.set_level(logging.INFO, "pipelines")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    progress = StageProgress()
    progress.expect("a")
    progress.begin("a", "a task")
    assert "a task" in capsys.readouterr().err
    progress.tell("a", "a task", 1, 4)
    assert "a task: 25 %" in capsys.readouterr().err
    progress.end("a", "a task", 1.0)
    assert progress._bar is None


def test_luigi_is_told_nothing_it_need_not_know(log: Path) -> None:
    """Whether the log may be another one does not make it another task."""
    assert task_of(log).task_id == task_of(log, other_source=True).task_id
    assert isinstance(task_of(log), luigi.Task)

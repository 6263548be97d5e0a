# SPDX-License-Identifier: BSD-3-Clause
"""A version that is found complete is whole, `latest` names one that is there, and statuses tell the truth."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipelines.cli.main import main
from pipelines.keys import canonical_json
from pipelines.store.data_root import DataRoot
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.compare import ComparePolicies
from pipelines.tasks.evaluate_waits import EvaluateWaitPredictions
from pipelines.tasks.price import PriceSchedule
from pipelines.tasks.publish_experiment import PublishExperiment
from pipelines.tasks.publish_schedule import PublishSchedule
from pipelines.tasks.publishing import PublishingTask
from swftools.errors import StorageError
from tests.forked import PIPELINE
from tests.pipelines.luigi_runs import LUIGI, SWFTOOLS, environment, run
from tests.pipelines.small_logs import build, small_log

TASKS: dict[str, Callable[[Path], PublishingTask]] = {
    "augment": lambda folder: BuildAugmentedTrace(**where(folder), augment=""),
    "compare": lambda folder: ComparePolicies(**where(folder), policies="fcfs"),
    "evaluate": lambda folder: EvaluateWaitPredictions(**where(folder), methods="binomial"),
    "schedule": lambda folder: PublishSchedule(**where(folder), policy="fcfs"),
    "price": lambda folder: PriceSchedule(**where(folder), policy="fcfs", mechanism="fixed", parts=1),
    "experiment": lambda folder: PublishExperiment(
        experiment=canonical_json({"name": "trial", "logs": [str(folder / "small.swf")], "policies": ["fcfs"]}),
        data_root=str(folder / "data"),
    ),
}


def where(folder: Path) -> dict[str, str]:
    """Return the log and data root of a folder."""
    return {"log": str(folder / "small.swf"), "data_root": str(folder / "data")}


BY_DAY = ["augment", "compare"]
"""A version of one table with files beside it, and one of several stages. What is complete is decided in one place; the
other tasks are slow tests."""
EACH = [name if name in BY_DAY else pytest.param(name, marks=pytest.mark.slow) for name in TASKS]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a log, of which the tasks of a day have published."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "small.swf").write_text(small_log(6))
    assert all(build(TASKS[name](folder)) for name in BY_DAY)
    return folder


@pytest.fixture(scope="module")
def published_by_all(published: Path) -> Path:
    """The same, once every task has."""
    assert all(build(make(published)) for make in TASKS.values())
    return published


@pytest.fixture
def folder(published: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return copied(published, tmp_path)


def copied(published: Path, folder: Path) -> Path:
    """Return a copy of what is published, in which the links are links."""
    return Path(shutil.copytree(published, folder / "copy", symlinks=True))


def remove_table(version: Path, table: str) -> str:
    """Remove a table."""
    shutil.rmtree(version / table)
    return f"{table}/part-0.parquet is missing"


def cut_table(version: Path, table: str) -> str:
    """Cut a table off."""
    path = version / table / "part-0.parquet"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-1])
    return f"{table}/part-0.parquet has {size - 1:,} bytes, and {size:,} by the manifest"


def remove_page(version: Path, _: str) -> str:
    """Remove a file that is no table."""
    (version / "README.md").unlink()
    return "README.md is missing"


def damage_manifest(version: Path, _: str) -> str:
    """Damage the manifest."""
    (version / "manifest.json").write_text("{}")
    return "damaged manifest"


@pytest.mark.parametrize("damage", [remove_table, cut_table, remove_page, damage_manifest])
@pytest.mark.parametrize("name", EACH)
def test_a_damaged_version_is_not_complete(
    name: str, damage: Callable[[Path, str], str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Neither is it made anew over what is left, which may be what others wait to have restored."""
    published = request.getfixturevalue("published" if name in BY_DAY else "published_by_all")
    task = TASKS[name](copied(published, tmp_path))
    assert task.complete()
    said = damage(Path(task.output().path), task.main_table)
    with pytest.raises(StorageError) as caught:
        task.complete()
    assert said in str(caught.value)
    assert "restore it from a copy, or remove the version's directory and publish it again" in str(caught.value)


@pytest.mark.parametrize("name", ["augment", pytest.param("compare", marks=pytest.mark.slow)])
def test_a_removed_version_is_published_again(name: str, folder: Path) -> None:
    """As the message says."""
    task = TASKS[name](folder)
    files = {path: path.read_bytes() for path in Path(task.output().path).glob("*/*.parquet")}
    assert files
    shutil.rmtree(task.output().path)
    assert not task.complete()
    assert build(task)
    assert files == {path: path.read_bytes() for path in Path(task.output().path).glob("*/*.parquet")}


LEFT = {"lost": None, "empty": "", "damaged": "no/name\n", "gone": "0123456789abcdef\n"}


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
@pytest.mark.parametrize("name", ["augment", pytest.param("experiment", marks=pytest.mark.slow)])
def test_latest_is_restored(
    name: str, left: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    """It names the version published last, not the one that was looked at; nothing is computed, and it is told."""
    published = request.getfixturevalue("published" if name in BY_DAY else "published_by_all")
    folder = copied(published, tmp_path)
    task = TASKS[name](folder)
    root = DataRoot.open(folder / "data")
    manifest = json.loads((Path(task.output().path) / "manifest.json").read_bytes())
    own = ("data_set", "version", "schema_version", "tables", "files")
    told = {key: value for key, value in manifest.items() if key not in own}
    root.publish(task.data_set_name, "newer", {}, manifest=told)
    pointer = folder / "data" / task.data_set_name / "latest"
    if left is None:
        pointer.unlink()
    else:
        pointer.write_text(left)
    shutil.rmtree(folder / "data" / ".work")
    assert not task.complete()
    assert build(task)
    assert root.latest(task.data_set_name) == "newer"
    assert "was lost or damaged; it names newer again" in caplog.text
    assert task.complete()
    assert not list((folder / "data" / ".work").glob("simulated/*"))


FLAGS = ["--data-root", "data", "--log", "small.swf", "--policies", "fcfs"]
OF_LUIGI = [*LUIGI, "ComparePolicies", "--ComparePolicies-log", "small.swf", *FLAGS[:2], *FLAGS[4:]]
COMMANDS = {
    "compare": [*SWFTOOLS, "compare", *FLAGS],
    "compare --json": [*SWFTOOLS, "compare", *FLAGS, "--json"],
    "luigi": OF_LUIGI,
}


def without_its_table(folder: Path) -> None:
    """Remove the table of the comparison."""
    shutil.rmtree(Path(TASKS["compare"](folder).output().path) / "comparison")


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["words", "json"])
def test_the_status_says_so(
    more: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And nothing is printed as a result."""
    monkeypatch.chdir(folder)
    without_its_table(folder)
    done = CliRunner().invoke(main, ["compare", *FLAGS, *more])
    assert (done.exit_code, done.stdout) == (30, "")
    assert "comparison/part-0.parquet is missing" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_the_status_of_a_process_says_so(name: str, folder: Path) -> None:
    """And one line, through every door."""
    assert run(COMMANDS[name], folder).returncode == 0
    without_its_table(folder)
    done = run(COMMANDS[name], folder)
    assert (done.returncode, done.stdout) == (30, "")
    (line,) = [line for line in done.stderr.splitlines() if "error" in line]
    assert line.startswith("error: ")
    assert "comparison/part-0.parquet is missing" in line


@pytest.mark.parametrize("is_there", [True, False])
def test_what_cannot_be_told_is_a_failure(is_there: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the version was there or is made; it is published."""
    task = TASKS["augment"](folder)
    if not is_there:
        shutil.rmtree(folder / "data" / task.data_set_name)
    with Path("/dev/full").open("w") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        if is_there:
            with pytest.raises(StorageError, match="No space left on device"):
                build(task)
        else:
            assert not build(task)
    assert build(task)


@pytest.mark.slow
@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_standard_output_is_a_failure(name: str, is_there: bool, folder: Path) -> None:
    """One line says what could not be written, and the status that something went wrong."""
    if not is_there:
        shutil.rmtree(folder / "data" / "small-policies")
    said = folder / "said"
    with Path("/dev/full").open("w") as full, said.open("w") as errors, Path(os.devnull).open() as nothing:
        assert PIPELINE.start(COMMANDS[name], folder, environment(), nothing, full, errors).wait() == 30
    assert "Traceback" not in said.read_text()
    (line,) = [line for line in said.read_text().splitlines() if "rror" in line]
    assert "No space left on device" in line
    assert run(COMMANDS[name], folder).returncode == 0

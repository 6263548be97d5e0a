# SPDX-License-Identifier: BSD-3-Clause
"""What people type at the console: names however they are spelled, lists of what there is, and words that are near."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.store.data_root import DataRoot
from swftools import plots
from swftools.simulator import Schedule, list_policies, list_predictors
from swftools.simulator.metrics.definitions import MEASURES
from swftools.trace import Trace

LOG = "; MaxProcs: 8\n" + "".join(f"{n} {9 * n} 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n" for n in range(1, 5))


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small log in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.swf"
    path.write_text(LOG)
    return path


def call(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [*map(str, arguments)])


@pytest.mark.parametrize(
    ("command", "known"),
    [
        ("policies", list(list_policies())),
        ("predictors", list(list_predictors())),
        ("measures", list(MEASURES)),
        ("pictures", [*plots.list_pictures(Trace), *plots.list_pictures(Schedule)]),
    ],
)
def test_lists(command: str, known: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with a line that says something, in 80 columns; as JSON too."""
    monkeypatch.setenv("COLUMNS", "80")
    said = call(command).stdout.splitlines()
    assert max(map(len, said)) <= 80
    told = {line.split()[0]: line.split(maxsplit=1)[-1] for line in said}
    assert all(len(told[name]) > len(name) or command == "measures" for name in known)
    found = json.loads(call(command, "--json").stdout)
    assert set(known) <= {each["name"] for each in found}
    assert all(each["title"] for each in found if each["name"] in known)


def test_one_of_a_list() -> None:
    """With its parameters and their values; one that is not there is an error."""
    assert "  reservations=1\n      an integer of 1 or more\n" in call("policies", "EASY").stdout
    assert "\n  backfill_order" not in call("policies", "sjf_backfill").stdout
    assert "  error=0.5\n" in call("predictors", "Virtual").stdout
    assert "by=hour" in call("pictures", "ARRIVALS").stdout
    for command, name, near in (("policies", "eazy", "easy"), ("pictures", "arivals", "arrivals")):
        failed = call(command, name)
        assert failed.exit_code != 0
        assert failed.stderr.endswith(f"did you mean {near}?\n")


def test_easy_however_it_is_spelled_is_one_version(log: Path) -> None:
    """Of the comparison, of the schedule and of the plan."""
    said = []
    for policies in ("fcfs,easy", "FCFS,Easy"):
        flags = ("--policies", policies, "--processors", 8, "--data-root", "root", "-q")
        done = call("compare", log, *flags)
        assert 0 == done.exit_code, done.output
        said.append(done.stdout.splitlines()[0].rpartition(" ")[2])
    assert said[0] == said[1]
    assert 1 == len(DataRoot.open("root").versions("mine-policies"))


def test_pictures_complete_by_tab() -> None:
    """Those of the log; however their beginning is spelled."""
    parameter = next(each for each in main.commands["plot"].params if each.name == "picture")
    with main.make_context("swftools", ["plot"], resilient_parsing=True) as outer:
        ctx = main.commands["plot"].make_context("plot", [], parent=outer, resilient_parsing=True)
        assert ["arrivals"] == [each.value for each in parameter.shell_complete(ctx, "ARR")]
        assert "gantt" not in [each.value for each in parameter.shell_complete(ctx, "")]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["mine.swf"], "it is a log: swftools describe mine.swf"),
        (["info"], "see swftools describe LOG"),
        (["waits"], "swftools plot --picture waits LOG"),
        (["desribe"], "did you mean 'describe'?"),
        (["compare", "mine.swf", "--policies", "fcfs", "easy"], "--policies ...,easy"),
        (["compare", "--log", "mine.swf", "--policies", "fcfs", "Easy"], "separated by commas"),
        (["compare", "mine.swf", "other.swf"], "swftools experiment FILE.yaml"),
        (["help", "nope"], "there is no command 'nope'"),
    ],
)
def test_words_that_are_near(log: Path, typed: list[str], said: str) -> None:
    """Status 2, and what to type instead."""
    failed = call(*typed)
    assert (2, True) == (failed.exit_code, said in failed.stderr), failed.output


def test_help_is_that_of_the_command(log: Path) -> None:
    """And a command is found however it is spelled."""
    assert call("validate", "--help").stdout == call("help", "Validate").stdout
    assert call("--help").stdout.splitlines()[2:] == call("help").stdout.splitlines()[2:]


def test_a_zip_archive_and_csv(log: Path) -> None:
    """One log is read; of two, both are named; what is missing is an empty cell."""
    with zipfile.ZipFile("one.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write("mine.swf", "folder/mine.swf")
        archive.writestr("__MACOSX/._mine.swf", b"x")
    assert 0 == call("convert", "one.zip", "one.csv", "--raw").exit_code
    found = pd.read_csv("one.csv")
    assert ([1, 2, 3, 4], True) == (found["job_number"].tolist(), bool(found["average_cpu_time"].isna().all()))
    with zipfile.ZipFile("one.zip", "a") as archive:
        archive.write("mine.swf", "second.swf")
    failed = call("describe", "one.zip")
    assert failed.exit_code != 0
    assert "folder/mine.swf, second.swf" in failed.stderr
    whole = Path("one.zip").read_bytes()
    Path("cut.zip").write_bytes(whole[: len(whole) // 2])
    assert "zip archive that cannot be read" in call("describe", "cut.zip").stderr

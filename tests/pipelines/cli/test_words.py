# SPDX-License-Identifier: BSD-3-Clause
"""What people type at the console: names however they are spelled, lists of what there is, and words that are near."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.store.data_root import DataRoot
from pipelines.tasks.acquire import AcquireLog
from swftools import plots, read_log
from swftools.errors import UnreadableLogError
from swftools.simulator import Schedule, list_policies, list_predictors
from swftools.simulator.measure_definitions import MEASURES
from swftools.trace import Trace
from tests.pipelines.store.samples import publish

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
    assert all(len(told[name]) > len(name) for name in known)
    found = json.loads(call(command, "--json").stdout)
    assert set(known) <= {each["name"] for each in found}
    assert all(each["title"] for each in found if each["name"] in known)


def test_one_of_a_list() -> None:
    """With its parameters and their values; one that is not there is an error."""
    assert "  reservations=1\n      an integer of 1 or more\n" in call("policies", "EASY").stdout
    assert "\n  backfill_order" not in call("policies", "sjf_backfill").stdout
    assert "\n  when  If jobs have ranks, " in call("policies", "prio-fifo").stdout
    assert "\n  when" not in call("policies").stdout
    (easy,) = json.loads(call("policies", "easy", "--json").stdout)
    assert easy["when"].startswith("As the baseline of a study: ")
    wait, *_ = json.loads(call("measures", "--json").stdout)
    assert [wait[key] for key in ("name", "unit", "worse")] == ["wait", "s", "higher"]
    assert wait["title"].endswith(" the start of its last such run (s; higher is worse)")
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
        (["wait"], "swftools waits LOG, and swftools plot --picture waits LOG"),
        (["desribe"], "did you mean describe?"),
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
    assert "one.zip#folder/mine.swf'; or" in failed.stderr
    Path("second.swf").write_text(LOG.rpartition("4 36")[0])
    with zipfile.ZipFile("two.zip", "w") as archive:
        archive.write("mine.swf", "folder/mine.swf")
        archive.write("second.swf", "b.swf")
    for word, jobs in (("two.zip#folder/mine.swf", 4), ("two.zip#mine.swf", 4), ("two.zip#b.swf", 3)):
        assert jobs == json.loads(call("describe", word, "--json").stdout)["jobs"]
    assert "no such file in the archive; it has folder/mine.swf, b.swf" in call("describe", "two.zip#c").stderr
    assert "log 'two.zip#' is neither a file nor a card" in call("describe", "two.zip#").stderr
    assert "is no zip archive" in call("describe", "mine.swf#b.swf").stderr
    acquired = AcquireLog(log="two.zip#b.swf", data_root="root")
    acquired.run()
    assert Path("second.swf").read_bytes() == acquired.path.read_bytes()
    Path("mine.swf#b.swf").write_text(LOG)  # a file of that name goes first
    assert 4 == json.loads(call("describe", "mine.swf#b.swf", "--json").stdout)["jobs"]
    whole = Path("one.zip").read_bytes()
    Path("cut.zip").write_bytes(whole[: len(whole) // 2])
    assert "zip archive that cannot be read" in call("describe", "cut.zip").stderr


def test_a_zip_archive_from_a_pipe(log: Path) -> None:
    """It is read to its end first; one too large is refused, with the remedy."""
    with zipfile.ZipFile("one.zip", "w") as archive:
        archive.write("mine.swf")
    whole = Path("one.zip").read_bytes()
    done = CliRunner().invoke(main, ["describe", "-", "--json"], input=whole)
    assert 4 == json.loads(done.stdout)["jobs"]
    with pytest.raises(UnreadableLogError, match="zip archive of more than 20 bytes"):
        read_log(io.BytesIO(whole), max_bytes=20)


def test_report_of_a_log(log: Path) -> None:
    """Of a log nothing is published; a data set of the name goes first, and is named; a path and --log are logs."""
    said = call("report", "mine.swf", "-o", "log.html", "--processors", 8)
    assert said.stdout.startswith("report: log.html"), said.output
    page = Path("log.html").read_text()
    assert "it is not published" in page
    assert page.count("<svg") > 3
    assert not Path("data").exists()
    Path("mine").write_text(LOG)
    publish(DataRoot.open("data"), "v1", "mine")
    for words, first in (
        (["mine"], "data set mine, version v1"),
        (["./mine"], "report: "),
        (["--log", "mine"], "report: "),
    ):
        said = call("report", *words, "-o", "x.html", "--processors", 8)
        assert said.stdout.startswith(first), said.output
    for words, told in (([], "name a data set or a log"), (["mine.swf", "--compare", "v1"], "is a log")):
        failed = call("report", *words)
        assert (2, True) == (failed.exit_code, told in failed.stderr), failed.output
    assert 20 == call("report", "nothing").exit_code
    assert "neither a file nor a card" in call("report", "./nothing.swf").stderr


def test_output_of_commands_that_write() -> None:
    """Each command that writes a file or folder of the user's takes -o."""
    writing = ("convert", "estimates", "simulate", "plot", "report", "price", "energy", "reservations", "sites")
    for name in (*writing, "export", "explain", "reserve", "formats"):
        assert any("-o" in each.opts for each in main.commands[name].params), name

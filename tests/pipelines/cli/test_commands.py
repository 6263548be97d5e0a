# SPDX-License-Identifier: BSD-3-Clause
"""The console script: what each command prints, and that its exit status tells the truth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import swftools
from pipelines.cli.main import main
from pipelines.logs.find import SHIPPED_LOG
from pipelines.store.data_root import DataRoot
from swftools.formats.parquet import read_parquet
from tests.folders import VERSION
from tests.pipelines.luigi_runs import SWFTOOLS, run

SOUND = "; MaxProcs: 8\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"
CANCELLED = "2 10 -1 -1 -1 -1 -1 8 90 -1 5 7 -1 -1 3 -1 -1 -1\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A sound log of one job."""
    path = tmp_path / "sound.swf"
    path.write_text(SOUND)
    return path


def call(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_help_teaches_the_commands_by_example() -> None:
    """The first screen shows what to type, and each command has an example."""
    assert "swftools publish LOG" in call("--help").output
    for command in ("describe", "validate", "convert", "augment", "run"):
        assert f"Example: swftools {command}" in call(command, "--help").output


def test_describe_counts_what_the_log_holds(log: Path) -> None:
    """The figures as JSON: jobs, machine, load, missing values."""
    facts = json.loads(call("describe", log, "--json", "--flurries").output)
    assert (1, 8, 0) == (facts["jobs"], facts["processors"], facts["quarantined_lines"])
    assert {"3": 1} == facts["jobs_by_queue"]
    assert (1, 0) == (facts["missing_values"]["used_memory"], facts["missing_values"]["run_time"])
    assert [] == facts["proposed_flurries"]


def test_describe_prints_the_same_for_people() -> None:
    """The shipped log by the name of its card, whose machine and queue names are shown."""
    output = call("describe", SHIPPED_LOG).output
    assert "jobs                       5,000" in output
    assert "processors                 1,152" in output
    assert "0 interactive" in output


@pytest.mark.parametrize(
    ("text", "flags", "status"),
    [
        (SOUND, [], 0),
        (SOUND + "no job\n", [], 1),
        (SOUND + CANCELLED, [], 0),
        (SOUND + CANCELLED, ["--strict"], 1),
        (SOUND.replace("4 90", "16 90").replace("60 4", "60 16"), [], 1),
    ],
    ids=["sound", "bad line", "flagged job", "flagged job, strict", "too wide"],
)
def test_validate_exits_with_1_if_the_log_has_faults(log: Path, text: str, flags: list[str], status: int) -> None:
    """A line that is no job and a job that could never start are faults; marks are only with --strict."""
    log.write_text(text)
    assert status == call("validate", log, *flags).exit_code


def test_validate_shows_line_reason_and_text(log: Path) -> None:
    """What a user needs to mend the line."""
    log.write_text(SOUND + "no job\n")
    assert "line 3: 2 fields instead of 18: 'no job'" in call("validate", log).output


@pytest.mark.parametrize("suffix", [".swf", ".swf.gz", ".swf.bz2", ".swf.xz", ".swf.zst", ".parquet"])
def test_convert_there_and_back_gives_the_same_log(log: Path, tmp_path: Path, suffix: str) -> None:
    """Header and jobs survive every format."""
    there, back = tmp_path / f"there{suffix}", tmp_path / "back.swf"
    assert (0, 0) == (call("convert", log, there).exit_code, call("convert", there, back).exit_code)
    assert swftools.read_swf(log).equals(swftools.read_swf(back))


def test_convert_cleans_by_the_rules_asked_for(log: Path, tmp_path: Path) -> None:
    """The run is cut at the request."""
    log.write_text(SOUND.replace(" 60 ", " 99 "))
    rules = '[{"rule": "run-over-request", "action": "cut-run"}]'
    assert 0 == call("convert", log, tmp_path / "out.parquet", "--rules", rules).exit_code
    assert [90.0] == read_parquet(tmp_path / "out.parquet").jobs["run_time"].tolist()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["describe", "nowhere.swf"], 20, "error: log 'nowhere.swf' is neither a file nor a card"),
        (["describe", "."], 20, "error: log '.' is a folder without files"),
        (["describe", "nowhere.parquet"], 20, "neither a file nor a card"),
        (["convert", SHIPPED_LOG, "out.txt"], 2, "the suffix names no format"),
        (["convert", SHIPPED_LOG, "out.swf", "--rules", "tidy"], 2, "no cleaning rule 'tidy'"),
        (["convert", SHIPPED_LOG, "no/such/folder/out.swf"], 2, "no/such/folder"),
        (["augment", "--set", "globmax=2"], 2, "write AUGMENTATION.NAME=VALUE"),
        (["run", "MakeTea"], 2, "no task 'MakeTea'; there are: AcquireLog"),
        (["versions", "nothing", "--data-root", "empty"], 20, "error: "),
        (["rollback", "nothing", "--data-root", "empty"], 20, "error: "),
        (["promote", "../x", "y", "--data-root", "."], 2, "error: "),
    ],
)
def test_mistakes_are_one_line_and_a_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int, said: str
) -> None:
    """20 for what is not there, 2 for what is wrong with the command; never a traceback."""
    monkeypatch.chdir(tmp_path)
    result = call(*arguments)
    assert (status, True) == (result.exit_code, said in result.output), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_augment_publishes_and_versions_rollback_promote_verify_follow(log: Path, tmp_path: Path) -> None:
    """A life of a data set on the console."""
    root = tmp_path / "data"

    def augment(*flags: str) -> str:
        result = run([*SWFTOOLS, "augment", "--log", str(log), "--data-root", str(root), *flags], tmp_path)
        assert 0 == result.returncode, result.stderr
        return result.stdout.splitlines()[0].rpartition(" ")[2]

    first = augment("--seed", "1")
    second = augment("--set", "utility.globmax=2", "--set", "utility.deadline_basis=wait")
    manifest = DataRoot.open(root).manifest("sound", second)
    assert (2, "wait") == tuple(manifest["parameters"]["utility"][name] for name in ("globmax", "deadline_basis"))
    assert [f"* {second}", f"  {first}"] == [
        line[:18] for line in call("versions", "sound", "--data-root", root).output.splitlines()[1:]
    ]
    assert f"sound: latest is now {first}\n" == call("rollback", "sound", "--data-root", root).output
    assert f"sound: latest is now {second}\n" == call("promote", "sound", second, "--data-root", root).output
    assert 0 == call("verify", "sound", "--data-root", root).exit_code
    damaged = root / "sound" / second / "jobs" / "part-0.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert 1 == call("verify", "sound", "--data-root", root).exit_code


def test_dry_run_says_what_would_be_done_and_does_nothing(log: Path, tmp_path: Path) -> None:
    """The plan, each task once; a missing log is exit status 20 here too."""
    command = [*SWFTOOLS, "augment", "--dry-run", "--log"]
    result = run([*command, str(log)], tmp_path)
    assert (0, 8) == (result.returncode, result.stdout.count(": to do"))
    assert not (tmp_path / "data").exists()
    missing = run([*command, "nowhere"], tmp_path)
    assert (20, True) == (missing.returncode, "LogFile: missing" in missing.stdout)


def test_run_is_luigi_with_the_same_status(log: Path, tmp_path: Path) -> None:
    """Any task with its own flags, --log among them; 20 where the log is missing."""
    flags = ["--rules", "duplicates", "--data-root", str(tmp_path / "data")]
    assert 0 == run([*SWFTOOLS, "run", "CleanTrace", f"--log={log}", *flags], tmp_path).returncode
    assert 20 == run([*SWFTOOLS, "run", "CleanTrace", "--log", "nowhere", *flags], tmp_path).returncode
    assert 1 == len(list((tmp_path / "data" / ".work" / "cleaned").glob("[0-9a-f]*")))


@pytest.mark.parametrize(
    "command",
    [["augment"], ["compare", "--policies", "fcfs"], ["evaluate", "--options", "training=1"]],
    ids=lambda c: c[0],
)
def test_a_machine_of_which_the_log_does_not_tell(tmp_path: Path, command: list[str]) -> None:
    """Commands that publish take it from their user, and the data set tells it, and that it was given."""
    log = tmp_path / "my.swf"
    log.write_text("1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n2 9 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n")
    done = run([*SWFTOOLS, *command, str(log), "--processors", "64"], tmp_path)
    assert 0 == done.returncode, done.stderr
    (manifest,) = (json.loads(path.read_text()) for path in (tmp_path / "data").glob(f"my*/{VERSION}/manifest.json"))
    given = manifest["parameters"].get("options") if command[0] == "compare" else manifest["parameters"]
    assert (manifest["machine_processors"], given["processors"]) == (64, 64)
    assert not any("size of the machine" in told for told in manifest["assumptions"])

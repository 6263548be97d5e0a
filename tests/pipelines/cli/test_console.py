# SPDX-License-Identifier: BSD-3-Clause
"""What all commands have in common: how a log is named, one line of error, JSON, completion, pipes that close."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.cli.output import print_json
from pipelines.exit_statuses import FAILED, FOUND_FAULTS, MISSING_INPUT, WRONG_COMMAND
from tests.pipelines.luigi_runs import SWFTOOLS, environment, run
from tests.pipelines.small_logs import small_log

TAKE_A_LOG = ("describe", "estimates", "simulate", "explain", "check-schedule")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A sound log of a few jobs."""
    path = tmp_path / "small.swf"
    path.write_text(small_log(5))
    return path


def call(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def told(*arguments: object, status: int = 0) -> Any:
    """Return the document that a command prints; nothing else may stand there."""
    result = call(*arguments)
    assert result.exit_code == status, result.output
    return json.loads(result.stdout)


def test_every_command_stands_in_one_family() -> None:
    """Help shows each once."""
    lines = [
        line.split()[0] for line in call("--help").output.partition("\nLogs:\n")[2].splitlines() if line[:3] > "  "
    ]
    names = [name for name in lines if name in main.commands]
    assert sorted(names) == sorted(main.commands)
    assert sorted(main.list_commands(click.Context(main))) == sorted(main.commands)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulat", "x"], "error: there is no command 'simulat'; did you mean simulate?"),
        (["zzz"], "error: there is no command 'zzz'; swftools --help lists them"),
        (["simulate", "--polcy", "x"], "error: No such option '--polcy'. Did you mean '--policy'?"),
        (["prune", "--keep", "x"], "is not a valid integer range; see "),
        (["simulate"], "error: name a log: its path, or a card; see "),
        (["validate"], "error: name a log: its path, or a card; see "),
        (["convert", "a.swf"], "error: give one log and one output: LOG OUTPUT; see "),
        (["describe", "a", "--log", "b"], "error: the log is given twice, as an argument and by --log; see "),
        (["augment", "a", "--log", "b"], "error: the log is given twice"),
        (["--bogus"], "error: No such option '--bogus'"),
    ],
)
def test_a_wrong_command_is_one_line(words: list[str], said: str) -> None:
    """On standard error, with the status of a wrong command and what to do."""
    result = call(*words)
    assert (result.exit_code, result.stdout) == (WRONG_COMMAND, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_without_a_command() -> None:
    """Help is shown, and it was none."""
    result = call()
    assert result.exit_code == WRONG_COMMAND
    assert "Logs:\n" in result.output


def test_what_the_system_refuses_is_one_line(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is told in its words."""

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "easy.csv")

    monkeypatch.setattr("pipelines.cli.schedules._written", full)
    result = call("simulate", log)
    assert (result.exit_code, result.stderr) == (FAILED, "error: [Errno 28] No space left on device: 'easy.csv'\n")


def test_a_log_is_named_in_two_ways(log: Path, tmp_path: Path) -> None:
    """As an argument or by --log; what is said is the same."""
    assert call("describe", log).output == call("describe", "--log", log).output
    schedule = tmp_path / "easy.csv"
    one, other = (call("simulate", *words, "-o", schedule) for words in ([log], ["--log", log]))
    assert (one.exit_code, one.output) == (0, other.output)
    for words in (["--log", log], [log]):
        assert call("check-schedule", schedule, *words).exit_code == 0
    assert call("validate", "--log", log).output == call("validate", log).output
    made = []
    for number, words in enumerate(([log, "{}"], ["--log", log, "{}"], [log, "-o", "{}"], ["--log", log, "-o", "{}"])):
        path = tmp_path / f"made-{number}.swf"
        assert call("convert", *(path if word == "{}" else word for word in words)).exit_code == 0
        made.append(path.read_bytes())
    assert len(set(made)) == 1


def test_a_task_takes_its_log_first(log: Path, tmp_path: Path) -> None:
    """Before the flags that luigi gets; values of these are no logs."""
    plan = call("augment", log, "--data-root", tmp_path / "d", "--dry-run")
    assert plan.output == call("augment", "--log", log, "--data-root", tmp_path / "d", "--dry-run").output
    assert "BuildAugmentedTrace: to do" in plan.output
    assert call("augment", tmp_path / "none.swf", "--data-root", tmp_path / "d", "--dry-run").exit_code == MISSING_INPUT
    with_flags = call("augment", "--workers", "2", "--log", log, "--data-root", tmp_path / "d", "--dry-run")
    assert with_flags.output == plan.output


@pytest.mark.parametrize("command", [*TAKE_A_LOG, "validate", "convert", "compare"])
def test_processors_are_an_option_wherever_a_log_is_read(command: str) -> None:
    """With one meaning."""
    names = {option for parameter in main.commands[command].params for option in parameter.opts}
    assert "--processors" in names


def test_processors_count(log: Path) -> None:
    """What is given is what the machine has."""
    assert told("describe", log, "--processors", 77, "--json")["processors"] == 77


def test_json_of_logs_and_schedules(log: Path, tmp_path: Path) -> None:
    """Each is one document, which says what the text says."""
    (found,) = told("validate", log, "--json")
    assert (found["ok"], found["jobs"], found["to_quarantine"], found["lines"]) == (True, 5, 0, [])
    bad = tmp_path / "bad.swf"
    bad.write_text(log.read_text() + "no job\n")
    sound, faulty, missing = told("validate", log, bad, tmp_path / "none.swf", "--json", status=MISSING_INPUT)
    assert (sound["ok"], faulty["ok"], missing["ok"]) == (True, False, False)
    assert [line["line_number"] for line in faulty["lines"]] == [8]
    assert "none.swf" in missing["error"]
    path = tmp_path / "fcfs.csv"
    found = told("simulate", log, "--policy", "fcfs", "-o", path, "--json")
    assert (found["policy"], found["processors"], found["jobs"], found["left_out"]) == ("fcfs", 8, 5, {})
    assert found["written"] == [str(path)]
    assert found["validation"]["ok"]
    measures = {(row["measure"], row["statistic"]): row["value"] for row in found["measures"]}
    assert measures["makespan", "value"] == 180  # jobs of 60 s, two at a time: at 0, 10, 60, 70, 120
    report = told("check-schedule", path, log, "--policy", "fcfs", "--json")
    assert report["ok"]
    lines = path.read_text().splitlines()
    start = lines[0].split(",").index("start_time")
    cells = lines[1].split(",")
    cells[start] = "-5"
    path.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    report = told("check-schedule", path, log, "--json", status=FOUND_FAULTS)
    assert not report["ok"]
    assert report["violations"][0]["job_number"] == 1


def test_dependencies_are_checked_where_it_is_asked_for(tmp_path: Path) -> None:
    """Else what starts before that which it waits for is a note."""
    log, starts = tmp_path / "log.swf", tmp_path / "starts.csv"
    log.write_text("; MaxProcs: 4\n1 0 0 10 1 0 0 1 10 -1 1 1 1 1 1 1 -1 -1\n2 1 9 5 1 0 0 1 5 -1 1 1 1 1 1 1 1 2\n")
    starts.write_text("job_number,start_time\n1,0\n2,11\n")
    note = "dependencies not followed: 1 of 1 jobs that wait for others start before these have ended"
    assert note in told("check-schedule", starts, log, "--json")["notes"]
    found = told("check-schedule", starts, log, "--json", "--dependencies", "follow", status=FOUND_FAULTS)
    assert [row["rule"] for row in found["violations"]] == ["dependencies"]
    starts.write_text("job_number,start_time\n1,0\n2,12\n")
    assert told("check-schedule", starts, log, "--json", "--dependencies", "follow")["ok"]


def test_json_of_formats() -> None:
    """All of them, or one."""
    every = told("formats", "--json")
    assert {"swf", "slurm", "pbs", "lsf", "sge", "loadleveler"} <= {each["format"] for each in every}
    (slurm,) = told("formats", "slurm", "--json")
    assert slurm in every
    assert "sacct" in slurm["command"]


def test_json_of_data_sets(log: Path, tmp_path: Path) -> None:
    """A published comparison, what is there, its files, and what could go."""
    root = tmp_path / "data"
    words = [*SWFTOOLS, "compare", str(log), "--policies", "fcfs,easy", "--json", "--data-root", str(root)]
    done = run(words, tmp_path)
    assert done.returncode == 0, done.stderr
    published = json.loads(done.stdout)
    assert (published["data_set"], {row["policy"] for row in published["rows"]}) == (
        "small-policies",
        {"logged", "fcfs", "easy"},
    )
    assert json.loads(run(words, tmp_path).stdout) == published
    at = ["--data-root", root, "--json"]
    (listed,) = told("versions", *at)
    assert (listed["version"], listed["is_latest"], listed["tags"]) == (published["version"], True, [])
    tables = told("versions", "small-policies", published["version"], *at)["tables"]
    assert tables == published["tables"] == {"comparison": len(published["rows"])}
    assert told("verify", "small-policies", *at)["ok"]
    removals = told("prune", *at)
    assert (removals["is_removed"], {each["why"] != "" for each in removals["removals"]}) == (False, {True})
    next(Path(published["path"]).glob("comparison.csv")).write_text("")
    assert told("verify", "small-policies", *at, status=FOUND_FAULTS)["problems"]


def test_what_is_not_known_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    """Not NaN, which is no JSON."""
    print_json({"a": float("nan"), "b": np.float64(1.5), "c": [pd.NA, pd.NaT, np.int64(3), float("inf"), True, None]})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": 1.5, "c": [None, None, 3, None, True, None]}


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        (["simulate", "x", "--policy"], "pv", ["pv-easy"]),
        (["compare", "--policies"], "fcfs,pv", ["fcfs,pv-easy"]),
        (["simulate", "x", "--predictor"], "last", ["last-model"]),
        (["describe"], "KTH", ["KTH-SP2-1996-2.1-cln"]),
        (["describe", "--log"], "KTH", ["KTH-SP2-1996-2.1-cln"]),
        (["formats"], "sl", ["slurm"]),
        (["describe", "x", "--format"], "pb", ["pbs"]),
        (["reproduce"], "nur", ["nurmi2009", "nurmi2009-beyond"]),
    ],
)
def test_completion(words: list[str], incomplete: str, expected: list[str]) -> None:
    """Values are completed by what is known, the last of a list too."""
    completions = ShellComplete(main, {}, "swftools", "_SWFTOOLS_COMPLETE").get_completions(words, incomplete)
    assert [each.value for each in completions if each.type != "file"] == expected


def test_completion_of_what_is_published(log: Path, tmp_path: Path) -> None:
    """Data sets of the root that is given; where there is none nothing is offered, and nothing breaks."""
    root = str(tmp_path / "data")
    assert run([*SWFTOOLS, "augment", str(log), "--data-root", root], tmp_path).returncode == 0
    shell = ShellComplete(main, {}, "swftools", "_SWFTOOLS_COMPLETE")
    offered = [each.value for each in shell.get_completions(["versions", "--data-root", root], "sm")]
    assert offered == ["small"]
    versions = [each.value for each in shell.get_completions(["verify", "--data-root", root, "small"], "")]
    assert versions[0] == "latest"
    assert len(versions) == 2
    assert shell.get_completions(["versions", "--data-root", str(tmp_path / "none")], "sm") == []


@pytest.mark.parametrize(
    "words",
    [
        ["describe"],
        pytest.param(["augment"], marks=pytest.mark.slow),
        pytest.param(["simulate", "--policy", "fcfs"], marks=pytest.mark.slow),
    ],
)
def test_a_pipe_that_closes_is_silent(words: list[str], log: Path, tmp_path: Path) -> None:
    """Nothing is said of it, the work is done, and the status is that of the work."""
    command = [*SWFTOOLS, words[0], str(log), *words[1:]]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        status = process.wait(timeout=120)
    assert status == 0, said
    assert "Traceback" not in said
    assert "BrokenPipe" not in said
    if words[0] == "augment":
        assert (tmp_path / "data/small/latest").is_file()


@pytest.mark.parametrize(
    "closed", [">&- 2>&-", *(pytest.param(each, marks=pytest.mark.slow) for each in (">&-", "2>&-"))]
)
def test_streams_that_are_closed_from_the_start(closed: str, tmp_path: Path) -> None:
    """As a daemon may have them: the command works, in silence."""
    words = " ".join(map(shlex.quote, [*SWFTOOLS, "formats"]))
    done = subprocess.run(
        ["sh", "-c", f"{words} {closed}"], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_queue_that_is_not_there_is_found_before_the_work(log: Path, tmp_path: Path) -> None:
    """No simulation ran."""
    done = run([*SWFTOOLS, "compare", str(log), "--unmeasured-queues", "77", "--policies", "fcfs"], tmp_path)
    assert done.returncode == FAILED
    assert "unmeasured_queues: no job is of queue 77; the queues of " in done.stderr
    assert not list((tmp_path / "data/.work/simulated").glob("*/schedule.parquet"))

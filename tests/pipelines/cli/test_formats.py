# SPDX-License-Identifier: BSD-3-Clause
"""Commands and the formats of logs: what is listed, what is converted, what is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import FOUND_FAULTS
from swftools import read_log, read_swf
from swftools.formats.parquet import read_parquet
from swftools.formats.registry import list_formats
from tests.pipelines.accounting_logs import FORMAT, listing, step


def call(*words: object) -> Result:
    """Run a command."""
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Write a listing."""
    path = tmp_path / "history.txt"
    path.write_text(listing())
    return path


def test_formats_are_listed() -> None:
    """All of them; and of each its options and the command by which a site gets such a log."""
    everything = call("formats").stdout
    for name, kind in list_formats().items():
        assert f"{name:<14} {kind.TITLE}\n" in everything
        told = call("formats", name).stdout
        assert kind.COMMAND in told
        assert all(f"  {option}=" in told for option in kind.names())
        assert max(len(line) for line in told.splitlines() if kind.COMMAND not in line) <= 80
    wrong = call("formats", "slrm")
    assert wrong.exit_code != 0
    assert "error: no log format 'slrm'" in wrong.stderr


def test_conversion_keeps_what_the_file_can_hold(log: Path, tmp_path: Path) -> None:
    """SWF the 18 fields; Parquet all columns and names; CSV the names."""
    output, names = tmp_path / "out.swf", tmp_path / "names.csv"
    done = call("convert", log, output, "--raw", "--format", FORMAT, "--names", names)
    assert 0 == done.exit_code, done.stderr
    assert "6 jobs; 4 lines left out" in done.stdout
    trace = read_log(log, FORMAT)
    assert read_swf(output).jobs["run_time"].equals(trace.jobs["run_time"])
    assert names.read_text().splitlines()[1] == "user,1,zebulon"
    assert 0 == call("convert", log, tmp_path / "out.parquet", "--raw", "--format", FORMAT).exit_code
    again = read_parquet(tmp_path / "out.parquet")
    assert again.names.equals(trace.names)
    assert again.jobs["log_id"].tolist() == trace.jobs["log_id"].tolist()
    wrong = call("convert", log, output, "--names", tmp_path / "names.txt", "--format", FORMAT)
    assert "suffix" in wrong.stderr


def test_what_is_odd_is_said(log: Path) -> None:
    """By validate and describe; the record that repeats another is counted too."""
    found = call("validate", log, "--format", FORMAT)
    assert FOUND_FAULTS == found.exit_code
    assert "not ended: 'Running'" in found.stdout
    assert "odd: started more than once: the wait holds earlier runs: 7" in found.stdout
    told = call("describe", log, "--format", FORMAT).stdout
    assert "  7: started more than once: the wait holds earlier runs\n" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("describe", "LOG"), "merged_lines               1\n"),
        (("validate", "LOG"), "2 jobs, 0 lines to quarantine, 1 merged into others\n"),
        (("convert", "LOG", "OUT"), "2 jobs; 0 lines left out; 1 merged into others\n"),
        (("simulate", "LOG", "--processors=8"), "  1: line merged into the record of another\n"),
    ],
)
def test_rows_that_are_merged_are_told(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """How many, by every command that reads a log."""
    fields = "user=anna group=phys queue=batch ctime=1700000000 qtime=1700000000 etime=1700000000 start=1700000600"
    ends = [
        f"11/14/2023 23:13:20;E;{number}.srv;{fields} exec_host=n1/0-3 end=1700004200 Exit_status=0\n"
        for number in (1, 2)
    ]
    log = tmp_path / "log"
    log.write_text(ends[0] + ends[1] + ends[0])
    places = {"LOG": log, "OUT": tmp_path / "out.swf"}
    done = call(*(places.get(word, word) for word in words), "--format=pbs:time_zone=UTC")
    assert done.exit_code == 0, done.output
    assert said in done.output


def test_what_is_missing_is_asked_for(log: Path) -> None:
    """One line, with the option as the console takes it."""
    for given, wanted in (("loadleveler:time_zone=UTC", "processors_per_node=8"), ("loadleveler", "time_zone=")):
        done = call("describe", log, "--format", given)
        assert done.exit_code not in (0, 1)
        assert f"error: {log}: " in done.stderr
        assert wanted in done.stderr
        assert "--format" in done.stderr
        assert 1 == len(done.stderr.splitlines())


def test_nothing_known(tmp_path: Path) -> None:
    """A file that is no log names the formats."""
    (tmp_path / "notes.txt").write_text("to do\n")
    done = call("describe", tmp_path / "notes.txt")
    assert done.exit_code != 0
    assert "none of the known formats" in done.stderr
    assert all(f"\n  {name}: " in done.stderr for name in list_formats())


def test_no_records(tmp_path: Path) -> None:
    """An empty file, and one with nothing but blank lines, which only its reader can be told of."""
    for text, why in (("", "it is empty"), ("\n\n", "it has no records")):
        (tmp_path / "log").write_text(text)
        done = call("describe", tmp_path / "log", "--format", "pbs")
        assert done.exit_code != 0
        assert done.stderr.endswith(f"error: {tmp_path / 'log'}: {why}\n")


def test_only_unfinished_jobs(tmp_path: Path) -> None:
    """A log of which no record is a job says so, and why the first is none."""
    path = tmp_path / "queue.txt"
    path.write_text(step(1, 0, status="Idle"))
    done = call("describe", path, "--format", FORMAT)
    assert done.exit_code != 0
    assert "not one of 1 lines is a job; line 1: not ended: 'Idle'" in done.stderr
    assert "is this a log in SWF" not in done.stderr

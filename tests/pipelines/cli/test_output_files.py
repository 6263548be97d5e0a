# SPDX-License-Identifier: BSD-3-Clause
"""Files that commands write: never over an input, whole or not at all, and refused before the work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pipelines.cli.on_nodes
from pipelines.cli.main import main
from pipelines.logs.find import SHIPPED_LOG

SOUND = "; MaxProcs: 8\n1 0 5 60 4 -1 -1 4 90 -1 1 7 -1 -1 3 -1 -1 -1\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log, with a hard and a symbolic link to it."""
    path = tmp_path / "log.swf"
    path.write_text(SOUND)
    (tmp_path / "hard.swf").hardlink_to(path)
    (tmp_path / "soft.swf").symlink_to(path)
    return path


def call(*arguments: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize("output", ["log.swf", "hard.swf", "soft.swf", "../{}/log.swf"])
@pytest.mark.parametrize("source", ["log.swf", "soft.swf"])
def test_convert_never_writes_over_its_input(log: Path, source: str, output: str) -> None:
    """By whatever name."""
    result = call("convert", log.parent / source, log.parent / output.format(log.parent.name))
    assert (2, True) == (result.exit_code, "is the file that is being read" in result.stderr), result.output
    assert SOUND == log.read_text()
    assert 2 == log.stat().st_nlink


def test_a_parquet_file_is_not_written_over_itself(log: Path) -> None:
    """Neither by convert, nor by a schedule of it."""
    table = log.with_suffix(".parquet")
    assert 0 == call("convert", log, table).exit_code
    before = table.read_bytes()
    assert (2, 2) == (call("convert", table, table).exit_code, call("simulate", table, "--output", table).exit_code)
    assert before == table.read_bytes()


def test_the_file_of_a_card_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Path) -> None:
    """A card's log is found in a directory; its name is not that of the file."""
    monkeypatch.setenv("SWFTOOLS_LOG_PATH", str(tmp_path))
    place = tmp_path / "KTH-SP2-1996-2.1-cln.swf"
    place.write_text(SOUND)
    result = call("convert", "KTH-SP2-1996-2.1-cln", place)
    assert (2, SOUND) == (result.exit_code, place.read_text())


def test_standard_input_is_not_written_over(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in ``swftools convert - log.swf < log.swf``."""
    with log.open("rb") as stream:
        kept = os.dup(0)
        os.dup2(stream.fileno(), 0)
        try:
            result = call("convert", "-", log)
        finally:
            os.dup2(kept, 0)
            os.close(kept)
    assert (2, SOUND) == (result.exit_code, log.read_text())


def test_another_file_is_replaced(log: Path, tmp_path: Path) -> None:
    """An output may be there, if it is no input."""
    other = tmp_path / "other.swf"
    other.write_text("old")
    assert 0 == call("convert", log, other, "--raw").exit_code
    assert SOUND.splitlines()[-1] == other.read_text().splitlines()[-1]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("x.txt", "the suffix names no format; use .csv, .parquet"),
        ("none/x.csv", "there is no folder"),
        ("folder.csv", "is a folder"),
        ("locked/x.csv", "is not writable"),
    ],
)
def test_what_cannot_be_written_is_found_before_the_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, said: str
) -> None:
    """Not after the minutes that it may take; nothing is read even."""
    for name in ("folder.csv", "locked"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(os, "access", lambda path, _: not str(path).endswith("locked"))  # root may write anywhere
    monkeypatch.setattr(pipelines.cli.on_nodes, "load", lambda *_, **__: pytest.fail("the log was read"))
    result = call("simulate", SHIPPED_LOG, "--output", tmp_path / output)
    assert (2, True) == (result.exit_code, said in result.stderr), result.output


@pytest.mark.parametrize("output", ["/dev/full/x.swf", "none/x.swf", "x.swf.zip"])
def test_convert_refuses_them_too(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    """A folder that is none, one that is not there, a format that is none."""
    monkeypatch.chdir(tmp_path)
    assert 2 == call("convert", log, output).exit_code


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_schedule_appears_whole_or_not_at_all(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """What stood there stays if it cannot be written: one line, status 30, and no debris."""
    output = tmp_path / f"schedule{suffix}"
    assert 0 == call("simulate", log, "--output", output).exit_code
    before, names = output.read_bytes(), sorted(tmp_path.iterdir())

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    result = call("simulate", log, "--output", output)
    assert (30, True) == (result.exit_code, "No space left on device" in result.stderr), result.output
    assert (before, names) == (output.read_bytes(), sorted(tmp_path.iterdir()))

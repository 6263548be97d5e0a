# SPDX-License-Identifier: BSD-3-Clause
"""Whether jobs of a log wait for others, before it is read; and what follows for keys, runs and cards."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from pipelines.logs.dependent import may_have_dependencies
from pipelines.logs.find import Log, find_log
from pipelines.tasks.build import BuildAugmentedTrace
from pipelines.tasks.simulate import SimulatePolicy
from tests.pipelines.cli.test_reading_logs import catalog
from tests.pipelines.small_logs import build, small_log


def log_of(*before: int, jobs: int = 4) -> str:
    """Return the text of a log whose jobs wait for some, -1 for none; the last column is the think time."""
    lines = small_log(jobs).splitlines()
    head, rows = lines[:2], [line.split() for line in lines[2:]]
    return (
        "\n".join([*head, *(" ".join([*row[:16], str(job), "5"]) for row, job in zip(rows, before, strict=True))])
        + "\n"
    )


@pytest.mark.parametrize(
    ("before", "is_so"),
    [
        ((-1, -1, -1, -1), False),
        ((-1, -1, 2, -1), True),
        ((-1, -1, -1, 1), True),
        ((1, 1, 1, 1), False),
        ((2, 2, 2, 1), True),
    ],
)
def test_lines_of_swf_say_it(tmp_path: Path, before: tuple[int, ...], is_so: bool) -> None:
    """Field 17, unless it names one number in every line; also compressed, in a folder, and named by a pattern."""
    (tmp_path / "a.swf").write_text(log_of(*before))
    with gzip.open(tmp_path / "b.swf.gz", "wt") as file:
        file.write(log_of(*before))
    (tmp_path / "several").mkdir()
    (tmp_path / "several" / "c.swf").write_text(log_of(*before))
    for log in ("a.swf", "b.swf.gz", "several", "several/*.swf"):
        assert (log, find_log(str(tmp_path / log)).has_dependencies) == (log, is_so)


@pytest.mark.parametrize(
    ("kind", "says", "is_so"),
    [("swf", True, True), ("swf", False, False), ("slurm", False, True), ("pbs", False, True)],
)
def test_what_cards_say(kind: str, says: bool, is_so: bool) -> None:
    """Of an SWF log; others may have such jobs."""
    card = SimpleNamespace(format=kind, dependencies=says)
    assert may_have_dependencies(SimpleNamespace(model=None, version=None, card=card)) is is_so


def test_a_long_log_is_read_in_pieces(tmp_path: Path) -> None:
    """The last line of many counts as much as the first."""
    jobs = 20_000
    (tmp_path / "a.swf").write_text(log_of(*[-1] * (jobs - 1), 7, jobs=jobs))
    assert find_log(str(tmp_path / "a.swf")).has_dependencies


def test_others_than_swf(tmp_path: Path) -> None:
    """A generated log has none; any log of a batch system may have some; of what is no log nothing is said here."""
    assert not find_log("lublin-feitelson:jobs=30,processors=64").has_dependencies
    (tmp_path / "sacct.txt").write_text("JobID|User|Submit|Start|End|State|NCPUS|Timelimit\n")
    (tmp_path / "letter.txt").write_text("Dear Sir or Madam,\n")
    assert find_log(str(tmp_path / "sacct.txt")).has_dependencies
    assert not find_log(str(tmp_path / "letter.txt")).has_dependencies


def test_a_pipe_may_have_them(tmp_path: Path) -> None:
    """It is not read for that."""
    os.mkfifo(tmp_path / "pipe")
    assert may_have_dependencies(Log("pipe", path=tmp_path / "pipe"))


def simulated(tmp_path: Path, log: Path, **parameters: str) -> SimulatePolicy:
    """Return the task of a log."""
    given = {"policy": "fcfs", "augment": "none", **parameters}
    return SimulatePolicy(data_root=str(tmp_path / "data"), log=str(log), **given)


def test_keys_have_it_only_where_it_says_something(tmp_path: Path) -> None:
    """Of a log with such jobs both are other schedules; of another one, one and the same, without a word of it."""
    (tmp_path / "with.swf").write_text(log_of(-1, -1, 2, -1))
    (tmp_path / "without.swf").write_text(log_of(-1, -1, -1, -1))
    keys = {}
    for name in ("with", "without"):
        for how in ("follow", "ignore"):
            task = simulated(tmp_path, tmp_path / f"{name}.swf", dependencies=how)
            keys[name, how] = task.key
            assert ("dependencies" in task.counted_options) == (name == "with")
    assert keys["with", "follow"] != keys["with", "ignore"]
    assert keys["without", "follow"] == keys["without", "ignore"]
    task = simulated(tmp_path, tmp_path / "with.swf")
    assert build(task)
    assert task.load_schedule().jobs["ready_time"].notna().all()


def test_a_card_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A card that does not, of a log with such jobs, is an error that says what to write; nothing is published."""
    text = log_of(-1, -1, 2, -1)
    (tmp_path / "a.swf").write_text(text)
    (tmp_path / "catalog.yaml").write_text(catalog(text))
    monkeypatch.setenv("SWFTOOLS_CATALOG", str(tmp_path / "catalog.yaml"))
    task = simulated(tmp_path, tmp_path / "a.swf")
    assert not task.found.has_dependencies
    assert not build(task)
    assert "write `dependencies: true` in the card" in caplog.text
    assert build(simulated(tmp_path, tmp_path / "a.swf", dependencies="ignore"))
    (tmp_path / "catalog.yaml").write_text(
        catalog(text).replace("    format: swf\n", "    format: swf\n    dependencies: true\n")
    )
    assert build(simulated(tmp_path, tmp_path / "a.swf"))


def test_a_published_version_says_it(tmp_path: Path) -> None:
    """By what its manifest tells of the columns."""
    for name, before in (("with", 2), ("without", -1)):
        (tmp_path / f"{name}.swf").write_text(log_of(-1, -1, before, -1))
        task = BuildAugmentedTrace(data_root=str(tmp_path / "data"), log=str(tmp_path / f"{name}.swf"), augment="none")
        assert build(task)
        version = Path(task.output().path)
        assert json.loads((version / "manifest.json").read_text())["tables"]["jobs"]["rows"] == 4
        assert find_log(str(version)).has_dependencies == (name == "with")
    assert pd.read_parquet(version / "jobs")["preceding_job_number"].isna().all()

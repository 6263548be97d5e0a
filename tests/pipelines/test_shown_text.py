# SPDX-License-Identifier: BSD-3-Clause
"""All that commands print, and all pages, of logs and files whose words would steer a terminal or forge a page."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.config import show_progress
from pipelines.store.data_root import DataRoot
from pipelines.tasks.evaluate_waits import as_markdown, as_text
from swftools.output.shown_text import can_be_shown
from tests.pipelines.history.nights import days
from tests.pipelines.luigi_runs import SWFTOOLS, run

EVIL = "ev\x1b[2Jil\x9b31m\u202e<img src=x onerror=alert(1)>|`x`[y](javascript:z)\x07"
"""Clears the screen, turns text round, is a picture, a cell, code and a link, and rings."""

FORGED = "finding: forged"
NAME = f"log\x1b[31m\n{FORGED}\n\u202e<b>"
"""Of a file, of which a line looks like one of ours."""

HEADER = f"""\
; Version: 2.2
; Computer: {EVIL}
; Installation: {EVIL}
; Acknowledge: {EVIL}
; Information: {EVIL}
; Conversion: {EVIL}
; Note: {EVIL}
; UnixStartTime: 946684800
; MaxProcs: 64
; Queue: 0 {EVIL}
; Queue: 1 {EVIL} too
"""
SLURM = "JobID|User|Group|Account|Partition|JobName|State|Submit|Start|End|NCPUS|TimelimitRaw\n" + "".join(
    f"{n}|{EVIL.replace('|', '')}|{EVIL.replace('|', '')}|{EVIL.replace('|', '')}|{EVIL.replace('|', '')}|"
    f"{EVIL.replace('|', '')}|{state}|2024-01-01T0{n}:00:00|2024-01-01T0{n}:10:00|2024-01-01T0{n}:30:00|4|60\n"
    for n, state in enumerate(["COMPLETED", "COMPLETED", EVIL.replace("|", ""), "COMPLETED"], start=1)
)

_WORD = EVIL.replace(" ", "")
MACHINE = json.dumps(
    {
        "name": EVIL,
        "nodes": [{"kind": _WORD, "names": "n1", "cores": 4, "gpus": {_WORD: 2, EVIL: 1}, "features": [EVIL]}],
        "partitions": [{"name": EVIL, "allow": {"users": EVIL}, "default_time": 5}],
        "licences": {EVIL: 1},
        "burst_buffers": [EVIL],
        "notes": [f"{EVIL}\n{FORGED}"],
    }
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with hostile logs, in which commands run."""
    folder = tmp_path_factory.mktemp("site")
    text = HEADER + "".join(days(3)) + f"no job {EVIL}\n1 2 {EVIL}\n"
    (folder / f"{NAME}.swf").write_text(text)
    (folder / f"{NAME}.txt").write_text(SLURM)
    (folder / f"{NAME}.none").write_text(f"{EVIL}\n")
    (folder / f"{NAME}.yaml").write_text(MACHINE)
    (folder / f"{NAME}.wrong.yaml").write_text(MACHINE.replace('"cores"', '"co\\u001bres"'))
    (folder / f"{NAME}.conf").write_text(f"NodeName=n1 CPUs={EVIL}\n")
    (folder / "inbox").mkdir()
    (folder / "inbox" / f"1{NAME}.swf").write_text(text)
    (folder / "inbox" / f"2{NAME}.swf").write_text(f"{EVIL}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PYTHONWARNINGS", "ignore")
        yield folder


def check(result: Result, *statuses: int) -> str:
    """Return what a command said, once nothing of it steers a terminal or begins a line that is not ours."""
    said = str(result.stdout + result.stderr)
    assert result.exit_code in statuses, (said, result.exception)
    assert can_be_shown(said), [line for line in said.split("\n") if not can_be_shown(line)]
    assert not re.search(f"^{FORGED}", said, re.MULTILINE), said
    return said


SLURM_FORMAT = ("--format", "slurm:time_zone=UTC,processors=64")
COMMANDS = {
    "describe": (["describe", f"{NAME}.swf"], [0]),
    "describe slurm": (["describe", f"{NAME}.txt", *SLURM_FORMAT], [0]),
    "describe json": (["describe", f"{NAME}.swf", "--json"], [0]),
    "describe flurries": (["describe", f"{NAME}.swf", "--flurries"], [0]),
    "validate": (["validate", f"{NAME}.swf", f"{NAME}.none", f"{NAME}.gone"], [20]),
    "validate slurm": (["validate", f"{NAME}.txt", *SLURM_FORMAT], [0, 1]),
    "convert": (["convert", f"{NAME}.swf", f"out {NAME}.swf"], [0]),
    "convert over itself": (["convert", f"{NAME}.swf", f"{NAME}.swf"], [2]),
    "convert to nothing known": (["convert", f"{NAME}.swf", f"{NAME}.doc"], [2]),
    "convert to no folder": (["convert", f"{NAME}.swf", f"{NAME}/x.swf"], [2]),
    "simulate": (["simulate", f"{NAME}.swf", "--policy", "fcfs", "--output", f"{NAME}.csv"], [0]),
    "check-schedule": (["check-schedule", f"{NAME}.csv", "--log", f"{NAME}.swf"], [0]),
    "explain": (["explain", f"{NAME}.swf", "--policy", "search:nodes=20"], [0]),
    "machine": (["machine", f"{NAME}.yaml", "--to", f"{NAME}.to.yaml", "--plot", f"{NAME}.svg"], [0]),
    "machine as JSON": (["machine", f"{NAME}.yaml", "--json"], [0]),
    "machine that is wrong": (["machine", f"{NAME}.wrong.yaml"], [2]),
    "machine of Slurm that is wrong": (["machine", f"{NAME}.conf"], [2]),
    "no such machine": (["machine", f"{NAME}.gone"], [2]),
    "no such change": (["machine", f"{NAME}.yaml", "--change", f"nodes.{EVIL}.cores=4"], [2]),
    "explain no such job": (["explain", f"{NAME}.swf", "--job", "9999"], [2]),
    "check another schedule": (["check-schedule", f"{NAME}.gone.csv", "--log", f"{NAME}.swf"], [1, 2, 20, 30]),
    "no such log": (["describe", f"{NAME}.gone"], [20]),
    "no log": (["describe", f"{NAME}.none"], [30]),
    "no such policy": (["simulate", f"{NAME}.swf", "--policy", EVIL], [2]),
    "no such option": (["simulate", f"{NAME}.swf", f"--{EVIL}"], [2]),
    "no such command": ([EVIL], [2]),
    "no such data set": (["versions", EVIL, "--data-root", "."], [2, 20, 30]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_show_what_logs_say(name: str, site: Path) -> None:
    """Nothing that they print steers a terminal, and no file's name begins a line of its own."""
    arguments, statuses = COMMANDS[name]
    check(CliRunner().invoke(main, arguments), *statuses)


def test_describe_shows_the_names_of_queues(site: Path) -> None:
    """They are told, with what they are made of."""
    said = check(CliRunner().invoke(main, ["describe", f"{NAME}.swf"]), 0)
    assert r"1 ev\x1b[2Jil\x9b31m\u202e<img" in said


def test_what_is_said_on_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever logs a message, with whatever name in it."""
    show_progress()
    logging.getLogger("pipelines").warning("%s: odd", NAME)
    said = capsys.readouterr().err
    assert can_be_shown(said)
    assert f"\n  {FORGED}\n" in said


def pages_of(version: Path) -> None:
    """Check the pages and descriptions of a version: plain, without HTML, and what they say is there."""
    for path in (*version.glob("*.md"), *version.glob("*.json"), version.parent.parent / "catalog.yaml"):
        text = path.read_text()
        assert can_be_shown(text), path
        if path.suffix == ".md":
            assert not re.search(r"<(?!\w+://)|(?<!\\)\[", re.sub(r"(?s)```.*?```|`[^`\n]*`", "", text)), text
            assert "\n" + FORGED not in text
        if path.suffix == ".json":
            json.loads(text)


def test_published_pages(site: Path) -> None:
    """Of a trace, a comparison and an evaluation; and what commands say of them."""
    for command, more in (
        ("augment", ["--augment", "none"]),
        ("compare", ["--policies", "fcfs", "--augment", "none"]),
        ("evaluate", ["--methods", "binomial", "--options", "training=5"]),
    ):
        done = run([*SWFTOOLS, command, "--log", f"{NAME}.swf", *more], site)
        assert 0 == done.returncode, done.stderr
        assert can_be_shown(done.stdout + done.stderr), done.stdout + done.stderr
        assert not re.search(f"^{FORGED}", done.stdout + done.stderr, re.MULTILINE)
    root = DataRoot.open(site / "data")
    names = root.data_sets()
    assert 3 == len(names)
    for name in names:
        version = Path(root.path(name))
        pages_of(version)
        assert r"Computer: ev\\x1b\[2Jil" in (version / "README.md").read_text()
        assert EVIL.strip("\x07") in json.loads((version / "manifest.json").read_text())["computer"]
        tag = ["tag", name, version.name, "good"]
        difference = ["diff", name, version.name, version.name]
        for command in (["versions", name], ["verify", name], ["describe", str(version)], tag, difference, ["prune"]):
            check(CliRunner().invoke(main, command), 0, 1, 30)


def test_groups_that_jobs_name_are_shown() -> None:
    """In an evaluation's lines for the terminal, and in its page."""
    row = {"grouped_by": "queue", "group": EVIL, "method": "binomial", "jobs": 3, "share_not_predicted": 0.0}
    numbers = {"correctness": 1.0, "is_correct": True, "rms_ratio": 1.0, "median_tightness": 1.0}
    found = pd.DataFrame([row | numbers])
    assert can_be_shown(as_text(found, "site"))
    page = as_markdown(found)
    assert can_be_shown(page)
    assert "<img" not in page
    assert 3 == len(page.splitlines())


def test_the_pages_of_a_history(site: Path) -> None:
    """And what a night says of files that it took, and of one that it left."""
    (site / "reevaluate.yaml").write_text(
        "waits: {options: {training: 5}, least_jobs: 10}\ncleaning: {most_quarantined: 0.0001}\n"
    )
    options = ["--inbox", "inbox", "--history", "h", "--settings", "reevaluate.yaml", "--data-root", "data"]
    result = CliRunner().invoke(main, ["reevaluate", *options])
    said = check(result, 4)
    assert f"unreadable: 2log\\x1b[31m\\n{FORGED}\\n" in said
    version = Path(DataRoot.open(site / "data").path("h"))
    pages_of(version)
    assert r"2log\\x1b\[31m" in (version / "summary.md").read_text()
    check(CliRunner().invoke(main, ["predict", "--history", "h", "--queue", "1", "--data-root", "data"]), 0, 5)
    check(CliRunner().invoke(main, ["predict", "--history", "h", "--queue", EVIL, "--data-root", "data"]), 0)

# SPDX-License-Identifier: BSD-3-Clause
"""Every command that has ``--report`` makes one: the whole way, of a log of a few jobs."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from pipelines.cli.main import main
from tests.pipelines.luigi_runs import SWFTOOLS, run

LOG = "; MaxProcs: 8\n; UnixStartTime: 0\n" + "".join(
    f"{job} {60 * job} {job} {600 + job} 4 -1 -1 4 900 -1 1 7 -1 -1 3 -1 -1 -1\n" for job in range(1, 31)
)
EXPERIMENT = "name: tiny\nlogs: [log.swf]\npolicies: [fcfs, easy]\nbaseline: fcfs\n"

COMMANDS = {
    "augment": ["log.swf", "--augment", "utility"],
    "publish": ["log.swf"],
    "compare": ["log.swf", "--policies", "fcfs"],
    "evaluate": ["log.swf", "--methods", "binomial", "--options", "training=5"],
    "experiment": ["tiny.yaml", "--workers", "1"],
    "reproduce": ["yuan2010", "--table", "1", "--logs", "log.swf", "--workers", "1"],
}
"""What each is called with."""


def test_all_are_here() -> None:
    """A command that gets the flag gets its line above."""
    context = click.Context(main)
    commands = {name: main.get_command(context, name) for name in main.list_commands(context)}
    having = {
        name for name, command in commands.items() if command and "report" in {each.name for each in command.params}
    }
    assert having == set(COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_it_makes_one(command: str, tmp_path: Path) -> None:
    """The path that is printed leads to a whole page, beside the version."""
    (tmp_path / "log.swf").write_text(LOG)
    (tmp_path / "tiny.yaml").write_text(EXPERIMENT)
    done = run([*SWFTOOLS, command, *COMMANDS[command], "--report", "--quiet"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    path = re.search(r"^  report: (\S+\.html)$", done.stdout, re.MULTILINE)
    assert path, done.stdout
    page = Path(path[1])
    assert page.with_suffix("").is_dir()
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert text.endswith("</html>\n")
    assert "<h2>How it was made</h2>" in text

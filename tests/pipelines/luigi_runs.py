# SPDX-License-Identifier: BSD-3-Clause
"""Run the pipeline as a user does: in a process of its own, in a directory of its own, where no settings are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.forked import PIPELINE

LUIGI = [sys.executable, "-m", "luigi", "--module", "pipelines"]
SWFTOOLS = [sys.executable, "-m", "pipelines.cli.main"]


def environment(**extra: str) -> dict[str, str]:
    """Return the environment without settings of the developer's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SWFTOOLS_", "LUIGI_"))}
    return {**kept, **extra}


def run(command: list[str], directory: Path, given: bytes = b"", **extra: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a process forked from one that has loaded the pipeline; return status and output.

    Its standard input is a pipe that holds what is given.
    """
    return PIPELINE.run(command, directory, environment(**extra), given)


def start(command: list[str], directory: Path, **extra: str) -> subprocess.CompletedProcess[str]:
    """Run a command as ``run`` does, but from the very start of Python, which takes two seconds more."""
    return subprocess.run(
        command, cwd=directory, env=environment(**extra), capture_output=True, text=True, timeout=300, check=False
    )


def build(directory: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run BuildAugmentedTrace by luigi's own command line."""
    return run([*LUIGI, "BuildAugmentedTrace", *flags], directory)

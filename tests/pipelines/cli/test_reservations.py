# SPDX-License-Identifier: BSD-3-Clause
"""The command reservations: what it prints and writes, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from swftools import Trace, read_swf, write_swf
from swftools.header import SwfHeader
from swftools.qbets import WaitPredictor
from swftools.reservations import simulate_reservations
from swftools.simulator import simulate
from tests.reservations.test_varq import busy_log


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log as a file."""
    path = tmp_path_factory.mktemp("log") / "busy.swf"
    trace = busy_log(300)
    write_swf(Trace(SwfHeader.from_lines(["; MaxProcs: 64"]), trace.jobs), path)
    return path


def asked(log: Path, *arguments: str) -> Result:
    """Return what the command says."""
    return CliRunner().invoke(main, ["reservations", str(log), "--raw", *arguments])


def test_measures_and_file(log: Path, tmp_path: Path) -> None:
    """Those of the functions; a row for each job that asked."""
    options = ["--share", ".5", "--probability", ".5", "--training", "30", "--by", "all", "--policy", "fcfs"]
    result = asked(log, *options, "--json", "-o", str(tmp_path / "asked.csv"))
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    table = pd.read_csv(tmp_path / "asked.csv")
    assert told["measures"]["asked"] == len(table) > 100
    assert told["measures"]["accepted"] == table["is_accepted"].sum() > 20
    assert sum(told["denied"].values()) == (~table["is_accepted"]).sum()
    trace = read_swf(log)
    waits = WaitPredictor("binomial", by=None, training=30)
    found = simulate_reservations(trace, "fcfs", waits=waits, share=0.5, probability=0.5)
    expected = found.measures(simulate(trace, "fcfs"))
    assert told["measures"] == {name: None if np.isnan(value) else value for name, value in expected.items()}
    text = asked(log, *options)
    assert all(len(line) <= 80 for line in text.stdout.splitlines()[1:])
    assert f"{'asked':<38}" in text.stdout
    assert "denied: training" in text.stdout


@pytest.mark.parametrize(
    "arguments", [["--probability", "1"], ["--share", "2"], ["--policy", "easyy"], ["--waits", "gradient-boosting"]]
)
def test_what_is_refused(log: Path, arguments: list[str]) -> None:
    """Status 2, one line."""
    result = asked(log, *arguments)
    assert result.exit_code == 2 or isinstance(result.exception, Exception)
    assert result.exit_code != 0

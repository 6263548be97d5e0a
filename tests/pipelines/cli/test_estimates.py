# SPDX-License-Identifier: BSD-3-Clause
"""``swftools estimates``: for people, for programs, as a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from pipelines.cli.main import main
from pipelines.exit_statuses import MISSING_INPUT, WRONG_COMMAND
from tests.pipelines.small_logs import small_log


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A sound log of a few jobs."""
    path = tmp_path / "small.swf"
    path.write_text(small_log(5))
    return path


def call(*arguments: object) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ["estimates", *map(str, arguments)])


def test_for_people_and_for_programs(log: Path) -> None:
    """The same figures; numbers of JSON are not rounded, and all groups are there."""
    document = json.loads(call(log, "--json").output)
    assert (document["jobs"], document["studied"]) == (5, 5)
    assert sum(row["jobs"] for row in document["inaccuracy"] if row["grouped_by"] == "user") == 5
    assert document["used"][-1]["used_to"] is None  # there is no end
    output = call(log).output
    assert output.startswith("EstimateStudy: 5 jobs studied of 5\n")
    assert "left out" not in output  # nobody was
    assert re.search(r"\ninaccuracy, requested, by requested-time \(%; used_all: jobs\):\n +group +jobs +mean", output)
    assert re.search(r"\nrequests \(%\):\nrequested_time .*\n +\d[\d.]* (s|min|h) ", output)
    assert "synthetic" not in output


def test_tightened(log: Path) -> None:
    """Synthetic answers are called so, and drawn by the seed."""
    output = call(log, "--tightened").output
    assert "answers (synthetic) (%):" in output
    assert "inaccuracy, estimated, by queue (%" in output
    shipped = "SDSC-BLUE-2000-4.2-cln-5000-9999"
    answers = [json.loads(call(shipped, "--tightened", "--seed", seed, "--json").output)["answers"] for seed in (0, 1)]
    assert [each["answer"] for each in answers[0]] == ["same", "less", "more", "all"]
    assert answers[0] != answers[1]


def test_a_file_of_every_group(log: Path, tmp_path: Path) -> None:
    """As the JSON has them; another suffix, or no log, is refused."""
    path = tmp_path / "estimates.csv"
    assert f"estimates: {path}" in call(log, "-o", path, "--most", 1).output
    rows = pd.read_csv(path)
    assert len(rows) == len(json.loads(call(log, "--json").output)["inaccuracy"])
    assert call(log, "-o", tmp_path / "estimates.txt").exit_code == WRONG_COMMAND
    assert call("nowhere.swf").exit_code == MISSING_INPUT

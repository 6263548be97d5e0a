# SPDX-License-Identifier: BSD-3-Clause
"""Commands that submitted jobs: those are found that say anything, whatever blanks stand between their words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from swftools import read_log
from swftools.formats.slurm.submit_line import ASKS, DEPENDS, Asks, asks_of, dependency_of

SAY = ("-d afterok:1", "-dafterok:1", "--dependency=after:1", "--dependency after:1", "-b 18:00", "--begin=now")
ALSO = ("--exclusive", "--ntasks-per-node=3", "--ntasks-per-node 3")


@pytest.mark.parametrize("blank", [" ", "\t", "\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\u2003"])
@pytest.mark.parametrize("option", [*SAY, *ALSO])
def test_whoever_says_something_is_looked_at(option: str, blank: str) -> None:
    """A command that the search passes over says nothing."""
    line = f"sbatch{blank}-p{blank}a{blank}{option} run.sh"
    dependency, asks = dependency_of(line), asks_of(line)
    assert (dependency is None) == (re.search(DEPENDS, line) is None)
    assert (str(asks) == str(Asks())) == (re.search(ASKS, line) is None)


def test_names_with_hyphens_are_passed_over() -> None:
    """They are no options."""
    line = "sbatch -p all-day --job-name=my-data -o a-b run-b-d.sh"
    assert re.search(DEPENDS, line) is None
    assert re.search(ASKS, line) is None


def test_each_job_waits_for_what_its_own_command_says(tmp_path: Path) -> None:
    """Whichever of several commands it is."""
    lines = ["sbatch a.sh", "sbatch -d afterok:1 a.sh", "sbatch a.sh", "", "sbatch -d afterok:2 a.sh"]
    moments = "2026-01-01T00:00:00Z|2026-01-01T00:00:00Z|2026-01-01T00:00:00Z|2026-01-01T00:01:00Z"
    rows = [f"{number}|a|COMPLETED|{moments}|60|1|1|{line}" for number, line in enumerate(lines, 1)]
    path = tmp_path / "sacct.txt"
    heads = "JobID|User|State|Submit|Eligible|Start|End|ElapsedRaw|ReqCPUS|NCPUS|SubmitLine"
    path.write_text("\n".join([heads, *rows, ""]))
    assert read_log(path).jobs["dependency"].fillna("").tolist() == ["", "afterok:1", "", "", "afterok:2"]

# SPDX-License-Identifier: BSD-3-Clause
"""Commands that submitted jobs: those are found that say anything, whatever blanks stand between their words."""

from __future__ import annotations

import re

import pytest

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

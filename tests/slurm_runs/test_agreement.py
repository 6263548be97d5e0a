# SPDX-License-Identifier: BSD-3-Clause
"""How far policy ``slurm`` agrees with kept runs that no rule was found with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.slurm_runs.agreement import FOUND_WITH, all_runs, held_against, outages_of

HELD_BACK = ("nofair", "defaults2")


def test_outages_of_a_run() -> None:
    """Twelve nodes are reserved as of a command 84 s after the first submission, two drained, one broken."""
    rows = outages_of("repeat1", 1795864687.0).splitlines()
    assert rows[:3] == [
        "nodes,begin,end,kind,known",
        '"n[30-41]",2026-11-28T11:20:16Z,2026-11-28T11:21:16Z,reservation,85s',
        "n05,2026-11-28T11:19:47Z,2026-11-28T11:20:52Z,drain,false",
    ]
    assert [row.split(",")[0] + row.split(",")[3] for row in rows[3:]] == ["n06drain", "n20down"]


def test_runs_that_are_held_back() -> None:
    """They are there, and were not used."""
    assert set(HELD_BACK) <= set(all_runs()) - set(FOUND_WITH)


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD_BACK)
def test_agreement(name: str, tmp_path: Path) -> None:
    """85 % of all starts at the right time, 75 % of those that waited; most of them on the real nodes."""
    figures = held_against(name, tmp_path).figures
    assert figures["starts"] > 200
    assert figures["right"] >= 0.85
    assert figures["waited_right"] >= 0.75
    assert figures["on_nodes"] >= 0.80

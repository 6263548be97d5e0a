# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of one CPU at the end of the list of nodes (``pack_serial_at_end``), drawn by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.naive.slurm_policy import simulate_slurm
from tests.nodes_drawn import draw_machine
from tests.simulator.slurm.test_policy import runs_of, schedule_of
from tests.slurm_drawn import draw_asked, draw_site

JOBS = "job submit run cpus / A 0 9 2 / B 0 9 1 / C 0 9 1 / D 0 9 3 / E 0 9 1 / F 0 9 1 / G 0 9 1"


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    ("nodes", "packs", "expected"),
    [
        ("cores / 4 / 4 / 4", 0.0, "0 0 0 1 1 2 2"),
        ("cores / 4 / 4 / 4", 1.0, "0 2 2 1 2 2 1"),  # F fills the last node, so G has the next one
        ("cores weight / 4 1 / 4 1 / 4 2", 1.0, "0 1 1 0 1 2 2"),  # of the lowest weight; D is on 0 and 1
    ],
    ids=str,
)
def test_serial_jobs_have_the_last_node(
    monkeypatch: pytest.MonkeyPatch, nodes: str, packs: float, expected: str
) -> None:
    """Others have the node with the fewest CPUs that suffice."""
    table = draw_machine(nodes, "p:0-2")
    site = draw_site(table, scheduler={"pack_serial_at_end": packs})
    table = replace(table, slurm=site)
    asked, (submit, run, limit), _ = draw_asked(JOBS, table)
    world = simulate_slurm(site, table, asked, submit, run, limit, origin=1_700_000_017)
    assert " ".join(str(job.where[0][0]) for job in world.jobs) == expected
    times = SimpleNamespace(submit=submit, run=run, limit=limit)
    found = runs_of(schedule_of(monkeypatch, table, asked, times, compiled=False))
    assert " ".join(str(runs[0][2][0][0]) for _, runs in sorted(found.items())) == expected

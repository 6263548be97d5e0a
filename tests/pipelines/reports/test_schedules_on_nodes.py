# SPDX-License-Identifier: BSD-3-Clause
"""What reports on schedules on machines of nodes have more than others."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from pipelines.reports import schedule as of_schedule
from pipelines.reports.schedule import NODES, parts
from swftools.simulator.schedule import Schedule
from tests.interpreted import all_interpreted
from tests.on_nodes import random_on_nodes

ON_NODES = random_on_nodes(3)
POOL = replace(ON_NODES, machine=None)


def report(monkeypatch: pytest.MonkeyPatch, *schedules: Schedule) -> dict[str, Any]:
    """Return the parts of a report on one or two versions, by their headings."""
    versions: list[Any] = [
        SimpleNamespace(root=None, version=f"{place}", manifest={"run": {"policy": "easy", "assumptions": []}})
        for place in range(len(schedules))
    ]
    left = iter(schedules)
    monkeypatch.setattr(of_schedule, "schedule_of", lambda root, manifest: next(left))
    with all_interpreted():
        return {part.heading: part for part in parts(*versions, *[None] * (2 - len(versions)))}


def test_nodes_have_pictures_and_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind those of the machine; the figures behind all others."""
    found = report(monkeypatch, ON_NODES)
    assert list(found) == [
        *("What was assumed", "In figures", "The machine over time", NODES, "How long jobs waited"),
    ]
    assert [picture.name for picture in found[NODES].pictures] == ["resources", "fragmentation"]
    rows = found["In figures"].tables[0].rows
    assert [row[0] for row in rows][-4:] == [
        "nodes in use, %",
        "memory in use, %",
        "GPUs in use, %",
        "fragmentation, %",
    ]


def test_a_pool_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its report is what it was."""
    found = report(monkeypatch, POOL)
    assert NODES not in found
    assert [row[0] for row in found["In figures"].tables[0].rows][-1] == "excluded jobs"


@pytest.mark.parametrize("both", [(ON_NODES, POOL), (POOL, ON_NODES)])
def test_nodes_beside_a_pool(monkeypatch: pytest.MonkeyPatch, both: tuple[Schedule, Schedule]) -> None:
    """What the pool has not is missing, and its pictures are left out."""
    found = report(monkeypatch, *both)
    assert [picture.subject.machine for picture in found[NODES].pictures] == [ON_NODES.machine] * 2
    assert len(found["The machine over time"].pictures) == 6
    rows = {row[0]: row[1:] for row in found["In figures"].tables[0].rows}
    values = rows["fragmentation, %"]
    at = both.index(POOL)
    assert values[at] != values[at]
    assert values[1 - at] >= 0
    assert rows["excluded jobs"] == [0, 0]

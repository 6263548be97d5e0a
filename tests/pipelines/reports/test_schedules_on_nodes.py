# SPDX-License-Identifier: BSD-3-Clause
"""What reports on schedules on machines of nodes have more than others."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pipelines.reports import schedule as of_schedule
from pipelines.reports.schedule import MACHINE, NODES, REASONS_OF_WAITS, parts
from swftools.simulator.metrics.measures import measure
from swftools.simulator.metrics.wait_reasons import REASONS, wait_reasons
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
        *("What was assumed", MACHINE, "In figures", REASONS_OF_WAITS, "The machine over time", NODES),
        "How long jobs waited",
    ]
    assert [picture.name for picture in found[NODES].pictures] == ["resources", "fragmentation", "wait-reasons"]
    names = [row[0] for row in found["In figures"].tables[0].rows]
    assert names[names.index("excluded jobs") + 1 :][:4] == [
        "nodes in use, %",
        "memory in use, %",
        "GPUs in use, %",
        "fragmentation, %",
    ]


def test_the_machine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its nodes, how jobs are put there, what is changed; how much is in use of kinds and partitions, as measured."""
    options = {**ON_NODES.options, "placement": "best-fit:sparing=true", "heads": "machine"}
    changed = replace(ON_NODES, options=options, assumptions=("the machine is changed: nodes.fat.count+=1", "other"))
    whole, use = report(monkeypatch, changed)[MACHINE].tables
    machine = ON_NODES.machine
    assert machine is not None
    thin, fat = np.bincount(machine.kind).tolist()
    all_, odd, of_fat = (len(each.nodes) for each in machine.partitions)
    assert dict(map(tuple, whole.rows)) == {
        "machine": f"{thin + fat} nodes ({ON_NODES.processors} cores)",
        "kinds of nodes": f"thin {thin}, fat {fat}",
        "partitions": f"all {all_}, odd {odd}, fat {of_fat}",
        "placement": "best-fit:sparing=true",
        "first waiting jobs that are protected": "that of the machine",
        "changes": "nodes.fat.count+=1",
    }
    with all_interpreted():
        value = measure(ON_NODES).set_index(["measure", "statistic"])["value"]
    assert [row[:2] for row in use.rows] == [
        *(["kind thin", thin], ["kind fat", fat]),
        *(["partition all", all_], ["partition odd", odd], ["partition fat", of_fat]),
    ]
    cores, memory = (value["kind_utilization", "thin"], value["kind_memory_utilization", "thin"])
    assert use.rows[0][2:4] == pytest.approx([100 * cores, 100 * memory])
    assert use.rows[3][2] == pytest.approx(100 * value["partition_utilization", "odd"])
    assert 0 < cores < 1
    assert np.isnan(use.rows[0][4])  # a thin node has no GPUs


def test_what_jobs_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """In job-hours, of those that have a job; and how long they waited by the partition in which they ran."""
    hours, waits = report(monkeypatch, ON_NODES)[REASONS_OF_WAITS].tables
    with all_interpreted():
        of_jobs = wait_reasons(ON_NODES)
    reasons = [name.replace(" ", "_").lower() for name in hours.columns[3:]]
    assert reasons == [name for name in REASONS if of_jobs[name].any()]
    assert len(reasons) >= 3
    odd = of_jobs["partition"] == "odd"
    rows = {row[0]: row[1:] for row in hours.rows}
    for name, jobs in (("all", of_jobs), ("partition odd", of_jobs[odd])):
        hours_of = jobs[["job_number", *reasons]].sum()[reasons] / 3600
        assert rows[name] == pytest.approx([len(jobs), hours_of.sum(), *hours_of])
    small = replace(ON_NODES, segments=ON_NODES.segments.assign(gpus_per_node=0.0))
    shown = report(monkeypatch, small)[REASONS_OF_WAITS].tables[0].rows
    assert "request GPUs" not in [row[0] for row in shown]
    assert "request part of a node" in [row[0] for row in shown]
    by_partition = {row[0]: row[1:] for row in waits.rows}
    assert list(by_partition) == [each for each in ("all", "odd", "fat") if (of_jobs["partition"] == each).any()]
    jobs = ON_NODES.jobs[odd.to_numpy()]
    slowdown = np.maximum((jobs["wait_time"] + jobs["run_time"]) / np.maximum(jobs["run_time"], 10), 1)
    assert by_partition["odd"][0] == odd.sum()
    assert by_partition["odd"][1].value == pytest.approx(jobs["wait_time"].mean())
    assert by_partition["odd"][2].value == pytest.approx(jobs["wait_time"].median())
    assert by_partition["odd"][4] == pytest.approx(slowdown.mean())


def test_a_pool_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its report is what it was."""
    found = report(monkeypatch, POOL)
    assert NODES not in found
    assert MACHINE not in found
    assert REASONS_OF_WAITS not in found
    assert [row[0] for row in found["In figures"].tables[0].rows][-1] == "excluded jobs"


@pytest.mark.parametrize("both", [(ON_NODES, POOL), (POOL, ON_NODES)])
def test_nodes_beside_a_pool(monkeypatch: pytest.MonkeyPatch, both: tuple[Schedule, Schedule]) -> None:
    """What the pool has not is missing, and its pictures are left out."""
    found = report(monkeypatch, *both)
    assert [picture.subject.machine for picture in found[NODES].pictures] == [ON_NODES.machine] * 3
    assert len(found["The machine over time"].pictures) == 6
    rows = {row[0]: row[1:] for row in found["In figures"].tables[0].rows}
    values = rows["fragmentation, %"]
    at = both.index(POOL)
    assert values[at] != values[at]
    assert values[1 - at] >= 0
    assert rows["excluded jobs"] == [0, 0]

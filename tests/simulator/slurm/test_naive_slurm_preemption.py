# SPDX-License-Identifier: BSD-3-Clause
"""The naive twin's preemption: who has to leave, when, and what becomes of it; cases drawn by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swftools.machines.slurm_site import SlurmPartition, SlurmQos, SlurmSite
from tests.naive.slurm_preemption import choose_by_preempting
from tests.naive.slurm_world import World
from tests.slurm_drawn import draw_world, put, run_drawn, shown

LOW_AND_HIGH = (SlurmQos("low"), SlurmQos("high", preempt=("low",)), SlurmQos("other"))
BY_QOS: dict[str, Any] = {"qos": LOW_AND_HIGH, "preempt_type": "qos", "preempt_mode": "requeue"}


def leaving(world: World, row: int = -1) -> str:
    """Return what the last job would get, and who would have to leave."""
    found = choose_by_preempting(world, world.jobs[row], world.jobs[row].partitions[0], range(len(world.table)))
    if found is None:
        return "none"
    return f"{shown(found[0])} " + "".join("ABCDEF"[job.row] for job in found[1])


def full(cpus: int, **fields: Any) -> World:
    """Return four nodes of one core with a job on each, of which the third is of another QOS; E asks for CPUs."""
    jobs = f"job cpus qos / A 1 0 / B 1 0 / C 1 2 / D 1 0 / E {cpus} 1"
    world = draw_world("count cores / 4 1", "p:0-3", jobs, **{**BY_QOS, **fields})
    for row, (priority, start) in enumerate([(5, 1), (5, 2), (1, 0), (4, 0)]):
        put(world, world.jobs[row], f"{row}:1", start=start)
        world.jobs[row].priority = {0: priority}
    world.now = world.time = 100
    return world


def test_who_has_to_leave() -> None:
    """Who came first, until there is room; only what the QOS names."""
    assert leaving(full(1)) == "0:1 A"
    assert leaving(full(2)) == "0:1 1:1 AB"
    assert leaving(full(4)) == "none"
    world = full(1)
    world.jobs[4].qos = 2
    assert leaving(world) == "none"
    world.jobs[4].qos = -1
    assert leaving(world) == "none"


def test_who_has_to_leave_first() -> None:
    """The lowest priority of a QOS, up to 65,535, then fewer nodes, then who came first; or who started last."""
    first, second = SlurmQos("first", priority=70_000.0), SlurmQos("second", priority=65_534.0)
    third = SlurmQos("third", priority=90_000.0)
    qos = (first, SlurmQos("high", preempt=("first", "second", "third")), second, third)
    assert leaving(full(1, qos=qos)) == "2:1 C"
    assert leaving(full(1, qos=(replace(first, priority=65_533.0), *qos[1:]))) == "0:1 A"
    world = full(1, qos=qos)
    world.jobs[0].qos, world.jobs[2].qos = 3, 3
    assert leaving(world) == "0:1 A"  # all have the highest that counts
    assert leaving(full(1, scheduler={"preempt_youngest_first": 1.0})) == "1:1 B"


@pytest.mark.parametrize(
    ("scheduler", "expected"), [({}, "1:1 2:1 B"), ({"preempt_reorder_count": -1.0}, "0:1 1:1 AB")]
)
def test_who_helps_most_has_to_leave(scheduler: dict[str, float], expected: str) -> None:
    """Of a job of one node and one of three, both taken away, the larger one is tried alone: it suffices."""
    jobs = "job cpus qos / A 1 0 / B 3 0 / C 2 1"
    world = draw_world("count cores / 4 1", "p:0-3", jobs, scheduler=scheduler, **BY_QOS)
    put(world, world.jobs[0], "0:1")
    put(world, world.jobs[1], "1:1 2:1 3:1")
    assert leaving(world) == expected


@pytest.mark.parametrize(("strict", "expected"), [(0.0, "2:1 3:1 4:1 CB"), (1.0, "0:1 3:1 4:1 CA")])
def test_order_of_those_that_were_taken(strict: float, expected: str) -> None:
    """A, B and C are taken away for the nodes of B and C; then C goes first, then B, or A in strict order."""
    jobs = "job cpus qos / A 1 0 / B 1 0 / C 2 0 / D 1 2 / E 3 1"
    scheduler = {"preempt_reorder_count": 0.0, "preempt_strict_order": strict}
    world = draw_world("count cores / 5 1", "p:0-4", jobs, scheduler=scheduler, **BY_QOS)
    for row, where in enumerate(["0:1", "2:1", "3:1 4:1", "1:1"]):
        put(world, world.jobs[row], where)
    assert leaving(world) == expected


def test_only_who_is_on_the_nodes_has_to_leave() -> None:
    """Who was taken away first and has none of the chosen nodes stays."""
    world = full(1)
    world.jobs[4].memory_per_node = 100
    world.table = replace(world.table, memory=np.array([0, 200, 0, 0]))
    assert leaving(world) == "1:1 B"
    world.jobs[4].memory_per_node, world.jobs[4].nodes_allowed = 0, {0, 2}
    assert leaving(world) == "0:1 A"


@pytest.mark.parametrize(
    ("qos", "now", "expected"),
    [
        ({"preempt_exempt_time": 101.0}, 100, "none"),
        ({"preempt_exempt_time": 100.0}, 100, "3:1 D"),
        ({"preempt_exempt_time": 99.0}, 100, "0:1 A"),
        ({"preempt_mode": "off"}, 100, "none"),
        ({"preempt_mode": "suspend"}, 100, "3:1 D"),
        ({"preempt_mode": "cancel"}, 100, "0:1 A"),
    ],
    ids=str,
)
def test_who_may_not_be_preempted(qos: dict[str, Any], now: float, expected: str) -> None:
    """A job is safe for the exempt time of its QOS, and by a mode that is off."""
    world = full(1, qos=(replace(LOW_AND_HIGH[0], **qos), *LOW_AND_HIGH[1:]))
    world.now = now
    assert leaving(world) == expected


def test_by_tier_of_partitions() -> None:
    """Jobs in partitions of lower tiers have to leave, by the mode of their partition."""
    jobs = "job cpus partition / A 1 p / B 1 q / C 1 r"
    for modes, expected in (("cluster cluster", "0:1 A"), ("off cluster", "none"), ("cluster off", "0:1 A")):
        site = tuple(
            SlurmPartition(name, preempt_mode=mode) for name, mode in zip("pqr", [*modes.split(), "off"], strict=True)
        )
        world = draw_world(
            "count cores / 2 1",
            "p:0-1 q:0-1 r:0-1",
            jobs,
            partitions=site,
            preempt_type="partition_prio",
            preempt_mode="cancel",
        )
        tiers = [replace(part, tier=tier) for part, tier in zip(world.table.partitions, [1, 2, 2], strict=True)]
        world.table = replace(world.table, partitions=tuple(tiers))
        put(world, world.jobs[0], "0:1")
        put(world, world.jobs[1], "1:1")
        assert leaving(world) == expected


JOBS = "job submit run limit cpus qos / A 0 100 100 2 0 / B 20 50 50 2 1 / C 30 10 10 2 0"


def history(world: World) -> list[tuple[str, float, float, str]]:
    """Return all runs: job, start, end, and how it had to end."""
    return [("ABC"[run.row], run.start, run.end, run.preempted) for run in world.runs]


def site_of(low: SlurmQos, **fields: Any) -> dict[str, Any]:
    """Return what a site has beside its machine."""
    return {**BY_QOS, "qos": (low, *LOW_AND_HIGH[1:]), **fields}


@pytest.mark.parametrize("has_backfill", [False, True])
def test_requeued(has_backfill: bool) -> None:
    """Who is requeued starts from its beginning, at least the delay after it had to end."""
    scheduler = {"bf_interval": 1.0}
    world, _ = run_drawn("cores / 2", "p:0", JOBS, has_backfill=has_backfill, scheduler=scheduler, **BY_QOS)
    assert history(world) == [
        ("A", 0, 20, "requeue"),
        ("B", 20, 70, ""),
        ("C", 70, 80, ""),
        ("A", 141, 241, ""),
    ]
    reasons = [(time, reason) for row, time, reason in world.reasons if row == 0]
    assert reasons == [(0, "Priority"), (20, "BeginTime"), (141, "Priority")]
    by = "backfill" if has_backfill else "main"
    assert [run.by for run in world.runs] == [by] * 4


def test_a_stop_asks_for_a_pass() -> None:
    """What a preempted job leaves is looked at in the next pass, and not only in a full one."""
    jobs = "job submit run limit cpus qos / A 0 100 100 2 0 / B 20 50 50 1 1 / C 20 10 10 1 2"
    scheduler = {"sched_max_job_start": 1.0}
    world, _ = run_drawn("cores / 2", "p:0", jobs, has_backfill=False, scheduler=scheduler, **BY_QOS)
    assert history(world)[:3] == [("A", 0, 20, "requeue"), ("C", 23, 33, ""), ("B", 20, 70, "")]


def test_cancelled() -> None:
    """Who is cancelled does not come back."""
    world, _ = run_drawn("cores / 2", "p:0", JOBS, **site_of(SlurmQos("low", preempt_mode="cancel")))
    assert history(world) == [("A", 0, 20, "cancel"), ("B", 20, 70, ""), ("C", 70, 80, "")]
    assert (world.jobs[0].start, world.jobs[0].end) == (0, 20)


@pytest.mark.parametrize("has_backfill", [False, True])
def test_grace(has_backfill: bool) -> None:
    """Who has a grace time goes on for it, and nobody else gets the nodes; who is done by then is not requeued."""
    site = site_of(SlurmQos("low", grace_time=7.0), has_backfill=has_backfill, scheduler={"batch_sched_delay": 1.0})
    jobs = JOBS.replace("C 30 10 10 2 0", "C 21 3 3 1 0").replace("A 0 100 100 2", "A 0 100 100 1")
    world, _ = run_drawn("cores / 2", "p:0", jobs, **site)
    assert history(world)[:2] == [("A", 0, 27, "requeue"), ("B", 27, 77, "")]
    jobs = jobs.replace("A 0 100 100 1", "A 0 27 100 1")
    world, _ = run_drawn("cores / 2", "p:0", jobs, **site)
    assert history(world)[:2] == [("A", 0, 27, ""), ("B", 27, 77, "")]


def test_nobody_is_preempted_unless_it_is_configured() -> None:
    """Without a type of preemption, and without a mode, jobs wait."""
    for fields in ({"preempt_type": "none"}, {"preempt_mode": "off"}):
        world, _ = run_drawn("cores / 2", "p:0", JOBS, **{**BY_QOS, **fields})
        assert history(world)[:2] == [("A", 0, 100, ""), ("B", 100, 150, "")]
    assert SlurmSite().preempt_type == "none"

# SPDX-License-Identifier: BSD-3-Clause
"""The naive twin's backfill: its table, windows of ends and plans, drawn by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from swftools.machines.slurm_site import SlurmLimits, SlurmPriority, SlurmQos
from tests.naive.slurm_backfill import Cycle, Record, look_along, overlaps, reserve, slot_of, will_run
from tests.naive.slurm_world import Job, World
from tests.slurm_drawn import draw_world, outcome, put, run_drawn, shown

# ---------------------------------------------------------------- the table


def drawn(text: str) -> list[Record]:
    """Read records as ``0-60:012``: the nodes that are free between two times."""
    table = []
    for each in text.split():
        times, _, nodes = each.partition(":")
        begin, _, end = times.partition("-")
        table.append(Record(float(begin), float(end), {int(node) for node in nodes}))
    return table


def text_of(table: list[Record]) -> str:
    """Return records as text."""
    return " ".join(f"{each.begin:g}-{each.end:g}:{''.join(map(str, sorted(each.nodes)))}" for each in table)


@pytest.mark.parametrize(
    ("before", "nodes", "slot", "after"),
    [
        ("0-600:012", {1}, (60, 120), "0-60:012 60-120:02 120-600:012"),
        ("0-600:012", {1}, (0, 120), "0-120:02 120-600:012"),
        ("0-600:012", {1}, (540, 600), "0-540:012 540-600:02"),
        ("0-600:012", {1}, (540, 900), "0-540:012 540-600:02"),  # cut at the end of the table
        ("0-60:012 60-120:02 120-600:012", {2}, (30, 180), "0-30:012 30-60:01 60-120:0 120-180:01 180-600:012"),
        ("0-60:012 60-600:02", {1}, (0, 60), "0-600:02"),  # equal neighbours become one
        ("0-60:01 60-120:0 120-180:01 180-600:1", {0}, (120, 180), "0-60:01 60-120:0 120-600:1"),
        ("0-60:01 60-600:01", {1}, (30, 30), "0-60:01 60-600:01"),  # an empty slot
        ("0-60:01 60-120:1 120-180:01 180-600:1", {0}, (0, 180), "0-120:1 120-180:1 180-600:1"),  # one merge, the first
    ],
)
def test_a_plan_takes_its_nodes(before: str, nodes: set[int], slot: tuple[float, float], after: str) -> None:
    """Nodes leave the records of a slot; records are split at its ends."""
    table = drawn(before)
    reserve(table, nodes, *slot)
    assert text_of(table) == after


def test_what_overlaps() -> None:
    """A plan overlaps a record that lacks one of its nodes at some time of its slot."""
    table = drawn("0-60:012 60-120:02 120-600:012")
    assert overlaps(table, {1}, 0, 61)
    assert overlaps(table, {0, 1}, 119, 300)
    assert not overlaps(table, {1}, 0, 60)
    assert not overlaps(table, {1}, 120, 900)
    assert not overlaps(table, {0, 2}, 0, 600)


def site(nodes: int = 4, **fields: Any) -> World:
    """Return a machine of nodes of one core with nobody on it."""
    return draw_world(f"count cores / {nodes} 1", f"p:0-{nodes - 1}", "job cpus / A 1", **fields)


def test_slots() -> None:
    """A slot begins and ends at multiples of the resolution, both rounded down."""
    world = site(scheduler={"bf_resolution": 60})
    assert slot_of(world, 119, 1) == (60, 120)
    assert slot_of(world, 119, 60) == (60, 120)
    assert slot_of(world, 119, 61) == (60, 180)
    assert slot_of(world, 60, 59) == (60, 60)


@pytest.mark.parametrize(
    ("table", "nodes", "start", "end", "free", "later", "later_17"),
    [
        ("0-600:012", {0, 1}, 10, 70, {0, 1}, 0, 0),
        ("0-60:01 60-600:012", {0, 1, 2}, 10, 70, {0, 1}, 60, 60),  # more nodes come
        ("0-60:01 60-600:012", {0, 1, 2}, 10, 59, {0, 1}, 60, 60),
        ("0-60:012 60-600:01", {0, 1, 2}, 10, 70, {0, 1}, 0, 60),  # fewer: no use, though 17.11 tries
        ("0-60:012 60-600:01", {0, 1, 2}, 10, 59, {0, 1, 2}, 0, 60),
        ("0-60:012 60-600:01", {0, 1, 2}, 10, 60, {0, 1}, 0, 60),  # begins at the end
        ("0-60:01 60-600:012", {0, 1}, 10, 70, {0, 1}, 0, 60),  # more, but not of these
        ("0-60:01 60-120:0 120-600:1", {0, 1}, 10, 500, set(), 120, 60),
        ("0-60:01 60-120:0 120-600:1", {0, 1}, 60, 500, set(), 120, 120),
        ("0-60:01 60-120:0 120-600:1", {0, 1}, 120, 500, {1}, 0, 0),
        ("0-60:012 60-120:01 120-180:01 180-600:012", {0, 1, 2}, 0, 10, {0, 1, 2}, 180, 60),  # stops, the next's end
        ("0-60:012 60-120:01 120-600:01", {0, 1, 2}, 0, 10, {0, 1, 2}, 0, 60),  # the next has none after it
    ],
)
def test_a_look_along_the_table(
    table: str, nodes: set[int], start: float, end: float, free: set[int], later: float, later_17: float
) -> None:
    """Free are the nodes of all records between two times; it is tried again where others come free."""
    world = site()
    assert look_along(world, drawn(table), nodes, start, end) == (free, later)
    world.site = replace(world.site, version=(17, 11))
    assert look_along(world, drawn(table), nodes, start, end) == (free, later_17)


# ---------------------------------------------------------------- windows of ends

RUNNING = "job cpus limit / A 1 100 / B 1 105 / C 1 150 / D 1 151 / E 1 300 / F 1 {limit} / G {cpus} 10"


def planned(world: World, job: Job, nodes: set[int], earliest: float = 0) -> str:
    """Return when and where a job would run."""
    found = will_run(world, job, 0, nodes, earliest, False)
    return "never" if found is None else f"{max(found[0], earliest):g} {shown(found[1])}"


def ends(cpus: int, version: tuple[int, int], limit: int = 5000, **scheduler: float) -> World:
    """Return a machine of six nodes, on which jobs run to 100, 105, 150, 151, 300 and a limit; G asks for CPUs."""
    world = draw_world(
        "count cores / 6 1", "p:0-5", RUNNING.format(cpus=cpus, limit=limit), version=version, scheduler=scheduler
    )
    for node, job in enumerate(world.jobs[:6]):
        put(world, job, f"{node}:1")
    return world


def test_windows_from_a_barrier() -> None:
    """From 22.05 on windows are measured from the first end, rounded up to 120: they last 30, 60, 120 ... s."""
    every = set(range(6))
    for version in ((22, 5), (23, 2), (23, 11)):
        # up to 150: A, B, C; then up to 180: D; up to 360 (240 s): E
        assert planned(ends(1, version), ends(1, version).jobs[6], every) == "150 0:1"
        for cpus, expected in [(1, "150 0:1"), (3, "150 0:1 1:1 2:1"), (4, "151 0:1 1:1 2:1 3:1")]:
            world = ends(cpus, version)
            assert planned(world, world.jobs[6], every) == expected
        world = ends(5, version, limit=361)
        assert planned(world, world.jobs[6], every) == "300 0:1 1:1 2:1 3:1 4:1"
        world = ends(5, version, limit=360)  # 180 < 300 <= 120 + 240: F ends in the same window
        assert planned(world, world.jobs[6], every) == "360 0:1 1:1 2:1 3:1 4:1"


def test_windows_from_each_first_end() -> None:
    """Before 22.05 each window is measured from its first end: up to 130; 210; 420."""
    every = set(range(6))
    for cpus, limit, expected in [
        (1, 5000, "105 0:1"),
        (3, 5000, "151 0:1 1:1 2:1"),
        (5, 5000, "300 0:1 1:1 2:1 3:1 4:1"),
        (5, 420, "420 0:1 1:1 2:1 3:1 4:1"),
        (5, 421, "300 0:1 1:1 2:1 3:1 4:1"),
        (6, 421, "421 0:1 1:1 2:1 3:1 4:1 5:1"),
        (7, 421, "never"),
    ]:
        world = ends(cpus, (20, 11), limit=limit)
        assert planned(world, world.jobs[6], every) == expected


def test_windows_that_grow_by_a_constant() -> None:
    """With bf_window_linear windows grow by it."""
    world = ends(5, (22, 5), limit=316, bf_window_linear=55)
    assert planned(world, world.jobs[6], set(range(6))) == "300 0:1 1:1 2:1 3:1 4:1"  # up to 120 + 30 + 3 * 55
    world = ends(5, (22, 5), limit=315, bf_window_linear=55)
    assert planned(world, world.jobs[6], set(range(6))) == "315 0:1 1:1 2:1 3:1 4:1"


def test_jobs_on_other_nodes_end_windows() -> None:
    """The next job of all ends a window, whatever its nodes; who comes after it is taken away whenever it ends."""
    world = ends(2, (22, 5))
    # without B and D: A at 100, then C at 150 is in its window; E is behind D, which lies in the next one
    assert planned(world, world.jobs[6], {0, 2, 4}) == "150 0:1 2:1"
    assert planned(world, world.jobs[6], {0, 4}) == "300 0:1 4:1"
    # C (150) and D lie in the window of F (149), up to 180, and have none of the nodes: E is taken away with F
    world = ends(1, (22, 5), limit=149)
    assert planned(world, world.jobs[6], {4, 5}) == "300 4:1"
    assert planned(world, world.jobs[6], {5}) == "149 5:1"
    # B (105) shares no node and lies in the window of A: then C is taken away at once, though 160 is beyond it
    jobs = "job cpus limit / A 1 100 / B 1 105 / C 1 160 / D 1 10"
    world = draw_world("count cores / 3 1", "p:0-2", jobs)
    for node, job in enumerate(world.jobs[:3]):
        put(world, job, f"{node}:1")
    assert planned(world, world.jobs[3], {0, 2}) == "160 0:1"
    assert planned(world, world.jobs[3], {0, 1, 2}) == "105 0:1"


def test_who_is_over_the_limit_ends_next() -> None:
    """A job that has outlived its limit is expected to end a second from now."""
    world = ends(1, (22, 5))
    world.now = 2000
    assert planned(world, world.jobs[6], {0}) == "2001 0:1"


def test_idle_nodes_at_a_later_time() -> None:
    """Idle nodes count as found now, whatever the earliest time; from 23.11 on with what ends before that."""
    for version in ((22, 5), (23, 11)):
        world = draw_world("count cores / 2 1", "p:0-1", "job cpus limit / A 1 100 / B 1 10 / C 2 10", version=version)
        put(world, world.jobs[0], "0:1")
        assert planned(world, world.jobs[1], {0, 1}, 0) == "0 1:1"
        assert planned(world, world.jobs[1], {0, 1}, 60) == "60 1:1"
        assert planned(world, world.jobs[1], {0, 1}, 200) == ("200 1:1" if version < (23, 11) else "200 0:1")
        assert planned(world, world.jobs[2], {0, 1}, 200) == "200 0:1 1:1"
        assert planned(world, world.jobs[2], {0, 1}, 100) == "100 0:1 1:1"
        assert will_run(world, world.jobs[2], 0, {0, 1}, 0, True) is None


# ---------------------------------------------------------------- cycles


def cycle(nodes: str, parts: str, jobs: str, *running: tuple[int, str], **fields: Any) -> tuple[World, Cycle]:
    """Return a site after a cycle of backfill with a resolution of 10 s; some jobs ran before."""
    fields["scheduler"] = {"bf_resolution": 10.0, "bf_window": 10.0, **fields.get("scheduler", {})}
    world = draw_world(nodes, parts, jobs, **fields)
    for row, where in running:
        put(world, world.jobs[row], where)
    worked = Cycle(world)
    worked.work()
    return world, worked


def started(world: World) -> str:
    """Return where the jobs run; ``-`` of those that wait."""
    return " ".join(shown(job.placed).replace(" ", ",") for job in world.jobs)


def test_plans_by_hand() -> None:
    """Jobs start beside plans of whole nodes if they end before these, or have other nodes."""
    jobs = """
    job cpus limit
    A   2    100
    B   5    50
    C   1    99
    D   1    100
    E   2    200
    """
    world, worked = cycle("count cores / 3 2", "p:0-2", jobs, (0, "0:2"))
    # B is planned on all nodes at 100, to 150; C ends before it, D would touch it and comes after it, on the node
    # that has room for it now; E has room on the third node
    assert started(world) == "0:2 - 1:1 - -"
    assert text_of(worked.table) == "0-100:012 100-150: 150-250:0 250-350:01 350-600:012"


def test_a_plan_holds_whole_nodes() -> None:
    """A planned job's nodes are nobody else's then, also where it needs one core of many."""
    jobs = "job cpus limit partition / A 8 100 p / B 1 50 p / C 1 200 p,q"
    world, worked = cycle("count cores / 1 8 / 1 1", "p:0 q:1", jobs, (0, "0:8"))
    assert text_of(worked.table) == "0-100:01 100-350:1 350-600:01"  # B; C in p
    assert started(world) == "0:8 - 1:1"


def test_a_try_from_where_plans_overlap() -> None:
    """A job whose nodes are planned within its slot is tried again from its start: there it has another node."""
    jobs = "job cpus limit set / A 1 250 0 / B 1 250 1 / C 1 300 2 / D 2 50 0,2 / E 1 100 0-1"
    _, worked = cycle("count cores / 3 1", "p:0-2", jobs, (0, "0:1"), (1, "1:1"), (2, "2:1"))
    # D is planned on 0 and 2 at 300; E, at 250 on 0, would run into it
    assert text_of(worked.table) == "0-250:012 250-300:02 300-350: 350-600:012"


def test_a_try_from_where_nodes_come_free() -> None:
    """A job that would start after the end of a plan is tried again from there."""
    jobs = "job cpus limit set / A 1 100 1 / B 1 500 2 / C 2 50 0-1 / D 1 100 . / E 1 50 ."
    scheduler = {"bf_max_job_test": 3}
    world, worked = cycle("count cores / 3 1", "p:0-2", jobs, (0, "1:1"), (1, "2:1"), scheduler=scheduler)
    # C is planned on 0 and 1 at 100; D has node 2 at 500, but node 0 at 150; its two tries count as one
    assert text_of(worked.table) == "0-100:012 100-150:2 150-250:12 250-600:012"
    assert started(world) == "1:1 2:1 - - 0:1"


def test_starts_that_end_within_the_slot() -> None:
    """Limits count to the second, though a plan begins at a multiple of the resolution."""
    for limit, where in ((99, "1:1"), (100, "-")):
        jobs = f"job cpus limit / A 1 105 / B 2 50 / C 1 {limit}"
        world, _ = cycle("count cores / 2 1", "p:0-1", jobs, (0, "0:1"))
        assert started(world) == f"0:1 - {where}"


def test_beyond_the_window() -> None:
    """A job that would start after the window is not planned; others pass it."""
    for window, where in ((12.0, "-"), (10.0, "1:1")):
        jobs = "job cpus limit / A 1 601 / B 2 50 / C 1 900"
        world, _ = cycle("count cores / 2 1", "p:0-1", jobs, (0, "0:1"), scheduler={"bf_window": window})
        assert started(world) == f"0:1 - {where}"


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [
        ({}, "0:1 - - 2:1 3:1"),
        ({"bf_max_job_test": 2}, "0:1 - - - -"),
        ({"bf_max_job_test": 3}, "0:1 - - 2:1 -"),
        ({"bf_max_job_user": 1}, "0:1 - - - 2:1"),
        ({"bf_max_job_user_part": 1}, "0:1 - - 2:1 3:1"),
        ({"bf_max_job_part": 1}, "0:1 - - 2:1 -"),
        ({"bf_max_job_part": 2}, "0:1 - - 2:1 3:1"),
        ({"bf_max_job_assoc": 3}, "0:1 - - 2:1 -"),
        ({"bf_max_job_start": 1}, "0:1 - - 2:1 -"),
        ({"bf_min_age_reserve": 1}, "0:1 - 1:1 2:1 3:1"),
        ({"bf_min_age_reserve": 0}, "0:1 - - 2:1 3:1"),
        ({"bf_min_prio_reserve": 3}, "0:1 - 1:1 2:1 3:1"),
        ({"bf_min_prio_reserve": 2}, "0:1 - - 2:1 3:1"),
    ],
    ids=str,
)
def test_what_limits_a_cycle(scheduler: dict[str, float], expected: str) -> None:
    """Numbers of tests, of jobs by user and partition, of starts; who may only start now, and is not planned."""
    jobs = """
    job cpus limit partition user
    A   1    100   p         0
    B   2    50    p         0
    C   1    200   p         0
    D   1    200   q         0
    E   1    200   q         1
    """
    priority = SlurmPriority(partition=2.0)
    world, _ = cycle("count cores / 4 1", "p:0-1 q:2-3", jobs, (0, "0:1"), scheduler=scheduler, priority=priority)
    assert started(world) == expected


def test_arrays() -> None:
    """Tasks are planned up to bf_max_job_array_resv, also where fewer may run at once; the rest is left."""
    jobs = "job cpus limit array array_limit / A 1 100 -1 0 / B 2 50 0 {0} / C 2 50 0 {0} / D 2 50 0 {0} / E 1 150 -1 0"
    for most, limit, plan in [(20, 0, 250), (2, 0, 200), (1, 0, 150), (20, 1, 250), (2, 1, 200)]:
        _, worked = cycle(
            "count cores / 2 1",
            "p:0-1",
            jobs.format(limit),
            (0, "0:1"),
            scheduler={"bf_max_job_array_resv": most},
        )
        # E ends at 150 and cannot start now; it is planned behind the tasks
        assert text_of(worked.table).split()[1] == f"100-{plan}:"
        assert worked.reserved == {0: (plan - 100) // 50}


def test_a_task_that_cannot_be_planned_refuses_its_array() -> None:
    """After a task that is neither started nor planned those behind it are not tried."""
    jobs = "job cpus limit array / A 1 100 -1 / B 3 50 0 / C 1 50 0 / D 1 50 -1"
    world, _ = cycle("count cores / 2 1", "p:0-1", jobs, (0, "0:1"))
    assert started(world) == "0:1 - - 1:1"


def test_limits_in_a_cycle() -> None:
    """Jobs that wait for a limit are not planned, and their reason is told; ``noreserve`` jobs are not planned."""
    qos = (SlurmQos("q", limits=SlurmLimits(max_tres={"cpu": 1.0})), SlurmQos("r", flags=frozenset({"noreserve"})))
    jobs = "job cpus limit qos / A 1 100 -1 / B 2 50 {} / C 1 500 -1"
    for each, where, reason in [(-1, "-", ""), (0, "1:1", "QOSMaxCpuPerJobLimit"), (1, "1:1", "")]:
        world, _ = cycle(
            "count cores / 2 1", "p:0-1", jobs.format(each), (0, "0:1"), qos=qos, enforce=frozenset({"limits"})
        )
        assert started(world) == f"0:1 - {where}"
        assert world.jobs[1].reason == reason
    qos = (SlurmQos("q", limits=SlurmLimits(max_wall=10.0)),)
    jobs = "job cpus limit qos / A 1 100 -1 / B 2 50 0 / C 1 500 -1"
    world, _ = cycle("count cores / 2 1", "p:0-1", jobs, (0, "0:1"), qos=qos, enforce=frozenset({"limits"}))
    assert (started(world), world.jobs[1].reason) == ("0:1 - 1:1", "QOSMaxWallDurationPerJobLimit")


def test_limits_that_stop() -> None:
    """With assoc_limit_stop a job that could start but for a limit is planned 500 s from now."""
    qos = (SlurmQos("q", limits=SlurmLimits(max_tres={"cpu": 1.0})),)
    jobs = "job cpus limit qos / A 2 50 0 / B 1 {} -1"
    for limit, where in ((499, "0:1"), (500, "-")):
        world, _ = cycle(
            "count cores / 2 1",
            "p:0-1",
            jobs.format(limit),
            qos=qos,
            enforce=frozenset({"limits"}),
            scheduler={"assoc_limit_stop": 1},
        )
        assert started(world) == f"- {where}"


def test_a_run() -> None:
    """Backfill comes each bf_interval, before the main pass of the same second, which does not plan."""
    jobs = """
    job submit run limit cpus
    A   0      52  60    3
    B   1      20  20    4
    C   2      30  40    1
    D   9      30  41    1
    E   28     10  50    1
    """
    world, names = run_drawn(
        "count cores / 2 2",
        "p:0-1",
        jobs,
        scheduler={"bf_interval": 10.0, "bf_resolution": 1.0, "sched_interval": 1000.0},
    )
    # C ends before B's time at 60; from 40 on, when C has ended, D and E would not
    assert outcome(world, names)[1:] == [
        ["A", "0", "backfill", "0:2,1:1"],
        ["B", "52", "main", "0:2,1:2"],
        ["C", "10", "backfill", "1:1"],
        ["D", "72", "main", "0:1"],
        ["E", "72", "main", "0:1"],
    ]

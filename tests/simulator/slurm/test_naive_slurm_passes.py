# SPDX-License-Identifier: BSD-3-Clause
"""The naive twin's main pass, limits and ticks: cases drawn by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from swftools.machines.slurm_site import SlurmAssociation, SlurmLimits, SlurmPartition, SlurmPriority, SlurmQos
from tests.drawn import rows_of
from tests.naive.slurm_main import work_pass
from tests.naive.slurm_policy import Cycles
from tests.naive.slurm_world import World
from tests.slurm_drawn import draw_world, outcome, put, run_drawn, shown

# ---------------------------------------------------------------- the main pass


def reasons(world: World) -> str:
    """Return what each job has become: its nodes, or why it waits."""
    return " ".join(shown(job.placed).replace(" ", ",") if job.placed else job.reason for job in world.jobs)


def after_pass(world: World, *running: tuple[int, str], is_full: bool = True) -> str:
    """Return what jobs have become after a pass, some of which ran before."""
    for row, where in running:
        put(world, world.jobs[row], where)
    work_pass(world, is_full)
    return reasons(world)


def test_a_partition_closes_with_all_its_nodes() -> None:
    """A job that finds no nodes takes those of its partition from all others for the rest of the pass."""
    jobs = "job cpus partition / A 1 p / B 2 p / C 1 q / D 2 q / E 1 q / F 1 p / G 1 r"
    world = draw_world("count cores / 4 1", "p:0-1 q:1-2 r:1,3", jobs)
    # B finds no second node of p; C still has node 2; D has too few nodes left; G has node 3
    assert after_pass(world, (0, "0:1")) == "0:1 Resources 2:1 Resources Priority Priority 3:1"


def test_too_few_nodes_left() -> None:
    """A job for whose nodes too few are left closes its partition as well."""
    jobs = "job cpus nodes partition / A 1 . p / B 2 2 p / C 2 2 q / D 1 . q"
    world = draw_world("count cores / 3 2", "p:0-1 q:1-2", jobs)
    assert after_pass(world, (0, "0:2")) == "0:2 Resources Resources Priority"


@pytest.mark.parametrize(
    ("scheduler", "expected"),
    [
        ({}, "0:2 Resources Priority"),
        ({"bf_min_age_reserve": 10}, "0:2 Resources Priority"),
        ({"bf_min_age_reserve": 11}, "0:2 Resources 1:1"),
        ({"bf_min_prio_reserve": 1}, "0:2 Resources Priority"),
        ({"bf_min_prio_reserve": 2}, "0:2 Resources 1:1"),
    ],
    ids=str,
)
@pytest.mark.parametrize("nodes", [2, 3])
def test_who_closes_no_partition(scheduler: dict[str, float], expected: str, nodes: int) -> None:
    """A job that backfill does not plan, because it is young or of low priority, does not close its partition."""
    jobs = f"job cpus nodes / A 2 . / B 4 {nodes} / C 1 ."
    world = draw_world("count cores / 2 2", "p:0-1", jobs, scheduler=scheduler, priority=SlurmPriority())
    world.now = 10
    assert after_pass(world, (0, "0:2")) == expected


def test_jobs_in_two_partitions() -> None:
    """Each entry of a job is tried, and none of a job that has started."""
    jobs = "job cpus partition / A 1 p / B 1 p,q / C 1 p,q"
    world = draw_world("count cores / 2 1", "p:0 q:1", jobs)
    assert after_pass(world, (0, "0:1")) == "0:1 1:1 Resources"
    assert [job.partition for job in world.jobs] == [0, 1, -1]


def test_depth_of_a_pass() -> None:
    """A pass that is not a full one looks at one more job than default_queue_depth says."""
    jobs = "job cpus partition / A 1 p / B 1 q / C 1 q / D 1 r"
    world = draw_world("count cores / 3 1", "p:0 q:1 r:2", jobs, scheduler={"default_queue_depth": 2})
    world.jobs[3].reason = "before"
    assert after_pass(world, is_full=False) == "0:1 1:1 Resources before"
    assert after_pass(world) == "0:1 1:1 Resources 2:1"


def test_jobs_that_are_left_out_of_a_pass_are_not_counted() -> None:
    """Only jobs that are looked at count: not who comes after partition_job_depth jobs of its partition."""
    jobs = "job cpus partition / A 1 p / B 1 p / C 1 p / D 1 q"
    scheduler = {"default_queue_depth": 1, "partition_job_depth": 1}
    world = draw_world("cores / 1 / 1", "p:0 q:1", jobs, scheduler=scheduler)
    assert after_pass(world, is_full=False).split() == ["0:1", "1:1"]


def test_most_starts_of_a_pass() -> None:
    """After sched_max_job_start starts a pass ends."""
    world = draw_world("cores / 8", "p:0", "job / A / B / C", scheduler={"sched_max_job_start": 2})
    assert after_pass(world) == "0:1 0:1 "


ARRAY = "job cpus array array_limit / A 1 0 {0} / B 1 0 {0} / C 1 0 {0} / D 1 -1 0"


def test_an_array_is_refused_at_once() -> None:
    """Tasks after one that was refused are not tried, and are told its reason; starts do not refuse."""
    world = draw_world("cores / 2", "p:0", ARRAY.format(0))
    assert after_pass(world) == "0:1 0:1 Resources Priority"
    world = draw_world("cores / 2", "p:0", ARRAY.format(0))
    world.jobs[1].cpus = 3
    assert after_pass(world) == "0:1 Resources Resources Priority"
    jobs = ARRAY.format(0).replace("array_limit", "array_limit partition").replace(" 0 /", " 0 p /") + " q"
    world = draw_world("cores / 1 / 1", "p:0 q:1", jobs)
    assert after_pass(world) == "0:1 Resources Resources 1:1"


def test_most_tasks_at_once() -> None:
    """A task of an array of which as many run as may is refused, and closes nothing."""
    world = draw_world("cores / 3", "p:0", ARRAY.format(1))
    assert after_pass(world) == "0:1 JobArrayTaskLimit JobArrayTaskLimit 0:1"
    world = draw_world("cores / 4", "p:0", ARRAY.format(2))
    assert after_pass(world, (2, "0:1")) == "0:1 JobArrayTaskLimit 0:1 0:1"


# ---------------------------------------------------------------- limits

ACCOUNTS = (
    SlurmAssociation("root"),
    SlurmAssociation("a", parent=0),
    SlurmAssociation("a", "u", parent=1),
    SlurmAssociation("a", "v", parent=1),
    SlurmAssociation("b", parent=0),
    SlurmAssociation("b", "w", parent=4),
)
JOBS = """
job cpus nodes run  user association qos memory_per_node gpus_per_node
A   4    2     600  0    u           0   100             1
B   4    2     600  0    u           0   100             1
C   4    2     600  1    v           0   100             1
D   4    2     600  2    w           1   100             1
"""


def limited(of_qos: dict[str, Any] | None = None, **of_associations: dict[str, Any]) -> World:
    """Return a site in which the first job runs, with limits of QOS 0 and of associations by name."""
    each = [replace(one, limits=SlurmLimits(**of_associations.get(one.user or one.account, {}))) for one in ACCOUNTS]
    world = draw_world(
        "count cores memory gpus / 9 4 900 4",
        "p:0-8",
        JOBS,
        associations=tuple(each),
        qos=(SlurmQos("q", limits=SlurmLimits(**(of_qos or {}))), SlurmQos("other")),
        enforce=frozenset({"limits"}),
    )
    put(world, world.jobs[0], "0:2 1:2")
    work_pass(world, True)
    return world


# limits of the QOS; what becomes of B (same user), C (same account), D (another account and QOS)
OF_QOS: list[tuple[dict[str, Any], str]] = [
    ({}, "- - -"),
    ({"grp_jobs": 1}, "QOSGrpJobsLimit QOSGrpJobsLimit -"),
    ({"grp_jobs": 2}, "- QOSGrpJobsLimit -"),
    ({"max_jobs_pu": 1}, "QOSMaxJobsPerUserLimit - -"),
    ({"max_jobs_pa": 2}, "- MaxJobsPerAccount -"),
    ({"max_wall": 599.0}, "QOSMaxWallDurationPerJobLimit QOSMaxWallDurationPerJobLimit -"),
    ({"max_wall": 600.0}, "- - -"),
    ({"grp_tres": {"cpu": 8.0}}, "- QOSGrpCpuLimit -"),
    ({"grp_tres": {"node": 3.0}}, "QOSGrpNodeLimit QOSGrpNodeLimit -"),
    ({"grp_tres": {"mem": 599.0}}, "- QOSGrpMemLimit -"),
    ({"grp_tres": {"gres/gpu": 4.0}}, "- QOSGrpGRES -"),
    ({"grp_tres": {"billing": 4.0}}, "QOSGrpBilling QOSGrpBilling -"),
    ({"max_tres": {"cpu": 4.0}}, "- - -"),
    ({"max_tres": {"mem": 199.0}}, "QOSMaxMemoryPerJob QOSMaxMemoryPerJob -"),
    ({"max_tres_per_node": {"cpu": 1.0}}, "QOSMaxCpuPerNode QOSMaxCpuPerNode -"),
    ({"max_tres_per_node": {"cpu": 3.0}}, "- - -"),
    ({"max_tres_pu": {"cpu": 7.0}}, "QOSMaxCpuPerUserLimit - -"),
    ({"max_tres_pa": {"node": 4.0}}, "- MaxNodePerAccount -"),
    ({"min_tres": {"cpu": 5.0}}, "QOSMinCpuNotSatisfied QOSMinCpuNotSatisfied -"),
    ({"min_tres": {"cpu": 4.0}}, "- - -"),
    ({"max_tres_mins": {"cpu": 39.0}}, "QOSMaxCpuMinutesPerJobLimit QOSMaxCpuMinutesPerJobLimit -"),
    ({"grp_tres_run_mins": {"cpu": 80.0}}, "- QOSGrpCPURunMinutesLimit -"),
    ({"grp_tres_mins": {"cpu": 39.0}}, "QOSGrpCPUMinutesLimit QOSGrpCPUMinutesLimit -"),
    ({"grp_tres_mins": {"cpu": 40.0}}, "- - -"),
]
OF_ASSOCIATIONS: list[tuple[dict[str, Any], str]] = [
    ({"u": {"max_jobs": 1}}, "AssocMaxJobsLimit - -"),
    ({"a": {"max_jobs": 1}}, "- - -"),
    ({"a": {"grp_jobs": 2}}, "- AssocGrpJobsLimit -"),
    ({"root": {"grp_jobs": 3}}, "- - AssocGrpJobsLimit"),
    ({"v": {"max_wall": 60.0}}, "- AssocMaxWallDurationPerJobLimit -"),
    ({"a": {"grp_tres": {"cpu": 8.0}}}, "- AssocGrpCpuLimit -"),
    ({"root": {"grp_tres": {"node": 6.0}}}, "- - AssocGrpNodeLimit"),
    ({"w": {"max_tres": {"cpu": 3.0}}}, "- - AssocMaxCpuPerJobLimit"),
    ({"a": {"max_tres": {"cpu": 3.0}}}, "- - -"),
    ({"u": {"grp_tres_run_mins": {"cpu": 79.0}}}, "AssocGrpCPURunMinutesLimit - -"),
    ({"w": {"max_tres_mins": {"billing": 39.0}}}, "- - AssocMaxBillingMinutesPerJob"),
    ({"v": {"max_tres_per_node": {"gres/gpu": 0.0}}}, "- AssocMaxGRESPerNode -"),
]


def waiting(world: World) -> str:
    """Return why the jobs after the first wait; ``-`` where one runs."""
    return " ".join("-" if job.placed else job.reason for job in world.jobs[1:])


@pytest.mark.parametrize(("limits", "expected"), OF_QOS, ids=str)
def test_limits_of_a_qos(limits: dict[str, Any], expected: str) -> None:
    """Who would exceed one waits for it and blocks nobody."""
    assert waiting(limited(limits)) == expected


@pytest.mark.parametrize(("limits", "expected"), OF_ASSOCIATIONS, ids=str)
def test_limits_of_associations(limits: dict[str, Any], expected: str) -> None:
    """Limits of groups count all below; others only jobs of the association itself."""
    assert waiting(limited(**limits)) == expected


def test_a_limit_of_usage_decays() -> None:
    """Usage of a group counts beside what a job would use."""
    world = limited({"grp_tres_mins": {"cpu": 100.0}})
    assert waiting(world) == "- - -"
    world = limited({"grp_tres_mins": {"cpu": 60.0}}, a={"grp_tres_mins": {"billing": 50.0}})
    world.running, world.waiting = [], list(world.jobs)
    world.used_by_association[1]["billing"] = 600.1
    world.used_by_qos[0]["cpu"] = 1200.0
    work_pass(world, True)
    assert [job.reason for job in world.jobs] == [*["AssocGrpBillingMinutes"] * 3, ""]


def test_the_partition_before_the_job_before_the_association() -> None:
    """What the partition's QOS says of a kind hides what the job's own says, and both what the association says."""
    world = limited({"max_jobs_pu": 1}, u={"max_jobs": 1})
    assert world.jobs[1].reason == "QOSMaxJobsPerUserLimit"
    world = limited({"max_jobs_pu": 2}, u={"max_jobs": 1})
    assert world.jobs[1].placed
    world = limited({"max_jobs_pu": 1})
    qos = (*world.site.qos, SlurmQos("of p", limits=SlurmLimits(max_jobs_pu=2)))
    world.site = replace(world.site, qos=qos, partitions=(SlurmPartition("p", qos="of p"),))
    world.used_by_qos[2] = {}
    work_pass(world, True)
    assert world.jobs[1].placed
    world = limited({"max_tres": {"cpu": 3.0}})
    qos = (*world.site.qos, SlurmQos("of p", limits=SlurmLimits(max_tres={"cpu": 9.0, "node": 1.0})))
    world.site = replace(world.site, qos=qos, partitions=(SlurmPartition("p", qos="of p"),))
    world.used_by_qos[2] = {}
    work_pass(world, True)
    assert world.jobs[1].reason == "QOSMaxNodePerJobLimit"
    assert limited({"max_tres": {"cpu": 9.0}}, u={"max_tres": {"cpu": 3.0}}).jobs[1].placed
    world = limited({"max_tres": {"mem": 900.0}}, u={"max_tres": {"cpu": 3.0}})
    assert world.jobs[1].reason == "AssocMaxCpuPerJobLimit"


def test_limits_that_are_not_enforced() -> None:
    """Without ``limits`` in AccountingStorageEnforce none counts."""
    world = limited({"grp_jobs": 1})
    world.site = replace(world.site, enforce=frozenset({"associations"}))
    work_pass(world, True)
    assert waiting(world) == "- - -"


def test_a_limit_may_close_a_partition() -> None:
    """With assoc_limit_stop a job that waits for a limit blocks those behind it."""
    for limits in ({"max_jobs_pu": 1}, {"max_tres": {"cpu": 3.0}}):
        world = limited(limits)
        for job in [job for job in world.running if job.row]:
            world.running.remove(job)
            world.waiting.append(job)
            job.placed = None
        world.site = replace(world.site, scheduler={"assoc_limit_stop": 1})
        work_pass(world, True)
        assert waiting(world).split()[1:] == ["Priority", "Priority"]


# ---------------------------------------------------------------- ticks


def starts(jobs: str, phase: float = 0.0, **scheduler: float) -> list[str]:
    """Return starts of jobs on a node of two cores, without backfill."""
    world, names = run_drawn("cores / 2", "p:0", jobs, phase, has_backfill=False, scheduler=scheduler)
    return [row[1] for row in outcome(world, names)[1:]]


def test_passes() -> None:
    """A pass comes batch_sched_delay after the last if something asks for it, a full one each sched_interval."""
    jobs = "job submit run / A 100 5 / B 101 5 / C 101 5 / D 107 1 / E 170.5 1"
    # full at 100, asked by B at 101 and so due at 103, then by A's end at 105, at 106; D; E asks at 171
    assert starts(jobs) == ["100", "103", "106", "109", "171"]
    assert starts(jobs, batch_sched_delay=0) == ["100", "101", "105", "107", "171"]
    assert starts(jobs, batch_sched_delay=1000) == ["100", "160", "160", "220", "220"]
    assert starts(jobs, batch_sched_delay=1000, sched_interval=2) == ["100", "102", "106", "108", "172"]


def test_phases() -> None:
    """Phases move the ticks within a second, and when the first pass is."""
    jobs = "job submit run / A 100.5 5 / B 130 5"
    assert starts(jobs, 0.0) == ["103", "130"]  # the first pass is at 100, and has nobody
    assert starts(jobs, 0.5) == ["130.5", "130.5"]  # 29 / 2 ticks at half a second
    assert starts(jobs, 0.05) == ["103.438", "130.438"]  # first pass at 100 + 3 s, ticks at .45 cut to 64ths
    assert starts(jobs, 0.1) == ["106.891", "130.891"]


def test_first_times() -> None:
    """Each thing that is done in cycles begins at its own part of its interval, and comes again after whole ones."""
    priority = SlurmPriority(calc_period=60)
    scheduler = {"sched_interval": 50.0, "bf_interval": 30.0}
    world = draw_world("cores / 2", "p:0", "job / A", scheduler=scheduler, priority=priority)
    for phase, full, backfill, period in [(0.0, 0, 0, 0), (0.5, 25, 15, 30), (0.25, 13, 23, 15), (0.1, 5, 21, 18)]:
        cycles = Cycles(world, phase, 0)
        assert [cycles.full_is_due(number) for number in (full - 1, full, full + 9)] == [False, True, True]
        assert [cycles.backfill_is_due(number) for number in (backfill - 1, backfill)] == [False, True]
        assert [cycles.period_is_due(number) for number in (period - 1, period)] == [False, True]
        cycles.last_full = cycles.last_backfill = cycles.last_period = 7
        assert [cycles.full_is_due(number) for number in (56, 57)] == [False, True]
        assert [cycles.backfill_is_due(number) for number in (36, 37)] == [False, True]
        assert [cycles.period_is_due(number) for number in (66, 67)] == [False, True]


def test_who_ends_at_a_tick_makes_room_at_it() -> None:
    """Ends and submissions at the instant of a tick count as before it; a run of 0 s ends before the next."""
    assert starts("job submit run cpus / A 0 3 2 / B 1 0 2 / C 3 1 2", batch_sched_delay=0) == ["0", "3", "4"]


def test_when_jobs_are_eligible() -> None:
    """A job waits from when it is ready; its age counts from then."""
    jobs = "job submit run cpus ready / A 0 10 2 . / B 1 10 2 5 / C 2 10 2 ."
    assert starts(jobs) == ["0", "10", "20"]
    world, _ = run_drawn("cores / 2", "p:0", jobs, has_backfill=False)
    assert [reason for reason in world.reasons if reason[0] == 1] == [(1, 5.0, "Priority"), (1, 6.0, "Resources")]


def test_reasons() -> None:
    """A row is told whenever a reason changes, from eligibility on."""
    jobs = "job submit run cpus / A 0 10 2 / B 1 10 2 / C 2 10 2"
    world, _ = run_drawn("cores / 2", "p:0", jobs, has_backfill=False)
    expected = """
    0 0 Priority / 1 1 Priority / 2 2 Priority
    1 3 Resources / 2 10 Resources
    """
    assert [
        [f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in row] for row in world.reasons
    ] == rows_of(expected)

# SPDX-License-Identifier: BSD-3-Clause
"""The naive twin's priorities are those of Slurm's pages and of real sites: usage, fair share, the sum, the order."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from swftools.machines.slurm_site import SlurmPartition, SlurmPriority, SlurmQos
from tests.naive.slurm_priority import (
    add_usage,
    decay,
    entries,
    fair_share_of,
    level_of,
    priority_of,
    usage,
    work_period,
)
from tests.naive.slurm_world import World
from tests.slurm_drawn import draw_accounts, draw_world, put

ACCOUNTS = """
account user parent shares usage
root    .    root   1      1000
root    root root   1      0
a       .    root   3      600
a       u    a      1      450
a       v    a      1      150
b       .    root   1      400
b       w    b      1      400
"""


def accounts(text: str, *, is_fair_tree: bool = True, damping: float = 1.0) -> World:
    """Return a site with accounts, and with usage before."""
    priority = SlurmPriority(fair_share=1000, half_life=300, is_fair_tree=is_fair_tree, damping=damping)
    drawn = draw_accounts(text)
    return draw_world("cores / 8", "p:0", "job / A", associations=drawn, has_usage=True, priority=priority)


def factors(world: World) -> dict[str, float]:
    """Return fair-share factors by user."""
    users = {each.user: place for place, each in enumerate(world.site.associations) if each.user}
    return {user: fair_share_of(world, place) for user, place in users.items()}


# ---------------------------------------------------------------- usage


def test_usage_decays_as_seen() -> None:
    """Usage of a real site fell to .870437 of it in 60 s with a half-life of 300 s."""
    assert decay(accounts(ACCOUNTS)) ** 60 == pytest.approx(0.870437, abs=1e-6)
    assert decay(draw_world("cores / 8", "p:0", "job / A", priority=SlurmPriority(half_life=0))) == 1


def test_usage_of_a_period_and_of_an_end() -> None:
    """A job counts with its decayed seconds once a period and at its end, in its line of associations and its QOS."""
    qos = (SlurmQos("q", usage_factor=2.0), SlurmQos("of p"), SlurmQos("other"))
    world = draw_world(
        "cores / 8",
        "p:0",
        "job cpus qos association run / A 4 0 u 100",
        associations=draw_accounts(ACCOUNTS),
        has_usage=True,
        priority=SlurmPriority(half_life=300),
        qos=qos,
        partitions=(SlurmPartition("p", qos="of p", billing_weights={"cpu": 0.5, "node": 3.0}),),
    )
    job = put(world, world.jobs[0], "0:4", start=10.25)
    world.now = 60
    work_period(world)
    part = 50 * decay(world) ** 50
    assert usage(world, 3) == pytest.approx(450 * decay(world) ** 60 + part * 5 * 2)
    assert usage(world, 2) == pytest.approx(600 * decay(world) ** 60 + part * 5 * 2)
    assert usage(world, 0) == pytest.approx(1000 * decay(world) ** 60 + part * 5 * 2)
    assert usage(world, 4) == pytest.approx(150 * decay(world) ** 60)
    assert [world.used_by_qos[place].get("cpu", 0.0) for place in range(3)] == pytest.approx([part * 8, part * 8, 0])
    add_usage(world, job, 100)
    later = 40 * decay(world) ** 40
    assert usage(world, 3) == pytest.approx(450 * decay(world) ** 60 + (part + later) * 5 * 2)
    assert world.used_by_qos[0]["node"] == pytest.approx((part + later) * 2)


# ---------------------------------------------------------------- fair share


def test_levels_of_a_real_account() -> None:
    """Level FS of ``sshare`` as printed on the pages of EPFL's SCITAS: 23 users, of whom three have used anything."""
    users = "\n".join(f"ge u{number} ge 1 {used}" for number, used in enumerate([344, 351, 681, *[0] * 20]))
    world = accounts(f"account user parent shares usage\nroot . root 1 1376\nge . root 1 1376\n{users}")
    assert [level_of(world, place) for place in (2, 3, 4)] == pytest.approx([0.173913, 0.170455, 0.087848], abs=2e-5)
    assert level_of(world, 5) == math.inf
    assert [factors(world)[f"u{number}"] * 23 for number in (3, 22, 0, 1, 2)] == pytest.approx([23, 23, 3, 2, 1])


def test_fair_tree_ranks_by_levels() -> None:
    """All users of a better account come before those of another: root's user, account b (S/U .5), then a (1)."""
    world = accounts(ACCOUNTS)
    # levels: root's user inf; a (3/5) / .6 = 1; b (1/5) / .4 = .5; in a: u .5 / .75, v .5 / .25
    assert factors(world) == {"root": 1.0, "v": 0.75, "u": 0.5, "w": 0.25}


def test_fair_tree_ties() -> None:
    """Users of one level share a rank; a user with the level of an account has the rank of its first user."""
    world = accounts("""
account user parent shares usage
root    .    root   1      300
root    x    root   1      100
root    y    root   1      100
a       .    root   1      100
a       u    a      1      0
a       v    a      1      50
a       w    a      1      50
""")
    assert factors(world) == {"x": 1.0, "y": 1.0, "u": 1.0, "v": 2 / 5, "w": 2 / 5}


def test_fair_tree_merges_equal_accounts() -> None:
    """Users of accounts of one level are ranked together, by what they are among their own siblings."""
    world = accounts("""
account user parent shares usage
root    .    root   1      200
a       .    root   1      100
a       u    a      1      80
a       v    a      1      20
b       .    root   1      100
b       w    b      1      60
b       x    b      1      40
""")
    assert factors(world) == {"v": 1.0, "x": 0.75, "w": 0.5, "u": 0.25}


def test_fair_tree_without_shares() -> None:
    """No shares: last. Shares of the parent: a user first; an account's users share the level above."""
    world = accounts("""
account user parent shares usage
root    .    root   1      400
root    z    root   0      0
a       .    root   .      300
a       u    a      1      100
a       v    a      .      200
b       .    root   3      100
b       w    b      1      100
""")
    # a is replaced by its children: u has 1 of 4 shares of the root's level and 100 of 400 of its usage
    assert level_of(world, 3) == pytest.approx(1.0)
    assert level_of(world, 5) == pytest.approx(0.75 / 0.25)
    assert factors(world) == {"v": 1.0, "u": 0.75, "w": 0.5, "z": 0.25}


def test_classic_formula() -> None:
    """Two to the minus of effective usage by share: the usage of an account weighs on who has used little there."""
    world = accounts(ACCOUNTS, is_fair_tree=False)
    # shares of the root's level: root's user 1/5, a 3/5, b 1/5; a's users half of 3/5 each
    assert factors(world) == pytest.approx(
        {
            "root": 1.0,
            "u": 2 ** -((0.45 + (0.6 - 0.45) / 2) / 0.3),
            "v": 2 ** -((0.15 + (0.6 - 0.15) / 2) / 0.3),
            "w": 2 ** -((0.4 + (0.4 - 0.4) * 1) / 0.2),
        }
    )
    damped = accounts(ACCOUNTS, is_fair_tree=False, damping=3.0)
    assert factors(damped)["u"] == pytest.approx(factors(world)["u"] ** (1 / 3))


def test_classic_without_shares() -> None:
    """Who has the shares of the parent has its factor; who has none has 0."""
    text = ACCOUNTS.replace("a       u    a      1", "a       u    a      .").replace("v    a      1", "v    a      0")
    world = accounts(text, is_fair_tree=False)
    assert factors(world) == pytest.approx({"root": 1.0, "u": 2 ** -(0.6 / 0.6), "v": 0.0, "w": 2 ** -(0.4 / 0.2)})


def test_fair_tree_sees_the_period_that_ends() -> None:
    """Usage of the period counts at its end."""
    world = draw_world(
        "cores / 8",
        "p:0",
        "job cpus association run / A 4 v 100",
        associations=draw_accounts(ACCOUNTS),
        has_usage=True,
        priority=SlurmPriority(half_life=0),
    )
    before = dict(world.fair_share)
    put(world, world.jobs[0], "0:4")
    world.now = 1000
    work_period(world)
    assert world.fair_share != before


def test_in_the_classic_formula_accounts_lag_a_period() -> None:
    """A user's own usage is that of when it is first needed; its account's that of before the period."""
    world = draw_world(
        "cores / 8",
        "p:0",
        "job cpus association run / A 1 v 100 / B 1 u 100",
        associations=draw_accounts(ACCOUNTS),
        has_usage=True,
        priority=SlurmPriority(half_life=0, is_fair_tree=False),
    )
    put(world, world.jobs[0], "0:1")
    world.now = 1000
    work_period(world)  # v has 1000 more of 1000; u waits, so it is looked at here
    assert {world.site.associations[place].user for place in world.fair_share} == {"u"}
    assert factors(world)["u"] == pytest.approx(2 ** -((450 / 2000 + (0.6 - 450 / 2000) / 2) / 0.3))
    assert factors(world)["v"] == pytest.approx(2 ** -((1150 / 2000 + (0.6 - 1150 / 2000) / 2) / 0.3))
    world.now = 2000
    work_period(world)
    assert factors(world)["u"] == pytest.approx(2 ** -((450 / 3000 + (1600 / 2000 - 450 / 3000) / 2) / 0.3))


# ---------------------------------------------------------------- the sum


def priority(world: World, **weights: float) -> int:
    """Return the priority of the first job in its first partition with some weights."""
    world.site = replace(world.site, priority=replace(world.site.priority, **{"is_multifactor": True, **weights}))
    return priority_of(world, world.jobs[0], world.jobs[0].partitions[0])


def test_each_factor() -> None:
    """Each weight times its factor, worked out by hand; the sum is cut to a whole number and at least 1."""
    world = draw_world(
        "count cores memory gpus / 2 8 100 2 / 2 4 200 0",
        "p:0-3 q:0-1",
        "job cpus nodes partition association qos nice memory_per_node gpus_per_node / A 6 2 q v 0 0 30 1",
        associations=draw_accounts(ACCOUNTS),
        has_usage=True,
        qos=(SlurmQos("low", priority=10), SlurmQos("high", priority=40)),
        partitions=(SlurmPartition("p", job_factor=4), SlurmPartition("q", job_factor=3)),
    )
    world.site = replace(
        world.site,
        associations=tuple(
            replace(each, priority={"v": 2.0, "w": 8.0}.get(each.user, 0.0)) for each in world.site.associations
        ),
    )
    world.now = 50
    assert priority(world) == 1
    assert priority(world, age=1000, max_age=200) == 250
    assert priority(world, age=1000, max_age=20) == 1000
    assert priority(world, age=0, association=1000) == 250
    assert priority(world, association=0, fair_share=1000) == 750
    assert priority(world, fair_share=0, job_size=1000) == 375  # (2/4 + 6/24) / 2
    assert priority(world, favors_small=True) == 625
    assert priority(world, job_size=0, partition=1000) == 750
    assert priority(world, partition=0, qos=1000) == 250
    world.site = replace(world.site, priority=replace(world.site.priority, qos=0, tres={"cpu": 1000, "mem": 100}))
    assert priority(world) == 375 + 30  # 6 of q's 16 CPUs, 60 of its 200 MB
    world.site = replace(world.site, priority=replace(world.site.priority, tres={"gres/gpu": 1000.9, "node": 0}))
    assert priority(world) == 500
    alone = [replace(part, is_exclusive=part.name == "q") for part in world.table.partitions]
    world.table = replace(world.table, partitions=tuple(alone))
    world.site = replace(world.site, priority=replace(world.site.priority, tres={}, favors_small=False))
    assert priority(world, job_size=1000) == 583  # (2/4 + 16/24) / 2: two nodes of q have 16 CPUs
    world.site = replace(world.site, priority=replace(world.site.priority, job_size=0, tres={"gres/gpu": 1000.9}))
    world.jobs[0].nice = 100
    assert priority(world) == 400
    world.jobs[0].nice = 1000
    assert priority(world) == 1


def test_without_factors_earlier_jobs_come_first() -> None:
    """Priorities of ``priority/basic`` are in order of submission."""
    world = draw_world("cores / 8", "p:0", "job submit / A 5 / B 3 / C 5")
    assert [job.row for job, _ in entries(world)] == [1, 0, 2]


def test_order_of_the_queue() -> None:
    """Who may preempt, tier, priority, submission, row: the first that differs decides."""
    jobs = "job submit qos partition / A 1 0 p / B 1 0 p / C 0 0 p / D 0 1 p / E 0 2 q,p"
    qos = (SlurmQos("low"), SlurmQos("high", preempt=("low",)), SlurmQos("other"))
    world = draw_world("cores / 8", "p:0 q:0", jobs, qos=qos, preempt_type="qos")
    for job in world.jobs:
        job.priority = dict.fromkeys(job.partitions, 7)
    tiers = [replace(part, tier=tier) for part, tier in zip(world.table.partitions, [1, 2], strict=True)]
    world.table = replace(world.table, partitions=tuple(tiers))
    named = [("ABCDE"[job.row], "pq"[place]) for job, place in entries(world)]
    assert named == [("E", "q"), ("D", "p"), ("C", "p"), ("E", "p"), ("A", "p"), ("B", "p")]
    world.jobs[1].priority[0] = 8
    world.site = replace(world.site, preempt_type="none")
    named = [("ABCDE"[job.row], "pq"[place]) for job, place in entries(world)]
    assert named == [("E", "q"), ("B", "p"), ("C", "p"), ("D", "p"), ("E", "p"), ("A", "p")]


@pytest.mark.parametrize(("qos", "expected"), [("1 2 0", "ACB"), ("0 2 1", "ABC"), ("0 1 2", "ACB"), ("2 1 0", "ABC")])
def test_order_where_nobody_is_first(qos: str, expected: str) -> None:
    """High goes before low, low (9) before other (7), other before high (5): it depends on who came first."""
    names = (SlurmQos("low"), SlurmQos("high", preempt=("low",)), SlurmQos("other"))
    rows = [f"{name} {place}" for name, place in zip("ABC", qos.split(), strict=True)]
    world = draw_world("cores / 8", "p:0", " / ".join(["job qos", *rows]), qos=names, preempt_type="qos")
    for job in world.jobs:
        job.priority = {0: [9, 5, 7][job.qos]}
    assert "".join("ABC"[job.row] for job, _ in entries(world)) == expected

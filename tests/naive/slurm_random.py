# SPDX-License-Identifier: BSD-3-Clause
"""Small sites under Slurm and their jobs, by lot: overlapping partitions, limits, arrays, long queues, few seconds."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from swftools.machines.node_table import GPU, NodeTable, PartitionNodes
from swftools.machines.slurm_site import (
    SlurmAssociation,
    SlurmLimits,
    SlurmPartition,
    SlurmPriority,
    SlurmQos,
    SlurmSite,
    SlurmSwitch,
)
from swftools.simulator.slurm.asked import SlurmJobs
from tests.naive.slurm_alone import why_never
from tests.naive.slurm_world import jobs_of

VERSIONS = ((22, 5), (22, 5), (17, 11), (23, 2), (23, 11))


@dataclass
class Times:
    """When jobs are submitted, how long they run, and their limits: s, by row."""

    submit: list[float]
    run: list[float]
    limit: list[float]


# ---------------------------------------------------------------- sites


def random_site(seed: int, *, with_preemption: bool = False) -> tuple[SlurmSite, NodeTable]:
    """Return how Slurm is configured on a small machine, and the machine."""
    lot = random.Random(f"site {seed}")
    table = random_machine(lot)
    qos = random_qos(lot)
    associations = random_associations(lot)
    priority = random_priority(lot)
    if not 0 < priority.half_life < 1000 or not priority.is_multifactor:  # usage that stays would keep jobs for long
        qos = tuple(without_minutes(each) for each in qos)
        associations = tuple(without_minutes(each) for each in associations)
    site = SlurmSite(
        version=lot.choice(VERSIONS),
        has_backfill=lot.random() < 0.9,
        scheduler=random_scheduler(lot),
        enforce=frozenset(lot.choice([{"limits", "associations", "qos"}, {"associations"}])),
        preempt_type=lot.choice(["qos", "qos", "partition_prio"]) if with_preemption else "none",
        preempt_mode=lot.choice(["requeue", "cancel"]),
        priority=priority,
        qos=qos,
        associations=associations,
        partitions=tuple(
            SlurmPartition(
                each.name,
                job_factor=float(lot.randint(0, 4)),
                qos=lot.choice([lot.choice(qos).name, "", ""]),
                preempt_mode=lot.choice(["cluster", "cluster", "cluster", "off", "cancel"]),
                grace_time=float(lot.choice([0, 0, 20])),
                billing_weights=lot.choice([{}, {}, {"cpu": 1.0, "mem": 0.01, "gres/gpu": 4.0}]),
            )
            for each in table.partitions
        ),
        switches=random_switches(lot, len(table)),
        has_usage=lot.random() < 0.5,
    )
    if random.Random(f"billing {seed}").random() < 0.3:
        flags = site.priority.flags | {"max_tres"}
        site = dataclasses.replace(site, priority=dataclasses.replace(site.priority, flags=flags))
    if with_preemption:
        order = random_order_of_preemption(random.Random(f"preemption {seed}"))
        site = dataclasses.replace(site, scheduler={**site.scheduler, **order})
    return site, dataclasses.replace(table, slurm=site)


def random_machine(lot: random.Random) -> NodeTable:
    """Return nodes of a few kinds, in overlapping partitions."""
    number, kinds = lot.randint(3, 20), lot.randint(1, 3)
    kind = sorted(lot.randrange(kinds) for _ in range(number))
    cores = [lot.randint(2, 16) for _ in range(kinds)]
    memory = [each * lot.choice([100, 200, 300]) for each in cores]
    gpus = [lot.choice([0, 0, 1, 2, 4]) for _ in range(kinds)]
    weights = lot.choice([[1, 1, 1], [1, 2, 3], [3, 1, 2]])
    alone = lot.random() < 0.3
    partitions = []
    for place in range(lot.randint(1, 4)):
        first = lot.randint(0, number - 1) if place else 0
        last = lot.randint(first, number - 1) if place else number - 1
        partitions.append(
            PartitionNodes(
                f"p{place}",
                np.arange(first, last + 1),
                is_exclusive=alone and place == 1,
                is_default=not place,
                tier=lot.choice([1, 2, 3]),
            )
        )
    return NodeTable(
        names=tuple(f"n{node}" for node in range(number)),
        kind=np.array(kind),
        kinds=tuple(f"k{place}" for place in range(kinds)),
        cores=np.array([cores[each] for each in kind]),
        memory=np.array([memory[each] for each in kind]),
        gpus=np.array([gpus[each] * GPU for each in kind]),
        weight=np.array([weights[each] for each in kind]),
        partitions=tuple(partitions),
        gpu_types=(frozenset(),) * kinds,
        features=(frozenset(),) * kinds,
    )


def random_switches(lot: random.Random, nodes: int) -> tuple[SlurmSwitch, ...]:
    """Return a tree of leaves, of one or two levels, over all nodes; or none."""
    if lot.random() < 0.6:
        return ()
    cuts = sorted({0, nodes, *(lot.randint(1, nodes - 1) for _ in range(lot.randint(0, 3)))})
    leaves = [tuple(range(first, last)) for first, last in pairwise(cuts)]
    number = len(leaves)
    if number < 4:
        tops = [SlurmSwitch("top", -1, False, tuple(range(nodes)))] if number > 1 else []
        parents = [number] * number if tops else [-1]
    else:
        tops = [
            SlurmSwitch("left", number + 2, False, leaves[0] + leaves[1]),
            SlurmSwitch("right", number + 2, False, tuple(node for leaf in leaves[2:] for node in leaf)),
            SlurmSwitch("top", -1, False, tuple(range(nodes))),
        ]
        parents = [number + (place > 1) for place in range(number)]
    below = [SlurmSwitch(f"leaf{place}", parents[place], True, leaf) for place, leaf in enumerate(leaves)]
    return (*below, *tops)


def random_limits(lot: random.Random, *, of_qos: bool) -> SlurmLimits:
    """Return a few limits."""
    some: dict[str, Any] = {
        "grp_jobs": lot.randint(2, 8),
        "max_jobs": lot.randint(1, 4),
        "max_wall": float(lot.choice([200, 600])),
        "grp_tres": {lot.choice(["cpu", "node", "mem", "gres/gpu"]): float(lot.choice([8, 16, 4000]))},
        "max_tres": {lot.choice(["cpu", "node", "billing"]): float(lot.randint(4, 16))},
        "max_tres_per_node": {"cpu": float(lot.randint(4, 12))},
        "grp_tres_mins": {lot.choice(["cpu", "billing"]): float(lot.choice([100, 200]))},
        "grp_tres_run_mins": {"cpu": float(lot.choice([40, 80, 160]))},
        "max_tres_mins": {"cpu": float(lot.choice([20, 60]))},
    }
    if of_qos:
        some |= {
            "max_jobs_pu": lot.randint(1, 4),
            "max_jobs_pa": lot.randint(2, 5),
            "max_tres_pu": {"cpu": float(lot.randint(4, 16)), "node": float(lot.randint(1, 6))},
            "max_tres_pa": {"cpu": float(lot.randint(8, 24))},
            "min_tres": {"cpu": 1.0 + (lot.random() < 0.3)},
        }
    names = lot.sample(sorted(some), lot.choice([0, 1, 2, 3]))
    return SlurmLimits(**{name: some[name] for name in names})


def without_minutes(each: Any) -> Any:
    """Return a QOS or an association without a limit of usage."""
    return dataclasses.replace(each, limits=dataclasses.replace(each.limits, grp_tres_mins={}))


def random_qos(lot: random.Random) -> tuple[SlurmQos, ...]:
    """Return one to three QOS."""
    return tuple(
        SlurmQos(
            f"q{place}",
            priority=float(lot.choice([0, 10, 50])),
            usage_factor=lot.choice([1.0, 1.0, 0.5, 2.0]),
            preempt=tuple(f"q{below}" for below in range(place) if lot.random() < 0.9),
            preempt_mode=lot.choice(["cluster", "cluster", "cluster", "off", "requeue"]),
            grace_time=float(lot.choice([0, 0, 0, 20])),
            preempt_exempt_time=float(lot.choice([0, 0, 30])),
            flags=frozenset({"noreserve"} if lot.random() < 0.15 else ()),
            limits=random_limits(lot, of_qos=True),
        )
        for place in range(lot.randint(2, 3) if lot.random() < 0.85 else 1)
    )


def random_associations(lot: random.Random) -> tuple[SlurmAssociation, ...]:
    """Return the root, its own user, two or three accounts, one of them perhaps below another, and their users."""

    def shares() -> float | None:
        return lot.choice([1.0, 1.0, 2.0, 5.0, 0.0, None])

    each = [SlurmAssociation("root", shares=1.0), SlurmAssociation("root", "root", parent=0)]
    accounts = []
    for place in range(lot.randint(2, 3)):
        parent = accounts[0] if place == 1 and lot.random() < 0.3 else 0
        accounts.append(len(each))
        each.append(
            SlurmAssociation(f"a{place}", parent=parent, shares=shares(), limits=random_limits(lot, of_qos=False))
        )
    for user in range(lot.randint(2, 6)):
        for account in lot.sample(accounts, lot.choice([1, 1, 2])):
            each.append(
                SlurmAssociation(
                    each[account].account,
                    f"u{user}",
                    parent=account,
                    shares=shares(),
                    priority=float(lot.choice([0, 0, 3])),
                    usage=float(lot.choice([0, 0, 100, 5000])),
                    limits=random_limits(lot, of_qos=False) if lot.random() < 0.3 else SlurmLimits(),
                )
            )
    for place in reversed(range(len(each))):
        if not each[place].user:
            used = sum(child.usage for child in each if child.parent == place)
            each[place] = dataclasses.replace(each[place], usage=used)
    return tuple(each)


def random_priority(lot: random.Random) -> SlurmPriority:
    """Return weights and periods."""
    return SlurmPriority(
        is_multifactor=lot.random() < 0.9,
        age=float(lot.choice([0, 100, 1000])),
        association=float(lot.choice([0, 50])),
        fair_share=float(lot.choice([0, 1000, 10000])),
        job_size=float(lot.choice([0, 100, 1000])),
        partition=float(lot.choice([0, 100])),
        qos=float(lot.choice([0, 500])),
        tres=lot.choice([{}, {"cpu": 300.0, "mem": 200.0, "gres/gpu": 100.0}]),
        max_age=float(lot.choice([200, 2000])),
        half_life=lot.choice([0.0, 100.0, 300.0, 2000.0]),
        calc_period=float(lot.choice([7, 20, 60])),
        favors_small=lot.random() < 0.3,
        is_fair_tree=lot.random() < 0.6,
        damping=lot.choice([1.0, 3.0]),
    )


def random_scheduler(lot: random.Random) -> dict[str, float]:
    """Return parameters, most of them so small that they matter."""
    always = {
        "bf_interval": lot.randint(5, 30),
        "bf_resolution": lot.choice([1, 7, 30, 60]),
        "bf_window": lot.choice([2, 10, 60, 1440]),
        "sched_interval": lot.choice([10, 30, 60]),
        "batch_sched_delay": lot.randint(0, 4),
    }
    rare = {
        "bf_max_job_test": lot.choice([3, 10]),
        "bf_max_job_user": lot.randint(1, 4),
        "bf_max_job_user_part": lot.randint(1, 3),
        "bf_max_job_part": lot.randint(2, 6),
        "bf_max_job_assoc": lot.randint(1, 4),
        "bf_max_job_start": lot.randint(1, 3),
        "bf_max_job_array_resv": lot.randint(1, 3),
        "bf_min_age_reserve": lot.choice([20, 100]),
        "bf_min_prio_reserve": lot.choice([100, 1000]),
        "bf_window_linear": lot.choice([10, 60]),
        "default_queue_depth": lot.randint(1, 6),
        "partition_job_depth": lot.randint(1, 6),
        "sched_max_job_start": lot.randint(1, 3),
        "assoc_limit_stop": 1,
    }
    chosen = lot.sample(sorted(rare), lot.choice([0, 1, 2, 4]))
    return {name: float(value) for name, value in {**always, **{name: rare[name] for name in chosen}}.items()}


def random_yields(lot: random.Random) -> dict[str, float]:
    """Return parameters of cycles of backfill that take time."""
    found = {
        "bf_continue": float(lot.random() < 0.5),
        "bf_yield_interval": float(lot.choice([1, 250_000, 1_000_000, 2_000_000])),
        "bf_yield_sleep": float(lot.choice([250_000, 500_000, 3_000_000])),
        "bf_max_time": float(lot.choice([2, 5, 20, 200])),
    }
    return {name: found[name] for name in lot.sample(sorted(found), lot.choice([2, 3, 4]))}


def suspending_site(seed: int) -> tuple[SlurmSite, NodeTable]:
    """Return a site where jobs are suspended when they are preempted, all or some, and its machine."""
    site, table = random_site(seed, with_preemption=True)
    lot = random.Random(f"suspending {seed}")
    modes = ["cluster", "cluster", "cluster", "suspend", "suspend", "off", "requeue"]
    tiers = lot.sample(range(1, 5), 4)
    parts = tuple(
        dataclasses.replace(each, tier=tier, nodes=np.arange(len(table)) if lot.random() < 0.5 else each.nodes)
        for each, tier in zip(table.partitions, tiers, strict=False)
    )
    site = dataclasses.replace(
        site,
        preempt_type=lot.choice(["qos", "partition_prio", "partition_prio"]),
        preempt_mode=lot.choice(["suspend", "suspend", "suspend", "requeue"]),
        qos=tuple(dataclasses.replace(each, preempt_mode=lot.choice(modes)) for each in site.qos),
        partitions=tuple(dataclasses.replace(each, preempt_mode=lot.choice(modes)) for each in site.partitions),
    )
    return site, dataclasses.replace(table, partitions=parts, slurm=site)


def random_order_of_preemption(lot: random.Random) -> dict[str, float]:
    """Return parameters of who is preempted first; mostly none."""
    some = {
        "preempt_youngest_first": 1.0,
        "preempt_strict_order": 1.0,
        "preempt_reorder_count": float(lot.choice([0, 3])),
    }
    return {name: some[name] for name in lot.sample(sorted(some), lot.choice([0, 0, 1, 2]))}


# ---------------------------------------------------------------- jobs


def random_jobs(
    seed: int, site: SlurmSite, table: NodeTable, number: int = 60, *, fractions: bool = False, hopeless: float = 0.0
) -> tuple[SlurmJobs, Times]:
    """Return what jobs ask, and their times; each could start in each of its partitions if nothing else ran.

    ``fractions``: submissions and run times have parts of a second, all of them whole 64ths. ``hopeless``: the share of
    those that are taken of the jobs that cannot start so.
    """
    lot = random.Random(f"jobs {seed}")
    sets = np.array([[lot.random() < 0.7 for _ in range(len(table))] for _ in range(2)])
    users = sorted({each.user for each in site.associations if each.user})
    between = lot.choice([1, 3, 6, 15])
    rows: list[dict[str, Any]] = []
    submit: list[float] = []
    run: list[float] = []
    limit: list[float] = []
    time = lot.choice([0, 1000, 86400 * 3 + 5]) * 1.0
    while len(rows) < number:
        row = random_row(lot, site, table, users)
        if row is None:
            continue
        longest = float(lot.choice([60, 60, 120, 300, 600, lot.randint(5, 900)]))
        if not can_start(site, table, row, sets, longest) and not (hopeless and lot.random() < hopeless):
            continue
        time += lot.expovariate(1 / between) // 1
        tasks = lot.randint(2, 8) if lot.random() < 0.08 else 1
        if tasks > 1:
            row |= {"array": len(rows), "array_limit": lot.choice([0, 0, 1, 3])}
        for _ in range(tasks):
            rows.append(dict(row))
            submit.append(time + (lot.randrange(64) / 64 if fractions else 0))
            seconds = float(lot.choice([longest, lot.randint(1, int(longest)), lot.randint(0, int(longest) // 4)]))
            run.append(min(longest, seconds + (lot.randrange(64) / 64 if fractions else 0)))
            limit.append(longest)
    order = sorted(range(len(rows)), key=lambda place: (submit[place], place))
    times = Times(*([values[place] for place in order] for values in (submit, run, limit)))
    ready = np.array([lot.choice([time + lot.randint(0, 200), *[np.nan] * 9]) for time in times.submit])
    return asked_of([rows[place] for place in order], sets, ready), times


def random_row(lot: random.Random, site: SlurmSite, table: NodeTable, users: list[str]) -> dict[str, Any] | None:
    """Return what a job asks, or tasks of an array."""
    largest = int(table.cores.max())
    per_task = lot.choice([1, 1, 1, 2, 4])
    tasks = lot.choice([1, 1, lot.randint(1, largest), lot.randint(1, 3 * largest)])
    nodes = lot.choice([(1, 0, 1), (1, 0, 1), (1, 1, 1), (2, 2, 2), (3, 3, 3), (1, 4, 4), (2, 0, 2)])
    each = 0
    if lot.random() < 0.15:
        each = lot.randint(1, 4)
        fewest = -(-tasks // each)
        nodes = (fewest, lot.choice([0, fewest]), fewest)
    if tasks < nodes[0]:
        return None
    memory = lot.choice(["", "", "cpu", "node"])
    gpus = lot.choice(["", "", "", "node", "all"]) if table.gpus.any() else ""
    place = lot.choice([place for place, each in enumerate(site.associations) if each.user])
    return {
        "cpus": tasks * per_task,
        "cpus_per_task": per_task,
        "min_nodes": nodes[0],
        "max_nodes": nodes[1],
        "wanted_nodes": nodes[2],
        "tasks_per_node": each,
        "memory_per_cpu": lot.choice([50, 100, 150, 250]) if memory == "cpu" else 0,
        "memory_per_node": lot.choice([100, 500, 1500]) if memory == "node" else 0,
        "gpus_per_node": lot.randint(1, 2) if gpus == "node" else 0,
        "gpus": lot.randint(1, 4) if gpus == "all" else 0,
        "is_exclusive": lot.random() < 0.1,
        "partitions": sorted(
            lot.sample(range(len(table.partitions)), lot.choice([1, 1, min(2, len(table.partitions))]))
        ),
        "nodes_allowed": lot.choice([-1, -1, -1, -1, 0, 1]),
        "user": users.index(site.associations[place].user),
        "association": place,
        "qos": lot.randrange(len(site.qos)) if lot.random() < 0.9 else -1,
        "nice": float(lot.choice([0, 0, 0, 100])),
        "array": -1,
        "array_limit": 0,
    }


def can_start(site: SlurmSite, table: NodeTable, row: dict[str, Any], sets: Any, limit: float) -> bool:
    """Whether a job could start in each of its partitions if nothing else ran, after some usage, which decays."""
    job = jobs_of(asked_of([row], sets, np.zeros(0)), len(table), [0.0], [1.0], [limit], [0.0])[0]
    return not any(
        why_never(site, table, dataclasses.replace(job, partitions=[partition]), used=600.0)
        for partition in job.partitions
    )


def asked_of(rows: list[dict[str, Any]], sets: Any, ready: Any) -> SlurmJobs:
    """Return what jobs ask as arrays."""
    names = [name for name in SlurmJobs._fields if name in rows[0]]
    partitions = [row["partitions"] for row in rows]
    return SlurmJobs(
        **{name: np.array([row[name] for row in rows]) for name in names},
        first_partition=np.cumsum([0, *map(len, partitions)]),
        partition=np.array([each for some in partitions for each in some], dtype=np.int64),
        sets=np.array(sets, dtype=bool),
        code=np.zeros(len(rows), np.int16),
        reasons=("",),
        ready_time=np.array(ready, dtype=float),
    )

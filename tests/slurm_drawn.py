# SPDX-License-Identifier: BSD-3-Clause
"""Sites under Slurm, their jobs and what came of them, drawn by hand as small tables of text.

A machine is drawn as in ``tests.nodes_drawn``. Jobs are a table of ``job`` (a letter), ``submit``, ``run`` and
``limit`` (by default the run), ``cpus``, ``nodes`` (``2``, ``1-4``, ``2-``: at least 2), and, under their names in
``SlurmJobs``, what else they ask; ``partition`` and ``association`` have names, ``set`` has nodes as ``0-2,5``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmAssociation, SlurmPartition, SlurmPriority, SlurmSite
from swftools.simulator.slurm.asked import SlurmJobs
from tests.drawn import rows_of
from tests.naive.slurm_policy import simulate_slurm
from tests.naive.slurm_priority import begin_usage, calculate_fair_share, calculate_priority
from tests.naive.slurm_world import Job, Placed, World, jobs_of
from tests.nodes_drawn import draw_machine, numbers_of

Drawn = tuple[SlurmJobs, list[list[float]], str]
"""What jobs ask; submissions, run times and limits; and a letter for each."""

NUMBERS = (
    *("cpus", "cpus_per_task", "tasks_per_node", "memory_per_cpu", "memory_per_node", "gpus_per_node", "gpus"),
    *("user", "qos", "nice", "array", "array_limit"),
)
NONE = {"cpus": 1, "cpus_per_task": 1, "user": 0, "qos": -1, "array": -1}


def draw_site(table: NodeTable, **fields: Any) -> SlurmSite:
    """Return a site in which nothing is configured but what is said; priorities are in order of submission."""
    partitions = tuple(SlurmPartition(each.name) for each in table.partitions)
    return SlurmSite(**{"partitions": partitions, "priority": SlurmPriority(is_multifactor=False), **fields})


def draw_accounts(text: str) -> tuple[SlurmAssociation, ...]:
    """Read associations: ``account``, ``user`` (``.``: the account itself), ``parent``, ``shares``, ``usage``.

    The root stands first, and is its own parent; shares ``.`` are those of the parent.
    """
    headings, *rows = rows_of(text)
    cells = [dict(zip(headings, row, strict=True)) for row in rows]
    places = {cell["account"]: place for place, cell in enumerate(cells) if cell["user"] == "."}
    return tuple(
        SlurmAssociation(
            cell["account"],
            "" if cell["user"] == "." else cell["user"],
            parent=places[cell.get("parent", cell["account"])] if place else -1,
            shares=None if cell["shares"] == "." else float(cell["shares"]),
            usage=float(cell.get("usage", 0)),
        )
        for place, cell in enumerate(cells)
    )


def draw_asked(text: str, table: NodeTable, associations: Sequence[SlurmAssociation] = ()) -> Drawn:
    """Read jobs."""
    headings, *rows = rows_of(text)
    cells = [{"nodes": ".", **dict(zip(headings, row, strict=True))} for row in rows]
    places = {each.name: place for place, each in enumerate(table.partitions)}
    names = [each.user or each.account for each in associations]
    partitions = [[places[name] for name in cell.get("partition", "p").split(",")] for cell in cells]
    nodes = [nodes_asked(cell["nodes"]) for cell in cells]
    sets = [numbers_of(cell["set"]) for cell in cells if cell.get("set", ".") != "."]
    numbers = iter(range(len(sets)))
    asked = SlurmJobs(
        **{name: np.array([float(cell.get(name, NONE.get(name, 0))) for cell in cells]) for name in NUMBERS},
        min_nodes=np.array([each[0] for each in nodes]),
        max_nodes=np.array([each[1] for each in nodes]),
        wanted_nodes=np.array([each[2] for each in nodes]),
        is_exclusive=np.array([cell.get("alone", ".") == "x" for cell in cells]),
        first_partition=np.cumsum([0, *map(len, partitions)]),
        partition=np.array([place for some in partitions for place in some]),
        nodes_allowed=np.array([next(numbers) if cell.get("set", ".") != "." else -1 for cell in cells]),
        sets=np.array([[node in some for node in range(len(table))] for some in sets]),
        association=np.array([names.index(cell["association"]) if "association" in cell else -1 for cell in cells]),
        code=np.zeros(len(cells), np.int16),
        reasons=("",),
        ready_time=np.array([float(cell.get("ready", "nan").replace(".", "nan")) for cell in cells]),
    )
    integers = {name: getattr(asked, name).astype(np.int64) for name in NUMBERS if name != "nice"}
    times = [[float(cell.get(name, cell.get("run", 0))) for cell in cells] for name in ("submit", "run", "limit")]
    return asked._replace(**integers), times, "".join(cell["job"] for cell in cells)


def nodes_asked(text: str) -> tuple[int, int, int]:
    """Return the fewest, most and wanted nodes; ``.`` where nothing is said of them."""
    if text == ".":
        return 1, 0, 1
    fewest, dash, most = text.partition("-")
    return int(fewest), int(most or (0 if dash else fewest)), int(most or fewest)


def draw_world(nodes: str, parts: str, jobs: str, **fields: Any) -> World:
    """Return a site at time 0 with jobs that wait."""
    table = draw_machine(nodes, parts)
    site = draw_site(table, **fields)
    asked, (submit, run, limit), _ = draw_asked(jobs, table, site.associations)
    world = World(site, table, jobs_of(asked, len(table), submit, run, limit, submit))
    begin_usage(world)
    calculate_fair_share(world)
    world.waiting = list(world.jobs)
    for job in world.waiting:
        calculate_priority(world, job)
    return world


def put(world: World, job: Job, where: str, start: float = 0.0) -> Job:
    """Let a job run on nodes, with cores of each: ``0:4 2:1``; in its first partition."""
    cores = {int(node): int(number) for node, number in (each.split(":") for each in where.split())}
    memory = {node: job.memory_per_cpu * cores[node] + job.memory_per_node for node in cores}
    now, world.time = world.time, start
    world.start(job, job.partitions[0], Placed(cores, memory, dict.fromkeys(cores, job.gpus_per_node)), "main")
    world.time = now
    return job


def shown(placed: Placed | None) -> str:
    """Return nodes and cores as text: ``0:4 2:1``; ``-`` of none."""
    return "-" if placed is None else " ".join(f"{node}:{cores}" for node, cores in sorted(placed.cores.items()))


def run_drawn(nodes: str, parts: str, jobs: str, phase: float = 0.0, **fields: Any) -> tuple[World, str]:
    """Simulate a drawn site; return its world, and a letter for each job."""
    table = draw_machine(nodes, parts)
    site = draw_site(table, **fields)
    asked, (submit, run, limit), names = draw_asked(jobs, table, site.associations)
    return simulate_slurm(site, table, asked, submit, run, limit, phase=phase), names


def outcome(world: World, names: str) -> list[list[str]]:
    """Return the rows of a table of what came of jobs: ``job``, ``start``, ``by`` and ``nodes``."""
    rows = [["job", "start", "by", "nodes"]]
    for name, job in zip(names, world.jobs, strict=True):
        start = math.nan if job.start is None else job.start
        rows.append([name, f"{start:g}", job.by, shown(job.placed).replace(" ", ",")])
    return rows

# SPDX-License-Identifier: BSD-3-Clause
"""What is held on the nodes of a machine, and fragmentation, the slow obvious way: loops over jobs and nodes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from swftools.machines.node_table import GPU, NodeTable
from swftools.simulator.schedule import Schedule

RESOURCES = ("cores", "memory", "gpus")


def naive_runs(schedule: Schedule) -> list[dict[str, Any]]:
    """Return the runs in the order of the jobs, each of which has one: what it holds on each of its nodes."""
    machine = schedule.machine
    assert machine is not None
    runs = []
    for number, job in schedule.jobs.iterrows():
        of_job = schedule.segments["job_number"] == job["job_number"]
        [run] = [row for _, row in schedule.segments[of_job].iterrows()]
        pairs = list(run["nodes"])
        nodes = [node for low, high in zip(pairs[::2], pairs[1::2], strict=True) for node in range(low, high + 1)]
        asked = {name: run[f"{name}_per_node"] for name in RESOURCES}
        asked["gpus"] = round(asked["gpus"] * GPU)
        held = {node: naive_node(machine, node) if run["is_exclusive"] else dict(asked) for node in nodes}
        for name in RESOURCES if not run["is_exclusive"] else ():
            told = run.get(f"{name}_by_node")
            if isinstance(told, (list, np.ndarray)):
                for node, amount in zip(nodes, told, strict=True):
                    held[node][name] = int(amount) * (GPU if name == "gpus" else 1)
                asked[name] = math.ceil(sum(held[node][name] for node in nodes) / len(nodes))
        entry = job["submit_time"] if "ready_time" not in job else max(job["submit_time"], job["ready_time"])
        runs.append(
            {
                "row": number,
                "entry": entry,
                "start": run["start_time"],
                "end": run["end_time"],
                "asked": asked,
                "held": held,
                "exclusive": run["is_exclusive"],
                "partition": run["partition"],
            }
        )
    return runs


def naive_node(machine: NodeTable, node: int) -> dict[str, int]:
    """Return what a node has."""
    return {name: int(getattr(machine, name)[node]) for name in RESOURCES}


def naive_state(schedule: Schedule, runs: list[dict[str, Any]], time: float) -> dict[str, Any]:
    """Return what is held at a time, after everything that happens then, and whether the queue is fragmented."""
    machine = schedule.machine
    assert machine is not None
    going = [run for run in runs if run["start"] <= time < run["end"]]
    free, users = {}, {}
    for node in range(len(machine)):
        here = [run for run in going if node in run["held"]]
        whole = naive_node(machine, node)
        free[node] = {name: whole[name] - sum(run["held"][node][name] for run in here) for name in RESOURCES}
        users[node] = here
    waiting = [run for run in runs if run["entry"] <= time < run["start"]]
    first = min(waiting, key=lambda run: (run["entry"], run["row"]), default=None)
    is_fragmented = False
    if first is not None:
        [of_partition] = [each.nodes.tolist() for each in machine.partitions if each.name == first["partition"]]
        nodes = [
            node
            for node in of_partition
            if all(naive_node(machine, node)[name] >= first["asked"][name] for name in RESOURCES)
        ]
        has_sum = all(
            sum(free[node][name] for node in nodes) >= sum(held[name] for held in first["held"].values())
            for name in RESOURCES
        )
        fitting = [
            node
            for node in nodes
            if all(free[node][name] >= first["asked"][name] for name in RESOURCES)
            and not any(run["exclusive"] for run in users[node])
            and not (first["exclusive"] and users[node])
        ]
        is_fragmented = has_sum and len(fitting) < len(first["held"])
    return {
        "users": {node: len(here) for node, here in users.items()},
        "held": {
            node: {name: value - free[node][name] for name, value in naive_node(machine, node).items()} for node in free
        },
        "is_fragmented": is_fragmented,
    }

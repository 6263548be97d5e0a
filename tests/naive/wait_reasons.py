# SPDX-License-Identifier: BSD-3-Clause
"""What each job waits for, the slow obvious way: at each instant, for each waiting job, over all of its nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from swftools.machines.outages import NodeOutages
from swftools.simulator.schedule import Schedule
from tests.naive.nodes_over_time import naive_node, naive_runs

RESOURCES = ("gpus", "cores", "memory")


def naive_reason(schedule: Schedule, runs: list[dict[str, Any]], job: dict[str, Any], time: float) -> str:
    """Return what an eligible job waits for at a time, after everything that happens then."""
    machine, asked, many = schedule.machine, job["asked"], len(job["held"])
    assert machine is not None
    [of_partition] = [each.nodes.tolist() for each in machine.partitions if each.name == job["partition"]]
    free, users = {}, {}
    for node in of_partition:
        whole = naive_node(machine, node)
        if all(whole[name] >= asked[name] for name in RESOURCES):
            users[node] = [run for run in runs if run["start"] <= time < run["end"] and node in run["held"]]
            free[node] = {name: whole[name] - sum(run["held"][node][name] for run in users[node]) for name in RESOURCES}
    fitting = [
        node
        for node in free
        if all(free[node][name] >= asked[name] for name in RESOURCES)
        and not (job["exclusive"] and users[node])
        and not any(run["exclusive"] for run in users[node])
    ]
    out = machine.outages
    away = {int(node) for node, begin, end in zip(out.node, out.begin, out.end, strict=True) if begin <= time < end}
    if len(set(fitting) - away) >= many:
        return "order"
    if len(fitting) >= many:
        return "away"
    lacking = {
        name: sum(free[node][name] >= asked[name] for node in free)
        for name in RESOURCES
        if sum(free[node][name] for node in free) < many * asked[name]
    }
    if lacking:
        return min(lacking, key=lambda name: (lacking[name], RESOURCES.index(name)))
    return "whole_nodes" if job["exclusive"] else "fragmented"


def share_nodes(schedule: Schedule, one: str, other: str) -> bool:
    """Whether two partitions have a node in common."""
    assert schedule.machine is not None
    nodes = {each.name: set(each.nodes.tolist()) for each in schedule.machine.partitions}
    return bool(nodes[one] & nodes[other])


def naive_wait_reasons(
    schedule: Schedule, limited: Callable[[int, float], bool] | None = None
) -> tuple[list[dict[str, float]], list[dict[str, int]], list[float]]:
    """Return the seconds of each job by reason, and the number of waiting jobs by reason at each instant.

    ``limited`` says whether a limit stands against a run, by its place, at a time.
    """
    runs = naive_runs(schedule)
    submits = dict(zip(schedule.jobs.index, schedule.jobs["submit_time"], strict=True))
    times = sorted(
        {
            time
            for run in runs
            for time in (submits[run["row"]], min(run["entry"], run["start"]), run["start"], run["end"])
        }
    )
    first, last = times[0], times[-1]
    outages = schedule.machine.outages if schedule.machine is not None else NodeOutages()
    bounds = [min(max(each, first), last) for each in (*outages.begin, *outages.end)]
    times = sorted({*times, *map(float, bounds)})
    of_jobs: list[dict[str, float]] = [{} for _ in runs]
    over_time: list[dict[str, int]] = []
    for time, following in zip(times, [*times[1:], times[-1]], strict=True):
        now: dict[str, int] = {}
        reasons = {
            place: "held"
            if time < run["entry"]
            else "limits"
            if limited is not None and limited(place, time)
            else naive_reason(schedule, runs, run, time)
            for place, run in enumerate(runs)
            if submits[run["row"]] <= time < run["start"]
        }
        for place, found in reasons.items():
            reason = found
            if found == "order" and not any(
                share_nodes(schedule, runs[place]["partition"], runs[other]["partition"])
                for other, of_other in reasons.items()
                if of_other not in ("order", "held", "limits")
            ):
                reason = "cycle"
            now[reason] = now.get(reason, 0) + 1
            of_jobs[place][reason] = of_jobs[place].get(reason, 0.0) + following - time
        over_time.append(now)
    return of_jobs, over_time, times

# SPDX-License-Identifier: BSD-3-Clause
"""How many nodes have room for a job at once, at most: by parts of time, as a slow twin counts them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from swftools.simulator import Simulation
from swftools.simulator.machine.state import NOW, SUBMITTED
from swftools.simulator.nodes.at_once import count_lacking
from swftools.simulator.nodes.planned import NodesPlan
from swftools.simulator.nodes.timelines import NO_STEP, PARTS, ROUNDING
from swftools.simulator.nodes.words import suffices
from tests.interpreted import all_interpreted
from tests.nodes_drawn import Ask, Workload, asked_of, draw_machine
from tests.simulator.nodes.test_away import Engine, engine, trace_of  # noqa: F401 (a fixture)
from tests.naive.nodes_away import Rule


def gaps_of(machine: Any, plan: NodesPlan, job: int, node: int) -> Iterator[tuple[float, float]]:
    """Yield from when to when a node has room for a job, which has what it has reserved there itself."""
    lines, need, now = plan.lines, int(machine.asked.need[job]), float(machine.clock[NOW])
    held = machine.nodes.held[machine.asked.first[job] :][: machine.asked.nodes[job]].tolist()
    step, since = int(lines.first[node]), None
    while step != NO_STEP:
        time, behind = max(float(lines.time[step]), now), int(lines.next[step])
        is_own = node in held and plan.begin[job] <= lines.time[step] < plan.end[job]
        has_room = bool(suffices.py_func(int(lines.free[step]), need)) or is_own
        is_past = behind != NO_STEP and lines.time[behind] <= now
        if has_room and since is None and not is_past:
            since = time
        if not has_room and since is not None:
            yield since, time
            since = None
        step = behind
    if since is not None:
        yield since, np.inf


def parts_in(machine: Any, plan: NodesPlan, job: int, node: int, length: float) -> set[int]:
    """Return in which parts of the time until its reservation a job may begin on a node."""
    now, until = float(machine.clock[NOW]), float(plan.begin[job])
    scale = PARTS / (until - now)

    def part_of(time: float) -> int:
        return min(int((time - now) * scale), PARTS - 1)

    found: set[int] = set()
    for begin, end in gaps_of(machine, plan, job, node):
        if begin < until and end - begin >= length:
            latest = end - length + ROUNDING
            found |= set(range(part_of(begin), (part_of(latest) if latest < until else PARTS - 1) + 1))
    return found


def naive_lacking(machine: Any, plan: NodesPlan, job: int, length: float) -> int:
    """Return how many nodes lack in the part of time in which most nodes count, of the set that has most."""
    places, place, most = machine.places, machine.asked.place[job], 0
    for group in range(places.sets[place], places.sets[place + 1]):
        pieces = range(places.ranges[group], places.ranges[group + 1])
        nodes = [node for piece in pieces for node in range(places.low[piece], places.high[piece])]
        need = int(machine.asked.need[job])
        large = [node for node in nodes if suffices.py_func(int(machine.nodes.capacity[node]), need)]
        each = [parts_in(machine, plan, job, node, length) for node in large]
        most = max([most, *(sum(part in parts for parts in each) for part in range(PARTS))])
    return max(int(machine.asked.nodes[job]) - most, 0)


def at_one_time(machine: Any, plan: NodesPlan, job: int, length: float) -> int:
    """Return how many nodes of one set have room at one time before a job's reservation, at most."""
    places, place, until, most = machine.places, machine.asked.place[job], plan.begin[job], 0
    need = int(machine.asked.need[job])
    for group in range(places.sets[place], places.sets[place + 1]):
        gaps = []
        for piece in range(places.ranges[group], places.ranges[group + 1]):
            for node in range(places.low[piece], places.high[piece]):
                if suffices.py_func(int(machine.nodes.capacity[node]), need):
                    gaps.append(list(gaps_of(machine, plan, job, node)))
        times = {begin for each in gaps for begin, _ in each if begin < until}
        at = [sum(any(begin <= time and time + length <= end for begin, end in each) for each in gaps) for time in times]
        most = max([most, *at])
    return most


def crowded(seed: int) -> Workload:
    """Return wide jobs on 12 nodes in two partitions, which ask for several times as long as they run."""
    lot, jobs = random.Random(seed), 40
    table = draw_machine("count cores / 6 2 / 6 4", "p:0-11 q:4-9")
    every, some = (0, tuple(range(12))), (1, tuple(range(4, 10)))
    submit = sorted(float(lot.randint(0, 400)) for _ in range(jobs))
    run = [float(lot.randint(1, 60)) for _ in range(jobs)]
    request = [each * lot.choice([1, 2, 5]) + lot.choice([0, 0, 0.5]) for each in run]
    asks = []
    for length in request:
        sets = lot.choice([(every,), (every,), (some,), (some, every)])
        nodes = lot.randint(1, 6 if some in sets else 9)
        asks.append(Ask(nodes, lot.choice([1, 1, 2]), alone=lot.random() < 0.2, sets=sets, request=length))
    return Workload(table, asked_of(asks, table), submit, run, request, [0] * jobs)


@pytest.mark.parametrize("policy", ["conservative", "conservative-fixed"])
def test_by_parts_of_time(engine: Engine, policy: str) -> None:  # noqa: F811
    """So many lack as the slow twin says, at least 0, and never more than really do."""
    told = []
    for seed in range(4):
        workload = crowded(seed)
        engine.asks(workload)
        options = {"machine": workload.table, "overrun": "run-on", "compiled": False}
        simulation = Simulation(trace_of(workload, Rule()), policy, **options)
        for time in range(10, 600, 20):
            simulation.run(until=time)
            told += [*lacking_now(simulation)]
    assert {0, 1, 2, 3, 4, 5} <= set(told)


def lacking_now(simulation: Simulation) -> Iterator[int]:
    """Yield how many nodes lack of each job whose reservation is to begin later, having compared it with the twin."""
    machine: Any = simulation._machine
    plan = simulation._driver.decider.memory.plan
    is_later = plan.is_placed & (plan.begin > machine.clock[NOW])
    for job in np.flatnonzero(is_later[: machine.counts[SUBMITTED]]).tolist():
        length = float(plan.end[job] - plan.begin[job])
        with all_interpreted():
            lacking = int(count_lacking.py_func(machine, plan, job))
        assert lacking == naive_lacking(machine, plan, job, length)
        assert lacking <= max(machine.asked.nodes[job] - at_one_time(machine, plan, job, length), 0)
        yield lacking

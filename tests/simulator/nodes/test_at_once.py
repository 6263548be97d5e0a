# SPDX-License-Identifier: BSD-3-Clause
"""How many nodes have room for a job at once, at most: by parts of time, as a slow twin counts them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swftools.machines.outages import DOWN, DRAIN
from swftools.simulator import Simulation
from swftools.simulator.machine.state import NOW, SUBMITTED
from swftools.simulator.machine.waiting_queue import NOBODY
from swftools.simulator.nodes.at_once import count_lacking
from swftools.simulator.nodes.planned import ANY_NODE, NodesPlan, earliest_on_nodes
from swftools.simulator.nodes.timelines import NO_STEP, PARTS, ROUNDING
from swftools.simulator.nodes.words import suffices
from tests.interpreted import all_interpreted
from tests.naive.nodes_away import Rule
from tests.nodes_drawn import Ask, Workload, asked_of, draw_machine
from tests.simulator.nodes.test_away import ALWAYS, Engine, engine, outages_of, trace_of  # noqa: F401 (a fixture)


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


def sets_of(machine: Any, job: int) -> Iterator[list[int]]:
    """Yield the nodes of each set of a job that are large enough."""
    places, place, need = machine.places, machine.asked.place[job], int(machine.asked.need[job])
    for group in range(places.sets[place], places.sets[place + 1]):
        pieces = range(places.ranges[group], places.ranges[group + 1])
        nodes = [node for piece in pieces for node in range(places.low[piece], places.high[piece])]
        yield [node for node in nodes if suffices.py_func(int(machine.nodes.capacity[node]), need)]


def naive_lacking(machine: Any, plan: NodesPlan, job: int, length: float) -> tuple[int, float, list[int]]:
    """Return how many nodes lack where most count, when they may suffice, and how many count in parts of the last set.

    They may suffice from the first part on in which they do, and a second sooner, for rounding.
    """
    wanted, lacking, counts = int(machine.asked.nodes[job]), int(machine.asked.nodes[job]), [0]
    now, soonest = float(machine.clock[NOW]), np.inf
    part_length = (float(plan.begin[job]) - now) / PARTS
    for nodes in sets_of(machine, job):
        each = [parts_in(machine, plan, job, node, length) for node in nodes]
        counts = [sum(part in parts for parts in each) for part in range(PARTS)]
        lacking = min(lacking, wanted - max(counts))
        enough = [part for part in range(PARTS) if counts[part] >= wanted]
        if enough:
            soonest = min(soonest, max(now, now + enough[0] * part_length - ROUNDING))
    return max(lacking, 0), soonest, counts


def at_one_time(simulation: Simulation, job: int, length: float) -> tuple[int, float]:
    """Return how many nodes of one set have room, and are there, at one time before a job's reservation, at most.

    Also returns the first such time at which there are as many as the job asks for; infinity if there is none. All
    outages are known, and nobody may use what is reserved.
    """
    machine: Any = simulation._machine
    table: Any = simulation.nodes
    plan, now, most = simulation._driver.decider.memory.plan, float(machine.clock[NOW]), 0
    first = np.inf

    def is_there(node: int, begin: float) -> bool:
        out = table.outages
        rows = np.flatnonzero(out.node == node)
        starts = (out.begin[rows] <= begin) & (begin < out.end[rows])
        meets = (out.kind[rows] != DRAIN) & (out.begin[rows] < begin + length) & (begin < out.end[rows])
        return not (starts | meets).any()

    for nodes in sets_of(machine, job):
        gaps = {node: list(gaps_of(machine, plan, job, node)) for node in nodes}
        begins = {begin for each in gaps.values() for begin, _ in each} | set(table.outages.end.tolist())
        for time in (begin for begin in begins if now <= begin < plan.begin[job]):
            has_room = [any(since <= time and time + length <= end for since, end in gaps[node]) for node in nodes]
            count = sum(room and is_there(node, time) for node, room in zip(nodes, has_room, strict=True))
            most, first = max(most, count), min(first, time if count >= machine.asked.nodes[job] else np.inf)
    return most, first


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
        sets = lot.choice([(every,), (every,), (some,), (some, every), (every, some)])
        nodes = lot.randint(1, 6 if some in sets else 9)
        asks.append(Ask(nodes, lot.choice([1, 1, 2]), alone=lot.random() < 0.2, sets=sets, request=length))
    return Workload(table, asked_of(asks, table), submit, run, request, [0] * jobs)


def moments(policy: str, seed: int, made: Engine, **changes: Any) -> Iterator[Simulation]:
    """Yield a simulation at some moments."""
    workload = crowded(seed)
    workload = replace(workload, table=replace(workload.table, **changes))
    made.asks(workload)
    options: dict[str, Any] = {"machine": workload.table, "overrun": "run-on", "compiled": False}
    simulation = Simulation(trace_of(workload, Rule()), policy, **options)
    for time in range(10, 600, 20):
        yield simulation.run(until=time)


def jobs_to_come_sooner(simulation: Simulation) -> Iterator[tuple[int, int, float, float]]:
    """Yield each job whose reservation is to begin later than now, what is said of it, and how long it is, s.

    Said is how many nodes lack, and before what time it cannot be sooner.
    """
    machine: Any = simulation._machine
    plan = simulation._driver.decider.memory.plan
    counting = simulation._driver.called.kind.kernel_of(count_lacking).py_func
    is_later = plan.is_placed & (plan.begin > machine.clock[NOW])
    for job in np.flatnonzero(is_later[: machine.counts[SUBMITTED]]).tolist():
        with all_interpreted():
            lacking, soonest = counting(machine, plan, job)
        yield job, int(lacking), float(soonest), float(plan.end[job] - plan.begin[job])


def earliest(simulation: Simulation, job: int, since: float) -> float:
    """Return when a reservation could begin, from a time on before which it cannot; when it does if none is sooner."""
    machine: Any = simulation._machine
    plan = simulation._driver.decider.memory.plan
    search = simulation._driver.called.kind.kernel_of(earliest_on_nodes).py_func
    with all_interpreted():
        begin, group = search(machine, plan, job, since, float(plan.begin[job]), ANY_NODE)
    assert (group == NOBODY) == (begin == plan.begin[job])
    return float(begin)


@pytest.mark.parametrize("policy", ["conservative", "conservative-fixed"])
def test_by_parts_of_time(engine: Engine, policy: str) -> None:  # noqa: F811
    """So many lack as the slow twin says, and no more than really do; who can come sooner gets the earliest time."""
    told, is_later = [], False
    for seed in range(4):
        for simulation in moments(policy, seed, engine):
            machine: Any = simulation._machine
            plan = simulation._driver.decider.memory.plan
            for job, lacking, soonest, length in jobs_to_come_sooner(simulation):
                counts = np.cumsum(plan.at_once)[:PARTS].tolist()
                want, since, parts = naive_lacking(machine, plan, job, length)
                assert (lacking, counts) == (want, parts)
                assert soonest == pytest.approx(since, abs=1e-6)
                most, first = at_one_time(simulation, job, length)
                assert lacking <= max(machine.asked.nodes[job] - most, 0)
                assert soonest <= first
                told.append(lacking)
                for since in {float(machine.clock[NOW]), min(soonest, float(plan.begin[job]))}:
                    assert earliest(simulation, job, since) == min(first, plan.begin[job])
                is_later |= machine.clock[NOW] < soonest < np.inf
    assert is_later
    assert {0, 1, 2, 3, 4} <= set(told)


def test_beside_outages(engine: Engine) -> None:  # noqa: F811
    """No more lack than really do, also where jobs may run into a drain, and nodes come back."""
    told = []
    for seed in range(4):
        lot = random.Random(seed)
        rows = []
        for node in range(12):
            begin = lot.randint(0, 500)
            rows.append((node, begin, begin + lot.randint(50, 400), lot.choice([DOWN, DRAIN, DRAIN]), ALWAYS, -1))
        for simulation in moments("conservative-fixed", seed, engine, outages=outages_of(*rows)):
            machine: Any = simulation._machine
            for job, lacking, soonest, length in jobs_to_come_sooner(simulation):
                most, first = at_one_time(simulation, job, length)
                assert lacking <= max(machine.asked.nodes[job] - most, 0)
                assert soonest <= first
                told.append(lacking)
    assert {0, 1, 2} <= set(told)

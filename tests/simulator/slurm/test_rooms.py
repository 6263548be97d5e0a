# SPDX-License-Identifier: BSD-3-Clause
"""Lists of nodes by when they have room: as jobs begin and stop, each is what the nodes themselves say."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from swftools.machines.slurm_site import SlurmSite
from swftools.simulator.slurm import idle, rooms
from swftools.simulator.slurm.memory import slurm_memory
from swftools.simulator.slurm.node_sets import BITS, has_node, put_node
from swftools.simulator.slurm.plan import look_anew
from swftools.simulator.slurm.setting import Setting
from swftools.simulator.slurm.starting import let_go, list_as_running
from swftools.simulator.slurm.state import (
    BEHIND_NODES,
    CHANGES,
    FIRST_NODE,
    UNKNOWN,
    USABLE_CORES,
    USABLE_NODES,
    SlurmMemory,
)
from swftools.simulator.slurm.usable import let_leave_nodes, usable_cores, wanted_of
from tests.interpreted import all_interpreted
from tests.machines.tables import machine
from tests.simulator.slurm.site import asked

LINES = (
    *("-p all -N2 --exclusive", "-p all -n3 --mem=3000", "-p all -N1 -n4", "-p gpu -N1 --gpus-per-node=2"),
    *("-p gpu -n2 --mem-per-cpu=4000", "-p all -N5 -n10", "-p gpu -N3 --exclusive"),
)
"""What those ask for who wait; behind them in number are those who run."""


def site(runners: int) -> SlurmMemory:
    """Return an idle machine of two words, with jobs of one CPU that may run on any node."""
    table = machine("cpu 50 4 8000 0 / gpu 20 8 16000 2", "all cpu,gpu default\ngpu gpu")
    table = replace(table, slurm=SlurmSite())
    lines = [{"line": f"sbatch {line}"} for line in LINES] + [
        {"line": "sbatch -p gpu -n2 --gpus-per-node=1 --mem=100"}
    ] * runners
    jobs = len(lines)
    return slurm_memory(
        Setting(table, asked(*lines, table=table), np.arange(jobs), np.zeros(jobs), np.ones(jobs)), {}, jobs
    )


def put(memory: SlurmMemory, job: int, node: int, cores: int, end: float) -> None:
    """Let a job run on a node."""
    given, state = memory
    first = given.first_held[job]
    state.held_node[first], state.held_cores[first], state.held_gpus[first] = node, cores, int(state.now.gpus[node] > 0)
    state.held_count[job], state.limit_end[job], state.is_on[job] = 1, end, 1
    list_as_running(given, state, job, 1)


def times_of(memory: SlurmMemory, job: int, partition: int, running: set[int]) -> dict[int, float]:
    """Return when each node of a partition has room for a job, by letting those leave that run there."""
    given, state = memory
    wanted, times = wanted_of(given, job, partition), {}
    for node in range(len(given.cores)):
        if not has_node(given.partition_bits, partition * 2, node):
            continue
        there = sorted((state.limit_end[one], one) for one in running if state.held_node[given.first_held[one]] == node)
        amounts = type(state.now)(*(each.copy() for each in state.now))
        times[node] = -np.inf
        while usable_cores(wanted, node, amounts) == 0:
            if not there:
                times[node] = np.inf
                break
            times[node], one = there.pop(0)
            first = given.first_held[one]
            amounts.cores[node] += state.held_cores[first]
            amounts.gpus[node] += state.held_gpus[first]
            amounts.memory[node] += 100
            amounts.jobs[node] -= 1
    return times


def moved(lot: random.Random, memory: SlurmMemory, running: set[int], free: list[int]) -> None:
    """Let a job begin or stop."""
    given, state = memory
    node = lot.randrange(len(given.cores))
    if free and state.now.cores[node] > 1 and lot.random() < 0.6:
        job = free.pop(lot.randrange(len(free)))
        put(memory, job, node, lot.randint(1, state.now.cores[node]), float(lot.choice([30, 60, lot.randint(1, 99)])))
        running.add(job)
    elif running:
        job = lot.choice(sorted(running))
        running.discard(job)
        let_go(given, state, job)
        free.append(job)


@pytest.mark.parametrize("block", [2, 32])
def test_a_list_is_what_the_nodes_say(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Whatever has begun and stopped since it was asked for last, for whom and where; its first nodes as a set, too."""
    monkeypatch.setattr(rooms, "BLOCK", block)
    monkeypatch.setattr(idle, "BLOCK", block)
    lot, running, seen = random.Random(block), set[int](), set[float]()
    with all_interpreted():
        memory = site(60)
        given, state = memory
        free = list(range(len(LINES), len(LINES) + 60))
        for _ in range(120):
            for _ in range(lot.choice([0, 1, 3, CHANGES + 1])):
                moved(lot, memory, running, free)
            job, partition = lot.randrange(len(LINES)), lot.randrange(2)
            times = times_of(memory, job, partition, running)
            seen |= set(times.values())
            which = rooms.list_rooms(given, state, job, partition)
            first, behind = which * len(given.cores), which * len(given.cores) + state.room_count[which]
            nodes, room = state.room_node[first:behind].tolist(), state.room_time[first:behind].tolist()
            assert dict(zip(nodes, room, strict=True)) == times
            assert room == sorted(room)
            look_anew(given, state, job, partition)
            for time in sorted(lot.choice([-5.0, 30.0, float(lot.randint(1, 99)), np.inf]) for _ in range(3)):
                rooms.note_roomy(given, state, which, time)
                roomy = {node for node in range(len(given.cores)) if has_node(state.roomy, 0, node)}
                assert roomy == {node for node, at in times.items() if at <= time}
            state.available[:] = [lot.getrandbits(BITS), lot.getrandbits(BITS)]
            there = sorted(at for node, at in times.items() if has_node(state.available, 0, node))
            need = given.min_nodes[job]
            assert rooms.time_of_room(given, state, job, which) == (there[need - 1] if len(there) >= need else np.inf)
    assert len(seen) > 20


def test_more_lists_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the lists that could stand there goes; all are right."""
    monkeypatch.setattr(idle, "ROOMS", 4)
    with all_interpreted():
        memory = site(3)
        given, state = memory
        put(memory, len(LINES), 55, 8, 40.0)
        for turn in range(4 * len(LINES)):
            job, partition = turn // 2 % len(LINES), turn % 2
            which = rooms.list_rooms(given, state, job, partition)
            first = which * len(given.cores)
            listed = dict(
                zip(state.room_node[first:][:70].tolist(), state.room_time[first:][:70].tolist(), strict=True)
            )
            times = times_of(memory, job, partition, {len(LINES)})
            assert {node: listed[node] for node in times} == times
            assert state.room_count[which] == len(times)


def test_nodes_are_left_one_after_the_other() -> None:
    """What a job can use of a node as each of those leaves who run there, by their ends, then their numbers."""
    with all_interpreted():
        memory = site(5)
        given, state = memory
        one, two, three, four = range(len(LINES), len(LINES) + 4)
        for job, cores, end in ((two, 2, 50.0), (one, 1, 50.0), (four, 4, 20.0), (three, 1, 90.0)):
            put(memory, job, 55, cores, end)
        put_node(state.available, 0, 55)
        wanted = wanted_of(given, 1, 0)  # of any node, 3000 MB
        which = rooms.list_rooms(given, state, 1, 0)
        look_anew(given, state, 1, 0)
        state.available[:] = 0
        put_node(state.available, 0, 55)
        assert rooms.time_of_room(given, state, 1, which) == 20.0
        rooms.look_at_roomy(given, state, 1, wanted, which, 20.0, 0.0)
        assert (state.counts[USABLE_NODES], state.counts[USABLE_CORES]) == (0, 0)
        got = []
        for job in (four, one, two, three):
            assert let_leave_nodes(given, state, wanted, job)
            got.append(int(state.counts[USABLE_CORES]))
            assert state.counts[FIRST_NODE] <= 55 < state.counts[BEHIND_NODES]
        assert got == [4, 5, 7, 8]
        assert state.then.jobs[55] == 0
        put_node(state.available, 0, 56)
        put(memory, four + 1, 56, 1, 90.0)
        which = rooms.list_rooms(given, state, 0, 0)  # of two nodes, alone
        assert rooms.time_of_room(given, state, 0, which) == 90.0
        rooms.look_at_roomy(given, state, 0, wanted_of(given, 0, 0), which, 90.0, 0.0)
        assert state.counts[USABLE_NODES] == 0  # both have room then, not before
        for job in (one, two, three, four):
            let_go(given, state, job)
        assert state.first_on[55] == UNKNOWN


def test_a_victim_is_gone_before_its_end() -> None:
    """Whoever is thought to be gone has left when another one leaves; who stays has not."""
    with all_interpreted():
        memory = site(3)
        given, state = memory
        one, two, three = range(len(LINES), len(LINES) + 3)
        for job, end in ((one, 10.0), (two, 20.0), (three, 30.0)):
            put(memory, job, 55, 2, end)
        state.is_gone[three] = 1
        put_node(state.available, 0, 55)
        wanted: Any = wanted_of(given, 1, 0)
        assert rooms.free_before(given, state, wanted, 55, -np.inf, True, 0.0) == 4
        assert rooms.free_before(given, state, wanted, 55, -np.inf, False, 0.0) == 2
        assert rooms.free_before(given, state, wanted, 55, 20.0, False, 0.0) == 4
        let_leave_nodes(given, state, wanted, one)
        assert (state.then.cores[55], state.then.jobs[55]) == (6, 1)

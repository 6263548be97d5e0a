# SPDX-License-Identifier: BSD-3-Clause
"""The plan of backfill, beside the naive twin's table: what is reserved, what is left, and when to try next."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from swftools.machines.slurm_site import SlurmSite
from swftools.simulator.slurm import plan
from swftools.simulator.slurm.backfill import begin_cycle
from swftools.simulator.slurm.memory import slurm_memory
from swftools.simulator.slurm.node_sets import has_node, put_node
from swftools.simulator.slurm.rooms import list_rooms
from swftools.simulator.slurm.setting import Setting
from swftools.simulator.slurm.state import IS_TOO_LITTLE, RECORD, UNKNOWN, SlurmMemory
from tests.interpreted import all_interpreted
from tests.machines.tables import machine
from tests.naive.slurm_backfill import Record, look_along, overlaps, reserve
from tests.simulator.slurm.site import asked

NODES, WORDS = 130, 3
PARTS = {0: range(NODES), 1: range(60, 64), 2: range(70)}


def site(version: tuple[int, int]) -> SlurmMemory:
    """Return an idle machine of three words and three partitions, with a window of 1,000 s."""
    scheduler = {"bf_resolution": 1.0, "bf_window": 1000.0 / 60.0}
    table = machine(
        "a 60 4 8000 0 / b 4 4 8000 0 / c 6 4 8000 0 / d 60 4 8000 0", "all a,b,c,d default\nfew b\nhalf a,b,c"
    )
    table = replace(table, slurm=SlurmSite(scheduler=scheduler, version=version))
    lines = [{"line": f"sbatch -p {name} -N3 --exclusive"} for name in ("all", "few", "half")]
    setting = Setting(table, asked(*lines, table=table), np.arange(3), np.zeros(3), np.ones(3))
    return slurm_memory(setting, {}, 3)


def nodes_of(bits: Any, at: int) -> set[int]:
    """Return the nodes of a set."""
    return {node for node in range(NODES) if has_node(bits, at, node)}


def records_of(memory: SlurmMemory) -> list[Record]:
    """Return the records of a plan, one after the other."""
    state, record, found = memory.state, 0, []
    while True:
        found.append(Record(state.begin[record], state.end[record], nodes_of(state.free, record * WORDS)))
        record = int(state.next[record])
        if record == 0:
            return found


def planned(lot: random.Random, memory: SlurmMemory) -> list[Record]:
    """Reserve some nodes in both plans, and return that of the twin."""
    given, state = memory
    begin_cycle(given, state, 0.0)
    table = [Record(0.0, 1000.0, set(range(NODES)))]
    for _ in range(lot.randint(1, 9)):
        begin = float(lot.randint(0, 60) * 10)
        end, low = begin + lot.choice([0, 10, 50, 300]), lot.randrange(NODES)
        some = {low + i for i in range(lot.choice([1, 2, 70])) if low + i < NODES} - {lot.randrange(NODES)}
        state.picked[:] = 0
        for node in some:
            put_node(state.picked, 0, node)
        assert plan.overlaps(state, WORDS, begin, end) == overlaps(table, some, begin, end)
        plan.reserve(state, WORDS, begin, end)
        reserve(table, some, begin, end)
        assert records_of(memory) == table
    return table


@pytest.mark.parametrize("version", [(17, 11), (22, 5)])
def test_what_is_left_beside_the_twin(version: tuple[int, int]) -> None:
    """The same nodes, and the same next try, of one try after the other, in partitions of few words and many."""
    lot, laters, told = random.Random(4), 0, SimpleNamespace(site=SimpleNamespace(version=version))
    world: Any = told
    with all_interpreted():
        memory = site(version)
        given, state = memory
        for _ in range(25):
            table = planned(lot, memory)
            job = lot.randrange(3)
            plan.look_anew(given, state, job, job)
            begin, limit = 0.0, float(lot.choice([10, 45, 400]))
            while True:
                later = plan.find_available(given, state, job, UNKNOWN, begin, begin + limit, 0.0, lot.random() < 0.5)
                nodes, then = look_along(world, table, set(PARTS[job]), begin, begin + limit)
                assert (nodes_of(state.available, 0), later) == (nodes, then)
                if later == 0.0:
                    break
                laters, begin = laters + 1, later
    assert laters > 50


def test_it_stops_where_a_job_surely_cannot_start() -> None:
    """Only where it cannot, if all that run end at their limits; and it says when to try next, as without stopping."""
    lot, stopped = random.Random(5), 0
    with all_interpreted():
        memory = site((22, 5))
        given, state = memory
        for _ in range(60):
            planned(lot, memory)
            job, limit, is_first = lot.randrange(3), float(lot.choice([10, 45, 400])), lot.random() < 0.5
            which = list_rooms(given, state, job, job)
            first = which * NODES
            many = state.room_count[which]
            state.room_time[first : first + many] = np.arange(many) * lot.choice([0.0, 50.0, 200.0])
            state.room_known[which] = 0
            plan.look_anew(given, state, job, job)
            begin = 0.0
            while True:
                at = state.counts[RECORD]
                later = plan.find_available(given, state, job, UNKNOWN, begin, begin + limit, 0.0, is_first)
                nodes, state.counts[RECORD] = nodes_of(state.available, 0), at
                assert plan.find_available(given, state, job, which, begin, begin + limit, 0.0, is_first) == later
                room = {state.room_node[first + i] for i in range(many) if state.room_time[first + i] <= later}
                if state.counts[IS_TOO_LITTLE]:
                    assert later >= 1.0
                    assert len(nodes) < 3 or (len(nodes & room) < 3 and not is_first)
                    stopped += 1
                else:
                    assert nodes_of(state.available, 0) == nodes
                if later == 0.0:
                    break
                if not state.counts[IS_TOO_LITTLE]:
                    assert plan.has_no_room(given, state, job, which, later) == (len(nodes & room) < 3)
                begin = later
    assert stopped > 5

# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of when jobs could start: schedules are as if nothing were kept."""

from __future__ import annotations

import importlib
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import swftools
from swftools.machines.node_table import NodeTable
from swftools.machines.slurm_site import SlurmSite
from swftools.simulator.slurm.memory import slurm_memory
from swftools.simulator.slurm.starting import list_as_running, note_change
from swftools.simulator.slurm.state import (
    BEHIND_NODES,
    BITS,
    CHANGES,
    FIRST_NODE,
    LOOKED_UNTIL,
    RUNNERS,
    STARTS_AND_ENDS,
    UNKNOWN,
    USABLE_CORES,
    USABLE_NODES,
    WORDS,
    Amounts,
    count_nodes,
)
from swftools.simulator.slurm.usable import look_at_nodes, wanted_of
from tests.interpreted import all_interpreted
from tests.machines.tables import machine

will_run = importlib.import_module("swftools.simulator.slurm.will_run")
found = importlib.import_module("swftools.simulator.slurm.found")

MACHINE = "cpu 50 4 8000 0 / gpu 20 8 16000 2"
"""Of more nodes than a word of a set has."""

SETS = "available", "picked", "found_sets", "changed_sets"
"""Of nodes, in memory for a machine of one word."""

PARTITIONS = "all cpu,gpu default\ncpu cpu\ngpu gpu"


def site() -> NodeTable:
    """Return a machine with overlapping partitions, and Slurm."""
    scheduler = {"bf_interval": 7.0, "bf_resolution": 5.0, "bf_window": 10.0, "sched_interval": 11.0}
    return replace(machine(MACHINE, PARTITIONS), slurm=SlurmSite(scheduler=scheduler))


def log(seed: int, jobs: int) -> swftools.Trace:
    """Return jobs of few kinds, most of which have to wait."""
    lot = random.Random(seed)
    kinds = [(45, 4, 0), *((lot.choice([1, 1, 4, 20]), lot.choice([1, 4, 4]), lot.randrange(3)) for _ in range(5))]
    rows = [lot.choice(kinds) for _ in range(jobs)]
    nodes, cores, partition = (np.array(column) for column in zip(*rows, strict=True))
    nodes = np.where(partition == 2, np.minimum(nodes, 20), nodes)
    run = np.array([lot.randint(10, 200) for _ in range(jobs)])
    trace = swftools.Trace.from_columns(
        job_number=np.arange(1, jobs + 1),
        submit_time=sorted(lot.randint(0, 5 * jobs) for _ in range(jobs)),
        run_time=run,
        requested_time=run * np.array([lot.choice([1, 1, 3]) for _ in range(jobs)]),
        requested_processors=nodes * cores,
    )
    names = pd.array(np.array(["all", "cpu", "gpu"])[partition], "str")
    more = {"requested_nodes": nodes, "requested_cores_per_node": cores.astype(float), "partition": names}
    return trace.with_jobs(trace.jobs.assign(**more))


def outcome(trace: swftools.Trace, **parameters: Any) -> tuple[Any, ...]:
    """Return who ran where and when, and why jobs waited."""
    schedule = swftools.simulate(trace, "slurm", machine=site(), compiled=False, **parameters)
    segments = schedule.segments
    nodes = [tuple(each) for each in segments["nodes"]]
    starts = list(zip(segments["job_number"], segments["start_time"], segments["started_by"], nodes, strict=True))
    return starts, schedule.notes["wait_reasons"].to_dict("list")


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    ("seed", "jobs"),
    [(1, 30), *(pytest.param(seed, 60, marks=pytest.mark.slow) for seed in range(2, 12))],
)
def test_a_schedule_as_if_nothing_were_kept(monkeypatch: pytest.MonkeyPatch, seed: int, jobs: int) -> None:
    """Whoever asks the same on the same nodes has the same answer, until who runs there changes it."""
    used = []
    recall = found.recall.py_func
    monkeypatch.setattr(will_run, "recall", lambda state, slot: (used.append(slot), recall(state, slot)))
    trace = log(seed, jobs)
    kept = outcome(trace)
    assert len(used) > jobs
    monkeypatch.setattr(will_run, "slot_if_kept", lambda *_: UNKNOWN)
    assert outcome(trace) == kept


def test_nodes_of_a_set_are_counted() -> None:
    """Of none, of all of a word, of random ones in several words."""
    lot = random.Random(1)
    sets = [0, (1 << BITS) - 1, *(lot.getrandbits(BITS) for _ in range(50))]
    with all_interpreted():
        for first in range(len(sets)):
            words = np.array(sets[first : first + 3], np.int64)
            assert count_nodes(words, 0, len(words)) == sum(int(each).bit_count() for each in words)
        assert count_nodes(np.array(sets, np.int64), 1, 1) == BITS


@pytest.mark.parametrize(
    ("node", "end", "holds"),
    [
        *((0, 50.0, False), (0, 101.0, False), (1, 50.0, False), (1, 100.0, False), (1, 101.0, True)),
        *((BITS + 2, 101.0, False), (BITS, 101.0, True), (BITS + 2, 50.0, False)),
    ],
)
def test_what_a_change_leaves(node: int, end: float, holds: bool) -> None:
    """It holds if the job that began or stopped had none of its nodes, and its limit ends behind all that was seen."""
    with all_interpreted():
        memory = slurm_memory(None, {}, 2)
        sets = {name: np.zeros(2 * len(getattr(memory.state, name)), np.int64) for name in SETS}
        given, state = memory.given, memory.state._replace(**sets)
        state.counts[WORDS], state.available[0], state.available[1] = 2, 0b1, 0b100
        found.note_found(given, state, 3, 0, 0, 80.0)
        state.found_until[3] = 100.0
        assert found.is_known(given, state, 3, 0, 0)
        state.held_node[given.first_held[1]], state.held_count[1], state.limit_end[1] = node, 1, end
        note_change(given, state, 1)
        assert found.is_known(given, state, 3, 0, 0) is holds


def test_sets_that_differ_stand_in_different_places() -> None:
    """Wherever the nodes are in which they differ: two of them, or a row of them as plans reserve it."""
    words = 17
    ranges = [(first, many) for many in (1, 2, 7, 40) for first in range(words * BITS - many)]
    with all_interpreted():
        memory = slurm_memory(None, {}, 1)
        state = memory.state._replace(available=np.zeros(words, np.int64), found_begin=np.zeros(8192))
        state.counts[WORDS], slots = words, []
        for first, many in ranges:
            state.available[:] = (1 << BITS) - 1
            for node in range(first, first + many):
                state.available[node // BITS] &= ~(1 << node % BITS)
            slots.append(found.slot_if_kept(memory.given, state, 0, 0, 0.0))
    assert len(set(slots)) > 0.75 * 8192 * (1 - np.exp(-len(ranges) / 8192))  # of what chance would give


def test_too_many_changes_to_know() -> None:
    """As many as are known are looked at; after one more nothing holds."""
    with all_interpreted():
        memory = slurm_memory(None, {}, 2)
        given, state = memory.given, memory.state
        state.available[0] = 0b1
        found.note_found(given, state, 0, 0, 0, 80.0)
        state.found_until[0] = 100.0
        state.held_node[given.first_held[1]], state.held_count[1], state.limit_end[1] = 1, 1, 200.0
        for _ in range(CHANGES):
            note_change(given, state, 1)
        assert found.is_known(given, state, 0, 0, 0)
        state.found_after[0] = state.counts[STARTS_AND_ENDS] - CHANGES - 1
        assert not found.is_known(given, state, 0, 0, 0)


@pytest.mark.parametrize("other", ["shape", "partition", "nodes"])
def test_another_question(other: str) -> None:
    """Of other nodes, in another partition, or by a job that asks something else, nothing is known."""
    with all_interpreted():
        memory = slurm_memory(None, {}, 2)
        given, state = memory.given, memory.state
        state.available[0] = 0b1
        found.note_found(given, state, 0, 0, 0, 80.0)
        assert found.is_known(given, state, 0, 1, 0)  # who asks the same
        if other == "shape":
            given.shape[1] += 1
        if other == "nodes":
            state.available[0] = 0b10
        assert not found.is_known(given, state, 0, 1, int(other == "partition"))


def test_nothing_is_kept_while_a_job_is_beyond_its_limit() -> None:
    """When it ends depends on what time it is."""
    with all_interpreted():
        memory = slurm_memory(None, {}, 2)
        given, state = memory.given, memory.state
        state.counts[RUNNERS], state.runner[0], state.limit_end[1] = 1, 1, 100.0

        assert found.slot_if_kept(given, state, 0, 0, 99.0) != UNKNOWN
        assert found.slot_if_kept(given, state, 0, 0, 100.0) == UNKNOWN


def test_who_can_start_at_once_is_placed_anew() -> None:
    """What is kept does not say on which nodes tasks lie, which a start needs; a later start does not."""
    with all_interpreted():
        memory = slurm_memory(None, {}, 2)
        given, state = memory.given, memory.state
        state.available[0] = 1
        assert will_run.will_run(given, state, 0, 0, 5.0, 5.0, False) == 5.0
        state.chosen[0] = state.picked[0] = 7
        assert will_run.will_run(given, state, 1, 0, 6.0, 6.0, False) == 6.0
        assert (state.chosen[0], state.picked[0]) == (0, 1)
        state.chosen[0] = state.picked[0] = 7
        assert will_run.will_run(given, state, 1, 0, 7.0, 60.0, False) == 7.0
        assert (state.chosen[0], state.picked[0]) == (7, 1)


@pytest.mark.parametrize(("others", "until"), [((), np.inf), ((200.0,), 200.0), ((45.0,), np.inf)])
def test_up_to_which_end_is_looked(others: tuple[float, ...], until: float) -> None:
    """To the one behind the window in which enough has ended; where all have, a later one could have been in it."""
    with all_interpreted():
        memory = slurm_memory(None, {}, 4)
        given, state = memory.given, memory.state
        state.available[0] = 1
        for job, end in enumerate((40.0, *others)):  # only the first one has a node
            state.held_node[given.first_held[job]], state.held_cores[given.first_held[job]] = 0, 1
            state.held_count[job], state.limit_end[job] = int(job == 0), end
            list_as_running(given, state, job, 0)
        assert will_run.will_run(given, state, 3, 0, 0.0, 0.0, False) == 40.0
        assert state.clock[LOOKED_UNTIL] == until


@pytest.mark.parametrize("words", [(0, 0, 0), (5, 0, 0), (0, 5, 0), (0, 0, 1), (1, 0, 4), (1 << 61, 1, 0)])
def test_all_available_nodes_are_looked_at(words: tuple[int, ...]) -> None:
    """Of sets in three words, the last of which is not full, and no others."""
    nodes = 2 * BITS + 3
    expected = [node for node in range(nodes) if words[node // BITS] >> node % BITS & 1]
    with all_interpreted():
        memory = slurm_memory(None, {}, 1)
        state = memory.state._replace(free_cores=np.zeros(nodes, np.int64))
        state.counts[WORDS], nothing = len(words), np.zeros(nodes, np.int64)
        amounts = Amounts(nothing + 4, nothing + 1000, nothing, nothing)
        look_at_nodes(state, wanted_of(memory.given, 0, 0), np.array(words, np.int64), amounts)
    assert np.flatnonzero(state.free_cores).tolist() == expected
    assert (state.counts[USABLE_NODES], state.counts[USABLE_CORES]) == (len(expected), 4 * len(expected))
    assert all(state.counts[FIRST_NODE] <= node < state.counts[BEHIND_NODES] for node in expected)

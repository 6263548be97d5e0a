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
from swftools.simulator.slurm.node_sets import BITS, count_nodes, put_node
from swftools.simulator.slurm.rooms import list_rooms
from swftools.simulator.slurm.setting import Setting
from swftools.simulator.slurm.starting import list_as_running, note_change
from swftools.simulator.slurm.state import (
    BEHIND_NODES,
    CHANGES,
    FIRST_FROM,
    FIRST_NODE,
    IS_CUT,
    LIGHT,
    NOT_BEFORE,
    RUNNERS,
    SECOND_UNTIL,
    UNKNOWN,
    USABLE_CORES,
    USABLE_NODES,
    WORDS,
    Amounts,
)
from swftools.simulator.slurm.usable import look_at_nodes, wanted_of
from tests.interpreted import all_interpreted
from tests.machines.tables import machine
from tests.simulator.slurm.site import asked

backfill = importlib.import_module("swftools.simulator.slurm.backfill")
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
    gpus = np.where(partition == 2, [lot.choice([0.0, 1.0, 2.0]) for _ in range(jobs)], 0.0)
    names = pd.array(np.array(["all", "cpu", "gpu"])[partition], "str")
    more = {"requested_nodes": nodes, "requested_cores_per_node": cores.astype(float), "partition": names}
    more["requested_gpus_per_node"] = gpus
    return trace.with_jobs(trace.jobs.assign(**more))


def outcome(trace: swftools.Trace, **parameters: Any) -> tuple[Any, ...]:
    """Return who ran where and when, and why jobs waited."""
    schedule = swftools.simulate(trace, "slurm", machine=site(), compiled=False, **parameters)
    segments = schedule.segments
    nodes = [tuple(each) for each in segments["nodes"]]
    starts = list(zip(segments["job_number"], segments["start_time"], segments["started_by"], nodes, strict=True))
    return starts, schedule.notes["wait_reasons"].to_dict("list")


NOTHING_TO_SAVE = (2, 7)
"""Logs in which every job that is looked for has room by the time of the next try."""


@pytest.mark.usefixtures("interpreted_by_day")
@pytest.mark.parametrize(
    ("seed", "jobs"),
    [(1, 30), *(pytest.param(seed, 60, marks=pytest.mark.slow) for seed in range(2, 12))],
)
def test_a_schedule_as_if_nothing_were_kept(monkeypatch: pytest.MonkeyPatch, seed: int, jobs: int) -> None:
    """Whoever asks the same on the same nodes has the same answer, until who runs there changes it."""
    used, asked = [], []
    recall, slot_if_kept = found.recall.py_func, found.slot_if_kept.py_func
    monkeypatch.setattr(will_run, "recall", lambda state, slot: (used.append(slot), recall(state, slot)))
    monkeypatch.setattr(will_run, "slot_if_kept", lambda *given: (asked.append(given), slot_if_kept(*given))[1])
    trace = log(seed, jobs)
    kept = outcome(trace)
    assert used
    monkeypatch.setattr(backfill, "list_rooms", lambda *_: UNKNOWN)
    many = len(asked)
    assert outcome(trace) == kept
    # Where it is not known when nodes have room more is asked.
    assert len(asked) > 2 * many or (len(asked) == 2 * many and seed in NOTHING_TO_SAVE)
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


def kept_after(node: int, end: float, ends: bool) -> tuple[float, float]:
    """Return when a job could start and before when not, as it is kept, after a job began or stopped on a node.

    It was kept for the first node, and the third of another word.
    """
    memory = slurm_memory(None, {}, 2)
    sets = {name: np.zeros(2 * len(getattr(memory.state, name)), np.int64) for name in SETS}
    given, state = memory.given, memory.state._replace(**sets)
    state.counts[WORDS], state.available[0], state.available[1] = 2, 0b1, 0b100
    state.clock[FIRST_FROM : NOT_BEFORE + 1] = 50.0, 60.0, 90.0, 100.0, 80.0
    found.note_found(given, state, 3, 0, 0, 80.0)
    will_run.note_no_span(state)
    assert found.is_kept(given, state, 3, 0, 0)
    assert (state.found_begin[3], state.found_not_before[3]) == (80.0, 80.0)
    state.held_node[given.first_held[1]], state.held_count[1], state.limit_end[1] = node, 1, end
    note_change(given, state, 1, ends)
    assert found.is_kept(given, state, 3, 0, 0)
    return float(state.found_begin[3]), float(state.found_not_before[3])


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize(
    ("node", "end", "holds"),
    [
        *((0, end, False) for end in (10.0, 55.0, 200.0)),
        *((1, end, True) for end in (49.0, 61.0, 89.0, 101.0)),
        *((1, end, False) for end in (50.0, 55.0, 60.0, 90.0, 100.0)),
        *((BITS + 2, 10.0, False), (BITS, 10.0, True), (BITS, 90.0, False)),
    ],
)
def test_what_a_change_leaves(node: int, end: float, holds: bool, ends: bool) -> None:
    """When holds if the job that began or stopped had none of its nodes, and its limit ends in neither of the spans."""
    with all_interpreted():
        begin, _ = kept_after(node, end, ends)
    assert begin == 80.0 if holds else np.isnan(begin)


@pytest.mark.parametrize(
    ("node", "end", "ends", "holds"),
    [
        *((0, end, False, True) for end in (10.0, 200.0)),
        *((0, end, True, end < 80.0) for end in (79.0, 80.0, 200.0)),
        *((BITS + 2, 200.0, True, False), (1, 200.0, True, True), (BITS, 55.0, True, True)),
    ],
)
def test_what_a_change_leaves_of_when_not(node: int, end: float, ends: bool, holds: bool) -> None:
    """Before when a job cannot start holds until one ends on its nodes that was to end then, or later."""
    with all_interpreted():
        _, not_before = kept_after(node, end, ends)
    assert not_before == (80.0 if holds else -np.inf)


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
        will_run.note_no_span(state)
        found.note_found(given, state, 0, 0, 0, 80.0)
        state.held_node[given.first_held[1]], state.held_count[1], state.limit_end[1] = 1, 1, 200.0
        for _ in range(2):  # what has been looked at is not counted again
            for _ in range(CHANGES):
                note_change(given, state, 1, False)
            assert found.is_kept(given, state, 0, 0, 0)
        for _ in range(CHANGES + 1):
            note_change(given, state, 1, False)
        assert not found.is_kept(given, state, 0, 0, 0)


def test_what_is_recalled() -> None:
    """The nodes, and what the job would hold in all and on one node."""
    with all_interpreted():
        memory = slurm_memory(None, {}, 1)
        given, state = memory.given, memory.state
        state.picked[0], state.resources[:], state.on_node[:] = 0b101, np.arange(5) + 1, np.arange(5) + 11
        found.note_found(given, state, 1, 0, 0, 80.0)
        state.picked[0], state.resources[:], state.on_node[:] = 0, 0, 0
        found.recall(state, 1)
        assert (state.picked[0], state.resources.tolist()) == (0b101, [1, 2, 3, 4, 5])
        assert state.on_node.tolist() == [11, 12, 13, 14, 15]


@pytest.mark.parametrize("ends", [(40.0,), (5.0, 40.0)])
def test_that_it_never_can_is_kept(monkeypatch: pytest.MonkeyPatch, ends: tuple[float, ...]) -> None:
    """Too few nodes whatever ends: it is not looked for again."""
    kept: list[float] = []
    note = found.note_found.py_func
    monkeypatch.setattr(
        will_run,
        "note_found",
        lambda given, state, *more: (note(given, state, *more), kept.append(state.found_begin[more[0]])),
    )
    with all_interpreted():
        assert looked_for(ends, len(ends) + 1)[0] == np.inf
    assert kept == [np.inf]


@pytest.mark.parametrize("other", ["shape", "partition", "nodes", "light"])
def test_another_question(other: str) -> None:
    """Of other nodes, or lighter ones, in another partition, or by a job that asks something else, nothing is known."""
    with all_interpreted():
        memory = slurm_memory(None, {}, 2)
        given, state = memory.given, memory.state
        state.available[0] = 0b1
        will_run.note_no_span(state)
        found.note_found(given, state, 0, 0, 0, 80.0)
        assert found.is_kept(given, state, 0, 1, 0)  # who asks the same
        if other == "shape":
            given.shape[1] += 1
        if other == "nodes":
            state.available[0] = 0b10
        state.counts[LIGHT] += int(other == "light")
        assert not found.is_kept(given, state, 0, 1, int(other == "partition"))


def test_nothing_is_kept_while_a_job_is_beyond_its_limit() -> None:
    """When it ends depends on what time it is."""
    with all_interpreted():
        memory = slurm_memory(None, {}, 2)
        given, state = memory.given, memory.state
        state.counts[RUNNERS], state.runner[0], state.limit_end[1] = 1, 1, 100.0

        assert found.slot_if_kept(given, state, 0, 0, 99.0) != UNKNOWN
        assert found.slot_if_kept(given, state, 0, 0, 100.0) == UNKNOWN
        assert will_run.may_leap(given, state, 99.0)
        assert not will_run.may_leap(given, state, 100.0)
        assert [will_run.planned_end(state, 0, now) for now in (99.0, 100.0, 150.0)] == [100.0, 101.0, 151.0]


def test_who_can_start_at_once_is_placed_anew() -> None:
    """What is kept does not say on which nodes tasks lie, which a start needs; a later start does not."""
    with all_interpreted():
        memory = slurm_memory(None, {}, 2)
        given, state = memory.given, memory.state
        state.available[0] = 1
        assert will_run.will_run(given, state, 0, 0, UNKNOWN, 5.0, 5.0, False, np.inf) == 5.0
        state.chosen[0] = state.picked[0] = 7
        assert will_run.will_run(given, state, 1, 0, UNKNOWN, 6.0, 6.0, False, np.inf) == 6.0
        assert (state.chosen[0], state.picked[0]) == (0, 1)
        state.chosen[0] = state.picked[0] = 7
        assert will_run.will_run(given, state, 1, 0, UNKNOWN, 7.0, 60.0, False, np.inf) == 7.0
        assert (state.chosen[0], state.picked[0]) == (7, 1)


NO_SPAN, ALL = ((np.inf, -np.inf), (np.inf, -np.inf)), ((-np.inf, np.inf), (np.inf, -np.inf))


@pytest.mark.parametrize(
    ("ends", "nodes", "found_at", "spans"),
    [
        ((5.0,), 2, np.inf, NO_SPAN),  # too few nodes whatever ends
        ((40.0,), 1, 40.0, ((-np.inf, -np.inf), (40.0, 90.0))),  # windows end at 90, 120, 180, ...
        ((40.0, 55.0, 95.0), 1, 55.0, ((-np.inf, -np.inf), (55.0, 90.0))),
        ((40.0, -50.0, 95.0), 1, 95.0, ((-np.inf, -np.inf), (40.0, 90.0))),  # -: a job on other nodes
        ((40.0, -91.0, 95.0, 110.0), 1, 40.0, ((-np.inf, -np.inf), (40.0, 90.0))),
        ((40.0, 500.0), 2, 500.0, ((40.0, 300.0), (500.0, 540.0))),
        ((40.0, -70.0, 500.0, 510.0, 530.0), 2, 500.0, ((40.0, 300.0), (500.0, 540.0))),
        ((40.0, 70.0, 500.0, 510.0, 530.0), 3, 530.0, ((70.0, 300.0), (530.0, 540.0))),
        ((40.0, 90.0), 1, 90.0, ((-np.inf, -np.inf), (90.0, 90.0))),  # just when the window ends
        ((40.0, 120.0, 150.0), 2, 120.0, ((40.0, 90.0), (120.0, 120.0))),
    ],
)
def test_which_ends_may_matter(ends: tuple[float, ...], nodes: int, found_at: float, spans: tuple[Any, ...]) -> None:
    """Those between two jobs of which the later one frees enough, in windows that are over; and at the window's end."""
    with all_interpreted():
        assert looked_for(ends, nodes)[:2] == (found_at, spans)


def test_windows_of_old_versions() -> None:
    """Each is counted from the first job that ends in it: the second of 60 s from 50 s on, not from 10 s on."""
    with all_interpreted():
        assert looked_for((10.0, 50.0, 75.0), 2, (21, 8))[0] == 75.0
        assert looked_for((10.0, 50.0, 111.0), 2, (21, 8))[0] == 50.0


def test_nodes_enough_that_do_not_suffice() -> None:
    """9 CPUs never have room on two nodes of 4, whatever there is of others; it is only sure before three are free."""
    with all_interpreted():
        for has_list in (False, True):
            begin, _, not_before = looked_for((40.0, 50.0, 70.0), line="-N1-2 -n9", has_list=has_list)
            assert (begin, not_before) == (np.inf, 70.0)


def looked_for(
    ends: tuple[float, ...],
    nodes: int = 1,
    version: tuple[int, int] = (22, 5),
    latest: float = np.inf,
    *,
    has_list: bool = True,
    earliest: float = 0.0,
    line: str = "",
) -> tuple[float, tuple[tuple[float, float], ...], float]:
    """Return when a job could start on so many nodes, which ends may matter, and before when it cannot start.

    Jobs run on a node each. The ends of those that run on nodes which it may not use are negative.
    """
    table = replace(site(), slurm=replace(site().slurm or SlurmSite(), version=version))
    setting = Setting(
        *(
            table,
            asked(*[{"line": f"sbatch -p cpu {line or f'-N{nodes} --exclusive'}"}] * (len(ends) + 1), table=table),
        ),
        *(np.arange(len(ends) + 1), np.zeros(len(ends) + 1), np.ones(len(ends) + 1)),
    )
    memory = slurm_memory(setting, {}, len(ends) + 1)
    given, state = memory
    state.available[:] = 0
    for job, end in enumerate(ends):
        node = job if end > 0.0 else 50 + job
        state.held_node[given.first_held[job]], state.held_cores[given.first_held[job]] = node, given.cores[node]
        state.held_count[job], state.limit_end[job] = 1, abs(end)
        list_as_running(given, state, job, 1)
        if end > 0.0:
            put_node(state.available, 0, job)
    rooms = list_rooms(given, state, len(ends), 1) if has_list else UNKNOWN
    begin = will_run.will_run(given, state, len(ends), 1, rooms, 0.0, earliest, False, latest)
    first, until, second, behind = state.clock[FIRST_FROM : SECOND_UNTIL + 1].tolist()
    return float(begin), ((first, until), (second, behind)), float(state.clock[NOT_BEFORE])


@pytest.mark.parametrize("version", [(21, 8), (22, 5), (23, 11)])
def test_with_a_list_as_without(version: tuple[int, int]) -> None:
    """Where it is known when nodes have room, what is found is what ends one after the other would show."""
    lot, begins = random.Random(3), set()
    with all_interpreted():
        for _ in range(25):
            longest = lot.choice([150, 700])
            ends = tuple(lot.randint(1, longest) * lot.choice([1.0, 1.0, -1.0]) for _ in range(lot.randint(2, 9)))
            nodes, earliest = lot.randint(1, 4), lot.choice([0.0, lot.randint(1, longest)])
            found_there = looked_for(ends, nodes, version, earliest=earliest)
            assert found_there == looked_for(ends, nodes, version, has_list=False, earliest=earliest)
            begins.add(found_there[0])
    assert len(begins) > 10


@pytest.mark.parametrize("version", [(21, 8), (22, 5)])
def test_other_ends_do_not_matter(version: tuple[int, int]) -> None:
    """One more job on other nodes, or one less, changes nothing if its limit ends outside of the spans."""
    lot, outside, moved = random.Random(1), 0, 0
    with all_interpreted():
        for _ in range(20):
            longest = lot.choice([150, 700])
            ends = [lot.randint(1, longest) * lot.choice([1.0, 1.0, -1.0]) for _ in range(lot.randint(2, 9))]
            nodes = lot.randint(1, 4)
            begin, spans, _ = looked_for(tuple(ends), nodes, version)
            for other in [place for place, end in enumerate(ends) if end < 0.0] + 4 * [len(ends)]:
                is_more = other == len(ends)
                end = lot.randint(1, longest) if is_more else -ends[other]
                others = [*ends, -end] if is_more else ends[:other] + ends[other + 1 :]
                then, *_ = looked_for(tuple(others), nodes, version)
                if any(low <= end <= high for low, high in spans):
                    moved += then != begin
                else:
                    outside += 1
                    assert then == begin, (ends, nodes, end)
    assert outside > 10
    assert moved > 2


def test_before_when_it_cannot_start() -> None:
    """If ever, if too few nodes are free whatever ends; when it could start is not kept if only that was found."""
    with all_interpreted():
        assert looked_for((5.0,), 2)[2] == np.inf
        assert looked_for((5.0, 90.0), 2)[2] == 90.0
        memory = slurm_memory(None, {}, 2)
        memory.state.counts[IS_CUT] = 1
        found.note_found(memory.given, memory.state, 0, 0, 0, 80.0)
        assert np.isnan(memory.state.found_begin[0])


@pytest.mark.parametrize("version", [(21, 8), (22, 5), (23, 11)])
def test_later_than_the_latest(version: tuple[int, int]) -> None:
    """A start up to the latest time is found as without one; any other is later, and later than what is not before."""
    lot, cut = random.Random(2), 0
    with all_interpreted():
        for _ in range(15):
            ends = tuple(lot.randint(1, 300) * lot.choice([1.0, 1.0, -1.0]) for _ in range(lot.randint(2, 9)))
            nodes, latest = lot.randint(1, 4), lot.randint(1, 300)
            begin, *_ = looked_for(ends, nodes, version)
            then, _, not_before = looked_for(ends, nodes, version, float(latest), has_list=False)
            assert then == begin or min(then, begin) > latest
            assert not_before <= begin
            assert then in (begin, not_before)  # it is not looked for again until then
            cut += then != begin
    assert cut > 3


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

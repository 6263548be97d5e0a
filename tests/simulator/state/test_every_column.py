# SPDX-License-Identifier: BSD-3-Clause
"""Each array of a state, with a value planted in it: taken along, saved, grown and begun anew as its column says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from swftools.simulator import Stepper
from swftools.simulator.engine import transfer
from swftools.simulator.engine.replay import FULL, ReplayState, with_room
from swftools.simulator.machine.state import CAPACITY, RUNNING, SUBMITTED, WAITING
from swftools.simulator.registry import find_policy
from swftools.simulator.state import arena as arenas
from swftools.simulator.state.columns import (
    BLANK,
    COPY,
    PER_END,
    PER_JOB,
    PER_ROW,
    PER_RUN,
    PER_STATE,
    RESET,
    StateColumn,
    array_at,
    columns_of,
)
from swftools.simulator.stepping.packed_arrays import arena_of, unpack
from swftools.simulator.stepping.packed_arrays import state_in as state_in_bytes
from swftools.simulator.stepping.serialize import VERSION
from swftools.simulator.stepping.submissions import make_room
from tests.every_policy import with_all_columns
from tests.interpreted import BY_ITSELF
from tests.strategies import crowded_trace

COLUMNS = columns_of(ReplayState)
WRITTEN = [path for path, column in COLUMNS.items() if not column.is_given]


@pytest.fixture
def stepper() -> Stepper:
    """A simulation under way, with whatever any policy needs: jobs run, wait, and are to come."""
    trace = with_all_columns(crowded_trace(40, seed=5))
    before = pd.array([job - 1 if job % 7 == 0 else None for job in range(1, 41)], "Int64")
    trace = trace.with_jobs(trace.jobs.assign(mine=np.arange(len(trace)), preceding_job_number=before))
    policy = replace(find_policy("easy"), needs=("utility",))
    stepper = Stepper(trace, policy, restart_overhead="column:name=mine")
    machine = stepper._machine
    stepper.advance()
    while machine.counts[RUNNING] < 2 or not machine.counts[WAITING]:
        assert stepper.skip()
    assert machine.counts[SUBMITTED] < len(machine.run)
    return stepper


def state_in(stepper: Stepper) -> ReplayState:
    """Return all that the engine goes on with."""
    state: ReplayState = stepper._simulation._driver.seat.arena.state
    return state


def planted(column: StateColumn) -> Any:
    """Return a value that no simulation has by itself."""
    return 77 if column.kind == "i1" else 7777


def is_same(ours: Any, theirs: Any) -> bool:
    """Whether arrays hold the same, missing values too."""
    return bool(np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"))


def test_every_array_is_declared(stepper: Stepper) -> None:
    """Its type, its number of dimensions, and how many elements it has: the state is as its columns say."""
    arena = stepper._simulation._driver.seat.arena
    for path, column in COLUMNS.items():
        array = array_at(arena.state, path)
        assert (path, array.dtype, array.shape) == (path, column.kind, column.shape(arena.sizes, path.split(".")[-1]))
    assert all(array_at(arena.state, path).size for path in WRITTEN)  # none goes unseen below


@pytest.mark.parametrize("most", [arenas.MOST, 0], ids=["in blocks", "each by itself"])
def test_nothing_of_old_memory_is_shown(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At the beginning nothing is known of jobs and runs, and each array says so."""
    monkeypatch.setattr(arenas, "MOST", most)
    state = state_in(Stepper(crowded_trace(9, seed=5), "fcfs"))
    counts = "machine.counts", "replay.counts"
    for path, column in COLUMNS.items():
        array = array_at(state, path)
        if not column.is_ahead and path not in counts:
            assert is_same(array, np.full_like(array, column.empty)), path
    assert [array_at(state, path).sum() for path in counts] == [2 * state.machine.counts[CAPACITY], 9]


@pytest.mark.parametrize("most", [arenas.MOST, 0], ids=["in blocks", "each by itself"])
def test_a_copy_has_it_for_itself(stepper: Stepper, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written before is in the copy, what is written after in one of them only; also where memory is used."""
    monkeypatch.setattr(arenas, "MOST", most)
    stepper = stepper.copy()
    stepper._simulation._driver.seat.arena.is_clean = False  # for here something is written where nothing is known
    copies = []
    given = stepper._simulation._driver.seat.arena.given  # columns of the trace, which all copies share
    assert {COLUMNS[path].per for path in given} == {PER_ROW, PER_STATE}
    for path in set(WRITTEN) - set(given):  # the room of the first copies is new, that of the others was somebody's
        array_at(state_in(stepper), path)[...] += 1
        copies = [*copies[-1:], stepper.copy()]
        assert is_same(array_at(state_in(copies[-1]), path), array_at(state_in(stepper), path)), path
        value = planted(COLUMNS[path])
        array_at(state_in(copies[-1]), path)[...] = value
        assert not (array_at(state_in(stepper), path) == value).any(), path


def test_a_copy_is_as_far(stepper: Stepper) -> None:
    """Of what is known as much is copied as there is: all arrays are the same, whoever had the memory before."""
    rng, copies = np.random.default_rng(3), [stepper.copy(), stepper.copy()]
    while stepper.skip():
        copies.pop(int(rng.integers(len(copies))))
        copies += [stepper.copy() for _ in range(1 if len(copies) > 2 else 2)]
        for path in WRITTEN:
            ours, theirs = array_at(state_in(copies[-1]), path), array_at(state_in(stepper), path)
            assert is_same(ours, theirs), path
        for copy in copies:  # so that the next one to have the memory knows fewer jobs
            for _ in range(5):
                copy.skip()
    used = stepper._simulation._driver.rooms._pool._free
    assert sum(map(len, used.values())) < 9


OF_JOBS = [
    path
    for path, column in COLUMNS.items()
    if column.per in (PER_JOB, PER_ROW) and path != "coming.row" and column.on_fork != RESET
]


@pytest.mark.parametrize("interpreted", BY_ITSELF)
def test_what_a_fork_takes_along_of_a_job(stepper: Stepper, interpreted: bool) -> None:
    """What is of the job, in each array in which it has something; nothing where the fork is to write it."""
    fork = stepper.fork(later=3)
    old, new, job = state_in(stepper), state_in(fork), int(stepper.running[0])
    place = int(np.flatnonzero(fork.origin == job)[0])
    for value, path in enumerate(OF_JOBS, 1000):
        at = old.coming.row[job] if COLUMNS[path].per == PER_ROW else job
        array = array_at(old, path)
        array.flags.writeable = True
        array[at] = value
    take = transfer.take_job
    (take.py_func if interpreted else take)(*old, job, *new, place)
    for value, path in enumerate(OF_JOBS, 1000):
        at = new.coming.row[place] if COLUMNS[path].per == PER_ROW else place
        found, column = array_at(new, path)[at], COLUMNS[path]
        assert column.on_fork in (COPY, BLANK)
        assert (path, np.unique(found).tolist()) == (path, [column.empty if column.on_fork == BLANK else value])


@pytest.mark.parametrize("interpreted", BY_ITSELF)
def test_what_a_fork_takes_along_of_a_run(stepper: Stepper, interpreted: bool) -> None:
    """All but the job, which has another number there."""
    fork = stepper.fork()
    old, new = state_in(stepper).replay.log, state_in(fork).replay.log
    names = [path for path, column in columns_of(type(old)).items() if column.per == PER_RUN and path != "job"]
    for value, name in enumerate(names, 50):
        getattr(old, name)[1] = value
    take = transfer.take_run
    (take.py_func if interpreted else take)(old, 1, new, 0)
    assert [int(getattr(new, name)[0]) for name in names] == list(range(50, 50 + len(names)))


def test_it_is_in_the_bytes(stepper: Stepper) -> None:
    """Also what stands at the end of an array; but where no run is written yet there are zeros."""
    state = state_in(stepper)
    state.replay.log.size[0] = state.replay.ends.size[0] = 3
    others = [path for path in WRITTEN if not path.endswith(".size")]
    for path in others:
        array_at(state, path).flat[-1] = array_at(state, path)[2:3] = planted(COLUMNS[path])
    again = arena_of(state_in_bytes(unpack(stepper.to_bytes()), VERSION)).state
    for path in others:
        found, wanted = array_at(again, path), array_at(state, path)
        if COLUMNS[path].per in (PER_RUN, PER_END):
            assert is_same(found[:3], wanted[:3]), path
            assert not found[3:].any(), path
        else:
            assert is_same(found, wanted), path


@pytest.mark.parametrize("interpreted", BY_ITSELF)
def test_it_begins_anew(stepper: Stepper, interpreted: bool) -> None:
    """An episode has nothing of the one before it."""
    state = state_in(stepper)
    begin = transfer.begin_anew
    for path in WRITTEN:
        array_at(state, path)[...] = planted(COLUMNS[path])
    (begin.py_func if interpreted else begin)(state.machine, state.replay)
    for path in WRITTEN:
        array, column = array_at(state, path), COLUMNS[path]
        wanted = planted(column) if column.is_ahead else column.empty
        assert is_same(array, np.full_like(array, wanted)), path


def test_it_is_kept_where_there_is_more_room(stepper: Stepper) -> None:
    """Of jobs that may come: what is known of the others is what it was, and of the new ones nothing."""
    simulation = stepper._simulation
    before = {path: array_at(state_in(stepper), path).copy() for path in WRITTEN}
    jobs, row = simulation._driver.jobs, state_in(stepper).coming.row.copy()
    make_room(simulation, 300, state_in(stepper).coming)
    after = state_in(stepper)
    for path, column in COLUMNS.items():
        array = array_at(after, path)
        if path in ("coming.row", "machine.restart"):
            continue
        old = before.get(path, array)
        if column.per == PER_ROW:
            assert is_same(array[:jobs], old[row]), path
        else:
            few = tuple(map(slice, old.shape))
            assert is_same(array[few], old), path
        if column.per == PER_JOB and not column.is_ahead:
            assert is_same(array[jobs:], np.full_like(array[jobs:], column.empty)), path


@pytest.mark.parametrize("most", [arenas.MOST, 0], ids=["in blocks", "each by itself"])
def test_it_is_kept_where_more_happens(stepper: Stepper, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More runs, ends, places and jobs that are held back; counts stay the arrays that they were."""
    monkeypatch.setattr(arenas, "MOST", most)
    arena = stepper.copy()._simulation._driver.seat.arena
    for path in WRITTEN:
        array_at(arena.state, path)[...] = 5
    state = arena.state
    state.machine.counts[CAPACITY] = 60
    state.replay.log.size[0], state.replay.ends.size[0] = arena.sizes.runs - 1, arena.sizes.ends - 1
    state.replay.counts[FULL] = 1
    larger = with_room(arena)
    grown = {name for name, old, new in zip(arena.sizes._fields, arena.sizes, larger.sizes, strict=True) if old != new}
    assert grown == {"runs", "ends", "places", "held"}
    assert larger.state.replay.counts is state.replay.counts
    assert larger.state.replay.counts[FULL] == 0
    for path in WRITTEN:
        if path != "machine.queue.least":
            old, new = array_at(state, path), array_at(larger.state, path)
            assert is_same(new[tuple(map(slice, old.shape))], old), path
    assert with_room(larger) is larger


def test_room_of_a_job_is_used_again(stepper: Stepper) -> None:
    """What was another's is not there any more."""
    state = state_in(stepper)
    for path in WRITTEN:
        array_at(state, path)[...] = planted(COLUMNS[path])
    transfer.blank_jobs(state, 3)
    for path in OF_JOBS:
        if not COLUMNS[path].is_ahead:
            array, column = array_at(state, path), COLUMNS[path]
            assert is_same(array[3], np.full_like(array[3], column.empty)), path
            assert (array[4] == planted(column)).all()

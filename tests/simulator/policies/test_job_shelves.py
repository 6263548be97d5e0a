# SPDX-License-Identifier: BSD-3-Clause
"""Waiting jobs on shelves: who is first, against the index of the queue, and whole schedules with long queues."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools import Trace
from swftools.simulator import Policy, simulate
from swftools.simulator.job_orders import SJF, Order, first_in_order, rank_order, simple_order
from swftools.simulator.machine.state import DISTURBED, SUBMITTED, WAITING, Machine
from swftools.simulator.machine.waiting_queue import ANY, NOBODY, empty_queue, put
from swftools.simulator.policies.easy import start_heads
from swftools.simulator.policies.job_shelves import (
    MANY,
    RANKS,
    SHELF,
    SHELVES,
    WIDTHS,
    _class_of,
    empty_shelves,
    first_of_many,
    first_on_shelves,
)
from swftools.simulator.policies.ordered_easy import backfill, easy_in_order
from tests.interpreted import BY_ITSELF
from tests.simulator.test_job_orders import come, go, machine_of

ORDERS = [simple_order(SJF), rank_order(0.0)]
IDS = ["sjf", "rank"]


def test_classes_of_widths() -> None:
    """A power of two has a class of its own; behind the last there is none."""
    assert [_class_of(float(width)) for width in (1, 2, 3, 4, 5, 7, 8, 9, 15, 16)] == [0, 2, 3, 4, 5, 5, 6, 7, 7, 8]
    assert [_class_of(2.0**power) for power in (17, 18, 30)] == [34, WIDTHS - 1, WIDTHS - 1]


@pytest.mark.parametrize("interpreted", BY_ITSELF)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 8), st.integers(0, 4), st.integers(-1, 20)), min_size=1),
    st.sampled_from(ORDERS),
    st.data(),
)
def test_the_first_on_shelves(
    interpreted: bool, jobs: list[tuple[int, int, int, int]], order: Order, data: st.DataObject
) -> None:
    """Jobs come, are held back and released, start, end and come back between one question and the next."""
    find = first_on_shelves.py_func if interpreted else first_on_shelves
    machine, shelves = machine_of(jobs), empty_shelves(len(jobs))
    machine.counts[SUBMITTED] = 0
    waiting: list[int] = []
    held: list[int] = []
    stopped: list[int] = []
    for job in range(len(jobs)):
        machine.counts[SUBMITTED] += 1
        if data.draw(st.integers(0, 4)):
            come(machine, job)
            waiting.append(job)
        else:
            held.append(job)
        event = data.draw(st.sampled_from(["none", "start", "end", "release", "return"]))
        if event in ("start", "end") and waiting:
            gone = data.draw(st.sampled_from(waiting))
            go(machine, gone, ended=event == "end")
            waiting.remove(gone)
            if event == "start":
                stopped.append(gone)
        elif event == "release" and held:
            come(machine, held[0])
            waiting.append(held.pop(0))
            machine.counts[DISTURBED] += 1
        elif event == "return" and stopped:
            again = stopped.pop()
            needed, time = machine.requests.processors[again], machine.requests.requested_time[again]
            put_back(machine, again, float(needed), float(time))
            waiting.append(again)
            machine.counts[DISTURBED] += 1
        machine.counts[WAITING] = len(waiting)
        question = [float(data.draw(st.sampled_from([*range(6), 8]))) for _ in range(3)]
        assert find(machine, shelves, order, *question) == first_in_order(machine, order, *question)


def put_back(machine: Machine, job: int, processors: float, time: float) -> None:
    """Let a job that was stopped wait at its place."""
    put(machine.queue, machine.queue.place[job], processors, time)


def long_queue(jobs: int, seed: int) -> list[tuple[int, int, int, int]]:
    """Return jobs: narrow ones mostly long, wide ones mostly short, of more ranks than have shelves of their own."""
    rng = np.random.default_rng(seed)
    widths = rng.choice([1, 2, 3, 4, 6, 8], jobs)
    times = np.floor(1000 / widths * np.exp(2 * rng.standard_normal(jobs)))
    return [
        (0, int(w), int(t), int(r)) for w, t, r in zip(widths, times, rng.integers(-1, RANKS + 5, jobs), strict=True)
    ]


@pytest.mark.parametrize("order", ORDERS, ids=IDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_long_queue_is_served_as_by_the_index(seed: int, order: Order) -> None:
    """Hundreds of jobs start one after the other while others come; shelves that have emptied are given up."""
    rng = np.random.default_rng(seed)
    jobs = long_queue(3000, seed)
    machine, shelves = machine_of(jobs), empty_shelves(len(jobs))
    machine = machine._replace(queue=empty_queue(len(jobs), 4096))  # with a place for each
    machine.counts[SUBMITTED] = machine.counts[WAITING] = 0
    most = waited = 0
    for turn in range(4200):
        if turn < len(jobs):
            come(machine, turn)
            machine.counts[SUBMITTED] += 1
            machine.counts[WAITING] += 1
            if turn < MANY + 100:
                continue
        question = float(rng.integers(1, 9)), float(rng.choice([3, 100, 1000, 30000])), float(rng.integers(0, 4))
        if turn >= len(jobs):
            question = 8.0, ANY, 8.0
        found = first_of_many(machine, shelves, order, *question)
        assert found == first_in_order(machine, order, *question)
        assert found == first_on_shelves(machine, shelves, order, *question)
        most = max(most, int(shelves.counts[SHELVES]))
        if found != NOBODY:
            go(machine, found, ended=True)
            machine.counts[WAITING] -= 1
            waited += 1
    assert waited > 2500
    assert most > 600 // SHELF
    assert shelves.counts[SHELVES] < most
    assert most <= len(shelves.size)


def by_rank(machine: Machine) -> None:
    """Decide as prio-fifo by the index of the queue alone."""
    easy_in_order(machine, rank_order(0.0))


@pytest.mark.parametrize("seed", range(2))
def test_prio_fifo_with_a_long_queue(seed: int) -> None:
    """All at once, and as many again later."""
    trace = crowd(seed)
    ours = simulate(trace, "prio-fifo").jobs["start_time"]
    assert ours.equals(simulate(trace, Policy("by-rank", by_rank, needs=("priority_rank",))).jobs["start_time"])


def test_sjf_backfill_with_a_long_queue(compiled: bool) -> None:
    """Beside the orders that are sorted anew at each decision, where several reservations are asked for: of one."""
    jobs = 800 if compiled else 600
    trace = crowd(3, jobs)
    assert jobs > MANY
    ours = simulate(trace, "sjf-backfill", compiled=compiled).jobs["start_time"].tolist()
    assert ours == simulate(trace, Policy("by-index", shortest_ahead)).jobs["start_time"].tolist()


def shortest_ahead(machine: Machine) -> None:
    """Decide as sjf-backfill by the index of the queue alone."""
    backfill(machine, simple_order(SJF), start_heads(machine))


def crowd(seed: int, jobs: int = 1600) -> Trace:
    """Return jobs that come in two crowds, with ranks."""
    rng = np.random.default_rng(seed)
    run_time = np.ceil(np.exp(rng.normal(4, 2, jobs)))
    trace = Trace.from_columns(
        machine_processors=32,
        job_number=np.arange(jobs) + 1,
        submit_time=np.where(np.arange(jobs) < jobs - 50, 0.0, 2000.0),
        run_time=run_time,
        requested_time=np.ceil(run_time * rng.choice([1, 1, 3], jobs)),
        allocated_processors=np.minimum(32, 2 ** rng.integers(0, 6, jobs)),
    )
    return trace.with_jobs(trace.jobs.assign(priority_rank=pd.array(rng.integers(0, RANKS + 4, jobs), dtype="Int64")))

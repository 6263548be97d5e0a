# SPDX-License-Identifier: BSD-3-Clause
"""The first job of an order: found in the index and in the heap, against a sort of all that wait."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.simulator.job_orders import (
    LXF,
    ORDERS,
    RANK,
    WEIGHTED,
    Order,
    first_in_order,
    rank_order,
    simple_order,
)
from swftools.simulator.machine.state import DISTURBED, NOW, SUBMITTED, WAITING, Machine, empty_machine, no_requests
from swftools.simulator.machine.waiting_queue import ANY, NOBODY, enter, leave, put
from swftools.simulator.policies.job_heap import empty_heap, first_of_heap

pytestmark = pytest.mark.usefixtures("interpreted_by_day")

PROCESSORS = 8
small = st.integers(0, 4)
jobs_drawn = st.lists(st.tuples(small, st.integers(1, PROCESSORS), small, st.integers(-1, 3)), min_size=1, max_size=40)
weights = st.sampled_from([-1.0, 0.0, 0.5, 3600.0])
orders = st.one_of(
    st.sampled_from([simple_order(kind) for kind in range(len(ORDERS))]),
    st.just(rank_order(0.0)),
    st.builds(Order, st.just(WEIGHTED), weights, weights, weights, weights, st.just(4.0), st.just(0.0)),
)


def machine_of(jobs: list[tuple[int, int, int, int]]) -> Machine:
    """Return a machine to which jobs came: seconds since the one before, processors, estimate and rank of each."""
    requests, submitted = no_requests(len(jobs)), 0.0
    machine = empty_machine(requests, PROCESSORS, np.zeros(2))
    for job, (later, processors, time, rank) in enumerate(jobs):
        submitted += later
        requests.submit_time[job], requests.processors[job] = submitted, processors
        requests.requested_time[job] = requests.limit[job] = time
        requests.priority_rank[job] = rank
    machine.clock[NOW] = submitted
    machine.counts[SUBMITTED] = len(jobs)
    return machine


def come(machine: Machine, job: int) -> None:
    """Let a job enter the queue."""
    enter(machine.queue, job, float(machine.requests.processors[job]), float(machine.requests.requested_time[job]))
    machine.counts[WAITING] += 1


def go(machine: Machine, job: int, ended: bool) -> None:
    """Let a waiting job start, and end."""
    put(machine.queue, machine.queue.place[job], np.inf, np.inf)
    machine.counts[WAITING] -= 1
    if ended:
        leave(machine.queue, job)


def key(order: Order, machine: Machine, job: int) -> float:
    """Return the key of a job, from the words of the policies' pages."""
    requests = machine.requests
    width, time, rank = (
        int(column[job]) for column in (requests.processors, requests.requested_time, requests.priority_rank)
    )
    wait = machine.clock[NOW] - requests.submit_time[job]
    expansion = 1 + wait / max(time, 1)
    rank = rank if rank >= 0 else order.unknown
    if order.kind == WEIGHTED:
        share = order.width * width / PROCESSORS
        return -(order.wait * wait / 3600 + order.expansion * expansion + share - order.rank * rank)
    if order.kind == RANK:
        return rank
    return {"fcfs": 0, "sjf": time, "lxf": -expansion, "widest": -width, "narrowest": width, "ljf": -time}[
        ORDERS[order.kind]
    ]


@given(jobs_drawn, orders, st.data())
def test_the_first_that_fits(jobs: list[tuple[int, int, int, int]], order: Order, data: st.DataObject) -> None:
    """Whoever waits, in whatever order they entered: the least key of those that fit, and of equals the first."""
    machine = machine_of(jobs)
    entered = list(range(len(jobs)))
    if data.draw(st.booleans(), label="some were held back"):
        entered = data.draw(st.permutations(entered))
        machine.counts[DISTURBED] = 1
    for job in entered:
        come(machine, job)
    gone = data.draw(st.sets(st.sampled_from(entered)), label="gone")
    for job in gone:
        go(machine, job, ended=data.draw(st.booleans()))
    processors, time, spare = (data.draw(st.sampled_from([*range(6), ANY])) for _ in range(3))
    fitting = [
        job
        for job in entered
        if job not in gone and jobs[job][1] <= processors and (jobs[job][2] <= time or jobs[job][1] <= spare)
    ]
    expected = min(fitting, key=lambda job: key(order, machine, job), default=NOBODY)
    found = first_in_order(machine, order, float(processors), float(time), float(spare))
    assert found == expected
    ranks = [key(rank_order(0.0), machine, job) for job in fitting]
    if order.kind == RANK and ranks:  # knowing more finds the same
        assert first_in_order(machine, rank_order(min(ranks)), float(processors), float(time), float(spare)) == expected


@given(jobs_drawn, st.sampled_from([*(simple_order(kind) for kind in (1, 3, 4, 5)), rank_order(0.0)]), st.data())
def test_the_first_of_the_heap(jobs: list[tuple[int, int, int, int]], order: Order, data: st.DataObject) -> None:
    """Jobs come, are held back and released, start, and come back: the heap follows."""
    machine, heap = machine_of(jobs), empty_heap(len(jobs), PROCESSORS)
    machine.counts[SUBMITTED] = 0
    waiting: list[int] = []
    stopped: list[int] = []
    held: list[int] = []
    for job in range(len(jobs)):
        machine.counts[SUBMITTED] += 1
        if data.draw(st.sampled_from(["enters", "is held"])) == "enters":
            come(machine, job)
            waiting.append(job)
        else:
            held.append(job)
        event = data.draw(st.sampled_from(["none", "start", "release", "return"]))
        if event == "start" and waiting:
            gone = data.draw(st.sampled_from(waiting))
            go(machine, gone, ended=False)
            waiting.remove(gone)
            stopped.append(gone)
        elif event == "release" and held:
            come(machine, held[0])
            waiting.append(held.pop(0))
            machine.counts[DISTURBED] += 1
        elif event == "return" and stopped:
            back = stopped.pop()
            requests = machine.requests
            place = machine.queue.place[back]
            put(machine.queue, place, float(requests.processors[back]), float(requests.requested_time[back]))
            waiting.append(back)
            machine.counts[WAITING] += 1
            machine.counts[DISTURBED] += 1
        waiting.sort(key=lambda each: machine.queue.place[each])
        expected = min(waiting, key=lambda each: key(order, machine, each), default=NOBODY)
        assert first_of_heap(machine, heap, order) == expected


def test_parts_without_a_better_job_are_passed_over() -> None:
    """Long waits at the front: what came later is not looked at where it cannot have waited as long in proportion."""
    machine = machine_of([(4, 1, 2, 0)] * 4 + [(0, 1, 4, 0)] * 4)
    for job in range(8):
        come(machine, job)
    assert first_in_order(machine, simple_order(LXF), ANY, ANY, ANY) == 0
    submitted = machine.requests.submit_time.copy()
    submitted[5:] = -1e9  # who would be first if it were looked at
    machine = machine._replace(requests=machine.requests._replace(submit_time=submitted))
    assert first_in_order(machine, simple_order(LXF), ANY, ANY, ANY) == 0


@pytest.mark.parametrize("kind", range(len(ORDERS)), ids=ORDERS)
def test_nobody_waits(kind: int) -> None:
    """The first of nobody is nobody."""
    machine = machine_of([(0, 1, 1, 0)])
    assert first_in_order(machine, simple_order(kind), ANY, ANY, ANY) == NOBODY


def test_who_was_held_back_may_have_waited_longest() -> None:
    """It stands behind others that were submitted later, and is found."""
    machine = machine_of([(0, 1, 1, 0)] + [(10, 1, 1, 0)] + [(0, 1, 1, 0)] * 4)
    for job in (1, 2, 3, 4, 5, 0):
        come(machine, job)
    machine.counts[DISTURBED] = 1
    machine.clock[NOW] = 20.0
    assert first_in_order(machine, simple_order(LXF), ANY, ANY, ANY) == 0
    by_wait = Order(WEIGHTED, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    assert first_in_order(machine, by_wait, ANY, ANY, ANY) == 0


def test_the_widest_stands_beside_a_narrow_one() -> None:
    """What is least in a part says nothing of the most."""
    machine = machine_of([(0, width, 1, 0) for width in (2, 2, 1, 8)])
    for job in range(4):
        come(machine, job)
    assert first_in_order(machine, simple_order(ORDERS.index("widest")), ANY, ANY, ANY) == 3

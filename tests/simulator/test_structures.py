# SPDX-License-Identifier: BSD-3-Clause
"""The parts of the simulator: the index over waiting jobs, and the heap of events, against lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swftools.simulator.machine import event_queue, waiting_queue
from swftools.simulator.machine.waiting_queue import (
    ANY,
    NOBODY,
    WaitingQueue,
    empty_queue,
    move_leaves,
    next_fitting_place,
    put,
)
from tests.interpreted import BY_ITSELF

small = st.integers(0, 6)
times = st.integers(0, 5).map(float) | st.sampled_from([0.5, 1e9])

# The index over waiting jobs


def naive_next(waiting: dict[int, tuple[int, float]], first: int, processors: float, time: float, spare: float) -> int:
    """Return the next waiting job that fits, looking at all of them."""
    for job in sorted(waiting):
        width, asked = waiting[job]
        if job >= first and width <= processors and (asked <= time or width <= spare):
            return job
    return NOBODY


def compiled_or_not(function: Any) -> list[Any]:
    """Return a compiled function and its source."""
    return [function, function.py_func]


@pytest.mark.parametrize("search", compiled_or_not(next_fitting_place), ids=["compiled", "interpreted"])
@given(data=st.data(), jobs=st.integers(1, 9))
def test_next_fitting_is_that_of_a_list(search: Any, data: st.DataObject, jobs: int) -> None:
    """Places come and go; after each change every question has the answer of a plain search."""
    queue = empty_queue(jobs, 16)
    waiting: dict[int, tuple[int, float]] = {}
    for place, width, asked, leaves in data.draw(
        st.lists(st.tuples(st.integers(0, jobs - 1), st.integers(1, 6), times, st.booleans()), max_size=12)
    ):
        if leaves:
            put(queue, place, np.inf, np.inf)
            waiting.pop(place, None)
        else:
            put(queue, place, float(width), asked)
            waiting[place] = (width, asked)
        question = data.draw(st.tuples(st.integers(0, jobs), small, times | st.just(-1.0), st.integers(-2, 6)))
        assert naive_next(waiting, *question) == search(queue, *question)
        assert naive_next(waiting, 0, ANY, ANY, ANY) == search(queue, 0, ANY, ANY, ANY)


@pytest.mark.parametrize("places", [1, 2, 8, 256])
def test_empty_queue(places: int) -> None:
    """Nobody waits, whatever the number of places, and nobody stands behind the last one."""
    queue = empty_queue(places, places)
    assert NOBODY == next_fitting_place(queue, 0, ANY, ANY, ANY)
    assert NOBODY == next_fitting_place(queue, places + 9, ANY, ANY, ANY)
    put(queue, places - 1, 1.0, 0.0)
    assert places - 1 == next_fitting_place(queue, 0, 1, 0.0, 0)
    assert NOBODY == next_fitting_place(queue, places, ANY, ANY, ANY)


def with_more_places(queue: WaitingQueue) -> WaitingQueue:
    """Return a queue with twice as many places, as a state that grows has it."""
    places = len(queue.job)
    more = empty_queue(len(queue.place), 2 * places)
    more.job[:places], more.place[:], more.used[:] = queue.job, queue.place, queue.used
    more.least[: 4 * places] = queue.least
    move_leaves(more, places)
    return more


def is_index(queue: WaitingQueue) -> bool:
    """Whether every node has the least processors and the least time of its two children."""
    least = queue.least.reshape(-1, 2)
    children = least[2:].reshape(-1, 2, 2)
    return bool((least[1 : len(least) // 2] == children.min(axis=1)).all())


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 6), times), max_size=20))
def test_the_index_is_the_least_below(changes: list[tuple[int, int, float]]) -> None:
    """Every node, after each change; compiled as interpreted."""
    queue, other = empty_queue(8, 8), empty_queue(8, 8)
    for place, width, asked in changes:
        put(queue, place, float(width), asked)
        waiting_queue.put.py_func(other, place, float(width), asked)
        assert is_index(queue)
    for values, plain in zip(queue, other, strict=True):
        assert values.tolist() == plain.tolist()


steps_of_jobs = st.lists(
    st.tuples(st.sampled_from(["enter", "enter", "start", "stop", "end"]), st.integers(0, 99), small, times),
    max_size=60,
)


@pytest.mark.parametrize("interpreted", BY_ITSELF)
def test_places_are_closed_up(interpreted: bool) -> None:
    """However many were used, and whoever of them has ended: the index is that of the jobs that are left, in order."""
    names = ("enter", "leave", "close_up")
    enter, leave, close_up = (
        each.py_func if interpreted else each for each in (getattr(waiting_queue, name) for name in names)
    )
    random = np.random.default_rng(5)
    for used in range(1, 17):
        for _ in range(8):
            queue = empty_queue(used, 16)
            for job in range(used):
                enter(queue, job, float(random.integers(1, 9)), float(random.integers(1, 9)))
            ended = np.flatnonzero(random.random(used) < 0.5)
            for job in ended:
                put(queue, queue.place[job], np.inf, np.inf)
                leave(queue, job)
            left = [job for job in range(used) if job not in ended]
            close_up(queue)
            assert is_index(queue)
            assert queue.job.tolist() == left + [NOBODY] * (16 - len(left))
            assert queue.place[left].tolist() == list(range(len(left)))
            assert queue.used.tolist() == [len(left), 0]


@pytest.mark.parametrize("interpreted", BY_ITSELF)
@given(steps=steps_of_jobs, question=st.tuples(st.integers(0, 6), times, st.integers(0, 6)))
def test_the_window_is_a_list(
    interpreted: bool, steps: list[tuple[str, int, int, float]], question: tuple[int, float, int]
) -> None:
    """Jobs enter, start, are stopped and end while places are closed up and doubled: order and answers of a list."""
    names = ("enter", "leave", "close_up", "is_waiting", "first_place")
    kernels = [getattr(waiting_queue, name) for name in names]
    enter, leave, close_up, is_waiting, first_place = (each.py_func if interpreted else each for each in kernels)
    queue, jobs = empty_queue(len(steps), 2), 0
    there: list[int] = []  # in order of entry, those that run among them
    asks: dict[int, tuple[int, float]] = {}
    waits: set[int] = set()
    for what, lot, width, asked in steps:
        job = there[lot % len(there)] if there else NOBODY
        if what == "enter":
            if queue.used[0] == len(queue.job):
                close_up(queue)
                if 4 * queue.used[0] > 3 * len(queue.job):
                    queue = with_more_places(queue)
            enter(queue, jobs, float(width), asked)
            there.append(jobs)
            waits.add(jobs)
            asks[jobs] = (width, asked)
            jobs += 1
        elif what == "start" and job in waits:
            put(queue, queue.place[job], np.inf, np.inf)
            waits.remove(job)
        elif what == "stop" and job != NOBODY and job not in waits:
            put(queue, queue.place[job], float(width), asked)
            asks[job] = (width, asked)
            waits.add(job)
        elif what == "end" and job != NOBODY and job not in waits:
            leave(queue, job)
            there.remove(job)
        assert is_index(queue)
        assert [job for job in range(jobs) if is_waiting(queue, job)] == sorted(waits)
        assert [int(job) for job in queue.job if job != NOBODY] == there
        first = first_place(queue)
        assert next((job for job in there if job in waits), NOBODY) == (NOBODY if first == NOBODY else queue.job[first])
        processors, time, spare = question
        fitting = [
            job
            for job in there
            if job in waits and asks[job][0] <= processors and (asks[job][1] <= time or asks[job][0] <= spare)
        ]
        found = []
        place = next_fitting_place(queue, 0, processors, time, spare)
        while place != NOBODY:
            found.append(int(queue.job[place]))
            place = next_fitting_place(queue, place + 1, processors, time, spare)
        assert fitting == found


# The heap of events


@pytest.mark.parametrize("interpreted", BY_ITSELF)
@given(st.lists(st.none() | st.tuples(times, st.integers(0, 9)), max_size=30))
def test_events_come_out_in_order(interpreted: bool, steps: list[tuple[float, int] | None]) -> None:
    """By time, and of equal times by number: what a sorted list gives. None takes the first out."""
    push, pop = event_queue.push, event_queue.pop
    if interpreted:
        push, pop = push.py_func, pop.py_func
    moments, events = np.empty(30), np.empty(30, np.int64)
    expected: list[tuple[float, int]] = []
    for step in steps:
        if step:
            push(moments, events, len(expected), *step)
            expected.append(step)
        elif expected:
            first = min(expected)
            assert first == (moments[0], pop(moments, events, len(expected)))
            expected.remove(first)
    while expected:
        first = min(expected)
        assert first == (moments[0], pop(moments, events, len(expected)))
        expected.remove(first)

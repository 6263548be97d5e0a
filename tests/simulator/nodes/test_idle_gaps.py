# SPDX-License-Identifier: BSD-3-Clause
"""The gaps in which nobody is on a node are those of its steps, and hold what the steps would hold."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from swftools.simulator.nodes.idle_gaps import MOST_GAPS, first_idle
from swftools.simulator.nodes.timelines import (
    CHANGED,
    NO_STEP,
    ROUNDING,
    Timelines,
    clear,
    empty_timelines,
    first_room,
    hold,
    let_go,
    list_with_gaps,
    may_have_room,
    measure_changed,
)
from swftools.simulator.nodes.words import WHOLE, words_of
from tests.interpreted import all_interpreted
from tests.nodes_drawn import Ask, Workload, asked_of, draw_machine
from tests.simulator.nodes.test_engine import Run, run, starts_and_nodes  # noqa: F401 (a fixture)
from tests.simulator.nodes.test_plans import told_naively

NODES, PARTS_HELD, HORIZON = 4, 200, 300
CAPACITY = words_of(np.full(NODES, 4), np.full(NODES, 100), np.zeros(NODES), np.ones(NODES, np.bool_))
ALONE, SHARED, SMALL = (int(words_of(cores, 1, 0, alone)) for cores, alone in ((4, True), (2, False), (0, False)))


def empty_lines() -> Timelines:
    """Return room for timelines that may be written to."""
    lines = empty_timelines(NODES, PARTS_HELD)
    lent: dict[str, Any] = {name: np.array(getattr(lines, name)) for name in ("time", "free", "users", "next", "first")}
    return lines._replace(**lent)


def held(seed: int, jobs: int) -> tuple[Timelines, list[tuple[float, float]]]:
    """Return timelines that hold jobs by lot, and from when to when a job is alone on the first node."""
    lot, lines = random.Random(seed), empty_lines()
    clear(lines, CAPACITY, 0.0)
    measure_changed(lines)
    alone: list[tuple[float, float]] = []
    for _ in range(jobs):
        node, begin = lot.randrange(NODES), float(lot.randint(0, HORIZON))
        end = begin + lot.randint(1, 20)
        if first_idle_by_steps(lines, node, end - begin, begin, begin + 0.5)[0] != begin:
            continue
        hold(lines, node, begin, end, lot.choice([ALONE, SHARED]))
        if node == 0:
            alone.append((begin, end))
    if alone and lot.random() < 0.5:
        let_go(lines, 0, *alone[0], ALONE, int(CAPACITY[0]))
        del alone[0]
    measure_changed(lines)
    return lines, alone


def first_idle_by_steps(
    lines: Timelines, node: int, length: float, since: float, until: float, own: tuple[float, float] = (np.inf, np.inf)
) -> tuple[float, float, int]:
    """Return what the steps of a node say."""
    return first_room(lines, node, ALONE, length, since, until, *own, NO_STEP)


@pytest.mark.parametrize("seed", range(20))
def test_as_the_steps_say(seed: int) -> None:
    """One room after the other is that of the steps, with and without a reservation of the job's own."""
    with all_interpreted():
        lines, alone = held(seed, 40)
        lot = random.Random(seed)
        for _ in range(60):
            node, length, since = lot.randrange(NODES), lot.choice([0.5, 3, 10, 40]), float(lot.randint(0, HORIZON))
            own, until = (np.inf, np.inf), since + lot.randint(1, HORIZON)
            later = [each for each in alone if each[0] > since]
            if node == 0 and later:
                own = lot.choice(later)
                until, length = own[0], own[1] - own[0]
            start = step = NO_STEP
            for _ in range(60):
                found, gone, start = first_idle(lines.idle, node, length, since, until, *own, start)
                want, end, step = first_room(lines, node, ALONE, length, since, until, *own, step)
                assert (found, min(gone, until)) == (want, min(end, until))
                if gone >= until:  # what is behind its own reservation it does not need
                    break
                assert (start, step) != (NO_STEP, NO_STEP)
                since = gone


@pytest.mark.parametrize("need", [ALONE, SHARED, SMALL], ids=["whole", "shared", "small"])
def test_nodes_that_may_have_room(need: int) -> None:
    """Listed are the job's own nodes and those of which gaps say that they may have room; and who has room is there."""
    said = []
    with all_interpreted():
        for seed in range(10):
            lines, _ = held(seed, 60)
            lot = random.Random(seed)
            own, listed = np.zeros(NODES + 1, np.int64), np.full(NODES + 1, -1, np.int64)
            own[-1], own[lot.randrange(NODES)] = 7, 7
            listed[0] = 3
            for _ in range(20):
                length, until = float(lot.choice([5, 20, 60])), float(lot.randint(1, HORIZON))
                count = list_with_gaps(lines, 1, NODES, need, length, until, own, listed, 1)
                may = [may_have_room(lines, node, need, length, until) for node in range(NODES)]
                assert listed[:count].tolist() == [3] + [
                    each for each in range(1, NODES) if own[each] == 7 or may[each]
                ]
                for node in range(NODES):
                    has_room = first_room(lines, node, need, length, 0.0, until, np.inf, np.inf, NO_STEP)[0] < np.inf
                    assert may[node] or not has_room
                    said.append(may[node])
    assert set(said) == ({True} if need == SMALL else {False, True})


def test_of_what_is_measured() -> None:
    """A node is measured once for all that has changed there; what is as long as the job but for rounding counts."""
    with all_interpreted():
        lines = empty_lines()
        clear(lines, CAPACITY, 0.0)
        assert lines.counts[CHANGED] == NODES
        measure_changed(lines)
        hold(lines, 2, 10.0, 20.0, ALONE)
        hold(lines, 2, 30.0, 35.0, SHARED)
        assert lines.counts[CHANGED] == 1
        measure_changed(lines)
        assert lines.counts[CHANGED] == 0
        ends = lines.idle.ends[2 * MOST_GAPS * 2 :][: 2 * lines.idle.many[2]].tolist()
        assert ends == [0.0, 10.0, 20.0, 30.0, 35.0, np.inf]
        assert may_have_room(lines, 2, ALONE, 10.0 + ROUNDING / 2, 30.0)
        assert not may_have_room(lines, 2, ALONE, 10.0 + ROUNDING, 35.0)
        assert may_have_room(lines, 2, ALONE, 10.0 + ROUNDING, 35.5)
        assert may_have_room(lines, 2, SHARED, 10.0 + ROUNDING, 20.5)
    assert ALONE & WHOLE


def test_more_gaps_than_are_listed(run: Run) -> None:  # noqa: F811
    """A node with more gaps than are listed is searched by its steps: the first gap that is long enough is behind them.

    On two nodes jobs of both take turns with jobs of one node, each of which is longer than the one before.
    """
    pairs, table = MOST_GAPS + 8, draw_machine("count cores / 2 1", "p:0-1")
    every = (0, (0, 1))
    lengths = [10.0 + each for each in range(pairs)]
    request = [length for each in lengths for length in (10.0, each)] + [lengths[-4]]
    asks = [Ask(2 - place % 2, 1, alone=True, sets=(every,), request=length) for place, length in enumerate(request)]
    asks[-1] = Ask(1, 1, alone=True, sets=(every,), request=request[-1])
    many = len(request)
    workload = Workload(table, asked_of(asks, table), [0.0] * many, request, request, [0] * many)
    found = starts_and_nodes(run(workload, "conservative", "first-fit:sparing=false", "machine", compiled=False))
    assert found[-1][1] == sum(request[: many - 1 - 7])
    assert found == told_naively(workload, "conservative", "first-fit:sparing=false", "machine")

# SPDX-License-Identifier: BSD-3-Clause
"""When a job could start on some nodes: now, or when running jobs have ended, at their limits, one after the other."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.slurm.choosing import choose_nodes
from swftools.simulator.slurm.holding import ask_in_plan, give_back
from swftools.simulator.slurm.state import (
    BF_LINEAR,
    LEFT_OUT,
    NO_WINDOWS,
    RUNNERS,
    VERSION,
    WORDS,
    Dynamic,
    Given,
    copy_amounts,
    has_node,
    put_node,
)

WINDOW = 30.0
"""Seconds of the first window in which ends of jobs count together."""

FIRST_WITH_BARRIER = 23.02
"""The version from which on windows begin at whole multiples of the first, counted from the first end."""

MOST_TOGETHER = 200
"""Jobs of one window."""


@kernel(allocates=False)
def will_run(
    given: Given, state: Dynamic, job: int, partition: int, now: float, from_then_on: float, only_now: bool
) -> float:
    """Return when a job could start on the available nodes, infinity if never; ``state.picked`` are its nodes then."""
    count = 0
    if from_then_on <= now:
        count = choose_nodes(given, state, job, state.available, state.now)
        if count > 0:
            pick(state, count)
            ask_in_plan(given, state, job, partition, count)
            return now
        if only_now:
            return np.inf
    copy_amounts(state.now, state.then)
    is_linear, window = given.number[BF_LINEAR], WINDOW
    has_windows = int(given.number[LEFT_OUT]) != NO_WINDOWS
    place, many, barrier = 0, state.counts[RUNNERS], -1.0
    while place < many:
        last, first_end, together = -1.0, -1.0, 0
        while place < many:
            runner = state.runner[place]
            place += 1
            if not touches(given, state, runner):
                continue
            last = max(state.limit_end[runner], now + 1.0)
            if first_end < 0.0:
                first_end = last
            if barrier < 0.0:
                barrier = last + (WINDOW - last % WINDOW)
            give_back(given, state, runner, state.then)
            together += 1
            if place == many or together > MOST_TOGETHER or not has_windows:
                break
            base = barrier if given.number[VERSION] >= FIRST_WITH_BARRIER else first_end
            if state.limit_end[state.runner[place]] > base + window:
                break
        if last < 0.0:
            return np.inf
        if last >= from_then_on or place == many:
            count = choose_nodes(given, state, job, state.available, state.then)
            if count > 0:
                pick(state, count)
                ask_in_plan(given, state, job, partition, count)
                return last
        window = window + is_linear if is_linear > 0.0 else 2.0 * window
        if given.number[VERSION] >= FIRST_WITH_BARRIER and place < many:
            while state.limit_end[state.runner[place]] > barrier + window:
                window = window + is_linear if is_linear > 0.0 else 2.0 * window
    return np.inf


@kernel(allocates=False)
def touches(given: Given, state: Dynamic, runner: int) -> bool:
    """Whether a running job has one of the available nodes."""
    first = given.first_held[runner]
    for i in range(first, first + state.held_count[runner]):
        if has_node(state.available, 0, state.held_node[i]):
            return True
    return False


@kernel(allocates=False)
def pick(state: Dynamic, count: int) -> None:
    """Let the chosen nodes be the picked set."""
    for word in range(state.counts[WORDS]):
        state.picked[word] = 0
    for i in range(count):
        put_node(state.picked, 0, state.chosen[i])

# SPDX-License-Identifier: BSD-3-Clause
"""Nodes that are drained or down, reservations, and jobs that leave the queue before they start."""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.slurm.asking import ask_main
from swftools.simulator.slurm.node_sets import BITS
from swftools.simulator.slurm.preempting import stop_job
from swftools.simulator.slurm.state import (
    BF_RESOLUTION,
    DEAD,
    ENTRIES,
    FOLLOWS,
    NEXT_CHANGE,
    RUNNERS,
    UNKNOWN,
    WORDS,
    Dynamic,
    Given,
    rounded_down,
)

DOWN = 0
"""The kind of a change by which jobs of the node are stopped."""


@kernel(allocates=False)
def let_nodes_change(given: Given, state: Dynamic, machine: Machine) -> None:
    """Let nodes go away and come back as they do by now; whoever runs on one that goes down is stopped."""
    counts, now = state.counts, machine.clock[NOW]
    while counts[NEXT_CHANGE] < len(given.change_time) and given.change_time[counts[NEXT_CHANGE]] <= now:
        change = counts[NEXT_CHANGE]
        counts[NEXT_CHANGE] += 1
        node = given.change_node[change]
        state.away[node] += given.change_by[change]
        if state.away[node] > 0:
            state.up[node // BITS] &= ~(1 << (node % BITS))
        else:
            state.up[node // BITS] |= 1 << (node % BITS)
        ask_main(given, state, machine)
        if given.change_by[change] > 0 and given.change_kind[change] == DOWN and given.number[FOLLOWS] == 0.0:
            stop_on(given, state, machine, node)


@kernel(allocates=False)
def stop_on(given: Given, state: Dynamic, machine: Machine, node: int) -> None:
    """Stop the jobs of a node, by their numbers; they may start again after a while."""
    place = 0
    while place < state.counts[RUNNERS]:
        job = state.by_number[place]
        first, is_there = given.first_held[job], False
        for i in range(first, first + state.held_count[job]):
            is_there |= state.held_node[i] == node
        if is_there:
            stop_job(given, state, machine, job, True)
        else:
            place += 1


@kernel(allocates=False)
def next_change(given: Given, state: Dynamic) -> float:
    """Return when the next node goes away or comes back, s; infinity if none does."""
    place = state.counts[NEXT_CHANGE]
    return given.change_time[place] if place < len(given.change_time) else np.inf


@kernel(allocates=False)
def keep_off_reserved(given: Given, state: Dynamic, job: int, begin: float, end: float, now: float) -> float:
    """Take the nodes out of ``state.available`` that are reserved for others in some time.

    Returns when to try next: behind the reservation that ends first; 0 where none is in the way.
    """
    words, later, resolution = state.counts[WORDS], 0.0, given.number[BF_RESOLUTION]
    jobs = len(given.cpus)
    for place in range(len(given.reserved_begin)):
        if given.reserved_begin[place] >= end or given.reserved_end[place] <= begin:
            continue
        if given.reserved_known[place] > now and given.reserved_begin[place] > now:
            continue
        who = given.reserved_for[place]
        if who != UNKNOWN and given.may_use[who * jobs + job] != 0:
            continue
        for word in range(words):
            state.available[word] &= ~given.reserved_bits[place * words + word]
        behind = rounded_down(given, given.reserved_end[place], resolution) + resolution
        if later == 0.0 or behind < later:
            later = behind
    return later


@kernel(allocates=False)
def let_leave(given: Given, state: Dynamic, machine: Machine) -> float:
    """Let jobs leave that do so before they start; return when the next one that waits does, s."""
    coming = np.inf
    if len(given.leaves) == 0:
        return coming
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        if state.is_on[job] == 0 and state.has_left[job] == 0:
            if given.leaves[job] <= machine.clock[NOW]:
                state.has_left[job] = 1
                state.counts[DEAD] += 1
            elif given.leaves[job] < coming:
                coming = given.leaves[job]
    return coming

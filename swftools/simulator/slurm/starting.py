# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that start and end, as Slurm counts them; and why others wait."""

from __future__ import annotations

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.simulator.machine.state import ENDED, NOW, Machine
from swftools.simulator.machine.verbs import start
from swftools.simulator.slurm.asking import ask_main
from swftools.simulator.slurm.choosing import place_tasks
from swftools.simulator.slurm.cleaning import note_cleaning
from swftools.simulator.slurm.fair_share import use
from swftools.simulator.slurm.holding import add_up, give_back, take, write_down
from swftools.simulator.slurm.limits import count_job
from swftools.simulator.slurm.node_sets import put_node
from swftools.simulator.slurm.rooms import join_nodes, leave_nodes
from swftools.simulator.slurm.state import (
    CHANGES,
    DEAD,
    FOLLOWS,
    LAST_CALC,
    LOST_REASONS,
    REASONS,
    RUNNERS,
    STARTS_AND_ENDS,
    UNKNOWN,
    WORDS,
    Dynamic,
    Given,
)
from swftools.simulator.slurm.trying import try_start


@kernel(allocates=False)
def set_reason(state: Dynamic, machine: Machine, job: int, reason: int) -> None:
    """Write down why a job waits, if that is new."""
    if state.reason[job] == reason:
        return
    state.reason[job] = reason
    row = state.counts[REASONS]
    if row == len(state.reason_job):
        state.counts[LOST_REASONS] += 1
        return
    state.reason_job[row], state.reason_time[row], state.reason_code[row] = job, machine.clock[NOW], reason
    state.counts[REASONS] += 1


@kernel(allocates=False)
def begin_on_chosen(
    given: Given, state: Dynamic, machine: Machine, job: int, partition: int, count: int, by: int, priority: float
) -> None:
    """Start a waiting job on the chosen nodes; where a log is followed it is tried only."""
    place_tasks(given, state, job, partition, count)
    write_down(given, state, job, count, state.now)
    follows = given.number[FOLLOWS] > 0.0
    if follows:
        try_start(given, state, machine, job, partition, by)
    hold(given, state, machine, job, partition, by, np.floor(machine.clock[NOW]))
    state.ran_priority[job] = priority
    if not follows:
        start_for_good(given, state, machine, job)


@kernel(allocates=False)
def start_for_good(given: Given, state: Dynamic, machine: Machine, job: int) -> None:
    """Start a job that holds its nodes."""
    if given.array[job] != UNKNOWN:
        state.split_time[given.array[job]] = machine.clock[NOW]
    state.counts[DEAD] += 1
    start(machine, job)


@kernel(allocates=False)
def hold(given: Given, state: Dynamic, machine: Machine, job: int, partition: int, by: int, started: float) -> None:
    """Let a job have what is written down for it, and be one of those that run since a whole second."""
    state.is_on[job], state.ran_in[job], state.by[job] = 1, partition, by
    state.began[job] = machine.clock[NOW]
    state.started[job] = state.went_on[job] = started
    state.ran[job] = 0.0
    state.limit_end[job] = started + given.limit[job]
    list_as_running(given, state, job, partition)


@kernel(allocates=False)
def note_change(given: Given, state: Dynamic, job: int, ends: bool) -> None:
    """Note that a job begins to run, or stops: what was found of its nodes, or until its end, holds no more."""
    words, row, first = state.counts[WORDS], state.counts[STARTS_AND_ENDS] % CHANGES, given.first_held[job]
    for word in range(words):
        state.changed_sets[row * words + word] = 0
    for i in range(first, first + state.held_count[job]):
        put_node(state.changed_sets, row * words, state.held_node[i])
    state.changed_end[row], state.changed_ends[row] = state.limit_end[job], int(ends)
    state.counts[STARTS_AND_ENDS] += 1


@kernel(allocates=False)
def list_as_running(given: Given, state: Dynamic, job: int, partition: int) -> None:
    """Let a job take its nodes, and be listed among those that run."""
    take(given, state, job, state.now)
    join_nodes(given, state, job)
    note_change(given, state, job, False)
    add_up(given, state, job, partition)
    count_job(given, state, job, partition, 1)
    list_by_end(state, job, state.counts[RUNNERS])
    place = state.counts[RUNNERS]
    while place > 0 and state.by_number[place - 1] > job:
        state.by_number[place] = state.by_number[place - 1]
        place -= 1
    state.by_number[place] = job
    state.counts[RUNNERS] += 1


@kernel(allocates=False)
def list_by_end(state: Dynamic, job: int, many: int) -> None:
    """Put a job into its place among so many that run, by the ends of their limits."""
    place, end = many, state.limit_end[job]
    while place > 0:
        other = state.runner[place - 1]
        if state.limit_end[other] < end or (state.limit_end[other] == end and other < job):
            break
        state.runner[place] = other
        place -= 1
    state.runner[place] = job


@kernel(allocates=False)
def let_go(given: Given, state: Dynamic, job: int) -> None:
    """Let a job run no more, and have nothing any more."""
    state.is_on[job] = 0
    give_back(given, state, job, state.now)
    leave_nodes(given, state, job)
    note_change(given, state, job, True)
    add_up(given, state, job, state.ran_in[job])
    count_job(given, state, job, state.ran_in[job], -1)
    drop(state.runner, state.counts[RUNNERS], job)
    drop(state.by_number, state.counts[RUNNERS], job)
    state.counts[RUNNERS] -= 1


@kernel(allocates=False)
def drop(some: IntArray, many: int, job: int) -> None:
    """Take a job out of a list of so many."""
    place = 0
    while some[place] != job:
        place += 1
    for i in range(place, many - 1):
        some[i] = some[i + 1]


@kernel(allocates=False)
def note_end(given: Given, state: Dynamic, machine: Machine, job: int) -> None:
    """Let a job end that ran."""
    use(given, state, job, np.floor(machine.clock[NOW]) - max(state.started[job], state.clock[LAST_CALC]))
    note_cleaning(given, state, machine, job)
    let_go(given, state, job)
    ask_main(given, state, machine)


@kernel(allocates=False)
def note_ends(given: Given, state: Dynamic, machine: Machine) -> None:
    """Let the jobs end that have just ended, by their numbers."""
    last = -1
    for _ in range(machine.counts[ENDED]):
        job = -1
        for i in range(machine.counts[ENDED]):
            if machine.ended[i] > last and (job < 0 or machine.ended[i] < job):
                job = machine.ended[i]
        last = job
        if state.is_on[job] != 0:
            note_end(given, state, machine, job)

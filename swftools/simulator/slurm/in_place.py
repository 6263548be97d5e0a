# SPDX-License-Identifier: BSD-3-Clause
"""A queue as it is: jobs that run already are put on their nodes, and those that wait have the priorities told.

What the rules do not explain of a told priority (usage that was not given, a plugin of the centre) is kept as a
difference, so that priorities go on as the rules have it.
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.slurm.holding import write_down
from swftools.simulator.slurm.queue import calculate, drop_dead, priority_of
from swftools.simulator.slurm.starting import hold, start_for_good
from swftools.simulator.slurm.state import ENTRIES, LOGGED, UNKNOWN, Dynamic, Given


@kernel(allocates=False)
def begin_in_place(given: Given, state: Dynamic, machine: Machine) -> None:
    """Let the machine and the queue be as they are told, at the first decision."""
    for place in range(state.counts[ENTRIES]):
        job, partition = state.entry_job[place], state.entry_partition[place]
        if state.is_on[job] == 0 and given.logged_start[job] <= machine.clock[NOW]:
            ran_in = given.logged_partition[job]
            put_in_place(given, state, machine, job, partition if ran_in == UNKNOWN else ran_in)
    drop_dead(state, machine)
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        if given.told_eligible[job] < state.eligible[job]:  # noqa: PLR1730 (it may be NaN: it is not told)
            state.eligible[job] = given.told_eligible[job]
    take_told_priorities(given, state, machine)
    calculate(given, state, machine)


@kernel(allocates=False)
def put_in_place(given: Given, state: Dynamic, machine: Machine, job: int, partition: int) -> None:
    """Let a job run on its nodes, since it started; for the event loop it starts now."""
    begin, behind = given.logged_first[job], given.logged_first[job + 1]
    for i in range(begin, behind):
        state.chosen[i - begin], state.got[i - begin] = given.logged_node[i], given.logged_cores[i]
    write_down(given, state, job, behind - begin, state.now)
    hold(given, state, machine, job, partition, LOGGED, np.floor(given.logged_start[job]))
    start_for_good(given, state, machine, job)


@kernel(allocates=False)
def take_told_priorities(given: Given, state: Dynamic, machine: Machine) -> None:
    """Let each waiting job have the told priority, by the partition whose own is nearest; others as those like them.

    A job of which none is told, such as one that is only asked about, differs from the rules as the jobs of its
    association do in the mean. ``state.ran_priority`` has the differences until jobs start.
    """
    now = np.floor(machine.clock[NOW])
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        told = given.told_priority[job]
        if not told > 0.0 or state.entry_partition[place] != given.partition[given.first_partition[job]]:
            continue
        least = np.inf
        for at in range(given.first_partition[job], given.first_partition[job + 1]):
            more = told - priority_of(given, state, job, given.partition[at], now, False)
            if abs(more) < abs(least):
                least = more
        state.ran_priority[job] = least
    for place in range(state.counts[ENTRIES]):
        job = state.entry_job[place]
        if (
            given.told_priority[job] > 0.0
            or state.entry_partition[place] != given.partition[given.first_partition[job]]
        ):
            continue
        total, many = 0.0, 0
        for other in range(len(given.told_priority)):
            is_like = given.association[other] == given.association[job] and state.is_on[other] == 0
            if is_like and given.told_priority[other] > 0.0 and state.eligible[other] <= now:
                total += state.ran_priority[other]
                many += 1
        state.ran_priority[job] = np.floor(total / many) if many > 0 else 0.0
    for job in range(len(given.told_priority)):
        if state.is_on[job] == 0:
            given.nice[job] -= state.ran_priority[job]
            state.ran_priority[job] = 0.0

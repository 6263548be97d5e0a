# SPDX-License-Identifier: BSD-3-Clause
"""A start that is only tried, where a real run is followed: it is noted, and the job has what the log says it had."""

from __future__ import annotations

from swftools.kernel import kernel
from swftools.simulator.machine.state import NOW, Machine
from swftools.simulator.slurm.choosing import choose_nodes, place_tasks
from swftools.simulator.slurm.holding import write_down
from swftools.simulator.slurm.node_sets import put_node
from swftools.simulator.slurm.state import ORDER, TRIALS, WORDS, Dynamic, Given

ON_ITS_NODES = 2
"""What a trial is worth that has a job on the nodes of the log; 1 if only the scheduler is that of the log."""

NO_ORDER = -1
"""A trial behind the first starts of an instant, which does not count for what is sure."""


@kernel(allocates=False)
def try_start(given: Given, state: Dynamic, machine: Machine, job: int, partition: int, by: int) -> None:
    """Note that a job would start on what is written down for it, and give it its real nodes if it does start now.

    So the trials behind it in the same pass begin in a state that was there. It is noted how it would start at last: as
    the log has it, if any trial of the instant has it so, the first of such.
    """
    now, order = machine.clock[NOW], state.counts[ORDER]
    state.trial[state.counts[TRIALS]] = job
    state.counts[TRIALS] += 1
    if order != NO_ORDER:  # it is sure where it is so in each order of the instant's events
        if state.might_time[job] != now:
            state.might_time[job], state.might_orders[job] = now, 0
        if state.might_orders[job] == order:
            state.might_orders[job] = order + 1
    likeness = ON_ITS_NODES * int(is_as_logged(given, state, job)) + int(by == given.logged_by[job])
    if state.would_last[job] != now or likeness > state.would_like[job]:
        state.would_last[job], state.would_like[job] = now, likeness
        state.would_by[job], state.would_in[job] = by, partition
        state.would_count[job], first = state.held_count[job], given.first_held[job]
        for j in range(first, first + state.held_count[job]):
            state.would_node[j], state.would_cores[j] = state.held_node[j], state.held_cores[j]
    if given.logged_start[job] <= now and likeness < ON_ITS_NODES:
        put_as_logged(given, state, job, partition)


@kernel(allocates=False)
def is_as_logged(given: Given, state: Dynamic, job: int) -> bool:
    """Whether a job holds the nodes that the log says."""
    first, begin, behind = given.first_held[job], given.logged_first[job], given.logged_first[job + 1]
    if state.held_count[job] != behind - begin:
        return False
    for i in range(first, first + state.held_count[job]):
        is_there = False
        for j in range(begin, behind):
            is_there |= given.logged_node[j] == state.held_node[i]
        if not is_there:
            return False
    return True


@kernel(allocates=False)
def put_as_logged(given: Given, state: Dynamic, job: int, partition: int) -> bool:
    """Write down for a job the nodes on which the log says that it ran; return whether the rule could place it there.

    Where the log does not say how many CPUs it had of each they are as the rule places its tasks on these nodes alone,
    if it can; else what is free of one after the other.
    """
    begin = given.logged_first[job]
    many = given.logged_first[job + 1] - begin
    is_told = many > 0 and given.logged_cores[begin] > 0
    fits = is_told or place_on_logged(given, state, job, partition, many)
    if is_told or not fits:
        rest = given.cpus[job]
        for i in range(many):
            node = given.logged_node[begin + i]
            state.chosen[i], state.got[i] = node, given.logged_cores[begin + i]
            if not is_told:
                nodes_left = many - i - 1
                state.got[i] = max(min(state.now.cores[node], rest - nodes_left), 1)
                if nodes_left == 0:
                    state.got[i] = max(rest, 1)
                rest -= state.got[i]
    write_down(given, state, job, many, state.now)
    return fits


@kernel(allocates=False)
def place_on_logged(given: Given, state: Dynamic, job: int, partition: int, many: int) -> bool:
    """Let the rule place the tasks of a job on its nodes; return whether it can on all of them."""
    begin, wanted = given.logged_first[job], given.wanted[job]
    for word in range(state.counts[WORDS]):
        state.available[word] = 0
    for i in range(begin, begin + many):
        put_node(state.available, 0, given.logged_node[i])
    found = choose_nodes(given, state, job, partition, state.available, state.now)
    if found != many:  # as if it wanted just as many
        given.wanted[job] = many
        found = choose_nodes(given, state, job, partition, state.available, state.now)
        given.wanted[job] = wanted
    if found != many:
        return False
    place_tasks(given, state, job, partition, many)
    return True

# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes a job would get, and how many CPUs of each, as ``select/cons_tres`` with cores and memory chooses them.

Without a topology runs of consecutive nodes are looked at: of the lightest the one with the fewest usable CPUs that
suffices, else the largest, and so on for the rest; in it a job that fits on one node gets the one with the fewest CPUs
that suffice. With a topology leaves of the tree are chosen by how many nodes they have (``leaves``). Each node gives
what it has free, as far as it is needed; then tasks are placed: one on each node, and one more on each, round after
round.
"""

from __future__ import annotations

from swftools.kernel import IntArray, kernel
from swftools.simulator.slurm.leaves import choose_in_leaves
from swftools.simulator.slurm.lightness import asks_gpus, note_light
from swftools.simulator.slurm.state import (
    BEHIND_NODES,
    FIRST_NODE,
    HAS_TOPOLOGY,
    LEFT_OUT,
    NO_BEST_FIT,
    PACKS_SERIAL,
    USABLE_CORES,
    USABLE_NODES,
    Amounts,
    Dynamic,
    Given,
)
from swftools.simulator.slurm.taking import gpus_asked, key_of, most_nodes, share_of
from swftools.simulator.slurm.usable import is_alone, look_at_nodes, tasks_on_each, wanted_of


@kernel(allocates=False)
def choose_nodes(given: Given, state: Dynamic, job: int, partition: int, allowed: IntArray, amounts: Amounts) -> int:
    """Choose nodes of a set for a job; return how many, 0 if they do not suffice.

    They are then in ``state.chosen``, with the CPUs that each may give in ``state.most``.
    """
    look_at_nodes(state, wanted_of(given, job, partition), allowed, amounts)
    if asks_gpus(given, job):
        note_light(given, state, job, partition, allowed, amounts)
    return choose_of_usable(given, state, job, partition, amounts)


@kernel(allocates=False)
def choose_of_usable(given: Given, state: Dynamic, job: int, partition: int, amounts: Amounts) -> int:
    """Choose nodes among those that were looked at.

    Nodes of the lowest weight come first, then those of the next beside them; where they do not suffice, nodes with few
    CPUs are left out, more and more of them.
    """
    alone, highest = is_alone(given, job, partition), 0
    if not are_many(given, state, job):
        return 0
    first, behind = state.counts[FIRST_NODE], state.counts[BEHIND_NODES]
    free_cores, usable, weights = state.free_cores, state.usable, given.weight
    for node in range(first, behind):
        if free_cores[node] > 0:
            highest = max(highest, weights[node])
    for weight in range(highest + 1):
        largest, nodes, cores = 0, 0, 0
        for node in range(first, behind):
            free = free_cores[node] if weights[node] <= weight else 0
            usable[node] = free
            largest = max(largest, free)
            nodes += free > 0
            cores += free
        for few in range(largest):
            if few > 0:
                is_less = False
                for node in range(first, behind):
                    if usable[node] == few:
                        usable[node] = 0
                        nodes -= 1
                        cores -= few
                        is_less = True
                if not is_less:
                    continue
            if nodes < given.min_nodes[job] or cores < least_cores(given, job):
                break
            count = choose_among(given, state, job, alone, amounts)
            if count > 0:
                return count
    return 0


@kernel(allocates=False)
def are_many(given: Given, state: Dynamic, job: int) -> bool:
    """Whether the nodes that were looked at are as many as a job needs, and have as many CPUs; more may be missing."""
    return state.counts[USABLE_NODES] >= given.min_nodes[job] and state.counts[USABLE_CORES] >= least_cores(given, job)


@kernel(allocates=False)
def least_cores(given: Given, job: int) -> int:
    """Return how many usable CPUs a job needs at least: with tasks for each node those of its nodes suffice."""
    return given.cpus_per_task[job] if tasks_on_each(given, job) > 0 else given.cpus[job]


@kernel(allocates=False)
def choose_among(given: Given, state: Dynamic, job: int, alone: bool, amounts: Amounts) -> int:
    """Choose among nodes that are usable, whose weights count as one."""
    is_serial = given.cpus[job] == 1 and given.wanted[job] == 1 and gpus_asked(given, job) == 0
    if is_serial and given.number[PACKS_SERIAL] > 0.0:
        return choose_last(given, state)
    if given.number[HAS_TOPOLOGY] == 0.0:
        return choose_in_runs(given, state, job, alone, amounts)
    return choose_in_leaves(given, state, job, alone, amounts)


@kernel(allocates=False)
def choose_last(given: Given, state: Dynamic) -> int:
    """Choose the last usable node of the lowest key, wherever it is, as ``pack_serial_at_end`` has it for one CPU."""
    last = -1
    for node in range(state.counts[FIRST_NODE], state.counts[BEHIND_NODES]):
        if state.usable[node] > 0 and (last < 0 or key_of(given, state, node) <= key_of(given, state, last)):
            last = node
    if last < 0:
        return 0
    state.chosen[0], state.most[last] = last, state.usable[last]
    return 1


@kernel(allocates=False)
def best_node(given: Given, state: Dynamic, first: int, behind: int, cores: int, gpus: int, amounts: Amounts) -> int:
    """Return the node of a range with the fewest usable CPUs that suffice, and enough GPUs; -1 if there is none."""
    best = -1
    for node in range(first, behind):
        usable = state.usable[node]
        if usable == 0 or usable < cores or amounts.gpus[node] < gpus or (best >= 0 and usable >= state.usable[best]):
            continue
        best = node
        if int(given.number[LEFT_OUT]) == NO_BEST_FIT:
            break
    return best


@kernel(allocates=False)
def find_runs(given: Given, state: Dynamic, amounts: Amounts) -> int:
    """Write down the runs of consecutive usable nodes of one key; return how many there are."""
    runs, node, many = 0, state.counts[FIRST_NODE], state.counts[BEHIND_NODES]
    while node < many:
        if state.usable[node] == 0:
            node += 1
            continue
        first, cores, gpus, key = node, 0, 0, key_of(given, state, node)
        while node < many and state.usable[node] > 0 and key_of(given, state, node) == key:
            cores += state.usable[node]
            gpus += amounts.gpus[node]
            node += 1
        state.run_first[runs], state.run_behind[runs], state.run_key[runs] = first, node, key
        state.run_cores[runs], state.run_gpus[runs] = cores, gpus
        runs += 1
    return runs


@kernel(allocates=False)
def best_run(state: Dynamic, runs: int, rest: int, needed: int, gpus: int) -> int:
    """Return the run of the lowest key with the fewest CPUs that suffices, else the largest; -1 if none is left."""
    best, is_enough = -1, False
    for run in range(runs):
        cores = state.run_cores[run]
        if cores == 0 or (best >= 0 and state.run_key[run] > state.run_key[best]):
            continue
        nodes = state.run_behind[run] - state.run_first[run]
        suffices = cores >= rest and nodes >= needed and state.run_gpus[run] >= gpus
        is_better = best < 0 or state.run_key[run] < state.run_key[best]
        if not is_better:
            if suffices and is_enough:
                is_better = cores < state.run_cores[best]
            elif suffices or is_enough:
                is_better = suffices
            else:
                is_better = cores > state.run_cores[best]
        if is_better:
            best, is_enough = run, suffices
    return best


@kernel(allocates=False)
def choose_in_runs(given: Given, state: Dynamic, job: int, alone: bool, amounts: Amounts) -> int:
    """Choose nodes of runs of consecutive nodes."""
    runs, most = find_runs(given, state, amounts), most_nodes(given, job)
    rest, missing, gpus, count = given.cpus[job], given.wanted[job], gpus_asked(given, job), 0
    while (rest > 0 or missing > 0 or gpus > 0) and count < most:
        best = best_run(state, runs, rest, missing + given.min_nodes[job] - given.wanted[job], gpus)
        if best < 0:
            break
        state.run_cores[best] = 0
        first, behind = state.run_first[best], state.run_behind[best]
        if missing <= 1:
            single = best_node(given, state, first, behind, rest, gpus, amounts)
            if single >= 0:
                first, behind = single, single + 1
        for node in range(first, behind):
            if not ((rest > 0 or missing > 0 or gpus > 0) and count < most):
                break
            if count + 1 == given.max_nodes[job] and state.usable[node] < rest:
                continue  # the last one must have all that lacks
            share = share_of(given, state, job, alone, node, rest, count)
            state.chosen[count], state.most[node] = node, share
            count += 1
            rest -= share
            missing -= 1
            gpus -= amounts.gpus[node]
    return count if rest <= 0 and gpus <= 0 and count >= given.min_nodes[job] else 0


@kernel(allocates=False)
def place_tasks(given: Given, state: Dynamic, job: int, partition: int, count: int) -> None:
    """Place the tasks of a job on the chosen nodes: ``state.got`` then has the CPUs of each, in order of nodes."""
    for i in range(1, count):
        node, j = state.chosen[i], i
        while j > 0 and state.chosen[j - 1] > node:
            state.chosen[j] = state.chosen[j - 1]
            j -= 1
        state.chosen[j] = node
    per_task, each, left = given.cpus_per_task[job], tasks_on_each(given, job), given.cpus[job]
    if is_alone(given, job, partition):
        for i in range(count):
            state.got[i] = given.cores[state.chosen[i]]
        return
    if each > 0:
        for i in range(count):
            state.got[i] = each * per_task
        return
    for i in range(count):
        state.got[i] = per_task
        left -= per_task
    is_any = True
    while left > 0 and is_any:
        is_any = False
        for i in range(count):
            if left > 0 and state.got[i] + per_task <= state.most[state.chosen[i]]:
                state.got[i] += per_task
                left -= per_task
                is_any = True

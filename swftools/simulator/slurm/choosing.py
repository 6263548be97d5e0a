# SPDX-License-Identifier: BSD-3-Clause
"""Which nodes a job would get, and how many CPUs of each, as ``select/cons_tres`` with cores and memory chooses them.

A job that fits on one node gets the one with the fewest CPUs free that suffices. Else nodes are taken in their order,
from the leaf of the network with the fewest usable nodes where they suffice. Each node gives what it has free, as far
as it is needed; then tasks are placed: one on each node first, and one more on each, round after round.
"""

from __future__ import annotations

from swftools.kernel import IntArray, kernel
from swftools.simulator.slurm.state import (
    LEFT_OUT,
    NO_BEST_FIT,
    NO_EXCLUSIVE,
    NO_GPUS,
    NO_MEMORY,
    Amounts,
    Dynamic,
    Given,
    has_node,
)


@kernel(allocates=False)
def usable_cores(given: Given, job: int, node: int, amounts: Amounts) -> int:
    """Return how many CPUs of a node a job could have; 0 if it cannot run there."""
    out = int(given.number[LEFT_OUT])
    per_task = given.cpus_per_task[job]
    is_exclusive = given.is_exclusive[job] != 0 and out != NO_EXCLUSIVE
    cores = amounts.cores[node]
    if amounts.taken[node] != 0 or cores < per_task or (is_exclusive and amounts.jobs[node] != 0):
        return 0
    if out != NO_MEMORY:
        if given.memory_per_cpu[job] > 0:
            cores = min(cores, amounts.memory[node] // given.memory_per_cpu[job])
        if given.memory_per_node[job] > amounts.memory[node]:
            return 0
    if out != NO_GPUS:
        if given.gpus_per_node[job] > amounts.gpus[node]:
            return 0
        if given.gpus_in_all[job] > 0:
            least = given.gpus_in_all[job] if given.wanted[job] <= 1 else 1
            if amounts.gpus[node] < least:
                return 0
    cores -= cores % per_task
    if given.tasks_per_node[job] > 0:
        needed = given.tasks_per_node[job] * per_task
        if cores < needed:
            return 0
        if not is_exclusive:
            cores = needed
    if given.max_nodes[job] == 1 and cores < given.cpus[job]:
        return 0
    if given.min_nodes[job] == given.max_nodes[job] and given.min_nodes[job] * per_task == given.cpus[job]:
        return cores if is_exclusive else min(cores, per_task)
    return cores


@kernel(allocates=False)
def choose_nodes(given: Given, state: Dynamic, job: int, allowed: IntArray, amounts: Amounts) -> int:
    """Choose nodes of a set for a job; return how many, 0 if they do not suffice.

    They are then in ``state.chosen``, in the order in which they were taken, with the CPUs that each may give in
    ``state.most``.
    """
    highest = 0
    for node in range(len(given.cores)):
        highest = max(highest, given.weight[node])
    for weight in range(highest + 1):
        nodes, cores = 0, 0
        for node in range(len(given.cores)):
            usable = 0
            if given.weight[node] <= weight and has_node(allowed, 0, node):
                usable = usable_cores(given, job, node, amounts)
            state.usable[node] = usable
            nodes += usable > 0
            cores += usable
        if nodes < given.min_nodes[job] or cores < given.cpus[job]:
            continue
        count = choose_one(given, state, job)
        if count == 0:
            count = choose_several(given, state, job)
        if count > 0 and gpus_suffice(given, state, job, count, amounts):
            return count
    return 0


@kernel(allocates=False)
def choose_one(given: Given, state: Dynamic, job: int) -> int:
    """Choose the node with the fewest usable CPUs that suffices, for a job that need not have several."""
    if given.wanted[job] > 1:
        return 0
    best = -1
    for node in range(len(given.cores)):
        usable = state.usable[node]
        if usable >= given.cpus[job] and (best < 0 or usable < state.usable[best]):
            best = node
            if int(given.number[LEFT_OUT]) == NO_BEST_FIT:
                break
    if best < 0:
        return 0
    state.chosen[0] = best
    state.most[best] = state.usable[best] if given.is_exclusive[job] else given.cpus[job]
    return 1


@kernel(allocates=False)
def choose_several(given: Given, state: Dynamic, job: int) -> int:
    """Choose nodes of as few leaves of the network as possible."""
    switches = len(given.parent)
    for switch in range(switches):
        state.leaf_nodes[switch] = state.leaf_cores[switch] = 0
    for node in range(len(given.cores)):
        if state.usable[node] > 0:
            switch = given.leaf[node]
            while switch >= 0:
                state.leaf_nodes[switch] += 1
                state.leaf_cores[switch] += state.usable[node]
                switch = given.parent[switch]
    best = -1
    for switch in range(switches):  # leaves stand first, then switches of leaves, and so on
        if state.leaf_nodes[switch] < given.min_nodes[job] or state.leaf_cores[switch] < given.cpus[job]:
            continue
        if best >= 0 and height(given, switch) > height(given, best):
            break
        if best < 0 or (state.leaf_nodes[switch], state.leaf_cores[switch]) < (
            state.leaf_nodes[best],
            state.leaf_cores[best],
        ):
            best = switch
    if best < 0:
        return 0
    count, rest = 0, given.cpus[job]
    while True:
        leaf = -1  # of those below that are left, the one with most nodes
        for switch in range(switches):
            if is_leaf(given, switch) and state.leaf_nodes[switch] > 0 and is_below(given, switch, best):
                if leaf < 0 or state.leaf_nodes[switch] > state.leaf_nodes[leaf]:
                    leaf = switch
        if leaf < 0:
            break
        state.leaf_nodes[leaf] = 0
        for node in range(len(given.cores)):
            if given.leaf[node] != leaf or state.usable[node] == 0:
                continue
            if rest <= 0 and count >= given.wanted[job]:
                break
            if given.max_nodes[job] > 0 and count >= given.max_nodes[job]:
                break
            if count + 1 == given.max_nodes[job] and state.usable[node] < rest:
                continue  # the last one must have all that lacks
            most = state.usable[node]
            if not given.is_exclusive[job]:
                for_others = max(given.min_nodes[job] - count - 1, 0) * given.cpus_per_task[job]
                most = min(most, max(rest - for_others, given.cpus_per_task[job]))
            state.chosen[count], state.most[node] = node, most
            count += 1
            rest -= most
    return count if rest <= 0 and count >= given.min_nodes[job] else 0


@kernel(allocates=False)
def height(given: Given, switch: int) -> int:
    """Return how many switches stand above a switch, negative: the more, the lower it is."""
    found = 0
    while given.parent[switch] >= 0:
        switch = given.parent[switch]
        found -= 1
    return found


@kernel(allocates=False)
def is_leaf(given: Given, switch: int) -> bool:
    """Whether a switch is one of nodes: those stand before all others that have switches below."""
    for other in range(switch):
        if given.parent[other] == switch:
            return False
    return True


@kernel(allocates=False)
def is_below(given: Given, switch: int, other: int) -> bool:
    """Whether a switch is another one, or below it."""
    while switch >= 0:
        if switch == other:
            return True
        switch = given.parent[switch]
    return False


@kernel(allocates=False)
def gpus_suffice(given: Given, state: Dynamic, job: int, count: int, amounts: Amounts) -> bool:
    """Whether the chosen nodes have the GPUs that a job asks for in all."""
    if given.gpus_in_all[job] == 0 or int(given.number[LEFT_OUT]) == NO_GPUS:
        return True
    found = 0
    for i in range(count):
        found += amounts.gpus[state.chosen[i]]
    return found >= given.gpus_in_all[job]


@kernel(allocates=False)
def place_tasks(given: Given, state: Dynamic, job: int, count: int, amounts: Amounts) -> None:
    """Place the tasks of a job on the chosen nodes: ``state.got`` then has the CPUs of each, in order of nodes."""
    for i in range(1, count):  # in order of nodes
        node, j = state.chosen[i], i
        while j > 0 and state.chosen[j - 1] > node:
            state.chosen[j] = state.chosen[j - 1]
            j -= 1
        state.chosen[j] = node
    per_task, left = given.cpus_per_task[job], given.cpus[job]
    if given.is_exclusive[job]:
        for i in range(count):
            state.got[i] = given.cores[state.chosen[i]]
        return
    if given.tasks_per_node[job] > 0:
        left = max(left, given.tasks_per_node[job] * per_task * count)
    for i in range(count):
        state.got[i] = min(per_task, amounts.cores[state.chosen[i]])
        left -= per_task
    is_any = True
    while left > 0 and is_any:
        is_any = False
        for i in range(count):
            if left > 0 and state.got[i] + per_task <= state.most[state.chosen[i]]:
                state.got[i] += per_task
                left -= per_task
                is_any = True

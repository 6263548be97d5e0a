# SPDX-License-Identifier: BSD-3-Clause
"""Nodes below the leaves of a tree of switches, as ``topology/tree`` has them chosen.

Nodes of the lowest weight are taken, and of heavier ones as many weights as it needs; then all of the lighter nodes are
taken first, and others of their leaves. Then comes leaf after leaf, chosen by how many nodes it has: in their order
each is held against the best so far, and where both have too few nodes the switches above them are.
"""

from __future__ import annotations

from swftools.kernel import IntArray, kernel
from swftools.simulator.slurm.state import BEHIND_NODES, FIRST_NODE, Amounts, Dynamic, Given
from swftools.simulator.slurm.taking import gpus_asked, key_of, most_nodes, share_of

LIGHTEST = -(1 << 60)
"""Below all keys of nodes."""

ELSEWHERE = -1
"""In place of a distance: the switch is not below the one below which all nodes are."""

ANY_LEAF = -1


@kernel(allocates=False)
def choose_in_leaves(given: Given, state: Dynamic, job: int, alone: bool, amounts: Amounts) -> int:
    """Choose nodes below leaves of the network; return how many, 0 if they do not suffice."""
    rest, missing, gpus = given.cpus[job], given.wanted[job], gpus_asked(given, job)
    needed, many = missing + given.min_nodes[job] - given.wanted[job], len(given.parent)
    count_nodes_below(given, state, -LIGHTEST)
    top = find_top(given, state, needed)
    if top < 0:
        return 0
    for switch in range(many):
        state.leaf_way[switch] = 0 if is_above(given, top, switch) else ELSEWHERE
    lighter, heaviest = find_weights(given, state, needed, rest, gpus, amounts)
    if heaviest == LIGHTEST:
        return 0
    count_nodes_below(given, state, heaviest)
    count = 0
    if lighter > LIGHTEST:
        left = rest, missing, gpus
        count, left = take_below(given, state, job, alone, amounts, ANY_LEAF, LIGHTEST, lighter, count, left)
        mark_required(given, state, lighter)
        for switch in range(many):
            if state.leaf_taken[switch] != 0:
                add_ways(given, state, switch)
                if given.height[switch] == 0:
                    count, left = take_below(given, state, job, alone, amounts, switch, lighter, heaviest, count, left)
                    state.leaf_nodes[switch] = 0
        rest, missing, gpus = left
    most = most_nodes(given, job)
    while (rest > 0 or missing > 0 or gpus > 0) and count < most:
        leaf = best_leaf(given, state, missing)
        if leaf < 0:
            break
        add_ways(given, state, leaf)
        left = rest, missing, gpus
        count, left = take_below(given, state, job, alone, amounts, leaf, lighter, heaviest, count, left)
        rest, missing, gpus = left
        state.leaf_nodes[leaf] = 0
    return count if rest <= 0 and gpus <= 0 and count >= given.min_nodes[job] else 0


@kernel(allocates=False)
def take_below(  # noqa: PLR0913, PLR0917 (what is chosen so far is no state of its own)
    given: Given,
    state: Dynamic,
    job: int,
    alone: bool,
    amounts: Amounts,
    leaf: int,
    lighter: int,
    heaviest: int,
    count: int,
    left: tuple[int, int, int],
) -> tuple[int, tuple[int, int, int]]:
    """Take nodes of a leaf, or of any, that are heavier than some and no heavier than others, until nothing lacks.

    ``left`` are CPUs, nodes and GPUs that lack; returns how many nodes are chosen then, and what still lacks.
    """
    rest, missing, gpus = left
    most = most_nodes(given, job)
    for node in range(state.counts[FIRST_NODE], state.counts[BEHIND_NODES]):
        if not ((rest > 0 or missing > 0 or gpus > 0) and count < most):
            break
        if not counts_here(given, state, node) or (leaf != ANY_LEAF and given.leaf[node] != leaf):
            continue
        if not lighter < key_of(given, state, node) <= heaviest:
            continue
        share = share_of(given, state, job, alone, node, rest, count)
        state.chosen[count], state.most[node] = node, share
        count += 1
        rest -= share
        missing -= 1
        gpus -= amounts.gpus[node]
    return count, (rest, missing, gpus)


@kernel(allocates=False)
def counts_here(given: Given, state: Dynamic, node: int) -> bool:
    """Whether a node is usable, and below the switch below which all nodes are."""
    return state.usable[node] > 0 and given.leaf[node] >= 0 and state.leaf_way[given.leaf[node]] != ELSEWHERE


@kernel(allocates=False)
def is_above(given: Given, switch: int, other: int) -> bool:
    """Whether a switch is another one, or above it."""
    while other >= 0 and other != switch:
        other = given.parent[other]
    return other >= 0


@kernel(allocates=False)
def count_nodes_below(given: Given, state: Dynamic, heaviest: int) -> None:
    """Count the usable nodes below each switch that are not heavier than so."""
    for switch in range(len(given.parent)):
        state.leaf_nodes[switch] = 0
    for node in range(state.counts[FIRST_NODE], state.counts[BEHIND_NODES]):
        if state.usable[node] > 0 and key_of(given, state, node) <= heaviest:
            switch = given.leaf[node]
            while switch >= 0:
                state.leaf_nodes[switch] += 1
                switch = given.parent[switch]


@kernel(allocates=False)
def find_top(given: Given, state: Dynamic, needed: int) -> int:
    """Return the highest switch with enough nodes; of several trees that of the lightest node, the last; or -1."""
    top, lightest = -1, 0
    for switch in range(len(given.parent)):
        if given.parent[switch] >= 0 or state.leaf_nodes[switch] < max(needed, 1):
            continue
        key = -LIGHTEST
        for node in range(state.counts[FIRST_NODE], state.counts[BEHIND_NODES]):
            if state.usable[node] > 0 and given.leaf[node] >= 0 and is_above(given, switch, given.leaf[node]):
                key = min(key, key_of(given, state, node))
        if top < 0 or (given.height[switch] >= given.height[top] and key <= lightest):
            top, lightest = switch, key
    return top


@kernel(allocates=False)
def find_weights(given: Given, state: Dynamic, needed: int, rest: int, gpus: int, amounts: Amounts) -> tuple[int, int]:
    """Return the keys of the heaviest nodes that are all needed, and of the heaviest of which some are.

    They are ``LIGHTEST`` where none are needed but those of one weight; and both, where all do not suffice.
    """
    lighter = heaviest = LIGHTEST
    nodes = cores = free = 0
    while nodes < max(needed, 1) or cores < rest or free < gpus:
        lighter = heaviest if nodes > 0 else LIGHTEST
        key = -LIGHTEST
        for node in range(state.counts[FIRST_NODE], state.counts[BEHIND_NODES]):
            if counts_here(given, state, node) and key_of(given, state, node) > heaviest:
                key = min(key, key_of(given, state, node))
        if key == -LIGHTEST:
            return LIGHTEST, LIGHTEST
        heaviest = key
        for node in range(state.counts[FIRST_NODE], state.counts[BEHIND_NODES]):
            if counts_here(given, state, node) and key_of(given, state, node) == heaviest:
                nodes += 1
                cores += state.usable[node]
                free += amounts.gpus[node]
    return lighter, heaviest


@kernel(allocates=False)
def mark_required(given: Given, state: Dynamic, lighter: int) -> None:
    """Mark the switches, up to the top, above nodes that are not heavier than so: all of these nodes are taken."""
    for switch in range(len(given.parent)):
        state.leaf_taken[switch] = 0
    for node in range(state.counts[FIRST_NODE], state.counts[BEHIND_NODES]):
        if counts_here(given, state, node) and key_of(given, state, node) <= lighter:
            switch = given.leaf[node]
            while switch >= 0:
                state.leaf_taken[switch] = 1
                switch = given.parent[switch]


@kernel(allocates=False)
def add_ways(given: Given, state: Dynamic, taken: int) -> None:
    """Let each switch be farther away by the way to one of which nodes are taken."""
    for switch in range(len(given.parent)):
        if state.leaf_way[switch] != ELSEWHERE:
            state.leaf_way[switch] += way_between(given.parent, taken, switch)


@kernel(allocates=False)
def way_between(parent: IntArray, one: int, other: int) -> int:
    """Return how many steps of the tree are between two switches of it."""
    up, switch = 0, one
    while True:
        down, below = 0, other
        while below >= 0 and below != switch:
            below = parent[below]
            down += 1
        if below == switch:
            return up + down
        switch = parent[switch]
        up += 1


@kernel(allocates=False)
def best_leaf(given: Given, state: Dynamic, missing: int) -> int:
    """Return the leaf whose nodes are taken next; -1 if none is left."""
    best = -1
    for leaf in range(len(given.parent)):
        if given.height[leaf] > 0 or state.leaf_nodes[leaf] == 0 or state.leaf_way[leaf] == ELSEWHERE:
            continue
        if best < 0:
            best = leaf
            continue
        fit, nearer = compare(given, state, leaf, best, missing), state.leaf_way[leaf] - state.leaf_way[best]
        if (nearer < 0 and fit >= 0) or (nearer == 0 and fit > 0):
            best = leaf
    return best


@kernel(allocates=False)
def compare(given: Given, state: Dynamic, one: int, other: int, missing: int) -> int:
    """Return 1 if a leaf fits better than another one, -1 if it fits worse, 0 if there is no difference.

    The one with fewer nodes, if both have enough; the one that has; where neither has, what the switches above them
    say, or the one with more.
    """
    nodes, parent = state.leaf_nodes, given.parent
    while True:
        fits, other_fits = nodes[one] >= missing, nodes[other] >= missing
        if fits != other_fits:
            return 1 if fits else -1
        if fits:
            if nodes[one] != nodes[other]:
                return 1 if nodes[one] < nodes[other] else -1
            break
        above, other_above = parent[one], parent[other]
        above = one if above < 0 else above
        other_above = other if other_above < 0 else other_above
        if above == other_above or (above == one and other_above == other):
            break
        one, other = above, other_above
    if nodes[one] != nodes[other]:
        return 1 if nodes[one] > nodes[other] else -1
    return int(given.height[one] < given.height[other]) - int(given.height[one] > given.height[other])

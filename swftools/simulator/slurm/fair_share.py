# SPDX-License-Identifier: BSD-3-Clause
"""Usage that decays, and the fair-share factors that follow from it: Fair Tree, and the classic formula.

References
----------
Slurm's documentation, "Fair Tree Fairshare Algorithm" (Cox and Morrison 2014) and "Multifactor Priority Plugin".
"""

from __future__ import annotations

import numpy as np

from swftools.kernel import kernel
from swftools.simulator.slurm.holding import add_up
from swftools.simulator.slurm.state import (
    BILLING,
    DAMPING,
    DECAY,
    IS_FAIR_TREE,
    LAST_CALC,
    RUNNERS,
    UNKNOWN,
    Dynamic,
    Given,
)


@kernel(allocates=False)
def use(given: Given, state: Dynamic, job: int, seconds: float) -> None:
    """Add what a running job uses in some seconds to its association, those above it, and its QOS."""
    partition = state.ran_in[job]
    add_up(given, state, job, partition)
    used = seconds * state.resources[BILLING]
    qos = given.qos[job]
    if qos != UNKNOWN:
        used *= given.usage_factor[qos]
        state.qos_usage[qos] += used
    holder = given.association[job]
    while holder != UNKNOWN:
        state.usage[holder] += used
        holder = given.above[holder]


@kernel(allocates=False)
def use_up(given: Given, state: Dynamic, now: float) -> None:
    """Let usage decay since the last period, and add what running jobs used in it."""
    since = state.clock[LAST_CALC]
    seconds = now - since
    decayed = given.number[DECAY] ** seconds if seconds > 0.0 else 1.0
    for holder in range(len(state.usage)):
        state.usage[holder] *= decayed
    for qos in range(len(state.qos_usage)):
        state.qos_usage[qos] *= decayed
    for i in range(state.counts[RUNNERS]):
        job = state.runner[i]
        use(given, state, job, decayed * (now - max(state.started[job], since)))
    state.clock[LAST_CALC] = now


@kernel(allocates=False)
def find_fair_shares(given: Given, state: Dynamic) -> None:
    """Write the fair-share factor of each association."""
    if len(given.above) == 0:
        return
    if given.number[IS_FAIR_TREE] > 0.0:
        climb_fair_tree(given, state)
    else:
        find_classic(given, state)


@kernel(allocates=False)
def find_classic(given: Given, state: Dynamic) -> None:
    """Write 2 ** -(usage / share / damping), with usage that children have from above by their share."""
    total = state.usage[0]
    for holder in range(len(given.above)):
        above = given.above[holder]
        if above == UNKNOWN:
            state.fair_share[holder], state.level[holder] = 1.0, 1.0
            state.effective[holder] = 1.0
            continue
        used = state.usage[holder] / total if total > 0.0 else 0.0
        share = share_among(given, holder)
        state.level[holder] = state.level[above] * share
        if given.above[above] == UNKNOWN:
            state.effective[holder] = used
        else:
            state.effective[holder] = used + (state.effective[above] - used) * share
        norm = state.level[holder]
        state.fair_share[holder] = (
            0.0 if norm <= 0.0 else 2.0 ** -(state.effective[holder] / norm / given.number[DAMPING])
        )


@kernel(allocates=False)
def share_among(given: Given, holder: int) -> float:
    """Return the share of an association among its siblings."""
    above, total = given.above[holder], 0.0
    for i in range(given.first_child[above], given.first_child[above + 1]):
        total += given.shares[given.child[i]]
    return given.shares[holder] / total if total > 0.0 else 0.0


@kernel(allocates=False)
def find_levels(given: Given, state: Dynamic) -> None:
    """Write the level value of each association: its share over its usage, each among its siblings."""
    for holder in range(len(given.above)):
        above = given.above[holder]
        if above == UNKNOWN:
            state.level[holder] = 1.0
            continue
        used, total = state.usage[holder], 0.0
        for i in range(given.first_child[above], given.first_child[above + 1]):
            total += state.usage[given.child[i]]
        share = share_among(given, holder)
        if share == 0.0:
            state.level[holder] = 0.0
        elif used == 0.0 or total == 0.0:
            state.level[holder] = np.inf
        else:
            state.level[holder] = share / (used / total)


@kernel(allocates=False)
def climb_fair_tree(given: Given, state: Dynamic) -> None:
    """Write ranks of users over their number: siblings by falling level value, accounts expanded where they stand.

    ``stack`` has what comes next, in groups of so many members, the number behind them: a user; accounts of equal value
    among siblings, which are expanded as one; and, without members, the end of a list of siblings.
    """
    users = 0
    for holder in range(len(given.above)):
        users += given.is_user[holder]
    if users == 0:
        return
    find_levels(given, state)
    stack, siblings = state.stack, state.siblings
    stack[0], stack[1], top = 0, 1, 2
    left, rank, last = users, users, -1.0
    while top > 0:
        members = stack[top - 1]
        top -= 1 + members
        if members == 0:
            last = -1.0  # who comes next is of another list, and ties with nobody before
            continue
        if given.is_user[stack[top]] != 0:
            user = stack[top]
            if state.level[user] != last:
                rank = left
            state.fair_share[user], last = rank / users, state.level[user]
            left -= 1
            continue
        many = 0
        for member in range(top, top + members):
            account = stack[member]
            for i in range(given.first_child[account], given.first_child[account + 1]):
                siblings[many] = given.child[i]
                many += 1
        for i in range(1, many):  # by falling value, users before accounts
            child, j = siblings[i], i
            while j > 0 and goes_first(given, state, child, siblings[j - 1]):
                siblings[j] = siblings[j - 1]
                j -= 1
            siblings[j] = child
        stack[top] = 0
        top += 1
        behind = many
        while behind > 0:  # the last ones go onto the stack first
            first = behind - 1
            if given.is_user[siblings[first]] == 0:
                while first > 0 and are_alike(given, state, siblings[first - 1], siblings[behind - 1]):
                    first -= 1
            for i in range(first, behind):
                stack[top] = siblings[i]
                top += 1
            stack[top] = behind - first
            top += 1
            behind = first
        last = -1.0


@kernel(allocates=False)
def are_alike(given: Given, state: Dynamic, one: int, other: int) -> bool:
    """Whether two siblings are accounts of equal value."""
    return given.is_user[one] == 0 and given.is_user[other] == 0 and state.level[one] == state.level[other]


@kernel(allocates=False)
def goes_first(given: Given, state: Dynamic, one: int, other: int) -> bool:
    """Whether an association stands before a sibling."""
    if state.level[one] != state.level[other]:
        return state.level[one] > state.level[other]
    return given.is_user[one] > given.is_user[other]

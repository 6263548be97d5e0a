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
from swftools.simulator.slurm.limits import qos_at
from swftools.simulator.slurm.state import (
    BILLING,
    DAMPING,
    DECAY,
    ENTRIES,
    IS_FAIR_TREE,
    IS_MULTIFACTOR,
    LAST_CALC,
    PENDING,
    RESOURCES,
    RUNNERS,
    UNKNOWN,
    Dynamic,
    Given,
)

STALE = -1.0
"""In place of the fair share of a user that nobody has needed since the last period, by the classic formula."""

NO_LEVEL = 4294967294.0
"""The level value of an account without shares of its own, whose children share with its siblings."""


@kernel(allocates=False)
def use(given: Given, state: Dynamic, job: int, seconds: float) -> None:
    """Add what a running job used in some seconds to its holders: associations above it, and QOS."""
    partition, qos = state.ran_in[job], given.qos[job]
    add_up(given, state, job, partition)
    seconds *= given.number[DECAY] ** seconds
    factor = given.usage_factor[qos] if qos != UNKNOWN else 1.0
    holder = given.association[job]
    while holder != UNKNOWN:
        add_used(state, holder, seconds, factor)
        holder = given.above[holder]
    for turn in range(2):
        other = qos_at(given, job, partition, turn)
        if other != UNKNOWN:
            add_used(state, len(given.above) + other, seconds, factor)


@kernel(allocates=False)
def add_used(state: Dynamic, holder: int, seconds: float, factor: float) -> None:
    """Add what ``state.resources`` has, over some seconds, to what a holder has used."""
    for resource in range(RESOURCES):
        state.used[holder * RESOURCES + resource] += seconds * state.resources[resource] * factor


@kernel(allocates=False)
def use_up(given: Given, state: Dynamic, now: float) -> None:
    """Let usage decay since the last period, and add what running jobs used in it."""
    since = state.clock[LAST_CALC]
    left = given.number[DECAY] ** (now - since)
    for place in range(len(state.used)):
        state.used[place] *= left
    is_classic = given.number[IS_FAIR_TREE] == 0.0
    users, known = list_users_that_wait(given, state) if is_classic else 0, 0
    for i in range(state.counts[RUNNERS]):
        job = state.by_number[i]
        while known < users and state.siblings[state.stack[known]] < given.first_life[job]:
            find_user(given, state, state.stack[known])
            known += 1
        use(given, state, job, now - max(state.started[job], since))
    state.clock[LAST_CALC] = now


@kernel(allocates=False)
def list_users_that_wait(given: Given, state: Dynamic) -> int:
    """List the associations of jobs that wait or will, by the numbers of their first ones; return how many there are.

    Slurm goes through all jobs by number: for one that runs it adds what it used, and one that waits gets its priority.
    So a user's usage is known when his first job that waits comes, with what was added before. ``state.stack`` has
    them, ``state.siblings`` the number of the first job of each.
    """
    first, many = state.siblings, 0
    for holder in range(len(given.above)):
        first[holder] = UNKNOWN
    for turn in range(2):
        for i in range(state.counts[ENTRIES] if turn == 0 else state.counts[PENDING]):
            job = state.entry_job[i] if turn == 0 else state.pending[i]
            holder = given.association[job]
            if holder == UNKNOWN or state.is_on[job] != 0 or state.has_left[job] != 0 or not np.isnan(state.gone[job]):
                continue
            if first[holder] == UNKNOWN:
                state.stack[many] = holder
                many += 1
            if first[holder] == UNKNOWN or given.first_life[job] < first[holder]:
                first[holder] = given.first_life[job]
    for i in range(1, many):
        holder, j = state.stack[i], i
        while j > 0 and first[state.stack[j - 1]] > first[holder]:
            state.stack[j] = state.stack[j - 1]
            j -= 1
        state.stack[j] = holder
    return many


@kernel(allocates=False)
def work_period(given: Given, state: Dynamic, now: float) -> None:
    """Count usage, and find fair shares: Fair Tree of the usage now, of accounts in the classic formula that before."""
    if given.number[IS_MULTIFACTOR] == 0.0:
        return
    if given.number[IS_FAIR_TREE] == 0.0:
        find_fair_shares(given, state)
    use_up(given, state, now)
    if given.number[IS_FAIR_TREE] > 0.0:
        find_fair_shares(given, state)


@kernel(allocates=False)
def find_fair_shares(given: Given, state: Dynamic) -> None:
    """Write the fair-share factor of each association."""
    if len(given.above) == 0:
        return
    if given.number[IS_FAIR_TREE] > 0.0:
        climb_fair_tree(given, state)
    else:
        find_accounts(given, state)


@kernel(allocates=False)
def billed(state: Dynamic, holder: int) -> float:
    """Return the usage of an association, in billing x s."""
    return state.used[holder * RESOURCES + BILLING]


@kernel(allocates=False)
def find_accounts(given: Given, state: Dynamic) -> None:
    """Write the effective usage of each account, for the classic formula; users are to be found anew when needed."""
    for holder in range(len(given.above)):
        if given.is_user[holder] != 0:
            state.fair_share[holder] = STALE
        elif given.above[holder] == UNKNOWN:
            state.level[holder] = 1.0
        else:
            state.level[holder] = effective(given, state, holder)


@kernel(allocates=False)
def effective(given: Given, state: Dynamic, holder: int) -> float:
    """Return the part of all usage that an association has, and has partly from the account above, by its share."""
    total, above = billed(state, 0), given.sharing[holder]
    used = billed(state, holder) / total if total > 0.0 else 0.0
    return used if above == 0 else used + (state.level[above] - used) * given.share[holder]


@kernel(allocates=False)
def find_user(given: Given, state: Dynamic, holder: int) -> None:
    """Write 2 ** -(usage / share / damping) of a user, if it is not known since the last period."""
    if state.fair_share[holder] != STALE:
        return
    counted, share, used = holder if given.has_shares[holder] != 0 else given.sharing[holder], 1.0, 1.0
    if counted > 0:
        share = given.normalized[counted]
        used = effective(given, state, holder) if counted == holder else state.level[counted]
    state.fair_share[holder] = 2.0 ** -(used / share / given.number[DAMPING]) if share > 0.0 else 0.0


@kernel(allocates=False)
def find_levels(given: Given, state: Dynamic) -> None:
    """Write the level value of each association: its share over its usage, each among those of its level."""
    for holder in range(len(given.above)):
        if given.above[holder] == UNKNOWN:
            state.level[holder] = 1.0
        elif given.has_shares[holder] == 0:
            state.level[holder] = np.inf if given.is_user[holder] != 0 else NO_LEVEL
        else:
            of_all = billed(state, given.sharing[holder])
            used = billed(state, holder) / of_all if of_all > 0.0 else 0.0
            if given.share[holder] == 0.0:
                state.level[holder] = 0.0
            else:
                state.level[holder] = given.share[holder] / used if used > 0.0 else np.inf


@kernel(allocates=False)
def climb_fair_tree(given: Given, state: Dynamic) -> None:
    """Write ranks of users over their number: siblings by falling level value, accounts expanded where they stand.

    ``stack`` has what comes next, in groups of members, whether the group ties with who comes before it, and how many
    members there are: a user, or accounts of equal value among siblings, which are expanded as one. Users that tie have
    one rank.
    """
    users = 0
    for holder in range(len(given.above)):
        users += given.is_user[holder]
    if users == 0:
        return
    find_levels(given, state)
    stack, siblings = state.stack, state.siblings
    stack[0], stack[1], stack[2], top = 0, 0, 1, 3
    left, rank = users, users
    while top > 0:
        members, ties = stack[top - 1], stack[top - 2]
        top -= 2 + members
        if given.is_user[stack[top]] != 0:
            if ties == 0:
                rank = left
            state.fair_share[stack[top]] = rank / users
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
        behind = many
        while behind > 0:  # the last ones go onto the stack first
            first = behind - 1
            if given.is_user[siblings[first]] == 0:
                while first > 0 and are_alike(given, state, siblings[first - 1], siblings[behind - 1]):
                    first -= 1
            for i in range(first, behind):
                stack[top] = siblings[i]
                top += 1
            equal = first > 0 and state.level[siblings[first - 1]] == state.level[siblings[first]]
            stack[top] = ties if first == 0 else equal
            stack[top + 1] = behind - first
            top += 2
            behind = first


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

# SPDX-License-Identifier: BSD-3-Clause
"""Running jobs that have to leave for others: who may be preempted, whom that would help, and what becomes of them."""

from __future__ import annotations

import numpy as np

from swftools.kernel import IntArray, kernel
from swftools.simulator.machine.state import KILL, NOW, Machine
from swftools.simulator.machine.verbs import hold, preempt
from swftools.simulator.slurm.asking import ask_main
from swftools.simulator.slurm.choosing import choose_nodes
from swftools.simulator.slurm.cleaning import note_cleaning
from swftools.simulator.slurm.fair_share import use
from swftools.simulator.slurm.holding import give_back
from swftools.simulator.slurm.limits import BEGIN_TIME
from swftools.simulator.slurm.node_sets import has_node
from swftools.simulator.slurm.preemptable import (
    BY_QOS,
    NOBODY_PREEMPTS,
    REQUEUE,
    SUSPEND,
    keep_past,
    may_preempt,
    mode_of,
)
from swftools.simulator.slurm.starting import let_go, set_reason
from swftools.simulator.slurm.state import (
    COMPLETING,
    FOLLOWS,
    LAST_CALC,
    LONG,
    PENDING,
    PREEMPTS_BY,
    REORDERS,
    REQUEUE_DELAY,
    RUNNERS,
    STANDING,
    STRICT_ORDER,
    SUSPENDS,
    TRIALS,
    VICTIMS,
    YOUNGEST_FIRST,
    Dynamic,
    Given,
    copy_amounts,
)
from swftools.simulator.slurm.suspending import choose_by_suspending, count_chosen, make_room


@kernel(allocates=False)
def find_victims(given: Given, state: Dynamic, job: int, partition: int, available: IntArray, now: float) -> int:
    """List the running jobs on some nodes that a job may preempt, the first to go first; return how many."""
    count, victim = 0, state.victim
    if int(given.number[PREEMPTS_BY]) == NOBODY_PREEMPTS:
        return 0
    for place in range(state.counts[RUNNERS]):
        runner = state.by_number[place]
        if not may_preempt(given, state, job, partition, runner, now):
            continue
        first, is_there = given.first_held[runner], False
        for i in range(first, first + state.held_count[runner]):
            is_there |= has_node(available, 0, state.held_node[i])
        if not is_there:
            continue
        at = count
        while at > 0 and goes_sooner(given, state, runner, victim[at - 1]):
            victim[at] = victim[at - 1]
            at -= 1
        victim[at] = runner
        count += 1
    return count


@kernel(allocates=False)
def goes_sooner(given: Given, state: Dynamic, one: int, other: int) -> bool:
    """Whether a running job is thought of before another one that came earlier.

    Those whose QOS has the lower priority, or whose partition the lower tier, then those of fewer nodes; or the
    youngest, where the site has it so.
    """
    if given.number[YOUNGEST_FIRST] > 0.0:
        return state.started[one] > state.started[other]
    if int(given.number[PREEMPTS_BY]) == BY_QOS:
        rank, theirs = given.qos_rank[given.qos[one]], given.qos_rank[given.qos[other]]
    else:
        rank, theirs = float(given.tier[state.ran_in[one]]), float(given.tier[state.ran_in[other]])
    return rank < theirs or (rank == theirs and state.held_count[one] < state.held_count[other])


@kernel(allocates=False)
def choose_by_preempting(
    given: Given, state: Dynamic, job: int, partition: int, available: IntArray, now: float
) -> int:
    """Choose nodes for a job as running ones go, one after the other; return how many nodes.

    When it fits the order is changed, so that those who help most go first, and it is done again: once more than
    ``preempt_reorder_count`` says. ``state.victim`` then has those who must go, as many as ``state.counts[VICTIMS]``
    says; ``state.then`` what would be free if all that went had gone.
    """
    state.counts[VICTIMS] = 0
    many, passes = find_victims(given, state, job, partition, available, now), 0
    by_qos = int(given.number[PREEMPTS_BY]) == BY_QOS
    if given.number[SUSPENDS] > 0.0 and many > 0:
        if not by_qos or mode_of(given, state, state.victim[0]) == SUSPEND:
            count = choose_by_suspending(given, state, job, partition, available, many)
            if count > 0 or by_qos:
                return count
        many = keep_who_leaves(given, state, many)
    while many > 0:
        copy_amounts(state.now, state.then)
        taken = count = 0
        while count == 0 and taken < many:
            give_back(given, state, state.victim[taken], state.then)
            taken += 1
            count = choose_nodes(given, state, job, partition, available, state.then)
        if count == 0:
            break
        passes += 1
        if passes - 1 > given.number[REORDERS] or passes >= many:
            state.counts[VICTIMS] = keep_who_is_chosen(given, state, taken, count)
            return count
        put_useful_first(given, state, taken, count)
    return 0


@kernel(allocates=False)
def keep_who_leaves(given: Given, state: Dynamic, many: int) -> int:
    """Keep those of the first jobs in ``state.victim`` that are not suspended; return how many these are."""
    kept = 0
    for i in range(many):
        if mode_of(given, state, state.victim[i]) != SUSPEND:
            state.victim[kept] = state.victim[i]
            kept += 1
    return kept


@kernel(allocates=False)
def keep_who_is_chosen(given: Given, state: Dynamic, taken: int, count: int) -> int:
    """Keep the jobs that have chosen nodes of the first ones in ``state.victim``; return how many these are."""
    kept = 0
    for i in range(taken):
        if count_chosen(given, state, state.victim[i], count) > 0:
            state.victim[kept] = state.victim[i]
            kept += 1
    return kept


@kernel(allocates=False)
def put_useful_first(given: Given, state: Dynamic, taken: int, count: int) -> None:
    """Put the last job that was taken away before all others, and sort those by how many chosen nodes they have.

    Those that were not taken stay behind. In strict order only the last one moves.
    """
    victim, last = state.victim, state.victim[taken - 1]
    for i in range(taken - 1, 0, -1):
        victim[i] = victim[i - 1]
    victim[0] = last
    if given.number[STRICT_ORDER] > 0.0:
        return
    for i in range(2, taken):
        job, at = victim[i], i
        nodes = count_chosen(given, state, job, count)
        while at > 1 and count_chosen(given, state, victim[at - 1], count) < nodes:
            victim[at] = victim[at - 1]
            at -= 1
        victim[at] = job


@kernel(allocates=False)
def stop_victims(given: Given, state: Dynamic, machine: Machine, job: int, partition: int, count: int) -> bool:
    """Stop the jobs that must go, or let them go on as long as they are granted; return whether all are gone.

    ``job`` is to start on so many chosen nodes.
    """
    now, are_gone = machine.clock[NOW], True
    if state.counts[VICTIMS] > 0 and mode_of(given, state, state.victim[0]) == SUSPEND:
        if given.number[FOLLOWS] == 0.0:
            make_room(given, state, machine, job, partition, count)
        state.counts[VICTIMS] = 0
        return True
    if given.number[FOLLOWS] > 0.0:  # nothing but the log stops jobs
        state.counts[VICTIMS] = 0
    for i in range(state.counts[VICTIMS]):
        runner = state.victim[i]
        by_qos = int(given.number[PREEMPTS_BY]) == BY_QOS
        grace = given.qos_grace[given.qos[runner]] if by_qos else given.partition_grace[state.ran_in[runner]]
        if given.number[FOLLOWS] > 0.0:
            are_gone &= grace <= 0.0
            if grace <= 0.0:
                try_to_stop(given, state, runner)
            continue
        state.doom[runner] = min(state.doom[runner], now + grace)
        if state.doom[runner] <= now:
            stop_job(given, state, machine, runner, mode_of(given, state, runner) == REQUEUE)
            are_gone &= given.number[COMPLETING] <= 0.0  # its nodes clean up first
        else:
            are_gone = False
    state.counts[VICTIMS] = 0
    return are_gone


@kernel(allocates=False)
def try_to_stop(given: Given, state: Dynamic, job: int) -> None:
    """Let a running job go in a pass that is tried only."""
    let_go(given, state, job)
    state.trial[state.counts[TRIALS]] = -1 - job
    state.counts[TRIALS] += 1


@kernel(allocates=False)
def stop_doomed(given: Given, state: Dynamic, machine: Machine) -> None:
    """Stop the preempted jobs whose time is over."""
    place = 0
    while place < state.counts[RUNNERS]:
        job = state.by_number[place]
        if state.doom[job] <= machine.clock[NOW]:
            stop_job(given, state, machine, job, mode_of(given, state, job) == REQUEUE)
        else:
            place += 1


@kernel(allocates=False)
def next_doom(state: Dynamic) -> float:
    """Return when the time of the next preempted job is over, s; infinity if there is none."""
    found = np.inf
    for place in range(state.counts[RUNNERS]):
        found = min(found, state.doom[state.by_number[place]])
    return found


@kernel(allocates=False)
def stop_job(given: Given, state: Dynamic, machine: Machine, job: int, comes_back: bool) -> None:
    """Stop a running job; all of its work is lost. It may start again after a while, or never."""
    use(given, state, job, np.floor(machine.clock[NOW]) - max(state.started[job], state.clock[LAST_CALC]))
    note_cleaning(given, state, machine, job)
    keep_past(given, state, machine, job)
    let_go(given, state, job)
    state.by[job] = state.held_count[job] = 0
    state.eligible[job], state.doom[job] = np.nan, np.inf
    if state.stands[job] != 0:  # it does not run; what it has done is kept
        state.stands[job] = 0
        state.counts[STANDING] -= 1
    else:
        preempt(machine, job, KILL)
    if not comes_back:
        state.gone[job] = machine.clock[NOW]
    hold(machine, job, machine.clock[NOW] + (given.number[REQUEUE_DELAY] if comes_back else LONG))
    state.pending[state.counts[PENDING]] = job
    state.counts[PENDING] += 1
    set_reason(state, machine, job, BEGIN_TIME)
    ask_main(given, state, machine)
